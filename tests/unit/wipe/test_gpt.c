#include "wipe/gpt.h"

#include <stdlib.h>
#include "base/mem.h"
#include "tests/unit/testing.h"

#define BLOCK 512
#define DISK (64 << 20)
#define IMAGE_BLOCKS 65536u /* The image has 32 MiB. */

/* A partition table as sfdisk 2.38 creates it ("label: gpt", one partition of 8 MiB at 1 MiB named
 * root). It is written by hand, so that the parser is not tested only with drover's own writer. */
static uint8_t *head;

static void put(size_t at, size_t n, uint64_t v)
{
	for (size_t i = 0; i < n; i++, v >>= 8)
		head[at + i] = (uint8_t)v;
}

/* CRC-32 as in zlib, implemented differently from the code under test. */
static uint32_t crc(const uint8_t *p, size_t n)
{
	uint32_t table[256], c = 0xffffffff;

	for (uint32_t i = 0; i < 256; i++) {
		uint32_t v = i;

		for (int k = 0; k < 8; k++)
			v = v & 1 ? (v >> 1) ^ 0xedb88320 : v >> 1;
		table[i] = v;
	}
	for (size_t i = 0; i < n; i++)
		c = table[(c ^ p[i]) & 0xff] ^ c >> 8;
	return c ^ 0xffffffff;
}

static void seal(void)
{
	put(BLOCK + 88, 4, crc(head + 2 * BLOCK, GPT_ENTRIES * GPT_ENTRY));
	put(BLOCK + 16, 4, 0);
	put(BLOCK + 16, 4, crc(head + BLOCK, 92));
}

static void set_partition(size_t slot, uint64_t first, uint64_t last, const char *name)
{
	size_t at = 2 * BLOCK + slot * GPT_ENTRY;

	memset(head + at, 0, GPT_ENTRY);
	put(at, 8, 0x1122334455667788);
	put(at + 16, 8, slot + 1);
	put(at + 32, 8, first);
	put(at + 40, 8, last);
	for (size_t i = 0; name[i]; i++)
		head[at + 56 + 2 * i] = (uint8_t)name[i];
}

static int make_table(void **state)
{
	(void)state;
	head = mem_alloc(GPT_HEAD);
	head[510] = 0x55;
	head[511] = 0xaa;
	head[450] = 0xee;
	put(458, 4, IMAGE_BLOCKS - 1);
	memcpy(head + BLOCK, "EFI PART\0\0\1\0", 12);
	put(BLOCK + 12, 4, 92);
	put(BLOCK + 24, 8, 1);
	put(BLOCK + 32, 8, IMAGE_BLOCKS - 1);
	put(BLOCK + 40, 8, 34);
	put(BLOCK + 48, 8, IMAGE_BLOCKS - 34);
	put(BLOCK + 72, 8, 2);
	put(BLOCK + 80, 4, 128);
	put(BLOCK + 84, 4, 128);
	set_partition(0, 2048, 18431, "root");
	seal();
	return 0;
}

static int drop_table(void **state)
{
	(void)state;
	free(head);
	return 0;
}

static void the_table_is_stretched_and_gets_a_last_partition(void **state)
{
	struct gpt g, back;
	struct err e;
	uint8_t guid[16] = {1, 2, 3}, *tail = mem_alloc(GPT_HEAD), *copy = mem_alloc(GPT_HEAD);
	int64_t at, bytes;

	(void)state;
	assert_ok(gpt_read(&g, head, BLOCK, DISK, &e), &e);
	assert_true(gpt_find(&g, "root", &at, &bytes));
	assert_int_equal(at, 1 << 20);
	assert_int_equal(bytes, 8 << 20);
	assert_false(gpt_find(&g, "cidata", &at, &bytes));
	assert_ok(gpt_append(&g, "cidata", guid, 4 << 20, &e), &e);
	assert_true(gpt_find(&g, "cidata", &at, &bytes));
	assert_int_equal(bytes, 4 << 20);
	assert_int_equal(at % (1 << 20), 0);
	/* Behind the new partition there is space for the backup table, but not for another
	 * partition. */
	assert_true(at + bytes <= DISK - 33 * BLOCK && at + bytes > DISK - (2 << 20));

	gpt_write(&g, head, tail);
	assert_ok(gpt_read(&back, head, BLOCK, DISK, &e), &e);
	assert_memory_equal(back.entries, g.entries, sizeof(g.entries));
	assert_int_equal(head[458] | head[459] << 8 | head[460] << 16, DISK / BLOCK - 1);
	/* The backup consists of the entries, then a header that is valid by itself and contains
	 * its own position. */
	assert_int_equal(gpt_tail_bytes(&g), 33 * BLOCK);
	assert_memory_equal(tail, g.entries, sizeof(g.entries));
	memcpy(copy, tail + 32 * BLOCK, 92);
	assert_memory_equal(copy, "EFI PART", 8);
	assert_int_equal(copy[24] | copy[25] << 8 | copy[26] << 16, DISK / BLOCK - 1);
	assert_int_equal(copy[32], 1);
	uint32_t sum = copy[16] | copy[17] << 8 | copy[18] << 16 | (uint32_t)copy[19] << 24;

	memset(copy + 16, 0, 4);
	assert_int_equal(crc(copy, 92), sum);
	free(tail);
	free(copy);
}

struct bad {
	const char *what;
	size_t at, n;
	uint64_t value;
	bool reseal;
};

static void broken_tables_are_refused(void **state)
{
	static const struct bad bad[] = {
		{"signature", BLOCK, 1, 'X', true},
		{"checksum", BLOCK + 56, 1, 1, false},
		{"header size 0", BLOCK + 12, 4, 0, true},
		{"header size huge", BLOCK + 12, 4, 0xffffffff, true},
		{"own LBA", BLOCK + 24, 8, 2, true},
		{"entries at 0", BLOCK + 72, 8, 0, true},
		{"entries far away", BLOCK + 72, 8, 1u << 30, true},
		{"entries overflow", BLOCK + 72, 8, UINT64_MAX, true},
		{"entry count", BLOCK + 80, 4, 0xffffffff, true},
		{"entry size", BLOCK + 84, 4, 64, true},
		{"first usable inside the entries", BLOCK + 40, 8, 3, true},
		{"first usable beyond the end", BLOCK + 40, 8, UINT64_MAX, true},
		{"entries checksum", 2 * BLOCK + 60, 1, 'x', false},
		{"partition first > last", 2 * BLOCK + 40, 8, 2047, true},
		{"partition in the header", 2 * BLOCK + 32, 8, 1, true},
		{"partition beyond the drive", 2 * BLOCK + 40, 8, DISK / BLOCK - 1, true},
		{"partition overflow", 2 * BLOCK + 40, 8, UINT64_MAX, true},
	};
	struct gpt g;
	struct err e;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		drop_table(NULL);
		make_table(NULL);
		assert_ok(gpt_read(&g, head, BLOCK, DISK, &e), &e);
		put(bad[i].at, bad[i].n, bad[i].value);
		if (bad[i].reseal)
			seal();
		if (!gpt_read(&g, head, BLOCK, DISK, &e))
			fail_msg("accepted: %s", bad[i].what);
	}
}

static void overlapping_partitions_are_refused(void **state)
{
	struct gpt g;
	struct err e;

	(void)state;
	set_partition(1, 18431, 20000, "two");
	seal();
	assert_int_equal(gpt_read(&g, head, BLOCK, DISK, &e), -1);
	set_partition(1, 18432, 20000, "two");
	seal();
	assert_ok(gpt_read(&g, head, BLOCK, DISK, &e), &e);
}

static void an_image_that_needs_a_larger_drive_is_told_so(void **state)
{
	struct gpt g;
	struct err e;

	(void)state;
	assert_int_equal(gpt_read(&g, head, BLOCK, 8 << 20, &e), -1);
	assert_int_equal(e.kind, ERR_CAPACITY);
}

static void a_full_drive_has_no_room_for_the_config_drive(void **state)
{
	struct gpt g;
	struct err e;
	uint8_t guid[16] = {1};

	(void)state;
	set_partition(0, 2048, DISK / BLOCK - 34, "root");
	seal();
	assert_ok(gpt_read(&g, head, BLOCK, DISK, &e), &e);
	assert_int_equal(gpt_append(&g, "cidata", guid, 4 << 20, &e), -1);
	assert_int_equal(e.kind, ERR_CAPACITY);
}

static void a_full_table_has_no_room_for_the_config_drive(void **state)
{
	struct gpt g;
	struct err e;
	uint8_t guid[16] = {1};

	(void)state;
	for (size_t i = 0; i < GPT_ENTRIES; i++)
		set_partition(i, 2048 + i, 2048 + i, "p");
	seal();
	assert_ok(gpt_read(&g, head, BLOCK, DISK, &e), &e);
	assert_int_equal(gpt_append(&g, "cidata", guid, 4 << 20, &e), -1);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, make_table, drop_table)
	const struct CMUnitTest tests[] = {
		T(the_table_is_stretched_and_gets_a_last_partition),
		T(broken_tables_are_refused),
		T(overlapping_partitions_are_refused),
		T(an_image_that_needs_a_larger_drive_is_told_so),
		T(a_full_drive_has_no_room_for_the_config_drive),
		T(a_full_table_has_no_room_for_the_config_drive),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
