#include "tests/unit/kube/apiserver/api_rig.h"

#include <stdio.h>
#include <stdlib.h>
#include "base/mem.h"
#include "base/store/store_internal.h"

/*
 * Everything a client sees is on disk. The store in this test has a writer that can be stopped, or
 * whose disk fails.
 */
#define CM "/api/v1/namespaces/default/configmaps"

/* --- a store whose writer can be stopped ------------------------------------------------------ */

struct stopped_store {
	struct store base;
	struct loop_defer defer;
	bool stopped;
};

static struct stopped_store *stopped_of(struct store *s)
{
	return container_of(s, struct stopped_store, base);
}

static void on_write(void *arg)
{
	struct stopped_store *m = arg;

	store_durable(&m->base, m->base.rev, NULL);
}

static void stopped_persist(struct store *s)
{
	if (!stopped_of(s)->stopped)
		loop_defer(&stopped_of(s)->defer);
}

static void stopped_free(struct store *s)
{
	loop_defer_cancel(&stopped_of(s)->defer);
	store_base_done(s);
	free(stopped_of(s));
}

static const struct store_ops stopped_ops = {.free = stopped_free, .persist = stopped_persist};

static struct store *stopped_store_new(struct loop_group *g, size_t history)
{
	struct stopped_store *m = mem_new(struct stopped_store);

	store_base_init(&m->base, &stopped_ops, g, history);
	loop_defer_init(&m->defer, g, on_write, m);
	return &m->base;
}

static void stop_writer(struct api *r)
{
	stopped_of(r->s)->stopped = true;
}

static void start_writer(struct api *r)
{
	stopped_of(r->s)->stopped = false;
	stopped_persist(r->s);
	api_run(r, 1000);
}

static void fail_writer(struct api *r)
{
	struct err e;

	err_note(&e, ERR_CAPACITY, 0, "the disk is full");
	store_durable(r->s, 0, &e);
	api_run(r, 1000);
}

static int setup(void **state)
{
	struct api *r = mem_new(struct api);

	api_start_on(r, NULL, 1000, stopped_store_new);
	*state = r;
	return 0;
}

/* --- requests in flight ----------------------------------------------------------------------- */

struct question {
	bool answered, broken;
	int status;
	char text[4096];
};

static void on_answer(const struct http_reply *reply, const struct err *e, void *arg)
{
	struct question *q = arg;

	q->answered = true;
	q->broken = e != NULL;
	q->status = e ? 0 : reply->status;
	snprintf(q->text, sizeof(q->text), "%s", e ? e->text : reply->body);
}

static void ask(struct api *r, struct question *q, const char *method, const char *path,
		const char *body)
{
	*q = (struct question){0};
	http_start(r->p, &(struct http_call){
				 .method = method,
				 .path = path,
				 .body = body,
				 .body_len = body ? strlen(body) : 0,
				 .content_type = body ? strcmp(method, "PATCH") == 0
								 ? "application/merge-patch+json"
								 : "application/json"
						      : NULL,
				 .done = on_answer,
				 .arg = q,
			 });
	api_run(r, 1000);
}

/* --- cases ------------------------------------------------------------------------------------ */

static void a_read_waits_for_the_write_that_it_would_show(void **state)
{
	static const struct {
		const char *method, *path, *body, *says;
		int status;
	} cases[] = {
		{"GET", CM "/new", NULL, "\"name\":\"new\"", 200},
		{"GET", CM "/gone", NULL, "\"gone\\\" not found", 404},
		{"GET", CM, NULL, "\"name\":\"new\"", 200},
		{"GET", CM "?limit=1", NULL, "\"name\":\"new\"", 200},
		{"GET", CM "?labelSelector=x", NULL, "\"items\":[]", 200},
		{"GET", "/apis/example.dev", NULL, "could not find", 404},
		/* Requests refused because of the pending write, and requests that would change
		 * nothing. */
		{"POST", CM, "{\"metadata\":{\"name\":\"new\"}}", "already exists", 409},
		{"PATCH", CM "/new", "{}", "\"name\":\"new\"", 200},
		{"POST", CM "?dryRun=All", "{\"metadata\":{\"name\":\"try\"}}", "\"try\"", 201},
	};
	struct api *r = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct question create, delete, read;

		api_do(r, "POST", CM, "{'metadata':{'name':'gone'}}");
		assert_status(r, 201);
		stop_writer(r);
		ask(r, &create, "POST", CM, "{\"metadata\":{\"name\":\"new\"}}");
		ask(r, &delete, "DELETE", CM "/gone", NULL);
		ask(r, &read, cases[i].method, cases[i].path, cases[i].body);
		assert_false(create.answered || delete.answered);
		if (read.answered)
			fail_msg("%s %s: answered too early: %s", cases[i].method, cases[i].path,
				 read.text);
		start_writer(r);
		assert_true(create.answered && delete.answered && read.answered);
		assert_int_equal(create.status, 201);
		if (read.status != cases[i].status || !strstr(read.text, cases[i].says))
			fail_msg("%s %s: %d %s", cases[i].method, cases[i].path, read.status,
				 read.text);
		api_do(r, "DELETE", CM "/new", NULL);
	}
}

static void a_read_of_what_is_durable_waits_for_nothing(void **state)
{
	struct api *r = *state;
	struct question create, read;

	api_do(r, "POST", CM, "{'metadata':{'name':'old'}}");
	stop_writer(r);
	ask(r, &create, "POST", CM, "{\"metadata\":{\"name\":\"new\"}}");
	ask(r, &read, "GET", CM "/old", NULL);
	assert_true(read.answered);
	assert_int_equal(read.status, 200);
	assert_false(create.answered);
	start_writer(r);
	assert_true(create.answered);
}

static void a_watch_shows_what_it_begins_with_when_that_is_durable(void **state)
{
	static const char *const queries[] = {
		"?watch=true",
		"?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan",
	};
	struct api *r = *state;

	for (size_t i = 0; i < sizeof(queries) / sizeof(*queries); i++) {
		char path[256];
		struct api_watch w;
		struct question create;

		snprintf(path, sizeof(path), CM "%s", queries[i]);
		stop_writer(r);
		ask(r, &create, "POST", CM, "{\"metadata\":{\"name\":\"new\"}}");
		api_watch_start(r, &w, path);
		assert_string_equal(w.said.data, "");
		start_writer(r);
		assert_non_null(strstr(w.said.data, "ADDED new"));
		assert_int_equal(w.lines, 1);
		api_watch_stop(&w);
		api_do(r, "DELETE", CM "/new", NULL);
	}
}

static void a_watch_tells_an_event_when_it_is_durable(void **state)
{
	struct api *r = *state;
	struct api_watch w;
	struct question create;
	char path[128];

	snprintf(path, sizeof(path), CM "?watch=true&resourceVersion=%llu",
		 (unsigned long long)store_rev(r->s));
	api_watch_start(r, &w, path);
	stop_writer(r);
	ask(r, &create, "POST", CM, "{\"metadata\":{\"name\":\"new\"}}");
	assert_string_equal(w.said.data, "");
	start_writer(r);
	assert_non_null(strstr(w.said.data, "ADDED new"));
	api_watch_stop(&w);
}

/* After the failure, revisions are used again: a client that saw one of them would miss the change
 * that reuses it. */
static void what_the_disk_does_not_take_was_never_shown(void **state)
{
	struct api *r = *state;
	struct question create, one, all, watch;
	uint64_t before = store_rev(r->s);

	stop_writer(r);
	ask(r, &create, "POST", CM, "{\"metadata\":{\"name\":\"new\"}}");
	ask(r, &one, "GET", CM "/new", NULL);
	ask(r, &all, "GET", CM, NULL);
	ask(r, &watch, "GET", CM "?watch=true", NULL);
	assert_false(one.answered || all.answered || watch.answered);
	fail_writer(r);
	assert_true(create.answered && create.status >= 500);
	assert_true(one.answered && one.status >= 500);
	assert_true(all.answered && all.broken);
	assert_true(watch.answered && watch.broken);
	assert_int_equal(store_rev(r->s), before);
	/* Reads of what is on disk still work. */
	api_do(r, "GET", CM "/new", NULL);
	assert_status(r, 404);
	api_do(r, "GET", CM, NULL);
	assert_status(r, 200);
	assert_int_equal(api_int(r, "items"), 0);
}

static void who_goes_away_while_it_waits_leaves_nothing_behind(void **state)
{
	struct api *r = *state;
	struct question create;
	struct api_watch list, watch;

	stop_writer(r);
	ask(r, &create, "POST", CM, "{\"metadata\":{\"name\":\"new\"}}");
	api_watch_start(r, &list, CM);
	api_watch_start(r, &watch, CM "?watch=true");
	api_watch_stop(&list);
	api_watch_stop(&watch);
	api_run(r, 1000);
	start_writer(r);
	assert_true(create.answered);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, api_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_read_waits_for_the_write_that_it_would_show),
		CASE(a_read_of_what_is_durable_waits_for_nothing),
		CASE(a_watch_shows_what_it_begins_with_when_that_is_durable),
		CASE(a_watch_tells_an_event_when_it_is_durable),
		CASE(what_the_disk_does_not_take_was_never_shown),
		CASE(who_goes_away_while_it_waits_leaves_nothing_behind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
