#include "tests/unit/testing.h"

#include <stdio.h>
#include <stdlib.h>
#include "base/buf.h"
#include "base/mem.h"
#include "base/str.h"
#include "kube/cache.h"
#include "tests/unit/kube/fake_api.h"

/*
 * A cache of Nodes and the server it follows.  `list` is what the server
 * lists ("name=value@rv ..."); the test drives the watch.  Every change is
 * written to `changes`: "+a=1" added, "a=1>2" changed, "-a=2" gone.
 */
struct rig {
	struct fake_api f;
	struct kube_cache *cache;
	const char *list, *list_rv;
	int watch_status; /* answer watches with this status; 0: open them */
	bool watch_hangs, list_fails;
	char watch_query[256];
	int64_t watch_at[64], list_at[64];
	size_t lists;

	char changes[4096];
	unsigned syncs, bads, ill, well, asked;
	struct err bad, last_ill;
	bool accept;
	size_t before, gone;
	json_t *learn_in_change;
};

struct node {
	const char *value;
};

static void *project(const json_t *object, struct arena *a, void *arg, struct err *e)
{
	const char *value = json_str_at(object, "spec", "value");
	struct node *n;

	(void)arg;
	if (str_eq(value, "bad")) {
		(void)!err_set(e, ERR_INVALID, 0, "spec.value: is bad");
		return NULL;
	}
	if (str_eq(value, "skip"))
		return NULL;
	n = arena_new_obj(a, struct node);
	n->value = arena_strdup(a, str_or(value, ""));
	return n;
}

static const char *value_of(const struct kube_entry *e)
{
	return ((const struct node *)e->object)->value;
}

static void on_change(const struct kube_entry *old, const struct kube_entry *new_, void *arg)
{
	struct rig *r = arg;
	size_t at = strlen(r->changes), room = sizeof(r->changes) - at;
	json_t *learn = r->learn_in_change;

	if (old && new_)
		snprintf(r->changes + at, room, "%s=%s>%s ", new_->name, value_of(old),
			 value_of(new_));
	else
		snprintf(r->changes + at, room, "%c%s=%s ", new_ ? '+' : '-',
			 (new_ ? new_ : old)->name, value_of(new_ ? new_ : old));
	/* The store is what the change says, already. */
	if (new_)
		assert_ptr_equal(kube_cache_get(r->cache, new_->ns, new_->name), new_);
	if (learn) {
		r->learn_in_change = NULL;
		kube_cache_learn(r->cache, learn);
		json_decref(learn);
	}
}

static void on_sync(void *arg)
{
	((struct rig *)arg)->syncs++;
}

static void on_bad(const json_t *object, const struct err *e, void *arg)
{
	struct rig *r = arg;

	assert_non_null(object);
	r->bads++;
	r->bad = *e;
}

static void on_health(const struct err *e, void *arg)
{
	struct rig *r = arg;

	if (e) {
		r->ill++;
		r->last_ill = *e;
	} else {
		r->well++;
	}
}

static bool accept_loss(size_t before, size_t gone, void *arg)
{
	struct rig *r = arg;

	r->asked++;
	r->before = before;
	r->gone = gone;
	return r->accept;
}

/* "name=value@rv" or "name=value@rv/uid"; type NULL: the object alone. */
static void put_object(struct buf *b, const char *type, const char *spec)
{
	char name[64] = "", value[4096] = "", rv[64] = "", uid[64] = "";

	assert_true(sscanf(spec, "%63[^=]=%4095[^@]@%63[^/]/%63s", name, value, rv, uid) >= 3);
	if (type)
		buf_printf(b, "{\"type\":\"%s\",\"object\":", type);
	buf_printf(
		b,
		"{\"kind\":\"Node\",\"metadata\":{\"name\":\"%s\",\"uid\":\"%s\",\"resourceVersion\":\"%s\"},"
		"\"spec\":{\"value\":\"%s\"}}%s",
		name, *uid ? uid : name, rv, value, type ? "}\n" : "");
}

static void serve_list(struct rig *r, struct httpd_req *q)
{
	char *copy = mem_strdup(r->list), *save = NULL;
	struct buf b;
	int n = 0;

	buf_init(&b, (size_t)8 << 20);
	buf_printf(&b,
		   "{\"kind\":\"NodeList\",\"metadata\":{\"resourceVersion\":\"%s\"},\"items\":[",
		   r->list_rv);
	for (char *s = strtok_r(copy, " ", &save); s; s = strtok_r(NULL, " ", &save)) {
		buf_puts(&b, n++ ? "," : "");
		put_object(&b, NULL, s);
	}
	buf_puts(&b, "]}");
	httpd_reply_json(q, 200, b.data);
	buf_done(&b);
	free(copy);
}

static bool serve(struct fake_api *f, struct httpd_req *q)
{
	struct rig *r = f->arg;

	if (!httpd_query(q, "watch")) {
		r->list_at[r->lists++ % 64] = loop_now(f->loop);
		assert_null(httpd_query(q, "resourceVersion")); /* a quorum read */
		if (r->list_fails)
			fake_api_status(q, 500, "InternalError", "etcd");
		else
			serve_list(r, q);
		return true;
	}
	snprintf(r->watch_query, sizeof(r->watch_query), "%s %s %s",
		 httpd_query(q, "resourceVersion"),
		 str_or(httpd_query(q, "allowWatchBookmarks"), ""),
		 str_or(httpd_query(q, "timeoutSeconds"), ""));
	r->watch_at[f->watches % 64] = loop_now(f->loop);
	if (r->watch_status) {
		f->watches++;
		fake_api_status(q, r->watch_status, r->watch_status == 410 ? "Expired" : "Sorry",
				"no");
	} else if (r->watch_hangs) {
		f->watches++;
	} else {
		fake_api_watch(f, q);
	}
	return true;
}

static void start(struct rig *r, const char *list)
{
	fake_api_start(&r->f, NULL);
	r->f.serve = serve;
	r->f.arg = r;
	r->list = list;
	r->list_rv = "100";
	r->cache = kube_cache_new(r->f.client_g, &(struct kube_cache_spec){
							 .client = r->f.c,
							 .resource = &KUBE_NODES,
							 .project = project,
							 .on_change = on_change,
							 .on_sync = on_sync,
							 .on_bad = on_bad,
							 .on_health = on_health,
							 .accept_loss = accept_loss,
							 .max_item = 8192,
							 .arg = r,
						 });
	assert_int_equal(kube_cache_age(r->cache), -1);
	fake_api_run(&r->f, 1000);
}

static void stop(struct rig *r)
{
	kube_cache_free(r->cache);
	fake_api_stop(&r->f);
}

static void send_event(struct rig *r, const char *type, const char *spec)
{
	struct buf b;

	buf_init(&b, 65536);
	put_object(&b, type, spec);
	fake_watch_send(r->f.watch, b.data);
	buf_done(&b);
	fake_api_run(&r->f, 1000);
}

static void send_text(struct rig *r, const char *text)
{
	fake_watch_send(r->f.watch, text);
	fake_api_run(&r->f, 1000);
}

static void assert_changes(struct rig *r, const char *want)
{
	assert_string_equal(r->changes, want);
	r->changes[0] = '\0';
}

static json_t *object(const char *spec)
{
	struct buf b;
	struct err e;
	json_t *j;

	buf_init(&b, 65536);
	put_object(&b, NULL, spec);
	j = json_parse(b.data, b.len, &e);
	assert_non_null(j);
	buf_done(&b);
	return j;
}

static void learn(struct rig *r, const char *spec)
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
	struct rig r = {0};
	int n = 0, seconds;

	(void)state;
	start(&r, "a=1@90 b=1@91 c=skip@92");
	assert_int_equal(r.syncs, 1);
	assert_true(kube_cache_synced(r.cache));
	assert_true(kube_cache_healthy(r.cache));
	assert_int_equal(r.well, 1);
	assert_int_equal(kube_cache_size(r.cache), 2);
	assert_changes(&r, "+a=1 +b=1 ");
	assert_true(str_starts(r.watch_query, "100 true "));
	seconds = atoi(r.watch_query + strlen("100 true "));
	assert_true(seconds >= 300 && seconds <= 600);

	send_event(&r, "ADDED", "d=1@101");
	send_event(&r, "MODIFIED", "a=2@102");
	send_event(&r, "DELETED", "b=1@103");
	assert_changes(&r, "+d=1 a=1>2 -b=1 ");
	assert_string_equal(VALUE(&r, "a"), "2");
	assert_null(VALUE(&r, "b"));
	assert_string_equal(kube_cache_get(r.cache, "", "a")->rv, "102");
	/* What is wanted no more leaves, and comes back. */
	send_event(&r, "MODIFIED", "d=skip@104");
	send_event(&r, "MODIFIED", "d=3@105");
	send_event(&r, "DELETED", "zz=1@106");
	assert_changes(&r, "-d=1 +d=3 ");
	assert_int_equal(r.ill, 0);
	kube_cache_each(r.cache, count_one, &n);
	assert_int_equal(n, 2);
	fake_api_run(&r.f, 5000);
	assert_true(kube_cache_age(r.cache) >= 5000);
	stop(&r);
}

static void an_event_again_or_older_changes_nothing(void **state)
{
	struct rig r = {0};

	(void)state;
	start(&r, "a=1@90");
	send_event(&r, "MODIFIED", "a=2@110");
	assert_changes(&r, "+a=1 a=1>2 ");
	send_event(&r, "MODIFIED", "a=2@110");
	send_event(&r, "ADDED", "a=1@90");
	send_event(&r, "MODIFIED", "a=1@99");
	send_event(&r, "DELETED", "a=1@109");
	assert_changes(&r, "");
	assert_string_equal(VALUE(&r, "a"), "2");
	send_event(&r, "DELETED", "a=2@111");
	assert_changes(&r, "-a=2 ");
	stop(&r);
}

static void another_uid_is_another_object(void **state)
{
	struct rig r = {0};

	(void)state;
	start(&r, "a=1@90/one");
	send_event(&r, "MODIFIED", "a=2@110/two");
	assert_changes(&r, "+a=1 -a=1 +a=2 ");
	stop(&r);
}

static void a_bookmark_moves_the_place_to_go_on_from(void **state)
{
	struct rig r = {0};

	(void)state;
	start(&r, "a=1@90");
	send_text(
		&r,
		"{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":\"170\"}}}\n");
	/* An older one does not move it back. */
	send_text(
		&r,
		"{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":\"99\"}}}\n");
	fake_watch_end(r.f.watch);
	fake_api_run(&r.f, 1000);
	assert_int_equal(r.f.watches, 2);
	assert_int_equal(r.lists, 1);
	assert_true(str_starts(r.watch_query, "170 "));
	assert_int_equal(r.ill, 0);
	stop(&r);
}

static void a_watch_cut_in_a_line_goes_on_from_the_last_whole_event(void **state)
{
	struct rig r = {0};

	(void)state;
	for (int proper = 0; proper <= 1; proper++) {
		r = (struct rig){0};
		start(&r, "a=1@90");
		send_event(&r, "MODIFIED", "a=2@105");
		fake_watch_send(
			r.f.watch,
			"{\"type\":\"MODIFIED\",\"object\":{\"metadata\":{\"name\":\"a\",\"resourceVer");
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
		send_event(&r, "MODIFIED", "a=3@106");
		assert_changes(&r, "+a=1 a=1>2 a=2>3 ");
		stop(&r);
	}
}

#define EXPIRED                                                                                    \
	"{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"code\":410,\"reason\":\"Expired\"}}\n"

static void an_expired_version_in_a_stream_leads_to_a_new_list(void **state)
{
	struct rig r = {0};

	(void)state;
	start(&r, "a=1@90 b=1@91 c=1@92");
	assert_changes(&r, "+a=1 +b=1 +c=1 ");
	r.accept = true;
	r.list = "a=1@90 b=2@120 d=1@121";
	r.list_rv = "130";
	send_text(&r, EXPIRED);
	fake_api_run(&r.f, 3000);
	assert_int_equal(r.lists, 2);
	assert_changes(&r, "-c=1 b=1>2 +d=1 ");
	assert_int_equal(r.asked, 1);
	assert_int_equal(r.before, 3);
	assert_int_equal(r.gone, 1);
	assert_int_equal(r.syncs, 1);
	assert_true(str_starts(r.watch_query, "130 "));
	assert_int_equal(r.ill, 0); /* expiry is no illness */
	assert_true(kube_cache_healthy(r.cache));
	stop(&r);
}

static void an_expired_version_as_status_leads_to_a_new_list_ever_more_slowly(void **state)
{
	struct rig r = {.watch_status = 410};

	(void)state;
	start(&r, "a=1@90");
	fake_api_run(&r.f, 600000);
	/* 0.5 s doubling to 30 s, halved at most by the jitter. */
	assert_true(r.lists >= 20 && r.lists <= 50);
	assert_true(r.list_at[r.lists - 1] - r.list_at[r.lists - 2] >= 15000);
	assert_changes(&r, "+a=1 ");
	r.watch_status = 0;
	fake_api_run(&r.f, 31000);
	assert_true(kube_cache_healthy(r.cache));
	stop(&r);
}

static void any_other_error_event_is_tried_again_and_then_listed(void **state)
{
	struct rig r = {0};

	(void)state;
	start(&r, "a=1@90");
	for (int i = 0; i < 3; i++) {
		assert_int_equal(r.lists, 1);
		send_text(
			&r,
			"{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"code\":500,\"reason\":\"InternalError\","
			"\"message\":\"etcd\"}}\n");
		fake_api_run(&r.f, 4000);
		assert_int_equal(r.last_ill.code, 500);
	}
	assert_int_equal(r.ill, 3);
	assert_string_equal(r.last_ill.text, "watch: InternalError: etcd");
	assert_int_equal(r.lists, 2);
	assert_true(kube_cache_healthy(r.cache));
	stop(&r);
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
		struct rig r = {0};

		start(&r, "a=1@90");
		send_text(&r, cases[i]);
		fake_api_run(&r.f, 2000);
		assert_int_equal(r.lists, 2);
		assert_int_equal(r.ill, 1);
		assert_int_equal(r.last_ill.kind, ERR_PROTOCOL);
		assert_true(kube_cache_healthy(r.cache));
		stop(&r);
	}
}

static void an_event_that_is_too_large_does_not_end_the_cache(void **state)
{
	struct rig r = {0};
	char *big = mem_alloc(20001);

	(void)state;
	memset(big, 'x', 20000);
	start(&r, "a=1@90 b=1@91");
	fake_watch_send(r.f.watch, "{\"type\":\"MODIFIED\",\"object\":{\"x\":\"");
	fake_watch_send(r.f.watch, big);
	r.list = "a=1@90 b=2@101";
	r.list_rv = "120";
	send_text(&r, "\"}}\n");
	free(big);
	assert_int_equal(r.ill, 1);
	assert_int_equal(r.last_ill.kind, ERR_PROTOCOL);
	fake_api_run(&r.f, 60000);
	assert_int_equal(kube_cache_size(r.cache), 2);
	assert_string_equal(VALUE(&r, "b"), "2");
	assert_true(kube_cache_healthy(r.cache));
	stop(&r);
}

static void an_object_that_cannot_be_read_keeps_its_last_good_form(void **state)
{
	struct rig r = {.accept = true};

	(void)state;
	start(&r, "a=1@90 b=bad@91");
	assert_int_equal(r.bads, 1);
	assert_string_equal(r.bad.text, "spec.value: is bad");
	send_event(&r, "MODIFIED", "a=bad@101");
	assert_int_equal(r.bads, 2);
	assert_string_equal(VALUE(&r, "a"), "1");
	/* A list that has it, unreadable, does not take it away. */
	r.list = "a=bad@101";
	r.list_rv = "110";
	send_text(&r, EXPIRED);
	fake_api_run(&r.f, 2000);
	assert_string_equal(VALUE(&r, "a"), "1");
	assert_int_equal(r.asked, 0);
	send_event(&r, "ADDED", "x=1@111");
	send_text(&r,
		  "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"resourceVersion\":\"112\"}}}\n");
	assert_int_equal(r.bads, 4);
	send_event(&r, "ADDED", "a/b=1@113");
	assert_int_equal(r.bads, 5);
	assert_changes(&r, "+a=1 +x=1 ");
	stop(&r);
}

static void a_list_that_lost_much_is_not_believed_unless_accepted(void **state)
{
	struct rig r = {0};

	(void)state;
	start(&r, "a=1@90 b=1@91 c=1@92");
	assert_changes(&r, "+a=1 +b=1 +c=1 ");
	r.list = "a=2@120";
	r.list_rv = "130";
	send_text(&r, EXPIRED);
	fake_api_run(&r.f, 60000);
	assert_true(r.asked >= 2);
	assert_int_equal(r.gone, 2);
	assert_changes(&r, "");
	assert_int_equal(kube_cache_size(r.cache), 3);
	assert_string_equal(VALUE(&r, "a"), "1");
	assert_false(kube_cache_healthy(r.cache));
	assert_non_null(strstr(r.last_ill.text, "lacks 2 of 3"));
	r.accept = true;
	fake_api_run(&r.f, 31000);
	assert_changes(&r, "-b=1 -c=1 a=1>2 ");
	assert_true(kube_cache_healthy(r.cache));
	stop(&r);
}

static void an_unreachable_server_takes_nothing_away(void **state)
{
	struct rig r = {0};

	(void)state;
	start(&r, "a=1@90");
	http_mem_serve(r.f.net, FAKE_API_ORIGIN, NULL);
	fake_api_run(&r.f, 300000);
	assert_int_equal(kube_cache_size(r.cache), 1);
	assert_false(kube_cache_healthy(r.cache));
	assert_int_equal(r.last_ill.kind, ERR_UNAVAILABLE);
	assert_true(kube_cache_age(r.cache) >= 299000);
	http_mem_serve(r.f.net, FAKE_API_ORIGIN, r.f.d);
	fake_api_run(&r.f, 32000);
	assert_true(kube_cache_healthy(r.cache));
	assert_changes(&r, "+a=1 ");
	stop(&r);
}

static void a_first_list_that_fails_is_asked_for_again(void **state)
{
	struct rig r = {.list_fails = true};

	(void)state;
	start(&r, "a=1@90");
	fake_api_run(&r.f, 20000);
	assert_false(kube_cache_synced(r.cache));
	assert_true(r.ill >= 3);
	r.list_fails = false;
	fake_api_run(&r.f, 31000);
	assert_true(kube_cache_synced(r.cache));
	assert_int_equal(kube_cache_size(r.cache), 1);
	stop(&r);
}

static void a_watch_that_falls_silent_is_opened_again(void **state)
{
	struct rig r = {0};

	(void)state;
	start(&r, "a=1@90");
	/* Our request says 600 s at most; 30 s after that nobody is there. */
	fake_api_run(&r.f, 629000 + 3000);
	assert_true(r.f.watches >= 2);
	assert_int_equal(r.lists, 1);
	assert_true(r.ill >= 1);
	assert_int_equal(r.last_ill.kind, ERR_TIMEOUT);
	assert_true(kube_cache_healthy(r.cache));
	send_event(&r, "MODIFIED", "a=2@101");
	assert_changes(&r, "+a=1 a=1>2 ");
	stop(&r);
}

#define BOOKMARK "{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":\"170\"}}}\n"

/* As a balancer that forgot the connection leaves it: nothing comes, and nothing ends it. */
static void a_watch_that_brings_no_bookmark_any_more_is_opened_again_soon(void **state)
{
	struct rig r = {0};

	(void)state;
	start(&r, "a=1@90");
	fake_api_run(&r.f, 160 * 1000); /* never one yet: this server may send none */
	assert_int_equal(r.f.watches, 1);
	send_text(&r, BOOKMARK);
	fake_api_run(&r.f, 5 * 1000);
	send_text(&r, BOOKMARK);
	fake_api_run(&r.f, 149 * 1000 - 1000);
	assert_int_equal(r.f.watches, 1);
	fake_api_run(&r.f, 3000);
	assert_int_equal(r.f.watches, 2);
	assert_true(str_starts(r.watch_query, "170 "));
	assert_int_equal(r.lists, 1);
	assert_int_equal(r.ill, 0);
	stop(&r);
}

static void a_watch_that_never_begins_is_opened_again(void **state)
{
	struct rig r = {.watch_hangs = true};

	(void)state;
	start(&r, "a=1@90");
	assert_true(kube_cache_synced(r.cache));
	assert_false(kube_cache_healthy(r.cache));
	fake_api_run(&r.f, 29000);
	assert_int_equal(r.f.watches, 1);
	fake_api_run(&r.f, 5000);
	assert_int_equal(r.f.watches, 2);
	r.watch_hangs = false;
	fake_api_run(&r.f, 60000);
	assert_true(kube_cache_healthy(r.cache));
	stop(&r);
}

static void a_server_that_closes_at_once_is_asked_ever_more_slowly(void **state)
{
	struct rig r = {.watch_status = 503};

	(void)state;
	start(&r, "a=1@90");
	fake_api_run(&r.f, 300000);
	assert_true(r.f.watches >= 10 && r.f.watches <= 35);
	stop(&r);
}

static void our_own_writes_are_seen_at_once_and_never_undone(void **state)
{
	struct rig r = {.accept = true};

	(void)state;
	start(&r, "a=1@90");
	learn(&r, "a=2@105");
	learn(&r, "b=1@106");
	assert_changes(&r, "+a=1 a=1>2 +b=1 ");
	/* Events of before the write, and the write itself, come later. */
	send_event(&r, "MODIFIED", "a=1@104");
	send_event(&r, "MODIFIED", "a=2@105");
	send_event(&r, "ADDED", "b=1@106");
	assert_changes(&r, "");
	/* The watch has passed 107: a reply that old says nothing, least of all about a deleted object. */
	send_event(&r, "DELETED", "b=1@107");
	learn(&r, "b=1@106");
	learn(&r, "a=0@103");
	assert_changes(&r, "-b=1 ");
	/* A list that is older than the write does not undo it. */
	learn(&r, "c=1@140");
	learn(&r, "a=3@141");
	r.list = "a=2@105";
	r.list_rv = "130";
	send_text(&r, EXPIRED);
	fake_api_run(&r.f, 2000);
	assert_int_equal(r.lists, 2);
	assert_changes(&r, "+c=1 a=2>3 ");
	/* The next one is not, and c is not in it. */
	r.list = "a=3@141";
	r.list_rv = "150";
	send_text(&r, EXPIRED);
	fake_api_run(&r.f, 4000);
	assert_int_equal(r.lists, 3);
	assert_changes(&r, "-c=1 ");
	/* Versions without an order are left to the watch. */
	learn(&r, "z=1@abc");
	assert_changes(&r, "");
	stop(&r);
}

static void a_write_learned_inside_a_change_is_told_after_it(void **state)
{
	struct rig r = {0};

	(void)state;
	start(&r, "a=1@90");
	r.learn_in_change = object("b=9@200");
	send_event(&r, "MODIFIED", "a=2@101");
	assert_changes(&r, "+a=1 a=1>2 +b=9 ");
	stop(&r);
}

static void a_list_from_the_past_is_taken_only_when_it_stays_so(void **state)
{
	struct rig r = {.accept = true};

	(void)state;
	start(&r, "a=1@90 b=1@91");
	send_event(&r, "MODIFIED", "a=2@200");
	assert_changes(&r, "+a=1 +b=1 a=1>2 ");
	r.list = "a=1@90";
	r.list_rv = "150";
	send_text(&r, EXPIRED);
	fake_api_run(&r.f, 60000);
	assert_changes(&r, "");
	assert_false(kube_cache_healthy(r.cache));
	assert_string_equal(r.last_ill.text,
			    "a list of nodes at version 150, but 200 was seen before");
	/* Ten times the same: the cluster was restored from a backup. */
	fake_api_run(&r.f, 300000);
	assert_changes(&r, "-b=1 a=2>1 ");
	assert_true(kube_cache_healthy(r.cache));
	send_event(&r, "MODIFIED", "a=5@151");
	assert_changes(&r, "a=1>5 ");
	stop(&r);
}

static void versions_that_are_no_numbers_have_no_order(void **state)
{
	struct rig r = {0};

	(void)state;
	start(&r, "a=1@x9");
	send_event(&r, "MODIFIED", "a=2@b");
	send_event(&r, "MODIFIED", "a=2@b");
	send_event(&r, "MODIFIED", "a=3@a");
	send_event(&r, "DELETED", "a=3@c");
	assert_changes(&r, "+a=1 a=1>2 a=2>3 -a=3 ");
	stop(&r);
}

static void a_cache_may_be_freed_at_any_time(void **state)
{
	(void)state;
	for (int64_t ms = 0; ms < 60; ms++) {
		struct rig r = {0};

		fake_api_start(&r.f, NULL);
		r.f.serve = serve;
		r.f.arg = &r;
		r.list = "a=1@90 b=2@91";
		r.list_rv = "100";
		r.cache = kube_cache_new(r.f.client_g,
					 &(struct kube_cache_spec){.client = r.f.c,
								   .resource = &KUBE_NODES,
								   .project = project,
								   .arg = &r});
		fake_api_run(&r.f, ms);
		kube_cache_free(r.cache);
		fake_api_run(&r.f, 1000);
		fake_api_stop(&r.f);
	}
}

static void a_crash_silences_it_and_leaves_nothing(void **state)
{
	(void)state;
	for (int64_t ms = 0; ms < 60; ms += 3) {
		struct rig r = {0};

		fake_api_start(&r.f, NULL);
		r.f.serve = serve;
		r.f.arg = &r;
		r.list = "a=1@90 b=2@91";
		r.list_rv = "100";
		r.cache = kube_cache_new(r.f.client_g,
					 &(struct kube_cache_spec){.client = r.f.c,
								   .resource = &KUBE_NODES,
								   .project = project,
								   .on_change = on_change,
								   .arg = &r});
		fake_api_run(&r.f, ms);
		loop_group_drop(r.f.client_g);
		r.changes[0] = '\0';
		if (r.f.watch)
			send_event(&r, "MODIFIED", "a=2@105");
		fake_api_run(&r.f, 60000);
		assert_changes(&r, "");
		stop(&r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_list_then_a_watch_fill_the_cache),
		cmocka_unit_test(an_event_again_or_older_changes_nothing),
		cmocka_unit_test(another_uid_is_another_object),
		cmocka_unit_test(a_bookmark_moves_the_place_to_go_on_from),
		cmocka_unit_test(a_watch_cut_in_a_line_goes_on_from_the_last_whole_event),
		cmocka_unit_test(an_expired_version_in_a_stream_leads_to_a_new_list),
		cmocka_unit_test(an_expired_version_as_status_leads_to_a_new_list_ever_more_slowly),
		cmocka_unit_test(any_other_error_event_is_tried_again_and_then_listed),
		cmocka_unit_test(nonsense_in_a_stream_leads_to_a_new_list),
		cmocka_unit_test(an_event_that_is_too_large_does_not_end_the_cache),
		cmocka_unit_test(an_object_that_cannot_be_read_keeps_its_last_good_form),
		cmocka_unit_test(a_list_that_lost_much_is_not_believed_unless_accepted),
		cmocka_unit_test(an_unreachable_server_takes_nothing_away),
		cmocka_unit_test(a_first_list_that_fails_is_asked_for_again),
		cmocka_unit_test(a_watch_that_falls_silent_is_opened_again),
		cmocka_unit_test(a_watch_that_brings_no_bookmark_any_more_is_opened_again_soon),
		cmocka_unit_test(a_watch_that_never_begins_is_opened_again),
		cmocka_unit_test(a_server_that_closes_at_once_is_asked_ever_more_slowly),
		cmocka_unit_test(our_own_writes_are_seen_at_once_and_never_undone),
		cmocka_unit_test(a_write_learned_inside_a_change_is_told_after_it),
		cmocka_unit_test(a_list_from_the_past_is_taken_only_when_it_stays_so),
		cmocka_unit_test(versions_that_are_no_numbers_have_no_order),
		cmocka_unit_test(a_cache_may_be_freed_at_any_time),
		cmocka_unit_test(a_crash_silences_it_and_leaves_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
