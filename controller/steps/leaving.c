/*
 * leaving: the machine is off and isolated. Its volumes are detached, its Node is deleted by UID,
 * and its bootstrap token is deleted. Then the claim ends (safety invariant S3 of
 * docs/architecture.md). Objects that cannot be deleted, because the tenant does not answer, become
 * a pending cleanup (tenant/pending_cleanup.h).
 * Tests: tests/world/test_leave.c, tests/world/test_leave_tenant.c, tests/world/test_review.c
 */
#include <stdlib.h>
#include <string.h>

#include "api/annotations.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/burst/settle.h"
#include "controller/core/clock_jumps.h"
#include "controller/core/finalizer.h"
#include "controller/life/ask.h"
#include "controller/life/bmc.h"
#include "controller/life/consent.h"
#include "controller/life/join.h"
#include "controller/life/journal.h"
#include "controller/life/node.h"
#include "controller/life/power.h"
#include "controller/rules/machine.h"
#include "controller/steps/steps.h"
#include "controller/steps/stopping.h"
#include "controller/tenant/pending_cleanup.h"

#define OUT_OF_SERVICE "node.kubernetes.io/out-of-service"

/* Values of l->work.progress: what is removed next from the tenant's cluster. */
enum { LEFT_LOOK, LEFT_NODE, LEFT_TOKEN, LEFT_ALL };

/* kube_done: records the answer. An object that does not exist counts as deleted. */
static void on_step(json_t *o, const struct err *e, void *arg)
{
	struct life *l = arg;

	(void)o;
	life_answered(l, !e || e->kind == ERR_NOT_FOUND, e);
	loop_timer_start(&l->timer, l->question.answer.ok ? 0 : l->c->o.poll_ms);
}

/* kube_done of the Node's deletion. A Node with finalizers is only marked as deleted, and still
 * exists. A Node whose UID has changed is not deleted. In both cases the deletion is repeated until
 * the time limit for the tenant has passed. */
static void on_node(json_t *o, const struct err *e, void *arg)
{
	struct err kept;

	if (!e && json_at(o, "metadata", "deletionTimestamp")) {
		err_note(&kept, ERR_CONFLICT, 0, "deleted, but finalizers remain on it");
		e = &kept;
	}
	on_step(o, e, arg);
}

static bool answer_is(const struct life *l, const char *about)
{
	return str_eq(l->question.answer.about, about) && l->question.answer.ok;
}

/* Objects that remain in the tenant's cluster after a claim. If the claim was deleted by force, its
 * name and UID come from status.claimRef. */
struct left {
	const char *tenant, *name, *claim_uid;
	/* UID of the Node; NULL: unknown */
	const char *node_uid;
};

static struct left what_is_left(const struct life *l, const struct node_claim *n)
{
	const struct machine_status *st = &l->m->status;

	if (n)
		return (struct left){n->spec.virtual_cluster_ref.name, n->meta.name, n->meta.uid,
				     n->status.node_uid};
	return (struct left){st->tenant.name, st->claim_ref->name, st->claim_ref->uid, NULL};
}

/* --- pending cleanups ------------------------------------------------------------------------- */

/* Reports a new pending cleanup with a log line and an event. Does nothing if the pending cleanup
 * was reported before and only its write is being repeated. */
static void tell_owed(struct life *l, const struct virtual_cluster *vc, const char *node)
{
	bool refused = str_eq(l->question.answer.about, "node") ||
		       str_eq(l->question.answer.about, "token") ||
		       str_eq(l->question.answer.about, "taint");
	char note[512];

	if (str_eq(l->question.answer.about, "debt"))
		return;
	str_format(note, sizeof(note),
		   "Node %.253s is not deleted yet: %.120s; drover continues with machine %.63s, "
		   "and tries for 24 h to delete the Node",
		   node,
		   refused && !l->question.answer.ok
			   ? life_answer_error(l)->text
			   : "the tenant's API server did not complete the deletion in time",
		   l->name);
	str_clean(note);
	log_warn("tenant has a pending cleanup", LOG_S("tenant", vc->meta.name),
		 LOG_S("node", node), LOG_S("machine", l->name), LOG_S("why", note));
	ctx_event(l->c, OBJECT_VIRTUAL_CLUSTER, &vc->meta, "Warning", "Owed", note);
}

static void owe(struct life *l, const struct left *x, const char *node_uid, const char *token_id)
{
	const struct virtual_cluster *vc =
		CTX_GET(l->c, OBJECT_VIRTUAL_CLUSTER, virtual_cluster, x->tenant);
	char when[STR_TIME_SIZE];
	json_t *list, *o;

	if (!vc) {
		log_warn("VirtualCluster no longer exists; its Node and bootstrap token are not "
			 "deleted",
			 LOG_S("machine", l->name), LOG_S("node", x->name));
		l->work.progress = LEFT_ALL;
		life_kick(l);
		return;
	}
	tell_owed(l, vc, x->name);
	list = pending_cleanup_without(vc, x->name);
	/* drop the oldest ones: a pending cleanup never blocks a machine */
	while (json_array_size(list) >= PENDING_CLEANUP_MAX)
		json_array_remove(list, 0);
	o = json_pack("{s:s, s:s*, s:s*, s:s}", "nodeName", x->name, "nodeUID", node_uid, "tokenID",
		      token_id, "since", str_time(when, loop_wall(l->c->loop)));
	json_array_append_new(list, o);
	life_asking(l, "debt", NULL);
	writer_status(&l->journal.write, OBJECT_VIRTUAL_CLUSTER, &vc->meta,
		      json_pack("{s:o}", "debts", list), on_step);
}

/* --- volumes ---------------------------------------------------------------------------------- */

struct left_pods {
	const char *node;
	size_t n;
};

static bool count_pod(const struct kube_entry *en, void *arg)
{
	const struct world_pod *p = en->object;
	struct left_pods *left = arg;

	left->n += !p->daemon && str_eq(p->node, left->node);
	return true;
}

static bool out_of_service(const struct tenant_node *node)
{
	for (size_t i = 0; i < node->world.taints.n; i++)
		if (str_eq(node->world.taints.v[i].key, OUT_OF_SERVICE))
			return true;
	return false;
}

/* Sets the out-of-service taint on the Node. Kubernetes then knows that the Node is off, removes
 * its pods and detaches their volumes. */
static void take_out_of_service(struct life *l, struct tenant *t, const struct tenant_node *node)
{
	struct err e;
	json_t *taints = node->taints_json
				 ? json_parse(node->taints_json, strlen(node->taints_json), &e)
				 : NULL,
	       *patch;

	if (!taints)
		taints = json_array();
	json_array_append_new(taints, json_pack("{s:s, s:s, s:s}", "key", OUT_OF_SERVICE, "value",
						"nodeshutdown", "effect", "NoExecute"));
	patch = json_pack("{s:{s:s, s:s}, s:{s:o}}", "metadata", "uid", node->uid,
			  "resourceVersion", node->rv, "spec", "taints", taints);
	life_asking(l, "taint", t);
	life_ask_tenant(l, kube_patch(tenant_nodes_client(t), &KUBE_NODES, NULL, node->world.name,
				      NULL, KUBE_PATCH_MERGE, patch, on_step, l));
	json_decref(patch);
}

/* True if no pod is bound to the Node and no volume is attached to it. Otherwise sets the
 * out-of-service taint and returns false. */
static bool ensure_let_go(struct life *l, struct tenant *t, const struct tenant_node *node)
{
	struct left_pods left = {.node = node->world.name};

	switch (life_asked(l, "volumes")) {
	case ASK_NONE:
		life_ask_volumes(l, t);
		return false;
	case ASK_FAILED:
		if (life_answer_error(l)->kind != ERR_DENIED &&
		    life_answer_error(l)->kind != ERR_NOT_FOUND) {
			life_ask_again(l);
			return false;
		}
		break; /* drover may not list the attachments: decide by the pods only */
	case ASK_OK:
		break;
	}
	kube_cache_each(t->pods, count_pod, &left);
	left.n += kube_cache_over(t->pods);
	if (!left.n && l->volumes <= 0)
		return true;
	if (!out_of_service(node))
		take_out_of_service(l, t, node);
	else
		life_ask_again(l);
	return false;
}

/* --- the Node and its token ------------------------------------------------------------------- */

/* Returns the Node of the claim, if it still exists; NULL: none. That is the Node with the recorded
 * UID, or a Node that the machine's kubelet has registered again (same providerID). If the claim
 * recorded no UID, the name suffices. A Node of that name with a different UID and providerID
 * belongs to another user. */
static const struct tenant_node *node_of(const struct life *l, const struct left *x,
					 struct tenant *t)
{
	const struct tenant_node *node = t && t->nodes ? tenant_node_get(t, x->name) : NULL;
	OWN(arena) a = arena_new();

	return node && (!x->node_uid || str_eq(node->uid, x->node_uid) ||
			str_eq(node->provider_id, life_provider_id(l, a)))
		       ? node
		       : NULL;
}

/* Removes what remains of the claim in the tenant's cluster: pods and volumes, the Node (by UID),
 * and the token. True if all are gone, or recorded as a pending cleanup. */
static bool ensure_tenant_left(struct life *l, const struct left *x)
{
	struct tenant *t = x->tenant ? tenant_get(l->parts->tenants, x->tenant) : NULL;
	const struct tenant_node *node = node_of(l, x, t);
	bool late = loop_wall(l->c->loop) - clock_jumps_since(l->c, l->m->status.state_since) -
			    l->m->status.state_since >
		    MACHINE_TENANT_PATIENCE_MS;
	struct kube_delete_opts o = {.grace_s = -1};
	struct life_token token;
	const char *uid;
	char name[32];

	if (!life_ensure_unpaused(l) || !ctx_may_act(l->c))
		return false;
	if (l->work.progress == LEFT_ALL)
		return true;
	if (answer_is(l, "debt") || answer_is(l, "token") || l->m->status.tenant.name == NULL) {
		/* Done: the pending cleanup is recorded, or the token (the last object) is deleted,
		 * or nothing was ever written for a tenant. */
		l->work.progress = LEFT_ALL;
		return true;
	}
	life_token(l, x->claim_uid, &token);
	secret_wipe(token.secret, sizeof(token.secret));
	if (!t || !tenant_usable(t) || !t->nodes || !kube_cache_synced(t->nodes) || late) {
		if (late || !t)
			owe(l, x, node ? node->uid : x->node_uid, token.id);
		return false;
	}
	if (l->work.progress == LEFT_LOOK && node && !ensure_let_go(l, t, node))
		return false;
	if (l->work.progress == LEFT_LOOK)
		l->work.progress = LEFT_NODE;
	/* In the host cluster, the cache selects Nodes by a label, which the kubelet could have
	 * removed. So if the cache shows no Node, try to delete the Node with the recorded UID. */
	uid = node ? node->uid : /* mutant: host-node-unlabelled */ t->on_host ? x->node_uid : NULL;
	if (l->work.progress == LEFT_NODE && uid && !answer_is(l, "node")) {
		o.uid = uid;
		life_asking(l, "node", t);
		life_ask_tenant(l, kube_delete(tenant_nodes_client(t), &KUBE_NODES, NULL, x->name,
					       &o, on_node, l));
		return false;
	}
	l->work.progress = LEFT_TOKEN;
	str_format(name, sizeof(name), "bootstrap-token-%s", token.id);
	life_asking(l, "token", t);
	life_ask_tenant(l, kube_delete(tenant_nodes_client(t), &KUBE_SECRETS, "kube-system", name,
				       &o, on_step, l));
	return false;
}

/* --- the claim -------------------------------------------------------------------------------- */

/* Ends the claim: deletes the object, or, if it is being deleted already, removes drover's
 * finalizer. */
static void end_claim(struct life *l, const struct node_claim *n)
{
	life_asking(l, "claim", NULL);
	if (!n->meta.deletion_timestamp)
		writer_delete(&l->journal.write, OBJECT_NODE_CLAIM, &n->meta, on_step);
	else
		(void)writer_finalizer(&l->journal.write, OBJECT_NODE_CLAIM, &n->meta,
				       FINALIZER_CLAIM, false, on_step);
}

/* True if the machine is proved off. State stopping has checked this already, unless its deadline
 * passed: then the machine was isolated without being off. The claim must not end before the
 * machine is observed off. */
static bool ensure_off(struct life *l)
{
	if (life_ensure_off_confirmed(l))
		return true;
	/* Require the approved machine: the Off of a different machine proves nothing about this
	 * one. */
	if (!life_ensure_observed(l, l->c->o.poll_ms * 5) ||
	    !life_ensure_approved_identity(l, REASON_DuplicateIdentity) ||
	    !life_ensure_undoubted(l))
		return false;
	if (l->observation.power != PROVIDER_POWER_OFF) {
		life_power(l, false);
		return false;
	}
	return life_ensure_off_proved(l) &&
	       life_ensure_rested(l, l->observation.read_at - l->observation.off_since);
}

enum life_decision step_leaving(struct life *l)
{
	const struct node_claim *n = life_claim(l);
	struct left x;

	/* steps/elastic.c has seen that the cloud instance is terminated. The instance has no power
	 * state or port to check. */
	bool elastic = l->m->spec.elastic;

	if (!elastic && !ensure_off(l))
		return LIFE_STAY;
	/* Clean up for a claim that was deleted by force, too: nobody else deletes its Node and
	 * bootstrap token. */
	if (l->m->status.claim_ref && (n || l->work.progress != LEFT_ALL)) {
		x = what_is_left(l, n);
		if (/* mutant: leaving-cut */ (!elastic && !life_ensure_isolated(l)) ||
		    !ensure_tenant_left(l, &x))
			return LIFE_STAY;
	}
	if (n && finalizer_is_on(&n->meta.finalizers, FINALIZER_CLAIM)) {
		if (!n->meta.deletion_timestamp ||
		    settle_ensure(l->c, &l->journal.write, n, l->m, on_step))
			end_claim(l, n);
		return LIFE_STAY;
	}
	if (!n && !life_ensure_claim_proved_gone(l))
		return LIFE_STAY;
	return life_goto(l, elastic ? MACHINE_GONE : MACHINE_DIRTY,
			 json_pack("{s:n, s:n}", "claimRef", "agent"), REASON_NONE, NULL);
}
