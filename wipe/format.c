#include "wipe/format.h"

#include <errno.h>
#include <linux/nvme_ioctl.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include "wipe/dio.h"

#define ASK_MS 1000
#define FIRST_MS 50 /* Delay of the first poll in ms; most Formats end sooner. */
#define MINUTE_MS INT64_C(60000)

/* State of the second thread, which polls the progress while the Format command blocks the
 * first. */
struct watch {
	struct format *f;
	uint8_t *page;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t change;
	bool told, over;
};

int64_t format_limit_ms(enum format_erase erase, int64_t bytes)
{
	int64_t ms = 10 * MINUTE_MS;

	/* Allows more time for a user data erase only: a key is discarded at once, but blocks may
	 * be erased as slowly as they can be written. */
	if (erase == FORMAT_USER_DATA)
		ms = 30 * MINUTE_MS + bytes / 1000000;
	return ms < FORMAT_MOST_MS ? ms : FORMAT_MOST_MS;
}

/* Returns the percentage that remains; -1: not reported. */
static int percent_left(const struct watch *w)
{
	const struct format *f = w->f;
	struct nvme_passthru_cmd c = {
		.opcode = 0x06,
		.nsid = f->nvme->nsid,
		.addr = (uintptr_t)w->page,
		.data_len = NVME_PAGE,
		.timeout_ms = 10000,
	};

	if (f->host->nvme_admin(f->fd, &c) != 0 || !(w->page[32] & 0x80) ||
	    (w->page[32] & 0x7f) > 100)
		return -1;
	return w->page[32] & 0x7f;
}

/* Polls once and updates the progress. Until a remaining percentage above 0 was reported, the time
 * limit is that of the whole Format; afterwards it is the limit between two changes of the
 * percentage. */
static void ask(struct watch *w)
{
	const struct format *f = w->f;
	int left = percent_left(w);

	/* Accepts 0 % remaining only after a larger value, because a drive may also report 0 %
	 * before the Format begins. */
	w->told |= left > 0;
	if (left < 0 || !w->told)
		return;
	atomic_store(f->patience_ms, f->host->stall_ms ? f->host->stall_ms : FORMAT_STALL_MS);
	atomic_store(f->done, f->bytes / 100 * (100 - left));
}

static bool over_in(struct watch *w, int64_t ms)
{
	struct timespec t;
	bool over;

	clock_gettime(CLOCK_MONOTONIC, &t);
	t.tv_nsec += ms % 1000 * 1000000;
	t.tv_sec += ms / 1000 + t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	pthread_mutex_lock(&w->lock);
	while (!w->over && pthread_cond_timedwait(&w->change, &w->lock, &t) != ETIMEDOUT) {
	}
	over = w->over;
	pthread_mutex_unlock(&w->lock);
	return over;
}

static void *run_watch(void *arg)
{
	struct watch *w = arg;

	for (int64_t ms = FIRST_MS; !over_in(w, ms); ms = 2 * ms < ASK_MS ? 2 * ms : ASK_MS)
		ask(w);
	return NULL;
}

static bool watch_start(struct watch *w, struct format *f)
{
	pthread_condattr_t monotonic;

	*w = (struct watch){.f = f, .page = dio_buffer(NVME_PAGE)};
	pthread_mutex_init(&w->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&w->change, &monotonic);
	pthread_condattr_destroy(&monotonic);
	return !pthread_create(&w->thread, NULL, run_watch, w);
}

static void watch_end(struct watch *w, bool runs)
{
	pthread_mutex_lock(&w->lock);
	w->over = true;
	pthread_cond_signal(&w->change);
	pthread_mutex_unlock(&w->lock);
	if (runs)
		pthread_join(w->thread, NULL);
	pthread_cond_destroy(&w->change);
	pthread_mutex_destroy(&w->lock);
	free(w->page);
}

int format_run(struct format *f, enum format_erase erase, struct err *e)
{
	struct nvme_passthru_cmd c = {
		.opcode = 0x80,
		/* Addresses a Format that affects all namespaces to FFFFFFFFh (all namespaces), so
		 * that no firmware stops after one namespace. */
		.nsid = f->nvme->format_all && f->nvme->broadcast ? 0xffffffff : f->nvme->nsid,
		.cdw10 = f->nvme->lbaf | (uint32_t)erase << 9,
		.timeout_ms = FORMAT_MOST_MS,
	};
	struct watch w;
	bool runs = watch_start(&w, f);
	int rc = f->host->nvme_admin(f->fd, &c), error = errno;

	watch_end(&w, runs);
	f->status = rc < 0 ? error : rc;
	if (rc < 0)
		return err_errno(e, error, "Format NVM");
	if (rc > 0)
		return err_set(e, ERR_UNSUPPORTED, rc, "Format NVM: status %xh", (unsigned)rc);
	return 0;
}
