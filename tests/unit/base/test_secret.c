#include "tests/unit/testing.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "base/secret.h"

static void a_secret_keeps_its_bytes(void **state)
{
	static const size_t sizes[] = {0, 1, 62, 63, 64, 255, 256, 1023, 1024, 4095, 4096, 100000};
	static char data[100000];
	struct secret *s[sizeof(sizes) / sizeof(sizes[0])];
	size_t n = sizeof(sizes) / sizeof(sizes[0]);

	(void)state;
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (char)(i * 31 + 7);
	for (size_t i = 0; i < n; i++)
		s[i] = secret_new(data + i, sizes[i] - (sizes[i] == sizeof(data) ? i : 0));
	for (size_t i = 0; i < n; i++) {
		assert_memory_equal(secret_expose(s[i]), data + i, secret_len(s[i]));
		assert_int_equal(secret_expose(s[i])[secret_len(s[i])], '\0');
	}
	for (size_t i = 0; i < n; i++)
		secret_free(s[i]);
	secret_free(NULL);
}

static void a_freed_secret_leaves_nothing_behind(void **state)
{
	struct secret *s = secret_from_str("correct horse battery staple");
	const char *where = secret_expose(s);

	(void)state;
	secret_free(s);
	/* The slot stays mapped: it must be zero except for its link in the free list. */
	for (size_t i = sizeof(void *); i < 64; i++)
		assert_int_equal(where[i], 0);
	assert_memory_not_equal(where, "correct ", 8);
}

/* True if the mapping that contains p has "dd" (excluded from core dumps) in its VmFlags. */
static bool left_out_of_core(const void *p)
{
	FILE *f = fopen("/proc/self/smaps", "re");
	unsigned long from = 0, to = 0, at = (unsigned long)(uintptr_t)p, a, b;
	bool found = false;
	char line[512];

	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%lx-%lx ", &a, &b) == 2) {
			from = a;
			to = b;
		}
		if (strncmp(line, "VmFlags:", 8) == 0 && at >= from && at < to)
			found = strstr(line, " dd") != NULL;
	}
	fclose(f);
	return found;
}

static void the_pages_are_left_out_of_core_files(void **state)
{
	static char big[10000];
	OWN(secret) small = secret_from_str("x");
	OWN(secret) large = secret_new(big, sizeof(big));
	OWN(secret) copy = secret_copy(small);

	(void)state;
	assert_true(left_out_of_core(secret_expose(small)));
	assert_true(left_out_of_core(secret_expose(large)));
	assert_true(left_out_of_core(secret_expose(copy)));
	assert_false(left_out_of_core(small));
}

static void a_copy_is_another_secret(void **state)
{
	OWN(secret) a = secret_new("a\0b", 3);
	OWN(secret) b = secret_copy(a);

	(void)state;
	assert_null(secret_copy(NULL));
	assert_ptr_not_equal(secret_expose(a), secret_expose(b));
	assert_int_equal(secret_len(b), 3);
	assert_memory_equal(secret_expose(b), "a\0b", 4);
	assert_true(secret_equal(a, b));
}

static void equal_means_every_byte(void **state)
{
	OWN(secret) a = secret_from_str("abcdef");
	OWN(secret) b = secret_from_str("abcdeg");
	OWN(secret) c = secret_from_str("abcde");
	OWN(secret) d = secret_from_str("xbcdef");
	OWN(secret) none = secret_from_str("");

	(void)state;
	assert_false(secret_equal(a, b));
	assert_false(secret_equal(a, c));
	assert_false(secret_equal(a, d));
	assert_false(secret_equal(a, none));
	assert_true(secret_equal(none, none));
	assert_true(secret_equal_bytes(a, "abcdef", 6));
	assert_false(secret_equal_bytes(a, "abcdef", 7));
	assert_false(secret_equal_bytes(a, "", 0));
}

static void wiping_clears(void **state)
{
	char text[] = "hunter2";

	(void)state;
	secret_wipe(text, sizeof(text));
	for (size_t i = 0; i < sizeof(text); i++)
		assert_int_equal(text[i], 0);
	secret_wipe(NULL, 8);
}

/* A program opens the file by its name in /proc and can read it from the beginning any number of
 * times. */
static void a_secret_in_a_file_is_read_by_name_and_stays_as_it_is(void **state)
{
	OWN(secret) s = secret_from_str("hunter2");
	OWN(secret) none = secret_from_str("");
	char name[64], read_back[16];
	struct err e;
	int fd = secret_file(s, &e), empty = secret_file(none, &e), again;

	(void)state;
	assert_true(fd >= 0 && empty >= 0);
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	for (int i = 0; i < 2; i++) {
		again = open(name, O_RDONLY | O_CLOEXEC);
		assert_true(again >= 0);
		assert_int_equal(read(again, read_back, sizeof(read_back)), 7);
		assert_memory_equal(read_back, "hunter2", 7);
		close(again);
	}
	assert_int_equal(pwrite(fd, "x", 1, 0), -1);
	assert_int_equal(errno, EPERM);
	assert_int_equal(ftruncate(fd, 0), -1);
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	assert_int_equal(read(empty, read_back, 1), 0);
	close(fd);
	close(empty);
}

static void *churn(void *arg)
{
	unsigned seed = (unsigned)(uintptr_t)arg;
	struct secret *held[16] = {NULL};
	char text[300];

	for (int i = 0; i < 3000; i++) {
		unsigned slot = (seed = seed * 1103515245 + 12345) >> 16 & 15;
		size_t len = (seed >> 8) % sizeof(text);

		secret_free(held[slot]);
		memset(text, (int)(len & 0x7f), sizeof(text));
		held[slot] = secret_new(text, len);
		for (unsigned k = 0; k < 16; k++) {
			const char *p = held[k] ? secret_expose(held[k]) : NULL;

			for (size_t j = 0; p && j < secret_len(held[k]); j++)
				if (p[j] != (char)(secret_len(held[k]) & 0x7f))
					return arg;
		}
	}
	for (unsigned k = 0; k < 16; k++)
		secret_free(held[k]);
	return NULL;
}

static void threads_do_not_share_slots(void **state)
{
	pthread_t t[3];

	(void)state;
	for (uintptr_t i = 0; i < 3; i++)
		assert_int_equal(pthread_create(&t[i], NULL, churn, (void *)(i + 1)), 0);
	for (int i = 0; i < 3; i++) {
		void *failed;

		pthread_join(t[i], &failed);
		assert_null(failed);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_secret_keeps_its_bytes),
		cmocka_unit_test(a_freed_secret_leaves_nothing_behind),
		cmocka_unit_test(the_pages_are_left_out_of_core_files),
		cmocka_unit_test(a_copy_is_another_secret),
		cmocka_unit_test(equal_means_every_byte),
		cmocka_unit_test(wiping_clears),
		cmocka_unit_test(a_secret_in_a_file_is_read_by_name_and_stays_as_it_is),
		cmocka_unit_test(threads_do_not_share_slots),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
