#include "wipe/sanitize.h"

#include <errno.h>
#include <time.h>

#define POLL_FIRST_MS 10 /* First poll interval in ms; short, because a key is discarded at once. */
#define POLL_MS 500
#define UNREADABLE_MS 60000 /* Longest time without a readable status, in ms. */
#define MINUTE_MS INT64_C(60000)
#define EXPECTED_MOST_MS (24 * 60 * MINUTE_MS)

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * (int64_t)1000 + t.tv_nsec / 1000000;
}

int64_t sanitize_stall_ms(enum sanitize_action action, int64_t expected_ms, int64_t longest_ms)
{
	int64_t least = (longest_ms ? 5 : 10) * MINUTE_MS, ms = 8 * longest_ms;

	if (!longest_ms) {
		ms = expected_ms > EXPECTED_MOST_MS ? 0 : 2 * expected_ms;
		if (!ms && action != SANITIZE_CRYPTO)
			ms = 30 * MINUTE_MS;
	} else if (ms > SANITIZE_SILENT_MS) {
		ms = SANITIZE_SILENT_MS;
	}
	return ms < least ? least : ms;
}

/* Progress of a Sanitize over time. */
struct sanitize_pace {
	enum sanitize_action action;
	const char *what;
	/* moved, heard: monotonic ms of the last progress and of the last reply. longest: longest
	 * time between two changes of the progress, in ms. */
	int64_t moved, heard, longest;
	unsigned last;
};

/* Records the reported progress. -1: progress decreased, or there was none for longer than the
 * limit. */
static int take_step(struct sanitize *s, struct sanitize_pace *p, unsigned progress, struct err *e)
{
	int64_t limit = sanitize_stall_ms(p->action, s->expected_ms, p->longest);

	if (s->host->stall_ms)
		limit = s->host->stall_ms;
	atomic_store(s->patience_ms, limit + limit / 2 + 2 * UNREADABLE_MS);
	if (progress < p->last)
		return err_set(e, ERR_PROTOCOL, (int)s->status,
			       "%s: progress went back from %u to %u", p->what, p->last, progress);
	if (progress > p->last) {
		if (p->heard - p->moved > p->longest)
			p->longest = p->heard - p->moved;
		p->moved = p->heard;
	}
	p->last = progress;
	atomic_store(s->done, s->total / 65536 * progress);
	if (p->heard - p->moved > limit)
		return err_set(e, ERR_TIMEOUT, (int)s->status, "%s: stuck at %u of 65536 for %d s",
			       p->what, progress, (int)((p->heard - p->moved) / 1000));
	return 0;
}

enum sanitize_end sanitize_follow(struct sanitize *s, enum sanitize_action action, const char *what,
				  enum sanitize_report (*ask)(struct sanitize *s,
							      unsigned *progress),
				  struct err *e)
{
	struct sanitize_pace pace = {.action = action, .what = what, .moved = now_ms()};
	long poll_ms = POLL_FIRST_MS;

	pace.heard = pace.moved;
	for (;;) {
		struct timespec nap = {.tv_nsec = poll_ms * 1000000};
		unsigned progress = 0;
		enum sanitize_report said;

		nanosleep(&nap, NULL);
		poll_ms = 2 * poll_ms < POLL_MS ? 2 * poll_ms : POLL_MS;
		said = ask(s, &progress);
		if (said == SANITIZE_REPORT_NOTHING) {
			if (now_ms() - pace.heard < UNREADABLE_MS)
				continue;
			s->status = EIO;
			err_note(e, ERR_TIMEOUT, 0, "%s: the drive does not report its progress",
				 what);
			return SANITIZE_LOST;
		}
		pace.heard = now_ms();
		if (said == SANITIZE_REPORT_DONE) {
			s->status = 0;
			return SANITIZE_DONE;
		}
		if (said != SANITIZE_REPORT_RUNNING) {
			err_note(e, ERR_PROTOCOL, (int)s->status, "%s failed: status %xh", what,
				 (unsigned)s->status);
			return said == SANITIZE_REPORT_FAILED ? SANITIZE_FAILED : SANITIZE_LOST;
		}
		if (take_step(s, &pace, progress, e) < 0)
			return SANITIZE_LOST;
	}
}
