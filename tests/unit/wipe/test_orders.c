#include "wipe/orders.h"

#include <unistd.h>
#include "base/mem.h"
#include "tests/unit/wipe/agent_rig.h"
#include "wipe/verify.h"

static struct evidence evidence = {
	.machine = {"gpu-1", "uid-1", "4c4c4544-0000-1000-8000-000000000001", "J7XK2T3"},
	.tenancy = 41,
	.attempt = 1,
	.policy_digest = DIGEST,
};

static void wipe_verify_and_stamp_follow_one_another(void **state)
{
	const char *wwns[] = {"eui.1", "eui.2"};
	struct proto_order wipe = {.seq = 1,
				   .id = "op/wipe",
				   .fence = 1,
				   .kind = PROTO_WIPE,
				   .nonce = NONCE,
				   .expected = {wwns, 2},
				   .samples = 100};
	struct proto_order verify = wipe, stamp = {.seq = 3,
						   .id = "op/stamp",
						   .fence = 1,
						   .kind = PROTO_WRITE,
						   .what = PROTO_WRITE_STAMP,
						   .record = "gpu-1-41-1",
						   .stamp = DIGEST};
	struct proto_order look = {.seq = 4, .id = "op/look", .fence = 1};
	struct proto_order unstamp = {.seq = 5,
				      .id = "op/unstamp",
				      .fence = 1,
				      .kind = PROTO_WRITE,
				      .what = PROTO_WRITE_UNSTAMP};
	const struct proto_report *r;
	struct evidence got;
	struct err e;
	char block[PROTO_STAMP_SIZE];

	(void)state;
	machine_file(&agent_rig.m, "sys/bus/pci/devices/0000:00:0e.0/class", "0x010400\n");
	machine_file(&agent_rig.m, "sys/bus/pci/devices/0000:00:0e.0/vendor", "0x8086\n");
	machine_file(&agent_rig.m, "sys/bus/pci/devices/0000:00:0e.0/device", "0x201d\n");
	machine_file(&agent_rig.m, "sys/block/mmcblk0boot0/size", "8192\n");
	r = agent_rig_order(&wipe);
	assert_int_equal(r->state, PROTO_DONE);
	assert_int_equal(r->devices.n, 2);
	assert_int_equal(r->devices.v[1].level, WIPE_CLEAR);
	assert_int_equal(machine_residue(&agent_rig.m, "nvme0n1") +
				 machine_residue(&agent_rig.m, "nvme1n1"),
			 0);

	verify.seq = 2;
	verify.id = "op/verify";
	verify.kind = PROTO_VERIFY;
	verify.evidence = &evidence;
	r = agent_rig_order(&verify);
	assert_int_equal(r->state, PROTO_DONE);
	assert_non_null(r->envelope);
	assert_ok(evidence_open(r->envelope, agent_rig.hello.public_key, NULL, 0, agent_rig.arena,
				&got, &e),
		  &e);
	assert_int_equal(got.verdict, WIPE_CLEAR);
	assert_int_equal(got.tenancy, 41);
	assert_int_equal(got.devices.n, 2);
	assert_int_equal(got.devices.v[0].reads.clean, 100 + 512);
	assert_int_equal(got.inventory.expected, 2);
	assert_int_equal(got.inventory.seen, 2);
	assert_int_equal(got.start_time % 1000, 0);
	assert_true(got.end_time >= got.start_time);
	assert_int_equal(got.statements.n, 0); /* The order requested no statements. */
	assert_int_equal(got.not_covered.n, 11);
	assert_string_equal(got.not_covered.v[10], "FixedUSB");
	assert_string_equal(got.not_covered.v[9], "BootPartition mmcblk0boot0");
	assert_string_equal(got.not_covered.v[0], "GPUMemory");
	assert_string_equal(got.not_covered.v[8], "StorageController 8086:201d 0000:00:0e.0");

	r = agent_rig_order(&stamp);
	assert_int_equal(r->state, PROTO_DONE);
	r = agent_rig_order(&look);
	assert_string_equal(r->inventory->drives.v[0].stamp, DIGEST);
	assert_string_equal(r->inventory->drives.v[1].stamp_record, "gpu-1-41-1");
	r = agent_rig_order(&unstamp);
	assert_int_equal(r->state, PROTO_DONE);
	machine_peek(&agent_rig.m, "nvme1n1", block, sizeof(block), 0);
	for (size_t i = 0; i < sizeof(block); i++)
		assert_int_equal(block[i], 0);
}

/* drover's order lists parts that are not covered. The agent covers one of them and removes it from
 * the list. */
static void memory_that_is_covered_is_not_named_as_left(void **state)
{
	static const char *brief[] = {"GPUMemory", "SystemMemory", "BMC"},
			  *cover[] = {"SystemMemory"};
	struct proto_order wipe = {
		.seq = 1, .id = "op/wipe", .fence = 1, .kind = PROTO_WIPE, .nonce = NONCE};
	struct proto_order verify = wipe;
	struct evidence about = evidence, got;
	const struct proto_report *r;
	struct err e;

	(void)state;
	machine_file(&agent_rig.m, "proc/meminfo",
		     "MemTotal:         131072 kB\nMemFree:          122880 kB\n");
	about.not_covered = (struct strings){brief, 3};
	verify.cover = (struct strings){cover, 1};
	verify.seq = 2;
	verify.id = "op/verify";
	verify.kind = PROTO_VERIFY;
	verify.evidence = &about;
	assert_int_equal(agent_rig_order(&wipe)->state, PROTO_DONE);
	r = agent_rig_order(&verify);
	assert_int_equal(r->state, PROTO_DONE);
	assert_ok(evidence_open(r->envelope, agent_rig.hello.public_key, NULL, 0, agent_rig.arena,
				&got, &e),
		  &e);
	assert_true(evidence_covers(&got, "SystemMemory"));
	assert_true(got.statements.v[0].covered_bytes > INT64_C(64) << 20);
	assert_string_equal(got.not_covered.v[0], "GPUMemory");
	assert_string_equal(got.not_covered.v[1], "BMC");
}

/* The order at the next claim: with the nonce of the wipe, the inspection reads samples of the
 * drives again; without a nonce, only the stamps. */
static void an_inspection_with_a_nonce_reads_each_drive_again(void **state)
{
	struct proto_order wipe = {
		.seq = 1, .id = "op/wipe", .fence = 1, .kind = PROTO_WIPE, .nonce = NONCE};
	struct proto_order look = {.seq = 2, .id = "op/look", .fence = 1};
	const struct proto_drive *d;
	char block[VERIFY_BLOCK];

	(void)state;
	memset(block, 'x', sizeof(block));
	assert_int_equal(agent_rig_order(&wipe)->state, PROTO_DONE);
	d = agent_rig_order(&look)->inventory->drives.v;
	assert_int_equal(d[0].again.clean + d[0].again.dirty, 0);
	look.seq = 3;
	look.id = "op/again";
	look.nonce = NONCE;
	d = agent_rig_order(&look)->inventory->drives.v;
	for (int i = 0; i < 2; i++) {
		assert_int_equal(d[i].again.clean, EVIDENCE_AGAIN_READS);
		assert_int_equal(d[i].again.dirty, 0);
	}
	machine_poke(&agent_rig.m, "nvme1n1", block, sizeof(block), DRIVE - VERIFY_BLOCK);
	look.seq = 4;
	look.id = "op/again2";
	d = agent_rig_order(&look)->inventory->drives.v;
	assert_int_equal(d[0].again.dirty, 0);
	assert_true(d[1].again.dirty >= 1);
	assert_true(d[1].again.clean < EVIDENCE_AGAIN_READS);
}

/* Flash must be purged. Spinning disks do not support that, so each medium has its own minimum
 * level. */
static void each_medium_has_its_own_minimum(void **state)
{
	const char *wwns[] = {"eui.1", "eui.2"};
	struct proto_order wipe = {.seq = 1,
				   .id = "op/wipe",
				   .fence = 1,
				   .kind = PROTO_WIPE,
				   .nonce = NONCE,
				   .expected = {wwns, 2},
				   .minimum_level = WIPE_PURGE,
				   .minimum_level_hdd = WIPE_CLEAR};
	struct proto_order verify = wipe, stamp = {.seq = 3,
						   .id = "op/stamp",
						   .fence = 1,
						   .kind = PROTO_WRITE,
						   .what = PROTO_WRITE_STAMP,
						   .record = "gpu-1-41-1",
						   .stamp = DIGEST};
	const struct proto_report *r;

	(void)state;
	verify.seq = 2;
	verify.id = "op/verify";
	verify.kind = PROTO_VERIFY;
	verify.evidence = &evidence;
	machine_file(&agent_rig.m, "sys/block/nvme1n1/queue/rotational", "1\n");
	r = agent_rig_order(&wipe);
	assert_int_equal(r->devices.v[0].level, WIPE_CLEAR);
	assert_string_equal(r->devices.v[0].reason, "EraseBelowPolicy");
	assert_int_equal(r->devices.v[1].level, WIPE_CLEAR);
	assert_null(r->devices.v[1].reason);
	assert_int_equal(agent_rig_order(&verify)->state, PROTO_DONE);
	r = agent_rig_order(&stamp);
	assert_string_equal(r->reason, "NotWiped");
	assert_non_null(strstr(r->message, "eui.1"));

	machine_file(&agent_rig.m, "sys/block/nvme0n1/queue/rotational", "1\n");
	wipe.seq = 4;
	wipe.id = "op/wipe2";
	verify.seq = 5;
	verify.id = "op/verify2";
	stamp.seq = 6;
	stamp.id = "op/stamp2";
	assert_null(agent_rig_order(&wipe)->devices.v[0].reason);
	assert_int_equal(agent_rig_order(&verify)->state, PROTO_DONE);
	assert_int_equal(agent_rig_order(&stamp)->state, PROTO_DONE);
}

/* All expected drives are clean, but there is an unexpected drive. */
static void a_machine_with_a_drive_too_many_is_not_clean(void **state)
{
	const char *wwns[] = {"eui.1"};
	struct proto_order wipe = {.seq = 1,
				   .id = "op/wipe",
				   .fence = 1,
				   .kind = PROTO_WIPE,
				   .nonce = NONCE,
				   .expected = {wwns, 1}};
	struct proto_order verify = wipe, stamp = {.seq = 3,
						   .id = "op/stamp",
						   .fence = 1,
						   .kind = PROTO_WRITE,
						   .what = PROTO_WRITE_STAMP,
						   .record = "gpu-1-41-1",
						   .stamp = DIGEST};
	const struct proto_report *r;
	struct evidence got;
	struct err e;

	(void)state;
	verify.seq = 2;
	verify.id = "op/verify";
	verify.kind = PROTO_VERIFY;
	verify.evidence = &evidence;
	assert_int_equal(agent_rig_order(&wipe)->devices.v[0].level, WIPE_CLEAR);
	r = agent_rig_order(&verify);
	assert_ok(evidence_open(r->envelope, agent_rig.hello.public_key, NULL, 0, agent_rig.arena,
				&got, &e),
		  &e);
	assert_int_equal(got.devices.v[0].level, WIPE_CLEAR);
	assert_string_equal(got.inventory.extra.v[0], "eui.2");
	assert_int_equal(got.verdict, WIPE_FAIL);
	assert_string_equal(agent_rig_order(&stamp)->reason, "NotWiped");
}

/* In any sequence of orders, a clean stamp means that nothing was written after the
 * verification. */
static void what_was_written_after_the_verification_is_not_stamped(void **state)
{
	const char *wwns[] = {"eui.1", "eui.2"};
	struct proto_order o = {.seq = 1,
				.id = "op/wipe",
				.fence = 1,
				.kind = PROTO_WIPE,
				.nonce = NONCE,
				.expected = {wwns, 2}};
	struct proto_order image = {.seq = 3,
				    .id = "op/image",
				    .fence = 1,
				    .kind = PROTO_WRITE,
				    .what = PROTO_WRITE_IMAGE,
				    .drive = "eui.2",
				    .url = "ftp://nowhere",
				    .digest = DIGEST};
	struct proto_order stamp = {.seq = 4,
				    .id = "op/stamp",
				    .fence = 1,
				    .kind = PROTO_WRITE,
				    .what = PROTO_WRITE_STAMP,
				    .record = "gpu-1-41-1",
				    .stamp = DIGEST};
	const struct proto_report *r;
	struct evidence got;
	struct err e;

	(void)state;
	assert_int_equal(agent_rig_order(&o)->state, PROTO_DONE);
	o.seq = 2;
	o.id = "op/verify";
	o.kind = PROTO_VERIFY;
	o.evidence = &evidence;
	r = agent_rig_order(&o);
	assert_ok(evidence_open(r->envelope, agent_rig.hello.public_key, NULL, 0, agent_rig.arena,
				&got, &e),
		  &e);
	/* samples = 0 in the order means the default number. */
	assert_int_equal(got.devices.v[0].reads.clean, VERIFY_SAMPLES + 512);
	assert_int_equal(agent_rig_order(&image)->state, PROTO_FAILED);
	r = agent_rig_order(&stamp);
	assert_string_equal(r->reason, "NotWiped");
	assert_non_null(strstr(r->message, "eui.2"));
}

static void a_drive_that_was_not_expected_is_reported_and_left_alone(void **state)
{
	const char *wwns[] = {"eui.1", "eui.9"};
	struct proto_order wipe = {.seq = 1,
				   .id = "op/wipe",
				   .fence = 1,
				   .kind = PROTO_WIPE,
				   .nonce = NONCE,
				   .expected = {wwns, 2}};
	struct proto_order verify = {.seq = 2,
				     .id = "op/verify",
				     .fence = 1,
				     .kind = PROTO_VERIFY,
				     .nonce = NONCE,
				     .evidence = &evidence};
	struct proto_order stamp = {.seq = 3,
				    .id = "op/stamp",
				    .fence = 1,
				    .kind = PROTO_WRITE,
				    .what = PROTO_WRITE_STAMP,
				    .record = "r",
				    .stamp = DIGEST};
	const struct proto_report *r = agent_rig_order(&wipe);
	struct evidence got;
	struct err e;

	(void)state;
	assert_int_equal(r->state, PROTO_DONE);
	assert_int_equal(r->devices.n, 2);
	assert_string_equal(r->devices.v[1].wwn, "eui.9");
	assert_int_equal(r->devices.v[1].level, WIPE_FAIL);
	assert_string_equal(r->devices.v[1].reason, "DriveMissing");
	assert_int_equal(machine_residue(&agent_rig.m, "nvme0n1"), 0);
	assert_int_equal(machine_residue(&agent_rig.m, "nvme1n1"), DRIVE >> 20);

	r = agent_rig_order(&verify);
	assert_ok(evidence_open(r->envelope, agent_rig.hello.public_key, NULL, 0, agent_rig.arena,
				&got, &e),
		  &e);
	assert_int_equal(got.verdict, WIPE_FAIL);
	assert_int_equal(got.inventory.missing.n, 1);
	assert_string_equal(got.inventory.missing.v[0], "eui.9");
	assert_string_equal(got.inventory.extra.v[0], "eui.2");
	/* An expected drive is missing, so no drive of the machine may be stamped. */
	r = agent_rig_order(&stamp);
	assert_int_equal(r->state, PROTO_FAILED);
	assert_string_equal(r->reason, "NotWiped");
}

static void one_failed_drive_does_not_stop_the_others(void **state)
{
	struct proto_order wipe = {
		.seq = 1, .id = "op/wipe", .fence = 1, .kind = PROTO_WIPE, .nonce = NONCE};
	const struct proto_report *r;

	(void)state;
	machine_file(&agent_rig.m, "sys/block/nvme0n1/ro", "1\n");
	r = agent_rig_order(&wipe);
	assert_int_equal(r->state, PROTO_DONE);
	assert_int_equal(r->devices.v[0].level, WIPE_FAIL);
	assert_string_equal(r->devices.v[0].reason, "ReadOnly");
	assert_non_null(strstr(r->message, "nvme0n1 is read-only"));
	assert_int_equal(r->devices.v[1].level, WIPE_CLEAR);
	assert_int_equal(machine_residue(&agent_rig.m, "nvme1n1"), 0);
}

static void nothing_is_verified_that_was_not_wiped_in_this_boot(void **state)
{
	struct proto_order verify = {.seq = 1,
				     .id = "op/verify",
				     .fence = 1,
				     .kind = PROTO_VERIFY,
				     .nonce = NONCE,
				     .evidence = &evidence};
	struct proto_order wipe = {
		.seq = 2, .id = "op/wipe", .fence = 1, .kind = PROTO_WIPE, .nonce = NONCE};
	const struct proto_report *r = agent_rig_order(&verify);

	(void)state;
	assert_int_equal(r->state, PROTO_FAILED);
	assert_string_equal(r->reason, "NotWiped");
	assert_int_equal(agent_rig_order(&wipe)->state, PROTO_DONE);
	verify.seq = 3;
	verify.id = "op/verify2";
	verify.nonce = "b1b2b3b4b5b6b7b8b9b0b1b2b3b4b5b6";
	assert_string_equal(agent_rig_order(&verify)->reason, "NotWiped");
}

static void evidence_for_another_machine_is_not_signed(void **state)
{
	struct evidence other = evidence;
	struct proto_order wipe = {
		.seq = 1, .id = "op/wipe", .fence = 1, .kind = PROTO_WIPE, .nonce = NONCE};
	struct proto_order verify = {.seq = 2,
				     .id = "op/verify",
				     .fence = 1,
				     .kind = PROTO_VERIFY,
				     .nonce = NONCE,
				     .evidence = &other};

	(void)state;
	other.machine.system_uuid = "4c4c4544-0000-1000-8000-000000000002";
	assert_int_equal(agent_rig_order(&wipe)->state, PROTO_DONE);
	assert_string_equal(agent_rig_order(&verify)->reason, "IdentityMismatch");
}

static void driver_of(const char *address)
{
	char link[256];

	snprintf(link, sizeof(link), "%s/bus/pci/devices/%s/driver", agent_rig.m.sys, address);
	assert_int_equal(symlink("../../drivers/nvme", link), 0);
}

/* The drive that appeared during the wipe was not wiped, but would be part of the machine that is
 * offered. */
static void a_drive_that_came_during_the_wipe_fails_it(void **state)
{
	struct proto_order wipe = {.seq = 1,
				   .id = "op/wipe",
				   .fence = 1,
				   .kind = PROTO_WIPE,
				   .nonce = NONCE,
				   .samples = 100};
	struct proto_order verify = wipe, stamp = {.seq = 3,
						   .id = "op/stamp",
						   .fence = 1,
						   .kind = PROTO_WRITE,
						   .what = PROTO_WRITE_STAMP,
						   .record = "gpu-1-41-1",
						   .stamp = DIGEST};

	verify.seq = 2;
	verify.id = "op/verify";
	verify.kind = PROTO_VERIFY;
	verify.evidence = &evidence;
	for (int i = 0; i < 3; i++) {
		const struct proto_report *r;
		struct evidence got;
		struct err e;

		agent_rig_teardown(state);
		agent_rig_setup(state);
		assert_int_equal(agent_rig_order(&wipe)->state, PROTO_DONE);
		if (i == 0) {
			machine_drive(&agent_rig.m, "sdb", "naa.5000\n", DRIVE);
		} else {
			machine_file(&agent_rig.m, "sys/bus/pci/devices/0000:01:00.0/class",
				     "0x010802\n");
			machine_file(&agent_rig.m, "sys/bus/pci/devices/0000:01:00.0/vendor",
				     "0x144d\n");
			machine_file(&agent_rig.m, "sys/bus/pci/devices/0000:01:00.0/device",
				     "0xa80a\n");
			if (i == 2)
				driver_of("0000:01:00.0");
		}
		r = agent_rig_order(&verify);
		assert_int_equal(r->state, PROTO_DONE);
		assert_ok(evidence_open(r->envelope, agent_rig.hello.public_key, NULL, 0,
					agent_rig.arena, &got, &e),
			  &e);
		assert_int_equal(got.verdict, WIPE_FAIL);
		assert_int_equal(got.inventory.extra.n, 1);
		assert_string_equal(got.inventory.extra.v[0],
				    i ? "controller.144d:a80a.0000:01:00.0" : "naa.5000");
		assert_int_equal(got.inventory.seen, 3);
		verify.seq = 4 + i; /* A second verification still names the drive once. */
		verify.id = "op/verify-2";
		r = agent_rig_order(&verify);
		assert_ok(evidence_open(r->envelope, agent_rig.hello.public_key, NULL, 0,
					agent_rig.arena, &got, &e),
			  &e);
		assert_int_equal(got.inventory.extra.n, 1);
		verify.seq = 2;
		verify.id = "op/verify";
		stamp.seq = 9;
		assert_string_equal(agent_rig_order(&stamp)->reason, "NotWiped");
	}
}

static void a_controller_that_hides_something_fails_the_wipe(void **state)
{
	struct proto_order wipe = {
		.seq = 1, .id = "op/wipe", .fence = 1, .kind = PROTO_WIPE, .nonce = NONCE};
	const struct proto_report *r;

	(void)state;
	machine_file(&agent_rig.m, "sys/bus/pci/devices/0000:01:00.0/class", "0x010802\n");
	machine_file(&agent_rig.m, "sys/bus/pci/devices/0000:01:00.0/vendor", "0x144d\n");
	machine_file(&agent_rig.m, "sys/bus/pci/devices/0000:01:00.0/device", "0xa80a\n");
	driver_of("0000:01:00.0");
	r = agent_rig_order(&wipe);
	assert_int_equal(r->state, PROTO_FAILED);
	assert_string_equal(r->reason, "StorageHidden");
	assert_string_equal(r->message,
			    "controller 144d:a80a at 0000:01:00.0: the controller did not come up");
}

static void a_machine_without_drives_was_not_wiped(void **state)
{
	struct proto_order wipe = {
		.seq = 1, .id = "op/wipe", .fence = 1, .kind = PROTO_WIPE, .nonce = NONCE};

	(void)state;
	machine_file(&agent_rig.m, "sys/block/nvme0n1/hidden", "1\n");
	machine_file(&agent_rig.m, "sys/block/nvme1n1/hidden", "1\n");
	assert_string_equal(agent_rig_order(&wipe)->reason, "NoDrives");
}

/* The drive had no size when the agent listed it, so it is reported, but neither wiped nor
 * stamped. */
static void a_drive_without_a_size_fails_the_wipe(void **state)
{
	struct proto_order wipe = {
		.seq = 1, .id = "op/wipe", .fence = 1, .kind = PROTO_WIPE, .nonce = NONCE};
	const struct proto_report *r;

	(void)state;
	machine_file(&agent_rig.m, "sys/block/nvme1n1/size", "0\n");
	r = agent_rig_order(&wipe);
	assert_int_equal(r->devices.n, 2);
	assert_int_equal(r->devices.v[0].level, WIPE_CLEAR);
	assert_int_equal(r->devices.v[1].level, WIPE_FAIL);
	assert_string_equal(r->devices.v[1].reason, "DriveFailed");
	assert_true(machine_residue(&agent_rig.m, "nvme1n1") > 0);
}

/* The agent's report repeats the order's nonce, and has an answer for each address. */
static void a_probe_reports_each_address_with_its_nonce(void **state)
{
	const char *asked[] = {"127.0.0.1:1", "gateway.example"};
	struct proto_order probe = {
		.seq = 1, .id = "op/probe", .fence = 1, .kind = PROTO_PROBE, .nonce = NONCE};
	const struct proto_report *r = agent_rig_order(&probe);

	(void)state;
	assert_true(agent_rig.hello.probes);
	assert_string_equal(r->reason, "OrderInvalid");
	probe.seq = 2;
	probe.id = "op/probe2";
	probe.addresses = (struct strings){asked, 2};
	r = agent_rig_order(&probe);
	assert_int_equal(r->state, PROTO_DONE);
	assert_string_equal(r->nonce, NONCE);
	assert_int_equal(r->answers.n, 2);
	assert_string_equal(r->answers.v[0].address, "127.0.0.1:1");
	assert_int_equal(r->answers.v[0].answer, PROTO_ANSWERED);
	assert_int_equal(r->answers.v[1].answer, PROTO_NOT_ASKED);
	probe.nonce = NULL;
	probe.seq = 3;
	probe.id = "op/probe3";
	assert_string_equal(agent_rig_order(&probe)->reason, "OrderInvalid");
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, agent_rig_setup, agent_rig_teardown)
	const struct CMUnitTest tests[] = {
		T(wipe_verify_and_stamp_follow_one_another),
		T(memory_that_is_covered_is_not_named_as_left),
		T(an_inspection_with_a_nonce_reads_each_drive_again),
		T(each_medium_has_its_own_minimum),
		T(a_machine_with_a_drive_too_many_is_not_clean),
		T(what_was_written_after_the_verification_is_not_stamped),
		T(a_drive_that_was_not_expected_is_reported_and_left_alone),
		T(one_failed_drive_does_not_stop_the_others),
		T(nothing_is_verified_that_was_not_wiped_in_this_boot),
		T(evidence_for_another_machine_is_not_signed),
		T(a_controller_that_hides_something_fails_the_wipe),
		T(a_drive_that_came_during_the_wipe_fails_it),
		T(a_machine_without_drives_was_not_wiped),
		T(a_drive_without_a_size_fails_the_wipe),
		T(a_probe_reports_each_address_with_its_nonce),
	};

	mem_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
