#include "wipe/inventory.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "base/mem.h"
#include "tests/unit/testing.h"
#include "tests/unit/wipe/machine.h"
#include "wipe/drives.h"
#include "wipe/init.h"

static struct machine m;

static int setup(void **state)
{
	(void)state;
	machine_init(&m);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	machine_done(&m);
	return 0;
}

static void drives_are_found_with_their_identity(void **state)
{
	OWN(arena) a = arena_new();
	struct drive_list l;

	(void)state;
	machine_drive(&m, "nvme0n1", "eui.00a0b0c0d0e0f001\n", 2 << 20);
	machine_file(&m, "sys/block/nvme0n1/device/model", "Micron 7450                 \n");
	machine_file(&m, "sys/block/nvme0n1/device/serial", "22334455\n");
	machine_file(&m, "sys/block/sda/size", "4096\n");
	machine_file(&m, "sys/block/sda/device/vendor", "ATA     \n");
	machine_file(&m, "sys/block/sda/device/wwid",
		     "t10.ATA     QEMU HARDDISK      QM00003   \n");
	machine_file(&m, "sys/block/sda/queue/rotational", "1\n");
	machine_file(&m, "sys/block/sda/ro", "1\n");
	machine_file(&m, "sys/block/vda/size", "8192\n");
	machine_file(&m, "sys/block/vda/serial", "disk-1\n");
	drives_scan(&m.host, a, &l);
	assert_int_equal(l.n, 3);
	assert_string_equal(l.v[0].wwn, "eui.00a0b0c0d0e0f001");
	assert_string_equal(l.v[0].model, "Micron 7450");
	assert_string_equal(l.v[0].serial, "22334455");
	assert_string_equal(l.v[0].type, "NVMe");
	assert_int_equal(l.v[0].bytes, 2 << 20);
	assert_string_equal(drive_name(&l.v[0]), "nvme0n1");
	assert_string_equal(l.v[1].type, "SATA");
	assert_string_equal(l.v[1].wwn, "t10.ATA_QEMU_HARDDISK_QM00003");
	assert_true(l.v[1].rotational && l.v[1].read_only);
	assert_string_equal(l.v[2].wwn, "Virtio.Virtio.disk-1");
}

/* Creates drives as sysfs shows them: with a slot name from firmware, behind multipath, in an
 * enclosure, on AHCI, on an HBA. */
static void where_a_drive_is_can_be_told(void **state)
{
	static const struct {
		const char *name, *path, *slot;
	} drives[] = {
		{"nvme0n1", NULL, "slot 12"},
		{"nvme1n1", NULL, "pci 0000:5e:00.0"},
		{"nvme2n1", NULL, "slot Bay? 7"},
		{"nvme3n1", NULL, NULL},
		{"sda", NULL, "bay 5"},
		{"sdb", NULL, "bay Slot 06"},
		{"sdc", "devices/pci0000:00/0000:00:1f.2/ata3/host2/target2:0:0/2:0:0:0/block/sdc",
		 "ata3"},
		{"sdd", "devices/pci0000:00/0000:3b:00.0/host4/4:0:1:0/block/sdd", "scsi 4:0:1:0"},
		{"vda", "devices/pci0000:00/0000:00:05.0/virtio2/block/vda", "pci 0000:00:05.0"},
		{"mmcblk0", NULL, NULL},
	};
	OWN(arena) a = arena_new();
	char file[256], to[256];
	struct drive_list l;

	(void)state;
	for (size_t i = 0; i < sizeof(drives) / sizeof(*drives); i++) {
		if (drives[i].path) {
			snprintf(file, sizeof(file), "sys/%s/size", drives[i].path);
			machine_file(&m, file, "4096\n");
			snprintf(file, sizeof(file), "%s/block/%s", m.sys, drives[i].name);
			snprintf(to, sizeof(to), "../%s", drives[i].path);
			assert_int_equal(symlink(to, file), 0);
			continue;
		}
		snprintf(file, sizeof(file), "sys/block/%s/size", drives[i].name);
		machine_file(&m, file, "4096\n");
	}
	snprintf(file, sizeof(file), "%s/block/sdd/device", m.sys);
	assert_int_equal(symlink("../../4:0:1:0", file), 0);
	machine_file(&m, "sys/block/nvme0n1/device/address", "0000:3b:00.0\n");
	machine_file(&m, "sys/block/nvme1n1/device/address", "0000:5e:00.0\n");
	machine_file(&m, "sys/block/nvme2n1/device/nvme2/address", "0000:5f:00.0\n");
	machine_file(&m, "sys/block/nvme3n1/device/address", "traddr=10.0.0.1\n");
	machine_file(&m, "sys/bus/pci/slots/12/address", "0000:3b:00\n");
	machine_file(&m, "sys/bus/pci/slots/Bay\x01 7/address", "0000:5f:00\n");
	machine_file(&m, "sys/block/sda/device/enclosure_device:Slot 05/slot", "5\n");
	machine_file(&m, "sys/block/sdb/device/enclosure_device:Slot 06/status", "OK\n");
	drives_scan(&m.host, a, &l);
	assert_int_equal(l.n, sizeof(drives) / sizeof(*drives));
	for (size_t i = 0; i < l.n; i++)
		for (size_t k = 0; k < l.n; k++)
			if (!strcmp(drive_name(&l.v[i]), drives[k].name)) {
				if (!drives[k].slot)
					assert_null(l.v[i].slot);
				else
					assert_string_equal(l.v[i].slot, drives[k].slot);
			}
}

static void what_has_no_medium_is_no_drive(void **state)
{
	static const char *const none[] = {"loop0", "ram0", "dm-0", "md127", "sr0", "zram0"};
	OWN(arena) a = arena_new();
	struct drive_list l;
	char path[128];

	(void)state;
	for (size_t i = 0; i < sizeof(none) / sizeof(*none); i++) {
		snprintf(path, sizeof(path), "sys/block/%s/size", none[i]);
		machine_file(&m, path, "4096\n");
	}
	machine_file(&m, "sys/block/sdz/size", "0\n"); /* A card reader without a card. */
	machine_file(&m, "sys/block/sdz/removable", "1\n");
	machine_file(&m, "sys/block/nvme0c0n1/size", "4096\n");
	machine_file(&m, "sys/block/nvme0c0n1/hidden", "1\n");
	/* A USB stick, as sysfs shows it. */
	machine_file(&m, "sys/devices/pci0/usb1/1-1/block/sdy/size", "4096\n");
	machine_file(&m, "sys/devices/pci0/usb1/1-1/block/sdy/removable", "1\n");
	snprintf(path, sizeof(path), "%s/block/sdy", m.sys);
	assert_int_equal(symlink("../devices/pci0/usb1/1-1/block/sdy", path), 0);
	drives_scan(&m.host, a, &l);
	assert_int_equal(l.n, 0);
	machine_file(&m, "sys/block/sdy/removable", "0\n");
	drives_scan(&m.host, a, &l);
	assert_int_equal(l.n, 1);
}

/* The boot partitions of an eMMC belong to its device and are read-only by default. Counted as
 * drives, they would always fail the wipe. */
static void the_boot_partitions_of_an_emmc_are_no_drives_of_their_own(void **state)
{
	static const char *const parts[] = {"mmcblk0boot0", "mmcblk0boot1", "mmcblk0rpmb"};
	OWN(arena) a = arena_new();
	struct drive_list l;
	char path[128];

	(void)state;
	machine_file(&m, "sys/block/mmcblk0/size", "8192\n");
	/* A general purpose partition is writable, so it counts as a drive. */
	machine_file(&m, "sys/block/mmcblk10gp0/size", "4096\n");
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		snprintf(path, sizeof(path), "sys/block/%s/size", parts[i]);
		machine_file(&m, path, "4096\n");
		snprintf(path, sizeof(path), "sys/block/%s/ro", parts[i]);
		machine_file(&m, path, "1\n");
	}
	drives_scan(&m.host, a, &l);
	assert_int_equal(l.n, 2);
	assert_string_equal(drive_name(&l.v[0]), "mmcblk0");
	assert_string_equal(drive_name(&l.v[1]), "mmcblk10gp0");
	/* The third, RPMB, supports no plain I/O and is not listed. */
	assert_int_equal(l.parts.n, 2);
	assert_string_equal(l.parts.v[0], "mmcblk0boot0");
	assert_string_equal(l.parts.v[1], "mmcblk0boot1");
}

/* A drive without a usable size may have sectors of 520 bytes, be locked or damaged. A later tenant
 * may be able to read it, so it counts. */
static void a_drive_without_a_size_is_a_drive_all_the_same(void **state)
{
	static const char *const sizes[] = {"0\n", "-1\n", "9223372036854775807\n"};
	OWN(arena) a = arena_new();
	struct drive_list l;

	(void)state;
	machine_drive(&m, "sda", "naa.5000\n", 2 << 20);
	machine_file(&m, "sys/block/sdb/wwid", "naa.5001\n");
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		machine_file(&m, "sys/block/sdb/size", sizes[i]);
		drives_scan(&m.host, a, &l);
		assert_int_equal(l.n, 2);
		assert_string_equal(l.v[1].wwn, "naa.5001");
		assert_int_equal(l.v[1].bytes, 0);
	}
}

static void two_drives_of_one_name_are_both_seen(void **state)
{
	OWN(arena) a = arena_new();
	struct drive_list l;

	(void)state;
	machine_drive(&m, "sda", "naa.5000\n", 2 << 20);
	machine_drive(&m, "sdb", "naa.5000\n", 2 << 20);
	drives_scan(&m.host, a, &l);
	assert_int_equal(l.n, 2);
	assert_string_equal(l.v[0].wwn, "naa.5000");
	assert_string_equal(l.v[1].wwn, "naa.5000#2");
}

static void pci(const char *address, const char *class, const char *id, const char *driver)
{
	char path[256], text[32];

	snprintf(path, sizeof(path), "sys/bus/pci/devices/%s/class", address);
	machine_file(&m, path, class);
	snprintf(path, sizeof(path), "sys/bus/pci/devices/%s/vendor", address);
	snprintf(text, sizeof(text), "0x%.4s\n", id);
	machine_file(&m, path, text);
	snprintf(path, sizeof(path), "sys/bus/pci/devices/%s/device", address);
	snprintf(text, sizeof(text), "0x%s\n", id + 5);
	machine_file(&m, path, text);
	snprintf(path, sizeof(path), "%s/bus/pci/devices/%s/driver", m.sys, address);
	if (driver)
		assert_int_equal(symlink(driver, path), 0);
}

static void storage_controllers_and_their_drivers_are_named(void **state)
{
	OWN(arena) a = arena_new();
	struct proto_inventory inv;
	char address[32];

	(void)state;
	pci("0000:00:0e.0", "0x010400\n", "8086:201d", NULL);
	pci("0000:00:17.0", "0x010601\n", "8086:a182", "../../drivers/ahci");
	pci("0000:00:14.0", "0x0c0330\n", "8086:a1af", NULL);
	/* The controller of a switch port, which has no drives. */
	pci("0000:cc:00.0", "0x010700\n", "1000:00b2", NULL);
	inventory_read(&m.host, a, &inv);
	assert_int_equal(inv.controllers.n, 2);
	assert_string_equal(inv.controllers.v[0].address, "0000:00:0e.0");
	assert_string_equal(inv.controllers.v[0].id, "8086:201d");
	assert_string_equal(inv.controllers.v[0].class, "010400");
	assert_null(inv.controllers.v[0].driver);
	assert_string_equal(inv.controllers.v[1].driver, "ahci");
	for (int i = 0; i < 100; i++) {
		snprintf(address, sizeof(address), "0001:%02x:00.0", i);
		pci(address, "0x010700\n", "1000:00a5", NULL);
	}
	inventory_read(&m.host, a, &inv);
	assert_int_equal(inv.controllers.n, PROTO_CONTROLLERS_MAX);
}

static void the_machine_says_who_it_is_and_what_it_has(void **state)
{
	OWN(arena) a = arena_new();
	struct proto_inventory inv;
	char link[256];

	(void)state;
	machine_file(&m, "sys/devices/system/cpu/cpu0/x", "");
	machine_file(&m, "sys/devices/system/cpu/cpu1/x", "");
	machine_file(&m, "sys/devices/system/cpu/cpufreq/x", "");
	machine_file(&m, "sys/bus/pci/devices/0000:01:00.0/class", "0x030200\n");
	machine_file(&m, "sys/bus/pci/devices/0000:01:00.0/vendor", "0x10de\n");
	machine_file(&m, "sys/bus/pci/devices/0000:01:00.0/device", "0x2330\n");
	machine_file(&m, "sys/bus/pci/devices/0000:02:00.0/class", "0x030000\n");
	machine_file(&m, "sys/bus/pci/devices/0000:02:00.0/vendor", "0x1a03\n");
	machine_file(&m, "sys/bus/pci/devices/0000:02:00.0/device", "0x2000\n");
	machine_file(&m, "sys/bus/pci/devices/0000:03:00.0/class", "0x010802\n");
	machine_file(&m, "sys/class/net/lo/address", "00:00:00:00:00:00\n");
	machine_file(&m, "sys/class/net/eth0/address", "52:54:00:12:34:56\n");
	machine_file(&m, "sys/class/net/eth0/carrier", "1\n");
	machine_file(&m, "sys/class/net/eth0/speed", "-1\n");
	snprintf(link, sizeof(link), "%s/class/net/eth0/device", m.sys);
	assert_int_equal(symlink("../../../devices/pci0/virtio0", link), 0);

	inventory_read(&m.host, a, &inv);
	assert_string_equal(inv.dmi.system_uuid, "4c4c4544-0000-1000-8000-000000000001");
	assert_string_equal(inv.dmi.serial, "J7XK2T3");
	assert_int_equal(inv.cpus, 2);
	assert_true(inv.memory_bytes == 2097152ll * 1024);
	assert_int_equal(inv.gpus.n, 1); /* The BMC's display controller does not count as a GPU. */
	assert_string_equal(inv.gpus.v[0].id, "10de:2330");
	assert_string_equal(inv.gpus.v[0].address, "0000:01:00.0");
	assert_int_equal(inv.nics.n, 1);
	assert_string_equal(inv.nics.v[0].mac, "52:54:00:12:34:56");
	assert_true(inv.nics.v[0].link);
	assert_int_equal(inv.nics.v[0].mbit, 0);
}

static void an_empty_machine_has_nothing(void **state)
{
	OWN(arena) a = arena_new();
	struct proto_inventory inv;
	struct host nowhere = {
		.sys = "/nonexistent", .dev = "/nonexistent", .proc = "/nonexistent"};

	(void)state;
	inventory_read(&nowhere, a, &inv);
	assert_int_equal(inv.drives.n + inv.nics.n + inv.gpus.n, 0);
	assert_null(inv.dmi.system_uuid);
}

static void modules_are_found_by_the_aliases_of_the_hardware(void **state)
{
	static const char nvme[] = "pci:v0000144Dd0000A808sv0000144Dsd0000A801bc01sc08i02";

	(void)state;
	assert_true(init_alias_fits("pci:v*d*sv*sd*bc01sc08i02*", nvme));
	assert_true(init_alias_fits("virtio:d00000001v*", "virtio:d00000001v00001AF4"));
	assert_false(init_alias_fits("pci:v*d*sv*sd*bc02sc00i*", nvme));
	assert_false(init_alias_fits("pci:v000015B3d*sv*sd*bc*sc*i*", nvme));
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(drives_are_found_with_their_identity),
		T(where_a_drive_is_can_be_told),
		T(what_has_no_medium_is_no_drive),
		T(the_boot_partitions_of_an_emmc_are_no_drives_of_their_own),
		T(a_drive_without_a_size_is_a_drive_all_the_same),
		T(two_drives_of_one_name_are_both_seen),
		T(storage_controllers_and_their_drivers_are_named),
		T(the_machine_says_who_it_is_and_what_it_has),
		T(an_empty_machine_has_nothing),
		T(modules_are_found_by_the_aliases_of_the_hardware),
	};

	mem_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
