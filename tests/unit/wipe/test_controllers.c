/* Tests storage controllers that do not show all their drives, and how detached namespaces are
 * attached. */
#include "wipe/controllers.h"

#include <errno.h>
#include <linux/nvme_ioctl.h>
#include <string.h>
#include <unistd.h>
#include "base/mem.h"
#include "tests/unit/testing.h"
#include "tests/unit/wipe/machine.h"
#include "wipe/drives.h"

#define ADDRESS "0000:01:00.0"
#define NVME "sys/bus/pci/devices/" ADDRESS "/nvme/nvme0/"

static struct machine m;
static struct arena *arena;

/* A simulated NVMe controller with namespaces 1 to 3, of which some are attached */
static struct {
	/* managed: it supports namespace management. full: it has as many namespaces as one list
	 * can name */
	bool managed, full;
	/* Number of allocated namespaces, numbered from 1 */
	unsigned allocated;
	bool active[4];
	/* Status of the command Namespace Attachment; -1: the command fails with errno EIO */
	int attach_status;
	unsigned attaches, rescans;
	/* CNS (page number) for which Identify fails; 0: none */
	uint32_t deaf;
	/* True: the kernel creates no block devices for attached namespaces */
	bool no_devices;
} nvme;

static void pci(const char *address, const char *class, const char *driver)
{
	char path[256], link[256];

	snprintf(path, sizeof(path), "sys/bus/pci/devices/%s/class", address);
	machine_file(&m, path, class);
	snprintf(path, sizeof(path), "sys/bus/pci/devices/%s/vendor", address);
	machine_file(&m, path, "0x144d\n");
	snprintf(path, sizeof(path), "sys/bus/pci/devices/%s/device", address);
	machine_file(&m, path, "0xa80a\n");
	snprintf(link, sizeof(link), "%s/bus/pci/devices/%s/driver", m.sys, address);
	if (driver)
		assert_int_equal(symlink(driver, link), 0);
}

static void device(unsigned nsid)
{
	char path[128], text[16];

	snprintf(path, sizeof(path), NVME "nvme0n%u/nsid", nsid);
	snprintf(text, sizeof(text), "%u\n", nsid);
	machine_file(&m, path, text);
	snprintf(path, sizeof(path), NVME "nvme0n%u/size", nsid);
	machine_file(&m, path, "8192\n");
}

static int admin(int fd, struct nvme_passthru_cmd *c)
{
	uint8_t *page = (uint8_t *)(uintptr_t)c->addr;
	uint32_t nsid;
	size_t at = 0;

	(void)fd;
	assert_int_equal(c->data_len, 4096);
	if (c->opcode == 0x15) {
		assert_int_equal(c->cdw10, 0);
		assert_int_equal(page[0] | page[1] << 8, 1); /* The list has one controller. */
		/* The list names the controller to which the command was sent. */
		assert_int_equal(page[2] | page[3] << 8, 0x107);
		nvme.attaches++;
		if (nvme.attach_status < 0) {
			errno = EIO;
			return -1;
		}
		if (!nvme.attach_status)
			nvme.active[c->nsid] = true;
		return nvme.attach_status;
	}
	assert_int_equal(c->opcode, 0x06);
	memset(page, 0, 4096);
	if (nvme.deaf && nvme.deaf == c->cdw10)
		return 0x4002;
	switch (c->cdw10) {
	case 1:
		page[78] = 0x07;
		page[79] = 0x01;
		page[256] = nvme.managed ? 8 : 0;
		break;
	case 2:
	case 0x10:
		assert_true(c->cdw10 == 2 || nvme.managed);
		for (nsid = 1; nsid <= nvme.allocated; nsid++)
			if (nvme.active[nsid] || c->cdw10 == 0x10) {
				memcpy(page + at, &nsid, 4);
				at += 4;
			}
		for (nsid = 1; nvme.full && nsid <= 1024; nsid++)
			memcpy(page + (nsid - 1) * 4, &nsid, 4);
		break;
	default:
		fail();
	}
	return 0;
}

static int rescan(int fd)
{
	(void)fd;
	nvme.rescans++;
	for (unsigned i = 1; i <= nvme.allocated; i++)
		if (nvme.active[i] && !nvme.no_devices)
			device(i);
	return 0;
}

static int setup(void **state)
{
	(void)state;
	memset(&nvme, 0, sizeof(nvme));
	nvme.allocated = 1;
	nvme.active[1] = true;
	machine_init(&m);
	m.host.nvme_admin = admin;
	m.host.nvme_rescan = rescan;
	arena = arena_new();
	pci(ADDRESS, "0x010802\n", "../../drivers/nvme");
	machine_file(&m, NVME "state", "live\n");
	machine_file(&m, "dev/nvme0", "");
	device(1);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	arena_free(arena);
	machine_done(&m);
	return 0;
}

static const char *fault(void)
{
	struct proto_inventory inv;
	const struct proto_controller *c;

	controllers_scan(&m.host, arena, &inv);
	assert_int_equal(inv.controllers.n, 1);
	c = controllers_fault(&inv);
	return c ? c->fault : NULL;
}

static void at_fault(const char *says)
{
	const char *why = fault();

	if (!why || !strstr(why, says))
		fail_msg("%s, want: %s", why ? why : "no fault", says);
}

static void what_shows_all_is_left_as_it_is(void **state)
{
	(void)state;
	assert_null(fault());
	nvme.managed = true;
	assert_null(fault());
	assert_int_equal(nvme.attaches + nvme.rescans, 0);
}

static void namespaces_that_are_attached_to_nobody_are_attached(void **state)
{
	(void)state;
	nvme.managed = true;
	nvme.allocated = 3;
	assert_null(fault());
	assert_int_equal(nvme.attaches, 2);
	assert_int_equal(nvme.rescans, 1);
	assert_null(fault());
	assert_int_equal(nvme.attaches, 2);
}

/* Without any attached namespace, there is no block device through which the controller could be
 * found. */
static void a_controller_of_which_all_are_detached_is_woken_too(void **state)
{
	(void)state;
	machine_remove(&m, NVME "nvme0n1/nsid");
	nvme.managed = true;
	nvme.active[1] = false;
	assert_null(fault());
	assert_int_equal(nvme.attaches, 1);
}

static void what_cannot_be_attached_is_a_fault(void **state)
{
	(void)state;
	nvme.managed = true;
	nvme.allocated = 2;
	nvme.attach_status = 0x119; /* Status: Namespace Is Private. */
	at_fault("namespace 2 cannot be attached: status 119h");
	nvme.attach_status = -1;
	at_fault("namespace 2 cannot be attached");
}

static void a_namespace_without_a_block_device_is_a_fault(void **state)
{
	(void)state;
	m.host.nvme_rescan = NULL; /* Without a rescan, the test does not wait for block devices. */
	nvme.allocated = 2;
	nvme.active[2] = true;
	at_fault("namespace 2 has no block device");
	device(2);
	assert_null(fault());
	/* Size 0: the namespace is formatted in a way that the kernel cannot read. */
	machine_file(&m, NVME "nvme0n2/size", "0\n");
	at_fault("namespace 2 has no block device");
}

static void a_controller_that_says_nothing_is_a_fault(void **state)
{
	static const uint32_t deaf[] = {1, 2, 0x10};

	(void)state;
	nvme.managed = true;
	for (size_t i = 0; i < 3; i++) {
		nvme.deaf = deaf[i];
		at_fault("Identify");
	}
	nvme.deaf = 0;
	nvme.allocated = 0;
	at_fault("the controller has no namespace");
	nvme.full = true;
	at_fault("the controller has 1024 namespaces or more");
	machine_remove(&m, "dev/nvme0");
	at_fault("nvme0");
}

static void a_controller_that_is_not_live_is_a_fault(void **state)
{
	(void)state;
	machine_file(&m, NVME "state", "dead\n");
	at_fault("the controller is dead");
	machine_remove(&m, NVME "state");
	at_fault("the controller is gone");
}

static void a_controller_that_did_not_come_up_is_a_fault(void **state)
{
	(void)state;
	machine_done(&m);
	machine_init(&m);
	pci(ADDRESS, "0x010802\n", "../../drivers/nvme");
	at_fault("did not come up");
}

static void controllers_of_other_kinds_may_have_no_drive(void **state)
{
	struct proto_inventory inv;

	(void)state;
	pci("0000:00:17.0", "0x010601\n", "../../drivers/ahci");
	pci("0000:02:00.0", "0x010700\n", "../../drivers/mpt3sas");
	pci("0000:03:00.0", "0x010400\n", NULL);
	pci("0000:04:00.0", "0x020000\n", "../../drivers/e1000");
	controllers_scan(&m.host, arena, &inv);
	assert_int_equal(inv.controllers.n, 4);
	assert_string_equal(inv.controllers.v[0].driver, "ahci");
	assert_string_equal(inv.controllers.v[1].address, ADDRESS);
	assert_null(inv.controllers.v[3].driver);
	assert_null(controllers_fault(&inv));
}

static void more_than_can_be_listed_is_a_fault(void **state)
{
	struct proto_inventory inv;
	char address[32];

	(void)state;
	for (int i = 0; i < PROTO_CONTROLLERS_MAX - 2; i++) {
		snprintf(address, sizeof(address), "0001:%02x:00.0", i);
		pci(address, "0x010601\n", "../../drivers/ahci");
	}
	controllers_scan(&m.host, arena, &inv);
	assert_int_equal(inv.controllers.n, PROTO_CONTROLLERS_MAX - 1);
	assert_null(controllers_fault(&inv));
	pci("0002:00:00.0", "0x010601\n", "../../drivers/ahci");
	controllers_scan(&m.host, arena, &inv);
	assert_int_equal(inv.controllers.n, PROTO_CONTROLLERS_MAX);
	assert_non_null(controllers_fault(&inv));
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(what_shows_all_is_left_as_it_is),
		T(namespaces_that_are_attached_to_nobody_are_attached),
		T(a_controller_of_which_all_are_detached_is_woken_too),
		T(what_cannot_be_attached_is_a_fault),
		T(a_namespace_without_a_block_device_is_a_fault),
		T(a_controller_that_says_nothing_is_a_fault),
		T(a_controller_that_is_not_live_is_a_fault),
		T(a_controller_that_did_not_come_up_is_a_fault),
		T(controllers_of_other_kinds_may_have_no_drive),
		T(more_than_can_be_listed_is_a_fault),
	};

	mem_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
