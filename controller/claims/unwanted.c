/* unwanted: scans the claims that do not serve yet after each plan. A module of its own, because
 * plans find unwanted claims, while the modules for claims and machines act on them. */
#include "controller/claims/unwanted.h"

#include <stdlib.h>

#include "api/annotations.h"
#include "api/machine_states.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/core/approval.h"
#include "controller/core/claim_index.h"
#include "controller/core/lookup.h"
#include "controller/tenant/request_objects.h"
#include "controller/tenant/tenant.h"

struct unwanted {
	struct context *c;
	const struct tenants *tenants;
	/* The unwanted claims. Key: name of a NodeClaim; value: struct unwanted_claim */
	struct map *claims;
};

struct unwanted_claim {
	char uid[64];
	/* loop_now() since when the claim has been unwanted */
	int64_t since;
};

/* True if the tenant's pods are known and up to date. */
static bool is_read(const struct unwanted *u, const char *tenant)
{
	const struct virtual_cluster *vc =
		CTX_GET(u->c, OBJECT_VIRTUAL_CLUSTER, virtual_cluster, str_or(tenant, ""));
	struct tenant *t = tenant_get(u->tenants, str_or(tenant, ""));

	/* mutant: unwanted-unread */
	return vc && !vc->spec.paused && !vc->meta.deletion_timestamp && t && tenant_usable(t) &&
	       t->pods && kube_cache_synced(t->pods);
}

/* True if nothing was written to the claim's machine and drover may delete the claim. False if the
 * machine is in state claimed but its Node exists, because that state came from a backup. False if
 * the claim has no machine, unless the claim waits for its approval: claims.c handles claims that
 * no machine accepts. A claim that names a machine which is not free is never early. */
static bool is_early(const struct unwanted *u, const struct node_claim *n)
{
	const struct machine *m;

	/* Conditions without a lookup come first, because this runs for all claims that do not
	 * serve yet after each plan. */
	if (!labels_get(&n->meta.annotations, CLAIM_FOR_PODS) || n->meta.deletion_timestamp ||
	    str_eq(n->status.phase, "Failed"))
		return false;
	m = machine_of_claim(u->c, n);
	if (!m)
		return approval_can_bind(u->c, n) && approval_of(u->c, n).state == APPROVAL_WAITING;
	return str_eq(m->status.state, machine_state_info[MACHINE_CLAIMED].name) &&
	       !tenant_node_now(u->tenants, n);
}

int64_t unwanted_ms(const struct unwanted *u, const struct node_claim *n)
{
	const struct unwanted_claim *s = u ? map_get(u->claims, n->meta.name) : NULL;

	return s && str_eq(s->uid, n->meta.uid) && is_early(u, n) &&
			       is_read(u, n->spec.virtual_cluster_ref.name)
		       ? loop_now(u->c->loop) - s->since
		       : -1;
}

/* --- results of a plan ------------------------------------------------------------------------ */

struct said {
	struct unwanted *u;
	/* Names of the claims on which the plan places a pod */
	struct map *wanted;
	/* Tenants whose pods the plan does not cover completely */
	struct map *unclear;
};

static bool is_unclear(const struct plan_pod *p)
{
	return (p->outcome == PLAN_ON_NODE && !request_of_pod(p->name, NULL, NULL)) ||
	       (p->outcome == PLAN_NOTHING &&
		(!p->nreasons || p->reasons[0].code == PLAN_OVER_BUDGET ||
		 p->reasons[0].code == PLAN_TENANT));
}

static void tell(const struct context *c, const struct node_claim *n)
{
	const struct machine *m = machine_of_claim(c, n);

	notify(c, NOTICE_CLAIM, n->meta.name);
	if (m)
		notify(c, NOTICE_MACHINE, m->meta.name);
}

static bool look_at_claim(const struct node_claim *n, void *arg)
{
	const struct said *said = arg;
	struct unwanted *u = said->u;
	struct unwanted_claim *s = map_get(u->claims, n->meta.name);
	bool was = s && str_eq(s->uid, n->meta.uid),
	     is = is_early(u, n) && !map_has(said->wanted, n->meta.name) &&
		  !map_has(said->unclear, str_or(n->spec.virtual_cluster_ref.name, "")) &&
		  is_read(u, n->spec.virtual_cluster_ref.name);

	if (was == is)
		return true;
	map_del(u->claims, n->meta.name);
	if (is) {
		s = mem_new(struct unwanted_claim);
		str_copy(s->uid, sizeof(s->uid), n->meta.uid);
		s->since = loop_now(u->c->loop);
		map_put(u->claims, n->meta.name, s);
	}
	tell(u->c, n);
	return true;
}

/* Looks again at the claims that are unwanted, which may serve or be gone by now. */
static void look_at_unwanted(struct said *said)
{
	OWN(map) names = map_new(NULL);
	struct map_iter it;

	map_for_each (it, said->u->claims)
		map_put(names, it.key, said);
	map_for_each (it, names) {
		const struct node_claim *n =
			CTX_GET(said->u->c, OBJECT_NODE_CLAIM, node_claim, it.key);

		if (n)
			look_at_claim(n, said);
		else
			map_del(said->u->claims, it.key);
	}
}

/* True if the pod may use the claim on which it is placed. False for a claim that a BurstPolicy
 * decided on for other work: its instance must not be launched for this pod. */
static bool may_want(const struct unwanted *u, const struct plan_pod *p)
{
	const struct node_claim *n = CTX_GET(u->c, OBJECT_NODE_CLAIM, node_claim, p->target);

	for (size_t i = 0; n && n->spec.burst && i < n->spec.pods.n; i++)
		if (str_eq(n->spec.pods.v[i], p->uid))
			return true;
	return !n || !n->spec.burst;
}

void unwanted_plan(struct unwanted *u, const struct plan *p)
{
	OWN(map) wanted = map_new(NULL);
	OWN(map) unclear = map_new(NULL);
	struct said said = {u, wanted, unclear};

	for (size_t i = 0; i < p->npods; i++) {
		const struct plan_pod *pod = &p->pods[i];

		if (pod->outcome == PLAN_ON_CLAIM && !map_has(wanted, pod->target) &&
		    may_want(u, pod))
			map_put(wanted, pod->target, u);
		if (is_unclear(pod) && !map_has(unclear, pod->tenant))
			map_put(unclear, pod->tenant, u);
	}
	look_at_unwanted(&said);
	claim_index_starting(u->c, look_at_claim, &said);
}

void unwanted_clear(struct unwanted *u)
{
	map_clear(u->claims);
}

struct unwanted *unwanted_new(struct context *c, const struct tenants *tenants)
{
	struct unwanted *u = mem_new(struct unwanted);

	u->c = c;
	u->tenants = tenants;
	u->claims = map_new(free);
	return u;
}

void unwanted_free(struct unwanted *u)
{
	if (!u)
		return;
	map_free(u->claims);
	free(u);
}
