#include "tests/unit/kube/apiserver/api_rig.h"

#include <stdio.h>
#include <stdlib.h>
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "kube/cache.h"
#include "kube/event.h"
#include "kube/lease.h"

/* Tests the client in kube/ against the server in kube/apiserver: two implementations of one
 * protocol. */
struct rig {
	struct api api;
	struct loop_group *g;
	struct http *h;
	struct kube_client *c;
	struct kube_cache *cache;
	/* Maps the name of each object to its value; updated only by on_change(). */
	struct map *told;

	unsigned open, lists, watches, started, stopped;
	struct err e;
	json_t *last;
	int64_t transitions;
};

static void start(struct rig *r, size_t history)
{
	struct kube_config config = {.server = (char *)(uintptr_t) "https://api:6443"};
	struct err e;

	*r = (struct rig){0};
	api_start(&r->api, NULL, history);
	r->g = loop_group_new(r->api.l, "client");
	r->h = http_new(r->g, http_mem_transport(r->api.net, r->g, "10.0.0.9", NULL, NULL), 0);
	r->c = kube_client_new(
		r->g, r->h,
		&(struct kube_client_spec){
			.config = &config, .qps = 1000, .burst = 1000, .max_in_flight = 100},
		&e);
	if (!r->c)
		fail_msg("%s", e.text);
	r->told = map_new(free);
}

static void stop(struct rig *r)
{
	kube_cache_free(r->cache);
	kube_client_free(r->c);
	http_free(r->h);
	loop_group_free(r->g);
	map_free(r->told);
	json_decref(r->last);
	api_stop(&r->api);
}

static void on_done(json_t *object, const struct err *e, void *arg)
{
	struct rig *r = arg;

	assert_true(r->open > 0);
	r->open--;
	json_decref(r->last);
	r->last = json_incref(object);
	err_clear(&r->e);
	if (e)
		r->e = *e;
}

static bool none_open(void *arg)
{
	return !((struct rig *)arg)->open;
}

static void wait_for(struct rig *r)
{
	r->open++;
	assert_true(loop_sim_run_cond(r->api.l, none_open, r, loop_now(r->api.l) + 60000));
}

static json_t *node(const char *name, int value)
{
	return json_pack("{s:s, s:s, s:{s:s, s:{s:s}}, s:{s:i}}", "apiVersion", "v1", "kind",
			 "Node", "metadata", "name", name, "labels", "half",
			 value % 2 ? "odd" : "even", "spec", "value", value);
}

/* --- single calls ----------------------------------------------------------------------------- */

static void calls_do_what_they_say(void **state)
{
	struct rig r;
	OWN_JSON a = node("a", 1);
	OWN_JSON patch = NULL;
	OWN_JSON status = json_pack("{s:{s:s}}", "status", "phase", "fine");
	char uid[64], rv[32];

	(void)state;
	start(&r, 1000);
	kube_create(r.c, &KUBE_NODES, NULL, a, on_done, &r);
	wait_for(&r);
	assert_int_equal(r.e.kind, ERR_NONE);
	str_copy(uid, sizeof(uid), json_str_at(r.last, "metadata", "uid"));
	str_copy(rv, sizeof(rv), json_str_at(r.last, "metadata", "resourceVersion"));
	kube_create(r.c, &KUBE_NODES, NULL, a, on_done, &r);
	wait_for(&r);
	assert_int_equal(r.e.kind, ERR_CONFLICT);
	assert_true(str_starts(r.e.text, "AlreadyExists: "));

	patch = json_pack("{s:{s:s}, s:{s:i}}", "metadata", "resourceVersion", rv, "spec", "more",
			  2);
	kube_patch(r.c, &KUBE_NODES, NULL, "a", NULL, KUBE_PATCH_MERGE, patch, on_done, &r);
	wait_for(&r);
	assert_int_equal(r.e.kind, ERR_NONE);
	assert_int_equal(json_int_at(r.last, "spec", "value"), 1);
	assert_int_equal(json_int_at(r.last, "spec", "more"), 2);
	kube_patch(r.c, &KUBE_NODES, NULL, "a", NULL, KUBE_PATCH_MERGE, patch, on_done, &r);
	wait_for(&r);
	assert_int_equal(r.e.kind, ERR_CONFLICT);
	assert_true(str_starts(r.e.text, "Conflict: "));
	kube_patch(r.c, &KUBE_NODES, NULL, "a", "status", KUBE_PATCH_MERGE, status, on_done, &r);
	wait_for(&r);
	assert_string_equal(json_str_at(r.last, "status", "phase"), "fine");

	kube_delete(r.c, &KUBE_NODES, NULL, "a",
		    &(struct kube_delete_opts){.uid = "another", .grace_s = -1}, on_done, &r);
	wait_for(&r);
	assert_int_equal(r.e.kind, ERR_CONFLICT);
	kube_delete(r.c, &KUBE_NODES, NULL, "a",
		    &(struct kube_delete_opts){.uid = uid, .grace_s = 0}, on_done, &r);
	wait_for(&r);
	assert_int_equal(r.e.kind, ERR_NONE);
	kube_get(r.c, &KUBE_NODES, NULL, "a", on_done, &r);
	wait_for(&r);
	assert_int_equal(r.e.kind, ERR_NOT_FOUND);
	assert_true(str_starts(r.e.text, "NotFound: "));
	kube_get_path(r.c, "/version", on_done, &r);
	wait_for(&r);
	assert_non_null(json_str_at(r.last, "gitVersion"));
	stop(&r);
}

static void a_pod_is_evicted(void **state)
{
	struct rig r;
	OWN_JSON pod =
		json_pack("{s:s, s:s, s:{s:s, s:s}, s:{s:[]}}", "apiVersion", "v1", "kind", "Pod",
			  "metadata", "name", "p", "namespace", "default", "spec", "containers");
	char uid[64];

	(void)state;
	start(&r, 1000);
	kube_create(r.c, &KUBE_PODS, "default", pod, on_done, &r);
	wait_for(&r);
	assert_int_equal(r.e.kind, ERR_NONE);
	str_copy(uid, sizeof(uid), json_str_at(r.last, "metadata", "uid"));
	kube_evict(r.c, "default", "p", "another", -1, on_done, &r);
	wait_for(&r);
	assert_int_equal(r.e.kind, ERR_CONFLICT);
	kube_evict(r.c, "default", "p", uid, 0, on_done, &r);
	wait_for(&r);
	assert_int_equal(r.e.kind, ERR_NONE);
	kube_get(r.c, &KUBE_PODS, "default", "p", on_done, &r);
	wait_for(&r);
	assert_int_equal(r.e.kind, ERR_NOT_FOUND);
	stop(&r);
}

/* --- lease and events ------------------------------------------------------------------------- */

static void on_started(int64_t transitions, void *arg)
{
	struct rig *r = arg;

	r->started++;
	r->transitions = transitions;
}

static void on_stopped(void *arg)
{
	((struct rig *)arg)->stopped++;
}

static void on_released(void *arg)
{
	((struct rig *)arg)->open--;
}

static void a_lease_is_held_given_back_and_taken(void **state)
{
	struct rig r;
	struct kube_lease_spec spec = {.ns = "kube-system",
				       .name = "drover",
				       .on_started = on_started,
				       .on_stopped = on_stopped,
				       .arg = &r};
	struct kube_lease *a, *b;

	(void)state;
	start(&r, 1000);
	spec.client = r.c;
	spec.identity = "a";
	a = kube_lease_new(r.g, &spec);
	api_run(&r.api, 1000);
	spec.identity = "b";
	b = kube_lease_new(r.g, &spec);
	api_run(&r.api, 60000);
	assert_true(kube_lease_held(a));
	assert_false(kube_lease_held(b));
	assert_int_equal(r.started, 1);
	assert_int_equal(r.stopped, 0);
	kube_lease_release(a, on_released, &r);
	wait_for(&r);
	api_run(&r.api, 3000);
	assert_true(kube_lease_held(b));
	assert_int_equal(r.transitions, 2);
	kube_lease_free(a);
	kube_lease_free(b);
	stop(&r);
}

static void events_arrive_and_count(void **state)
{
	struct rig r;
	struct kube_events *ev;
	const struct kube_ref ref = {"v1", "Node", NULL, "n", "u"};

	(void)state;
	start(&r, 1000);
	ev = kube_events_new(r.g, r.c, "drover.dev/controller", "drover-0");
	for (int i = 0; i < 3; i++)
		kube_event(ev, &ref, "Warning", "Waiting", "Place", "no machine");
	api_run(&r.api, 40000);
	assert_int_equal(
		api_do(&r.api, "GET", "/apis/events.k8s.io/v1/namespaces/default/events", NULL),
		200);
	assert_int_equal(json_array_size(json_at(r.api.j, "items")), 1);
	assert_string_equal(api_str(&r.api, "items.0.note"), "no machine");
	assert_int_equal(api_int(&r.api, "items.0.series.count"), 3);
	assert_int_equal(api_int(&r.api, "items.0.deprecatedCount"), 3);
	kube_events_free(ev);
	stop(&r);
}

/* --- cache ------------------------------------------------------------------------------------ */

struct value {
	int64_t n;
};

static void *project(const json_t *object, struct arena *a, void *arg, struct err *e)
{
	struct value *v = arena_new_obj(a, struct value);

	(void)arg;
	(void)e;
	v->n = json_int_at(object, "spec", "value");
	return v;
}

static void on_change(const struct kube_entry *old, const struct kube_entry *new_, void *arg)
{
	struct rig *r = arg;
	const char *name = (old ? old : new_)->name;

	/* Changes are complete: an object is added before it changes or is deleted. */
	assert_true(map_has(r->told, name) == !!old);
	if (new_)
		map_put(r->told, name,
			mem_printf("%lld", (long long)((const struct value *)new_->object)->n));
	else
		map_del(r->told, name);
}

static void follow(struct rig *r, const char *labels)
{
	r->cache = kube_cache_new(r->g, &(struct kube_cache_spec){.client = r->c,
								  .resource = &KUBE_NODES,
								  .label_selector = labels,
								  .project = project,
								  .on_change = on_change,
								  .arg = r});
}

/* Checks that the cache, the reported changes and the server's list are equal. */
static void assert_same(struct rig *r, const char *query)
{
	char path[128];
	const json_t *o;
	size_t i, n = 0;

	str_format(path, sizeof(path), "/api/v1/nodes%s", query);
	assert_int_equal(api_do(&r->api, "GET", path, NULL), 200);
	json_array_foreach (json_object_get(r->api.j, "items"), i, o) {
		const char *name = json_str_at(o, "metadata", "name");
		const struct kube_entry *e = kube_cache_get(r->cache, "", name);
		char value[32];

		n++;
		str_format(value, sizeof(value), "%lld",
			   (long long)json_int_at(o, "spec", "value"));
		if (!e)
			fail_msg("%s is missing", name);
		assert_string_equal(e->rv, json_str_at(o, "metadata", "resourceVersion"));
		assert_string_equal(e->uid, json_str_at(o, "metadata", "uid"));
		assert_int_equal(((const struct value *)e->object)->n,
				 json_int_at(o, "spec", "value"));
		assert_string_equal(str_or(map_get(r->told, name), "nothing"), value);
	}
	assert_int_equal(kube_cache_size(r->cache), n);
	assert_int_equal(map_size(r->told), n);
}

static void many_objects_come_in_pages_and_the_watch_goes_on(void **state)
{
	struct rig r;
	char name[32];

	(void)state;
	start(&r, 5000);
	for (int i = 0; i < 1203; i++) {
		OWN_JSON o = NULL;

		snprintf(name, sizeof(name), "n-%d", i);
		o = node(name, i);
		kube_create(r.c, &KUBE_NODES, NULL, o, on_done, &r);
		r.open++;
		if (i % 50 == 0)
			api_run(&r.api, 500);
	}
	follow(&r, NULL);
	api_run(&r.api, 120000);
	assert_int_equal(r.open, 0);
	assert_int_equal(kube_cache_size(r.cache), 1203);
	assert_true(kube_cache_healthy(r.cache));
	assert_same(&r, "?limit=0");
	kube_delete(r.c, &KUBE_NODES, NULL, "n-7", NULL, on_done, &r);
	wait_for(&r);
	api_run(&r.api, 1000);
	assert_same(&r, "");
	stop(&r);
}

/* Makes a random write, either of another writer, or of this client, which passes the answer to
 * kube_cache_learn(). */
static void learn_done(json_t *object, const struct err *e, void *arg)
{
	struct rig *r = arg;

	(void)e;
	if (object && str_eq(json_str_at(object, "kind"), "Node"))
		kube_cache_learn(r->cache, object);
	r->open--;
}

static void act(struct rig *r, uint64_t *seed)
{
	uint64_t x = *seed = *seed * 6364136223846793005u + 1442695040888963407u;
	int value = (int)(x >> 40) % 1000;
	char name[16];
	OWN_JSON o = NULL;

	snprintf(name, sizeof(name), "n-%d", (int)(x >> 20) % 12);
	o = node(name, value);
	r->open++;
	switch (x >> 33 & 7) {
	case 0:
	case 1:
	case 2:
		kube_create(r->c, &KUBE_NODES, NULL, o, learn_done, r);
		break;
	case 3:
		kube_delete(r->c, &KUBE_NODES, NULL, name, NULL, learn_done, r);
		break;
	default:
		kube_patch(r->c, &KUBE_NODES, NULL, name, NULL, KUBE_PATCH_MERGE, o, learn_done, r);
	}
}

static enum http_mem_fault_kind count_lists(const char *origin, const char *method,
					    const char *target, void *arg)
{
	struct rig *r = arg;

	(void)origin;
	if (str_eq(method, "GET") && str_starts(target, "/api/v1/nodes?")) {
		if (strstr(target, "watch=true"))
			r->watches++;
		else
			r->lists++;
	}
	return HTTP_MEM_WELL;
}

/* Makes writes, pauses and disconnects in random order, with a short history so that many watches
 * expire. Returns the number of lists. */
static unsigned turmoil(uint64_t seed, const char *labels, const char *query)
{
	struct rig r;
	unsigned lists;

	start(&r, 10);
	http_mem_fault(r.api.net, count_lists, &r);
	follow(&r, labels);
	for (int i = 0; i < 150; i++) {
		act(&r, &seed);
		if (seed >> 50 & 1)
			api_run(&r.api, (int64_t)(seed >> 45 & 63));
		if (!(seed >> 55 & 15)) {
			http_mem_serve(r.api.net, "https://api:6443", NULL);
			api_run(&r.api, (int64_t)(seed >> 35 & 2047));
			http_mem_serve(r.api.net, "https://api:6443", r.api.d);
		}
		if (!(seed >> 58 & 7))
			api_run(&r.api, 4000);
	}
	api_run(&r.api, 120000);
	assert_int_equal(r.open, 0);
	assert_true(kube_cache_healthy(r.cache));
	assert_same(&r, query);
	assert_true(r.watches > 1);
	lists = r.lists;
	stop(&r);
	return lists;
}

static void after_any_turmoil_the_cache_is_what_the_server_has(void **state)
{
	unsigned lists = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 25; seed++)
		lists += turmoil(seed, NULL, "");
	/* Many lists were needed, because many watches had expired. */
	assert_true(lists >= 50);
}

static void a_selected_part_is_followed_too(void **state)
{
	(void)state;
	for (uint64_t seed = 100; seed <= 300; seed++)
		(void)turmoil(seed, "half=odd", "?labelSelector=half%3Dodd");
}

/* --- one fault at each step ------------------------------------------------------------------- */

struct fault {
	unsigned at, seen;
	enum http_mem_fault_kind fate;
};

static enum http_mem_fault_kind fail_one(const char *origin, const char *method, const char *target,
					 void *arg)
{
	struct fault *f = arg;

	(void)origin;
	(void)method;
	(void)target;
	return ++f->seen == f->at ? f->fate : HTTP_MEM_WELL;
}

/* Fills a cache, disconnects it and fills it again, with one faulty request; false: that request
 * was never sent. */
static bool survives(struct fault f)
{
	struct rig r;
	char name[16];

	start(&r, 5);
	for (int i = 0; i < 8; i++) {
		OWN_JSON o = NULL;

		snprintf(name, sizeof(name), "n-%d", i);
		o = node(name, i);
		kube_create(r.c, &KUBE_NODES, NULL, o, on_done, &r);
		wait_for(&r);
	}
	http_mem_fault(r.api.net, fail_one, &f);
	follow(&r, NULL);
	api_run(&r.api, 40000);
	for (int i = 0; i < 8; i += 2) {
		snprintf(name, sizeof(name), "n-%d", i);
		r.open++;
		kube_delete(r.c, &KUBE_NODES, NULL, name, NULL, learn_done, &r);
		api_run(&r.api, 20000);
	}
	/* Events during the disconnect are no longer in the history when the client is back. */
	http_mem_hang(r.api.net, "https://api:6443", true);
	api_run(&r.api, 700000);
	http_mem_hang(r.api.net, "https://api:6443", false);
	for (int i = 0; i < 8; i++) {
		OWN_JSON o = node("n-1", 50 + i);

		r.open++;
		kube_patch(r.c, &KUBE_NODES, NULL, "n-1", NULL, KUBE_PATCH_MERGE, o, learn_done,
			   &r);
		api_run(&r.api, 1000);
	}
	api_run(&r.api, 120000);
	assert_int_equal(r.open, 0);
	assert_true(kube_cache_healthy(r.cache));
	http_mem_fault(r.api.net, NULL, NULL);
	assert_same(&r, "");
	stop(&r);
	return f.seen >= f.at;
}

static void any_single_fault_is_overcome(void **state)
{
	static const enum http_mem_fault_kind fates[] = {HTTP_MEM_REFUSED, HTTP_MEM_REPLY_LOST,
							 HTTP_MEM_SILENT};
	unsigned steps = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(fates) / sizeof(fates[0]); i++)
		for (unsigned at = 1; survives((struct fault){.at = at, .fate = fates[i]}); at++)
			steps++;
	assert_true(steps >= 3 * 14);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_do_what_they_say),
		cmocka_unit_test(a_pod_is_evicted),
		cmocka_unit_test(a_lease_is_held_given_back_and_taken),
		cmocka_unit_test(events_arrive_and_count),
		cmocka_unit_test(many_objects_come_in_pages_and_the_watch_goes_on),
		cmocka_unit_test(after_any_turmoil_the_cache_is_what_the_server_has),
		cmocka_unit_test(a_selected_part_is_followed_too),
		cmocka_unit_test(any_single_fault_is_overcome),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
