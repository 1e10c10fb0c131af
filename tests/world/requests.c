#include "tests/world/requests.h"

json_t *requests_pod_spec(const char *gpus)
{
	return json_pack("{s:[{s:s,s:s}],s:[{s:s,s:s,s:{s:{s:s}}}]}", "tolerations", "key",
			 "nvidia.com/gpu", "operator", "Exists", "containers", "name", "main",
			 "image", "train:1", "resources", "limits", "nvidia.com/gpu", gpus);
}

void requests_serve(struct sim_world *w, struct cluster *c, const char *gpus)
{
	world_do(w, c, "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
		 json_pack("{s:{s:s},s:{s:s,s:s,s:{s:s,s:s,s:s,s:s},s:[{s:s,s:b,s:b,s:{s:{}},s:{s:{"
			   "s:s,s:b}}}]}}",
			   "metadata", "name", "provisioningrequests.autoscaling.x-k8s.io", "spec",
			   "group", "autoscaling.x-k8s.io", "scope", "Namespaced", "names",
			   "plural", "provisioningrequests", "singular", "provisioningrequest",
			   "kind", "ProvisioningRequest", "listKind", "ProvisioningRequestList",
			   "versions", "name", "v1", "served", 1, "storage", 1, "subresources",
			   "status", "schema", "openAPIV3Schema", "type", "object",
			   "x-kubernetes-preserve-unknown-fields", 1));
	world_do(w, c, "POST", "/api/v1/namespaces/default/podtemplates",
		 json_pack("{s:s,s:s,s:{s:s},s:{s:{s:{s:s}},s:o}}", "apiVersion", "v1", "kind",
			   "PodTemplate", "metadata", "name", "train", "template", "metadata",
			   "labels", "app", "train", "spec", requests_pod_spec(gpus)));
}

void requests_ask(struct sim_world *w, struct cluster *c, const char *name, const char *class_,
		  int count, json_t *parameters)
{
	world_do(w, c, "POST", REQUESTS_PATH,
		 json_pack("{s:s,s:s,s:{s:s},s:{s:s,s:[{s:{s:s},s:i}],s:o}}", "apiVersion",
			   "autoscaling.x-k8s.io/v1", "kind", "ProvisioningRequest", "metadata",
			   "name", name, "spec", "provisioningClassName", class_, "podSets",
			   "podTemplateRef", "name", "train", "count", count, "parameters",
			   parameters ? parameters : json_object()));
}
