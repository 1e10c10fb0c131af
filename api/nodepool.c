#include "api/node_rows.h"
#include "api/virtualcluster.h"
#include "base/str.h"

/*
 * nodepool: field table and checks of the kind NodePool: a set of nodes for selected virtual
 * clusters.
 * Tests: tests/unit/api/test_kinds.c
 */
static const struct field provider_ref_fields[] = {
	FIELD(object_name_ref, name, "name", FIELD_STR, .required = true, AS_NAME,
	      .doc = "Name of the Provider."),
	FIELDS_END,
};

static const struct field_rule image_rules[] = {
	{"self.all(i, " IMAGE_RULES("i") ")", IMAGE_RULES_SAY},
	{NULL, NULL},
};

static const struct field template_spec_fields[] = {
	FIELD_ITEMS(node_pool_template_spec, provider_refs, "providerRefs", provider_ref_fields,
		    .required = true, .max_items = 16, .list_key = "name",
		    .doc = "Providers of the machines, tried in this order."),
	FIELD_ITEMS(node_pool_template_spec, images, "images", object_image_fields,
		    .required = true, .max_items = 16, .list_key = "kubernetesVersion",
		    .rules = image_rules,
		    .doc = "Images, one for each Kubernetes minor version. A node gets the "
			   "newest image whose version the tenant's API server supports."),
	FIELD(node_pool_template_spec, runtime_classes, "runtimeClasses", FIELD_STRINGS,
	      .max_items = 16, .max_len = 253,
	      .doc = "Names of the RuntimeClasses whose handlers the images contain, such as "
		     "vnode. A pod with another runtimeClassName gets no machine of the pool. If "
		     "not set, all RuntimeClasses are allowed."),
	FIELD(node_pool_template_spec, nodes, "nodes", FIELD_STRINGS,
	      .enums = virtual_cluster_nodes_names, .max_items = 2, .def = "[\"Private\"]",
	      .doc = "Clusters whose Nodes the pool's machines may become. Private: the virtual "
		     "cluster itself. Host: the host cluster. A VirtualCluster whose spec.nodes is "
		     "not in the list gets no machine of the pool."),
	NODE_ROWS(node_pool_template_spec),
	FIELDS_END,
};

static const struct field template_metadata_fields[] = {
	FIELD_IN(node_pool_template, metadata, labels, "labels", FIELD_MAP, .max_items = 64,
		 .max_len = 63, .doc = "Labels of the nodes."),
	FIELD_IN(node_pool_template, metadata, annotations, "annotations", FIELD_MAP,
		 .max_items = 64, .doc = "Annotations of the nodes."),
	FIELDS_END,
};

static const struct field template_fields[] = {
	FIELD_OBJ(node_pool_template, metadata, "metadata", template_metadata_fields,
		  .doc = "Labels and annotations of the nodes."),
	FIELD_OBJ(node_pool_template, spec, "spec", template_spec_fields, .required = true,
		  .doc = "Machines, image and settings of the nodes."),
	FIELDS_END,
};

static const char *const budget_reasons[] = {"Underutilized", "Empty",	   "Drifted",
					     "TenantAsleep",  "Reclaimed", "MovedHome",
					     "AtRisk",	      NULL};
static const char *const consolidation_names[] = {"WhenEmpty", "WhenEmptyOrUnderutilized", NULL};
static const char *const drift_names[] = {"Never", "WhenEmpty", "WithinBudgets", NULL};

static const struct field budget_fields[] = {
	FIELD(node_pool_budget, nodes, "nodes", FIELD_STR, .required = true, .max_len = 7,
	      .number = true, .pattern = "^((100|[0-9]{1,2})%|[0-9]{1,6})$",
	      .want = "a count or a percentage such as \"10%\"",
	      .doc = "Highest number of nodes of the pool that may be leaving at one time: a "
		     "count such as \"3\", or a percentage of the pool's nodes such as \"10%\", "
		     "rounded up."),
	FIELD(node_pool_budget, reasons, "reasons", FIELD_STRINGS, .enums = budget_reasons,
	      .max_items = 6,
	      .doc = "Reasons for leaving to which this budget applies. If not set, the budget "
		     "applies to all these reasons, and also to nodes that leave because of "
		     "expireAfter, which has no name in this list."),
	FIELD(node_pool_budget, schedule, "schedule", FIELD_STR, AS_CRON,
	      .doc = "Start of each period in which this budget applies, in cron syntax (minute "
		     "hour day month weekday), UTC. Must be set together with the field "
		     "duration. If not set, the budget always applies."),
	FIELD(node_pool_budget, duration, "duration", FIELD_DURATION, .min = MINUTE,
	      .max = 31 * DAY,
	      .doc = "Length of each period in which this budget applies. A period begins at "
		     "each time that matches the field schedule."),
	FIELDS_END,
};
static const struct field_rule budget_rules[] = {
	{"self.all(x, has(x.schedule) == has(x.duration))",
	 "schedule and duration must be set together"},
	{NULL, NULL},
};

const char *const node_pool_reclaim_names[] = {"Never", "Borrowed", "LowerPriority", NULL};

static const struct field disruption_fields[] = {
	FIELD(node_pool_disruption, consolidation_policy, "consolidationPolicy", FIELD_ENUM,
	      .enums = consolidation_names, .def = "\"WhenEmpty\"",
	      .doc = "Nodes that drover may release to save machines. WhenEmpty: only nodes "
		     "without pods, not counting pods of DaemonSets and static pods. "
		     "WhenEmptyOrUnderutilized: also nodes whose pods fit on other nodes of the "
		     "same tenant."),
	FIELD(node_pool_disruption, consolidate_after, "consolidateAfter", FIELD_DURATION,
	      .never = true, .min = SECOND,
	      .doc = "Time for which a node must be empty or underutilized before drover releases "
		     "it. Never: drover releases no node for these reasons. If not set: 10 "
		     "minutes, or twice the recycle time (mean time of recent machines from "
		     "draining to free) if that is longer. For an underutilized node the time is "
		     "at least the recycle time; but while another tenant waits for machines, the "
		     "time is the value of this field, or 10 minutes if the field is not set."),
	FIELD(node_pool_disruption, drift, "drift", FIELD_ENUM, .enums = drift_names,
	      .def = "\"Never\"",
	      .doc = "When drover replaces nodes that differ from the current template. Never: "
		     "drover does not replace them. WhenEmpty: drover replaces a node once no pod "
		     "is on it. WithinBudgets: drover drains such nodes, as "
		     "spec.disruption.budgets and PodDisruptionBudgets allow."),
	FIELD(node_pool_disruption, reclaim, "reclaim", FIELD_ENUM,
	      .enums = node_pool_reclaim_names, .def = "\"Never\"",
	      .doc = "Nodes that drover may take from one tenant for the waiting pods of another. "
		     "Never: none. Borrowed: from a tenant that uses more than its own quota, for "
		     "a tenant of the same cohort that stays within its own quota. LowerPriority: "
		     "also from a tenant with a lower spec.priority, in any cohort."),
	FIELD_ITEMS(
		node_pool_disruption, budgets, "budgets", budget_fields, .max_items = 50,
		.rules = budget_rules, .def = "[{\"nodes\":\"10%\"}]",
		.doc = "Limits on the number of nodes that leave at one time. If several apply, "
		       "the smallest counts."),
	FIELDS_END,
};

static const struct field warm_fields[] = {
	FIELD_IN(node_pool_spec, warm, nodes, "nodes", FIELD_I64, .min = 0, .max = 10000,
		 .doc = "Lowest number of free machines that drover keeps powered on for the pool, "
			"with the agent running. If the fields nodes and percent are both 0 or not "
			"set, drover keeps no free machine on."),
	FIELD_IN(node_pool_spec, warm, percent, "percent", FIELD_I64, .min = 0, .max = 100,
		 .doc = "Number of free machines that drover keeps powered on, as a percentage "
			"of the pool's nodes, rounded up. Nodes that are being prepared count "
			"too. If the fields nodes and percent are both set, the greater number "
			"counts."),
	FIELDS_END,
};

const char *const node_pool_expander_names[] = {"Auto", "LeastNodes", "LeastCost", NULL};

static const struct field pool_spec_fields[] = {
	FIELD_OBJ(node_pool_spec, virtual_cluster_selector, "virtualClusterSelector",
		  object_selector_fields, .required = true,
		  .doc = "Label selector for the VirtualClusters that may use the pool. An empty "
			 "selector ({}) selects all VirtualClusters."),
	FIELD(node_pool_spec, weight, "weight", FIELD_I64, .min = 0, .max = 100,
	      .doc = "Precedence of the pool. Pools with a higher weight are tried first, and "
		     "pools with the same weight in the order of their names. If not set, 0."),
	FIELD(node_pool_spec, expander, "expander", FIELD_ENUM, .enums = node_pool_expander_names,
	      .def = "\"Auto\"",
	      .doc = "How drover chooses the instance types of new nodes. LeastNodes: so that the "
		     "waiting pods of the tenant need the fewest nodes, each node no larger than "
		     "its pods need. LeastCost: the lowest cost per pod, where a GPU costs more "
		     "than any number of CPUs, and a node as much as 4 CPUs. Both avoid unused "
		     "GPUs first. Auto: LeastCost if a Provider of the pool is a cloud, otherwise "
		     "LeastNodes."),
	FIELD(node_pool_spec, limits, "limits", FIELD_RESOURCES, .max_items = 32,
	      .doc = "Highest total of each resource over all nodes of the pool. The entry named "
		     "nodes limits the number of nodes. A resource that is not listed has no "
		     "limit. If nodes is not listed, drover launches cloud instances for the pool "
		     "only by decision of a BurstPolicy."),
	FIELD(node_pool_spec, paused, "paused", FIELD_BOOL,
	      .doc = "Whether the pool is paused. drover then creates no NodeClaims for the pool. "
		     "It also drains none of the pool's nodes for spec.disruption, expireAfter or "
		     "a sleeping tenant."),
	FIELD_OBJ(node_pool_spec, template_, "template", template_fields, .required = true,
		  .doc = "Template of the nodes. drover copies the template into each NodeClaim."),
	FIELD_OBJ(node_pool_spec, disruption, "disruption", disruption_fields, .def = "{}",
		  .doc = "When drover may release nodes by itself, and how many at one time. A "
			 "released machine is drained, wiped and free again; a cloud instance is "
			 "drained and terminated."),
	FIELD_OBJ(node_pool_spec, wipe, "wipe", object_wipe_floor_fields, .def = "{}",
		  .doc = "Minimum requirements for a machine's last wipe. The pool uses only "
			 "machines whose last wipe met these requirements."),
	FIELD_OBJ(node_pool_spec, warm, "warm", warm_fields,
		  .doc = "Free machines that are kept powered on, so that nodes start faster."),
	FIELD_OBJ(node_pool_spec, deadlines, "deadlines", object_deadlines_fields, .def = "{}",
		  .doc = "Longest time for each phase until a node serves. If a phase takes "
			 "longer, the NodeClaim fails and its machine is released."),
	FIELDS_END,
};

static const struct field pool_status_fields[] = {
	FIELD(node_pool_status, nodes, "nodes", FIELD_I64, .min = 0, .max = INT64_MAX,
	      .doc = "Number of the pool's nodes, including nodes that are being prepared."),
	FIELD(node_pool_status, resources, "resources", FIELD_RESOURCES, .max_items = 64,
	      .doc = "Total resources of the pool's nodes, including nodes that are being "
		     "prepared."),
	CONDITIONS_ROW(node_pool_status,
		       "Conditions: Ready (NodeClaims can be created); ProvidersReady "
		       "(each Provider of the pool can be used); LineStopped (new "
		       "NodeClaims wait because NodeClaims failed repeatedly); WarmReady "
		       "(enough free machines are powered on for spec.warm), if spec.warm "
		       "is set; Stalled (Ready is False until an operator changes the pool or a "
		       "Provider); Valid (drover can use spec; absent until drover first "
		       "refuses spec)."),
	FIELDS_END,
};

const struct field node_pool_fields[] = {
	META_ROW(node_pool),
	FIELD_OBJ(node_pool, spec, "spec", pool_spec_fields, .required = true,
		  .doc = "Desired state of the NodePool."),
	FIELD_OBJ(node_pool, status, "status", pool_status_fields,
		  .doc = "Observed state of the NodePool."),
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
				"spec.disruption.budgets[%zu]: schedule and duration must be set "
				"together",
				i);
	return 0;
}
