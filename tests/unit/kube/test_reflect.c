#include "tests/unit/testing.h"

#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "base/str.h"
#include "tests/unit/kube/followed.h"

static void a_bookmark_moves_the_place_to_go_on_from(void **state)
{
	struct followed r = {0};
	int64_t opened;

	(void)state;
	followed_start(&r, "a=1@90");
	opened = kube_client_last_contact(r.f.c);
	fake_api_run(&r.f, 60000);
	assert_int_equal(kube_client_last_contact(r.f.c), opened);
	followed_send_text(&r, "{\"type\":\"BOOKMARK\","
			       "\"object\":{\"metadata\":{\"resourceVersion\":\"170\"}}}\n");
	/* The last contact is the time of the last event, not of the watch's start. */
	assert_true(kube_client_last_contact(r.f.c) >= opened + 60000);
	/* A bookmark with an older version does not move the version back. */
	followed_send_text(
		&r,
		"{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":\"99\"}}}\n");
	fake_watch_end(r.f.watch);
	fake_api_run(&r.f, 1000);
	assert_int_equal(r.f.watches, 2);
	assert_int_equal(r.lists, 1);
	assert_true(str_starts(r.watch_query, "170 "));
	assert_int_equal(r.ill, 0);
	followed_stop(&r);
}

/* Returns the buffer size of the watch after a list with one object of about this size. */
static size_t buffer_after(size_t bytes)
{
	struct followed r = {0};
	char *list = mem_alloc(bytes + 32);
	size_t buffer;

	memcpy(list, "a=", 2);
	memset(list + 2, 'x', bytes);
	memcpy(list + 2 + bytes, "@90", 4);
	followed_start(&r, list);
	buffer = r.f.watch_buffer;
	followed_stop(&r);
	free(list);
	return buffer;
}

static void the_buffer_of_a_watch_has_room_for_an_object_of_the_list(void **state)
{
	(void)state;
	assert_int_equal(buffer_after(10), 4096);
	assert_in_range(buffer_after(4000), 4500, 8000);
}

static void a_watch_cut_in_a_line_goes_on_from_the_last_whole_event(void **state)
{
	struct followed r = {0};

	(void)state;
	for (int proper = 0; proper <= 1; proper++) {
		r = (struct followed){0};
		followed_start(&r, "a=1@90");
		followed_send_event(&r, "MODIFIED", "a=2@105");
		fake_watch_send(r.f.watch, "{\"type\":\"MODIFIED\",\"object\":{\"metadata\":{"
					   "\"name\":\"a\",\"resourceVer");
		if (proper)
			fake_watch_end(r.f.watch);
		else
			fake_watch_break(r.f.watch);
		fake_api_run(&r.f, 3000);
		assert_int_equal(r.f.watches, 2);
		assert_int_equal(r.lists, 1);
		assert_true(str_starts(r.watch_query, "105 "));
		assert_int_equal(r.ill, proper ? 0 : 1);
		assert_true(kube_cache_healthy(r.cache));
		followed_send_event(&r, "MODIFIED", "a=3@106");
		followed_changes(&r, "+a=1 a=1>2 a=2>3 ");
		followed_stop(&r);
	}
}

static void an_expired_version_in_a_stream_leads_to_a_new_list(void **state)
{
	struct followed r = {0};

	(void)state;
	followed_start(&r, "a=1@90 b=1@91 c=1@92");
	followed_changes(&r, "+a=1 +b=1 +c=1 ");
	r.accept = true;
	r.list = "a=1@90 b=2@120 d=1@121";
	r.list_rv = "130";
	followed_send_text(&r, FOLLOWED_EXPIRED);
	fake_api_run(&r.f, 3000);
	assert_int_equal(r.lists, 2);
	followed_changes(&r, "-c=1 b=1>2 +d=1 ");
	assert_int_equal(r.asked, 1);
	assert_int_equal(r.before, 3);
	assert_int_equal(r.gone, 1);
	assert_int_equal(r.syncs, 1);
	assert_true(str_starts(r.watch_query, "130 "));
	assert_int_equal(r.ill, 0); /* an expired version is no error */
	assert_true(kube_cache_healthy(r.cache));
	followed_stop(&r);
}

static void an_expired_version_as_status_leads_to_a_new_list_ever_more_slowly(void **state)
{
	struct followed r = {.watch_status = 410};

	(void)state;
	followed_start(&r, "a=1@90");
	fake_api_run(&r.f, 600000);
	/* The pauses double from 0.5 s to 30 s; jitter shortens each by at most half. */
	assert_true(r.lists >= 20 && r.lists <= 50);
	assert_true(r.list_at[r.lists - 1] - r.list_at[r.lists - 2] >= 15000);
	followed_changes(&r, "+a=1 ");
	r.watch_status = 0;
	fake_api_run(&r.f, 31000);
	assert_true(kube_cache_healthy(r.cache));
	followed_stop(&r);
}

static void any_other_error_event_is_tried_again_and_then_listed(void **state)
{
	struct followed r = {0};

	(void)state;
	followed_start(&r, "a=1@90");
	for (int i = 0; i < 3; i++) {
		assert_int_equal(r.lists, 1);
		followed_send_text(&r, "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\","
				       "\"code\":500,\"reason\":\"InternalError\","
				       "\"message\":\"etcd\"}}\n");
		fake_api_run(&r.f, 4000);
		assert_int_equal(r.last_ill.code, 500);
	}
	assert_int_equal(r.ill, 3);
	assert_string_equal(r.last_ill.text, "watch: InternalError: etcd");
	assert_int_equal(r.lists, 2);
	assert_true(kube_cache_healthy(r.cache));
	followed_stop(&r);
}

static void nonsense_in_a_stream_leads_to_a_new_list(void **state)
{
	static const char *const cases[] = {
		"}{\n",
		"[]\n",
		"{\"type\":\"ADDED\"}\n",
		"{\"type\":7,\"object\":{}}\n",
		"{\"type\":\"ERROR\",\"object\":[]}\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct followed r = {0};

		followed_start(&r, "a=1@90");
		followed_send_text(&r, cases[i]);
		fake_api_run(&r.f, 2000);
		assert_int_equal(r.lists, 2);
		assert_int_equal(r.ill, 1);
		assert_int_equal(r.last_ill.kind, ERR_PROTOCOL);
		assert_true(kube_cache_healthy(r.cache));
		followed_stop(&r);
	}
}

static void a_first_list_that_fails_is_asked_for_again(void **state)
{
	struct followed r = {.list_fails = true};

	(void)state;
	followed_start(&r, "a=1@90");
	fake_api_run(&r.f, 20000);
	assert_false(kube_cache_synced(r.cache));
	assert_true(r.ill >= 3);
	r.list_fails = false;
	fake_api_run(&r.f, 31000);
	assert_true(kube_cache_synced(r.cache));
	assert_int_equal(kube_cache_size(r.cache), 1);
	followed_stop(&r);
}

static void a_watch_that_falls_silent_is_opened_again(void **state)
{
	struct followed r = {0};

	(void)state;
	followed_start(&r, "a=1@90");
	/* The watch requests at most 600 s; 30 s after that the watch counts as dead. */
	fake_api_run(&r.f, 629000 + 3000);
	assert_true(r.f.watches >= 2);
	assert_int_equal(r.lists, 1);
	assert_true(r.ill >= 1);
	assert_int_equal(r.last_ill.kind, ERR_TIMEOUT);
	assert_true(kube_cache_healthy(r.cache));
	followed_send_event(&r, "MODIFIED", "a=2@101");
	followed_changes(&r, "+a=1 a=1>2 ");
	followed_stop(&r);
}

#define BOOKMARK "{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":\"170\"}}}\n"

/* Simulates a load balancer that lost the connection: neither data nor an end arrives. */
static void a_watch_that_brings_no_bookmark_any_more_is_opened_again_soon(void **state)
{
	struct followed r = {0};

	(void)state;
	followed_start(&r, "a=1@90");
	fake_api_run(&r.f, 160 * 1000); /* No bookmark came so far, so this server may send none. */
	assert_int_equal(r.f.watches, 1);
	followed_send_text(&r, BOOKMARK);
	fake_api_run(&r.f, 5 * 1000);
	followed_send_text(&r, BOOKMARK);
	fake_api_run(&r.f, 149 * 1000 - 1000);
	assert_int_equal(r.f.watches, 1);
	fake_api_run(&r.f, 3000);
	assert_int_equal(r.f.watches, 2);
	assert_true(str_starts(r.watch_query, "170 "));
	assert_int_equal(r.lists, 1);
	assert_int_equal(r.ill, 0);
	followed_stop(&r);
}

static void a_watch_that_never_begins_is_opened_again(void **state)
{
	struct followed r = {.watch_hangs = true};

	(void)state;
	followed_start(&r, "a=1@90");
	assert_true(kube_cache_synced(r.cache));
	assert_false(kube_cache_healthy(r.cache));
	fake_api_run(&r.f, 29000);
	assert_int_equal(r.f.watches, 1);
	fake_api_run(&r.f, 5000);
	assert_int_equal(r.f.watches, 2);
	r.watch_hangs = false;
	fake_api_run(&r.f, 60000);
	assert_true(kube_cache_healthy(r.cache));
	followed_stop(&r);
}

static void a_server_that_closes_at_once_is_asked_ever_more_slowly(void **state)
{
	struct followed r = {.watch_status = 503};

	(void)state;
	followed_start(&r, "a=1@90");
	fake_api_run(&r.f, 300000);
	assert_true(r.f.watches >= 10 && r.f.watches <= 35);
	followed_stop(&r);
}

static void a_list_from_the_past_is_taken_only_when_it_stays_so(void **state)
{
	struct followed r = {.accept = true};

	(void)state;
	followed_start(&r, "a=1@90 b=1@91");
	followed_send_event(&r, "MODIFIED", "a=2@200");
	followed_changes(&r, "+a=1 +b=1 a=1>2 ");
	r.list = "a=1@90";
	r.list_rv = "150";
	followed_send_text(&r, FOLLOWED_EXPIRED);
	fake_api_run(&r.f, 60000);
	followed_changes(&r, "");
	assert_false(kube_cache_healthy(r.cache));
	assert_string_equal(
		r.last_ill.text,
		"a list of nodes has version 150, older than 200, which was seen before");
	/* After ten refusals the list is accepted: the cluster was restored from a backup. */
	fake_api_run(&r.f, 300000);
	followed_changes(&r, "-b=1 a=2>1 ");
	assert_true(kube_cache_healthy(r.cache));
	followed_send_event(&r, "MODIFIED", "a=5@151");
	followed_changes(&r, "a=1>5 ");
	followed_stop(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_bookmark_moves_the_place_to_go_on_from),
		cmocka_unit_test(the_buffer_of_a_watch_has_room_for_an_object_of_the_list),
		cmocka_unit_test(a_watch_cut_in_a_line_goes_on_from_the_last_whole_event),
		cmocka_unit_test(an_expired_version_in_a_stream_leads_to_a_new_list),
		cmocka_unit_test(an_expired_version_as_status_leads_to_a_new_list_ever_more_slowly),
		cmocka_unit_test(any_other_error_event_is_tried_again_and_then_listed),
		cmocka_unit_test(nonsense_in_a_stream_leads_to_a_new_list),
		cmocka_unit_test(a_first_list_that_fails_is_asked_for_again),
		cmocka_unit_test(a_watch_that_falls_silent_is_opened_again),
		cmocka_unit_test(a_watch_that_brings_no_bookmark_any_more_is_opened_again_soon),
		cmocka_unit_test(a_watch_that_never_begins_is_opened_again),
		cmocka_unit_test(a_server_that_closes_at_once_is_asked_ever_more_slowly),
		cmocka_unit_test(a_list_from_the_past_is_taken_only_when_it_stays_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
