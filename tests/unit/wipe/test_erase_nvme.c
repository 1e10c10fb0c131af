/* Tests the erase commands of NVMe drives: which commands are sent, when the next one is tried, and
 * which namespaces they affect. */
#include "wipe/erase.h"

#include <string.h>
#include "base/mem.h"
#include "tests/unit/testing.h"
#include "tests/unit/wipe/erasing.h"
#include "tests/unit/wipe/flaky.h"
#include "wipe/sanitize.h"

static const uint16_t erasing_trail[][2] = {{100, 2}, {30000, 2}, {65535, 0x101}, {0, 1}};

static void format_is_chosen_by_capability_and_keeps_the_format(void **state)
{
	struct err e;

	(void)state;
	erasing.drive.format = true;
	assert_ok(erasing_run(&erasing.erase, &e), &e);
	assert_string_equal(erasing.erase.device.technique, "FormatUserData");
	assert_int_equal(erasing.drive.last_ses, 1);
	/* LBA format 2, extended metadata, protection type 1 in the first bytes: as before the
	 * Format. */
	assert_int_equal(erasing.drive.last_lbaf, 0x2 | 1 << 4 | 1 << 5 | 1 << 8);
	/* A drive full of ones is as clean as one full of zeros. */
	assert_ok(erase_verify(&erasing.erase, 100, &e), &e);
}

static void a_refused_format_falls_to_the_next_rung(void **state)
{
	struct err e;

	(void)state;
	erasing.drive.format = erasing.drive.crypto = true;
	erasing.drive.status = 0x2002; /* Status: Invalid Field. */
	assert_ok(erasing_run(&erasing.erase, &e), &e);
	assert_int_equal(erasing.drive.formats, 2);
	assert_string_equal(erasing.erase.device.technique, "Overwrite");
	assert_int_equal(machine_residue(&erasing.machine, ERASING_NAME), 0);
	/* The answer to each command is recorded. */
	assert_int_equal(erasing.erase.device.raw_status.n, 3);
	assert_int_equal(erasing.erase.device.raw_status.v[0], 0x2002);
	assert_int_equal(erasing.erase.device.raw_status.v[1], 0x2002);
	assert_int_equal(erasing.erase.device.raw_status.v[2], 0);
}

/* The drive lost power during a Format. Its namespace accepts no I/O until a Format completes. */
static void a_namespace_that_takes_no_io_is_formatted_and_then_wiped(void **state)
{
	struct err e;

	(void)state;
	erasing.machine.host.ring = &flaky_ops;
	flaky.bad_at = 0;
	erasing.drive.format = erasing.drive.crypto = erasing.drive.mends = true;
	assert_ok(erasing_run(&erasing.erase, &e), &e);
	/* The first Format proves nothing, because no canary could be written before it. */
	assert_int_equal(erasing.drive.formats, 2);
	assert_string_equal(erasing.erase.device.technique, "FormatCrypto");
	assert_int_equal(erasing.erase.device.canaries.planted, VERIFY_CANARIES);
	assert_int_equal(erasing.erase.device.raw_status.n, 2);
	assert_ok(erase_verify(&erasing.erase, 100, &e), &e);

	erasing_teardown(state);
	erasing_setup(state);
	erasing.machine.host.ring = &flaky_ops;
	flaky.bad_at = 0;
	erasing.drive.sanicap = 7;
	erasing.drive.trail = erasing_trail;
	erasing.drive.format = erasing.drive.mends = true;
	assert_ok(erasing_run(&erasing.erase, &e), &e);
	assert_int_equal(erasing.drive.formats, 1);
	assert_int_equal(erasing.erase.device.level, WIPE_PURGE);
}

static void what_no_format_mends_has_failed(void **state)
{
	struct err e;

	for (int status = 0; status < 2; status++) {
		erasing_teardown(state);
		erasing_setup(state);
		erasing.machine.host.ring = &flaky_ops;
		flaky.bad_at = 0;
		erasing.drive.format = erasing.drive.crypto = true;
		erasing.drive.status = status ? 0x2002 : 0;
		assert_int_equal(erasing_run(&erasing.erase, &e), -1);
		/* If the drive refuses the first Format, the other kind is tried. */
		assert_int_equal(erasing.drive.formats, 1 + status);
		assert_int_equal(erasing.erase.device.level, WIPE_FAIL);
		assert_string_equal(erasing.erase.device.reason, "DriveFailed");
		assert_int_equal(erasing.erase.device.canaries.planted, 0);
		assert_non_null(strstr(e.text, "canary"));
	}
}

static void a_drive_that_lies_is_found_out_and_overwritten(void **state)
{
	struct err e;

	(void)state;
	erasing.drive.format = erasing.drive.lies = true;
	assert_ok(erasing_run(&erasing.erase, &e), &e);
	assert_string_equal(erasing.erase.device.technique, "Overwrite");
	assert_int_equal(machine_residue(&erasing.machine, ERASING_NAME), 0);
}

static void sanitize_comes_first_and_earns_purge(void **state)
{
	struct err e;

	(void)state;
	erasing.drive.sanicap = 7;
	erasing.drive.format = erasing.drive.crypto = erasing.drive.noise = true;
	erasing.drive.trail = erasing_trail;
	assert_ok(erasing_run(&erasing.erase, &e), &e);
	assert_string_equal(erasing.erase.device.technique, "SanitizeCryptoErase");
	assert_int_equal(erasing.erase.device.level, WIPE_PURGE);
	assert_int_equal(erasing.erase.device.raw_status.n, 1);
	assert_int_equal(erasing.erase.device.raw_status.v[0], 0);
	/* Block erase with AUSE (permission to leave the failure mode). */
	assert_int_equal(erasing.drive.last_action, 4 | 8);
	/* The result is polled, because an accepted Sanitize has not ended yet. */
	assert_int_equal(erasing.drive.polls, 3);
	assert_int_equal(erasing.drive.formats, 0);
	assert_ok(erase_verify(&erasing.erase, 100, &e), &e);
	assert_int_equal(erasing.erase.device.level, WIPE_PURGE);
}

static void a_volatile_cache_is_switched_off_where_there_is_one(void **state)
{
	struct err e;

	(void)state;
	assert_ok(erasing_run(&erasing.erase, &e), &e);
	assert_int_equal(erasing.drive.cache_offs, 0);
	erasing_teardown(state);
	erasing_setup(state);
	erasing.drive.cache = true;
	assert_ok(erasing_run(&erasing.erase, &e), &e);
	assert_int_equal(erasing.drive.cache_offs, 1);
}

static void sanitize_overwrite_asks_for_one_pass(void **state)
{
	struct err e;

	(void)state;
	erasing.drive.sanicap = 4;
	erasing.drive.trail = erasing_trail;
	assert_ok(erasing_run(&erasing.erase, &e), &e);
	assert_string_equal(erasing.erase.device.technique, "SanitizeOverwrite");
	assert_int_equal(erasing.drive.last_action, 0x13 | 8);
}

static void a_refused_sanitize_falls_to_the_next_rung(void **state)
{
	struct err e;

	(void)state;
	erasing.drive.sanicap = 3;
	erasing.drive.sanitize_status = 0x2001;
	assert_ok(erasing_run(&erasing.erase, &e), &e);
	assert_int_equal(erasing.drive.sanitizes, 2);
	assert_string_equal(erasing.erase.device.technique, "Overwrite");
	assert_int_equal(erasing.erase.device.level, WIPE_CLEAR);
}

static const uint16_t failing[][2] = {{100, 2}, {200, 3}, {0, 3}};

/* The state of a drive whose Sanitize disappeared is unknown, so no other erase is tried. */
static void a_sanitize_that_is_lost_is_replaced_by_nothing(void **state)
{
	static const uint16_t back[][2] = {{30000, 2}, {100, 2}, {0, 1}};
	static const uint16_t unknown[][2] = {{100, 2}, {200, 5}, {0, 1}};
	/* Each list has an invalid state, then a success. Code that did not check the state would
	 * believe the success. */
	static const uint16_t(*const trails[])[2] = {back, unknown};
	struct err e;

	for (size_t i = 0; i < 2; i++) {
		erasing_teardown(state);
		erasing_setup(state);
		erasing.drive.sanicap = 7;
		erasing.drive.format = true;
		erasing.drive.trail = trails[i];
		assert_int_equal(erasing_run(&erasing.erase, &e), -1);
		assert_int_equal(erasing.erase.device.level, WIPE_FAIL);
		assert_string_equal(erasing.erase.device.technique, "SanitizeCryptoErase");
		assert_int_equal(erasing.drive.sanitizes, 1);
		assert_int_equal(erasing.drive.exits, 0);
		assert_int_equal(erasing.drive.formats, 0);
	}
}

/* The time limit depends on the progress so far: a Sanitize fails if its next step takes far longer
 * than the steps before. */
static void a_sanitize_that_stands_still_is_given_up(void **state)
{
	static const uint16_t still[][2] = {{300, 2}};
	struct err e;

	(void)state;
	erasing.machine.host.stall_ms = MACHINE_STALL_MS;
	erasing.drive.sanicap = 2;
	erasing.drive.trail = still;
	erasing.drive.stays = true;
	assert_int_equal(erasing_run(&erasing.erase, &e), -1);
	assert_non_null(strstr(e.text, "stuck at 300 of 65536"));
	assert_int_equal(erasing.drive.sanitizes, 1);
}

static void how_long_a_sanitize_may_stand_still_is_what_it_makes_likely(void **state)
{
	static const struct {
		enum sanitize_action action;
		int expected_s, longest_s, stall_min;
	} rows[] = {
		{SANITIZE_BLOCK, 0, 0, 30}, /* The drive reports no expected duration. */
		/* A cryptographic erase only discards a key, which takes no time. */
		{SANITIZE_CRYPTO, 0, 0, 10},
		{SANITIZE_BLOCK, 3600, 0, 120},
		{SANITIZE_OVERWRITE, 36000, 0, 1200},
		/* The expected duration is implausible. */
		{SANITIZE_CRYPTO, 1200, 0, 40},
		{SANITIZE_BLOCK, 100000, 0, 30},
		{SANITIZE_BLOCK, 3600, 1, 5}, /* One step per second until now. */
		{SANITIZE_BLOCK, 3600, 120, 16},
		{SANITIZE_OVERWRITE, 36000, 1000, 60},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		assert_int_equal(sanitize_stall_ms(rows[i].action, rows[i].expected_s * 1000,
						   rows[i].longest_s * 1000),
				 rows[i].stall_min * 60000);
}

/* After the failed Sanitize, the drive leaves its failure mode and gets one Sanitize of another
 * kind. */
static void a_sanitize_that_failed_is_followed_by_one_of_another_kind(void **state)
{
	static const uint16_t(*const trails[])[2] = {failing, erasing_trail};
	static const struct {
		uint32_t sanicap;
		const char *technique;
		unsigned action;
	} kinds[] = {{7, "SanitizeBlockErase", 2 | 8},
		     {5, "SanitizeOverwrite", 0x13 | 8},
		     /* No other kind is supported, so the same kind is repeated. */
		     {2, "SanitizeBlockErase", 2 | 8}};
	struct err e;

	for (size_t i = 0; i < 3; i++) {
		erasing_teardown(state);
		erasing_setup(state);
		erasing.drive.sanicap = kinds[i].sanicap;
		erasing.drive.format = true;
		erasing.drive.trails = trails;
		assert_ok(erasing_run(&erasing.erase, &e), &e);
		assert_int_equal(erasing.drive.exits, 1);
		assert_int_equal(erasing.drive.sanitizes, 2);
		assert_int_equal(erasing.drive.last_action, kinds[i].action);
		assert_int_equal(erasing.drive.formats, 0);
		assert_string_equal(erasing.erase.device.technique, kinds[i].technique);
		assert_int_equal(erasing.erase.device.level, WIPE_PURGE);
		assert_int_equal(erasing.erase.device.raw_status.n, 2);
		assert_int_equal(erasing.erase.device.raw_status.v[0], 3);
		assert_int_equal(erasing.erase.device.raw_status.v[1], 0);
		assert_ok(erase_verify(&erasing.erase, 100, &e), &e);
	}
}

static void a_sanitize_that_failed_is_followed_by_nothing_less(void **state)
{
	static const uint16_t(*const twice[])[2] = {failing, failing, erasing_trail};
	struct err e;

	for (size_t i = 0; i < 3; i++) {
		erasing_teardown(state);
		erasing_setup(state);
		erasing.drive.sanicap = i < 2 ? 7 : 2;
		erasing.drive.format = true;
		erasing.drive.trails = twice;
		erasing.drive.exit_status = i == 1 ? 0x2006 : 0;
		assert_int_equal(erasing_run(&erasing.erase, &e), -1);
		assert_int_equal(erasing.drive.sanitizes,
				 i == 1 ? 1 : 2); /* At most two Sanitizes, of different kinds. */
		assert_int_equal(erasing.drive.formats, 0);
		assert_int_equal(erasing.erase.device.level, WIPE_FAIL);
		assert_string_equal(erasing.erase.device.reason, "DriveFailed");
		assert_non_null(strstr(e.text, "Sanitize failed"));
		/* The first failure remains in the record, even if nothing could be verified. */
		assert_int_equal(erase_verify(&erasing.erase, 100, &e), -1);
		assert_non_null(strstr(erasing.erase.device.message, "Sanitize failed"));
	}
}

/* A Sanitize continues after the agent that began it has ended. Until the Sanitize ends, the drive
 * accepts no writes. */
static void a_sanitize_that_still_runs_is_waited_for(void **state)
{
	static const uint16_t ends[][2] = {{100, 2}, {30000, 2}, {65535, 0x101}};
	static const uint16_t fails[][2] = {{100, 2}, {200, 3}};
	struct err e;

	(void)state;
	erasing.drive.sanicap = 7;
	erasing.drive.trail = erasing_trail;
	erasing.drive.earlier = ends;
	assert_ok(erasing_run(&erasing.erase, &e), &e);
	assert_int_equal(erasing.drive.waits, 2);
	assert_int_equal(erasing.erase.device.level, WIPE_PURGE);
	assert_int_equal(erasing.erase.device.raw_status.n, 1);

	/* The earlier Sanitize failed: the drive leaves its failure mode, and the erase methods are
	 * tried from the first. */
	erasing_teardown(state);
	erasing_setup(state);
	erasing.drive.sanicap = 7;
	erasing.drive.trail = erasing_trail;
	erasing.drive.earlier = fails;
	assert_ok(erasing_run(&erasing.erase, &e), &e);
	assert_int_equal(erasing.drive.exits, 1);
	assert_int_equal(erasing.drive.sanitizes, 1);
	assert_int_equal(erasing.erase.device.raw_status.n, 1);
	/* The drive may not leave its failure mode (no AUSE): a Sanitize of another kind without
	 * AUSE is sent. Its success proves nothing, so the methods follow from the first. */
	erasing_teardown(state);
	erasing_setup(state);
	erasing.drive.sanicap = 7;
	erasing.drive.trail = erasing_trail;
	erasing.drive.earlier = fails;
	erasing.drive.earlier_restricted = true;
	assert_ok(erasing_run(&erasing.erase, &e), &e);
	assert_int_equal(erasing.drive.exits, 0);
	assert_int_equal(erasing.drive.sanitizes, 2);
	assert_int_equal(erasing.drive.first_action, 2);
	assert_int_equal(erasing.drive.last_action, 4 | 8);
	assert_int_equal(erasing.erase.device.level, WIPE_PURGE);
}

static void a_sanitize_that_left_everything_is_a_failure(void **state)
{
	struct err e;

	(void)state;
	erasing.drive.sanicap = 2;
	erasing.drive.lies = true;
	erasing.drive.trail = erasing_trail;
	assert_int_equal(erasing_run(&erasing.erase, &e), -1);
	assert_string_equal(erasing.erase.device.reason, "EraseUnverified");
}

static void second_namespace(void)
{
	erasing.drive.two_namespaces = true;
	machine_drive(&erasing.machine, "nvme0n2", "eui.0002\n", ERASING_BYTES);
	machine_file(&erasing.machine, "sys/block/nvme0n2/nsid", "2\n");
}

static void sanitize_is_not_used_where_it_would_hit_another_namespace(void **state)
{
	struct err e;

	(void)state;
	erasing.drive.sanicap = 7;
	second_namespace();
	assert_ok(erasing_run(&erasing.erase, &e), &e);
	assert_int_equal(erasing.drive.sanitizes, 0);
	assert_string_equal(erasing.erase.device.technique, "Overwrite");
}

static void format_names_one_namespace_or_all_as_the_drive_says(void **state)
{
	struct err e;

	erasing.drive.format = true;
	assert_ok(erasing_run(&erasing.erase, &e), &e);
	assert_int_equal(erasing.drive.last_nsid, 1);
	for (int i = 0; i < 2; i++) {
		erasing_teardown(state);
		erasing_setup(state);
		erasing.drive.format = erasing.drive.format_all = true;
		erasing.drive.no_broadcast = i;
		assert_ok(erasing_run(&erasing.erase, &e), &e);
		assert_true(erasing.drive.last_nsid == (i ? 1 : 0xffffffff));
	}
}

static void format_is_not_used_where_it_would_hit_another_namespace(void **state)
{
	struct err e;

	(void)state;
	erasing.drive.format = erasing.drive.crypto = erasing.drive.format_all = true;
	second_namespace();
	assert_ok(erasing_run(&erasing.erase, &e), &e);
	assert_int_equal(erasing.drive.formats, 0);
	assert_string_equal(erasing.erase.device.technique, "Overwrite");
	/* If a Format affects only one namespace, each namespace gets its own Format. */
	erasing_teardown(state);
	erasing_setup(state);
	erasing.drive.format = true;
	second_namespace();
	assert_ok(erasing_run(&erasing.erase, &e), &e);
	assert_string_equal(erasing.erase.device.technique, "FormatUserData");
	assert_int_equal(erasing.drive.last_nsid, 1);
}

static void assert_namespace_hidden(void)
{
	struct err e;

	assert_int_equal(erasing_run(&erasing.erase, &e), -1);
	assert_int_equal(erasing.erase.device.level, WIPE_FAIL);
	assert_string_equal(erasing.erase.device.reason, "NamespaceHidden");
	assert_non_null(strstr(e.text, "/dev/" ERASING_NAME));
	assert_int_equal(erasing.drive.formats, 0);
}

static void a_namespace_without_a_block_device_fails_the_drive(void **state)
{
	(void)state;
	erasing.drive.format = erasing.drive.two_namespaces = true;
	/* A block device of another controller does not count. */
	machine_drive(&erasing.machine, "nvme1n1", "eui.0003\n", ERASING_BYTES);
	machine_file(&erasing.machine, "sys/block/nvme1n1/nsid", "2\n");
	assert_namespace_hidden();
}

static void a_namespace_that_is_attached_to_nobody_fails_the_drive(void **state)
{
	(void)state;
	erasing.drive.format = erasing.drive.managed = erasing.drive.detached = true;
	assert_namespace_hidden();
}

/* Nobody can check whether a Sanitize reached a namespace that no block device shows. */
static void sanitize_is_not_believed_of_a_namespace_that_nobody_sees(void **state)
{
	(void)state;
	erasing.drive.managed = erasing.drive.detached = true;
	erasing.drive.sanicap = 2;
	erasing.drive.trail = erasing_trail;
	assert_namespace_hidden();
	assert_int_equal(erasing.drive.sanitizes, 0);
}

static void a_drive_that_does_not_say_what_it_holds_fails(void **state)
{
	static const uint32_t deaf[] = {1, 2, 0x10};
	struct err e;

	for (size_t i = 0; i < 3; i++) {
		erasing_teardown(state);
		erasing_setup(state);
		erasing.drive.managed = erasing.drive.format = true;
		erasing.drive.deaf = deaf[i];
		assert_int_equal(erasing_run(&erasing.erase, &e), -1);
		assert_int_equal(erasing.erase.device.level, WIPE_FAIL);
		assert_string_equal(erasing.erase.device.reason, "DriveFailed");
		assert_int_equal(erasing.drive.formats, 0);
	}
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, erasing_setup, erasing_teardown)
	const struct CMUnitTest tests[] = {
		T(format_is_chosen_by_capability_and_keeps_the_format),
		T(a_refused_format_falls_to_the_next_rung),
		T(a_namespace_that_takes_no_io_is_formatted_and_then_wiped),
		T(what_no_format_mends_has_failed),
		T(a_drive_that_lies_is_found_out_and_overwritten),
		T(sanitize_comes_first_and_earns_purge),
		T(a_volatile_cache_is_switched_off_where_there_is_one),
		T(sanitize_overwrite_asks_for_one_pass),
		T(a_refused_sanitize_falls_to_the_next_rung),
		T(a_sanitize_that_is_lost_is_replaced_by_nothing),
		T(a_sanitize_that_stands_still_is_given_up),
		T(how_long_a_sanitize_may_stand_still_is_what_it_makes_likely),
		T(a_sanitize_that_failed_is_followed_by_one_of_another_kind),
		T(a_sanitize_that_failed_is_followed_by_nothing_less),
		T(a_sanitize_that_still_runs_is_waited_for),
		T(a_sanitize_that_left_everything_is_a_failure),
		T(sanitize_is_not_used_where_it_would_hit_another_namespace),
		T(format_names_one_namespace_or_all_as_the_drive_says),
		T(format_is_not_used_where_it_would_hit_another_namespace),
		T(a_namespace_without_a_block_device_fails_the_drive),
		T(a_namespace_that_is_attached_to_nobody_fails_the_drive),
		T(sanitize_is_not_believed_of_a_namespace_that_nobody_sees),
		T(a_drive_that_does_not_say_what_it_holds_fails),
	};

	mem_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
