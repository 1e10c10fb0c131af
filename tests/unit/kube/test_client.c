#include "tests/unit/testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/str.h"
#include "kube/want.h"
#include "tests/unit/kube/fake_api.h"

struct got {
	struct fake_api *f;
	unsigned done;
	json_t *object;
	struct err e;
	int64_t at;
	bool free_client;
};

static void on_done(json_t *object, const struct err *e, void *arg)
{
	struct got *g = arg;

	g->done++;
	json_decref(g->object);
	g->object = json_incref(object);
	g->at = loop_now(g->f->loop);
	err_clear(&g->e);
	if (e)
		g->e = *e;
	assert_true(!object == !!e);
	if (g->free_client) {
		kube_client_free(g->f->c);
		g->f->c = NULL;
	}
}

static bool is_done(void *arg)
{
	return ((struct got *)arg)->done > 0;
}

static void wait_for(struct got *g)
{
	assert_true(fake_api_until(g->f, is_done, g, 600000));
}

static void got_free(struct got *g)
{
	json_decref(g->object);
}

static void an_object_is_read(void **state)
{
	struct fake_api f;
	struct got g = {.f = &f};

	(void)state;
	fake_api_start(&f, NULL);
	fake_api_put(&f, "/api/v1/namespaces/a/pods/p",
		     "{\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\"}}");
	assert_int_equal(kube_client_last_contact(f.c), 0);
	kube_get(f.c, &KUBE_PODS, "a", "p", on_done, &g);
	assert_int_equal(g.done, 0);
	wait_for(&g);
	assert_string_equal(json_str_at(g.object, "metadata", "name"), "p");
	assert_string_equal(f.log, "GET /api/v1/namespaces/a/pods/p\n");
	assert_string_equal(f.bearer, "first");
	assert_true(str_starts(f.agent, "drover/") && str_ends(f.agent, " (host)"));
	assert_true(kube_client_last_contact(f.c) > 0);
	got_free(&g);
	fake_api_stop(&f);
}

static void each_kind_of_resource_has_its_path(void **state)
{
	struct fake_api f;
	struct got g = {.f = &f};

	(void)state;
	fake_api_start(&f, NULL);
	kube_get(f.c, &KUBE_NODES, NULL, "n:1 x", on_done, &g);
	wait_for(&g);
	kube_get(f.c, &KUBE_LEASES, "kube-system", "l", on_done, &g);
	fake_api_run(&f, 1000);
	kube_get_path(f.c, "/version", on_done, &g);
	fake_api_run(&f, 1000);
	assert_string_equal(f.log,
			    "GET /api/v1/nodes/n:1 x\n"
			    "GET /apis/coordination.k8s.io/v1/namespaces/kube-system/leases/l\n"
			    "GET /version\n");
	got_free(&g);
	fake_api_stop(&f);
}

static void what_cannot_be_a_path_is_never_sent(void **state)
{
	static const struct {
		const struct kube_resource *r;
		const char *ns, *name;
	} cases[] = {
		{&KUBE_PODS, "a", "../secrets/x"},
		{&KUBE_PODS, "a/b", "x"},
		{&KUBE_PODS, "..", "x"},
		{&KUBE_PODS, "a", "."},
		{&KUBE_PODS, "a", ""},
		{&KUBE_PODS, "a", NULL},
		{&KUBE_PODS, NULL, "x"},
		{&KUBE_PODS, "", "x"},
		{&KUBE_NODES, "a", "x"},
		{&KUBE_PODS, "a", "%2e"},
	};
	struct fake_api f;

	(void)state;
	fake_api_start(&f, NULL);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct got g = {.f = &f};

		kube_get(f.c, cases[i].r, cases[i].ns, cases[i].name, on_done, &g);
		assert_int_equal(g.done, 0);
		wait_for(&g);
		assert_int_equal(g.e.kind, ERR_INVALID);
	}
	assert_int_equal(f.requests, 0);
	fake_api_stop(&f);
}

static bool serve_status(struct fake_api *f, struct httpd_req *q)
{
	const int *code = f->arg;

	fake_api_status(q, *code, "Because", "pods \"x\" is so");
	return true;
}

static void statuses_become_kinds_of_error(void **state)
{
	static const struct {
		int code;
		enum err_kind kind;
	} cases[] = {
		{400, ERR_INVALID},	{401, ERR_DENIED},	{403, ERR_DENIED},
		{404, ERR_NOT_FOUND},	{409, ERR_CONFLICT},	{410, ERR_NOT_FOUND},
		{422, ERR_INVALID},	{429, ERR_UNAVAILABLE}, {500, ERR_UNAVAILABLE},
		{503, ERR_UNAVAILABLE}, {504, ERR_UNAVAILABLE},
	};
	struct fake_api f;

	(void)state;
	fake_api_start(&f, NULL);
	f.serve = serve_status;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct got g = {.f = &f};
		int code = cases[i].code;

		f.arg = &code;
		kube_get(f.c, &KUBE_PODS, "a", "x", on_done, &g);
		wait_for(&g);
		assert_int_equal(g.e.kind, cases[i].kind);
		assert_int_equal(g.e.code, code);
		assert_string_equal(g.e.text, "Because: pods \"x\" is so");
	}
	assert_int_equal(f.requests, sizeof(cases) / sizeof(cases[0]));
	fake_api_stop(&f);
}

static bool serve_text(struct fake_api *f, struct httpd_req *q)
{
	httpd_reply(q, 200, "application/json", f->arg, strlen(f->arg));
	return true;
}

static void nonsense_is_a_protocol_error(void **state)
{
	static const char *const cases[] = {"", "<html>", "[1]", "{\"a\":1,\"a\":2}", "{\"kind\":"};
	struct fake_api f;

	(void)state;
	fake_api_start(&f, NULL);
	f.serve = serve_text;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct got g = {.f = &f};

		f.arg = (void *)(uintptr_t)cases[i];
		kube_get(f.c, &KUBE_PODS, "a", "x", on_done, &g);
		wait_for(&g);
		assert_int_equal(g.e.kind, ERR_PROTOCOL);
	}
	fake_api_stop(&f);
}

/* Refuses the first *arg requests with Retry-After 2. */
static bool serve_busy(struct fake_api *f, struct httpd_req *q)
{
	unsigned *left = f->arg;

	if (!*left)
		return false;
	--*left;
	httpd_reply_header(q, "Retry-After", "2");
	fake_api_status(q, *left % 2 ? 503 : 429, "TooManyRequests", "busy");
	return true;
}

static bool serve_much(struct fake_api *f, struct httpd_req *q)
{
	struct buf b;

	(void)f;
	buf_init(&b, (size_t)8 << 20);
	buf_puts(&b, "{\"metadata\":{\"managedFields\":[");
	for (unsigned i = 0; i < 200000; i++)
		buf_puts(&b, i ? ",[]" : "[]");
	buf_puts(&b, "]},\"a\":[");
	for (unsigned i = 0; i < (f->arg ? 200000u : 1u); i++)
		buf_puts(&b, i ? ",[]" : "[]");
	buf_puts(&b, "]}");
	httpd_reply_json(q, 200, b.data);
	buf_done(&b);
	return true;
}

static int64_t written_at(struct fake_api *f, const char *writers)
{
	static const struct scan_want meta[] = {KUBE_WANT_META, KUBE_WANT_WRITTEN, SCAN_END},
				      lease[] = {SCAN_SOME("metadata", meta), SCAN_END};
	struct got g = {.f = f};
	OWN(arena) a = arena_new();
	int64_t at;

	fake_api_put(f, "/api/v1/nodes/n",
		     arena_printf(a,
				  "{\"metadata\":{\"name\":\"n\",\"labels\":{\"a\":\"b\"},"
				  "\"managedFields\":%s},\"spec\":{\"a\":1}}",
				  writers));
	kube_call_want(kube_get(f->c, &KUBE_NODES, NULL, "n", on_done, &g), lease);
	wait_for(&g);
	assert_string_equal(json_str_at(g.object, "metadata", "name"), "n");
	assert_null(json_object_get(g.object, "spec"));
	at = kube_written_at(g.object);
	got_free(&g);
	return at;
}

/* kube_written_at() returns the time of the newest writer in managedFields, or 0 (unknown) if there
 * are more writers than are read. */
static void when_an_object_was_written_is_read(void **state)
{
	struct fake_api f;
	struct buf b;

	(void)state;
	fake_api_start(&f, NULL);
	assert_int_equal(written_at(&f,
				    "[{\"manager\":\"kubelet\",\"time\":\"1970-01-01T00:01:00Z\"},"
				    "{\"time\":\"1970-01-01T00:02:00Z\"},{\"time\":\"?\"},{}]"),
			 120000);
	assert_int_equal(written_at(&f, "[]"), 0);
	assert_int_equal(written_at(&f, "{\"time\":\"1970-01-01T00:01:00Z\"}"), 0);
	buf_init(&b, 1 << 20);
	buf_puts(&b, "[{\"time\":\"1970-01-01T00:01:00Z\"}");
	for (int i = 0; i < 1000; i++)
		buf_puts(&b, ",{\"time\":\"1970-01-01T00:00:00Z\"}");
	buf_puts(&b, "]");
	assert_int_equal(written_at(&f, b.data), 0);
	buf_done(&b);
	fake_api_stop(&f);
}

static void assert_writer(struct fake_api *f, const char *writers, const char *who, int64_t at)
{
	struct got g = {.f = f};
	OWN(arena) a = arena_new();
	const char *manager;

	fake_api_put(f, "/api/v1/nodes/n",
		     arena_printf(a,
				  "{\"metadata\":{\"name\":\"n\",\"labels\":{\"a\":\"b\"},"
				  "\"managedFields\":%s},\"spec\":{\"a\":1}}",
				  writers));
	kube_call_want(kube_get(f->c, &KUBE_NODES, NULL, "n", on_done, &g), kube_want_with_writers);
	wait_for(&g);
	assert_string_equal(json_str_at(g.object, "metadata", "labels", "a"), "b");
	assert_int_equal(json_int_at(g.object, "spec", "a"), 1);
	assert_int_equal(kube_last_writer(g.object, &manager), at);
	assert_string_equal(str_or(manager, "nobody"), who);
	got_free(&g);
}

/* The newest writer of anything but a subresource, unless two of them wrote in the same second. */
static void the_last_writer_of_an_object_is_named(void **state)
{
#define WRITER(who, time, sub)                                                                     \
	"{\"manager\":\"" who "\",\"fieldsV1\":{\"f:spec\":{}},\"time\":\"1970-01-01T00:0" time    \
	":00Z\"" sub "}"
	OWN_JSON patch = json_pack("{s:{s:i}}", "spec", "a", 2);
	struct got g = {0};
	struct fake_api f;
	const char *manager;

	(void)state;
	fake_api_start(&f, NULL);
	g.f = &f;
	assert_writer(&f, "[]", "nobody", 0);
	assert_writer(&f,
		      "[" WRITER("argocd", "1", "") "," WRITER("kubectl-edit", "2", "") "," WRITER(
			      "drover", "3", ",\"subresource\":\"status\"") ",{}]",
		      "kubectl-edit", 120000);
	assert_writer(&f, "[" WRITER("a", "2", "") "," WRITER("b", "2", "") "]", "nobody", 120000);
	assert_writer(&f, "[" WRITER("a", "2", "") "," WRITER("a", "2", "") "]", "a", 120000);
	/* the reply to a patch has them too */
	kube_call_want(
		kube_patch(f.c, &KUBE_NODES, NULL, "n", NULL, KUBE_PATCH_MERGE, patch, on_done, &g),
		kube_want_with_writers);
	wait_for(&g);
	assert_int_equal(kube_last_writer(g.object, &manager), 120000);
	assert_string_equal(manager, "a");
	got_free(&g);
	fake_api_stop(&f);
#undef WRITER
}

/* The limit counts values, not only bytes: each value costs a hundred bytes. */
static void a_reply_with_too_much_in_it_is_refused(void **state)
{
	struct fake_api f;
	struct got g = {.f = &f}, h = {.f = &f};

	(void)state;
	fake_api_start(&f, NULL);
	f.serve = serve_much;
	kube_get(f.c, &KUBE_NODES, NULL, "n", on_done, &g);
	wait_for(&g);
	assert_int_equal(g.e.kind, ERR_NONE);
	f.arg = &f;
	kube_get(f.c, &KUBE_NODES, NULL, "n", on_done, &h);
	wait_for(&h);
	assert_int_equal(h.e.kind, ERR_PROTOCOL);
	assert_non_null(strstr(h.e.text, "the reply has more data than drover reads"));
	got_free(&g);
	got_free(&h);
	fake_api_stop(&f);
}

static void a_busy_server_is_waited_for_inside_the_deadline(void **state)
{
	struct fake_api f;
	struct got g = {.f = &f};
	unsigned busy = 3;

	(void)state;
	fake_api_start(&f, NULL);
	fake_api_put(&f, "/api/v1/nodes/n", "{\"metadata\":{\"name\":\"n\"}}");
	f.serve = serve_busy;
	f.arg = &busy;
	kube_get(f.c, &KUBE_NODES, NULL, "n", on_done, &g);
	wait_for(&g);
	assert_int_equal(g.e.kind, ERR_NONE);
	assert_int_equal(f.requests, 4);
	assert_true(g.at >= 6000 && g.at < 9000);

	busy = 1000;
	g.done = 0;
	kube_get(f.c, &KUBE_NODES, NULL, "n", on_done, &g);
	wait_for(&g);
	assert_int_equal(g.e.kind, ERR_UNAVAILABLE);
	assert_int_equal(g.e.retry_after_ms, 2000);
	got_free(&g);
	fake_api_stop(&f);
}

static bool serve_budget(struct fake_api *f, struct httpd_req *q)
{
	(void)f;
	httpd_reply_json(
		q, 429,
		"{\"kind\":\"Status\",\"reason\":\"TooManyRequests\","
		"\"message\":\"Cannot evict pod as it "
		"would violate the pod's disruption budget.\",\"details\":{\"causes\":[{\"reason\":"
		"\"DisruptionBudget\","
		"\"message\":\"The disruption budget web needs 1 healthy pods and has "
		"1 currently\"}]}}");
	return true;
}

static void a_refused_eviction_names_the_budget(void **state)
{
	struct fake_api f;
	struct got g = {.f = &f};

	(void)state;
	fake_api_start(&f, NULL);
	f.serve = serve_budget;
	kube_evict(f.c, "a", "p", "uid-1", 30, on_done, &g);
	wait_for(&g);
	assert_string_equal(g.e.text,
			    "TooManyRequests: Cannot evict pod as it would violate the pod's "
			    "disruption budget. The disruption budget web needs 1 healthy pods "
			    "and has 1 currently");
	got_free(&g);
	fake_api_stop(&f);
}

static void a_refused_eviction_is_told_at_once(void **state)
{
	struct fake_api f;
	struct got g = {.f = &f};
	unsigned busy = 1;

	(void)state;
	fake_api_start(&f, NULL);
	f.serve = serve_busy;
	f.arg = &busy;
	kube_evict(f.c, "a", "p", "uid-1", 30, on_done, &g);
	wait_for(&g);
	assert_int_equal(g.e.code, 429);
	assert_int_equal(f.requests, 1);
	assert_string_equal(f.log, "POST /api/v1/namespaces/a/pods/p/eviction\n");
	assert_string_equal(json_str_at(f.body, "apiVersion"), "policy/v1");
	assert_string_equal(json_str_at(f.body, "metadata", "name"), "p");
	assert_string_equal(json_str_at(f.body, "deleteOptions", "preconditions", "uid"), "uid-1");
	assert_int_equal(json_int_at(f.body, "deleteOptions", "gracePeriodSeconds"), 30);
	fake_api_stop(&f);
}

static void patches_say_their_type_and_conflicts_are_told(void **state)
{
	struct fake_api f;
	struct got g = {.f = &f};
	OWN_JSON patch = json_pack("{s:{s:s}, s:{s:i}}", "metadata", "resourceVersion", "101",
				   "spec", "a", 2);
	OWN_JSON list = json_pack("[{s:s, s:s}]", "op", "remove", "path", "/spec");

	(void)state;
	fake_api_start(&f, NULL);
	fake_api_put(&f, "/api/v1/nodes/n",
		     "{\"metadata\":{\"name\":\"n\"},\"spec\":{\"a\":1,\"ours\":null},"
		     "\"unheard\":{\"of\":[1]}}");
	kube_patch(f.c, &KUBE_NODES, NULL, "n", NULL, KUBE_PATCH_MERGE, patch, on_done, &g);
	wait_for(&g);
	assert_int_equal(g.e.kind, ERR_NONE);
	assert_string_equal(f.content_type, "application/merge-patch+json");
	assert_int_equal(json_int_at(g.object, "spec", "a"), 2);
	/* Members unknown to drover are still there. */
	assert_int_equal(
		json_array_size(json_at(fake_api_get(&f, "/api/v1/nodes/n"), "unheard", "of")), 1);

	g.done = 0;
	kube_patch(f.c, &KUBE_NODES, NULL, "n", NULL, KUBE_PATCH_MERGE, patch, on_done, &g);
	wait_for(&g);
	assert_int_equal(g.e.kind, ERR_CONFLICT);
	assert_string_equal(g.e.text, "Conflict: the object has been modified");

	g.done = 0;
	kube_patch(f.c, &KUBE_NODES, NULL, "n", "status", KUBE_PATCH_JSON, list, on_done, &g);
	wait_for(&g);
	assert_string_equal(f.content_type, "application/json-patch+json");
	assert_string_equal(f.path, "/api/v1/nodes/n/status");
	g.done = 0;
	kube_patch(f.c, &KUBE_NODES, NULL, "n", NULL, KUBE_PATCH_STRATEGIC, patch, on_done, &g);
	wait_for(&g);
	assert_string_equal(f.content_type, "application/strategic-merge-patch+json");
	got_free(&g);
	fake_api_stop(&f);
}

static bool is_version(const char *rv, void *arg)
{
	return str_eq(rv, *(const char **)arg);
}

static void an_answer_that_is_known_is_not_built_as_a_whole(void **state)
{
	OWN_JSON patch = json_pack("{s:{s:i}}", "spec", "a", 2);
	struct fake_api f;
	struct got g = {.f = &f};
	const char *known = "none";
	char next[24];

	(void)state;
	fake_api_start(&f, NULL);
	fake_api_put(&f, "/api/v1/nodes/n", "{\"metadata\":{\"name\":\"n\"},\"spec\":{\"a\":1}}");
	kube_call_brief(
		kube_patch(f.c, &KUBE_NODES, NULL, "n", NULL, KUBE_PATCH_MERGE, patch, on_done, &g),
		is_version, &known);
	wait_for(&g);
	assert_int_equal(g.e.kind, ERR_NONE);
	assert_int_equal(json_int_at(g.object, "spec", "a"), 2);
	str_format(next, sizeof(next), "%lld", (long long)f.rv + 1);
	known = next;
	g.done = 0;
	kube_call_brief(
		kube_patch(f.c, &KUBE_NODES, NULL, "n", NULL, KUBE_PATCH_MERGE, patch, on_done, &g),
		is_version, &known);
	wait_for(&g);
	assert_int_equal(g.e.kind, ERR_NONE);
	assert_string_equal(json_str_at(g.object, "metadata", "resourceVersion"), known);
	assert_string_equal(json_str_at(g.object, "metadata", "name"), "n");
	assert_null(json_object_get(g.object, "spec"));
	got_free(&g);
	fake_api_stop(&f);
}

static void objects_are_made_and_deleted_with_preconditions(void **state)
{
	struct fake_api f;
	struct got g = {.f = &f};
	OWN_JSON object = json_pack("{s:{s:s}}", "metadata", "name", "s");
	struct kube_delete_opts o = {
		.uid = "u", .resource_version = "7", .propagation = "Foreground", .grace_s = 0};

	(void)state;
	fake_api_start(&f, NULL);
	kube_create(f.c, &KUBE_SECRETS, "a", object, on_done, &g);
	wait_for(&g);
	assert_int_equal(g.e.kind, ERR_NONE);
	g.done = 0;
	kube_create(f.c, &KUBE_SECRETS, "a", object, on_done, &g);
	wait_for(&g);
	assert_int_equal(g.e.kind, ERR_CONFLICT);
	g.done = 0;
	kube_delete(f.c, &KUBE_SECRETS, "a", "s", &o, on_done, &g);
	wait_for(&g);
	assert_int_equal(g.e.kind, ERR_NONE);
	assert_string_equal(json_str_at(f.body, "kind"), "DeleteOptions");
	assert_string_equal(json_str_at(f.body, "propagationPolicy"), "Foreground");
	assert_string_equal(json_str_at(f.body, "preconditions", "uid"), "u");
	assert_string_equal(json_str_at(f.body, "preconditions", "resourceVersion"), "7");
	assert_true(json_is_integer(json_at(f.body, "gracePeriodSeconds")));
	g.done = 0;
	kube_delete(f.c, &KUBE_SECRETS, "a", "s", NULL, on_done, &g);
	wait_for(&g);
	assert_int_equal(g.e.kind, ERR_NOT_FOUND);
	assert_string_equal(json_str_at(f.body, "propagationPolicy"), "Background");
	assert_null(json_at(f.body, "gracePeriodSeconds"));
	g.done = 0;
	kube_create(f.c, &KUBE_SECRETS, NULL, object, on_done, &g);
	wait_for(&g);
	assert_int_equal(g.e.kind, ERR_INVALID);
	got_free(&g);
	fake_api_stop(&f);
}

struct durations {
	unsigned n;
	int64_t longest;
};

static void measure(const char *method, int status, int64_t ms, void *arg)
{
	struct durations *x = arg;

	(void)method;
	(void)status;
	x->n++;
	if (ms > x->longest)
		x->longest = ms;
}

static void calls_keep_to_the_rate(void **state)
{
	struct durations durations = {0};
	struct fake_api f;
	struct got g[6] = {0};

	(void)state;
	fake_api_start(&f, &(struct kube_client_spec){.qps = 0.5,
						      .burst = 3,
						      .timeout_ms = 5000,
						      .counted = measure,
						      .counted_arg = &durations});
	for (int i = 0; i < 6; i++) {
		g[i].f = &f;
		kube_get(f.c, &KUBE_NODES, NULL, "n", on_done, &g[i]);
	}
	fake_api_run(&f, 1000);
	assert_int_equal(f.requests, 3);
	fake_api_run(&f, 2000);
	assert_int_equal(f.requests, 4);
	fake_api_run(&f, 3000);
	/* The last request found no token within its five seconds. */
	assert_int_equal(f.requests, 5);
	assert_int_equal(g[4].e.kind, ERR_NOT_FOUND);
	assert_int_equal(g[5].done, 1);
	assert_int_equal(g[5].e.kind, ERR_UNAVAILABLE);
	/* The time in the queue is not part of a request's duration. */
	assert_int_equal(durations.n, 5);
	assert_true(durations.longest < 1000);
	fake_api_stop(&f);
}

/* Writes of a thousand objects keep to the rate limit, with one loop turn for ten of them. */
static void what_waits_for_the_rate_goes_out_in_bunches(void **state)
{
	struct fake_api f;
	struct got g[30] = {0};

	(void)state;
	fake_api_start(&f,
		       &(struct kube_client_spec){
			       .qps = 200, .burst = 10, .timeout_ms = 5000, .max_in_flight = 100});
	for (int i = 0; i < 30; i++) {
		g[i].f = &f;
		kube_get(f.c, &KUBE_NODES, NULL, "n", on_done, &g[i]);
	}
	for (unsigned n = 10; n <= 30; n += 10) {
		fake_api_run(&f, 25);
		assert_int_equal(f.requests, n);
		fake_api_run(&f, 24);
		assert_int_equal(f.requests, n);
		fake_api_run(&f, 1);
	}
	fake_api_stop(&f);
}

static void a_call_in_line_is_sent_however_many_are_before_it(void **state)
{
	struct fake_api f;
	struct got g[30] = {0};

	(void)state;
	fake_api_start(&f, &(struct kube_client_spec){
				   .qps = 1, .burst = 1, .timeout_ms = 5000, .queue_ms = 60000});
	for (int i = 0; i < 30; i++) {
		g[i].f = &f;
		if (i == 28)
			kube_delete(f.c, &KUBE_NODES, NULL, "n", NULL, on_done, &g[i]);
		else
			kube_get(f.c, &KUBE_NODES, NULL, "n", on_done, &g[i]);
	}
	fake_api_run(&f, 5500);
	/* The deletion waited in the queue past its time limit: the knowledge behind it is
	 * outdated. */
	assert_int_equal(g[28].e.kind, ERR_UNAVAILABLE);
	assert_int_equal(g[29].done, 0);
	fake_api_run(&f, 25000);
	assert_int_equal(f.requests, 29);
	for (int i = 0; i < 30; i++)
		if (i != 28)
			assert_int_equal(g[i].e.kind, ERR_NOT_FOUND);
	fake_api_stop(&f);
}

static bool serve_never(struct fake_api *f, struct httpd_req *q);

static void what_was_in_line_has_its_whole_time_once_it_is_sent(void **state)
{
	struct fake_api f;
	struct got g = {.f = &f}, h = {.f = &f};

	(void)state;
	fake_api_start(&f, &(struct kube_client_spec){
				   .max_in_flight = 1, .timeout_ms = 5000, .queue_ms = 60000});
	f.serve = serve_never;
	kube_get(f.c, &KUBE_NODES, NULL, "n", on_done, &g);
	kube_get(f.c, &KUBE_NODES, NULL, "n", on_done, &h);
	fake_api_run(&f, 9000);
	assert_int_equal(g.e.kind, ERR_TIMEOUT);
	assert_int_equal(h.done, 0);
	fake_api_run(&f, 2000);
	assert_int_equal(h.e.kind, ERR_TIMEOUT);
	fake_api_stop(&f);
}

static void the_line_is_bounded_and_can_be_cleared(void **state)
{
	static struct got g[KUBE_QUEUE_MAX + 3];
	struct fake_api f;
	struct got watch = {.f = &f};
	unsigned refused = 0;

	(void)state;
	memset(g, 0, sizeof(g));
	fake_api_start(&f, &(struct kube_client_spec){
				   .qps = 1, .burst = 1, .timeout_ms = 5000, .queue_ms = 60000});
	for (int i = 0; i < KUBE_QUEUE_MAX + 3; i++) {
		g[i].f = &f;
		kube_get(f.c, &KUBE_NODES, NULL, "n", on_done, &g[i]);
	}
	fake_api_run(&f, 100);
	for (int i = 0; i < KUBE_QUEUE_MAX + 3; i++)
		refused += g[i].e.kind == ERR_UNAVAILABLE;
	assert_int_equal(refused, 3);
	assert_int_equal(g[1].done, 0);
	kube_client_drop_queued(f.c);
	assert_int_equal(g[1].done, 0); /* done() is called in a later loop turn */
	fake_api_run(&f, 10);
	assert_int_equal(g[1].e.kind, ERR_UNAVAILABLE);
	assert_int_equal(g[KUBE_QUEUE_MAX - 1].e.kind, ERR_UNAVAILABLE);
	kube_get(f.c, &KUBE_NODES, NULL, "n", on_done, &watch);
	fake_api_run(&f, 3000);
	assert_int_equal(watch.e.kind, ERR_NOT_FOUND);
	fake_api_stop(&f);
}

static void the_rate_can_be_changed_while_calls_are_queued(void **state)
{
	struct got g[60];
	struct fake_api f;
	unsigned done = 0;

	(void)state;
	memset(g, 0, sizeof(g));
	fake_api_start(&f, &(struct kube_client_spec){
				   .qps = 1, .burst = 1, .timeout_ms = 5000, .queue_ms = 90000});
	for (int i = 0; i < 60; i++) {
		g[i].f = &f;
		kube_get(f.c, &KUBE_NODES, NULL, "n", on_done, &g[i]);
	}
	fake_api_run(&f, 4500);
	assert_in_range(kube_client_queued(f.c), 54, 57);
	kube_client_pace(f.c, 20);
	fake_api_run(&f, 4500);
	for (int i = 0; i < 60; i++)
		done += g[i].done;
	assert_int_equal(done, 60);
	assert_int_equal(kube_client_queued(f.c), 0);
	fake_api_stop(&f);
}

static bool leads;

static int asks_who_leads(void *arg, struct err *e)
{
	(*(unsigned *)arg)++;
	return leads ? 0 : err_set(e, ERR_UNAVAILABLE, 0, "nobody leads here");
}

static int holds_no_more(void *arg, struct err *e)
{
	(void)arg;
	return err_set(e, ERR_CONFLICT, 7, "the claim was withdrawn");
}

/* may_change() is called again when a queued request is about to be sent. */
static void what_changes_something_is_asked_about_when_it_leaves_the_line(void **state)
{
	enum { DELETE, CREATE, PATCH, READ, EVENT, HOLDS_NOT, KINDS };
	unsigned asked = 0;
	struct kube_client_spec spec = {.qps = 1,
					.burst = 1,
					.timeout_ms = 30000,
					.may_change = asks_who_leads,
					.may_change_arg = &asked};
	OWN_JSON o = json_pack("{s:{s:s}}", "metadata", "name", "x");
	struct got first, g[KINDS];
	struct fake_api f;

	(void)state;
	for (int led = 0; led < 2; led++) {
		leads = true;
		memset(g, 0, sizeof(g));
		first = (struct got){.f = &f};
		fake_api_start(&f, &spec);
		kube_delete(f.c, &KUBE_NODES, NULL, "first", NULL, on_done, &first);
		for (int i = 0; i < KINDS; i++)
			g[i].f = &f;
		kube_delete(f.c, &KUBE_NODES, NULL, "n", NULL, on_done, &g[DELETE]);
		kube_create(f.c, &KUBE_NODES, NULL, o, on_done, &g[CREATE]);
		kube_patch(f.c, &KUBE_NODES, NULL, "n", NULL, KUBE_PATCH_MERGE, o, on_done,
			   &g[PATCH]);
		kube_get(f.c, &KUBE_NODES, NULL, "n", on_done, &g[READ]);
		kube_create(f.c, &KUBE_EVENTS, "a", o, on_done, &g[EVENT]);
		kube_call_check(kube_evict(f.c, "a", "p", NULL, -1, on_done, &g[HOLDS_NOT]),
				holds_no_more, NULL);
		fake_api_run(&f, 500);
		assert_int_equal(first.done, 1);
		assert_int_equal(f.requests, 1);
		leads = led;
		fake_api_run(&f, 20000);
		for (int i = 0; i < KINDS; i++)
			assert_int_equal(g[i].done, 1);
		assert_int_equal(f.requests, led ? 6 : 3);
		for (int i = DELETE; i <= PATCH; i++)
			if (!led) {
				assert_int_equal(g[i].e.kind, ERR_UNAVAILABLE);
				assert_string_equal(g[i].e.text,
						    "host: not sent: nobody leads here");
			}
		assert_int_equal(g[READ].e.kind, ERR_NOT_FOUND);
		assert_int_equal(g[EVENT].e.kind, ERR_NONE);
		/* Whichever error kind the check itself set, the call's error must not look like an
		 * answer of the server. */
		assert_int_equal(g[HOLDS_NOT].e.kind, ERR_UNAVAILABLE);
		assert_string_equal(g[HOLDS_NOT].e.text,
				    led ? "host: not sent: the claim was withdrawn"
					: "host: not sent: nobody leads here");
		for (int i = 0; i < KINDS; i++)
			got_free(&g[i]);
		got_free(&first);
		fake_api_stop(&f);
	}
	assert_true(asked > 8);
}

/* A request that the server asked to retry is not repeated if may_change() refuses by then. */
static void what_rests_is_asked_about_again(void **state)
{
	unsigned asked = 0;
	unsigned busy = 1;
	struct kube_client_spec spec = {.may_change = asks_who_leads, .may_change_arg = &asked};
	struct got g;
	struct fake_api f;

	(void)state;
	leads = true;
	g = (struct got){.f = &f};
	fake_api_start(&f, &spec);
	f.serve = serve_busy;
	f.arg = &busy;
	kube_delete(f.c, &KUBE_NODES, NULL, "n", NULL, on_done, &g);
	fake_api_run(&f, 500);
	assert_int_equal(f.requests, 1);
	leads = false;
	fake_api_run(&f, 20000);
	assert_int_equal(f.requests, 1);
	assert_int_equal(g.e.kind, ERR_UNAVAILABLE);
	assert_int_equal(asked, 2);
	fake_api_stop(&f);
}

static bool serve_never(struct fake_api *f, struct httpd_req *q)
{
	(void)f;
	(void)q;
	return true;
}

static void few_calls_are_in_flight_at_once_and_all_end_in_time(void **state)
{
	struct fake_api f;
	struct got g[5] = {0};

	(void)state;
	fake_api_start(&f, &(struct kube_client_spec){.max_in_flight = 2, .timeout_ms = 4000});
	f.serve = serve_never;
	for (int i = 0; i < 5; i++) {
		g[i].f = &f;
		kube_get(f.c, &KUBE_NODES, NULL, "n", on_done, &g[i]);
	}
	fake_api_run(&f, 1000);
	assert_int_equal(f.requests, 2);
	fake_api_run(&f, 3500);
	assert_int_equal(g[0].e.kind, ERR_TIMEOUT);
	assert_int_equal(g[1].e.kind, ERR_TIMEOUT);
	assert_int_equal(g[4].e.kind, ERR_UNAVAILABLE);
	fake_api_stop(&f);
}

static void a_cancelled_call_is_not_heard_of(void **state)
{
	struct fake_api f;
	struct got g = {.f = &f}, h = {.f = &f};
	struct kube_call *queued, *sent;

	(void)state;
	fake_api_start(&f, &(struct kube_client_spec){.max_in_flight = 1});
	sent = kube_get(f.c, &KUBE_NODES, NULL, "n", on_done, &g);
	queued = kube_get(f.c, &KUBE_NODES, NULL, "n", on_done, &g);
	kube_get(f.c, &KUBE_NODES, NULL, "m", on_done, &h);
	f.serve = serve_never;
	fake_api_run(&f, 100);
	assert_int_equal(f.requests, 1);
	f.serve = NULL;
	kube_call_cancel(queued);
	kube_call_cancel(sent);
	kube_call_cancel(NULL);
	fake_api_run(&f, 1000);
	assert_int_equal(g.done, 0);
	assert_int_equal(h.done, 1);
	assert_int_equal(f.requests, 2);
	fake_api_stop(&f);
}

/* Never answers requests for Node m. */
static bool serve_but_m(struct fake_api *f, struct httpd_req *q)
{
	(void)q;
	return str_ends(f->path, "/m");
}

static void a_client_may_be_freed_by_a_reply(void **state)
{
	struct fake_api f;
	struct got g = {.f = &f, .free_client = true}, h = {.f = &f};

	(void)state;
	fake_api_start(&f, NULL);
	f.serve = serve_but_m;
	kube_get(f.c, &KUBE_NODES, NULL, "m", on_done, &h);
	kube_get(f.c, &KUBE_NODES, NULL, "n", on_done, &g);
	fake_api_run(&f, 60000);
	assert_int_equal(g.done, 1);
	assert_int_equal(h.done, 0);
	fake_api_stop(&f);
}

static bool serve_bearer(struct fake_api *f, struct httpd_req *q)
{
	if (!strcmp(f->bearer, f->arg))
		return false;
	fake_api_status(q, 401, "Unauthorized", "Unauthorized");
	return true;
}

static void write_token(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static void a_rotated_token_is_read_again(void **state)
{
	char path[] = "/tmp/drover-token-XXXXXX";
	int fd = mkstemp(path);
	struct kube_config config = {.server = (char *)(uintptr_t)FAKE_API_ORIGIN,
				     .token_file = path};
	struct fake_api f;
	struct got g = {.f = &f};

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(close(fd), 0);
	write_token(path, "one\n");
	fake_api_start(&f, &(struct kube_client_spec){.config = &config});
	kube_get_path(f.c, "/version", on_done, &g);
	wait_for(&g);
	assert_string_equal(f.bearer, "one");
	write_token(path, "two\n");
	fake_api_run(&f, 30000);
	kube_get_path(f.c, "/version", on_done, &g);
	fake_api_run(&f, 1000);
	assert_string_equal(f.bearer, "one");
	fake_api_run(&f, 30000);
	kube_get_path(f.c, "/version", on_done, &g);
	fake_api_run(&f, 1000);
	assert_string_equal(f.bearer, "two");

	/* After a 401 the next call reads the file at once. */
	write_token(path, "three\n");
	f.serve = serve_bearer;
	f.arg = (void *)(uintptr_t) "three";
	kube_get_path(f.c, "/version", on_done, &g);
	fake_api_run(&f, 1000);
	assert_int_equal(g.e.code, 401);
	kube_get_path(f.c, "/version", on_done, &g);
	fake_api_run(&f, 1000);
	assert_int_equal(g.e.code, 404);

	/* A file that is missing for a moment changes nothing. */
	assert_int_equal(unlink(path), 0);
	fake_api_run(&f, 61000);
	kube_get_path(f.c, "/version", on_done, &g);
	fake_api_run(&f, 1000);
	assert_string_equal(f.bearer, "three");
	fake_api_stop(&f);
}

/* Answers like a server behind the API server's proxy that is busy for two seconds. */
static bool serve_proxied(struct fake_api *f, struct httpd_req *q)
{
	str_copy(f->arg, 64, str_or(httpd_header(q, "X-Own-Authorization"), "none"));
	httpd_reply_header(q, "Retry-After", "2");
	httpd_reply(q, 503, "text/plain", "busy", 4);
	return true;
}

static void a_header_and_limits_go_with_a_path(void **state)
{
	char sent[64] = "";
	struct fake_api f;
	struct got g = {.f = &f};
	struct secret *token = secret_from_str("Bearer own");
	const struct kube_path_options o = {.secret_header = "X-Own-Authorization",
					    .secret_value = token,
					    .idle_ms = 3000,
					    .no_wait = true};

	(void)state;
	fake_api_start(&f, NULL);
	assert_string_equal(secret_expose(kube_client_token(f.c)), "first");
	f.serve = serve_proxied;
	f.arg = sent;
	kube_get_path_with(f.c, "/proxy/v1/queue", &o, on_done, &g);
	secret_free(token);
	fake_api_run(&f, 1000);
	assert_int_equal(g.e.code, 503);
	assert_string_equal(sent, "Bearer own");
	assert_string_equal(f.bearer, "first");

	/* no longer than the limit without a byte */
	g.done = 0;
	http_mem_hang(f.net, "https://api.test:6443", true);
	kube_get_path_with(f.c, "/proxy/v1/queue", &(struct kube_path_options){.idle_ms = 3000},
			   on_done, &g);
	fake_api_run(&f, 3500);
	assert_int_equal(g.done, 1);
	assert_int_equal(g.e.kind, ERR_TIMEOUT);
	fake_api_stop(&f);
}

static bool serve_review(struct fake_api *f, struct httpd_req *q)
{
	(void)f;
	if (!str_eq(f->bearer, "abcdef.0123456789abcdef"))
		httpd_reply_json(q, 401,
				 "{\"kind\":\"Status\",\"reason\":\"Unauthorized\","
				 "\"message\":\"no user for token abcdef.wrong\"}");
	else
		httpd_reply_json(q, 201,
				 "{\"status\":{\"userInfo\":{\"username\":\"system:bootstrap:"
				 "abcdef\"}}}");
	return true;
}

static void try_token(struct got *g, const char *text)
{
	struct secret *token = secret_from_str(text);

	g->done = 0;
	kube_review_token(g->f->c, token, on_done, g);
	secret_free(token);
	wait_for(g);
}

static void another_token_is_tried_without_the_login_of_the_client(void **state)
{
	struct fake_api f;
	struct got g = {.f = &f};
	struct secret *token = secret_from_str("abcdef.0123456789abcdef");

	(void)state;
	fake_api_start(&f, NULL);
	f.serve = serve_review;
	try_token(&g, "abcdef.0123456789abcdef");
	assert_string_equal(json_str_at(g.object, "status", "userInfo", "username"),
			    "system:bootstrap:abcdef");
	assert_string_equal(f.log, "POST /apis/authentication.k8s.io/v1/selfsubjectreviews\n");
	try_token(&g, "abcdef.wrong");
	assert_int_equal(g.e.kind, ERR_DENIED);
	assert_int_equal(g.e.code, 401);
	assert_non_null(strstr(g.e.text, "no user for token "));
	assert_null(strstr(g.e.text, "abcdef.wrong"));
	/* calls after it have the client's token again */
	f.serve = NULL;
	g.done = 0;
	kube_get(f.c, &KUBE_NODES, NULL, "n", on_done, &g);
	wait_for(&g);
	assert_string_equal(f.bearer, "first");
	/* a call that is cancelled, and one that outlives its client */
	kube_call_cancel(kube_review_token(f.c, token, on_done, &g));
	kube_review_token(f.c, token, on_done, &g);
	secret_free(token);
	got_free(&g);
	fake_api_stop(&f);
}

static bool serve_token(struct fake_api *f, struct httpd_req *q)
{
	(void)f;
	httpd_reply_json(q, 201, "{\"kind\":\"TokenRequest\",\"status\":{\"token\":\"t\"}}");
	return true;
}

static void a_token_is_requested(void **state)
{
	struct fake_api f;
	struct got g = {.f = &f};
	OWN_JSON o = json_object();

	(void)state;
	fake_api_start(&f, NULL);
	f.serve = serve_token;
	kube_request_token(f.c, "a", "reader", o, on_done, &g);
	wait_for(&g);
	assert_string_equal(json_str_at(g.object, "status", "token"), "t");
	assert_string_equal(f.path, "/api/v1/namespaces/a/serviceaccounts/reader/token");
	kube_request_token(f.c, "a", NULL, o, on_done, &g);
	fake_api_run(&f, 100);
	assert_int_equal(g.e.kind, ERR_INVALID);
	got_free(&g);
	fake_api_stop(&f);
}

static void a_new_config_serves_new_calls_and_old_ones_end(void **state)
{
	struct kube_config config = {.server = (char *)(uintptr_t) "https://other.test:6443",
				     .token = secret_from_str("second")};
	struct kube_config plain = {.server = (char *)(uintptr_t) "http://other.test"};
	struct fake_api f;
	struct got old = {.f = &f}, new_ = {.f = &f};
	struct err e;

	(void)state;
	fake_api_start(&f, &(struct kube_client_spec){.timeout_ms = 5000});
	f.serve = serve_but_m;
	kube_get(f.c, &KUBE_NODES, NULL, "m", on_done, &old);
	fake_api_run(&f, 100);
	http_mem_serve(f.net, "https://other.test:6443", f.d);
	assert_int_equal(kube_client_reload(f.c, &plain, &e), -1);
	assert_int_equal(kube_client_reload(f.c, &config, &e), 0);
	/* A second reload, without requests in flight, leaves nothing of the first. */
	assert_int_equal(kube_client_reload(f.c, &config, &e), 0);
	kube_get(f.c, &KUBE_NODES, NULL, "n", on_done, &new_);
	fake_api_run(&f, 1000);
	assert_int_equal(new_.e.kind, ERR_NOT_FOUND);
	assert_string_equal(f.bearer, "second");
	assert_int_equal(old.done, 0);
	fake_api_run(&f, 5000);
	assert_int_equal(old.e.kind, ERR_TIMEOUT);
	kube_get(f.c, &KUBE_NODES, NULL, "m", on_done, &new_);
	fake_api_run(&f, 100);
	assert_int_equal(kube_client_reload(f.c, &config, &e), 0);
	secret_free(config.token);
	fake_api_stop(&f);
}

static void plain_http_needs_leave(void **state)
{
	struct kube_config config = {.server = (char *)(uintptr_t) "http://api.test:8080"};
	struct fake_api f;
	struct kube_client *c;
	struct err e;

	(void)state;
	fake_api_start(&f, NULL);
	assert_null(kube_client_new(f.client_g, f.http,
				    &(struct kube_client_spec){.config = &config}, &e));
	assert_int_equal(e.kind, ERR_INVALID);
	c = kube_client_new(f.client_g, f.http,
			    &(struct kube_client_spec){.config = &config, .plain_ok = true}, &e);
	assert_non_null(c);
	kube_client_free(c);
	fake_api_stop(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_object_is_read),
		cmocka_unit_test(each_kind_of_resource_has_its_path),
		cmocka_unit_test(what_cannot_be_a_path_is_never_sent),
		cmocka_unit_test(a_header_and_limits_go_with_a_path),
		cmocka_unit_test(another_token_is_tried_without_the_login_of_the_client),
		cmocka_unit_test(a_token_is_requested),
		cmocka_unit_test(statuses_become_kinds_of_error),
		cmocka_unit_test(nonsense_is_a_protocol_error),
		cmocka_unit_test(a_reply_with_too_much_in_it_is_refused),
		cmocka_unit_test(a_busy_server_is_waited_for_inside_the_deadline),
		cmocka_unit_test(a_refused_eviction_is_told_at_once),
		cmocka_unit_test(a_refused_eviction_names_the_budget),
		cmocka_unit_test(patches_say_their_type_and_conflicts_are_told),
		cmocka_unit_test(an_answer_that_is_known_is_not_built_as_a_whole),
		cmocka_unit_test(objects_are_made_and_deleted_with_preconditions),
		cmocka_unit_test(calls_keep_to_the_rate),
		cmocka_unit_test(what_waits_for_the_rate_goes_out_in_bunches),
		cmocka_unit_test(a_call_in_line_is_sent_however_many_are_before_it),
		cmocka_unit_test(what_was_in_line_has_its_whole_time_once_it_is_sent),
		cmocka_unit_test(what_changes_something_is_asked_about_when_it_leaves_the_line),
		cmocka_unit_test(what_rests_is_asked_about_again),
		cmocka_unit_test(the_line_is_bounded_and_can_be_cleared),
		cmocka_unit_test(the_rate_can_be_changed_while_calls_are_queued),
		cmocka_unit_test(few_calls_are_in_flight_at_once_and_all_end_in_time),
		cmocka_unit_test(the_last_writer_of_an_object_is_named),
		cmocka_unit_test(when_an_object_was_written_is_read),
		cmocka_unit_test(a_cancelled_call_is_not_heard_of),
		cmocka_unit_test(a_client_may_be_freed_by_a_reply),
		cmocka_unit_test(a_rotated_token_is_read_again),
		cmocka_unit_test(a_new_config_serves_new_calls_and_old_ones_end),
		cmocka_unit_test(plain_http_needs_leave),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
