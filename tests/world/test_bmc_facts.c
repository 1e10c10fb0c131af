/* The facts about a BMC in status.bmc. */
#include "tests/unit/testing.h"

#include "base/str.h"
#include "tests/contract/slow_bmc.h"
#include "tests/world/leaving.h"
#include "tests/world/world.h"

static const char *known(const struct server *b, const char *member)
{
	return json_str_at(b->object, "status", "bmc", member);
}

static const char *quirk(const struct server *b, size_t i)
{
	return json_string_value(json_array_get(json_at(b->object, "status", "bmc", "quirks"), i));
}

static json_int_t latency(const struct server *b)
{
	return json_int_at(b->object, "status", "bmc", "latencyMilliseconds");
}

static void a_machine_says_what_its_bmc_is(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];

	(void)state;
	world_start(&w, 1710, 2);
	b->bmc.vendor = "ASRockRack";
	b->bmc.model = "4U8G-ROME2";
	b->bmc.lists_https = 1;
	w.servers[1].bmc.basic_only = true;
	world_replica(&w);
	world_wait_all(&w, "free", 1800);
	assert_string_equal(known(b, "vendor"), "ASRockRack");
	assert_string_equal(known(b, "product"), "4U8G-ROME2");
	assert_string_equal(known(b, "redfishVersion"), "1.11.0");
	assert_string_equal(known(b, "firmwareVersion"), "7.10.30");
	assert_string_equal(known(b, "media"), "HTTPS");
	assert_true(str_starts(known(b, "mediaSlot"), "/redfish/v1/Systems/1/VirtualMedia/"));
	assert_string_equal(known(b, "login"), "Session");
	assert_string_equal(quirk(b, 0), "Q17-asrockrack");
	assert_null(quirk(b, 1));
	assert_string_equal(known(&w.servers[1], "login"), "Basic");
	assert_null(quirk(&w.servers[1], 0));
	world_stop(&w);
}

/* The BMC's firmware is read only together with the drives. A leader that has not read it yet keeps
 * the recorded value. */
static void the_next_leader_keeps_what_it_has_not_read_yet(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];

	(void)state;
	world_start(&w, 1711, 1);
	world_replica(&w);
	world_wait_state(b, "free", 1800);
	world_kill(&w.replicas[0]);
	world_replica(&w);
	world_run(&w, 900 * 1000);
	assert_string_equal(known(b, "firmwareVersion"), "7.10.30");
	/* The recorded value is dropped if the vendor changed. */
	b->bmc.vendor = "Contoso";
	world_run(&w, 900 * 1000);
	assert_string_equal(known(b, "vendor"), "Contoso");
	assert_null(known(b, "firmwareVersion"));
	world_stop(&w);
}

static void a_latency_is_written_again_when_it_is_another_by_a_quarter(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];
	struct slow_bmc slow;
	char version[32];
	json_int_t was;

	(void)state;
	world_start(&w, 1712, 1);
	slow_bmc_init(&slow, &b->bmc, w.hardware, 500);
	world_replica(&w);
	world_wait_state(b, "free", 1800);
	world_run(&w, 700 * 1000);
	was = latency(b);
	assert_in_range(was, 480, 620);
	str_copy(version, sizeof(version), json_str_at(b->object, "metadata", "resourceVersion"));
	slow.ms = 560;
	world_run(&w, 1500 * 1000);
	assert_string_equal(json_str_at(b->object, "metadata", "resourceVersion"), version);
	slow.ms = 900;
	world_run(&w, 1500 * 1000);
	assert_in_range(latency(b), was * 5 / 4, 1000);
	world_stop(&w);
}

/* A host cluster with an older definition of Machine drops the new fields. drover must not write
 * them again and again. */
static void what_is_not_kept_is_not_written_without_end(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];

	(void)state;
	world_start(&w, 1716, 1);
	world_replica(&w);
	world_wait_state(b, "free", 1800);
	world_do(&w, &w.host, "PATCH", "/apis/drover.dev/v1alpha1/machines/gpu-1/status",
		 json_pack("{s:{s:{s:n}}}", "status", "bmc", "redfishVersion"));
	world_run(&w, 60000);
	assert_string_equal(known(b, "redfishVersion"), "1.11.0");
	world_do(&w, &w.host, "PATCH", "/apis/drover.dev/v1alpha1/machines/gpu-1/status",
		 json_pack("{s:{s:{s:n}}}", "status", "bmc", "redfishVersion"));
	world_run(&w, 300 * 1000);
	assert_null(known(b, "redfishVersion"));
	world_run(&w, 600 * 1000);
	assert_string_equal(known(b, "redfishVersion"), "1.11.0");
	world_stop(&w);
}

static json_int_t trip(const struct server *b)
{
	return json_int_at(b->object, "status", "bmc", "tripCalls");
}

static void to_serving(struct sim_world *w)
{
	world_pod(w, &w->tenants[0], "train");
	world_wait_running(w, &w->tenants[0], "train", 1200);
}

static void to_free(struct server *b)
{
	leaving_begin(b->world);
	world_wait_state(b, "stopping", 1200);
	world_wait_state(b, "free", 1800);
}

/* The count includes requests sent before the Secret changed, although the BMC was attached anew
 * after the change. */
static void the_requests_of_a_trip_are_counted(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];
	struct slow_bmc slow;
	unsigned before;

	(void)state;
	world_start(&w, 1713, 1);
	slow_bmc_init(&slow, &b->bmc, w.hardware, 1);
	world_replica(&w);
	world_wait_state(b, "free", 1800);
	assert_int_equal(trip(b), 0);
	before = slow.answered;
	to_serving(&w);
	b->bmc.password = "another one";
	world_secret(&w, "drover-system", "bmc", "username", "drover", "password", "another one");
	world_run(&w, 60000);
	to_free(b);
	assert_int_equal(b->bmc.logins, 2);
	/* Observations while the machine was free are not counted. */
	assert_in_range(trip(b), slow.answered - before - 8, slow.answered - before);
	world_stop(&w);
}

static void a_trip_that_no_leader_saw_whole_has_no_count(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];

	(void)state;
	world_start(&w, 1715, 1);
	world_replica(&w);
	world_wait_state(b, "free", 1800);
	to_serving(&w);
	world_kill(&w.replicas[0]);
	world_replica(&w);
	to_free(b);
	assert_int_equal(trip(b), 0);
	world_stop(&w);
}

/* An operator approves another BMC at the address. With the new login the service root is read
 * again; it reports no vendor. */
static void another_bmc_that_is_trusted_has_facts_of_its_own(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];
	char address[128];

	(void)state;
	world_start(&w, 1714, 1);
	b->bmc.vendor = "ASRockRack";
	world_replica(&w);
	world_wait_state(b, "free", 1800);
	assert_string_equal(quirk(b, 0), "Q17-asrockrack");
	b->bmc.vendor = NULL;
	str_format(address, sizeof(address), "%s/redfish/v1/", b->origin);
	world_patch_machine(b, json_pack("{s:{s:s}, s:{s:s, s:s, s:{s:s, s:s, s:{s:b}}}}", "bmc",
					 "address", address, "approval", "action", "TrustBMC", "id",
					 "moved", "bmc", "credentials", "bmc", "address", address,
					 "tls", "trustOnFirstUse", 1));
	leaving_wait_at(b, "status.approvalID", "moved", 60);
	world_run(&w, 900 * 1000);
	assert_null(known(b, "vendor"));
	assert_null(quirk(b, 0));
	assert_null(known(b, "firmwareVersion"));
	assert_string_equal(known(b, "login"), "Session");
	world_stop(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_machine_says_what_its_bmc_is),
		cmocka_unit_test(the_next_leader_keeps_what_it_has_not_read_yet),
		cmocka_unit_test(a_latency_is_written_again_when_it_is_another_by_a_quarter),
		cmocka_unit_test(what_is_not_kept_is_not_written_without_end),
		cmocka_unit_test(the_requests_of_a_trip_are_counted),
		cmocka_unit_test(a_trip_that_no_leader_saw_whole_has_no_count),
		cmocka_unit_test(another_bmc_that_is_trusted_has_facts_of_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
