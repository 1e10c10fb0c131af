#include "tests/unit/kube/apiserver/api_rig.h"

#include <stdio.h>
#include <stdlib.h>
#include "base/mem.h"

#define CM "/api/v1/namespaces/default/configmaps"
#define PODS "/api/v1/namespaces/default/pods"
#define PDBS "/apis/policy/v1/namespaces/default/poddisruptionbudgets"
#define CRDS "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
#define CRD                                                                                        \
	"{'metadata':{'name':'things.example.dev'},"                                               \
	"'spec':{'group':'example.dev','scope':'Namespaced',"                                      \
	"'names':{'plural':'things','kind':'Thing'},"                                              \
	"'versions':[{'name':'v1','served':true,'storage':true}]}}"
#define THINGS "/apis/example.dev/v1/namespaces/default/things"

static void expect(struct api *r, const char *path, int status)
{
	api_do(r, "GET", path, NULL);
	if (r->status != status)
		fail_msg("GET %s: want %d, got %d: %s", path, status, r->status, r->text);
}

static void delete_heeds_its_preconditions(void **state)
{
	struct api *r = *state;
	char body[256];

	api_do(r, "POST", CM, "{'metadata':{'name':'a'}}");
	snprintf(body, sizeof(body), "{'preconditions':{'uid':'%s','resourceVersion':'%s'}}",
		 api_str(r, "metadata.uid"), api_str(r, "metadata.resourceVersion"));
	api_do(r, "DELETE", CM "/a", "{'preconditions':{'uid':'other'}}");
	assert_status(r, 409);
	api_do(r, "DELETE", CM "/a", "{'preconditions':{'resourceVersion':'1'}}");
	assert_status(r, 409);
	api_do(r, "DELETE", CM "/a", "[]");
	assert_status(r, 400);
	expect(r, CM "/a", 200);
	api_do(r, "DELETE", CM "/a", body);
	assert_status(r, 200);
	assert_string_equal(api_str(r, "status"), "Success");
	assert_string_equal(api_str(r, "details.name"), "a");
	expect(r, CM "/a", 404);
}

static void an_object_with_finalizers_goes_with_the_last_of_them(void **state)
{
	struct api *r = *state;

	api_do(r, "POST", CM, "{'metadata':{'name':'a','finalizers':['x.dev/one','x.dev/two']}}");
	api_do(r, "DELETE", CM "/a", NULL);
	assert_status(r, 200);
	assert_string_equal(api_str(r, "kind"), "ConfigMap");

	char *when = mem_strdup(api_str(r, "metadata.deletionTimestamp"));

	api_run(r, 5000);
	api_do(r, "DELETE", CM "/a", NULL);
	assert_string_equal(api_str(r, "metadata.deletionTimestamp"), when);
	api_patch(r, "merge-patch+json", CM "/a",
		  "{'metadata':{'finalizers':['x.dev/one','x.dev/three']}}");
	assert_status(r, 422); /* no finalizer may be added now */
	api_patch(r, "merge-patch+json", CM "/a",
		  "{'metadata':{'deletionTimestamp':null,'finalizers':['x.dev/one']}}");
	assert_status(r, 200);
	assert_string_equal(api_str(r, "metadata.deletionTimestamp"), when);
	expect(r, CM "/a", 200);
	api_patch(r, "merge-patch+json", CM "/a", "{'metadata':{'finalizers':null}}");
	assert_status(r, 200);
	expect(r, CM "/a", 404);
	free(when);
}

static void a_collection_is_deleted_by_selector(void **state)
{
	struct api *r = *state;

	api_do(r, "POST", CM, "{'metadata':{'name':'a','labels':{'l':'1'}}}");
	api_do(r, "POST", CM, "{'metadata':{'name':'b','labels':{'l':'2'}}}");
	api_do(r, "DELETE", CM "?labelSelector=l%3D1", NULL);
	assert_status(r, 200);
	expect(r, CM "/a", 404);
	expect(r, CM "/b", 200);
}

static void a_namespace_takes_with_it_what_is_in_it(void **state)
{
	struct api *r = *state;

	api_do(r, "POST", "/api/v1/namespaces", "{'metadata':{'name':'n'}}");
	assert_status(r, 201);
	assert_string_equal(api_str(r, "status.phase"), "Active");
	api_do(r, "POST", "/api/v1/namespaces/n/pods", "{'metadata':{'name':'p'}}");
	api_do(r, "POST", "/api/v1/namespaces/n/secrets",
	       "{'metadata':{'name':'held','finalizers':['x.dev/y']}}");
	api_do(r, "POST", CM, "{'metadata':{'name':'elsewhere'}}");
	api_do(r, "DELETE", "/api/v1/namespaces/n", NULL);
	assert_status(r, 200);
	expect(r, "/api/v1/namespaces/n/pods/p", 404);
	expect(r, CM "/elsewhere", 200);
	expect(r, "/api/v1/namespaces/n", 200);
	assert_string_equal(api_str(r, "status.phase"), "Terminating");
	api_do(r, "POST", "/api/v1/namespaces/n/pods", "{'metadata':{'name':'q'}}");
	assert_status(r, 403);
	api_patch(r, "merge-patch+json", "/api/v1/namespaces/n/secrets/held",
		  "{'metadata':{'finalizers':[]}}");
	assert_status(r, 200);
	expect(r, "/api/v1/namespaces/n", 404);

	api_do(r, "POST", "/api/v1/namespaces", "{'metadata':{'name':'empty'}}");
	api_do(r, "DELETE", "/api/v1/namespaces/empty", NULL);
	expect(r, "/api/v1/namespaces/empty", 404);
}

static void a_definition_takes_its_objects_with_it_and_waits_for_the_last(void **state)
{
	struct api *r = *state;

	api_do(r, "POST", CRDS, CRD);
	assert_status(r, 201);
	api_do(r, "POST", THINGS, "{'metadata':{'name':'free'}}");
	api_do(r, "POST", THINGS, "{'metadata':{'name':'held','finalizers':['x.dev/y']}}");
	assert_status(r, 201);
	api_do(r, "DELETE", CRDS "/things.example.dev", NULL);
	assert_status(r, 200);
	expect(r, THINGS "/free", 404);
	expect(r, THINGS "/held", 200);
	assert_non_null(api_str(r, "metadata.deletionTimestamp"));
	expect(r, CRDS "/things.example.dev", 200);
	assert_non_null(api_str(r, "metadata.deletionTimestamp"));
	assert_string_equal(api_str(r, "status.conditions.2.type"), "Terminating");
	api_do(r, "POST", THINGS, "{'metadata':{'name':'late'}}");
	assert_status(r, 405);
	api_patch(r, "merge-patch+json", THINGS "/held", "{'metadata':{'finalizers':[]}}");
	assert_status(r, 200);
	expect(r, CRDS "/things.example.dev", 404);
	expect(r, THINGS, 404);
}

static void deleting_a_namespace_may_end_a_definition_too(void **state)
{
	struct api *r = *state;

	api_do(r, "POST", CRDS, CRD);
	api_do(r, "POST", "/api/v1/namespaces", "{'metadata':{'name':'n'}}");
	api_do(r, "POST", "/apis/example.dev/v1/namespaces/n/things",
	       "{'metadata':{'name':'a','finalizers':['x.dev/y']}}");
	api_do(r, "DELETE", CRDS "/things.example.dev", NULL);
	api_do(r, "DELETE", "/api/v1/namespaces/n", NULL);
	expect(r, "/api/v1/namespaces/n", 200);
	api_patch(r, "merge-patch+json", "/apis/example.dev/v1/namespaces/n/things/a",
		  "{'metadata':{'finalizers':[]}}");
	assert_status(r, 200);
	expect(r, "/api/v1/namespaces/n", 404);
	expect(r, CRDS "/things.example.dev", 404);
}

/* --- pods ------------------------------------------------------------------------------------- */

static void eviction_deletes_unless_a_budget_forbids(void **state)
{
	struct api *r = *state;

	api_do(r, "POST", PODS,
	       "{'metadata':{'name':'p','labels':{'app':'a'}},'spec':{'nodeName':'n'}}");
	api_patch(r, "merge-patch+json", PODS "/p/status", "{'status':{'phase':'Running'}}");
	api_do(r, "POST", PDBS,
	       "{'metadata':{'name':'other'},'spec':{'selector':{'matchLabels':{'app':'b'}}}}");
	api_patch(r, "merge-patch+json", PDBS "/other/status",
		  "{'status':{'disruptionsAllowed':0}}");
	api_do(r, "POST", PDBS,
	       "{'metadata':{'name':'mine'},'spec':{'selector':{'matchExpressions':"
	       "[{'key':'app','operator':'In','values':['a','c']}]}}}");
	api_patch(r, "merge-patch+json", PDBS "/mine/status",
		  "{'status':{'disruptionsAllowed':0}}");
	assert_status(r, 200);
	api_do(r, "POST", PODS "/p/eviction",
	       "{'apiVersion':'policy/v1','kind':'Eviction','metadata':{'name':'p'}}");
	assert_status(r, 429);
	assert_non_null(strstr(r->text, "mine"));
	expect(r, PODS "/p", 200);
	api_patch(r, "merge-patch+json", PDBS "/mine/status",
		  "{'status':{'disruptionsAllowed':1}}");
	api_do(r, "POST", PODS "/p/eviction",
	       "{'deleteOptions':{'preconditions':{'uid':'other'}}}");
	assert_status(r, 409);
	api_do(r, "POST", PODS "/p/eviction", "{}");
	assert_status(r, 201);
	expect(r, PODS "/p", 404);
	api_do(r, "POST", PODS "/p/eviction", "{}");
	assert_status(r, 404);
}

static void a_bound_pod_goes_at_once_where_there_is_no_kubelet(void **state)
{
	struct api *r = *state;

	api_do(r, "POST", PODS, "{'metadata':{'name':'p'},'spec':{'nodeName':'n'}}");
	api_do(r, "DELETE", PODS "/p", "{'gracePeriodSeconds':30}");
	assert_status(r, 200);
	expect(r, PODS "/p", 404);
}

static void a_bound_pod_waits_for_its_kubelet_where_that_is_asked_for(void **state)
{
	struct api r;

	(void)state;
	api_start(&r, &(struct apiserver_spec){.graceful_pods = true}, 100);
	api_do(&r, "POST", PODS,
	       "{'metadata':{'name':'bound'},"
	       "'spec':{'nodeName':'n','terminationGracePeriodSeconds':20}}");
	api_do(&r, "POST", PODS, "{'metadata':{'name':'unbound'},'spec':{}}");
	api_do(&r, "DELETE", PODS "/unbound", NULL);
	expect(&r, PODS "/unbound", 404);
	api_do(&r, "POST", PODS "/bound/eviction", "{}");
	assert_status(&r, 201);
	expect(&r, PODS "/bound", 200);
	assert_int_equal(api_int(&r, "metadata.deletionGracePeriodSeconds"), 20);
	api_do(&r, "DELETE", PODS "/bound", NULL);
	expect(&r, PODS "/bound", 200);
	api_do(&r, "DELETE", PODS "/bound?gracePeriodSeconds=0", NULL);
	assert_status(&r, 200);
	expect(&r, PODS "/bound", 404);

	api_do(&r, "POST", PODS, "{'metadata':{'name':'ended'},'spec':{'nodeName':'n'}}");
	api_patch(&r, "merge-patch+json", PODS "/ended/status", "{'status':{'phase':'Succeeded'}}");
	api_do(&r, "DELETE", PODS "/ended", NULL);
	expect(&r, PODS "/ended", 404);
	api_stop(&r);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, api_setup, api_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(delete_heeds_its_preconditions),
		CASE(an_object_with_finalizers_goes_with_the_last_of_them),
		CASE(a_collection_is_deleted_by_selector),
		CASE(a_namespace_takes_with_it_what_is_in_it),
		CASE(a_definition_takes_its_objects_with_it_and_waits_for_the_last),
		CASE(deleting_a_namespace_may_end_a_definition_too),
		CASE(eviction_deletes_unless_a_budget_forbids),
		CASE(a_bound_pod_goes_at_once_where_there_is_no_kubelet),
		cmocka_unit_test(a_bound_pod_waits_for_its_kubelet_where_that_is_asked_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
