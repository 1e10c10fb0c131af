#include "base/loop/loop_internal.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"

/*
 * One turn of the loop: the backend waits; the descriptors that are ready are called; the timers
 * that are due and were started before the turn run, ordered by (at, seq); the deferrals requested
 * before the turn run, in order of request. Whatever a callback requests happens in a later turn,
 * so no callback can starve the others.
 *
 *   wait -----> descriptors -----> timers -----> deferrals -----> wait ...
 *     |              |                |              |
 *     '--------------+----------------+--------------'--> started or requested: next turn
 *
 * Each of the three parts (descriptors, timers, deferrals) ends after PART_MS and continues in the
 * next turn. That turn does not wait if ready descriptors are left.
 *
 * Timers are in a binary heap, and each knows its position in the heap.
 */

#define SLOW_TURN_MS 50
/* Time limit, in ms, of each part of a turn. */
#define PART_MS 4

/* --- turns ------------------------------------------------------------------------------------ */

void loop_base_init(struct loop *l, const struct loop_ops *ops)
{
	l->ops = ops;
	list_init(&l->defers);
	list_init(&l->batch);
	list_init(&l->ready);
	list_init(&l->groups);
	l->own = mem_new(struct loop_group);
	l->own->loop = l;
	l->own->name = mem_strdup("loop");
	list_init(&l->own->link);
}

void loop_base_done(struct loop *l)
{
	loop_group_free(l->own);
	free(l->heap);
}

void loop_free(struct loop *l)
{
	if (!l)
		return;
	assert(!l->running && list_empty(&l->groups));
	l->ops->free(l);
}

void loop_enter(struct loop *l)
{
	if (l->entered)
		return;
	l->entered = true;
	l->now = l->entered_at = l->called_at = l->ops->now(l);
	l->entered_cpu = l->ops->cpu_us ? l->ops->cpu_us(l) : 0;
}

void loop_called(struct loop *l)
{
	if (!l->stopping && l->cond && l->cond(l->cond_arg))
		l->cond_met = l->stopping = true;
}

static void part_begins(struct loop *l)
{
	l->called_at = l->ops->now(l);
	l->give_way_at = l->called_at + PART_MS;
}

/* Records the run time of the callback `name`, which has just returned. True: the part of the turn
 * has used its time, so the rest must wait for the next turn. */
static bool part_is_over(struct loop *l, const char *name)
{
	int64_t now = l->ops->now(l), took = now - l->called_at;

	l->called_at = now;
	if (took > l->stats.slowest_ms) {
		l->stats.slowest_ms = took;
		l->stats.slowest = name;
	}
	loop_called(l);
	return now >= l->give_way_at;
}

static int64_t next_timeout(const struct loop *l)
{
	if (!list_empty(&l->batch))
		return 0;
	if (l->nheap == 0)
		return -1;

	int64_t left = l->heap[0]->at - l->ops->now(l);

	return left > 0 ? left : 0;
}

static void list_move_front(struct list *to, struct list *from)
{
	if (list_empty(from))
		return;
	from->prev->next = to->next;
	to->next->prev = from->prev;
	to->next = from->next;
	from->next->prev = to;
	list_init(from);
}

static void run_ready(struct loop *l)
{
	bool over = false;

	part_begins(l);
	while (!over && !l->stopping && !list_empty(&l->ready)) {
		struct loop_fd *f = list_first(&l->ready, struct loop_fd, link);
		const char *name = f->name;
		int events = f->happened & (f->wanted | LOOP_HANGUP);

		list_remove(&f->link);
		f->happened = 0;
		if (f->group->dropped || !f->wanted || !events)
			continue;
		f->fn(events, f->arg); /* The callback may free f: do not use f afterwards. */
		over = part_is_over(l, name);
	}
}

static void run_timers(struct loop *l, uint64_t before)
{
	bool over = false;

	part_begins(l);
	while (!over && !l->stopping && l->nheap && l->heap[0]->at <= l->now &&
	       l->heap[0]->seq < before) {
		struct loop_timer *t = l->heap[0];
		const char *name = t->name;

		loop_timer_stop(t);
		/* The callback may free the timer's owner: do not use t afterwards. */
		t->fn(t->arg);
		over = part_is_over(l, name);
	}
}

static void run_batch(struct loop *l)
{
	bool over = false;

	part_begins(l);
	while (!over && !l->stopping && !list_empty(&l->batch)) {
		struct loop_defer *d = list_first(&l->batch, struct loop_defer, link);
		const char *name = d->name;

		list_remove(&d->link);
		/* The callback may free the deferral's owner: do not use d afterwards. */
		d->fn(d->arg);
		over = part_is_over(l, name);
	}
	list_move_front(&l->defers, &l->batch);
}

/* Runs one turn; false: no event can happen any more. */
static bool loop_turn(struct loop *l)
{
	uint64_t before = l->seq;

	list_move_front(&l->batch, &l->defers);
	l->entered = false;
	/* If descriptors are left from the last turn, handle them without waiting: asking the
	 * kernel now would examine each of them again. */
	if (list_empty(&l->ready) && !l->ops->wait(l, next_timeout(l)))
		return false;
	loop_enter(l);
	run_ready(l);
	run_timers(l, before);
	run_batch(l);

	int64_t took = l->ops->now(l) - l->entered_at,
		cpu = l->ops->cpu_us ? l->ops->cpu_us(l) - l->entered_cpu : 0;

	l->stats.turns++;
	l->stats.slow_turns += took > SLOW_TURN_MS;
	if (took > l->stats.longest_ms)
		l->stats.longest_ms = took;
	if (cpu > l->stats.longest_cpu_us)
		l->stats.longest_cpu_us = cpu;
	return true;
}

void loop_run(struct loop *l)
{
	assert(!l->running);
	l->running = true;
	l->now = l->ops->now(l);
	while (!l->stopping && loop_turn(l))
		;
	l->running = l->stopping = false;
}

void loop_stop(struct loop *l)
{
	l->stopping = true;
}

int64_t loop_now(const struct loop *l)
{
	return l->running ? l->now : l->ops->now(l);
}

int64_t loop_clock(const struct loop *l)
{
	return l->ops->now(l);
}

int64_t loop_wall(const struct loop *l)
{
	return l->ops->wall(l);
}

struct loop_stats loop_stats(const struct loop *l)
{
	return l->stats;
}

/* --- random ----------------------------------------------------------------------------------- */

void loop_random_bytes(struct loop *l, void *out, size_t n)
{
	l->ops->random(l, out, n);
}

uint64_t loop_random(struct loop *l)
{
	uint64_t r;

	l->ops->random(l, &r, sizeof(r));
	return r;
}

uint64_t loop_random_below(struct loop *l, uint64_t below)
{
	if (below == 0)
		return 0;

	/* Discard random numbers below 2^64 mod below. With them, small results would be more
	 * likely than large ones. */
	uint64_t skip = -below % below, r;

	do
		r = loop_random(l);
	while (r < skip);
	return r % below;
}

/* --- groups ----------------------------------------------------------------------------------- */

struct loop_group *loop_group_new(struct loop *l, const char *name)
{
	struct loop_group *g = mem_new(struct loop_group);

	g->loop = l;
	g->name = mem_strdup(name);
	list_push_back(&l->groups, &g->link);
	return g;
}

static void heap_place(struct loop *l, size_t i, struct loop_timer *t);
static void heap_down(struct loop *l, size_t i);

static void drop_timers(struct loop *l, const struct loop_group *g)
{
	size_t kept = 0;

	for (size_t i = 0; i < l->nheap; i++) {
		if (l->heap[i]->group == g)
			l->heap[i]->slot = 0;
		else
			heap_place(l, kept++, l->heap[i]);
	}
	if (kept == l->nheap)
		return;
	l->nheap = kept;
	for (size_t i = kept / 2; i-- > 0;)
		heap_down(l, i);
}

static void drop_defers(struct list *head, const struct loop_group *g)
{
	list_for_each (d, head, struct loop_defer, link)
		if (d->group == g)
			list_remove(&d->link);
}

void loop_group_drop(struct loop_group *g)
{
	if (g->dropped)
		return;
	g->dropped = true;
	drop_timers(g->loop, g);
	drop_defers(&g->loop->defers, g);
	drop_defers(&g->loop->batch, g);
	g->loop->ops->group_dropped(g->loop, g);
}

bool loop_group_dropped(const struct loop_group *g)
{
	return g->dropped;
}

void loop_group_free(struct loop_group *g)
{
	if (!g)
		return;
	loop_group_drop(g);
	assert(g->objects == 0);
	list_remove(&g->link);
	free(g->name);
	free(g);
}

struct loop *loop_of(const struct loop_group *g)
{
	return g->loop;
}

/* --- timers ----------------------------------------------------------------------------------- */

static bool earlier(const struct loop_timer *a, const struct loop_timer *b)
{
	return a->at != b->at ? a->at < b->at : a->seq < b->seq;
}

static void heap_place(struct loop *l, size_t i, struct loop_timer *t)
{
	l->heap[i] = t;
	t->slot = i + 1;
}

static void heap_up(struct loop *l, size_t i)
{
	struct loop_timer *t = l->heap[i];

	for (; i > 0 && earlier(t, l->heap[(i - 1) / 2]); i = (i - 1) / 2)
		heap_place(l, i, l->heap[(i - 1) / 2]);
	heap_place(l, i, t);
}

static void heap_down(struct loop *l, size_t i)
{
	struct loop_timer *t = l->heap[i];

	for (size_t child; (child = 2 * i + 1) < l->nheap; i = child) {
		if (child + 1 < l->nheap && earlier(l->heap[child + 1], l->heap[child]))
			child++;
		if (!earlier(l->heap[child], t))
			break;
		heap_place(l, i, l->heap[child]);
	}
	heap_place(l, i, t);
}

void loop_timer_init_as(struct loop_timer *t, struct loop_group *g, void (*fn)(void *arg),
			void *arg, const char *name)
{
	*t = (struct loop_timer){.group = g, .name = name, .fn = fn, .arg = arg};
}

void loop_timer_start(struct loop_timer *t, int64_t delay_ms)
{
	struct loop *l = t->group->loop;

	loop_timer_stop(t);
	if (t->group->dropped)
		return;

	int64_t now = loop_now(l);

	if (delay_ms < 0)
		delay_ms = 0;
	t->at = delay_ms > INT64_MAX - now ? INT64_MAX : now + delay_ms;
	t->seq = l->seq++;
	mem_grow(l->heap, l->nheap, l->heap_cap);
	heap_place(l, l->nheap, t);
	heap_up(l, l->nheap++);
}

void loop_timer_stop(struct loop_timer *t)
{
	if (!t->slot)
		return;

	struct loop *l = t->group->loop;
	size_t i = t->slot - 1;
	struct loop_timer *last = l->heap[--l->nheap];

	t->slot = 0;
	if (last == t)
		return;
	heap_place(l, i, last);
	heap_up(l, i);
	heap_down(l, last->slot - 1);
}

bool loop_timer_active(const struct loop_timer *t)
{
	return t->slot != 0;
}

/* --- deferred calls --------------------------------------------------------------------------- */

void loop_defer_init_as(struct loop_defer *d, struct loop_group *g, void (*fn)(void *arg),
			void *arg, const char *name)
{
	*d = (struct loop_defer){.group = g, .name = name, .fn = fn, .arg = arg};
	list_init(&d->link);
}

void loop_defer(struct loop_defer *d)
{
	if (!list_linked(&d->link) && !d->group->dropped)
		list_push_back(&d->group->loop->defers, &d->link);
}

void loop_defer_cancel(struct loop_defer *d)
{
	list_remove(&d->link);
}

/* --- work ------------------------------------------------------------------------------------- */

struct loop_work *loop_work(struct loop_group *g, void (*run)(void *arg), void (*done)(void *arg),
			    void (*drop)(void *arg), void *arg)
{
	struct loop_work proto = {
		.loop = g->loop,
		.group = g,
		.run = run,
		.done = done,
		.drop = drop,
		.arg = arg,
	};

	g->objects++;
	if (!g->dropped)
		return g->loop->ops->work(g->loop, &proto);

	/* The group was dropped, so this work never begins: return an item that does nothing until
	 * loop_work_abandon(), which drops the argument. */
	struct loop_work *w = mem_new(struct loop_work);

	*w = proto;
	w->ended = true;
	return w;
}

static void work_drop(struct loop_work *w)
{
	void (*drop)(void *arg) = w->drop;
	void *arg = w->arg;

	free(w);
	if (drop)
		drop(arg);
}

void loop_work_ended(struct loop_work *w)
{
	void (*done)(void *arg) = w->done;
	void *arg = w->arg;

	if (!w->group) {
		work_drop(w);
	} else if (w->group->dropped) {
		/* The group was dropped, so done() must not run: retain the item until its owner's
		 * destructor abandons it. */
		w->ended = true;
	} else {
		w->group->objects--;
		free(w);
		done(arg);
	}
}

void loop_work_abandon(struct loop_work *w)
{
	if (!w)
		return;

	bool dropped = w->group->dropped;

	w->group->objects--;
	w->group = NULL;
	if (w->ended)
		work_drop(w);
	else if (dropped)
		w->loop->ops->work_cancel(w);
}

/* --- children --------------------------------------------------------------------------------- */

struct loop_child *loop_spawn(struct loop_group *g, const struct loop_spawn *s, struct err *e)
{
	struct loop_child proto = {.loop = g->loop, .group = g, .spawn = *s};

	if (!proto.spawn.max_line)
		proto.spawn.max_line = LOOP_MAX_LINE;

	if (g->dropped) {
		err_note(e, ERR_UNAVAILABLE, 0, "%s: its owner is gone", s->argv[0]);
		return NULL;
	}

	struct loop_child *c = g->loop->ops->spawn(g->loop, &proto, e);

	if (c)
		g->objects++;
	return c;
}

bool loop_child_open(const struct loop_child *c)
{
	return !c->freed && !c->group->dropped;
}

void loop_child_write(struct loop_child *c, const void *data, size_t len)
{
	if (len && loop_child_open(c))
		c->loop->ops->child_write(c, data, len);
}

void loop_child_kill(struct loop_child *c, int signum)
{
	if (loop_child_open(c))
		c->loop->ops->child_kill(c, signum);
}

void loop_child_free(struct loop_child *c)
{
	if (!c)
		return;
	assert(!c->freed);
	c->group->objects--;
	c->group = NULL;
	c->freed = true;
	c->loop->ops->child_free(c);
}

void loop_lines_init(struct loop_lines *b, size_t max_line)
{
	buf_init(&b->buf, max_line);
}

void loop_lines_done(struct loop_lines *b)
{
	buf_done(&b->buf);
}

int loop_lines_feed(struct loop_lines *b, const char *data, size_t len,
		    bool (*fn)(const char *line, size_t len, void *arg), void *arg, struct err *e)
{
	while (len) {
		const char *nl = memchr(data, '\n', len);
		size_t part = nl ? (size_t)(nl - data) : len;

		if (buf_add(&b->buf, data, part, e) < 0)
			return err_wrap(e, "line too long");
		if (!nl)
			return 0;
		data += part + 1;
		len -= part + 1;

		bool more = fn(b->buf.data, b->buf.len, arg);

		buf_clear(&b->buf);
		if (!more)
			return 0;
	}
	return 0;
}

/* --- signals and descriptors ------------------------------------------------------------------ */

struct loop_signal *loop_signal(struct loop_group *g, int signum, void (*fn)(int signum, void *arg),
				void *arg)
{
	struct loop_signal proto = {.group = g, .signum = signum, .fn = fn, .arg = arg};

	g->objects++;
	return g->loop->ops->signal(g->loop, &proto);
}

void loop_signal_free(struct loop_signal *s)
{
	if (!s)
		return;
	s->group->objects--;
	s->group->loop->ops->signal_free(s);
}

struct loop_fd *loop_fd_as(struct loop_group *g, int fd, void (*fn)(int events, void *arg),
			   void *arg, const char *name)
{
	struct loop_fd proto = {.group = g, .name = name, .fd = fd, .fn = fn, .arg = arg};

	g->objects++;
	return g->loop->ops->fd(g->loop, &proto);
}

void loop_fd_happened(struct loop_fd *f, int events)
{
	f->happened |= events;
	if (!list_linked(&f->link))
		list_push_back(&f->group->loop->ready, &f->link);
}

void loop_fd_want(struct loop_fd *f, int events)
{
	if (!f->group->dropped)
		f->group->loop->ops->fd_want(f, events);
}

void loop_fd_free(struct loop_fd *f)
{
	if (!f)
		return;
	f->group->objects--;
	f->group->loop->ops->fd_free(f);
}
