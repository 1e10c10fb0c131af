#ifndef TESTS_BENCH_FLEET_H
#define TESTS_BENCH_FLEET_H

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>
#include "api/kinds.h"
#include "base/arena.h"
#include "base/crypto.h"
#include "base/data/json.h"
#include "base/data/yaml.h"
#include "base/httpd/httpd_mhd.h"
#include "base/loop/loop_uv.h"
#include "base/mem.h"
#include "base/store/store.h"
#include "base/str.h"
#include "kube/apiserver/apiserver.h"

/*
 * fleet: the environment of a controller: the host cluster's API server, one API server for each
 * tenant, and all BMCs behind one listener. It runs in a process of its own, so that its time and
 * memory are not counted as the controller's.
 *
 * All machines serve, except for the last ones, which may be free (fleet_free.h). A serving machine
 * has a claim, a Node and pods, and its BMC reports On. Each machine has its own Secret. The
 * objects are put into the stores before the servers start.
 *
 * A signal to the process starts a load:
 *
 *   SIGUSR1  2,000 changes of Nodes, up to 1,000 per second, in one tenant after the other
 *   SIGUSR2  pods that need a free machine, in one tenant after the other. A pod is marked
 *            unschedulable once a BMC was called for the pod before. At the end, the times
 *            are written to the parent process.
 */
#define FLEET_EVENTS 2000
#define FLEET_EVENT_MS 1
#define FLEET_HISTORY 4000
#define FLEET_PODS 200
#define FLEET_POD_MS 137 /* Delay in ms after the call for the previous pod */
#define FLEET_POD_LIMIT_MS 10000

struct fleet_size {
	/* nodes: number of Nodes in all tenants, including those of machines */
	unsigned machines, tenants, pods, nodes;
	/* Number of free machines, which are the last of all machines */
	unsigned free;
	/* True: machines have the label of their rack, as the view shows it */
	bool racks;
	/* Number of pods, in addition to `pods`, that need a free machine from the start */
	unsigned waiting;
};

/* Ports of the servers and size of their objects, written by the child process once it serves */
struct fleet_door {
	unsigned host, bmc;
	/* Size in bytes of all objects that a controller reads, as JSON text */
	uint64_t bytes;
};

struct fleet_api {
	struct store *store;
	struct apiserver *api;
	struct httpd *d;
	struct httpd_mhd *listener;
	unsigned port;
};

struct fleet {
	struct fleet_size size;
	struct loop *l;
	struct loop_group *g;
	struct fleet_api host, *tenants, bmc;
	/* CA certificate in base64, as a kubeconfig must contain it */
	char *ca;
	uint64_t bytes;
	struct loop_timer event;
	unsigned events;
	/* Keys of the free machines' wipe records; NULL: there are no free machines */
	struct crypto_key *agent_key, *evidence_key;
	struct loop_timer pod;
	unsigned pods;
	/* loop_clock() at which the last pod was marked unschedulable; 0: no pod waits */
	int64_t marked;
	/* By machine number: true if the BMC was called for a pod */
	bool *called;
	int32_t took_ms[FLEET_PODS];
	int to_parent;
};

static inline _Noreturn void fleet_die(const char *what)
{
	(void)fprintf(stderr, "fleet: %s\n", what);
	exit(1);
}

/* Puts an object into the store of x. text: JSON with ' in place of ", and without resourceVersion,
 * which is set to the store's next revision. */
static inline void fleet_put(struct fleet *f, struct fleet_api *x, const char *key,
			     const char *text)
{
	static const char metadata[] = "'metadata': {";
	const char *at = strstr(text, metadata);
	char *whole = at ? mem_printf("%.*s'resourceVersion': '%llu', %s",
				      (int)(at - text) + (int)sizeof(metadata) - 1, text,
				      (unsigned long long)store_rev(x->store) + 1,
				      at + sizeof(metadata) - 1)
			 : NULL;
	struct store_change c = {.key = key, .value = whole, .if_rev = -1};
	struct err e;
	uint64_t rev;

	if (!whole)
		fleet_die("an object without metadata");
	for (char *p = whole; *p; p++)
		if (*p == '\'')
			*p = '"';
	c.value_len = strlen(whole);
	f->bytes += c.value_len;
	if (store_commit(x->store, &c, 1, &rev, NULL, NULL, &e) < 0)
		fleet_die(e.text);
	free(whole);
}

static inline unsigned fleet_serving(const struct fleet *f)
{
	return f->size.machines - f->size.free;
}

static inline const char *fleet_uuid(unsigned m, struct arena *a)
{
	return arena_printf(a, "4c4c4544-0035-3410-8050-c6c0%08x", m + 1);
}

#include "tests/bench/fleet_free.h"

/* --- objects ---------------------------------------------------------------------------------- */

#define FLEET_META(name)                                                                           \
	"'metadata': {'name': '" name "', 'uid': 'uid-" name                                       \
	"', 'generation': 1, 'creationTimestamp': '2026-11-01T10:00:00Z'"

static inline void fleet_definitions(struct fleet *f)
{
	OWN(arena) a = arena_new();

	for (int i = 0; i < OBJECT_KINDS; i++) {
		char text[1 << 17], *json;
		FILE *file =
			fopen(arena_printf(a, "deploy/crds/%s.yaml", object_kinds[i].plural), "re");
		size_t n = file ? fread(text, 1, sizeof(text), file) : 0;
		struct err e;
		OWN_JSON o = n ? yaml_parse(text, n, &e) : NULL;
		struct store_change c;
		uint64_t rev;

		if (!o)
			fleet_die("deploy/crds: run from the root");
		(void)fclose(file);
		json = json_text(o);
		c = (struct store_change){
			.key = arena_printf(a, "customresourcedefinitions.apiextensions.k8s.io/%s",
					    json_str_at(o, "metadata", "name")),
			.value = json,
			.value_len = strlen(json),
			.if_rev = -1};
		if (store_commit(f->host.store, &c, 1, &rev, NULL, NULL, &e) < 0)
			fleet_die(e.text);
		free(json);
	}
}

static inline void fleet_tenant(struct fleet *f, unsigned t, struct arena *a)
{
	const char *conf =
		arena_printf(a,
			     "apiVersion: v1\nkind: Config\ncurrent-context: c\n"
			     "clusters:\n- name: c\n  cluster: {server: \"https://127.0.0.1:%u\", "
			     "certificate-authority-data: %s}\n"
			     "users:\n- name: u\n  user: {token: token-of-tenant-%u-0123456789}\n"
			     "contexts:\n- name: c\n  context: {cluster: c, user: u}\n",
			     f->tenants[t].port, f->ca, t);
	char *b64 = crypto_base64(conf, strlen(conf));

	fleet_put(
		f, &f->host, arena_printf(a, "secrets/vc-%u/vc-%u", t, t),
		arena_printf(a,
			     "{'apiVersion': 'v1', 'kind': 'Secret', 'metadata': {'name': 'vc-%u',"
			     " 'namespace': 'vc-%u', 'uid': 's-%u'}, 'data': {'config': '%s'}}",
			     t, t, t, b64));
	free(b64);
	/* Where drover writes the list of waiting pods (view/tenant_list.h) */
	fleet_put(f, &f->tenants[t], "namespaces/drover-system",
		  "{'apiVersion': 'v1', 'kind': 'Namespace', 'metadata': {'name': 'drover-system', "
		  "'uid': 'ns'}}");
	fleet_put(
		f, &f->host, arena_printf(a, "virtualclusters.drover.dev/team-%u", t),
		arena_printf(
			a,
			"{'apiVersion': 'drover.dev/v1alpha1', 'kind': 'VirtualCluster', "
			"'metadata': {'name': 'team-%u',"
			" 'uid': 'uid-team-%u', 'generation': 1}, 'spec': {'kubeconfigSecretRef': "
			"{'namespace': 'vc-%u', 'name': 'vc-%u',"
			" 'key': 'config'}, 'server': 'https://127.0.0.1:%u', 'joinEndpoint': "
			"'10.20.0.10:6443',"
			" 'quota': {'nvidia.com/gpu': '64'}}}",
			t, t, t, t, f->tenants[t].port));
}

static inline void fleet_machine(struct fleet *f, unsigned m, struct arena *a)
{
	unsigned t = m % f->size.tenants;

	fleet_put(
		f, &f->host, arena_printf(a, "secrets/drover-system/bmc-%u", m),
		arena_printf(a,
			     "{'apiVersion': 'v1', 'kind': 'Secret', 'metadata': {'name': 'bmc-%u',"
			     " 'namespace': 'drover-system', 'uid': 'b-%u'}, 'data': {'username': "
			     "'ZHJvdmVy',"
			     " 'password': 'Y29ycmVjdCBob3JzZQ=='}}",
			     m, m));
	if (m >= fleet_serving(f)) {
		fleet_free_machine(f, m, fleet_uuid(m, a), a);
		return;
	}
	fleet_put(
		f, &f->host, arena_printf(a, "nodeclaims.drover.dev/gpus-%u", m),
		arena_printf(
			a,
			"{'apiVersion': 'drover.dev/v1alpha1', 'kind': 'NodeClaim', 'metadata': "
			"{'name': 'gpus-%u',"
			" 'uid': 'claim-%u', 'generation': 1, 'creationTimestamp': "
			"'2026-11-01T10:00:00Z',"
			" 'labels': {'drover.dev/nodepool': 'gpus', 'drover.dev/virtual-cluster': "
			"'team-%u'},"
			" 'finalizers': ['drover.dev/termination']},"
			" 'spec': {'virtualClusterRef': {'name': 'team-%u', 'uid': 'uid-team-%u'},"
			" 'nodePoolRef': {'name': 'gpus', 'uid': 'uid-gpus'}, 'machineRef': "
			"{'name': 'm-%u', 'uid': 'uid-m-%u'},"
			" 'requirements': [{'key': 'node.kubernetes.io/instance-type', "
			"'operator': 'In', 'values': ['gpu-8']}],"
			" 'resources': {'requests': {'nvidia.com/gpu': '8'}},"
			" 'image': {'kubernetesVersion': '1.36', 'url': "
			"'https://img.example/n136.raw', 'format': 'raw',"
			" 'digest': 'sha256:"
			"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef'},"
			" 'taints': [{'key': 'nvidia.com/gpu', 'effect': 'NoSchedule'}], "
			"'network': {'isolation': 'Required'}, 'gate': 'G0',"
			" 'deadlines': {'imaging': '30m', 'booting': '30m', 'joining': '10m', "
			"'gating': '15m'},"
			" 'expireAfter': 'Never', 'terminationGracePeriod': '1h'},"
			" 'status': {'machineRef': {'name': 'm-%u', 'uid': 'uid-m-%u'}, "
			"'tenancy': 2, 'phase': 'serving',"
			" 'nodeName': 'gpus-%u', 'providerID': 'drover://rack/m-%u'}}",
			m, m, t, t, t, m, m, m, m, m, m));
	fleet_put(f, &f->host, arena_printf(a, "machines.drover.dev/m-%u", m),
		  arena_printf(
			  a,
			  "{'apiVersion': 'drover.dev/v1alpha1', 'kind': 'Machine', 'metadata': "
			  "{'name': 'm-%u',"
			  " 'uid': 'uid-m-%u', 'generation': 1, 'labels': {'%s/rack': "
			  "'r%u'}, 'finalizers': ['drover.dev/machine']},"
			  " 'spec': {'providerRef': {'name': 'rack'}, 'instanceType': 'gpu-8', "
			  "'managementPolicy': 'Manage',"
			  " 'identity': {'systemUUID': '%s', 'serialNumber': 'S%u'}, "
			  "'bootMACAddress': '52:54:00:00:%02x:%02x',"
			  " 'bmc': {'address': 'http://127.0.0.1:%u/redfish/v1/Systems/%u', "
			  "'credentialsSecretRef': {'name': 'bmc-%u'},"
			  " 'tls': {'trustOnFirstUse': true}}},"
			  " 'status': {'state': 'serving', 'stateSince': '2026-11-01T10:10:00Z', "
			  "'tenancy': 2, 'pool': 'gpus',"
			  " 'claimRef': {'name': 'gpus-%u', 'uid': 'claim-%u'}, 'tenant': {'name': "
			  "'team-%u', 'uid': 'uid-team-%u'},"
			  " 'operation': {'id': '0123456789abcdef0123456789abcdef', 'fence': 3}, "
			  "'power': {'state': 'On'},"
			  " 'bootID': 'boot-%u', 'identity': {'systemUUID': '%s', 'serialNumber': "
			  "'S%u'}}}",
			  m, m, f->size.racks ? "topology.drover.dev" : "example.com", m / 20,
			  fleet_uuid(m, a), m, m >> 8, m & 255, f->bmc.port, m, m, m, m, t, t, m,
			  fleet_uuid(m, a), m));
}

/* Returns Node number n as kubelet writes it. Its 30 images are half of its size. */
static inline const char *fleet_node(const struct fleet *f, unsigned n, unsigned beat,
				     struct arena *a)
{
	bool ours = n < fleet_serving(f);
	char images[6000] = "";
	size_t at = 0;

	for (int i = 0; i < 30; i++)
		at += (size_t)snprintf(
			images + at, sizeof(images) - at,
			"%s{'names': "
			"['registry.example/team/image-%d@sha256:0123456789abcdef0123456789abcdef',"
			"'registry.example/team/image-%d:v1'],'sizeBytes': 1234567%d}",
			i ? "," : "", i, i, i);
	return arena_printf(
		a,
		"{'apiVersion': 'v1', 'kind': 'Node', 'metadata': {'name': '%s-%u', 'uid': "
		"'node-%u',"
		" 'creationTimestamp': '2026-11-01T10:05:00Z', 'labels': "
		"{%s'kubernetes.io/hostname': '%u',"
		" 'node.kubernetes.io/instance-type': '%s', 'nvidia.com/gpu.product': "
		"'NVIDIA-H100-80GB-HBM3'}},"
		" 'spec': {%s 'podCIDR': '10.244.0.0/24'},"
		" 'status': {'capacity': {'cpu': '192', 'memory': '2113400000Ki', "
		"'nvidia.com/gpu': '8', 'pods': '110', 'ephemeral-storage': '900Gi'},"
		" 'allocatable': {'cpu': '190', 'memory': '2100000000Ki', 'nvidia.com/gpu': '8', "
		"'pods': '110', 'ephemeral-storage': '800Gi'},"
		" 'conditions': [{'type': 'MemoryPressure', 'status': 'False', "
		"'lastHeartbeatTime': '2026-11-01T11:00:%02uZ', 'lastTransitionTime': "
		"'2026-11-01T10:06:00Z', 'reason': 'KubeletHasSufficientMemory', 'message': "
		"'kubelet has sufficient memory available'},"
		" {'type': 'DiskPressure', 'status': 'False', 'lastHeartbeatTime': "
		"'2026-11-01T11:00:%02uZ', 'lastTransitionTime': '2026-11-01T10:06:00Z', "
		"'reason': 'KubeletHasNoDiskPressure', 'message': 'kubelet has no disk pressure'},"
		" {'type': 'Ready', 'status': 'True', 'lastHeartbeatTime': "
		"'2026-11-01T11:00:%02uZ', 'lastTransitionTime': '2026-11-01T10:06:00Z', "
		"'reason': 'KubeletReady', 'message': 'kubelet is posting ready status'}],"
		" 'addresses': [{'type': 'InternalIP', 'address': '10.0.%u.%u'}],"
		" 'nodeInfo': {'systemUUID': '%s', 'bootID': 'boot-%u', 'kubeletVersion': "
		"'v1.36.0', 'osImage': 'Debian', 'kernelVersion': '6.1', 'architecture': 'amd64'},"
		" 'images': [%s]}}",
		ours ? "gpus" : "cpu", n, n,
		ours ? arena_printf(
			       a,
			       "'drover.dev/nodeclaim': 'gpus-%u', 'drover.dev/nodepool': 'gpus', ",
			       n)
		     : "",
		n, ours ? "gpu-8" : "cpu",
		ours ? arena_printf(a,
				    "'providerID': 'drover://rack/m-%u', 'taints': [{'key': "
				    "'nvidia.com/gpu', 'effect': 'NoSchedule'}],",
				    n)
		     : "",
		beat % 60, beat % 60, beat % 60, n >> 8, n & 255,
		ours ? fleet_uuid(n, a) : arena_printf(a, "9c4c4544-0035-3410-8050-c6c0%08x", n), n,
		images);
}

static inline void fleet_put_node(struct fleet *f, unsigned n, unsigned beat)
{
	OWN(arena) a = arena_new();

	fleet_put(f, &f->tenants[n % f->size.tenants],
		  arena_printf(a, "nodes/%s-%u", n < fleet_serving(f) ? "gpus" : "cpu", n),
		  fleet_node(f, n, beat, a));
}

static inline void fleet_pod(struct fleet *f, unsigned p, struct arena *a)
{
	unsigned n = p % f->size.nodes;

	fleet_put(
		f, &f->tenants[n % f->size.tenants], arena_printf(a, "pods/default/train-%u", p),
		arena_printf(
			a,
			"{'apiVersion': 'v1', 'kind': 'Pod', 'metadata': {'name': 'train-%u', "
			"'namespace': 'default', 'uid': 'pod-%u',"
			" 'creationTimestamp': '2026-11-01T10:30:00Z', 'labels': {'app': 'train', "
			"'team': 'research', 'pod-template-hash': '7c5ddbdf54'},"
			" 'ownerReferences': [{'apiVersion': 'batch/v1', 'kind': 'Job', 'name': "
			"'train', 'uid': '7fb2', 'controller': true}]},"
			" 'spec': {'nodeName': '%s-%u', 'containers': [{'name': 'main', 'image': "
			"'registry.example/train:v1',"
			" 'command': ['python', 'train.py'], 'env': [{'name': 'RANK', 'value': "
			"'1'}, {'name': 'NCCL_DEBUG', 'value': 'WARN'}],"
			" 'resources': {'limits': {'nvidia.com/gpu': '1', 'memory': '64Gi'}, "
			"'requests': {'cpu': '8', 'memory': '64Gi', 'nvidia.com/gpu': '1'}},"
			" 'volumeMounts': [{'name': 'data', 'mountPath': '/data'}]}],"
			" 'volumes': [{'name': 'data', 'persistentVolumeClaim': {'claimName': "
			"'data'}}],"
			" 'nodeSelector': {'nvidia.com/gpu.product': 'NVIDIA-H100-80GB-HBM3'},"
			" 'tolerations': [{'key': 'nvidia.com/gpu', 'operator': 'Exists', "
			"'effect': 'NoSchedule'}]},"
			" 'status': {'phase': 'Running', 'qosClass': 'Burstable',"
			" 'conditions': [{'type': 'PodScheduled', 'status': 'True', "
			"'lastTransitionTime': '2026-11-01T10:30:01Z'},"
			" {'type': 'Ready', 'status': 'True', 'lastTransitionTime': "
			"'2026-11-01T10:31:00Z'}]}}",
			p, p, n < fleet_serving(f) ? "gpus" : "cpu", n));
}

/* Puts the objects that there is one of: namespace, Provider, pool. limits: text of the Provider's
 * limits with a comma at its end; "": the defaults. */
static inline void fleet_common(struct fleet *f, const char *limits)
{
	OWN(arena) a = arena_new();

	fleet_put(f, &f->host, "namespaces/drover-system",
		  "{'apiVersion': 'v1', 'kind': 'Namespace', 'metadata': {'name': 'drover-system', "
		  "'uid': 'ns'}}");
	fleet_put(
		f, &f->host, "providers.drover.dev/rack",
		arena_printf(
			a,
			"{'apiVersion': 'drover.dev/v1alpha1', 'kind': 'Provider', " FLEET_META(
				"rack") "},"
					" 'spec': {'type': 'redfish', 'boot': {'methods': "
					"['VirtualMedia'], 'mediaURL': 'http://10.1.0.5:8080'},"
					" 'agent': {'endpoint': 'https://10.1.0.5:8443'}, "
					"'network': {'type': 'none'},"
					" %s"
					" 'instanceTypes': [{'name': 'gpu-8', 'capacity': {'cpu': "
					"'192', 'memory': '2Ti', 'nvidia.com/gpu': '8', 'pods': "
					"'110'}}],"
					" 'wipe': {'minimumLevel': {'flash': 'Clear', 'hdd': "
					"'Clear'}, 'minimumTrust': 'BootNetwork'}}}",
			limits));
	fleet_put(
		f, &f->host, "nodepools.drover.dev/gpus",
		"{'apiVersion': 'drover.dev/v1alpha1', 'kind': 'NodePool', " FLEET_META(
			"gpus") "},"
				" 'spec': {'virtualClusterSelector': {}, 'template': {'spec': "
				"{'providerRefs': [{'name': 'rack'}],"
				" 'requirements': [{'key': 'node.kubernetes.io/instance-type', "
				"'operator': 'In', 'values': ['gpu-8']}],"
				" 'taints': [{'key': 'nvidia.com/gpu', 'effect': 'NoSchedule'}],"
				" 'images': [{'kubernetesVersion': '1.36', 'url': "
				"'https://img.example/n136.raw', 'format': 'raw',"
				" 'digest': "
				"'sha256:0123456789abcdef0123456789abcdef"
				"0123456789abcdef0123456789abcdef'}]}},"
				" 'wipe': {'minimumLevel': {'flash': 'Clear', 'hdd': 'Clear'}}}}");
}

/* --- BMCs ------------------------------------------------------------------------------------- */

static inline void fleet_root(struct httpd_req *q, void *arg)
{
	(void)arg;
	httpd_reply_json(q, 200, "{\"Systems\": {\"@odata.id\": \"/redfish/v1/Systems\"}}");
}

/* Creates pod number p, which fits on no existing Node, because it needs more CPUs than are
 * allocatable, but fits on a new Node. */
static inline void fleet_put_waiting(struct fleet *f, unsigned p)
{
	OWN(arena) a = arena_new();

	fleet_put(f, &f->tenants[p % f->size.tenants], arena_printf(a, "pods/default/wait-%u", p),
		  arena_printf(
			  a,
			  "{'apiVersion': 'v1', 'kind': 'Pod', 'metadata': {'name': 'wait-%u', "
			  "'namespace': 'default', 'uid': 'wait-%u',"
			  " 'creationTimestamp': '2026-11-01T10:30:00Z'}, 'spec': {'containers': "
			  "[{'name': 'main', 'resources':"
			  " {'limits': {'nvidia.com/gpu': '8'}, 'requests': {'cpu': '191', "
			  "'nvidia.com/gpu': '8'}}}],"
			  " 'tolerations': [{'key': 'nvidia.com/gpu', 'operator': 'Exists', "
			  "'effect': 'NoSchedule'}]},"
			  " 'status': {'phase': 'Pending', 'conditions': [{'type': 'PodScheduled', "
			  "'status': 'False',"
			  " 'reason': 'Unschedulable', 'lastTransitionTime': "
			  "'2026-11-01T10:30:01Z'}]}}",
			  p, p));
}

static inline void fleet_mark(void *arg)
{
	struct fleet *f = arg;

	fleet_put_waiting(f, f->pods++);
	f->marked = loop_clock(f->l);
	loop_timer_start(&f->pod, FLEET_POD_LIMIT_MS);
}

/* Ends the measurement of a pod, because a BMC was called or the time limit has passed, and starts
 * the next one. */
static inline void fleet_pod_done(struct fleet *f)
{
	f->took_ms[f->pods - 1] = (int32_t)(loop_clock(f->l) - f->marked);
	f->marked = 0;
	if (f->pods < FLEET_PODS)
		loop_timer_start(&f->pod, FLEET_POD_MS);
	else if (write(f->to_parent, f->took_ms, sizeof(f->took_ms)) != sizeof(f->took_ms))
		fleet_die("nobody wants the figures");
}

static inline void fleet_on_pod(void *arg)
{
	struct fleet *f = arg;

	if (f->marked)
		fleet_pod_done(f);
	else
		fleet_mark(f);
}

/* Returns false if the BMC of machine m must leave the request unanswered. A machine that was
 * called for a pod gets no further answers, so that it stays in its state. */
static inline bool fleet_answers(struct fleet *f, unsigned m)
{
	if (m >= f->size.machines || m < fleet_serving(f) || !f->pods)
		return true;
	if (f->called[m])
		return false;
	f->called[m] = true;
	if (f->marked)
		fleet_pod_done(f);
	return true;
}

static inline void fleet_system(struct httpd_req *q, void *arg)
{
	OWN(arena) a = arena_new();
	unsigned m = (unsigned)atoi(httpd_segment(q, 0));
	struct fleet *f = arg;

	if (!fleet_answers(f, m))
		return;
	httpd_reply_json(
		q, 200,
		arena_printf(a,
			     "{\"@odata.id\": \"/redfish/v1/Systems/%u\", \"UUID\": \"%s\", "
			     "\"SerialNumber\": \"S%u\", \"PowerState\": \"%s\","
			     " \"Boot\": {\"BootSourceOverrideEnabled\": \"Disabled\", "
			     "\"BootSourceOverrideTarget\": \"None\"},"
			     " \"Actions\": {\"#ComputerSystem.Reset\": {\"target\": "
			     "\"/redfish/v1/Systems/%u/Actions/ComputerSystem.Reset\"}}}",
			     m, fleet_uuid(m, a), m, m < fleet_serving(f) ? "On" : "Off", m));
}

/* --- serving ---------------------------------------------------------------------------------- */

static inline void fleet_open(struct fleet *f, struct fleet_api *x)
{
	struct err e;

	x->d = httpd_new(f->g);
	x->listener = httpd_mhd_new(
		x->d, &(struct httpd_mhd_spec){.address = "127.0.0.1:0", .max_connections = 4000},
		&e);
	if (!x->listener)
		fleet_die(e.text);
	x->port = httpd_mhd_port(x->listener);
}

static inline void fleet_api(struct fleet *f, struct fleet_api *x)
{
	struct apiserver_spec spec = {.version = "v1.36.0", .join_endpoint = "10.20.0.10:6443"};

	x->api = apiserver_new(f->g, x->store, &spec);
	apiserver_routes(x->api, x->d);
}

static inline void fleet_event(void *arg)
{
	struct fleet *f = arg;

	fleet_put_node(f, f->events * 7 % f->size.nodes, f->events + 1);
	if (++f->events % FLEET_EVENTS)
		loop_timer_start(&f->event, FLEET_EVENT_MS);
}

static inline void fleet_on_signal(int signum, void *arg)
{
	if (signum == SIGUSR1)
		fleet_event(arg);
	else
		fleet_on_pod(arg);
}

static inline _Noreturn void fleet_serve(const struct fleet_size *size, int to_parent)
{
	struct fleet *f = mem_new(struct fleet);
	struct rlimit files;
	struct fleet_door door;
	struct secret *key = NULL;
	char *pem = NULL;
	struct err e;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
		files.rlim_cur = files.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &files);
	}
	f->size = *size;
	f->l = loop_uv_new();
	f->g = loop_group_new(f->l, "fleet");
	if (crypto_ca_new("fleet", loop_wall(f->l), 30, &pem, &key, &e) < 0)
		fleet_die(e.text);
	f->ca = crypto_base64(pem, strlen(pem));
	f->host.store = store_mem_new(f->g, FLEET_HISTORY);
	f->tenants = mem_calloc(size->tenants, sizeof(*f->tenants));
	fleet_open(f, &f->bmc);
	httpd_route(f->bmc.d, "GET", "/redfish/v1", 0, fleet_root, f);
	httpd_route(f->bmc.d, "GET", "/redfish/v1/Systems/{}", 0, fleet_system, f);
	fleet_open(f, &f->host);
	fleet_definitions(f);
	for (unsigned t = 0; t < size->tenants; t++) {
		f->tenants[t].store = store_mem_new(f->g, FLEET_HISTORY);
		fleet_open(f, &f->tenants[t]);
	}
	f->bytes = 0;
	f->called = mem_calloc(size->machines, sizeof(*f->called));
	if (size->free) {
		f->agent_key = crypto_key_new();
		f->evidence_key = fleet_evidence_key(f);
	}
	for (unsigned i = 0; i < size->tenants || i < size->machines || i < size->nodes ||
			     i < size->pods || i < size->waiting;
	     i++) {
		OWN(arena) a = arena_new();

		if (i == 0)
			fleet_common(
				f, "'limits': {'requestsPerSecond': 1000, 'concurrentOperations': "
				   "256},");
		if (i < size->tenants)
			fleet_tenant(f, i, a);
		if (i < size->machines)
			fleet_machine(f, i, a);
		if (i < size->nodes)
			fleet_put_node(f, i, 0);
		if (i < size->pods)
			fleet_pod(f, i, a);
		if (i < size->waiting)
			fleet_put_waiting(f, i);
	}
	fleet_api(f, &f->host);
	for (unsigned t = 0; t < size->tenants; t++)
		fleet_api(f, &f->tenants[t]);
	loop_timer_init(&f->event, f->g, fleet_event, f);
	(void)loop_signal(f->g, SIGUSR1, fleet_on_signal, f);
	loop_timer_init(&f->pod, f->g, fleet_on_pod, f);
	(void)loop_signal(f->g, SIGUSR2, fleet_on_signal, f);
	f->to_parent = to_parent;
	door = (struct fleet_door){.host = f->host.port, .bmc = f->bmc.port, .bytes = f->bytes};
	if (write(to_parent, &door, sizeof(door)) != (ssize_t)sizeof(door))
		fleet_die("nobody wants the address");
	loop_run(f->l);
	exit(0);
}

#endif
