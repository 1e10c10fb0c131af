#include "tests/unit/testing.h"

#include "base/mem.h"
#include "base/str.h"
#include "tests/world/leaving.h"
#include "tests/world/server.h"
#include "tests/world/world.h"

/* Machines that a program of the operator's own switches: it comes and goes as any process does. */
#define PROVIDER(program, methods)                                                                 \
	"apiVersion: drover.dev/v1alpha1\nkind: Provider\nmetadata: {name: lab}\n"                 \
	"spec:\n  type: exec\n  exec: {command: [" program "]}\n"                                  \
	"  boot: {methods: [" methods "], mediaURL: \"" WORLD_MEDIA "\"}\n"                        \
	"  agent: {endpoint: \"" WORLD_AGENT "\"}\n"                                               \
	"  network:\n    type: exec\n    exec: {command: [" WORLD_FABRIC "]}\n"                    \
	"    segments: {quarantine: quarantine, provisioning: provisioning}\n"                     \
	"  instanceTypes:\n  - name: gpu-8\n"                                                      \
	"    capacity: {cpu: \"4\", memory: 8Gi, nvidia.com/gpu: \"8\", pods: \"110\"}\n"          \
	"    rootDevice: {model: ROOT}\n"                                                          \
	"  wipe: {minimumLevel: {flash: Clear, hdd: Clear}, minimumTrust: BootNetwork}\n"

static void start(struct sim_world *w, uint64_t seed, const char *provider)
{
	struct server *b = &w->servers[0];

	world_start(w, seed, 0);
	world_apply(w, provider);
	world_do(w, &w->host, "PATCH", "/apis/drover.dev/v1alpha1/nodepools/gpus",
		 json_pack("{s:{s:{s:{s:[{s:s}]}}}}", "spec", "template", "spec", "providerRefs",
			   "name", "lab"));
	server_init(b, w, 1);
	str_copy(b->name, sizeof(b->name), "u-7");
	w->nboxes = 1;
	world_do(w, &w->host, "POST", "/apis/drover.dev/v1alpha1/machines",
		 json_pack("{s:s,s:s,s:{s:s},s:{s:{s:s},s:s,s:s,s:{s:s},s:{s:s},s:s}}",
			   "apiVersion", "drover.dev/v1alpha1", "kind", "Machine", "metadata",
			   "name", b->name, "spec", "providerRef", "name", "lab", "instanceType",
			   "gpu-8", "managementPolicy", "Manage", "identity", "systemUUID", b->uuid,
			   "bmc", "address", "exec://lab/u-7", "bootMACAddress", b->mac));
	world_replica(w);
}

static void go_round(const char *provider, uint64_t seed)
{
	struct sim_world w;
	struct server *b = &w.servers[0];

	start(&w, seed, provider);
	world_wait_state(b, "free", 1800);
	world_pod(&w, &w.tenants[0], "train");
	world_wait_running(&w, &w.tenants[0], "train", 1200);
	world_check_serving(&w, &w.tenants[0], "train");
	world_delete_pod(&w, &w.tenants[0], "train");
	world_release(b);
	world_wait_state(b, "stopping", 1200);
	world_wait_state(b, "free", 1800);
	assert_true(server_is_blank(b));
	assert_false(b->bmc.on);
	assert_null(b->bmc.image);
	world_stop(&w);
}

static void a_machine_goes_round_by_media(void **state)
{
	(void)state;
	go_round(PROVIDER(FAKE_EXEC, "VirtualMedia"), 4201);
}

static void a_machine_goes_round_by_http_boot(void **state)
{
	(void)state;
	go_round(PROVIDER(FAKE_EXEC, "UefiHttp"), 4202);
}

static void a_program_that_dies_in_each_state_loses_nothing(void **state)
{
	static const char *const at[] = {"stopping", "dirty", "wiping"};
	struct sim_world w;
	struct server *b = &w.servers[0];

	(void)state;
	start(&w, 4203, PROVIDER(FAKE_EXEC, "VirtualMedia"));
	for (size_t i = 0; i < sizeof(at) / sizeof(*at); i++) {
		world_wait_state(b, at[i], 1800);
		w.libvirt.dies_after = true;
		world_run(&w, 5000);
		w.libvirt.dies_after = false;
	}
	world_wait_state(b, "free", 3600);
	assert_true(w.libvirt.starts > 1);
	world_stop(&w);
}

static void a_program_that_is_not_allowed_is_not_run(void **state)
{
	struct sim_world w;

	(void)state;
	start(&w, 4204, PROVIDER("/bin/elsewhere", "VirtualMedia"));
	world_wait_reason(&w.servers[0], "ProviderNotReady", 600);
	assert_non_null(strstr(world_at(&w.servers[0], "status.operation.lastError.message"),
			       "/bin/elsewhere may not be run: no --allow-exec names it"));
	assert_int_equal(w.libvirt.starts, 0);
	world_stop(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_machine_goes_round_by_media),
		cmocka_unit_test(a_machine_goes_round_by_http_boot),
		cmocka_unit_test(a_program_that_dies_in_each_state_loses_nothing),
		cmocka_unit_test(a_program_that_is_not_allowed_is_not_run),
	};

	mem_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
