/*
 * owners: has one entry for each tenant that has claims, with at most one call in flight.
 *
 *   check --> owner of a claim missing? --> read the owner
 *         --> read the CustomResourceDefinition of the owner's kind --> delete the claim
 */
#include "controller/claims/owners.h"

#include <stdlib.h>

#include "api/resources.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/claims/budget.h"
#include "controller/core/claim_index.h"
#include "controller/core/lookup.h"
#include "controller/core/reconciled.h"
#include "controller/rules/disruption_budget.h"

#define LOOK_MS 10000
#define SOON_MS 500

struct owner_check;

struct owners {
	struct context *c;
	/* Key: name of a VirtualCluster; value: struct owner_check */
	struct map *entries;
	/* The entry that is deleting a claim of a deleted pool; NULL: none. At most one for all
	 * tenants. */
	const struct owner_check *deleting;
};

struct owner_check {
	/* The object is the VirtualCluster. */
	struct reconciled it;
	struct owners *all;
	/* At most one of `call` and it.write is in flight */
	struct kube_call *call;
	/* Name and UID of the claim whose owner is being read */
	char claim[254], uid[64];
	/* Kind of the owner that is being read */
	enum object_kind_id kind;
};

static void later(struct owner_check *en, int64_t ms)
{
	loop_timer_start(&en->it.timer, ms);
}

static bool busy(const struct owner_check *en)
{
	return en->call || writer_busy(&en->it.write);
}

/* --- deleting --------------------------------------------------------------------------------- */

static void on_deleted(json_t *o, const struct err *e, void *arg)
{
	struct owner_check *en = arg;

	(void)o;
	(void)e;
	if (en->all->deleting == en)
		en->all->deleting = NULL;
	later(en, SOON_MS);
}

/* True if the claim may be deleted now. For a claim of a deleted pool, no other such deletion may
 * be in flight, and the pool's disruption budget has to allow the deletion. */
static bool has_turn(const struct owner_check *en, const struct node_claim *n)
{
	return en->kind != OBJECT_NODE_POOL ||
	       (!en->all->deleting && budget_allows(en->all->c, n, BUDGET_POOL_DELETED));
}

static void delete_claim(struct owner_check *en)
{
	struct context *c = en->all->c;
	const struct node_claim *n = CTX_GET(c, OBJECT_NODE_CLAIM, node_claim, en->claim);

	if (!n || !str_eq(n->meta.uid, en->uid) || n->meta.deletion_timestamp || !ctx_may_act(c) ||
	    ctx_crds_terminating(c) || !has_turn(en, n)) {
		later(en, SOON_MS);
		return;
	}
	if (en->kind == OBJECT_NODE_POOL)
		en->all->deleting = en;
	log_info("claim deleted: its owner was deleted", LOG_S("claim", en->claim),
		 LOG_S("owner", object_kinds[en->kind].kind));
	ctx_event(c, OBJECT_NODE_CLAIM, &n->meta, "Normal", "OwnerDeleted",
		  en->kind == OBJECT_NODE_POOL ? "its NodePool was deleted"
					       : "its VirtualCluster was deleted");
	writer_delete(&en->it.write, OBJECT_NODE_CLAIM, &n->meta, on_deleted);
}

/* --- reading the owner ------------------------------------------------------------------------ */

/* Deletes the claim, unless the owner's CustomResourceDefinition is younger than the claim: then it
 * was deleted and applied again, which deleted all owners without intent. */
static void on_definition(json_t *o, const struct err *e, void *arg)
{
	struct owner_check *en = arg;
	const struct context *c = en->all->c;
	const struct node_claim *n = CTX_GET(c, OBJECT_NODE_CLAIM, node_claim, en->claim);
	int64_t since;

	en->call = NULL;
	if (e || json_at(o, "metadata", "deletionTimestamp") || !n ||
	    !str_to_time(str_or(json_str_at(o, "metadata", "creationTimestamp"), ""), &since)) {
		later(en, LOOK_MS);
		return;
	}
	if (since > n->meta.creation_timestamp) {
		ctx_event(c, OBJECT_NODE_CLAIM, &n->meta, "Warning", "OwnerLost",
			  "its owner was deleted together with the CustomResourceDefinition: the "
			  "claim stays until an operator deletes it");
		later(en, 60 * LOOK_MS);
		return;
	}
	delete_claim(en);
}

static void on_owner(json_t *o, const struct err *e, void *arg)
{
	struct owner_check *en = arg;
	char name[128];
	bool going =
		e ? e->kind == ERR_NOT_FOUND : json_at(o, "metadata", "deletionTimestamp") != NULL;

	en->call = NULL;
	if (!going) {
		/* The owner was not deleted, or that is unknown: the cache is outdated, or the API
		 * server did not answer. */
		later(en, LOOK_MS);
		return;
	}
	str_format(name, sizeof(name), "%s." OBJECT_GROUP, object_kinds[en->kind].plural);
	en->call = kube_get(en->all->c->host, &KUBE_CRDS, NULL, name, on_definition, en);
}

/* --- checking --------------------------------------------------------------------------------- */

struct orphan_search {
	const struct owner_check *en;
	/* Number of claims of this tenant */
	size_t claims;
	/* Number of claims whose owner is missing and that are not being deleted */
	size_t waiting;
	const struct node_claim *orphan;
	/* Name of a pool whose budget is used up; NULL: none found yet */
	const char *spent;
	enum object_kind_id kind;
	const struct object_ref *ref;
};

static bool stands(const struct context *c, enum object_kind_id kind, const struct object_ref *ref)
{
	const struct kube_entry *en = kube_cache_get(c->cache[kind], "", str_or(ref->name, ""));
	const struct object_meta *m = en ? object_meta_of(en->object) : NULL;

	/* An object with a different UID counts as existing: a backup was restored, or the object
	 * was created anew (see claim_status.c). */
	return m && !m->deletion_timestamp;
}

/* True if the disruption budget of the claim's pool allows the deletion of the claim.
 * budget_allows() scans all machines. Therefore, once it has refused a claim, s->spent contains the
 * pool's name, and further claims of the pool whose machine serves are refused without a scan. */
static bool may_go(struct orphan_search *s, const struct node_claim *n)
{
	const struct context *c = s->en->all->c;
	const struct machine *m = machine_of_claim(c, n);

	if (str_eq(s->spent, n->spec.node_pool_ref.name) && m && disruption_serves(m))
		return false;
	if (budget_allows(c, n, BUDGET_POOL_DELETED))
		return true;
	s->spent = n->spec.node_pool_ref.name;
	return false;
}

static bool look_at_claim(const struct node_claim *n, void *arg)
{
	struct orphan_search *s = arg;
	const struct context *c = s->en->all->c;
	bool tenant, pool;

	s->claims++;
	if (n->meta.deletion_timestamp)
		return true;
	tenant = stands(c, OBJECT_VIRTUAL_CLUSTER, &n->spec.virtual_cluster_ref);
	pool = stands(c, OBJECT_NODE_POOL, &n->spec.node_pool_ref);
	s->waiting += !tenant || !pool;
	if (s->orphan || (tenant && (pool || !may_go(s, n))))
		return true;
	s->kind = tenant ? OBJECT_NODE_POOL : OBJECT_VIRTUAL_CLUSTER;
	s->ref = tenant ? &n->spec.node_pool_ref : &n->spec.virtual_cluster_ref;
	s->orphan = n;
	return true;
}

static void ask_owner(struct owner_check *en, const struct orphan_search *s)
{
	str_copy(en->claim, sizeof(en->claim), s->orphan->meta.name);
	str_copy(en->uid, sizeof(en->uid), s->orphan->meta.uid);
	en->kind = s->kind;
	en->call = kube_get(en->all->c->host, &object_resources[s->kind], NULL,
			    str_or(s->ref->name, ""), on_owner, en);
}

static bool synced(const struct context *c)
{
	return kube_cache_synced(c->cache[OBJECT_NODE_CLAIM]) &&
	       kube_cache_synced(c->cache[OBJECT_NODE_POOL]) &&
	       kube_cache_synced(c->cache[OBJECT_MACHINE]) &&
	       kube_cache_synced(c->cache[OBJECT_VIRTUAL_CLUSTER]);
}

static void look(void *arg)
{
	struct owner_check *en = arg;
	struct context *c = en->all->c;
	const struct virtual_cluster *vc =
		CTX_GET(c, OBJECT_VIRTUAL_CLUSTER, virtual_cluster, en->it.name);
	struct orphan_search s = {.en = en};

	/* Nothing to do now: owners_kick() is called again once this process leads and is ready. */
	if (busy(en) || !c->leading || !c->ready)
		return;
	later(en, LOOK_MS);
	if (!synced(c) || ctx_crds_terminating(c))
		return;
	claim_index_each(c, CLAIM_BY_TENANT, en->it.name, look_at_claim, &s);
	if (s.orphan && !(vc && vc->spec.paused))
		ask_owner(en, &s);
	else if (!s.claims)
		map_del(en->all->entries, en->it.name);
	else if (!s.waiting)
		/* No timer is needed, because every change calls owners_kick(). */
		loop_timer_stop(&en->it.timer);
}

/* --- start ------------------------------------------------------------------------------------ */

static void entry_free(void *p)
{
	struct owner_check *en = p;

	kube_call_cancel(en->call);
	reconciled_free(en);
}

struct owners *owners_new(struct context *c)
{
	struct owners *os = mem_new(struct owners);

	os->c = c;
	os->entries = map_new(entry_free);
	return os;
}

void owners_free(struct owners *os)
{
	if (!os)
		return;
	map_free(os->entries);
	free(os);
}

static void kick(struct owners *os, const char *tenant)
{
	struct owner_check *en = reconciled_get(os->entries, tenant, sizeof(*en), os->c, look);

	en->all = os;
	if (!en->call)
		reconciled_kick(&en->it);
}

static bool kick_tenant_of(const struct kube_entry *e, void *arg)
{
	const struct node_claim *n = e->object;

	if (n->spec.virtual_cluster_ref.name)
		kick(arg, n->spec.virtual_cluster_ref.name);
	return true;
}

void owners_kick(struct owners *os, const char *tenant)
{
	/* Nothing to do now: owners_kick(NULL) is called once the context is ready. */
	if (!os || !os->c->ready)
		return;
	if (tenant)
		kick(os, tenant);
	else
		kube_cache_each(os->c->cache[OBJECT_NODE_CLAIM], kick_tenant_of, os);
}

bool owners_deletes(const struct owners *os, const struct node_claim *n)
{
	return os && os->deleting && str_eq(os->deleting->uid, n->meta.uid);
}
