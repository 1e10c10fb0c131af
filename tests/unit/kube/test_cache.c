#include "tests/unit/testing.h"

#include <stdlib.h>
#include "base/mem.h"
#include "base/str.h"
#include "tests/unit/kube/followed.h"

static json_t *object(const char *spec)
{
	struct buf b;
	struct err e;
	json_t *j;

	buf_init(&b, 65536);
	followed_object(&b, NULL, spec);
	j = json_parse(b.data, b.len, &e);
	assert_non_null(j);
	buf_done(&b);
	return j;
}

static void learn(struct followed *r, const char *spec)
{
	OWN_JSON j = object(spec);

	kube_cache_learn(r->cache, j);
}

#define VALUE(r, name)                                                                             \
	(KUBE_CACHE_GET((r)->cache, node, NULL, name)                                              \
		 ? KUBE_CACHE_GET((r)->cache, node, NULL, name)->value                             \
		 : NULL)

static bool count_one(const struct kube_entry *e, void *arg)
{
	(void)e;
	return ++*(int *)arg < 2;
}

static void a_list_then_a_watch_fill_the_cache(void **state)
{
	struct followed r = {0};
	int n = 0, seconds;

	(void)state;
	followed_start(&r, "a=1@90 b=1@91 c=skip@92");
	assert_int_equal(r.syncs, 1);
	assert_true(kube_cache_synced(r.cache));
	assert_true(kube_cache_healthy(r.cache));
	assert_int_equal(r.well, 1);
	assert_int_equal(kube_cache_size(r.cache), 2);
	followed_changes(&r, "+a=1 +b=1 ");
	assert_true(str_starts(r.watch_query, "100 true "));
	seconds = atoi(r.watch_query + strlen("100 true "));
	assert_true(seconds >= 300 && seconds <= 600);

	followed_send_event(&r, "ADDED", "d=1@101");
	followed_send_event(&r, "MODIFIED", "a=2@102");
	followed_send_event(&r, "DELETED", "b=1@103");
	followed_changes(&r, "+d=1 a=1>2 -b=1 ");
	assert_string_equal(VALUE(&r, "a"), "2");
	assert_null(VALUE(&r, "b"));
	assert_string_equal(kube_cache_get(r.cache, "", "a")->rv, "102");
	/* An object that project() no longer wants is removed, and can come back. */
	followed_send_event(&r, "MODIFIED", "d=skip@104");
	followed_send_event(&r, "MODIFIED", "d=3@105");
	followed_send_event(&r, "DELETED", "zz=1@106");
	followed_changes(&r, "-d=1 +d=3 ");
	assert_int_equal(r.ill, 0);
	kube_cache_each(r.cache, count_one, &n);
	assert_int_equal(n, 2);
	followed_stop(&r);
}

static void an_event_again_or_older_changes_nothing(void **state)
{
	struct followed r = {0};

	(void)state;
	followed_start(&r, "a=1@90");
	followed_send_event(&r, "MODIFIED", "a=2@110");
	followed_changes(&r, "+a=1 a=1>2 ");
	followed_send_event(&r, "MODIFIED", "a=2@110");
	followed_send_event(&r, "ADDED", "a=1@90");
	followed_send_event(&r, "MODIFIED", "a=1@99");
	followed_send_event(&r, "DELETED", "a=1@109");
	followed_changes(&r, "");
	assert_string_equal(VALUE(&r, "a"), "2");
	followed_send_event(&r, "DELETED", "a=2@111");
	followed_changes(&r, "-a=2 ");
	followed_stop(&r);
}

static const char *version_of(const struct followed *r, const char *name)
{
	const struct kube_entry *e = kube_cache_get(r->cache, "", name);

	return e ? e->rv : "none";
}

static void what_says_the_same_is_not_even_projected_and_its_version_is_kept(void **state)
{
	struct followed r = {.same_untold = true};
	unsigned before;

	(void)state;
	followed_start(&r, "a=1@90 b=1@91");
	followed_changes(&r, "+a=1 +b=1 ");
	before = r.projected;
	/* An event that changes only the version is not projected, not even the first event after a
	 * list. */
	followed_send_event(&r, "MODIFIED", "a=1@101");
	assert_string_equal(version_of(&r, "a"), "101");
	followed_send_event(&r, "MODIFIED", "a=1@102");
	assert_string_equal(version_of(&r, "a"), "102");
	assert_string_equal(version_of(&r, "b"), "91");
	followed_changes(&r, "");
	assert_int_equal(r.projected, before);
	/* The watch resumes from the version of the last event, although no change was reported. */
	fake_watch_end(r.f.watch);
	fake_api_run(&r.f, 1000);
	assert_true(str_starts(r.watch_query, "102 "));
	/* An event with an old version is ignored. */
	followed_send_event(&r, "MODIFIED", "a=1@100");
	assert_string_equal(version_of(&r, "a"), "102");
	/* A change is reported, and so is the change back to the earlier value. */
	followed_send_event(&r, "MODIFIED", "a=2@110");
	followed_send_event(&r, "MODIFIED", "a=1@111");
	followed_changes(&r, "a=1>2 a=2>1 ");
	assert_string_equal(version_of(&r, "a"), "111");
	followed_stop(&r);
}

static void what_only_looks_the_same_is_told(void **state)
{
	struct followed r = {.same_untold = true};

	(void)state;
	followed_start(&r, "a=1@90 b=1@91");
	followed_changes(&r, "+a=1 +b=1 ");
	/* A different uid is a different object of the same name. */
	followed_send_event(&r, "MODIFIED", "a=1@101/other");
	followed_changes(&r, "-a=1 +a=1 ");
	followed_send_event(&r, "DELETED", "a=1@102/other");
	followed_changes(&r, "-a=1 ");
	followed_send_event(&r, "ADDED", "a=1@103/other");
	followed_changes(&r, "+a=1 ");
	/* The client's own write came in between, so the event restores the earlier value. */
	learn(&r, "b=2@105");
	followed_send_event(&r, "MODIFIED", "b=1@106");
	followed_changes(&r, "b=1>2 b=2>1 ");
	/* A version longer than the buffer in the cache's entry is stored, too. */
	followed_send_event(&r, "MODIFIED", "b=1@123456789012345678901234567890");
	assert_string_equal(version_of(&r, "b"), "123456789012345678901234567890");
	followed_send_event(&r, "MODIFIED", "b=1@123456789012345678901234567891");
	assert_string_equal(version_of(&r, "b"), "123456789012345678901234567891");
	followed_stop(&r);
}

static void a_relist_knows_what_was_not_told(void **state)
{
	struct followed r = {.same_untold = true};
	unsigned before;

	(void)state;
	followed_start(&r, "a=1@90 b=1@91");
	followed_send_event(&r, "MODIFIED", "a=1@101");
	followed_changes(&r, "+a=1 +b=1 ");
	before = r.projected;
	r.list = "a=1@101 b=1@102";
	r.list_rv = "102";
	followed_send_text(&r, FOLLOWED_EXPIRED);
	fake_api_run(&r.f, 5000);
	assert_int_equal(r.lists, 2);
	assert_int_equal(r.projected, before + 1); /* Only b was projected. */
	followed_changes(&r, "b=1>1 ");
	followed_send_event(&r, "MODIFIED", "b=1@110");
	followed_changes(&r, "");
	assert_string_equal(version_of(&r, "b"), "110");
	followed_stop(&r);
}

static void another_uid_is_another_object(void **state)
{
	struct followed r = {0};

	(void)state;
	followed_start(&r, "a=1@90/one");
	followed_send_event(&r, "MODIFIED", "a=2@110/two");
	followed_changes(&r, "+a=1 -a=1 +a=2 ");
	followed_stop(&r);
}

static void an_event_that_is_too_large_does_not_end_the_cache(void **state)
{
	struct followed r = {0};
	char *big = mem_alloc(20001);

	(void)state;
	memset(big, 'x', 20000);
	followed_start(&r, "a=1@90 b=1@91");
	fake_watch_send(r.f.watch, "{\"type\":\"MODIFIED\",\"object\":{\"x\":\"");
	fake_watch_send(r.f.watch, big);
	r.list = "a=1@90 b=2@101";
	r.list_rv = "120";
	followed_send_text(&r, "\"}}\n");
	free(big);
	assert_int_equal(r.ill, 1);
	assert_int_equal(r.last_ill.kind, ERR_PROTOCOL);
	fake_api_run(&r.f, 60000);
	assert_int_equal(kube_cache_size(r.cache), 2);
	assert_string_equal(VALUE(&r, "b"), "2");
	assert_true(kube_cache_healthy(r.cache));
	followed_stop(&r);
}

static void an_object_that_cannot_be_read_keeps_its_last_good_form(void **state)
{
	struct followed r = {.accept = true};

	(void)state;
	followed_start(&r, "a=1@90 b=bad@91");
	assert_int_equal(r.bads, 1);
	assert_string_equal(r.bad.text, "spec.value: is bad");
	followed_send_event(&r, "MODIFIED", "a=bad@101");
	assert_int_equal(r.bads, 2);
	assert_string_equal(VALUE(&r, "a"), "1");
	/* A list that contains the object in unreadable form does not remove it. */
	r.list = "a=bad@101";
	r.list_rv = "110";
	followed_send_text(&r, FOLLOWED_EXPIRED);
	fake_api_run(&r.f, 2000);
	assert_string_equal(VALUE(&r, "a"), "1");
	assert_int_equal(r.asked, 0);
	followed_send_event(&r, "ADDED", "x=1@111");
	followed_send_text(
		&r,
		"{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"resourceVersion\":\"112\"}}}\n");
	assert_int_equal(r.bads, 4);
	followed_send_event(&r, "ADDED", "a/b=1@113");
	assert_int_equal(r.bads, 5);
	followed_changes(&r, "+a=1 +x=1 ");
	followed_stop(&r);
}

static void a_list_that_lost_much_is_not_believed_unless_accepted(void **state)
{
	struct followed r = {0};

	(void)state;
	followed_start(&r, "a=1@90 b=1@91 c=1@92");
	followed_changes(&r, "+a=1 +b=1 +c=1 ");
	r.list = "a=2@120";
	r.list_rv = "130";
	followed_send_text(&r, FOLLOWED_EXPIRED);
	fake_api_run(&r.f, 60000);
	assert_true(r.asked >= 2);
	assert_int_equal(r.gone, 2);
	followed_changes(&r, "");
	assert_int_equal(kube_cache_size(r.cache), 3);
	assert_string_equal(VALUE(&r, "a"), "1");
	assert_false(kube_cache_healthy(r.cache));
	assert_non_null(strstr(r.last_ill.text, "lacks 2 of 3"));
	assert_int_equal(r.which[0], r.which[1]);
	r.list = "a=2@120 b=2@121"; /* a different loss: only c is missing */
	fake_api_run(&r.f, 31000);
	assert_int_equal(r.gone, 1);
	r.list = "a=2@120 c=2@121"; /* a loss of the same size: only b is missing */
	while (r.which[0] == r.which[1])
		fake_api_run(&r.f, 31000);
	r.list = "a=2@120";
	r.accept = true;
	fake_api_run(&r.f, 31000);
	followed_changes(&r, "-b=1 -c=1 a=1>2 ");
	assert_true(kube_cache_healthy(r.cache));
	followed_stop(&r);
}

static void an_unreachable_server_takes_nothing_away(void **state)
{
	struct followed r = {0};

	(void)state;
	followed_start(&r, "a=1@90");
	http_mem_serve(r.f.net, FAKE_API_ORIGIN, NULL);
	fake_api_run(&r.f, 300000);
	assert_int_equal(kube_cache_size(r.cache), 1);
	assert_false(kube_cache_healthy(r.cache));
	assert_int_equal(r.last_ill.kind, ERR_UNAVAILABLE);
	http_mem_serve(r.f.net, FAKE_API_ORIGIN, r.f.d);
	fake_api_run(&r.f, 32000);
	assert_true(kube_cache_healthy(r.cache));
	followed_changes(&r, "+a=1 ");
	followed_stop(&r);
}

static void our_own_writes_are_seen_at_once_and_never_undone(void **state)
{
	struct followed r = {.accept = true};

	(void)state;
	followed_start(&r, "a=1@90");
	learn(&r, "a=2@105");
	learn(&r, "b=1@106");
	followed_changes(&r, "+a=1 a=1>2 +b=1 ");
	/* Events from before the write, and the event of the write itself, arrive later. */
	followed_send_event(&r, "MODIFIED", "a=1@104");
	followed_send_event(&r, "MODIFIED", "a=2@105");
	followed_send_event(&r, "ADDED", "b=1@106");
	followed_changes(&r, "");
	/* The watch has passed 107: older replies are ignored, also for a deleted object. */
	followed_send_event(&r, "DELETED", "b=1@107");
	learn(&r, "b=1@106");
	learn(&r, "a=0@103");
	followed_changes(&r, "-b=1 ");
	/* A list that is older than the write does not undo the write. */
	learn(&r, "c=1@140");
	learn(&r, "a=3@141");
	r.list = "a=2@105";
	r.list_rv = "130";
	followed_send_text(&r, FOLLOWED_EXPIRED);
	fake_api_run(&r.f, 2000);
	assert_int_equal(r.lists, 2);
	followed_changes(&r, "+c=1 a=2>3 ");
	/* The next list is newer, and c is not in it. */
	r.list = "a=3@141";
	r.list_rv = "150";
	followed_send_text(&r, FOLLOWED_EXPIRED);
	fake_api_run(&r.f, 4000);
	assert_int_equal(r.lists, 3);
	followed_changes(&r, "-c=1 ");
	/* Versions without an order are left to the watch. */
	learn(&r, "z=1@abc");
	followed_changes(&r, "");
	followed_stop(&r);
}

/* The event of a stored version is not even read: otherwise the other uid would be a new object. */
static void the_event_of_our_own_write_is_not_built(void **state)
{
	struct followed r = {0};

	(void)state;
	followed_start(&r, "a=1@90");
	learn(&r, "a=2@105");
	learn(&r, "b=1@106");
	followed_changes(&r, "+a=1 a=1>2 +b=1 ");
	followed_send_event(&r, "MODIFIED", "a=3@105/other");
	followed_send_event(&r, "ADDED", "b=4@106/other");
	followed_changes(&r, "");
	/* The event counts as seen by the watch all the same. */
	assert_true(kube_cache_passed(r.cache, "106"));
	/* Any other version is read, and so is a deletion. */
	followed_send_event(&r, "MODIFIED", "a=3@107/other");
	followed_send_event(&r, "DELETED", "b=1@106");
	followed_changes(&r, "-a=2 +a=3 -b=1 ");
	followed_stop(&r);
}

static void a_write_learned_inside_a_change_is_told_after_it(void **state)
{
	struct followed r = {0};

	(void)state;
	followed_start(&r, "a=1@90");
	r.learn_in_change = object("b=9@200");
	followed_send_event(&r, "MODIFIED", "a=2@101");
	followed_changes(&r, "+a=1 a=1>2 +b=9 ");
	followed_stop(&r);
}

static void versions_that_are_no_numbers_have_no_order(void **state)
{
	struct followed r = {0};

	(void)state;
	followed_start(&r, "a=1@x9");
	followed_send_event(&r, "MODIFIED", "a=2@b");
	followed_send_event(&r, "MODIFIED", "a=2@b");
	followed_send_event(&r, "MODIFIED", "a=3@a");
	followed_send_event(&r, "DELETED", "a=3@c");
	followed_changes(&r, "+a=1 a=1>2 a=2>3 -a=3 ");
	followed_stop(&r);
}

static void a_cache_may_be_freed_at_any_time(void **state)
{
	(void)state;
	for (int64_t ms = 0; ms < 60; ms++) {
		struct followed r = {0};

		followed_begin(&r, "a=1@90 b=2@91", ms);
		kube_cache_free(r.cache);
		fake_api_run(&r.f, 1000);
		fake_api_stop(&r.f);
	}
}

static void a_crash_silences_it_and_leaves_nothing(void **state)
{
	(void)state;
	for (int64_t ms = 0; ms < 60; ms += 3) {
		struct followed r = {0};

		followed_begin(&r, "a=1@90 b=2@91", ms);
		loop_group_drop(r.f.client_g);
		r.changes[0] = '\0';
		if (r.f.watch)
			followed_send_event(&r, "MODIFIED", "a=2@105");
		fake_api_run(&r.f, 60000);
		followed_changes(&r, "");
		followed_stop(&r);
	}
}

static void what_has_no_room_is_left_out_until_there_is_room(void **state)
{
	struct followed r = {.max_objects = 2, .accept = true};

	(void)state;
	followed_start(&r, "a=1@90 b=1@91 c=1@92");
	followed_changes(&r, "+a=1 +b=1 ");
	assert_int_equal(r.syncs, 1);
	assert_int_equal(r.overs, 1);
	assert_true(kube_cache_over(r.cache));
	/* A cached object may change, and a new one may take the place of a deleted one. */
	followed_send_event(&r, "MODIFIED", "a=2@101");
	followed_send_event(&r, "ADDED", "d=1@102");
	followed_send_event(&r, "DELETED", "b=1@103");
	followed_send_event(&r, "ADDED", "e=1@104");
	followed_changes(&r, "a=1>2 -b=1 +e=1 ");
	assert_int_equal(r.overs, 2);
	/* Everything is listed again from time to time: one object changed, one was deleted, one
	 * that did not fit before is added. */
	r.list = "c=1@92 d=1@102 e=2@110";
	r.list_rv = "120";
	fake_api_run(&r.f, 310000);
	assert_int_equal(kube_cache_size(r.cache), 2);
	assert_true(kube_cache_over(r.cache));
	assert_null(VALUE(&r, "a"));
	r.list = "d=1@102 e=2@110";
	r.list_rv = "130";
	fake_api_run(&r.f, 310000);
	assert_int_equal(kube_cache_size(r.cache), 2);
	assert_string_equal(VALUE(&r, "d"), "1");
	assert_false(kube_cache_over(r.cache));
	assert_int_equal(r.fit_again, 1);
	fake_api_run(&r.f, 200000);
	assert_int_equal(r.fit_again, 1);
	followed_stop(&r);
}

static void bytes_are_bounded_of_each_and_of_all(void **state)
{
	struct followed r = {.max_each = 512, .max_bytes = 3 * 256, .accept = true};
	char *large = mem_alloc(2000), *spec;

	(void)state;
	memset(large, 'x', 1999);
	large[1999] = '\0';
	followed_start(&r, "a=1@90 b=1@91 c=1@92 d=1@93");
	followed_changes(&r, "+a=1 +b=1 +c=1 ");
	assert_int_equal(r.overs, 1);
	spec = mem_printf("a=%s@101", large);
	followed_send_event(&r, "MODIFIED", spec);
	followed_changes(&r, "-a=1 ");
	assert_int_equal(r.overs, 2);
	followed_send_event(&r, "MODIFIED", "a=2@102");
	followed_changes(&r, "+a=2 ");
	/* The bound also applies to new objects in a list, together with the unchanged ones. */
	r.list = "b=1@91 c=1@92 e=1@103 f=1@104 g=1@105";
	r.list_rv = "120";
	fake_api_run(&r.f, 310000);
	followed_changes(&r, "-a=2 +e=1 ");
	free(spec);
	free(large);
	followed_stop(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_list_then_a_watch_fill_the_cache),
		cmocka_unit_test(an_event_again_or_older_changes_nothing),
		cmocka_unit_test(what_says_the_same_is_not_even_projected_and_its_version_is_kept),
		cmocka_unit_test(what_only_looks_the_same_is_told),
		cmocka_unit_test(a_relist_knows_what_was_not_told),
		cmocka_unit_test(another_uid_is_another_object),
		cmocka_unit_test(an_event_that_is_too_large_does_not_end_the_cache),
		cmocka_unit_test(an_object_that_cannot_be_read_keeps_its_last_good_form),
		cmocka_unit_test(a_list_that_lost_much_is_not_believed_unless_accepted),
		cmocka_unit_test(an_unreachable_server_takes_nothing_away),
		cmocka_unit_test(our_own_writes_are_seen_at_once_and_never_undone),
		cmocka_unit_test(the_event_of_our_own_write_is_not_built),
		cmocka_unit_test(a_write_learned_inside_a_change_is_told_after_it),
		cmocka_unit_test(versions_that_are_no_numbers_have_no_order),
		cmocka_unit_test(what_has_no_room_is_left_out_until_there_is_room),
		cmocka_unit_test(bytes_are_bounded_of_each_and_of_all),
		cmocka_unit_test(a_cache_may_be_freed_at_any_time),
		cmocka_unit_test(a_crash_silences_it_and_leaves_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
