#include "tests/unit/kube/apiserver/api_rig.h"

#include <stdio.h>
#include <stdlib.h>
#include "base/mem.h"
#include "base/str.h"

#define NS "/namespaces/default"
#define PODS "/api/v1" NS "/pods"
#define NODES "/api/v1/nodes"
#define PDBS "/apis/policy/v1" NS "/poddisruptionbudgets"
#define DEPLOYS "/apis/apps/v1" NS "/deployments"
#define JOBS "/apis/batch/v1" NS "/jobs"
#define BINDINGS "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings"
#define C "'containers':[{'name':'c','image':'i'}]"

static int setup(void **state)
{
	struct api *r = mem_new(struct api);

	api_start(r, &(struct apiserver_spec){.checks = true}, 1000);
	*state = r;
	return 0;
}

static void what_users_get_wrong_is_refused_by_name(void **state)
{
	struct api *r = *state;
	static const struct {
		const char *path, *body, *says;
	} cases[] = {
		{PODS, "{'metadata':{'name':'p'},'spec':{}}", "spec.containers: Required value"},
		{PODS, "{'metadata':{'name':'p'}}", "spec.containers: Required value"},
		{PODS, "{'metadata':{'name':'P'},'spec':{" C "}}", "metadata.name: Invalid value"},
		{PODS, "{'metadata':{'name':'p'},'spec':{'containers':[{'name':'c'}]}}",
		 "spec.containers[0].image: Required value"},
		{PODS, "{'metadata':{'name':'p'},'spec':{'containers':[{'image':'c'}]}}",
		 "spec.containers[0].name: Required value"},
		{PODS,
		 "{'metadata':{'name':'p'},"
		 "'spec':{'containers':[{'name':'c','image':'i'},{'name':'c','image':'i'}]}}",
		 "spec.containers[1].name: Duplicate value"},
		{PODS, "{'metadata':{'name':'p'},'spec':{'restartPolicy':'Maybe'," C "}}",
		 "spec.restartPolicy: Unsupported value: \"Maybe\""},
		{PODS,
		 "{'metadata':{'name':'p'},'spec':{'containers':[{'name':'c','image':'i',"
		 "'resources':{'requests':{'cpu':'2'},'limits':{'cpu':'1500m'}}}]}}",
		 "must be less than or equal to cpu limit of 1500m"},
		{PODS,
		 "{'metadata':{'name':'p'},'spec':{'containers':[{'name':'c','image':'i',"
		 "'ports':[{'containerPort':70000}]}]}}",
		 "spec.containers[0].ports[0].containerPort"},
		{PODS, "{'metadata':{'name':'p'},'spec':{'tolerations':[{'operator':'Is'}]," C "}}",
		 "spec.tolerations[0].operator"},
		{PODS, "{'metadata':{'name':'p'},'spec':{'tolerations':[{'value':'x'}]," C "}}",
		 "spec.tolerations[0].operator"},
		{PODS,
		 "{'metadata':{'name':'p'},"
		 "'spec':{'tolerations':[{'key':'k','operator':'Gt','value':'07'}]," C "}}",
		 "spec.tolerations[0].value"},
		{PODS,
		 "{'metadata':{'name':'p',"
		 "'ownerReferences':[{'kind':'X','name':'x','uid':'u'}]},'spec':{" C "}}",
		 "metadata.ownerReferences[0].apiVersion: Required value"},
		{PODS, "{'metadata':{'name':'p','finalizers':['a b']},'spec':{" C "}}",
		 "metadata.finalizers"},
		{PODS, "{'metadata':{'name':'p','labels':{'a':'-'}},'spec':{" C "}}",
		 "metadata.labels"},
		{NODES, "{'metadata':{'name':'n'},'spec':{'taints':[{'key':'a'}]}}",
		 "spec.taints[0].effect: Required value"},
		{NODES,
		 "{'metadata':{'name':'n'},'spec':{'taints':[{'key':'a','effect':'NoExecute'},"
		 "{'key':'a','effect':'NoExecute','value':'x'}]}}",
		 "taints must be unique"},
		{PDBS, "{'metadata':{'name':'b'},'spec':{'minAvailable':1,'maxUnavailable':1}}",
		 "cannot be both set"},
		{PDBS, "{'metadata':{'name':'b'},'spec':{'minAvailable':'half'}}",
		 "spec.minAvailable"},
		{PDBS,
		 "{'metadata':{'name':'b'},"
		 "'spec':{'selector':{'matchExpressions':[{'key':'a','operator':'In'}]}}}",
		 "spec.selector.matchExpressions[0].values: Required value"},
		{"/api/v1/namespaces", "{'metadata':{'name':'a.b'}}", "metadata.name"},
		{"/api/v1" NS "/configmaps", "{'metadata':{'name':'c'},'data':{'a/b':'x'}}",
		 "data[a/b]"},
		{"/api/v1" NS "/services", "{'metadata':{'name':'s'},'spec':{}}",
		 "spec.ports: Required value"},
		{"/apis/coordination.k8s.io/v1" NS "/leases",
		 "{'metadata':{'name':'l'},'spec':{'leaseDurationSeconds':0}}",
		 "spec.leaseDurationSeconds"},
		{DEPLOYS, "{'metadata':{'name':'d'},'spec':{'template':{'spec':{" C "}}}}",
		 "spec.selector: Required value"},
		{DEPLOYS,
		 "{'metadata':{'name':'d'},"
		 "'spec':{'selector':{'matchLabels':{'a':'b'}},'template':{'spec':{" C "}}}}",
		 "`selector` does not match"},
		{JOBS, "{'metadata':{'name':'j'},'spec':{'template':{'spec':{" C "}}}}",
		 "valid values: \"OnFailure\", \"Never\""},
		{BINDINGS, "{'metadata':{'name':'b'},'roleRef':{'kind':'Roll','name':'x'}}",
		 "roleRef.kind: Unsupported value"},
		{BINDINGS,
		 "{'metadata':{'name':'b'},'roleRef':{'kind':'ClusterRole','name':'x'},"
		 "'subjects':[{'kind':'User'}]}",
		 "subjects[0].name: Required value"},
		{"/apis/rbac.authorization.k8s.io/v1/clusterroles",
		 "{'metadata':{'name':'r'},'rules':[{'apiGroups':[''],'resources':['pods']}]}",
		 "rules[0].verbs: Required value"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		api_do(r, "POST", cases[i].path, cases[i].body);
		if (r->status != 422 || !strstr(api_str(r, "message"), cases[i].says))
			fail_msg("%s: %d %s", cases[i].body, r->status, r->text);
	}
}

static void a_pod_gets_its_defaults(void **state)
{
	struct api *r = *state;

	api_do(r, "POST", PODS,
	       "{'metadata':{'name':'p'},"
	       "'spec':{'tolerations':[{'key':'node.kubernetes.io/not-ready',"
	       "'operator':'Exists'}],"
	       "'containers':[{'name':'c','image':'a:5000/i:v1','ports':[{'containerPort':80}],"
	       "'resources':{'limits':{'nvidia.com/gpu':8,'cpu':'1','memory':'1Gi'}}}]}}");
	assert_status(r, 201);
	assert_string_equal(api_str(r, "spec.containers.0.imagePullPolicy"), "IfNotPresent");
	assert_string_equal(api_str(r, "spec.containers.0.ports.0.protocol"), "TCP");
	assert_non_null(json_at(json_array_get(json_at(r->j, "spec", "containers"), 0), "resources",
				"requests", "nvidia.com/gpu"));
	assert_string_equal(api_str(r, "spec.dnsPolicy"), "ClusterFirst");
	assert_string_equal(api_str(r, "spec.serviceAccountName"), "default");
	assert_string_equal(api_str(r, "status.qosClass"), "Guaranteed");
	assert_int_equal(api_int(r, "spec.tolerations"), 2);
	assert_string_equal(api_str(r, "spec.tolerations.1.key"), "node.kubernetes.io/unreachable");
	assert_int_equal(api_int(r, "spec.tolerations.1.tolerationSeconds"), 300);
}

static void workloads_get_their_defaults(void **state)
{
	struct api *r = *state;

	api_do(r, "POST", DEPLOYS,
	       "{'metadata':{'name':'d'},'spec':{'selector':{'matchLabels':{'a':'b'}},"
	       "'template':{'metadata':{'labels':{'a':'b'}},'spec':{" C "}}}}");
	assert_status(r, 201);
	assert_int_equal(api_int(r, "spec.replicas"), 1);
	assert_string_equal(api_str(r, "spec.strategy.rollingUpdate.maxSurge"), "25%");
	assert_string_equal(api_str(r, "spec.template.spec.containers.0.imagePullPolicy"),
			    "Always");
	api_do(r, "POST", JOBS,
	       "{'metadata':{'name':'j'},'spec':{'template':{'spec':{'restartPolicy':'Never'," C
	       "}}}}");
	assert_status(r, 201);
	assert_int_equal(api_int(r, "spec.completions"), 1);
	assert_int_equal(api_int(r, "spec.backoffLimit"), 6);
	assert_non_null(json_at(r->j, "spec", "selector", "matchLabels",
				"batch.kubernetes.io/controller-uid"));
	assert_string_equal(api_str(r, "metadata.labels.job-name"), "j");
	assert_string_equal(api_str(r, "spec.template.metadata.labels.job-name"), "j");
	api_do(r, "POST", "/api/v1" NS "/services",
	       "{'metadata':{'name':'s'},'spec':{'type':'LoadBalancer','ports':[{'port':80}]}}");
	assert_status(r, 201);
	assert_string_equal(api_str(r, "spec.externalTrafficPolicy"), "Cluster");
	assert_true(json_true_at(json_object_get(r->j, "spec"), "allocateLoadBalancerNodePorts"));
	api_patch(r, "merge-patch+json", "/api/v1" NS "/services/s/status",
		  "{'status':{'loadBalancer':{'ingress':[{'ip':'10.0.0.1'}]}}}");
	assert_string_equal(api_str(r, "status.loadBalancer.ingress.0.ipMode"), "VIP");
	api_do(r, "POST", BINDINGS,
	       "{'metadata':{'name':'b'},'roleRef':{'kind':'ClusterRole','name':'x'},"
	       "'subjects':[{'kind':'User','name':'u'}]}");
	assert_status(r, 201);
	assert_string_equal(api_str(r, "subjects.0.apiGroup"), "rbac.authorization.k8s.io");
}

static void a_status_gets_its_defaults_and_a_pod_its_generation(void **state)
{
	struct api *r = *state;

	api_do(r, "POST", NODES, "{'metadata':{'name':'n'}}");
	api_patch(r, "merge-patch+json", NODES "/n/status", "{'status':{'capacity':{'cpu':'8'}}}");
	assert_status(r, 200);
	assert_string_equal(api_str(r, "status.allocatable.cpu"), "8");

	api_do(r, "POST", PODS, "{'metadata':{'name':'p'},'spec':{" C "}}");
	assert_int_equal(api_int(r, "metadata.generation"), 1);
	api_do(r, "POST", PODS "/p/binding",
	       "{'metadata':{'name':'p'},'target':{'kind':'Node','name':'n'}}");
	assert_status(r, 201);
	assert_int_equal(api_int(r, "code"), 201);
	assert_null(json_object_get(r->j, "details"));
	api_do(r, "GET", PODS "/p", NULL);
	assert_int_equal(api_int(r, "metadata.generation"), 1);
	api_patch(r, "merge-patch+json", PODS "/p/status", "{'status':{'phase':'Running'}}");
	assert_int_equal(api_int(r, "metadata.generation"), 1);
	api_patch(r, "merge-patch+json", PODS "/p", "{'spec':{'activeDeadlineSeconds':100}}");
	assert_status(r, 200);
	assert_int_equal(api_int(r, "metadata.generation"), 2);
	api_do(r, "POST", PODS "/p/eviction", "{'metadata':{'name':'p'}}");
	assert_status(r, 201);
	assert_null(json_object_get(r->j, "details"));

	api_do(r, "POST", PODS, "{'metadata':{'name':'q'},'spec':{}}");
	assert_status(r, 422);
	assert_string_equal(api_str(r, "details.causes.0.field"), "spec.containers");
}

static void parts_of_pods_and_volumes_get_their_defaults(void **state)
{
	struct api *r = *state;

	api_do(r, "POST", PODS,
	       "{'metadata':{'name':'p'},"
	       "'spec':{'hostNetwork':true,'containers':[{'name':'c','image':'i',"
	       "'ports':[{'containerPort':80}],'livenessProbe':{'httpGet':{'port':1}},"
	       "'readinessProbe':{'grpc':{'port':1},'periodSeconds':7},"
	       "'env':[{'name':'A','valueFrom':{'fieldRef':{'fieldPath':'metadata.name'}}}],"
	       "'lifecycle':{'preStop':{'httpGet':{'port':1}}}}],"
	       "'volumes':[{'name':'a'},{'name':'b','secret':{'secretName':'s'}},"
	       "{'name':'c','hostPath':{'path':'/x'}},"
	       "{'name':'d','projected':{'sources':[{'serviceAccountToken':{'path':'t'}}]}},"
	       "{'name':'e','ephemeral':{'volumeClaimTemplate':{'spec':{}}}}]}}");
	assert_status(r, 201);
	assert_int_equal(api_int(r, "spec.containers.0.ports.0.hostPort"), 80);
	assert_string_equal(api_str(r, "spec.containers.0.livenessProbe.httpGet.scheme"), "HTTP");
	assert_int_equal(api_int(r, "spec.containers.0.livenessProbe.failureThreshold"), 3);
	assert_int_equal(api_int(r, "spec.containers.0.readinessProbe.periodSeconds"), 7);
	assert_string_equal(api_str(r, "spec.containers.0.readinessProbe.grpc.service"), "");
	assert_string_equal(api_str(r, "spec.containers.0.env.0.valueFrom.fieldRef.apiVersion"),
			    "v1");
	assert_string_equal(api_str(r, "spec.containers.0.lifecycle.preStop.httpGet.path"), "/");
	assert_string_equal(api_str(r, "spec.preemptionPolicy"), "PreemptLowerPriority");
	assert_non_null(json_at(json_array_get(json_at(r->j, "spec", "volumes"), 0), "emptyDir"));
	assert_int_equal(api_int(r, "spec.volumes.1.secret.defaultMode"), 420);
	assert_string_equal(api_str(r, "spec.volumes.2.hostPath.type"), "");
	assert_int_equal(api_int(r, "spec.volumes.3.projected.defaultMode"), 420);
	assert_int_equal(
		api_int(r,
			"spec.volumes.3.projected.sources.0.serviceAccountToken.expirationSeconds"),
		3600);
	assert_string_equal(
		api_str(r, "spec.volumes.4.ephemeral.volumeClaimTemplate.spec.volumeMode"),
		"Filesystem");

	api_do(r, "POST", "/api/v1" NS "/persistentvolumeclaims",
	       "{'metadata':{'name':'c'},'spec':{}}");
	assert_status(r, 201);
	assert_string_equal(api_str(r, "spec.volumeMode"), "Filesystem");
	assert_string_equal(api_str(r, "status.phase"), "Pending");
	api_do(r, "POST", "/api/v1/persistentvolumes", "{'metadata':{'name':'v'},'spec':{}}");
	assert_status(r, 201);
	assert_string_equal(api_str(r, "spec.persistentVolumeReclaimPolicy"), "Retain");
	assert_string_equal(api_str(r, "status.phase"), "Pending");
	api_do(r, "POST", "/apis/apps/v1" NS "/statefulsets",
	       "{'metadata':{'name':'s'},'spec':{'selector':{'matchLabels':{'a':'b'}},"
	       "'volumeClaimTemplates':[{'metadata':{'name':'v'},'spec':{}}],"
	       "'template':{'metadata':{'labels':{'a':'b'}},'spec':{" C "}}}}");
	assert_status(r, 201);
	assert_string_equal(api_str(r, "spec.persistentVolumeClaimRetentionPolicy.whenScaled"),
			    "Retain");
	assert_string_equal(api_str(r, "spec.volumeClaimTemplates.0.kind"),
			    "PersistentVolumeClaim");
	assert_string_equal(api_str(r, "spec.volumeClaimTemplates.0.status.phase"), "Pending");
	api_do(r, "POST", "/api/v1" NS "/podtemplates",
	       "{'metadata':{'name':'t'},'template':{'spec':{" C "}}}");
	assert_status(r, 201);
	assert_string_equal(api_str(r, "template.spec.dnsPolicy"), "ClusterFirst");
}

static void what_may_not_change_does_not(void **state)
{
	struct api *r = *state;

	api_do(r, "POST", PODS, "{'metadata':{'name':'p'},'spec':{" C "}}");
	api_patch(r, "merge-patch+json", PODS "/p", "{'spec':{'restartPolicy':'Never'}}");
	assert_status(r, 422);
	api_patch(r, "strategic-merge-patch+json", PODS "/p",
		  "{'spec':{'containers':[{'name':'c','image':'other'}]}}");
	assert_status(r, 200);
	api_patch(r, "merge-patch+json", PODS "/p", "{'metadata':{'labels':{'a':'b'}}}");
	assert_status(r, 200);
	api_do(r, "POST", PODS "/p/binding", "{'target':{'name':'n'}}");
	assert_status(r, 201);
	api_patch(r, "merge-patch+json", PODS "/p", "{'spec':{'nodeName':'m'}}");
	assert_status(r, 422);
	api_patch(r, "merge-patch+json", PODS "/p/status", "{'status':{'phase':'Running'}}");
	assert_status(r, 200);
	api_do(r, "POST", BINDINGS,
	       "{'metadata':{'name':'b'},'roleRef':{'kind':'ClusterRole','name':'x'}}");
	api_patch(r, "merge-patch+json", BINDINGS "/b", "{'roleRef':{'name':'y'}}");
	assert_status(r, 422);
	api_do(r, "POST", "/api/v1" NS "/secrets",
	       "{'metadata':{'name':'s'},'immutable':true,'data':{'a':'eA=='}}");
	api_patch(r, "merge-patch+json", "/api/v1" NS "/secrets/s", "{'data':{'a':'eQ=='}}");
	assert_status(r, 422);
	api_patch(r, "merge-patch+json", "/api/v1" NS "/secrets/s", "{'type':'x'}");
	assert_status(r, 422);
	api_patch(r, "merge-patch+json", "/api/v1" NS "/secrets/s",
		  "{'metadata':{'labels':{'a':'b'}}}");
	assert_status(r, 200);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, api_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(what_users_get_wrong_is_refused_by_name),
		CASE(a_pod_gets_its_defaults),
		CASE(workloads_get_their_defaults),
		CASE(a_status_gets_its_defaults_and_a_pod_its_generation),
		CASE(parts_of_pods_and_volumes_get_their_defaults),

		CASE(what_may_not_change_does_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
