/* Tests process 1 of the boot image on a file system that the test creates, where no kernel module
 * can be loaded. */
#include "tests/unit/testing.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <zstd.h>
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "tests/unit/wipe/apart.h"
#include "wipe/init.h"

#define PCI "/sys/bus/pci/devices/"
#define VIRTIO "/sys/bus/virtio/devices/"
#define MODULES "/lib/modules/agent/"

static void text(const char *path, const char *content)
{
	apart_file(path, content, strlen(content));
}

/* Writes a module file that can be unpacked. Its content is no module, so the kernel would refuse
 * it even from root. */
static void module(const char *name)
{
	static const char content[] = "no module at all";
	char packed[256], path[128];

	str_format(path, sizeof(path), MODULES "%s.ko.zst", name);
	apart_file(path, packed,
		   ZSTD_compress(packed, sizeof(packed), content, sizeof(content), 1));
}

/* Turns "module name=e1000e error=..." of the log into " e1000e", or into " e1000e(missing)" with
 * an error for a missing file. */
static void on_log(const char *line, size_t len, void *arg)
{
	const char *name = memmem(line, len, "name=", 5), *end;

	(void)arg;
	if (!name)
		return;
	name += 5;
	end = name + strcspn(name, " ");
	printf(" %.*s%s", (int)(end - name), name,
	       memmem(line, len, "missing", 7) ? "(missing)" : "");
}

static void make_machine(void)
{
	text(PCI "0000:01:00.0/modalias", "pci:v00008086d000010D3sv0sd0bc02sc00i00\n");
	text(PCI "0000:02:00.0/modalias", "pci:v0000144Dd0000A80Asv0sd0bc01sc08i02\n");
	text(PCI "0000:03:00.0/modalias", "pci:v00001AF4d00001041sv0sd0bc02sc00i00\n");
	text(PCI "0000:04:00.0/modalias", "pci:v0000BEEFd00000001sv0sd0bc03sc00i00\n");
	text(VIRTIO "virtio0/modalias", "virtio:d00000001v00001AF4\n");
	text(VIRTIO "virtio1/modalias", "virtio:d00000002v00001AF4\n");
	text(MODULES "alias", "pci:v00008086d000010D3sv*sd*bc*sc*i* e1000e\n"
			      "pci:v00001AF4d*sv*sd*bc*sc*i* virtio_pci\n"
			      "virtio:d00000001v* virtio_net\n"
			      "virtio:d00000002v* virtio_blk\n"
			      "pci:v*d*sv*sd*bc01sc08i02* nvme\n"
			      "a-line-without-module\n");
	text(MODULES "dep", "virtio_pci virtio virtio_ring\n"
			    "virtio_net virtio virtio_ring net_failover\n"
			    "nvme nvme_core\n");
	for (const char *const *m =
		     (const char *const[]){"e1000e", "virtio_pci", "virtio", "virtio_ring",
					   "virtio_net", "nvme", "nvme_core", NULL};
	     *m; m++)
		module(*m);
	text(MODULES "net_failover.ko.zst", "this is not zstd");
	text("/sys/block/sda/size", "1\n");
	log_redirect(on_log, NULL);
}

static void load_all(void *arg)
{
	(void)arg;
	make_machine();
	printf("network:");
	init_network_modules();
	printf(".\nstorage:");
	init_storage_modules();
	init_settle();
	printf(".\n");
}

static void load_nothing(void *arg)
{
	(void)arg;
	log_redirect(on_log, NULL);
	init_network_modules();
	init_storage_modules();
	init_settle();
	puts("settled");
}

static void *connect_drive(void *arg)
{
	struct timespec t = {.tv_nsec = 400000000};

	(void)arg;
	nanosleep(&t, NULL);
	puts("live");
	fflush(stdout);
	text("/sys/class/nvme/nvme0/state", "live\n");
	return NULL;
}

static void settle_late(void *arg)
{
	pthread_t t;

	(void)arg;
	text("/sys/class/nvme/nvme0/state", "connecting\n");
	init_network_modules();
	if (!pthread_create(&t, NULL, connect_drive, NULL))
		pthread_detach(t);
	init_storage_modules();
	init_settle();
	puts("settled");
}

static void mount_all(void *arg)
{
	struct stat st;
	struct sigaction was;

	(void)arg;
	init_mounts();
	for (const char *const *d = (const char *const[]){"/proc", "/sys", "/dev", "/etc", NULL};
	     *d; d++)
		printf("%s %s\n", *d, stat(*d, &st) == 0 && S_ISDIR(st.st_mode) ? "is" : "is not");
	sigaction(SIGCHLD, NULL, &was);
	printf("children are %s\n", was.sa_handler == SIG_IGN ? "reaped" : "left");
	init_entropy(); /* Returns at once, because the kernel's random numbers are ready. */
}

static void the_network_is_loaded_first_each_module_once_after_what_it_needs(void **state)
{
	(void)state;
	apart_run(load_all, NULL);
	/* The test's sysfs has one NIC of each kind; virtio_pci is loaded for a NIC as well. */
	apart_assert_said("network: e1000e virtio virtio_ring virtio_pci net_failover(missing) "
			  "virtio_net.\n");
	apart_assert_said("storage: nvme_core nvme virtio_blk(missing).\n");
}

static void an_image_without_modules_is_no_error(void **state)
{
	(void)state;
	apart_run(load_nothing, NULL);
	assert_string_equal(apart_said, "settled\n");
}

static void settling_waits_for_a_drive_that_is_still_connecting(void **state)
{
	(void)state;
	apart_run(settle_late, NULL);
	assert_string_equal(apart_said, "live\nsettled\n");
}

static void process_1_makes_its_folders_and_leaves_no_zombies(void **state)
{
	(void)state;
	apart_run(mount_all, NULL);
	assert_string_equal(apart_said,
			    "/proc is\n/sys is\n/dev is\n/etc is\nchildren are reaped\n");
}

/* The boot block contains a time in 2026. A clock in 1970 has an empty battery; a clock in 2099 was
 * set by a tenant. */
static void a_clock_that_is_wrong_either_way_is_put_right(void **state)
{
	const int64_t told = INT64_C(1790000000000), day = INT64_C(86400000);

	(void)state;
	assert_true(init_clock_is_wrong(0, told, day));
	assert_true(init_clock_is_wrong(told - 1000, told, day));
	assert_false(init_clock_is_wrong(told, told, day));
	/* The boot block may be a day old. */
	assert_false(init_clock_is_wrong(told + day, told, day));
	assert_true(init_clock_is_wrong(told + day + 1, told, day));
	assert_true(init_clock_is_wrong(INT64_C(4070908800000), told, day));
	/* For the time in a welcome the limit is 2 s, because drover sends its present time. */
	assert_true(init_clock_is_wrong(told + 3000, told, 2000));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_network_is_loaded_first_each_module_once_after_what_it_needs),
		cmocka_unit_test(an_image_without_modules_is_no_error),
		cmocka_unit_test(settling_waits_for_a_drive_that_is_still_connecting),
		cmocka_unit_test(process_1_makes_its_folders_and_leaves_no_zombies),
		cmocka_unit_test(a_clock_that_is_wrong_either_way_is_put_right),
	};

	mem_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
