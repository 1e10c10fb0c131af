#ifndef PROVIDERS_JOBS_H
#define PROVIDERS_JOBS_H

#include <stdbool.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/list.h"
#include "base/retry.h"
#include "providers/provider.h"

/*
 * jobs: the calls of one provider wait in one line for their turn: their machine idle, a place
 * among `concurrent`, a token of the bucket. Calls whose machine is busy are passed over, so that
 * one wedged BMC holds up nobody else. A call that has run for JOB_SLOW_MS gives its place to the
 * next and goes on beside them: there may be `concurrent` of those too, and so hundreds of BMCs
 * that do not answer keep no place from those that do.
 *
 *   waiting --pump--> running (run() was called) --job_end()--> done
 *      \--- 60 s ---> timed out \--- 60 s ---> abandoned: answered, may act no more, still running
 *
 * The 60 s are of the machine alone: they run while its BMC has a call, this one or one before it.
 * The wait for place and token is drover's own, has no limit, and is told with provider_call.begun:
 * the line is first come, first served, so it moves as fast as it may, and who gave up its place in
 * it would only be later.
 *
 * What a job's run() starts has to end in job_end(), whether the job was abandoned or not; a seat
 * that is done drops its jobs without an answer, and what run() started has to be cancelled before.
 *
 * A provider that asks its machines by way of another one has a line without bounds
 * (job_line_over()), and its jobs wait in the other's line: their 60 s begin when run() says so by
 * job_begun().
 * Tests: tests/unit/providers/test_jobs.c, tests/contract/test_provider.c
 */
#define JOB_SLOW_MS 3000
enum job_kind {
	JOB_OBSERVE,
	JOB_POWER,
	JOB_BOOT,
	JOB_MEDIA,
	JOB_DRIVES,
	JOB_LOG_OUT,
	JOB_DEFINE,
	JOB_UNDEFINE,
	JOB_ACQUIRE,
	JOB_RELEASE
};

struct job;
struct job_line {
	struct loop_group *group;
	struct bucket bucket;
	/* slow: not among those that are running */
	unsigned concurrent, running, slow;
	/* of job.link */
	struct list waiting;
	struct loop_timer pump;
	/* another provider's */
	bool over;
	void (*run)(struct job *j);
};
/* A machine's place in the line. */
struct job_seat {
	struct job_line *line;
	/* of job.sibling */
	struct list jobs;
	/* asked: the machine is, and the clock of all its jobs runs */
	bool busy, asked;
	/* loop_now() since when it is not busy */
	int64_t idle_since;
	/* err.code where time runs out: whose silence it is now; 0: the machine's */
	int silent;
};
struct job {
	struct list link, sibling;
	struct job_seat *seat;
	enum job_kind kind;
	bool on, running, slow, abandoned;
	enum provider_boot how;
	char *url, *media_ca;
	/* of the call, kept */
	char *op_id, *handle, *session;
	struct provider_call call;
	struct loop_timer limit, slowly;
	/* left_ms: of PROVIDER_CALL_MS, when `limit` was started last */
	int64_t asked_at, left_ms;
	/* for the implementation */
	struct provider_observation seen;
	/* of seen; NULL: none yet */
	struct arena *strings;
	/* for the implementation */
	bool new_login;
	/* for the implementation, freed with the job; NULL: none */
	char *text;
	/* handle that done() gets; NULL: none */
	const char *told;
	/* JOB_ACQUIRE, in `strings` */
	struct provider_target target;
	/* loop_now() at which it is abandoned; while `limit` runs */
	int64_t deadline;
};

/* rate, concurrent: where the spec says none. */
void job_line_init(struct job_line *line, const struct provider_spec *s, double rate,
		   unsigned concurrent, void (*run)(struct job *j));
void job_line_over(struct job_line *line, struct loop_group *g, void (*run)(struct job *j));
void job_line_done(struct job_line *line);
void job_seat_init(struct job_seat *seat, struct job_line *line);
void job_seat_done(struct job_seat *seat);

/* A call of kind; its parameters may be set until the loop's next turn. */
struct job *job_ask(struct job_seat *seat, enum job_kind kind, const struct provider_call *c);
/* In a line over another's: its turn there came after so long, and its machine is asked. */
void job_begun(struct job *j, int64_t waited_ms);
/* o: as provider_call.done has it.  The job is freed; done() may detach the machine. */
void job_end(struct job *j, const struct provider_observation *o, const struct err *e);
/* May what changes the machine still be sent?  False: ERR_CONFLICT in *e. */
bool job_may_act(struct job *j, struct err *e);

#endif
