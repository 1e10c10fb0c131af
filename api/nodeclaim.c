#include "api/burstpolicy.h"
#include "base/market.h"
#include "api/node_rows.h"
#include "base/money.h"

/*
 * nodeclaim: field table and checks of the kind NodeClaim: a request for one node of one virtual
 * cluster.
 * Tests: tests/unit/api/test_kinds.c
 */

static const struct field requests_fields[] = {
	FIELD_IN(node_claim_spec, resources, requests, "requests", FIELD_RESOURCES, .max_items = 64,
		 .doc = "Sum of the resource requests of the pods for which the claim was made."),
	FIELDS_END,
};

static const struct field gang_fields[] = {
	FIELD(node_claim_gang, uid, "uid", FIELD_STR, .required = true, .max_len = 64,
	      .doc = "ID that all NodeClaims of one gang have in common. If spec.burst is set, "
		     "each launch of the gang has its own ID."),
	FIELD(node_claim_gang, size, "size", FIELD_I64, .min = 0, .max = 100000,
	      .doc = "Number of NodeClaims of the gang. Set only if spec.burst is set. 0: "
		     "unknown."),
	FIELD(node_claim_gang, hold_until, "holdUntil", FIELD_TIME,
	      .doc = "Time by which all instances of the gang must be Ready. If some are not Ready "
		     "by this time, drover releases the gang's instances without pods. If one "
		     "instance fails earlier, drover releases all instances of the gang at once. "
		     "Set only if spec.burst is set."),
	FIELDS_END,
};

static const struct field burst_fields[] = {
	FIELD_OBJ(node_claim_burst, policy_ref, "policyRef", object_ref_fields, .required = true,
		  .doc = "BurstPolicy that decided the launch."),
	FIELD(node_claim_burst, work, "work", FIELD_STR, .required = true, .max_len = 512,
	      .doc = "Work for which the instance is launched: NAMESPACE/NAME of a pod, or name of "
		     "a gang."),
	FIELD(node_claim_burst, workload, "workload", FIELD_STR, .max_len = 512,
	      .doc = "Workload whose budgets (scope Workload) pay for the launch. If not set, the "
		     "work in spec.burst.work."),
	FIELD(node_claim_burst, region, "region", FIELD_STR, .required = true, .max_len = 128,
	      .doc = "Region in which the instance must be launched."),
	FIELD(node_claim_burst, zone, "zone", FIELD_STR, .max_len = 128,
	      .doc = "Zone in which the instance must be launched. Not set if the Provider has "
		     "no zones."),
	FIELD(node_claim_burst, market, "market", FIELD_ENUM, .required = true,
	      .enums = market_names, .doc = "Market in which the instance is bought."),
	FIELD(node_claim_burst, price, "pricePerHour", FIELD_DECIMAL, .required = true, AS_MONEY,
	      .doc = "Price of the instance for one hour, in spec.burst.currency, on which the "
		     "decision was based."),
	FIELD(node_claim_burst, offered, "offeredPerHour", FIELD_DECIMAL, AS_MONEY,
	      .doc = "Price of the instance for one hour, in spec.burst.currency, as the "
		     "Provider reported it at the decision. drover launches the instance at no "
		     "higher price. Not set if the Provider reported no price."),
	FIELD(node_claim_burst, currency, "currency", FIELD_STR, .required = true, .max_len = 3,
	      .pattern = "^[A-Z]{3}$",
	      .doc = "Currency of all amounts in spec.burst, an ISO 4217 code."),
	FIELD(node_claim_burst, committed, "committed", FIELD_DECIMAL, .required = true, AS_MONEY,
	      .doc = "Highest possible total cost of the instance, in spec.burst.currency. This "
		     "amount is charged to the budgets from spec.burst.decidedTime until the "
		     "instance has ended."),
	FIELD(node_claim_burst, egress, "egress", FIELD_DECIMAL, AS_MONEY,
	      .doc = "Part of spec.burst.committed that moving the data of the work to the "
		     "instance costs. It counts as spent once an instance was launched. Not set "
		     "if no data is moved."),
	FIELD(node_claim_burst, decided_time, "decidedTime", FIELD_TIME, .required = true,
	      .doc = "Time of the decision."),
	FIELDS_END,
};

const char *const node_claim_decision_names[] = {"Approved", "Denied", NULL};
#define APPROVAL_ROWS(by_, at_)                                                                    \
	FIELD(node_claim_approval, decision, "decision", FIELD_ENUM, .required = true,             \
	      .enums = node_claim_decision_names,                                                  \
	      .doc = "Approved: the claim may get a machine. Denied: it gets none."),              \
		FIELD(node_claim_approval, by, "by", FIELD_STR, .required = true, .max_len = 256,  \
		      .doc = by_),                                                                 \
		FIELD(node_claim_approval, time, "at", FIELD_TIME, .required = true, .doc = at_),  \
		FIELD(node_claim_approval, reason, "reason", FIELD_STR, .max_len = 1024,           \
		      .doc = "Why, as text for the tenant's users."),                              \
		FIELD(node_claim_approval, hold_until, "holdUntil", FIELD_TIME,                    \
		      .doc = "Only with decision Denied: time until which drover keeps the "       \
			     "denied claim and makes no new one for its pods, at most 7 days "     \
			     "after the decision. If not set, one hour after the decision.")
static const struct field approval_fields[] = {
	APPROVAL_ROWS("User name of the administrator who decided.",
		      "Time of the decision by the clock of the administrator. drover counts from "
		      "status.approval.at."),
	FIELDS_END,
};
static const struct field_rule approval_rules[] = {
	{"!has(self.holdUntil) || self.decision == 'Denied'",
	 "holdUntil: allowed only with decision Denied"},
	{"!has(self.holdUntil) || timestamp(self.holdUntil) - timestamp(self.at) <= "
	 "duration('168h')",
	 "holdUntil: want at most 7 days after the decision"},
	{NULL, NULL},
};
static const struct field recorded_fields[] = {
	APPROVAL_ROWS("User name of the administrator, or host of the webhook, that decided.",
		      "Time at which drover first saw the decision."),
	FIELD(node_claim_approval, claim, "claim", FIELD_STR, .max_len = 253,
	      .doc = "NodeClaim on which the decision was made: this one, or another one of the "
		     "same gang."),
	FIELDS_END,
};

static const struct field_rule image_rules[] = {
	{IMAGE_RULES("self"), IMAGE_RULES_SAY},
	{NULL, NULL},
};

static const struct field claim_spec_fields[] = {
	FIELD_OBJ(node_claim_spec, virtual_cluster_ref, "virtualClusterRef", object_ref_fields,
		  .required = true, .doc = "VirtualCluster that gets the node."),
	FIELD_OBJ(node_claim_spec, node_pool_ref, "nodePoolRef", object_ref_fields,
		  .required = true, .doc = "NodePool from whose template this spec was copied."),
	FIELD_PTR(node_claim_spec, machine_ref, "machineRef", object_ref_fields,
		  .doc = "Existing Machine that the claim gets. A claim in which neither "
			 "machineRef nor providerRef is set gets no machine; drover deletes such a "
			 "claim after 30 s."),
	FIELD_PTR(
		node_claim_spec, provider_ref, "providerRef", object_name_ref_fields,
		.doc = "Provider that launches a new cloud instance for the claim. The Machine of "
		       "the instance gets the claim's name. If not set, the claim uses an existing "
		       "Machine."),
	FIELD_OBJ(node_claim_spec, resources, "resources", requests_fields,
		  .doc = "Resources that the pods of the claim need."),
	FIELD(node_claim_spec, pods, "pods", FIELD_STRINGS, .max_items = 256, .max_len = 128,
	      .doc = "UIDs of the pods for which the claim was made. The capacity of the node is "
		     "reserved for these pods until the node is Ready."),
	FIELD_OBJ(node_claim_spec, image, "image", object_image_fields, .rules = image_rules,
		  .doc = "Image that is written to the machine's disk."),
	FIELD(node_claim_spec, labels, "labels", FIELD_MAP, .max_items = 64, .max_len = 63,
	      .doc = "Labels of the Node."),
	FIELD(node_claim_spec, annotations, "annotations", FIELD_MAP, .max_items = 64,
	      .doc = "Annotations of the Node."),
	NODE_ROWS(node_claim_spec),
	FIELD_OBJ(node_claim_spec, deadlines, "deadlines", object_deadlines_fields, .def = "{}",
		  .doc = "Longest time for each phase until the node serves. If a phase takes "
			 "longer, the claim fails and its machine is released."),
	FIELD_OBJ(node_claim_spec, wipe, "wipe", object_wipe_floor_fields, .def = "{}",
		  .doc = "Minimum requirements for the machine's last wipe. The claim gets only a "
			 "machine whose last wipe met these requirements."),
	FIELD_PTR(node_claim_spec, gang, "gang", gang_fields,
		  .doc = "Gang (pods that start together) for which the claim was made. The pods "
			 "of the gang may have changed since."),
	FIELD_PTR(node_claim_spec, burst, "burst", burst_fields,
		  .doc = "Decision of a BurstPolicy to launch an instance. The claim carries out "
			 "this decision. Not set if the claim does not come from a BurstPolicy."),
	FIELD_PTR(node_claim_spec, approval, "approval", approval_fields, .rules = approval_rules,
		  .doc = "Decision of an administrator, if spec.approval.claims of the tenant asks "
			 "for one (docs/approval.md). drover approve and drover deny write it. "
			 "It can be set once, and not changed afterwards."),
	FIELDS_END,
};
/* SAME: CEL expression that is true if member name_ of spec did not change. */
#define SAME(name_)                                                                                \
	"has(self." name_ ") == has(oldSelf." name_ ") && (!has(self." name_ ") || self." name_    \
	" == oldSelf." name_ ")"
#define SPEC_SAY "spec is immutable, except spec.approval; create a new NodeClaim"
static const struct field_rule claim_spec_rules[] = {
	/* All members except approval; tests/unit/api/test_kinds.c compares the list with the
	 * table. */
	{SAME("virtualClusterRef"), SPEC_SAY},
	{SAME("nodePoolRef"), SPEC_SAY},
	{SAME("machineRef"), SPEC_SAY},
	{SAME("providerRef"), SPEC_SAY},
	{SAME("resources"), SPEC_SAY},
	{SAME("pods"), SPEC_SAY},
	{SAME("image"), SPEC_SAY},
	{SAME("labels"), SPEC_SAY},
	{SAME("annotations"), SPEC_SAY},
	{SAME("requirements"), SPEC_SAY},
	{SAME("taints"), SPEC_SAY},
	{SAME("startupTaints"), SPEC_SAY},
	{SAME("userDataSecretRef"), SPEC_SAY},
	{SAME("kubelet"), SPEC_SAY},
	{SAME("network"), SPEC_SAY},
	{SAME("checkpoint"), SPEC_SAY},
	{SAME("gate"), SPEC_SAY},
	{SAME("expireAfter"), SPEC_SAY},
	{SAME("terminationGracePeriod"), SPEC_SAY},
	{SAME("deadlines"), SPEC_SAY},
	{SAME("wipe"), SPEC_SAY},
	{SAME("gang"), SPEC_SAY},
	{SAME("burst"), SPEC_SAY},
	{"!has(oldSelf.approval) || (has(self.approval) && self.approval == oldSelf.approval)",
	 "spec.approval: a decision cannot be changed"},
	{NULL, NULL},
};
#undef SPEC_SAY
#undef SAME

static const struct field eta_fields[] = {
	FIELD_IN(node_claim_status, eta, p50, "p50", FIELD_TIME,
		 .doc = "50th percentile: the node is ready by this time with probability 1/2."),
	FIELD_IN(node_claim_status, eta, p90, "p90", FIELD_TIME,
		 .doc = "90th percentile: the node is ready by this time with probability 9/10."),
	FIELDS_END,
};

static const struct field claim_status_fields[] = {
	FIELD_PTR(node_claim_status, machine_ref, "machineRef", object_ref_fields,
		  .doc = "Machine that serves the claim."),
	FIELD(node_claim_status, tenancy, "tenancy", FIELD_I64, .min = 0, .max = INT64_MAX,
	      .doc = "Serial number of the machine's tenancy (its use by one tenant) for this "
		     "claim, as in status.tenancy of the Machine."),
	FIELD(node_claim_status, phase, "phase", FIELD_STR, .max_len = 32,
	      .doc = "Summary of the claim's progress, for human readers: the state of its "
		     "machine, Pending (no machine yet), Denied (it gets no machine), Failed, or "
		     "Ended (the machine has left)."),
	FIELD(node_claim_status, node_name, "nodeName", FIELD_STR, .max_len = 253,
	      .doc = "Name of the Node."),
	FIELD(node_claim_status, node_uid, "nodeUID", FIELD_STR, .max_len = 64,
	      .doc = "UID of the Node."),
	FIELD(node_claim_status, provider_id, "providerID", FIELD_STR,
	      .doc = "drover's ID of the machine, drover://PROVIDER/MACHINE. The Node has the same "
		     "provider ID, except for a cloud instance, whose Node has "
		     "status.instance.providerID of the Machine."),
	FIELD_PTR(node_claim_status, approval, "approval", recorded_fields,
		  .doc = "Decision that counts for this claim: of an administrator, or of the "
			 "webhook of the tenant (spec.approval of the VirtualCluster), on this "
			 "claim or on another one of its gang. drover writes it once."),
	FIELD_OBJ(node_claim_status, eta, "eta", eta_fields,
		  .doc = "Expected time at which the node becomes ready."),
	CONDITIONS_ROW(
		node_claim_status,
		"Conditions: Approved (the claim may get a machine), set if the tenant's claims "
		"need an approval; Launched (the machine has reached the state booting), "
		"Registered (it has reached gating) and Initialized (it has reached serving), all "
		"three False again once the machine stops; Ready (the machine serves, and its Node "
		"is Ready); "
		"Drifted (the node differs from its pool's template); Consolidatable (the node's "
		"pods fit on other nodes); OwnersMatch (False if the tenant or pool has another "
		"UID than the claim names); Drained, VolumesDetached, PoweredOff and Isolated, set "
		"once the node leaves its tenant; Stalled (the claim failed); Valid (drover can "
		"use spec; absent until drover first refuses spec)."),
	FIELDS_END,
};

const struct field node_claim_fields[] = {
	META_ROW(node_claim),
	FIELD_OBJ(node_claim, spec, "spec", claim_spec_fields, .required = true,
		  .rules = claim_spec_rules,
		  .doc = "Desired state of the NodeClaim, copied from the NodePool's template when "
			 "the claim was made. Immutable."),
	FIELD_OBJ(node_claim, status, "status", claim_status_fields,
		  .doc = "Observed state of the NodeClaim."),
	FIELDS_END,
};

const struct object_column node_claim_columns[] = {
	{"Cluster", "string", ".spec.virtualClusterRef.name", 0},
	{"Pool", "string", ".spec.nodePoolRef.name", 0},
	{"Machine", "string", ".status.machineRef.name", 0},
	{"Phase", "string", ".status.phase", 0},
	{"Approved", "string", ".status.conditions[?(@.type==\"Approved\")].status", 0},
	{"Ready", "string", ".status.conditions[?(@.type==\"Ready\")].status", 0},
	{"Valid", "string", ".status.conditions[?(@.type==\"Valid\")].status", 0},
	{"ETA", "string", ".status.eta.p50", 0},
	{"Node", "string", ".status.nodeName", 1},
	{"Gang", "string", ".spec.gang.uid", 1},
	{NULL, NULL, NULL, 0},
};

/* Checks the decision itself, and that it is the one of the claim before the change. */
static int approval_check(const struct node_claim_spec *s, const struct node_claim_spec *old,
			  struct err *e)
{
	const struct node_claim_approval *a = s->approval;

	if (a && a->hold_until && a->decision != CLAIM_DENIED)
		return err_set(e, ERR_INVALID, 0,
			       "spec.approval.holdUntil: allowed only with decision Denied");
	if (a && a->hold_until && a->hold_until - a->time > CLAIM_DENIED_MAX_MS)
		return err_set(e, ERR_INVALID, 0,
			       "spec.approval.holdUntil: want at most 7 days after the decision");
	if (!old || !old->approval)
		return 0;
	if (!a)
		return err_set(e, ERR_INVALID, 0, "spec.approval: a decision cannot be removed");
	return object_same(approval_fields, a, old->approval, "spec.approval", e);
}

/* Checks that nothing in spec except the decision has changed. */
static int same_spec(const struct node_claim_spec *s, const struct node_claim_spec *old,
		     struct err *e)
{
	struct node_claim_spec a = *s, b = *old;

	a.approval = b.approval = NULL;
	return object_same(claim_spec_fields, &a, &b, "spec", e);
}

int node_claim_check(const void *object, const void *old, struct err *e)
{
	const struct node_claim *c = object, *o = old;

	if (object_name_check(&c->meta, 63, e) < 0)
		return -1;
	if (object_requirements_check(&c->spec.requirements, "spec.requirements", e) < 0)
		return -1;
	if (c->spec.image.kubernetes_version &&
	    object_image_check(&c->spec.image, "spec.image", e) < 0)
		return -1;
	if (approval_check(&c->spec, o ? &o->spec : NULL, e) < 0)
		return -1;
	return o ? same_spec(&c->spec, &o->spec, e) : 0;
}
