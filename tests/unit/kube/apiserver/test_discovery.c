#include "tests/unit/kube/apiserver/api_rig.h"

#include <stdio.h>
#include "base/str.h"
#include "kube/apiserver/messages.h"

static bool lists(struct api *r, const char *list, const char *member, const char *value)
{
	for (int i = 0; i < (int)api_int(r, list); i++) {
		char path[128];

		snprintf(path, sizeof(path), "%s.%d.%s", list, i, member);
		if (str_eq(api_str(r, path), value))
			return true;
	}
	return false;
}

static void groups_versions_and_resources_are_listed(void **state)
{
	struct api *r = *state;

	api_do(r, "GET", "/api", NULL);
	assert_string_equal(api_str(r, "versions.0"), "v1");
	api_do(r, "GET", "/api/v1", NULL);
	assert_string_equal(api_str(r, "kind"), "APIResourceList");
	assert_true(lists(r, "resources", "name", "pods"));
	assert_true(lists(r, "resources", "name", "pods/status"));
	assert_true(lists(r, "resources", "name", "pods/eviction"));
	assert_false(lists(r, "resources", "name", "secrets/status"));
	assert_false(lists(r, "resources", "name", "leases"));
	api_do(r, "GET", "/apis", NULL);
	assert_true(lists(r, "groups", "name", "apps"));
	assert_true(lists(r, "groups", "name", "coordination.k8s.io"));
	assert_false(lists(r, "groups", "name", "example.dev"));
	api_do(r, "GET", "/apis/policy", NULL);
	assert_string_equal(api_str(r, "preferredVersion.groupVersion"), "policy/v1");
	api_do(r, "GET", "/apis/policy/v1", NULL);
	assert_string_equal(api_str(r, "groupVersion"), "policy/v1");
	assert_string_equal(api_str(r, "resources.0.shortNames.0"), "pdb");
	api_do(r, "GET", "/apis/policy/v2", NULL);
	assert_status(r, 404);
	api_do(r, "GET", "/apis/none", NULL);
	assert_status(r, 404);
	api_do(r, "POST", "/apis", "{}");
	assert_status(r, 405);
}

static void one_answer_says_it_all_to_who_asks_for_it(void **state)
{
	struct api *r = *state;

	r->accept = "application/json;g=apidiscovery.k8s.io;v=v2;"
		    "as=APIGroupDiscoveryList,application/json";
	api_do(r, "GET", "/api", NULL);
	assert_string_equal(api_str(r, "kind"), "APIGroupDiscoveryList");
	assert_int_equal(api_int(r, "items"), 1);
	assert_string_equal(api_str(r, "items.0.versions.0.resources.0.resource"), "pods");
	assert_true(
		lists(r, "items.0.versions.0.resources.0.subresources", "subresource", "eviction"));
	assert_string_equal(api_str(r, "items.0.versions.0.resources.0.categories.0"), "all");
	api_do(r, "GET", "/apis", NULL);
	assert_true(lists(r, "items", "metadata.name", "apps"));
	assert_false(lists(r, "items", "metadata.name", ""));
	api_do(r, "GET", "/apis/apps", NULL);
	assert_string_equal(api_str(r, "kind"), "APIGroup");
	r->accept = "application/json;g=apidiscovery.k8s.io;v=v9;"
		    "as=APIGroupDiscoveryList,application/json";
	api_do(r, "GET", "/apis", NULL);
	assert_string_equal(api_str(r, "kind"), "APIGroupList");
	r->accept = NULL;
}

static void a_definition_appears_in_discovery(void **state)
{
	struct api *r = *state;

	api_do(r, "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
	       "{'metadata':{'name':'things.example.dev'},"
	       "'spec':{'group':'example.dev','scope':'Cluster',"
	       "'names':{'plural':'things','kind':'Thing','shortNames':['th','tg']},'versions':["
	       "{'name':'v1','served':true,'storage':true},"
	       "{'name':'v0','served':false,'storage':false},"
	       "{'name':'v2','served':true,'storage':false}]}}");
	assert_status(r, 201);
	api_do(r, "GET", "/apis/example.dev", NULL);
	assert_int_equal(api_int(r, "versions"), 2);
	api_do(r, "GET", "/apis/example.dev/v1", NULL);
	assert_string_equal(api_str(r, "resources.0.name"), "things");
	assert_string_equal(api_str(r, "resources.0.singularName"), "thing");
	assert_string_equal(api_str(r, "resources.0.shortNames.1"), "tg");
	api_do(r, "GET", "/apis/example.dev/v0", NULL);
	assert_status(r, 404);
	/* One version is no longer served, and another one now is. */
	api_patch(r, "json-patch+json",
		  "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/things.example.dev",
		  "[{'op':'replace','path':'/spec/versions/1/served','value':true},"
		  "{'op':'replace','path':'/spec/versions/2/served','value':false}]");
	assert_status(r, 200);
	api_do(r, "GET", "/apis/example.dev/v0", NULL);
	assert_int_equal(api_int(r, "resources"), 1);
	api_do(r, "GET", "/apis/example.dev/v2", NULL);
	assert_status(r, 404);
	api_do(r, "GET", "/apis/example.dev/v1", NULL);
	assert_int_equal(api_int(r, "resources"), 1);
}

static void version_and_health_are_told(void **state)
{
	struct api *r = *state;

	api_do(r, "GET", "/version", NULL);
	assert_string_equal(api_str(r, "gitVersion"), "v1.33.0");
	assert_string_equal(api_str(r, "major"), "1");
	assert_string_equal(api_str(r, "minor"), "33");
	api_do(r, "GET", "/readyz", NULL);
	assert_string_equal(r->text, "ok");
}

static void openapi_says_that_a_patch_may_ask_for_validation(void **state)
{
	struct api *r = *state;
	json_t *op;

	api_do(r, "GET", "/openapi/v3", NULL);
	assert_status(r, 200);
	assert_string_equal(json_str_at(r->j, "paths", "apis/policy/v1", "serverRelativeURL"),
			    "/openapi/v3/apis/policy/v1");
	api_do(r, "GET", "/openapi/v3/api/v1", NULL);
	assert_status(r, 200);
	op = json_at(r->j, "paths", "/api/v1/namespaces/{namespace}/pods/{name}", "patch");
	assert_string_equal(json_str_at(op, "x-kubernetes-group-version-kind", "kind"), "Pod");
	assert_string_equal(json_str_at(json_array_get(json_at(op, "parameters"), 0), "name"),
			    "fieldValidation");
	assert_non_null(json_at(r->j, "paths", "/api/v1/nodes/{name}", "patch"));
	api_do(r, "GET", "/openapi/v3/apis/none/v1", NULL);
	assert_status(r, 404);
}

static bool has_field(const char *message, const char *name)
{
	struct message_field f;

	for (const char *at = NULL; message_next(message_find(message), &at, &f);)
		if (str_eq(f.name, name))
			return true;
	return false;
}

static void descriptions_are_of_what_there_is_and_in_order(void **state)
{
	static const char *const of[] = {
#define DESCRIPTION(of, text) of,
#include "kube/apiserver/descriptions.def"
	};

	(void)state;
	for (size_t i = 0; i < sizeof(of) / sizeof(*of); i++) {
		char message[128];
		const char *field = strrchr(of[i], '.') + 1;

		if (i && strcmp(of[i - 1], of[i]) >= 0)
			fail_msg("%s stands after %s", of[i], of[i - 1]);
		if (str_starts(of[i], "*.") || message_find(of[i]))
			continue;
		assert_true(str_format(message, sizeof(message), "%.*s", (int)(field - 1 - of[i]),
				       of[i]));
		if (!message_find(message) || !has_field(message, field))
			fail_msg("%s: there is no such field", of[i]);
	}
}

static void openapi_says_what_kinds_and_fields_are(void **state)
{
	struct api *r = *state;
	json_t *pod, *spec, *meta;

	api_do(r, "GET", "/openapi/v3/api/v1", NULL);
	pod = json_at(r->j, "components", "schemas", "io.k8s.api.core.v1.Pod");
	spec = json_at(r->j, "components", "schemas", "io.k8s.api.core.v1.PodSpec", "properties");
	meta = json_at(r->j, "components", "schemas",
		       "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta", "properties");
	assert_string_equal(json_str_at(pod, "description"),
			    "Containers that run together on one node.");
	assert_string_equal(json_str_at(pod, "properties", "spec", "description"),
			    "Desired state.");
	assert_non_null(json_str_at(pod, "properties", "apiVersion", "description"));
	assert_non_null(json_str_at(spec, "nodeName", "description"));
	assert_non_null(json_str_at(meta, "finalizers", "description"));
	assert_null(json_str_at(spec, "setHostnameAsFQDN", "description"));
}

static void an_old_kubectl_gets_an_openapi_v2_without_schemas(void **state)
{
	static const char protobuf[] = "\x0a\x03"
				       "2.0\x12\x0f\x0a\x0aKubernetes\x12\x01"
				       "1";
	struct api *r = *state;

	api_do(r, "GET", "/openapi/v2", NULL);
	assert_status(r, 200);
	assert_string_equal(api_str(r, "swagger"), "2.0");
	r->accept = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";
	api_do(r, "GET", "/openapi/v2", NULL);
	r->accept = NULL;
	assert_status(r, 200);
	assert_string_equal(r->text, protobuf);
}

static const char *admin_only(const struct httpd_req *q, void *arg)
{
	(void)arg;
	return str_eq(httpd_header(q, "Authorization"), "Bearer admin") ? "admin" : NULL;
}

static void on_done(const struct http_reply *reply, const struct err *e, void *arg)
{
	assert_null(e);
	*(int *)arg = reply->status;
}

static void who_is_not_known_is_refused(void **state)
{
	struct api r;
	int status = 0;
	struct secret *token = secret_from_str("admin");
	struct http_call c = {
		.path = "/api/v1/nodes", .bearer = token, .done = on_done, .arg = &status};

	(void)state;
	api_start(&r, &(struct apiserver_spec){.user_of = admin_only, .version = "v1.31.4"}, 100);
	api_do(&r, "GET", "/api/v1/nodes", NULL);
	assert_status(&r, 401);
	assert_string_equal(api_str(&r, "reason"), "Unauthorized");
	http_start(r.p, &c);
	api_run(&r, 1000);
	assert_int_equal(status, 200);
	api_do(&r, "GET", "/version", NULL);
	assert_string_equal(api_str(&r, "minor"), "31");
	secret_free(token);
	api_stop(&r);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, api_setup, api_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(groups_versions_and_resources_are_listed),
		CASE(one_answer_says_it_all_to_who_asks_for_it),
		CASE(a_definition_appears_in_discovery),
		CASE(openapi_says_that_a_patch_may_ask_for_validation),
		CASE(openapi_says_what_kinds_and_fields_are),
		cmocka_unit_test(descriptions_are_of_what_there_is_and_in_order),
		CASE(an_old_kubectl_gets_an_openapi_v2_without_schemas),
		CASE(version_and_health_are_told),
		cmocka_unit_test(who_is_not_known_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
