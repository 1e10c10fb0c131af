#include "tests/unit/testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include "sim/machine/drive.h"

#define GIB (1ll << 30)

struct shelf {
	char dir[64], path[96];
	struct drive *d;
	struct err e;
};

static int setup(void **state)
{
	struct shelf *f = calloc(1, sizeof(*f));

	snprintf(f->dir, sizeof(f->dir), "/tmp/drover-drive-XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	snprintf(f->path, sizeof(f->path), "%s/d", f->dir);
	f->d = drive_open(f->path, 16 * GIB, &f->e);
	assert_non_null(f->d);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct shelf *f = *state;

	drive_close(f->d);
	unlink(f->path);
	rmdir(f->dir);
	free(f);
	return 0;
}

static int64_t room(const struct shelf *f)
{
	struct stat st;

	assert_int_equal(stat(f->path, &st), 0);
	return (int64_t)st.st_blocks * 512;
}

static void what_was_written_is_read_back_anywhere(void **state)
{
	struct shelf *f = *state;
	char out[9000], back[9000];

	for (size_t i = 0; i < sizeof(out); i++)
		out[i] = (char)(i * 7);
	for (int64_t at = 1; at < 16 * GIB - 9000; at = at * 5 + 4095) {
		assert_ok(drive_write(f->d, out, sizeof(out), at, &f->e), &f->e);
		assert_ok(drive_read(f->d, back, sizeof(back), at, &f->e), &f->e);
		assert_memory_equal(out, back, sizeof(out));
	}
	assert_int_equal(drive_bytes(f->d), 16 * GIB);
}

static void zeros_take_no_room(void **state)
{
	struct shelf *f = *state;
	char *zeros = calloc(1, 1 << 20);

	assert_ok(drive_write(f->d, zeros, 1 << 20, 12345, &f->e), &f->e);
	assert_int_equal(room(f), 0);
	memset(zeros, 1, 1 << 20);
	assert_ok(drive_write(f->d, zeros, 1 << 20, 0, &f->e), &f->e);
	assert_true(room(f) >= 1 << 20);
	memset(zeros, 0, 1 << 20);
	assert_ok(drive_write(f->d, zeros, 1 << 20, 0, &f->e), &f->e);
	assert_int_equal(room(f), 0);
	free(zeros);
}

static void a_write_amid_zeros_changes_nothing_beside_it(void **state)
{
	struct shelf *f = *state;
	char ones[3 * DRIVE_BLOCK], back[3 * DRIVE_BLOCK], part[DRIVE_BLOCK] = {0};

	memset(ones, 1, sizeof(ones));
	assert_ok(drive_write(f->d, ones, sizeof(ones), 0, &f->e), &f->e);
	assert_ok(drive_write(f->d, part, sizeof(part), 100, &f->e), &f->e);
	assert_ok(drive_read(f->d, back, sizeof(back), 0, &f->e), &f->e);
	for (size_t i = 0; i < sizeof(back); i++)
		assert_int_equal(back[i], i >= 100 && i < 100 + sizeof(part) ? 0 : 1);
}

static void what_lies_beyond_the_end_is_refused(void **state)
{
	struct shelf *f = *state;
	char b[16] = "x";

	assert_int_equal(drive_write(f->d, b, 16, 16 * GIB - 15, &f->e), -1);
	assert_int_equal(drive_read(f->d, b, 16, 16 * GIB, &f->e), -1);
	assert_int_equal(drive_read(f->d, b, 1, -1, &f->e), -1);
	assert_int_equal(f->e.kind, ERR_INVALID);
	assert_ok(drive_write(f->d, b, 16, 16 * GIB - 16, &f->e), &f->e);
}

static void text_is_found_wherever_it_stands_until_it_is_erased(void **state)
{
	struct shelf *f = *state;
	static const char text[] = "a tenant's secret";
	const int64_t places[] = {0, (1 << 20) - 5, 5 * GIB + 77, 16 * GIB - sizeof(text)};

	for (size_t i = 0; i < 4; i++) {
		assert_false(drive_holds(f->d, text, sizeof(text) - 1));
		assert_ok(drive_write(f->d, text, sizeof(text) - 1, places[i], &f->e), &f->e);
		assert_true(drive_holds(f->d, text, sizeof(text) - 1));
		assert_ok(drive_erase(f->d, &f->e), &f->e);
	}
	assert_int_equal(room(f), 0);
}

static void a_drive_that_is_opened_again_has_what_it_had(void **state)
{
	struct shelf *f = *state;
	char b[8];

	assert_ok(drive_write(f->d, "abcdefg", 8, 3 * GIB, &f->e), &f->e);
	drive_close(f->d);
	f->d = drive_open(f->path, 16 * GIB, &f->e);
	assert_ok(drive_read(f->d, b, 8, 3 * GIB, &f->e), &f->e);
	assert_string_equal(b, "abcdefg");
}

static void a_drive_that_was_pulled_out_stays_so(void **state)
{
	struct shelf *f = *state;
	char b[8] = "x";

	drive_fail(f->d, true);
	assert_int_equal(drive_read(f->d, b, 1, 0, &f->e), -1);
	assert_int_equal(drive_write(f->d, b, 1, 0, &f->e), -1);
	assert_int_equal(drive_erase(f->d, &f->e), -1);
	for (int i = 0; i < 2; i++) {
		drive_close(f->d);
		f->d = drive_open(f->path, 16 * GIB, &f->e);
		assert_true(drive_failed(f->d));
		assert_int_equal(drive_read(f->d, b, 1, 0, &f->e), -1);
	}
	drive_fail(f->d, false);
	drive_close(f->d);
	f->d = drive_open(f->path, 16 * GIB, &f->e);
	assert_false(drive_failed(f->d));
	assert_ok(drive_write(f->d, b, 1, 0, &f->e), &f->e);
}

static void a_lying_drive_acknowledges_writes_and_keeps_what_it_had(void **state)
{
	struct shelf *f = *state;
	char b[8];

	assert_ok(drive_write(f->d, "before", 7, 0, &f->e), &f->e);
	drive_lie(f->d, true);
	assert_ok(drive_write(f->d, "after!", 7, 0, &f->e), &f->e);
	assert_int_equal(drive_write(f->d, b, 1, 16 * GIB, &f->e), -1);
	assert_ok(drive_read(f->d, b, 7, 0, &f->e), &f->e);
	assert_string_equal(b, "before");
	drive_lie(f->d, false);
	assert_ok(drive_write(f->d, "after!", 7, 0, &f->e), &f->e);
	assert_ok(drive_read(f->d, b, 7, 0, &f->e), &f->e);
	assert_string_equal(b, "after!");
}

static void a_drive_without_a_file_is_one_all_the_same(void **state)
{
	struct shelf *f = *state;
	struct drive *d = drive_open(NULL, 1ll << 40, &f->e);
	char b[8];

	assert_non_null(d);
	assert_ok(drive_write(d, "abcdefg", 8, 1ll << 39, &f->e), &f->e);
	assert_ok(drive_read(d, b, 8, 1ll << 39, &f->e), &f->e);
	assert_string_equal(b, "abcdefg");
	assert_true(drive_holds(d, "bcde", 4));
	drive_close(d);
}

static void thousands_of_drives_are_no_thousands_of_open_files(void **state)
{
	struct shelf *f = *state;
	int before = dup(0), after;

	close(before);
	drive_close(f->d);
	f->d = drive_open(f->path, 16 * GIB, &f->e);
	assert_ok(drive_write(f->d, "x", 1, 0, &f->e), &f->e);
	after = dup(0);
	close(after);
	assert_int_equal(after, before);
}

static void a_file_that_cannot_be_is_an_error(void **state)
{
	struct shelf *f = *state;

	assert_null(drive_open("/nowhere/at/all", GIB, &f->e));
	assert_int_equal(f->e.kind, ERR_NOT_FOUND);
	assert_null(drive_open(NULL, 100, &f->e));
	assert_int_equal(f->e.kind, ERR_INVALID);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(what_was_written_is_read_back_anywhere),
		T(zeros_take_no_room),
		T(a_write_amid_zeros_changes_nothing_beside_it),
		T(what_lies_beyond_the_end_is_refused),
		T(text_is_found_wherever_it_stands_until_it_is_erased),
		T(a_drive_that_is_opened_again_has_what_it_had),
		T(a_drive_that_was_pulled_out_stays_so),
		T(a_lying_drive_acknowledges_writes_and_keeps_what_it_had),
		T(a_drive_without_a_file_is_one_all_the_same),
		T(thousands_of_drives_are_no_thousands_of_open_files),
		T(a_file_that_cannot_be_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
