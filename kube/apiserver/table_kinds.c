#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "base/str.h"
#include "kube/apiserver/table.h"
#include "base/data/age.h"

/* Columns of built-in kinds, as in pkg/printers/internalversion of Kubernetes 1.36. */

static json_t *age(const json_t *obj, int64_t now)
{
	return age_json(json_str_at(obj, "metadata", "creationTimestamp"), now);
}

/* Returns the text in b as a JSON string, or the text otherwise if b is empty. Frees the buffer. */
static json_t *give_text(struct buf *b, const char *otherwise)
{
	json_t *j = json_string(b->len ? b->data : otherwise);

	buf_done(b);
	return j ? j : json_string("");
}

static void add_word(struct buf *b, const char *separator, const char *word)
{
	if (!word)
		return;
	if (b->len)
		buf_puts(b, separator);
	buf_puts(b, word);
}

#define TEXT_MAX ((size_t)16 << 10)

/* --- pods ------------------------------------------------------------------------------------- */

static json_t *pod_ready(const json_t *obj, int64_t now)
{
	size_t ready = 0, i;
	json_t *v;

	(void)now;
	json_array_foreach (json_at(obj, "status", "containerStatuses"), i, v)
		ready += json_true_at(v, "ready");
	return json_sprintf("%zu/%zu", ready, json_array_size(json_at(obj, "spec", "containers")));
}

static const char *container_reason(const json_t *status)
{
	const char *waiting = json_str_at(status, "state", "waiting", "reason"),
		   *terminated = json_str_at(status, "state", "terminated", "reason");

	return !str_empty(waiting) ? waiting : !str_empty(terminated) ? terminated : NULL;
}

static json_t *pod_status(const json_t *obj, int64_t now)
{
	const char *reason = json_str_at(obj, "status", "reason");
	json_t *v;
	size_t i;

	(void)now;
	if (str_empty(reason))
		reason = str_or(json_str_at(obj, "status", "phase"), "");
	json_array_foreach (json_at(obj, "status", "conditions"), i, v)
		if (str_eq(json_str_at(v, "type"), "PodScheduled") &&
		    str_eq(json_str_at(v, "reason"), "SchedulingGated"))
			reason = "SchedulingGated";
	json_array_foreach (json_at(obj, "status", "containerStatuses"), i, v)
		if (container_reason(v)) {
			reason = container_reason(v);
			break;
		}
	if (object_is_going(obj))
		reason = "Terminating";
	return json_string(reason);
}

static json_t *pod_restarts(const json_t *obj, int64_t now)
{
	json_int_t n = 0;
	json_t *v;
	size_t i;

	(void)now;
	json_array_foreach (json_at(obj, "status", "containerStatuses"), i, v)
		n += json_int_at(v, "restartCount");
	return json_sprintf("%lld", (long long)n);
}

static const struct column pods[] = {
	{.name = "Name", .type = "string", .format = "name", .path = "metadata.name"},
	{.name = "Ready", .type = "string", .cell = pod_ready},
	{.name = "Status", .type = "string", .cell = pod_status},
	{.name = "Restarts", .type = "string", .cell = pod_restarts},
	{.name = "Age", .type = "string", .cell = age},
	{.name = "IP",
	 .type = "string",
	 .priority = 1,
	 .path = "status.podIP",
	 .otherwise = "<none>"},
	{.name = "Node",
	 .type = "string",
	 .priority = 1,
	 .path = "spec.nodeName",
	 .otherwise = "<none>"},
	{.name = "Nominated Node",
	 .type = "string",
	 .priority = 1,
	 .path = "status.nominatedNodeName",
	 .otherwise = "<none>"},
	{.name = "Readiness Gates",
	 .type = "string",
	 .priority = 1,
	 /* drover's pods have no readiness gates: name a member that never exists, so that the cell
	  * is always "<none>". */
	 .path = "status.readinessGate",
	 .otherwise = "<none>"},
	{0},
};

/* --- nodes ------------------------------------------------------------------------------------ */

static json_t *node_status(const json_t *obj, int64_t now)
{
	const char *ready = "Unknown";
	json_t *v;
	size_t i;

	(void)now;
	json_array_foreach (json_at(obj, "status", "conditions"), i, v)
		if (str_eq(json_str_at(v, "type"), "Ready"))
			ready = str_eq(json_str_at(v, "status"), "True") ? "Ready" : "NotReady";
	return json_sprintf("%s%s", ready,
			    json_true_at(obj, "spec", "unschedulable") ? ",SchedulingDisabled"
								       : "");
}

static json_t *node_roles(const json_t *obj, int64_t now)
{
	static const char prefix[] = "node-role.kubernetes.io/";
	const char *key;
	struct buf b;
	json_t *v;

	(void)now;
	buf_init(&b, TEXT_MAX);
	json_object_foreach (json_at(obj, "metadata", "labels"), key, v)
		if (str_starts(key, prefix) && key[strlen(prefix)])
			add_word(&b, ",", key + strlen(prefix));
	return give_text(&b, "<none>");
}

static const struct column nodes[] = {
	{.name = "Name", .type = "string", .format = "name", .path = "metadata.name"},
	{.name = "Status", .type = "string", .cell = node_status},
	{.name = "Roles", .type = "string", .cell = node_roles},
	{.name = "Age", .type = "string", .cell = age},
	{.name = "Version", .type = "string", .path = "status.nodeInfo.kubeletVersion"},
	{.name = "Internal-IP",
	 .type = "string",
	 .priority = 1,
	 .path = "status.addresses[?(@.type==\"InternalIP\")].address",
	 .otherwise = "<none>"},
	{.name = "External-IP",
	 .type = "string",
	 .priority = 1,
	 .path = "status.addresses[?(@.type==\"ExternalIP\")].address",
	 .otherwise = "<none>"},
	{.name = "OS-Image",
	 .type = "string",
	 .priority = 1,
	 .path = "status.nodeInfo.osImage",
	 .otherwise = "<unknown>"},
	{.name = "Kernel-Version",
	 .type = "string",
	 .priority = 1,
	 .path = "status.nodeInfo.kernelVersion",
	 .otherwise = "<unknown>"},
	{.name = "Container-Runtime",
	 .type = "string",
	 .priority = 1,
	 .path = "status.nodeInfo.containerRuntimeVersion",
	 .otherwise = "<unknown>"},
	{0},
};

/* --- ConfigMaps, Secrets ---------------------------------------------------------------------- */

static json_t *count_data(const json_t *obj, int64_t now)
{
	(void)now;
	return json_integer((json_int_t)(json_object_size(json_object_get(obj, "data")) +
					 json_object_size(json_object_get(obj, "binaryData"))));
}

static json_t *count_secrets(const json_t *obj, int64_t now)
{
	(void)now;
	return json_integer((json_int_t)json_array_size(json_object_get(obj, "secrets")));
}

static json_t *quota(const json_t *obj, bool limits)
{
	const char *key;
	struct buf b;
	json_t *v;

	buf_init(&b, TEXT_MAX);
	json_object_foreach (json_at(obj, "spec", "hard"), key, v) {
		if (str_starts(key, "limits.") != limits)
			continue;
		add_word(&b, ", ", key);
		buf_printf(&b, ": %s/%s", str_or(json_str_at(obj, "status", "used", key), "0"),
			   str_or(json_string_value(v), "0"));
	}
	return give_text(&b, "");
}

static json_t *quota_requests(const json_t *obj, int64_t now)
{
	(void)now;
	return quota(obj, false);
}

static json_t *quota_limits(const json_t *obj, int64_t now)
{
	(void)now;
	return quota(obj, true);
}

#define NAME_COLUMN                                                                                \
	{                                                                                          \
		.name = "Name", .type = "string", .format = "name", .path = "metadata.name"        \
	}
#define AGE_COLUMN                                                                                 \
	{                                                                                          \
		.name = "Age", .type = "string", .cell = age                                       \
	}
#define TEXT(name_, path_, otherwise_)                                                             \
	{                                                                                          \
		.name = (name_), .type = "string", .path = (path_), .otherwise = (otherwise_)      \
	}
#define NUMBER(name_, path_)                                                                       \
	{                                                                                          \
		.name = (name_), .type = "integer", .path = (path_)                                \
	}
#define CELL(name_, cell_)                                                                         \
	{                                                                                          \
		.name = (name_), .type = "string", .cell = (cell_)                                 \
	}
#define WIDE(name_, cell_)                                                                         \
	{                                                                                          \
		.name = (name_), .type = "string", .priority = 1, .cell = (cell_)                  \
	}

static const struct column plain[] = {NAME_COLUMN, AGE_COLUMN, {0}};
static const struct column namespaces[] = {
	NAME_COLUMN, TEXT("Status", "status.phase", ""), AGE_COLUMN, {0}};
static const struct column secrets[] = {
	NAME_COLUMN, TEXT("Type", "type", ""), CELL("Data", count_data), AGE_COLUMN, {0}};
static const struct column configmaps[] = {NAME_COLUMN, CELL("Data", count_data), AGE_COLUMN, {0}};
static const struct column accounts[] = {
	NAME_COLUMN, CELL("Secrets", count_secrets), AGE_COLUMN, {0}};
static const struct column quotas[] = {
	NAME_COLUMN, CELL("Request", quota_requests), CELL("Limit", quota_limits), AGE_COLUMN, {0}};

/* --- events ----------------------------------------------------------------------------------- */

static const char *when(const json_t *obj, const char *first, const char *second)
{
	const char *t = json_str_at(obj, first);

	if (str_empty(t))
		t = json_str_at(obj, second);
	return str_empty(t) ? json_str_at(obj, "metadata", "creationTimestamp") : t;
}

static json_t *event_last(const json_t *obj, int64_t now)
{
	const char *series = json_str_at(obj, "series", "lastObservedTime");

	return age_json(series ? series : when(obj, "lastTimestamp", "eventTime"), now);
}

static json_t *event_first(const json_t *obj, int64_t now)
{
	return age_json(when(obj, "firstTimestamp", "eventTime"), now);
}

static json_t *event_object(const json_t *obj, int64_t now)
{
	char kind[128];

	(void)now;
	(void)str_copy(kind, sizeof(kind), str_or(json_str_at(obj, "involvedObject", "kind"), ""));
	for (char *c = kind; *c; c++)
		*c = *c >= 'A' && *c <= 'Z' ? (char)(*c - 'A' + 'a') : *c;
	return json_sprintf("%s/%s", kind, str_or(json_str_at(obj, "involvedObject", "name"), ""));
}

static json_t *event_source(const json_t *obj, int64_t now)
{
	const char *by = json_str_at(obj, "source", "component");

	(void)now;
	return json_string(str_or(str_empty(by) ? json_str_at(obj, "reportingComponent") : by, ""));
}

static json_t *event_count(const json_t *obj, int64_t now)
{
	json_int_t n = json_int_at(obj, "series", "count");

	(void)now;
	n = n ? n : json_int_at(obj, "count");
	return json_integer(n ? n : 1);
}

static const struct column events[] = {
	CELL("Last Seen", event_last),
	TEXT("Type", "type", ""),
	TEXT("Reason", "reason", ""),
	CELL("Object", event_object),
	{.name = "Subobject", .type = "string", .priority = 1, .path = "involvedObject.fieldPath"},
	WIDE("Source", event_source),
	TEXT("Message", "message", ""),
	WIDE("First Seen", event_first),
	WIDE("Count", event_count),
	{.name = "Name",
	 .type = "string",
	 .format = "name",
	 .priority = 1,
	 .path = "metadata.name"},
	{0},
};

/* --- services and volumes --------------------------------------------------------------------- */

static json_t *service_ports(const json_t *obj, int64_t now)
{
	struct buf b;
	size_t i;
	json_t *v;

	(void)now;
	buf_init(&b, TEXT_MAX);
	json_array_foreach (json_at(obj, "spec", "ports"), i, v)
		buf_printf(&b, "%s%lld/%s", i ? "," : "", (long long)json_int_at(v, "port"),
			   str_or(json_str_at(v, "protocol"), "TCP"));
	return give_text(&b, "<none>");
}

static json_t *join_map(const json_t *map)
{
	const char *key;
	struct buf b;
	json_t *v;

	buf_init(&b, TEXT_MAX);
	json_object_foreach ((json_t *)map, key, v)
		buf_printf(&b, "%s%s=%s", b.len ? "," : "", key, str_or(json_string_value(v), ""));
	return give_text(&b, "<none>");
}

static json_t *service_selector(const json_t *obj, int64_t now)
{
	(void)now;
	return join_map(json_at(obj, "spec", "selector"));
}

static json_t *access_modes(const json_t *obj, int64_t now)
{
	static const struct {
		const char *name, *brief;
	} modes[] = {{"ReadWriteOnce", "RWO"},
		     {"ReadOnlyMany", "ROX"},
		     {"ReadWriteMany", "RWX"},
		     {"ReadWriteOncePod", "RWOP"}};
	struct buf b;
	size_t i;
	json_t *v;

	(void)now;
	buf_init(&b, TEXT_MAX);
	json_array_foreach (json_at(obj, "spec", "accessModes"), i, v)
		for (size_t k = 0; k < sizeof(modes) / sizeof(*modes); k++)
			if (str_eq(modes[k].name, json_string_value(v)))
				add_word(&b, ",", modes[k].brief);
	return give_text(&b, "");
}

static json_t *volume_claim(const json_t *obj, int64_t now)
{
	const char *name = json_str_at(obj, "spec", "claimRef", "name");

	(void)now;
	return name ? json_sprintf("%s/%s",
				   str_or(json_str_at(obj, "spec", "claimRef", "namespace"), ""),
				   name)
		    : json_string("");
}

static const struct column services[] = {
	NAME_COLUMN,
	TEXT("Type", "spec.type", "ClusterIP"),
	TEXT("Cluster-IP", "spec.clusterIP", "<none>"),
	TEXT("External-IP", "status.loadBalancer.ingress[0].ip", "<none>"),
	CELL("Port(s)", service_ports),
	AGE_COLUMN,
	WIDE("Selector", service_selector),
	{0},
};
static const struct column claims[] = {
	NAME_COLUMN,
	TEXT("Status", "status.phase", ""),
	TEXT("Volume", "spec.volumeName", ""),
	TEXT("Capacity", "status.capacity.storage", ""),
	CELL("Access Modes", access_modes),
	TEXT("StorageClass", "spec.storageClassName", ""),
	TEXT("VolumeAttributesClass", "spec.volumeAttributesClassName", "<unset>"),
	AGE_COLUMN,
	{.name = "VolumeMode", .type = "string", .priority = 1, .path = "spec.volumeMode"},
	{0},
};
static const struct column volumes[] = {
	NAME_COLUMN,
	TEXT("Capacity", "spec.capacity.storage", ""),
	CELL("Access Modes", access_modes),
	TEXT("Reclaim Policy", "spec.persistentVolumeReclaimPolicy", ""),
	TEXT("Status", "status.phase", ""),
	CELL("Claim", volume_claim),
	TEXT("StorageClass", "spec.storageClassName", ""),
	TEXT("Reason", "status.reason", ""),
	AGE_COLUMN,
	{0},
};
static const struct column storage_classes[] = {
	NAME_COLUMN,
	TEXT("Provisioner", "provisioner", ""),
	TEXT("ReclaimPolicy", "reclaimPolicy", "Delete"),
	TEXT("VolumeBindingMode", "volumeBindingMode", "<unset>"),
	{.name = "AllowVolumeExpansion", .type = "boolean", .path = "allowVolumeExpansion"},
	AGE_COLUMN,
	{0},
};
static const struct column attachments[] = {
	NAME_COLUMN,
	TEXT("Attacher", "spec.attacher", ""),
	TEXT("PV", "spec.source.persistentVolumeName", ""),
	TEXT("Node", "spec.nodeName", ""),
	{.name = "Attached", .type = "boolean", .path = "status.attached"},
	AGE_COLUMN,
	{0},
};

/* --- workloads -------------------------------------------------------------------------------- */

static json_t *wanted_replicas(const json_t *obj)
{
	json_t *n = json_at(obj, "spec", "replicas");

	return n ? n : json_at(obj, "status", "replicas");
}

static json_t *workload_ready(const json_t *obj, int64_t now)
{
	(void)now;
	return json_sprintf("%lld/%lld", (long long)json_int_at(obj, "status", "readyReplicas"),
			    (long long)json_integer_value(wanted_replicas(obj)));
}

static json_t *join_containers(const json_t *obj, const char *member)
{
	struct buf b;
	size_t i;
	json_t *v;

	buf_init(&b, TEXT_MAX);
	json_array_foreach (json_at(obj, "spec", "template", "spec", "containers"), i, v)
		add_word(&b, ",", json_str_at(v, member));
	return give_text(&b, "");
}

static json_t *containers(const json_t *obj, int64_t now)
{
	(void)now;
	return join_containers(obj, "name");
}

static json_t *images(const json_t *obj, int64_t now)
{
	(void)now;
	return join_containers(obj, "image");
}

static json_t *workload_selector(const json_t *obj, int64_t now)
{
	(void)now;
	return join_map(json_at(obj, "spec", "selector", "matchLabels"));
}

static json_t *node_selector(const json_t *obj, int64_t now)
{
	(void)now;
	return join_map(json_at(obj, "spec", "template", "spec", "nodeSelector"));
}

static json_t *job_status(const json_t *obj, int64_t now)
{
	const char *found = "Running";
	json_t *v;
	size_t i;

	(void)now;
	json_array_foreach (json_at(obj, "status", "conditions"), i, v) {
		const char *type = str_or(json_str_at(v, "type"), "");

		if (str_eq(json_str_at(v, "status"), "True") &&
		    (str_eq(type, "Complete") || str_eq(type, "Failed") ||
		     str_eq(type, "Suspended")))
			found = type;
	}
	return json_string(object_is_going(obj) ? "Terminating" : found);
}

static json_t *job_completions(const json_t *obj, int64_t now)
{
	const json_t *n = json_at(obj, "spec", "completions");

	(void)now;
	return json_sprintf("%lld/%lld", (long long)json_int_at(obj, "status", "succeeded"),
			    n ? (long long)json_integer_value(n) : 1LL);
}

static json_t *job_duration(const json_t *obj, int64_t now)
{
	const char *start = json_str_at(obj, "status", "startTime");
	int64_t end;

	if (!start)
		return json_string("");
	return age_json(start,
			str_to_time(str_or(json_str_at(obj, "status", "completionTime"), ""), &end)
				? end
				: now);
}

static json_t *limit_text(const json_t *obj, const char *member)
{
	const json_t *v = json_at(obj, "spec", member);

	if (json_is_integer(v))
		return json_sprintf("%lld", (long long)json_integer_value(v));
	return json_is_string(v) ? json_incref((json_t *)v) : json_string("N/A");
}

static json_t *min_available(const json_t *obj, int64_t now)
{
	(void)now;
	return limit_text(obj, "minAvailable");
}

static json_t *max_unavailable(const json_t *obj, int64_t now)
{
	(void)now;
	return limit_text(obj, "maxUnavailable");
}

#define CONTAINER_COLUMNS WIDE("Containers", containers), WIDE("Images", images)

static const struct column daemonsets[] = {
	NAME_COLUMN,
	NUMBER("Desired", "status.desiredNumberScheduled"),
	NUMBER("Current", "status.currentNumberScheduled"),
	NUMBER("Ready", "status.numberReady"),
	NUMBER("Up-to-date", "status.updatedNumberScheduled"),
	NUMBER("Available", "status.numberAvailable"),
	CELL("Node Selector", node_selector),
	AGE_COLUMN,
	CONTAINER_COLUMNS,
	WIDE("Selector", workload_selector),
	{0},
};
static const struct column deployments[] = {
	NAME_COLUMN,
	CELL("Ready", workload_ready),
	NUMBER("Up-to-date", "status.updatedReplicas"),
	NUMBER("Available", "status.availableReplicas"),
	AGE_COLUMN,
	CONTAINER_COLUMNS,
	WIDE("Selector", workload_selector),
	{0},
};
static const struct column replicasets[] = {
	NAME_COLUMN,
	NUMBER("Desired", "spec.replicas"),
	NUMBER("Current", "status.replicas"),
	NUMBER("Ready", "status.readyReplicas"),
	AGE_COLUMN,
	CONTAINER_COLUMNS,
	WIDE("Selector", workload_selector),
	{0},
};
static const struct column statefulsets[] = {
	NAME_COLUMN, CELL("Ready", workload_ready), AGE_COLUMN, CONTAINER_COLUMNS, {0}};
static const struct column jobs[] = {
	NAME_COLUMN,
	CELL("Status", job_status),
	CELL("Completions", job_completions),
	CELL("Duration", job_duration),
	AGE_COLUMN,
	CONTAINER_COLUMNS,
	WIDE("Selector", workload_selector),
	{0},
};

/* --- other kinds ------------------------------------------------------------------------------ */

static const struct column leases[] = {
	NAME_COLUMN, TEXT("Holder", "spec.holderIdentity", ""), AGE_COLUMN, {0}};
static const struct column budgets[] = {
	NAME_COLUMN,
	CELL("Min Available", min_available),
	CELL("Max Unavailable", max_unavailable),
	NUMBER("Allowed Disruptions", "status.disruptionsAllowed"),
	AGE_COLUMN,
	{0},
};
static const struct column created[] = {
	NAME_COLUMN,
	{.name = "Created At", .type = "date", .path = "metadata.creationTimestamp"},
	{0},
};

static json_t *binding_role(const json_t *obj, int64_t now)
{
	(void)now;
	return json_sprintf("%s/%s", str_or(json_str_at(obj, "roleRef", "kind"), ""),
			    str_or(json_str_at(obj, "roleRef", "name"), ""));
}

static json_t *subjects(const json_t *obj, const char *kind)
{
	struct buf b;
	size_t i;
	json_t *v;

	buf_init(&b, TEXT_MAX);
	json_array_foreach (json_object_get(obj, "subjects"), i, v)
		if (str_eq(json_str_at(v, "kind"), kind)) {
			const char *ns = json_str_at(v, "namespace");

			add_word(&b, ", ", str_or(ns, ""));
			buf_printf(&b, "%s%s", ns ? "/" : "", str_or(json_str_at(v, "name"), ""));
		}
	return give_text(&b, "");
}

static json_t *binding_users(const json_t *obj, int64_t now)
{
	(void)now;
	return subjects(obj, "User");
}

static json_t *binding_groups(const json_t *obj, int64_t now)
{
	(void)now;
	return subjects(obj, "Group");
}

static json_t *binding_accounts(const json_t *obj, int64_t now)
{
	(void)now;
	return subjects(obj, "ServiceAccount");
}

static const struct column bindings[] = {
	NAME_COLUMN,
	CELL("Role", binding_role),
	AGE_COLUMN,
	WIDE("Users", binding_users),
	WIDE("Groups", binding_groups),
	WIDE("ServiceAccounts", binding_accounts),
	{0},
};
static const struct column priorities[] = {
	NAME_COLUMN,
	NUMBER("Value", "value"),
	{.name = "Global-Default", .type = "boolean", .path = "globalDefault"},
	AGE_COLUMN,
	TEXT("PreemptionPolicy", "preemptionPolicy", "PreemptLowerPriority"),
	{0},
};

const struct column *table_columns(const struct resource *r)
{
	static const struct {
		const char *kind;
		const struct column *columns;
	} kinds[] = {
		{"Pod", pods},
		{"Node", nodes},
		{"Namespace", namespaces},
		{"Secret", secrets},
		{"ConfigMap", configmaps},
		{"ServiceAccount", accounts},
		{"ResourceQuota", quotas},
		{"Event", events},
		{"Service", services},
		{"PersistentVolumeClaim", claims},
		{"PersistentVolume", volumes},
		{"StorageClass", storage_classes},
		{"VolumeAttachment", attachments},
		{"DaemonSet", daemonsets},
		{"Deployment", deployments},
		{"ReplicaSet", replicasets},
		{"StatefulSet", statefulsets},
		{"Job", jobs},
		{"Lease", leases},
		{"PodDisruptionBudget", budgets},
		{"Role", created},
		{"ClusterRole", created},
		{"RoleBinding", bindings},
		{"ClusterRoleBinding", bindings},
		{"PriorityClass", priorities},
		{"CustomResourceDefinition", created},
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (str_eq(kinds[i].kind, r->kind))
			return kinds[i].columns;
	return plain;
}
