#include "tests/unit/kube/apiserver/api_rig.h"

#include <stdio.h>
#include <stdlib.h>
#include "base/mem.h"
#include "base/str.h"

#define CM "/api/v1/namespaces/default/configmaps"
#define PODS "/api/v1/namespaces/default/pods"
#define PDBS "/apis/policy/v1/namespaces/default/poddisruptionbudgets"
#define SETS "/apis/apps/v1/namespaces/default/replicasets"

static int setup(void **state)
{
	struct api *r = mem_new(struct api);

	api_start(r, &(struct apiserver_spec){.controllers = true, .ca_pem = "PEM"}, 1000);
	*state = r;
	return 0;
}

static int get(struct api *r, const char *path)
{
	api_run(r, 1000);
	return api_do(r, "GET", path, NULL);
}

/* Creates a ConfigMap; owner and second: paths of its owners, NULL: none. */
static void make(struct api *r, const char *name, const char *owner, const char *second,
		 const char *more)
{
	char refs[800] = "", body[1200];
	const char *owners[] = {owner, second};

	for (int i = 0; i < 2 && owners[i]; i++) {
		size_t n = strlen(refs);

		api_do(r, "GET", owners[i], NULL);
		assert_status(r, 200);
		snprintf(refs + n, sizeof(refs) - n,
			 "%s{'apiVersion':'%s','kind':'%s','name':'%s','uid':'%s'%s}", n ? "," : "",
			 api_str(r, "apiVersion"), api_str(r, "kind"), api_str(r, "metadata.name"),
			 api_str(r, "metadata.uid"), more);
	}
	snprintf(body, sizeof(body), "{'metadata':{'name':'%s','ownerReferences':[%s]}}", name,
		 refs);
	api_do(r, "POST", CM, body);
	assert_status(r, 201);
}

static void an_object_goes_after_the_last_of_its_owners(void **state)
{
	struct api *r = *state;

	make(r, "a", NULL, NULL, "");
	make(r, "b", NULL, NULL, "");
	make(r, "child", CM "/a", CM "/b", "");
	make(r, "grandchild", CM "/child", NULL, "");
	api_do(r, "DELETE", CM "/a", NULL);
	assert_int_equal(get(r, CM "/child"), 200);
	assert_int_equal(api_int(r, "metadata.ownerReferences"), 1);
	assert_string_equal(api_str(r, "metadata.ownerReferences.0.name"), "b");
	api_do(r, "DELETE", CM "/b", "{'propagationPolicy':'Background'}");
	assert_int_equal(get(r, CM "/child"), 404);
	assert_int_equal(get(r, CM "/grandchild"), 404);
}

static void an_object_whose_owner_is_not_there_does_not_stay(void **state)
{
	struct api *r = *state;

	api_do(r, "POST", CM,
	       "{'metadata':{'name':'a','ownerReferences':[{'apiVersion':'v1','kind':'ConfigMap',"
	       "'name':'never','uid':'u'}]}}");
	assert_status(r, 201);
	assert_int_equal(get(r, CM "/a"), 404);
	/* The server cannot know whether an owner of an unknown kind exists. */
	api_do(r, "POST", CM,
	       "{'metadata':{'name':'b','ownerReferences':[{'apiVersion':'x.dev/v1','kind':'X',"
	       "'name':'never','uid':'u'}]}}");
	assert_int_equal(get(r, CM "/b"), 200);
	/* An owner of that name exists, but with a different UID. */
	make(r, "owner", NULL, NULL, "");
	api_do(r, "POST", CM,
	       "{'metadata':{'name':'c','ownerReferences':[{'apiVersion':'v1','kind':'ConfigMap',"
	       "'name':'owner','uid':'u'}]}}");
	assert_int_equal(get(r, CM "/c"), 404);
	/* A cluster-scoped Node can own namespaced objects. */
	api_do(r, "POST", "/api/v1/nodes", "{'metadata':{'name':'n'}}");
	make(r, "d", "/api/v1/nodes/n", NULL, "");
	assert_int_equal(get(r, CM "/d"), 200);
	api_do(r, "DELETE", "/api/v1/nodes/n", NULL);
	assert_int_equal(get(r, CM "/d"), 404);
}

static void in_the_foreground_an_owner_waits_for_those_that_block_it(void **state)
{
	struct api *r = *state;

	make(r, "a", NULL, NULL, "");
	make(r, "blocks", CM "/a", NULL, ",'blockOwnerDeletion':true");
	make(r, "other", CM "/a", NULL, "");
	api_patch(r, "merge-patch+json", CM "/blocks", "{'metadata':{'finalizers':['x.dev/y']}}");
	api_do(r, "DELETE", CM "/a?propagationPolicy=Foreground", NULL);
	assert_status(r, 200);
	assert_string_equal(api_str(r, "metadata.finalizers.0"), "foregroundDeletion");
	assert_int_equal(get(r, CM "/other"), 404);
	assert_int_equal(get(r, CM "/blocks"), 200);
	assert_non_null(api_str(r, "metadata.deletionTimestamp"));
	assert_int_equal(get(r, CM "/a"), 200);
	api_patch(r, "merge-patch+json", CM "/blocks", "{'metadata':{'finalizers':null}}");
	assert_int_equal(get(r, CM "/a"), 404);
}

static void orphans_stay_and_know_no_owner(void **state)
{
	struct api *r = *state;

	make(r, "a", NULL, NULL, "");
	make(r, "child", CM "/a", NULL, "");
	api_do(r, "DELETE", CM "/a", "{'propagationPolicy':'Orphan'}");
	assert_status(r, 200);
	assert_int_equal(get(r, CM "/a"), 404);
	assert_int_equal(get(r, CM "/child"), 200);
	assert_int_equal(api_int(r, "metadata.ownerReferences"), -1);
	api_do(r, "DELETE", CM "/child", "{'propagationPolicy':'Sometimes'}");
	assert_status(r, 422);
	api_do(r, "DELETE", CM "/child", "{'propagationPolicy':'Orphan','orphanDependents':true}");
	assert_status(r, 422);
	api_do(r, "DELETE", CM "/child", "{'dryRun':['All']}");
	assert_status(r, 200);
	assert_int_equal(get(r, CM "/child"), 200);
	api_do(r, "DELETE", CM, "{'dryRun':['Some']}");
	assert_status(r, 422);
	api_do(r, "DELETE", CM, "{'dryRun':['All']}");
	assert_status(r, 200);
	assert_int_equal(get(r, CM "/child"), 200);
}

static void owners_are_known_after_a_restart(void **state)
{
	struct api *r = *state;

	make(r, "a", NULL, NULL, "");
	make(r, "child", CM "/a", NULL, "");
	httpd_free(r->d);
	apiserver_free(r->a);
	r->a = apiserver_new(r->g, r->s, &(struct apiserver_spec){.controllers = true});
	r->d = httpd_new(r->g);
	apiserver_routes(r->a, r->d);
	api_serve(r);
	api_do(r, "DELETE", CM "/a", NULL);
	assert_int_equal(get(r, CM "/child"), 404);
}

static void a_namespace_terminates_when_it_is_empty_and_finalized(void **state)
{
	struct api *r = *state;

	api_do(r, "POST", "/api/v1/namespaces", "{'metadata':{'name':'n'}}");
	assert_string_equal(api_str(r, "spec.finalizers.0"), "kubernetes");
	assert_int_equal(get(r, "/api/v1/namespaces/n/serviceaccounts/default"), 200);
	assert_int_equal(get(r, "/api/v1/namespaces/n/configmaps/kube-root-ca.crt"), 200);
	api_do(r, "POST", "/api/v1/namespaces/n/configmaps",
	       "{'metadata':{'name':'held','finalizers':['x.dev/y']}}");
	api_do(r, "POST", "/api/v1/namespaces/n/secrets", "{'metadata':{'name':'free'}}");
	api_patch(r, "merge-patch+json", "/api/v1/namespaces/n", "{'spec':{'finalizers':[]}}");
	assert_status(r, 200);
	assert_string_equal(api_str(r, "spec.finalizers.0"), "kubernetes");
	api_do(r, "DELETE", "/api/v1/namespaces/n", NULL);
	assert_status(r, 200);
	assert_string_equal(api_str(r, "status.phase"), "Terminating");
	assert_int_equal(get(r, "/api/v1/namespaces/n/secrets/free"), 404);
	assert_int_equal(get(r, "/api/v1/namespaces/n"), 200);
	api_do(r, "POST", "/api/v1/namespaces/n/secrets", "{'metadata':{'name':'late'}}");
	assert_status(r, 403);
	/* The namespace exists until its content is deleted, even if a user removes the
	 * finalizer. */
	api_do(r, "PUT", "/api/v1/namespaces/n/finalize",
	       "{'metadata':{'name':'n'},'spec':{'finalizers':[]}}");
	assert_status(r, 200);
	assert_int_equal(get(r, "/api/v1/namespaces/n"), 200);
	api_patch(r, "merge-patch+json", "/api/v1/namespaces/n/configmaps/held",
		  "{'metadata':{'finalizers':null}}");
	assert_int_equal(get(r, "/api/v1/namespaces/n"), 404);
	api_do(r, "POST", "/api/v1/namespaces", "{'metadata':{'name':'empty'}}");
	api_do(r, "DELETE", "/api/v1/namespaces/empty", NULL);
	assert_int_equal(get(r, "/api/v1/namespaces/empty"), 404);
}

static void a_definition_goes_with_the_last_of_its_objects(void **state)
{
	struct api *r = *state;
	static const char crds[] = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
	static const char crd[] =
		"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/things.example.dev";
	static const char things[] = "/apis/example.dev/v1/namespaces/default/things";

	api_do(r, "POST", crds,
	       "{'metadata':{'name':'things.example.dev'},"
	       "'spec':{'group':'example.dev','scope':'Namespaced',"
	       "'names':{'plural':'things','kind':'Thing'},"
	       "'versions':[{'name':'v1','served':true,'storage':true}]}}");
	assert_status(r, 201);
	api_do(r, "POST", things, "{'metadata':{'name':'held','finalizers':['x.dev/y']}}");
	api_do(r, "POST", things, "{'metadata':{'name':'free'}}");
	make(r, "child", "/apis/example.dev/v1/namespaces/default/things/free", NULL, "");
	make(r, "last", "/apis/example.dev/v1/namespaces/default/things/held", NULL, "");
	api_do(r, "DELETE", crd, NULL);
	assert_status(r, 200);
	assert_int_equal(get(r, crd), 200);
	assert_int_equal(get(r, "/apis/example.dev/v1/namespaces/default/things/free"), 404);
	assert_int_equal(get(r, CM "/child"), 404);
	api_patch(r, "merge-patch+json", "/apis/example.dev/v1/namespaces/default/things/held",
		  "{'metadata':{'finalizers':null}}");
	assert_int_equal(get(r, crd), 404);
	assert_int_equal(get(r, CM "/last"), 404);
}

static void a_dry_run_binds_and_deletes_nothing(void **state)
{
	struct api *r = *state;

	api_do(r, "POST", PODS, "{'metadata':{'name':'p'},'spec':{}}");
	api_do(r, "POST", PODS "/p/binding?dryRun=All", "{'target':{'name':'n'}}");
	assert_status(r, 201);
	api_do(r, "DELETE", PODS "/p?dryRun=All", NULL);
	assert_status(r, 200);
	api_do(r, "DELETE", PODS "?dryRun=All", NULL);
	assert_status(r, 200);
	assert_int_equal(get(r, PODS "/p"), 200);
	assert_null(api_str(r, "spec.nodeName"));
	api_do(r, "POST", "/api/v1/namespaces", "{'metadata':{'name':'n'}}");
	api_do(r, "DELETE", "/api/v1/namespaces/n?dryRun=All", NULL);
	assert_status(r, 200);
	assert_int_equal(get(r, "/api/v1/namespaces/n"), 200);
	assert_string_equal(api_str(r, "status.phase"), "Active");
}

/* --- disruption budgets ----------------------------------------------------------------------- */

static void make_pod(struct api *r, const char *name, bool ready, const char *meta)
{
	char body[400], path[100];

	snprintf(body, sizeof(body), "{'metadata':{'name':'%s','labels':{'a':'b'}%s},'spec':{}}",
		 name, meta);
	api_do(r, "POST", PODS, body);
	assert_status(r, 201);
	snprintf(path, sizeof(path), PODS "/%s/status", name);
	api_patch(r, "merge-patch+json", path,
		  ready ? "{'status':{'phase':'Running',"
			  "'conditions':[{'type':'Ready','status':'True'}]}}"
			: "{'status':{'phase':'Running'}}");
	assert_status(r, 200);
}

static void make_budget(struct api *r, const char *spec)
{
	char body[300];

	snprintf(body, sizeof(body),
		 "{'metadata':{'name':'b'},'spec':{'selector':{'matchLabels':{'a':'b'}},%s}}",
		 spec);
	api_do(r, "POST", PDBS, body);
	assert_status(r, 201);
}

static void a_budget_follows_its_pods_and_counts_evictions(void **state)
{
	struct api *r = *state;

	make_budget(r, "'minAvailable':2");
	for (int i = 0; i < 3; i++)
		make_pod(r, (const char *[]){"p", "q", "s"}[i], true, "");
	assert_int_equal(get(r, PDBS "/b"), 200);
	assert_int_equal(api_int(r, "status.currentHealthy"), 3);
	assert_int_equal(api_int(r, "status.desiredHealthy"), 2);
	assert_int_equal(api_int(r, "status.disruptionsAllowed"), 1);
	assert_int_equal(api_int(r, "status.observedGeneration"), 1);
	assert_string_equal(api_str(r, "status.conditions.0.status"), "True");
	api_do(r, "POST", PODS "/p/eviction?dryRun=All", "{}");
	assert_status(r, 201);
	api_do(r, "POST", PODS "/p/eviction", "{'deleteOptions':{'dryRun':['All']}}");
	assert_status(r, 201);
	api_do(r, "POST", PODS "/p/eviction", "{}");
	assert_status(r, 201);
	/* The next eviction is refused at once, before the controller updates the budget's
	 * status. */
	api_do(r, "POST", PODS "/q/eviction", "{}");
	assert_status(r, 429);
	assert_string_equal(api_str(r, "details.causes.0.reason"), "DisruptionBudget");
	assert_string_equal(api_str(r, "details.causes.0.message"),
			    "The disruption budget b needs 2 healthy pods and has 2 currently");
	/* As in kube-apiserver, there is no Retry-After: with it, clients would retry within one
	 * call. */
	assert_null(strstr(r->text, "retryAfterSeconds"));
	assert_int_equal(get(r, PDBS "/b"), 200);
	assert_string_equal(api_str(r, "status.conditions.0.reason"), "InsufficientPods");
	/* A pod that is not Ready does not count as healthy. */
	make_pod(r, "sick", false, "");
	api_do(r, "POST", PODS "/sick/eviction", "{}");
	assert_status(r, 201);
	api_patch(r, "merge-patch+json", PDBS "/b", "{'spec':{'minAvailable':1}}");
	assert_int_equal(get(r, PDBS "/b"), 200);
	assert_int_equal(api_int(r, "status.disruptionsAllowed"), 1);
	assert_int_equal(api_int(r, "status.observedGeneration"), 2);
}

static void a_share_is_of_what_the_controller_wishes(void **state)
{
	struct api *r = *state;
	char meta[300];

	api_do(r, "POST", SETS, "{'metadata':{'name':'rs'},'spec':{'replicas':10}}");
	snprintf(meta, sizeof(meta),
		 ",'ownerReferences':[{'apiVersion':'apps/v1','kind':'ReplicaSet','name':'rs',"
		 "'uid':'%s','controller':true}]",
		 api_str(r, "metadata.uid"));
	make_pod(r, "p", true, meta);
	make_pod(r, "q", true, meta);
	make_budget(r, "'maxUnavailable':'25%'");
	assert_int_equal(get(r, PDBS "/b"), 200);
	assert_int_equal(api_int(r, "status.expectedPods"), 10);
	assert_int_equal(api_int(r, "status.desiredHealthy"), 7);
	assert_int_equal(api_int(r, "status.disruptionsAllowed"), 0);
	api_patch(r, "merge-patch+json", SETS "/rs/scale", "{'spec':{'replicas':2}}");
	assert_int_equal(get(r, PDBS "/b"), 200);
	assert_int_equal(api_int(r, "status.disruptionsAllowed"), 1);
}

static void two_budgets_for_one_pod_are_one_too_many(void **state)
{
	struct api *r = *state;

	make_pod(r, "p", true, "");
	make_budget(r, "'maxUnavailable':1");
	api_do(r, "POST", PDBS,
	       "{'metadata':{'name':'c'},'spec':{'selector':{},'maxUnavailable':1}}");
	api_do(r, "POST", PODS "/p/eviction", "{}");
	assert_status(r, 500);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, api_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(an_object_goes_after_the_last_of_its_owners),
		CASE(an_object_whose_owner_is_not_there_does_not_stay),
		CASE(in_the_foreground_an_owner_waits_for_those_that_block_it),
		CASE(orphans_stay_and_know_no_owner),
		CASE(owners_are_known_after_a_restart),
		CASE(a_namespace_terminates_when_it_is_empty_and_finalized),
		CASE(a_definition_goes_with_the_last_of_its_objects),
		CASE(a_dry_run_binds_and_deletes_nothing),
		CASE(a_budget_follows_its_pods_and_counts_evictions),
		CASE(a_share_is_of_what_the_controller_wishes),
		CASE(two_budgets_for_one_pod_are_one_too_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
