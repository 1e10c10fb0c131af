#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "base/str.h"
#include "kube/apiserver/server.h"

/* Tests: tests/unit/kube/apiserver/test_discovery.c, tests/unit/kube/apiserver/test_write.c */

static const char *const pod_fields[] = {
	"spec.nodeName",	   "status.phase", "spec.schedulerName",       "spec.restartPolicy",
	"spec.serviceAccountName", "status.podIP", "status.nominatedNodeName", NULL,
};
static const char *const node_fields[] = {"spec.unschedulable", NULL};
static const char *const namespace_fields[] = {"status.phase", NULL};
static const char *const secret_fields[] = {"type", NULL};
static const char *const event_fields[] = {
	"involvedObject.kind",
	"involvedObject.namespace",
	"involvedObject.name",
	"involvedObject.uid",
	"involvedObject.apiVersion",
	"involvedObject.resourceVersion",
	"involvedObject.fieldPath",
	"reason",
	"reportingComponent",
	"source",
	"type",
	NULL,
};

#define KIND(group_, key_, plural_, singular_, kind_, short_, ...)                                 \
	{                                                                                          \
		.group = (group_), .version = "v1", .plural = (plural_), .singular = (singular_),  \
		.kind = (kind_), .short_names = (short_), .key = (key_), __VA_ARGS__               \
	}
#define CORE(plural_, ...) KIND("", plural_ "/", plural_, __VA_ARGS__)
#define GROUP(group_, plural_, ...) KIND(group_, plural_ "." group_ "/", plural_, __VA_ARGS__)
/* Table row of a kind whose objects are answered and never stored (a review); its key is empty. */
#define REVIEW(group_, plural_, singular_, kind_, ...)                                             \
	GROUP(group_, plural_, singular_, kind_, "", .review = true, ##__VA_ARGS__)
#define NS .namespaced = true
#define STATUS .has_status = true
#define SCALE                                                                                      \
	.scale_spec = ".spec.replicas", .scale_status = ".status.replicas",                        \
	.scale_selector = ".spec.selector"
#define SPEC .has_status = true, .has_generation = true

static const struct resource builtin[] = {
	CORE("pods", "pod", "Pod", "po", NS, SPEC, .fields = pod_fields),
	CORE("nodes", "node", "Node", "no", STATUS, .fields = node_fields),
	CORE("secrets", "secret", "Secret", "", NS, .fields = secret_fields),
	CORE("configmaps", "configmap", "ConfigMap", "cm", NS),
	CORE("namespaces", "namespace", "Namespace", "ns", STATUS, .fields = namespace_fields),
	CORE("events", "event", "Event", "ev", NS, .fields = event_fields),
	CORE("serviceaccounts", "serviceaccount", "ServiceAccount", "sa", NS),
	CORE("services", "service", "Service", "svc", NS, STATUS),
	CORE("persistentvolumeclaims", "persistentvolumeclaim", "PersistentVolumeClaim", "pvc", NS,
	     STATUS),
	CORE("persistentvolumes", "persistentvolume", "PersistentVolume", "pv", STATUS),
	CORE("podtemplates", "podtemplate", "PodTemplate", "", NS, .has_generation = true),
	CORE("resourcequotas", "resourcequota", "ResourceQuota", "quota", NS, STATUS),
	REVIEW("authentication.k8s.io", "selfsubjectreviews", "selfsubjectreview",
	       "SelfSubjectReview"),
	REVIEW("authentication.k8s.io", "tokenreviews", "tokenreview", "TokenReview"),
	REVIEW("authorization.k8s.io", "localsubjectaccessreviews", "localsubjectaccessreview",
	       "LocalSubjectAccessReview", NS),
	REVIEW("authorization.k8s.io", "selfsubjectaccessreviews", "selfsubjectaccessreview",
	       "SelfSubjectAccessReview"),
	REVIEW("authorization.k8s.io", "selfsubjectrulesreviews", "selfsubjectrulesreview",
	       "SelfSubjectRulesReview"),
	REVIEW("authorization.k8s.io", "subjectaccessreviews", "subjectaccessreview",
	       "SubjectAccessReview"),
	GROUP("apps", "daemonsets", "daemonset", "DaemonSet", "ds", NS, SPEC),
	GROUP("apps", "deployments", "deployment", "Deployment", "deploy", NS, SPEC, SCALE),
	GROUP("apps", "replicasets", "replicaset", "ReplicaSet", "rs", NS, SPEC, SCALE),
	GROUP("apps", "statefulsets", "statefulset", "StatefulSet", "sts", NS, SPEC, SCALE),
	GROUP("batch", "jobs", "job", "Job", "", NS, SPEC),
	GROUP("coordination.k8s.io", "leases", "lease", "Lease", "", NS, .must_say_rev = true),
	KIND("events.k8s.io", "events/", "events", "event", "Event", "ev", NS,
	     .fields = event_fields, .renamed_event = true),
	GROUP("policy", "poddisruptionbudgets", "poddisruptionbudget", "PodDisruptionBudget", "pdb",
	      NS, SPEC),
	GROUP("rbac.authorization.k8s.io", "roles", "role", "Role", "", NS, .loose_name = true),
	GROUP("rbac.authorization.k8s.io", "rolebindings", "rolebinding", "RoleBinding", "", NS,
	      .loose_name = true),
	GROUP("rbac.authorization.k8s.io", "clusterroles", "clusterrole", "ClusterRole", "",
	      .loose_name = true),
	GROUP("rbac.authorization.k8s.io", "clusterrolebindings", "clusterrolebinding",
	      "ClusterRoleBinding", "", .loose_name = true),
	GROUP("scheduling.k8s.io", "priorityclasses", "priorityclass", "PriorityClass", "pc",
	      .has_generation = true),
	GROUP("storage.k8s.io", "storageclasses", "storageclass", "StorageClass", "sc"),
	GROUP("storage.k8s.io", "csinodes", "csinode", "CSINode", ""),
	GROUP("storage.k8s.io", "volumeattachments", "volumeattachment", "VolumeAttachment", "",
	      STATUS),
	GROUP("apiextensions.k8s.io", "customresourcedefinitions", "customresourcedefinition",
	      "CustomResourceDefinition", "crd crds", SPEC),
};
#define NBUILTIN (sizeof(builtin) / sizeof(*builtin))

bool resource_next(const struct apiserver *a, const struct resource **r)
{
	const struct list *next = a->customs.next;

	if (!*r) {
		*r = builtin;
		return true;
	}
	if (!(*r)->custom) {
		if (++*r < builtin + NBUILTIN)
			return true;
	} else {
		next = list_entry(*r, struct custom, r)->link.next;
	}
	if (next == &a->customs)
		return false;
	*r = &list_entry(next, struct custom, link)->r;
	return true;
}

const struct resource *resource_find(const struct apiserver *a, const char *group,
				     const char *version, const char *plural)
{
	for (const struct resource *r = NULL; resource_next(a, &r);)
		if (str_eq(r->group, group) && str_eq(r->version, version) &&
		    str_eq(r->plural, plural))
			return r;
	return NULL;
}

const char *resource_api_version(const struct resource *r, struct arena *a)
{
	return *r->group ? arena_printf(a, "%s/%s", r->group, r->version) : r->version;
}

const char *resource_key(const struct resource *r, struct arena *a, const char *ns,
			 const char *name)
{
	bool with_ns = r->namespaced && ns;
	size_t key_len = strlen(r->key), ns_len = with_ns ? strlen(ns) : 0,
	       name_len = name ? strlen(name) : 0;
	/* Without arena_printf(), because every request needs the key of its object. */
	char *key = arena_alloc(a, key_len + ns_len + with_ns + name_len + 1), *end = key + key_len;

	memcpy(key, r->key, key_len);
	if (with_ns) {
		memcpy(end, ns, ns_len);
		end += ns_len;
		*end++ = '/';
	}
	if (name)
		memcpy(end, name, name_len);
	end[name_len] = '\0';
	return key;
}

size_t resource_subs(const struct resource *r, struct subresource *out)
{
	size_t n = 0;

	if (r->has_status)
		out[n++] = (struct subresource){.name = "status", .kind = r->kind};
	if (r->scale_spec)
		out[n++] = (struct subresource){
			.name = "scale", .group = "autoscaling", .version = "v1", .kind = "Scale"};
	if (str_eq(r->key, "pods/")) {
		out[n++] = (struct subresource){.name = "eviction",
						.group = "policy",
						.version = "v1",
						.kind = "Eviction",
						.create = true};
		out[n++] =
			(struct subresource){.name = "binding", .kind = "Binding", .create = true};
	}
	if (str_eq(r->key, "serviceaccounts/"))
		out[n++] = (struct subresource){.name = "token",
						.group = "authentication.k8s.io",
						.version = "v1",
						.kind = "TokenRequest",
						.create = true};
	return n;
}

/* --- CustomResourceDefinitions ---------------------------------------------------------------- */

static void custom_free(struct custom *c)
{
	list_remove(&c->link);
	json_decref(c->schema);
	patterns_free(c->r.patterns);
	json_decref(c->columns);
	arena_free(c->arena);
	free(c);
}

static const char *join_names(struct arena *a, const json_t *names)
{
	const char *all = "";
	size_t i;
	json_t *name;

	json_array_foreach (names, i, name)
		if (json_is_string(name))
			all = arena_printf(a, "%s%s%s", all, i ? " " : "", json_string_value(name));
	return all;
}

static void add_version(struct apiserver *a, const json_t *crd, const json_t *version)
{
	struct custom *c = mem_new(struct custom);
	struct arena *m = c->arena = arena_new();
	const json_t *names = json_at(crd, "spec", "names");
	const json_t *scale = json_at(version, "subresources", "scale");
	const char *kind = json_str_at(names, "kind");

	c->r = (struct resource){
		.group = arena_strdup(m, json_str_at(crd, "spec", "group")),
		.version = arena_strdup(m, json_str_at(version, "name")),
		.plural = arena_strdup(m, json_str_at(names, "plural")),
		.singular = arena_strdup(m, str_or(json_str_at(names, "singular"), kind)),
		.kind = arena_strdup(m, kind),
		.short_names = join_names(m, json_at(names, "shortNames")),
		.categories = join_names(m, json_at(names, "categories")),
		.namespaced = str_eq(json_str_at(crd, "spec", "scope"), "Namespaced"),
		.has_status = json_at(version, "subresources", "status") != NULL,
		.has_generation = true,
		.custom = true,
		.must_say_rev = true,
	};
	c->r.scale_spec = arena_strdup(m, json_str_at(scale, "specReplicasPath"));
	c->r.scale_status = arena_strdup(m, json_str_at(scale, "statusReplicasPath"));
	c->r.scale_selector = arena_strdup(m, json_str_at(scale, "labelSelectorPath"));
	c->r.key = arena_printf(m, "%s.%s/", c->r.plural, c->r.group);
	c->r.schema = c->schema = json_deep_copy(json_at(version, "schema", "openAPIV3Schema"));
	c->r.patterns = patterns_new();
	c->r.columns = c->columns = json_deep_copy(json_at(version, "additionalPrinterColumns"));
	list_push_back(&a->customs, &c->link);
}

void resources_del(struct apiserver *a, const char *crd_name)
{
	size_t len = strlen(crd_name);

	list_for_each (c, &a->customs, struct custom, link)
		if (strncmp(c->r.key, crd_name, len) == 0 && strcmp(c->r.key + len, "/") == 0)
			custom_free(c);
}

void resources_put(struct apiserver *a, const json_t *crd)
{
	size_t i;
	json_t *version;

	resources_del(a, json_str_at(crd, "metadata", "name"));
	json_array_foreach (json_at(crd, "spec", "versions"), i, version)
		if (json_true_at(version, "served"))
			add_version(a, crd, version);
}

static bool load_one(const struct store_entry *e, void *arg)
{
	struct err err;
	OWN_JSON crd = json_parse(e->value, e->value_len, &err);

	if (crd)
		resources_put(arg, crd);
	return true;
}

void resources_load(struct apiserver *a)
{
	store_list(a->store, "customresourcedefinitions.apiextensions.k8s.io/", NULL, 0, load_one,
		   a);
}

void resources_free(struct apiserver *a)
{
	list_for_each (c, &a->customs, struct custom, link)
		custom_free(c);
}

bool resource_is_crd(const struct resource *r)
{
	return r == &builtin[NBUILTIN - 1];
}

static json_t *condition(const char *type, const char *reason, const char *now)
{
	return json_pack("{s:s, s:s, s:s, s:s, s:s}", "type", type, "status", "True",
			 "lastTransitionTime", now, "reason", reason, "message", "");
}

int resource_crd_check(json_t *crd, int64_t wall_ms, struct fault *f)
{
	const char *name = json_str_at(crd, "metadata", "name"),
		   *group = json_str_at(crd, "spec", "group");
	const char *scope = json_str_at(crd, "spec", "scope");
	json_t *names = json_at(crd, "spec", "names"), *versions = json_at(crd, "spec", "versions"),
	       *version;
	const char *plural = json_str_at(names, "plural"), *kind = json_str_at(names, "kind");
	const char *storage = NULL;
	char time[STR_TIME_SIZE], want[600];
	size_t i;

	if (!str_is_dns_subdomain(str_or(group, "")) || !str_is_dns_label(str_or(plural, "")) ||
	    str_empty(kind))
		return fault_set(f, FAULT_INVALID,
				 "spec: group, names.plural and names.kind are required");
	if (!str_format(want, sizeof(want), "%s.%s", plural, group) || !str_eq(name, want))
		return fault_set(f, FAULT_INVALID,
				 "metadata.name: must be spec.names.plural+\".\"+spec.group");
	if (!str_eq(scope, "Namespaced") && !str_eq(scope, "Cluster"))
		return fault_set(f, FAULT_INVALID, "spec.scope: want Namespaced or Cluster");
	for (size_t k = 0; k < NBUILTIN; k++)
		if (str_eq(builtin[k].group, group))
			return fault_set(f, FAULT_INVALID, "spec.group: %s is built in", group);
	json_array_foreach (versions, i, version) {
		if (!str_is_dns_label(str_or(json_str_at(version, "name"), "")))
			return fault_set(f, FAULT_INVALID,
					 "spec.versions[%zu].name: want a DNS label", i);
		if (!json_true_at(version, "storage"))
			continue;
		if (storage)
			return fault_set(f, FAULT_INVALID,
					 "spec.versions: must have exactly one storage version");
		storage = json_str_at(version, "name");
	}
	if (!storage)
		return fault_set(f, FAULT_INVALID,
				 "spec.versions: must have exactly one storage version");

	if (!json_at(crd, "spec", "conversion"))
		json_object_set_new(json_object_get(crd, "spec"), "conversion",
				    json_pack("{s:s}", "strategy", "None"));
	if (!json_object_get(names, "listKind"))
		json_object_set_new(names, "listKind", json_sprintf("%sList", kind));
	/* Set the conditions at once. kube-apiserver sets them within a second; this server serves
	 * the new kind from the next request on. */
	str_time(time, wall_ms);
	json_t *accepted = json_deep_copy(names);

	if (!json_object_get(accepted, "singular")) {
		char *lower = mem_strdup(kind);

		for (char *c = lower; *c; c++)
			*c = *c >= 'A' && *c <= 'Z' ? (char)(*c - 'A' + 'a') : *c;
		json_object_set_new(accepted, "singular", json_string(lower));
		json_object_set_new(names, "singular", json_string(lower));
		free(lower);
	}
	if (json_at(crd, "status", "conditions")) {
		json_object_set_new(json_at(crd, "status"), "acceptedNames", accepted);
		return 0;
	}
	json_object_set_new(crd, "status",
			    json_pack("{s:[o,o], s:o, s:[s]}", "conditions",
				      condition("NamesAccepted", "NoConflicts", time),
				      condition("Established", "InitialNamesAccepted", time),
				      "acceptedNames", accepted, "storedVersions", storage));
	return 0;
}
