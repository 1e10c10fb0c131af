#include "wipe/iso9660.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/mem.h"
#include "tests/unit/testing.h"

#define SIZE (1 << 20)
#define WALL 1790000000000 /* 2026-09-21 */

static const struct iso9660_file files[] = {
	{"user-data", "#cloud-config\n", 14},
	{"meta-data", "instance-id: x\n", 15},
	{"drover-join.cfg", "NODE_NAME=gpu-1\n", 16},
	{"empty", NULL, 0},
};

/* Searches the volume's root directory for the file id, as a reader does. Returns its content and
 * *len; NULL: not found. */
static const uint8_t *find(const uint8_t *v, const char *id, uint32_t *len)
{
	const uint8_t *root = v + 16 * ISO9660_BLOCK + 156;
	uint32_t at = root[2] | root[3] << 8, size = root[10] | root[11] << 8;
	const uint8_t *p = v + at * ISO9660_BLOCK, *end = p + size;

	for (; p < end && p[0]; p += p[0]) {
		if (p[32] == strlen(id) && !memcmp(p + 33, id, p[32])) {
			/* Each number is stored in both byte orders; they must agree. */
			assert_int_equal(p[2], p[9]);
			assert_int_equal(p[10], p[17]);
			*len = p[10] | p[11] << 8;
			return v + (p[2] | p[3] << 8) * ISO9660_BLOCK;
		}
	}
	return NULL;
}

static int write_volume(const struct iso9660_file *v, size_t n, uint8_t *out, size_t *used,
			struct err *e)
{
	return iso9660_write(
		&(struct iso9660_volume){.label = "cidata", .files = v, .n = n, .wall_ms = WALL},
		out, SIZE, used, e);
}

static void a_volume_holds_its_label_and_files(void **state)
{
	uint8_t *v = mem_alloc(SIZE);
	size_t used;
	uint32_t len;
	struct err e;
	const uint8_t *data;

	(void)state;
	assert_ok(write_volume(files, 4, v, &used, &e), &e);
	assert_memory_equal(v + 16 * ISO9660_BLOCK, "\1CD001\1", 7);
	assert_memory_equal(v + 17 * ISO9660_BLOCK, "\377CD001\1", 7);
	assert_memory_equal(v + 16 * ISO9660_BLOCK + 40, "cidata                          ", 32);
	assert_int_equal(used % ISO9660_BLOCK, 0);
	assert_int_equal(v[16 * ISO9660_BLOCK + 80], used / ISO9660_BLOCK);
	data = find(v, "META-DATA.;1", &len);
	assert_non_null(data);
	assert_int_equal(len, 15);
	assert_memory_equal(data, "instance-id: x\n", 15);
	data = find(v, "DROVER-JOIN.CFG;1", &len);
	assert_non_null(data);
	assert_memory_equal(data, "NODE_NAME=gpu-1\n", len);
	assert_non_null(find(v, "EMPTY.;1", &len));
	assert_int_equal(len, 0);
	free(v);
}

static void names_that_would_come_back_different_are_refused(void **state)
{
	static const char *const bad[] = {"",
					  "Upper",
					  "two.dots.here",
					  "sla/sh",
					  "../up",
					  ".hidden",
					  "a-name-that-is-longer-than-allowed",
					  "sp ace"};
	uint8_t *v = mem_alloc(SIZE);
	size_t used;
	struct err e;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct iso9660_file f = {bad[i], "x", 1};

		assert_int_equal(write_volume(&f, 1, v, &used, &e), -1);
		assert_int_equal(e.kind, ERR_INVALID);
	}
	struct iso9660_file twice[] = {{"a", "x", 1}, {"a", "y", 1}};

	assert_int_equal(write_volume(twice, 2, v, &used, &e), -1);
	free(v);
}

static void files_that_do_not_fit_are_refused(void **state)
{
	uint8_t *v = mem_alloc(SIZE);
	struct iso9660_file big = {"big", v, SIZE - 20 * ISO9660_BLOCK};
	size_t used;
	struct err e;

	(void)state;
	assert_int_equal(write_volume(&big, 1, v, &used, &e), -1);
	assert_int_equal(e.kind, ERR_CAPACITY);
	free(v);
}

static int run(const char *const argv[])
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		int null = open("/dev/null", O_WRONLY);

		dup2(null, 1);
		dup2(null, 2);
		execvp(argv[0], (char *const *)(uintptr_t)argv);
		_exit(127);
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Reads the volume with xorriso, an independent program that the image build needs anyway. */
static void xorriso_reads_the_volume(void **state)
{
	char image[] = "/tmp/drover-iso-XXXXXX", out[64], got[64] = "";
	uint8_t *v = mem_alloc(SIZE);
	int fd = mkstemp(image);
	size_t used;
	struct err e;
	FILE *f;

	(void)state;
	assert_ok(write_volume(files, 4, v, &used, &e), &e);
	assert_int_equal(write(fd, v, used), used);
	close(fd);
	free(v);
	snprintf(out, sizeof(out), "%s.out", image);
	const char *const argv[] = {"xorriso",	"-osirrox",	    "on", "-indev", image,
				    "-extract", "/DROVER-JOIN.CFG", out,  NULL};
	const char *const lower[] = {"xorriso",	 "-osirrox",	     "on", "-indev", image,
				     "-extract", "/drover-join.cfg", out,  NULL};
	int rc = run(argv);

	if (rc == 127) {
		unlink(image);
		fail_msg("xorriso is not installed: tests/tools/deps build");
	}
	if (rc)
		rc = run(lower);
	unlink(image);
	assert_int_equal(rc, 0);
	f = fopen(out, "r");
	assert_non_null(f);
	assert_non_null(fgets(got, sizeof(got), f));
	fclose(f);
	unlink(out);
	assert_string_equal(got, "NODE_NAME=gpu-1\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_volume_holds_its_label_and_files),
		cmocka_unit_test(names_that_would_come_back_different_are_refused),
		cmocka_unit_test(files_that_do_not_fit_are_refused),
		cmocka_unit_test(xorriso_reads_the_volume),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
