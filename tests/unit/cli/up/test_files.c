#include "tests/unit/testing.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "tests/simulated/loop_sim.h"
#include "base/mem.h"
#include "base/str.h"
#include "cli/up/files.h"

struct dir {
	char path[64], deep[80];
	struct loop *loop;
};

static int setup(void **state)
{
	struct dir *d = mem_new(struct dir);

	str_copy(d->path, sizeof(d->path), "/tmp/drover-up-files-XXXXXX");
	assert_non_null(mkdtemp(d->path));
	str_format(d->deep, sizeof(d->deep), "%s/a/b", d->path);
	d->loop = loop_sim_new(7, 0);
	*state = d;
	return 0;
}

static void drop(const char *folder, const char *name)
{
	char path[200];

	str_format(path, sizeof(path), "%s/%s", folder, name);
	(void)remove(path);
}

static int teardown(void **state)
{
	struct dir *d = *state;

	drop(d->deep, "token");
	drop(d->deep, "text");
	drop(d->path, "a/b");
	drop(d->path, "a");
	rmdir(d->path);
	loop_free(d->loop);
	free(d);
	return 0;
}

static void a_folder_is_made_with_its_parents_for_its_owner_alone(void **state)
{
	struct dir *d = *state;
	struct stat st;
	struct err e;

	assert_ok(up_folder(d->deep, &e), &e);
	assert_ok(up_folder(d->deep, &e), &e);
	assert_int_equal(stat(d->deep, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
	assert_int_equal(up_folder("/proc/none/here", &e), -1);
	assert_non_null(strstr(e.text, "/proc/none"));
	assert_int_equal(up_folder("/proc/version", &e), -1);
	assert_int_equal(e.code, ENOTDIR);
}

static void a_token_is_made_once_and_kept(void **state)
{
	struct dir *d = *state;
	struct err e;
	OWN(secret) a = NULL;
	OWN(secret) b = NULL;

	assert_ok(up_folder(d->deep, &e), &e);
	a = up_token(d->loop, d->deep, "token", &e);
	b = up_token(d->loop, d->deep, "token", &e);
	assert_non_null(a);
	assert_int_equal(secret_len(a), 64);
	assert_true(secret_equal(a, b));
}

static void a_token_that_was_cut_is_named_not_replaced(void **state)
{
	struct dir *d = *state;
	char path[200];
	struct err e;
	char *text;

	assert_ok(up_folder(d->deep, &e), &e);
	str_format(path, sizeof(path), "%s/token", d->deep);
	assert_ok(file_write(path, "0123", 4, 0600, true, &e), &e);
	assert_null(up_token(d->loop, d->deep, "token", &e));
	assert_non_null(strstr(e.text, path));
	text = file_text(path, 100, NULL, &e);
	assert_string_equal(text, "0123");
	free(text);
}

static void a_file_is_written_whole_and_read_within_its_bound(void **state)
{
	struct dir *d = *state;
	char path[200];
	struct stat st;
	struct err e;
	size_t len;
	char *text;

	assert_ok(up_folder(d->deep, &e), &e);
	str_format(path, sizeof(path), "%s/text", d->deep);
	assert_null(file_text(path, 100, NULL, &e));
	assert_int_equal(e.kind, ERR_NOT_FOUND);
	assert_ok(file_write(path, "", 0, 0600, true, &e), &e);
	text = file_text(path, 100, &len, &e);
	assert_string_equal(text, "");
	free(text);
	assert_ok(file_write(path, "some text", 9, 0600, true, &e), &e);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_null(file_text(path, 8, &len, &e));
	assert_int_equal(e.kind, ERR_PROTOCOL);
	text = file_text(path, 9, &len, &e);
	assert_string_equal(text, "some text");
	assert_int_equal(len, 9);
	free(text);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_folder_is_made_with_its_parents_for_its_owner_alone),
		TEST(a_token_is_made_once_and_kept),
		TEST(a_token_that_was_cut_is_named_not_replaced),
		TEST(a_file_is_written_whole_and_read_within_its_bound),
	};

	mem_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
