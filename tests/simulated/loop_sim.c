#include "tests/simulated/loop_sim.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include "base/loop/loop_internal.h"
#include "base/mem.h"

/*
 * The simulated loop. All its events are timers of loop.c with seeded delays: the end of work, and
 * the lines and exits of children. These timers belong to the loop's own group, so they run even if
 * the owner's group is dropped. Waiting therefore only means to advance the clock.
 *
 * A simulated child is a pair of queues with seeded delays, each in order:
 *
 *   owner --loop_child_write()--> in  --line(), eof()----------> program
 *   owner <--on_line(), on_exit()-- out <--loop_sim_child_line()-- program
 */
struct loop_sim {
	struct loop base;
	int64_t clock, wall_start, until;
	uint64_t random;
	struct list programs, children, work;
};

static struct loop_sim *sim_of(struct loop *l)
{
	return container_of(l, struct loop_sim, base);
}

/* --- clock and random ------------------------------------------------------------------------- */

static int64_t sim_ops_now(const struct loop *l)
{
	return container_of(l, const struct loop_sim, base)->clock;
}

static int64_t sim_ops_wall(const struct loop *l)
{
	const struct loop_sim *s = container_of(l, const struct loop_sim, base);

	return s->wall_start + s->clock;
}

/* Returns the next random number (SplitMix64: Steele, Lea, Flood, "Fast splittable pseudorandom
 * number generators", 2014). */
static uint64_t next_random(struct loop_sim *s)
{
	uint64_t z = s->random += 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

static void sim_ops_random(struct loop *l, void *out, size_t n)
{
	for (char *p = out; n;) {
		uint64_t r = next_random(sim_of(l));
		size_t part = n < sizeof(r) ? n : sizeof(r);

		memcpy(p, &r, part);
		p += part;
		n -= part;
	}
}

static bool sim_ops_wait(struct loop *l, int64_t timeout_ms)
{
	struct loop_sim *s = sim_of(l);

	if (timeout_ms >= 0 && timeout_ms <= s->until - s->clock) {
		s->clock += timeout_ms;
		return true;
	}
	if (s->until != INT64_MAX)
		s->clock = s->until;
	return false;
}

/* --- work ------------------------------------------------------------------------------------- */

#define WORK_MAX_MS 20

struct sim_work {
	struct loop_work base;
	struct loop_timer timer;
	struct list link;
	bool cancelled;
};

static void sim_work_run(struct sim_work *w)
{
	list_remove(&w->link);
	/* Skip run() if the work was cancelled or its group was dropped: work that a crash has
	 * interrupted has no effect. */
	if (!w->cancelled && !(w->base.group && w->base.group->dropped))
		w->base.run(w->base.arg);
	loop_work_ended(&w->base);
}

static void on_work(void *arg)
{
	sim_work_run(arg);
}

static struct loop_work *sim_ops_work(struct loop *l, const struct loop_work *proto)
{
	struct sim_work *w = mem_new(struct sim_work);

	w->base = *proto;
	list_push_back(&sim_of(l)->work, &w->link);
	loop_timer_init(&w->timer, l->own, on_work, w);
	loop_timer_start(&w->timer, 1 + (int64_t)loop_random_below(l, WORK_MAX_MS));
	return &w->base;
}

static void sim_ops_work_cancel(struct loop_work *w)
{
	container_of(w, struct sim_work, base)->cancelled = true;
}

/* --- children --------------------------------------------------------------------------------- */

#define LINE_MAX_MS 3

struct program {
	char *argv0;
	struct loop_sim_program p;
	struct list link;
};

/* An entry of a queue: a line, or an end mark (end of file for the program, exit for the owner). */
struct message {
	struct list link;
	int64_t at;
	bool end;
	size_t len;
	char line[];
};

struct queue {
	struct list messages;
	struct loop_timer timer;
	/* True: an end mark is queued, so nothing may be queued after it. */
	bool ended;
};

struct sim_child {
	struct loop_child base;
	struct loop_sim_program program;
	void *state;
	/* True until the program has exited. */
	bool running;
	struct queue in, out;
	struct loop_lines lines;
	int status;
	bool too_long;
	struct err err;
	struct loop_timer patience;
	struct loop_defer reap;
	struct list link;
};

void loop_sim_program(struct loop *l, const char *argv0, const struct loop_sim_program *p)
{
	struct program *found = NULL;

	list_for_each (it, &sim_of(l)->programs, struct program, link)
		if (strcmp(it->argv0, argv0) == 0)
			found = it;
	if (!found) {
		found = mem_new(struct program);
		found->argv0 = mem_strdup(argv0);
		list_push_back(&sim_of(l)->programs, &found->link);
	}
	found->p = *p;
}

static void queue_arm(struct sim_child *c, struct queue *q)
{
	struct message *m = list_first(&q->messages, struct message, link);

	if (m)
		loop_timer_start(&q->timer, m->at - loop_now(c->base.loop));
	else
		loop_timer_stop(&q->timer);
}

static void queue_clear(struct queue *q)
{
	list_for_each (m, &q->messages, struct message, link) {
		list_remove(&m->link);
		free(m);
	}
	loop_timer_stop(&q->timer);
}

static void queue_put(struct sim_child *c, struct queue *q, bool end, const char *line, size_t len)
{
	struct loop *l = c->base.loop;
	struct message *m = mem_alloc(sizeof(*m) + len + 1);

	if (q->ended) {
		free(m);
		return;
	}
	m->at = loop_now(l) + (int64_t)loop_random_below(l, LINE_MAX_MS + 1);
	m->end = q->ended = end;
	m->len = len;
	if (len)
		memcpy(m->line, line, len);
	list_push_back(&q->messages, &m->link);
	queue_arm(c, q);
}

static struct message *queue_take(struct sim_child *c, struct queue *q)
{
	struct message *m = list_first(&q->messages, struct message, link);

	list_remove(&m->link);
	queue_arm(c, q);
	return m;
}

/* Ends the program. Its state is freed in a later turn, because the program may be on the stack. */
static void child_over(struct sim_child *c, int status)
{
	if (!c->running)
		return;
	c->running = false;
	c->status = status;
	queue_clear(&c->in);
	c->in.ended = true;
	queue_put(c, &c->out, true, NULL, 0);
	loop_defer(&c->reap);
}

static void child_destroy(struct sim_child *c)
{
	if (c->state && c->program.free)
		c->program.free(c->state);
	queue_clear(&c->in);
	queue_clear(&c->out);
	loop_timer_stop(&c->patience);
	loop_defer_cancel(&c->reap);
	loop_lines_done(&c->lines);
	list_remove(&c->link);
	free(c);
}

static void on_reap(void *arg)
{
	struct sim_child *c = arg;

	if (!c->running && c->state) {
		void *state = c->state;

		c->state = NULL;
		if (c->program.free)
			c->program.free(state);
	}
	if (!c->running && c->base.freed)
		child_destroy(c);
}

static void on_in(void *arg)
{
	struct sim_child *c = arg;
	struct message *m = queue_take(c, &c->in);

	if (m->end && c->program.eof)
		c->program.eof((struct loop_child *)c, c->state);
	else if (!m->end && c->program.line)
		c->program.line((struct loop_child *)c, m->line, m->len, c->state);
	free(m);
}

static void on_out(void *arg)
{
	struct sim_child *c = arg;
	struct message *m = queue_take(c, &c->out);
	const struct loop_spawn *s = &c->base.spawn;

	if (loop_child_open(&c->base)) {
		if (m->end && s->on_exit)
			s->on_exit(c->status, c->too_long ? &c->err : NULL, s->arg);
		else if (!m->end && s->on_line)
			s->on_line(m->line, m->len, s->arg);
	}
	free(m);
}

static void on_patience(void *arg)
{
	child_over(arg, 128 + SIGKILL);
}

static void queue_init(struct queue *q, struct loop *l, void (*fn)(void *arg), struct sim_child *c)
{
	list_init(&q->messages);
	loop_timer_init(&q->timer, l->own, fn, c);
}

static struct loop_child *sim_ops_spawn(struct loop *l, const struct loop_child *proto,
					struct err *e)
{
	const struct loop_spawn *s = &proto->spawn;
	struct program *found = NULL;

	list_for_each (it, &sim_of(l)->programs, struct program, link)
		if (strcmp(it->argv0, s->argv[0]) == 0)
			found = it;
	if (!found) {
		err_note(e, ERR_NOT_FOUND, 0, "cannot start %s: no such program", s->argv[0]);
		return NULL;
	}

	struct sim_child *c = mem_new(struct sim_child);

	c->base = *proto;
	c->program = found->p;
	c->running = true;
	loop_lines_init(&c->lines, s->max_line);
	queue_init(&c->in, l, on_in, c);
	queue_init(&c->out, l, on_out, c);
	loop_timer_init(&c->patience, l->own, on_patience, c);
	loop_defer_init(&c->reap, l->own, on_reap, c);
	list_push_back(&sim_of(l)->children, &c->link);
	if (c->program.start)
		c->program.start(&c->base, s->argv, &c->state, c->program.arg);
	c->base.spawn.argv = c->base.spawn.env = NULL;
	c->base.spawn.secret = NULL;
	return &c->base;
}

static bool on_written_line(const char *line, size_t len, void *arg)
{
	struct sim_child *c = arg;

	queue_put(c, &c->in, false, line, len);
	return true;
}

static void sim_ops_child_write(struct loop_child *base, const void *data, size_t len)
{
	struct sim_child *c = container_of(base, struct sim_child, base);
	struct err e;

	if (loop_lines_feed(&c->lines, data, len, on_written_line, c, &e) < 0)
		/* The written line is too long: end the program, with status 1. (The real loop ends
		 * a child whose output line is too long.) */
		child_over(c, 1);
}

/* Closes the child's standard input, after all lines that were written to it. */
static void child_end_input(struct sim_child *c)
{
	queue_put(c, &c->in, true, NULL, 0);
}

static void sim_ops_child_kill(struct loop_child *base, int signum)
{
	child_over(container_of(base, struct sim_child, base), 128 + signum);
}

static void sim_ops_child_free(struct loop_child *base)
{
	struct sim_child *c = container_of(base, struct sim_child, base);

	if (!c->running) {
		loop_defer(&c->reap);
		return;
	}
	child_end_input(c);
	loop_timer_start(&c->patience, LOOP_CHILD_GRACE_MS);
}

/* Handles the crash of an owner: its ends of the pipes close. The children get end of file and are
 * not killed. */
static void sim_ops_group_dropped(struct loop *l, struct loop_group *g)
{
	list_for_each (c, &sim_of(l)->children, struct sim_child, link)
		if (c->base.group == g)
			child_end_input(c);
}

const char *const *loop_sim_child_env(const struct loop_child *base)
{
	return base->spawn.env;
}

const struct secret *loop_sim_child_secret(const struct loop_child *base)
{
	return base->spawn.secret;
}

void loop_sim_child_line(struct loop_child *base, const char *line, size_t len)
{
	struct sim_child *c = container_of(base, struct sim_child, base);

	assert(c->running);
	if (len > c->base.spawn.max_line) {
		c->too_long = true;
		err_note(&c->err, ERR_PROTOCOL, 0, "line too long: %zu bytes", len);
		child_over(c, 128 + SIGKILL);
		return;
	}
	queue_put(c, &c->out, false, line, len);
}

void loop_sim_child_exit(struct loop_child *base, int status)
{
	child_over(container_of(base, struct sim_child, base), status);
}

/* --- signals and descriptors: no events from outside ------------------------------------------ */

static struct loop_signal *sim_ops_signal(struct loop *l, const struct loop_signal *proto)
{
	struct loop_signal *s = mem_new(struct loop_signal);

	(void)l;
	*s = *proto;
	return s;
}

static void sim_ops_signal_free(struct loop_signal *s)
{
	free(s);
}

static struct loop_fd *sim_ops_fd(struct loop *l, const struct loop_fd *proto)
{
	struct loop_fd *f = mem_new(struct loop_fd);

	(void)l;
	*f = *proto;
	return f;
}

static void sim_ops_fd_want(struct loop_fd *f, int events)
{
	(void)f, (void)events;
}

static void sim_ops_fd_free(struct loop_fd *f)
{
	free(f);
}

/* --- life cycle ------------------------------------------------------------------------------- */

static void sim_ops_free(struct loop *l)
{
	struct loop_sim *s = sim_of(l);

	list_for_each (w, &s->work, struct sim_work, link) {
		loop_timer_stop(&w->timer);
		sim_work_run(w);
	}
	list_for_each (c, &s->children, struct sim_child, link)
		child_destroy(c);
	list_for_each (p, &s->programs, struct program, link) {
		list_remove(&p->link);
		free(p->argv0);
		free(p);
	}
	loop_base_done(l);
	free(s);
}

static const struct loop_ops sim_ops = {
	.free = sim_ops_free,
	.now = sim_ops_now,
	.wall = sim_ops_wall,
	.random = sim_ops_random,
	.wait = sim_ops_wait,
	.group_dropped = sim_ops_group_dropped,
	.work = sim_ops_work,
	.work_cancel = sim_ops_work_cancel,
	.spawn = sim_ops_spawn,
	.child_write = sim_ops_child_write,
	.child_kill = sim_ops_child_kill,
	.child_free = sim_ops_child_free,
	.signal = sim_ops_signal,
	.signal_free = sim_ops_signal_free,
	.fd = sim_ops_fd,
	.fd_want = sim_ops_fd_want,
	.fd_free = sim_ops_fd_free,
};

struct loop *loop_sim_new(uint64_t seed, int64_t wall_start_ms)
{
	struct loop_sim *s = mem_new(struct loop_sim);

	loop_base_init(&s->base, &sim_ops);
	s->wall_start = wall_start_ms;
	s->until = INT64_MAX;
	s->random = seed;
	list_init(&s->programs);
	list_init(&s->children);
	list_init(&s->work);
	return &s->base;
}

void loop_sim_set_clock(struct loop *l, int64_t by_ms)
{
	sim_of(l)->wall_start += by_ms;
}

void loop_sim_run_until(struct loop *l, int64_t until_ms)
{
	struct loop_sim *s = sim_of(l);

	if (until_ms < s->clock)
		return;
	s->until = until_ms;
	loop_run(l);
	s->until = INT64_MAX;
}

bool loop_sim_run_cond(struct loop *l, bool (*cond)(void *arg), void *arg, int64_t until_ms)
{
	if (cond(arg))
		return true;
	l->cond = cond;
	l->cond_arg = arg;
	l->cond_met = false;
	loop_sim_run_until(l, until_ms);
	l->cond = NULL;
	return l->cond_met;
}
