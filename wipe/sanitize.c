#include "wipe/sanitize.h"

#include <errno.h>
#include <linux/nvme_ioctl.h>
#include <string.h>
#include <time.h>

#define LOG_BYTES 512
#define POLL_FIRST_MS 10 /* a key is thrown away in no time */
#define POLL_MS 500
#define UNREADABLE_MS 60000 /* a drive may be deaf for a moment */
#define MINUTE_MS INT64_C(60000)
#define EXPECTED_MOST_S (24 * 3600)

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

/* Seconds that the drive expects for the whole; 0: it does not say. */
static int64_t expected_s(enum sanitize_action action, const uint8_t *log)
{
	size_t at = action == SANITIZE_OVERWRITE ? 8 : action == SANITIZE_BLOCK ? 12 : 16;
	uint32_t s = log[at] | (uint32_t)log[at + 1] << 8 | (uint32_t)log[at + 2] << 16 |
		     (uint32_t)log[at + 3] << 24;

	return s > EXPECTED_MOST_S ? 0 : s;
}

int64_t sanitize_stall_ms(enum sanitize_action action, const uint8_t *log, int64_t longest_ms)
{
	int64_t least = (longest_ms ? 5 : 10) * MINUTE_MS, ms = 8 * longest_ms;

	if (!longest_ms) {
		ms = 2000 * expected_s(action, log);
		if (!ms && action != SANITIZE_CRYPTO)
			ms = 30 * MINUTE_MS;
	} else if (ms > SANITIZE_SILENT_MS) {
		ms = SANITIZE_SILENT_MS;
	}
	return ms < least ? least : ms;
}

/* Until the one that runs is done. */
/* How it moves. */
struct pace {
	int64_t moved, heard, longest; /* ms */
	unsigned last;
};

/* Where it stands, and whether that is still progress. */
static int take_step(struct sanitize *s, struct pace *p, struct err *e)
{
	unsigned progress = s->log[0] | (unsigned)s->log[1] << 8;
	/* The command's own word of what runs (byte 4). */
	int64_t limit = sanitize_stall_ms(s->log[4] & 7u, s->log, p->longest);

	if (s->host->stall_ms)
		limit = s->host->stall_ms;
	atomic_store(s->patience_ms, limit + limit / 2 + 2 * UNREADABLE_MS);
	if (progress < p->last)
		return err_set(e, ERR_PROTOCOL, (int)s->status,
			       "Sanitize: progress went back from %u to %u", p->last, progress);
	if (progress > p->last) {
		if (p->heard - p->moved > p->longest)
			p->longest = p->heard - p->moved;
		p->moved = p->heard;
	}
	p->last = progress;
	atomic_store(s->done, s->total / 65536 * progress);
	if (p->heard - p->moved > limit)
		return err_set(e, ERR_TIMEOUT, (int)s->status,
			       "Sanitize: stuck at %u of 65536 for %d s", progress,
			       (int)((p->heard - p->moved) / 1000));
	return 0;
}

static enum sanitize_end follow(struct sanitize *s, struct err *e)
{
	struct pace pace = {.moved = now_ms()};
	long poll_ms = POLL_FIRST_MS;

	pace.heard = pace.moved;
	for (;;) {
		struct timespec nap = {.tv_nsec = poll_ms * 1000000};
		enum state state;

		nanosleep(&nap, NULL);
		poll_ms = 2 * poll_ms < POLL_MS ? 2 * poll_ms : POLL_MS;
		if (read_log(s) != 0) {
			if (now_ms() - pace.heard < UNREADABLE_MS)
				continue;
			s->status = EIO;
			(void)!err_set(e, ERR_TIMEOUT, 0,
				       "Sanitize: the drive does not say how far it is");
			return SANITIZE_LOST;
		}
		pace.heard = now_ms();
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
		if (take_step(s, &pace, e) < 0)
			return SANITIZE_LOST;
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
