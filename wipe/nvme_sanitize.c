/*
 * nvme_sanitize: Sanitize of NVMe (NVM Express Base 2.0: opcode 84h, log page 81h), which erases a
 * whole subsystem.
 * Tests: tests/unit/wipe/test_erase_nvme.c, tests/unit/wipe/test_subsystem.c
 */
#include "wipe/sanitize.h"

#include <errno.h>
#include <linux/nvme_ioctl.h>
#include <string.h>

#define LOG_BYTES 512
/* AUSE, "allow unrestricted Sanitize exit": bit in dword 10. Without this bit, a drive on which
 * each kind of Sanitize fails can never be used again. */
#define AUSE 8u

enum state { NEVER, DONE, RUNNING, FAILED, DONE_DEALLOCATED };

static int send(const struct sanitize *s, enum sanitize_action action, uint32_t flags)
{
	struct nvme_passthru_cmd c = {
		.opcode = 0x84, .cdw10 = (uint32_t)action | flags, .timeout_ms = 60000};

	/* Requests one pass of zeros; a pass count of 0 would mean 16 passes. */
	if (action == SANITIZE_OVERWRITE)
		c.cdw10 |= 1u << 4;
	return s->host->nvme_admin(s->fd, &c);
}

static uint32_t u32_at(const struct sanitize *s, size_t at)
{
	return s->page[at] | (uint32_t)s->page[at + 1] << 8 | (uint32_t)s->page[at + 2] << 16 |
	       (uint32_t)s->page[at + 3] << 24;
}

/* Returns the Sanitize action that the drive's log reports (SCDW10): enum sanitize_action. */
static unsigned action_of(const struct sanitize *s)
{
	return s->page[4] & 7u;
}

static int read_log(struct sanitize *s)
{
	struct nvme_passthru_cmd c = {
		.opcode = 0x02,
		.nsid = 0xffffffff,
		.addr = (uintptr_t)s->page,
		.data_len = LOG_BYTES,
		.cdw10 = 0x81u | (LOG_BYTES / 4 - 1) << 16,
		.timeout_ms = 10000,
	};
	uint32_t expected;

	memset(s->page, 0, LOG_BYTES);
	if (s->host->nvme_admin(s->fd, &c) != 0)
		return -1;
	s->status = s->page[2] | s->page[3] << 8;
	expected = u32_at(s, action_of(s) == SANITIZE_OVERWRITE ? 8
			     : action_of(s) == SANITIZE_BLOCK	? 12
								: 16);
	s->expected_ms = expected == UINT32_MAX ? 0 : expected * INT64_C(1000);
	return 0;
}

static enum state state_of(const struct sanitize *s)
{
	return s->page[2] & 7u;
}

static enum sanitize_report ask(struct sanitize *s, unsigned *progress)
{
	if (read_log(s) < 0)
		return SANITIZE_REPORT_NOTHING;
	*progress = s->page[0] | (unsigned)s->page[1] << 8;
	switch (state_of(s)) {
	case DONE:
	case DONE_DEALLOCATED:
		return SANITIZE_REPORT_DONE;
	case RUNNING:
		return SANITIZE_REPORT_RUNNING;
	case FAILED:
		return SANITIZE_REPORT_FAILED;
	case NEVER:
		break;
	}
	return SANITIZE_REPORT_NONSENSE;
}

static enum sanitize_end begin(struct sanitize *s, enum sanitize_action action, uint32_t flags,
			       struct err *e)
{
	int rc = send(s, action, flags);

	s->status = rc < 0 ? errno : rc;
	if (rc < 0)
		err_note_errno(e, errno, "Sanitize");
	if (rc > 0)
		err_note(e, ERR_UNSUPPORTED, rc, "Sanitize: status %xh", (unsigned)rc);
	return rc ? SANITIZE_REFUSED : sanitize_follow(s, action, "Sanitize", ask, e);
}

static enum sanitize_end run(struct sanitize *s, enum sanitize_action action, struct err *e)
{
	return begin(s, action, AUSE, e);
}

static enum sanitize_end wait_for(struct sanitize *s, struct err *e)
{
	enum sanitize_end end = SANITIZE_DONE;

	if (read_log(s) < 0)
		return SANITIZE_DONE;
	if (state_of(s) == RUNNING)
		end = sanitize_follow(s, action_of(s), "Sanitize", ask, e);
	if (state_of(s) == FAILED) {
		err_note(e, ERR_PROTOCOL, (int)s->status, "an earlier Sanitize failed: status %xh",
			 (unsigned)s->status);
		end = SANITIZE_FAILED;
	}
	s->failed = action_of(s);
	return end;
}

static int recover(struct sanitize *s, unsigned action, struct err *e)
{
	int rc;

	if (read_log(s) < 0)
		return err_set(e, ERR_PROTOCOL, 0, "the status of the Sanitize cannot be read");
	s->status = 0;
	if (!(s->page[4] & AUSE))
		return action && begin(s, action, 0, e) == SANITIZE_DONE ? 0 : -1;
	rc = send(s, SANITIZE_EXIT_FAILURE, 0);
	if (rc < 0)
		return err_errno(e, errno, "Exit Failure Mode");
	if (rc > 0)
		return err_set(e, ERR_UNSUPPORTED, rc, "Exit Failure Mode: status %xh",
			       (unsigned)rc);
	return 0;
}

const struct sanitize_ops nvme_sanitize = {.run = run, .wait = wait_for, .recover = recover};
