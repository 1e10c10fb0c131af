/* Tests: tests/world/test_spans.c */
#include "controller/core/spans.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "api/machine_states.h"
#include "base/crypto.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "kube/client.h"

#define UID_SIZE 64

struct spans {
	struct context *c;
	struct traces *traces;
	/* Machine name -> struct way: claims that machines have left, or are leaving. */
	struct map *ways;
	/* Origin of a BMC -> struct bmc. */
	struct map *bmcs;
	struct metric *total;
	/* Counts that spans_count() has seen last. */
	struct traces_stats seen;
};

/* The way of a machine from serving to free. */
struct way {
	/* UID of the claim; the machine's status no longer names it after the state leaving. */
	char claim[UID_SIZE];
	/* Wall time in ms at which the machine stopped serving; 0: it has not served, or this
	 * process has not seen that. */
	int64_t since;
	/* Name of the Drain because of which the machine left; "": none. */
	char drain[254];
};

/* The Machines whose BMC has this origin. */
struct bmc {
	size_t machines;
	/* Name of the Machine; "": several Machines have had this origin, as blades in a chassis
	 * have. */
	char machine[254];
};

/* --- identifiers ------------------------------------------------------------------------------ */

/* Writes the first n bytes of the SHA-256 of "drover KIND TEXT AT" to out. */
static void derive(uint8_t *out, size_t n, const char *kind, const char *text, int64_t at)
{
	char *s = mem_printf("drover %s %s %lld", kind, text, (long long)at);
	uint8_t digest[CRYPTO_SHA256];

	crypto_sha256(s, strlen(s), digest);
	memcpy(out, digest, n);
	free(s);
}

static void trace_id(uint8_t out[static SPAN_TRACE_BYTES], const char *kind, const char *uid)
{
	derive(out, SPAN_TRACE_BYTES, kind, uid, 0);
}

/* Writes the UID of the claim to which the Machine's phase belongs. False: none is known. */
static bool claim_of(const struct spans *f, const struct machine *m, char out[static UID_SIZE])
{
	const struct way *w = map_get(f->ways, m->meta.name);

	out[0] = '\0';
	if (m->status.claim_ref)
		str_copy(out, UID_SIZE,
			 str_or(m->status.claim_ref->uid, m->status.claim_ref->name));
	else if (w)
		str_copy(out, UID_SIZE, w->claim);
	return *out;
}

/* True for the states from claimed to the one before serving. */
static bool is_coming(enum machine_state s)
{
	return s >= MACHINE_CLAIMED && s < MACHINE_SERVING;
}

static bool is_at_rest(enum machine_state s)
{
	return s == MACHINE_FREE || s == MACHINE_QUARANTINED || s == MACHINE_RETIRED ||
	       s == MACHINE_GONE || s == MACHINE_KNOWN || s == MACHINE_STATE_NONE;
}

/* Sets trace and parent of *s for an act or request in the present phase of the Machine. False: the
 * phase has no trace. */
static bool in_phase(const struct spans *f, const struct machine *m, struct span *s)
{
	char uid[UID_SIZE];

	enum machine_state state = machine_state_find(m->status.state);

	/* The time in which a machine serves is no span. */
	if (is_at_rest(state) || state == MACHINE_SERVING || !claim_of(f, m, uid))
		return false;
	trace_id(s->trace, "claim", uid);
	derive(s->parent, SPAN_ID_BYTES, m->status.state, uid, m->status.state_since);
	return true;
}

/* --- phases ----------------------------------------------------------------------------------- */

#define TEXT(k, v) ((struct span_attribute){.key = (k), .text = str_or((v), "")})

/* Returns why the Machine failed its claim, as status.failures says. */
static const char *failure_of(const struct machine *m, const struct object_ref *claim)
{
	for (size_t i = m->status.failures.n; claim && i-- > 0;)
		if (str_eq(m->status.failures.v[i].claim, claim->name))
			return str_or(m->status.failures.v[i].message,
				      m->status.failures.v[i].reason);
	return "the machine stopped before it served";
}

/* Sends the root span of the claim that the Machine serves or has failed to serve. */
static void claim_ended(struct spans *f, const char *uid, const struct machine *was,
			const struct machine *is)
{
	const char *name = was->status.claim_ref ? was->status.claim_ref->name : NULL;
	const struct node_claim *n =
		name ? CTX_GET(f->c, OBJECT_NODE_CLAIM, node_claim, name) : NULL;
	bool serves = machine_state_find(is->status.state) == MACHINE_SERVING;
	const struct span_attribute attributes[] = {
		TEXT("drover.claim", name),
		TEXT("drover.machine", was->meta.name),
		TEXT("drover.pool", n ? n->spec.node_pool_ref.name : NULL),
		TEXT("drover.tenant", n ? n->spec.virtual_cluster_ref.name : NULL),
	};
	struct span s = {.name = "claim",
			 .start = n ? n->meta.creation_timestamp : was->status.state_since,
			 .end = is->status.state_since,
			 .attributes = attributes,
			 .nattributes = sizeof(attributes) / sizeof(attributes[0]),
			 .error = serves ? NULL : failure_of(is, was->status.claim_ref)};

	trace_id(s.trace, "claim", uid);
	derive(s.id, SPAN_ID_BYTES, "claim", uid, 0);
	traces_add(f->traces, &s);
}

/* Sends the span of the way back, and in the trace of the Drain that caused it another one. */
static void returned(struct spans *f, const struct way *w, const struct machine *is)
{
	const struct drain *d = *w->drain ? CTX_GET(f->c, OBJECT_DRAIN, drain, w->drain) : NULL;
	const struct machine_quarantine *q = is->status.quarantine;
	char hex[2 * SPAN_TRACE_BYTES + 1];
	struct span_attribute attributes[] = {
		TEXT("drover.machine", is->meta.name),
		TEXT("drover.state", is->status.state),
		TEXT("drover.drain", w->drain),
		TEXT("drover.claim.trace", ""),
	};
	struct span s = {.name = "return",
			 .start = w->since,
			 .end = is->status.state_since,
			 .attributes = attributes,
			 .nattributes = 3,
			 .error = q ? str_or(q->message, q->reason) : NULL};

	trace_id(s.trace, "claim", w->claim);
	str_hex(hex, s.trace, sizeof(s.trace));
	derive(s.parent, SPAN_ID_BYTES, "claim", w->claim, 0);
	derive(s.id, SPAN_ID_BYTES, "return", w->claim, 0);
	traces_add(f->traces, &s);
	if (!d || str_empty(d->meta.uid))
		return;
	attributes[3].text = hex;
	s.nattributes = 4;
	s.name = "drain machine";
	trace_id(s.trace, "drain", d->meta.uid);
	derive(s.parent, SPAN_ID_BYTES, "drain", d->meta.uid, 0);
	derive(s.id, SPAN_ID_BYTES, "drain machine", is->meta.name, w->since);
	traces_add(f->traces, &s);
}

/* Sends the span of the state that the Machine has left. */
static void phase_ended(struct spans *f, const char *uid, const struct machine *was,
			const struct machine *is)
{
	enum machine_state s = machine_state_find(was->status.state);
	const struct span_attribute attributes[] = {
		TEXT("drover.machine", was->meta.name),
		TEXT("drover.next_state", is->status.state),
		TEXT("drover.segment", is->status.network.segment),
	};
	const struct way *w = map_get(f->ways, was->meta.name);
	struct span out = {.name = machine_state_info[s].name,
			   .start = was->status.state_since,
			   .end = is->status.state_since,
			   .attributes = attributes,
			   .nattributes = sizeof(attributes) / sizeof(attributes[0])};

	/* A machine that stops before it served has failed. */
	if (is->status.quarantine)
		out.error = str_or(is->status.quarantine->message, is->status.quarantine->reason);
	else if (is_coming(s) && machine_state_find(is->status.state) == MACHINE_STOPPING)
		out.error = failure_of(is, was->status.claim_ref);
	trace_id(out.trace, "claim", uid);
	derive(out.parent, SPAN_ID_BYTES, is_coming(s) || !w || !w->since ? "claim" : "return", uid,
	       0);
	derive(out.id, SPAN_ID_BYTES, was->status.state, uid, was->status.state_since);
	traces_add(f->traces, &out);
}

/* Notes that the Machine stops serving, or leaves before it served. */
static void way_begins(struct spans *f, const char *uid, enum machine_state was,
		       const struct machine *is)
{
	struct way *w = mem_new(struct way);

	str_copy(w->claim, sizeof(w->claim), uid);
	if (was == MACHINE_SERVING)
		w->since = is->status.state_since;
	if (is->status.leave)
		str_copy(w->drain, sizeof(w->drain), str_or(is->status.leave->drain, ""));
	map_put(f->ways, is->meta.name, w);
}

static void state_changed(struct spans *f, const struct machine *was, const struct machine *is)
{
	enum machine_state s = machine_state_find(was->status.state),
			   t = machine_state_find(is->status.state);
	const struct way *w;
	char uid[UID_SIZE];

	if (!claim_of(f, was, uid) && !claim_of(f, is, uid))
		return;
	/* A machine that goes on serving, because its Drain was cancelled, has not returned. */
	if (t == MACHINE_SERVING)
		map_del(f->ways, is->meta.name);
	else if ((s == MACHINE_SERVING || is_coming(s)) && !is_coming(t))
		way_begins(f, uid, s, is);
	if (f->c->leading && s != MACHINE_SERVING && !is_at_rest(s))
		phase_ended(f, uid, was, is);
	if (f->c->leading && is_coming(s) && !is_coming(t))
		claim_ended(f, uid, was, is);
	if (!is_at_rest(t))
		return;
	w = map_get(f->ways, is->meta.name);
	if (w && w->since && f->c->leading)
		returned(f, w, is);
	map_del(f->ways, is->meta.name);
}

/* --- requests to BMCs ------------------------------------------------------------------------- */

/* Returns the origin of the Machine's BMC, malloc'd; NULL: no BMC that is reached by HTTP. */
static char *origin_of(const struct machine *m)
{
	return m && m->spec.bmc && m->spec.bmc->address ? http_origin(m->spec.bmc->address) : NULL;
}

static void bmc_changed(struct spans *f, const struct machine *was, const struct machine *is)
{
	char *old, *now;
	struct bmc *b;

	if (was && is && was->meta.generation == is->meta.generation)
		return;
	old = origin_of(was);
	now = origin_of(is);
	b = old && !str_eq(old, now) ? map_get(f->bmcs, old) : NULL;
	if (b && --b->machines == 0)
		map_del(f->bmcs, old);
	if (now && !str_eq(old, now)) {
		b = map_get(f->bmcs, now);
		if (!b)
			map_put(f->bmcs, now, b = mem_new(struct bmc));
		str_copy(b->machine, sizeof(b->machine), b->machines++ ? "" : is->meta.name);
	}
	free(old);
	free(now);
}

/* --- requests --------------------------------------------------------------------------------- */

/* Sends *s, whose trace and parent are set, for a request to a BMC or an API server. */
static void request_ended(struct spans *f, const struct http_ended *x, const char *machine,
			  struct span *s)
{
	struct loop *loop = f->c->loop;
	bool failed = x->error || x->status >= 400;
	char text[64];
	const struct span_attribute attributes[] = {
		TEXT("http.request.method", x->method),
		TEXT("url.path", x->path),
		TEXT("server.address", x->origin),
		TEXT("drover.machine", machine),
		{.key = "http.response.status_code", .number = x->status},
	};

	s->name = x->method;
	s->kind = SPAN_CLIENT;
	s->attributes = attributes;
	s->nattributes = sizeof(attributes) / sizeof(attributes[0]) - !x->status;
	s->end = loop_wall(loop);
	s->start = s->end - (loop_now(loop) - x->began);
	str_format(text, sizeof(text), "HTTP status %d", x->status);
	if (failed)
		s->error = x->error ? x->error->text : text;
	loop_random_bytes(loop, s->id, sizeof(s->id));
	traces_add(f->traces, s);
}

/* True for a read that succeeded. There are too many of them to send them. */
static bool is_dull(const struct http_ended *x)
{
	return !x->error && x->status < 400 &&
	       (str_eq(x->method, "GET") || str_eq(x->method, "HEAD"));
}

/* Sends a span for a request to a BMC that changed something or failed. */
static void on_ended(const struct http_ended *x, void *arg)
{
	struct spans *f = arg;
	const struct bmc *b = f->c->leading ? map_get(f->bmcs, x->origin) : NULL;
	const struct machine *m =
		b && *b->machine ? CTX_GET(f->c, OBJECT_MACHINE, machine, b->machine) : NULL;
	struct span s = {.error = NULL};

	if (m && !is_dull(x) && in_phase(f, m, &s))
		request_ended(f, x, m->meta.name, &s);
}

/* A request to an API server, as it was when it was started. */
struct api_call {
	struct context *c;
	/* Trace and parent of its spans */
	uint8_t trace[SPAN_TRACE_BYTES], parent[SPAN_ID_BYTES];
	/* "": the request belongs to no machine */
	char machine[254];
};

static void on_api_ended(const struct http_ended *x, void *arg)
{
	const struct api_call *a = arg;
	struct span s = {.error = NULL};

	if (!a->c->spans || !a->c->leading || is_dull(x))
		return;
	memcpy(s.trace, a->trace, sizeof(s.trace));
	memcpy(s.parent, a->parent, sizeof(s.parent));
	request_ended(a->c->spans, x, a->machine, &s);
}

static bool in_drain(const struct drain *d, struct span *s)
{
	if (!d || d->status.completion_time || str_empty(d->meta.uid))
		return false;
	trace_id(s->trace, "drain", d->meta.uid);
	derive(s->parent, SPAN_ID_BYTES, "drain", d->meta.uid, 0);
	return true;
}

/* Returns the Machine of the claim; NULL: it has none, or the machine has left the claim. */
static const struct machine *machine_of(const struct spans *f, const struct node_claim *n)
{
	const struct machine *m = n && n->spec.machine_ref ? CTX_GET(f->c, OBJECT_MACHINE, machine,
								     n->spec.machine_ref->name)
							   : NULL;
	const struct object_ref *r = m ? m->status.claim_ref : NULL;

	return r && str_eq(r->uid, n->meta.uid) ? m : NULL;
}

/* Sets trace and parent of *s, and *machine, for a request about the object now. False: the object
 * has no trace now. */
static bool about(const struct spans *f, enum object_kind_id kind, const char *name, struct span *s,
		  const struct machine **machine)
{
	*machine = NULL;
	if (kind == OBJECT_DRAIN)
		return in_drain(CTX_GET(f->c, OBJECT_DRAIN, drain, name), s);
	if (kind == OBJECT_MACHINE)
		*machine = CTX_GET(f->c, OBJECT_MACHINE, machine, name);
	else if (kind == OBJECT_NODE_CLAIM)
		*machine = machine_of(f, CTX_GET(f->c, OBJECT_NODE_CLAIM, node_claim, name));
	return *machine && in_phase(f, *machine, s);
}

/* --- what others call ------------------------------------------------------------------------- */

static_assert(METRICS_TRACE == 2 * SPAN_TRACE_BYTES, "an exemplar has the whole trace ID");

bool spans_trace_of(const struct spans *f, const struct machine *m,
		    char out[static METRICS_TRACE + 1])
{
	uint8_t id[SPAN_TRACE_BYTES];
	char uid[UID_SIZE];

	if (!f || !claim_of(f, m, uid))
		return false;
	trace_id(id, "claim", uid);
	str_hex(out, id, sizeof(id));
	return true;
}

void spans_machine(struct spans *f, const struct machine *was, const struct machine *is)
{
	if (!f)
		return;
	bmc_changed(f, was, is);
	if (!is && was)
		map_del(f->ways, was->meta.name);
	if (was && is && was->status.state && !str_eq(was->status.state, is->status.state) &&
	    machine_state_find(was->status.state) != MACHINE_STATE_NONE)
		state_changed(f, was, is);
}

void spans_act(struct spans *f, const struct machine *m, const char *act, int64_t began,
	       const struct err *e)
{
	bool port = str_starts(act, "place ");
	struct span s = {.name = port ? "place" : act,
			 .kind = SPAN_CLIENT,
			 .nattributes = 2,
			 .error = e ? e->text : NULL};
	const struct span_attribute attributes[] = {
		TEXT("drover.machine", m ? m->meta.name : NULL),
		TEXT("drover.act", act),
	};
	struct loop *loop;

	if (!f || !m || !began || !f->c->leading || !in_phase(f, m, &s))
		return;
	loop = f->c->loop;
	s.attributes = attributes;
	s.end = loop_wall(loop);
	s.start = s.end - (loop_now(loop) - began);
	derive(s.id, SPAN_ID_BYTES, act, m->meta.name, s.start);
	traces_add(f->traces, &s);
}

void spans_call(struct context *c, struct kube_call *call, enum object_kind_id kind,
		const char *name)
{
	const struct machine *m;
	struct api_call *a;
	struct span s;

	if (!c->spans || !call || !name || !about(c->spans, kind, name, &s, &m))
		return;
	a = mem_new(struct api_call);
	a->c = c;
	memcpy(a->trace, s.trace, sizeof(a->trace));
	memcpy(a->parent, s.parent, sizeof(a->parent));
	str_copy(a->machine, sizeof(a->machine), m ? m->meta.name : "");
	kube_call_watch(call,
			&(struct kube_call_watch){.ended = on_api_ended, .free = free, .arg = a});
}

void spans_drain(struct spans *f, const struct drain *was, const struct drain *is)
{
	if (!f || !f->c->leading || !was || !is || was->status.completion_time ||
	    !is->status.completion_time || str_empty(is->meta.uid))
		return;
	const struct span_attribute attributes[] = {
		TEXT("drover.drain", is->meta.name),
		TEXT("drover.reason", is->spec.reason),
		TEXT("drover.phase", drain_phase_names[is->status.phase]),
		{.key = "drover.machines", .number = (int64_t)is->status.targets.n},
	};
	struct span s = {.name = "drain",
			 .start = is->status.start_time,
			 .end = is->status.completion_time,
			 .attributes = attributes,
			 .nattributes = sizeof(attributes) / sizeof(attributes[0])};

	if (is->status.phase == DRAIN_PARTIAL)
		s.error = "not all machines were drained";
	trace_id(s.trace, "drain", is->meta.uid);
	derive(s.id, SPAN_ID_BYTES, "drain", is->meta.uid, 0);
	traces_add(f->traces, &s);
}

void spans_count(struct spans *f)
{
	struct traces_stats now;
	const char *why;

	if (!f)
		return;
	now = traces_stats(f->traces);
	why = traces_error(f->traces);
	metric_add(f->total, (const char *const[]){"exported", NULL},
		   (double)(now.exported - f->seen.exported));
	metric_add(f->total, (const char *const[]){"dropped", NULL},
		   (double)(now.dropped - f->seen.dropped));
	if (now.dropped != f->seen.dropped)
		log_warn("spans were lost", LOG_I("spans", now.dropped - f->seen.dropped),
			 LOG_S("error", str_or(why, "")));
	f->seen = now;
}

struct spans *spans_new(struct context *c, const struct spans_spec *spec, struct err *e)
{
	struct traces_spec s = {.group = c->group,
				.http = c->http,
				.endpoint = spec->endpoint,
				.ca_pem = spec->ca_pem,
				.token = spec->token,
				.version = DROVER_VERSION,
				.instance = c->o.identity};
	struct traces *t = traces_new(&s, e);
	struct spans *f;

	if (!t)
		return NULL;
	f = mem_new(struct spans);
	f->c = c;
	f->traces = t;
	f->ways = map_new(free);
	f->bmcs = map_new(free);
	f->total = metrics_counter(c->metrics, "drover_spans_total",
				   "Spans for the trace collector, by result: exported or dropped.",
				   (const char *const[]){"result", NULL});
	http_on_ended(c->http, on_ended, f);
	return f;
}

void spans_free(struct spans *f)
{
	if (!f)
		return;
	http_on_ended(f->c->http, NULL, NULL);
	traces_free(f->traces);
	map_free(f->ways);
	map_free(f->bmcs);
	free(f);
}
