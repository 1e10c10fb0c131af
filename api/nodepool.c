#include "base/str.h"
#include "api/tables.h"

/*
 * nodepool: field tables and checks of the kinds NodePool and NodeClaim: what a node shall be, and one frozen promise of it.
 * Tests: tests/unit/api/test_kinds.c
 */
static const struct field provider_ref_fields[] = {
	FIELD(object_name_ref, name, "name", FIELD_STR, .required = true, AS_NAME,
	      .doc = "A Provider's name."),
	FIELDS_END,
};

/* What step_gating() waits for.  G1 to G3 need a check that runs on the node. */
static const char *const gate_names[] = {"G0", NULL};
#define GATE_DOC                                                                                      \
	"What must hold before pods are let in. G0: the node is Ready, its startup taints are gone, " \
	"and every device that its instance type promises is registered."

/* What NodePool.spec.template.spec and NodeClaim.spec have in common. */
/* clang-format off */
#define NODE_ROWS(type_)                                                                         \
	FIELD_ITEMS(type_, requirements, "requirements", object_requirement_fields, .max_items = 100, \
		    .rules = object_requirement_rules,                                           \
		    .doc = "Labels that the machine must have; all must hold."),                 \
	FIELD_ITEMS(type_, taints, "taints", object_taint_fields, .max_items = 32,               \
		    .doc = "Taints of the node."),                                               \
	FIELD_ITEMS(type_, startup_taints, "startupTaints", object_taint_fields, .max_items = 32, \
		    .doc = "Taints that somebody else removes before the node counts as ready."), \
	FIELD_PTR(type_, user_data_secret_ref, "userDataSecretRef", object_name_ref_fields,      \
		  .doc = "Secret in drover's namespace, merged after drover's own user data."),  \
	FIELD_PTR(type_, kubelet, "kubelet", object_kubelet_fields, .doc = "Settings of the kubelet."), \
	FIELD_OBJ(type_, network, "network", object_node_network_fields, .def = "{}",            \
		  .doc = "What is asked of the network."),                                       \
	FIELD_PTR(type_, checkpoint, "checkpoint", object_checkpoint_fields,                     \
		  .doc = "Who is told before pods are evicted."),                                \
	FIELD_UNKEPT("gate", FIELD_STR, .max_len = 2, .pattern = "^G[0-3]$", .want = "G0 to G3", \
		     .only = gate_names, .def = "\"G0\"", .doc = GATE_DOC),                       \
	FIELD(type_, expire_after, "expireAfter", FIELD_DURATION, .never = true, .min = 5 * MINUTE, \
	      .def = "\"Never\"", .doc = "Age at which the node is given back."),                \
	FIELD(type_, termination_grace_period, "terminationGracePeriod", FIELD_DURATION, .min = 0, \
	      .max = 7 * DAY, .def = "\"1h\"",                                                   \
	      .doc = "Longest drain; after it PodDisruptionBudgets and finalizers of the tenant count no more.")
/* clang-format on */

static const struct field template_spec_fields[] = {
	FIELD_ITEMS(node_pool_template_spec, provider_refs, "providerRefs", provider_ref_fields,
		    .required = true, .max_items = 16, .list_key = "name",
		    .doc = "Providers, tried in this order."),
	FIELD_ITEMS(
		node_pool_template_spec, images, "images", object_image_fields, .required = true,
		.max_items = 16, .list_key = "kubernetesVersion",
		.doc = "One image for each minor of Kubernetes; the newest that the tenant's API server allows is taken."),
	NODE_ROWS(node_pool_template_spec),
	FIELDS_END,
};

static const struct field template_metadata_fields[] = {
	FIELD_IN(node_pool_template, metadata, labels, "labels", FIELD_MAP, .max_items = 64,
		 .max_len = 63, .doc = "Labels of the node."),
	FIELD_IN(node_pool_template, metadata, annotations, "annotations", FIELD_MAP,
		 .max_items = 64, .doc = "Annotations of the node."),
	FIELDS_END,
};

static const struct field template_fields[] = {
	FIELD_OBJ(node_pool_template, metadata, "metadata", template_metadata_fields,
		  .doc = "Labels and annotations of the nodes."),
	FIELD_OBJ(node_pool_template, spec, "spec", template_spec_fields, .required = true,
		  .doc = "What the nodes are."),
	FIELDS_END,
};

static const char *const budget_reasons[] = {"Underutilized", "Empty", "Drifted", "TenantAsleep",
					     NULL};
static const char *const consolidation_names[] = {"WhenEmpty", "WhenEmptyOrUnderutilized", NULL};
static const char *const consolidation_acted_upon[] = {"WhenEmpty", NULL};
static const char *const drift_names[] = {"Never", "WhenEmpty", "WithinBudgets", NULL};
static const char *const drift_acted_upon[] = {"Never", NULL};

static const struct field budget_fields[] = {
	FIELD(node_pool_budget, nodes, "nodes", FIELD_STR, .required = true, .max_len = 7,
	      .pattern = "^((100|[0-9]{1,2})%|[0-9]{1,6})$",
	      .want = "a count or a percentage such as \"10%\"",
	      .doc = "Most nodes of the pool that may leave at once; percentages round up."),
	FIELD(node_pool_budget, reasons, "reasons", FIELD_STRINGS, .enums = budget_reasons,
	      .max_items = 4, .doc = "For which reasons; absent: for all."),
	FIELD(node_pool_budget, schedule, "schedule", FIELD_STR, AS_CRON,
	      .doc = "When it begins to count, in UTC."),
	FIELD(node_pool_budget, duration, "duration", FIELD_DURATION, .min = MINUTE,
	      .max = 31 * DAY, .doc = "How long it counts from then on."),
	FIELDS_END,
};
static const struct field_rule budget_rules[] = {
	{"self.all(x, has(x.schedule) == has(x.duration))", "schedule and duration only together"},
	{NULL, NULL},
};

static const struct field disruption_fields[] = {
	FIELD_UNKEPT("consolidationPolicy", FIELD_ENUM, .enums = consolidation_names,
		     .only = consolidation_acted_upon, .def = "\"WhenEmpty\"",
		     .doc = "Which nodes may be given back to save machines."),
	FIELD(node_pool_disruption, consolidate_after, "consolidateAfter", FIELD_DURATION,
	      .never = true, .min = SECOND,
	      .doc = "Quiet time before that; absent: the greater of 10 min and twice the measured recycle time."),
	FIELD_UNKEPT("drift", FIELD_ENUM, .enums = drift_names, .only = drift_acted_upon,
		     .def = "\"Never\"",
		     .doc = "When a node that no longer fits the pool is replaced."),
	FIELD_ITEMS(node_pool_disruption, budgets, "budgets", budget_fields, .max_items = 50,
		    .rules = budget_rules, .def = "[{\"nodes\":\"10%\"}]",
		    .doc = "How many may leave at once; the smallest that counts now wins."),
	FIELDS_END,
};

static const struct field warm_fields[] = {
	FIELD_IN(node_pool_spec, warm, nodes, "nodes", FIELD_I64, .min = 0, .max = 10000,
		 .doc = "How many free machines are kept on with the agent running."),
	FIELDS_END,
};

static const struct field pool_spec_fields[] = {
	FIELD_OBJ(node_pool_spec, virtual_cluster_selector, "virtualClusterSelector",
		  object_selector_fields, .required = true,
		  .doc = "Which virtual clusters may use the pool; {}: all."),
	FIELD(node_pool_spec, weight, "weight", FIELD_I64, .min = 0, .max = 100,
	      .doc = "Higher pools are tried first."),
	FIELD(node_pool_spec, limits, "limits", FIELD_RESOURCES, .max_items = 32,
	      .doc = "Most of each resource, and of nodes, that the pool may have at once."),
	FIELD(node_pool_spec, paused, "paused", FIELD_BOOL,
	      .doc = "No new claims and no voluntary disruption."),
	FIELD_OBJ(node_pool_spec, template_, "template", template_fields, .required = true,
		  .doc = "What is promised to each claim; copied into it."),
	FIELD_OBJ(node_pool_spec, disruption, "disruption", disruption_fields, .def = "{}",
		  .doc = "When nodes may be given back."),
	FIELD_OBJ(node_pool_spec, wipe, "wipe", object_wipe_floor_fields, .def = "{}",
		  .doc = "What a machine's last wipe must have reached to be claimed."),
	FIELD_OBJ(node_pool_spec, warm, "warm", warm_fields, .doc = "Capacity kept warm."),
	FIELD_OBJ(node_pool_spec, deadlines, "deadlines", object_deadlines_fields, .def = "{}",
		  .doc = "Longest time of each phase of coming."),
	FIELDS_END,
};

static const struct field pool_status_fields[] = {
	FIELD(node_pool_status, nodes, "nodes", FIELD_I64, .min = 0, .max = INT64_MAX,
	      .doc = "Nodes that the pool has."),
	FIELD(node_pool_status, resources, "resources", FIELD_RESOURCES, .max_items = 64,
	      .doc = "What they have in all."),
	CONDITIONS_ROW(node_pool_status, "Ready, ProvidersReady, LineStopped, WarmReady."),
	FIELDS_END,
};

const struct field node_pool_fields[] = {
	META_ROW(node_pool),
	FIELD_OBJ(node_pool, spec, "spec", pool_spec_fields, .required = true,
		  .doc = "What is wanted."),
	FIELD_OBJ(node_pool, status, "status", pool_status_fields, .doc = "What is."),
	FIELDS_END,
};

const struct object_column node_pool_columns[] = {
	{"Nodes", "integer", ".status.nodes", 0},
	{"Limit", "string", ".spec.limits.nodes", 0},
	{"Weight", "integer", ".spec.weight", 0},
	{"Paused", "boolean", ".spec.paused", 0},
	{"Ready", "string", ".status.conditions[?(@.type==\"Ready\")].status", 0},
	{"Warm", "integer", ".spec.warm.nodes", 1},
	{NULL, NULL, NULL, 0},
};

int node_pool_check(const void *object, const void *old, struct err *e)
{
	const struct node_pool *p = object;
	const struct node_pool_budget *b = p->spec.disruption.budgets.v;

	(void)old;
	if (object_requirements_check(&p->spec.template_.spec.requirements,
				      "spec.template.spec.requirements", e) < 0)
		return -1;
	for (size_t i = 0; i < p->spec.disruption.budgets.n; i++)
		if (!b[i].schedule != !b[i].duration)
			return err_set(
				e, ERR_INVALID, 0,
				"spec.disruption.budgets[%zu]: want schedule and duration only together",
				i);
	return 0;
}

/* --- NodeClaim -------------------------------------------------------------------------------- */

static const struct field requests_fields[] = {
	FIELD_IN(node_claim_spec, resources, requests, "requests", FIELD_RESOURCES, .max_items = 64,
		 .doc = "What the pods that it was made for need in all."),
	FIELDS_END,
};

static const struct field gang_fields[] = {
	FIELD(node_claim_gang, uid, "uid", FIELD_STR, .required = true, .max_len = 64,
	      .doc = "Same for all claims of the gang."),
	FIELD_UNKEPT("size", FIELD_I64, .refused = true, .doc = "How many claims the gang has."),
	FIELD_UNKEPT("holdUntil", FIELD_TIME, .refused = true,
		     .doc = "Until then a machine waits for the others; then all are given back."),
	FIELDS_END,
};

static const struct field claim_spec_fields[] = {
	FIELD_OBJ(node_claim_spec, virtual_cluster_ref, "virtualClusterRef", object_ref_fields,
		  .required = true, .doc = "The tenant."),
	FIELD_OBJ(node_claim_spec, node_pool_ref, "nodePoolRef", object_ref_fields,
		  .required = true, .doc = "The pool that this was copied from."),
	FIELD_PTR(node_claim_spec, machine_ref, "machineRef", object_ref_fields,
		  .doc = "The machine that the plan chose."),
	FIELD_OBJ(node_claim_spec, resources, "resources", requests_fields,
		  .doc = "What is needed."),
	FIELD_OBJ(node_claim_spec, image, "image", object_image_fields,
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
		  .doc = "The gang that it belongs to."),
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
		"Launched, Registered, Initialized, Ready, Drained, VolumesDetached, PoweredOff, Isolated."),
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
	return o ? object_same(claim_spec_fields, &c->spec, &o->spec, "spec", e) : 0;
}
