/*
 * evict: sends evictions or deletions for the pods of one Node. Each pod has its own back-off; all
 * pods share ten concurrent calls.
 */
#include <stdlib.h>
#include <string.h>

#include "controller/drain/evict.h"
#include "api/machine_states.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/core/spans.h"
#include "controller/tenant/pod_ends.h"
#include "kube/call.h"

#define AT_ONCE 10
#define AGAIN_MS 5000
#define AGAIN_CAP_MS 30000
#define FORCED_GRACE_S 30
/* A pod counts as stuck this long after the end of its grace period: a working kubelet has ended
 * the pod by then. */
#define STUCK_MS 10000

struct slot {
	struct evict *ev;
	/* request in flight; NULL: the slot is free */
	struct kube_call *call;
	char *uid, *ns, *name;
};

/* State of one pod for which a request was sent. */
struct asked {
	/* loop_now() before which no further request is sent for the pod */
	int64_t not_before;
	struct backoff backoff;
	bool forced;
	/* what blocks the pod; "": nothing */
	char blocked[300];
};

struct evict {
	struct context *c;
	struct tenant *t;
	char *node, *machine;
	void (*changed)(void *arg);
	void *arg;
	struct slot slots[AT_ONCE];
	/* UID of a pod -> struct asked */
	struct map *asked;
	char blocked[300];
	int64_t began;
	bool forcing;
};

struct evict *evict_new(const struct leave_of *s)
{
	struct evict *ev = mem_new(struct evict);

	ev->c = s->c;
	ev->t = s->t;
	ev->node = mem_strdup(s->node);
	ev->machine = mem_strdup(s->machine);
	ev->changed = s->changed;
	ev->arg = s->arg;
	ev->asked = map_new(free);
	ev->began = loop_now(s->c->loop);
	for (size_t i = 0; i < AT_ONCE; i++)
		ev->slots[i].ev = ev;
	return ev;
}

static void slot_free(struct slot *s)
{
	kube_call_cancel(s->call);
	free(s->uid);
	free(s->ns);
	free(s->name);
	*s = (struct slot){.ev = s->ev};
}

void evict_free(struct evict *ev)
{
	if (!ev)
		return;
	for (size_t i = 0; i < AT_ONCE; i++)
		slot_free(&ev->slots[i]);
	map_free(ev->asked);
	free(ev->node);
	free(ev->machine);
	free(ev);
}

const struct tenant *evict_tenant(const struct evict *ev)
{
	return ev->t;
}

int64_t evict_age(const struct evict *ev)
{
	return loop_now(ev->c->loop) - ev->began;
}

static struct asked *asked_of(struct evict *ev, const char *uid)
{
	struct asked *a = map_get(ev->asked, uid);

	if (!a) {
		a = mem_new(struct asked);
		a->backoff = (struct backoff){.base_ms = AGAIN_MS, .cap_ms = AGAIN_CAP_MS};
		map_put(ev->asked, uid, a);
	}
	return a;
}

/* --- interpreting answers --------------------------------------------------------------------- */

/* Writes to out the name of the PodDisruptionBudget in a message like "... The disruption budget
 * web needs 3 healthy pods ..." (pods/eviction of kube-apiserver). False: the message names no
 * budget. */
static bool budget_of(const char *text, char *out, size_t size)
{
	static const char mark[] = "disruption budget ";
	const char *p = text;
	size_t n;

	while ((p = strstr(p, mark))) {
		p += sizeof(mark) - 1;
		n = strcspn(p, " .,");
		str_format(out, size, "%.*s", (int)n, p);
		if (n && n < 254 && str_is_dns_subdomain(out))
			return true;
	}
	return false;
}

static void on_answer(json_t *o, const struct err *e, void *arg)
{
	struct slot *s = arg;
	struct evict *ev = s->ev;
	struct asked *a = asked_of(ev, s->uid);
	int64_t delay = AGAIN_MS;
	char budget[256];

	(void)o;
	s->call = NULL;
	if (!e || e->kind != ERR_TIMEOUT)
		pod_ends_asked(ev->t->ends, s->uid, e ? POD_ASK_REFUSED : POD_ASK_ACCEPTED);
	if (!e || e->kind == ERR_NOT_FOUND) {
		/* Success: the cache will soon show that the pod is terminating or gone. */
		a->blocked[0] = '\0';
		backoff_reset(&a->backoff);
	} else if (e->kind != ERR_CONFLICT) {
		/* On conflict a new pod has this name: nothing to record, check again after
		 * AGAIN_MS. */
		delay = backoff_next(&a->backoff, loop_random(ev->c->loop));
		if (delay < (int64_t)e->retry_after_ms)
			delay = e->retry_after_ms;
		if (delay > AGAIN_CAP_MS)
			delay = AGAIN_CAP_MS;
		if (e->code == 429 && budget_of(e->text, budget, sizeof(budget)))
			str_format(a->blocked, sizeof(a->blocked), "pdb %.60s/%s", s->ns, budget);
		else
			str_format(a->blocked, sizeof(a->blocked), "pod %.60s/%.100s: %s", s->ns,
				   s->name, e->text);
		str_clean(a->blocked);
	}
	a->not_before = loop_now(ev->c->loop) + delay;
	slot_free(s);
	ev->changed(ev->arg);
}

/* --- requests --------------------------------------------------------------------------------- */

/* Records a forced deletion for audits: in an event on the Machine, an event on the tenant's pod,
 * and a log message, since events can get lost. */
static void tell_forced(struct evict *ev, const struct world_pod *p, const char *blocked,
			const char *policy)
{
	struct kube_ref ref = {
		.api_version = "v1", .kind = "Pod", .ns = p->ns, .name = p->name, .uid = p->uid};
	const struct machine *m = CTX_GET(ev->c, OBJECT_MACHINE, machine, ev->machine);
	char note[700];

	str_format(note, sizeof(note),
		   "pod %s/%s of tenant %s is deleted by force: %s; it was blocked by: %s", p->ns,
		   p->name, ev->t->name, policy,
		   str_or(blocked,
			  p->terminating ? "its grace period was not over" : "an unknown cause"));
	if (m)
		ctx_event(ev->c, OBJECT_MACHINE, &m->meta, "Warning", "PodDeleted", note);
	if (ev->t->events)
		kube_event(ev->t->events, &ref, "Warning", "PodDeleted", "Drain", note);
	log_warn("pod deleted", LOG_S("machine", ev->machine), LOG_S("tenant", ev->t->name),
		 LOG_S("ns", p->ns), LOG_S("pod", p->name), LOG_S("uid", p->uid),
		 LOG_S("policy", policy), LOG_S("kept_by", str_or(blocked, "")));
}

/* Fails a queued call just before it is sent if the machine no longer drains: its Drain may have
 * been cancelled, and then the machine continues to serve. */
static int still_leaves(void *arg, struct err *e)
{
	const struct slot *s = arg;
	const struct machine *m = CTX_GET(s->ev->c, OBJECT_MACHINE, machine, s->ev->machine);

	return m && str_eq(m->status.state, machine_state_info[MACHINE_DRAINING].name)
		       ? 0
		       : err_set(e, ERR_UNAVAILABLE, 0, "the machine no longer drains");
}

static void ask(struct evict *ev, struct slot *s, const struct tenant_pod *pod, struct asked *a,
		const char *kept, const char *policy)
{
	const struct world_pod *p = &pod->world;
	struct kube_delete_opts o = {.uid = p->uid,
				     .grace_s = pod->grace_s < FORCED_GRACE_S ? pod->grace_s
									      : FORCED_GRACE_S};

	s->uid = mem_strdup(p->uid);
	s->ns = mem_strdup(p->ns);
	s->name = mem_strdup(p->name);
	if (!policy) {
		s->call = kube_evict(ev->t->client, p->ns, p->name, p->uid, -1, on_answer, s);
	} else {
		if (!a->forced)
			tell_forced(ev, p, kept, policy);
		a->forced = true;
		s->call = kube_delete(ev->t->client, &KUBE_PODS, p->ns, p->name, &o, on_answer, s);
	}
	kube_call_check(s->call, still_leaves, s);
	spans_call(ev->c, s->call, OBJECT_MACHINE, ev->machine);
	pod_ends_asked(ev->t->ends, p->uid, POD_ASK_SENT);
}

struct turn {
	struct evict *ev;
	const char *policy;
	struct evict_look look;
	/* first blocked pod (by namespace and name) */
	const struct tenant_pod *first;
};

static struct slot *free_slot(struct evict *ev, const char *uid)
{
	struct slot *found = NULL;

	for (size_t i = 0; i < AT_ONCE; i++)
		if (!ev->slots[i].call)
			found = &ev->slots[i];
		else if (str_eq(ev->slots[i].uid, uid)) /* a request for this pod is in flight */
			return NULL;
	return found;
}

static bool before(const struct world_pod *a, const struct world_pod *b)
{
	int order = strcmp(a->ns, b->ns);

	return order ? order < 0 : strcmp(a->name, b->name) < 0;
}

/* Writes to out what blocks the pod, and returns out; NULL: nothing known blocks it. going: true if
 * the pod is terminating and is not to be deleted by force. */
static const char *kept_by(const struct evict *ev, const struct tenant_pod *pod,
			   const struct asked *a, bool going, char *out, size_t size)
{
	const struct world_pod *p = &pod->world;

	if (p->terminating && loop_wall(ev->c->loop) > pod->going_until + STUCK_MS)
		str_format(out, size, "pod %.60s/%.100s: stuck terminating", p->ns, p->name);
	else if (!going && a->blocked[0])
		str_copy(out, size, a->blocked);
	else
		return NULL;
	return out;
}

static bool each_pod(const struct kube_entry *en, void *arg)
{
	const struct tenant_pod *pod = en->object;
	const struct world_pod *p = &pod->world;
	struct turn *t = arg;
	struct evict *ev = t->ev;
	struct context *c = ev->c;
	struct asked *a;
	struct slot *s;
	char text[sizeof(a->blocked)];
	const char *kept;
	bool going;

	if (!str_eq(p->node, ev->node) || p->daemon)
		return true;
	t->look.left++;
	a = asked_of(ev, p->uid);
	going = p->terminating && !t->policy;
	kept = kept_by(ev, pod, a, going, text, sizeof(text));
	if (kept && (!t->first || before(p, &t->first->world))) {
		t->first = pod;
		str_copy(ev->blocked, sizeof(ev->blocked), kept);
		t->look.blocked_by = ev->blocked;
	}
	if (going || loop_now(c->loop) < a->not_before || (p->terminating && a->forced))
		return true;
	s = free_slot(ev, p->uid);
	if (s)
		ask(ev, s, pod, a, kept, t->policy);
	return true;
}

struct evict_look evict_turn(struct evict *ev, const char *policy)
{
	struct turn t = {.ev = ev, .policy = policy};
	struct map_iter it;

	/* At the first call with a policy (forced deletion), drop the evictions in flight and
	 * ignore their back-off, so that the deletions are sent at once. */
	if (policy && !ev->forcing) {
		ev->forcing = true;
		for (size_t i = 0; i < AT_ONCE; i++)
			slot_free(&ev->slots[i]);
		map_for_each (it, ev->asked)
			((struct asked *)it.value)->not_before = 0;
	}
	kube_cache_each(ev->t->pods, each_pod, &t);
	if (kube_cache_over(ev->t->pods)) {
		/* Too many pods for the cache: count one more, because a pod that was not read may
		 * be on the Node. */
		t.look.left++;
		if (!t.look.blocked_by)
			t.look.blocked_by =
				"pods that drover does not read: the tenant has more than its "
				"limit";
	}
	return t.look;
}
