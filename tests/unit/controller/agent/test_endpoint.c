#include "tests/unit/controller/agent/fake_agent.h"

#include <stdlib.h>
#include "base/mem.h"
#include "base/str.h"

/* --- hello ------------------------------------------------------------------------------------ */

static void a_hello_that_fits_opens_a_session(void **state)
{
	struct fake_agent_bench *f = *state;
	struct proto_welcome w;
	struct fake_agent t;

	fake_agent_due(f, "op-1", 1, 17);
	assert_true(agent_session_is_open(f->seat, "op-1", 1));
	fake_agent_init(&t, f, "boot-a");
	assert_int_equal(fake_agent_hello(&t), 200);
	assert_ok(proto_decode(proto_welcome_fields, t.body, strlen(t.body), &w, f->a, &f->e),
		  &f->e);
	assert_true(w.wall_time >= 1764000000000 && w.wall_time <= loop_wall(f->l));
	assert_int_equal(f->changes, 1);
	assert_string_equal(agent_session_info(f->seat)->boot_id, "boot-a");
	assert_string_equal(agent_session_info(f->seat)->public_key, t.public);
	assert_string_equal(agent_session_info(f->seat)->system_uuid, "uuid-1");
	assert_string_equal(agent_session_info(f->seat)->serial, "S1");
	assert_int_equal(agent_session_info(f->seat)->trust, WIPE_SECURE_BOOT);
	fake_agent_done(&t);
}

static void the_same_hello_again_gets_the_same_welcome(void **state)
{
	struct fake_agent_bench *f = *state;
	struct fake_agent t;

	fake_agent_greeted(f, &t);
	assert_int_equal(fake_agent_hello(&t), 200);
	assert_false(agent_session_intruder(f->seat));
	assert_false(agent_session_rebooted(f->seat));
	fake_agent_done(&t);
}

static void whoever_is_not_expected_gets_one_answer_that_tells_nothing(void **state)
{
	struct fake_agent_bench *f = *state;
	char first[256];
	struct fake_agent t;

	fake_agent_init(&t, f, "boot-a");
	assert_int_equal(fake_agent_hello(&t), 403); /* The session is not open. */
	str_copy(first, sizeof(first), t.body);

	fake_agent_due(f, "op-2", 1, 17); /* The session is open for another operation. */
	assert_int_equal(fake_agent_hello(&t), 403);
	assert_string_equal(t.body, first);

	fake_agent_due(f, "op-1", 2, 17); /* The session is open for another boot number. */
	assert_int_equal(fake_agent_hello(&t), 403);
	assert_string_equal(t.body, first);

	fake_agent_due(f, "op-1", 1, 17);
	t.secret[0] = t.secret[0] == '0' ? '1' : '0';
	assert_int_equal(fake_agent_hello(&t), 403); /* wrong secret */
	assert_string_equal(t.body, first);

	agent_session_free(f->seat);
	f->seat = fake_agent_seat(f, "m-2");
	fake_agent_due(f, "op-1", 1, 17);
	assert_int_equal(fake_agent_hello(&t), 403); /* unknown machine */
	assert_string_equal(t.body, first);
	assert_null(agent_session_info(f->seat)->boot_id);
	assert_int_equal(f->changes, 0);
	fake_agent_done(&t);
}

static void a_hello_signed_by_another_key_is_refused(void **state)
{
	struct fake_agent_bench *f = *state;
	struct crypto_key *other = crypto_key_new();
	struct fake_agent t;
	char *text, *sig;

	fake_agent_due(f, "op-1", 1, 17);
	fake_agent_init(&t, f, "boot-a");
	text = fake_agent_hello_text(&t);
	sig = proto_sign(other, "POST", PROTO_HELLO_PATH, text, strlen(text));
	fake_agent_send(&t, "POST", PROTO_HELLO_PATH, text, strlen(text), sig);
	fake_agent_run(f, 5000);
	assert_int_equal(t.status, 403);
	fake_agent_send(&t, "POST", PROTO_HELLO_PATH, text, strlen(text), "no signature");
	fake_agent_run(f, 5000);
	assert_int_equal(t.status, 403);
	str_copy(t.public, sizeof(t.public), "ed25519:none");
	assert_int_equal(fake_agent_hello(&t), 403);
	assert_string_equal(agent_session_refusal(f->seat), "bad signature");
	assert_null(agent_session_info(f->seat)->boot_id);
	free(text);
	free(sig);
	crypto_key_free(other);
	fake_agent_done(&t);
}

static void an_agent_of_another_protocol_is_refused_by_name(void **state)
{
	struct fake_agent_bench *f = *state;
	char now[64], *text;
	struct fake_agent t;

	fake_agent_due(f, "op-1", 1, 17);
	fake_agent_init(&t, f, "boot-a");
	t.protocol = PROTO_VERSION + 1;
	t.version = "9.9\x1b[31m\n";
	assert_false(agent_session_has_other_protocol(f->seat));
	assert_int_equal(fake_agent_hello(&t), 403);
	assert_true(agent_session_has_other_protocol(f->seat));
	assert_null(agent_session_info(f->seat)->boot_id);
	assert_non_null(strstr(agent_session_refusal(f->seat), "version 9.9"));
	str_format(now, sizeof(now), "speaks protocol %d", PROTO_VERSION + 1);
	assert_non_null(strstr(agent_session_refusal(f->seat), now));
	assert_null(strpbrk(agent_session_refusal(f->seat), "\x1b\n"));
	assert_non_null(strstr(t.body, now)); /* The agent prints this on its console. */
	assert_int_equal(f->changes, 1);
	assert_int_equal(fake_agent_hello(&t), 403);
	assert_int_equal(f->changes, 1); /* nothing new */

	/* A later refusal for another reason replaces it. */
	text = fake_agent_hello_text(&t);
	fake_agent_send(&t, "POST", PROTO_HELLO_PATH, text, strlen(text), "no signature");
	fake_agent_run(f, 5000);
	free(text);
	assert_string_equal(agent_session_refusal(f->seat), "bad signature");
	assert_false(agent_session_has_other_protocol(f->seat));
	assert_int_equal(fake_agent_hello(&t), 403);
	assert_true(agent_session_has_other_protocol(f->seat));

	/* The session is not bound to that agent: the next boot has another one. */
	agent_session_close(f->seat);
	assert_false(agent_session_has_other_protocol(f->seat));
	fake_agent_due(f, "op-1", 1, 17);
	assert_int_equal(fake_agent_hello(&t), 403);
	assert_true(agent_session_has_other_protocol(f->seat));
	t.protocol = PROTO_VERSION;
	assert_int_equal(fake_agent_hello(&t), 200);
	assert_false(agent_session_has_other_protocol(f->seat));
	fake_agent_done(&t);
}

/* Agents of protocol 1 did not report its number. */
static void an_agent_without_a_protocol_number_has_protocol_1(void **state)
{
	struct fake_agent_bench *f = *state;
	struct proto_hello h = {0};
	const char *text =
		"{\"machine\": \"m-1\", \"operation\": \"op-1\", \"boot\": 1, \"secret\": "
		"\"00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff\", "
		"\"bootID\": \"b\", \"publicKey\": \"k\", \"dmi\": {}}";

	assert_ok(proto_decode(proto_hello_fields, text, strlen(text), &h, f->a, &f->e), &f->e);
	assert_int_equal(h.protocol, 1);
}

static void another_key_for_the_same_boot_is_an_intruder(void **state)
{
	struct fake_agent_bench *f = *state;
	struct fake_agent t, thief;

	fake_agent_greeted(f, &t);
	fake_agent_init(&thief, f, "boot-a");
	assert_int_equal(fake_agent_hello(&thief), 409);
	assert_true(agent_session_intruder(f->seat));
	assert_int_equal(f->changes, 1);
	/* The first caller is still the agent. */
	assert_string_equal(agent_session_info(f->seat)->public_key, t.public);
	fake_agent_poll(&thief, 0);
	assert_int_equal(thief.status, 401);
	fake_agent_done(&thief);
	fake_agent_done(&t);
}

static void another_boot_while_the_first_agent_waits_is_an_intruder(void **state)
{
	struct fake_agent_bench *f = *state;
	struct fake_agent t, thief;

	fake_agent_greeted(f, &t);
	fake_agent_poll(&t, 0);
	assert_false(t.done);
	fake_agent_init(&thief, f, "boot-b");
	assert_int_equal(fake_agent_hello(&thief), 409);
	/* The second boot does not prove an intruder yet: if the first agent had crashed, its poll
	 * would still look open. */
	assert_false(agent_session_intruder(f->seat));
	assert_false(agent_session_rebooted(f->seat));
	fake_agent_poll(&t, 0); /* The first agent is alive: the other boot was an intruder. */
	assert_true(agent_session_intruder(f->seat));
	assert_false(agent_session_rebooted(f->seat));
	fake_agent_done(&thief);
	fake_agent_done(&t);
}

static void another_boot_after_a_poll_that_nobody_holds_any_more_is_a_reboot(void **state)
{
	struct fake_agent_bench *f = *state;
	struct fake_agent t, next;

	fake_agent_greeted(f, &t);
	fake_agent_poll(&t, 0);
	fake_agent_init(&next, f, "boot-b");
	assert_int_equal(fake_agent_hello(&next), 409);
	assert_false(agent_session_rebooted(f->seat));
	loop_sim_run_until(f->l, loop_now(f->l) + 11000);
	assert_int_equal(fake_agent_hello(&next), 409);
	assert_true(agent_session_rebooted(f->seat));
	assert_false(agent_session_intruder(f->seat));
	fake_agent_done(&next);
	fake_agent_done(&t);
}

static void another_boot_of_a_silent_agent_is_a_reboot(void **state)
{
	struct fake_agent_bench *f = *state;
	struct fake_agent t, next;

	fake_agent_greeted(f, &t);
	fake_agent_init(&next, f, "boot-b");
	assert_int_equal(fake_agent_hello(&next), 409);
	assert_int_equal(fake_agent_hello(&next), 409);
	/* No reboot yet: the first agent still has time to call. */
	assert_false(agent_session_rebooted(f->seat));
	fake_agent_run(f, 11000);
	assert_int_equal(fake_agent_hello(&next), 409);
	assert_true(agent_session_rebooted(f->seat));
	assert_false(agent_session_intruder(f->seat));
	assert_string_equal(agent_session_info(f->seat)->boot_id, "boot-a");
	fake_agent_done(&next);
	fake_agent_done(&t);
}

static void another_boot_with_the_same_key_is_a_reboot_too(void **state)
{
	struct fake_agent_bench *f = *state;
	struct fake_agent t;

	fake_agent_greeted(f, &t);
	str_copy(t.boot_id, sizeof(t.boot_id), "boot-b");
	assert_int_equal(fake_agent_hello(&t), 409);
	fake_agent_run(f, 11000);
	assert_int_equal(fake_agent_hello(&t), 409);
	assert_true(agent_session_rebooted(f->seat));
	fake_agent_done(&t);
}

static void opening_for_another_boot_ends_the_session_and_the_marks_against_it(void **state)
{
	struct fake_agent_bench *f = *state;
	struct fake_agent t, next;

	fake_agent_greeted(f, &t);
	fake_agent_init(&next, f, "boot-b");
	fake_agent_hello(&next);
	fake_agent_run(f, 11000);
	fake_agent_hello(&next);
	fake_agent_due(f, "op-1", 1, 18); /* opening the same boot again changes nothing */
	assert_true(agent_session_rebooted(f->seat));
	fake_agent_due(f, "op-1", 2, 18);
	assert_false(agent_session_rebooted(f->seat));
	assert_null(agent_session_info(f->seat)->boot_id);
	assert_string_equal(agent_session_refusal(f->seat), "no agent image is configured");
	fake_agent_poll(&t, 0);
	assert_int_equal(t.status, 401);
	fake_agent_done(&next);
	fake_agent_done(&t);
}

/* --- orders ----------------------------------------------------------------------------------- */

static void an_order_reaches_the_agent_that_waits_for_it(void **state)
{
	struct fake_agent_bench *f = *state;
	struct proto_order o;
	struct fake_agent t;

	fake_agent_greeted(f, &t);
	fake_agent_poll(&t, 0);
	assert_false(t.done);
	fake_agent_order(f, "op-1/inspect", PROTO_INSPECT);
	fake_agent_run(f, 2000);
	o = fake_agent_got(&t);
	assert_string_equal(o.id, "op-1/inspect");
	assert_int_equal(o.kind, PROTO_INSPECT);
	assert_int_equal(o.fence, 17);
	assert_int_equal(o.seq, 1);
	/* The order was received: the agent waits for the next one. */
	fake_agent_poll(&t, o.seq);
	assert_false(t.done);
	fake_agent_done(&t);
}

static void an_order_given_first_is_there_at_the_first_question_and_again_when_it_was_lost(
	void **state)
{
	struct fake_agent_bench *f = *state;
	struct fake_agent t;

	fake_agent_greeted(f, &t);
	fake_agent_order(f, "a", PROTO_INSPECT);
	fake_agent_order(f, "a", PROTO_WIPE); /* the same id again changes nothing */
	fake_agent_poll(&t, 0);
	assert_int_equal(fake_agent_got(&t).kind, PROTO_INSPECT);
	fake_agent_poll(&t, 0);
	assert_int_equal(fake_agent_got(&t).seq, 1);
	fake_agent_done(&t);
}

static void a_question_without_an_order_is_answered_after_half_a_minute(void **state)
{
	struct fake_agent_bench *f = *state;
	struct fake_agent t;

	fake_agent_greeted(f, &t);
	fake_agent_poll(&t, 0);
	fake_agent_run(f, 27000);
	assert_false(t.done);
	fake_agent_run(f, 5000);
	assert_true(t.done);
	assert_int_equal(t.status, 204);
	fake_agent_done(&t);
}

static void an_order_replaces_the_one_before(void **state)
{
	struct fake_agent_bench *f = *state;
	struct proto_report done = {.id = "a", .state = PROTO_DONE};
	struct fake_agent t;

	fake_agent_greeted(f, &t);
	fake_agent_order(f, "a", PROTO_INSPECT);
	fake_agent_order(f, "b", PROTO_WIPE);
	fake_agent_poll(&t, 0);
	assert_string_equal(fake_agent_got(&t).id, "b");
	assert_int_equal(fake_agent_got(&t).seq, 2);
	/* A report for a replaced order is accepted and ignored. */
	assert_int_equal(fake_agent_report(&t, &done), 204);
	assert_null(agent_session_result(f->seat, "a"));
	assert_null(agent_session_result(f->seat, "b"));
	fake_agent_done(&t);
}

static void an_agent_that_saw_more_orders_of_another_leader_gets_this_ones(void **state)
{
	struct fake_agent_bench *f = *state;
	struct fake_agent t;

	fake_agent_greeted(f, &t);
	fake_agent_order(f, "b", PROTO_WIPE);
	fake_agent_poll(&t, 41);
	assert_string_equal(fake_agent_got(&t).id, "b");
	assert_int_equal(fake_agent_got(&t).seq, 42);
	fake_agent_poll(&t, 42);
	assert_false(t.done);
	fake_agent_order(f, "c", PROTO_VERIFY);
	fake_agent_run(f, 2000);
	assert_int_equal(fake_agent_got(&t).seq, 43);
	fake_agent_done(&t);
}

static void a_second_question_takes_the_place_of_the_first(void **state)
{
	struct fake_agent_bench *f = *state;
	struct fake_agent t, again;

	fake_agent_greeted(f, &t);
	again = t;
	fake_agent_poll(&t, 0);
	fake_agent_poll(&again, 0);
	assert_true(t.done);
	assert_int_equal(t.status, 204);
	assert_false(again.done);
	fake_agent_order(f, "a", PROTO_INSPECT);
	fake_agent_run(f, 2000);
	assert_string_equal(fake_agent_got(&again).id, "a");
	fake_agent_done(&t);
}

static void an_agent_that_leaves_while_answered_disturbs_neither_seat_nor_next_question(
	void **state)
{
	struct fake_agent_bench *f = *state;
	struct fake_agent t, again;

	fake_agent_greeted(f, &t);
	again = t;
	fake_agent_poll(&t, 0);
	/* The poll is replaced, and its connection closed before the answer arrives. */
	fake_agent_send(&again, "GET", PROTO_ORDER_PATH "?after=0", NULL, 0, NULL);
	for (int i = 0; i < 200 && !t.done; i++)
		fake_agent_run(f, 1);
	http_cancel(t.q);
	t.q = NULL;
	fake_agent_run(f, 2000);
	assert_false(again.done);
	fake_agent_order(f, "a", PROTO_INSPECT);
	/* The session is freed before the answered agent disconnects. */
	agent_session_free(f->seat);
	f->seat = NULL;
	http_cancel(again.q);
	again.q = NULL;
	fake_agent_run(f, 60000);
	fake_agent_done(&t);
}

static void closing_the_seat_sends_the_agent_that_waits_away(void **state)
{
	struct fake_agent_bench *f = *state;
	struct fake_agent t;

	fake_agent_greeted(f, &t);
	fake_agent_poll(&t, 0);
	agent_session_close(f->seat);
	fake_agent_run(f, 2000);
	assert_int_equal(t.status, 204);
	assert_false(agent_session_is_open(f->seat, "op-1", 1));
	assert_null(agent_session_media_url(f->seat));
	fake_agent_poll(&t, 0);
	assert_int_equal(t.status, 401);
	/* An order given to a closed session has no effect. */
	fake_agent_order(f, "a", PROTO_INSPECT);
	assert_null(agent_session_result(f->seat, "a"));
	fake_agent_done(&t);
}

/* A replica that leads no longer has no session. The agent must not stay connected to it. */
static void whoever_is_turned_away_must_connect_again(void **state)
{
	struct fake_agent_bench *f = *state;
	struct fake_agent t;

	fake_agent_greeted(f, &t);
	assert_false(t.closed);
	agent_session_free(f->seat);
	f->seat = NULL;
	fake_agent_poll(&t, 0);
	assert_int_equal(t.status, 401);
	assert_true(t.closed);
	t.closed = false;
	assert_int_equal(fake_agent_hello(&t), 403);
	assert_true(t.closed);
	fake_agent_done(&t);
}

static void questions_that_are_none_are_turned_away(void **state)
{
	static const char *const targets[] = {
		PROTO_ORDER_PATH,
		PROTO_ORDER_PATH "?after=",
		PROTO_ORDER_PATH "?after=-1",
		PROTO_ORDER_PATH "?after=x",
		PROTO_ORDER_PATH "?after=99999999999999999999",
	};
	struct fake_agent_bench *f = *state;
	struct fake_agent t;
	char *sig;

	fake_agent_greeted(f, &t);
	for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
		fake_agent_send(&t, "GET", targets[i], NULL, 0, NULL);
		fake_agent_run(f, 2000);
		assert_int_equal(t.status, 401);
	}
	/* A replay: the signature of another request. */
	sig = proto_sign(t.key, "GET", PROTO_ORDER_PATH "?after=5", NULL, 0);
	fake_agent_send(&t, "GET", PROTO_ORDER_PATH "?after=0", NULL, 0, sig);
	fake_agent_run(f, 2000);
	assert_int_equal(t.status, 401);
	free(sig);
	fake_agent_done(&t);
}

/* --- reports ---------------------------------------------------------------------------------- */

static void progress_and_result_are_kept_apart(void **state)
{
	struct fake_agent_bench *f = *state;
	struct proto_report r = {.id = "a",
				 .state = PROTO_PROGRESS,
				 .phase = "overwrite",
				 .done_bytes = 5,
				 .total_bytes = 10};
	struct fake_agent t;

	fake_agent_greeted(f, &t);
	fake_agent_order(f, "a", PROTO_WIPE);
	assert_int_equal(fake_agent_report(&t, &r), 204);
	assert_null(agent_session_result(f->seat, "a"));
	assert_int_equal(agent_session_progress(f->seat, "a")->done_bytes, 5);
	r.done_bytes = 9;
	fake_agent_report(&t, &r);
	assert_int_equal(agent_session_progress(f->seat, "a")->done_bytes, 9);
	assert_null(agent_session_progress(f->seat, "b"));
	r = (struct proto_report){
		.id = "a", .state = PROTO_FAILED, .reason = "DriveFailed", .message = "m"};
	assert_int_equal(fake_agent_report(&t, &r), 204);
	assert_string_equal(agent_session_result(f->seat, "a")->reason, "DriveFailed");
	assert_int_equal(agent_session_result(f->seat, "a")->state, PROTO_FAILED);
	assert_int_equal(f->changes, 3);
	/* A finished order is not sent again. */
	fake_agent_poll(&t, 0);
	assert_false(t.done);
	/* The next order drops the report and the progress. */
	fake_agent_order(f, "b", PROTO_VERIFY);
	assert_null(agent_session_result(f->seat, "a"));
	assert_null(agent_session_progress(f->seat, "a"));
	fake_agent_run(f, 2000);
	assert_string_equal(fake_agent_got(&t).id, "b");
	fake_agent_done(&t);
}

static void a_report_moves_last_seen(void **state)
{
	struct fake_agent_bench *f = *state;
	struct proto_report r = {.id = "a", .state = PROTO_PROGRESS};
	struct fake_agent t;

	fake_agent_greeted(f, &t);
	fake_agent_run(f, 100000);
	assert_int_equal(fake_agent_report(&t, &r), 204);
	assert_true(loop_now(f->l) - agent_session_info(f->seat)->last_seen <= 5000);
	fake_agent_done(&t);
}

static void garbage_is_refused_and_changes_nothing(void **state)
{
	static const char *const bad[] = {
		"",	   "{", "[]", "7", "{\"id\":3}", "{\"id\":\"a\",\"state\":\"perhaps\"}",
		"\xff\xfe"};
	struct fake_agent_bench *f = *state;
	struct fake_agent t;

	fake_agent_greeted(f, &t);
	fake_agent_order(f, "a", PROTO_WIPE);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		fake_agent_send(&t, "POST", PROTO_REPORT_PATH, bad[i], strlen(bad[i]), NULL);
		fake_agent_run(f, 2000);
		if (t.status < 400 || t.status >= 500)
			fail_msg("report %zu: %d", i, t.status);
		fake_agent_send(&t, "POST", PROTO_HELLO_PATH, bad[i], strlen(bad[i]), NULL);
		fake_agent_run(f, 2000);
		if (t.status < 400 || t.status >= 500)
			fail_msg("hello %zu: %d", i, t.status);
	}
	assert_null(agent_session_result(f->seat, "a"));
	assert_null(agent_session_progress(f->seat, "a"));
	assert_int_equal(f->changes, 0);
	fake_agent_done(&t);
}

static void a_body_beyond_the_limit_is_refused_unread(void **state)
{
	struct fake_agent_bench *f = *state;
	char *large = mem_alloc(PROTO_MAX_MESSAGE + 1);
	struct fake_agent t;

	memset(large, ' ', PROTO_MAX_MESSAGE + 1);
	fake_agent_greeted(f, &t);
	fake_agent_send(&t, "POST", PROTO_REPORT_PATH, large, PROTO_MAX_MESSAGE + 1, NULL);
	fake_agent_run(f, 20000);
	assert_int_equal(t.status, 413);
	/* The limit of a hello is lower, because anyone can send one. */
	fake_agent_send(&t, "POST", PROTO_HELLO_PATH, large, PROTO_MAX_HELLO + 1, NULL);
	fake_agent_run(f, 20000);
	assert_int_equal(t.status, 413);
	free(large);
	fake_agent_done(&t);
}

static void a_report_of_nobody_is_refused_by_its_head(void **state)
{
	struct fake_agent_bench *f = *state;
	char *large = mem_alloc(PROTO_MAX_MESSAGE + 1);
	struct fake_agent t;

	memset(large, ' ', PROTO_MAX_MESSAGE + 1);
	fake_agent_greeted(f, &t);
	str_copy(t.boot_id, sizeof(t.boot_id), "guessed");
	fake_agent_send(&t, "POST", PROTO_REPORT_PATH, large, PROTO_MAX_MESSAGE, NULL);
	fake_agent_run(f, 20000);
	assert_int_equal(t.status, 401);
	str_copy(t.boot_id, sizeof(t.boot_id), "boot-a");
	t.elsewhere = true;
	fake_agent_send(&t, "POST", PROTO_REPORT_PATH, large, PROTO_MAX_MESSAGE, NULL);
	fake_agent_run(f, 20000);
	assert_int_equal(t.status, 401);
	free(large);
	fake_agent_done(&t);
}

static void an_unsigned_or_foreign_report_is_turned_away(void **state)
{
	struct fake_agent_bench *f = *state;
	static const char text[] = "{\"id\":\"a\",\"state\":\"done\"}";
	struct fake_agent t;

	fake_agent_greeted(f, &t);
	fake_agent_order(f, "a", PROTO_WIPE);
	fake_agent_send(&t, "POST", PROTO_REPORT_PATH, text, strlen(text), "AAAA");
	fake_agent_run(f, 2000);
	assert_int_equal(t.status, 401);
	str_copy(t.boot_id, sizeof(t.boot_id), "boot-b");
	fake_agent_send(&t, "POST", PROTO_REPORT_PATH, text, strlen(text), NULL);
	fake_agent_run(f, 2000);
	assert_int_equal(t.status, 401);
	assert_null(agent_session_result(f->seat, "a"));
	fake_agent_done(&t);
}

/* --- a restored session ----------------------------------------------------------------------- */

static void a_restored_session_goes_on_without_a_hello(void **state)
{
	struct fake_agent_bench *f = *state;
	struct proto_report r = {.id = "a", .state = PROTO_DONE};
	struct fake_agent t, other;

	fake_agent_init(&t, f, "boot-a");
	agent_session_restore(f->seat, "boot-a", t.public, &f->e);
	/* The session is not open, so nothing is restored. */
	assert_null(agent_session_info(f->seat)->boot_id);
	fake_agent_due(f, "op-1", 1, 18);
	agent_session_restore(f->seat, "boot-a", t.public, &f->e);
	assert_string_equal(agent_session_info(f->seat)->boot_id, "boot-a");
	assert_null(agent_session_info(f->seat)->system_uuid);
	fake_agent_order(f, "a", PROTO_INSPECT);
	fake_agent_poll(&t, 7);
	assert_string_equal(fake_agent_got(&t).id, "a");
	assert_int_equal(fake_agent_got(&t).fence, 18);
	assert_int_equal(fake_agent_report(&t, &r), 204);
	assert_int_equal(agent_session_result(f->seat, "a")->state, PROTO_DONE);
	/* A new hello adds what the journal (fields saved in Machine status) does not record. */
	assert_int_equal(fake_agent_hello(&t), 200);
	assert_string_equal(agent_session_info(f->seat)->system_uuid, "uuid-1");
	/* Only the key of the restored session is accepted. */
	fake_agent_init(&other, f, "boot-a");
	assert_int_equal(fake_agent_hello(&other), 409);
	assert_true(agent_session_intruder(f->seat));
	agent_session_restore(f->seat, "boot-a", other.public, &f->e);
	assert_string_equal(agent_session_info(f->seat)->public_key, t.public);
	fake_agent_done(&other);
	fake_agent_done(&t);
}

static void a_key_that_is_none_restores_nothing(void **state)
{
	struct fake_agent_bench *f = *state;

	fake_agent_due(f, "op-1", 1, 18);
	agent_session_restore(f->seat, "boot-a", "ed25519:AA", &f->e);
	assert_int_equal(f->e.kind, ERR_INVALID);
	assert_null(agent_session_info(f->seat)->boot_id);
}

#define T(name) cmocka_unit_test_setup_teardown(name, fake_agent_setup, fake_agent_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_hello_that_fits_opens_a_session),
		T(the_same_hello_again_gets_the_same_welcome),
		T(whoever_is_not_expected_gets_one_answer_that_tells_nothing),
		T(a_hello_signed_by_another_key_is_refused),
		T(an_agent_of_another_protocol_is_refused_by_name),
		T(an_agent_without_a_protocol_number_has_protocol_1),
		T(another_key_for_the_same_boot_is_an_intruder),
		T(another_boot_while_the_first_agent_waits_is_an_intruder),
		T(another_boot_after_a_poll_that_nobody_holds_any_more_is_a_reboot),
		T(another_boot_of_a_silent_agent_is_a_reboot),
		T(another_boot_with_the_same_key_is_a_reboot_too),
		T(opening_for_another_boot_ends_the_session_and_the_marks_against_it),
		T(an_order_reaches_the_agent_that_waits_for_it),
		T(an_order_given_first_is_there_at_the_first_question_and_again_when_it_was_lost),
		T(a_question_without_an_order_is_answered_after_half_a_minute),
		T(an_order_replaces_the_one_before),
		T(an_agent_that_saw_more_orders_of_another_leader_gets_this_ones),
		T(a_second_question_takes_the_place_of_the_first),
		T(an_agent_that_leaves_while_answered_disturbs_neither_seat_nor_next_question),
		T(closing_the_seat_sends_the_agent_that_waits_away),
		T(whoever_is_turned_away_must_connect_again),
		T(questions_that_are_none_are_turned_away),
		T(progress_and_result_are_kept_apart),
		T(a_report_moves_last_seen),
		T(garbage_is_refused_and_changes_nothing),
		T(a_body_beyond_the_limit_is_refused_unread),
		T(a_report_of_nobody_is_refused_by_its_head),
		T(an_unsigned_or_foreign_report_is_turned_away),
		T(a_restored_session_goes_on_without_a_hello),
		T(a_key_that_is_none_restores_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
