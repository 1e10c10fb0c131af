#include "tests/unit/testing.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "tests/simulated/loop_sim.h"
#include "base/loop/loop_uv.h"
#include "base/mem.h"
#include "base/str.h"
#include "providers/fabric.h"
#include "tests/contract/fake_fabric.h"
#include "tests/contract/fake_netris.h"
#include "tests/contract/unsaid.h"

/*
 * Tests the cases that every fabric (network backend) must pass, for each row of the table below.
 * The rows are: no fabric, a driver on the simulated loop, examples/exec-fabric/port-move as a real
 * process, and server clusters of a simulated Netris controller. The Netris controller answers at
 * once, after 3 s, and in every format of its releases. Its password must appear in no log line and
 * no error (unsaid.h). test_netris_fabric.c has the cases that only netris has.
 */
enum which { NONE, SIMULATED, REAL, NETRIS };

struct backend {
	const char *name, *type;
	enum which which;
	enum fabric_proof proof;
	int64_t slow_ms;
	bool loose;
};

static const struct backend backends[] = {
	{"none", "none", NONE, FABRIC_PROOF_NONE, 0, false},
	{"exec, simulated", "exec", SIMULATED, FABRIC_PROOF_STRONG, 0, false},
	{"exec, a real process", "exec", REAL, FABRIC_PROOF_WEAK, 0, false},
	{"netris", "netris", NETRIS, FABRIC_PROOF_WEAK, 0, false},
	{"netris, 3 s a reply", "netris", NETRIS, FABRIC_PROOF_WEAK, 3000, false},
	{"netris, loosely typed", "netris", NETRIS, FABRIC_PROOF_WEAK, 50, true},
};

struct world {
	const struct backend *backend;
	struct loop *loop;
	struct loop_group *group;
	struct fake_fabric fake;
	struct fake_netris netris;
	struct fabric *fabric;
	char program[PATH_MAX], state[PATH_MAX];
	const char *command[3];
	const struct answer *awaited;
	/* Calls that were reported to the watch */
	unsigned ended;
};

struct answer {
	struct world *w;
	unsigned count;
	bool begun;
	int64_t at;
	struct err err;
	bool observed;
	struct fabric_place place;
	char segment[64];
};

static void on_ended(const char *operation, int64_t ms, const struct err *e, void *arg)
{
	unsigned *ended = arg;

	(void)e;
	assert_non_null(operation);
	assert_true(ms >= 0);
	++*ended;
}

static struct world *world_new(const struct backend *b)
{
	struct world *w = mem_new(struct world);
	struct fabric_spec s = {.type = b->type,
				.command = w->command,
				.allowed = w->command,
				.watch = {on_ended, &w->ended}};
	struct err e;

	w->backend = b;
	w->loop = b->which == REAL ? loop_uv_new() : loop_sim_new(5, 1764000000000);
	w->group = loop_group_new(w->loop, "controller");
	s.group = w->group;
	if (b->which == SIMULATED) {
		fake_fabric_init(&w->fake, w->loop);
		w->command[0] = FAKE_FABRIC;
		w->command[1] = "--now";
	} else if (b->which == REAL) {
		assert_non_null(realpath("examples/exec-fabric/port-move", w->program));
		str_format(w->state, sizeof(w->state), "/tmp/drover-fabric-%d", (int)getpid());
		w->command[0] = w->program;
		w->command[1] = w->state;
	} else if (b->which == NETRIS) {
		fake_netris_init(&w->netris, w->loop, w->group, 4, b->slow_ms, b->loose);
		s.netris = &w->netris.config;
	}
	w->fabric = fabric_new(&s, &e);
	if (!w->fabric)
		fail_msg("%s", e.text);
	return w;
}

static void world_free(struct world *w)
{
	fabric_free(w->fabric);
	if (w->backend->which == SIMULATED) {
		loop_sim_run_until(w->loop, loop_now(w->loop) + 10000);
		assert_int_equal(w->fake.starts, w->fake.ends);
	}
	if (w->backend->which == NETRIS)
		fake_netris_done(&w->netris);
	loop_group_free(w->group);
	loop_free(w->loop);
	if (w->backend->which == SIMULATED)
		fake_fabric_done(&w->fake);
	if (w->state[0])
		unlink(w->state);
	free(w);
}

static void on_done(const struct fabric_place *p, const struct err *e, void *arg)
{
	struct answer *a = arg;

	assert_true(a->begun);
	a->count++;
	a->at = loop_now(a->w->loop);
	err_clear(&a->err);
	unsaid_check(e ? e->text : NULL);
	unsaid_check(p ? p->why : NULL);
	if (e)
		a->err = *e;
	a->observed = p != NULL;
	if (p) {
		a->place = *p;
		str_copy(a->segment, sizeof(a->segment), str_or(p->segment, "-"));
	}
	if (a->w->backend->which == REAL && a == a->w->awaited)
		loop_stop(a->w->loop);
}

static bool is_answered(void *arg)
{
	return ((struct answer *)arg)->count > 0;
}

static struct fabric_call call(struct world *w, struct answer *a, int64_t fence)
{
	*a = (struct answer){.w = w};
	return (struct fabric_call){.op_id = "01JD", .fence = fence, .done = on_done, .arg = a};
}

static void on_late(void *arg)
{
	loop_stop(arg);
}

static enum err_kind finish(struct answer *a)
{
	struct world *w = a->w;

	a->begun = true;
	w->awaited = a;
	if (w->backend->which == REAL) {
		struct loop_timer late;

		loop_timer_init(&late, w->group, on_late, w->loop);
		loop_timer_start(&late, 20000);
		loop_run(w->loop);
		loop_timer_stop(&late);
	} else {
		/* Long enough for four place() calls of one machine, each with its own 60 s. */
		loop_sim_run_cond(w->loop, is_answered, a, loop_now(w->loop) + 4 * 61000);
	}
	assert_int_equal(a->count, 1);
	return a->err.kind;
}

static const struct fabric_port gpu1 = {.machine = "gpu-1", .mac = "0c:42:a1:00:00:01"},
				gpu2 = {.machine = "gpu-2"};

static enum err_kind place(struct world *w, const struct fabric_port *p, const char *segment,
			   int64_t fence)
{
	struct answer a;
	struct fabric_call c = call(w, &a, fence);

	fabric_place(w->fabric, p, segment, &c);
	finish(&a);
	assert_false(a.observed);
	return a.err.kind;
}

static enum err_kind observe(struct world *w, const struct fabric_port *p, struct answer *a)
{
	struct fabric_call c = call(w, a, 1);

	const unsigned ended = w->ended;

	fabric_observe(w->fabric, p, &c);
	finish(a);
	assert_int_equal(w->ended, ended + (w->backend->which != NONE));
	assert_true(a->observed == (a->err.kind == ERR_NONE));
	return a->err.kind;
}

/* Waits until netris can prove placements, for which it needs two snapshots, and reports of the
 * switches between them. The other backends need no wait. */
static void settle(struct world *w, const struct fabric_port *p)
{
	struct answer a;

	for (int i = 0; i < 3 && w->backend->which == NETRIS; i++) {
		assert_int_equal(observe(w, p, &a), ERR_NONE);
		loop_sim_run_until(w->loop, loop_now(w->loop) + 10000);
	}
}

#define EACH_BACKEND(case_)                                                                        \
	static void case_##_of(struct world *w);                                                   \
	static void case_(void **state)                                                            \
	{                                                                                          \
		(void)state;                                                                       \
		for (size_t i = 0; i < sizeof(backends) / sizeof(*backends); i++) {                \
			struct world *w = world_new(&backends[i]);                                 \
                                                                                                   \
			print_message("    %s\n", backends[i].name);                               \
			case_##_of(w);                                                             \
			world_free(w);                                                             \
		}                                                                                  \
	}                                                                                          \
	static void case_##_of(struct world *w)

EACH_BACKEND(a_machine_is_observed_where_it_was_placed)
{
	struct answer a;
	int64_t from;

	assert_int_equal(observe(w, &gpu1, &a), ERR_NONE);
	assert_string_equal(a.segment, "-");
	assert_int_equal(place(w, &gpu1, "quarantine", 1), ERR_NONE);
	assert_int_equal(place(w, &gpu2, "provisioning", 1), ERR_NONE);
	assert_int_equal(place(w, &gpu1, "tenant/team-a", 1), ERR_NONE);
	assert_int_equal(place(w, &gpu1, "tenant/team-a", 1), ERR_NONE);
	settle(w, &gpu1);
	from = loop_now(w->loop);
	assert_int_equal(observe(w, &gpu1, &a), ERR_NONE);
	assert_string_equal(a.segment, "tenant/team-a");
	assert_int_equal(a.place.proof, w->backend->proof);
	assert_true(a.place.read_at >= from && a.place.read_at <= a.at);
	assert_int_equal(observe(w, &gpu2, &a), ERR_NONE);
	assert_string_equal(a.segment, "provisioning");
}

EACH_BACKEND(the_last_place_asked_for_wins)
{
	struct answer a[4], seen;
	char name[16];

	for (int i = 0; i < 4; i++) {
		struct fabric_call c = call(w, &a[i], 1);

		str_format(name, sizeof(name), "tenant/s-%d", i);
		fabric_place(w->fabric, &gpu1, name, &c);
		a[i].begun = true;
	}
	finish(&a[3]);
	for (int i = 0; i < 4; i++) {
		assert_int_equal(a[i].count, 1);
		assert_int_equal(a[i].err.kind, ERR_NONE);
		assert_true(i == 0 || a[i].at >= a[i - 1].at);
	}
	assert_int_equal(observe(w, &gpu1, &seen), ERR_NONE);
	assert_string_equal(seen.segment, "tenant/s-3");
}

/* Tests netris only: after place() has failed, the port must stay where it was. A program of type
 * exec is different: it has already received the request, with its time limit. */
EACH_BACKEND(a_place_that_was_given_up_moves_nothing_after)
{
	struct answer a, seen;
	struct fabric_call c = call(w, &a, 1);

	if (w->backend->which != NETRIS)
		return;
	assert_int_equal(place(w, &gpu1, "quarantine", 1), ERR_NONE);
	settle(w, &gpu1);
	sim_netris_fault(w->netris.sim, "Slow", NULL, NULL, 14000, 0);
	fabric_place(w->fabric, &gpu1, "tenant/team-a", &c);
	assert_int_not_equal(finish(&a), ERR_NONE);
	sim_netris_well(w->netris.sim);
	loop_sim_run_until(w->loop, loop_now(w->loop) + 300000);
	assert_int_equal(a.count, 1);
	settle(w, &gpu1);
	assert_int_equal(observe(w, &gpu1, &seen), ERR_NONE);
	assert_string_equal(seen.segment, "quarantine");
}

EACH_BACKEND(freeing_ends_calls_without_an_answer)
{
	struct answer a, b;
	struct fabric_call c = call(w, &a, 1), d = call(w, &b, 1);

	fabric_place(w->fabric, &gpu1, "quarantine", &c);
	fabric_observe(w->fabric, &gpu2, &d);
	fabric_free(w->fabric);
	w->fabric = NULL;
	if (w->backend->which != REAL)
		loop_sim_run_until(w->loop, loop_now(w->loop) + 120000);
	assert_int_equal(a.count + b.count, 0);
}

static void free_in_done(const struct fabric_place *p, const struct err *e, void *arg)
{
	struct answer *a = arg;

	on_done(p, e, a);
	fabric_free(a->w->fabric);
	a->w->fabric = NULL;
}

EACH_BACKEND(a_fabric_may_be_freed_in_an_answer)
{
	struct answer a, b;
	struct fabric_call c = call(w, &a, 1), d = call(w, &b, 1);

	c.done = free_in_done;
	fabric_observe(w->fabric, &gpu1, &c);
	fabric_place(w->fabric, &gpu1, "q-1", &d);
	assert_int_equal(finish(&a), ERR_NONE);
	assert_int_equal(b.count, 0);
}

/* --- type exec only --------------------------------------------------------------------------- */

static void a_lower_fence_is_refused_by_the_example(void **state)
{
	struct world *w = world_new(&backends[REAL]);

	(void)state;
	assert_int_equal(place(w, &gpu1, "q-1", 5), ERR_NONE);
	assert_int_equal(place(w, &gpu1, "p-1", 4), ERR_CONFLICT);
	assert_int_equal(place(w, &gpu1, "p-1", 5), ERR_NONE);
	world_free(w);
}

static void errors_of_a_driver_keep_their_kind(void **state)
{
	static const char *const kinds[] = {"unavailable", "denied", "capacity", "strange"};
	static const enum err_kind want[] = {ERR_UNAVAILABLE, ERR_DENIED, ERR_CAPACITY,
					     ERR_PROTOCOL};
	struct world *w = world_new(&backends[SIMULATED]);
	struct answer a;

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		w->fake.error = kinds[i];
		assert_int_equal(observe(w, &gpu1, &a), want[i]);
		assert_string_equal(a.err.text, "leaf-3 says no");
		assert_int_equal(a.err.retry_after_ms, 5000);
	}
	assert_int_equal(w->fake.starts, 1);
	world_free(w);
}

static void a_driver_that_dies_fails_its_calls_and_is_started_again(void **state)
{
	struct world *w = world_new(&backends[SIMULATED]);
	struct answer a;

	(void)state;
	w->fake.dies = true;
	assert_int_equal(place(w, &gpu1, "q-1", 1), ERR_UNAVAILABLE);
	assert_int_equal(observe(w, &gpu1, &a), ERR_UNAVAILABLE);
	assert_true(a.err.retry_after_ms > 0 && a.err.retry_after_ms <= 1000);
	assert_int_equal(w->fake.starts, 1);
	w->fake.dies = false;
	loop_sim_run_until(w->loop, loop_now(w->loop) + 1000);
	assert_int_equal(observe(w, &gpu1, &a), ERR_NONE);
	assert_int_equal(w->fake.starts, 2);
	world_free(w);
}

static void nonsense_ends_the_driver(void **state)
{
	struct world *w = world_new(&backends[SIMULATED]);
	struct answer a;

	(void)state;
	w->fake.garbage = true;
	assert_int_equal(observe(w, &gpu1, &a), ERR_PROTOCOL);
	loop_sim_run_until(w->loop, loop_now(w->loop) + 2000);
	assert_int_equal(w->fake.ends, 1);
	w->fake.garbage = false;
	w->fake.wrong_protocol = true;
	assert_int_equal(observe(w, &gpu1, &a), ERR_UNSUPPORTED);
	w->fake.wrong_protocol = false;
	loop_sim_run_until(w->loop, loop_now(w->loop) + 5000);
	w->fake.proof = "Certain";
	assert_int_equal(observe(w, &gpu1, &a), ERR_PROTOCOL);
	w->fake.proof = NULL;
	assert_int_equal(observe(w, &gpu1, &a), ERR_NONE);
	assert_int_equal(w->fake.starts, 3);
	world_free(w);
}

static void a_silent_driver_costs_a_minute_and_the_next_place_comes_after(void **state)
{
	struct world *w = world_new(&backends[SIMULATED]);
	struct answer a, b;
	struct fabric_call c = call(w, &a, 1), d = call(w, &b, 2);
	char late[32];

	(void)state;
	w->fake.silent = a.begun = b.begun = true;
	fabric_place(w->fabric, &gpu1, "q-1", &c);
	fabric_place(w->fabric, &gpu1, "p-1", &d);
	loop_sim_run_until(w->loop, loop_now(w->loop) + 59000);
	assert_int_equal(w->fake.njournal, 1);
	w->fake.silent = false;
	finish(&b);
	assert_int_equal(a.err.kind, ERR_TIMEOUT);
	assert_int_equal(b.err.kind, ERR_NONE);
	assert_true(a.at < b.at);
	assert_string_equal(w->fake.journal[1], "place gpu-1 p-1 2");
	/* A late answer is ignored, since its request is not open any more. */
	str_format(late, sizeof(late), "{\"id\":%d}", (int)w->fake.held_id);
	loop_sim_child_line(w->fake.child, late, strlen(late));
	loop_sim_run_until(w->loop, loop_now(w->loop) + 1000);
	assert_int_equal(a.count + b.count, 2);
	assert_int_equal(w->fake.starts, 1);
	world_free(w);
}

static void places_of_different_machines_do_not_wait_for_each_other(void **state)
{
	struct world *w = world_new(&backends[SIMULATED]);
	struct answer a;
	struct fabric_call c = call(w, &a, 1);

	(void)state;
	w->fake.silent = true;
	fabric_place(w->fabric, &gpu1, "q-1", &c);
	loop_sim_run_until(w->loop, loop_now(w->loop) + 1000);
	w->fake.silent = false;
	assert_int_equal(place(w, &gpu2, "q-1", 1), ERR_NONE);
	assert_int_equal(a.count, 0);
	world_free(w);
}

static bool may_move;
static bool is_allowed(void *arg)
{
	(void)arg;
	return may_move;
}

/* A driver that does not answer has 64 requests. A hundred more machines are to be moved: the
 * driver gets their requests when the first ones have ended, unless they are not allowed any
 * more. */
static void a_driver_has_so_many_requests_at_a_time(void **state)
{
	enum { MACHINES = 164, AT_A_TIME = 64 };
	static struct answer a[MACHINES];
	struct world *w = world_new(&backends[SIMULATED]);
	char name[16];

	(void)state;
	w->fake.silent = may_move = true;
	for (int i = 0; i < MACHINES; i++) {
		struct fabric_call c = call(w, &a[i], 1);

		(void)str_format(name, sizeof(name), "gpu-%d", i);
		a[i].begun = true;
		c.may_act = i % 2 ? is_allowed : NULL;
		fabric_place(w->fabric, &(struct fabric_port){.machine = name}, "q-1", &c);
	}
	loop_sim_run_until(w->loop, loop_now(w->loop) + 59000);
	assert_int_equal(w->fake.njournal, AT_A_TIME);
	w->fake.silent = may_move = false;
	loop_sim_run_until(w->loop, loop_now(w->loop) + 2000);
	for (int i = 0; i < MACHINES; i++) {
		assert_int_equal(a[i].count, 1);
		assert_int_equal(a[i].err.kind, i < AT_A_TIME ? ERR_TIMEOUT
						: i % 2	      ? ERR_UNAVAILABLE
							      : ERR_NONE);
	}
	assert_int_equal(w->fake.njournal, AT_A_TIME + (MACHINES - AT_A_TIME) / 2);
	world_free(w);
}

static void an_answer_that_nobody_asked_for_ends_the_program(void **state)
{
	struct world *w = world_new(&backends[SIMULATED]);

	(void)state;
	w->fake.unknown_id = true;
	assert_int_equal(place(w, &gpu1, "q-1", 1), ERR_PROTOCOL);
	w->fake.unknown_id = false;
	loop_sim_run_until(w->loop, loop_now(w->loop) + 61000);
	assert_int_equal(place(w, &gpu1, "q-1", 1), ERR_NONE);
	assert_int_equal(w->fake.starts, 2);
	world_free(w);
}

static void a_bad_command_is_refused(void **state)
{
	static const char *const relative[] = {"port-move", NULL}, *const none[] = {NULL};
	struct fabric_spec s = {.type = "exec", .command = relative};
	struct err e;

	(void)state;
	assert_null(fabric_new(&s, &e));
	assert_int_equal(e.kind, ERR_INVALID);
	s.command = none;
	assert_null(fabric_new(&s, &e));
	s.command = NULL;
	assert_null(fabric_new(&s, &e));
	s.type = "carrier pigeon";
	assert_null(fabric_new(&s, &e));
	assert_int_equal(e.kind, ERR_UNSUPPORTED);
}

/* Users who may write Providers must not be able to choose which program runs. The program must
 * equal an allowed entry exactly; an allowed program that is only named as an argument does not
 * count. */
static void a_program_that_nobody_allowed_is_refused_by_name(void **state)
{
	static const char *const allowed[] = {"/etc/drover/port-move", "/opt/a", NULL},
				 *const none[] = {NULL};
	static const char *const others[][3] = {
		{"/bin/sh", "/etc/drover/port-move", NULL},
		{"/etc/drover/port-move2", NULL, NULL},
		{"/etc/drover/port", NULL, NULL},
		{"/etc/drover/../drover/port-move", NULL, NULL},
		{"/etc//drover/port-move", NULL, NULL},
		{"/ETC/drover/port-move", NULL, NULL},
	};
	struct loop *l = loop_sim_new(5, 1764000000000);
	struct loop_group *g = loop_group_new(l, "controller");
	struct fabric_spec s = {.type = "exec", .allowed = allowed, .group = g};
	struct fabric *f;
	struct err e;

	(void)state;
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		s.command = others[i];
		assert_null(fabric_new(&s, &e));
		assert_int_equal(e.kind, ERR_DENIED);
		assert_non_null(strstr(e.text, others[i][0]));
	}
	for (size_t i = 0; i < 2; i++) {
		s.command = &allowed[i];
		f = fabric_new(&s, &e);
		assert_non_null(f);
		fabric_free(f);
		/* The two forms of an empty list: NULL, and one without entries. */
		s.allowed = i ? NULL : none;
		assert_null(fabric_new(&s, &e));
		assert_int_equal(e.kind, ERR_DENIED);
		s.allowed = allowed;
	}
	loop_group_free(g);
	loop_free(l);
}

static void a_program_that_is_not_there_is_an_error_of_the_call(void **state)
{
	static const char *const command[] = {"/nonexistent/port-move", NULL};
	struct loop *l = loop_uv_new();
	struct loop_group *g = loop_group_new(l, "controller");
	struct world w = {.loop = l, .group = g, .backend = &backends[REAL]};
	struct fabric_spec s = {.type = "exec",
				.command = command,
				.allowed = command,
				.group = g,
				.watch = {on_ended, &w.ended}};
	struct answer a;
	struct err e;

	(void)state;
	w.fabric = fabric_new(&s, &e);
	assert_non_null(w.fabric);
	assert_true(observe(&w, &gpu1, &a) != ERR_NONE);
	fabric_free(w.fabric);
	loop_group_free(g);
	loop_free(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_machine_is_observed_where_it_was_placed),
		cmocka_unit_test(the_last_place_asked_for_wins),
		cmocka_unit_test(a_place_that_was_given_up_moves_nothing_after),
		cmocka_unit_test(freeing_ends_calls_without_an_answer),
		cmocka_unit_test(a_fabric_may_be_freed_in_an_answer),
		cmocka_unit_test(a_lower_fence_is_refused_by_the_example),
		cmocka_unit_test(errors_of_a_driver_keep_their_kind),
		cmocka_unit_test(a_driver_that_dies_fails_its_calls_and_is_started_again),
		cmocka_unit_test(nonsense_ends_the_driver),
		cmocka_unit_test(a_silent_driver_costs_a_minute_and_the_next_place_comes_after),
		cmocka_unit_test(places_of_different_machines_do_not_wait_for_each_other),
		cmocka_unit_test(a_driver_has_so_many_requests_at_a_time),
		cmocka_unit_test(an_answer_that_nobody_asked_for_ends_the_program),
		cmocka_unit_test(a_bad_command_is_refused),
		cmocka_unit_test(a_program_that_nobody_allowed_is_refused_by_name),
		cmocka_unit_test(a_program_that_is_not_there_is_an_error_of_the_call),
	};

	mem_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
