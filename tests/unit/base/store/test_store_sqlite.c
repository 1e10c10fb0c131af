#include "tests/unit/testing.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/buf.h"
#include "tests/simulated/loop_sim.h"
#include "base/loop/loop_uv.h"
#include "base/mem.h"
#include "base/store/store_sqlite.h"
#include "base/str.h"
#include "tests/unit/base/store/store_faults.h"
#include "tests/unit/base/store/store_rig.h"

#define HISTORY 100

struct fixture {
	struct loop *l;
	struct loop_group *g;
	char *folder, *file;
	struct store *s;
	size_t history;
	struct buf log;
};

static int setup(void **state)
{
	struct fixture *f = mem_new(struct fixture);

	f->l = loop_sim_new(1, 0);
	f->g = loop_group_new(f->l, "test");
	f->folder = store_rig_folder();
	f->file = mem_printf("%s/store.db", f->folder);
	f->history = HISTORY;
	buf_init(&f->log, 1 << 24);
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
	buf_done(&f->log);
	free(f->file);
	free(f);
	return 0;
}

static void reopen(struct fixture *f)
{
	struct err e;

	store_free(f->s);
	f->s = store_sqlite_new(f->g, f->folder, f->history, &e);
	if (!f->s)
		fail_msg("%s", e.text);
}

static void refused(struct fixture *f, enum err_kind kind, const char *text)
{
	struct err e;

	assert_null(store_sqlite_new(f->g, f->folder, f->history, &e));
	if (e.kind != kind || !strstr(e.text, text) || !strstr(e.text, f->folder))
		fail_msg("want %s and \"%s\" and the folder, got %s: %s", err_kind_name(kind), text,
			 err_kind_name(e.kind), e.text);
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

static void put(struct store *s, const char *key, const char *value)
{
	struct err e;

	assert_ok(try_put(s, key, value, NULL, &e), &e);
}

static const char *get(struct fixture *f, const char *key)
{
	struct store_entry e;

	return store_get(f->s, key, &e) ? e.value : NULL;
}

static bool log_entry(const struct store_entry *e, void *arg)
{
	buf_printf(arg, "%s=%s(%zu)@%llu,%llu\n", e->key, e->value, e->value_len,
		   (unsigned long long)e->rev, (unsigned long long)e->create_rev);
	return true;
}

static void log_event(const struct store_event *ev, void *arg)
{
	buf_puts(arg, ev->type == STORE_DELETE ? "-" : ev->created ? "+" : "~");
	buf_printf(arg, "[%s]", str_or(ev->prev_value, ""));
	log_entry(&ev->entry, arg);
}

/* Returns everything that a store reports: keys, revision, history. */
static char *dump(struct fixture *f, struct store *s)
{
	struct err e;
	struct store_watch *w;

	loop_run(f->l);
	buf_clear(&f->log);
	buf_printf(&f->log, "at %llu since %llu\n", (unsigned long long)store_rev(s),
		   (unsigned long long)store_oldest(s));
	store_list(s, "", NULL, 0, log_entry, &f->log);
	w = store_watch(s, f->g, "", store_oldest(s), log_event, &f->log, &e);
	assert_non_null(w);
	loop_run(f->l);
	store_watch_free(w);
	assert_false(f->log.over);
	return buf_steal(&f->log);
}

static void a_store_opened_again_is_like_one_that_never_closed(void **state)
{
	struct fixture *f = *state;
	struct store *twin = store_mem_new(f->g, HISTORY);
	char key[32], value[40];

	for (int round = 0; round < 30; round++) {
		reopen(f);

		char *want = dump(f, twin), *is = dump(f, f->s);

		assert_string_equal(is, want);
		free(want);
		free(is);
		for (size_t n = loop_random_below(f->l, 60); n-- > 0;) {
			bool del = loop_random_below(f->l, 3) == 0;

			snprintf(key, sizeof(key), "k%d", (int)loop_random_below(f->l, 40));
			snprintf(value, sizeof(value), "%d.%zu", round, n);
			put(f->s, key, del ? NULL : value);
			put(twin, key, del ? NULL : value);
			if (loop_random_below(f->l, 8) == 0)
				loop_run(f->l);
		}
		loop_run(f->l);
	}
	store_free(twin);
}

static void a_history_may_be_made_shorter_and_longer(void **state)
{
	struct fixture *f = *state;
	static const size_t histories[] = {HISTORY, 10, HISTORY, 0, 30};
	static const size_t at_least[] = {HISTORY, 10, 60, 0, 30};
	char key[32];

	for (size_t i = 0; i < sizeof(histories) / sizeof(*histories); i++) {
		f->history = histories[i];
		reopen(f);
		for (int n = 0; n < (i == 0 ? 300 : 50); n++) {
			snprintf(key, sizeof(key), "k%d", n % 7);
			put(f->s, key, n % 5 ? "v" : NULL);
			loop_run(f->l);
		}

		char *before = dump(f, f->s), *after;

		/* The store on disk deletes old history in portions, so more may come back after a
		 * restart. */
		assert_in_range(store_rev(f->s) - store_oldest(f->s), at_least[i], histories[i]);
		reopen(f);
		after = dump(f, f->s);
		assert_string_equal(after, before);
		free(before);
		free(after);
	}
}

static void values_come_back_byte_for_byte(void **state)
{
	struct fixture *f = *state;
	char *big = mem_alloc(3000001);
	struct store_change c = {.key = "bytes", .value = "a\0b\xff", .value_len = 4, .if_rev = 0};
	struct store_entry entry;
	struct err e;

	memset(big, 'x', 3000000);
	reopen(f);
	put(f->s, "empty", "");
	put(f->s, "big", big);
	put(f->s, "pods/\xc3\xbc/1", "\xc3\xa4");
	assert_ok(store_commit(f->s, &c, 1, NULL, NULL, NULL, &e), &e);
	loop_run(f->l);
	reopen(f);
	assert_string_equal(get(f, "empty"), "");
	assert_string_equal(get(f, "big"), big);
	assert_string_equal(get(f, "pods/\xc3\xbc/1"), "\xc3\xa4");
	assert_true(store_get(f->s, "bytes", &entry));
	assert_int_equal(entry.value_len, 4);
	assert_memory_equal(entry.value, "a\0b\xff", 5);
	free(big);
}

static void what_was_not_acknowledged_at_a_crash_is_whole_or_absent(void **state)
{
	struct fixture *f = *state;
	int done = 0;
	struct err e;

	reopen(f);
	assert_ok(try_put(f->s, "a", "1", &done, &e), &e);
	loop_run(f->l);
	assert_int_equal(done, 1);
	assert_ok(try_put(f->s, "b", "1", &done, &e), &e);
	loop_group_drop(f->g);
	loop_run(f->l);
	store_free(f->s);
	f->s = NULL;
	assert_int_equal(done, 1001); /* the writer was notified that the store closed */
	loop_group_free(f->g);
	f->g = loop_group_new(f->l, "again");
	reopen(f);
	assert_string_equal(get(f, "a"), "1");
	assert_null(get(f, "b"));
	assert_int_equal(store_rev(f->s), 2);
}

static void stop_loop(void *arg)
{
	loop_stop(arg);
}

static void closing_during_a_write_leaves_the_folder_to_the_next(void **state)
{
	struct fixture *f = *state;
	struct loop *real = loop_uv_new();
	struct loop_group *g = loop_group_new(real, "real");
	struct loop_defer stop;
	uint64_t least = 1;
	char key[32];

	loop_defer_init(&stop, g, stop_loop, real);
	for (int i = 0; i < 50; i++) {
		int told = 0;
		struct err e;
		struct store *s = store_sqlite_new(g, f->folder, HISTORY, &e);

		if (!s)
			fail_msg("%s", e.text);
		assert_in_range(store_rev(s), least, 1 + i);
		least = store_rev(s);
		snprintf(key, sizeof(key), "k%d", i);
		assert_ok(try_put(s, key, "v", &told, &e), &e);
		loop_defer(&stop);
		loop_run(
			/* the write has begun; on a busy machine it may have ended */
			real);
		if (i % 2)
			usleep((useconds_t)i * 20);
		store_free(s);
		assert_true(told == 1000 || told == 1);
		least += told == 1; /* an acknowledged change must be found after the next start */
	}
	loop_group_free(g);
	loop_free(real);
}

static void commits_that_wait_share_one_transaction(void **state)
{
	struct fixture *f = *state;
	int done = 0;
	struct err e;
	unsigned before;
	char key[32];

	reopen(f);
	before = store_faults_syncs();
	for (int i = 0; i < 100; i++) {
		snprintf(key, sizeof(key), "k%d", i);
		assert_ok(try_put(f->s, key, "v", &done, &e), &e);
	}
	assert_ok(try_put(f->s, "not there", NULL, &done, &e), &e);
	loop_run(f->l);
	assert_int_equal(done, 101);
	assert_in_range(store_faults_syncs() - before, 1, 2); /* a new log also syncs its header */
	assert_ok(try_put(f->s, "not there", NULL, &done, &e), &e);
	assert_int_equal(done, 101);
	loop_run(f->l);
	assert_int_equal(done, 102);
}

/* --- refused files ---------------------------------------------------------------------------- */

static void only_its_owner_can_read_it(void **state)
{
	struct fixture *f = *state;
	static const char *const names[] = {"store.db", "store.db-wal", "lock"};

	reopen(f);
	put(f->s, "secrets/a", "hunter2");
	loop_run(f->l);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		char *path = mem_printf("%s/%s", f->folder, names[i]);
		struct stat st;

		assert_int_equal(stat(path, &st), 0);
		assert_int_equal(st.st_mode & 077, 0);
		free(path);
	}
}

static void a_folder_belongs_to_one_store_at_a_time(void **state)
{
	struct fixture *f = *state;
	char pid[64];

	reopen(f);
	put(f->s, "a", "1");
	loop_run(f->l);
	snprintf(pid, sizeof(pid), "in use by process %ld", (long)getpid());
	refused(f, ERR_CONFLICT, pid);
	put(f->s, "b", "1");
	loop_run(f->l);
	reopen(f);
	assert_string_equal(get(f, "b"), "1");
}

static void run_sql(struct fixture *f, const char *text)
{
	sqlite3 *db;
	char *why = NULL;

	assert_int_equal(sqlite3_open(f->file, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, "PRAGMA locking_mode = EXCLUSIVE", NULL, NULL, NULL),
			 SQLITE_OK);
	/* Leave new content in the log, as after a crash. */
	sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
	if (sqlite3_exec(db, text, NULL, NULL, &why) != SQLITE_OK)
		fail_msg("%s: %s", text, why);
	assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

/* Returns the content of the file; a missing file counts as empty. */
static char *read_file(const char *path, size_t *len)
{
	FILE *in = fopen(path, "rb");
	char *data = mem_alloc(1 << 20);

	*len = in ? fread(data, 1, 1 << 20, in) : 0;
	if (in)
		fclose(in);
	return data;
}

static void write_file(const char *path, const char *data, size_t len)
{
	FILE *out = fopen(path, "wb");

	assert_non_null(out);
	assert_int_equal(fwrite(data, 1, len, out), len);
	assert_int_equal(fclose(out), 0);
}

/* Writes 120 keys k0 to k119. Between these writes, changes or deletes key "often". Key "steady" is
 * changed only at the beginning and at the end. */
static void fill(struct fixture *f)
{
	char key[32], value[3000];

	memset(value, 'v', sizeof(value) - 1);
	reopen(f);
	put(f->s, "steady", "1");
	for (int i = 0; i < 120; i++) {
		snprintf(key, sizeof(key), "k%d", i);
		value[10 + i * 20] = '\0';
		put(f->s, key, value);
		value[10 + i * 20] = 'v';
		put(f->s, "often", i % 5 ? key : NULL);
		loop_run(f->l);
	}
	put(f->s, "steady", "2");
	loop_run(f->l);
	store_free(f->s);
	f->s = NULL;
}

/* Checks that opening is refused and that no byte of the files changes. */
static void refused_untouched(struct fixture *f, enum err_kind kind, const char *text)
{
	char *names[] = {f->file, mem_printf("%s-wal", f->file)}, *before[2];
	size_t len[2], after_len;

	for (size_t i = 0; i < 2; i++)
		before[i] = read_file(names[i], &len[i]);
	refused(f, kind, text);
	for (size_t i = 0; i < 2; i++) {
		char *after = read_file(names[i], &after_len);

		assert_int_equal(after_len, len[i]);
		assert_memory_equal(after, before[i], len[i]);
		free(after);
		free(before[i]);
	}
	free(names[1]);
}

static void a_newer_schema_is_refused_with_both_versions(void **state)
{
	struct fixture *f = *state;

	fill(f);
	run_sql(f, "PRAGMA user_version = 7; ALTER TABLE version ADD COLUMN novel");
	refused_untouched(f, ERR_UNSUPPORTED,
			  "schema version 7, this drover knows versions up to 1");
	run_sql(f, "PRAGMA user_version = 1; ALTER TABLE version DROP COLUMN novel");
	reopen(f);
	assert_int_equal(store_count(f->s, "k"), 120);
}

static void a_database_of_another_program_is_refused(void **state)
{
	struct fixture *f = *state;

	run_sql(f, "CREATE TABLE accounts (name)");
	refused_untouched(f, ERR_INVALID, "another program");
}

static void a_damaged_file_is_refused_and_says_what_to_do(void **state)
{
	struct fixture *f = *state;
	size_t len, refusals = 0;
	char *good, *bad;

	fill(f);
	run_sql(f, "CREATE TABLE novel AS SELECT * FROM version; DROP TABLE novel");
	reopen(f);
	store_free(f->s);
	f->s = NULL;
	good = read_file(f->file, &len);
	bad = mem_alloc(len);
	for (size_t page = 0; page < len / 4096; page++) {
		struct err e;
		size_t now_len;
		char *now;

		memcpy(bad, good, len);
		memset(bad + page * 4096, page % 2 ? 0 : 0xa5, 4096);
		write_file(f->file, bad, len);
		f->s = store_sqlite_new(f->g, f->folder, HISTORY, &e);
		if (f->s) { /* the start does not notice damage in the middle of a long value */
			store_free(f->s);
			f->s = NULL;
			continue;
		}
		assert_int_equal(e.kind, ERR_INVALID);
		assert_non_null(strstr(e.text, f->file));
		now = read_file(f->file, &now_len);
		assert_int_equal(now_len, len);
		assert_memory_equal(now, bad, len);
		free(now);
		refusals++;
	}
	assert_true(refusals > 10);

	/* Damage the list of free pages, which loading does not read. The number of the list's
	 * first page is at offset 32 of the header. */
	const unsigned char *head = (const unsigned char *)good + 32;
	size_t page = (size_t)head[2] << 8 | head[3];

	assert_in_range(page, 2, len / 4096);
	memcpy(bad, good, len);
	memset(bad + (page - 1) * 4096, 0xa5, 4096);
	write_file(f->file, bad, len);
	refused_untouched(f, ERR_INVALID, "restore a backup");

	write_file(f->file, good, len / 2);
	refused(f, ERR_INVALID, "restore a backup");
	write_file(f->file, "this is no database at all, is it?", 34);
	refused(f, ERR_INVALID, "damaged");
	write_file(f->file, good, len);
	reopen(f);
	assert_int_equal(store_count(f->s, "k"), 120);
	free(good);
	free(bad);
}

static void poke(const char *path, size_t at, int byte)
{
	FILE *out = fopen(path, "r+b");

	assert_non_null(out);
	assert_int_equal(fseek(out, (long)at, SEEK_SET), 0);
	assert_int_not_equal(fputc(byte & 0xff, out), EOF);
	assert_int_equal(fclose(out), 0);
}

static void a_flipped_bit_is_never_taken_for_data(void **state)
{
	struct fixture *f = *state;
	size_t len, refusals = 0;
	char *good, *want;

	fill(f);
	reopen(f);
	want = dump(f, f->s);
	store_free(f->s);
	f->s = NULL;
	good = read_file(f->file, &len);
	for (int i = 0; i < 120; i++) {
		size_t at = loop_random_below(f->l, i < 30 ? 8192 : len);
		char bit = (char)(1 << loop_random_below(f->l, 8));
		struct err e;

		poke(f->file, at, good[at] ^ bit);
		f->s = store_sqlite_new(f->g, f->folder, HISTORY, &e);
		if (f->s) { /* the changed bit is in unused space */
			char *is = dump(f, f->s);

			assert_string_equal(is, want);
			free(is);
			store_free(f->s);
			f->s = NULL;
		} else {
			refusals++;
		}
		poke(f->file, at, good[at]);
	}
	assert_true(refusals > 60);
	free(good);
	free(want);
}

static void rows_that_contradict_one_another_are_refused(void **state)
{
	struct fixture *f = *state;
	static const struct {
		const char *text, *want;
	} cases[] = {
		{"DELETE FROM version WHERE rev = (SELECT max(rev) - 3 FROM version)", "follows"},
		{"DELETE FROM history", "a row is missing"},
		{"UPDATE history SET oldest = -4", "is not a positive revision"},
		{"UPDATE history SET oldest = oldest + 20",
		 "is invalid before the start of the history"},
		{"UPDATE history SET oldest = oldest - 1", "follows"},
		{"UPDATE version SET create_rev = create_rev + 1", "the checksum of a row"},
		{"UPDATE version SET value = NULL", "the checksum of a row"},
		{"UPDATE version SET key = key || '0' WHERE rev = 90", "the checksum of a row"},
		{"UPDATE version SET rev = -1 WHERE rev = 90", "a row is invalid"},
		{"UPDATE version SET key = 'a' || char(0) || 'b'", "a row is invalid"},
		{"DELETE FROM version WHERE key = 'steady' AND value = x'31'",
		 "earlier versions of its key are missing"},
		{"DROP TABLE history", "no such table"},
	};
	size_t len;
	char *good;

	fill(f);
	good = read_file(f->file, &len);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char *wal = mem_printf("%s-wal", f->file);

		write_file(f->file, good, len);
		unlink(wal);
		free(wal);
		run_sql(f, cases[i].text);
		refused_untouched(f, ERR_INVALID, cases[i].want);
	}
	free(good);
}

static void a_folder_that_cannot_be_written_is_named(void **state)
{
	struct fixture *f = *state;
	char *folder = f->folder, *missing = mem_printf("%s/not/there", folder);
	bool root = geteuid() == 0;

	f->folder = missing;
	refused(f, ERR_NOT_FOUND, "No such file");
	f->folder = f->file;
	write_file(f->file, "", 0);
	refused(f, ERR_INVALID, "Not a directory");
	f->folder = folder;
	assert_int_equal(chmod(folder, 0555), 0);
	if (root)
		assert_int_equal(seteuid(65534), 0);
	refused(f, ERR_DENIED, "Permission denied");
	if (root)
		assert_int_equal(seteuid(0), 0);
	assert_int_equal(chmod(folder, 0755), 0);
	reopen(f);
	store_free(f->s);
	f->s = NULL;
	if (root) { /* a directory that can be written, with files that cannot */
		assert_int_equal(chmod(folder, 0777), 0);
		assert_int_equal(seteuid(65534), 0);
		refused(f, ERR_DENIED, "Permission denied");
		assert_int_equal(seteuid(0), 0);
	}
	free(missing);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_store_opened_again_is_like_one_that_never_closed),
		CASE(a_history_may_be_made_shorter_and_longer),
		CASE(values_come_back_byte_for_byte),
		CASE(what_was_not_acknowledged_at_a_crash_is_whole_or_absent),
		CASE(closing_during_a_write_leaves_the_folder_to_the_next),
		CASE(commits_that_wait_share_one_transaction),
		CASE(only_its_owner_can_read_it),
		CASE(a_folder_belongs_to_one_store_at_a_time),
		CASE(a_newer_schema_is_refused_with_both_versions),
		CASE(a_database_of_another_program_is_refused),
		CASE(a_damaged_file_is_refused_and_says_what_to_do),
		CASE(a_flipped_bit_is_never_taken_for_data),
		CASE(rows_that_contradict_one_another_are_refused),
		CASE(a_folder_that_cannot_be_written_is_named),
	};

	store_faults_install();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
