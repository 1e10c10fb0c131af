/* Tests how the progress of a Format is read while its command blocks. */
#include "wipe/format.h"

#include <semaphore.h>
#include <time.h>
#include "base/mem.h"
#include "tests/unit/testing.h"
#include "tests/unit/wipe/erasing.h"

/* Answers to the polls of FPI, in order; the last one repeats */
static const uint8_t *answers;
static unsigned asked;
static int64_t patience[4], done[4];
static sem_t enough;

static uint8_t formatting(void)
{
	struct erase_progress *g = &erasing.erase.progress;

	/* Records the effect of the previous answer. */
	if (asked < 4) {
		patience[asked] = atomic_load(&g->patience_ms);
		done[asked] = atomic_load(&g->done_bytes);
	}
	if (asked == 2)
		sem_post(&enough);
	return answers[asked < 2 ? asked++ : 2];
}

static void until_asked_thrice(void)
{
	sem_wait(&enough);
}

static int setup(void **state)
{
	asked = 0;
	sem_init(&enough, 0, 0);
	return erasing_setup(state);
}

static void run(const uint8_t *fpi)
{
	struct nvme_abilities nvme = {.nsid = 1, .format = true};
	struct erase_progress *g = &erasing.erase.progress;
	struct format f = {.host = &erasing.machine.host,
			   .nvme = &nvme,
			   .bytes = ERASING_BYTES,
			   .done = &g->done_bytes,
			   .patience_ms = &g->patience_ms};
	struct err e;

	answers = fpi;
	erasing.drive.formatting = formatting;
	erasing.drive.format_hook = until_asked_thrice;
	atomic_store(&g->patience_ms, 7);
	assert_ok(format_run(&f, FORMAT_USER_DATA, &e), &e);
	assert_int_equal(f.status, 0);
	assert_int_equal(erasing.drive.last_ses, 1);
}

static void a_format_is_followed_by_what_it_says(void **state)
{
	static const uint8_t told[] = {0x80 | 75, 0x80 | 20, 0x80};

	(void)state;
	run(told);
	assert_int_equal(patience[0], 7);
	assert_int_equal(patience[1], FORMAT_STALL_MS);
	assert_int_equal(done[1], ERASING_BYTES / 100 * 25);
	assert_int_equal(done[2], ERASING_BYTES / 100 * 80);
}

/* The time limit does not change, and no progress is reported. */
static void a_format_that_says_nothing_keeps_its_limit(void **state)
{
	static const uint8_t silent[] = {0x80, 50, 0x80 | 101};

	(void)state;
	run(silent);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(patience[i], 7);
		assert_int_equal(done[i], 0);
	}
}

static void the_limit_grows_with_what_is_erased_block_by_block(void **state)
{
	(void)state;
	assert_int_equal(format_limit_ms(FORMAT_CRYPTO, INT64_C(30720000000000)), 600000);
	assert_int_equal(format_limit_ms(FORMAT_USER_DATA, 1 << 30), 1800000 + 1073);
	assert_int_equal(format_limit_ms(FORMAT_USER_DATA, INT64_C(7680000000000)),
			 1800000 + 7680000);
	assert_int_equal(format_limit_ms(FORMAT_USER_DATA, INT64_MAX), FORMAT_MOST_MS);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, erasing_teardown)
	const struct CMUnitTest tests[] = {
		T(a_format_is_followed_by_what_it_says),
		T(a_format_that_says_nothing_keeps_its_limit),
		T(the_limit_grows_with_what_is_erased_block_by_block),
	};

	mem_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
