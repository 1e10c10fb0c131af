#include "tests/unit/kube/apiserver/api_rig.h"

#include <stdio.h>
#include <stdlib.h>
#include "base/mem.h"
#include "base/str.h"

#define PODS "/api/v1/namespaces/default/pods"
#define NODES "/api/v1/nodes"
#define CRDS "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
#define THINGS "/apis/example.dev/v1/namespaces/default/things"

static int setup(void **state)
{
	struct api *r = mem_new(struct api);

	api_start(r, &(struct apiserver_spec){.checks = true, .schemas = true}, 1000);
	*state = r;
	return 0;
}

static void pod(struct api *r, const char *query, const char *meta, const char *container,
		const char *spec)
{
	char path[100], body[600];

	snprintf(path, sizeof(path), PODS "%s", query);
	snprintf(body, sizeof(body),
		 "{'metadata':{'name':'p'%s},'spec':{'containers':[{'name':'c','image':'i'%s}]%s}}",
		 meta, container, spec);
	api_do(r, "POST", path, body);
}

static void fields_that_a_kind_does_not_have_are_refused_told_or_dropped(void **state)
{
	struct api *r = *state;

	pod(r, "?fieldValidation=Strict", "", ",'imagee':'x'", ",'bogus':1");
	assert_status(r, 400);
	assert_string_equal(
		api_str(r, "message"),
		"Pod in version \"v1\" cannot be handled as a Pod: strict decoding error: unknown "
		"field \"spec.containers[0].imagee\", unknown field \"spec.bogus\"");
	pod(r, "?fieldValidation=Sometimes", "", "", "");
	assert_status(r, 422);
	pod(r, "?fieldValidation=Ignore", "", "", ",'bogus':1");
	assert_status(r, 201);
	assert_string_equal(r->warning, "");
	assert_int_equal(api_int(r, "spec.bogus"), -1);
	api_patch(r, "merge-patch+json", PODS "/p",
		  "{'metadata':{'labelz':{'a':'b'},'labels':{'a':'b'}}}");
	assert_status(r, 200);
	assert_string_equal(r->warning, "299 - \"unknown field \\\"metadata.labelz\\\"\"");
	assert_string_equal(api_str(r, "metadata.labels.a"), "b");
	api_patch(r, "merge-patch+json", PODS "/p?fieldValidation=Strict",
		  "{'metadata':{'labelz':{'a':'b'}}}");
	assert_status(r, 400);
	pod(r, "?fieldValidation=Strict", ",'namespace':'default','annotations':{'any.dev/x':'y'}",
	    ",'resources':{'limits':{'nvidia.com/gpu':'8','cpu':1.5}},"
	    "'env':[{'name':'A','value':'b'}]",
	    ",'volumes':[{'name':'v','azureDisk':{'diskName':'d'}}],"
	    "'affinity':{'nodeAffinity':{}}");
	assert_status(r, 409); /* a conflict, not a complaint about an unknown field */
}

static void values_of_another_type_are_refused(void **state)
{
	struct api *r = *state;
	static const struct {
		const char *meta, *container, *spec, *says;
	} cases[] = {
		{"", "", ",'priority':'high'", "spec.priority: want a whole number"},
		{"", "", ",'hostNetwork':1", "spec.hostNetwork: want true or false"},
		{"", ",'args':'x'", "", "spec.containers[0].args: want a list"},
		{"", ",'args':[1]", "", "spec.containers[0].args[0]: want a string"},
		{"", ",'resources':{'limits':{'cpu':'many'}}", "",
		 "spec.containers[0].resources.limits.cpu: want a quantity"},
		{"", "", ",'nodeSelector':'x'", "spec.nodeSelector: want an object"},
		{"", "", ",'affinity':[]", "spec.affinity: want an object"},
		{",'creationTimestamp':'today'", "", "",
		 "metadata.creationTimestamp: want a time in RFC 3339"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		pod(r, "", cases[i].meta, cases[i].container, cases[i].spec);
		assert_status(r, 400);
		assert_string_equal(api_str(r, "message"), cases[i].says);
	}
}

static void custom_kinds_are_read_by_their_schema(void **state)
{
	struct api *r = *state;

	api_do(r, "POST", CRDS,
	       "{'metadata':{'name':'things.example.dev'},"
	       "'spec':{'group':'example.dev','scope':'Namespaced',"
	       "'names':{'plural':'things','kind':'Thing'},"
	       "'versions':[{'name':'v1','served':true,'storage':true,"
	       "'schema':{'openAPIV3Schema':{'type':'object',"
	       "'properties':{'spec':{'type':'object','properties':{"
	       "'size':{'type':'integer'},"
	       "'list':{'type':'array','items':{'type':'object','properties':{"
	       "'a':{'type':'string'}}}},"
	       "'any':{'type':'object','x-kubernetes-preserve-unknown-fields':true}"
	       "}}}}}}]}}");
	assert_status(r, 201);
	api_do(r, "POST", THINGS "?fieldValidation=Strict",
	       "{'metadata':{'name':'t'},"
	       "'spec':{'size':1,'sizes':2,'list':[{'b':1}],'any':{'x':1}}}");
	assert_status(r, 400);
	assert_non_null(strstr(api_str(r, "message"),
			       "unknown field \"spec.sizes\", unknown field \"spec.list[0].b\""));
	assert_null(strstr(api_str(r, "message"), "any"));
	api_do(r, "POST", THINGS "?fieldValidation=Strict",
	       "{'metadata':{'name':'t','labelz':{}},'spec':{}}");
	assert_status(r, 400);
	api_do(r, "POST", THINGS, "{'metadata':{'name':'t'},'spec':{'size':1,'sizes':2}}");
	assert_status(r, 201);
	assert_non_null(strstr(r->warning, "spec.sizes"));
	assert_int_equal(api_int(r, "spec.sizes"), -1);
}

static void hostile_bodies_are_refused_with_a_clear_text(void **state)
{
	struct api *r = *state;
	char *deep = mem_calloc(1, 400), *large = mem_calloc(1, (4 << 20) + 1);

	memset(deep, '[', 300);
	memset(large, ' ', 4 << 20);
	api_raw(r, "POST", PODS, "application/json", deep);
	assert_status(r, 400);
	api_raw(r, "POST", PODS, "application/json", large);
	assert_status(r, 413);
	api_raw(r, "POST", PODS, "application/json", "{\"metadata\":{},\"metadata\":{}}");
	assert_status(r, 400);
	assert_non_null(strstr(api_str(r, "message"), "duplicate"));
	api_raw(r, "POST", PODS, "application/json", "{\"metadata\":{\"name\":\"\xff\xfe\"}}");
	assert_status(r, 400);
	assert_non_null(strstr(api_str(r, "message"), "0xff"));
	api_raw(r, "POST", PODS, "application/json", "[]");
	assert_status(r, 400);
	api_raw(r, "POST", PODS, "application/json", "");
	assert_status(r, 400);
	api_raw(r, "POST", PODS, "application/json", "{\"metadata\":[]}");
	assert_status(r, 400);
	api_raw(r, "POST", PODS, "application/json", "{\"metadata\":{\"name\":\"a\"}} x");
	assert_status(r, 400);
	free(deep);
	free(large);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, api_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(fields_that_a_kind_does_not_have_are_refused_told_or_dropped),
		CASE(values_of_another_type_are_refused),
		CASE(custom_kinds_are_read_by_their_schema),
		CASE(hostile_bodies_are_refused_with_a_clear_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
