/*
 * claims: has one entry for each NodeClaim, with at most one write in flight. Each check of a claim
 * goes through these stages, and ends at the first one that starts a write:
 *
 *   check --> claim to be deleted (withdraw, take_back, give_up)?
 *         --> finalizer missing? --> status outdated (claim_status.c)?
 */
#include "controller/claims/claims.h"
#include "api/annotations.h"
#include "api/machine_states.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/claims/approval_asks.h"
#include "controller/claims/avoided.h"
#include "controller/burst/gangs.h"
#include "controller/burst/settle.h"
#include "controller/claims/unwanted.h"
#include "controller/core/approval.h"
#include "controller/core/counters.h"
#include "controller/core/lookup.h"
#include "controller/core/reconciled.h"
#include "controller/rules/identity.h"
#include "controller/tenant/pending_cleanup.h"
#include "controller/tenant/tenant.h"

#include <stdlib.h>
#include <string.h>

/* Time within which a machine has to accept a claim. A claim that no machine accepted by then was
 * planned from outdated data. */
#define UNTAKEN_MS 30000
#define AGAIN_MS 1000

struct claims {
	struct context *c;
	struct claims_spec spec;
	struct approval_asks *asks;
	/* Key: name of a NodeClaim; value: struct claim_entry */
	struct map *entries;
};

struct claim_entry {
	struct reconciled it;
	struct claims *owner;
	/* loop_now() since which a machine could have accepted the claim, as far as this leader has
	 * seen; 0: not yet. Set by age_of(). */
	int64_t open_since;
	/* state of the claim's approval at the last check */
	enum approval_state approval;
	char uid[64];
	/* Failure reason if the write in flight is the first to report that the claim failed; else
	 * "" */
	char failing[CLAIM_FAILING_SIZE];
};

static void on_written(json_t *o, const struct err *e, void *arg)
{
	struct claim_entry *en = arg;
	struct context *c = en->owner->c;
	const struct node_claim *n = CTX_GET(c, OBJECT_NODE_CLAIM, node_claim, en->it.name);

	(void)o;
	if (!e && en->failing[0])
		counters_claim_failed(c->counters, n ? n->spec.node_pool_ref.name : NULL,
				      en->failing);
	en->failing[0] = '\0';
	loop_timer_start(&en->it.timer, e && e->kind != ERR_NOT_FOUND ? 500 : 0);
}

/* False if the tenant's API server reported that no Node of that name exists. True if the Node
 * exists, or if that is not known. */
static bool may_have_node(struct tenant *t, const char *name)
{
	return !tenant_usable(t) || !t->nodes || !kube_cache_synced(t->nodes) ||
	       tenant_node_get(t, name);
}

/* True if the Machine object of the claim was deleted and created anew, so that the server may
 * still run and serve the claim. False if the tenant's API server reported that the claim's Node
 * does not exist. */
static bool may_serve(const struct tenants *ts, const struct node_claim *n,
		      const struct object_ref *r, const struct machine *m)
{
	struct tenant *t = tenant_get(ts, str_or(n->spec.virtual_cluster_ref.name, ""));

	if (!r || !r->uid || !m || str_eq(r->uid, m->meta.uid))
		return false;
	return !t || may_have_node(t, n->meta.name);
}

/* True if nothing is known of the machine and the tenant has a Node of the claim's name. An
 * operator then has created the claim for a server that already runs, and is about to approve that
 * (steps/adopt.h). */
static bool may_be_adopted(const struct tenants *ts, const struct node_claim *n,
			   enum machine_state s)
{
	struct tenant *t = tenant_get(ts, str_or(n->spec.virtual_cluster_ref.name, ""));

	return s == MACHINE_KNOWN && t && may_have_node(t, n->meta.name);
}

/* True if the machine may already serve the claim, or is about to be adopted for it. Such a claim
 * has no machine in its status, for example because it was restored from a backup. The claim stays,
 * whatever its approval. */
static bool may_run(const struct claim_entry *en, const struct node_claim *n)
{
	const struct tenants *ts = en->owner->spec.status.tenants;
	const struct object_ref *r =
		n->spec.machine_ref ? n->spec.machine_ref : n->status.machine_ref;
	const struct machine *m = machine_named_by(en->owner->c, n);

	return m &&
	       (approval_is_adopted(m, n) ||
		/* reason ClaimReplaced: the machine may serve the earlier claim of this name */
		(m->status.claim_ref && str_eq(m->status.claim_ref->name, n->meta.name)) ||
		may_serve(ts, n, r, m) ||
		may_be_adopted(ts, n, machine_state_find(str_or(m->status.state, ""))));
}

/* Returns for how many ms a machine could have accepted the claim, as far as this leader has
 * seen. */
static int64_t age_of(struct claim_entry *en)
{
	const int64_t now = loop_now(en->owner->c->loop);

	if (!en->open_since)
		en->open_since = now;
	return now - en->open_since;
}

static void on_owed(json_t *o, const struct err *e, void *arg)
{
	struct claim_entry *en = arg;

	(void)o;
	(void)e;
	loop_timer_start(&en->it.timer, 1000);
}

/* Adds the claim's Node to the pending cleanup (status.debts) of its VirtualCluster, so that the
 * Node is deleted. Only if the Node runs on the hardware of machine m, which is off and isolated by
 * now. True: a write was started. False: nothing to do, or not known. */
static bool owe_node(struct claim_entry *en, const struct node_claim *n, const struct machine *m)
{
	struct context *c = en->owner->c;
	const char *name = str_or(n->spec.virtual_cluster_ref.name, "");
	const struct virtual_cluster *vc =
		CTX_GET(c, OBJECT_VIRTUAL_CLUSTER, virtual_cluster, name);
	const struct tenant_node *node = tenant_node_now(en->owner->spec.status.tenants, n);
	const struct machine_identity *id = m->spec.identity;
	OWN(arena) a = arena_new();
	char when[STR_TIME_SIZE];
	json_t *list;

	if (!vc || !node || !id ||
	    !identity_node(id->system_uuid, identity_provider_id(m, a), node->system_uuid,
			   node->provider_id))
		return false;
	for (size_t i = 0; i < vc->status.debts.n; i++)
		if (str_eq(vc->status.debts.v[i].node_uid, node->uid))
			return false; /* The deletion is already pending. */
	list = pending_cleanup_without(vc, en->it.name);
	while (json_array_size(list) >= PENDING_CLEANUP_MAX)
		json_array_remove(list, 0);
	json_array_append_new(list,
			      json_pack("{s:s, s:s, s:s}", "nodeName", en->it.name, "nodeUID",
					node->uid, "since", str_time(when, loop_wall(c->loop))));
	writer_status(&en->it.write, OBJECT_VIRTUAL_CLUSTER, &vc->meta,
		      json_pack("{s:o}", "debts", list), on_owed);
	return true;
}

/* Removes a claim that no machine accepted, or that was deleted before any machine accepted it:
 * nothing was started for it. Deletes the claim, or removes its finalizer if it is being deleted.
 * True: a write was started. */
static bool withdraw(struct claim_entry *en, const struct node_claim *n)
{
	struct context *c = en->owner->c;
	int64_t age = age_of(en);
	const struct object_ref *r =
		n->spec.machine_ref ? n->spec.machine_ref : n->status.machine_ref;
	const struct machine *m = r ? CTX_GET(c, OBJECT_MACHINE, machine, r->name) : NULL;
	enum machine_state s =
		m ? machine_state_find(str_or(m->status.state, "")) : MACHINE_STATE_NONE;
	/* True: the machine was released from the claim, either before anything was written or
	 * after it was proved to be off and isolated. A machine whose status was lost, or is older
	 * than the claim's, proves nothing. */
	bool released = n->meta.deletion_timestamp && m && m->status.tenancy >= n->status.tenancy &&
			(s == MACHINE_FREE || (s >= MACHINE_DIRTY && s <= MACHINE_VERIFYING));

	/* Start a timer, because no notice will come: the Machine to which the claim is bound was
	 * deleted. The new Machine of the same name does not report when it has finished with this
	 * claim. */
	if (n->meta.deletion_timestamp && r && r->uid && m && !str_eq(r->uid, m->meta.uid))
		loop_timer_start(&en->it.timer, UNTAKEN_MS);
	if (machine_of_claim(c, n) || (n->status.machine_ref && !released))
		return false;
	if (n->meta.deletion_timestamp &&
	    /* Keep the finalizer, because the server may still serve the claim. If the machine was
	     * released, the claim's Node is all that is left: add it to the pending cleanup. */
	    may_serve(en->owner->spec.status.tenants, n, r, m))
		return released && owe_node(en, n, m);
	if (n->meta.deletion_timestamp)
		return !ctx_crds_terminating(c) &&
		       (!settle_ensure(c, &en->it.write, n, m, on_written) ||
			writer_finalizer(&en->it.write, OBJECT_NODE_CLAIM, &n->meta,
					 FINALIZER_CLAIM, false, on_written));
	if (age < UNTAKEN_MS || may_run(en, n)) {
		loop_timer_start(&en->it.timer, age < UNTAKEN_MS ? UNTAKEN_MS - age : UNTAKEN_MS);
		return false;
	}
	log_info("claim withdrawn: no machine accepted it", LOG_S("claim", en->it.name));
	if (r)
		avoided_add(en->owner->spec.avoided, r->name);
	writer_delete(&en->it.write, OBJECT_NODE_CLAIM, &n->meta, on_written);
	return true;
}

/* True if claims may be deleted now. False: the claim is checked again after AGAIN_MS, because
 * nothing reports that claims may be deleted. */
static bool may_delete(struct claim_entry *en)
{
	const struct context *c = en->owner->c;

	if (ctx_may_act(c) && !ctx_crds_terminating(c))
		return true;
	loop_timer_start(&en->it.timer, AGAIN_MS);
	return false;
}

/* Deletes a claim whose pods were all deleted before its machine was written to. True: a write was
 * started. */
static bool take_back(struct claim_entry *en, const struct node_claim *n)
{
	struct context *c = en->owner->c;
	int64_t ms = unwanted_ms(en->owner->spec.unwanted, n);

	if (ms >= 0 && ms < UNWANTED_MS)
		loop_timer_start(&en->it.timer, UNWANTED_MS - ms);
	if (ms < UNWANTED_MS || !may_delete(en))
		return false;
	log_info("claim withdrawn: no pod needs it any more", LOG_S("claim", en->it.name));
	ctx_event(c, OBJECT_NODE_CLAIM, &n->meta, "Normal", "NoPodWaits",
		  "no pod needs the claim any more: withdrawn before its machine was changed");
	writer_delete(&en->it.write, OBJECT_NODE_CLAIM, &n->meta, on_written);
	return true;
}

/* Deletes a claim whose launch was refused or whose gang is incomplete; the next burst decision
 * chooses another offer. True: a write was started. */
static bool give_up(struct claim_entry *en, const struct node_claim *n)
{
	struct context *c = en->owner->c;
	const struct machine *m = machine_of_claim(c, n);
	const struct machine_instance *i = m ? m->status.instance : NULL;
	char why[160];
	int64_t next_ms;

	if (!n->spec.burst || n->meta.deletion_timestamp || !may_delete(en))
		return false;
	if (i && i->refused_time &&
	    str_eq(m->status.state, machine_state_info[MACHINE_CLAIMED].name)) {
		str_copy(why, sizeof(why), str_or(i->refusal, "launch refused"));
	} else if (!burst_gang_broken(c, en->owner->spec.status.tenants, n, &next_ms, why)) {
		if (next_ms)
			loop_timer_start(&en->it.timer, next_ms);
		return false;
	}
	log_info("claim withdrawn: the instance that a BurstPolicy chose cannot be launched",
		 LOG_S("claim", en->it.name), LOG_S("why", why));
	ctx_event(c, OBJECT_NODE_CLAIM, &n->meta, "Warning", "LaunchRefused", why);
	writer_delete(&en->it.write, OBJECT_NODE_CLAIM, &n->meta, on_written);
	return true;
}

/* Adds the finalizer to a claim that has a machine but no finalizer, whoever created the claim or
 * removed its finalizer: the claim must not vanish while a machine is bound to it. True: a write
 * was started. */
static bool finalizer(struct claim_entry *en, const struct node_claim *n)
{
	return !n->meta.deletion_timestamp && machine_of_claim(en->owner->c, n) &&
	       writer_finalizer(&en->it.write, OBJECT_NODE_CLAIM, &n->meta, FINALIZER_CLAIM, true,
				on_written);
}

static void derive(struct claim_entry *en, const struct node_claim *n)
{
	json_t *status = claim_status_new(&en->owner->spec.status, n, en->failing);

	if (status)
		writer_status(&en->it.write, OBJECT_NODE_CLAIM, &n->meta, status, on_written);
}

/* Asks the webhook while the claim waits. Restarts the time within which a machine has to accept
 * the claim when the claim is approved. */
static void follow_approval(struct claim_entry *en, const struct node_claim *n)
{
	const enum approval_state is = n->meta.deletion_timestamp
					       ? APPROVAL_NOT_NEEDED
					       : approval_of(en->owner->c, n).state;

	if (is != en->approval)
		en->open_since = 0;
	en->approval = is;
	if (is == APPROVAL_WAITING)
		approval_asks_look(en->owner->asks, n);
	else
		approval_asks_forget(en->owner->asks, en->it.name);
}

/* True if the claim stays as it is until its approval is given, or until its denial ends. */
static bool rests(struct claim_entry *en, const struct node_claim *n)
{
	const struct context *c = en->owner->c;

	if (n->meta.deletion_timestamp || may_run(en, n) ||
	    (en->approval != APPROVAL_REFUSED &&
	     (en->approval != APPROVAL_WAITING || !approval_can_bind(c, n))))
		return false;
	en->open_since = 0;
	return true;
}

/* Deletes a denied claim once its time is over. True: a write was started. */
static bool end_denied(struct claim_entry *en, const struct node_claim *n)
{
	struct context *c = en->owner->c;
	const struct approval is = approval_of(c, n);
	int64_t left;

	/* The time begins when the decision is recorded (claim_status.c). */
	if (is.state != APPROVAL_REFUSED || !is.recorded)
		return false;
	left = approval_denied_until(&is) - loop_wall(c->loop);
	if (left > 0)
		loop_timer_start(&en->it.timer, left);
	if (left > 0 || !may_delete(en))
		return false;
	log_info("denied claim deleted: its time is over", LOG_S("claim", en->it.name));
	writer_delete(&en->it.write, OBJECT_NODE_CLAIM, &n->meta, on_written);
	return true;
}

static void look(void *arg)
{
	struct claim_entry *en = arg;
	struct context *c = en->owner->c;
	const struct node_claim *n = CTX_GET(c, OBJECT_NODE_CLAIM, node_claim, en->it.name);

	if (!n) {
		approval_asks_forget(en->owner->asks, en->it.name);
		if (!writer_busy(&en->it.write))
			map_del(en->owner->entries, en->it.name);
		return;
	}
	if (!str_eq(en->uid, n->meta.uid)) {
		/* The claim is new, or has replaced one of the same name. */
		str_copy(en->uid, sizeof(en->uid), n->meta.uid);
		en->open_since = 0;
	}
	if (!c->leading || writer_busy(&en->it.write) || !c->ready)
		return;
	follow_approval(en, n);
	if (rests(en, n)) {
		if (!end_denied(en, n) && !take_back(en, n))
			derive(en, n);
		return;
	}
	if (!withdraw(en, n) && !take_back(en, n) && !give_up(en, n) && !finalizer(en, n))
		derive(en, n);
}

struct claims *claims_new(const struct claims_spec *spec)
{
	struct claims *cl = mem_new(struct claims);

	cl->c = spec->status.c;
	cl->spec = *spec;
	cl->asks = cl->spec.status.approval_asks = approval_asks_new(cl->c);
	cl->entries = map_new(reconciled_free);
	return cl;
}

void claims_free(struct claims *cl)
{
	if (!cl)
		return;
	map_free(cl->entries);
	approval_asks_free(cl->asks);
	free(cl);
}

void claims_kick(struct claims *cl, const char *claim)
{
	struct claim_entry *en = reconciled_get(cl->entries, claim, sizeof(*en), cl->c, look);

	en->owner = cl;
	reconciled_kick(&en->it);
}

void claims_clear(struct claims *cl)
{
	struct map_iter it;

	map_for_each (it, cl->entries)
		((struct claim_entry *)it.value)->open_since = 0;
}
