#include "providers/jobs.h"

#include <limits.h>
#include <stdlib.h>
#include "base/mem.h"

#define OVER_RATE 100000 /* Calls started per second; high enough to mean no limit */
/* Retry interval of a running job that became slow while `concurrent` slow jobs already run */
#define AGAIN_MS 1000

static void wake(struct job_line *line)
{
	loop_timer_start(&line->pump, 0);
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

static int64_t now(const struct job_line *line)
{
	return loop_now(loop_of(line->group));
}

/* Starts or continues the time limit of job j. Call when a job begins to ask the machine of j. */
static void clock_starts(struct job *j)
{
	if (loop_timer_active(&j->limit))
		return;
	j->deadline = now(j->seat->line) + j->left_ms;
	loop_timer_start(&j->limit, j->left_ms);
}

static void clock_stops(struct job *j)
{
	if (!loop_timer_active(&j->limit))
		return;
	j->left_ms = j->deadline - now(j->seat->line);
	loop_timer_stop(&j->limit);
}

static void seat_asked(struct job_seat *seat)
{
	seat->asked = true;
	list_for_each (j, &seat->jobs, struct job, sibling)
		clock_starts(j);
}

static void seat_left(struct job_seat *seat)
{
	seat->busy = seat->asked = false;
	seat->silent = 0;
	seat->idle_since = now(seat->line);
	list_for_each (j, &seat->jobs, struct job, sibling)
		clock_stops(j);
}

/* Frees the concurrency slot of a running or slow job. */
static void leave_place(struct job *j)
{
	struct job_line *line = j->seat->line;

	if (j->slow)
		line->slow--;
	else
		line->running--;
	wake(line);
}

static void on_slow(void *arg)
{
	struct job *j = arg;
	struct job_line *line = j->seat->line;

	if (line->slow >= line->concurrent) {
		loop_timer_start(&j->slowly, AGAIN_MS);
		return;
	}
	leave_place(j);
	j->slow = true;
	line->slow++;
}

/* Unlinks the job and updates all counts before it calls done(), because done() may detach the
 * machine. Then frees the job. */
void job_end(struct job *j, const struct provider_observation *o, const struct err *e)
{
	list_remove(&j->link);
	list_remove(&j->sibling);
	loop_timer_stop(&j->limit);
	if (j->running) {
		seat_left(j->seat);
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
	(void)!err_set(e, ERR_CONFLICT, 0, "not sent: the request is no longer wanted");
	e->scope = ERR_REQUEST;
	return false;
}

static void on_limit(void *arg)
{
	struct job *j = arg;
	struct err e;

	(void)!err_set(&e, ERR_TIMEOUT, j->seat->silent, "no answer within %d s",
		       PROVIDER_CALL_MS / 1000);
	e.scope = ERR_MACHINE;
	if (j->running) {
		j->abandoned = true;
		j->call.done(NULL, NULL, &e, j->call.arg);
	} else {
		job_end(j, NULL, &e);
	}
}

void job_begun(struct job *j, int64_t waited_ms)
{
	seat_asked(j->seat);
	loop_timer_start(&j->slowly, JOB_SLOW_MS);
	if (j->call.begun)
		j->call.begun(waited_ms, j->call.arg);
}

static void begin(struct job *j)
{
	struct job_line *line = j->seat->line;
	int64_t since = j->asked_at > j->seat->idle_since ? j->asked_at : j->seat->idle_since;

	j->running = j->seat->busy = true;
	line->running++;
	if (!line->over)
		job_begun(j, now(line) - since);
	line->run(j);
}

static void pump(void *arg)
{
	struct job_line *line = arg;

	list_for_each (j, &line->waiting, struct job, link) {
		int64_t wait;

		if (line->running >= line->concurrent)
			return;
		if (j->seat->busy)
			continue;
		wait = bucket_take(&line->bucket, now(line));
		if (wait > 0) {
			loop_timer_start(&line->pump, wait);
			return;
		}
		list_remove(&j->link);
		begin(j);
	}
}

struct job *job_ask(struct job_seat *seat, enum job_kind kind, const struct provider_call *c)
{
	struct job_line *line = seat->line;
	struct job *j = mem_new(struct job);

	j->seat = seat;
	j->kind = kind;
	j->call = *c;
	j->call.op_id = j->op_id = mem_strdup(c->op_id);
	j->call.handle = j->handle = mem_strdup(c->handle);
	j->call.session = j->session = mem_strdup(c->session);
	j->asked_at = now(line);
	j->left_ms = PROVIDER_CALL_MS;
	list_push_back(&line->waiting, &j->link);
	list_push_back(&seat->jobs, &j->sibling);
	loop_timer_init(&j->limit, line->group, on_limit, j);
	loop_timer_init(&j->slowly, line->group, on_slow, j);
	if (seat->asked)
		clock_starts(j);
	wake(line);
	return j;
}

void job_line_init(struct job_line *line, const struct provider_spec *s, double rate,
		   unsigned concurrent, void (*run)(struct job *j))
{
	if (s->requests_per_s > 0)
		rate = s->requests_per_s;
	*line = (struct job_line){.group = s->group, .run = run};
	line->concurrent = s->concurrent ? s->concurrent : concurrent;
	bucket_init(&line->bucket, rate, rate < 1 ? 1 : rate, now(line));
	list_init(&line->waiting);
	loop_timer_init(&line->pump, s->group, pump, line);
}

void job_line_over(struct job_line *line, struct loop_group *g, void (*run)(struct job *j))
{
	const struct provider_spec s = {.group = g};

	job_line_init(line, &s, OVER_RATE, UINT_MAX, run);
	line->over = true;
}

void job_line_done(struct job_line *line)
{
	loop_timer_stop(&line->pump);
}

void job_seat_init(struct job_seat *seat, struct job_line *line)
{
	*seat = (struct job_seat){.line = line};
	list_init(&seat->jobs);
}

void job_seat_done(struct job_seat *seat)
{
	list_for_each (j, &seat->jobs, struct job, sibling) {
		if (j->running)
			leave_place(j);
		job_free(j);
	}
}
