/* Tests the erase commands of SCSI drives: which command is sent, and which answers count as
 * success. */
#include "wipe/scsi_erase.h"

#include <errno.h>
#include <string.h>
#include "base/mem.h"
#include "tests/unit/testing.h"
#include "tests/unit/wipe/erasing.h"
#include "tests/unit/wipe/flaky.h"
#include "wipe/scsi.h"

enum { CRYPTO = 1 << 0, BLOCK = 1 << 1, OVERWRITE = 1 << 2, FORMAT = 1 << 3, SAME = 1 << 4 };
#define BLOCK_BYTES 512

/* Sense key, code, qualifier and progress: answers to REQUEST SENSE during an erase, then to TEST
 * UNIT READY */
struct said {
	uint8_t key, asc, ascq;
	uint16_t progress;
};

static struct {
	/* Bit mask of the commands that REPORT SUPPORTED OPERATION CODES lists */
	unsigned knows;
	/* mute: the drive gives no answer. lies: it reports success of an erase and changes
	 * nothing. unit: the first TEST UNIT READY returns a unit attention */
	bool mute, lies, unit;
	/* Command that the drive refuses; 0: none. */
	uint8_t refuses;
	/* True: the drive has protection information */
	bool protected;
	/* True: the drive refuses Exit Failure Mode */
	bool stays_failed;
	uint32_t same_most;
	/* Answers before the first Sanitize, after it, and after the second Sanitize */
	const struct said *before, *said, *then;
	/* Commands that the drive received, and their parameters */
	unsigned begun, asked, waited, exits, sames;
	uint8_t last[16], list[8];
} scsi;

static const struct said well[] = {{2, 4, 0x1b, 100}, {2, 4, 0x1b, 60000}, {0, 0, 0, 0}};
static const struct said badly[] = {{2, 4, 0x1b, 100}, {3, 0x31, 3, 0}, {0, 0, 0, 0}};

static void check(struct scsi_command *c, uint8_t key, uint8_t asc, uint8_t ascq)
{
	c->status = SCSI_CHECK;
	c->sense = (struct scsi_sense){.key = key, .asc = asc, .ascq = ascq};
}

static const struct said *now(void)
{
	return scsi.begun    ? scsi.said ? &scsi.said[scsi.asked] : NULL
	       : scsi.before ? &scsi.before[scsi.waited]
			     : NULL;
}

static void request_sense(struct scsi_command *c)
{
	const struct said *s = now();

	memset(c->data, 0, 18);
	c->got = 18;
	c->data[0] = 0x70;
	if (!s || s->key != 2)
		return; /* The erase has ended: TEST UNIT READY returns the result. */
	c->data[2] = s->key;
	c->data[12] = s->asc;
	c->data[13] = s->ascq;
	c->data[15] = 0x80;
	c->data[16] = (uint8_t)(s->progress >> 8);
	c->data[17] = (uint8_t)s->progress;
	if (s[1].key || s[1].asc || s->progress >= 60000)
		*(scsi.begun ? &scsi.asked : &scsi.waited) += 1;
}

static void test_unit_ready(struct scsi_command *c)
{
	const struct said *s = now();

	if (scsi.unit) {
		scsi.unit = false;
		check(c, 6, 0x29, 0);
	} else if (s && s->key) {
		check(c, s->key, s->asc, s->ascq);
	}
}

static void supported(struct scsi_command *c)
{
	static const uint8_t sanitizes[] = {0, OVERWRITE, BLOCK, CRYPTO};
	unsigned what = c->cdb[3] == 0x48   ? sanitizes[c->cdb[5]]
			: c->cdb[3] == 0x04 ? FORMAT
					    : SAME;

	assert_int_equal(c->cdb[1], 0x0c);
	assert_int_equal(c->cdb[2], c->cdb[3] == 0x48 ? 2 : 1);
	c->got = c->len;
	c->data[1] = scsi.knows & what ? 3 : 1;
}

static void begin(struct scsi_command *c)
{
	scsi.begun++;
	scsi.asked = 0;
	if (scsi.begun == 2 && scsi.then)
		scsi.said = scsi.then;
	memcpy(scsi.last, c->cdb, sizeof(scsi.last));
	memset(scsi.list, 0, sizeof(scsi.list));
	if (c->data)
		memcpy(scsi.list, c->data, c->len);
	if (scsi.last[0] == 0x04)
		flaky.bad_at = -1;
	if (!scsi.lies)
		erasing_fill(0);
}

static void write_same(struct scsi_command *c)
{
	uint8_t zeros[1 << 16] = {0};
	uint64_t at = 0, n = 0;

	assert_int_equal(c->cdb[1], 0); /* WRITE SAME must not have UNMAP set. */
	for (size_t i = 0; i < 8; i++)
		at = at << 8 | c->cdb[2 + i];
	for (size_t i = 0; i < 4; i++)
		n = n << 8 | c->cdb[10 + i];
	assert_memory_equal(c->data, zeros, BLOCK_BYTES);
	assert_int_equal(c->len, BLOCK_BYTES);
	assert_true(n && n <= scsi.same_most);
	assert_true((at + n) * BLOCK_BYTES <= ERASING_BYTES);
	scsi.sames++;
	for (uint64_t i = 0; i < n && !scsi.lies; i++)
		machine_poke(&erasing.machine, ERASING_NAME, zeros, BLOCK_BYTES,
			     (int64_t)(at + i) * BLOCK_BYTES);
}

static int answer(int fd, struct scsi_command *c)
{
	(void)fd;
	if (scsi.mute) {
		errno = EIO;
		return -1;
	}
	c->status = SCSI_GOOD;
	if (scsi.refuses && c->cdb[0] == scsi.refuses) {
		check(c, 5, 0x20, 0);
		return 0;
	}
	switch (c->cdb[0]) {
	case 0xa3:
		supported(c);
		break;
	case 0x9e:
		c->data[10] = BLOCK_BYTES >> 8;
		c->data[12] = scsi.protected;
		c->got = 32;
		break;
	case 0x12:
		c->data[1] = 0xb0;
		c->data[42] = (uint8_t)(scsi.same_most >> 8);
		c->data[43] = (uint8_t)scsi.same_most;
		c->got = 64;
		break;
	case 0x03:
		request_sense(c);
		break;
	case 0x00:
		test_unit_ready(c);
		break;
	case 0x93:
		write_same(c);
		break;
	case 0x48:
		if ((c->cdb[1] & 0x1f) == 0x1f) {
			scsi.exits++;
			if (scsi.stays_failed)
				check(c, 5, 0x24, 0);
			else
				scsi.before = NULL;
			break;
		}
		begin(c);
		break;
	default:
		assert_int_equal(c->cdb[0], 0x04);
		begin(c);
	}
	return 0;
}

static int setup(void **state)
{
	erasing_setup(state);
	memset(&scsi, 0, sizeof(scsi));
	scsi.same_most = 4096;
	erasing.machine.host.nvme_admin = NULL;
	erasing.machine.host.scsi = answer;
	erasing.info.type = "SAS";
	erasing.erase.device.type = "SAS";
	return 0;
}

static void again(void **state)
{
	erasing_teardown(state);
	setup(state);
}

static void assert_wiped(const char *technique, int level)
{
	struct err e;

	assert_ok(erasing_run(&erasing.erase, &e), &e);
	assert_string_equal(erasing.erase.device.technique, technique);
	assert_int_equal(erasing.erase.device.level, level);
	assert_ok(erase_verify(&erasing.erase, 100, &e), &e);
	assert_int_equal(machine_residue(&erasing.machine, ERASING_NAME), 0);
}

static void assert_failed(const char *reason, const char *text)
{
	struct err e;

	assert_int_equal(erasing_run(&erasing.erase, &e), -1);
	assert_int_equal(erasing.erase.device.level, WIPE_FAIL);
	assert_string_equal(erasing.erase.device.reason, reason);
	if (!strstr(e.text, text))
		fail_msg("%s", e.text);
}

static void the_best_sanitize_is_sent_and_followed_to_its_end(void **state)
{
	static const uint8_t zeros[8] = {1, 0, 0, 4};
	static const struct {
		unsigned knows;
		const char *technique;
		uint8_t byte1;
	} rows[] = {{CRYPTO | BLOCK | OVERWRITE | FORMAT | SAME, "SanitizeCryptoErase", 0xa3},
		    {BLOCK | OVERWRITE, "SanitizeBlockErase", 0xa2},
		    {OVERWRITE, "SanitizeOverwrite", 0xa1}};

	for (size_t i = 0; i < 3; i++) {
		again(state);
		scsi.knows = rows[i].knows;
		scsi.said = well;
		scsi.unit = i == 1;
		assert_wiped(rows[i].technique, WIPE_PURGE);
		assert_int_equal(scsi.begun, 1);
		assert_int_equal(scsi.last[0], 0x48);
		assert_int_equal(scsi.last[1], rows[i].byte1);
		assert_int_equal(scsi.last[8], i == 2 ? 8 : 0);
		if (i == 2)
			assert_memory_equal(scsi.list, zeros, 8);
		assert_int_equal(scsi.asked, 2);
	}
}

static void a_sanitize_that_failed_is_followed_by_one_other_and_nothing_less(void **state)
{
	(void)state;
	scsi.knows = CRYPTO | BLOCK | FORMAT;
	scsi.said = badly;
	scsi.then = well;
	assert_wiped("SanitizeBlockErase", WIPE_PURGE);
	assert_int_equal(scsi.exits, 1);
	assert_int_equal(scsi.begun, 2);
	again(state);
	scsi.knows = CRYPTO | BLOCK | OVERWRITE | FORMAT;
	scsi.said = scsi.then = badly;
	assert_failed("DriveFailed", "SANITIZE failed");
	assert_int_equal(scsi.begun, 2);
	assert_int_equal(scsi.last[0], 0x48);
}

static void a_sanitize_that_is_lost_or_lies_is_replaced_by_nothing(void **state)
{
	static const struct said back[] = {{2, 4, 0x1b, 60000}, {2, 4, 0x1b, 5}, {0, 0, 0, 0}};
	static const struct said nothing[] = {{2, 4, 0x1b, 5}, {4, 0x44, 0, 0}, {0, 0, 0, 0}};
	static const struct said still[] = {{2, 4, 0x1b, 600}, {0, 0, 0, 0}};
	static const struct {
		const struct said *said;
		const char *text;
	} rows[] = {{back, "went back"}, {nothing, "SANITIZE failed"}, {still, "stuck at 600"}};

	for (size_t i = 0; i < 3; i++) {
		again(state);
		erasing.machine.host.stall_ms = MACHINE_STALL_MS;
		scsi.knows = BLOCK | OVERWRITE | FORMAT;
		scsi.said = rows[i].said;
		assert_failed("DriveFailed", rows[i].text);
		assert_int_equal(scsi.begun, 1);
		assert_int_equal(scsi.exits, 0);
	}
	again(state);
	scsi.knows = BLOCK;
	scsi.lies = true;
	scsi.said = well;
	assert_failed("EraseUnverified", "canaries");
}

static void what_runs_or_failed_before_is_ended_first(void **state)
{
	static const struct said failed[] = {{3, 0x31, 3, 0}};

	(void)state;
	scsi.knows = BLOCK;
	scsi.before = scsi.said = well;
	assert_wiped("SanitizeBlockErase", WIPE_PURGE);
	assert_int_equal(scsi.waited, 2);
	assert_int_equal(scsi.begun, 1);
	for (int stays = 0; stays < 2; stays++) {
		again(state);
		scsi.knows = CRYPTO | BLOCK;
		scsi.before = failed;
		scsi.stays_failed = stays;
		scsi.said = scsi.then = well;
		assert_wiped("SanitizeCryptoErase", WIPE_PURGE);
		assert_int_equal(scsi.exits, 1);
		assert_int_equal(scsi.begun, 1 + stays);
	}
}

static void a_refused_sanitize_falls_to_format_unit(void **state)
{
	static const struct said formats[] = {{2, 4, 4, 100}, {2, 4, 4, 60000}, {0, 0, 0, 0}};
	static const uint8_t list[8] = {0, 2};

	(void)state;
	scsi.knows = BLOCK | FORMAT;
	scsi.refuses = 0x48;
	scsi.said = formats;
	assert_wiped("FormatUnit", WIPE_CLEAR);
	assert_int_equal(scsi.last[1], 0x10);
	assert_memory_equal(scsi.list, list, 8);
	assert_int_equal(scsi.asked, 2);
	assert_int_equal(erasing.erase.device.raw_status.n, 2);
	assert_true(erasing.erase.device.raw_status.v[0] == 0x200502);
	/* FORMAT UNIT would change a drive with protection information, so it is not sent. */
	again(state);
	scsi.knows = FORMAT;
	scsi.protected = true;
	assert_wiped("Overwrite", WIPE_CLEAR);
	assert_int_equal(scsi.begun, 0);
}

/* QEMU's emulated SCSI disk reports success of FORMAT UNIT and does nothing. */
static void a_format_unit_that_did_nothing_is_found_out_and_overwritten(void **state)
{
	(void)state;
	scsi.knows = FORMAT;
	scsi.lies = true;
	assert_wiped("Overwrite", WIPE_CLEAR);
	assert_int_equal(scsi.begun, 1);
}

static void a_format_unit_that_failed_is_followed_by_what_is_left(void **state)
{
	static const struct said failed[] = {{2, 4, 4, 100}, {3, 0x31, 1, 0}, {0, 0, 0, 0}};

	(void)state;
	scsi.knows = FORMAT | SAME;
	scsi.said = failed;
	assert_wiped("WriteSame", WIPE_CLEAR);
	assert_int_equal(erasing.erase.device.raw_status.n, 2);
	assert_int_equal(erasing.erase.device.raw_status.v[1], 0);
}

/* The drive lost power during a FORMAT UNIT. It accepts no I/O until another FORMAT UNIT ends. */
static void a_drive_that_takes_no_io_is_formatted_and_then_wiped(void **state)
{
	(void)state;
	erasing.machine.host.ring = &flaky_ops;
	flaky.bad_at = 0;
	scsi.knows = BLOCK | FORMAT;
	assert_wiped("SanitizeBlockErase", WIPE_PURGE);
	assert_int_equal(scsi.begun, 2);
	assert_int_equal(erasing.erase.device.raw_status.n, 2);
}

static void write_same_reaches_each_block_within_its_limit(void **state)
{
	(void)state;
	scsi.knows = SAME;
	scsi.same_most = 5000;
	assert_wiped("WriteSame", WIPE_CLEAR);
	assert_int_equal(scsi.sames, (ERASING_BYTES / BLOCK_BYTES + 4999) / 5000);
	again(state);
	scsi.knows = SAME;
	scsi.refuses = 0x93;
	assert_wiped("Overwrite", WIPE_CLEAR);
	again(state);
	scsi.knows = SAME;
	scsi.lies = true;
	assert_wiped("Overwrite", WIPE_CLEAR);
}

static void what_does_not_say_what_it_knows_is_overwritten(void **state)
{
	for (int i = 0; i < 3; i++) {
		again(state);
		scsi.knows = i ? ~0u : 0;
		scsi.mute = i == 1;
		scsi.refuses = i == 2 ? 0xa3 : 0;
		assert_wiped("Overwrite", WIPE_CLEAR);
		assert_int_equal(scsi.begun + scsi.sames, 0);
	}
}

static void sense_is_read_in_both_formats(void **state)
{
	static const uint8_t fixed[18] = {
		0xf0, 0, 2, [12] = 4, [13] = 0x1b, [15] = 0x80, 0x12, 0x34};
	static const uint8_t descriptor[] = {0x72, 2, 4, 4, 0,	  0,	0,    20, 0, 10,
					     0,	   0, 0, 0, 0,	  0,	0,    0,  0, 0,
					     2,	   6, 0, 0, 0x80, 0x56, 0x78, 0};
	struct scsi_sense s;

	(void)state;
	assert_true(scsi_sense_read(fixed, sizeof(fixed), &s));
	assert_true(s.key == 2 && s.asc == 4 && s.ascq == 0x1b && s.tells && s.progress == 0x1234);
	assert_true(scsi_sense_read(descriptor, sizeof(descriptor), &s));
	assert_true(s.key == 2 && s.asc == 4 && s.ascq == 4 && s.tells && s.progress == 0x5678);
	/* Truncated sense data has no progress. Sense data of unknown formats is refused. */
	assert_true(scsi_sense_read(descriptor, 20, &s));
	assert_false(s.tells);
	assert_false(scsi_sense_read(fixed, 17, &s));
	assert_false(scsi_sense_read(descriptor, 7, &s));
	assert_false(scsi_sense_read(descriptor + 1, 18, &s));
	assert_false(scsi_sense_read(fixed, 0, &s));
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, erasing_teardown)
	const struct CMUnitTest tests[] = {
		T(the_best_sanitize_is_sent_and_followed_to_its_end),
		T(a_sanitize_that_failed_is_followed_by_one_other_and_nothing_less),
		T(a_sanitize_that_is_lost_or_lies_is_replaced_by_nothing),
		T(what_runs_or_failed_before_is_ended_first),
		T(a_refused_sanitize_falls_to_format_unit),
		T(a_format_unit_that_did_nothing_is_found_out_and_overwritten),
		T(a_format_unit_that_failed_is_followed_by_what_is_left),
		T(a_drive_that_takes_no_io_is_formatted_and_then_wiped),
		T(write_same_reaches_each_block_within_its_limit),
		T(what_does_not_say_what_it_knows_is_overwritten),
		T(sense_is_read_in_both_formats),
	};

	mem_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
