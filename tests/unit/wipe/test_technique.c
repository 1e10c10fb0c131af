/* Tests which combinations of technique, level, last answer and time a record may claim. */
#include "wipe/evidence.h"

#include "base/mem.h"
#include "base/str.h"
#include "tests/unit/testing.h"

#define TB INT64_C(1000000000000)

static int64_t answers[] = {0x2002, 0}, refused[] = {0, 5};

static struct evidence_device drive(const char *technique, int level)
{
	return (struct evidence_device){.type = "NVMe",
					.wwn = "eui.1",
					.bytes = 4 * TB,
					.technique = technique,
					.raw_status = {answers, 2},
					.level = level,
					.canaries = {.planted = 64},
					.reads = {.clean = 10512}};
}

static void denied(const struct evidence_device *d, int64_t took_ms, const char *says)
{
	struct err e = {0};

	assert_int_equal(evidence_bears_out(d, EVIDENCE_SAMPLES, took_ms, &e), -1);
	assert_int_equal(e.kind, ERR_DENIED);
	if (!strstr(e.text, says))
		fail_msg("%s, want: %s", e.text, says);
}

static void no_technique_earns_more_than_it_can(void **state)
{
	static const struct {
		const char *technique;
		int highest;
	} all[] = {
		{"SanitizeCryptoErase", WIPE_PURGE},
		{"SanitizeBlockErase", WIPE_PURGE},
		{"SanitizeOverwrite", WIPE_PURGE},
		{"FormatCrypto", WIPE_CLEAR},
		{"FormatUserData", WIPE_CLEAR},
		{"Overwrite", WIPE_CLEAR},
		{"None", WIPE_FAIL},
		{"Unknown", WIPE_FAIL},
		{"overwrite", WIPE_FAIL},
		{NULL, WIPE_FAIL},
	};
	struct err e;

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		assert_int_equal(evidence_highest_level(all[i].technique), all[i].highest);
		for (int level = WIPE_CLEAR; level <= WIPE_PURGE; level++) {
			struct evidence_device d = drive(all[i].technique, level);

			if (level > all[i].highest)
				denied(&d, INT64_MAX, "at most");
			else
				assert_ok(evidence_bears_out(&d, EVIDENCE_SAMPLES, INT64_MAX, &e),
					  &e);
		}
	}
}

static void the_last_answer_must_be_success(void **state)
{
	struct evidence_device d = drive("SanitizeBlockErase", WIPE_PURGE);

	(void)state;
	d.raw_status.v = refused;
	denied(&d, INT64_MAX, "last answer is 5");
	d.raw_status.n = 0;
	denied(&d, INT64_MAX, "last answer is -1");
}

static void no_drive_is_done_sooner_than_it_can_be(void **state)
{
	static const struct {
		const char *type, *technique;
		bool spins;
		int64_t bytes, least_ms;
	} cases[] = {
		{"NVMe", "SanitizeCryptoErase", false, 4 * TB, 2000},
		{"NVMe", "FormatCrypto", false, 30 * TB, 2000},
		{"NVMe", "FormatUserData", false, 30 * TB, 2000},
		{"NVMe", "SanitizeBlockErase", false, 30 * TB, 15000},
		{"SATA", "SecurityEraseEnhanced", false, 2 * TB, 2000},
		/* A self-encrypting disk may just discard its key. */
		{"SATA", "SecurityErase", true, 20 * TB, 2000},
		{"SAS", "FormatUnit", true, 20 * TB, 10000},
		{"SAS", "WriteSame", true, 20 * TB, 20000000},
		{"NVMe", "SanitizeBlockErase", false, TB, 2000},
		{"NVMe", "SanitizeOverwrite", false, 32 * TB, 1000000},
		{"NVMe", "Overwrite", false, 32 * TB, 1000000},
		{"SAS", "Overwrite", false, 8 * TB, 1000000},
		{"SAS", "Overwrite", true, 20 * TB, 20000000},
		{"SATA", "Overwrite", false, 2 * TB, 2000000},
		{"SATA", "Overwrite", true, 20 * TB, 20000000},
		{"MMC", "Overwrite", false, TB / 10, 100000},
		/* A virtual disk may report wrongly that it spins. */
		{"Virtio", "Overwrite", true, 32 * TB, 1000000},
	};
	struct evidence_device tiny = drive("SanitizeCryptoErase", WIPE_PURGE);
	struct err e;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct evidence_device d = drive(cases[i].technique, WIPE_CLEAR);

		d.type = cases[i].type;
		d.rotational = cases[i].spins;
		d.bytes = cases[i].bytes;
		assert_int_equal(evidence_least_ms(&d), cases[i].least_ms);
		denied(&d, cases[i].least_ms - 1, "the minimum is");
		assert_ok(evidence_bears_out(&d, EVIDENCE_SAMPLES, cases[i].least_ms, &e), &e);
	}
	tiny.bytes = 64 << 20;
	assert_int_equal(evidence_least_ms(&tiny), 0);
}

static void whole_seconds_count_for_the_longest_that_it_may_have_been(void **state)
{
	struct evidence ev = {.start_time = 1000, .end_time = 2000};

	(void)state;
	/* 1.999 s is the longest time between the two whole seconds; that may be enough for a key
	 * erase. */
	assert_int_equal(evidence_took_ms(&ev), 1999);
	ev.end_time = 0;
	assert_true(evidence_took_ms(&ev) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_technique_earns_more_than_it_can),
		cmocka_unit_test(the_last_answer_must_be_success),
		cmocka_unit_test(no_drive_is_done_sooner_than_it_can_be),
		cmocka_unit_test(whole_seconds_count_for_the_longest_that_it_may_have_been),
	};

	mem_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
