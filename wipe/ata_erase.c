#include "wipe/ata_erase.h"

#include <errno.h>
#include <string.h>
#include "wipe/sat.h"

#define ERR_BIT 0x01
#define FAULT_BIT 0x20
#define MINUTE_MS INT64_C(60000)

enum {
	IDENTIFY = 0xec,
	SANITIZE = 0xb4,
	SECURITY_SET_PASSWORD = 0xf1,
	SECURITY_UNLOCK = 0xf2,
	SECURITY_ERASE_PREPARE = 0xf3,
	SECURITY_ERASE_UNIT = 0xf4,
	SECURITY_DISABLE_PASSWORD = 0xf6,
};
enum { SANITIZE_STATUS = 0x00, CRYPTO_SCRAMBLE = 0x11, BLOCK_ERASE = 0x12, OVERWRITE = 0x14 };
/* Bits of the count register, in SANITIZE commands and in their results. */
enum { CLEAR_FAILED = 1 << 0, ONE_PASS = 1 << 0, MAY_BE_CLEARED = 1 << 4 };
enum { SUCCEEDED = 1 << 15, IN_PROGRESS = 1 << 14, SANITIZE_FROZEN = 1 << 13 };
#define REASON_UNSUCCESSFUL 1 /* LBA 7:0 of an aborted SANITIZE STATUS: the last Sanitize failed */

static int run(const struct host *h, int fd, struct ata_command *c)
{
	if (h->ata(fd, c) < 0)
		return -1;
	return c->status & (ERR_BIT | FAULT_BIT) ? 1 : 0;
}

static int64_t answer_of(const struct ata_command *c)
{
	return c->status << 8 | c->error;
}

/* --- abilities -------------------------------------------------------------------------------- */

static uint16_t word(const uint8_t *page, size_t n)
{
	return (uint16_t)(page[2 * n] | page[2 * n + 1] << 8);
}

/* Converts word 89 or 90 of IDENTIFY, in units of 2 minutes, to ms. Returns 0 for the largest value
 * of the word, which means "longer than can be reported". */
static int64_t erase_time_ms(uint16_t w)
{
	unsigned most = w & 0x8000 ? 0x7fff : 0xff, n = w & most;

	return n == most ? 0 : n * 2 * MINUTE_MS;
}

static bool is_sanitize_frozen(const struct host *h, int fd)
{
	struct ata_command c = {.command = SANITIZE, .feature = SANITIZE_STATUS};

	return !run(h, fd, &c) && c.count & SANITIZE_FROZEN;
}

void ata_abilities(const struct host *h, int fd, struct ata_abilities *out)
{
	uint8_t page[ATA_SECTOR] = {0};
	struct ata_command c = {.command = IDENTIFY, .count = 1, .data = page};
	uint16_t sanitize, security;

	memset(out, 0, sizeof(*out));
	if (run(h, fd, &c))
		return;
	sanitize = word(page, 59);
	security = word(page, 128);
	if (sanitize & 1 << 12)
		out->sanitize_frozen = is_sanitize_frozen(h, fd);
	if (sanitize & 1 << 12 && !out->sanitize_frozen)
		out->sanitizes = (sanitize & 1 << 13 ? SANITIZES_CRYPTO : 0) |
				 (sanitize & 1 << 15 ? SANITIZES_BLOCK : 0) |
				 (sanitize & 1 << 14 ? SANITIZES_OVERWRITE : 0);
	out->erase = word(page, 82) & 1 << 1 && security & 1 << 0;
	out->erase_enhanced = out->erase && security & 1 << 5;
	out->trusted = (word(page, 48) & 0xc001) == 0x4001;
	out->enabled = security & 1 << 1;
	out->locked = security & 1 << 2;
	out->erase_frozen = security & 1 << 3;
	out->erase_ms = erase_time_ms(word(page, 89));
	out->enhanced_ms = erase_time_ms(word(page, 90));
}

/* --- SANITIZE DEVICE -------------------------------------------------------------------------- */

static int read_status(struct sanitize *s, uint16_t count, struct ata_command *c)
{
	int rc;

	*c = (struct ata_command){.command = SANITIZE, .feature = SANITIZE_STATUS, .count = count};
	rc = run(s->host, s->fd, c);
	s->status = rc > 0 ? answer_of(c) | (int64_t)(c->lba & 0xff) << 16 : c->count;
	return rc;
}

static enum sanitize_report ask(struct sanitize *s, unsigned *progress)
{
	struct ata_command c;
	int rc = read_status(s, 0, &c);

	if (rc < 0)
		return SANITIZE_REPORT_NOTHING;
	if (rc > 0)
		return (c.lba & 0xff) == REASON_UNSUCCESSFUL ? SANITIZE_REPORT_FAILED
							     : SANITIZE_REPORT_NONSENSE;
	if (c.count & IN_PROGRESS) {
		*progress = c.lba & 0xffff;
		return SANITIZE_REPORT_RUNNING;
	}
	return c.count & SUCCEEDED ? SANITIZE_REPORT_DONE : SANITIZE_REPORT_NONSENSE;
}

static enum sanitize_end begin(struct sanitize *s, unsigned action, uint16_t flags, struct err *e)
{
	struct ata_command c = {.command = SANITIZE, .count = flags};
	int rc;

	switch (action) {
	case SANITIZE_CRYPTO:
		c.feature = CRYPTO_SCRAMBLE;
		c.lba = 0x43727970; /* "Cryp" */
		break;
	case SANITIZE_BLOCK:
		c.feature = BLOCK_ERASE;
		c.lba = 0x426b4572; /* "BkEr" */
		break;
	default:
		c.feature = OVERWRITE;
		c.count |= ONE_PASS;	       /* 0 means 16 passes */
		c.lba = INT64_C(0x4f57) << 32; /* "OW", and a pattern of zeros */
		break;
	}
	rc = run(s->host, s->fd, &c);
	s->status = rc < 0 ? errno : rc ? answer_of(&c) : 0;
	if (rc < 0)
		err_note_errno(e, errno, "SANITIZE DEVICE");
	if (rc > 0)
		err_note(e, ERR_UNSUPPORTED, 0, "SANITIZE DEVICE: status %02xh, error %02xh",
			 c.status, c.error);
	return rc ? SANITIZE_REFUSED : sanitize_follow(s, action, "SANITIZE DEVICE", ask, e);
}

static enum sanitize_end run_sanitize(struct sanitize *s, enum sanitize_action action,
				      struct err *e)
{
	return begin(s, action, MAY_BE_CLEARED, e);
}

static enum sanitize_end wait_for(struct sanitize *s, struct err *e)
{
	struct ata_command c;
	int rc = read_status(s, 0, &c);

	if (rc > 0 && (c.lba & 0xff) == REASON_UNSUCCESSFUL) {
		err_note(e, ERR_PROTOCOL, 0, "an earlier SANITIZE DEVICE failed");
		return SANITIZE_FAILED;
	}
	/* Assumes an overwrite, which has the longest limit, because the drive does not report
	 * which kind of Sanitize runs. */
	return !rc && c.count & IN_PROGRESS
		       ? sanitize_follow(s, SANITIZE_OVERWRITE, "SANITIZE DEVICE", ask, e)
		       : SANITIZE_DONE;
}

static int recover(struct sanitize *s, unsigned action, struct err *e)
{
	struct ata_command c;

	if (!read_status(s, CLEAR_FAILED, &c)) {
		s->status = 0;
		return 0;
	}
	s->status = 0;
	if (!action)
		return err_set(e, ERR_UNSUPPORTED, 0,
			       "the drive does not leave the failure mode of SANITIZE DEVICE");
	return begin(s, action, 0, e) == SANITIZE_DONE ? 0 : -1;
}

const struct sanitize_ops ata_sanitize = {
	.run = run_sanitize, .wait = wait_for, .recover = recover};

/* --- SECURITY ERASE UNIT ---------------------------------------------------------------------- */

int64_t ata_erase_limit_ms(const struct ata_abilities *a, bool enhanced)
{
	int64_t said = enhanced ? a->enhanced_ms : a->erase_ms;

	/* Allows twice the drive's own estimate plus 10 minutes, or 24 hours without an estimate:
	 * some drives report nothing for 18 hours and then succeed. */
	return said ? 2 * said + 10 * MINUTE_MS : 24 * 60 * MINUTE_MS;
}

/* Sends a command with ATA_PASSWORD as the user password. flags: value of word 0 of the command's
 * data. */
static int with_password(const struct host *h, int fd, uint8_t command, uint8_t flags,
			 int64_t timeout_ms, struct ata_command *c)
{
	uint8_t page[ATA_SECTOR] = {flags};
	int rc;

	memcpy(page + 2, ATA_PASSWORD, strlen(ATA_PASSWORD));
	*c = (struct ata_command){.command = command,
				  .count = 1,
				  .data = page,
				  .write = true,
				  .timeout_ms = timeout_ms};
	rc = run(h, fd, c);
	c->data = NULL;
	return rc;
}

static int refused(int rc, const struct ata_command *c, const char *what, int64_t *status,
		   struct err *e)
{
	*status = rc < 0 ? errno : answer_of(c);
	if (rc < 0)
		return err_errno(e, errno, "%s", what);
	return err_set(e, ERR_UNSUPPORTED, 0, "%s: status %02xh, error %02xh", what, c->status,
		       c->error);
}

static int erase_unit(const struct host *h, int fd, bool enhanced, int64_t limit_ms,
		      int64_t *status, struct err *e)
{
	struct ata_command c = {.command = SECURITY_ERASE_PREPARE};
	int rc = run(h, fd, &c);

	if (rc)
		return refused(rc, &c, "SECURITY ERASE PREPARE", status, e);
	rc = with_password(h, fd, SECURITY_ERASE_UNIT, enhanced ? 1 << 1 : 0, limit_ms, &c);
	return rc ? refused(rc, &c, "SECURITY ERASE UNIT", status, e) : 0;
}

int ata_erase(const struct host *h, int fd, bool enhanced, int64_t limit_ms, int64_t *status,
	      struct err *e)
{
	struct ata_command c;
	struct err ignored;
	int rc = with_password(h, fd, SECURITY_SET_PASSWORD, 0, 0, &c);

	*status = 0;
	if (rc)
		return refused(rc, &c, "SECURITY SET PASSWORD", status, e);
	if (!erase_unit(h, fd, enhanced, limit_ms, status, e))
		return 0;
	(void)!ata_unlock(h, fd, &ignored);
	return -1;
}

int ata_unlock(const struct host *h, int fd, struct err *e)
{
	struct ata_abilities now;
	struct ata_command c;

	ata_abilities(h, fd, &now);
	if (now.locked && with_password(h, fd, SECURITY_UNLOCK, 0, 0, &c))
		return err_set(e, ERR_DENIED, 0,
			       "the drive is locked by a password that is not drover's");
	if (now.enabled)
		(void)with_password(h, fd, SECURITY_DISABLE_PASSWORD, 0, 0, &c);
	return 0;
}
