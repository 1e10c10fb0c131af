#include "tests/unit/testing.h"

#include <stdio.h>
#include <stdlib.h>
#include "tests/simulated/loop_sim.h"
#include "base/str.h"
#include "tests/unit/redfish/bmc_rig.h"

/* --- sessions --------------------------------------------------------------------------------- */

static void without_a_session_service_basic_is_used(void **state)
{
	struct bmc_rig *f = *state;

	f->bmc.basic_only = true;
	assert_done(bmc_read_system(f));
	assert_null(redfish_session_uri(f->r));
}

/* The service root refers to a session service that does not exist. */
static void where_the_session_service_is_not_there_basic_is_used(void **state)
{
	static const int statuses[] = {404, 405, 501};
	struct bmc_rig *f = *state;
	struct bmc_selective s = {&f->bmc, "POST /redfish/v1/SessionService/Sessions", 0, NULL};

	f->bmc.tamper = bmc_select_tamper;
	f->bmc.tamper_arg = &s;
	for (size_t i = 0; i < 3; i++) {
		s.status = statuses[i];
		f->bmc.basic_too = true;
		assert_done(bmc_read_system(f));
		assert_done(bmc_power(f, i % 2));
		assert_null(redfish_session_uri(f->r));
		bmc_drop_client(f);
		f->bmc.basic_too = false; /* Refusing Basic is no verdict on the password. */
		assert_int_equal(bmc_read_system(f), ERR_PROTOCOL);
		assert_int_equal(bmc_read_system(f), ERR_PROTOCOL);
		s.start = "none"; /* the service was missing only for a moment */
		assert_done(bmc_read_system(f));
		s.start = "POST /redfish/v1/SessionService/Sessions";
		bmc_drop_client(f);
		f->spec.old_session = NULL;
	}
	f->bmc.tamper = NULL;
}

static void a_session_that_once_worked_is_not_replaced_by_basic(void **state)
{
	struct bmc_rig *f = *state;
	struct bmc_selective s = {&f->bmc, "POST /redfish/v1/SessionService/Sessions", 404, NULL};

	f->bmc.basic_too = true;
	assert_done(bmc_read_system(f));
	f->bmc.tamper = bmc_select_tamper;
	f->bmc.tamper_arg = &s;
	fake_bmc_expire(&f->bmc);
	assert_int_equal(bmc_read_system(f), ERR_PROTOCOL);
	bmc_drop_client(f); /* The next client knows only the path of that session. */
	f->spec.old_session = "/redfish/v1/SessionService/Sessions/41";
	assert_int_equal(bmc_read_system(f), ERR_PROTOCOL);
	f->bmc.tamper = NULL;
}

static void a_session_of_a_client_before_is_deleted_beside_the_journals(void **state)
{
	struct bmc_rig *f = *state;

	assert_done(bmc_read_system(f));
	assert_true(redfish_session_is_only(f->r));
	bmc_drop_client(f);
	f->bmc.sessions[5].id = 77;
	redfish_inherit(bmc_client(f), "/redfish/v1/SessionService/Sessions/77");
	assert_false(redfish_session_is_only(f->r));
	assert_done(bmc_read_system(f));
	assert_int_equal(fake_bmc_sessions(&f->bmc), 1);
	assert_true(redfish_session_is_only(f->r));
}

static void a_closed_root_that_wants_basic_gets_it(void **state)
{
	struct bmc_rig *f = *state;

	f->bmc.basic_only = f->bmc.closed_root = true;
	assert_done(bmc_read_system(f));
}

static void a_closed_root_is_read_after_the_login(void **state)
{
	struct bmc_rig *f = *state;

	f->bmc.closed_root = true;
	for (int i = 0; i < 3; i++)
		assert_done(bmc_read_system(f));
	fake_bmc_expire(&f->bmc);
	assert_done(bmc_read_system(f));
	assert_int_equal(f->bmc.logins, 2);
	assert_int_equal(fake_bmc_sessions(&f->bmc), 1);
}

static void wrong_password(struct bmc_rig *f)
{
	struct secret *right = f->password;

	f->password = secret_from_str("wrong");
	f->spec.password = f->password;
	f->bmc.lock_after = 3;
	for (int i = 0; i < 6; i++) {
		assert_int_equal(i % 2 ? bmc_read_system(f) : bmc_power(f, false), ERR_DENIED);
		assert_int_equal(f->err.code, 401);
		assert_null(strstr(f->err.text, "wrong"));
	}
	assert_int_equal(f->bmc.logins, 1);
	bmc_drop_client(f);
	secret_free(f->password);
	f->password = right;
	f->spec.password = right;
	assert_done(bmc_read_system(f));
	assert_false(f->bmc.locked);
}

static void a_wrong_password_reaches_the_bmc_once(void **state)
{
	wrong_password(*state);
}

static void a_wrong_password_reaches_a_basic_bmc_once(void **state)
{
	struct bmc_rig *f = *state;

	f->bmc.basic_only = true;
	wrong_password(f);
}

static void a_wrong_password_reaches_a_closed_bmc_once(void **state)
{
	struct bmc_rig *f = *state;

	f->bmc.basic_only = f->bmc.closed_root = true;
	wrong_password(f);
}

static void a_wrong_password_reaches_a_closed_bmc_with_sessions_once(void **state)
{
	struct bmc_rig *f = *state;

	f->bmc.closed_root = true;
	wrong_password(f);
}

static void a_refused_login_is_tried_again_by_a_new_client(void **state)
{
	struct bmc_rig *f = *state;

	f->bmc.password = "another";
	assert_int_equal(bmc_read_system(f), ERR_DENIED);
	f->bmc.password = "correct horse";
	assert_int_equal(bmc_read_system(f), ERR_DENIED);
	assert_int_equal(f->bmc.logins, 1);
	bmc_drop_client(f);
	assert_done(bmc_read_system(f));
	assert_int_equal(f->bmc.logins, 2);
}

static void an_expired_session_is_renewed_once(void **state)
{
	struct bmc_rig *f = *state;

	assert_done(bmc_read_system(f));
	fake_bmc_expire(&f->bmc);
	assert_done(bmc_power(f, true));
	assert_true(f->bmc.on);
	assert_int_equal(f->bmc.logins, 2);
	assert_int_equal(fake_bmc_sessions(&f->bmc), 1);
}

static void a_password_changed_behind_our_back_is_refused_once(void **state)
{
	struct bmc_rig *f = *state;

	assert_done(bmc_read_system(f));
	f->bmc.password = "another";
	fake_bmc_expire(&f->bmc);
	for (int i = 0; i < 3; i++)
		assert_int_equal(bmc_read_system(f), ERR_DENIED);
	assert_int_equal(f->bmc.logins, 2);
}

static void sessions_that_vanish_do_not_lead_to_basic(void **state)
{
	struct bmc_rig *f = *state;

	assert_done(bmc_read_system(f));
	f->bmc.basic_only = true;
	for (int i = 0; i < 3; i++)
		assert_int_equal(bmc_read_system(f), ERR_PROTOCOL);
	assert_int_equal(f->bmc.logins, 1);
}

static void the_predecessors_session_is_deleted_before_anything_is_done(void **state)
{
	struct bmc_rig *f = *state;

	f->bmc.sessions[0].id = 41;
	f->bmc.next_session = 41;
	f->spec.old_session = "/redfish/v1/SessionService/Sessions/41";
	assert_done(bmc_power(f, true));
	assert_int_equal(fake_bmc_sessions(&f->bmc), 1);
	assert_string_equal(f->bmc.journal[1], "POST /redfish/v1/SessionService/Sessions ");
	assert_string_equal(f->bmc.journal[2], "DELETE /redfish/v1/SessionService/Sessions/41 ");
}

static void a_session_number_used_again_is_not_deleted(void **state)
{
	struct bmc_rig *f = *state;

	f->spec.old_session = "/redfish/v1/SessionService/Sessions/1";
	assert_done(bmc_read_system(f));
	assert_int_equal(fake_bmc_sessions(&f->bmc), 1);
	assert_int_equal(fake_bmc_count(&f->bmc, "DELETE"), 0);
}

static void nothing_is_done_until_the_predecessors_session_is_gone(void **state)
{
	struct bmc_rig *f = *state;
	struct bmc_selective s = {&f->bmc, "DELETE", 503, NULL};

	f->bmc.sessions[0].id = f->bmc.next_session = 41;
	f->spec.old_session = "/redfish/v1/SessionService/Sessions/41";
	f->bmc.tamper = bmc_select_tamper;
	f->bmc.tamper_arg = &s;
	assert_int_equal(bmc_power(f, true), ERR_UNAVAILABLE);
	assert_int_equal(bmc_power(f, true), ERR_UNAVAILABLE);
	assert_int_equal(fake_bmc_count(&f->bmc, "POST /redfish/v1/Systems"), 0);
	f->bmc.tamper = NULL;
	assert_done(bmc_power(f, true));
	assert_int_equal(fake_bmc_sessions(&f->bmc), 1);
}

/* A redirect that is not followed has not deleted anything. */
static void a_redirected_deletion_is_not_taken_for_one(void **state)
{
	struct bmc_rig *f = *state;
	struct bmc_selective s = {&f->bmc, "DELETE", 302, NULL};

	f->bmc.sessions[0].id = f->bmc.next_session = 41;
	f->spec.old_session = "/redfish/v1/SessionService/Sessions/41";
	f->bmc.tamper = bmc_select_tamper;
	f->bmc.tamper_arg = &s;
	assert_int_equal(bmc_power(f, true), ERR_PROTOCOL);
	assert_int_equal(fake_bmc_count(&f->bmc, "POST /redfish/v1/Systems"), 0);
	f->bmc.tamper = NULL;
	assert_done(bmc_power(f, true));
	assert_int_equal(fake_bmc_sessions(&f->bmc), 1);
}

static void a_resource_that_is_denied_costs_one_new_login_and_not_the_session(void **state)
{
	struct bmc_rig *f = *state;
	struct bmc_selective s = {&f->bmc, "POST /redfish/v1/Systems/1/Actions", 401, NULL};

	assert_done(bmc_read_system(f));
	f->bmc.tamper = bmc_select_tamper;
	f->bmc.tamper_arg = &s;
	assert_int_equal(bmc_power(f, true), ERR_DENIED);
	assert_int_equal(f->bmc.logins, 2);
	assert_int_equal(fake_bmc_sessions(&f->bmc), 1);
	assert_int_not_equal(f->err.code, 401);
	s.status = 403;
	assert_int_equal(bmc_power(f, true), ERR_DENIED);
	assert_int_equal(f->err.code, 403);
	assert_done(bmc_read_system(f));
	assert_int_equal(f->bmc.logins, 2);
}

static void a_session_location_on_another_server_is_not_used(void **state)
{
	struct bmc_rig *f = *state;

	f->bmc.location_elsewhere = true;
	assert_done(bmc_read_system(f));
	assert_string_equal(redfish_session_uri(f->r), "/redfish/v1/SessionService/Sessions/1");
}

static void a_session_that_is_only_on_another_server_is_refused(void **state)
{
	struct bmc_rig *f = *state;

	f->bmc.location_elsewhere = f->bmc.no_session_link = true;
	assert_int_equal(bmc_read_system(f), ERR_PROTOCOL);
	f->bmc.location_elsewhere = false;
	assert_done(bmc_read_system(f));
}

static void without_free_sessions_the_error_says_so(void **state)
{
	struct bmc_rig *f = *state;

	f->bmc.max_sessions = 1;
	f->bmc.sessions[0].id = 9;
	assert_int_equal(bmc_read_system(f), ERR_CAPACITY);
	f->bmc.sessions[0].id = 0;
	loop_sim_run_until(f->loop, loop_now(f->loop) + 31000);
	assert_done(bmc_read_system(f));
}

/* --- no session is free ----------------------------------------------------------------------- */

static void occupy(struct bmc_rig *f, unsigned n)
{
	f->bmc.max_sessions = n;
	for (unsigned i = 0; i < n; i++) {
		f->bmc.sessions[i].id = 41 + i;
		f->bmc.sessions[i].token[0] = '\0';
	}
	f->bmc.next_session = 40 + n;
}

static void our_own_old_session_makes_room_for_a_new_one(void **state)
{
	struct bmc_rig *f = *state;

	occupy(f, 3);
	f->bmc.basic_too = true;
	f->spec.old_session = "/redfish/v1/SessionService/Sessions/42";
	assert_done(bmc_power(f, true));
	assert_int_equal(fake_bmc_count(&f->bmc, "DELETE"), 1);
	assert_string_equal(fake_bmc_last(&f->bmc, "DELETE"),
			    "DELETE /redfish/v1/SessionService/Sessions/42 ");
	assert_int_equal(fake_bmc_sessions(&f->bmc), 3);
	assert_string_equal(redfish_session_uri(f->r), "/redfish/v1/SessionService/Sessions/44");
}

static void where_all_sessions_are_others_basic_serves_for_a_while(void **state)
{
	struct bmc_rig *f = *state;

	occupy(f, 3);
	f->bmc.basic_too = true;
	assert_done(bmc_power(f, true));
	assert_true(f->bmc.on);
	assert_null(redfish_session_uri(f->r));
	assert_int_equal(fake_bmc_sessions(&f->bmc), 3);
	f->bmc.sessions[1].id = 0;
	assert_done(bmc_read_system(f));
	assert_null(redfish_session_uri(f->r));
	loop_sim_run_until(f->loop, loop_now(f->loop) + 601000);
	assert_done(bmc_read_system(f));
	assert_non_null(redfish_session_uri(f->r));
}

static void basic_that_is_not_taken_is_tried_once_and_is_no_wrong_password(void **state)
{
	struct bmc_rig *f = *state;

	occupy(f, 3);
	for (int i = 0; i < 4; i++) {
		assert_int_equal(bmc_read_system(f), ERR_CAPACITY);
		loop_sim_run_until(f->loop, loop_now(f->loop) + 31000);
	}
	assert_int_equal(fake_bmc_count(&f->bmc, "GET /redfish/v1/Systems"), 1);
	f->bmc.sessions[1].id = 0;
	assert_done(bmc_read_system(f));
}

static void an_old_session_that_cannot_be_deleted_is_not_forgotten(void **state)
{
	struct bmc_rig *f = *state;

	occupy(f, 3);
	f->spec.old_session = "/redfish/v1/SessionService/Sessions/42";
	assert_int_equal(bmc_power(f, true), ERR_CAPACITY);
	f->bmc.sessions[0].id = 0;
	loop_sim_run_until(f->loop, loop_now(f->loop) + 31000);
	assert_done(bmc_power(f, true));
	assert_int_equal(f->bmc.sessions[1].id, 0);
	assert_int_equal(f->bmc.sessions[2].id, 43);
}

static void basic_serves_nobody_for_whom_a_session_ever_worked(void **state)
{
	struct bmc_rig *f = *state;

	f->bmc.basic_too = true;
	assert_done(bmc_read_system(f));
	loop_sim_run_until(f->loop, loop_now(f->loop) + 60000);
	occupy(f, 3);
	assert_int_equal(bmc_read_system(f), ERR_CAPACITY);
	assert_int_equal(f->bmc.logins, 2);
	assert_true(f->err.retry_after_ms > 0);
}

static bool quotes(struct httpd_req *q, unsigned n, void *arg)
{
	(void)n;
	(void)arg;
	httpd_reply_json(q, 400,
			 "{\"error\":{\"@Message.ExtendedInfo\":{\"MessageId\":\"Base.1.0.Bad\","
			 "\"Message\":\"\\u001b[2Jroot:correct%20horse is not read\"}}}");
	return true;
}

static void what_it_quotes_is_no_password(void **state)
{
	struct bmc_rig *f = *state;

	assert_done(bmc_read_system(f));
	f->bmc.tamper = quotes;
	assert_true(bmc_read_system(f) != ERR_NONE);
	assert_null(strstr(f->err.text, "horse"));
	assert_null(strchr(f->err.text, '\x1b'));
	assert_non_null(strstr(f->err.text, "root:****"));
}

static bool full(struct httpd_req *q, unsigned n, void *arg)
{
	(void)arg;
	if (n != 1)
		return false;
	httpd_reply_json(
		q, 400,
		"{\"error\":{\"@Message.ExtendedInfo\":{\"MessageId\":\"IDRAC.2.1.RAC0218\"}}}");
	return true;
}

static void no_free_session_is_not_a_wrong_password_whatever_its_status(void **state)
{
	struct bmc_rig *f = *state;

	f->bmc.tamper = full;
	assert_int_equal(bmc_read_system(f), ERR_CAPACITY);
	assert_done(bmc_read_system(f));
}

static bool busy(struct httpd_req *q, unsigned n, void *arg)
{
	(void)arg;
	if (n != 1)
		return false;
	httpd_reply_json(q, 400,
			 "{\"error\":{\"@Message.ExtendedInfo\":{\"MessageId\":"
			 "\"iLO.2.14.InvalidOperationForSystemState\"}}}");
	return true;
}

static void not_now_is_not_a_wrong_password_whatever_its_status(void **state)
{
	struct bmc_rig *f = *state;

	f->bmc.tamper = busy;
	assert_int_equal(bmc_read_system(f), ERR_UNAVAILABLE);
	assert_done(bmc_read_system(f));
}

/* --- redirects -------------------------------------------------------------------------------- */

/* Answers requests for this path with a redirect until they go to the new location. */
struct redirects {
	const char *method, *path, *location;
	int status;
	bool always;
	unsigned sent;
};

static bool redirects(struct httpd_req *q, unsigned n, void *arg)
{
	struct redirects *s = arg;

	(void)n;
	if (!str_eq(httpd_method(q), s->method) || !str_eq(httpd_path(q), s->path) ||
	    (httpd_query(q, "new") && !s->always))
		return false;
	s->sent++;
	if (s->location)
		httpd_reply_header(q, "Location", s->location);
	httpd_reply(q, s->status, NULL, NULL, 0);
	return true;
}

static struct redirects *redirect(struct bmc_rig *f, struct redirects *s)
{
	redfish_free(f->r);
	f->r = NULL;
	fake_bmc_expire(&f->bmc);
	s->sent = 0;
	f->bmc.tamper = redirects;
	f->bmc.tamper_arg = s;
	return s;
}

#define SESSIONS "/redfish/v1/SessionService/Sessions"

static void a_login_follows_within_the_same_server(void **state)
{
	static const int statuses[] = {301, 302, 303, 307, 308};
	static const char *const places[] = {
		SESSIONS "/?new=1", ORIGIN SESSIONS "?new=1", ORIGIN ":443" SESSIONS "/?new=1",
		"Sessions/?new=1",  "./Sessions?new=1",	      "?new=1"};
	struct bmc_rig *f = *state;

	for (size_t i = 0; i < 5; i++)
		for (size_t k = 0; k < sizeof(places) / sizeof(*places); k++) {
			struct redirects s = {.method = "POST",
					      .path = SESSIONS,
					      .location = places[k],
					      .status = statuses[i]};

			redirect(f, &s);
			f->bmc.logins = 0;
			assert_done(bmc_read_system(f));
			assert_int_equal(s.sent, 1);
			assert_int_equal(f->bmc.logins, 1);
			assert_non_null(redfish_session_uri(f->r));
		}
}

static void a_login_goes_to_no_other_server(void **state)
{
	static const int statuses[] = {301, 302, 303, 307, 308};
	static const char *const places[] = {
		"https://10.6.6.6" SESSIONS, "http://10.0.8.17" SESSIONS,
		"https://10.0.8.17:8443" SESSIONS, "//10.6.6.6" SESSIONS,
		"https://drover:x@10.0.8.17" SESSIONS};
	static const char *const others[] = {"https://10.6.6.6", "http://10.0.8.17",
					     "https://10.0.8.17:8443"};
	struct bmc_rig *f = *state;
	struct fake_bmc other;

	fake_bmc_init(&other, f->bmc_group);
	for (size_t i = 0; i < 3; i++)
		http_mem_serve(f->net, others[i], other.httpd);
	for (size_t i = 0; i < 5; i++)
		for (size_t k = 0; k < sizeof(places) / sizeof(*places); k++) {
			struct redirects s = {.method = "POST",
					      .path = SESSIONS,
					      .location = places[k],
					      .status = statuses[i]};

			redirect(f, &s);
			f->bmc.basic_too = true; /* The client must not fall back to Basic. */
			assert_int_equal(bmc_read_system(f), ERR_PROTOCOL);
			assert_int_equal(f->err.code, statuses[i]);
			assert_non_null(strstr(f->err.text,
					       k < 4 ? strstr(places[k], "10.") : "10.0.8.17"));
			assert_int_equal(s.sent, 1);
		}
	assert_int_equal(f->bmc.logins, 0);
	assert_int_equal(other.requests, 0);
	assert_int_equal(other.njournal, 0);
	for (size_t i = 0; i < 3; i++)
		http_mem_serve(f->net, others[i], NULL);
	fake_bmc_done(&other);
}

static void redirects_without_end_end(void **state)
{
	struct bmc_rig *f = *state;
	struct redirects s = {.method = "POST",
			      .path = SESSIONS,
			      .location = SESSIONS "?new=1",
			      .status = 308,
			      .always = true};

	redirect(f, &s);
	assert_int_equal(bmc_read_system(f), ERR_PROTOCOL);
	assert_in_range(s.sent, 2, 5);
	assert_non_null(strstr(f->err.text, "redirect"));
	s.method = "GET";
	s.path = "/redfish/v1/Systems";
	s.location = "/redfish/v1/Systems?new=1";
	redirect(f, &s);
	assert_int_equal(bmc_read_system(f), ERR_PROTOCOL);
	assert_in_range(s.sent, 2, 5);
	s.location = NULL;
	redirect(f, &s);
	assert_int_equal(bmc_read_system(f), ERR_PROTOCOL);
	assert_int_equal(s.sent, 1);
	assert_non_null(strstr(f->err.text, "Location"));
}

static void reads_follow_too_and_no_token_leaves_the_server(void **state)
{
	static const int statuses[] = {301, 302, 303, 307, 308};
	struct bmc_rig *f = *state;
	struct redirects s = {.method = "GET", .path = "/redfish/v1/Systems/1"};

	for (size_t i = 0; i < 5; i++) {
		s.status = statuses[i];
		s.location = "/redfish/v1/Systems/1/?new=1";
		redirect(f, &s);
		assert_done(bmc_read_system(f));
		assert_string_equal(f->uuid, "4c4c4544-0035-3410-8050-c6c04f314733");
		s.location = "https://10.6.6.6/redfish/v1/Systems/1";
		redirect(f, &s);
		assert_int_equal(bmc_read_system(f), ERR_PROTOCOL);
		assert_non_null(strstr(f->err.text, "10.6.6.6"));
	}
}

/* 307 and 308 guarantee that the change was not made yet; the other statuses do not. */
static void a_change_follows_where_nothing_can_have_been_done(void **state)
{
	static const int statuses[] = {307, 308, 301, 302, 303};
	static const char reset[] = "/redfish/v1/Systems/1/Actions/ComputerSystem.Reset";
	struct bmc_rig *f = *state;
	struct redirects s = {.method = "POST", .path = reset, .location = "?new=1"};

	f->spec.may_act = bmc_may;
	for (size_t i = 0; i < 5; i++) {
		f->bmc.on = false;
		s.status = statuses[i];
		redirect(f, &s);
		assert_int_equal(bmc_power(f, true), i < 2 ? ERR_NONE : ERR_PROTOCOL);
		assert_int_equal(f->bmc.on, i < 2);
		assert_int_equal(s.sent, 1);
	}
}

static bool redirects_and_forbids(struct httpd_req *q, unsigned n, void *arg)
{
	struct bmc_rig *f = arg;

	(void)n;
	if (!str_ends(httpd_path(q), "ComputerSystem.Reset") || httpd_query(q, "new"))
		return false;
	f->allowed = false;
	httpd_reply_header(q, "Location", "?new=1");
	httpd_reply(q, 308, NULL, NULL, 0);
	return true;
}

static void a_change_that_follows_is_asked_for_again_before_it_is_sent(void **state)
{
	struct bmc_rig *f = *state;

	f->spec.may_act = bmc_may;
	f->bmc.tamper = redirects_and_forbids;
	f->bmc.tamper_arg = f;
	assert_int_equal(bmc_power(f, true), ERR_CONFLICT);
	assert_false(f->bmc.on);
}

/* --- a password that has to be changed -------------------------------------------------------- */

static void assert_wants_change(struct bmc_rig *f, enum err_kind kind)
{
	assert_int_equal(kind, ERR_DENIED);
	assert_int_equal(f->err.code, REDFISH_PASSWORD_CHANGE);
	assert_non_null(strstr(f->err.text, "/redfish/v1/AccountService/Accounts/3"));
	assert_non_null(strstr(f->err.text, "user drover"));
}

static void change_asked_for(struct bmc_rig *f, int how, unsigned sessions)
{
	unsigned sent;

	f->bmc.must_change = how;
	f->bmc.lock_after = 3;
	assert_wants_change(f, bmc_read_system(f));
	sent = f->bmc.requests;
	for (int i = 0; i < 6; i++)
		assert_wants_change(f, i % 2 ? bmc_read_system(f) : bmc_power(f, true));
	assert_int_equal(f->bmc.requests, sent);
	assert_int_equal(f->bmc.logins, 1);
	assert_int_equal(fake_bmc_sessions(&f->bmc), sessions);
	redfish_log_out(f->r, bmc_on_plain, f); /* the client closes the session that it opened */
	assert_done(bmc_wait_answer(f));
	assert_int_equal(fake_bmc_sessions(&f->bmc), 0);
	bmc_drop_client(f);
	f->bmc.must_change = 0;
	assert_done(bmc_read_system(f));
}

static void a_login_that_wants_another_password_is_tried_once(void **state)
{
	change_asked_for(*state, 1, 0);
}

static void a_session_that_wants_another_password_is_used_for_nothing(void **state)
{
	change_asked_for(*state, 2, 1);
}

/* The BMC demands a new password only after the login, for a session that worked before. */
static void another_password_that_is_wanted_later_is_told_too(void **state)
{
	struct bmc_rig *f = *state;
	unsigned sent;

	assert_done(bmc_read_system(f));
	f->bmc.must_change = 2;
	assert_wants_change(f, bmc_power(f, true));
	sent = f->bmc.requests;
	assert_wants_change(f, bmc_read_system(f));
	assert_int_equal(f->bmc.requests, sent);
	assert_false(f->bmc.on);
}

static void basic_is_told_of_another_password_too(void **state)
{
	struct bmc_rig *f = *state;

	f->bmc.basic_only = true;
	f->bmc.must_change = 2;
	assert_wants_change(f, bmc_read_system(f));
	assert_wants_change(f, bmc_read_system(f));
	assert_int_equal(f->bmc.logins, 1);
}

static enum err_kind log_out(struct bmc_rig *f)
{
	redfish_log_out(bmc_client(f), bmc_on_plain, f);
	return bmc_wait_answer(f);
}

static void a_session_is_closed_when_it_is_over(void **state)
{
	struct bmc_rig *f = *state;

	assert_done(log_out(f)); /* Without a session nothing is sent. */
	assert_int_equal(f->bmc.requests, 0);
	assert_done(bmc_read_system(f));
	assert_done(log_out(f));
	assert_int_equal(fake_bmc_sessions(&f->bmc), 0);
	assert_null(redfish_session_uri(f->r));
	assert_done(bmc_read_system(f)); /* This operation logs in anew. */
	bmc_drop_client(f);
	assert_int_equal(fake_bmc_sessions(&f->bmc), 1);
	assert_done(log_out(f)); /* Deletes the session of the previous client. */
	assert_int_equal(fake_bmc_sessions(&f->bmc), 0);
	assert_done(bmc_read_system(f));
	fake_bmc_expire(&f->bmc);
	assert_done(log_out(f)); /* The session has already expired. */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		bmc_test(without_a_session_service_basic_is_used),
		bmc_test(where_the_session_service_is_not_there_basic_is_used),
		bmc_test(a_session_that_once_worked_is_not_replaced_by_basic),
		bmc_test(a_session_of_a_client_before_is_deleted_beside_the_journals),
		bmc_test(a_closed_root_that_wants_basic_gets_it),
		bmc_test(a_wrong_password_reaches_the_bmc_once),
		bmc_test(a_wrong_password_reaches_a_basic_bmc_once),
		bmc_test(a_wrong_password_reaches_a_closed_bmc_once),
		bmc_test(a_closed_root_is_read_after_the_login),
		bmc_test(a_wrong_password_reaches_a_closed_bmc_with_sessions_once),
		bmc_test(not_now_is_not_a_wrong_password_whatever_its_status),
		bmc_test(a_refused_login_is_tried_again_by_a_new_client),
		bmc_test(an_expired_session_is_renewed_once),
		bmc_test(a_password_changed_behind_our_back_is_refused_once),
		bmc_test(sessions_that_vanish_do_not_lead_to_basic),
		bmc_test(the_predecessors_session_is_deleted_before_anything_is_done),
		bmc_test(nothing_is_done_until_the_predecessors_session_is_gone),
		bmc_test(a_redirected_deletion_is_not_taken_for_one),
		bmc_test(a_resource_that_is_denied_costs_one_new_login_and_not_the_session),
		bmc_test(a_session_number_used_again_is_not_deleted),
		bmc_test(a_session_location_on_another_server_is_not_used),
		bmc_test(a_session_that_is_only_on_another_server_is_refused),
		bmc_test(without_free_sessions_the_error_says_so),
		bmc_test(our_own_old_session_makes_room_for_a_new_one),
		bmc_test(where_all_sessions_are_others_basic_serves_for_a_while),
		bmc_test(basic_that_is_not_taken_is_tried_once_and_is_no_wrong_password),
		bmc_test(an_old_session_that_cannot_be_deleted_is_not_forgotten),
		bmc_test(basic_serves_nobody_for_whom_a_session_ever_worked),
		bmc_test(what_it_quotes_is_no_password),
		bmc_test(no_free_session_is_not_a_wrong_password_whatever_its_status),
		bmc_test(a_session_is_closed_when_it_is_over),
		bmc_test(a_login_that_wants_another_password_is_tried_once),
		bmc_test(a_session_that_wants_another_password_is_used_for_nothing),
		bmc_test(another_password_that_is_wanted_later_is_told_too),
		bmc_test(basic_is_told_of_another_password_too),
		bmc_test(a_login_follows_within_the_same_server),
		bmc_test(a_login_goes_to_no_other_server),
		bmc_test(redirects_without_end_end),
		bmc_test(reads_follow_too_and_no_token_leaves_the_server),
		bmc_test(a_change_follows_where_nothing_can_have_been_done),
		bmc_test(a_change_that_follows_is_asked_for_again_before_it_is_sent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
