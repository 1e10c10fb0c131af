#include "wipe/scsi_erase.h"

#include <errno.h>
#include <string.h>
#include "wipe/scsi.h"

enum {
	TEST_UNIT_READY = 0x00,
	REQUEST_SENSE = 0x03,
	FORMAT_UNIT = 0x04,
	INQUIRY = 0x12,
	SANITIZE = 0x48,
	WRITE_SAME_16 = 0x93,
	/* Opcode of READ CAPACITY(16), with service action 10h. */
	READ_CAPACITY_16 = 0x9e,
	/* Opcode of REPORT SUPPORTED OPERATION CODES, with service action 0Ch. */
	MAINTENANCE_IN = 0xa3,
};
/* Service actions of SANITIZE, in byte 1. */
enum { OVERWRITE = 0x01, BLOCK_ERASE = 0x02, CRYPTO_ERASE = 0x03, EXIT_FAILURE = 0x1f };
enum { IMMED = 0x80, AUSE = 0x20 };
enum { NO_SENSE = 0x0, NOT_READY = 0x2, UNIT_ATTENTION = 0x6 };
/* Additional sense codes. ASC_CORRUPTED: a format or Sanitize failed. */
enum { ASC_NOT_READY = 0x04, ASC_CORRUPTED = 0x31 };
/* Qualifiers of ASC_NOT_READY: format in progress, Sanitize in progress. */
enum { FORMATS = 0x04, SANITIZES_NOW = 0x1b };

/* Largest number of bytes per WRITE SAME, so that a slow drive still shows progress. */
#define SAME_MOST (64u << 20)
#define SAME_TIMEOUT_MS (2 * 60 * 1000)

static uint32_t u32_at(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static void put(uint8_t *p, size_t n, uint64_t v)
{
	while (n--) {
		p[n] = (uint8_t)v;
		v >>= 8;
	}
}

static int64_t answer_of(const struct scsi_command *c)
{
	return c->status | (int64_t)c->sense.key << 8 | (int64_t)c->sense.asc << 16 |
	       (int64_t)c->sense.ascq << 24;
}

static int run(const struct host *h, int fd, struct scsi_command *c)
{
	if (h->scsi(fd, c) < 0)
		return -1;
	return c->status == SCSI_GOOD ? 0 : 1;
}

/* Reports a failed command in *e and *status, and returns -1. rc: the return value of run(), which
 * must not be 0. */
static int refused(int rc, const struct scsi_command *c, const char *what, int64_t *status,
		   struct err *e)
{
	*status = rc < 0 ? errno : answer_of(c);
	if (rc < 0)
		return err_errno(e, errno, "%s", what);
	return err_set(e, ERR_UNSUPPORTED, 0, "%s: status %02xh, sense %xh/%02xh/%02xh", what,
		       c->status, c->sense.key, c->sense.asc, c->sense.ascq);
}

/* --- abilities -------------------------------------------------------------------------------- */

/* True if the drive reports that it supports the command. action: service action of the command;
 * -1: the command has none. */
static bool knows(const struct host *h, int fd, uint8_t *page, uint8_t opcode, int action)
{
	struct scsi_command c = {.cdb = {MAINTENANCE_IN, 0x0c, action < 0 ? 1 : 2, opcode},
				 .cdb_len = 12,
				 .data = page,
				 .len = 64};

	put(c.cdb + 4, 2, action < 0 ? 0 : (uint64_t)action);
	put(c.cdb + 6, 4, c.len);
	memset(page, 0, c.len);
	return !run(h, fd, &c) && c.got >= 4 && (page[1] & 7) == 3;
}

/* Reads the block size into out->block, and whether the drive uses protection information. -1: not
 * reported. */
static int read_format(const struct host *h, int fd, uint8_t *page, struct scsi_abilities *out,
		       bool *protected)
{
	struct scsi_command c = {
		.cdb = {READ_CAPACITY_16, 0x10}, .cdb_len = 16, .data = page, .len = 32};

	put(c.cdb + 10, 4, c.len);
	memset(page, 0, c.len);
	if (run(h, fd, &c) || c.got < 13)
		return -1;
	out->block = u32_at(page + 8);
	*protected = page[12] & 1;
	return out->block >= 512 && out->block <= 4096 ? 0 : -1;
}

/* Returns the largest number of blocks of one WRITE SAME: the drive's limit (block limits page, VPD
 * B0h), and at most SAME_MOST bytes. */
static uint32_t same_most(const struct host *h, int fd, uint8_t *page, uint32_t block)
{
	struct scsi_command c = {
		.cdb = {INQUIRY, 1, 0xb0, 0, 64}, .cdb_len = 6, .data = page, .len = 64};
	uint32_t most = SAME_MOST / block;

	memset(page, 0, c.len);
	if (!run(h, fd, &c) && c.got >= 44 && page[1] == 0xb0 && !u32_at(page + 36) &&
	    u32_at(page + 40) && u32_at(page + 40) < most)
		most = u32_at(page + 40);
	return most;
}

void scsi_abilities(const struct host *h, int fd, uint8_t *page, struct scsi_abilities *out)
{
	bool protected = false;

	memset(out, 0, sizeof(*out));
	out->sanitizes = (knows(h, fd, page, SANITIZE, CRYPTO_ERASE) ? SANITIZES_CRYPTO : 0) |
			 (knows(h, fd, page, SANITIZE, BLOCK_ERASE) ? SANITIZES_BLOCK : 0) |
			 (knows(h, fd, page, SANITIZE, OVERWRITE) ? SANITIZES_OVERWRITE : 0);
	if (read_format(h, fd, page, out, &protected) < 0)
		return;
	/* Does not format a drive with protection information: its format must not change, and
	 * drives differ in how the present protection type is requested. */
	out->format = !protected && knows(h, fd, page, FORMAT_UNIT, -1);
	if (knows(h, fd, page, WRITE_SAME_16, -1))
		out->same = same_most(h, fd, page, out->block);
}

/* --- progress --------------------------------------------------------------------------------- */

static bool is_at_work(const struct scsi_sense *s)
{
	return s->key == NOT_READY && s->asc == ASC_NOT_READY &&
	       (s->ascq == FORMATS || s->ascq == SANITIZES_NOW);
}

/* Asks the drive whether the last erase succeeded. Call it after an erase has ended, because the
 * end of an erase does not by itself prove success. */
static enum sanitize_report is_ready(struct sanitize *s)
{
	struct scsi_command c = {.cdb = {TEST_UNIT_READY}, .cdb_len = 6};
	int rc = run(s->host, s->fd, &c);

	if (rc < 0)
		return SANITIZE_REPORT_NOTHING;
	s->status = rc ? answer_of(&c) : 0;
	if (!rc)
		return SANITIZE_REPORT_DONE;
	if (is_at_work(&c.sense))
		return SANITIZE_REPORT_RUNNING;
	if (c.sense.key == UNIT_ATTENTION || c.status != SCSI_CHECK)
		/* Says nothing about the erase; the caller polls again. */
		return SANITIZE_REPORT_NOTHING;
	return c.sense.asc == ASC_CORRUPTED ? SANITIZE_REPORT_FAILED : SANITIZE_REPORT_NONSENSE;
}

static enum sanitize_report ask(struct sanitize *s, unsigned *progress)
{
	struct scsi_command c = {
		.cdb = {REQUEST_SENSE, 0, 0, 0, 64}, .cdb_len = 6, .data = s->page, .len = 64};
	struct scsi_sense sense;

	memset(s->page, 0, c.len);
	if (run(s->host, s->fd, &c) || !scsi_sense_read(s->page, c.got, &sense))
		return SANITIZE_REPORT_NOTHING;
	if (!is_at_work(&sense))
		return is_ready(s);
	*progress = sense.tells ? sense.progress : 0;
	s->status = sense.key << 8 | sense.asc << 16 | (int64_t)sense.ascq << 24;
	return SANITIZE_REPORT_RUNNING;
}

/* --- SANITIZE, FORMAT UNIT -------------------------------------------------------------------- */

static enum sanitize_end begin(struct sanitize *s, unsigned action, uint8_t flags, struct err *e)
{
	/* Parameter list: one pass with a pattern of four zero bytes. */
	static const uint8_t zeros[] = {0x01, 0, 0, 4, 0, 0, 0, 0};
	struct scsi_command c = {.cdb = {SANITIZE}, .cdb_len = 10};
	int rc;

	c.cdb[1] = (uint8_t)(IMMED | flags |
			     (action == SANITIZE_CRYPTO	 ? CRYPTO_ERASE
			      : action == SANITIZE_BLOCK ? BLOCK_ERASE
							 : OVERWRITE));
	if (action == SANITIZE_OVERWRITE) {
		memcpy(s->page, zeros, sizeof(zeros));
		c.data = s->page;
		c.len = sizeof(zeros);
		c.write = true;
		put(c.cdb + 7, 2, c.len);
	}
	rc = run(s->host, s->fd, &c);
	s->status = 0;
	if (rc) {
		(void)!refused(rc, &c, "SANITIZE", &s->status, e);
		return SANITIZE_REFUSED;
	}
	return sanitize_follow(s, action, "SANITIZE", ask, e);
}

static enum sanitize_end run_sanitize(struct sanitize *s, enum sanitize_action action,
				      struct err *e)
{
	return begin(s, action, AUSE, e);
}

static enum sanitize_end wait_for(struct sanitize *s, struct err *e)
{
	unsigned progress;
	enum sanitize_report said = ask(s, &progress);

	if (said == SANITIZE_REPORT_RUNNING)
		return sanitize_follow(s, SANITIZE_OVERWRITE, "SANITIZE", ask, e);
	if (said != SANITIZE_REPORT_FAILED)
		return SANITIZE_DONE;
	err_note(e, ERR_PROTOCOL, (int)s->status, "an earlier SANITIZE failed: status %xh",
		 (unsigned)s->status);
	return SANITIZE_FAILED;
}

static int recover(struct sanitize *s, unsigned action, struct err *e)
{
	struct scsi_command c = {.cdb = {SANITIZE, EXIT_FAILURE}, .cdb_len = 10};
	int rc = run(s->host, s->fd, &c);

	s->status = 0;
	if (!rc)
		return 0;
	if (action)
		return begin(s, action, 0, e) == SANITIZE_DONE ? 0 : -1;
	return refused(rc, &c, "Exit Failure Mode", &s->status, e);
}

const struct sanitize_ops scsi_sanitize = {
	.run = run_sanitize, .wait = wait_for, .recover = recover};

enum sanitize_end scsi_format(struct sanitize *s, struct err *e)
{
	/* Sets FMTDATA, with a parameter list that has IMMED and no defect list. */
	struct scsi_command c = {
		.cdb = {FORMAT_UNIT, 0x10}, .cdb_len = 6, .data = s->page, .len = 4, .write = true};
	int rc;

	memset(s->page, 0, c.len);
	s->page[1] = 0x02;
	rc = run(s->host, s->fd, &c);
	s->status = 0;
	if (rc) {
		(void)!refused(rc, &c, "FORMAT UNIT", &s->status, e);
		return SANITIZE_REFUSED;
	}
	return sanitize_follow(s, SANITIZE_OVERWRITE, "FORMAT UNIT", ask, e);
}

/* --- WRITE SAME ------------------------------------------------------------------------------- */

int scsi_write_same(struct sanitize *s, const struct scsi_abilities *can, _Atomic int64_t *erased,
		    struct err *e)
{
	uint64_t end = (uint64_t)(s->total / can->block);

	memset(s->page, 0, can->block);
	for (uint64_t at = 0; at < end;) {
		uint64_t n = end - at < can->same ? end - at : can->same;
		struct scsi_command c = {.cdb = {WRITE_SAME_16},
					 .cdb_len = 16,
					 .data = s->page,
					 .len = can->block,
					 .write = true,
					 .timeout_ms = SAME_TIMEOUT_MS};
		int rc;

		put(c.cdb + 2, 8, at);
		put(c.cdb + 10, 4, n);
		rc = run(s->host, s->fd, &c);
		if (rc)
			return refused(rc, &c, "WRITE SAME", &s->status, e);
		at += n;
		atomic_store(s->done, (int64_t)(at * can->block));
		atomic_store(erased, (int64_t)(at * can->block));
	}
	return 0;
}
