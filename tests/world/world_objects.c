#include "tests/world/world_objects.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/data/yaml.h"
#include "tests/unit/testing.h"
#include "tests/world/world.h"

#define WAIT_MS 60000 /* longest time in ms until a request is answered */

struct answer {
	bool in;
	int status;
	char text[400];
};

static void on_answer(int status, json_t *o, void *arg)
{
	struct answer *a = arg;

	a->in = true;
	a->status = status;
	str_copy(a->text, sizeof(a->text), str_or(json_str_at(o, "message"), ""));
}

static bool is_in(void *arg)
{
	return ((struct answer *)arg)->in;
}

void world_do(struct sim_world *w, struct cluster *p, const char *method, const char *path,
	      json_t *body)
{
	struct answer a = {0};

	cluster_ask(p, method, path, body, on_answer, &a);
	world_wait(w, is_in, &a, WAIT_MS / 1000, path);
	if (a.status < 200 || a.status > 299)
		fail_msg("%s %s: %d %s", method, path, a.status, a.text);
}

static const char *collection_of(const json_t *o, struct arena *a)
{
	const char *kind = json_str_at(o, "kind"), *ns = json_str_at(o, "metadata", "namespace");

	for (int i = 0; i < OBJECT_KINDS; i++)
		if (str_eq(kind, object_kinds[i].kind))
			return arena_printf(a, "/apis/" OBJECT_API_VERSION "/%s",
					    object_kinds[i].plural);
	if (str_eq(kind, "Namespace"))
		return "/api/v1/namespaces";
	if (str_eq(kind, "CustomResourceDefinition"))
		return "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
	if (str_eq(kind, "Secret"))
		return arena_printf(a, "/api/v1/namespaces/%s/secrets", ns);
	fail_msg("no path for kind %s", kind);
	return NULL;
}

static void apply_text(struct sim_world *w, const char *text, size_t len)
{
	OWN(arena) a = arena_new();
	struct err e;
	OWN_JSON all = yaml_parse_all(text, len, &e);
	json_t *o;
	size_t i;

	if (!all)
		fail_msg("%s", e.text);
	json_array_foreach (all, i, o)
		world_do(w, &w->host, "POST", collection_of(o, a), json_incref(o));
}

void world_apply(struct sim_world *w, const char *yaml)
{
	apply_text(w, yaml, strlen(yaml));
}

static void apply_file(struct sim_world *w, const char *path)
{
	FILE *f = fopen(path, "r");
	char *text = mem_alloc(1 << 20);
	size_t n;

	if (!f)
		fail_msg("%s cannot be read; run from the root", path);
	n = fread(text, 1, 1 << 20, f);
	fclose(f);
	apply_text(w, text, n);
	free(text);
}

void world_delete_pod(struct sim_world *w, struct cluster *p, const char *name)
{
	char path[200];

	str_format(path, sizeof(path), "/api/v1/namespaces/default/pods/%s", name);
	world_do(w, p, "DELETE", path, NULL);
}

void world_release(struct server *b)
{
	char path[200];

	str_format(path, sizeof(path), "/apis/" OBJECT_API_VERSION "/nodeclaims/%s", b->claim);
	world_do(b->world, &b->world->host, "DELETE", path, NULL);
}

void world_patch_machine(struct server *b, json_t *spec)
{
	char path[200];

	str_format(path, sizeof(path), "/apis/" OBJECT_API_VERSION "/machines/%s", b->name);
	world_do(b->world, &b->world->host, "PATCH", path, json_pack("{s:o}", "spec", spec));
}

void world_secret(struct sim_world *w, const char *ns, const char *name, const char *key,
		  const char *value, const char *key2, const char *value2)
{
	OWN(arena) a = arena_new();
	const char *path = arena_printf(a, "/api/v1/namespaces/%s/secrets", ns);
	const char *one = arena_printf(a, "secrets/%s/%s", ns, name);
	OWN_JSON old = cluster_get(&w->host, one);
	json_t *o = json_pack("{s:s,s:s,s:{s:s,s:s},s:{s:s,s:s*}}", "apiVersion", "v1", "kind",
			      "Secret", "metadata", "name", name, "namespace", ns, "stringData",
			      key, value, key2 ? key2 : "-", value2);

	if (old)
		world_do(w, &w->host, "PATCH", arena_printf(a, "%s/%s", path, name), o);
	else
		world_do(w, &w->host, "POST", path, o);
}

void world_machine(struct sim_world *w, const struct server *b)
{
	json_t *o =
		json_pack("{s:s,s:s,s:{s:s},s:{s:{s:s},s:s,s:s,s:{s:s},s:{s:s,s:{s:b}},s:s}}",
			  "apiVersion", OBJECT_API_VERSION, "kind", "Machine", "metadata", "name",
			  b->name, "spec", "providerRef", "name", "rack", "instanceType", "gpu-8",
			  "managementPolicy", "Manage", "identity", "systemUUID", b->uuid, "bmc",
			  "address", "", "tls", "trustOnFirstUse", 1, "bootMACAddress", b->mac);
	char address[128];

	str_format(address, sizeof(address), "%s/redfish/v1/Systems/1", b->origin);
	json_object_set_new(json_at(o, "spec", "bmc"), "address", json_string(address));
	world_do(w, &w->host, "POST", "/apis/" OBJECT_API_VERSION "/machines", o);
}

void world_lab(struct sim_world *w, const char *provider)
{
	world_apply(w, provider);
	world_do(w, &w->host, "PATCH", "/apis/drover.dev/v1alpha1/nodepools/gpus",
		 json_pack("{s:{s:{s:{s:[{s:s}]}}}}", "spec", "template", "spec", "providerRefs",
			   "name", "lab"));
}

void world_lab_machine(struct sim_world *w, const struct server *b, const char *type)
{
	char address[128];

	str_format(address, sizeof(address), "%s://lab/%s", type, b->name);
	world_do(w, &w->host, "POST", "/apis/drover.dev/v1alpha1/machines",
		 json_pack("{s:s,s:s,s:{s:s},s:{s:{s:s},s:s,s:s,s:{s:s},s:{s:s},s:s}}",
			   "apiVersion", "drover.dev/v1alpha1", "kind", "Machine", "metadata",
			   "name", b->name, "spec", "providerRef", "name", "lab", "instanceType",
			   "gpu-8", "managementPolicy", "Manage", "identity", "systemUUID", b->uuid,
			   "bmc", "address", address, "bootMACAddress", b->mac));
}

void world_pod_with(struct sim_world *w, struct cluster *p, const char *name, json_t *labels,
		    json_t *notes)
{
	world_do(w, p, "POST", "/api/v1/namespaces/default/pods",
		 json_pack("{s:s,s:s,s:{s:s,s:s,s:o*,s:o*},"
			   "s:{s:[{s:s,s:s}],s:[{s:s,s:s,s:{s:{s:s}}}]}}",
			   "apiVersion", "v1", "kind", "Pod", "metadata", "name", name, "namespace",
			   "default", "labels", labels, "annotations", notes, "spec", "tolerations",
			   "key", "nvidia.com/gpu", "operator", "Exists", "containers", "name",
			   "main", "image", "train:1", "resources", "limits", "nvidia.com/gpu",
			   "8"));
}

void world_pod(struct sim_world *w, struct cluster *p, const char *name)
{
	world_pod_with(w, p, name, NULL, NULL);
}

void world_gang_pod(struct sim_world *w, struct cluster *p, const char *name, const char *gang,
		    const char *size)
{
	world_pod_with(
		w, p, name, NULL,
		json_pack("{s:s,s:s}", "drover.dev/gang", gang, "drover.dev/gang-size", size));
}

static void apply_tenant(struct sim_world *w, struct cluster *p)
{
	OWN(arena) a = arena_new();
	const char *ns = arena_printf(a, "vc-%s", p->name);
	char *conf = cluster_kubeconfig(p, p->origin, w->ca_pem);

	/* From deploy/tenant-rbac.yaml; drover publishes the list of waiting pods there. */
	world_do(w, p, "POST", "/api/v1/namespaces",
		 json_pack("{s:{s:s}}", "metadata", "name", "drover-system"));
	world_apply(w,
		    arena_printf(a, "apiVersion: v1\nkind: Namespace\nmetadata: {name: %s}\n", ns));
	world_secret(w, ns, ns, "config", conf, NULL, NULL);
	free(conf);
	world_apply(w,
		    arena_printf(
			    a,
			    "apiVersion: drover.dev/v1alpha1\nkind: VirtualCluster\n"
			    "metadata: {name: %s}\n"
			    "spec:\n  kubeconfigSecretRef: {namespace: %s, name: %s, key: config}\n"
			    "  joinEndpoint: \"%s\"\n  quota: {nvidia.com/gpu: \"64\"}\n",
			    p->name, ns, ns, p->endpoint));
}

void world_objects(struct sim_world *w)
{
	OWN(arena) a = arena_new();

	for (int i = 0; i < OBJECT_KINDS; i++)
		apply_file(w, arena_printf(a, "deploy/crds/%s.yaml", object_kinds[i].plural));
	world_apply(w, "apiVersion: v1\nkind: Namespace\nmetadata: {name: drover-system}\n");
	world_secret(w, "drover-system", "bmc", "username", "drover", "password", WORLD_PASSWORD);
	world_apply(
		w,
		"apiVersion: drover.dev/v1alpha1\nkind: Provider\nmetadata: {name: rack}\n"
		"spec:\n  type: redfish\n  credentialsSecretRef: {name: bmc}\n"
		"  boot: {methods: [VirtualMedia], mediaURL: \"" WORLD_MEDIA "\"}\n"
		"  agent: {endpoint: \"" WORLD_AGENT "\"}\n"
		"  network:\n    type: exec\n    exec: {command: [" WORLD_FABRIC "]}\n"
		"    segments: {quarantine: quarantine, provisioning: provisioning}\n"
		"  instanceTypes:\n  - name: gpu-8\n"
		"    capacity: {cpu: \"4\", memory: 8Gi, nvidia.com/gpu: \"8\", pods: \"110\"}\n"
		"    rootDevice: {model: ROOT}\n"
		"  wipe: {minimumLevel: {flash: Clear, hdd: Clear}, minimumTrust: BootNetwork}\n");
	world_apply(
		w,
		arena_printf(
			a,
			"apiVersion: drover.dev/v1alpha1\nkind: NodePool\nmetadata: {name: gpus}\n"
			"spec:\n  virtualClusterSelector: {}\n  template:\n    spec:\n"
			"      providerRefs: [{name: rack}]\n      requirements:\n"
			"      - {key: node.kubernetes.io/instance-type, "
			"operator: In, values: [gpu-8]}\n"
			"      taints: [{key: nvidia.com/gpu, effect: NoSchedule}]\n"
			"      images:\n      - {kubernetesVersion: \"1.36\", url: \"" WORLD_IMAGES
			"/node.raw\", format: raw, digest: \"%s\"}\n"
			"  wipe: {minimumLevel: {flash: Clear, hdd: Clear}}\n",
			w->image_digest));
	for (int i = 0; i < 2; i++)
		apply_tenant(w, &w->tenants[i]);
	for (unsigned i = 0; i < w->nboxes; i++)
		world_machine(w, &w->servers[i]);
}
