/* Tests that a day survives encoding, its size, and that invalid bytes change nothing. */
#include "tests/unit/testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/mem.h"
#include "base/str.h"
#include "controller/view/gpu_history_code.h"

#define DAY INT64_C(20420)
#define FIRST (DAY * GPU_HISTORY_DAY_STEPS)

static uint64_t seed = 1;

static unsigned random_below(unsigned n)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (unsigned)(seed >> 33) % n;
}

/* Fills `days` days with samples of `tenants` tenants. At each step, one tenant in `calm`, on
 * average, changes its number of GPUs. */
static void fill(struct gpu_history *h, int days, unsigned tenants, unsigned calm)
{
	uint32_t *gpus = mem_calloc(tenants, sizeof(*gpus));
	char name[64];

	for (unsigned t = 0; t < tenants; t++)
		gpus[t] = 8 * random_below(20);
	for (int64_t s = FIRST; s < FIRST + days * GPU_HISTORY_DAY_STEPS; s++) {
		if (random_below(100) == 0)
			continue; /* a gap */
		assert_true(gpu_history_open(h, s));
		for (unsigned t = 0; t < tenants; t++) {
			str_format(name, sizeof(name), "department-%u-team-%u", t % 7, t);
			if (random_below(calm) == 0)
				gpus[t] = 8 * random_below(20);
			gpu_column_add(gpu_history_tenant(h, name), s, gpus[t]);
			gpu_column_add(gpu_history_group(h, GPU_SERVING), s, gpus[t]);
		}
		for (int g = GPU_MOVING; g < GPU_GROUPS; g++)
			gpu_column_add(gpu_history_group(h, (enum gpu_group)g), s,
				       8 * random_below(50));
	}
	free(gpus);
}

static size_t size_of_days(struct gpu_history *h, int days, size_t *largest)
{
	size_t sum = 0, len;

	*largest = 0;
	for (int64_t d = DAY; d < DAY + days; d++) {
		free(gpu_history_encode(h, d, &len));
		sum += len;
		*largest = len > *largest ? len : *largest;
	}
	return sum;
}

static void assert_same(struct gpu_history *a, struct gpu_history *b, int64_t from, int64_t to)
{
	struct gpu_column *const *v;
	size_t n;

	for (int64_t s = from; s < to; s++) {
		assert_int_equal(gpu_history_has(a, s), gpu_history_has(b, s));
		if (!gpu_history_has(a, s))
			continue;
		for (int g = 0; g < GPU_GROUPS; g++)
			assert_int_equal(gpu_column_at(gpu_history_group(a, (enum gpu_group)g), s),
					 gpu_column_at(gpu_history_group(b, (enum gpu_group)g), s));
		assert_int_equal(gpu_column_at(gpu_history_others(a), s),
				 gpu_column_at(gpu_history_others(b), s));
		v = gpu_history_tenants(a, &n);
		for (size_t i = 0; i < n; i++)
			assert_int_equal(
				gpu_column_at(v[i], s),
				gpu_column_at(gpu_history_tenant(b, gpu_column_name(v[i])), s));
	}
}

static void days_survive_in_any_order(void **state)
{
	OWN(gpu_history) h = gpu_history_new();
	OWN(gpu_history) other = gpu_history_new();
	int64_t day;
	struct err e;

	(void)state;
	fill(h, 3, 520, 50);
	for (int64_t d = DAY + 2; d >= DAY; d--) {
		size_t len;
		char *data = gpu_history_encode(h, d, &len);

		assert_ok(gpu_history_decode(other, data, len, DAY + 2, &day, &e), &e);
		assert_int_equal(day, d);
		free(data);
	}
	assert_same(h, other, FIRST, FIRST + 3 * GPU_HISTORY_DAY_STEPS);
}

static void samples_that_exist_are_kept(void **state)
{
	OWN(gpu_history) h = gpu_history_new();
	OWN(gpu_history) other = gpu_history_new();
	int64_t day;
	struct err e;
	size_t len;
	char *data;

	(void)state;
	assert_true(gpu_history_open(h, FIRST + 1));
	gpu_column_add(gpu_history_tenant(h, "team-a"), FIRST + 1, 8);
	assert_true(gpu_history_open(h, FIRST + 2));
	gpu_column_add(gpu_history_tenant(h, "team-a"), FIRST + 2, 16);
	data = gpu_history_encode(h, DAY, &len);
	assert_true(gpu_history_open(other, FIRST + 2));
	gpu_column_add(gpu_history_tenant(other, "team-b"), FIRST + 2, 3);
	assert_ok(gpu_history_decode(other, data, len, DAY, &day, &e), &e);
	assert_int_equal(gpu_column_at(gpu_history_tenant(other, "team-a"), FIRST + 1), 8);
	assert_int_equal(gpu_column_at(gpu_history_tenant(other, "team-a"), FIRST + 2), 0);
	assert_int_equal(gpu_column_at(gpu_history_tenant(other, "team-b"), FIRST + 2), 3);
	/* a day before the window adds nothing, not even a tenant */
	assert_true(gpu_history_open(other, FIRST + 10 * GPU_HISTORY_DAY_STEPS));
	assert_ok(gpu_history_decode(other, data, len, DAY, &day, &e), &e);
	assert_false(gpu_history_has(other, FIRST + 1));
	(void)gpu_history_tenants(other, &len);
	assert_int_equal(len, 0);
	free(data);
}

static void a_week_is_small(void **state)
{
	static const struct {
		unsigned tenants, calm;
		size_t most;
	} rows[] = {
		{50, 50, 40 << 10}, {50, 1, 100 << 10}, {500, 50, 300 << 10}, {500, 1, 960 << 10}};
	size_t sum, largest;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		OWN(gpu_history) h = gpu_history_new();

		fill(h, 7, rows[i].tenants, rows[i].calm);
		sum = size_of_days(h, 7, &largest);
		print_message("%u tenants, a change in one of %u steps: %zu bytes in 7 days, "
			      "largest day %zu\n",
			      rows[i].tenants, rows[i].calm, sum, largest);
		assert_true(sum <= rows[i].most);
		assert_true(largest <= GPU_HISTORY_DAY_BYTES);
	}
}

static void the_largest_day_fits_into_a_configmap(void **state)
{
	OWN(gpu_history) h = gpu_history_new();
	char name[254];
	size_t len;

	(void)state;
	for (int64_t s = FIRST; s < FIRST + GPU_HISTORY_DAY_STEPS; s++) {
		assert_true(gpu_history_open(h, s));
		for (unsigned t = 0; t < GPU_HISTORY_TENANTS + 1; t++) {
			str_format(name, sizeof(name), "%0253u", t);
			for (size_t i = 63; i < 253; i += 64)
				name[i] = '.';
			gpu_column_add(gpu_history_tenant(h, name), s,
				       s % 2 ? UINT32_MAX - random_below(1u << 30)
					     : random_below(1u << 30));
		}
	}
	free(gpu_history_encode(h, DAY, &len));
	print_message("largest possible day: %zu bytes\n", len);
	assert_true(len > 500000 && len <= GPU_HISTORY_DAY_BYTES);
}

/* Decodes bytes that must be refused. */
static void assert_refused(const char *data, size_t len, const char *text)
{
	OWN(gpu_history) h = gpu_history_new();
	int64_t day;
	struct err e;

	assert_int_equal(gpu_history_decode(h, data, len, DAY, &day, &e), -1);
	if (text && !strstr(e.text, text))
		fail_msg("'%s' is not in: %s", text, e.text);
	assert_int_equal(gpu_history_newest(h), -1);
}

static void foreign_and_damaged_bytes_are_refused(void **state)
{
	OWN(gpu_history) h = gpu_history_new();
	size_t len;
	char *data;

	(void)state;
	fill(h, 2, 20, 10);
	assert_refused("", 0, "not written by drover");
	assert_refused("DRVX\001 and so on", 15, "not written by drover");
	assert_refused("DRVH\001 and so on", 15, "size is invalid");
	data = gpu_history_encode(h, DAY + 1, &len);
	assert_refused(data, len, "in the future");
	free(data);
	data = gpu_history_encode(h, DAY, &len);
	data[4] = 2;
	assert_refused(data, len, "format 2 is unknown");
	data[4] = 1;
	for (size_t n = 0; n < len; n++)
		assert_refused(data, n, NULL);
	for (size_t i = 0; i < len; i++) {
		OWN(gpu_history) other = gpu_history_new();
		int64_t day;
		struct err e;

		/* some bits of a zstd frame have no meaning: the content is then the same */
		data[i] ^= 0x10;
		if (gpu_history_decode(other, data, len, DAY, &day, &e) == 0)
			assert_same(h, other, FIRST, FIRST + GPU_HISTORY_DAY_STEPS);
		else
			assert_int_equal(gpu_history_newest(other), -1);
		data[i] ^= 0x10;
	}
	free(data);
}

/* Compresses bytes as gpu_history_encode() does, and asserts that they are refused. */
static void assert_raw_refused(const void *raw, size_t raw_len, const char *text)
{
	const size_t size = ZSTD_compressBound(raw_len) + 5;
	char *data = mem_alloc(size);
	size_t n;

	memcpy(data, "DRVH\001", 5);
	n = ZSTD_compress(data + 5, size - 5, raw, raw_len, 3);
	assert_false(ZSTD_isError(n));
	assert_refused(data, n + 5, text);
	free(data);
}

static void valid_zstd_with_invalid_content_is_refused(void **state)
{
	/* day 1, one sample, seven columns with 1 GPU, then the tenants */
	uint8_t raw[200] = {1, 1};
	size_t at = 37;
	char *zeros = mem_alloc(4 << 20);

	(void)state;
	assert_raw_refused(zeros, 4 << 20, "size is invalid");
	free(zeros);
	assert_raw_refused("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 10, "too long");
	assert_raw_refused("\xff\xff\xff\xff\xff\x01", 6, "too large");
	assert_raw_refused("\001\001", 2, "ends too early");
	for (int g = 0; g < GPU_GROUPS + 1; g++)
		raw[at++] = 2;
	assert_raw_refused(raw, at, "ends too early");
	raw[at - 1] = 1; /* -1 GPU */
	assert_raw_refused(raw, at, "out of range");
	raw[at - 1] = 2;
	memcpy(raw + at, "\001\377", 2);
	assert_raw_refused(raw, at + 2, "ends too early");
	memcpy(raw + at, "\001\002a\n\002", 5);
	assert_raw_refused(raw, at + 5, "name is invalid");
	memcpy(raw + at, "\001\002a\0\002", 5);
	assert_raw_refused(raw, at + 5, "name is invalid");
	memcpy(raw + at, "\001\0\002", 3);
	assert_raw_refused(raw, at + 3, "name is invalid");
	memcpy(raw + at, "\002\001b\002\001b\002", 7);
	assert_raw_refused(raw, at + 7, "not after the one before");
	memcpy(raw + at, "\001\001b\002\0", 5);
	assert_raw_refused(raw, at + 5, "bytes follow");
	memcpy(raw + at, "\365\003", 2); /* 501 tenants */
	assert_raw_refused(raw, at + 2, "too large");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(days_survive_in_any_order),
		cmocka_unit_test(samples_that_exist_are_kept),
		cmocka_unit_test(a_week_is_small),
		cmocka_unit_test(the_largest_day_fits_into_a_configmap),
		cmocka_unit_test(foreign_and_damaged_bytes_are_refused),
		cmocka_unit_test(valid_zstd_with_invalid_content_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
