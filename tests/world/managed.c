#include "tests/world/managed.h"

#include <stdlib.h>
#include "base/arena.h"
#include "base/mem.h"
#include "base/str.h"
#include "tests/unit/testing.h"
#include "tests/world/invariants.h"

static void power(void *machine, bool on)
{
	struct server *b = machine;

	invariants_act_is_owned(b->world, b, "power");
	fake_bmc_switch(&b->bmc, on);
}

static bool reaches(void *machine)
{
	const struct server *b = machine;

	return b->reaches_head || str_eq(b->segment, "provisioning");
}

static void installed(void *machine, const char *image)
{
	struct server *b = machine;

	memset(b->drives[0].data, 0, SERVER_DRIVE_BYTES);
	str_format(b->drives[0].data, SERVER_CONFIG_AT, SERVER_IMAGE " by BCM: %s", image);
}

static void objects(struct sim_world *w)
{
	world_secret(w, "drover-system", "bcm", "username", "drover", "password", WORLD_PASSWORD);
	world_secret(w, "drover-system", "bcm", "endpoint", MANAGED_HEAD, NULL, NULL);
	world_secret(w, "drover-system", "bcm-ca", "ca.crt", w->ca_pem, NULL, NULL);
	world_apply(
		w,
		"apiVersion: drover.dev/v1alpha1\nkind: Provider\nmetadata: {name: bcm-1}\n"
		"spec:\n  type: bcm\n  credentialsSecretRef: {name: bmc}\n"
		"  bcm:\n    endpoint: \"" MANAGED_HEAD
		"\"\n    tls: {caSecretRef: {name: bcm-ca}}\n"
		"    credentialsSecretRef: {name: bcm}\n    bmcNetworks: [10.0.8.0/24]\n"
		"  boot: {methods: [VirtualMedia], mediaURL: \"" WORLD_MEDIA "\"}\n"
		"  agent: {endpoint: \"" WORLD_AGENT "\"}\n"
		"  network:\n    type: exec\n    exec: {command: [" WORLD_FABRIC "]}\n"
		"    segments: {quarantine: quarantine, provisioning: provisioning}\n"
		"  instanceTypes:\n  - name: gpu-8\n"
		"    capacity: {cpu: \"4\", memory: 8Gi, nvidia.com/gpu: \"8\", pods: \"110\"}\n"
		"    rootDevice: {model: ROOT}\n"
		"  wipe: {minimumLevel: {flash: Clear, hdd: Clear}, minimumTrust: BootNetwork}\n");
	world_do(w, &w->host, "PATCH", "/apis/drover.dev/v1alpha1/nodepools/gpus",
		 json_pack("{s:{s:{s:{s:[{s:s}], s:[{s:s, s:s}]}}}}", "spec", "template", "spec",
			   "providerRefs", "name", "bcm-1", "images", "kubernetesVersion", "1.36",
			   "category", "kubernetes"));
}

void managed_start(struct managed *m, struct sim_world *w)
{
	static const struct sim_head_machine ops = {power, reaches, installed};
	struct sim_head_spec s = {.user = "drover"};
	char name[16], address[24];

	*m = (struct managed){.world = w};
	m->password = secret_from_str(WORLD_PASSWORD);
	s.password = m->password;
	m->head = sim_head_new(w->hardware, &s);
	m->httpd = httpd_new(w->hardware);
	sim_head_routes(m->head, m->httpd);
	http_mem_serve(w->net, MANAGED_HEAD, m->httpd);
	objects(w);
	for (unsigned i = 0; i < w->nboxes; i++) {
		struct server *b = &w->servers[i];

		str_format(name, sizeof(name), "n%u", i + 1);
		str_format(address, sizeof(address), "10.0.8.%u", i + 1);
		b->node = sim_head_add(m->head, name, b->mac, address, &ops, b);
		m->before[i] = mem_strdup(sim_head_device(b->node));
		world_patch_machine(b, json_pack("{s:{s:s}, s:s}", "providerRef", "name", "bcm-1",
						 "node", name));
	}
}

void managed_end(struct managed *m)
{
	for (unsigned i = 0; i < m->world->nboxes; i++) {
		m->world->servers[i].node = NULL;
		free(m->before[i]);
	}
	httpd_free(m->httpd);
	sim_head_free(m->head);
	secret_free(m->password);
}

void managed_fault(struct managed *m, const char *json)
{
	struct err e;

	assert_ok(sim_head_fault(m->head, json, &e), &e);
}

bool managed_is_back(const struct managed *m, const struct server *b)
{
	return str_eq(sim_head_device(b->node), m->before[b - m->world->servers]);
}
