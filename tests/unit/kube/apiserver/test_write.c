#include "tests/unit/kube/apiserver/api_rig.h"

#include <stdio.h>
#include <stdlib.h>
#include "base/mem.h"
#include "base/str.h"

#define CM "/api/v1/namespaces/default/configmaps"
#define PODS "/api/v1/namespaces/default/pods"

static void create_fills_in_what_the_server_owns(void **state)
{
	struct api *r = *state;

	api_do(r, "POST", CM,
	       "{'metadata':{'name':'a','uid':'mine','generation':7,"
	       "'deletionTimestamp':'x'},'data':{'k':'v'}}");
	assert_status(r, 201);
	assert_string_equal(api_str(r, "kind"), "ConfigMap");
	assert_string_equal(api_str(r, "apiVersion"), "v1");
	assert_string_equal(api_str(r, "metadata.namespace"), "default");
	assert_int_equal(strlen(api_str(r, "metadata.uid")), 36);
	assert_int_equal(api_str(r, "metadata.uid")[14], '4');
	assert_string_equal(api_str(r, "metadata.creationTimestamp"), "2023-11-14T22:13:20Z");
	assert_null(api_str(r, "metadata.deletionTimestamp"));
	assert_int_equal(api_int(r, "metadata.generation"), -1);

	char *created = mem_strdup(r->text);

	api_do(r, "GET", CM "/a", NULL);
	assert_status(r, 200);
	assert_string_equal(r->text, created);
	free(created);
}

static void what_is_wrong_is_refused_with_a_status(void **state)
{
	struct api *r = *state;
	static const struct {
		const char *method, *path, *body;
		int code;
		const char *reason;
	} cases[] = {
		{"POST", CM, "{", 400, "BadRequest"},
		{"POST", CM, "[]", 400, "BadRequest"},
		{"POST", CM, "{'metadata':[]}", 400, "BadRequest"},
		{"POST", CM, "{'metadata':{}}", 422, "Invalid"},
		{"POST", CM, "{'metadata':{'name':'No'}}", 422, "Invalid"},
		{"POST", CM, "{'metadata':{'name':'a','labels':{'k':'b d'}}}", 422, "Invalid"},
		{"POST", CM, "{'metadata':{'name':'a','labels':{'k':1}}}", 400, "BadRequest"},
		{"POST", CM, "{'metadata':{'name':'a','namespace':'other'}}", 400, "BadRequest"},
		{"POST", CM, "{'kind':'Pod','metadata':{'name':'a'}}", 400, "BadRequest"},
		{"POST", CM, "{'apiVersion':'v2','metadata':{'name':'a'}}", 400, "BadRequest"},
		{"POST", CM, "{'metadata':{'name':'a','resourceVersion':'1'}}", 400, "BadRequest"},
		{"POST", CM, "{'metadata':{'name':'a','finalizers':'x'}}", 400, "BadRequest"},
		{"POST", CM, "{'metadata':{'name':'there'}}", 409, "AlreadyExists"},
		{"POST", CM "/a", "{'metadata':{'name':'a'}}", 405, "MethodNotAllowed"},
		{"POST", "/api/v1/configmaps", "{'metadata':{'name':'a'}}", 400, "BadRequest"},
		{"POST", "/api/v1/namespaces/none/configmaps", "{'metadata':{'name':'a'}}", 404,
		 "NotFound"},
		{"GET", CM "/none", NULL, 404, "NotFound"},
		{"PUT", CM "/none", "{}", 404, "NotFound"},
		{"PUT", CM "/there", "{'metadata':{'name':'other'}}", 400, "BadRequest"},
		{"PUT", CM "/there", "{'metadata':{'resourceVersion':'1'}}", 409, "Conflict"},
		{"PUT", CM "/there", "{'metadata':{'uid':'1'}}", 409, "Conflict"},
		{"DELETE", CM "/none", NULL, 404, "NotFound"},
		{"PATCH", CM "/there", "{}", 415, "UnsupportedMediaType"},
		{"GET", "/api/v1/namespaces/default/nothings", NULL, 404, "NotFound"},
		{"GET", "/apis/none/v1/nothings", NULL, 404, "NotFound"},
		{"GET", CM "/there/status", NULL, 404, "NotFound"},
		{"GET", "/api/v1/configmaps/there", NULL, 404, "NotFound"},
		{"POST", CM "?dryRun=Some", "{'metadata':{'name':'a'}}", 422, "Invalid"},
	};

	api_do(r, "POST", CM, "{'metadata':{'name':'there'}}");
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		api_do(r, cases[i].method, cases[i].path, cases[i].body);
		if (r->status != cases[i].code)
			fail_msg("%s %s %s: want %d, got %d: %s", cases[i].method, cases[i].path,
				 cases[i].body, cases[i].code, r->status, r->text);
		assert_string_equal(api_str(r, "kind"), "Status");
		assert_string_equal(api_str(r, "status"), "Failure");
		assert_string_equal(api_str(r, "reason"), cases[i].reason);
		assert_int_equal(api_int(r, "code"), cases[i].code);
		assert_true(strlen(api_str(r, "message")) > 5);
	}
	api_do(r, "GET", CM "/none", NULL);
	assert_string_equal(api_str(r, "message"), "configmaps \"none\" not found");
	assert_string_equal(api_str(r, "details.name"), "none");
	assert_string_equal(api_str(r, "details.kind"), "configmaps");
}

static void a_generated_name_is_different_each_time(void **state)
{
	struct api *r = *state;

	for (int i = 0; i < 50; i++) {
		api_do(r, "POST", CM, "{'metadata':{'generateName':'a-'}}");
		assert_status(r, 201);
		assert_int_equal(strlen(api_str(r, "metadata.name")), 7);
		assert_int_equal(strncmp(api_str(r, "metadata.name"), "a-", 2), 0);
	}
	api_do(r, "GET", CM, NULL);
	assert_int_equal(api_int(r, "items"), 50);
}

static void an_update_needs_the_revision_it_was_made_from(void **state)
{
	struct api *r = *state;
	char body[256], *uid, *rev;

	api_do(r, "POST", CM, "{'metadata':{'name':'a'},'data':{'k':'1'}}");
	uid = mem_strdup(api_str(r, "metadata.uid"));
	rev = mem_strdup(api_str(r, "metadata.resourceVersion"));
	snprintf(body, sizeof(body),
		 "{'metadata':{'name':'a','resourceVersion':'%s'},'data':{'k':'2'}}", rev);
	api_do(r, "PUT", CM "/a", body);
	assert_status(r, 200);
	assert_string_equal(api_str(r, "data.k"), "2");
	assert_string_equal(api_str(r, "metadata.uid"), uid);
	assert_non_null(api_str(r, "metadata.creationTimestamp"));
	assert_string_not_equal(api_str(r, "metadata.resourceVersion"), rev);
	api_do(r, "PUT", CM "/a", body);
	assert_status(r, 409);
	assert_non_null(strstr(api_str(r, "message"), "the object has been modified"));
	/* Without a resourceVersion any revision matches. */
	api_do(r, "PUT", CM "/a", "{'metadata':{'name':'a'},'data':{'k':'3'}}");
	assert_status(r, 200);
	free(uid);
	free(rev);
}

static void what_changes_nothing_makes_no_revision(void **state)
{
	struct api *r = *state;
	uint64_t rev;

	api_do(r, "POST", CM, "{'metadata':{'name':'a'},'data':{'k':'1'}}");
	rev = store_rev(r->s);
	api_patch(r, "merge-patch+json", CM "/a", "{'data':{'k':'1'}}");
	assert_status(r, 200);
	api_do(r, "PUT", CM "/a", "{'data':{'k':'1'}}");
	assert_status(r, 200);
	assert_int_equal(store_rev(r->s), rev);
	api_patch(r, "merge-patch+json", CM "/a", "{'data':{'k':'2'}}");
	assert_int_equal(store_rev(r->s), rev + 1);
}

static void a_dry_run_changes_nothing(void **state)
{
	struct api *r = *state;

	api_do(r, "POST", CM "?dryRun=All", "{'metadata':{'name':'a'}}");
	assert_status(r, 201);
	api_do(r, "GET", CM "/a", NULL);
	assert_status(r, 404);
	api_do(r, "POST", CM, "{'metadata':{'name':'a'}}");
	api_do(r, "DELETE", CM "/a?dryRun=All", NULL);
	assert_status(r, 200);
	api_do(r, "GET", CM "/a", NULL);
	assert_status(r, 200);
}

static void patches_of_three_types(void **state)
{
	struct api *r = *state;

	api_do(r, "POST", PODS,
	       "{'metadata':{'name':'p','labels':{'a':'1','b':'2'}},'spec':{'x':[1,2]}}");
	api_patch(r, "merge-patch+json", PODS "/p",
		  "{'metadata':{'labels':{'a':null,'c':'3'}},'unknown':{'kept':true}}");
	assert_status(r, 200);
	assert_null(api_str(r, "metadata.labels.a"));
	assert_string_equal(api_str(r, "metadata.labels.b"), "2");
	assert_string_equal(api_str(r, "metadata.labels.c"), "3");
	api_patch(r, "strategic-merge-patch+json", PODS "/p",
		  "{'metadata':{'annotations':{'n':'v'},'labels':{'$patch':'merge'}}}");
	assert_status(r, 200);
	assert_string_equal(api_str(r, "metadata.annotations.n"), "v");
	api_patch(r, "json-patch+json", PODS "/p",
		  "[{'op':'test','path':'/metadata/labels/b','value':'2'},"
		  "{'op':'add','path':'/spec/x/-','value':3}]");
	assert_status(r, 200);
	assert_int_equal(api_int(r, "spec.x"), 3);
	api_patch(r, "json-patch+json", PODS "/p",
		  "[{'op':'test','path':'/metadata/labels/b','value':'9'}]");
	assert_status(r, 422);
	/* With a resourceVersion only that revision matches. */
	api_patch(r, "merge-patch+json", PODS "/p",
		  "{'metadata':{'resourceVersion':'1','labels':{'z':'1'}}}");
	assert_status(r, 409);
	/* A patch must not rename an object. */
	api_patch(r, "merge-patch+json", PODS "/p", "{'metadata':{'name':'q'}}");
	assert_status(r, 400);
}

static void status_and_the_rest_are_written_apart(void **state)
{
	struct api *r = *state;

	api_do(r, "POST", PODS,
	       "{'metadata':{'name':'p'},'spec':{'a':'1'},'status':{'phase':'Running'}}");
	assert_string_equal(api_str(r, "status.phase"), "Pending");
	api_patch(r, "merge-patch+json", PODS "/p",
		  "{'spec':{'a':'2'},'status':{'phase':'Running'}}");
	assert_string_equal(api_str(r, "status.phase"), "Pending");
	assert_string_equal(api_str(r, "spec.a"), "2");
	api_patch(r, "merge-patch+json", PODS "/p/status",
		  "{'spec':{'a':'3'},'status':{'phase':'Running'}}");
	assert_string_equal(api_str(r, "status.phase"), "Running");
	assert_string_equal(api_str(r, "spec.a"), "2");
	api_do(r, "GET", PODS "/p/status", NULL);
	assert_string_equal(api_str(r, "status.phase"), "Running");
}

static void string_data_of_a_secret_becomes_data(void **state)
{
	struct api *r = *state;

	api_do(r, "POST", "/api/v1/namespaces/default/secrets",
	       "{'metadata':{'name':'s'},'data':{'a':'eA==','b':'eQ=='},"
	       "'stringData':{'b':'hello'}}");
	assert_status(r, 201);
	assert_string_equal(api_str(r, "data.a"), "eA==");
	assert_string_equal(api_str(r, "data.b"), "aGVsbG8=");
	assert_null(json_object_get(r->j, "stringData"));
	assert_string_equal(api_str(r, "type"), "Opaque");
	api_patch(r, "merge-patch+json", "/api/v1/namespaces/default/secrets/s",
		  "{'stringData':{'a':'hello'}}");
	assert_string_equal(api_str(r, "data.a"), "aGVsbG8=");
}

static void an_event_has_two_forms(void **state)
{
	struct api *r = *state;

	api_do(r, "POST", "/apis/events.k8s.io/v1/namespaces/default/events",
	       "{'metadata':{'name':'e'},'regarding':{'name':'p'},'note':'hi',"
	       "'reportingController':'c'}");
	assert_status(r, 201);
	assert_string_equal(api_str(r, "regarding.name"), "p");
	assert_string_equal(api_str(r, "apiVersion"), "events.k8s.io/v1");
	api_do(r, "GET", "/api/v1/namespaces/default/events/e", NULL);
	assert_string_equal(api_str(r, "apiVersion"), "v1");
	assert_string_equal(api_str(r, "involvedObject.name"), "p");
	assert_string_equal(api_str(r, "message"), "hi");
	assert_string_equal(api_str(r, "reportingComponent"), "c");
	api_patch(r, "merge-patch+json", "/apis/events.k8s.io/v1/namespaces/default/events/e",
		  "{'note':'ho'}");
	assert_status(r, 200);
	assert_string_equal(api_str(r, "note"), "ho");
	api_do(r, "GET", "/api/v1/namespaces/default/events?fieldSelector=involvedObject.name%3Dp",
	       NULL);
	assert_int_equal(api_int(r, "items"), 1);
	assert_string_equal(api_str(r, "items.0.message"), "ho");
	api_do(r, "GET", "/apis/events.k8s.io/v1/events?fieldSelector=regarding.name%3Dq", NULL);
	assert_int_equal(api_int(r, "items"), 0);
	api_do(r, "GET", "/apis/events.k8s.io/v1/events?fieldSelector=involvedObject.name%3Dp",
	       NULL);
	assert_status(r, 400);
	api_do(r, "GET", "/apis/events.k8s.io/v1/events?fieldSelector=regarding.name%3Dp", NULL);
	assert_string_equal(api_str(r, "items.0.note"), "ho");
}

static void a_binding_gives_a_pod_its_node_once(void **state)
{
	struct api *r = *state;

	api_do(r, "POST", PODS, "{'metadata':{'name':'p'},'spec':{}}");
	api_do(r, "POST", PODS "/p/binding", "{'target':{'name':'n1'}}");
	assert_status(r, 201);
	api_do(r, "GET", PODS "/p", NULL);
	assert_string_equal(api_str(r, "spec.nodeName"), "n1");
	assert_string_equal(api_str(r, "status.conditions.0.type"), "PodScheduled");
	api_do(r, "POST", PODS "/p/binding", "{'target':{'name':'n2'}}");
	assert_status(r, 409);
}

static void a_pod_gets_the_priority_of_its_class(void **state)
{
	struct api *r = *state;
#define CLASSES "/apis/scheduling.k8s.io/v1/priorityclasses"

	api_do(r, "POST", PODS, "{'metadata':{'name':'a'},'spec':{}}");
	assert_int_equal(api_int(r, "spec.priority"), 0);
	assert_string_equal(api_str(r, "spec.schedulerName"), "default-scheduler");
	assert_int_equal(api_int(r, "spec.terminationGracePeriodSeconds"), 30);
	api_do(r, "POST", CLASSES,
	       "{'metadata':{'name':'high'},'value':1000,'preemptionPolicy':'Never'}");
	api_do(r, "POST", CLASSES,
	       "{'metadata':{'name':'normal'},'value':10,'globalDefault':true}");
	assert_status(r, 201);
	api_do(r, "POST", PODS,
	       "{'metadata':{'name':'b'},"
	       "'spec':{'priorityClassName':'high','schedulerName':'mine'}}");
	assert_int_equal(api_int(r, "spec.priority"), 1000);
	assert_string_equal(api_str(r, "spec.preemptionPolicy"), "Never");
	assert_string_equal(api_str(r, "spec.schedulerName"), "mine");
	api_do(r, "POST", PODS, "{'metadata':{'name':'c'},'spec':{}}");
	assert_int_equal(api_int(r, "spec.priority"), 10);
	api_do(r, "POST", PODS,
	       "{'metadata':{'name':'d'},'spec':{'priorityClassName':'system-node-critical'}}");
	assert_int_equal(api_int(r, "spec.priority"), 2000001000);
	api_do(r, "POST", PODS, "{'metadata':{'name':'e'},'spec':{'priorityClassName':'none'}}");
	assert_status(r, 403);
}

static void names_of_roles_may_be_any_path_segment(void **state)
{
	struct api *r = *state;
#define ROLES "/apis/rbac.authorization.k8s.io/v1/clusterroles"

	api_do(r, "POST", ROLES, "{'metadata':{'name':'system:Node'}}");
	assert_status(r, 201);
	api_do(r, "GET", ROLES "/system:Node", NULL);
	assert_status(r, 200);
	api_do(r, "POST", ROLES, "{'metadata':{'name':'a/b'}}");
	assert_status(r, 422);
	api_do(r, "POST", ROLES, "{'metadata':{'name':'..'}}");
	assert_status(r, 422);
}

static void yaml_is_read_too(void **state)
{
	struct api *r = *state;

	api_raw(r, "POST", CM, "application/yaml", "metadata:\n  name: y\ndata:\n  k: v\n");
	assert_status(r, 201);
	assert_string_equal(api_str(r, "data.k"), "v");
}

static int read_nothing(const char *data, size_t len, void *arg, struct err *e)
{
	(void)data, (void)len, (void)e;
	++*(int *)arg;
	return 0;
}

static void never_done(const struct http_reply *reply, const struct err *e, void *arg)
{
	(void)reply, (void)arg;
	fail_msg("done: %s", e ? e->text : "");
}

static void a_client_that_goes_away_before_or_during_the_answer_harms_nobody(void **state)
{
	struct api *r = *state;
	char *big = mem_alloc((1 << 20) + 1), *body;
	int pieces = 0;

	memset(big, 'x', 1 << 20);
	for (int before = 0; before < 2; before++) {
		struct http_call c = {
			.method = "POST",
			.path = CM,
			.max_body = 4 << 20,
			.paced = true,
			.on_data = read_nothing,
			.done = never_done,
			.arg = &pieces,
		};

		body = mem_printf("{\"metadata\":{\"name\":\"c%d\"},\"data\":{\"k\":\"%s\"}}",
				  before, big);
		c.body = body;
		c.body_len = strlen(body);

		struct http_req *q = http_start(r->p, &c);

		if (before)
			while (store_count(r->s, "configmaps/") < 2)
				api_run(r, 1);
		else
			api_run(r, 1000);
		http_cancel(q);
		api_run(r, 1000);
		free(body);
	}
	assert_int_equal(pieces, 1);
	api_do(r, "GET", CM "/c0", NULL);
	assert_status(r, 200);
	api_do(r, "GET", CM "/c1", NULL);
	assert_status(r, 200);
	free(big);
}

/* --- custom resources ------------------------------------------------------------------------- */

#define CRDS "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
#define CRD                                                                                        \
	"{'metadata':{'name':'things.example.dev'},"                                               \
	"'spec':{'group':'example.dev','scope':'Cluster',"                                         \
	"'names':{'plural':'things','kind':'Thing','shortNames':['th']},"                          \
	"'versions':[{'name':'v1','served':true,"                                                  \
	"'storage':true,'subresources':{'status':{}},"                                             \
	"'schema':{'openAPIV3Schema':{'type':'object'}}}]}}"
#define THINGS "/apis/example.dev/v1/things"

static void a_definition_serves_its_kind_from_then_on(void **state)
{
	struct api *r = *state;

	api_do(r, "GET", THINGS, NULL);
	assert_status(r, 404);
	api_do(r, "POST", CRDS, CRD);
	assert_status(r, 201);
	assert_string_equal(api_str(r, "status.conditions.1.type"), "Established");
	assert_string_equal(api_str(r, "status.acceptedNames.singular"), "thing");
	api_do(r, "POST", THINGS, "{'metadata':{'name':'a'},'spec':{'x':1},'status':{'y':1}}");
	assert_status(r, 201);
	assert_string_equal(api_str(r, "apiVersion"), "example.dev/v1");
	assert_int_equal(api_int(r, "metadata.generation"), 1);
	assert_int_equal(api_int(r, "status.y"), -1);

	api_patch(r, "merge-patch+json", THINGS "/a",
		  "{'spec':{'x':2},'metadata':{'labels':{'l':'1'}}}");
	assert_int_equal(api_int(r, "metadata.generation"), 2);
	api_patch(r, "merge-patch+json", THINGS "/a", "{'metadata':{'labels':{'l':'2'}}}");
	assert_int_equal(api_int(r, "metadata.generation"), 2);
	api_patch(r, "merge-patch+json", THINGS "/a/status",
		  "{'status':{'y':5},'spec':{'x':9},'metadata':{'labels':{'l':'9'}}}");
	assert_int_equal(api_int(r, "status.y"), 5);
	assert_int_equal(api_int(r, "spec.x"), 2);
	assert_string_equal(api_str(r, "metadata.labels.l"), "2");
	assert_int_equal(api_int(r, "metadata.generation"), 2);
	api_do(r, "PUT", THINGS "/a", "{'spec':{'x':3}}");
	assert_status(r, 422); /* updates of custom resources require a resourceVersion */
	api_patch(r, "strategic-merge-patch+json", THINGS "/a", "{}");
	assert_status(r, 415);
}

static void a_definition_in_disorder_is_refused(void **state)
{
	struct api *r = *state;
	static const char *const patches[] = {
		"{'metadata':{'name':'other.example.dev'}}",
		"{'spec':{'scope':'Galaxy'}}",
		"{'spec':{'versions':[]}}",
		"{'spec':{'group':'apps'},'metadata':{'name':'things.apps'}}",
		"{'spec':{'names':{'kind':null}}}",
		("{'spec':{'versions':[{'name':'v1','served':true,'storage':true},"
		 "{'name':'v2','storage':true}]}}"),
	};

	for (size_t i = 0; i < sizeof(patches) / sizeof(*patches); i++) {
		struct err e;
		char *crd = mem_strdup(CRD), *patch = mem_strdup(patches[i]);

		for (char *c = crd; *c; c++)
			*c = *c == '\'' ? '"' : *c;
		for (char *c = patch; *c; c++)
			*c = *c == '\'' ? '"' : *c;

		OWN_JSON a = json_parse(crd, strlen(crd), &e);
		OWN_JSON b = json_parse(patch, strlen(patch), &e);
		OWN_JSON j = json_merge_apply(a, b);
		char *text = json_text(j);

		api_do(r, "POST", CRDS, text);
		assert_status(r, 422);
		free(text);
		free(crd);
		free(patch);
	}
}

static void definitions_are_there_again_after_a_restart(void **state)
{
	struct api *r = *state;

	api_do(r, "POST", CRDS, CRD);
	api_do(r, "POST", THINGS, "{'metadata':{'name':'a'}}");
	assert_status(r, 201);
	http_mem_serve(r->net, "https://api:6443", NULL);
	httpd_free(r->d);
	apiserver_free(r->a);
	r->d = httpd_new(r->g);
	r->a = apiserver_new(r->g, r->s, NULL);
	apiserver_routes(r->a, r->d);
	http_mem_serve(r->net, "https://api:6443", r->d);
	api_do(r, "GET", THINGS "/a", NULL);
	assert_status(r, 200);
}

/* Two servers with the same seed; in the second one the name that is generated already exists. */
static void a_generated_name_that_is_taken_is_not_given_twice(void **state)
{
	struct api r;
	char name[64];

	(void)state;
	api_start(&r, NULL, 100);
	api_do(&r, "POST", CM, "{'metadata':{'name':'some'}}");
	api_do(&r, "POST", CM, "{'metadata':{'generateName':'g-'}}");
	assert_true(str_copy(name, sizeof(name), api_str(&r, "metadata.name")));
	api_stop(&r);
	api_start(&r, NULL, 100);

	char *body = mem_printf("{'metadata':{'name':'%s'}}", name);

	api_do(&r, "POST", CM, body);
	assert_status(&r, 201);
	api_do(&r, "POST", CM, "{'metadata':{'generateName':'g-'}}");
	assert_status(&r, 201);
	assert_string_not_equal(api_str(&r, "metadata.name"), name);
	free(body);
	api_stop(&r);
}

static void an_object_does_not_outgrow_a_body(void **state)
{
	static const char *const types[] = {"application/merge-patch+json",
					    "application/strategic-merge-patch+json"};
	struct api *r = *state;
	char *filler = mem_alloc((2 << 20) + 1), *body;

	memset(filler, 'x', 2 << 20);
	filler[2 << 20] = '\0';
	body = mem_printf("{'metadata':{'name':'big'},'data':{'a':'%s'}}", filler);
	api_do(r, "POST", CM, body);
	assert_status(r, 201);
	free(body);
	body = mem_printf("{\"data\":{\"b\":\"%s\"}}", filler);
	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
		api_raw(r, "PATCH", CM "/big", types[i], body);
		assert_status(r, 413);
		assert_string_equal(api_str(r, "reason"), "RequestEntityTooLarge");
	}
	api_patch(r, "json-patch+json", CM "/big",
		  "[{'op':'copy','from':'/data/a','path':'/data/b'}]");
	assert_status(r, 413);
	api_patch(r, "merge-patch+json", CM "/big", "{'data':{'c':'d'}}");
	assert_status(r, 200);
	api_patch(r, "json-patch+json", CM "/big", "[{'op':'remove','path':'/data/a'}]");
	assert_status(r, 200);
	free(body);
	free(filler);
}

/* kubectl prints the Warning header as "Warning: ...". */
static void whoever_creates_what_nothing_acts_on_is_warned(void **state)
{
	static const char *const inert[] = {"DaemonSet", "StatefulSet", NULL};
	struct apiserver_spec spec = {.inert_kinds = inert};
	struct api r;

	(void)state;
	api_start(&r, &spec, 1000);
	api_do(&r, "POST", "/apis/apps/v1/namespaces/default/statefulsets",
	       "{'metadata':{'name':'db'}}");
	assert_status(&r, 201);
	assert_string_equal(r.warning, "299 - \"this server runs no controller for a StatefulSet: "
				       "it is stored, but no pod will be created\"");
	api_do(&r, "POST", "/apis/apps/v1/namespaces/default/statefulsets",
	       "{'metadata':{'name':'db'}}");
	assert_status(&r, 409);
	assert_string_equal(r.warning, "");
	api_do(&r, "POST", "/apis/apps/v1/namespaces/default/deployments",
	       "{'metadata':{'name':'web'}}");
	assert_status(&r, 201);
	assert_string_equal(r.warning, "");
	api_patch(&r, "merge-patch+json", "/apis/apps/v1/namespaces/default/statefulsets/db",
		  "{'metadata':{'labels':{'a':'b'}}}");
	assert_status(&r, 200);
	assert_string_equal(r.warning, "");
	api_stop(&r);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, api_setup, api_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(create_fills_in_what_the_server_owns),
		CASE(what_is_wrong_is_refused_with_a_status),
		CASE(a_generated_name_is_different_each_time),
		CASE(an_update_needs_the_revision_it_was_made_from),
		CASE(what_changes_nothing_makes_no_revision),
		CASE(a_dry_run_changes_nothing),
		CASE(patches_of_three_types),
		CASE(an_object_does_not_outgrow_a_body),
		CASE(status_and_the_rest_are_written_apart),
		CASE(string_data_of_a_secret_becomes_data),
		CASE(an_event_has_two_forms),
		CASE(a_binding_gives_a_pod_its_node_once),
		CASE(a_pod_gets_the_priority_of_its_class),
		CASE(names_of_roles_may_be_any_path_segment),
		CASE(yaml_is_read_too),
		CASE(a_client_that_goes_away_before_or_during_the_answer_harms_nobody),
		CASE(a_definition_serves_its_kind_from_then_on),
		CASE(a_definition_in_disorder_is_refused),
		CASE(definitions_are_there_again_after_a_restart),
		cmocka_unit_test(whoever_creates_what_nothing_acts_on_is_warned),
		cmocka_unit_test(a_generated_name_that_is_taken_is_not_given_twice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
