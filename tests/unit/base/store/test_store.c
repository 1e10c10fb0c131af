#include "tests/unit/testing.h"

#include <stdio.h>
#include <stdlib.h>
#include "base/buf.h"
#include "tests/simulated/loop_sim.h"
#include "base/mem.h"
#include "base/store/store.h"
#include "base/store/store_sqlite.h"
#include "base/str.h"
#include "tests/unit/base/store/store_rig.h"

/* Behaviour of every store: each case runs on the store in memory and on the one on disk. */
struct fixture {
	char *folder;
	struct loop *l;
	struct loop_group *g;
	struct store *s;
	struct buf log;
	struct store_watch *w;
	bool free_in_event, commit_in_event, reply_in_event;
	/* Requested in log_reply(), or in the first event if reply_in_event is set. */
	struct loop_defer reply;
	/* Requests `reply` in the turn after log_two_turns(). */
	struct loop_defer before_reply;
};

#define HISTORY 8

static struct fixture *fixture_new(void **state)
{
	struct fixture *f = mem_new(struct fixture);

	f->l = loop_sim_new(1, 0);
	f->g = loop_group_new(f->l, "test");
	buf_init(&f->log, 1 << 16);
	*state = f;
	return f;
}

static int setup_memory(void **state)
{
	struct fixture *f = fixture_new(state);

	f->s = store_mem_new(f->g, HISTORY);
	return 0;
}

static int setup_disk(void **state)
{
	struct fixture *f = fixture_new(state);
	struct err e;

	f->folder = store_rig_folder();
	f->s = store_sqlite_new(f->g, f->folder, HISTORY, &e);
	return f->s ? 0 : -1;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	store_free(f->s);
	loop_group_free(f->g);
	loop_free(f->l);
	buf_done(&f->log);
	store_rig_remove(f->folder);
	free(f);
	return 0;
}

static struct store_change change(const char *key, const char *value, int64_t if_rev)
{
	return (struct store_change){
		.key = key,
		.value = value,
		.value_len = value ? strlen(value) : 0,
		.if_rev = if_rev,
	};
}

static uint64_t put(struct fixture *f, const char *key, const char *value)
{
	struct store_change c = change(key, value, -1);
	uint64_t rev = 0;
	struct err e;

	assert_ok(store_commit(f->s, &c, 1, &rev, NULL, NULL, &e), &e);
	return rev;
}

static const char *get(struct fixture *f, const char *key)
{
	struct store_entry e;

	return store_get(f->s, key, &e) ? e.value : NULL;
}

static bool log_key(const struct store_entry *e, void *arg)
{
	struct fixture *f = arg;

	buf_printf(&f->log, "%s=%s ", e->key, e->value);
	return !str_eq(e->value, "stop");
}

static void each_change_has_its_own_revision(void **state)
{
	struct fixture *f = *state;
	struct store_change c[3] = {change("a", "1", 0), change("b", "2", 0),
				    change("gone", NULL, -1)};
	struct store_entry entry;
	uint64_t rev, begin = store_rev(f->s);
	struct err e;

	assert_ok(store_commit(f->s, c, 3, &rev, NULL, NULL, &e), &e);
	assert_int_equal(rev, begin + 2);
	assert_int_equal(store_rev(f->s), begin + 2);
	assert_true(store_get(f->s, "a", &entry));
	assert_int_equal(entry.rev, begin + 1);
	assert_int_equal(put(f, "a", "again"), begin + 3);
	assert_true(store_get(f->s, "a", &entry));
	assert_int_equal(entry.rev, begin + 3);
	assert_int_equal(entry.create_rev, begin + 1);
	assert_string_equal(entry.value, "again");
	assert_int_equal(entry.value_len, 5);
}

static void a_condition_that_fails_leaves_everything_as_it_was(void **state)
{
	struct fixture *f = *state;
	uint64_t rev = put(f, "a", "1");
	struct {
		struct store_change c[2];
		bool ok;
	} cases[] = {
		{{change("a", "x", 0), change("new", "x", -1)}, false},
		{{change("new", "x", 0), change("a", "x", (int64_t)rev + 1)}, false},
		{{change("new", "x", -1), change("b", "x", 1)}, false},
		{{change("new", "x", -1), change("a", NULL, (int64_t)rev + 7)}, false},
		{{change("new", "x", 0), change("a", NULL, (int64_t)rev)}, true},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct err e;
		int rc = store_commit(f->s, cases[i].c, 2, NULL, NULL, NULL, &e);

		assert_int_equal(rc == 0, cases[i].ok);
		if (!cases[i].ok) {
			assert_int_equal(e.kind, ERR_CONFLICT);
			assert_int_equal(store_rev(f->s), rev);
			assert_string_equal(get(f, "a"), "1");
			assert_null(get(f, "new"));
		}
	}
	assert_null(get(f, "a"));
	assert_string_equal(get(f, "new"), "x");
}

static void a_list_is_in_order_and_goes_on_after_a_key(void **state)
{
	struct fixture *f = *state;
	static const char *const keys[] = {"pods/b/2", "nodes/x", "pods/a/1",
					   "pods/b/1", "podsy",	  "q"};
	static const struct {
		const char *prefix, *after;
		size_t limit;
		const char *want;
	} cases[] = {
		{"pods/", NULL, 0, "pods/a/1=v pods/b/1=v pods/b/2=v "},
		{"pods/", NULL, 2, "pods/a/1=v pods/b/1=v "},
		{"pods/", "pods/b/1", 0, "pods/b/2=v "},
		{"pods/", "pods/b/0", 0, "pods/b/1=v pods/b/2=v "},
		{"pods/", "a", 1, "pods/a/1=v "},
		{"pods/", "z", 0, ""},
		{"pods/b/", NULL, 0, "pods/b/1=v pods/b/2=v "},
		{"", NULL, 1, "nodes/x=v "},
		{"zz", NULL, 0, ""},
	};

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		put(f, keys[i], "v");
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		buf_clear(&f->log);
		store_list(f->s, cases[i].prefix, cases[i].after, cases[i].limit, log_key, f);
		assert_string_equal(f->log.data, cases[i].want);
	}
	assert_int_equal(store_count(f->s, "pods/"), 3);
	assert_int_equal(store_count(f->s, ""), 6);
	put(f, "pods/b/1", "stop");
	buf_clear(&f->log);
	store_list(f->s, "pods/", NULL, 0, log_key, f);
	assert_string_equal(f->log.data, "pods/a/1=v pods/b/1=stop ");
}

static bool in_order(const struct store_entry *e, void *arg)
{
	char *last = arg;

	assert_true(strcmp(last, e->key) < 0);
	assert_true(str_copy(last, 32, e->key));
	return true;
}

static void many_keys_in_any_order_come_and_go(void **state)
{
	struct fixture *f = *state;
	enum { N = 2000 };
	bool there[N] = {false};
	size_t count = 0;
	char key[32];

	for (int i = 0; i < 10000; i++) {
		size_t k = loop_random_below(f->l, N);
		bool del = loop_random_below(f->l, 3) == 0;

		snprintf(key, sizeof(key), "k%zu", k);
		put(f, key, del ? NULL : "v");
		count += (size_t)!del - (size_t)there[k];
		there[k] = !del;
	}
	for (size_t k = 0; k < N; k++) {
		snprintf(key, sizeof(key), "k%zu", k);
		assert_int_equal(get(f, key) != NULL, there[k]);
	}
	assert_int_equal(store_count(f->s, "k"), count);

	char last[32] = "";

	store_list(f->s, "", NULL, 0, in_order, last);
}

/* --- watches ---------------------------------------------------------------------------------- */

static void log_event(const struct store_event *ev, void *arg)
{
	struct fixture *f = arg;

	buf_printf(&f->log, "%s%s=%s(%s)@%llu ",
		   ev->type == STORE_DELETE ? "-"
		   : ev->created	    ? "+"
					    : "~",
		   ev->entry.key, ev->entry.value, ev->prev_value ? ev->prev_value : "",
		   (unsigned long long)ev->entry.rev);
	if (f->free_in_event) {
		store_watch_free(f->w);
		f->w = NULL;
	}
	if (f->reply_in_event) {
		f->reply_in_event = false;
		loop_defer(&f->reply);
	}
	if (f->commit_in_event) {
		f->commit_in_event = false;
		put(f, "p/mine", "1");
	}
}

static void watch(struct fixture *f, const char *prefix, uint64_t since)
{
	struct err e;

	f->w = store_watch(f->s, f->g, prefix, since, log_event, f, &e);
	if (!f->w)
		fail_msg("%s", e.text);
}

static void log_done(const struct err *e, void *arg)
{
	buf_puts(&((struct fixture *)arg)->log, e ? "failed " : "done ");
}

static void a_watch_tells_later_changes_under_its_prefix_in_a_turn_of_its_own(void **state)
{
	struct fixture *f = *state;
	struct store_change c = change("p/c", "3", -1);
	struct err e;

	put(f, "p/old", "0"); /* gets revision 2 */
	watch(f, "p/", store_rev(f->s));
	put(f, "p/a", "1");
	put(f, "q/b", "2");
	put(f, "p/a", "11");
	put(f, "p/a", NULL);
	assert_ok(store_commit(f->s, &c, 1, NULL, log_done, f, &e), &e);
	assert_string_equal(f->log.data, "");
	loop_run(f->l);
	assert_string_equal(f->log.data, "done +p/a=1()@3 ~p/a=11(1)@5 -p/a=11(11)@6 +p/c=3()@7 ");
	store_watch_free(f->w);
}

static void on_reply(void *arg)
{
	buf_puts(&((struct fixture *)arg)->log, "reply ");
}

static void log_reply(const struct err *e, void *arg)
{
	struct fixture *f = arg;

	log_done(e, f);
	loop_defer(&f->reply);
}

static void what_a_commit_requests_comes_before_its_events(void **state)
{
	struct fixture *f = *state;
	struct store_change c = change("a", "1", -1);
	struct err e;

	watch(f, "", store_rev(f->s));
	loop_defer_init(&f->reply, f->g, on_reply, f);
	assert_ok(store_commit(f->s, &c, 1, NULL, log_reply, f, &e), &e);
	loop_run(f->l);
	assert_string_equal(f->log.data, "done reply +a=1()@2 ");
	store_watch_free(f->w);
}

static void request_reply(void *arg)
{
	loop_defer(&((struct fixture *)arg)->reply);
}

static void log_two_turns(const struct err *e, void *arg)
{
	struct fixture *f = arg;

	log_done(e, f);
	loop_defer(&f->before_reply);
}

/* A reply may need two turns: one to be given to its connection, and one to be sent. */
static void what_that_requests_comes_before_the_events_too(void **state)
{
	struct fixture *f = *state;
	struct store_change c = change("a", "1", -1);
	struct err e;

	watch(f, "", store_rev(f->s));
	loop_defer_init(&f->reply, f->g, on_reply, f);
	loop_defer_init(&f->before_reply, f->g, request_reply, f);
	assert_ok(store_commit(f->s, &c, 1, NULL, log_two_turns, f, &e), &e);
	loop_run(f->l);
	assert_string_equal(f->log.data, "done reply +a=1()@2 ");
	store_watch_free(f->w);
}

static void a_long_burst_is_delivered_in_slices(void **state)
{
	struct fixture *f = *state;
	uint64_t events = 0, before_reply = 0;

	watch(f, "", store_rev(f->s));
	f->reply_in_event = true;
	loop_defer_init(&f->reply, f->g, on_reply, f);
	for (int i = 0; i < 200; i++)
		put(f, "a", "v");
	loop_run(f->l);
	for (const char *p = f->log.data; (p = strpbrk(p, "@r")); p++) {
		if (*p == '@')
			events++;
		else
			before_reply = events;
	}
	assert_int_equal(events, 200);
	assert_in_range(before_reply, 1, 100);
	store_watch_free(f->w);
}

static void a_watch_from_the_past_gets_what_it_missed(void **state)
{
	struct fixture *f = *state;
	uint64_t since = put(f, "p/a", "1");

	put(f, "p/b", "2");
	loop_run(f->l);
	watch(f, "p/", since);
	assert_string_equal(f->log.data, "");
	loop_run(f->l);
	assert_string_equal(f->log.data, "+p/b=2()@3 ");
	store_watch_free(f->w);
}

static void a_watch_from_the_future_waits_for_it(void **state)
{
	struct fixture *f = *state;

	watch(f, "", store_rev(f->s) + 1);
	put(f, "a", "1");
	put(f, "b", "2");
	loop_run(f->l);
	assert_string_equal(f->log.data, "+b=2()@3 ");
	store_watch_free(f->w);
}

static void a_watch_older_than_the_history_is_refused_with_410(void **state)
{
	struct fixture *f = *state;
	uint64_t begin = store_rev(f->s);
	struct err e;

	for (int i = 0; i < HISTORY + 3; i++) {
		put(f, "a", "v");
		loop_run(f->l);
	}
	assert_int_equal(store_oldest(f->s), begin + 3);
	assert_null(store_watch(f->s, f->g, "", begin + 2, log_event, f, &e));
	assert_int_equal(e.kind, ERR_NOT_FOUND);
	assert_int_equal(e.code, 410);
	watch(f, "", begin + 3);
	store_watch_free(f->w);
}

static void a_burst_longer_than_the_history_reaches_every_watch_whole(void **state)
{
	struct fixture *f = *state;
	uint64_t begin = store_rev(f->s), events = 0;

	watch(f, "p/", begin);
	for (int i = 0; i < 10 * HISTORY; i++)
		put(f, "p/a", "v");
	loop_run(f->l);
	for (const char *p = f->log.data; (p = strchr(p, '@')); p++)
		assert_int_equal(strtoull(p + 1, NULL, 10), begin + ++events);
	assert_int_equal(events, 10 * HISTORY);
	put(f, "p/a", "v");
	loop_run(f->l);
	assert_int_equal(store_rev(f->s) - store_oldest(f->s), HISTORY);
	store_watch_free(f->w);
}

static void a_watch_may_be_freed_in_its_own_event(void **state)
{
	struct fixture *f = *state;

	watch(f, "", store_rev(f->s));
	f->free_in_event = true;
	put(f, "a", "1");
	put(f, "b", "2");
	loop_run(f->l);
	assert_string_equal(f->log.data, "+a=1()@2 ");
}

static void a_commit_in_an_event_is_told_after_the_others(void **state)
{
	struct fixture *f = *state;

	watch(f, "p/", store_rev(f->s));
	f->commit_in_event = true;
	put(f, "p/a", "1");
	put(f, "p/b", "2");
	loop_run(f->l);
	assert_string_equal(f->log.data, "+p/a=1()@2 +p/b=2()@3 +p/mine=1()@4 ");
	store_watch_free(f->w);
}

static void a_crashed_watcher_is_told_nothing_and_holds_nothing_back(void **state)
{
	struct fixture *f = *state;
	struct loop_group *doomed = loop_group_new(f->l, "doomed");
	struct err e;
	struct store_watch *w = store_watch(f->s, doomed, "", store_rev(f->s), log_event, f, &e);

	assert_non_null(w);
	put(f, "a", "1");
	loop_group_drop(doomed);
	for (int i = 0; i < 2 * HISTORY; i++) {
		put(f, "a", "v");
		loop_run(f->l);
	}
	assert_string_equal(f->log.data, "");
	assert_int_equal(store_rev(f->s) - store_oldest(f->s), HISTORY);
	store_watch_free(w);
	loop_group_free(doomed);
}

static void an_empty_commit_is_done_after_all_before_it(void **state)
{
	struct fixture *f = *state;
	struct store_change c = change("a", "1", -1);
	uint64_t rev;
	struct err e;

	watch(f, "", store_rev(f->s));
	assert_ok(store_commit(f->s, &c, 1, NULL, log_done, f, &e), &e);
	assert_ok(store_commit(f->s, NULL, 0, &rev, log_done, f, &e), &e);
	assert_int_equal(rev, 2);
	assert_string_equal(f->log.data, "");
	loop_run(f->l);
	assert_string_equal(f->log.data, "done done +a=1()@2 ");
	assert_ok(store_commit(f->s, NULL, 0, NULL, log_done, f, &e), &e);
	loop_run(f->l);
	assert_string_equal(f->log.data, "done done +a=1()@2 done ");
	assert_int_equal(store_rev(f->s), 2);
	store_watch_free(f->w);
}

static void freeing_the_store_fails_the_commits_under_way(void **state)
{
	struct fixture *f = *state;
	struct store_change c = change("a", "1", -1);
	struct err e;

	assert_ok(store_commit(f->s, &c, 1, NULL, log_done, f, &e), &e);
	store_free(f->s);
	f->s = NULL;
	assert_string_equal(f->log.data, "failed ");
}

#define ON(where, name)                                                                            \
	((struct CMUnitTest){#name " on " #where, name, setup_##where, teardown, NULL})
#define CASE(name) ON(memory, name), ON(disk, name)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(each_change_has_its_own_revision),
		CASE(a_condition_that_fails_leaves_everything_as_it_was),
		CASE(a_list_is_in_order_and_goes_on_after_a_key),
		CASE(many_keys_in_any_order_come_and_go),
		CASE(a_watch_tells_later_changes_under_its_prefix_in_a_turn_of_its_own),
		CASE(what_a_commit_requests_comes_before_its_events),
		CASE(what_that_requests_comes_before_the_events_too),
		CASE(a_long_burst_is_delivered_in_slices),
		CASE(a_watch_from_the_past_gets_what_it_missed),
		CASE(a_watch_from_the_future_waits_for_it),
		CASE(a_watch_older_than_the_history_is_refused_with_410),
		CASE(a_burst_longer_than_the_history_reaches_every_watch_whole),
		CASE(a_watch_may_be_freed_in_its_own_event),
		CASE(a_commit_in_an_event_is_told_after_the_others),
		CASE(a_crashed_watcher_is_told_nothing_and_holds_nothing_back),
		CASE(an_empty_commit_is_done_after_all_before_it),
		CASE(freeing_the_store_fails_the_commits_under_way),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
