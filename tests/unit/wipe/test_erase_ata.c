/* Tests the erase commands of ATA drives: which command is sent, and which answers count as
 * success. */
#include "wipe/ata_erase.h"

#include <errno.h>
#include <string.h>
#include "base/mem.h"
#include "base/str.h"
#include "tests/unit/testing.h"
#include "tests/unit/wipe/erasing.h"
#include "wipe/sat.h"

enum { CRYPTO = 1 << 13, OVERWRITE = 1 << 14, BLOCK = 1 << 15, SANITIZES = 1 << 12 };
enum { SECURITY = 1 << 0, ENABLED = 1 << 1, LOCKED = 1 << 2, FROZEN = 1 << 3, ENHANCED = 1 << 5 };

/* Answer to SANITIZE STATUS: count and progress. reason: if not 0, the command is aborted with this
 * reason */
struct said {
	uint16_t count, progress;
	uint8_t reason;
};

static struct {
	/* IDENTIFY word 59 (sanitize), word 128 (security), and words 89 and 90 (minutes of an
	 * erase) */
	uint16_t sanitize, security, minutes;
	/* True: commands end without result registers */
	bool mute;
	/* True: the drive reports success of an erase and changes nothing */
	bool lies;
	/* Command that the drive refuses; 0: none */
	uint8_t refuses;
	/* Answers to SANITIZE STATUS after the first Sanitize; the last one repeats */
	const struct said *said;
	/* Answers about a Sanitize that an earlier boot began; NULL: none */
	const struct said *before;
	/* Answers after the second Sanitize */
	const struct said *then;
	/* sanitize_frozen: Sanitize commands are frozen. clears: the drive accepts clearing a
	 * failure */
	bool sanitize_frozen, clears;
	uint8_t password[32];
	/* Commands that the drive received, and their parameters */
	unsigned sanitizes, asked, waited, clear_asked, erases, unlocks;
	uint16_t feature, flags;
	uint64_t lba;
	uint8_t erase_flags, last;
	int64_t timeout_ms;
} ata;

static void put(uint8_t *page, size_t word, unsigned value)
{
	page[2 * word] = (uint8_t)value;
	page[2 * word + 1] = (uint8_t)(value >> 8);
}

static void identify(uint8_t *page)
{
	memset(page, 0, ATA_SECTOR);
	put(page, 59, ata.sanitize);
	put(page, 82, ata.security ? 2 : 0);
	put(page, 89, ata.minutes);
	put(page, 90, ata.minutes);
	put(page, 128, ata.security);
}

static void abort_with(struct ata_command *c, uint64_t lba)
{
	c->status = 0x51;
	c->error = 0x04;
	c->lba = lba;
}

static void status(struct ata_command *c)
{
	const struct said *s = ata.sanitizes ? ata.said : ata.before;
	unsigned *at = ata.sanitizes ? &ata.asked : &ata.waited;

	if (c->count & 1) {
		ata.clear_asked++;
		if (!ata.clears)
			abort_with(c, 1);
		return;
	}
	c->count = ata.sanitize_frozen ? 1 << 13 : 0;
	if (!s)
		return;
	s += *at;
	*at += s[1].count || s[1].progress || s[1].reason;
	c->count |= s->count;
	c->lba = s->progress;
	if (s->reason)
		abort_with(c, s->reason);
}

static void sanitize(struct ata_command *c)
{
	if (c->feature == 0) {
		status(c);
		return;
	}
	assert_true(ata.sanitize & SANITIZES);
	ata.sanitizes++;
	ata.feature = c->feature;
	ata.flags = c->count;
	ata.lba = c->lba;
	if (ata.sanitizes == 2 && ata.then) {
		ata.said = ata.then;
		ata.asked = 0;
	}
	if (!ata.lies)
		erasing_fill(0);
}

static void secure(struct ata_command *c)
{
	switch (c->command) {
	case 0xf1:
		assert_false(ata.security & (LOCKED | FROZEN));
		memcpy(ata.password, c->data + 2, 32);
		ata.security |= ENABLED;
		break;
	case 0xf2:
		ata.unlocks++;
		if (memcmp(ata.password, c->data + 2, 32) != 0)
			abort_with(c, 0);
		else
			ata.security &= ~LOCKED;
		break;
	case 0xf4:
		/* A drive refuses SECURITY ERASE UNIT unless SECURITY ERASE PREPARE came just
		 * before. */
		assert_int_equal(ata.last, 0xf3);
		assert_memory_equal(ata.password, c->data + 2, 32);
		ata.erases++;
		ata.erase_flags = c->data[0];
		ata.timeout_ms = c->timeout_ms;
		ata.security &= ~ENABLED;
		if (!ata.lies)
			erasing_fill(0);
		break;
	default:
		assert_int_equal(c->command, 0xf6);
		ata.security &= ~ENABLED;
	}
}

static int answer(int fd, struct ata_command *c)
{
	(void)fd;
	if (ata.mute) {
		errno = EIO;
		return -1;
	}
	c->status = 0x50;
	if (c->command == ata.refuses && (c->command != 0xb4 || c->feature))
		abort_with(c, 0);
	else if (c->command == 0xec)
		identify(c->data);
	else if (c->command == 0xb4)
		sanitize(c);
	else if (c->command != 0xf3 && c->command != 0xef)
		secure(c);
	ata.last = c->command;
	return 0;
}

static int setup(void **state)
{
	erasing_setup(state);
	memset(&ata, 0, sizeof(ata));
	erasing.machine.host.nvme_admin = NULL;
	erasing.machine.host.ata = answer;
	erasing.info.type = "SATA";
	erasing.erase.device.type = "SATA";
	return 0;
}

static void again(void **state)
{
	erasing_teardown(state);
	setup(state);
}

static const struct said well[] = {
	{1 << 14, 100, 0}, {1 << 14, 60000, 0}, {1 << 15, 0, 0}, {0, 0, 0}};
static const struct said badly[] = {{1 << 14, 100, 0}, {0, 0, 1}, {0, 0, 0}};

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
	static const struct {
		uint16_t offers;
		const char *technique;
		uint16_t feature, flags;
		uint64_t lba;
	} rows[] = {
		{CRYPTO | BLOCK | OVERWRITE, "SanitizeCryptoErase", 0x11, 0x10, 0x43727970},
		{BLOCK | OVERWRITE, "SanitizeBlockErase", 0x12, 0x10, 0x426b4572},
		{OVERWRITE, "SanitizeOverwrite", 0x14, 0x11, UINT64_C(0x4f57) << 32},
	};

	for (size_t i = 0; i < 3; i++) {
		again(state);
		ata.sanitize = SANITIZES | rows[i].offers;
		ata.security = SECURITY;
		ata.said = well;
		assert_wiped(rows[i].technique, WIPE_PURGE);
		assert_int_equal(ata.sanitizes, 1);
		assert_int_equal(ata.feature, rows[i].feature);
		assert_int_equal(ata.flags, rows[i].flags);
		assert_true(ata.lba == rows[i].lba);
		assert_int_equal(ata.asked, 2);
		assert_int_equal(ata.erases, 0);
	}
}

static void a_sanitize_that_failed_is_followed_by_one_other_and_nothing_less(void **state)
{
	(void)state;
	ata.sanitize = SANITIZES | CRYPTO | BLOCK;
	ata.security = SECURITY;
	ata.said = badly;
	ata.then = well;
	ata.clears = true;
	assert_wiped("SanitizeBlockErase", WIPE_PURGE);
	assert_int_equal(ata.clear_asked, 1);
	assert_int_equal(ata.sanitizes, 2);
	again(state);
	ata.sanitize = SANITIZES | CRYPTO | BLOCK | OVERWRITE;
	ata.security = SECURITY;
	ata.said = ata.then = badly;
	ata.clears = true;
	assert_failed("DriveFailed", "SANITIZE DEVICE failed");
	assert_int_equal(ata.sanitizes, 2);
	assert_int_equal(ata.erases, 0);
}

static void a_sanitize_that_is_lost_or_lies_is_replaced_by_nothing(void **state)
{
	static const struct said back[] = {{1 << 14, 600, 0}, {1 << 14, 5, 0}, {0, 0, 0}};
	static const struct said nothing[] = {{1 << 14, 600, 0}, {1, 0, 0}, {0, 0, 0}};
	static const struct said still[] = {{1 << 14, 600, 0}, {0, 0, 0}};
	static const struct {
		const struct said *said;
		const char *text;
	} rows[] = {{back, "went back"}, {nothing, "failed"}, {still, "stuck at 600"}};

	for (size_t i = 0; i < 3; i++) {
		again(state);
		erasing.machine.host.stall_ms = MACHINE_STALL_MS;
		ata.sanitize = SANITIZES | BLOCK | OVERWRITE;
		ata.security = SECURITY;
		ata.said = rows[i].said;
		assert_failed("DriveFailed", rows[i].text);
		assert_int_equal(ata.sanitizes, 1);
		assert_int_equal(ata.erases, 0);
	}
	again(state);
	ata.sanitize = SANITIZES | BLOCK;
	ata.said = well;
	ata.lies = true;
	assert_failed("EraseUnverified", "canaries");
}

static void what_runs_or_failed_before_is_ended_first(void **state)
{
	static const struct said fails[] = {{0, 0, 1}, {0, 0, 0}};

	(void)state;
	ata.sanitize = SANITIZES | BLOCK;
	ata.before = ata.said = well;
	assert_wiped("SanitizeBlockErase", WIPE_PURGE);
	assert_int_equal(ata.waited, 2);
	assert_int_equal(ata.sanitizes, 1);
	/* Either the failure is cleared, or another Sanitize follows, whose result proves
	 * nothing. */
	for (int clears = 0; clears < 2; clears++) {
		again(state);
		ata.sanitize = SANITIZES | BLOCK | CRYPTO;
		ata.before = fails;
		ata.said = ata.then = well;
		ata.clears = clears;
		assert_wiped("SanitizeCryptoErase", WIPE_PURGE);
		assert_int_equal(ata.clear_asked, 1);
		assert_int_equal(ata.sanitizes, clears ? 1 : 2);
	}
}

static void a_refused_or_frozen_sanitize_falls_to_security_erase(void **state)
{
	for (int i = 0; i < 2; i++) {
		again(state);
		ata.sanitize = SANITIZES | BLOCK;
		ata.security = SECURITY | ENHANCED;
		ata.minutes = 30;
		if (i)
			ata.sanitize_frozen = true;
		else
			ata.refuses = 0xb4;
		assert_wiped("SecurityEraseEnhanced", WIPE_PURGE);
		assert_int_equal(ata.sanitizes, 0);
		assert_int_equal(ata.erases, 1);
		assert_int_equal(ata.erase_flags, 2);
		assert_int_equal(ata.timeout_ms, (2 * 60 + 10) * 60000);
		assert_false(ata.security & ENABLED);
		assert_string_equal((const char *)ata.password, ATA_PASSWORD);
	}
	again(state);
	ata.security = SECURITY;
	assert_wiped("SecurityErase", WIPE_CLEAR);
	assert_int_equal(ata.erase_flags, 0);
	assert_int_equal(ata.timeout_ms, 24 * 3600000);
}

static void a_security_erase_that_is_refused_leaves_no_password(void **state)
{
	(void)state;
	ata.security = SECURITY | ENHANCED;
	ata.refuses = 0xf4;
	assert_wiped("Overwrite", WIPE_CLEAR);
	assert_int_equal(ata.erases, 0);
	assert_false(ata.security & ENABLED);
	assert_int_equal(erasing.erase.device.raw_status.n, 3);
	assert_int_equal(erasing.erase.device.raw_status.v[0], 0x5104);
	again(state);
	ata.security = SECURITY;
	ata.refuses = 0xf1;
	assert_wiped("Overwrite", WIPE_CLEAR);
}

static void a_security_erase_that_lies_is_found_out_and_overwritten(void **state)
{
	(void)state;
	ata.security = SECURITY | ENHANCED;
	ata.lies = true;
	assert_wiped("Overwrite", WIPE_CLEAR);
	/* After the enhanced erase, the normal erase is tried, too. */
	assert_int_equal(ata.erases, 2);
}

static void a_frozen_drive_is_overwritten_and_says_why_it_is_no_more(void **state)
{
	struct err e;

	(void)state;
	ata.security = SECURITY | ENHANCED | FROZEN;
	assert_wiped("Overwrite", WIPE_CLEAR);
	assert_int_equal(ata.erases, 0);
	again(state);
	ata.security = SECURITY | ENHANCED | FROZEN;
	erasing.erase.minimum_level = WIPE_PURGE;
	assert_int_equal(erasing_run(&erasing.erase, &e), -1);
	assert_string_equal(erasing.erase.device.reason, "EraseBelowPolicy");
	assert_non_null(strstr(erasing.erase.device.message, "froze"));
}

/* The drive lost power during the erase, so it is still locked with drover's password. */
static void a_drive_that_drover_locked_is_unlocked(void **state)
{
	struct err e;

	(void)state;
	str_copy((char *)ata.password, sizeof(ata.password), ATA_PASSWORD);
	ata.security = SECURITY | ENABLED | LOCKED;
	assert_ok(ata_unlock(&erasing.machine.host, 0, &e), &e);
	assert_int_equal(ata.security, SECURITY);
	ata.password[0] = 'x';
	ata.security = SECURITY | ENABLED | LOCKED;
	assert_int_equal(ata_unlock(&erasing.machine.host, 0, &e), -1);
	assert_non_null(strstr(e.text, "not drover's"));
	/* A drive that is not locked gets no unlock command. */
	ata.unlocks = 0;
	ata.security = SECURITY;
	assert_ok(ata_unlock(&erasing.machine.host, 0, &e), &e);
	assert_int_equal(ata.unlocks, 0);
}

static void a_drive_that_answers_nothing_is_overwritten(void **state)
{
	(void)state;
	ata.mute = true;
	assert_wiped("Overwrite", WIPE_CLEAR);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, erasing_teardown)
	const struct CMUnitTest tests[] = {
		T(the_best_sanitize_is_sent_and_followed_to_its_end),
		T(a_sanitize_that_failed_is_followed_by_one_other_and_nothing_less),
		T(a_sanitize_that_is_lost_or_lies_is_replaced_by_nothing),
		T(what_runs_or_failed_before_is_ended_first),
		T(a_refused_or_frozen_sanitize_falls_to_security_erase),
		T(a_security_erase_that_is_refused_leaves_no_password),
		T(a_security_erase_that_lies_is_found_out_and_overwritten),
		T(a_frozen_drive_is_overwritten_and_says_why_it_is_no_more),
		T(a_drive_that_drover_locked_is_unlocked),
		T(a_drive_that_answers_nothing_is_overwritten),
	};

	mem_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
