/*
 * joining: the states booting, joining and gating. The written image boots. Then the Node that
 * registers is proved to be this machine. Pods are admitted only after the Node offers all
 * resources that its instance type has.
 * Tests: tests/world/test_join.c, tests/world/test_join_script.c, tests/world/test_thread.c
 */
#include <stdlib.h>
#include <string.h>

#include "api/annotations.h"
#include "base/crypto.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/life/ask.h"
#include "controller/life/bmc.h"
#include "controller/life/consent.h"
#include "controller/life/due.h"
#include "controller/life/join.h"
#include "controller/life/journal.h"
#include "controller/life/life.h"
#include "controller/life/power.h"
#include "controller/life/power_turn.h"
#include "controller/life/probe.h"
#include "controller/rules/provider.h"
#include "controller/tenant/join_probe.h"
#include "controller/steps/coming.h"
#include "controller/steps/steps.h"

/* Waits for the Node of a machine that joins by a script. Problems with the script appear only on
 * the machine's console, so the message names the script. */
static enum life_decision waits_for_script(struct life *l, const struct node_claim *n)
{
	const char *cluster = n->spec.virtual_cluster_ref.name;
	const struct tenant *t = tenant_get(l->parts->tenants, cluster);
	const struct virtual_cluster *vc =
		CTX_GET(l->c, OBJECT_VIRTUAL_CLUSTER, virtual_cluster, cluster);
	struct join_answer joins = {0};

	if (t && vc)
		join_probe_answer(t->joins, vc, &joins);
	if (!joins.by_script || !joins.takes)
		return LIFE_STAY;
	return life_wait(l, WAITING_DEVICE, REASON_NoNodeByScript,
			 "the machine is on; its Node has not registered yet, joining by the "
			 "script of https://%s/node/join",
			 joins.endpoint);
}

enum life_decision step_booting(struct life *l)
{
	enum life_decision d = LIFE_STAY;
	const struct node_claim *n = coming_claim(l, &d);

	if (!n)
		return d;
	if (tenant_node_of(l->parts->tenants, n)) {
		/* first let coming_check_token() end, so that its token cannot appear after the
		 * token was deleted in state joining */
		return l->question.call ? d
					: life_goto(l, MACHINE_JOINING, NULL, REASON_NONE, NULL);
	}
	if (life_waits_for_power(l) || !life_ensure_observed(l, l->c->o.poll_ms * 10) ||
	    !life_ensure_approved_identity(l, REASON_DuplicateIdentity) ||
	    !l->observation.media_known)
		return d;
	if (l->observation.media || l->observation.override != PROVIDER_OVERRIDE_NONE) {
		/* fail: only the machine's own disk may boot in a tenant's network */
		return life_fail(
			l, REASON_BootOverrideNotCleared,
			"the BMC shows a boot medium or a boot override, which drover had removed");
	}
	if (l->observation.power != PROVIDER_POWER_OFF) {
		coming_check_token(l, n);
		return join_seen_report(
			       l, tenant_get(l->parts->tenants, n->spec.virtual_cluster_ref.name))
			       ? d
			       : waits_for_script(l, n);
	}
	if (coming_ensure_taken(l, n))
		life_power(l, true);
	return d;
}

/* True if the bootstrap token is deleted. Otherwise starts to delete it. Only afterwards does the
 * Node get labels, so that no second machine can join with the token. */
static bool ensure_token_gone(struct life *l, const struct node_claim *n, struct tenant *t)
{
	struct life_token token;
	char name[32];

	switch (life_asked(l, "untoken")) {
	case ASK_OK:
		return true;
	case ASK_FAILED:
		if (life_answer_error(l)->kind == ERR_NOT_FOUND)
			return true;
		life_wait(l, WAITING_DEVICE, REASON_TenantUnreachable,
			  "the bootstrap token could not be deleted: %s",
			  life_answer_error(l)->text);
		life_ask_again(l);
		return false;
	case ASK_NONE:
		break;
	}
	life_token(l, n->meta.uid, &token);
	str_format(name, sizeof(name), "bootstrap-token-%s", token.id);
	secret_wipe(&token, sizeof(token));
	life_asking(l, "untoken", t);
	life_ask_tenant(l, kube_delete(tenant_nodes_client(t), &KUBE_SECRETS, "kube-system", name,
				       &(struct kube_delete_opts){.grace_s = -1}, life_answer, l));
	return false;
}

enum life_decision step_joining(struct life *l)
{
	enum life_decision d = LIFE_STAY;
	const struct node_claim *n = coming_claim(l, &d);
	const struct tenant_node *node = n ? tenant_node_of(l->parts->tenants, n) : NULL;
	char lacks[LIFE_PROOF_TEXT];
	struct tenant *t;
	struct err e;
	json_t *patch;

	if (!n)
		return d;
	t = tenant_get(l->parts->tenants, n->spec.virtual_cluster_ref.name);
	if (!node) {
		/* the Node existed before, and was deleted or is not read yet: wait until the
		 * deadline */
		return life_wait(l, WAITING_DEVICE, REASON_NodeNotFound,
				 "Node %s is not in the tenant's cluster", n->meta.name);
	}
	if (life_proves(l, n, node, &e) < 0) {
		if (!node->system_uuid ||
		    /* the Node is registered, but the kubelet has not written its status yet */
		    !node->boot_id)
			return d;
		return life_fail(l, REASON_NodeIdentityMismatch, "%s", e.text);
	}
	if (l->work.progress == 0 && !ensure_token_gone(l, n, t))
		return d;
	if (!life_ensure_join_probed(l, n, node, &d))
		return d;
	/* mutant: proof-too-weak */
	if (!life_proof_suffices(l, n, lacks))
		return life_fail(l, REASON_NetworkProofWeak, "%s", lacks);
	l->work.progress = 1;
	switch (life_asked(l, "labels")) {
	case ASK_NONE:
		life_asking(l, "labels", t);
		patch = life_node_labels(l, n, t->on_host);
		/* Patch only the Node that was proved to be this machine: the patch contains its
		 * UID. */
		json_object_set_new(json_object_get(patch, "metadata"), "uid",
				    json_string(node->uid));
		life_ask_tenant(l,
				kube_patch(tenant_nodes_client(t), &KUBE_NODES, NULL, n->meta.name,
					   NULL, KUBE_PATCH_MERGE, patch, life_answer, l));
		json_decref(patch);
		return d;
	case ASK_FAILED:
		life_wait(l, WAITING_DEVICE, REASON_TenantUnreachable,
			  "labels of the Node could not be set: %s", life_answer_error(l)->text);
		life_ask_again(l);
		return d;
	case ASK_OK:
		break;
	}
	return life_goto(l, MACHINE_GATING, json_pack("{s:s}", "bootID", node->boot_id),
			 REASON_NONE, NULL);
}

static bool startup_taints_gone(const struct node_claim *n, const struct tenant_node *node)
{
	for (size_t i = 0; i < n->spec.startup_taints.n; i++)
		for (size_t k = 0; k < node->world.taints.n; k++)
			if (str_eq(n->spec.startup_taints.v[i].key, node->world.taints.v[k].key))
				return false;
	return true;
}

/* Returns why no pod fits on the Node yet, as words that continue "Node NAME ", in the arena; NULL:
 * the Node is schedulable. The node controller removes its own taints (node.kubernetes.io/...) a
 * moment after the Node is Ready. If the machine counted as serving before, it would look full. */
static const char *not_schedulable(const struct tenant_node *node, struct arena *a)
{
	if (!node->world.ready)
		return "has joined, but is not Ready yet";
	if (node->world.unschedulable)
		return "is Ready, but cordoned";
	for (size_t i = 0; i < node->world.taints.n; i++)
		if (str_starts(node->world.taints.v[i].key, "node.kubernetes.io/"))
			return arena_printf(a, "is Ready, but still has taint %s",
					    node->world.taints.v[i].key);
	return NULL;
}

/* Time in which a Node normally becomes Ready, and a device plugin registers its devices. Until
 * then the wait is not reported. After that time drover also searches the tenant's cluster for
 * devices. */
#define PLUGIN_MS 60000

/* True if the gate takes longer than it normally does. */
static bool is_late(struct life *l)
{
	return life_is_due(l, l->m->status.state_since, PLUGIN_MS);
}

/* Returns the name of the first extended resource (with a slash) of the instance type that the Node
 * does not offer in full; NULL: it offers all. */
static const char *resource_missing(const struct life *l, const struct tenant *of,
				    const struct tenant_node *node)
{
	const struct provider_object *p = life_provider(l);
	const struct provider_object_instance_type *t =
		p ? provider_instance_type(p, l->m->spec.instance_type) : NULL;

	for (size_t i = 0; t && i < t->capacity.n; i++) {
		const char *name = t->capacity.v[i].name;

		if (strchr(name, '/') &&
		    quantity_cmp(tenant_node_has(of, node, name), t->capacity.v[i].q) < 0)
			return name;
	}
	return NULL;
}

/* Returns a patch that removes the taint "unregistered" from the Node. cluster: tenant for which a
 * Node in the host cluster must be reserved by a taint. The patch adds that taint if the kubelet
 * did not set it. NULL: the Node is in the tenant's own cluster. */
static json_t *without_unregistered(const struct tenant_node *node, const char *cluster)
{
	bool kept_for = /* mutant: host-node-untainted */ !cluster;
	struct err e;
	OWN_JSON old = node->taints_json
			       ? json_parse(node->taints_json, strlen(node->taints_json), &e)
			       : NULL;
	json_t *kept = json_array(), *v;
	size_t i;

	json_array_foreach (old, i, v) {
		if (!str_eq(json_str_at(v, "key"), TENANT_TAINT_UNREGISTERED))
			json_array_append(kept, v);
		kept_for |= str_eq(json_str_at(v, "key"), TENANT_LABEL_CLUSTER);
	}
	if (!kept_for)
		json_array_append_new(kept,
				      json_pack("{s:s, s:s, s:s}", "key", TENANT_LABEL_CLUSTER,
						"value", cluster, "effect", "NoExecute"));
	return json_pack("{s:{s:s}, s:{s:o}}", "metadata", "resourceVersion", node->rv, "spec",
			 "taints", kept);
}

enum life_decision step_gating(struct life *l)
{
	enum life_decision d = LIFE_STAY;
	const struct node_claim *n = coming_claim(l, &d);
	const struct tenant_node *node = n ? tenant_node_of(l->parts->tenants, n) : NULL;
	struct tenant *t;
	const char *missing, *lacks;
	OWN(arena) a = arena_new();
	json_t *patch;

	if (!n || !node)
		return d;
	lacks = not_schedulable(node, a);
	if (lacks)
		return !is_late(l) ? d
				   : life_wait(l, WAITING_DEVICE, REASON_NodeNotReady, "Node %s %s",
					       n->meta.name, lacks);
	if (!startup_taints_gone(n, node))
		return !is_late(l) ? d
				   : life_wait(l, WAITING_DEVICE, REASON_StartupTaintsExist,
					       "Node %s still has a startup taint", n->meta.name);
	t = tenant_get(l->parts->tenants, n->spec.virtual_cluster_ref.name);
	missing = resource_missing(l, t, node);
	if (missing && !is_late(l))
		return d;
	if (missing) {
		tenant_look_for_devices(t);
		return life_wait(l, WAITING_DEVICE, REASON_ResourceNotRegistered,
				 "Node %s does not yet offer all of resource %s", n->meta.name,
				 missing);
	}
	if (node->unregistered) {
		/* the patch was accepted: wait until the cache shows the Node without the taint */
		if (life_asked(l, "taint") == ASK_OK)
			return d;
		if (life_asked(l, "taint") == ASK_FAILED) {
			life_ask_again(l);
			return d;
		}
		life_asking(l, "taint", t);
		patch = without_unregistered(node, t->on_host ? t->name : NULL);
		life_ask_tenant(l,
				kube_patch(tenant_nodes_client(t), &KUBE_NODES, NULL, n->meta.name,
					   NULL, KUBE_PATCH_MERGE, patch, life_answer, l));
		json_decref(patch);
		return d;
	}
	/* Clear the machine's earlier failures: it has passed the wipe and the gate. */
	return life_goto(l, MACHINE_SERVING, json_pack("{s:[], s:n}", "failures", "agent"),
			 REASON_NONE, NULL);
}
