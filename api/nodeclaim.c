#include "api/burstpolicy.h"
#include "api/node_rows.h"
#include "base/money.h"

/*
 * nodeclaim: field table and checks of the kind NodeClaim: one node for one virtual cluster.
 * Tests: tests/unit/api/test_kinds.c
 */

static const struct field requests_fields[] = {
	FIELD_IN(node_claim_spec, resources, requests, "requests", FIELD_RESOURCES, .max_items = 64,
		 .doc = "What the pods that it was made for need in all."),
	FIELDS_END,
};

static const struct field gang_fields[] = {
	FIELD(node_claim_gang, uid, "uid", FIELD_STR, .required = true, .max_len = 64,
	      .doc = "Same for all claims of the gang; with spec.burst, of one decision for it."),
	FIELD(node_claim_gang, size, "size", FIELD_I64, .min = 0, .max = 100000,
	      .doc = "Of spec.burst: how many claims the gang has."),
	FIELD(node_claim_gang, hold_until, "holdUntil", FIELD_TIME,
	      .doc = "Of spec.burst: until then an instance waits for the others; then all are given back."),
	FIELDS_END,
};

static const struct field burst_fields[] = {
	FIELD_OBJ(node_claim_burst, policy_ref, "policyRef", object_ref_fields, .required = true,
		  .doc = "The BurstPolicy that decided."),
	FIELD(node_claim_burst, work, "work", FIELD_STR, .required = true, .max_len = 512,
	      .doc = "For which work: NAMESPACE/NAME of a pod, or the gang."),
	FIELD(node_claim_burst, workload, "workload", FIELD_STR, .max_len = 512,
	      .doc = "Workload for budgets of scope Workload; absent: same as work."),
	FIELD(node_claim_burst, region, "region", FIELD_STR, .required = true, .max_len = 128,
	      .doc = "Where it is launched, and nowhere else."),
	FIELD(node_claim_burst, zone, "zone", FIELD_STR, .max_len = 128,
	      .doc = "Where in the region; absent: the Provider has no zones."),
	FIELD(node_claim_burst, market, "market", FIELD_ENUM, .required = true,
	      .enums = burst_policy_market_names, .doc = "How it is paid for."),
	FIELD(node_claim_burst, price, "pricePerHour", FIELD_STR, .required = true, AS_MONEY,
	      .doc = "By which it was decided, for an hour."),
	FIELD(node_claim_burst, offered, "offeredPerHour", FIELD_STR, AS_MONEY,
	      .doc = "What the Provider told for an hour when it was decided: nothing dearer is launched."),
	FIELD(node_claim_burst, currency, "currency", FIELD_STR, .required = true, .max_len = 3,
	      .pattern = "^[A-Z]{3}$", .doc = "Of both amounts."),
	FIELD(node_claim_burst, committed, "committed", FIELD_STR, .required = true, AS_MONEY,
	      .doc = "What it may cost at most: charged from decidedTime on, until it has ended."),
	FIELD(node_claim_burst, decided_time, "decidedTime", FIELD_TIME, .required = true,
	      .doc = "When it was decided."),
	FIELDS_END,
};

static const struct field_rule image_rules[] = {
	{IMAGE_RULES("self"), IMAGE_RULES_SAY},
	{NULL, NULL},
};

static const struct field claim_spec_fields[] = {
	FIELD_OBJ(node_claim_spec, virtual_cluster_ref, "virtualClusterRef", object_ref_fields,
		  .required = true, .doc = "The tenant."),
	FIELD_OBJ(node_claim_spec, node_pool_ref, "nodePoolRef", object_ref_fields,
		  .required = true, .doc = "The pool that this was copied from."),
	FIELD_PTR(node_claim_spec, machine_ref, "machineRef", object_ref_fields,
		  .doc = "The machine that the plan chose."),
	FIELD_PTR(
		node_claim_spec, provider_ref, "providerRef", object_name_ref_fields,
		.doc = "The Provider that launches an instance for it, whose Machine has the claim's name; absent: machineRef is of a machine that there is."),
	FIELD_OBJ(node_claim_spec, resources, "resources", requests_fields,
		  .doc = "What is needed."),
	FIELD(node_claim_spec, pods, "pods", FIELD_STRINGS, .max_items = 256, .max_len = 128,
	      .doc = "UIDs of the pods that it was made for: until it is Ready its room is kept for them."),
	FIELD_OBJ(node_claim_spec, image, "image", object_image_fields, .rules = image_rules,
		  .doc = "What is written to the disk."),
	FIELD(node_claim_spec, labels, "labels", FIELD_MAP, .max_items = 64, .max_len = 63,
	      .doc = "Labels of the node."),
	FIELD(node_claim_spec, annotations, "annotations", FIELD_MAP, .max_items = 64,
	      .doc = "Annotations of the node."),
	NODE_ROWS(node_claim_spec),
	FIELD_OBJ(node_claim_spec, deadlines, "deadlines", object_deadlines_fields, .def = "{}",
		  .doc = "Longest time of each phase of coming."),
	FIELD_OBJ(node_claim_spec, wipe, "wipe", object_wipe_floor_fields, .def = "{}",
		  .doc = "What the machine's last wipe must have reached."),
	FIELD_PTR(node_claim_spec, gang, "gang", gang_fields,
		  .doc = "The gang that it was made for; its pods may be others by now."),
	FIELD_PTR(
		node_claim_spec, burst, "burst", burst_fields,
		.doc = "The decision of a BurstPolicy that it carries out; absent: it was made within NodePool limits."),
	FIELDS_END,
};
static const struct field_rule claim_spec_rules[] = {
	{"self == oldSelf", "spec is immutable: a claim is a promise, make a new one"},
	{NULL, NULL},
};

static const struct field eta_fields[] = {
	FIELD_IN(node_claim_status, eta, p50, "p50", FIELD_TIME,
		 .doc = "As likely before as after."),
	FIELD_IN(node_claim_status, eta, p90, "p90", FIELD_TIME,
		 .doc = "Nine of ten are ready by then."),
	FIELDS_END,
};

static const struct field claim_status_fields[] = {
	FIELD_PTR(node_claim_status, machine_ref, "machineRef", object_ref_fields,
		  .doc = "The machine that serves it."),
	FIELD(node_claim_status, tenancy, "tenancy", FIELD_I64, .min = 0, .max = INT64_MAX,
	      .doc = "Which tenancy of the machine this is."),
	FIELD(node_claim_status, phase, "phase", FIELD_STR, .max_len = 32,
	      .doc = "Where it is, for people; derived."),
	FIELD(node_claim_status, node_name, "nodeName", FIELD_STR, .max_len = 253,
	      .doc = "Name of the Node."),
	FIELD(node_claim_status, node_uid, "nodeUID", FIELD_STR, .max_len = 64,
	      .doc = "UID of the Node."),
	FIELD(node_claim_status, provider_id, "providerID", FIELD_STR,
	      .doc = "drover://PROVIDER/MACHINE"),
	FIELD_OBJ(node_claim_status, eta, "eta", eta_fields,
		  .doc = "When the node is expected to be ready."),
	CONDITIONS_ROW(
		node_claim_status,
		"Launched, Registered, Initialized, Ready, Drifted, Drained, VolumesDetached, PoweredOff, Isolated."),
	FIELDS_END,
};

const struct field node_claim_fields[] = {
	META_ROW(node_claim),
	FIELD_OBJ(node_claim, spec, "spec", claim_spec_fields, .required = true,
		  .rules = claim_spec_rules, .doc = "What was promised; immutable."),
	FIELD_OBJ(node_claim, status, "status", claim_status_fields, .doc = "What is."),
	FIELDS_END,
};

const struct object_column node_claim_columns[] = {
	{"Cluster", "string", ".spec.virtualClusterRef.name", 0},
	{"Pool", "string", ".spec.nodePoolRef.name", 0},
	{"Machine", "string", ".status.machineRef.name", 0},
	{"Phase", "string", ".status.phase", 0},
	{"Ready", "string", ".status.conditions[?(@.type==\"Ready\")].status", 0},
	{"Valid", "string", ".status.conditions[?(@.type==\"Valid\")].status", 0},
	{"ETA", "string", ".status.eta.p50", 0},
	{"Node", "string", ".status.nodeName", 1},
	{"Gang", "string", ".spec.gang.uid", 1},
	{NULL, NULL, NULL, 0},
};

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
	return o ? object_same(claim_spec_fields, &c->spec, &o->spec, "spec", e) : 0;
}
