/* Tests NVMe subsystems with several namespaces: one Sanitize is sent, and it counts either for all
 * namespaces or for none. */
#include "wipe/erase.h"

#include <linux/nvme_ioctl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/loop/loop_uv.h"
#include "base/mem.h"
#include "base/str.h"
#include "tests/unit/testing.h"
#include "tests/unit/wipe/flaky.h"
#include "tests/unit/wipe/machine.h"
#include "wipe/batch.h"
#include "wipe/drives.h"

#define BYTES (4 << 20)
#define MOST 8

static struct machine m;
static struct loop *loop;
static struct loop_group *group;
static struct batch *batch;
static bool ended;

/* The block devices, and the answers of the drives behind them */
static struct {
	struct {
		const char *name;
		uint32_t nsid;
		const char *nqn;
	} v[MOST];
	size_t n;
	_Atomic unsigned sanitizes, formats[MOST];
	/* Status of the command Sanitize */
	int refusal;
	/* SSTAT (state) after the Sanitize */
	uint8_t log;
	/* ID of a namespace that a Sanitize leaves unchanged; 0: none */
	uint32_t spares;
	/* True: each namespace had a canary when the Sanitize was sent */
	bool all_planted;
	/* True: only the first three Identify commands list the active namespaces, later ones
	 * fail */
	bool deaf_to_list;
	_Atomic unsigned lists;
} drive;

/* Returns the index in drive.v of the device that is open as fd. */
static size_t opened(int fd)
{
	char link[64], path[256];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path) - 1);
	assert_true(n > 0);
	path[n] = '\0';
	for (size_t i = 0; i < drive.n; i++)
		if (str_eq(strrchr(path, '/') + 1, drive.v[i].name))
			return i;
	fail_msg("%s", path);
	return 0;
}

static void fill(size_t i)
{
	uint8_t *zeros = mem_calloc(1, BYTES);

	machine_poke(&m, drive.v[i].name, zeros, BYTES, 0);
	free(zeros);
}

/* True if a canary is in the first block of the drive, which machine_drive() leaves empty. */
static bool is_planted(const char *name)
{
	uint8_t block[32], none[32] = {0};

	machine_peek(&m, name, block, sizeof(block), 0);
	return memcmp(block, none, sizeof(none)) != 0;
}

static int sanitize(const char *nqn)
{
	atomic_fetch_add(&drive.sanitizes, 1);
	drive.all_planted = true;
	for (size_t i = 0; i < drive.n; i++)
		if (str_eq(drive.v[i].nqn, nqn))
			drive.all_planted &= is_planted(drive.v[i].name);
	for (size_t i = 0; !drive.refusal && i < drive.n; i++)
		if (str_eq(drive.v[i].nqn, nqn) && drive.v[i].nsid != drive.spares)
			fill(i);
	return drive.refusal;
}

/* Answers Identify for the drive `name`. Devices with the prefix "nvme0n" belong to one
 * controller. */
static int identify(const char *name, uint32_t cns, uint8_t *out)
{
	size_t at = 0;

	if (cns == 1) {
		out[256] = 2; /* The controller supports Format. */
		out[328] = 2; /* The controller supports Sanitize by block erase. */
	} else if (cns == 2) {
		if (drive.deaf_to_list && atomic_fetch_add(&drive.lists, 1) >= 3)
			return 0x2006;
		for (size_t i = 0; i < drive.n; i++)
			if (!strncmp(drive.v[i].name, name, strlen("nvme0n"))) {
				memcpy(out + at, &drive.v[i].nsid, 4);
				at += 4;
			}
	}
	return 0;
}

static int admin(int fd, struct nvme_passthru_cmd *c)
{
	uint8_t *out = (uint8_t *)(uintptr_t)c->addr;
	const size_t at = opened(fd);
	const char *nqn = drive.v[at].nqn;

	switch (c->opcode) {
	case 0x06:
		return identify(drive.v[at].name, c->cdw10, out);
	case 0x84:
		assert_int_equal(c->nsid, 0);
		return sanitize(nqn);
	case 0x02:
		if (atomic_load(&drive.sanitizes) && !drive.refusal) {
			out[0] = out[1] = 0xff;
			out[2] = drive.log;
		}
		return 0;
	default:
		assert_int_equal(c->opcode, 0x80);
		assert_in_range(c->nsid, 1, MOST - 1);
		atomic_fetch_add(&drive.formats[c->nsid], 1);
		for (size_t i = 0; i < drive.n; i++)
			if (str_eq(drive.v[i].nqn, nqn) && drive.v[i].nsid == c->nsid)
				fill(i);
		return 0;
	}
}

static void add(const char *name, uint32_t nsid, const char *wwn, const char *nqn)
{
	char path[128], text[64];

	machine_drive(&m, name, wwn, BYTES);
	snprintf(path, sizeof(path), "sys/block/%s/nsid", name);
	snprintf(text, sizeof(text), "%u\n", (unsigned)nsid);
	machine_file(&m, path, text);
	snprintf(path, sizeof(path), "sys/block/%s/device/subsysnqn", name);
	snprintf(text, sizeof(text), "%s\n", nqn);
	machine_file(&m, path, text);
	drive.v[drive.n].name = name;
	drive.v[drive.n].nsid = nsid;
	drive.v[drive.n++].nqn = nqn;
}

/* Adds `name` as a second path to the drive `to` (the same file). */
static void add_path(const char *name, const char *to, uint32_t nsid, const char *wwn)
{
	char from[128], path[128];

	add(name, nsid, wwn, "nqn.a");
	snprintf(path, sizeof(path), "%s/%s", m.dev, name);
	snprintf(from, sizeof(from), "%s/%s", m.dev, to);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(link(from, path), 0);
}

static unsigned all_formats(void)
{
	unsigned n = 0;

	for (size_t i = 0; i < MOST; i++)
		n += atomic_load(&drive.formats[i]);
	return n;
}

static int setup(void **state)
{
	(void)state;
	flaky_reset();
	memset(&drive, 0, sizeof(drive));
	drive.log = 1;
	machine_init(&m);
	m.host.nvme_admin = admin;
	m.host.ring = &flaky_ops;
	m.host.stall_ms = MACHINE_STALL_MS;
	add("nvme0n1", 1, "eui.1\n", "nqn.a");
	add("nvme0n2", 2, "eui.2\n", "nqn.a");
	add("nvme0n3", 3, "eui.3\n", "nqn.a");
	loop = loop_uv_new();
	group = loop_group_new(loop, "agent");
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	batch_unref(batch);
	batch = NULL;
	loop_group_free(group);
	loop_free(loop);
	machine_done(&m);
	return 0;
}

static void on_done(void *arg)
{
	(void)arg;
	ended = true;
	loop_stop(loop);
}

static void do_all(enum batch_act what)
{
	ended = false;
	batch_act(batch, what, on_done, NULL);
	loop_run(loop);
	assert_true(ended);
}

/* Wipes the drives with the WWNs in expected; empty: all drives. */
static void wipe(struct strings expected)
{
	struct drive_list l;

	batch = batch_new(group, &m.host);
	batch->nonce = secret_from_str("a1a2a3a4a5a6a7a8a9a0a1a2a3a4a5a6");
	drives_scan(&m.host, batch->arena, &l);
	batch->inventory.drives.v = l.v;
	batch->inventory.drives.n = l.n;
	batch_choose(batch, &expected);
	for (size_t i = 0; i < batch->n; i++)
		erase_init(&batch->units[i].erase, &m.host, batch->units[i].drive, batch->nonce,
			   WIPE_CLEAR, 100);
	do_all(BATCH_WIPE);
}

static void wipe_all(void)
{
	wipe((struct strings){0});
}

static void assert_each(const char *technique, int level, const char *reason)
{
	size_t n;
	const struct evidence_device *d = batch_devices(batch, &n);

	assert_int_equal(n, batch->n);
	for (size_t i = 0; i < n; i++) {
		assert_string_equal(d[i].technique, technique);
		assert_int_equal(d[i].level, level);
		if (reason)
			assert_string_equal(d[i].reason, reason);
		else
			assert_null(d[i].reason);
	}
}

/* The record has the command, its result and the canaries for each namespace. */
static void one_sanitize_counts_for_each_namespace(void **state)
{
	(void)state;
	wipe_all();
	assert_int_equal(drive.sanitizes, 1);
	assert_true(drive.all_planted);
	assert_int_equal(batch->n, 3);
	assert_each("SanitizeBlockErase", WIPE_PURGE, NULL);
	do_all(BATCH_VERIFY);
	for (size_t i = 0; i < 3; i++) {
		const struct evidence_device *d = &batch->units[i].result;

		assert_true(batch->units[i].verified);
		assert_int_equal(d->raw_status.n, 1);
		assert_int_equal(d->raw_status.v[0], 0);
		assert_int_equal(d->canaries.planted, 64);
		assert_int_equal(d->canaries.found, 0);
		assert_int_equal(d->reads.clean, EVIDENCE_EDGE_READS + 100);
		assert_int_equal(machine_residue(&m, drive.v[i].name), 0);
	}
	assert_int_equal(all_formats(), 0);
}

/* Some drives do not sanitize a namespace that was detached before. */
static void what_leaves_one_namespace_as_it_was_is_believed_of_none(void **state)
{
	for (unsigned i = 1; i <= 3; i++) {
		drive.spares = i;
		wipe_all();
		assert_int_equal(drive.sanitizes, 1);
		assert_each("SanitizeBlockErase", WIPE_FAIL, "EraseUnverified");
		assert_non_null(strstr(batch->units[0].err.text, "canaries"));
		do_all(BATCH_VERIFY);
		for (size_t k = 0; k < 3; k++)
			assert_false(batch->units[k].verified);
		teardown(state);
		setup(state);
	}
}

static void where_it_is_refused_each_has_a_format_of_its_own(void **state)
{
	(void)state;
	drive.refusal = 0x2001;
	wipe_all();
	assert_int_equal(drive.sanitizes, 1);
	assert_each("FormatUserData", WIPE_CLEAR, NULL);
	for (unsigned i = 1; i <= 3; i++) {
		assert_int_equal(drive.formats[i], 1);
		assert_int_equal(batch->units[i - 1].result.raw_status.n, 2);
		assert_int_equal(batch->units[i - 1].result.raw_status.v[0], 0x2001);
		assert_int_equal(machine_residue(&m, drive.v[i - 1].name), 0);
	}
}

static void one_that_began_and_failed_is_replaced_on_none(void **state)
{
	(void)state;
	drive.log = 3;
	wipe_all();
	assert_int_equal(drive.sanitizes, 1);
	assert_each("SanitizeBlockErase", WIPE_FAIL, "DriveFailed");
	assert_int_equal(all_formats(), 0);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(batch->units[i].result.raw_status.v[0], 3);
}

static void a_namespace_that_nobody_asked_for_is_not_sanitized(void **state)
{
	static const char *const two[] = {"eui.1", "eui.2"};

	(void)state;
	wipe((struct strings){(const char **)two, 2});
	assert_int_equal(drive.sanitizes, 0);
	assert_each("FormatUserData", WIPE_CLEAR, NULL);
	assert_int_equal(machine_residue(&m, "nvme0n3"), 4);
}

/* Without canaries in one namespace (here it is read-only), the result of a Sanitize could not be
 * checked. */
static void without_the_canaries_of_one_there_is_no_sanitize(void **state)
{
	(void)state;
	machine_file(&m, "sys/block/nvme0n2/ro", "1\n");
	wipe_all();
	assert_int_equal(drive.sanitizes, 0);
	assert_string_equal(batch->units[1].result.reason, "ReadOnly");
	assert_int_equal(batch->units[1].result.level, WIPE_FAIL);
	assert_int_equal(machine_residue(&m, "nvme0n2"), 4);
	assert_int_equal(batch->units[0].result.level, WIPE_CLEAR);
	assert_int_equal(batch->units[2].result.level, WIPE_CLEAR);
}

/* The namespace can be opened, but writes to it fail. */
static void a_namespace_that_lost_its_canaries_keeps_the_others_from_one(void **state)
{
	(void)state;
	flaky.only = "nvme0n2";
	flaky.bad_at = 0;
	wipe_all();
	assert_int_equal(drive.sanitizes, 0);
	assert_string_equal(batch->units[1].result.reason, "DriveFailed");
	assert_int_equal(batch->units[0].result.level, WIPE_CLEAR);
	assert_int_equal(batch->units[2].result.level, WIPE_CLEAR);
}

/* There are two controllers. Both show namespaces 1 and 2, and one of them also shows namespace
 * 3. */
static void controllers_of_one_subsystem_are_sent_one_sanitize(void **state)
{
	(void)state;
	add_path("nvme1n1", "nvme0n1", 1, "eui.1\n");
	add_path("nvme1n2", "nvme0n2", 2, "eui.2\n");
	wipe_all();
	assert_int_equal(batch->n, 5);
	assert_string_equal(batch->units[3].drive->wwn, "eui.1#2");
	assert_int_equal(drive.sanitizes, 1);
	assert_each("SanitizeBlockErase", WIPE_PURGE, NULL);
	do_all(BATCH_VERIFY);
	for (size_t i = 0; i < 5; i++)
		assert_true(batch->units[i].verified);
}

/* Only the second controller shows namespace 3, and it is not to be wiped. A Sanitize through the
 * first controller would erase it. */
static void a_namespace_of_another_controller_is_not_sanitized(void **state)
{
	static const char *const three[] = {"eui.1", "eui.2", "eui.3"};

	(void)state;
	add("nvme1n3", 3, "eui.other\n", "nqn.a");
	wipe((struct strings){(const char **)three, 3});
	assert_int_equal(drive.sanitizes, 0);
	assert_each("FormatUserData", WIPE_CLEAR, NULL);
}

static void another_drive_has_a_sanitize_of_its_own(void **state)
{
	(void)state;
	add("nvme1n1", 1, "eui.5\n", "nqn.b");
	wipe_all();
	assert_int_equal(drive.sanitizes, 2);
	assert_each("SanitizeBlockErase", WIPE_PURGE, NULL);
}

/* The drive no longer lists its namespaces, so it may have further ones. */
static void a_drive_that_does_not_repeat_its_list_is_not_sanitized(void **state)
{
	(void)state;
	drive.deaf_to_list = true;
	wipe_all();
	assert_int_equal(drive.sanitizes, 0);
	assert_each("FormatUserData", WIPE_CLEAR, NULL);
}

/* All namespaces of the drive that hangs fail. Those of the other drive do not. */
static void a_drive_that_hangs_takes_its_namespaces_along(void **state)
{
	(void)state;
	add("nvme1n1", 1, "eui.5\n", "nqn.b");
	flaky.only = "nvme0n2";
	flaky.hang_at = 0;
	atomic_store(&flaky.deaf, true);
	wipe_all();
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(batch->units[i].result.level, WIPE_FAIL);
		assert_string_equal(batch->units[i].result.reason, "DriveFailed");
		assert_int_equal(batch->units[i].err.kind, ERR_TIMEOUT);
	}
	assert_int_equal(batch->units[3].result.level, WIPE_PURGE);
	assert_int_equal(drive.sanitizes, 1);
	atomic_store(&flaky.deaf, false);
	flaky.hang_at = -1;
	do_all(BATCH_VERIFY);
	assert_false(batch->units[0].verified);
	assert_true(batch->units[3].verified);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(one_sanitize_counts_for_each_namespace),
		T(what_leaves_one_namespace_as_it_was_is_believed_of_none),
		T(where_it_is_refused_each_has_a_format_of_its_own),
		T(one_that_began_and_failed_is_replaced_on_none),
		T(a_namespace_that_nobody_asked_for_is_not_sanitized),
		T(without_the_canaries_of_one_there_is_no_sanitize),
		T(a_namespace_that_lost_its_canaries_keeps_the_others_from_one),
		T(controllers_of_one_subsystem_are_sent_one_sanitize),
		T(a_namespace_of_another_controller_is_not_sanitized),
		T(a_drive_that_does_not_repeat_its_list_is_not_sanitized),
		T(a_drive_that_hangs_takes_its_namespaces_along),
		T(another_drive_has_a_sanitize_of_its_own),
	};

	mem_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
