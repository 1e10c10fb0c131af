#include "api/node_rows.h"
#include "api/virtualcluster.h"
#include "base/str.h"

/*
 * nodepool: field table and checks of the kind NodePool: what nodes shall be, for whom, and how
 * many.
 * Tests: tests/unit/api/test_kinds.c
 */
static const struct field provider_ref_fields[] = {
	FIELD(object_name_ref, name, "name", FIELD_STR, .required = true, AS_NAME,
	      .doc = "A Provider's name."),
	FIELDS_END,
};

static const struct field_rule image_rules[] = {
	{"self.all(i, " IMAGE_RULES("i") ")", IMAGE_RULES_SAY},
	{NULL, NULL},
};

static const struct field template_spec_fields[] = {
	FIELD_ITEMS(node_pool_template_spec, provider_refs, "providerRefs", provider_ref_fields,
		    .required = true, .max_items = 16, .list_key = "name",
		    .doc = "Providers, tried in this order."),
	FIELD_ITEMS(
		node_pool_template_spec, images, "images", object_image_fields, .required = true,
		.max_items = 16, .list_key = "kubernetesVersion", .rules = image_rules,
		.doc = "One image for each minor of Kubernetes; the newest that the tenant's API server allows is taken."),
	FIELD(node_pool_template_spec, runtime_classes, "runtimeClasses", FIELD_STRINGS,
	      .max_items = 16, .max_len = 253,
	      .doc = "RuntimeClasses whose handlers the images have, such as vnode: a pod with another runtimeClassName gets no machine of the pool. Absent: all of them."),
	FIELD(node_pool_template_spec, nodes, "nodes", FIELD_STRINGS,
	      .enums = virtual_cluster_nodes_names, .max_items = 2, .def = "[\"Private\"]",
	      .doc = "Whose Nodes machines of the pool may become: a virtual cluster whose spec.nodes is not among these gets none."),
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

static const char *const budget_reasons[] = {"Underutilized", "Empty",	   "Drifted",
					     "TenantAsleep",  "Reclaimed", NULL};
static const char *const consolidation_names[] = {"WhenEmpty", "WhenEmptyOrUnderutilized", NULL};
static const char *const drift_names[] = {"Never", "WhenEmpty", "WithinBudgets", NULL};

static const struct field budget_fields[] = {
	FIELD(node_pool_budget, nodes, "nodes", FIELD_STR, .required = true, .max_len = 7,
	      .number = true, .pattern = "^((100|[0-9]{1,2})%|[0-9]{1,6})$",
	      .want = "a count or a percentage such as \"10%\"",
	      .doc = "Most nodes of the pool that may leave at once; percentages round up."),
	FIELD(node_pool_budget, reasons, "reasons", FIELD_STRINGS, .enums = budget_reasons,
	      .max_items = 5, .doc = "For which reasons; absent: for all."),
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

const char *const node_pool_reclaim_names[] = {"Never", "Borrowed", "LowerPriority", NULL};

static const struct field disruption_fields[] = {
	FIELD(node_pool_disruption, consolidation_policy, "consolidationPolicy", FIELD_ENUM,
	      .enums = consolidation_names, .def = "\"WhenEmpty\"",
	      .doc = "Which nodes may be given back to save machines: empty ones alone, or also those whose pods have room on other nodes of their tenant."),
	FIELD(node_pool_disruption, consolidate_after, "consolidateAfter", FIELD_DURATION,
	      .never = true, .min = SECOND,
	      .doc = "Quiet time before that; absent: the greater of 10 min and twice the measured recycle time."),
	FIELD(node_pool_disruption, drift, "drift", FIELD_ENUM, .enums = drift_names,
	      .def = "\"Never\"",
	      .doc = "When a node that is not any more what the template says is given back: when no pod is on it, or drained, as budgets allow."),
	FIELD(node_pool_disruption, reclaim, "reclaim", FIELD_ENUM,
	      .enums = node_pool_reclaim_names, .def = "\"Never\"",
	      .doc = "Whose nodes may be taken back for a tenant that waits. Borrowed: of who is beyond its quota, for who is within its own, in one cohort. LowerPriority: also of a tenant with a lower spec.priority."),
	FIELD_ITEMS(node_pool_disruption, budgets, "budgets", budget_fields, .max_items = 50,
		    .rules = budget_rules, .def = "[{\"nodes\":\"10%\"}]",
		    .doc = "How many may leave at once; the smallest that counts now wins."),
	FIELDS_END,
};

static const struct field warm_fields[] = {
	FIELD_IN(node_pool_spec, warm, nodes, "nodes", FIELD_I64, .min = 0, .max = 10000,
		 .doc = "How many free machines are kept on with the agent running."),
	FIELD_IN(
		node_pool_spec, warm, percent, "percent", FIELD_I64, .min = 0, .max = 100,
		.doc = "The same as a part of the nodes that the pool has, rounded up; of both the greater counts."),
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
	{"Valid", "string", ".status.conditions[?(@.type==\"Valid\")].status", 0},
	{"Warm", "integer", ".spec.warm.nodes", 1},
	{NULL, NULL, NULL, 0},
};

int node_pool_check(const void *object, const void *old, struct err *e)
{
	const struct node_pool *p = object;
	const struct node_pool_budget *b = p->spec.disruption.budgets.v;

	(void)old;
	if (object_selector_check(&p->spec.virtual_cluster_selector,
				  "spec.virtualClusterSelector.matchExpressions", e) < 0)
		return -1;
	if (object_requirements_check(&p->spec.template_.spec.requirements,
				      "spec.template.spec.requirements", e) < 0)
		return -1;
	for (size_t i = 0; i < p->spec.template_.spec.images.n; i++) {
		char path[64];

		str_format(path, sizeof(path), "spec.template.spec.images[%zu]", i);
		if (object_image_check(&p->spec.template_.spec.images.v[i], path, e) < 0)
			return -1;
	}
	for (size_t i = 0; i < p->spec.disruption.budgets.n; i++)
		if (!b[i].schedule != !b[i].duration)
			return err_set(
				e, ERR_INVALID, 0,
				"spec.disruption.budgets[%zu]: want schedule and duration only together",
				i);
	return 0;
}
