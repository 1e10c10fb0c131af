#include <assert.h>
#include <string.h>
#include "base/str.h"
#include "kube/apiserver/server.h"

/*
 * Sets the defaults of built-in kinds (k8s.io/kubernetes pkg/apis, zz_generated.defaults) and of
 * the admission plugins ServiceAccount and DefaultTolerationSeconds, limited to the defaults that
 * clients read.
 * Tests: tests/unit/kube/apiserver/test_checks.c
 */

/* Adds to o each member of the JSON text defaults that o lacks; o NULL: does nothing. */
static void fill(json_t *o, const char *defaults)
{
	struct err e;
	OWN_JSON j = json_parse(defaults, strlen(defaults), &e);

	assert(j);
	if (json_is_object(o))
		json_object_update_missing(o, j);
}

static json_t *make_object(json_t *o, const char *name)
{
	if (json_is_object(o) && !json_object_get(o, name))
		json_object_set_new(o, name, json_object());
	return json_object_get(o, name);
}

/* --- pods ------------------------------------------------------------------------------------- */

/* For each resource that has a limit and no request, sets the request to the limit. */
static void fill_requests(json_t *container)
{
	json_t *resources = make_object(container, "resources");
	json_t *limits = json_object_get(resources, "limits");

	if (json_is_object(limits) && json_object_size(limits))
		json_object_update_missing(make_object(resources, "requests"), limits);
}

/* True for an image with the tag latest or without tag and digest. A kubelet pulls such an image at
 * each start. */
static bool is_latest(const char *image)
{
	const char *slash = strrchr(image, '/'), *colon = strchr(slash ? slash : image, ':');

	return !strchr(image, '@') && (!colon || str_eq(colon, ":latest"));
}

/* Sets the defaults of a probe or a lifecycle hook. */
static void fill_handler(json_t *handler)
{
	fill(json_object_get(handler, "httpGet"), "{\"path\":\"/\",\"scheme\":\"HTTP\"}");
	fill(json_object_get(handler, "grpc"), "{\"service\":\"\"}");
}

static void fill_probes(json_t *container)
{
	static const char *const probes[] = {"livenessProbe", "readinessProbe", "startupProbe"};

	for (size_t i = 0; i < sizeof(probes) / sizeof(*probes); i++) {
		json_t *probe = json_object_get(container, probes[i]);

		fill(probe, "{\"timeoutSeconds\":1,\"periodSeconds\":10,\"successThreshold\":1,"
			    "\"failureThreshold\":3}");
		fill_handler(probe);
	}
	fill_handler(json_at(container, "lifecycle", "postStart"));
	fill_handler(json_at(container, "lifecycle", "preStop"));
}

static const char field_version[] = "{\"apiVersion\":\"v1\"}";

static void fill_container(json_t *container, bool host_network)
{
	size_t i;
	json_t *v;

	fill(container, is_latest(str_or(json_str_at(container, "image"), ""))
				? "{\"imagePullPolicy\":\"Always\"}"
				: "{\"imagePullPolicy\":\"IfNotPresent\"}");
	fill(container, "{\"terminationMessagePath\":\"/dev/termination-log\","
			"\"terminationMessagePolicy\":\"File\"}");
	json_array_foreach (json_object_get(container, "ports"), i, v) {
		fill(v, "{\"protocol\":\"TCP\"}");
		if (host_network && !json_object_get(v, "hostPort"))
			json_object_set(v, "hostPort", json_object_get(v, "containerPort"));
	}
	json_array_foreach (json_object_get(container, "env"), i, v)
		fill(json_at(v, "valueFrom", "fieldRef"), field_version);
	fill_probes(container);
	fill_requests(container);
}

static void fill_field_refs(json_t *source)
{
	size_t i;
	json_t *v;

	json_array_foreach (json_object_get(source, "items"), i, v)
		fill(json_object_get(v, "fieldRef"), field_version);
}

static void fill_claim_spec(json_t *spec)
{
	fill(spec, "{\"volumeMode\":\"Filesystem\"}");
}

static void fill_volume(json_t *volume)
{
	static const char *const with_mode[] = {"configMap", "secret", "downwardAPI", "projected"};
	size_t i;
	json_t *v;

	/* As in Kubernetes, a volume with only a name is an emptyDir. */
	if (json_object_size(volume) == 1)
		fill(volume, "{\"emptyDir\":{}}");
	for (i = 0; i < sizeof(with_mode) / sizeof(*with_mode); i++)
		fill(json_object_get(volume, with_mode[i]), "{\"defaultMode\":420}");
	fill(json_object_get(volume, "hostPath"), "{\"type\":\"\"}");
	fill_field_refs(json_object_get(volume, "downwardAPI"));
	json_array_foreach (json_at(volume, "projected", "sources"), i, v) {
		fill(json_object_get(v, "serviceAccountToken"), "{\"expirationSeconds\":3600}");
		fill_field_refs(json_object_get(v, "downwardAPI"));
	}
	fill_claim_spec(json_at(volume, "ephemeral", "volumeClaimTemplate", "spec"));
}

static void fill_pod_spec(json_t *spec)
{
	static const char *const lists[] = {"containers", "initContainers"};
	size_t i;
	json_t *v;

	fill(spec, "{\"restartPolicy\":\"Always\",\"dnsPolicy\":\"ClusterFirst\","
		   "\"schedulerName\":\"default-scheduler\",\"terminationGracePeriodSeconds\":30,"
		   "\"securityContext\":{}}");
	for (size_t k = 0; k < sizeof(lists) / sizeof(*lists); k++)
		json_array_foreach (json_object_get(spec, lists[k]), i, v)
			fill_container(v, json_true_at(spec, "hostNetwork"));
	json_array_foreach (json_object_get(spec, "volumes"), i, v)
		fill_volume(v);
}

static bool tolerates(const json_t *tolerations, const char *key)
{
	size_t i;
	json_t *v;

	json_array_foreach (tolerations, i, v) {
		const char *effect = str_or(json_str_at(v, "effect"), "NoExecute");
		const char *its = str_or(json_str_at(v, "key"), key);

		if (str_eq(its, key) && str_eq(effect, "NoExecute"))
			return true;
	}
	return false;
}

static void add_tolerations(json_t *spec)
{
	static const char *const keys[] = {"node.kubernetes.io/not-ready",
					   "node.kubernetes.io/unreachable"};

	if (!json_object_get(spec, "tolerations"))
		json_object_set_new(spec, "tolerations", json_array());
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		if (!tolerates(json_object_get(spec, "tolerations"), keys[i]))
			json_array_append_new(json_object_get(spec, "tolerations"),
					      json_pack("{s:s, s:s, s:s, s:i}", "key", keys[i],
							"operator", "Exists", "effect", "NoExecute",
							"tolerationSeconds", 300));
}

/* Returns the QoS class of a pod, from cpu and memory of all its containers. */
static const char *quality_of(const json_t *spec)
{
	static const char *const names[] = {"cpu", "memory"};
	bool any = false, guaranteed = true;
	size_t i;
	json_t *v;

	json_array_foreach (json_object_get(spec, "containers"), i, v) {
		for (size_t k = 0; k < sizeof(names) / sizeof(*names); k++) {
			const json_t *asked = json_at(v, "resources", "requests", names[k]);
			const json_t *limit = json_at(v, "resources", "limits", names[k]);

			any = any || asked || limit;
			guaranteed = guaranteed && asked && limit && json_equal(asked, limit);
		}
	}
	return !any ? "BestEffort" : guaranteed ? "Guaranteed" : "Burstable";
}

static void fill_pod(json_t *pod, bool creating)
{
	json_t *spec = json_object_get(pod, "spec");

	fill_pod_spec(spec);
	if (!creating || !json_is_object(spec))
		return;
	fill(spec, "{\"serviceAccountName\":\"default\",\"enableServiceLinks\":true,"
		   "\"preemptionPolicy\":\"PreemptLowerPriority\"}");
	json_object_set(spec, "serviceAccount", json_object_get(spec, "serviceAccountName"));
	add_tolerations(spec);
	json_object_set_new(make_object(pod, "status"), "qosClass", json_string(quality_of(spec)));
}

/* --- workloads, services, storage ------------------------------------------------------------- */

static void fill_template(json_t *obj)
{
	fill_pod_spec(json_at(obj, "spec", "template", "spec"));
}

static void fill_pod_template(json_t *obj, bool creating)
{
	(void)creating;
	fill_pod_spec(json_at(obj, "template", "spec"));
}

static void fill_deployment(json_t *obj, bool creating)
{
	json_t *spec = json_object_get(obj, "spec"), *strategy;

	(void)creating;
	fill(spec, "{\"replicas\":1,\"strategy\":{},\"revisionHistoryLimit\":10,"
		   "\"progressDeadlineSeconds\":600}");
	strategy = json_object_get(spec, "strategy");
	fill(strategy, "{\"type\":\"RollingUpdate\"}");
	if (str_eq(json_str_at(strategy, "type"), "RollingUpdate"))
		fill(make_object(strategy, "rollingUpdate"),
		     "{\"maxSurge\":\"25%\",\"maxUnavailable\":\"25%\"}");
	fill_template(obj);
}

static void fill_replica_set(json_t *obj, bool creating)
{
	(void)creating;
	fill(json_object_get(obj, "spec"), "{\"replicas\":1}");
	fill_template(obj);
}

static void fill_claim(json_t *claim, bool creating)
{
	(void)creating;
	fill_claim_spec(json_object_get(claim, "spec"));
	fill(make_object(claim, "status"), "{\"phase\":\"Pending\"}");
}

static void fill_volume_object(json_t *obj, bool creating)
{
	json_t *spec = json_object_get(obj, "spec");

	(void)creating;
	fill(spec, "{\"volumeMode\":\"Filesystem\",\"persistentVolumeReclaimPolicy\":\"Retain\"}");
	fill(json_object_get(spec, "hostPath"), "{\"type\":\"\"}");
	fill(make_object(obj, "status"), "{\"phase\":\"Pending\"}");
}

static void fill_stateful_set(json_t *obj, bool creating)
{
	json_t *spec = json_object_get(obj, "spec"), *v;
	size_t i;

	fill(spec,
	     "{\"replicas\":1,\"podManagementPolicy\":\"OrderedReady\",\"revisionHistoryLimit\":10,"
	     "\"updateStrategy\":{\"type\":\"RollingUpdate\",\"rollingUpdate\":{\"partition\":0}},"
	     "\"persistentVolumeClaimRetentionPolicy\":{}}");
	fill(json_object_get(spec, "persistentVolumeClaimRetentionPolicy"),
	     "{\"whenDeleted\":\"Retain\",\"whenScaled\":\"Retain\"}");
	json_array_foreach (json_object_get(spec, "volumeClaimTemplates"), i, v) {
		fill(v, "{\"apiVersion\":\"v1\",\"kind\":\"PersistentVolumeClaim\"}");
		fill_claim(v, creating);
	}
	fill_template(obj);
}

static void fill_daemon_set(json_t *obj, bool creating)
{
	(void)creating;
	fill(json_object_get(obj, "spec"),
	     "{\"revisionHistoryLimit\":10,\"updateStrategy\":{\"type\":\"RollingUpdate\","
	     "\"rollingUpdate\":{\"maxSurge\":0,\"maxUnavailable\":1}}}");
	fill_template(obj);
}

/* Adds the labels by which a Job selects its pods: the Job's UID and name. Not used if
 * manualSelector is set. */
static void add_job_labels(json_t *labels, const json_t *job)
{
	/* Set each label twice: with the prefix, and without it as before Kubernetes 1.27. */
	static const char *const prefixes[] = {"batch.kubernetes.io/", ""};
	char name[64];

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++) {
		(void)str_format(name, sizeof(name), "%scontroller-uid", prefixes[i]);
		json_object_set(labels, name, json_at(job, "metadata", "uid"));
		(void)str_format(name, sizeof(name), "%sjob-name", prefixes[i]);
		json_object_set(labels, name, json_at(job, "metadata", "name"));
	}
}

static void fill_job(json_t *obj, bool creating)
{
	json_t *spec = json_object_get(obj, "spec"), *labels;
	const char *uid = json_str_at(obj, "metadata", "uid");

	if (creating && !json_object_get(spec, "parallelism"))
		fill(spec, "{\"completions\":1}");
	fill(spec, json_object_get(spec, "podFailurePolicy")
			   ? "{\"podReplacementPolicy\":\"Failed\"}"
			   : "{\"podReplacementPolicy\":\"TerminatingOrFailed\"}");
	fill(spec, "{\"parallelism\":1,\"backoffLimit\":6,\"completionMode\":\"NonIndexed\","
		   "\"suspend\":false,\"manualSelector\":false}");
	fill_template(obj);
	if (!creating || !json_is_object(json_object_get(spec, "template")) ||
	    json_true_at(spec, "manualSelector"))
		return;
	labels = make_object(make_object(json_object_get(spec, "template"), "metadata"), "labels");
	add_job_labels(labels, obj);
	if (!json_object_size(json_at(obj, "metadata", "labels")))
		json_object_set_new(object_meta(obj), "labels", json_copy(labels));
	json_object_set_new(
		spec, "selector",
		json_pack("{s:{s:s}}", "matchLabels", "batch.kubernetes.io/controller-uid", uid));
}

/* Sets the internal and external traffic policies of a Service, and
 * allocateLoadBalancerNodePorts. */
static void fill_reach(json_t *spec, const char *type)
{
	bool balanced = str_eq(type, "LoadBalancer");

	if (!str_eq(type, "ExternalName"))
		fill(spec, "{\"internalTrafficPolicy\":\"Cluster\"}");
	if (balanced || str_eq(type, "NodePort") ||
	    (str_eq(type, "ClusterIP") && json_object_get(spec, "externalIPs")))
		fill(spec, "{\"externalTrafficPolicy\":\"Cluster\"}");
	if (balanced)
		fill(spec, "{\"allocateLoadBalancerNodePorts\":true}");
}

static void fill_service(json_t *obj, bool creating)
{
	json_t *spec = json_object_get(obj, "spec"), *port, *v;
	size_t i;

	(void)creating;
	fill(spec, "{\"type\":\"ClusterIP\",\"sessionAffinity\":\"None\"}");
	fill_reach(spec, json_str_at(spec, "type"));
	json_array_foreach (json_at(obj, "status", "loadBalancer", "ingress"), i, v)
		if (json_object_get(v, "ip"))
			fill(v, "{\"ipMode\":\"VIP\"}");
	json_array_foreach (json_object_get(spec, "ports"), i, port) {
		fill(port, "{\"protocol\":\"TCP\"}");
		if (json_object_get(port, "port") && !json_object_get(port, "targetPort"))
			json_object_set(port, "targetPort", json_object_get(port, "port"));
	}
}

static void fill_storage_class(json_t *obj, bool creating)
{
	(void)creating;
	fill(obj, "{\"reclaimPolicy\":\"Delete\",\"volumeBindingMode\":\"Immediate\"}");
}

static void fill_priority_class(json_t *obj, bool creating)
{
	(void)creating;
	fill(obj, "{\"preemptionPolicy\":\"PreemptLowerPriority\"}");
}

/* Sets status.allocatable to a copy of status.capacity if allocatable is not set. */
static void fill_node(json_t *obj, bool creating)
{
	json_t *status = json_object_get(obj, "status");

	(void)creating;
	if (json_object_get(status, "capacity") && !json_object_get(status, "allocatable"))
		json_object_set_new(status, "allocatable",
				    json_deep_copy(json_object_get(status, "capacity")));
}

/* --- roles: API group of subjects and roleRef ------------------------------------------------- */

static void fill_binding(json_t *obj, bool creating)
{
	size_t i;
	json_t *v;

	(void)creating;
	fill(json_object_get(obj, "roleRef"), "{\"apiGroup\":\"rbac.authorization.k8s.io\"}");
	json_array_foreach (json_object_get(obj, "subjects"), i, v)
		if (!str_eq(json_str_at(v, "kind"), "ServiceAccount"))
			fill(v, "{\"apiGroup\":\"rbac.authorization.k8s.io\"}");
}

static const struct {
	const char *kind;
	void (*fn)(json_t *obj, bool creating);
} fillers[] = {
	{"Pod", fill_pod},
	{"Node", fill_node},
	{"Deployment", fill_deployment},
	{"ReplicaSet", fill_replica_set},
	{"StatefulSet", fill_stateful_set},
	{"DaemonSet", fill_daemon_set},
	{"Job", fill_job},
	{"PodTemplate", fill_pod_template},
	{"PersistentVolumeClaim", fill_claim},
	{"PersistentVolume", fill_volume_object},
	{"Service", fill_service},
	{"StorageClass", fill_storage_class},
	{"PriorityClass", fill_priority_class},
	{"RoleBinding", fill_binding},
	{"ClusterRoleBinding", fill_binding},
};

void object_fill(const struct resource *r, json_t *obj, bool creating)
{
	for (size_t i = 0; !r->custom && i < sizeof(fillers) / sizeof(*fillers); i++)
		if (str_eq(fillers[i].kind, r->kind))
			fillers[i].fn(obj, creating);
}
