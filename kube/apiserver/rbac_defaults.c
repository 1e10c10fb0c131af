#include <string.h>
#include "base/str.h"
#include "kube/apiserver/server.h"

/*
 * Default roles of every cluster (Kubernetes documentation, "Using RBAC Authorization"), limited to
 * the kinds served here. system:node reads no Secrets and creates no tokens, because this server
 * has no admission plugin that restricts a node to its own pods.
 * Tests: tests/unit/kube/apiserver/test_auth.c
 */
static const struct {
	/* labels: JSON text of the labels by which aggregated roles select this role. */
	const char *name, *labels;
	/* JSON text with the rules, or with an aggregationRule. */
	const char *body;
} roles[] = {
	{"cluster-admin", "{}",
	 "{\"rules\":[{\"apiGroups\":[\"*\"],\"resources\":[\"*\"],\"verbs\":[\"*\"]},"
	 "{\"nonResourceURLs\":[\"*\"],\"verbs\":[\"*\"]}]}"},
	{"system:discovery", "{}",
	 "{\"rules\":[{\"nonResourceURLs\":[\"/api\",\"/api/*\",\"/apis\",\"/apis/*\",\"/healthz\","
	 "\"/livez\",\"/openapi\",\"/openapi/*\",\"/readyz\",\"/version\",\"/version/\"],"
	 "\"verbs\":[\"get\"]}]}"},
	{"system:basic-user", "{}",
	 "{\"rules\":[{\"apiGroups\":[\"authorization.k8s.io\"],"
	 "\"resources\":[\"selfsubjectaccessreviews\",\"selfsubjectrulesreviews\"],"
	 "\"verbs\":[\"create\"]},{\"apiGroups\":[\"authentication.k8s.io\"],"
	 "\"resources\":[\"selfsubjectreviews\"],\"verbs\":[\"create\"]}]}"},
	{"system:public-info-viewer", "{}",
	 "{\"rules\":[{\"nonResourceURLs\":[\"/healthz\",\"/livez\",\"/readyz\",\"/version\","
	 "\"/version/\"],\"verbs\":[\"get\"]}]}"},
	{"system:auth-delegator", "{}",
	 "{\"rules\":[{\"apiGroups\":[\"authentication.k8s.io\"],\"resources\":[\"tokenreviews\"],"
	 "\"verbs\":[\"create\"]},{\"apiGroups\":[\"authorization.k8s.io\"],"
	 "\"resources\":[\"subjectaccessreviews\"],\"verbs\":[\"create\"]}]}"},
	{"admin", "{}",
	 "{\"aggregationRule\":{\"clusterRoleSelectors\":[{\"matchLabels\":"
	 "{\"rbac.authorization.k8s.io/aggregate-to-admin\":\"true\"}}]}}"},
	{"edit", "{}",
	 "{\"aggregationRule\":{\"clusterRoleSelectors\":[{\"matchLabels\":"
	 "{\"rbac.authorization.k8s.io/aggregate-to-edit\":\"true\"}}]}}"},
	{"view", "{}",
	 "{\"aggregationRule\":{\"clusterRoleSelectors\":[{\"matchLabels\":"
	 "{\"rbac.authorization.k8s.io/aggregate-to-view\":\"true\"}}]}}"},
	{"system:aggregate-to-admin", "{\"rbac.authorization.k8s.io/aggregate-to-admin\":\"true\"}",
	 "{\"rules\":[{\"apiGroups\":[\"authorization.k8s.io\"],"
	 "\"resources\":[\"localsubjectaccessreviews\"],\"verbs\":[\"create\"]},"
	 "{\"apiGroups\":[\"rbac.authorization.k8s.io\"],"
	 "\"resources\":[\"roles\",\"rolebindings\"],"
	 "\"verbs\":[\"create\",\"delete\",\"deletecollection\",\"get\",\"list\",\"patch\","
	 "\"update\",\"watch\"]}]}"},
	{"system:aggregate-to-edit",
	 "{\"rbac.authorization.k8s.io/aggregate-to-admin\":\"true\","
	 "\"rbac.authorization.k8s.io/aggregate-to-edit\":\"true\"}",
	 "{\"rules\":[{\"apiGroups\":[\"\"],\"resources\":[\"pods\",\"secrets\",\"configmaps\","
	 "\"serviceaccounts\",\"services\",\"persistentvolumeclaims\",\"events\"],"
	 "\"verbs\":[\"create\",\"delete\",\"deletecollection\",\"get\",\"list\",\"patch\","
	 "\"update\",\"watch\"]},{\"apiGroups\":[\"\"],\"resources\":[\"pods/eviction\","
	 "\"serviceaccounts/token\"],\"verbs\":[\"create\"]},{\"apiGroups\":[\"\"],"
	 "\"resources\":[\"serviceaccounts\"],\"verbs\":[\"impersonate\"]},"
	 "{\"apiGroups\":[\"apps\",\"batch\",\"policy\"],\"resources\":[\"daemonsets\","
	 "\"deployments\",\"deployments/scale\",\"replicasets\",\"replicasets/scale\","
	 "\"statefulsets\",\"statefulsets/scale\",\"jobs\",\"poddisruptionbudgets\"],"
	 "\"verbs\":[\"create\",\"delete\",\"deletecollection\",\"patch\",\"update\"]},"
	 "{\"apiGroups\":[\"coordination.k8s.io\"],\"resources\":[\"leases\"],"
	 "\"verbs\":[\"create\",\"delete\",\"deletecollection\",\"get\",\"list\",\"patch\","
	 "\"update\",\"watch\"]}]}"},
	{"system:aggregate-to-view",
	 "{\"rbac.authorization.k8s.io/aggregate-to-admin\":\"true\","
	 "\"rbac.authorization.k8s.io/aggregate-to-edit\":\"true\","
	 "\"rbac.authorization.k8s.io/aggregate-to-view\":\"true\"}",
	 "{\"rules\":[{\"apiGroups\":[\"\"],\"resources\":[\"pods\",\"pods/status\",\"configmaps\","
	 "\"serviceaccounts\",\"services\",\"services/status\",\"persistentvolumeclaims\","
	 "\"persistentvolumeclaims/status\",\"events\",\"namespaces\",\"resourcequotas\","
	 "\"resourcequotas/status\"],\"verbs\":[\"get\",\"list\",\"watch\"]},"
	 "{\"apiGroups\":[\"apps\",\"batch\",\"policy\",\"events.k8s.io\"],\"resources\":[\"*\"],"
	 "\"verbs\":[\"get\",\"list\",\"watch\"]}]}"},
	{"system:node", "{}",
	 "{\"rules\":[{\"apiGroups\":[\"\"],\"resources\":[\"nodes\"],"
	 "\"verbs\":[\"create\",\"get\",\"list\",\"watch\",\"patch\",\"update\"]},"
	 "{\"apiGroups\":[\"\"],\"resources\":[\"nodes/status\",\"pods/status\"],"
	 "\"verbs\":[\"patch\",\"update\"]},"
	 "{\"apiGroups\":[\"\"],\"resources\":[\"pods\"],"
	 "\"verbs\":[\"get\",\"list\",\"watch\",\"create\",\"delete\"]},"
	 "{\"apiGroups\":[\"\"],\"resources\":[\"pods/eviction\"],\"verbs\":[\"create\"]},"
	 "{\"apiGroups\":[\"\"],\"resources\":[\"configmaps\",\"services\",\"namespaces\","
	 "\"persistentvolumes\",\"persistentvolumeclaims\"],"
	 "\"verbs\":[\"get\",\"list\",\"watch\"]},"
	 "{\"apiGroups\":[\"\",\"events.k8s.io\"],\"resources\":[\"events\"],"
	 "\"verbs\":[\"create\",\"patch\",\"update\"]},"
	 "{\"apiGroups\":[\"coordination.k8s.io\"],\"resources\":[\"leases\"],"
	 "\"verbs\":[\"create\",\"delete\",\"get\",\"patch\",\"update\"]},"
	 "{\"apiGroups\":[\"storage.k8s.io\"],\"resources\":[\"volumeattachments\"],"
	 "\"verbs\":[\"get\"]},"
	 "{\"apiGroups\":[\"authentication.k8s.io\"],\"resources\":[\"tokenreviews\"],"
	 "\"verbs\":[\"create\"]},"
	 "{\"apiGroups\":[\"authorization.k8s.io\"],"
	 "\"resources\":[\"subjectaccessreviews\",\"localsubjectaccessreviews\"],"
	 "\"verbs\":[\"create\"]}]}"},
};

/* Default bindings. This server signs no certificates, so a node goes on using its bootstrap token:
 * the group of bootstrap tokens gets the role of nodes. */
static const struct {
	const char *role;
	const char *group[3];
} bindings[] = {
	{"cluster-admin", {"system:masters"}},
	{"system:discovery", {"system:authenticated"}},
	{"system:basic-user", {"system:authenticated"}},
	{"system:public-info-viewer", {"system:authenticated", "system:unauthenticated"}},
	{"system:node", {"system:nodes", "system:bootstrappers"}},
};

static json_t *object_of(const char *kind, const char *name, const char *labels)
{
	struct err e;
	json_t *map = json_parse(labels, strlen(labels), &e);

	json_object_set_new(map, "kubernetes.io/bootstrapping", json_string("rbac-defaults"));
	return json_pack("{s:s, s:s, s:{s:s, s:o}}", "apiVersion", "rbac.authorization.k8s.io/v1",
			 "kind", kind, "metadata", "name", name, "labels", map);
}

void rbac_create_defaults(struct apiserver *a)
{
	struct err e;

	for (size_t i = 0; i < sizeof(roles) / sizeof(*roles); i++) {
		OWN_JSON obj = object_of("ClusterRole", roles[i].name, roles[i].labels);
		OWN_JSON body = json_parse(roles[i].body, strlen(roles[i].body), &e);

		json_object_update(obj, body);
		apiserver_create(a, "rbac.authorization.k8s.io", "clusterroles", obj);
	}
	for (size_t i = 0; i < sizeof(bindings) / sizeof(*bindings); i++) {
		OWN_JSON obj = object_of("ClusterRoleBinding", bindings[i].role, "{}");
		json_t *subjects = json_array();

		for (const char *const *g = bindings[i].group; *g; g++)
			json_array_append_new(
				subjects, json_pack("{s:s, s:s, s:s}", "kind", "Group", "apiGroup",
						    "rbac.authorization.k8s.io", "name", *g));
		json_object_set_new(obj, "subjects", subjects);
		json_object_set_new(obj, "roleRef",
				    json_pack("{s:s, s:s, s:s}", "apiGroup",
					      "rbac.authorization.k8s.io", "kind", "ClusterRole",
					      "name", bindings[i].role));
		apiserver_create(a, "rbac.authorization.k8s.io", "clusterrolebindings", obj);
	}
}
