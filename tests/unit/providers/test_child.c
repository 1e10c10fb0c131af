#include "tests/unit/testing.h"

#include <stdlib.h>
#include "base/data/json.h"
#include "tests/simulated/loop_sim.h"
#include "base/mem.h"
#include "base/str.h"
#include "providers/child.h"
#include "tests/contract/fake_libvirt.h"

/* Tests a child process that hangs, as drover-libvirt may. tests/contract/test_fabric.c has the
 * common cases. */
#define LIMIT_MS 40000

struct bench {
	struct loop *loop;
	struct loop_group *hardware, *group;
	struct fake_libvirt fake;
	struct fake_bmc bmc;
	bool hangs;
	struct child *child;
};

struct answer {
	unsigned count;
	struct err err;
	char power[16];
};

static struct fake_bmc *find(const char *domain, const char **address, void *arg)
{
	struct bench *b = arg;

	*address = NULL;
	return str_starts(domain, "vm-") ? &b->bmc : NULL;
}

static bool hangs(const char *domain, void *arg)
{
	(void)domain;
	return ((struct bench *)arg)->hangs;
}

static void start_child(struct bench *b, bool pings)
{
	static const char *const argv[] = {FAKE_LIBVIRT, NULL};
	struct child_spec s = {.argv = argv, .pings = pings};

	*b = (struct bench){.loop = loop_sim_new(3, 1764000000000)};
	b->hardware = loop_group_new(b->loop, "hardware");
	s.group = b->group = loop_group_new(b->loop, "controller");
	fake_bmc_init(&b->bmc, b->hardware);
	fake_libvirt_init(&b->fake, b->hardware);
	b->fake.find = find;
	b->fake.hangs = hangs;
	b->fake.arg = b;
	s.hello = json_pack("{s:s}", "uri", "qemu:///system");
	b->child = child_new(&s);
}

static void start(struct bench *b)
{
	start_child(b, true);
}

static void stop(struct bench *b)
{
	child_free(b->child);
	loop_sim_run_until(b->loop, loop_now(b->loop) + 10000);
	assert_int_equal(b->fake.starts, b->fake.ends);
	fake_bmc_done(&b->bmc);
	loop_group_free(b->group);
	loop_group_free(b->hardware);
	loop_free(b->loop);
	fake_libvirt_done(&b->fake);
}

static void on_done(const json_t *reply, int64_t sent_at, const struct err *e, void *arg)
{
	struct answer *a = arg;

	(void)sent_at;
	a->count++;
	if (e)
		a->err = *e;
	str_copy(a->power, sizeof(a->power), str_or(json_str_at(reply, "power"), ""));
}

static void ask_for(struct bench *b, const char *domain, int64_t limit_ms, struct answer *a)
{
	*a = (struct answer){0};
	child_ask(b->child, json_pack("{s:s,s:s}", "op", "observe", "domain", domain), limit_ms,
		  on_done, a);
	assert_int_equal(a->count, 0);
}

static void ask(struct bench *b, const char *domain, struct answer *a)
{
	ask_for(b, domain, LIMIT_MS, a);
}

static void pass(struct bench *b, int64_t ms)
{
	loop_sim_run_until(b->loop, loop_now(b->loop) + ms);
}

static void a_slow_answer_is_an_answer(void **state)
{
	struct bench b;
	struct answer a;

	(void)state;
	start(&b);
	b.fake.ms = 3000;
	ask(&b, "vm-0", &a);
	pass(&b, 4000);
	assert_int_equal(a.count, 1);
	assert_string_equal(a.power, "Off");
	assert_string_equal(b.fake.uri, "qemu:///system");
	stop(&b);
}

static void one_that_answers_pings_lives_on(void **state)
{
	struct bench b;
	struct answer stuck, other;

	(void)state;
	start(&b);
	b.hangs = true;
	ask(&b, "vm-0", &stuck);
	pass(&b, 10);
	b.hangs = false;
	pass(&b, LIMIT_MS + CHILD_PING_MS + 1000);
	assert_int_equal(stuck.count, 1);
	assert_int_equal(stuck.err.kind, ERR_TIMEOUT);
	assert_int_equal(stuck.err.scope, ERR_MACHINE);
	ask(&b, "vm-1", &other);
	pass(&b, 1000);
	assert_string_equal(other.power, "Off");
	assert_int_equal(b.fake.starts, 1);
	stop(&b);
}

static void one_that_answers_nothing_is_killed_and_named(void **state)
{
	struct bench b;
	struct answer first, second, third;

	(void)state;
	start(&b);
	ask(&b, "vm-0", &first);
	pass(&b, 1000);
	b.fake.deaf = true;
	ask(&b, "vm-0", &first);
	pass(&b, 2000);
	ask(&b, "vm-1", &second);
	pass(&b, LIMIT_MS - 2000 + 1);
	assert_int_equal(first.err.kind, ERR_TIMEOUT);
	pass(&b, 1999);
	assert_int_equal(second.err.kind, ERR_TIMEOUT);
	ask(&b, "vm-2", &third);
	pass(&b, CHILD_PING_MS - 1999);
	assert_int_equal(third.count, 1);
	assert_int_equal(third.err.kind, ERR_UNAVAILABLE);
	assert_int_equal(third.err.scope, ERR_PROVIDER);
	assert_non_null(strstr(third.err.text, FAKE_LIBVIRT " hangs"));
	b.fake.deaf = false;
	ask(&b, "vm-0", &first);
	pass(&b, 1);
	assert_non_null(strstr(first.err.text, "it hung"));
	assert_true(first.err.retry_after_ms > 0);
	pass(&b, 61000);
	ask(&b, "vm-0", &first);
	pass(&b, 1000);
	assert_string_equal(first.power, "Off");
	assert_int_equal(b.fake.starts, 2);
	stop(&b);
}

/* An operator may name any program. One that never answers must neither run for ever nor be
 * restarted in a tight loop. */
static void one_that_never_says_hello_is_killed_and_named(void **state)
{
	struct bench b;
	struct answer a, next;

	(void)state;
	start_child(&b, false);
	b.fake.deaf = true;
	ask_for(&b, "vm-0", 60000, &a);
	pass(&b, CHILD_HELLO_MS - 100);
	assert_int_equal(a.count, 0);
	pass(&b, 200);
	assert_int_equal(a.count, 1);
	assert_int_equal(a.err.kind, ERR_UNAVAILABLE);
	assert_int_equal(a.err.scope, ERR_PROVIDER);
	assert_non_null(strstr(a.err.text, FAKE_LIBVIRT " did not answer the hello"));
	assert_int_equal(b.fake.ends, 1);
	ask(&b, "vm-0", &next);
	pass(&b, 1);
	assert_non_null(strstr(next.err.text, "it did not answer the hello"));
	assert_true(next.err.retry_after_ms > 0);
	assert_int_equal(b.fake.starts, 1);
	b.fake.deaf = false;
	pass(&b, 61000);
	ask(&b, "vm-0", &next);
	pass(&b, CHILD_HELLO_MS + 1000);
	assert_string_equal(next.power, "Off");
	assert_int_equal(b.fake.starts, 2);
	pass(&b, 60000);
	assert_int_equal(b.fake.ends, 1);
	stop(&b);
}

/* In drover-libvirt, each hanging domain occupies a thread. The process is therefore restarted
 * before all threads are occupied. */
static void one_that_owes_too_much_is_killed(void **state)
{
	struct bench b;
	struct answer a[CHILD_STUCK + 1], last;
	char name[8];

	(void)state;
	start(&b);
	b.hangs = true;
	for (int i = 0; i <= CHILD_STUCK; i++) {
		str_format(name, sizeof(name), "vm-%d", i);
		ask(&b, name, &a[i]);
		pass(&b, 10);
	}
	b.hangs = false;
	pass(&b, LIMIT_MS + CHILD_PING_MS);
	for (int i = 0; i <= CHILD_STUCK; i++)
		assert_int_equal(a[i].err.kind, ERR_TIMEOUT);
	pass(&b, 61000);
	ask(&b, "vm-0", &last);
	pass(&b, 1000);
	assert_string_equal(last.power, "Off");
	assert_int_equal(b.fake.starts, 2);
	stop(&b);
}

/* The process sends answers with ids that were never used, and with an id that was already
 * answered. If drover tolerated that, such a process could keep drover busy. */
static void one_that_answers_what_it_was_not_asked_is_killed(void **state)
{
	static const json_int_t ids[] = {1000000, 1};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct bench b;
		struct answer a, next;

		start(&b);
		b.fake.talks = ids[i];
		ask(&b, "vm-0", &a);
		pass(&b, 1000);
		assert_int_equal(a.count, 1);
		assert_int_equal(a.err.kind, ERR_PROTOCOL);
		assert_int_equal(a.err.scope, ERR_PROVIDER);
		assert_non_null(strstr(a.err.text, "sent an answer without a request"));
		assert_int_equal(b.fake.ends, 1);
		b.fake.talks = 0;
		pass(&b, 61000);
		ask(&b, "vm-0", &next);
		pass(&b, 1000);
		assert_string_equal(next.power, "Off");
		stop(&b);
	}
}

static void a_dropped_request_is_heard_no_more(void **state)
{
	struct bench b;
	struct answer a = {0};

	(void)state;
	start(&b);
	child_call_drop(child_ask(b.child,
				  json_pack("{s:s,s:s}", "op", "observe", "domain", "vm-0"),
				  LIMIT_MS, on_done, &a));
	pass(&b, 30000);
	assert_int_equal(a.count, 0);
	stop(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_slow_answer_is_an_answer),
		cmocka_unit_test(one_that_answers_pings_lives_on),
		cmocka_unit_test(one_that_answers_nothing_is_killed_and_named),
		cmocka_unit_test(one_that_never_says_hello_is_killed_and_named),
		cmocka_unit_test(one_that_owes_too_much_is_killed),
		cmocka_unit_test(one_that_answers_what_it_was_not_asked_is_killed),
		cmocka_unit_test(a_dropped_request_is_heard_no_more),
	};

	mem_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
