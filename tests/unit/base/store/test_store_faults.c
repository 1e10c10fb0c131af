#include "tests/unit/testing.h"

#include <errno.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include "tests/simulated/loop_sim.h"
#include "base/mem.h"
#include "base/store/store_sqlite.h"
#include "tests/unit/base/store/store_faults.h"
#include "tests/unit/base/store/store_rig.h"

/* The store on a disk that fails, is full, or loses power. */
struct fixture {
	struct loop *l;
	struct loop_group *g;
	char *folder;
	struct store *s;
};

#define HISTORY 20

static int setup(void **state)
{
	struct fixture *f = mem_new(struct fixture);

	f->l = loop_sim_new(1, 0);
	f->g = loop_group_new(f->l, "test");
	f->folder = store_rig_folder();
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	store_free(f->s);
	loop_group_free(f->g);
	loop_free(f->l);
	store_rig_remove(f->folder);
	free(f);
	return 0;
}

static void reopen(struct fixture *f)
{
	struct err e;

	store_free(f->s);
	f->s = store_sqlite_new(f->g, f->folder, HISTORY, &e);
	if (!f->s)
		fail_msg("%s", e.text);
}

static void count_done(const struct err *e, void *arg)
{
	*(int *)arg += e ? 1000 : 1;
}

static int try_put(struct store *s, const char *key, const char *value, int *done, struct err *e)
{
	struct store_change c = {
		.key = key,
		.value = value,
		.value_len = value ? strlen(value) : 0,
		.if_rev = -1,
	};

	return store_commit(s, &c, 1, NULL, done ? count_done : NULL, done, e);
}

static const char *get(struct fixture *f, const char *key)
{
	struct store_entry e;

	return store_get(f->s, key, &e) ? e.value : NULL;
}

static void a_full_disk_ends_it_and_loses_nothing(void **state)
{
	struct fixture *f = *state;
	int before = 0, after = 0;
	struct err e;

	reopen(f);
	assert_ok(try_put(f->s, "a", "1", &before, &e), &e);
	loop_run(f->l);
	assert_int_equal(before, 1);
	store_faults_set(1, SQLITE_FULL);
	assert_ok(try_put(f->s, "a", "2", &after, &e), &e);
	assert_ok(try_put(f->s, "b", "2", &after, &e), &e);
	assert_ok(try_put(f->s, "a", NULL, &after, &e), &e);
	assert_null(get(f, "a"));
	loop_run(f->l);
	assert_int_equal(after, 3000);
	store_faults_set(0, 0);
	assert_int_equal(try_put(f->s, "c", "3", NULL, &e), -1);
	assert_int_equal(e.kind, ERR_CAPACITY);
	assert_non_null(strstr(e.text, "the disk is full"));
	assert_non_null(strstr(e.text, f->folder));
	assert_string_equal(get(f, "a"), "1");
	assert_null(get(f, "b"));
	assert_int_equal(store_rev(f->s), 2);
	reopen(f);
	assert_string_equal(get(f, "a"), "1");
	assert_null(get(f, "b"));
	assert_int_equal(store_rev(f->s), 2);
	assert_ok(try_put(f->s, "c", "3", &before, &e), &e);
	loop_run(f->l);
	assert_int_equal(before, 2);
}

static void a_file_that_may_not_grow_ends_it_with_the_systems_words(void **state)
{
	struct fixture *f = *state;
	struct rlimit old, limit;
	char *big = mem_alloc(100001);
	int done = 0;
	struct err e;

	memset(big, 'x', 100000);
	reopen(f);
	assert_ok(try_put(f->s, "a", "1", &done, &e), &e);
	loop_run(f->l);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	limit = (struct rlimit){.rlim_cur = 65536, .rlim_max = old.rlim_max};

	void (*before)(int) = signal(SIGXFSZ, SIG_IGN);

	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	assert_ok(try_put(f->s, "big", big, &done, &e), &e);
	loop_run(f->l);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	signal(SIGXFSZ, before);
	assert_int_equal(done, 1001);
	assert_int_equal(try_put(f->s, "b", "1", NULL, &e), -1);
	if (!strstr(e.text, strerror(EFBIG)))
		fail_msg("%s", e.text);
	reopen(f);
	assert_string_equal(get(f, "a"), "1");
	assert_null(get(f, "big"));
	free(big);
}

/* Commits 60 transactions of two changes each. Returns the number that was acknowledged; -1: the
 * store did not open. */
static int scenario(struct fixture *f)
{
	struct err e;
	char a[32], b[32], value[32];
	int done = 0, acknowledged = 0;

	f->s = store_sqlite_new(f->g, f->folder, HISTORY, &e);
	if (!f->s)
		return -1;
	for (int i = 1; i <= 60; i++) {
		struct store_change c[2] = {{.key = a, .value = value, .if_rev = -1},
					    {.key = b, .value = value, .if_rev = -1}};

		snprintf(a, sizeof(a), "a%d", i % 9);
		snprintf(b, sizeof(b), "b%d", i % 9);
		snprintf(value, sizeof(value), "%d", i);
		c[0].value_len = c[1].value_len = strlen(value);
		if (store_commit(f->s, c, 2, NULL, count_done, &done, &e) < 0)
			break;
		loop_run(f->l);
		if (done != i)
			break;
		acknowledged = i;
	}
	store_free(f->s);
	f->s = NULL;
	return acknowledged;
}

static void check_scenario(struct fixture *f, int acknowledged)
{
	int newest = (int)(store_rev(f->s) - 1) / 2;

	assert_int_equal((store_rev(f->s) - 1) % 2, 0);
	/* The transaction after the last acknowledged one may or may not be there. */
	assert_true(newest == acknowledged || newest == acknowledged + 1);
	for (int i = newest > 9 ? newest - 8 : 1; i <= newest; i++) {
		char a[32], b[32], value[32];

		snprintf(a, sizeof(a), "a%d", i % 9);
		snprintf(b, sizeof(b), "b%d", i % 9);
		snprintf(value, sizeof(value), "%d", i);
		assert_string_equal(get(f, a), value);
		assert_string_equal(get(f, b), value);
	}
}

static void a_disk_that_fails_at_any_moment_loses_nothing_that_was_acknowledged(void **state)
{
	struct fixture *f = *state;
	static const int codes[] = {SQLITE_IOERR_WRITE, SQLITE_FULL, SQLITE_IOERR_FSYNC};
	unsigned n = 1;

	for (;; n += n < 40 ? 1 : 7) {
		store_rig_remove(f->folder);
		f->folder = store_rig_folder();
		store_faults_set(n, codes[n % 3]);

		int acknowledged = scenario(f);
		bool failed = store_faults_happened();

		store_faults_set(0, 0);
		reopen(f);
		check_scenario(f, acknowledged < 0 ? 0 : acknowledged);
		store_free(f->s);
		f->s = NULL;
		if (!failed) {
			assert_int_equal(acknowledged, 60);
			break;
		}
	}
	assert_true(n > 60);
}

static void a_power_cut_at_any_moment_loses_nothing_that_was_acknowledged(void **state)
{
	struct fixture *f = *state;
	unsigned n = 1;

	for (;; n += n < 40 ? 1 : 7) {
		store_rig_remove(f->folder);
		f->folder = store_rig_folder();
		store_faults_forget();
		store_faults_set(n, SQLITE_IOERR);

		int acknowledged = scenario(f);
		bool failed = store_faults_happened();

		store_faults_set(0, 0);
		if (failed)
			store_faults_lose_unsynced();
		reopen(f);
		check_scenario(f, acknowledged < 0 ? 0 : acknowledged);
		store_free(f->s);
		f->s = NULL;
		if (!failed)
			break;
	}
	assert_true(n > 60);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_full_disk_ends_it_and_loses_nothing),
		CASE(a_file_that_may_not_grow_ends_it_with_the_systems_words),
		CASE(a_disk_that_fails_at_any_moment_loses_nothing_that_was_acknowledged),
		CASE(a_power_cut_at_any_moment_loses_nothing_that_was_acknowledged),
	};

	store_faults_install();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
