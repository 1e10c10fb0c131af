#include "base/file.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include "base/str.h"
#include "tests/unit/testing.h"

static char path[] = "/tmp/drover-file-XXXXXX";

static void write_file(const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

static void a_file_is_read_to_its_end(void **state)
{
	static char large[9001];
	struct buf b;
	struct err e;

	(void)state;
	memset(large, 'x', sizeof(large) - 1);
	write_file(large);
	buf_init(&b, 9000);
	assert_ok(file_read(path, &b, &e), &e);
	assert_string_equal(b.data, large);
	buf_done(&b);
	write_file("");
	buf_init(&b, 10);
	assert_ok(file_read(path, &b, &e), &e);
	assert_int_equal(b.len, 0);
	buf_done(&b);
}

static void a_file_that_cannot_be_used_is_named(void **state)
{
	struct buf b;
	struct err e;

	(void)state;
	write_file("12345678");
	buf_init(&b, 7);
	assert_int_equal(file_read(path, &b, &e), -1);
	assert_int_equal(e.kind, ERR_PROTOCOL);
	assert_true(str_starts(e.text, path));
	buf_done(&b);
	buf_init(&b, 100);
	assert_int_equal(file_read("/nonexistent/x", &b, &e), -1);
	assert_int_equal(e.kind, ERR_NOT_FOUND);
	assert_string_equal(e.text, "/nonexistent/x: no such file");
	/* A folder can be opened, but not read. */
	assert_int_equal(file_read("/tmp", &b, &e), -1);
	assert_true(str_starts(e.text, "/tmp"));
	buf_done(&b);
}

static void the_text_of_a_file_is_returned_within_its_bound(void **state)
{
	size_t len = 7;
	struct err e;
	char *text;

	(void)state;
	write_file("");
	text = file_text(path, 100, &len, &e);
	assert_string_equal(text, "");
	assert_int_equal(len, 0);
	free(text);
	write_file("some text");
	assert_null(file_text(path, 8, &len, &e));
	assert_int_equal(e.kind, ERR_PROTOCOL);
	assert_int_equal(len, 0);
	text = file_text(path, 9, &len, &e);
	assert_string_equal(text, "some text");
	assert_int_equal(len, 9);
	free(text);
	text = file_text(path, 9, NULL, &e);
	assert_string_equal(text, "some text");
	free(text);
	assert_null(file_text("/nonexistent/x", 100, &len, &e));
	assert_int_equal(e.kind, ERR_NOT_FOUND);
}

/* --- writing ---------------------------------------------------------------------------------- */

#define LONG 100000
static char beside[sizeof(path) + 4];

/* Lets this process write no byte of a file after the first n; RLIM_INFINITY: no limit. */
static void limit_file_size(rlim_t n)
{
	struct rlimit r;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &r), 0);
	r.rlim_cur = n < r.rlim_max ? n : r.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &r), 0);
}

static void assert_file(const char *want)
{
	struct err e;
	char *text = file_text(path, LONG, NULL, &e);

	assert_ok(text ? 0 : -1, &e);
	assert_string_equal(text, want);
	free(text);
}

static void a_file_is_replaced_with_its_mode(void **state)
{
	struct stat st;
	struct err e;

	(void)state;
	write_file("old");
	assert_ok(file_write(path, "new text", 8, 0600, true, &e), &e);
	assert_file("new text");
	assert_int_equal(access(beside, F_OK), -1);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_ok(file_write(path, "", 0, 0600, false, &e), &e);
	assert_file("");
	assert_int_equal(file_write("/nonexistent/x", "", 0, 0600, true, &e), -1);
	assert_true(str_starts(e.text, "/nonexistent/x"));
}

/* The size limit of the process stands for the full disk: a write() takes a part, the next none. */
static void a_full_disk_leaves_the_old_file(void **state)
{
	static char large[LONG];
	struct err e;
	int rc;

	(void)state;
	memset(large, 'x', sizeof(large));
	for (int synced = 0; synced < 2; synced++) {
		write_file("old");
		assert_true(signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
		limit_file_size(10);
		rc = file_write(path, large, sizeof(large), 0600, synced, &e);
		limit_file_size(RLIM_INFINITY);
		assert_true(signal(SIGXFSZ, SIG_DFL) != SIG_ERR);
		assert_int_equal(rc, -1);
		assert_int_equal(e.code, EFBIG);
		assert_true(str_starts(e.text, path));
		assert_file("old");
		assert_int_equal(access(beside, F_OK), -1);
	}
}

static void a_writer_killed_halfway_leaves_the_old_file(void **state)
{
	static char large[LONG];
	struct stat st;
	struct err e;
	int status;
	pid_t pid;

	(void)state;
	memset(large, 'x', sizeof(large));
	write_file("old");
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		/* SIGXFSZ kills this process at the write() after the first 10 bytes. */
		limit_file_size(10);
		(void)!file_write(path, large, sizeof(large), 0600, true, &e);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGXFSZ);
	assert_file("old");
	assert_int_equal(stat(beside, &st), 0);
	assert_int_equal(st.st_size, 10);
	/* What is left of it does not stop, or get into, the next write. */
	assert_ok(file_write(path, "new", 3, 0600, true, &e), &e);
	assert_file("new");
}

static void a_temporary_name_that_is_a_link_is_not_followed(void **state)
{
	struct err e;

	(void)state;
	write_file("old");
	assert_int_equal(symlink(path, beside), 0);
	assert_int_equal(file_write(path, "new", 3, 0600, true, &e), -1);
	assert_file("old");
	unlink(beside);
}

static void a_locked_file_is_a_conflict_until_it_is_closed(void **state)
{
	struct err e;
	int fd;

	(void)state;
	fd = file_lock(path, &e);
	assert_true(fd >= 0);
	assert_int_equal(file_lock(path, &e), -1);
	assert_int_equal(e.kind, ERR_CONFLICT);
	close(fd);
	fd = file_lock(path, &e);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(file_lock("/nonexistent/x", &e), -1);
	assert_int_not_equal(e.kind, ERR_CONFLICT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_is_read_to_its_end),
		cmocka_unit_test(a_file_that_cannot_be_used_is_named),
		cmocka_unit_test(the_text_of_a_file_is_returned_within_its_bound),
		cmocka_unit_test(a_file_is_replaced_with_its_mode),
		cmocka_unit_test(a_full_disk_leaves_the_old_file),
		cmocka_unit_test(a_writer_killed_halfway_leaves_the_old_file),
		cmocka_unit_test(a_temporary_name_that_is_a_link_is_not_followed),
		cmocka_unit_test(a_locked_file_is_a_conflict_until_it_is_closed),
	};
	int fd = mkstemp(path), failed;

	assert_true(fd >= 0);
	close(fd);
	str_format(beside, sizeof(beside), "%s.new", path);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path);
	return failed;
}
