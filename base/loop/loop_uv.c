#include "base/loop/loop_uv.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>
#include <uv.h>
#include "base/loop/loop_internal.h"
#include "base/mem.h"

/*
 * The real loop. libuv waits. Timers and deferrals are in loop.c, so libuv has only one timer,
 * which is set to the earliest of them. The memory of a libuv handle may be freed only in the
 * handle's close callback, so objects with handles are freed there.
 */
struct loop_uv {
	struct loop base;
	uv_loop_t uv;
	uv_timer_t timer;
	/* Handle that makes uv_run() wait even while no other handle is active. */
	uv_async_t alive;
	struct list children;
	/* Time of the last mem_give_back(). */
	int64_t gave_back_at;
};

/* Interval in which a loop that has nothing to do returns freed memory to the system. */
enum { GIVE_BACK_MS = 1000 };

static struct loop_uv *uv_of(struct loop *l)
{
	return container_of(l, struct loop_uv, base);
}

/* --- clock and random ------------------------------------------------------------------------- */

static int64_t clock_ms(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static int64_t uv_ops_now(const struct loop *l)
{
	(void)l;
	return clock_ms(CLOCK_MONOTONIC);
}

static int64_t uv_ops_wall(const struct loop *l)
{
	(void)l;
	return clock_ms(CLOCK_REALTIME);
}

static int64_t uv_ops_cpu_us(const struct loop *l)
{
	struct timespec t;

	(void)l;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static void uv_ops_random(struct loop *l, void *out, size_t n)
{
	char *p = out;

	(void)l;
	while (n) {
		ssize_t got = getrandom(p, n, 0);

		if (got < 0 && errno != EINTR)
			/* The kernel has no random bytes: abort, because keys are made from these
			 * bytes and no other source is safe enough. */
			abort();
		if (got > 0) {
			p += got;
			n -= (size_t)got;
		}
	}
}

/* --- waiting ---------------------------------------------------------------------------------- */

static void on_timer(uv_timer_t *t)
{
	(void)t;
}

static void on_alive(uv_async_t *a)
{
	(void)a;
}

static bool uv_ops_wait(struct loop *l, int64_t timeout_ms)
{
	struct loop_uv *u = uv_of(l);

	if (timeout_ms == 0) {
		uv_run(&u->uv, UV_RUN_NOWAIT);
		return true;
	}
	if (loop_now(l) - u->gave_back_at >= GIVE_BACK_MS) {
		u->gave_back_at = loop_now(l);
		mem_give_back();
	}
	if (timeout_ms > 0) {
		/* Use a repeating timer. uv_run() runs due timers before it waits; a one-shot timer
		 * that is due by then would be spent, and uv_run() would wait forever. */
		uv_update_time(&u->uv);
		uv_timer_start(&u->timer, on_timer, (uint64_t)timeout_ms, (uint64_t)timeout_ms);
	}
	uv_run(&u->uv, UV_RUN_ONCE);
	uv_timer_stop(&u->timer);
	return true;
}

static void uv_ops_group_dropped(struct loop *l, struct loop_group *g)
{
	(void)l, (void)g; /* Nothing to do: every callback here checks its group itself. */
}

/* --- work ------------------------------------------------------------------------------------- */

struct uv_work {
	struct loop_work base;
	uv_work_t req;
};

static void on_work(uv_work_t *req)
{
	struct uv_work *w = container_of(req, struct uv_work, req);

	w->base.run(w->base.arg);
}

static void on_work_end(uv_work_t *req, int status)
{
	struct uv_work *w = container_of(req, struct uv_work, req);
	struct loop *l = w->base.loop;

	(void)status;
	loop_enter(l);
	loop_work_ended(&w->base);
	loop_called(l);
}

static struct loop_work *uv_ops_work(struct loop *l, const struct loop_work *proto)
{
	struct uv_work *w = mem_new(struct uv_work);

	w->base = *proto;
	if (uv_queue_work(&uv_of(l)->uv, &w->req, on_work, on_work_end) != 0)
		abort(); /* uv_queue_work() fails only without a callback. */
	return &w->base;
}

static void uv_ops_work_cancel(struct loop_work *w)
{
	uv_cancel((uv_req_t *)&container_of(w, struct uv_work, base)->req);
}

/* --- children --------------------------------------------------------------------------------- */

enum { PIPE_IN, PIPE_OUT, PIPE_ERR, PIPES };

struct uv_child {
	struct loop_child base;
	uv_process_t process;
	uv_pipe_t pipe[PIPES];
	bool open[PIPES];
	/* Number of the child's libuv handles that are not closed yet. */
	unsigned handles;
	bool exited, ended, too_long;
	int status;
	struct err err;
	struct loop_lines lines;
	/* Time limit. After loop_child_free(): for the exit of the process. After the exit of the
	 * process: for the end of its output. */
	struct loop_timer patience;
	struct list link;
};

static void child_destroy(struct uv_child *c)
{
	loop_timer_stop(&c->patience);
	list_remove(&c->link);
	loop_lines_done(&c->lines);
	free(c);
}

static void on_child_handle_closed(uv_handle_t *h)
{
	struct uv_child *c = h->data;

	if (--c->handles == 0 && c->base.freed)
		child_destroy(c);
}

static void child_close_handle(struct uv_child *c, uv_handle_t *h)
{
	h->data = c;
	uv_close(h, on_child_handle_closed);
}

static void child_close_pipe(struct uv_child *c, int which)
{
	if (!c->open[which])
		return;
	c->open[which] = false;
	child_close_handle(c, (uv_handle_t *)&c->pipe[which]);
}

/* Reports the exit once the process has exited and its output was read to the end. */
static void child_maybe_end(struct uv_child *c)
{
	if (!c->exited || c->open[PIPE_OUT] || c->open[PIPE_ERR] || c->ended)
		return;
	c->ended = true;
	loop_timer_stop(&c->patience);
	if (loop_child_open(&c->base) && c->base.spawn.on_exit)
		c->base.spawn.on_exit(c->status, c->too_long ? &c->err : NULL, c->base.spawn.arg);
}

static void on_patience(void *arg)
{
	struct uv_child *c = arg;

	if (!c->exited) {
		uv_process_kill(&c->process, SIGKILL);
		return;
	}
	/* The process has exited, but a process that it started keeps the pipes open: close
	 * them. */
	child_close_pipe(c, PIPE_OUT);
	child_close_pipe(c, PIPE_ERR);
	child_maybe_end(c);
}

static void on_child_exit(uv_process_t *p, int64_t status, int signum)
{
	struct uv_child *c = container_of(p, struct uv_child, process);
	struct loop *l = c->base.loop;

	loop_enter(l);
	c->exited = true;
	c->status = signum ? 128 + signum : (int)status;
	child_close_handle(c, (uv_handle_t *)&c->process);
	child_close_pipe(c, PIPE_IN);
	loop_timer_stop(&c->patience);
	if (!c->base.freed) {
		loop_timer_start(&c->patience, LOOP_CHILD_DRAIN_MS);
		child_maybe_end(c);
	}
	loop_called(l);
}

static bool on_child_line(const char *line, size_t len, void *arg)
{
	struct uv_child *c = arg;

	if (loop_child_open(&c->base) && c->base.spawn.on_line)
		c->base.spawn.on_line(line, len, c->base.spawn.arg);
	return loop_child_open(&c->base);
}

static void on_child_alloc(uv_handle_t *h, size_t suggested, uv_buf_t *b)
{
	(void)h;
	*b = uv_buf_init(mem_alloc(suggested), (unsigned)suggested);
}

static void on_child_output(uv_stream_t *s, ssize_t n, const uv_buf_t *b)
{
	struct uv_child *c = s->data;
	struct loop *l = c->base.loop;
	bool failed = false;

	loop_enter(l);
	if (n > 0)
		failed = loop_lines_feed(&c->lines, b->base, (size_t)n, on_child_line, c, &c->err) <
			 0;
	if (failed) {
		c->too_long = true;
		uv_process_kill(&c->process, SIGKILL);
	} else if (n < 0 && c->lines.buf.len) {
		on_child_line(c->lines.buf.data, c->lines.buf.len,
			      c); /* Deliver the last line, which has no newline. */
	}
	if (failed || n < 0) {
		child_close_pipe(c, PIPE_OUT);
		child_maybe_end(c);
	}
	free(b->base);
	loop_called(l);
}

static void on_child_stderr(uv_stream_t *s, ssize_t n, const uv_buf_t *b)
{
	struct uv_child *c = s->data;
	struct loop *l = c->base.loop;

	loop_enter(l);
	if (n > 0 && loop_child_open(&c->base))
		c->base.spawn.on_stderr(b->base, (size_t)n, c->base.spawn.arg);
	if (n < 0) {
		child_close_pipe(c, PIPE_ERR);
		child_maybe_end(c);
	}
	free(b->base);
	loop_called(l);
}

static void cloexec_fallback(void)
{
	DIR *d = opendir("/proc/self/fd");

	if (!d)
		return;
	for (struct dirent *f; (f = readdir(d));) {
		int fd = atoi(f->d_name);

		if (fd > 2)
			fcntl(fd, F_SETFD, FD_CLOEXEC);
	}
	closedir(d);
}

/* Makes all descriptors close-on-exec, so that children do not inherit them. libuv opens its
 * descriptors so; other libraries may not. */
static void cloexec_all(void)
{
	if (close_range(3, ~0u, CLOSE_RANGE_CLOEXEC) < 0)
		cloexec_fallback();
}

static void child_open_pipe(struct loop_uv *u, struct uv_child *c, int which,
			    uv_stdio_container_t *io, int flags)
{
	uv_pipe_init(&u->uv, &c->pipe[which], 0);
	c->pipe[which].data = c;
	c->open[which] = true;
	c->handles++;
	io[which].flags = UV_CREATE_PIPE | flags;
	io[which].data.stream = (uv_stream_t *)&c->pipe[which];
}

/* SECRET: number of the child's descriptor with the secret, behind the three pipes. STDIO: number
 * of descriptors. */
enum { SECRET = PIPES, STDIO };

static struct loop_child *uv_ops_spawn(struct loop *l, const struct loop_child *proto,
				       struct err *e)
{
	static const char *const no_env[] = {NULL};
	const struct loop_spawn *s = &proto->spawn;
	struct loop_uv *u = uv_of(l);

	if (!s->argv[0] || !strchr(s->argv[0], '/')) {
		err_note(e, ERR_INVALID, 0, "%s: not a path", s->argv[0] ? s->argv[0] : "");
		return NULL;
	}

	int secret = s->secret ? secret_file(s->secret, e) : -1;

	if (s->secret && secret < 0) {
		err_note_wrap(e, "cannot start %s", s->argv[0]);
		return NULL;
	}

	struct uv_child *c = mem_new(struct uv_child);
	uv_stdio_container_t io[STDIO] = {
		{.flags = UV_IGNORE},
		{.flags = UV_IGNORE},
		{.flags = UV_IGNORE},
		{.flags = UV_INHERIT_FD, .data.fd = secret},
	};

	c->base = *proto;
	loop_lines_init(&c->lines, s->max_line);
	loop_timer_init(&c->patience, l->own, on_patience, c);
	list_push_back(&u->children, &c->link);
	child_open_pipe(u, c, PIPE_IN, io, UV_READABLE_PIPE);
	child_open_pipe(u, c, PIPE_OUT, io, UV_WRITABLE_PIPE);
	if (s->on_stderr)
		child_open_pipe(u, c, PIPE_ERR, io, UV_WRITABLE_PIPE);
	c->handles++; /* The process itself is a libuv handle too. */
	cloexec_all();

	uv_process_options_t o = {
		.exit_cb = on_child_exit,
		.file = s->argv[0],
		.args = (char **)s->argv,
		.env = (char **)(s->env ? s->env : no_env),
		.stdio_count = s->secret ? STDIO : PIPES,
		.stdio = io,
	};
	int rc = uv_spawn(&u->uv, &c->process, &o);

	if (secret >= 0)
		close(secret); /* The child has its own copy. */

	if (rc < 0) {
		err_note_errno(e, -rc, "cannot start %s", s->argv[0]);
		c->base.freed = c->exited = true;
		c->base.group = NULL;
		child_close_handle(c, (uv_handle_t *)&c->process);
		for (int i = 0; i < PIPES; i++)
			child_close_pipe(c, i);
		return NULL;
	}
	uv_read_start((uv_stream_t *)&c->pipe[PIPE_OUT], on_child_alloc, on_child_output);
	if (s->on_stderr)
		uv_read_start((uv_stream_t *)&c->pipe[PIPE_ERR], on_child_alloc, on_child_stderr);
	c->base.spawn.argv = c->base.spawn.env = NULL;
	c->base.spawn.secret = NULL;
	return &c->base;
}

struct uv_line {
	uv_write_t req;
	char data[];
};

static void on_child_written(uv_write_t *req, int status)
{
	/* Ignore the status: a child that no longer reads will exit, and its exit is reported. */
	(void)status;
	free(container_of(req, struct uv_line, req));
}

static void uv_ops_child_write(struct loop_child *base, const void *data, size_t len)
{
	struct uv_child *c = container_of(base, struct uv_child, base);

	if (!c->open[PIPE_IN])
		return;

	struct uv_line *w = mem_alloc(sizeof(*w) + len);
	uv_buf_t b = uv_buf_init(w->data, (unsigned)len);

	memcpy(w->data, data, len);
	if (uv_write(&w->req, (uv_stream_t *)&c->pipe[PIPE_IN], &b, 1, on_child_written) < 0)
		free(w);
}

static void uv_ops_child_kill(struct loop_child *base, int signum)
{
	struct uv_child *c = container_of(base, struct uv_child, base);

	if (!c->exited)
		uv_process_kill(&c->process, signum);
}

static void uv_ops_child_free(struct loop_child *base)
{
	struct uv_child *c = container_of(base, struct uv_child, base);

	loop_timer_stop(&c->patience);
	for (int i = 0; i < PIPES; i++)
		child_close_pipe(c, i);
	if (!c->exited)
		loop_timer_start(&c->patience, LOOP_CHILD_GRACE_MS);
	if (c->handles == 0)
		child_destroy(c);
}

/* --- signals ---------------------------------------------------------------------------------- */

struct uv_sig {
	struct loop_signal base;
	uv_signal_t handle;
};

static void on_signal(uv_signal_t *h, int signum)
{
	struct uv_sig *s = container_of(h, struct uv_sig, handle);
	struct loop *l = s->base.group->loop;

	if (s->base.group->dropped)
		return;
	loop_enter(l);
	s->base.fn(signum, s->base.arg);
	loop_called(l);
}

static struct loop_signal *uv_ops_signal(struct loop *l, const struct loop_signal *proto)
{
	struct uv_sig *s = mem_new(struct uv_sig);

	s->base = *proto;
	uv_signal_init(&uv_of(l)->uv, &s->handle);
	if (uv_signal_start(&s->handle, on_signal, proto->signum) < 0)
		abort(); /* uv_signal_start() fails only for numbers that are no signals. */
	return &s->base;
}

static void on_signal_closed(uv_handle_t *h)
{
	free(container_of((uv_signal_t *)h, struct uv_sig, handle));
}

static void uv_ops_signal_free(struct loop_signal *s)
{
	uv_close((uv_handle_t *)&container_of(s, struct uv_sig, base)->handle, on_signal_closed);
}

/* --- descriptors ------------------------------------------------------------------------------ */

struct uv_fd {
	struct loop_fd base;
	uv_poll_t handle;
	/* True: libuv has stopped watching after an error. */
	bool stopped;
};

static void on_fd(uv_poll_t *h, int status, int uv_events)
{
	struct uv_fd *f = container_of(h, struct uv_fd, handle);
	int events = 0;

	if (f->base.group->dropped)
		return;
	if (status < 0) {
		f->stopped = true;
		events = f->base.wanted | LOOP_HANGUP;
	}
	events |= uv_events & UV_READABLE ? LOOP_READ : 0;
	events |= uv_events & UV_WRITABLE ? LOOP_WRITE : 0;
	events |= uv_events & UV_DISCONNECT ? LOOP_HANGUP : 0;
	loop_enter(f->base.group->loop);
	loop_fd_happened(&f->base, events);
}

static struct loop_fd *uv_ops_fd(struct loop *l, const struct loop_fd *proto)
{
	struct uv_fd *f = mem_new(struct uv_fd);

	f->base = *proto;
	list_init(&f->base.link);
	if (uv_poll_init(&uv_of(l)->uv, &f->handle, proto->fd) < 0)
		/* uv_poll_init() fails if the descriptor is closed, not a socket, or already
		 * watched. */
		abort();
	return &f->base;
}

static void uv_ops_fd_want(struct loop_fd *base, int events)
{
	struct uv_fd *f = container_of(base, struct uv_fd, base);
	int uv_events = 0;

	if (events == base->wanted && !f->stopped)
		return;
	base->wanted = events;
	f->stopped = false;
	uv_events |= events & LOOP_READ ? UV_READABLE : 0;
	uv_events |= events & LOOP_WRITE ? UV_WRITABLE : 0;
	uv_events |= events & LOOP_HANGUP ? UV_DISCONNECT : 0;
	if (uv_events)
		uv_poll_start(&f->handle, uv_events, on_fd);
	else
		uv_poll_stop(&f->handle);
}

static void on_fd_closed(uv_handle_t *h)
{
	free(container_of((uv_poll_t *)h, struct uv_fd, handle));
}

static void uv_ops_fd_free(struct loop_fd *f)
{
	list_remove(&f->link);
	uv_close((uv_handle_t *)&container_of(f, struct uv_fd, base)->handle, on_fd_closed);
}

/* --- life cycle ------------------------------------------------------------------------------- */

static void uv_ops_free(struct loop *l)
{
	struct loop_uv *u = uv_of(l);

	list_for_each (c, &u->children, struct uv_child, link)
		if (!c->exited)
			uv_process_kill(&c->process, SIGKILL);
	uv_close((uv_handle_t *)&u->timer, NULL);
	uv_close((uv_handle_t *)&u->alive, NULL);
	/* Run libuv until abandoned work and killed children have ended. */
	uv_run(&u->uv, UV_RUN_DEFAULT);
	if (uv_loop_close(&u->uv) != 0)
		abort(); /* Abort: a handle was not closed. */
	loop_base_done(l);
	free(u);
}

static const struct loop_ops uv_ops = {
	.free = uv_ops_free,
	.now = uv_ops_now,
	.cpu_us = uv_ops_cpu_us,
	.wall = uv_ops_wall,
	.random = uv_ops_random,
	.wait = uv_ops_wait,
	.group_dropped = uv_ops_group_dropped,
	.work = uv_ops_work,
	.work_cancel = uv_ops_work_cancel,
	.spawn = uv_ops_spawn,
	.child_write = uv_ops_child_write,
	.child_kill = uv_ops_child_kill,
	.child_free = uv_ops_child_free,
	.signal = uv_ops_signal,
	.signal_free = uv_ops_signal_free,
	.fd = uv_ops_fd,
	.fd_want = uv_ops_fd_want,
	.fd_free = uv_ops_fd_free,
};

struct loop *loop_uv_new(void)
{
	struct loop_uv *u = mem_new(struct loop_uv);

	signal(SIGPIPE, SIG_IGN);
	loop_base_init(&u->base, &uv_ops);
	list_init(&u->children);
	if (uv_loop_init(&u->uv) != 0 || uv_timer_init(&u->uv, &u->timer) != 0 ||
	    uv_async_init(&u->uv, &u->alive, on_alive) != 0)
		/* The initialisation fails only if no descriptors are left when the program
		 * starts. */
		abort();
	return &u->base;
}
