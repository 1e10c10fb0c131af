#include "providers/jobs.h"

#include <limits.h>
#include <stdlib.h>
#include "base/mem.h"

/* number of awaited jobs after which one is of the others, if any waits */
#define AWAITED_IN_A_ROW 3
#define OVER_RATE 100000 /* Calls started per second; high enough to mean no limit */
/* Retry interval of a running job that became slow while `concurrent` slow jobs already run */
#define AGAIN_MS 1000

static void wake(struct job_queue *queue)
{
	loop_timer_start(&queue->pump, 0);
}

static void job_free(struct job *j)
{
	list_remove(&j->link);
	list_remove(&j->sibling);
	loop_timer_stop(&j->limit);
	loop_timer_stop(&j->slowly);
	arena_free(j->strings);
	free(j->url);
	free(j->media_ca);
	free(j->op_id);
	free(j->handle);
	free(j->session);
	free(j->text);
	free(j);
}

static int64_t now(const struct job_queue *queue)
{
	return loop_now(loop_of(queue->group));
}

/* Starts or continues the time limit of job j. Call when a job begins to ask the machine of j. */
static void clock_starts(struct job *j)
{
	if (loop_timer_active(&j->limit))
		return;
	j->deadline = now(j->machine->queue) + j->left_ms;
	loop_timer_start(&j->limit, j->left_ms);
}

static void clock_stops(struct job *j)
{
	if (!loop_timer_active(&j->limit))
		return;
	j->left_ms = j->deadline - now(j->machine->queue);
	loop_timer_stop(&j->limit);
}

static void machine_asked(struct provider_machine *machine)
{
	machine->asked = true;
	list_for_each (j, &machine->jobs, struct job, sibling)
		clock_starts(j);
}

static void machine_left(struct provider_machine *machine)
{
	machine->busy = machine->asked = false;
	machine->silent = 0;
	machine->idle_since = now(machine->queue);
	list_for_each (j, &machine->jobs, struct job, sibling)
		clock_stops(j);
}

/* Frees the concurrency slot of a running or slow job. */
static void leave_place(struct job *j)
{
	struct job_queue *queue = j->machine->queue;

	if (j->slow)
		queue->slow--;
	else
		queue->running--;
	wake(queue);
}

static void on_slow(void *arg)
{
	struct job *j = arg;
	struct job_queue *queue = j->machine->queue;

	if (queue->slow >= queue->concurrent) {
		loop_timer_start(&j->slowly, AGAIN_MS);
		return;
	}
	leave_place(j);
	j->slow = true;
	queue->slow++;
}

/* Unlinks the job and updates all counts before it calls done(), because done() may detach the
 * machine. Then frees the job. */
void job_end(struct job *j, const struct provider_observation *o, const struct err *e)
{
	list_remove(&j->link);
	list_remove(&j->sibling);
	loop_timer_stop(&j->limit);
	if (j->running) {
		machine_left(j->machine);
		leave_place(j);
	}
	if (!j->abandoned)
		j->call.done(o, j->told, e, j->call.arg);
	job_free(j);
}

bool job_may_act(struct job *j, struct err *e)
{
	if (!j->abandoned && (!j->call.may_act || j->call.may_act(j->call.arg)))
		return true;
	err_note(e, ERR_CONFLICT, 0, "not sent: the request is no longer wanted");
	e->scope = ERR_REQUEST;
	return false;
}

static void on_limit(void *arg)
{
	struct job *j = arg;
	struct err e;

	err_note(&e, ERR_TIMEOUT, j->machine->silent, "no answer within %d s",
		 PROVIDER_CALL_MS / 1000);
	e.scope = ERR_MACHINE;
	if (j->running) {
		j->abandoned = true;
		/* After done() the caller's argument may no longer exist; job_may_act() does not
		 * call the caller either. */
		j->call.fits = NULL;
		j->call.begun = NULL;
		j->call.done(NULL, NULL, &e, j->call.arg);
	} else {
		job_end(j, NULL, &e);
	}
}

void job_begun(struct job *j, int64_t waited_ms)
{
	machine_asked(j->machine);
	loop_timer_start(&j->slowly, JOB_SLOW_MS);
	if (j->call.begun)
		j->call.begun(waited_ms, j->call.arg);
}

static void begin(struct job *j)
{
	struct job_queue *queue = j->machine->queue;
	int64_t since = j->asked_at > j->machine->idle_since ? j->asked_at : j->machine->idle_since;

	j->running = j->machine->busy = true;
	queue->running++;
	if (!queue->over)
		job_begun(j, now(queue) - since);
	queue->run(j);
}

/* Returns the first job whose machine is not busy; NULL: none. */
static struct job *first_of(const struct list *jobs)
{
	list_for_each (j, jobs, struct job, link)
		if (!j->machine->busy)
			return j;
	return NULL;
}

/* Returns the job that starts next; NULL: none. */
static struct job *next_of(const struct job_queue *queue)
{
	const bool others = queue->in_a_row >= AWAITED_IN_A_ROW;
	struct job *j = first_of(others ? &queue->waiting : &queue->awaited);

	return j ? j : first_of(others ? &queue->awaited : &queue->waiting);
}

static void pump(void *arg)
{
	struct job_queue *queue = arg;
	struct job *j;

	while (queue->running < queue->concurrent && (j = next_of(queue))) {
		int64_t wait = bucket_take(&queue->bucket, now(queue));

		if (wait > 0) {
			loop_timer_start(&queue->pump, wait);
			return;
		}
		queue->in_a_row =
			j->call.awaited && !list_empty(&queue->waiting) ? queue->in_a_row + 1 : 0;
		list_remove(&j->link);
		begin(j);
	}
}

struct job *job_ask(struct provider_machine *machine, enum job_kind kind,
		    const struct provider_call *c)
{
	struct job_queue *queue = machine->queue;
	struct job *j = mem_new(struct job);

	j->machine = machine;
	j->kind = kind;
	j->call = *c;
	j->call.op_id = j->op_id = mem_strdup(c->op_id);
	j->call.handle = j->handle = mem_strdup(c->handle);
	j->call.session = j->session = mem_strdup(c->session);
	j->asked_at = now(queue);
	j->left_ms = PROVIDER_CALL_MS;
	list_push_back(c->awaited ? &queue->awaited : &queue->waiting, &j->link);
	list_push_back(&machine->jobs, &j->sibling);
	loop_timer_init(&j->limit, queue->group, on_limit, j);
	loop_timer_init(&j->slowly, queue->group, on_slow, j);
	if (machine->asked)
		clock_starts(j);
	wake(queue);
	return j;
}

void job_queue_init(struct job_queue *queue, const struct provider_spec *s, double rate,
		    unsigned concurrent, void (*run)(struct job *j))
{
	if (s->requests_per_s > 0)
		rate = s->requests_per_s;
	*queue = (struct job_queue){.group = s->group, .run = run};
	queue->concurrent = s->concurrent ? s->concurrent : concurrent;
	bucket_init(&queue->bucket, rate, rate < 1 ? 1 : rate, now(queue));
	list_init(&queue->awaited);
	list_init(&queue->waiting);
	loop_timer_init(&queue->pump, s->group, pump, queue);
}

void job_queue_over(struct job_queue *queue, struct loop_group *g, void (*run)(struct job *j))
{
	const struct provider_spec s = {.group = g};

	job_queue_init(queue, &s, OVER_RATE, UINT_MAX, run);
	queue->over = true;
}

void job_queue_done(struct job_queue *queue)
{
	loop_timer_stop(&queue->pump);
}

void job_machine_init(struct provider_machine *machine, struct job_queue *queue)
{
	*machine = (struct provider_machine){.queue = queue};
	list_init(&machine->jobs);
}

void job_machine_done(struct provider_machine *machine)
{
	list_for_each (j, &machine->jobs, struct job, sibling) {
		if (j->running)
			leave_place(j);
		job_free(j);
	}
}
