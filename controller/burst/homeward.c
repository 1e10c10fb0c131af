/* homeward: keeps, for each claim of an instance, since when an owned machine is free for its pods,
 * and when the pods were last found to fit on the owned machine that became Ready. */
#include "controller/burst/homeward.h"

#include <stdlib.h>

#include "api/annotations.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/burst/restarts.h"
#include "controller/burst/settle.h"
#include "controller/core/claim_index.h"
#include "controller/core/eta.h"
#include "controller/core/lookup.h"
#include "controller/core/notify.h"
#include "controller/rules/claim.h"
#include "controller/tenant/tenant.h"
#include "planner/burst/moves.h"
#include "planner/home.h"

/* Time within which a claim that was sent appears in the cache */
#define SENT_MS 30000

struct homeward {
	struct context *c;
	const struct tenants *tenants;
	const struct eta *eta;
	/* Key: name of a claim; value: struct watch */
	struct map *watches;
};

struct watch {
	char uid[64];
	/* loop_now() since when an owned machine is free for the pods; 0: none is */
	int64_t free_since;
	/* loop_now() of the last plan in which the pods fit on the owned machine that is Ready, and
	 * their move gains; 0: none */
	int64_t ready_at;
	/* loop_now() before which no claim on an owned machine is created */
	int64_t ask_after;
	/* loop_now() before which the instance does not drain */
	int64_t drain_after;
	/* 1 + code of the last event; 0: none was sent */
	int told;
	/* True: found in the present plan */
	bool seen;
};

/* One instance in the evaluation of one plan. */
struct candidate {
	const struct node_claim *n;
	const struct burst_policy *policy;
	struct watch *watch;
	struct burst_home_policy rule;
};
struct candidates {
	struct homeward *h;
	struct arena *a;
	struct candidate *v;
	size_t n, cap;
};

/* --- policies --------------------------------------------------------------------------------- */

/* Returns the policy that decided on the claim, if it moves running work; NULL otherwise. */
static const struct burst_policy *policy_of(const struct context *c, const struct node_claim *n)
{
	const struct burst_policy *p = n->spec.burst ? CTX_GET(c, OBJECT_BURST_POLICY, burst_policy,
							       n->spec.burst->policy_ref.name)
						     : NULL;

	return p && !p->meta.deletion_timestamp && !p->spec.paused &&
			       p->spec.mode != BURST_SHADOW && p->spec.scale_back &&
			       (p->spec.scale_back->to_on_prem == BURST_HOME_AT_CHECKPOINT ||
				p->spec.scale_back->to_on_prem == BURST_HOME_IMMEDIATE)
		       ? p
		       : NULL;
}

static struct homeward_drain drain_of(const struct burst_policy *p, const struct node_claim *n)
{
	const struct burst_policy_scale_back *s = p->spec.scale_back;

	return (struct homeward_drain){s->to_on_prem == BURST_HOME_AT_CHECKPOINT,
				       s->drain.max_wait ? s->drain.max_wait
							 : n->spec.termination_grace_period};
}

bool homeward_keeps_idle(const struct burst_policy *p)
{
	return p && p->spec.scale_back && p->spec.scale_back->to_on_prem == BURST_HOME_NEVER;
}

static const char *workload_of(const struct node_claim *n)
{
	return str_or(n->spec.burst->workload, n->spec.burst->work);
}

static bool is_on_machine(const struct context *c, const struct node_claim *n)
{
	const struct machine *m = machine_of_claim(c, n);

	return m && m->spec.elastic && machine_is_in(m, MACHINE_SERVING);
}

/* Returns the claim on the owned machine for the pods of claim n, if the former is Ready; NULL
 * otherwise. */
static const struct node_claim *ready_for(const struct context *c, const struct node_claim *n)
{
	const struct node_claim *to = claim_replacement_of(c, n);

	return to && /* mutant: home-not-awaited */ claim_is_ready(to) ? to : NULL;
}

/* --- one plan --------------------------------------------------------------------------------- */

static struct watch *watch_of(struct homeward *h, const struct node_claim *n)
{
	struct watch *w = map_get(h->watches, n->meta.name);

	if (w && str_eq(w->uid, n->meta.uid))
		return w;
	w = mem_new(struct watch);
	str_copy(w->uid, sizeof(w->uid), n->meta.uid);
	map_put(h->watches, n->meta.name, w);
	return w;
}

static bool add_candidate(const struct kube_entry *en, void *arg)
{
	const struct node_claim *n = en->object;
	struct candidates *k = arg;
	const struct burst_policy *p = policy_of(k->h->c, n);
	const struct burst_policy_scale_back *s = p ? p->spec.scale_back : NULL;
	struct candidate *v;

	if (!p || n->meta.deletion_timestamp || !claim_is_ready(n) || !is_on_machine(k->h->c, n))
		return true;
	if (k->n == k->cap) {
		k->cap = k->cap ? 2 * k->cap : 8;
		v = arena_calloc(k->a, k->cap, sizeof(*v));
		for (size_t i = 0; i < k->n; i++)
			v[i] = k->v[i];
		k->v = v;
	}
	k->v[k->n++] = (struct candidate){n,
					  p,
					  watch_of(k->h, n),
					  {.home = (enum burst_home)s->to_on_prem,
					   .gain = s->gain.money,
					   .gain_ms = s->gain.time,
					   .moves = s->moves,
					   .hysteresis_ms = s->hysteresis}};
	return true;
}

struct last_end {
	const char *node;
	/* Latest end, wall ms; 0: no pod has one */
	int64_t ends;
	/* True: a pod has no end */
	bool open;
};

static bool add_end(const struct kube_entry *en, void *arg)
{
	const struct tenant_pod *p = en->object;
	struct last_end *e = arg;

	if (p->world.daemon || p->ended || !str_eq(p->world.node, e->node))
		return true;
	e->open |= !p->ends;
	if (p->ends > e->ends)
		e->ends = p->ends;
	return true;
}

/* Returns the wall ms until which the instance would be paid for: the end of what its policy pays,
 * or of the time limits (activeDeadlineSeconds) that all of its pods have. */
static int64_t paid_until(const struct homeward *h, const struct node_claim *n)
{
	const int64_t end = settle_paid_from(n, loop_wall(h->c->loop)) + n->spec.expire_after;
	const struct tenant *t = tenant_get(h->tenants, n->spec.virtual_cluster_ref.name);
	struct last_end e = {.node = n->meta.name};

	if (t && t->pods)
		kube_cache_each(t->pods, add_end, &e);
	return !e.open && e.ends && e.ends < end ? e.ends : end;
}

static struct burst_running running_of(const struct homeward *h, const struct candidate *x,
				       const struct plan_home *home)
{
	const int64_t now = loop_wall(h->c->loop), mono = loop_now(h->c->loop);
	const struct node_claim *n = x->n;
	struct eta_span span = {.p90 = x->policy->spec.cost.boot_and_stage_time};
	struct burst_running r = {
		.name = n->meta.name,
		.policy = &x->rule,
		.price = n->spec.burst->price,
		.left_ms = paid_until(h, n) - now,
		.ran_ms = now - (home->since ? home->since : n->meta.creation_timestamp),
		.moved = burst_moved_of(h->c, n->spec.virtual_cluster_ref.name, workload_of(n))
				 .count,
		.saves = home->saves,
		.kept = n->spec.gang ? "it belongs to a gang" : home->kept,
		.free_ms = -1};

	if (home->to) {
		/* The machine is reserved, so it is not measured any more how long it was free. */
		r.free_ms = home->found ? x->rule.hysteresis_ms : -1;
		return r;
	}
	if (home->found)
		(void)eta_from(h->eta, home->out.provider, home->out.instance_type, MACHINE_CLAIMED,
			       0, &span);
	r.boot_ms = span.p90;
	if (x->watch->free_since)
		r.free_ms = mono - x->watch->free_since;
	return r;
}

/* True if the plan places a waiting pod on this Node or claim. */
static bool is_target(const struct plan *p, const char *name)
{
	for (size_t i = 0; i < p->npods; i++)
		if (str_eq(p->pods[i].target, name))
			return true;
	return false;
}

static void tell(const struct homeward *h, const struct candidate *x, const struct burst_running *r,
		 const struct burst_move *m, struct arena *a)
{
	const char *text = burst_move_text(r, m, x->policy->spec.cost.currency, a);

	if (x->watch->told == 1 + (int)m->code)
		return;
	x->watch->told = 1 + (int)m->code;
	log_info("move to an owned machine", LOG_S("claim", x->n->meta.name), LOG_S("text", text));
	ctx_event(h->c, OBJECT_NODE_CLAIM, &x->n->meta, "Normal",
		  m->code == BURST_MOVES ? "MovesHome" : "StaysInCloud", text);
}

/* Stores the result of the plan for one instance. */
static void keep(const struct homeward *h, const struct candidate *x, const struct plan_home *home,
		 const struct burst_move *m)
{
	const struct machine *machine = machine_of_claim(h->c, x->n);
	const bool ready = home->to && m->code == BURST_MOVES && ready_for(h->c, x->n);

	x->watch->ready_at = ready ? loop_now(h->c->loop) : 0;
	if (ready && machine)
		notify(h->c, NOTICE_MACHINE, machine->meta.name);
}

static void forget_unseen(struct homeward *h)
{
	OWN(map) gone = map_new(NULL);
	struct map_iter it;

	map_for_each (it, h->watches) {
		struct watch *w = it.value;

		/* A claim that drains is no candidate, but its bars stay. */
		if (!w->seen && !CTX_GET(h->c, OBJECT_NODE_CLAIM, node_claim, it.key))
			map_put(gone, it.key, h);
		else if (!w->seen)
			w->free_since = w->ready_at = 0;
		w->seen = false;
	}
	map_for_each (it, gone)
		map_del(h->watches, it.key);
}

/* Evaluates one instance and stores the result. Returns true if a claim on an owned machine may be
 * created for it; *r: the instance as input of burst_move_best(). */
static bool evaluate(struct homeward *h, struct candidate *x, const struct plan_home *home,
		     struct arena *a, struct burst_running *r)
{
	const int64_t now = loop_now(h->c->loop);
	struct watch *w = x->watch;
	struct burst_move m;

	if (home->to)
		w->ask_after = now + HOMEWARD_AGAIN_MS;
	if (/* mutant: home-interrupted */ !home->found || home->to)
		w->free_since = 0;
	else if (!w->free_since)
		w->free_since = now;
	w->seen = true;
	*r = running_of(h, x, home);
	m = burst_move_of(r);
	tell(h, x, r, &m, a);
	keep(h, x, home, &m);
	return !home->to && now >= w->ask_after && now >= w->drain_after;
}

const struct node_claim *homeward_plan(struct homeward *h, const struct plan *p, struct world *w,
				       bool waits, struct arena *a, struct plan_claim *out)
{
	struct candidates k = {.h = h, .a = a};
	struct burst_running *may;
	struct plan_home *homes;
	size_t *of, n = 0, best;

	if (p->nclaims) /* The plan's own claims come first; evaluate after the next plan. */
		return NULL;
	kube_cache_each(h->c->cache[OBJECT_NODE_CLAIM], add_candidate, &k);
	homes = arena_calloc(a, k.n + 1, sizeof(*homes));
	may = arena_calloc(a, k.n + 1, sizeof(*may));
	of = arena_calloc(a, k.n + 1, sizeof(*of));
	for (size_t i = 0; i < k.n; i++) {
		const struct node_claim *to = claim_replacement_of(h->c, k.v[i].n);

		homes[i] = (struct plan_home){.claim = k.v[i].n->meta.name,
					      .to = to ? to->meta.name : NULL};
	}
	if (k.n)
		plan_homes(w, homes, k.n, loop_wall(h->c->loop), a);
	for (size_t i = 0; i < k.n; i++) {
		homes[i].found &= homes[i].to ? !is_target(p, homes[i].to) : !waits && !p->nholds;
		of[n] = i;
		n += evaluate(h, &k.v[i], &homes[i], a, &may[n]);
	}
	forget_unseen(h);
	best = burst_move_best(may, n);
	if (best == n)
		return NULL;
	k.v[of[best]].watch->ask_after = loop_now(h->c->loop) + SENT_MS;
	*out = homes[of[best]].out;
	return k.v[of[best]].n;
}

int64_t homeward_next_ms(const struct homeward *h)
{
	return map_size(h->watches) ? HOMEWARD_LOOK_MS : 0;
}

/* --- drains ----------------------------------------------------------------------------------- */

bool homeward_begins(const struct homeward *h, const struct node_claim *n,
		     struct homeward_drain *out)
{
	const struct watch *w = map_get(h->watches, n->meta.name);
	const struct burst_policy *p = policy_of(h->c, n);
	const struct tenant *t = tenant_get(h->tenants, n->spec.virtual_cluster_ref.name);
	const struct node_claim *to = ready_for(h->c, n);
	const int64_t now = loop_now(h->c->loop);
	int64_t since;

	if (!w || !p || !t || !tenant_usable(t) || !str_eq(w->uid, n->meta.uid) || !w->ready_at ||
	    now - w->ready_at > HOMEWARD_VALID_MS || now < w->drain_after)
		return false;
	/* Pods that came to the new Node since the plan may have taken its room. */
	if (!to || tenant_pods_on(t, to->meta.name, &since))
		return false;
	*out = drain_of(p, n);
	return true;
}

bool homeward_goes_on(const struct homeward *h, const struct node_claim *n,
		      struct homeward_drain *out)
{
	const struct burst_policy *p = policy_of(h->c, n);

	if (!p || !ready_for(h->c, n))
		return false;
	*out = drain_of(p, n);
	return true;
}

void homeward_withdrawn(struct homeward *h, const struct node_claim *n)
{
	struct watch *w = watch_of(h, n);

	w->ready_at = 0;
	w->drain_after = loop_now(h->c->loop) + HOMEWARD_AGAIN_MS;
}

/* --- launches after a move -------------------------------------------------------------------- */

struct barred {
	const struct context *c;
	const char *work;
	bool found;
};

static bool is_moving(const struct node_claim *n, void *arg)
{
	struct barred *b = arg;
	const struct machine *m =
		n->spec.burst && str_eq(workload_of(n), b->work) ? machine_of_claim(b->c, n) : NULL;

	b->found = m && m->status.instance && m->status.instance->moved;
	return !b->found;
}

static bool add_hysteresis(const struct kube_entry *en, void *arg)
{
	const struct burst_policy *p = en->object;
	int64_t *most = arg;

	if (p->spec.scale_back && p->spec.scale_back->hysteresis > *most)
		*most = p->spec.scale_back->hysteresis;
	return true;
}

bool homeward_bars(const struct context *c, const char *tenant, const char *work)
{
	const struct burst_moved moved = burst_moved_of(c, tenant, work);
	struct barred b = {.c = c, .work = work};
	int64_t most = 0;

	claim_index_each(c, CLAIM_BY_TENANT, tenant, is_moving, &b);
	kube_cache_each(c->cache[OBJECT_BURST_POLICY], add_hysteresis, &most);
	return b.found ||
	       (moved.last && /* mutant: home-undone */ loop_wall(c->loop) - moved.last < most);
}

/* --- life ------------------------------------------------------------------------------------- */

void homeward_clear(struct homeward *h)
{
	map_clear(h->watches);
}

struct homeward *homeward_new(struct context *c, const struct tenants *tenants,
			      const struct eta *eta)
{
	struct homeward *h = mem_new(struct homeward);

	*h = (struct homeward){.c = c, .tenants = tenants, .eta = eta, .watches = map_new(free)};
	return h;
}

void homeward_free(struct homeward *h)
{
	if (!h)
		return;
	map_free(h->watches);
	free(h);
}
