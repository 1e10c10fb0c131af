/*
 * pod_events: turns a pod's outcome in the plan into text, and sends an event if the text changed
 * enough. Separate from the provisioner, which handles no texts.
 */
#include <stdlib.h>
#include <string.h>

#include "controller/claims/pod_events.h"
#include "api/reasons.h"
#include "base/arena.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/core/eta.h"
#include "controller/claims/pod_texts.h"
#include "controller/claims/refused.h"
#include "controller/core/sending.h"
#include "controller/burst/to_come.h"
#include "controller/claims/waiting.h"
#include "controller/core/approval.h"
#include "controller/core/lookup.h"
#include "controller/rules/claim.h"
#include "controller/tenant/provisioning_requests.h"
#include "controller/tenant/tenant.h"

/* Time after which a pod that fits on a Node is reported as not bound. kube-scheduler binds a pod
 * that fits within milliseconds; the longest back-off of its queue is 10 s. */
#define ROOM_MS 60000
#define EXACT 20
/* Time after the p90 of a claim at which its machine is reported as late */
#define LATE_MS 60000
/* Time after which a machine with an error in its state is reported as held up, if the p90 of its
 * claim is unknown */
#define HELD_UP_MS 300000
/* Number of bytes of the news that are compared */
#define NEWS_MAX 255

struct pod_events {
	struct context *c;
	const struct tenants *tenants;
	const struct eta *eta;
	const struct refused *refused;
	const struct sending *sending;
	struct waiting *waiting;
	/* What was last reported. Key: "tenant/ns/name"; value: struct pod_event */
	struct map *told;
};

struct pod_event {
	/* loop_now() of the last event; 0: no event was sent */
	int64_t at;
	/* hash_of() of the news of the last event */
	uint64_t news;
	/* Place in the queue that the last event reported; 0: the event reported no place */
	size_t place;
	/* Expected time of service (p50) that the last event reported, wall ms; 0: the event
	 * reported no time */
	int64_t expected;
	/* Largest change of the expected time, ms, that causes no event */
	int64_t slack;
	/* Wall ms by which the claim in news is expected to serve (p90), as it was last known; 0:
	 * never known */
	int64_t promised;
	/* Cause of the delay that the last event reported; NULL: it reported none */
	const char *late;
	/* loop_now() since when plans place the pod on an existing Node; 0: they place it on
	 * none */
	int64_t room_since;
};

struct pod_events *pod_events_new(struct context *c, const struct tenants *tenants,
				  const struct eta *eta, const struct refused *refused,
				  const struct sending *sending, struct waiting *waiting)
{
	struct pod_events *w = mem_new(struct pod_events);

	w->c = c;
	w->tenants = tenants;
	w->eta = eta;
	w->refused = refused;
	w->sending = sending;
	w->waiting = waiting;
	w->told = map_new(free);
	return w;
}

void pod_events_free(struct pod_events *w)
{
	if (!w)
		return;
	map_free(w->told);
	free(w);
}

static const char *key_of(const char *tenant, const char *ns, const char *pod, struct arena *a)
{
	const char *request;

	/* All pods of a ProvisioningRequest share one key, because only one of them is reported. */
	if (request_of_pod(pod, &request, a))
		return arena_printf(a, "%s/%s/%s:", tenant, ns, request);
	return arena_printf(a, "%s/%s/%s", tenant, ns, pod);
}

void pod_events_forget(struct pod_events *w, const char *tenant, const char *ns, const char *pod)
{
	OWN(arena) a = arena_new();

	map_del(w->told, key_of(tenant, ns, pod, a));
}

void pod_events_forget_tenant(struct pod_events *w, const char *tenant)
{
	struct map_iter it;
	size_t n = strlen(tenant);

	map_for_each (it, w->told)
		if (strncmp(it.key, tenant, n) == 0 && it.key[n] == '/')
			map_del(w->told, it.key);
}

/* Arguments of the functions that report one pod: the pod in the plan, and what was last reported
 * about it. */
struct pod_report {
	struct pod_events *w;
	const struct plan_pod *p;
	struct pod_event *last;
	struct arena *a;
};

static struct pod_report reader_of(struct pod_events *w, const struct plan_pod *p, struct arena *a)
{
	const char *key = key_of(p->tenant, p->ns, p->name, a);
	struct pod_report r = {w, p, map_get(w->told, key), a};

	if (!r.last) {
		r.last = mem_new(struct pod_event);
		map_put(w->told, key, r.last);
	}
	return r;
}

/* True if the pod's place in the queue changed enough for an event. Up to place EXACT every change
 * is enough; further back, a change by more than a tenth. */
static bool is_other_place(size_t told, size_t place)
{
	const size_t off = told < place ? place - told : told - place;

	return !told != !place || off > (told <= EXACT ? 0 : told / 10);
}

/* A message about a pod. news: text that identifies the pod's situation; if it differs from the
 * news of the last event, an event is sent at once, otherwise only after a pause. text: the message
 * for the reader, to which sentence() adds the place in the queue and the expected time. */
struct word {
	const char *type, *reason, *news, *text;
	/* "ready in about 4 min", "expected 10:20 to 10:31 UTC"; "": unknown */
	const char *when;
	/* Claim whose machine is for the pod; NULL: none */
	const char *claim;
	/* Place in the queue; 0: not reported */
	size_t place;
	/* Times at which the pod is expected to be served, wall ms; p50 0: unknown */
	struct eta_span due;
	/* Cause of the delay of the claim's machine (pod_texts_delay()); NULL: not late */
	const char *late;
	/* late not NULL: length of the delay, ms, and the wall ms now */
	int64_t late_ms, late_at;
};

/* Returns the expected time (p50), wall ms, if a change of this time causes an event. 0: the time
 * is unknown, or the pod has a claim, whose new estimates cause no event. If the claim's machine is
 * late, returns the time of the message, so that the delay is reported again once it doubled. */
static int64_t expected_of(const struct word *w)
{
	return w->claim ? w->late_at : w->due.p50;
}

/* True if the expected time moved by more than last->slack, or became known or unknown. */
static bool is_moved(const struct pod_event *last, int64_t expected)
{
	const int64_t by = expected - last->expected;

	return !expected != !last->expected || by > last->slack || by < -last->slack;
}

static uint64_t hash_of(const char *news)
{
	return hash_keyed(news, strnlen(news, NEWS_MAX), 0);
}

/* Returns the ms until an event is due; 0: now. *another: true if w->news differs from the news of
 * the last event. */
static int64_t due_in(const struct pod_report *r, const struct word *w, bool *another)
{
	const struct pod_event *last = r->last;
	const int64_t age = loop_now(r->w->c->loop) - last->at;
	const bool moved = is_other_place(last->place, w->place) || is_moved(last, expected_of(w));
	const int64_t left = (moved ? POD_EVENTS_AGAIN_MS : POD_EVENTS_KEEP_MS) - age;

	*another = !last->at || last->news != hash_of(w->news) || !str_eq(last->late, w->late);
	return *another || left < 0 ? 0 : left;
}

static void learn(struct pod_event *last, const struct word *w, const struct loop *loop)
{
	last->at = loop_now(loop);
	last->place = w->place;
	last->expected = expected_of(w);
	last->late = w->late;
	last->slack = w->late ? w->late_ms : (last->expected - loop_wall(loop)) / 4;
	if (last->slack < POD_EVENTS_AGAIN_MS)
		last->slack = POD_EVENTS_AGAIN_MS;
	last->news = hash_of(w->news);
}

/* Returns the message with its place and times: "place 4 in the queue, expected 10:20 to 10:31 UTC:
 * TEXT" or "TEXT, ready in about 4 min". In the arena. */
static const char *sentence(const struct word *w, struct arena *a)
{
	const char *comma = *w->when ? ", " : "";

	return w->place ? arena_printf(a, "place %zu in the queue%s%s: %s", w->place, comma,
				       w->when, w->text)
			: arena_printf(a, "%s%s%s", w->text, comma, w->when);
}

/* Writes the current message to the list of waiting pods (waiting.h), whether an event is due or
 * not. Leaves out w->when if the pod has a claim that is not late, because the row contains the
 * claim's times. */
static void put_row(const struct pod_report *r, const struct word *w, const char *text)
{
	const struct plan_pod *p = r->p;
	const bool timed = !w->claim && *w->when;
	const char *late = w->late ? arena_printf(r->a, ", %s", w->when) : "";
	struct waiting_gang gang = {
		.name = p->gang_key, .size = p->gang_size, .begun = p->gang_begun};

	waiting_put(r->w->waiting,
		    &(struct waiting_row){
			    .tenant = p->tenant,
			    .at = {.pod = arena_printf(r->a, "%s/%s", p->ns, p->name),
				   .place = (int64_t)w->place,
				   .reason = w->reason,
				   .message = arena_printf(r->a, "%s%s%s%s", timed ? w->when : "",
							   timed ? ": " : "", text, late),
				   .claim = w->claim},
			    .p50 = w->late ? 0 : w->due.p50,
			    .p90 = w->late ? 0 : w->due.p90,
			    .gang = p->gang_key ? &gang : NULL,
		    });
}

/* Adds the message w to the list of waiting pods, and sends it as an event on the pod if an event
 * is due. A ProvisioningRequest announces pods that do not exist yet (request_of_pod()): for such a
 * pod, reports the message in the conditions of the request instead, if it is due. Returns the ms
 * until the message is due; 0: it was sent now, or it cannot be sent at all. */
static int64_t tell(const struct pod_report *r, const struct word *w)
{
	const struct plan_pod *p = r->p;
	const char *left = refused_words(r->w->refused, p->tenant, p->ns, p->name, r->a),
		   *also = left ? arena_printf(r->a, "; %s", left) : "";
	struct tenant *t = tenant_get(r->w->tenants, p->tenant);
	struct kube_ref ref = {
		.api_version = "v1", .kind = "Pod", .ns = p->ns, .name = p->name, .uid = p->uid};
	const bool to_come = request_of_pod(p->name, NULL, NULL);
	const char *request, *text;
	bool another;
	int64_t ms;

	if (!to_come)
		put_row(r, w, arena_printf(r->a, "%s%s", w->text, also));
	if (!t || !t->events)
		return 0;
	ms = due_in(r, w, &another);
	if (ms)
		return ms;
	if (!to_come && !tenant_may_event(t))
		return POD_EVENTS_LATER_MS;
	learn(r->last, w, r->w->c->loop);
	text = arena_printf(r->a, "%s%s", sentence(w, r->a), also);
	if (request_of_pod(p->name, &request, r->a)) {
		provisioning_requests_wait(t->requests, p->ns, request, w->reason, text);
		return 0;
	}
	kube_event(t->events, &ref, w->type, w->reason, "Provision", text);
	if (another && tenant_may_log(t))
		log_info("pod waits", LOG_S("tenant", p->tenant), LOG_S("ns", p->ns),
			 LOG_S("pod", p->name), LOG_S("reason", w->reason), LOG_S("text", text));
	return 0;
}

/* Returns a text such as "ready in about 4 min", in the arena. */
static const char *in_about(int64_t ms, struct arena *a)
{
	char text[40];

	return arena_printf(a, "ready in %s", eta_text(ms, text, sizeof(text)));
}

/* Returns the times after `span` from now. */
static struct eta_span from_now(const struct pod_events *w, const struct eta_span *span)
{
	const int64_t now = loop_wall(w->c->loop);

	return (struct eta_span){now + span->p50, now + span->p90};
}

/* Returns the times at which the claim's machine is expected to serve; p50 0: unknown. */
static struct eta_span claim_due(const struct pod_events *w, const struct node_claim *n)
{
	const struct machine *m = machine_named_by(w->c, n);
	struct eta_span span;

	if (n->status.eta.p50)
		return (struct eta_span){n->status.eta.p50, n->status.eta.p90};
	if (m && !n->status.machine_ref &&
	    eta_from(w->eta, m->spec.provider_ref.name, claim_instance_type(n, m), MACHINE_CLAIMED,
		     0, &span))
		return from_now(w, &span);
	return (struct eta_span){0};
}

static struct eta_span new_due(const struct pod_events *w, const struct plan_claim *p)
{
	struct eta_span span;

	return eta_from(w->eta, p->provider, p->instance_type, MACHINE_CLAIMED, 0, &span)
		       ? from_now(w, &span)
		       : (struct eta_span){0};
}

/* Sets w->late, and w->when to the length and cause of the delay, if the claim's machine m is late.
 * Returns the ms until m counts as late if it does not serve before; 0: m is late already, or no
 * time is known. m NULL: the claim has no machine yet. */
static int64_t judge_delay(const struct pod_report *r, struct word *w, const struct machine *m)
{
	struct pod_event *last = r->last;
	const struct machine_operation *op = m ? m->status.operation : NULL;
	const char *cause =
		m ? pod_texts_delay(machine_state_find(str_or(m->status.state, ""))) : NULL;
	const bool known = last->at && last->news == hash_of(w->news);
	const int64_t now = loop_wall(r->w->c->loop);
	char text[40];
	int64_t since, from;

	last->promised = w->due.p90 ? w->due.p90 : known ? last->promised : 0;
	if (!cause || (!last->promised && (!op || str_empty(op->last_error.reason))))
		return 0;
	since = last->promised ? last->promised : m->status.state_since;
	from = since + (last->promised ? LATE_MS : HELD_UP_MS);
	if (now < from)
		return from - now;
	w->type = "Warning";
	w->late = cause;
	w->late_ms = now - since;
	w->late_at = now;
	w->when = arena_printf(r->a, "%s %s: %s; the operator sees it",
			       last->promised ? "late by" : "held up for",
			       eta_text(w->late_ms, text, sizeof(text)), cause);
	return 0;
}

/* Reports to the pod that a claim's machine is for it. The news contain only the claim's name, so
 * that the plan that makes the claim and the plans that follow cause one event. m: the machine;
 * NULL: the claim has none yet. */
static int64_t tell_coming(const struct pod_report *r, const char *claim, const char *text,
			   struct eta_span due, const struct machine *m)
{
	const int64_t now = loop_wall(r->w->c->loop);
	struct word w = {.type = "Normal",
			 .reason = "Nominated",
			 .news = arena_printf(r->a, "claim %s", claim),
			 .text = text,
			 .when = "",
			 .claim = claim,
			 .due = due};
	int64_t late_in = judge_delay(r, &w, m), left;

	if (due.p50 && !w.late)
		w.when = in_about((due.p50 > now ? due.p50 : due.p90) - now, r->a);
	left = tell(r, &w);
	if (w.late)
		late_in = r->last->expected + r->last->slack + 1 - now;
	return late_in > 0 && (!left || late_in < left) ? late_in : left;
}

/* Reports a claim that this plan makes for the pod. name: name of the NodeClaim. NULL: it was not
 * created, because new claims are paused or because objects changed while the plan was made; the
 * next plan decides anew. */
static int64_t tell_new(const struct pod_report *r, const struct plan_claim *claim,
			const char *name)
{
	const char *text;

	if (!name)
		return 0;
	text = pod_texts_coming(
		to_come_is(r->w->c, claim->provider, claim->machine) ? name : claim->machine,
		claim->pool, name, r->a);
	return tell_coming(r, name, text, new_due(r->w, claim), NULL);
}

/* Writes to *out when the machine that the plan expects for the pod will serve: the time until it
 * is free plus its time to start. False: not known. */
static bool is_expected(const struct pod_report *r, struct eta_span *out)
{
	const struct plan_expected *x = &r->p->expected;

	if (!x->machine ||
	    !eta_from(r->w->eta, x->provider, x->instance_type, MACHINE_CLAIMED, 0, out))
		return false;
	out->p50 += x->p50;
	out->p90 += x->p90;
	return true;
}

static int64_t tell_nothing(const struct pod_report *r)
{
	const struct plan_pod *p = r->p;
	const char *when = "";
	char between[ETA_BETWEEN_SIZE];
	struct eta_span span = {0};

	if (is_expected(r, &span))
		when = arena_printf(r->a, "expected %s",
				    eta_between(&span, loop_wall(r->w->c->loop), between));
	return tell(r, &(struct word){.type = "Warning",
				      .reason = pod_texts_reason(p),
				      .news = pod_texts_news(p, r->a),
				      .text = pod_texts_why(p, r->a),
				      .when = when,
				      .place = p->place,
				      .due = span});
}

/* Handles a pod that the plan places on an existing Node. kube-scheduler should bind the pod within
 * ROOM_MS; after that time the pod gets an event. */
static int64_t tell_room(const struct pod_report *r)
{
	struct pod_event *last = r->last;
	int64_t now = loop_now(r->w->c->loop);
	const char *text;

	if (!last->room_since)
		last->room_since = now;
	if (now - last->room_since < ROOM_MS) {
		if (!request_of_pod(r->p->name, NULL, NULL))
			put_row(r, &(struct word){.reason = "RoomOnNode", .when = ""},
				arena_printf(
					r->a,
					"Node %s has room for the pod: waiting for kube-scheduler "
					"to bind it",
					r->p->target));
		return last->room_since + ROOM_MS - now;
	}
	text = arena_printf(
		r->a,
		"by drover's calculation Node %s has room for the pod, but kube-scheduler does not "
		"bind it: see the Node's taints and the pod's FailedScheduling event",
		r->p->target);
	return tell(r, &(struct word){.type = "Warning",
				      .reason = "RoomOnNode",
				      .news = text,
				      .text = text,
				      .when = ""});
}

static int64_t tell_claim(const struct pod_report *r)
{
	const struct pod_events *w = r->w;
	const char *claim = r->p->target;
	const struct node_claim *n = CTX_GET(w->c, OBJECT_NODE_CLAIM, node_claim, claim);

	const struct object_ref *m;

	if (!n)
		n = sending_get(w->sending, claim);
	m = !n ? NULL : n->status.machine_ref ? n->status.machine_ref : n->spec.machine_ref;
	if (n && approval_of(w->c, n).state == APPROVAL_WAITING)
		return tell(r, &(struct word){.type = "Normal",
					      .reason = reason_name(REASON_ApprovalPending),
					      .news = arena_printf(r->a, "claim %s", claim),
					      .text = arena_printf(r->a,
								   "claim %s waits for an approval "
								   "by drover's administrator",
								   claim),
					      .when = "",
					      .claim = claim});
	if (!m) /* The claim was deleted meanwhile, or no machine is set for it yet. */
		return tell_coming(r, claim,
				   arena_printf(r->a, "claim %s is waiting for its machine", claim),
				   (struct eta_span){0}, NULL);
	return tell_coming(r, claim,
			   pod_texts_coming(m->name, n->spec.node_pool_ref.name, claim, r->a),
			   claim_due(w, n), machine_of_claim(w->c, n));
}

int64_t pod_events_of_plan(struct pod_events *w, const struct plan *plan, const char *const *claims,
			   const bool *speaks, size_t from, size_t n)
{
	OWN(arena) a = arena_new();
	int64_t first = 0, left;

	for (size_t i = from; i < plan->npods && i - from < n; i++) {
		const struct plan_pod *p = &plan->pods[i];

		if (request_of_pod(p->name, NULL, NULL) &&
		    !(speaks && speaks[i] && p->outcome != PLAN_ON_NODE))
			continue;

		const struct pod_report r = reader_of(w, p, a);

		left = 0;
		if (p->outcome != PLAN_ON_NODE)
			r.last->room_since = 0;
		switch (p->outcome) {
		case PLAN_ON_NODE:
			left = tell_room(&r);
			break;
		case PLAN_ON_CLAIM:
			left = tell_claim(&r);
			break;
		case PLAN_ON_NEW:
			left = tell_new(&r, &plan->claims[p->new_claim], claims[p->new_claim]);
			break;
		case PLAN_NOTHING:
			left = tell_nothing(&r);
			break;
		}
		if (left && (!first || left < first))
			first = left;
	}
	return first;
}
