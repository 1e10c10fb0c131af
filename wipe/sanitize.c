#include "wipe/sanitize.h"

#include <errno.h>
#include <linux/nvme_ioctl.h>
#include <string.h>
#include <time.h>

#define LOG_BYTES 512
#define POLL_FIRST_MS 10 /* a key is thrown away in no time */
#define POLL_MS 500
#define UNREADABLE_MS 60000 /* a drive may be deaf for a moment */

enum state { NEVER, DONE, RUNNING, FAILED, DONE_DEALLOCATED };

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * (int64_t)1000 + t.tv_nsec / 1000000;
}

/* Dword 10: allow unrestricted Sanitize exit.  Without it a drive that fails at every kind is lost to everyone. */
#define AUSE 8u

static int send(const struct sanitize *s, enum sanitize_action action, uint32_t flags)
{
	struct nvme_passthru_cmd c = {
		.opcode = 0x84, .cdw10 = (uint32_t)action | flags, .timeout_ms = 60000};

	/* One pass of zeros; 0 would mean sixteen. */
	if (action == SANITIZE_OVERWRITE)
		c.cdw10 |= 1u << 4;
	return s->host->nvme_admin(s->fd, &c);
}

static int read_log(const struct sanitize *s)
{
	struct nvme_passthru_cmd c = {
		.opcode = 0x02,
		.nsid = 0xffffffff,
		.addr = (uintptr_t)s->log,
		.data_len = LOG_BYTES,
		.cdw10 = 0x81u | (LOG_BYTES / 4 - 1) << 16,
		.timeout_ms = 10000,
	};

	memset(s->log, 0, LOG_BYTES);
	return s->host->nvme_admin(s->fd, &c);
}

static enum state state_of(const uint8_t *log)
{
	return log[2] & 7u;
}

/* Until the one that runs is done. */
static enum sanitize_end follow(struct sanitize *s, struct err *e)
{
	int64_t moved = now_ms(), heard = moved;
	unsigned last = 0;
	long poll_ms = POLL_FIRST_MS;

	for (;;) {
		struct timespec nap = {.tv_nsec = poll_ms * 1000000};
		unsigned progress;
		enum state state;

		nanosleep(&nap, NULL);
		poll_ms = 2 * poll_ms < POLL_MS ? 2 * poll_ms : POLL_MS;
		if (read_log(s) != 0) {
			if (now_ms() - heard < UNREADABLE_MS)
				continue;
			s->status = EIO;
			(void)!err_set(e, ERR_TIMEOUT, 0,
				       "Sanitize: the drive does not say how far it is");
			return SANITIZE_LOST;
		}
		heard = now_ms();
		progress = s->log[0] | (unsigned)s->log[1] << 8;
		state = state_of(s->log);
		s->status = s->log[2] | s->log[3] << 8;
		if (state == DONE || state == DONE_DEALLOCATED) {
			s->status = 0;
			return SANITIZE_DONE;
		}
		if (state != RUNNING) {
			(void)!err_set(e, ERR_PROTOCOL, (int)s->status,
				       "Sanitize failed: status log %xh", (unsigned)s->status);
			return state == FAILED ? SANITIZE_FAILED : SANITIZE_LOST;
		}
		if (progress < last) {
			(void)!err_set(e, ERR_PROTOCOL, (int)s->status,
				       "Sanitize: progress went back from %u to %u", last,
				       progress);
			return SANITIZE_LOST;
		}
		if (progress > last)
			moved = heard;
		if (heard - moved > SANITIZE_STALL_MS) {
			(void)!err_set(e, ERR_TIMEOUT, (int)s->status,
				       "Sanitize: stuck at %u of 65536", progress);
			return SANITIZE_LOST;
		}
		last = progress;
		atomic_store(s->done, s->total / 65536 * progress);
	}
}

static enum sanitize_end run(struct sanitize *s, enum sanitize_action action, uint32_t flags,
			     struct err *e)
{
	int rc = send(s, action, flags);

	s->status = rc < 0 ? errno : rc;
	if (rc < 0)
		(void)!err_errno(e, errno, "Sanitize");
	if (rc > 0)
		(void)!err_set(e, ERR_UNSUPPORTED, rc, "Sanitize: status %xh", (unsigned)rc);
	return rc ? SANITIZE_REFUSED : follow(s, e);
}

enum sanitize_end sanitize_run(struct sanitize *s, enum sanitize_action action, struct err *e)
{
	return run(s, action, AUSE, e);
}

enum sanitize_end sanitize_wait(struct sanitize *s, struct err *e)
{
	if (read_log(s) != 0)
		return SANITIZE_DONE;
	s->status = s->log[2] | s->log[3] << 8;
	if (state_of(s->log) == FAILED) {
		(void)!err_set(e, ERR_PROTOCOL, (int)s->status,
			       "an earlier Sanitize failed: status log %xh", (unsigned)s->status);
		return SANITIZE_FAILED;
	}
	return state_of(s->log) == RUNNING ? follow(s, e) : SANITIZE_DONE;
}

unsigned sanitize_failed_action(const struct sanitize *s)
{
	return s->log[4] & 7u;
}

int sanitize_recover(struct sanitize *s, unsigned action, struct err *e)
{
	int rc;

	if (read_log(s) != 0)
		return err_set(e, ERR_PROTOCOL, 0, "the status of the Sanitize cannot be read");
	if (!(s->log[4] & AUSE))
		return action && run(s, action, 0, e) == SANITIZE_DONE ? 0 : -1;
	rc = send(s, SANITIZE_EXIT_FAILURE, 0);
	if (rc < 0)
		return err_errno(e, errno, "Exit Failure Mode");
	if (rc > 0)
		return err_set(e, ERR_UNSUPPORTED, rc, "Exit Failure Mode: status %xh",
			       (unsigned)rc);
	return 0;
}
