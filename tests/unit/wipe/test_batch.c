#include "wipe/batch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "base/loop/loop_uv.h"
#include "base/mem.h"
#include "tests/unit/testing.h"
#include "tests/unit/wipe/flaky.h"
#include "tests/unit/wipe/machine.h"
#include "wipe/dio.h"
#include "wipe/drives.h"

#define BYTES (4 << 20)
#define BAD "nvme1n1"
#define THREADS 16
#define STR_(x) #x
#define STR(x) STR_(x)

/* These tests run on real threads, because their drives hang. */
static struct machine machine;
static struct loop *loop;
static struct loop_group *group;
static struct batch *batch;
static unsigned dones;

static void begin_with_all(void)
{
	struct drive_list l;

	batch = batch_new(group, &machine.host);
	batch->nonce = secret_from_str("a1a2a3a4a5a6a7a8a9a0a1a2a3a4a5a6");
	drives_scan(&machine.host, batch->arena, &l);
	batch->inventory.drives.v = l.v;
	batch->inventory.drives.n = l.n;
	batch_choose_all(batch);
	for (size_t i = 0; i < batch->n; i++)
		erase_init(&batch->units[i].erase, &machine.host, batch->units[i].drive,
			   batch->nonce, WIPE_CLEAR, 100);
}

static int setup(void **state)
{
	(void)state;
	flaky_reset();
	machine_init(&machine);
	machine.host.ring = &flaky_ops;
	machine.host.stall_ms = MACHINE_STALL_MS;
	machine_drive(&machine, "nvme0n1", "eui.0\n", BYTES);
	machine_drive(&machine, BAD, "eui.1\n", BYTES);
	machine_drive(&machine, "nvme2n1", "eui.2\n", BYTES);
	loop = loop_uv_new();
	group = loop_group_new(loop, "agent");
	begin_with_all();
	dones = 0;
	return 0;
}

static void on_second(void *arg)
{
	(void)arg;
	loop_stop(loop);
}

static void run_for(int64_t ms)
{
	struct loop_timer t;

	loop_timer_init(&t, group, on_second, NULL);
	loop_timer_start(&t, ms);
	loop_run(loop);
	loop_timer_stop(&t);
}

static int teardown(void **state)
{
	(void)state;
	atomic_store(&flaky.deaf, false);
	batch_abandon(batch);
	batch_unref(batch);
	run_for(300); /* The threads of abandoned drives end in this time. */
	loop_group_free(group);
	loop_free(loop);
	machine_done(&machine);
	return 0;
}

static void on_done(void *arg)
{
	(void)arg;
	dones++;
	loop_stop(loop);
}

static void do_all(enum batch_act what)
{
	unsigned before = dones;

	batch_act(batch, what, on_done, NULL);
	run_for(5000);
	assert_int_equal(dones, before + 1);
}

static void hang(int64_t at)
{
	flaky.only = BAD;
	flaky.hang_at = at;
	atomic_store(&flaky.deaf, true);
}

static void assert_others_are_clean(void)
{
	assert_int_equal(batch->units[0].result.level, WIPE_CLEAR);
	assert_int_equal(batch->units[2].result.level, WIPE_CLEAR);
	assert_int_equal(machine_residue(&machine, "nvme0n1"), 0);
	assert_int_equal(machine_residue(&machine, "nvme2n1"), 0);
}

static void assert_bad_one_failed(void)
{
	const struct batch_unit *u = &batch->units[1];

	assert_int_equal(u->result.level, WIPE_FAIL);
	assert_string_equal(u->result.reason, "DriveFailed");
	assert_string_equal(u->result.wwn, "eui.1");
	assert_int_equal(u->err.kind, ERR_TIMEOUT);
	assert_non_null(strstr(u->err.text, BAD));
	assert_false(u->verified);
	assert_ptr_equal(batch_failed(batch), u);
}

static void all_drives_are_done_at_the_same_time(void **state)
{
	(void)state;
	do_all(BATCH_WIPE);
	assert_others_are_clean();
	assert_int_equal(batch->units[1].result.level, WIPE_CLEAR);
	assert_null(batch_failed(batch));
	do_all(BATCH_VERIFY);
	for (size_t i = 0; i < 3; i++)
		assert_true(batch->units[i].verified);
}

static void a_drive_that_hangs_holds_up_neither_the_others_nor_the_end(void **state)
{
	size_t n;
	struct evidence_device *d;

	(void)state;
	hang(2 << 20);
	do_all(BATCH_WIPE);
	assert_others_are_clean();
	assert_bad_one_failed();
	d = batch_devices(batch, &n);
	assert_int_equal(n, 3);
	assert_int_equal(d[1].level, WIPE_FAIL);
}

/* One drive has two paths. Wiped in parallel, each path would find the canaries of the other
 * instead of its own. */
static void one_drive_under_two_names_is_wiped_twice_in_turn(void **state)
{
	char from[128], to[128];

	(void)state;
	batch_unref(batch);
	machine_file(&machine, "sys/block/" BAD "/wwid", "eui.0\n");
	machine_remove(&machine, "dev/" BAD);
	snprintf(from, sizeof(from), "%s/nvme0n1", machine.dev);
	snprintf(to, sizeof(to), "%s/" BAD, machine.dev);
	assert_int_equal(link(from, to), 0);
	begin_with_all();
	assert_string_equal(batch->units[1].drive->wwn, "eui.0#2");
	for (int i = 0; i < 5; i++) {
		do_all(BATCH_WIPE);
		assert_null(batch_failed(batch));
		do_all(BATCH_VERIFY);
		assert_null(batch_failed(batch));
		assert_true(batch->units[0].verified && batch->units[1].verified);
	}
	assert_others_are_clean();
}

static void sleep_long(void *arg)
{
	(void)arg;
	nanosleep(&(struct timespec){.tv_nsec = 900 * 1000000}, NULL);
}

static void nothing(void *arg)
{
	(void)arg;
}

/* There are more drives than threads. A drive that waits for a thread must not be given up. */
static void a_drive_whose_turn_has_not_come_is_not_given_up(void **state)
{
	(void)state;
	for (int i = 0; i < THREADS; i++)
		(void)loop_work(group, sleep_long, nothing, nothing, NULL);
	do_all(BATCH_WIPE);
	assert_others_are_clean();
	assert_null(batch_failed(batch));
}

/* Before the wipe ends, each drive reports its progress, with level Fail. */
static void progress_tells_how_far_each_drive_is(void **state)
{
	struct proto_report r = {0};

	(void)state;
	hang(2 << 20);
	do_all(BATCH_WIPE);
	batch_progress(batch, &r);
	assert_int_equal(r.devices.n, 3);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(r.devices.v[i].level, WIPE_FAIL);
		assert_string_equal(r.devices.v[i].technique, "Overwrite");
	}
	assert_int_equal(r.devices.v[0].erased_bytes, BYTES);
	assert_true(r.devices.v[1].erased_bytes < BYTES);
	assert_string_equal(r.devices.v[1].wwn, "eui.1");
}

static void what_a_drive_that_was_given_up_does_later_changes_nothing(void **state)
{
	(void)state;
	hang(2 << 20);
	do_all(BATCH_WIPE);
	flaky.hang_at = -1;
	atomic_store(&flaky.deaf, false);
	run_for(300);
	assert_bad_one_failed();
	assert_int_equal(dones, 1);
	/* A drive that was given up gets no further request. */
	do_all(BATCH_VERIFY);
	assert_bad_one_failed();
	assert_true(batch->units[0].verified && batch->units[2].verified);
}

static void with_no_drive_left_an_act_ends_all_the_same(void **state)
{
	(void)state;
	flaky.hang_at = 2 << 20;
	atomic_store(&flaky.deaf, true);
	do_all(BATCH_WIPE);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(batch->units[i].result.level, WIPE_FAIL);
	do_all(BATCH_VERIFY);
	for (size_t i = 0; i < 3; i++)
		assert_false(batch->units[i].verified);
}

static void a_drive_that_hangs_and_is_gone_is_missing(void **state)
{
	(void)state;
	hang(2 << 20);
	batch_act(batch, BATCH_WIPE, on_done, NULL);
	run_for(20);
	machine_remove(&machine, "dev/" BAD);
	run_for(5000);
	assert_int_equal(dones, 1);
	assert_string_equal(batch->units[1].result.reason, "DriveMissing");
	assert_others_are_clean();
}

static void stamps_are_read_from_every_drive(void **state)
{
	const char *digest =
		"sha256:00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";
	char block[PROTO_STAMP_SIZE];

	(void)state;
	proto_stamp_write("gpu-1-41", digest, block);
	machine_poke(&machine, "nvme2n1", block, sizeof(block), 0);
	do_all(BATCH_LOOK);
	assert_null(batch->inventory.drives.v[0].stamp);
	assert_string_equal(batch->inventory.drives.v[2].stamp, digest);
	assert_string_equal(batch->inventory.drives.v[2].stamp_record, "gpu-1-41");
}

static void progress_is_over_all_drives(void **state)
{
	struct proto_report r = {0};

	(void)state;
	do_all(BATCH_WIPE);
	do_all(BATCH_VERIFY);
	batch_progress(batch, &r);
	assert_int_equal(r.done_bytes, 3 * (2 * VERIFY_EDGE + (64 + 100) * 4096));
	assert_int_equal(r.total_bytes, r.done_bytes);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(all_drives_are_done_at_the_same_time),
		T(a_drive_that_hangs_holds_up_neither_the_others_nor_the_end),
		T(one_drive_under_two_names_is_wiped_twice_in_turn),
		T(a_drive_whose_turn_has_not_come_is_not_given_up),
		T(progress_tells_how_far_each_drive_is),
		T(what_a_drive_that_was_given_up_does_later_changes_nothing),
		T(with_no_drive_left_an_act_ends_all_the_same),
		T(a_drive_that_hangs_and_is_gone_is_missing),
		T(stamps_are_read_from_every_drive),
		T(progress_is_over_all_drives),
	};

	mem_init();
	setenv("UV_THREADPOOL_SIZE", STR(THREADS), 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
