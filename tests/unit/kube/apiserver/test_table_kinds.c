#include "tests/unit/testing.h"

#include <stdlib.h>
#include "base/buf.h"
#include "base/data/json.h"
#include "base/str.h"
#include "kube/apiserver/table.h"
#include "base/data/json_path.h"

/*
 * Columns of `kubectl get` for each built-in kind. The expected rows were taken from the printers
 * of Kubernetes 1.36 (pkg/printers/internalversion), not from table_kinds.c.
 */
#define NOW INT64_C(1800000000000) /* 2027-01-15T08:00:00Z */
#define BORN "'creationTimestamp':'2027-01-15T07:55:00Z'"

static json_t *parse(const char *quoted)
{
	char *text = strdup(quoted);
	struct err e;
	json_t *j;

	for (char *c = text; *c; c++)
		*c = *c == '\'' ? '"' : *c;
	j = json_parse(text, strlen(text), &e);
	if (!j)
		fail_msg("%s: %s", e.text, text);
	free(text);
	return j;
}

/* Appends the column's value; "-" if the column leaves it to table.c, else its text for a missing
 * value. */
static void add_cell(struct buf *b, const struct column *c, const json_t *obj)
{
	OWN_JSON v = c->cell ? c->cell(obj, NOW) : json_incref((json_t *)json_path(obj, c->path));

	buf_puts(b, !b->len ? "" : c->priority ? " ;" : " |");
	if (json_is_integer(v))
		buf_printf(b, " %lld", (long long)json_integer_value(v));
	else if (json_is_boolean(v))
		buf_puts(b, json_is_true(v) ? " true" : " false");
	else if (v)
		buf_printf(b, " %s", json_string_value(v));
	else
		buf_printf(b, " %s", c->otherwise ? c->otherwise : "-");
}

/* want: the cells as " a | b ; c"; those after a ';' appear only with `-o wide`. */
static void expect_row(const char *kind, const char *object, const char *want)
{
	const struct resource r = {.kind = kind};
	OWN_JSON obj = parse(object);
	struct buf b;

	buf_init(&b, 4096);
	for (const struct column *c = table_columns(&r); c->name; c++)
		add_cell(&b, c, obj);
	if (!str_eq(b.data, want))
		fail_msg("%s: want '%s', got '%s'", kind, want, b.data);
	buf_done(&b);
}

static void expect_names(const char *kind, const char *want)
{
	const struct resource r = {.kind = kind};
	struct buf b;

	buf_init(&b, 4096);
	for (const struct column *c = table_columns(&r); c->name; c++)
		buf_printf(&b, "%s%s", b.len ? "," : "", c->name);
	assert_string_equal(b.data, want);
	buf_done(&b);
}

static void a_kind_without_columns_of_its_own_has_name_and_age(void **state)
{
	(void)state;
	expect_names("NetworkPolicy", "Name,Age");
	expect_row("NetworkPolicy", "{'metadata':{'name':'n'," BORN "}}", " n | 5m");
	expect_row("NetworkPolicy", "{'metadata':{'name':'n'}}", " n | <unknown>");
}

static void a_pod_says_first_what_is_wrong_with_it(void **state)
{
	static const struct {
		const char *rest, *status;
	} pods[] = {
		{"'status':{'phase':'Pending'}", "Pending"},
		{"'status':{'phase':'Failed','reason':'Evicted'}", "Evicted"},
		{"'status':{'phase':'Pending',"
		 "'conditions':[{'type':'PodScheduled','status':'False',"
		 "'reason':'SchedulingGated'}]}",
		 "SchedulingGated"},
		{"'status':{'phase':'Pending',"
		 "'conditions':[{'type':'PodScheduled','status':'False',"
		 "'reason':'Unschedulable'}]}",
		 "Pending"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(pods) / sizeof(*pods); i++) {
		char object[512], want[128];

		str_format(object, sizeof(object),
			   "{'metadata':{'name':'p'," BORN "},'spec':{'containers':[{}]},%s}",
			   pods[i].rest);
		str_format(want, sizeof(want),
			   " p | 0/1 | %s | 0 | 5m ; <none> ; <none> ; <none> ; <none>",
			   pods[i].status);
		expect_row("Pod", object, want);
	}
	expect_row("Pod",
		   "{'metadata':{'name':'p'," BORN ",'deletionTimestamp':'2027-01-15T08:00:00Z'},"
		   "'spec':{'nodeName':'n1','containers':[{},{}]},"
		   "'status':{'phase':'Running','podIP':'10.0.0.1','containerStatuses':["
		   "{'ready':true,'restartCount':4},"
		   "{'restartCount':1,'state':{'terminated':{'reason':'Error'}}}]}}",
		   " p | 1/2 | Terminating | 5 | 5m ; 10.0.0.1 ; n1 ; <none> ; <none>");
}

static void a_node_says_whether_it_is_ready_and_cordoned(void **state)
{
	static const char info[] =
		"'nodeInfo':{'kubeletVersion':'v1.36.1','osImage':'Debian','kernelVersion':'6.1',"
		"'containerRuntimeVersion':'containerd://2.0'}";
	char object[1024];

	(void)state;
	str_format(
		object, sizeof(object),
		"{'metadata':{'name':'n'," BORN ",'labels':{'node-role.kubernetes.io/gpu':'',"
		"'node-role.kubernetes.io/':'x','a':'b'}},'spec':{'unschedulable':true},"
		"'status':{'conditions':[{'type':'DiskPressure','status':'False'},"
		"{'type':'Ready','status':'True'}],'addresses':[{'type':'Hostname','address':'n'},"
		"{'type':'InternalIP','address':'10.0.0.2'}],%s}}",
		info);
	expect_row("Node", object,
		   " n | Ready,SchedulingDisabled | gpu | 5m | v1.36.1 ; 10.0.0.2 ; <none> ; "
		   "Debian ; 6.1 ; containerd://2.0");
	expect_row("Node",
		   "{'metadata':{'name':'n'," BORN "},'status':{'conditions':[{'type':'Ready',"
		   "'status':'Unknown'}],'nodeInfo':{'kubeletVersion':'v1'}}}",
		   " n | NotReady | <none> | 5m | v1 ; <none> ; <none> ; "
		   "<unknown> ; <unknown> ; <unknown>");
	expect_row("Node", "{'metadata':{'name':'n'," BORN "}}",
		   " n | Unknown | <none> | 5m | - ; <none> ; <none> ; <unknown> ; <unknown> ; "
		   "<unknown>");
}

static void what_holds_data_is_counted(void **state)
{
	(void)state;
	expect_row("ConfigMap",
		   "{'metadata':{'name':'c'," BORN
		   "},'data':{'a':'1','b':'2'},'binaryData':{'x':''}}",
		   " c | 3 | 5m");
	expect_row("Secret", "{'metadata':{'name':'s'," BORN "},'type':'Opaque','data':{'a':''}}",
		   " s | Opaque | 1 | 5m");
	expect_row("ServiceAccount",
		   "{'metadata':{'name':'a'," BORN "},'secrets':[{'name':'x'},{'name':'y'}]}",
		   " a | 2 | 5m");
	expect_row("Namespace", "{'metadata':{'name':'n'," BORN "},'status':{'phase':'Active'}}",
		   " n | Active | 5m");
}

static void a_quota_splits_requests_from_limits(void **state)
{
	(void)state;
	expect_row(
		"ResourceQuota",
		"{'metadata':{'name':'q'," BORN "},'spec':{'hard':{'pods':'10','limits.cpu':'4',"
		"'requests.nvidia.com/gpu':'8'}},'status':{'used':{'pods':'3','limits.cpu':'1'}}}",
		" q | pods: 3/10, requests.nvidia.com/gpu: 0/8 | limits.cpu: 1/4 | 5m");
	expect_row("ResourceQuota", "{'metadata':{'name':'q'," BORN "}}", " q |  |  | 5m");
}

static void an_event_is_as_old_as_its_last_sight(void **state)
{
	(void)state;
	expect_names("Event",
		     "Last Seen,Type,Reason,Object,Subobject,Source,Message,First Seen,Count,Name");
	expect_row(
		"Event",
		"{'metadata':{'name':'e'," BORN
		"},'type':'Warning','reason':'Failed','message':'no',"
		"'involvedObject':{'kind':'Pod','name':'p','fieldPath':'spec.containers{a}'},"
		"'source':{'component':'kubelet'},'count':7,"
		"'firstTimestamp':'2027-01-15T07:00:00Z','lastTimestamp':'2027-01-15T07:59:50Z'}",
		" 10s | Warning | Failed | pod/p ; spec.containers{a} ; "
		"kubelet | no ; 60m ; 7 ; e");
	/* An event of the newer kind, with a series and a reporting component. */
	expect_row("Event",
		   "{'metadata':{'name':'e'," BORN "},'type':'Normal','reason':'R','message':'m',"
		   "'involvedObject':{'kind':'NodeClaim','name':'c'},'reportingComponent':'drover',"
		   "'eventTime':'2027-01-15T07:58:00Z',"
		   "'series':{'count':3,'lastObservedTime':'2027-01-15T07:59:59Z'}}",
		   " 1s | Normal | R | nodeclaim/c ; - ; drover | m ; 2m ; 3 ; e");
	expect_row("Event", "{'metadata':{'name':'e'," BORN "},'source':{'component':''}}",
		   " 5m |  |  | / ; - ;  |  ; 5m ; 1 ; e");
}

static void services_and_volumes_show_where_they_lead(void **state)
{
	(void)state;
	expect_row("Service",
		   "{'metadata':{'name':'s'," BORN
		   "},'spec':{'type':'NodePort','clusterIP':'10.9.0.1',"
		   "'ports':[{'port':80,'protocol':'TCP'},{'port':53,'protocol':'UDP'},{'port':9}],"
		   "'selector':{'app':'x','tier':'y'}}}",
		   " s | NodePort | 10.9.0.1 | <none> | 80/TCP,53/UDP,9/TCP | 5m ; app=x,tier=y");
	expect_row("Service", "{'metadata':{'name':'s'," BORN "}}",
		   " s | ClusterIP | <none> | <none> | <none> | 5m ; <none>");
	expect_row("PersistentVolumeClaim",
		   "{'metadata':{'name':'c'," BORN "},'spec':{'volumeName':'v','accessModes':["
		   "'ReadWriteOnce','ReadOnlyMany','ReadWriteMany','ReadWriteOncePod','Other'],"
		   "'storageClassName':'fast','volumeMode':'Block'},"
		   "'status':{'phase':'Bound','capacity':{'storage':'1Gi'}}}",
		   " c | Bound | v | 1Gi | RWO,ROX,RWX,RWOP | fast | <unset> | 5m ; Block");
	expect_row("PersistentVolume",
		   "{'metadata':{'name':'v'," BORN "},'spec':{'capacity':{'storage':'1Gi'},"
		   "'accessModes':['ReadWriteOnce'],'persistentVolumeReclaimPolicy':'Retain',"
		   "'claimRef':{'namespace':'ns','name':'c'}},'status':{'phase':'Bound'}}",
		   " v | 1Gi | RWO | Retain | Bound | ns/c |  |  | 5m");
	expect_row("PersistentVolume", "{'metadata':{'name':'v'," BORN "}}",
		   " v |  |  |  |  |  |  |  | 5m");
	expect_row("StorageClass",
		   "{'metadata':{'name':'c'," BORN
		   "},'provisioner':'p','allowVolumeExpansion':true}",
		   " c | p | Delete | <unset> | true | 5m");
	expect_row("VolumeAttachment",
		   "{'metadata':{'name':'a'," BORN "},'spec':{'attacher':'csi','nodeName':'n',"
		   "'source':{'persistentVolumeName':'v'}},'status':{'attached':false}}",
		   " a | csi | v | n | false | 5m");
}

#define TEMPLATE                                                                                   \
	"'template':{'spec':{'nodeSelector':{'gpu':'h100'},'containers':["                         \
	"{'name':'a','image':'i:1'},{'name':'b','image':'j:2'}]}},"                                \
	"'selector':{'matchLabels':{'app':'x'}}"

static void workloads_show_how_many_are_ready_of_how_many(void **state)
{
	(void)state;
	expect_row("Deployment",
		   "{'metadata':{'name':'d'," BORN "},'spec':{'replicas':3," TEMPLATE "},"
		   "'status':{'readyReplicas':1,'updatedReplicas':2,'availableReplicas':1}}",
		   " d | 1/3 | 2 | 1 | 5m ; a,b ; i:1,j:2 ; app=x");
	expect_row("ReplicaSet",
		   "{'metadata':{'name':'r'," BORN "},'spec':{'replicas':3," TEMPLATE "},"
		   "'status':{'replicas':2,'readyReplicas':1}}",
		   " r | 3 | 2 | 1 | 5m ; a,b ; i:1,j:2 ; app=x");
	expect_row("StatefulSet",
		   "{'metadata':{'name':'s'," BORN "},'spec':{" TEMPLATE
		   "},'status':{'replicas':2}}",
		   " s | 0/2 | 5m ; a,b ; i:1,j:2");
	expect_row(
		"DaemonSet",
		"{'metadata':{'name':'d'," BORN "},'spec':{" TEMPLATE
		"},'status':{'desiredNumberScheduled':5,'currentNumberScheduled':4,'numberReady':3,"
		"'updatedNumberScheduled':2,'numberAvailable':1}}",
		" d | 5 | 4 | 3 | 2 | 1 | gpu=h100 | 5m ; a,b ; i:1,j:2 ; app=x");
}

static void a_job_says_how_far_it_is_and_how_long_it_took(void **state)
{
	(void)state;
	expect_row("Job",
		   "{'metadata':{'name':'j'," BORN "},'spec':{'completions':4," TEMPLATE "},"
		   "'status':{'succeeded':1,'startTime':'2027-01-15T07:59:00Z'}}",
		   " j | Running | 1/4 | 60s | 5m ; a,b ; i:1,j:2 ; app=x");
	expect_row("Job",
		   "{'metadata':{'name':'j'," BORN "},'status':{'succeeded':1,"
		   "'startTime':'2027-01-15T07:56:00Z','completionTime':'2027-01-15T07:56:30Z',"
		   "'conditions':[{'type':'Failed','status':'False'},"
		   "{'type':'Complete','status':'True'}]}}",
		   " j | Complete | 1/1 | 30s | 5m ;  ;  ; <none>");
	expect_row("Job",
		   "{'metadata':{'name':'j'," BORN ",'deletionTimestamp':'2027-01-15T08:00:00Z'}}",
		   " j | Terminating | 0/1 |  | 5m ;  ;  ; <none>");
}

static void a_budget_takes_numbers_and_percentages(void **state)
{
	(void)state;
	expect_row("PodDisruptionBudget",
		   "{'metadata':{'name':'b'," BORN "},'spec':{'minAvailable':2},"
		   "'status':{'disruptionsAllowed':1}}",
		   " b | 2 | N/A | 1 | 5m");
	expect_row("PodDisruptionBudget",
		   "{'metadata':{'name':'b'," BORN "},'spec':{'maxUnavailable':'30%'},"
		   "'status':{'disruptionsAllowed':0}}",
		   " b | N/A | 30% | 0 | 5m");
}

static void bindings_name_their_role_and_whom_they_bind(void **state)
{
	static const char binding[] =
		"{'metadata':{'name':'b'," BORN "},'roleRef':{'kind':'ClusterRole','name':'view'},"
		"'subjects':[{'kind':'User','name':'u'},{'kind':'Group','name':'g'},"
		"{'kind':'User','name':'v'},"
		"{'kind':'ServiceAccount','namespace':'ns','name':'a'},"
		"{'kind':'ServiceAccount','namespace':'ns','name':'b'}]}";

	(void)state;
	expect_row("RoleBinding", binding, " b | ClusterRole/view | 5m ; u, v ; g ; ns/a, ns/b");
	expect_row("ClusterRoleBinding", "{'metadata':{'name':'b'," BORN "}}",
		   " b | / | 5m ;  ;  ; ");
	expect_row("Role", "{'metadata':{'name':'r'," BORN "}}", " r | 2027-01-15T07:55:00Z");
}

static void the_rest_shows_its_one_fact(void **state)
{
	(void)state;
	expect_row("Lease", "{'metadata':{'name':'l'," BORN "},'spec':{'holderIdentity':'me'}}",
		   " l | me | 5m");
	expect_row("PriorityClass",
		   "{'metadata':{'name':'p'," BORN "},'value':1000,'globalDefault':true}",
		   " p | 1000 | true | 5m | PreemptLowerPriority");
	expect_row("CustomResourceDefinition", "{'metadata':{'name':'c'," BORN "}}",
		   " c | 2027-01-15T07:55:00Z");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_kind_without_columns_of_its_own_has_name_and_age),
		cmocka_unit_test(a_pod_says_first_what_is_wrong_with_it),
		cmocka_unit_test(a_node_says_whether_it_is_ready_and_cordoned),
		cmocka_unit_test(what_holds_data_is_counted),
		cmocka_unit_test(a_quota_splits_requests_from_limits),
		cmocka_unit_test(an_event_is_as_old_as_its_last_sight),
		cmocka_unit_test(services_and_volumes_show_where_they_lead),
		cmocka_unit_test(workloads_show_how_many_are_ready_of_how_many),
		cmocka_unit_test(a_job_says_how_far_it_is_and_how_long_it_took),
		cmocka_unit_test(a_budget_takes_numbers_and_percentages),
		cmocka_unit_test(bindings_name_their_role_and_whom_they_bind),
		cmocka_unit_test(the_rest_shows_its_one_fact),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
