#include <stdlib.h>
#include <string.h>
#include "base/str.h"
#include "kube/apiserver/amount.h"
#include "kube/apiserver/server.h"

/*
 * Validates built-in kinds by the common rules of kube-apiserver. Only the first error is reported.
 * strict.c has already checked the types of fields.
 */
/* Largest total size of a ConfigMap's or Secret's data, in bytes. */
#define MAX_DATA ((size_t)1 << 20)
/* Largest total size of an object's annotations, in bytes. */
#define MAX_ANNOTATIONS ((size_t)256 << 10)

struct object_check {
	const struct request *rq;
	struct fault *f;
	struct arena *arena;
};

static int invalid(struct object_check *c, const char *path, const char *text)
{
	return fault_set(c->f, FAULT_INVALID, "%s%s%s \"%.253s\" is invalid: %.120s: %.120s",
			 c->rq->r->kind, *c->rq->r->group ? "." : "", c->rq->r->group,
			 str_or(c->rq->name, ""), path, text);
}

static int required(struct object_check *c, const char *path)
{
	return invalid(c, path, "Required value");
}

static const char *at(struct object_check *c, const char *path, size_t i, const char *member)
{
	return arena_printf(c->arena, "%s[%zu]%s%s", path, i, *member ? "." : "", member);
}

/* Checks that value is one of the words in choices, which are separated by spaces. path: location
 * of value, for the error message. */
static int check_choice(struct object_check *c, const char *value, const char *choices,
			const char *path)
{
	char *rest = arena_strdup(c->arena, choices);

	if (!value)
		return 0;
	for (char *one; (one = strsep(&rest, " "));)
		if (str_eq(one, value))
			return 0;
	return invalid(c, path,
		       arena_printf(c->arena, "Unsupported value: \"%.60s\": supported values: %s",
				    value, choices));
}

/* --- metadata --------------------------------------------------------------------------------- */

static int check_metadata(struct object_check *c, const json_t *meta)
{
	static const char *const members[] = {"apiVersion", "kind", "name", "uid"};
	size_t size = 0, i;
	const char *key;
	json_t *v;

	json_object_foreach (json_object_get(meta, "annotations"), key, v)
		size += strlen(key) + json_string_length(v);
	if (size > MAX_ANNOTATIONS)
		return invalid(c, "metadata.annotations",
			       "Too long: may not be more than 262144 bytes");
	json_array_foreach (json_object_get(meta, "ownerReferences"), i, v)
		for (size_t k = 0; k < sizeof(members) / sizeof(*members); k++)
			if (str_empty(json_str_at(v, members[k])))
				return required(c,
						at(c, "metadata.ownerReferences", i, members[k]));
	return 0;
}

/* --- pods ------------------------------------------------------------------------------------- */

static int check_resources(struct object_check *c, const json_t *resources, const char *path)
{
	const char *name;
	json_t *asked;

	json_object_foreach (json_object_get(resources, "requests"), name, asked) {
		const char *limit = json_str_at(resources, "limits", name);
		const char *q = json_string_value(asked);

		if (q && limit && amount_exceeds(q, limit))
			return invalid(c, arena_printf(c->arena, "%s.requests", path),
				       arena_printf(c->arena,
						    "Invalid value: \"%.30s\": must be less than "
						    "or equal to %.60s limit of %.30s",
						    q, name, limit));
		if (q && amount_exceeds("0", q))
			return invalid(c, arena_printf(c->arena, "%s.requests", path),
				       "Invalid value: must be greater than or equal to 0");
	}
	return 0;
}

static int check_port(struct object_check *c, const json_t *port, const char *path)
{
	json_int_t n = json_integer_value(port);

	return !port || (n >= 1 && n <= 65535)
		       ? 0
		       : invalid(c, path, "Invalid value: must be between 1 and 65535, inclusive");
}

static int check_container(struct object_check *c, const json_t *container, const char *path)
{
	const char *name = json_str_at(container, "name");
	size_t i;
	json_t *v;

	if (str_empty(name))
		return required(c, arena_printf(c->arena, "%s.name", path));
	if (!str_is_dns_label(name))
		return invalid(c, arena_printf(c->arena, "%s.name", path),
			       "Invalid value: a lowercase RFC 1123 label is wanted");
	if (str_empty(json_str_at(container, "image")))
		return required(c, arena_printf(c->arena, "%s.image", path));
	json_array_foreach (json_object_get(container, "ports"), i, v)
		if (check_port(c, json_object_get(v, "containerPort"),
			       arena_printf(c->arena, "%s.ports[%zu].containerPort", path, i)) < 0)
			return -1;
	if (check_choice(c, json_str_at(container, "imagePullPolicy"), "Always IfNotPresent Never",
			 arena_printf(c->arena, "%s.imagePullPolicy", path)) < 0)
		return -1;
	return check_resources(c, json_object_get(container, "resources"),
			       arena_printf(c->arena, "%s.resources", path));
}

static int check_containers(struct object_check *c, const json_t *list, const char *path)
{
	size_t i, k;
	json_t *v;

	json_array_foreach (list, i, v) {
		if (check_container(c, v, at(c, path, i, "")) < 0)
			return -1;
		for (k = 0; k < i; k++)
			if (str_eq(json_str_at(json_array_get(list, k), "name"),
				   json_str_at(v, "name")))
				return invalid(c, at(c, path, i, "name"), "Duplicate value");
	}
	return 0;
}

static int check_toleration(struct object_check *c, const json_t *t, const char *path)
{
	const char *op = str_or(json_str_at(t, "operator"), "");
	int64_t n;

	if (check_choice(c, op, " Equal Exists Gt Lt",
			 arena_printf(c->arena, "%s.operator", path)) < 0 ||
	    check_choice(c, json_str_at(t, "effect"), " NoSchedule PreferNoSchedule NoExecute",
			 arena_printf(c->arena, "%s.effect", path)) < 0)
		return -1;
	if (str_empty(json_str_at(t, "key")) && !str_eq(op, "Exists"))
		return invalid(c, arena_printf(c->arena, "%s.operator", path),
			       "Invalid value: must be Exists when `key` is empty");
	if ((str_eq(op, "Gt") || str_eq(op, "Lt")) &&
	    !str_to_canonical_i64(json_str_at(t, "value"), &n))
		return invalid(c, arena_printf(c->arena, "%s.value", path),
			       "Invalid value: a decimal integer is wanted");
	return 0;
}

static int check_pod_spec(struct object_check *c, const json_t *spec, const char *path)
{
	const char *node = json_str_at(spec, "nodeName");
	size_t i;
	json_t *v;

	if (json_array_size(json_object_get(spec, "containers")) == 0)
		return required(c, arena_printf(c->arena, "%s.containers", path));
	if (check_containers(c, json_object_get(spec, "containers"),
			     arena_printf(c->arena, "%s.containers", path)) < 0 ||
	    check_containers(c, json_object_get(spec, "initContainers"),
			     arena_printf(c->arena, "%s.initContainers", path)) < 0 ||
	    check_choice(c, json_str_at(spec, "restartPolicy"), "Always OnFailure Never",
			 arena_printf(c->arena, "%s.restartPolicy", path)) < 0)
		return -1;
	if (!str_empty(node) && !str_is_dns_subdomain(node))
		return invalid(c, arena_printf(c->arena, "%s.nodeName", path),
			       "Invalid value: a lowercase RFC 1123 subdomain is wanted");
	json_array_foreach (json_object_get(spec, "tolerations"), i, v)
		if (check_toleration(c, v, arena_printf(c->arena, "%s.tolerations[%zu]", path, i)) <
		    0)
			return -1;
	return 0;
}

static int check_pod(struct object_check *c, const json_t *pod)
{
	return check_pod_spec(c, json_object_get(pod, "spec"), "spec");
}

/* --- nodes, budgets, services, leases --------------------------------------------------------- */

static int check_node(struct object_check *c, const json_t *node)
{
	const json_t *taints = json_at(node, "spec", "taints");
	size_t i, k;
	json_t *v;

	json_array_foreach (taints, i, v) {
		if (!str_is_qualified_name(str_or(json_str_at(v, "key"), "")))
			return invalid(c, at(c, "spec.taints", i, "key"),
				       "Invalid value: a qualified name is wanted");
		if (!str_is_label_value(str_or(json_str_at(v, "value"), "")))
			return invalid(c, at(c, "spec.taints", i, "value"),
				       "Invalid value: a label value is wanted");
		if (str_empty(json_str_at(v, "effect")))
			return required(c, at(c, "spec.taints", i, "effect"));
		if (check_choice(c, json_str_at(v, "effect"),
				 "NoSchedule PreferNoSchedule NoExecute",
				 at(c, "spec.taints", i, "effect")) < 0)
			return -1;
		for (k = 0; k < i; k++) {
			const json_t *other = json_array_get(taints, k);

			if (str_eq(json_str_at(other, "key"), json_str_at(v, "key")) &&
			    str_eq(json_str_at(other, "effect"), json_str_at(v, "effect")))
				return invalid(c, at(c, "spec.taints", i, ""),
					       "Duplicate value: taints must be unique "
					       "by key and effect pair");
		}
	}
	return 0;
}

static int check_share(struct object_check *c, const json_t *v, const char *path)
{
	const char *text = json_string_value(v);

	if (json_is_integer(v) && json_integer_value(v) < 0)
		return invalid(c, path, "Invalid value: must be greater than or equal to 0");
	if (!text)
		return 0;

	size_t digits = strspn(text, "0123456789");

	return digits && digits <= 3 && str_eq(text + digits, "%") && strtol(text, NULL, 10) <= 100
		       ? 0
		       : invalid(c, path,
				 "Invalid value: a whole number or a share "
				 "of up to 100% is wanted");
}

static int check_selector(struct object_check *c, const json_t *selector, const char *path)
{
	size_t i;
	json_t *v;

	json_array_foreach (json_object_get(selector, "matchExpressions"), i, v) {
		const char *op = str_or(json_str_at(v, "operator"), "");
		bool bare = str_eq(op, "Exists") || str_eq(op, "DoesNotExist");

		path = arena_printf(c->arena, "%s.matchExpressions[%zu]", path, i);
		if (check_choice(c, op, "In NotIn Exists DoesNotExist",
				 arena_printf(c->arena, "%s.operator", path)) < 0)
			return -1;
		if (bare == (json_array_size(json_object_get(v, "values")) > 0))
			return bare ? invalid(c, arena_printf(c->arena, "%s.values", path),
					      "Forbidden: may not be specified when `operator` is "
					      "'Exists' or 'DoesNotExist'")
				    : required(c, arena_printf(c->arena, "%s.values", path));
	}
	return 0;
}

static int check_budget(struct object_check *c, const json_t *pdb)
{
	const json_t *spec = json_object_get(pdb, "spec");
	const json_t *min = json_object_get(spec, "minAvailable");
	const json_t *max = json_object_get(spec, "maxUnavailable");

	if (min && max)
		return invalid(c, "spec",
			       "Invalid value: minAvailable and maxUnavailable cannot be both set");
	if (check_share(c, min, "spec.minAvailable") < 0 ||
	    check_share(c, max, "spec.maxUnavailable") < 0 ||
	    check_choice(c, json_str_at(spec, "unhealthyPodEvictionPolicy"),
			 "IfHealthyBudget AlwaysAllow", "spec.unhealthyPodEvictionPolicy") < 0)
		return -1;
	return check_selector(c, json_object_get(spec, "selector"), "spec.selector");
}

static int check_service(struct object_check *c, const json_t *service)
{
	const json_t *spec = json_object_get(service, "spec");
	const char *type = str_or(json_str_at(spec, "type"), "ClusterIP");
	size_t i;
	json_t *v;

	if (!str_is_dns_label(str_or(c->rq->name, "")))
		return invalid(c, "metadata.name", "Invalid value: a DNS label is wanted");
	if (check_choice(c, type, "ClusterIP NodePort LoadBalancer ExternalName", "spec.type") < 0)
		return -1;
	if (json_array_size(json_object_get(spec, "ports")) == 0 && !str_eq(type, "ExternalName") &&
	    !str_eq(json_str_at(spec, "clusterIP"), "None"))
		return required(c, "spec.ports");
	json_array_foreach (json_object_get(spec, "ports"), i, v) {
		if (!json_object_get(v, "port"))
			return required(c, at(c, "spec.ports", i, "port"));
		if (check_port(c, json_object_get(v, "port"), at(c, "spec.ports", i, "port")) < 0)
			return -1;
	}
	return 0;
}

static int check_lease(struct object_check *c, const json_t *lease)
{
	const json_t *seconds = json_at(lease, "spec", "leaseDurationSeconds");

	return seconds && json_integer_value(seconds) <= 0
		       ? invalid(c, "spec.leaseDurationSeconds",
				 "Invalid value: must be greater than 0")
		       : 0;
}

static int check_namespace(struct object_check *c, const json_t *ns)
{
	(void)ns;
	return str_is_dns_label(str_or(c->rq->name, ""))
		       ? 0
		       : invalid(c, "metadata.name",
				 "Invalid value: a lowercase RFC 1123 label is wanted");
}

/* --- ConfigMaps, Secrets ---------------------------------------------------------------------- */

static bool is_data_key(const char *key)
{
	return *key && strlen(key) <= 253 && !str_eq(key, ".") && !str_starts(key, "..") &&
	       key[strspn(key,
			  "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.")] ==
		       '\0';
}

static int check_data(struct object_check *c, const json_t *obj)
{
	static const char *const members[] = {"data", "binaryData"};
	size_t size = 0;
	const char *key;
	json_t *v;

	for (size_t i = 0; i < sizeof(members) / sizeof(*members); i++) {
		json_object_foreach (json_object_get(obj, members[i]), key, v) {
			if (!is_data_key(key))
				return invalid(c,
					       arena_printf(c->arena, "%s[%.80s]", members[i], key),
					       "Invalid value: a key is made of letters, "
					       "digits, '-', '_' and '.'");
			size += json_string_length(v);
		}
	}
	return size <= MAX_DATA * 4 / 3
		       ? 0
		       : invalid(c, "data", "Too long: may not be more than 1048576 bytes");
}

/* --- workloads -------------------------------------------------------------------------------- */

static int check_workload(struct object_check *c, const json_t *obj)
{
	const json_t *spec = json_object_get(obj, "spec"), *n = json_object_get(spec, "replicas");
	const json_t *labels = json_at(spec, "template", "metadata", "labels");
	const json_t *selector = json_object_get(spec, "selector");

	if (json_is_integer(n) && json_integer_value(n) < 0)
		return invalid(c, "spec.replicas",
			       "Invalid value: must be greater than or equal to 0");
	if (!selector)
		return required(c, "spec.selector");
	if (check_selector(c, selector, "spec.selector") < 0)
		return -1;
	if (!selector_object_matches(selector, labels))
		return invalid(c, "spec.template.metadata.labels",
			       "Invalid value: `selector` does not match template `labels`");
	return check_pod_spec(c, json_at(spec, "template", "spec"), "spec.template.spec");
}

static int check_job(struct object_check *c, const json_t *job)
{
	const json_t *spec = json_at(job, "spec", "template", "spec");

	if (check_pod_spec(c, spec, "spec.template.spec") < 0)
		return -1;
	return str_eq(str_or(json_str_at(spec, "restartPolicy"), "Always"), "Always")
		       ? invalid(c, "spec.template.spec.restartPolicy",
				 "Required value: valid values: \"OnFailure\", \"Never\"")
		       : 0;
}

/* --- roles ------------------------------------------------------------------------------------ */

static int check_role(struct object_check *c, const json_t *role)
{
	size_t i;
	json_t *v;

	json_array_foreach (json_object_get(role, "rules"), i, v) {
		if (json_array_size(json_object_get(v, "verbs")) == 0)
			return required(c, at(c, "rules", i, "verbs"));
		if (json_array_size(json_object_get(v, "nonResourceURLs")))
			continue;
		if (json_array_size(json_object_get(v, "apiGroups")) == 0)
			return required(c, at(c, "rules", i, "apiGroups"));
		if (json_array_size(json_object_get(v, "resources")) == 0)
			return required(c, at(c, "rules", i, "resources"));
	}
	return 0;
}

static int check_binding(struct object_check *c, const json_t *binding)
{
	size_t i;
	json_t *v;

	if (str_empty(json_str_at(binding, "roleRef", "name")))
		return required(c, "roleRef.name");
	if (check_choice(c, str_or(json_str_at(binding, "roleRef", "kind"), ""), "ClusterRole Role",
			 "roleRef.kind") < 0)
		return -1;
	json_array_foreach (json_object_get(binding, "subjects"), i, v) {
		if (str_empty(json_str_at(v, "name")))
			return required(c, at(c, "subjects", i, "name"));
		if (check_choice(c, str_or(json_str_at(v, "kind"), ""), "User Group ServiceAccount",
				 at(c, "subjects", i, "kind")) < 0)
			return -1;
	}
	return 0;
}

/* --- check of each kind ----------------------------------------------------------------------- */

static const struct {
	const char *kind;
	int (*fn)(struct object_check *c, const json_t *obj);
} checks[] = {
	{"Pod", check_pod},
	{"Node", check_node},
	{"PodDisruptionBudget", check_budget},
	{"Service", check_service},
	{"Lease", check_lease},
	{"Namespace", check_namespace},
	{"ConfigMap", check_data},
	{"Secret", check_data},
	{"Deployment", check_workload},
	{"ReplicaSet", check_workload},
	{"StatefulSet", check_workload},
	{"DaemonSet", check_workload},
	{"Job", check_job},
	{"Role", check_role},
	{"ClusterRole", check_role},
	{"RoleBinding", check_binding},
	{"ClusterRoleBinding", check_binding},
};

int checks_object(const struct request *rq, const json_t *obj, struct fault *f)
{
	struct object_check c = {.rq = rq, .f = f, .arena = rq->arena};

	if (check_metadata(&c, object_meta(obj)) < 0)
		return -1;
	for (size_t i = 0; !rq->r->custom && i < sizeof(checks) / sizeof(*checks); i++)
		if (str_eq(checks[i].kind, rq->r->kind))
			return checks[i].fn(&c, obj);
	return 0;
}

/* --- immutable fields ------------------------------------------------------------------------- */

/* Removes from a pod's spec all members that an update may change (core/v1 ValidatePodUpdate); an
 * update must leave the rest unchanged. */
static void drop_changeable(json_t *spec)
{
	static const char *const lists[] = {"containers", "initContainers"};
	static const char *const members[] = {"activeDeadlineSeconds", "tolerations",
					      "terminationGracePeriodSeconds", "schedulingGates"};
	size_t i;
	json_t *v;

	for (size_t k = 0; k < sizeof(members) / sizeof(*members); k++)
		json_object_del(spec, members[k]);
	for (size_t k = 0; k < sizeof(lists) / sizeof(*lists); k++)
		json_array_foreach (json_object_get(spec, lists[k]), i, v)
			json_object_del(v, "image");
}

static bool same_but_for_images(const json_t *old, const json_t *obj)
{
	OWN_JSON a = json_deep_copy(json_object_get(old, "spec"));
	OWN_JSON b = json_deep_copy(json_object_get(obj, "spec"));

	if (json_array_size(json_object_get(a, "schedulingGates"))) {
		json_object_del(a, "nodeSelector");
		json_object_del(b, "nodeSelector");
		json_object_del(a, "affinity");
		json_object_del(b, "affinity");
	}
	drop_changeable(a);
	drop_changeable(b);
	return json_equal(a, b);
}

static bool same(const json_t *old, const json_t *obj, const char *one, const char *two)
{
	const json_t *a = json_object_get(old, one), *b = json_object_get(obj, one);

	if (two) {
		a = json_object_get(a, two);
		b = json_object_get(b, two);
	}
	return a && b ? json_equal(a, b) : a == b;
}

int checks_change(const struct request *rq, const json_t *old, const json_t *obj, struct fault *f)
{
	struct object_check c = {.rq = rq, .f = f, .arena = rq->arena};
	const char *kind = rq->r->kind;
	bool data = str_eq(kind, "ConfigMap") || str_eq(kind, "Secret");

	if (rq->r->custom)
		return 0;
	if (str_eq(kind, "Pod") && !same_but_for_images(old, obj))
		return invalid(&c, "spec",
			       "Forbidden: pod updates may not change fields other "
			       "than `spec.containers[*].image`,`spec.initContainers[*].image`,"
			       "`spec.activeDeadlineSeconds`,`spec.tolerations`");
	if (str_ends(kind, "Binding") && !same(old, obj, "roleRef", NULL))
		return invalid(&c, "roleRef", "Invalid value: cannot change roleRef");
	if (str_eq(kind, "Secret") && !same(old, obj, "type", NULL))
		return invalid(&c, "type", "Invalid value: field is immutable");
	if (data && json_true_at(old, "immutable") &&
	    !(same(old, obj, "data", NULL) && same(old, obj, "binaryData", NULL) &&
	      json_true_at(obj, "immutable")))
		return invalid(&c, "data", "Forbidden: field is immutable when `immutable` is set");
	if (str_eq(rq->r->group, "apps") && !same(old, obj, "spec", "selector"))
		return invalid(&c, "spec.selector", "Invalid value: field is immutable");
	if (str_eq(kind, "PriorityClass") && !same(old, obj, "value", NULL))
		return invalid(&c, "value", "Forbidden: may not be changed in an update.");
	return 0;
}
