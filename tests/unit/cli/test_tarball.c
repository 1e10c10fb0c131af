/* Tests the archive that drover writes: tar and zstd must be able to read it. */
#include "tests/unit/testing.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>
#include "base/mem.h"
#include "cli/tarball.h"

static char plain[1 << 16];
static size_t plain_len;

static void unpack(const char *data, size_t len)
{
	plain_len = ZSTD_decompress(plain, sizeof(plain), data, len);
	assert_false(ZSTD_isError(plain_len));
}

static void a_file_is_a_header_and_whole_blocks(void **state)
{
	char *data, text[513], name[101];
	size_t len;
	unsigned sum = 0;
	FILE *f = open_memstream(&data, &len);
	struct tarball *t = tarball_new(f, 1764000000);
	struct err e;

	(void)state;
	memset(text, 'x', sizeof(text));
	tarball_add(t, "a/b.txt", text, sizeof(text));
	tarball_add(t, "empty", "", 0);
	assert_int_equal(tarball_end(t, &e), 0);
	fclose(f);
	unpack(data, len);
	assert_int_equal(plain_len, 512 + 1024 + 512 + 1024);
	assert_string_equal(plain, "a/b.txt");
	assert_string_equal(plain + 124, "00000001001"); /* The size, 513 bytes, in octal. */
	assert_memory_equal(plain + 257,
			    "ustar\0"
			    "00",
			    8);
	assert_int_equal(strtol(plain + 136, NULL, 8), 1764000000);
	for (int i = 0; i < 512; i++)
		sum += i >= 148 && i < 156 ? ' ' : (unsigned char)plain[i];
	assert_int_equal(strtol(plain + 148, NULL, 8), sum);
	assert_string_equal(plain + 512 + 1024, "empty");
	tarball_free(t);
	free(data);
	memset(name, 'n', 100);
	name[100] = '\0';
	f = open_memstream(&data, &len);
	t = tarball_new(f, 0);
	tarball_add(t, name, "", 0);
	assert_int_equal(tarball_end(t, &e), -1);
	tarball_free(t);
	fclose(f);
	free(data);
}

static void a_full_disk_is_said(void **state)
{
	FILE *f = fopen("/dev/full", "w");
	struct tarball *t = tarball_new(f, 0);
	struct err e;

	(void)state;
	tarball_add(t, "a", "b", 1);
	assert_int_equal(tarball_end(t, &e), -1);
	assert_non_null(strstr(e.text, "No space left"));
	tarball_free(t);
	(void)fclose(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_is_a_header_and_whole_blocks),
		cmocka_unit_test(a_full_disk_is_said),
	};

	mem_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
