/*
 * adopt: proves that a running machine is the one that an approval names, and takes it over as
 * serving. Separate from the steps that bring machines into service.
 */
#include <string.h>

#include "controller/steps/adopt.h"
#include "base/arena.h"
#include "base/str.h"
#include "controller/core/approval.h"
#include "controller/life/ask.h"
#include "controller/life/bmc.h"
#include "controller/life/journal.h"
#include "controller/hardware/segments.h"
#include "controller/life/port.h"
#include "controller/rules/identity.h"
#include "controller/tenant/tenant.h"

#define REPLACED_AGAIN_MS 10000

bool adopt_wanted(const struct life *l)
{
	const struct machine_approval *a = l->m->spec.approval;

	return a && a->action == APPROVE_ADOPT && a->id && !str_eq(a->id, l->m->status.approval_id);
}

/* True if the claim was denied and no machine serves it: then this machine is not adopted for it
 * either. */
static bool is_denied(struct life *l, const struct node_claim *n)
{
	const struct approval a = approval_of(l->c, n);

	if (a.state != APPROVAL_REFUSED)
		return false;
	life_wait(l, WAITING_APPROVAL, REASON_ClaimDenied,
		  "NodeClaim %s was denied by %.200s; delete and create it, then approve again",
		  n->meta.name, str_or(a.decision->by, "unknown"));
	return true;
}

static const struct node_claim *claim_of(struct life *l)
{
	const char *name = str_or(l->m->spec.approval->claim, "(none)");
	const struct node_claim *n = CTX_GET(l->c, OBJECT_NODE_CLAIM, node_claim, name);
	const struct object_ref *r = n ? n->spec.machine_ref : NULL;

	if (!n)
		life_wait(l, WAITING_APPROVAL, REASON_ClaimNotFound,
			  "spec.approval.claim: NodeClaim %s does not exist; create it with the "
			  "name of the tenant's Node and with this machine as spec.machineRef, or "
			  "approve a different claim",
			  name);
	else if (!r || !str_eq(r->name,
			       /* compare only the name: after the restore of a backup the reference
			        * may have the UID of an older object */
			       l->name))
		life_wait(
			l, WAITING_APPROVAL, REASON_ClaimNotFound,
			"NodeClaim %s: spec.machineRef is %s, not this machine; approve the claim "
			"that this machine serves",
			name, r ? str_or(r->name, "empty") : "empty");
	else if (n->meta.deletion_timestamp)
		life_wait(l, WAITING_APPROVAL, REASON_ClaimNotFound,
			  "NodeClaim %s is being deleted; once it is gone, create it again", name);
	else if (/* mutant: denied-adopted */ !is_denied(l, n))
		return n;
	return NULL;
}

/* Returns the tenant's Node of claim n if it is proved to run on this machine. Otherwise waits with
 * the reason, and returns NULL. */
static const struct tenant_node *node_of(struct life *l, const struct node_claim *n)
{
	const char *vc = n->spec.virtual_cluster_ref.name;
	struct tenant *t = tenant_get(l->parts->tenants, vc);
	const struct tenant_node *node;
	OWN(arena) a = arena_new();

	if (!t || !tenant_usable(t) || !t->nodes || !kube_cache_synced(t->nodes)) {
		life_wait(l, WAITING_DEVICE, REASON_TenantUnreachable, "tenant %s: %s", vc,
			  t ? str_or(t->reason, "its Nodes have not been read yet")
			    : "does not exist");
		return NULL;
	}
	node = tenant_node_get(t, n->meta.name);
	if (!node)
		life_wait(l, WAITING_APPROVAL, REASON_NodeNotFound,
			  "tenant %s has no Node with the name of the claim, %s", vc, n->meta.name);
	else if (!identity_node(l->observation.uuid, identity_provider_id(l->m, a),
				node->system_uuid, node->provider_id))
		life_wait(l, WAITING_APPROVAL, REASON_NodeIdentityMismatch,
			  "Node %s (%s) has system UUID %s, but the BMC reports %s", n->meta.name,
			  str_or(node->provider_id, "no providerID"),
			  str_or(node->system_uuid, "(none)"),
			  str_or(l->observation.uuid, "(none)"));
	else if (str_empty(node->boot_id))
		life_wait(l, WAITING_APPROVAL, REASON_NodeIdentityMismatch,
			  "Node %s reports no boot id", n->meta.name);
	else if (l->observation.power != PROVIDER_POWER_ON)
		life_wait(l, WAITING_APPROVAL, REASON_PowerStateUnexpected,
			  "Node %s runs on this machine, but the BMC does not report it on",
			  n->meta.name);
	else
		return node;
	return NULL;
}

/* True if the port is in the segment of the claim's tenant, as far as the fabric can prove, or if
 * there is no fabric. Otherwise waits, because a machine in the network of a different tenant must
 * not be adopted. */
static bool ensure_in_its_segment(struct life *l, const struct node_claim *n)
{
	const struct provider_object *p = life_provider(l);
	const struct virtual_cluster *vc = CTX_GET(l->c, OBJECT_VIRTUAL_CLUSTER, virtual_cluster,
						   n->spec.virtual_cluster_ref.name);
	char segment[TENANT_SEGMENT];

	if (!p || !vc)
		return false;
	if (p->spec.network.type == FABRIC_NONE)
		return true;
	if (!life_ensure_port_observed(l, l->c->o.poll_ms * 10))
		return false;
	segment_of_tenant(vc, segment);
	if (str_eq(l->port.segment, segment) && l->port.proof != FABRIC_PROOF_NONE)
		return true;
	life_wait(l, WAITING_APPROVAL, REASON_NetworkNotConfirmed,
		  "not adopted: the machine's port is in %s%s, but the claim's tenant uses %s",
		  l->port.segment[0] ? l->port.segment : "no segment",
		  l->port.proof == FABRIC_PROOF_NONE ? " (not proved)" : "", segment);
	life_port_forget(l);
	return false;
}

enum life_decision adopt(struct life *l)
{
	const struct node_claim *n = claim_of(l);
	const struct tenant_node *node = n ? node_of(l, n) : NULL;
	json_t *x;

	if (!node || !ensure_in_its_segment(l, n))
		return LIFE_STAY;
	if (l->state != MACHINE_KNOWN) {
		/* the machine serves already: keep the tenancy, and write the new UIDs */
		x = json_pack("{s:s, s:{s:s, s:s}, s:{s:s, s:s}, s:s, s:s}", "approvalID",
			      l->m->spec.approval->id, "claimRef", "name", n->meta.name, "uid",
			      n->meta.uid, "tenant", "name", n->spec.virtual_cluster_ref.name,
			      "uid", str_or(n->spec.virtual_cluster_ref.uid, ""), "pool",
			      n->spec.node_pool_ref.name, "bootID", node->boot_id);
		ctx_event(l->c, OBJECT_MACHINE, &l->m->meta, "Normal", "Adopted", n->meta.name);
		life_write(l, x, NULL);
		return LIFE_STAY;
	}
	x = json_pack("{s:s, s:{s:s, s:s}, s:I, s:b, s:{s:s, s:s}, s:s, s:s}", "approvalID",
		      l->m->spec.approval->id, "claimRef", "name", n->meta.name, "uid", n->meta.uid,
		      "tenancy", (json_int_t)(l->m->status.tenancy + 1), "clean", 0, "tenant",
		      "name", n->spec.virtual_cluster_ref.name, "uid",
		      str_or(n->spec.virtual_cluster_ref.uid, ""), "pool",
		      n->spec.node_pool_ref.name, "bootID", node->boot_id);
	ctx_event(l->c, OBJECT_MACHINE, &l->m->meta, "Normal", "Adopted", n->meta.name);
	return life_goto(l, MACHINE_SERVING, x, REASON_NONE, NULL);
}

/* --- a claim that was replaced ---------------------------------------------------------------- */

/* Handles a claim that has the name of the claim that this machine serves, but a different UID.
 * Nobody asked for the work to stop, so the machine keeps serving. An operator must either delete
 * the claim or approve it as the same claim. */
static enum life_decision replaced(struct life *l)
{
	enum life_decision d = LIFE_STAY;

	if (adopt_wanted(l) && life_ensure_observed(l, l->c->o.poll_ms * 5))
		d = adopt(l);
	else if (!adopt_wanted(l))
		life_wait(l, WAITING_APPROVAL, REASON_ClaimReplaced,
			  "NodeClaim %s has a different UID than the one this machine serves (a "
			  "restored backup?); if it is the same claim, run `drover approve %s "
			  "--adopt %s`",
			  l->m->status.claim_ref->name, l->name, l->m->status.claim_ref->name);
	life_ask_forget(l);
	loop_timer_start(&l->timer, REPLACED_AGAIN_MS);
	return d;
}

bool adopt_unless_gone(struct life *l, enum life_decision *d)
{
	enum life_claim_is is = life_claim_check(l);

	if (is == LIFE_CLAIM_REPLACED)
		*d = replaced(l);
	return is == LIFE_CLAIM_GONE;
}
