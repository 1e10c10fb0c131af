#include "base/file.h"

#include <stdio.h>
#include <stdlib.h>
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_is_read_to_its_end),
		cmocka_unit_test(a_file_that_cannot_be_used_is_named),
		cmocka_unit_test(the_text_of_a_file_is_returned_within_its_bound),
	};
	int fd = mkstemp(path), failed;

	assert_true(fd >= 0);
	close(fd);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path);
	return failed;
}
