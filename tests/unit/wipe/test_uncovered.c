/* Tests that parts which retain a tenant's data and are not drives are named. */
#include "wipe/uncovered.h"

#include <stdio.h>
#include <string.h>
#include "base/mem.h"
#include "tests/unit/testing.h"
#include "tests/unit/wipe/machine.h"

static struct machine m;
static struct arena *arena;

static int setup(void **state)
{
	(void)state;
	machine_init(&m);
	arena = arena_new();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	arena_free(arena);
	machine_done(&m);
	return 0;
}

static void write_bytes(const char *path, const void *data, size_t n)
{
	FILE *f;

	machine_file(&m, path, "");
	f = fopen(arena_printf(arena, "%s/%s", m.dir, path), "w");
	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, n, f), n);
	assert_int_equal(fclose(f), 0);
}

/* Builds an ACPI NFIT table with one range of volatile memory and two ranges of persistent memory,
 * of 1 and 2 GiB; returns its length. */
static size_t nfit(uint8_t *out)
{
	static const uint8_t guid[] = {0x79, 0xd3, 0xf0, 0x66, 0xf3, 0xb4, 0x74, 0x40,
				       0xac, 0x43, 0x0d, 0x33, 0x18, 0xb7, 0x8c, 0xdb};

	memset(out, 0, 40 + 3 * 56);
	for (unsigned i = 0; i < 3; i++) {
		uint8_t *s = out + 40 + 56 * i;

		s[2] = 56;
		memcpy(s + 16, guid, sizeof(guid));
		s[16] ^= i == 0;
		s[43] = (uint8_t)(i << 6); /* The length of the range is i GiB. */
	}
	return 40 + 3 * 56;
}

static void assert_listed(const struct proto_inventory *seen, const char *text)
{
	struct strings got;
	const char *all = "";

	uncovered_list(&m.host, arena, seen, &got);
	for (size_t i = 0; i < got.n; i++)
		all = arena_printf(arena, "%s%s%s", all, i ? ", " : "", got.v[i]);
	assert_string_equal(all, text);
}

static void usb_without_a_driver_is_named(void **state)
{
	struct proto_inventory seen = {0};

	(void)state;
	assert_listed(&seen, "FixedUSB");
	machine_file(&m, "sys/bus/usb/drivers/usb-storage/bind", "");
	assert_listed(&seen, "");
}

static void persistent_memory_is_named_unless_it_is_a_drive(void **state)
{
	struct proto_drive drive = {.path = "/dev/pmem0", .bytes = INT64_C(1) << 30};
	struct proto_inventory seen = {0};
	uint8_t table[512];
	size_t n = nfit(table);

	(void)state;
	machine_file(&m, "sys/bus/usb/drivers/usb-storage/bind", "");
	write_bytes("sys/firmware/acpi/tables/NFIT", table, n);
	assert_listed(&seen, "NVDIMM 3221225472");
	seen.drives.v = &drive;
	seen.drives.n = 1;
	assert_listed(&seen, "NVDIMM 2147483648");
	drive.bytes *= 3;
	assert_listed(&seen, "");
	/* The reader stops at a truncated structure, or at one with an invalid length. */
	seen.drives.n = 0;
	write_bytes("sys/firmware/acpi/tables/NFIT", table, n - 1);
	assert_listed(&seen, "NVDIMM 1073741824");
	table[40 + 56 + 2] = 0;
	write_bytes("sys/firmware/acpi/tables/NFIT", table, n);
	assert_listed(&seen, "");
}

static void a_memory_region_of_an_nvme_controller_is_named(void **state)
{
	struct proto_controller c[] = {{.address = "0000:01:00.0", .driver = "nvme"},
				       {.address = "0000:02:00.0", .driver = "nvme"},
				       {.address = "0000:03:00.0", .driver = "ahci"},
				       {.address = "0000:04:00.0", .driver = "nvme"},
				       {.address = "0000:05:00.0"}};
	struct proto_inventory seen = {.controllers = {c, 5}};
	static const uint8_t has[8] = {[7] = 2}, none[8] = {[7] = 1};
	static const uint8_t gone[8] = {255, 255, 255, 255, 255, 255, 255, 255};

	(void)state;
	machine_file(&m, "sys/bus/usb/drivers/usb-storage/bind", "");
	write_bytes("sys/bus/pci/devices/0000:01:00.0/resource0", has, 8);
	write_bytes("sys/bus/pci/devices/0000:02:00.0/resource0", none, 8);
	write_bytes("sys/bus/pci/devices/0000:03:00.0/resource0", has, 8);
	write_bytes("sys/bus/pci/devices/0000:04:00.0/resource0", gone, 8);
	assert_listed(&seen, "PMR 0000:01:00.0");
	write_bytes("sys/bus/pci/devices/0000:01:00.0/resource0", has, 4);
	assert_listed(&seen, "");
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(usb_without_a_driver_is_named),
		T(persistent_memory_is_named_unless_it_is_a_drive),
		T(a_memory_region_of_an_nvme_controller_is_named),
	};

	mem_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
