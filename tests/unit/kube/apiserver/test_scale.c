#include "tests/unit/kube/apiserver/api_rig.h"

#include <stdio.h>

#define DEPLOYS "/apis/apps/v1/namespaces/default/deployments"
#define CRDS "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
#define THINGS "/apis/example.dev/v1/namespaces/default/things"

static void start(struct api *r)
{
	api_do(r, "POST", DEPLOYS,
	       "{'metadata':{'name':'d'},'spec':{'replicas':2,'selector':{'matchLabels':{'a':'b'},"
	       "'matchExpressions':[{'key':'c','operator':'In','values':['x','y']},"
	       "{'key':'d','operator':'Exists'},{'key':'e','operator':'DoesNotExist'}]}},"
	       "'status':{'replicas':1}}");
	assert_status(r, 201);
}

static void a_scale_shows_wish_number_and_selector(void **state)
{
	struct api *r = *state;

	start(r);
	api_do(r, "GET", DEPLOYS "/d/scale", NULL);
	assert_status(r, 200);
	assert_string_equal(api_str(r, "kind"), "Scale");
	assert_string_equal(api_str(r, "metadata.name"), "d");
	assert_int_equal(api_int(r, "spec.replicas"), 2);
	assert_int_equal(api_int(r, "status.replicas"), 1);
	assert_string_equal(api_str(r, "status.selector"), "a=b,c in (x,y),d,!e");
	api_do(r, "GET", DEPLOYS "/none/scale", NULL);
	assert_status(r, 404);
	api_do(r, "GET", "/api/v1/namespaces/default/pods/p/scale", NULL);
	assert_status(r, 404);
	api_do(r, "DELETE", DEPLOYS "/d/scale", NULL);
	assert_status(r, 405);
}

static void put_and_patch_change_the_wish_and_nothing_else(void **state)
{
	struct api *r = *state;
	char body[200];

	start(r);
	api_do(r, "PUT", DEPLOYS "/d/scale", "{'metadata':{'name':'d'},'spec':{'replicas':5}}");
	assert_status(r, 200);
	assert_int_equal(api_int(r, "spec.replicas"), 5);
	api_do(r, "GET", DEPLOYS "/d", NULL);
	assert_int_equal(api_int(r, "spec.replicas"), 5);
	assert_int_equal(api_int(r, "metadata.generation"), 2);
	assert_string_equal(api_str(r, "spec.selector.matchLabels.a"), "b");

	api_patch(r, "merge-patch+json", DEPLOYS "/d/scale", "{'spec':{'replicas':0}}");
	assert_status(r, 200);
	api_patch(r, "json-patch+json", DEPLOYS "/d/scale",
		  "[{'op':'add','path':'/spec/replicas','value':7}]");
	assert_status(r, 200);
	api_do(r, "GET", DEPLOYS "/d", NULL);
	assert_int_equal(api_int(r, "spec.replicas"), 7);

	snprintf(body, sizeof(body), "{'metadata':{'resourceVersion':'1'},'spec':{'replicas':1}}");
	api_do(r, "PUT", DEPLOYS "/d/scale", body);
	assert_status(r, 409);
	api_do(r, "PUT", DEPLOYS "/d/scale", "{'spec':{'replicas':-1}}");
	assert_status(r, 422);
	api_do(r, "PUT", DEPLOYS "/d/scale", "{'spec':{'replicas':'many'}}");
	assert_status(r, 400);
	api_do(r, "PUT", DEPLOYS "/d/scale?dryRun=All", "{'spec':{'replicas':9}}");
	assert_int_equal(api_int(r, "spec.replicas"), 9);
	api_do(r, "GET", DEPLOYS "/d", NULL);
	assert_int_equal(api_int(r, "spec.replicas"), 7);
}

static void a_custom_kind_says_where_its_replicas_are(void **state)
{
	struct api *r = *state;

	api_do(r, "POST", CRDS,
	       "{'metadata':{'name':'things.example.dev'},"
	       "'spec':{'group':'example.dev','scope':'Namespaced',"
	       "'names':{'plural':'things','kind':'Thing'},"
	       "'versions':[{'name':'v1','served':true,'storage':true,"
	       "'subresources':{'status':{},'scale':{'specReplicasPath':'.spec.size.want',"
	       "'statusReplicasPath':'.status.have','labelSelectorPath':'.status.selector'}}}]}}");
	assert_status(r, 201);
	api_do(r, "POST", THINGS, "{'metadata':{'name':'t'},'spec':{}}");
	api_patch(r, "merge-patch+json", THINGS "/t/status",
		  "{'status':{'have':3,'selector':'a=b'}}");
	api_do(r, "GET", THINGS "/t/scale", NULL);
	assert_int_equal(api_int(r, "status.replicas"), 3);
	assert_string_equal(api_str(r, "status.selector"), "a=b");
	api_patch(r, "merge-patch+json", THINGS "/t/scale", "{'spec':{'replicas':4}}");
	assert_status(r, 200);
	api_do(r, "GET", THINGS "/t", NULL);
	assert_int_equal(api_int(r, "spec.size.want"), 4);
	assert_int_equal(api_int(r, "status.have"), 3);
	api_do(r, "GET", "/apis/example.dev/v1", NULL);
	assert_string_equal(api_str(r, "resources.2.name"), "things/scale");
	assert_string_equal(api_str(r, "resources.2.group"), "autoscaling");
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, api_setup, api_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_scale_shows_wish_number_and_selector),
		CASE(put_and_patch_change_the_wish_and_nothing_else),
		CASE(a_custom_kind_says_where_its_replicas_are),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
