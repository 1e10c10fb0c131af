#include "tests/unit/testing.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "base/buf.h"
#include "base/loop/loop_uv.h"
#include "base/mem.h"

struct fixture {
	struct loop *l;
	struct loop_group *g;
	struct buf out, err;
	int status;
	enum err_kind kind;
	struct loop_fd *fd;
	int events, calls;
};

static int setup(void **state)
{
	struct fixture *f = mem_new(struct fixture);

	f->l = loop_uv_new();
	f->g = loop_group_new(f->l, "test");
	buf_init(&f->out, 1 << 20);
	buf_init(&f->err, 1 << 20);
	f->status = -1;
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	loop_group_free(f->g);
	loop_free(f->l);
	buf_done(&f->out);
	buf_done(&f->err);
	free(f);
	return 0;
}

static void stop(void *arg)
{
	loop_stop(arg);
}

static void run_for(struct fixture *f, int64_t ms)
{
	struct loop_timer t;

	loop_timer_init(&t, f->g, stop, f->l);
	loop_timer_start(&t, ms);
	loop_run(f->l);
	loop_timer_stop(&t);
}

/* --- children --------------------------------------------------------------------------------- */

static void on_line(const char *line, size_t len, void *arg)
{
	struct fixture *f = arg;

	buf_put(&f->out, line, len);
	buf_puts(&f->out, ";");
}

static void on_stderr(const char *data, size_t len, void *arg)
{
	struct fixture *f = arg;

	buf_put(&f->err, data, len);
}

static void on_end(int status, const struct err *e, void *arg)
{
	struct fixture *f = arg;

	f->status = status;
	f->kind = e ? e->kind : ERR_NONE;
	loop_stop(f->l);
}

static struct loop_child *spawn(struct fixture *f, const char *const *argv, const char *const *env,
				size_t max_line)
{
	struct loop_spawn s = {
		.argv = argv,
		.env = env,
		.max_line = max_line,
		.on_line = on_line,
		.on_stderr = on_stderr,
		.on_exit = on_end,
		.arg = f,
	};
	struct err e;
	struct loop_child *c = loop_spawn(f->g, &s, &e);

	if (!c)
		fail_msg("%s", e.text);
	return c;
}

static void a_child_has_the_environment_given_and_no_other(void **state)
{
	struct fixture *f = *state;
	static const char *const argv[] = {"/usr/bin/env", NULL};
	static const char *const env[] = {"A=1", "B=2", NULL};

	struct loop_child *c = spawn(f, argv, env, 0);

	loop_run(f->l);
	assert_string_equal(f->out.data, "A=1;B=2;");
	loop_child_free(c);
	buf_clear(&f->out);
	c = spawn(f, argv, NULL, 0);
	loop_run(f->l);
	assert_string_equal(f->out.data, "");
	loop_child_free(c);
}

static void a_child_has_no_other_descriptors(void **state)
{
	struct fixture *f = *state;
	static const char *const argv[] = {"/bin/ls", "/proc/self/fd", NULL};
	int leak = open("/dev/null", O_RDONLY); /* not close-on-exec */
	struct loop_child *c = spawn(f, argv, NULL, 0);

	loop_run(f->l);
	/* Descriptor 3 is the directory that ls reads. */
	assert_string_equal(f->out.data, "0;1;2;3;");
	loop_child_free(c);
	close(leak);
}

/* The child reads the secret at the path it was given; it appears nowhere that other processes can
 * read. */
static void a_child_reads_its_secret_by_a_file_and_shows_it_nowhere(void **state)
{
	struct fixture *f = *state;
	static const char *const argv[] = {
		"/bin/sh", "-c",
		"cat " LOOP_SECRET_FILE "; echo; cat " LOOP_SECRET_FILE
		/* ls is not in a pipe, because the shell itself would have the ends of the pipe
		 * open for a moment. */
		"; echo; ls /proc/$$/fd; "
		"cat /proc/$$/environ /proc/$$/cmdline | grep -c 'hunte[r]2'",
		NULL};
	static const char *const env[] = {"PATH=/usr/bin:/bin", NULL};
	OWN(secret) secret = secret_from_str("hunter2");
	struct loop_spawn s = {.argv = argv,
			       .env = env,
			       .secret = secret,
			       .on_line = on_line,
			       .on_stderr = on_stderr,
			       .on_exit = on_end,
			       .arg = f};
	struct err e;
	struct loop_child *c = loop_spawn(f->g, &s, &e);

	assert_non_null(c);
	secret_free(secret);
	secret = NULL;
	loop_run(f->l);
	assert_string_equal(f->out.data, "hunter2;hunter2;0;1;2;3;0;");
	loop_child_free(c);
}

/* The parent closes its end of the secret file, even if the program does not exist. */
static void a_secret_file_is_closed_once_the_child_has_it(void **state)
{
	struct fixture *f = *state;
	static const char *const argv[] = {"/nonexistent", NULL}, *const there[] = {"/bin/true",
										    NULL};
	OWN(secret) secret = secret_from_str("hunter2");
	struct loop_spawn s = {.argv = argv, .secret = secret, .on_exit = on_end, .arg = f};
	struct err e;
	struct loop_child *c;
	char name[32], to[64];

	assert_null(loop_spawn(f->g, &s, &e));
	s.argv = there;
	c = loop_spawn(f->g, &s, &e);
	assert_non_null(c);
	loop_run(f->l);
	loop_child_free(c);
	for (int fd = 0; fd < 64; fd++) {
		ssize_t n;

		snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
		n = readlink(name, to, sizeof(to) - 1);
		to[n < 0 ? 0 : n] = '\0';
		assert_null(strstr(to, "memfd:secret"));
	}
}

static void a_child_reports_its_status_and_what_it_wrote_to_standard_error(void **state)
{
	struct fixture *f = *state;
	static const char *const argv[] = {"/bin/ls", "/nonexistent", NULL};
	struct loop_child *c = spawn(f, argv, NULL, 0);

	loop_run(f->l);
	assert_int_equal(f->status, 2);
	assert_non_null(strstr(f->err.data, "/nonexistent"));
	loop_child_free(c);
}

static void a_last_line_without_newline_is_a_line(void **state)
{
	struct fixture *f = *state;
	static const char *const argv[] = {"/usr/bin/printf", "one\\ntwo", NULL};
	struct loop_child *c = spawn(f, argv, NULL, 0);

	loop_run(f->l);
	assert_string_equal(f->out.data, "one;two;");
	assert_int_equal(f->status, 0);
	loop_child_free(c);
}

static void a_line_over_the_maximum_ends_the_child(void **state)
{
	struct fixture *f = *state;
	static const char *const argv[] = {"/bin/cat", NULL};
	struct loop_child *c = spawn(f, argv, NULL, 8);

	loop_child_write(c, "12345678\n123456789\nmore\n", 24);
	loop_run(f->l);
	assert_string_equal(f->out.data, "12345678;");
	assert_int_equal(f->kind, ERR_PROTOCOL);
	loop_child_free(c);
}

static void a_program_must_be_a_path(void **state)
{
	struct fixture *f = *state;
	static const char *const argv[] = {"ls", NULL};
	struct loop_spawn s = {.argv = argv};
	struct err e;

	assert_null(loop_spawn(f->g, &s, &e));
	assert_int_equal(e.kind, ERR_INVALID);
}

static void output_held_open_by_a_grandchild_does_not_hold_the_end_back_for_ever(void **state)
{
	struct fixture *f = *state;
	static const char *const argv[] = {"/bin/sh", "-c", "sleep 20 & echo begun", NULL};
	static const char *const env[] = {"PATH=/usr/bin:/bin", NULL};
	struct loop_child *c = spawn(f, argv, env, 0);
	int64_t begin = loop_now(f->l);

	loop_run(f->l);
	assert_string_equal(f->out.data, "begun;");
	assert_int_equal(f->status, 0);
	assert_true(loop_now(f->l) - begin < 5000);
	loop_child_free(c);
}

static void a_child_that_is_freed_ends_at_end_of_file(void **state)
{
	struct fixture *f = *state;
	static const char *const argv[] = {"/bin/sh", "-c", "echo $$; exec cat", NULL};
	static const char *const env[] = {"PATH=/usr/bin:/bin", NULL};
	struct loop_child *c = spawn(f, argv, env, 0);
	int64_t from;
	pid_t pid;

	while (!f->out.len)
		run_for(f, 5);
	pid = atoi(f->out.data);
	assert_int_equal(kill(pid, 0), 0);
	loop_child_free(c);
	from = loop_now(f->l);
	while (kill(pid, 0) == 0)
		run_for(f, 5);
	assert_true(loop_now(f->l) - from < 4000); /* SIGKILL would come after 5 s */
	assert_int_equal(f->status, -1);
}

static void freeing_the_loop_kills_a_child_that_stays(void **state)
{
	struct fixture *f = *state;
	static const char *const argv[] = {"/bin/sleep", "60", NULL};

	loop_child_free(spawn(f, argv, NULL, 0));
	run_for(f, 5); /* the teardown would wait a minute for the child */
}

/* --- descriptors and signals ------------------------------------------------------------------ */

static void on_fd(int events, void *arg)
{
	struct fixture *f = arg;

	f->events |= events;
	f->calls++;
	loop_fd_want(f->fd, 0);
	loop_stop(f->l);
}

static void a_descriptor_tells_what_was_wanted(void **state)
{
	struct fixture *f = *state;
	int s[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, s), 0);
	f->fd = loop_fd(f->g, s[0], on_fd, f);
	loop_fd_want(f->fd, LOOP_WRITE);
	loop_run(f->l);
	assert_int_equal(f->events, LOOP_WRITE);

	f->events = f->calls = 0;
	loop_fd_want(f->fd, LOOP_READ);
	run_for(f, 5);
	assert_int_equal(f->calls, 0);
	assert_int_equal(write(s[1], "x", 1), 1);
	loop_run(f->l);
	assert_int_equal(f->events, LOOP_READ);

	f->events = f->calls = 0;
	run_for(f, 5); /* no event is requested, so none is reported */
	assert_int_equal(f->calls, 0);
	loop_fd_want(f->fd, LOOP_HANGUP);
	close(s[1]);
	loop_run(f->l);
	assert_true(f->events & LOOP_HANGUP);
	loop_fd_free(f->fd);
	close(s[0]);
}

static void on_signal(int signum, void *arg)
{
	struct fixture *f = arg;

	f->events = signum;
	loop_stop(f->l);
}

static void a_signal_arrives_on_the_loop(void **state)
{
	struct fixture *f = *state;
	struct loop_signal *s = loop_signal(f->g, SIGUSR1, on_signal, f);

	assert_int_equal(kill(getpid(), SIGUSR1), 0);
	loop_run(f->l);
	assert_int_equal(f->events, SIGUSR1);
	loop_signal_free(s);
}

/* --- watchdog --------------------------------------------------------------------------------- */

static void block(void *arg)
{
	(void)arg;
	usleep(80000);
}

static void the_watchdog_counts_a_turn_that_took_too_long_and_not_the_waiting(void **state)
{
	struct fixture *f = *state;
	struct loop_timer t;

	run_for(f, 1000);
	assert_true(loop_stats(f->l).longest_ms < 1000);

	uint64_t slow = loop_stats(f->l).slow_turns;

	loop_timer_init(&t, f->g, block, NULL);
	loop_timer_start(&t, 0);
	run_for(f, 1);
	assert_true(loop_stats(f->l).longest_ms >= 79);
	assert_true(loop_stats(f->l).slow_turns > slow);
}

struct two_clocks {
	struct loop *l;
	int64_t turn, clock;
};

static void stopped_for_a_while(void *arg)
{
	struct two_clocks *c = arg;
	int64_t turn = loop_now(c->l), clock = loop_clock(c->l);

	usleep(30000);
	c->turn = loop_now(c->l) - turn;
	c->clock = loop_clock(c->l) - clock;
}

static void the_clock_goes_on_in_a_turn_and_its_time_stands(void **state)
{
	struct fixture *f = *state;
	struct two_clocks c = {.l = f->l};
	struct loop_timer t;

	loop_timer_init(&t, f->g, stopped_for_a_while, &c);
	loop_timer_start(&t, 0);
	run_for(f, 1);
	assert_int_equal(c.turn, 0);
	assert_true(c.clock >= 29);
}

struct spinner {
	struct fixture *f;
	struct loop_defer defer[40];
	struct loop_timer timer;
	unsigned spun, spun_before_timer;
};

/* Blocks the loop for some milliseconds, whatever else the machine does. */
static void spin(void *arg)
{
	struct spinner *s = arg;
	int64_t until = loop_clock(s->f->l) + 3;

	while (loop_clock(s->f->l) < until)
		;
	if (++s->spun == 40)
		loop_stop(s->f->l);
}

static void on_between(void *arg)
{
	struct spinner *s = arg;

	s->spun_before_timer = s->spun;
}

static void a_turn_gives_way_to_what_happens_meanwhile(void **state)
{
	struct spinner s = {.f = *state};

	loop_timer_init(&s.timer, s.f->g, on_between, &s);
	loop_timer_start(&s.timer, 10);
	for (unsigned i = 0; i < 40; i++) {
		loop_defer_init(&s.defer[i], s.f->g, spin, &s);
		loop_defer(&s.defer[i]);
	}
	loop_run(s.f->l);
	loop_timer_stop(&s.timer);
	assert_in_range(s.spun_before_timer, 1, 39);
	assert_true(loop_stats(s.f->l).turns > 10);
	assert_non_null(strstr(loop_stats(s.f->l).slowest, "test_loop_uv.c:spin"));
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_turn_gives_way_to_what_happens_meanwhile),
		CASE(a_child_has_the_environment_given_and_no_other),
		CASE(a_child_has_no_other_descriptors),
		CASE(a_child_reads_its_secret_by_a_file_and_shows_it_nowhere),
		CASE(a_secret_file_is_closed_once_the_child_has_it),
		CASE(a_child_reports_its_status_and_what_it_wrote_to_standard_error),
		CASE(a_last_line_without_newline_is_a_line),
		CASE(a_line_over_the_maximum_ends_the_child),
		CASE(a_program_must_be_a_path),
		CASE(output_held_open_by_a_grandchild_does_not_hold_the_end_back_for_ever),
		CASE(a_child_that_is_freed_ends_at_end_of_file),
		CASE(freeing_the_loop_kills_a_child_that_stays),
		CASE(a_descriptor_tells_what_was_wanted),
		CASE(a_signal_arrives_on_the_loop),
		CASE(the_watchdog_counts_a_turn_that_took_too_long_and_not_the_waiting),
		CASE(the_clock_goes_on_in_a_turn_and_its_time_stands),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
