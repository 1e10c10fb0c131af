/* Tests sectors that an ATA drive hides: either they are made visible, or the drive is reported as
 * faulty. */
#include "wipe/ata.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/mem.h"
#include "tests/unit/testing.h"
#include "tests/unit/wipe/machine.h"
#include "wipe/erase.h"

#define ALL 16384 /* Real number of sectors of the drive: 8 MiB */

static struct machine m;
static struct arena *arena;

static struct {
	/* Numbers of sectors. shown: visible now, as IDENTIFY reports. native: visible after
	 * removal of the HPA or AMAC limit. real: visible after removal of the DCO (overlay)
	 * too. */
	uint64_t shown, native, real;
	/* Features that the drive supports. old: it has no 48-bit addresses */
	bool hpa, amac, dco, old;
	/* Command that the drive refuses; 0: none */
	uint8_t refuses;
	/* Feature value with which `refuses` is refused; -1: any */
	int refused_feature;
	/* Command that ends without result registers; 0: none */
	uint8_t mute;
	/* True: the drive hides the sectors again at once */
	bool returns;
	/* True: the last command read the native size */
	bool after_native;
	unsigned sets, restores, cache_offs;
} ata;

static void put(uint8_t *page, size_t word, unsigned value)
{
	page[2 * word] = (uint8_t)value;
	page[2 * word + 1] = (uint8_t)(value >> 8);
}

static void identify(uint8_t *page)
{
	memset(page, 0, ATA_SECTOR);
	put(page, 82, ata.hpa << 10);
	put(page, 83, 0x4000 | !ata.old << 10 | ata.dco << 11);
	put(page, 86, 0x8000);
	put(page, 119, 0x4000 | ata.amac << 8);
	for (size_t i = 0; i < 4; i++)
		put(page, 100 + i, ata.shown >> 16 * i & 0xffff);
}

/* Sets the number of visible sectors and the size in sysfs, as if the kernel had rescanned the
 * drive. */
static void show(uint64_t sectors)
{
	char text[32];

	assert_true(sectors <= ata.native);
	ata.shown = ata.returns ? ALL / 2 : sectors;
	snprintf(text, sizeof(text), "%llu\n", (unsigned long long)ata.shown);
	machine_file(&m, "sys/block/sda/size", text);
}

static int answer(int fd, struct ata_command *c)
{
	bool after_native = ata.after_native;

	(void)fd;
	if (ata.mute && c->command == ata.mute) {
		errno = EIO;
		return -1;
	}
	c->status = 0x50;
	ata.after_native = false;
	if (c->command == ata.refuses &&
	    (ata.refused_feature < 0 || c->feature == ata.refused_feature)) {
		c->status = 0x51;
		c->error = 0x04;
		return 0;
	}
	switch (c->command) {
	case 0xec:
		assert_int_equal(c->count, 1);
		identify(c->data);
		break;
	case 0x27:
		assert_true(ata.hpa);
		c->lba = ata.native - 1;
		ata.after_native = true;
		break;
	case 0x37:
		/* A drive refuses SET MAX ADDRESS EXT unless the native size was read just
		 * before. */
		assert_true(after_native);
		assert_int_equal(c->count, 1);
		show(c->lba + 1);
		ata.sets++;
		break;
	case 0xef:
		assert_int_equal(c->feature, 0x82);
		ata.cache_offs++;
		break;
	case 0x78:
		assert_true(ata.amac);
		if (c->feature == 0) {
			c->lba = ata.native - 1;
		} else {
			assert_int_equal(c->feature, 1);
			show(c->lba + 1);
			ata.sets++;
		}
		break;
	case 0xb1:
		assert_true(ata.dco);
		if (c->feature == 0xc2) {
			memset(c->data, 0, ATA_SECTOR);
			for (size_t i = 0; i < 8; i++)
				c->data[6 + i] = (uint8_t)((ata.real - 1) >> 8 * i);
		} else {
			assert_int_equal(c->feature, 0xc0);
			/* A drive with an HPA refuses DEVICE CONFIGURATION RESTORE. */
			assert_int_equal(ata.shown, ata.native);
			ata.native = ata.real;
			if (!ata.hpa || ata.restores)
				show(ata.real);
			ata.restores++;
		}
		break;
	default:
		fail_msg("command %02x", c->command);
	}
	return 0;
}

static int setup(void **state)
{
	(void)state;
	memset(&ata, 0, sizeof(ata));
	ata.shown = ata.native = ata.real = ALL;
	ata.refused_feature = -1;
	machine_init(&m);
	m.host.ata = answer;
	arena = arena_new();
	machine_drive(&m, "sda", "naa.5000\n", ALL * 512);
	machine_file(&m, "sys/devices/2:0:0:0/vendor", "ATA\n");
	machine_file(&m, "sys/devices/2:0:0:0/delete", "");
	machine_file(&m, "sys/class/scsi_host/host2/scan", "");
	assert_int_equal(
		symlink("../../devices/2:0:0:0", arena_printf(arena, "%s/block/sda/device", m.sys)),
		0);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	arena_free(arena);
	machine_done(&m);
	return 0;
}

static void shown(bool want_changed)
{
	bool changed;
	struct err e;

	assert_ok(ata_show(&m.host, 7, 0, &changed, &e), &e);
	assert_int_equal(changed, want_changed);
	assert_int_equal(ata.shown, ALL);
	assert_ok(ata_show(&m.host, 7, ALL * 512, &changed, &e), &e);
	assert_false(changed);
}

static void at_fault(const char *says)
{
	bool changed;
	struct err e = {0};

	assert_int_equal(ata_show(&m.host, 7, 0, &changed, &e), -1);
	if (!strstr(e.text, says))
		fail_msg("%s, want: %s", e.text, says);
}

static void a_drive_that_hides_nothing_is_left_as_it_is(void **state)
{
	(void)state;
	shown(false);
	ata.hpa = ata.dco = true;
	shown(false);
	ata.hpa = false;
	ata.amac = true;
	shown(false);
	assert_int_equal(ata.sets + ata.restores, 0);
}

static void a_host_protected_area_is_shown(void **state)
{
	(void)state;
	ata.hpa = true;
	ata.shown = ALL / 2;
	shown(true);
	assert_int_equal(ata.sets, 1);
	ata.hpa = false;
	ata.amac = true; /* AMAC replaces HPA in newer drives. */
	ata.shown = ALL / 2;
	shown(true);
	assert_int_equal(ata.sets, 2);
}

static void an_overlay_is_restored_also_below_a_host_protected_area(void **state)
{
	(void)state;
	ata.dco = true;
	ata.shown = ata.native = ALL / 2;
	shown(true);
	assert_int_equal(ata.restores, 1);
	ata.restores = 0;
	ata.hpa = true;
	ata.shown = ALL / 4;
	ata.native = ALL / 2;
	shown(true);
	assert_int_equal(ata.restores, 1);
	/* The first command shows all sectors up to the limit of the overlay, the second one up to
	 * the end of the drive. */
	assert_int_equal(ata.sets, 2);
}

static void what_is_locked_or_frozen_is_a_fault(void **state)
{
	(void)state;
	ata.hpa = true;
	ata.shown = ALL / 2;
	ata.refuses = 0x37;
	at_fault("8192 sectors are hidden: SET MAX ADDRESS is refused");
	ata.refuses = 0x27;
	at_fault("READ NATIVE MAX ADDRESS is refused");
	ata.hpa = false;
	ata.amac = true;
	ata.refuses = 0x78;
	at_fault("GET NATIVE MAX ADDRESS is refused");
	ata.refused_feature = 1;
	at_fault("8192 sectors are hidden: SET ACCESSIBLE MAX ADDRESS is refused");
	ata.amac = false;
	ata.dco = true;
	ata.refuses = 0xb1;
	ata.refused_feature = 0xc2;
	/* Without IDENTIFY it is unknown whether sectors are hidden. */
	at_fault("DEVICE CONFIGURATION IDENTIFY is refused");
	ata.refused_feature = 0xc0;
	ata.native = ALL / 2;
	at_fault("8192 sectors are hidden: DEVICE CONFIGURATION RESTORE is refused");
}

static void a_drive_that_does_not_say_is_a_fault(void **state)
{
	bool changed;
	struct err e;

	(void)state;
	ata.mute = 0xec;
	at_fault("IDENTIFY DEVICE: ");
	ata.mute = 0;
	ata.old = true;
	at_fault("no 48-bit addresses");
	ata.old = false;
	assert_int_equal(ata_show(&m.host, 7, ALL * 512 / 2, &changed, &e), -1);
	assert_string_equal(
		e.text,
		"the drive reports 16384 sectors of 512 bytes, the kernel shows 4194304 bytes");
}

static void a_drive_that_was_changed_is_found_anew(void **state)
{
	struct drive_list l;

	(void)state;
	ata.hpa = true;
	ata.shown = ALL / 2;
	machine_file(&m, "sys/block/sda/size", "8192\n");
	ata_scan(&m.host, arena, &l);
	assert_int_equal(l.n, 1);
	assert_null(l.v[0].fault);
	assert_int_equal(l.v[0].bytes, ALL * 512);
	assert_string_equal(host_line(arena, "%s/block/sda/device/delete", m.sys), "1");
	assert_string_equal(host_line(arena, "%s/class/scsi_host/host2/scan", m.sys), "- - -");
}

static int wipe(struct erase *x, struct err *e)
{
	int rc;

	erase_run_all(&x, 1, &rc, e);
	return rc;
}

static void a_drive_that_hides_its_sectors_again_is_not_wiped(void **state)
{
	OWN(secret) nonce = secret_from_str("a1a2a3a4a5a6a7a8a9a0a1a2a3a4a5a6");
	struct drive_list l;
	struct erase x;
	struct err e;

	(void)state;
	ata.hpa = ata.returns = true;
	ata.shown = ALL / 2;
	ata_scan(&m.host, arena, &l);
	assert_int_equal(l.n, 1);
	assert_string_equal(l.v[0].fault,
			    "the drive hides sectors again after all were made visible");
	erase_init(&x, &m.host, &l.v[0], nonce, WIPE_CLEAR, 100);
	assert_int_equal(wipe(&x, &e), -1);
	assert_string_equal(x.device.reason, "SectorsHidden");
	assert_int_equal(x.device.level, WIPE_FAIL);
	assert_true(machine_residue(&m, "sda") > 0);
	erase_done(&x);
}

static void its_volatile_cache_is_off_while_it_is_wiped(void **state)
{
	OWN(secret) nonce = secret_from_str("a1a2a3a4a5a6a7a8a9a0a1a2a3a4a5a6");
	struct drive_list l;
	struct erase x;
	struct err e;

	(void)state;
	ata_scan(&m.host, arena, &l);
	erase_init(&x, &m.host, &l.v[0], nonce, WIPE_CLEAR, 100);
	assert_ok(wipe(&x, &e), &e);
	assert_int_equal(ata.cache_offs, 1);
	assert_int_equal(machine_residue(&m, "sda"), 0);
	erase_done(&x);
}

static void only_ata_drives_are_asked(void **state)
{
	struct drive_list l;

	(void)state;
	ata.mute = 0xec;
	machine_file(&m, "sys/devices/2:0:0:0/vendor", "SEAGATE\n");
	ata_scan(&m.host, arena, &l);
	assert_string_equal(l.v[0].type, "SAS");
	assert_null(l.v[0].fault);
	machine_file(&m, "sys/devices/2:0:0:0/vendor", "ATA\n");
	ata_scan(&m.host, arena, &l);
	assert_non_null(l.v[0].fault);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(a_drive_that_hides_nothing_is_left_as_it_is),
		T(a_host_protected_area_is_shown),
		T(an_overlay_is_restored_also_below_a_host_protected_area),
		T(what_is_locked_or_frozen_is_a_fault),
		T(a_drive_that_does_not_say_is_a_fault),
		T(a_drive_that_was_changed_is_found_anew),
		T(a_drive_that_hides_its_sectors_again_is_not_wiped),
		T(its_volatile_cache_is_off_while_it_is_wiped),
		T(only_ata_drives_are_asked),
	};

	mem_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
