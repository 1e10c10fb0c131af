#ifndef PROVIDERS_JOBS_H
#define PROVIDERS_JOBS_H

#include <stdbool.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/list.h"
#include "base/retry.h"
#include "providers/hardware.h"
#include "providers/managed.h"
#include "providers/provider.h"

/*
 * jobs: the queue of one provider's calls. A call in the queue is a job. It starts when its machine
 * runs no other job, fewer than `concurrent` jobs run, and the token bucket (rate limit) has a
 * token. Jobs whose machine is busy are passed over, so a BMC that hangs blocks no other machine. A
 * job that has run for JOB_SLOW_MS is slow: it gives up its concurrency slot and continues. Up to
 * `concurrent` slow jobs run in addition, so that hundreds of BMCs that do not answer occupy no
 * slots of BMCs that do.
 *
 * A job_queue is the queue of a provider. The queue of one machine is in its struct
 * provider_machine, which each implementation embeds in a struct of its own.
 *
 *   waiting --pump--> running (run() was called) --job_end()--> done
 *      \--- 60 s ---> timed out \--- 60 s ---> abandoned: done() was called; the job still runs,
 *                                              but may act no more
 *
 * Jobs of machines that a pod waits for (provider_call.awaited) come first, so that a claim does
 * not wait until a whole new rack was observed. While both kinds wait, every fourth job is one of
 * the others. Jobs of one kind are first come, first served, so a caller gains nothing by ending a
 * waiting job and queuing it again.
 *
 * The limit of 60 s (PROVIDER_CALL_MS) of a job runs only while the machine is asked, by this job
 * or by an earlier one. The wait for a concurrency slot and a token has no limit and is reported
 * with provider_call.begun().
 *
 * Everything that run() starts must end in job_end(), even after the job was abandoned.
 * job_machine_done() drops the jobs of a machine without done(); the caller must first cancel the
 * requests that run() started.
 *
 * A provider that reaches its machines through another provider has a queue without limits
 * (job_queue_over()). Its jobs wait in the other provider's queue, and their 60 s begin when run()
 * calls job_begun().
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
struct job_queue {
	struct loop_group *group;
	struct bucket bucket;
	/* concurrent: highest value of `running`, and also of `slow`. running: number of jobs that
	 * run and are not slow. slow: number of jobs that have run longer than JOB_SLOW_MS. */
	unsigned concurrent, running, slow;
	/* Jobs that have not started, linked by job.link. awaited: those of provider_call.awaited;
	 * waiting: all others */
	struct list awaited, waiting;
	/* Number of awaited jobs since the last other one, while others wait */
	unsigned in_a_row;
	struct loop_timer pump;
	/* True: this queue has no limits, because its jobs wait in the queue of another provider
	 * (job_queue_over()) */
	bool over;
	void (*run)(struct job *j);
};
/* What all implementations know of one machine: its job queue. An implementation embeds this struct
 * as the member `base` of its own struct, and finds that with container_of(). */
struct provider_machine {
	struct job_queue *queue;
	/* All jobs of this machine, waiting and running, linked by job.sibling */
	struct list jobs;
	/* busy: a job runs. asked: that job has reached the machine, so the time limits of all jobs
	 * of the machine run. */
	bool busy, asked;
	/* loop_now() at which the last job of this machine ended */
	int64_t idle_since;
	/* Code of the error when a call times out; it names the component that does not answer, for
	 * example PROVIDER_OF_MANAGER. 0: the machine. */
	int silent;
};
struct job {
	struct list link, sibling;
	struct provider_machine *machine;
	enum job_kind kind;
	bool on, running, slow, abandoned;
	enum provider_boot how;
	char *url, *media_ca;
	/* Copies of the strings of the same names in `call` */
	char *op_id, *handle, *session;
	struct provider_call call;
	struct loop_timer limit, slowly;
	/* asked_at: loop_now() at which the job was queued. left_ms: rest of PROVIDER_CALL_MS when
	 * `limit` was last started or stopped. */
	int64_t asked_at, left_ms;
	/* The observation that the implementation collects during the job */
	struct provider_observation seen;
	/* Memory of the strings in `seen`; NULL: none yet */
	struct arena *strings;
	/* Redfish only. True: the open session is not the one that is recorded in the journal, so
	 * no change was sent. */
	bool new_login;
	/* Text for use by the implementation, freed with the job; NULL: none */
	char *text;
	/* Handle to pass to done(); NULL: none. */
	const char *told;
	/* What to install, for JOB_ACQUIRE only; its strings are in `strings` */
	struct provider_target target;
	/* loop_now() at which the job is abandoned; valid while `limit` runs. */
	int64_t deadline;
};

/* Initializes the queue of a provider. rate (calls started per second) and concurrent are used if s
 * does not set them. run() starts a job. */
void job_queue_init(struct job_queue *queue, const struct provider_spec *s, double rate,
		    unsigned concurrent, void (*run)(struct job *j));
void job_queue_over(struct job_queue *queue, struct loop_group *g, void (*run)(struct job *j));
void job_queue_done(struct job_queue *queue);
void job_machine_init(struct provider_machine *machine, struct job_queue *queue);
void job_machine_done(struct provider_machine *machine);

/* Queues a call as a job of this kind and returns the job. The caller may set the job's parameters
 * (on, how, url ...) until the next loop turn. */
struct job *job_ask(struct provider_machine *machine, enum job_kind kind,
		    const struct provider_call *c);
/* For a queue made with job_queue_over() only. Call when the job's turn in the other provider's
 * queue has come, after waited_ms there, so that the machine is asked now. */
void job_begun(struct job *j, int64_t waited_ms);
/* Ends the job: calls done() with o and e (see provider_call.done) unless the job was abandoned,
 * and frees the job. done() may detach the machine. */
void job_end(struct job *j, const struct provider_observation *o, const struct err *e);
/* True if the job may still send changes to the machine. False: *e is ERR_CONFLICT. */
bool job_may_act(struct job *j, struct err *e);

#endif
