#include "tests/unit/testing.h"

#include "base/mem.h"
#include "base/str.h"
#include "tests/world/leaving.h"
#include "tests/world/server.h"
#include "tests/world/world.h"

/* Machines switched by an operator's program, which may end and restart like any process. */
#define PROVIDER(program, methods)                                                                 \
	"apiVersion: drover.dev/v1alpha1\nkind: Provider\nmetadata: {name: lab}\n"                 \
	"spec:\n  type: exec\n  exec: {command: [" program "]}\n"                                  \
	"  boot: {methods: [" methods "], mediaURL: \"" WORLD_MEDIA "\"}\n" WORLD_LAB_REST

static void start(struct sim_world *w, uint64_t seed, const char *provider)
{
	struct server *b = &w->servers[0];

	world_start(w, seed, 0);
	world_lab(w, provider);
	server_init(b, w, 1);
	str_copy(b->name, sizeof(b->name), "u-7");
	w->nboxes = 1;
	world_lab_machine(w, b, "exec");
	world_replica(w);
}

static void go_round(const char *provider, uint64_t seed)
{
	struct sim_world w;

	start(&w, seed, provider);
	leaving_go_round(&w.servers[0]);
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
			       "/bin/elsewhere is not allowed: add it with --allow-exec"));
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
