/* Drives that a BMC lists, and what the agent saw of them. */
#include "tests/unit/testing.h"

#include <stdlib.h>
#include "base/str.h"
#include "tests/contract/slow_bmc.h"
#include "tests/world/world.h"

static struct fake_drive drives[16];
static char serials[16][32];

/* The machine's own two, and then these. */
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
	w.servers[2].bmc.ndrives = 1; /* it lists fewer */
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
			    "inspecting"); /* it may be what the BMC saw before power-on */
	world_wait_state(b, "quarantined", 600);
	assert_string_equal(world_at(b, "status.quarantine.reason"), "DriveMissing");
	assert_string_equal(world_at(b, "status.quarantine.exit"), "operator");
	assert_non_null(strstr(world_at(b, "status.quarantine.message"), "WD-DEAD0001 (bay 7)"));
	assert_string_equal(json_str_at(unseen(b, 0), "id"), "WD-DEAD0001");
	assert_int_equal(json_int_at(unseen(b, 0), "bytes"), 4000);
	assert_int_equal(json_array_size(json_at(b->object, "spec", "drives")), 0);
	/* To be looked at again is not to be accounted for. */
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
		*(bool *)arg |= str_eq(json_string_value(part), "UnseenDrive WD-DEAD0002");
	return true;
}

/* The record says what it does not speak of. */
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

/* What was pulled out while it was off is listed until the firmware has looked again. */
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

static void a_bmc_that_fails_at_its_list_alone_is_let_be(void **state)
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
	/* What the inspection learnt is written to spec: nothing of that is the BMC's affair. */
	assert_null(strstr(told + 1, "BMC lists no drives"));
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
		cmocka_unit_test(a_bmc_that_fails_at_its_list_alone_is_let_be),
	};

	cmocka_set_test_filter(getenv("ONLY"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
