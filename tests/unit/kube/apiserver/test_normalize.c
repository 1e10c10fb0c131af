#include "tests/unit/kube/apiserver/api_rig.h"

#include "base/mem.h"
#include "base/str.h"

#define CORE "/api/v1/namespaces/default/"
#define EVENTS "/apis/events.k8s.io/v1/namespaces/default/events"
#define RBAC "/apis/rbac.authorization.k8s.io/v1/clusterroles"

static int setup(void **state)
{
	struct api *r = mem_new(struct api);

	api_start(r, &(struct apiserver_spec){.checks = true, .schemas = true}, 1000);
	*state = r;
	return 0;
}

/* Returns the member as JSON; NULL: not found. */
static const json_t *member(struct api *r, const char *dotted)
{
	char path[128];
	json_t *v = r->j;

	assert_true(str_copy(path, sizeof(path), dotted));
	for (char *rest = path, *part; v && (part = strsep(&rest, "."));)
		v = *part >= '0' && *part <= '9' ? json_array_get(v, (size_t)(*part - '0'))
						 : json_object_get(v, part);
	return v;
}

static void is(struct api *r, const char *dotted, const char *want)
{
	const json_t *v = member(r, dotted);
	char *text = v ? json_dumps(v, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;

	if (!str_eq(str_or(text, "absent"), want))
		fail_msg("%s is %s, want %s: %s", dotted, str_or(text, "absent"), want, r->text);
	free(text);
}

static void an_event_has_all_the_fields_that_clients_sort_by(void **state)
{
	struct api *r = *state;

	api_do(r, "POST", EVENTS,
	       "{'metadata':{'name':'new'},'eventTime':'2026-01-02T03:04:05.000000Z',"
	       "'reportingController':'a/b','reportingInstance':'i','action':'A','reason':'R',"
	       "'type':'Normal','regarding':{'name':'p'}}");
	assert_status(r, 201);
	is(r, "deprecatedFirstTimestamp", "null");
	is(r, "deprecatedLastTimestamp", "null");
	is(r, "deprecatedSource", "{}");
	is(r, "deprecatedCount", "absent");
	api_do(r, "GET", CORE "events/new", NULL);
	is(r, "firstTimestamp", "null");
	is(r, "lastTimestamp", "null");
	is(r, "source", "{}");
	is(r, "count", "absent");
	is(r, "series", "absent");
	is(r, "reportingComponent", "\"a/b\"");

	api_do(r, "POST", CORE "events",
	       "{'metadata':{'name':'old'},'count':1,'lastTimestamp':'2026-01-02T03:04:05Z',"
	       "'involvedObject':{'name':'p'}}");
	assert_status(r, 201);
	is(r, "firstTimestamp", "null");
	is(r, "eventTime", "null");
	is(r, "reportingComponent", "\"\"");
	is(r, "reportingInstance", "\"\"");
	api_do(r, "GET", EVENTS "/old", NULL);
	is(r, "eventTime", "null");
	is(r, "reportingController", "absent");
	is(r, "reportingInstance", "absent");
	is(r, "deprecatedCount", "1");
	is(r, "deprecatedLastTimestamp", "\"2026-01-02T03:04:05Z\"");
}

static void structs_are_there_and_pointers_are_not(void **state)
{
	struct api *r = *state;

	api_do(r, "POST", CORE "pods",
	       "{'metadata':{'name':'p','labels':{},'annotations':null,'creationTimestamp':null},"
	       "'spec':{'hostNetwork':false,'nodeSelector':{},'priority':0,'nodeName':'',"
	       "'restartPolicy':'','volumes':[{'name':'v','emptyDir':{}}],"
	       "'containers':[{'name':'c','image':'i',"
	       "'env':[{'name':'E','value':''}],'args':[]}]}}");
	assert_status(r, 201);
	is(r, "metadata.labels", "absent");
	is(r, "metadata.annotations", "absent");
	is(r, "spec.hostNetwork", "absent");
	is(r, "spec.nodeSelector", "absent");
	is(r, "spec.nodeName", "absent");
	is(r, "spec.restartPolicy", "\"Always\""); /* an empty value gets the default */
	is(r, "spec.priority", "0");		   /* a pointer in Go, so 0 is kept */
	is(r, "spec.securityContext", "{}");
	is(r, "spec.volumes.0.emptyDir", "{}");
	is(r, "spec.containers.0.env.0.value", "absent");
	is(r, "spec.containers.0.args", "absent");
	is(r, "spec.containers.0.resources", "{}");

	api_patch(r, "merge-patch+json", CORE "pods/p/status",
		  "{'status':{'containerStatuses':[{'name':'c','ready':false,'started':false,"
		  "'state':{'running':{}}}]}}");
	assert_status(r, 200);
	is(r, "status.containerStatuses.0.ready", "false");
	is(r, "status.containerStatuses.0.started", "false");
	is(r, "status.containerStatuses.0.restartCount", "0");
	is(r, "status.containerStatuses.0.imageID", "\"\"");
	is(r, "status.containerStatuses.0.lastState", "{}");
	is(r, "status.containerStatuses.0.state.running.startedAt", "null");

	api_do(r, "POST", CORE "services",
	       "{'metadata':{'name':'s'},'spec':{'ports':[{'port':80}]}}");
	assert_status(r, 201);
	is(r, "status.loadBalancer", "{}");
	is(r, "spec.ports.0.targetPort", "80");
	api_do(r, "POST", "/api/v1/nodes", "{'metadata':{'name':'n'}}");
	assert_status(r, 201);
	is(r, "spec", "{}");
	is(r, "status.daemonEndpoints.kubeletEndpoint.Port", "0");
	is(r, "status.nodeInfo.kubeletVersion", "\"\"");
	api_do(r, "POST", RBAC, "{'metadata':{'name':'r'},'rules':[]}");
	assert_status(r, 201);
	is(r, "rules", "null");
}

static void what_says_nothing_is_no_change(void **state)
{
	struct api *r = *state;
	char rev[32];

	api_do(r, "POST", CORE "configmaps", "{'metadata':{'name':'c'},'data':{'a':''}}");
	assert_status(r, 201);
	is(r, "data.a", "\"\"");
	assert_true(str_copy(rev, sizeof(rev), api_str(r, "metadata.resourceVersion")));
	api_patch(r, "merge-patch+json", CORE "configmaps/c",
		  "{'metadata':{'labels':{}},'binaryData':{}}");
	assert_status(r, 200);
	assert_string_equal(api_str(r, "metadata.resourceVersion"), rev);
}

static void custom_kinds_keep_what_they_were_given(void **state)
{
	struct api *r = *state;

	api_do(r, "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
	       "{'metadata':{'name':'widgets.x.example'},'spec':{'group':'x.example','scope':"
	       "'Cluster','names':{'plural':'widgets','kind':'Widget'},'versions':[{'name':'v1',"
	       "'served':true,'storage':true,'schema':{'openAPIV3Schema':{'type':'object',"
	       "'x-kubernetes-preserve-unknown-fields':true}}}]}}");
	assert_status(r, 201);
	is(r, "spec.conversion", "{\"strategy\":\"None\"}");
	api_do(r, "POST", "/apis/x.example/v1/widgets",
	       "{'metadata':{'name':'w','labels':{}},'spec':{'a':'','b':{},'c':null}}");
	assert_status(r, 201);
	is(r, "metadata.labels", "absent");
	is(r, "spec.a", "\"\"");
	is(r, "spec.b", "{}");
	is(r, "status", "absent");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(an_event_has_all_the_fields_that_clients_sort_by,
						setup, api_teardown),
		cmocka_unit_test_setup_teardown(structs_are_there_and_pointers_are_not, setup,
						api_teardown),
		cmocka_unit_test_setup_teardown(what_says_nothing_is_no_change, setup,
						api_teardown),
		cmocka_unit_test_setup_teardown(custom_kinds_keep_what_they_were_given, setup,
						api_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
