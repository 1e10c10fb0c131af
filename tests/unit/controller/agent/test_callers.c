/* Tests which callers are accepted as the agent, and which are second callers. */
#include "tests/unit/controller/agent/fake_agent.h"

#include <stdlib.h>
#include "base/mem.h"
#include "base/str.h"

static struct agent_session_spec spec_of(const struct fake_agent_bench *f)
{
	(void)f;
	return (struct agent_session_spec){
		.machine = "m-1",
		.uid = "uid-1",
		.endpoint = TINY_ORIGIN,
		.media_url = "http://10.0.8.2:8080",
	};
}

static void on_changed(void *arg)
{
	(*(unsigned *)arg)++;
}

static void seat_again(struct fake_agent_bench *f, struct agent_session_spec s)
{
	s.changed = on_changed;
	s.arg = &f->changes;
	agent_session_free(f->seat);
	f->seat = agent_session_new(f->agents, &s);
	fake_agent_due(f, "op-1", 1, 17);
}

/* --- when a caller shows the secret ----------------------------------------------------------- */

static void who_shows_the_secret_before_power_came_has_stolen_it(void **state)
{
	struct fake_agent_bench *f = *state;
	struct fake_agent thief;

	agent_session_open(f->seat, "op-1", 1, 17);
	fake_agent_init(&thief, f, "boot-a");
	assert_int_equal(fake_agent_hello(&thief), 409);
	assert_true(agent_session_intruder(f->seat));
	assert_null(agent_session_info(f->seat)->boot_id);
	assert_int_equal(f->changes, 1);
	fake_agent_done(&thief);
}

static void nobody_is_let_in_before_on_was_seen(void **state)
{
	struct fake_agent_bench *f = *state;
	struct fake_agent t;

	agent_session_open(f->seat, "op-1", 1, 17);
	agent_session_await(f->seat, AGENT_STARTING);
	fake_agent_init(&t, f, "boot-a");
	assert_int_equal(fake_agent_hello(&t), 403);
	assert_false(agent_session_intruder(f->seat));
	assert_null(agent_session_info(f->seat)->boot_id);
	agent_session_await(f->seat, AGENT_DUE);
	assert_int_equal(fake_agent_hello(&t), 200);
	fake_agent_done(&t);
}

static void a_seat_that_is_opened_anew_waits_anew(void **state)
{
	struct fake_agent_bench *f = *state;
	struct fake_agent t;

	fake_agent_due(f, "op-1", 1, 17);
	agent_session_close(f->seat);
	agent_session_open(f->seat, "op-1", 1, 18);
	fake_agent_init(&t, f, "boot-a");
	assert_int_equal(fake_agent_hello(&t), 409);
	assert_true(agent_session_intruder(f->seat));
	fake_agent_done(&t);
}

/* --- from which address a caller calls -------------------------------------------------------- */

static void the_first_address_is_the_agents_until_the_boot_is_over(void **state)
{
	struct fake_agent_bench *f = *state;
	struct fake_agent t;

	fake_agent_greeted(f, &t);
	t.elsewhere = true; /* The thief has even the agent's own key. */
	assert_int_equal(fake_agent_hello(&t), 403);
	fake_agent_poll(&t, 0);
	assert_int_equal(t.status, 401);
	assert_string_equal(agent_session_refusal(f->seat),
			    "the agent called from an address other than its first");
	t.elsewhere = false;
	assert_int_equal(fake_agent_hello(&t), 200);
	assert_string_equal(agent_session_refusal(f->seat), "");
	fake_agent_done(&t);
}

static void a_session_of_the_journal_is_held_to_the_address_that_its_key_calls_from(void **state)
{
	struct fake_agent_bench *f = *state;
	struct fake_agent t;

	fake_agent_due(f, "op-1", 1, 17);
	fake_agent_init(&t, f, "boot-a");
	agent_session_restore(f->seat, "boot-a", t.public, &f->e);
	fake_agent_poll(&t, 0);
	assert_false(t.done);
	t.elsewhere = true;
	fake_agent_poll(&t, 0);
	assert_int_equal(t.status, 401);
	fake_agent_done(&t);
}

static void a_machine_with_an_address_of_its_own_calls_from_that(void **state)
{
	struct fake_agent_bench *f = *state;
	struct agent_session_spec s = spec_of(f);
	struct fake_agent t;

	s.address = "10.1.0.17/24";
	seat_again(f, s);
	fake_agent_init(&t, f, "boot-a");
	t.elsewhere = true;
	assert_int_equal(fake_agent_hello(&t), 403);
	assert_null(agent_session_info(f->seat)->boot_id);
	assert_string_equal(agent_session_refusal(f->seat),
			    "called from 10.66.6.6:999, which is not the machine's address");
	assert_int_equal(f->changes, 1);
	/* A second hello from the wrong address reports no further change. */
	assert_int_equal(fake_agent_hello(&t), 403);
	assert_int_equal(f->changes, 1);
	t.elsewhere = false;
	assert_int_equal(fake_agent_hello(&t), 200);
	fake_agent_done(&t);
}

static void agents_call_from_the_networks_of_their_provider(void **state)
{
	static const char *networks[] = {"10.2.0.0/16", "10.1.0.0/24"};
	struct fake_agent_bench *f = *state;
	struct agent_session_spec s = spec_of(f);
	struct fake_agent t;

	s.agent_networks = (struct strings){networks, 2};
	seat_again(f, s);
	fake_agent_init(&t, f, "boot-a");
	t.elsewhere = true;
	assert_int_equal(fake_agent_hello(&t), 403);
	t.elsewhere = false;
	assert_int_equal(fake_agent_hello(&t), 200);
	fake_agent_done(&t);
}

static void behind_a_proxy_no_address_is_one_machines(void **state)
{
	static const char *proxies[] = {"10.66.6.0/24", "10.1.0.17/32"};
	struct fake_agent_bench *f = *state;
	struct agent_session_spec s = spec_of(f);
	struct fake_agent t;

	s.address = "10.9.9.9/24"; /* The machine's address, which the proxies hide from drover. */
	s.agent_proxies = (struct strings){proxies, 2};
	seat_again(f, s);
	fake_agent_init(&t, f, "boot-a");
	t.elsewhere = true;
	assert_int_equal(fake_agent_hello(&t), 200);
	t.elsewhere = false;
	assert_int_equal(fake_agent_hello(&t), 200);
	fake_agent_poll(&t, 0);
	assert_false(t.done);
	fake_agent_done(&t);
}

/* --- with which key a caller signs ------------------------------------------------------------ */

static void another_boot_while_the_first_one_reports_is_a_second_caller(void **state)
{
	struct fake_agent_bench *f = *state;
	struct proto_report r = {.id = "w", .state = PROTO_PROGRESS};
	struct fake_agent t, thief;

	fake_agent_greeted(f, &t);
	/* The agent works on the order and sends no poll meanwhile. */
	fake_agent_order(f, "w", PROTO_WIPE);
	fake_agent_init(&thief, f, "boot-b");
	assert_int_equal(fake_agent_hello(&thief), 409);
	assert_false(agent_session_rebooted(f->seat));
	fake_agent_run(f, 4000);
	assert_int_equal(fake_agent_report(&t, &r), 204);
	assert_true(agent_session_intruder(f->seat));
	fake_agent_run(f, 11000);
	assert_int_equal(fake_agent_hello(&thief), 409);
	assert_false(agent_session_rebooted(f->seat) && !agent_session_intruder(f->seat));
	fake_agent_done(&thief);
	fake_agent_done(&t);
}

static void after_the_agent_was_told_to_go_every_other_caller_is_a_second_one(void **state)
{
	struct fake_agent_bench *f = *state;
	struct fake_agent t, thief;

	fake_agent_greeted(f, &t);
	fake_agent_order(f, "off", PROTO_POWEROFF);
	/* The agent's own hello does not count as a second caller. */
	assert_int_equal(fake_agent_hello(&t), 200);
	assert_false(agent_session_intruder(f->seat));
	fake_agent_init(&thief, f, "boot-b");
	assert_int_equal(fake_agent_hello(&thief), 409);
	assert_true(agent_session_intruder(f->seat));
	fake_agent_done(&thief);
	fake_agent_done(&t);
}

static void a_seat_whose_agent_has_gone_still_sees_who_shows_the_secret(void **state)
{
	struct fake_agent_bench *f = *state;
	struct fake_agent t, thief;

	fake_agent_greeted(f, &t);
	agent_session_watch(f->seat);
	assert_false(agent_session_is_open(f->seat, "op-1", 1));
	assert_true(agent_session_is_watching(f->seat, "op-1", 1));
	assert_false(agent_session_is_watching(f->seat, "op-1", 2));
	assert_null(agent_session_media_url(f->seat));
	fake_agent_poll(&t, 0);
	assert_int_equal(t.status, 401);
	/* The agent that was dismissed is no intruder. */
	assert_int_equal(fake_agent_hello(&t), 403);
	assert_false(agent_session_intruder(f->seat));
	fake_agent_init(&thief, f, "boot-b");
	thief.secret[0] ^= 1;
	assert_int_equal(fake_agent_hello(&thief), 403);
	assert_false(agent_session_intruder(f->seat));
	thief.secret[0] ^= 1;
	f->changes = 0;
	assert_int_equal(fake_agent_hello(&thief), 403);
	assert_true(agent_session_intruder(f->seat));
	assert_int_equal(f->changes, 1);
	agent_session_close(f->seat);
	assert_false(agent_session_is_watching(f->seat, "op-1", 1));
	assert_false(agent_session_intruder(f->seat));
	assert_int_equal(fake_agent_hello(&thief), 403);
	assert_false(agent_session_intruder(f->seat));
	fake_agent_done(&thief);
	fake_agent_done(&t);
}

#define T(name) cmocka_unit_test_setup_teardown(name, fake_agent_setup, fake_agent_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(who_shows_the_secret_before_power_came_has_stolen_it),
		T(nobody_is_let_in_before_on_was_seen),
		T(a_seat_that_is_opened_anew_waits_anew),
		T(the_first_address_is_the_agents_until_the_boot_is_over),
		T(a_session_of_the_journal_is_held_to_the_address_that_its_key_calls_from),
		T(a_machine_with_an_address_of_its_own_calls_from_that),
		T(agents_call_from_the_networks_of_their_provider),
		T(behind_a_proxy_no_address_is_one_machines),
		T(another_boot_while_the_first_one_reports_is_a_second_caller),
		T(after_the_agent_was_told_to_go_every_other_caller_is_a_second_one),
		T(a_seat_whose_agent_has_gone_still_sees_who_shows_the_secret),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
