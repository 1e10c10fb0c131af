/* Drives listed by a BMC, compared with those that the agent saw. */
#include "tests/unit/testing.h"

#include <stdlib.h>
#include "api/annotations.h"
#include "base/str.h"
#include "tests/contract/slow_bmc.h"
#include "tests/world/world.h"

static struct fake_drive drives[16];
static char serials[16][32];

/* Lets the BMC list the machine's own two drives and those in more. */
static void list(struct server *b, const char *const *more, unsigned n)
{
	struct fake_drive *d = &drives[4 * (b - b->world->servers)];

	for (unsigned i = 0; i < SERVER_DRIVES; i++) {
		char *serial = serials[4 * (b - b->world->servers) + i];

		str_copy(serial, sizeof(serials[0]), b->drives[i].wwn);
		for (char *p = serial; *p; p++)
			if (*p >= 'a' && *p <= 'z')
				*p = (char)(*p - 'a' + 'A');
		d[i] = (struct fake_drive){.serial = serial, .slot = "bay"};
	}
	for (unsigned i = 0; i < n; i++)
		d[SERVER_DRIVES + i] = (struct fake_drive){
			.serial = more[i], .model = "HDD", .slot = "bay 7", .bytes = 4000};
	b->bmc.drives = d;
	b->bmc.ndrives = SERVER_DRIVES + n;
}

static json_t *unseen(const struct server *b, size_t i)
{
	return json_array_get(json_at(b->object, "status", "inventory", "unseenDrives"), i);
}

static void machines_whose_drives_were_all_seen_are_free(void **state)
{
	struct sim_world w;
	struct slow_bmc slow;

	(void)state;
	world_start(&w, 950, 4);
	list(&w.servers[0], NULL, 0);
	list(&w.servers[1], NULL, 0);
	slow_bmc_init(&slow, &w.servers[1].bmc, w.hardware, 3000);
	list(&w.servers[2], NULL, 0);
	w.servers[2].bmc.ndrives = 1; /* lists fewer drives than exist */
	world_replica(&w);
	world_wait_all(&w, "free", 3600);
	for (unsigned i = 0; i < 4; i++)
		assert_null(unseen(&w.servers[i], 0));
	world_stop(&w);
}

static void a_drive_that_only_the_bmc_knows_stops_it_until_a_person_accounts_for_it(void **state)
{
	static const char *const dead[] = {"WD-DEAD0001"};
	struct sim_world w;
	struct server *b = &w.servers[0];

	(void)state;
	world_start(&w, 951, 1);
	list(b, dead, 1);
	world_replica(&w);
	world_wait_reason(b, "DriveMissing", 900);
	assert_string_equal(b->state,
			    /* the list may predate the power-on */
			    "inspecting");
	world_wait_state(b, "quarantined", 600);
	assert_string_equal(world_at(b, "status.quarantine.reason"), "DriveMissing");
	assert_string_equal(world_at(b, "status.quarantine.exit"), "operator");
	assert_non_null(strstr(world_at(b, "status.quarantine.message"), "WD-DEAD0001 (bay 7)"));
	assert_string_equal(json_str_at(unseen(b, 0), "id"), "WD-DEAD0001");
	assert_int_equal(json_int_at(unseen(b, 0), "bytes"), 4000);
	assert_int_equal(json_array_size(json_at(b->object, "spec", "drives")), 0);
	/* Approving another inspection does not account for the drive. */
	world_patch_machine(
		b, json_pack("{s:{s:s, s:s}}", "approval", "action", "Wipe", "id", "again"));
	world_wait_state(b, "inspecting", 900);
	world_wait_state(b, "quarantined", 900);
	world_patch_machine(b, json_pack("{s:[s], s:{s:s, s:s}}", "unseenDrives", dead[0],
					 "approval", "action", "Wipe", "id", "accounted"));
	world_wait_state(b, "free", 1800);
	assert_string_equal(json_str_at(unseen(b, 0), "id"), "WD-DEAD0001");
	world_stop(&w);
}

static bool names_unseen(const json_t *o, void *arg)
{
	json_t *part;
	size_t i;

	json_array_foreach (json_at(o, "spec", "notCovered"), i, part)
		*(bool *)arg |= str_eq(json_string_value(part), "UnseenDrive WD-DEAD0002") ||
				str_eq(json_string_value(part), "UnseenDrive WD-DEAD0004");
	return true;
}

/* The record names the drives that it does not cover. */
static void a_record_names_the_drives_that_nobody_saw(void **state)
{
	static const char *const dead[] = {"WD-DEAD0002"};
	struct sim_world w;
	struct server *b = &w.servers[0];
	bool names;

	(void)state;
	world_start(&w, 952, 1);
	list(b, dead, 1);
	world_patch_machine(b, json_pack("{s:[s]}", "unseenDrives", dead[0]));
	world_replica(&w);
	world_wait_state(b, "free", 1800);
	names = false;
	cluster_each(&w.host, "wiperecords.drover.dev/", names_unseen, &names);
	assert_true(names);
	world_stop(&w);
}

/* A drive was removed while the machine was off. The BMC lists the drive until the firmware has
 * scanned again. */
static void a_list_of_before_the_power_came_is_read_again(void **state)
{
	static const char *const gone[] = {"WD-GONE0001"};
	struct sim_world w;
	struct server *b = &w.servers[0];

	(void)state;
	world_start(&w, 953, 1);
	list(b, gone, 1);
	world_replica(&w);
	world_wait_reason(b, "DriveMissing", 900);
	b->bmc.ndrives = SERVER_DRIVES;
	world_wait_state(b, "free", 900);
	assert_int_equal(json_array_size(json_at(b->object, "status", "failures")), 0);
	world_stop(&w);
}

/* --- a BMC that does not serve its list ------------------------------------------------------- */

#define STORAGE "/redfish/v1/Systems/1/Storage"

/* Callback for fake_bmc.tamper. asked: number of requests for the list. status: HTTP status of the
 * answer; 0: answers normally. */
struct storage {
	unsigned asked;
	int status;
};

static bool on_storage(struct httpd_req *q, unsigned n, void *arg)
{
	struct storage *s = arg;

	(void)n;
	if (!str_starts(httpd_path(q), STORAGE))
		return false;
	s->asked++;
	if (!s->status)
		return false;
	httpd_reply_header(q, "Retry-After", "600");
	httpd_reply_json(q, s->status, "{}");
	return true;
}

static void watch(struct server *b, struct storage *s)
{
	*s = (struct storage){0};
	b->bmc.tamper = on_storage;
	b->bmc.tamper_arg = s;
}

static const char *not_listed(const struct server *b, const char *member)
{
	return json_str_at(b->object, "status", "bmc", "drivesNotListed", member);
}

static void to_serving(struct server *b)
{
	struct sim_world *w = b->world;

	world_wait_state(b, "free", 1800);
	world_pod(w, &w->tenants[0], "train");
	world_wait_running(w, &w->tenants[0], "train", 1200);
}

/* Returns the simulated ms from draining to free. */
static int64_t way_back(struct server *b)
{
	struct sim_world *w = b->world;
	int64_t began = loop_now(w->loop);

	world_delete_pod(w, &w->tenants[0], "train");
	world_release(b);
	world_wait_state(b, "stopping", 1200);
	world_wait_state(b, "free", 1800);
	return loop_now(w->loop) - began;
}

static unsigned asked_on_a_trip(struct server *b, struct storage *s)
{
	to_serving(b);
	s->asked = 0;
	(void)way_back(b);
	return s->asked;
}

static void a_bmc_that_serves_no_list_is_let_be_and_remembered(void **state)
{
	static const char *const dead[] = {"WD-DEAD0003"};
	struct sim_world w;
	struct server *b = &w.servers[0];
	const char *told;

	(void)state;
	world_start(&w, 954, 1);
	list(b, dead, 1);
	b->bmc.storage_fails = true;
	world_replica(&w);
	world_wait_state(b, "free", 3600);
	told = strstr(w.log, "BMC lists no drives");
	assert_non_null(told);
	/* The message is logged only once: the inspection changes spec later, but this must not
	 * make drover read the BMC's list again. */
	assert_null(strstr(told + 1, "BMC lists no drives"));
	assert_string_equal(not_listed(b, "firmwareVersion"), "7.10.30");
	assert_non_null(strstr(not_listed(b, "message"), STORAGE ": 500"));
	world_stop(&w);
}

static int64_t way_back_of(bool fails, int status)
{
	struct sim_world w;
	struct server *b = &w.servers[0];
	struct storage s;
	int64_t took;

	world_start(&w, 955, 1);
	list(b, NULL, 0);
	world_replica(&w);
	to_serving(b);
	assert_null(not_listed(b, "observedTime"));
	watch(b, &s);
	b->bmc.storage_fails = fails;
	s.status = status;
	took = way_back(b);
	assert_true(s.asked > 0);
	assert_int_equal(not_listed(b, "observedTime") != NULL, fails);
	assert_null(strstr(w.log, "BmcUnreachable"));
	world_stop(&w);
	return took;
}

/* The test compares two worlds that are equal until the list is requested. From then on the
 * simulated network draws different delays, of at most 2 ms for each delivery; over 20 seeds the
 * two times differed by -30 to 18 ms. A retry after a pause would add 2 s. */
#define DRAWN_MS 200

static void a_list_that_is_not_served_holds_no_machine_up(void **state)
{
	int64_t with = way_back_of(false, 0);

	(void)state;
	assert_true(way_back_of(true, 0) <= with + DRAWN_MS);
	/* The BMC answers 503 and requests a long pause. drover makes only a few retries, however
	 * long the pause is. */
	assert_true(way_back_of(false, 503) <= with + 15000);
}

static void a_bmc_without_list_is_asked_again_after_a_day_or_an_update_or_by_a_person(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];
	struct storage s;

	(void)state;
	world_start(&w, 956, 1);
	list(b, NULL, 0);
	watch(b, &s);
	b->bmc.storage_fails = true;
	world_replica(&w);
	world_wait_state(b, "free", 1800);
	assert_int_equal(s.asked, 2);
	assert_int_equal(asked_on_a_trip(b, &s), 0);
	/* The BMC now also has the simple list. drover must not read the full list again because of
	 * that. */
	b->bmc.simple_too = true;
	world_kill(&w.replicas[0]);
	world_replica(&w);
	assert_int_equal(asked_on_a_trip(b, &s), 0);
	b->bmc.firmware = "7.20.10";
	assert_int_equal(asked_on_a_trip(b, &s), 2);
	assert_string_equal(not_listed(b, "firmwareVersion"), "7.20.10");
	assert_int_equal(asked_on_a_trip(b, &s), 0);
	world_do(&w, &w.host, "PATCH", "/apis/drover.dev/v1alpha1/machines/gpu-1",
		 json_pack("{s:{s:{s:s}}}", "metadata", "annotations", REQUEST_RETRY, "1"));
	assert_int_equal(asked_on_a_trip(b, &s), 2);
	b->bmc.storage_fails = false;
	world_run(&w, 25 * 3600 * 1000);
	assert_true(asked_on_a_trip(b, &s) > 2);
	assert_null(not_listed(b, "observedTime"));
	world_stop(&w);
}

/* The BMC needs longer for the list than the agent for the inspection. */
static void a_drive_that_a_slow_bmc_lists_is_missed_before_the_machine_is_clean(void **state)
{
	static const char *const dead[] = {"WD-DEAD0004"};
	struct sim_world w;
	struct server *b = &w.servers[0];
	struct slow_bmc slow;
	bool names = false;

	(void)state;
	world_start(&w, 957, 1);
	list(b, NULL, 0);
	world_replica(&w);
	to_serving(b);
	list(b, dead, 1);
	slow_bmc_init(&slow, &b->bmc, w.hardware, 3000);
	world_delete_pod(&w, &w.tenants[0], "train");
	world_release(b);
	world_wait_reason(b, "DriveMissing", 900);
	assert_string_equal(b->state, "wiping");
	assert_string_equal(json_str_at(unseen(b, 0), "id"), dead[0]);
	world_wait_state(b, "quarantined", 600);
	assert_string_equal(world_at(b, "status.quarantine.reason"), "DriveMissing");
	assert_string_equal(world_at(b, "status.quarantine.exit"), "operator");
	world_patch_machine(b, json_pack("{s:[s], s:{s:s, s:s}}", "unseenDrives", dead[0],
					 "approval", "action", "Wipe", "id", "accounted"));
	world_wait_state(b, "free", 1800);
	cluster_each(&w.host, "wiperecords.drover.dev/", names_unseen, &names);
	assert_true(names);
	world_stop(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(machines_whose_drives_were_all_seen_are_free),
		cmocka_unit_test(
			a_drive_that_only_the_bmc_knows_stops_it_until_a_person_accounts_for_it),
		cmocka_unit_test(a_record_names_the_drives_that_nobody_saw),
		cmocka_unit_test(a_list_of_before_the_power_came_is_read_again),
		cmocka_unit_test(a_bmc_that_serves_no_list_is_let_be_and_remembered),
		cmocka_unit_test(a_list_that_is_not_served_holds_no_machine_up),
		cmocka_unit_test(
			a_bmc_without_list_is_asked_again_after_a_day_or_an_update_or_by_a_person),
		cmocka_unit_test(
			a_drive_that_a_slow_bmc_lists_is_missed_before_the_machine_is_clean),
	};

	cmocka_set_test_filter(getenv("ONLY"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
