#include "tests/unit/kube/apiserver/api_rig.h"

#include <stdio.h>
#include "base/str.h"
#include "kube/apiserver/table.h"

#define TABLE "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"
#define PODS "/api/v1/namespaces/default/pods"
#define WIDGETS "/apis/example.dev/v1/widgets"

static int ask(struct api *r, const char *path)
{
	r->accept = TABLE;
	api_do(r, "GET", path, NULL);
	r->accept = NULL;
	return r->status;
}

static void expect_cells(struct api *r, const char *want)
{
	OWN_JSON cells = json_incref(json_at(json_array_get(json_at(r->j, "rows"), 0), "cells"));
	char *text = cells ? json_text(cells) : NULL;

	assert_non_null(text);
	assert_string_equal(text, want);
	free(text);
}

static void make_pod(struct api *r)
{
	api_do(r, "POST", PODS,
	       "{'metadata':{'name':'p'},"
	       "'spec':{'nodeName':'n1','containers':[{'name':'a'},{'name':'b'}]}}");
	assert_status(r, 201);
	api_patch(r, "merge-patch+json", PODS "/p/status",
		  "{'status':{'phase':'Running','podIP':'10.0.0.1','containerStatuses':["
		  "{'name':'a','ready':true,'restartCount':2,'state':{'running':{}}},"
		  "{'name':'b','ready':false,'restartCount':1,"
		  "'state':{'waiting':{'reason':'CrashLoopBackOff'}}}]}}");
	assert_status(r, 200);
}

static void pods_are_rows_with_what_is_wrong_with_them(void **state)
{
	struct api *r = *state;

	make_pod(r);
	assert_int_equal(ask(r, PODS), 200);
	assert_string_equal(api_str(r, "kind"), "Table");
	assert_string_equal(api_str(r, "columnDefinitions.2.name"), "Status");
	assert_int_equal(api_int(r, "columnDefinitions.5.priority"), 1);
	assert_non_null(api_str(r, "metadata.resourceVersion"));
	expect_cells(r, "[\"p\",\"1/2\",\"CrashLoopBackOff\",\"3\",\"0s\",\"10.0.0.1\",\"n1\","
			"\"<none>\",\"<none>\"]");
	assert_string_equal(api_str(r, "rows.0.object.kind"), "PartialObjectMetadata");
	assert_string_equal(api_str(r, "rows.0.object.metadata.name"), "p");
}

static void one_object_is_a_table_of_one_row(void **state)
{
	struct api *r = *state;

	make_pod(r);
	assert_int_equal(ask(r, PODS "/p?includeObject=Object"), 200);
	assert_int_equal(api_int(r, "rows"), 1);
	assert_string_equal(api_str(r, "rows.0.object.spec.nodeName"), "n1");
	assert_int_equal(ask(r, PODS "/p?includeObject=None"), 200);
	assert_null(strstr(r->text, "\"object\""));
	assert_int_equal(ask(r, PODS "/none"), 404);
	assert_string_equal(api_str(r, "kind"), "Status");
}

static void rows_are_chosen_by_selectors_and_pages(void **state)
{
	struct api *r = *state;

	for (int i = 0; i < 3; i++) {
		char body[128];

		snprintf(body, sizeof(body),
			 "{'metadata':{'name':'c%d','labels':{'odd':'%d'}},'data':{'a':'b'}}", i,
			 i % 2);
		api_do(r, "POST", "/api/v1/namespaces/default/configmaps", body);
		assert_status(r, 201);
	}
	ask(r, "/api/v1/configmaps?labelSelector=odd%3D1");
	assert_int_equal(api_int(r, "rows"), 1);
	expect_cells(r, "[\"c1\",1,\"0s\"]");
	ask(r, "/api/v1/configmaps?limit=2");
	assert_int_equal(api_int(r, "rows"), 2);
	assert_non_null(api_str(r, "metadata.continue"));
}

static void a_definition_says_its_own_columns(void **state)
{
	struct api *r = *state;

	api_do(r, "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
	       "{'metadata':{'name':'widgets.example.dev'},"
	       "'spec':{'group':'example.dev','scope':'Cluster',"
	       "'names':{'plural':'widgets','kind':'Widget'},"
	       "'versions':[{'name':'v1','served':true,'storage':true,"
	       "'schema':{'openAPIV3Schema':{'type':'object',"
	       "'x-kubernetes-preserve-unknown-fields':true}},"
	       "'additionalPrinterColumns':[{'name':'Size','type':'integer',"
	       "'jsonPath':'.spec.size'},{'name':'Ready','type':'string','priority':1,"
	       "'jsonPath':'.conditions[?(@.type==\\'Ready\\')].status'},"
	       "{'name':'Text','type':'integer','jsonPath':'.spec.text'},"
	       "{'name':'Born','type':'date','jsonPath':'.metadata.creationTimestamp'}]}]}}");
	assert_status(r, 201);
	api_do(r, "POST", WIDGETS,
	       "{'apiVersion':'example.dev/v1','kind':'Widget','metadata':{'name':'w'},"
	       "'spec':{'size':3,'text':'x'},"
	       "'conditions':[{'type':'Old','status':'False'},{'type':'Ready','status':'True'}]}");
	assert_status(r, 201);
	ask(r, WIDGETS);
	assert_string_equal(api_str(r, "columnDefinitions.1.name"), "Size");
	assert_int_equal(api_int(r, "columnDefinitions.2.priority"), 1);
	/* The cell of an integer column is null if the value is a text. */
	expect_cells(r, "[\"w\",3,\"True\",null,\"0s\"]");
}

/* kubectl sorts by the objects of the rows. */
static void rows_have_objects_of_the_version_that_was_asked_for(void **state)
{
	struct api *r = *state;

	api_do(r, "POST", "/api/v1/namespaces/default/events",
	       "{'metadata':{'name':'e'},'message':'hi','involvedObject':{'kind':'Pod','name':'p'},"
	       "'lastTimestamp':'2026-01-02T03:04:05Z'}");
	assert_status(r, 201);
	ask(r, "/api/v1/namespaces/default/events?includeObject=Object");
	assert_string_equal(api_str(r, "rows.0.object.lastTimestamp"), "2026-01-02T03:04:05Z");
	ask(r, "/apis/events.k8s.io/v1/namespaces/default/events?includeObject=Object");
	assert_string_equal(api_str(r, "rows.0.cells.3"), "pod/p");
	assert_string_equal(api_str(r, "rows.0.object.apiVersion"), "events.k8s.io/v1");
	assert_string_equal(api_str(r, "rows.0.object.deprecatedLastTimestamp"),
			    "2026-01-02T03:04:05Z");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(pods_are_rows_with_what_is_wrong_with_them,
						api_setup, api_teardown),
		cmocka_unit_test_setup_teardown(one_object_is_a_table_of_one_row, api_setup,
						api_teardown),
		cmocka_unit_test_setup_teardown(rows_are_chosen_by_selectors_and_pages, api_setup,
						api_teardown),
		cmocka_unit_test_setup_teardown(rows_have_objects_of_the_version_that_was_asked_for,
						api_setup, api_teardown),
		cmocka_unit_test_setup_teardown(a_definition_says_its_own_columns, api_setup,
						api_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
