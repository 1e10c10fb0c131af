#include "wipe/sanitize.h"

#include <errno.h>
#include <linux/nvme_ioctl.h>
#include <string.h>
#include <time.h>

#define LOG_BYTES 512
#define POLL_MS 100
#define UNREADABLE_MS 60000 /* a drive may be deaf for a moment */

enum state { NEVER, DONE, RUNNING, FAILED, DONE_DEALLOCATED };

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * (int64_t)1000 + t.tv_nsec / 1000000;
}

static int start(const struct host *h, int fd, enum sanitize_action action)
{
	struct nvme_passthru_cmd c = {
		.opcode = 0x84, .cdw10 = (uint32_t)action, .timeout_ms = 60000};

	/* One pass of zeros; 0 would mean sixteen. */
	if (action == SANITIZE_OVERWRITE)
		c.cdw10 |= 1u << 4;
	return h->nvme_admin(fd, &c);
}

static int read_log(const struct host *h, int fd, uint8_t *log)
{
	struct nvme_passthru_cmd c = {
		.opcode = 0x02,
		.nsid = 0xffffffff,
		.addr = (uintptr_t)log,
		.data_len = LOG_BYTES,
		.cdw10 = 0x81u | (LOG_BYTES / 4 - 1) << 16,
		.timeout_ms = 10000,
	};

	memset(log, 0, LOG_BYTES);
	return h->nvme_admin(fd, &c);
}

/* Until the one that runs is done. */
static int follow(const struct host *h, int fd, uint8_t *log, _Atomic int64_t *done, int64_t total,
		  int64_t *status, struct err *e)
{
	int64_t moved = now_ms(), heard = moved;
	unsigned last = 0;

	for (;;) {
		struct timespec nap = {.tv_nsec = POLL_MS * 1000000};
		unsigned progress, state;

		nanosleep(&nap, NULL);
		if (read_log(h, fd, log) != 0) {
			if (now_ms() - heard < UNREADABLE_MS)
				continue;
			*status = EIO;
			return err_set(e, ERR_TIMEOUT, 0,
				       "Sanitize: the drive does not say how far it is");
		}
		heard = now_ms();
		progress = log[0] | (unsigned)log[1] << 8;
		state = log[2] & 7u;
		*status = log[2] | log[3] << 8;
		if (state == DONE || state == DONE_DEALLOCATED) {
			*status = 0;
			return 0;
		}
		if (state != RUNNING)
			return err_set(e, ERR_PROTOCOL, (int)*status,
				       "Sanitize failed: status log %xh", (unsigned)*status);
		if (progress < last)
			return err_set(e, ERR_PROTOCOL, (int)*status,
				       "Sanitize: progress went back from %u to %u", last,
				       progress);
		if (progress > last)
			moved = heard;
		if (heard - moved > SANITIZE_STALL_MS)
			return err_set(e, ERR_TIMEOUT, (int)*status,
				       "Sanitize: stuck at %u of 65536", progress);
		last = progress;
		atomic_store(done, total / 65536 * progress);
	}
}

int sanitize_run(const struct host *h, int fd, enum sanitize_action action, uint8_t *log,
		 _Atomic int64_t *done, int64_t total, int64_t *status, bool *started,
		 struct err *e)
{
	int rc = start(h, fd, action);

	*status = rc < 0 ? errno : rc;
	if (rc < 0)
		return err_errno(e, errno, "Sanitize");
	if (rc > 0)
		return err_set(e, ERR_UNSUPPORTED, rc, "Sanitize: status %xh", (unsigned)rc);
	*started = true;
	return follow(h, fd, log, done, total, status, e);
}

int sanitize_wait(const struct host *h, int fd, uint8_t *log, _Atomic int64_t *done, int64_t total,
		  struct err *e)
{
	int64_t status;

	if (read_log(h, fd, log) != 0 || (log[2] & 7u) != RUNNING)
		return 0;
	return follow(h, fd, log, done, total, &status, e);
}
