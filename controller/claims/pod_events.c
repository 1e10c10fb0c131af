/*
 * pod_events: makes the text of a waiting pod's event from its place in the plan, and sends it when
 * it is news.  Apart from the provisioner, which decides without words.
 */
#include <stdlib.h>
#include <string.h>

#include "controller/claims/pod_events.h"
#include "base/arena.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/claims/eta.h"
#include "controller/claims/refused.h"
#include "controller/rules/claim.h"
#include "controller/tenant/provisioning_requests.h"
#include "controller/tenant/tenant.h"

/* kube-scheduler binds a pod that fits in milliseconds; a queue's longest back-off is 10 s. */
#define ROOM_MS 60000
#define REASONS_TOLD 5

struct pod_events {
	struct context *c;
	const struct tenants *tenants;
	const struct eta *eta;
	const struct refused *refused;
	struct map *told; /* "tenant/ns/name" -> struct told */
};

struct told {
	int64_t at; /* loop_now(); 0: nothing yet */
	char news[256];
	size_t bucket;	    /* of its place; 0: none was told */
	int64_t expected;   /* wall ms, p50; 0: none was told */
	int64_t slack;	    /* by how much it may be another and is no news */
	int64_t room_since; /* loop_now(): there has been room for it on a node; 0: no */
};

struct pod_events *pod_events_new(struct context *c, const struct tenants *tenants,
				  const struct eta *eta, const struct refused *refused)
{
	struct pod_events *w = mem_new(struct pod_events);

	w->c = c;
	w->tenants = tenants;
	w->eta = eta;
	w->refused = refused;
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

	/* Of all pods to come of a request one is told. */
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

/* A pod, and what it was told. */
struct reader {
	struct pod_events *w;
	const struct plan_pod *p;
	struct told *last;
	struct arena *a;
};

static struct reader reader_of(struct pod_events *w, const struct plan_pod *p, struct arena *a)
{
	const char *key = key_of(p->tenant, p->ns, p->name, a);
	struct reader r = {w, p, map_get(w->told, key), a};

	if (!r.last) {
		r.last = mem_new(struct told);
		map_put(w->told, key, r.last);
	}
	return r;
}

/* Places that are told alike: 1, 2, 3, to 5, 10, 20, 50, 100, 200, 500 ... */
static size_t bucket_of(size_t place)
{
	size_t top = 5;

	while (place > 4 * top)
		top *= 10;
	return place <= 3 ? place : place <= top ? top : place <= 2 * top ? 2 * top : 4 * top;
}

/* What a pod is told.  news: what of it, when it is another, is told at once; text: all of it. */
struct word {
	const char *type, *reason, *news, *text;
	bool placed;	  /* its place is told */
	int64_t expected; /* wall ms, p50; 0: none */
};

/* Another time is news when it is off by a fourth of what was left, and by POD_EVENTS_AGAIN_MS at least. */
static bool is_moved(const struct told *last, int64_t expected)
{
	const int64_t by = expected - last->expected;

	return !expected != !last->expected || by > last->slack || by < -last->slack;
}

static bool is_due(const struct reader *r, const struct word *w, size_t bucket, bool *another)
{
	const struct told *last = r->last;
	const int64_t age = loop_now(r->w->c->loop) - last->at;

	*another = !last->at || strncmp(last->news, w->news, sizeof(last->news) - 1) != 0;
	return *another || age >= POD_EVENTS_KEEP_MS ||
	       ((bucket != last->bucket || is_moved(last, w->expected)) &&
		age >= POD_EVENTS_AGAIN_MS);
}

static void tell(const struct reader *r, const struct word *w)
{
	const struct plan_pod *p = r->p;
	const char *left = refused_words(r->w->refused, p->tenant, p->ns, p->name, r->a),
		   *text = left ? arena_printf(r->a, "%s; %s", w->text, left) : w->text;
	const size_t bucket = w->placed ? bucket_of(p->place) : 0;
	struct told *last = r->last;
	struct tenant *t = tenant_get(r->w->tenants, p->tenant);
	struct kube_ref ref = {
		.api_version = "v1", .kind = "Pod", .ns = p->ns, .name = p->name, .uid = p->uid};
	const char *request;
	bool another;

	if (!t || !t->events || !is_due(r, w, bucket, &another))
		return;
	last->at = loop_now(r->w->c->loop);
	last->bucket = bucket;
	last->expected = w->expected;
	last->slack = (w->expected - loop_wall(r->w->c->loop)) / 4;
	if (last->slack < POD_EVENTS_AGAIN_MS)
		last->slack = POD_EVENTS_AGAIN_MS;
	str_copy(last->news, sizeof(last->news), w->news);
	if (request_of_pod(p->name, &request, r->a)) {
		provisioning_requests_wait(t->requests, p->ns, request, w->reason, text);
		return;
	}
	kube_event(t->events, &ref, w->type, w->reason, "Provision", text);
	if (another && tenant_may_log(t))
		log_info("pod waits", LOG_S("tenant", p->tenant), LOG_S("ns", p->ns),
			 LOG_S("pod", p->name), LOG_S("reason", w->reason), LOG_S("text", text));
}

/* ", about 4 min", or "" where nothing is known. */
static const char *in_about(int64_t ms, struct arena *a)
{
	char text[40];

	return arena_printf(a, ", %s", eta_text(ms, text, sizeof(text)));
}

static const char *claim_due(const struct pod_events *w, const char *claim, struct arena *a)
{
	const struct node_claim *n = CTX_GET(w->c, OBJECT_NODE_CLAIM, node_claim, claim);
	const struct machine *m = n && n->spec.machine_ref ? CTX_GET(w->c, OBJECT_MACHINE, machine,
								     n->spec.machine_ref->name)
							   : NULL;
	struct eta_span span;

	if (n && n->status.eta.p50)
		return in_about(n->status.eta.p50 - loop_wall(w->c->loop), a);
	if (m && !n->status.machine_ref &&
	    eta_from(w->eta, m->spec.provider_ref.name, claim_instance_type(n), MACHINE_CLAIMED, 0,
		     &span))
		return in_about(span.p50, a);
	return "";
}

static const char *new_due(const struct pod_events *w, const struct plan_claim *p, struct arena *a)
{
	struct eta_span span;

	return eta_from(w->eta, p->provider, p->instance_type, MACHINE_CLAIMED, 0, &span)
		       ? in_about(span.p50, a)
		       : "";
}

static void tell_stopped(const struct reader *r, const struct stopped_line *stop)
{
	char t[STR_TIME_SIZE];

	tell(r,
	     &(struct word){
		     "Warning", STOP_LINE_CONDITION,
		     arena_printf(r->a, "stopped %s %s: %s", stop->scope, stop->name, stop->reason),
		     arena_printf(r->a,
				  "place %zu: no new claims for %s %s: %s on %lld machines; %s%s",
				  r->p->place, stop->scope, stop->name, stop->reason,
				  (long long)stop->machines,
				  stop->next ? "one is tried at " : "one is being tried",
				  stop->next ? str_time(t, stop->next) : ""),
		     true, 0});
}

static void tell_new(const struct reader *r, const struct plan_claim *claim,
		     const struct pod_events_hold *held)
{
	const char *news, *text;

	if (held->line) {
		tell_stopped(r, &held->stop);
		return;
	}
	if (held->backing_off) {
		news = arena_printf(r->a, "backing off %s", claim->pool);
		text = arena_printf(r->a, "place %zu: claims of pool %s failed %u times in a row",
				    r->p->place, claim->pool, held->failures);
		tell(r, &(struct word){"Warning", "BackingOff", news, text, true, 0});
		return;
	}
	news = arena_printf(r->a, "machine %s of pool %s", claim->machine, claim->pool);
	text = arena_printf(r->a, "place %zu: %s is being prepared%s", r->p->place, news,
			    new_due(r->w, claim, r->a));
	tell(r, &(struct word){"Normal", "Nominated", news, text, true, 0});
}

/* Texts that count what any tenant moves: another number is no news. */
static bool is_count(enum plan_reason_code code)
{
	return code == PLAN_NO_MACHINE || code == PLAN_HELD || code == PLAN_ERASE_BELOW_POLICY ||
	       code == PLAN_QUOTA || code == PLAN_POOL_LIMIT;
}

/* When the machine that is to be its serves: once it is free, and has come.  False: not known. */
static bool is_expected(const struct reader *r, struct eta_span *out)
{
	const struct plan_expected *x = &r->p->expected;

	if (!x->machine ||
	    !eta_from(r->w->eta, x->provider, x->instance_type, MACHINE_CLAIMED, 0, out))
		return false;
	out->p50 += x->p50;
	out->p90 += x->p90;
	return true;
}

/* Beyond those that are told in full: "; and NoCapacity of 2 other pools", for each code. */
static const char *others(const struct plan_pod *p, struct arena *a)
{
	size_t n[PLAN_REASONS] = {0};
	const char *text = "";

	for (size_t k = REASONS_TOLD; k < p->nreasons; k++)
		n[p->reasons[k].code]++;
	for (size_t c = 0; c < PLAN_REASONS; c++)
		if (n[c])
			text = arena_printf(a, "%s%s%s of %zu other pool%s", text,
					    *text ? ", " : "; and ", plan_reason_names[c], n[c],
					    n[c] == 1 ? "" : "s");
	return text;
}

static void tell_nothing(const struct reader *r)
{
	const struct plan_pod *p = r->p;
	const char *text = "", *news = "", *when = "";
	char between[ETA_BETWEEN_SIZE];
	struct eta_span span = {0};

	if (is_expected(r, &span))
		when = arena_printf(r->a, ", expected %s",
				    eta_between(&span, loop_wall(r->w->c->loop), between));
	for (size_t k = 0; k < p->nreasons && k < REASONS_TOLD; k++) {
		const struct plan_reason *why = &p->reasons[k];

		text = arena_printf(r->a, "%s%s%s: %s", text, k ? "; " : "",
				    plan_reason_names[why->code], why->text);
		news = arena_printf(r->a, "%s%s%s %s", news, k ? "; " : "",
				    plan_reason_names[why->code],
				    is_count(why->code) ? why->pool : why->text);
	}
	text = arena_printf(r->a, "%s%s", text, others(p, r->a));
	if (p->place)
		text = arena_printf(r->a, "place %zu%s: %s", p->place, when, text);
	tell(r, &(struct word){"Warning",
			       p->nreasons ? plan_reason_names[p->reasons[0].code] : "NotServed",
			       news, text, true, span.p50});
}

/* That is kube-scheduler's business, unless it stays so.  Returns in how many ms it is drover's; 0: it was told. */
static int64_t tell_room(const struct reader *r)
{
	struct told *last = r->last;
	int64_t now = loop_now(r->w->c->loop);
	const char *text;

	if (!last->room_since)
		last->room_since = now;
	if (now - last->room_since < ROOM_MS)
		return last->room_since + ROOM_MS - now;
	text = arena_printf(
		r->a,
		"Node %s has room for it as drover counts, and kube-scheduler does not bind it: "
		"see the Node's taints and the pod's FailedScheduling event",
		r->p->target);
	tell(r, &(struct word){"Warning", "RoomOnNode", text, text, false, 0});
	return 0;
}

static void tell_claim(const struct reader *r)
{
	const char *news =
		arena_printf(r->a, "waits for claim %s, which is on its way", r->p->target);

	tell(r,
	     &(struct word){"Normal", "Nominated", news,
			    arena_printf(r->a, "%s%s", news, claim_due(r->w, r->p->target, r->a)),
			    false, 0});
}

int64_t pod_events_of_plan(struct pod_events *w, const struct plan *plan,
			   const struct pod_events_hold *held, const bool *speaks, size_t from,
			   size_t n)
{
	OWN(arena) a = arena_new();
	int64_t first = 0, left;

	for (size_t i = from; i < plan->npods && i - from < n; i++) {
		const struct plan_pod *p = &plan->pods[i];

		if (request_of_pod(p->name, NULL, NULL) &&
		    !(speaks && speaks[i] && p->outcome != PLAN_ON_NODE))
			continue;

		const struct reader r = reader_of(w, p, a);

		if (p->outcome != PLAN_ON_NODE)
			r.last->room_since = 0;
		switch (p->outcome) {
		case PLAN_ON_NODE:
			left = tell_room(&r);
			if (left && (!first || left < first))
				first = left;
			break;
		case PLAN_ON_CLAIM:
			tell_claim(&r);
			break;
		case PLAN_ON_NEW:
			tell_new(&r, &plan->claims[p->new_claim], &held[p->new_claim]);
			break;
		case PLAN_NOTHING:
			tell_nothing(&r);
			break;
		}
	}
	return first;
}
