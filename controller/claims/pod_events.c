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
#include "controller/rules/claim.h"
#include "controller/tenant/tenant.h"

/* kube-scheduler binds a pod that fits in milliseconds; a queue's longest back-off is 10 s. */
#define ROOM_MS 60000
#define REASONS_TOLD 5

struct pod_events {
	struct context *c;
	const struct tenants *tenants;
	const struct eta *eta;
	struct map *told; /* "tenant/ns/name" -> struct told */
};

struct told {
	int64_t at; /* loop_now(); 0: nothing yet */
	char text[256];
	int64_t room_since; /* loop_now(): there has been room for it on a node; 0: no */
};

struct pod_events *pod_events_new(struct context *c, const struct tenants *tenants,
				  const struct eta *eta)
{
	struct pod_events *w = mem_new(struct pod_events);

	w->c = c;
	w->tenants = tenants;
	w->eta = eta;
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

/* What of a text is news.  A place is none by itself: any tenant can move all others' pods in the queue, as
 * often as it likes. */
static const char *news_in(const char *text)
{
	const char *end = str_starts(text, "place ") ? strchr(text, ':') : NULL;

	return end ? end : text;
}

/* more: comes after the text, and is no news by itself; "" none. */
static void tell(const struct reader *r, const char *type, const char *reason, const char *text,
		 const char *more)
{
	const struct plan_pod *p = r->p;
	struct told *last = r->last;
	struct tenant *t = tenant_get(r->w->tenants, p->tenant);
	struct kube_ref ref = {
		.api_version = "v1", .kind = "Pod", .ns = p->ns, .name = p->name, .uid = p->uid};
	int64_t now = loop_now(r->w->c->loop);
	bool same = last->at && strncmp(last->text, news_in(text), sizeof(last->text) - 1) == 0;

	if (!t || !t->events || (same && now - last->at < POD_EVENTS_AGAIN_MS))
		return;
	last->at = now;
	str_copy(last->text, sizeof(last->text), news_in(text));
	kube_event(t->events, &ref, type, reason, "Provision",
		   arena_printf(r->a, "%s%s", text, more));
	if (!same && tenant_may_log(t))
		log_info("pod waits", LOG_S("tenant", p->tenant), LOG_S("ns", p->ns),
			 LOG_S("pod", p->name), LOG_S("reason", reason), LOG_S("text", text));
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
	struct eta_span span;

	if (n && n->status.eta.p50)
		return in_about(n->status.eta.p50 - loop_wall(w->c->loop), a);
	if (n && !n->status.machine_ref &&
	    eta_from(w->eta, claim_instance_type(n), MACHINE_CLAIMED, &span))
		return in_about(span.p50, a);
	return "";
}

static const char *new_due(const struct pod_events *w, const struct plan_claim *p, struct arena *a)
{
	struct eta_span span;

	return eta_from(w->eta, p->instance_type, MACHINE_CLAIMED, &span) ? in_about(span.p50, a)
									  : "";
}

static void tell_stopped(const struct reader *r, const struct stopped_line *stop)
{
	char t[STR_TIME_SIZE];

	tell(r, "Warning", STOP_LINE_CONDITION,
	     arena_printf(r->a, "place %zu: no new claims for %s %s: %s on %lld machines; %s%s",
			  r->p->place, stop->scope, stop->name, stop->reason,
			  (long long)stop->machines,
			  stop->next ? "one is tried at " : "one is being tried",
			  stop->next ? str_time(t, stop->next) : ""),
	     "");
}

static void tell_new(const struct reader *r, const struct plan_claim *claim,
		     const struct pod_events_hold *held)
{
	if (held->line)
		tell_stopped(r, &held->stop);
	else if (held->backing_off)
		tell(r, "Warning", "BackingOff",
		     arena_printf(r->a, "place %zu: claims of pool %s failed %u times in a row",
				  r->p->place, claim->pool, held->failures),
		     "");
	else
		tell(r, "Normal", "Nominated",
		     arena_printf(r->a, "place %zu: machine %s of pool %s is being prepared",
				  r->p->place, claim->machine, claim->pool),
		     new_due(r->w, claim, r->a));
}

static void tell_nothing(const struct reader *r)
{
	const struct plan_pod *p = r->p;
	const char *text = "";

	for (size_t k = 0; k < p->nreasons && k < REASONS_TOLD; k++)
		text = arena_printf(r->a, "%s%s%s: %s", text, k ? "; " : "",
				    plan_reason_names[p->reasons[k].code], p->reasons[k].text);
	if (p->place)
		text = arena_printf(r->a, "place %zu: %s", p->place, text);
	tell(r, "Warning", p->nreasons ? plan_reason_names[p->reasons[0].code] : "NotServed", text,
	     "");
}

/* That is kube-scheduler's business, unless it stays so.  Returns in how many ms it is drover's; 0: it was told. */
static int64_t tell_room(const struct reader *r)
{
	struct told *last = r->last;
	int64_t now = loop_now(r->w->c->loop);

	if (!last->room_since)
		last->room_since = now;
	if (now - last->room_since < ROOM_MS)
		return last->room_since + ROOM_MS - now;
	tell(r, "Warning", "RoomOnNode",
	     arena_printf(
		     r->a,
		     "Node %s has room for it as drover counts, and kube-scheduler does not bind it: "
		     "see the Node's taints and the pod's FailedScheduling event",
		     r->p->target),
	     "");
	return 0;
}

int64_t pod_events_of_plan(struct pod_events *w, const struct plan *plan,
			   const struct pod_events_hold *held, size_t from, size_t n)
{
	OWN(arena) a = arena_new();
	int64_t first = 0, left;

	for (size_t i = from; i < plan->npods && i - from < n; i++) {
		const struct plan_pod *p = &plan->pods[i];
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
			tell(&r, "Normal", "Nominated",
			     arena_printf(a, "waits for claim %s, which is on its way", p->target),
			     claim_due(w, p->target, a));
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
