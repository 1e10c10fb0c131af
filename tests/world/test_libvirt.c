#include "tests/unit/testing.h"

#include <stdlib.h>
#include "base/arena.h"
#include "base/mem.h"
#include "base/str.h"
#include "tests/unit/pages.h"
#include "tests/world/leaving.h"
#include "tests/world/server.h"
#include "tests/world/world.h"

/*
 * Machines that are libvirt domains: an existing one, and those provisioned by a Provider. The host
 * is a helper process in the simulated loop; its domains have the hardware of a simulated server.
 */
#define PROVIDER(machines)                                                                         \
	"apiVersion: drover.dev/v1alpha1\nkind: Provider\nmetadata: {name: lab}\n"                 \
	"spec:\n  type: libvirt\n  libvirt:\n    uri: " FAKE_LIBVIRT_URI "\n" machines             \
	"  boot: {mediaURL: \"" WORLD_MEDIA "\"}\n" WORLD_LAB_REST
#define MACHINES(n)                                                                                \
	"    machines: {count: " n ", instanceType: gpu-8, memory: 8Gi, drives: [{size: 16Gi}]}\n"

static void add_server(struct sim_world *w, const char *name)
{
	struct server *b = &w->servers[w->nboxes];

	server_init(b, w, w->nboxes + 1);
	str_copy(b->name, sizeof(b->name), name);
	w->nboxes++;
}

static void start(struct sim_world *w, uint64_t seed, const char *provider)
{
	world_start(w, seed, 0);
	world_lab(w, provider);
}

static void one_domain(struct sim_world *w, uint64_t seed)
{
	start(w, seed, PROVIDER(""));
	add_server(w, "vm-1");
	world_lab_machine(w, &w->servers[0], "libvirt");
	world_replica(w);
}

/* known -> free -> serving -> free, as with a BMC. */
static void a_domain_goes_round(void **state)
{
	struct sim_world w;

	(void)state;
	one_domain(&w, 4101);
	leaving_go_round(&w.servers[0]);
	assert_string_equal(w.libvirt.uri, FAKE_LIBVIRT_URI);
	assert_string_equal(w.libvirt.pool, "default");
	assert_string_equal(w.libvirt.media_url, WORLD_MEDIA);
	world_stop(&w);
}

/* libvirtd stops in each of these states, and comes back. */
static void a_host_that_restarts_harms_nothing(void **state)
{
	static const char *const at[] = {"stopping", "dirty", "wiping"};
	struct sim_world w;
	struct server *b = &w.servers[0];

	(void)state;
	one_domain(&w, 4102);
	for (size_t i = 0; i < sizeof(at) / sizeof(*at); i++) {
		world_wait_state(b, at[i], 1800);
		w.libvirt.error = "unavailable";
		world_run(&w, 20000);
		w.libvirt.error = NULL;
	}
	world_wait_state(b, "free", 3600);
	world_stop(&w);
}

/* The host stays away: the pod waits for it, and no claim is given up. */
static void a_host_that_stays_away_is_named(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];

	(void)state;
	one_domain(&w, 4107);
	world_wait_state(b, "free", 1800);
	w.libvirt.error = "unavailable";
	world_pod(&w, &w.tenants[0], "train");
	world_wait_reason(b, "BmcUnreachable", 1800);
	assert_non_null(
		strstr(world_at(b, "status.operation.lastError.message"), "libvirt says no"));
	assert_int_equal(b->doing, SERVER_OFF);
	w.libvirt.error = NULL;
	world_wait_running(&w, &w.tenants[0], "train", 3600);
	assert_int_equal(json_array_size(json_at(b->object, "status", "failures")), 0);
	world_stop(&w);
}

/* The helper process is killed at different moments. */
static void a_helper_that_dies_is_started_again(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];

	(void)state;
	one_domain(&w, 4103);
	world_wait_state(b, "dirty", 1800);
	w.libvirt.dies_after = true;
	world_run(&w, 5000);
	w.libvirt.dies_after = false;
	world_wait_state(b, "free", 3600);
	world_pod(&w, &w.tenants[0], "train");
	world_wait_state(b, "booting", 1800);
	w.libvirt.dies = true;
	world_run(&w, 3000);
	w.libvirt.dies = false;
	world_wait_running(&w, &w.tenants[0], "train", 1200);
	assert_true(w.libvirt.starts > 1);
	world_stop(&w);
}

static void a_domain_deleted_by_hand_is_named(void **state)
{
	OWN(arena) a = arena_new();
	struct sim_world w;
	struct server *b = &w.servers[0];

	(void)state;
	one_domain(&w, 4104);
	world_wait_state(b, "free", 1800);
	b->undefined = true;
	world_pod(&w, &w.tenants[0], "train");
	world_wait_reason(b, "BmcProtocolError", 1800);
	assert_non_null(strstr(world_at(b, "status.operation.lastError.message"),
			       "define it again, or retire the machine"));
	assert_non_null(strstr(pages_row("docs/providers/libvirt.md",
					 "| `libvirt has no domain NAME: define it again", a),
			       world_at(b, "status.operation.lastError.reason")));
	b->undefined = false;
	world_wait_running(&w, &w.tenants[0], "train", 3600);
	world_stop(&w);
}

/* The domain records the fence, so that it refuses requests of an older leader. */
static void a_new_leader_has_a_higher_fence(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];
	long long before;

	(void)state;
	one_domain(&w, 4105);
	world_wait_state(b, "free", 1800);
	before = atoll(map_get(w.libvirt.fences, "vm-1"));
	world_kill(&w.replicas[0]);
	world_replica(&w);
	world_pod(&w, &w.tenants[0], "train");
	world_wait_running(&w, &w.tenants[0], "train", 1800);
	assert_true(atoll(map_get(w.libvirt.fences, "vm-1")) > before);
	world_stop(&w);
}

static bool none_defined(void *arg)
{
	return ((struct sim_world *)arg)->servers[1].undefined;
}

static void set_count(struct sim_world *w, int count)
{
	world_do(w, &w->host, "PATCH", "/apis/drover.dev/v1alpha1/providers/lab",
		 json_pack("{s:{s:{s:{s:i}}}}", "spec", "libvirt", "machines", "count", count));
}

static bool machine_gone(void *arg)
{
	OWN_JSON o = cluster_get(&((struct sim_world *)arg)->host, "machines.drover.dev/lab-1");

	return !o;
}

static void machines_are_made_and_unmade(void **state)
{
	struct sim_world w;
	char uuid[64];

	(void)state;
	start(&w, 4106, PROVIDER(MACHINES("2")));
	for (int i = 0; i < 2; i++) {
		add_server(&w, i ? "lab-1" : "lab-0");
		w.servers[i].undefined = true;
	}
	world_replica(&w);
	world_wait_all(&w, "free", 3600);
	assert_string_not_equal(w.servers[0].uuid, w.servers[1].uuid);
	str_copy(uuid, sizeof(uuid), w.servers[1].uuid);
	world_pod(&w, &w.tenants[0], "train");
	world_wait_running(&w, &w.tenants[0], "train", 1200);

	assert_ptr_equal(world_box_of(&w, &w.tenants[0], "train"), &w.servers[0]);

	set_count(&w, 0);
	world_wait(&w, none_defined, &w, 3600, "lab-1 undefined");
	assert_false(w.servers[1].bmc.on);
	world_wait(&w, machine_gone, &w, 600, "Machine lab-1 gone");
	world_run(&w, 600000); /* the machine in use stays */
	assert_string_equal(w.servers[0].state, "serving");
	world_check_serving(&w, &w.tenants[0], "train");

	set_count(&w, 2);
	world_wait_state(&w.servers[1], "free", 7200);
	assert_string_equal(w.servers[1].uuid, uuid);
	world_stop(&w);
}

static bool provider_gone(void *arg)
{
	OWN_JSON o = cluster_get(&((struct sim_world *)arg)->host, "providers.drover.dev/lab");

	return !o;
}

/* The machines provisioned by the Provider are deleted with it, even if the leader dies in
 * between. */
static void a_provider_goes_with_its_machines(void **state)
{
	struct sim_world w;

	(void)state;
	start(&w, 4108, PROVIDER(MACHINES("1")));
	add_server(&w, "lab-0");
	w.servers[0].undefined = true;
	world_replica(&w);
	world_wait_all(&w, "free", 3600);
	world_do(&w, &w.host, "DELETE", "/apis/drover.dev/v1alpha1/providers/lab", NULL);
	world_run(&w, 1500);
	world_kill(&w.replicas[0]);
	world_replica(&w);
	world_wait(&w, provider_gone, &w, 3600, "Provider lab gone");
	assert_true(w.servers[0].undefined);
	world_stop(&w);
}

/* A Provider names a host that drover's flags do not allow. The Provider reports that. */
static void a_host_that_is_not_allowed_is_not_opened(void **state)
{
	struct sim_world w;

	(void)state;
	start(&w, 4107, PROVIDER(""));
	world_do(&w, &w.host, "PATCH", "/apis/drover.dev/v1alpha1/providers/lab",
		 json_pack("{s:{s:{s:s}}}", "spec", "libvirt", "uri",
			   "qemu+ssh://elsewhere/system"));
	add_server(&w, "vm-1");
	world_lab_machine(&w, &w.servers[0], "libvirt");
	world_replica(&w);
	world_wait_reason(&w.servers[0], "ProviderNotReady", 600);
	assert_non_null(strstr(world_at(&w.servers[0], "status.operation.lastError.message"),
			       "add it with --allow-libvirt"));
	assert_int_equal(w.libvirt.starts, 0);
	world_stop(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_domain_goes_round),
		cmocka_unit_test(a_host_that_restarts_harms_nothing),
		cmocka_unit_test(a_host_that_stays_away_is_named),
		cmocka_unit_test(a_helper_that_dies_is_started_again),
		cmocka_unit_test(a_domain_deleted_by_hand_is_named),
		cmocka_unit_test(a_new_leader_has_a_higher_fence),
		cmocka_unit_test(machines_are_made_and_unmade),
		cmocka_unit_test(a_provider_goes_with_its_machines),
		cmocka_unit_test(a_host_that_is_not_allowed_is_not_opened),
	};

	mem_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
