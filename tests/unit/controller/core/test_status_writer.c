/* Tests the effects of a status write on the object, on the cache and on the result passed to
 * done(). */
#include "tests/unit/controller/bench.h"

#include <stdlib.h>
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/core/finalizer.h"
#include "controller/core/status_writer.h"

#define POOLS "/apis/" OBJECT_API_VERSION "/nodepools"
#define OURS "drover.dev/ours"
#define ANSWER_MS 5000
#define AWAY_MS 120000

/* The owner of a status writer, and what its done() received */
struct owner {
	struct bench *d;
	/* Context of a writer that has a cache of its own */
	struct context c;
	struct status_writer w;
	unsigned heard;
	/* Kind of the last error passed to done() */
	enum err_kind kind;
	/* status.nodes in the cache at the last done() */
	int64_t cached;
	/* True: the writer was idle when done() was called */
	bool idle;
	bool free_in_done;
};

/* Owner in the running test */
static struct owner *own;

static const struct node_pool *pool(struct bench *d)
{
	return CTX_GET(&d->c, OBJECT_NODE_POOL, node_pool, "h100");
}

static void on_done(json_t *o, const struct err *e, void *arg)
{
	struct owner *x = arg;

	(void)o;
	x->heard++;
	x->kind = e ? e->kind : ERR_NONE;
	x->idle = !writer_busy(&x->w);
	x->cached = pool(x->d) ? pool(x->d)->status.nodes : -1;
	if (!x->free_in_done)
		return;
	writer_stop(&x->w);
	free(x);
	own = NULL;
}

static int setup(void **state)
{
	struct bench *d;

	bench_setup(state);
	d = *state;
	bench_fleet(d);
	own = mem_new(struct owner);
	own->d = d;
	writer_init(&own->w, &d->c, own);
	return 0;
}

static int teardown(void **state)
{
	if (own)
		writer_stop(&own->w);
	free(own);
	own = NULL;
	return bench_teardown(state);
}

static void write_nodes(int n)
{
	writer_status(&own->w, OBJECT_NODE_POOL, &pool(own->d)->meta,
		      json_pack("{s:i}", "nodes", n), on_done);
}

static json_int_t stored_nodes(struct bench *d)
{
	OWN_JSON o = bench_get(d, OBJECT_NODE_POOL, "h100");

	return json_int_at(o, "status", "nodes");
}

static void what_is_written_is_in_the_cache_when_it_is_heard_of(void **state)
{
	struct bench *d = *state;

	write_nodes(3);
	assert_true(writer_busy(&own->w));
	assert_int_equal(own->heard, 0);
	bench_run(d, ANSWER_MS);
	assert_int_equal(own->heard, 1);
	assert_int_equal(own->kind, ERR_NONE);
	assert_int_equal(own->cached, 3);
	assert_true(own->idle);
	assert_int_equal(stored_nodes(d), 3);
	write_nodes(4);
	bench_run(d, ANSWER_MS);
	assert_int_equal(own->heard, 2);
	assert_int_equal(own->cached, 4);
}

static void *project(const json_t *o, struct arena *a, void *arg, struct err *e)
{
	void *out = NULL;

	(void)arg;
	return object_decode(&object_kinds[OBJECT_NODE_POOL], o, a, &out, e) < 0 ? NULL : out;
}

/* Returns a cache whose list fails and which gets no watch events. Only the writer changes the
 * cache. */
static struct kube_cache *deaf_cache(struct bench *d,
				     void (*on_change)(const struct kube_entry *old,
						       const struct kube_entry *new_, void *arg))
{
	static const struct kube_resource absent = {OBJECT_GROUP, OBJECT_VERSION, "absents",
						    "NodePool", false};
	struct kube_cache_spec s = {.client = d->c.host,
				    .resource = &absent,
				    .project = project,
				    .on_change = on_change};

	own->c = d->c;
	own->c.cache[OBJECT_NODE_POOL] = kube_cache_new(d->g, &s);
	writer_init(&own->w, &own->c, own);
	return own->c.cache[OBJECT_NODE_POOL];
}

static void an_answer_is_learned(void **state)
{
	OWN(kube_cache) cache = deaf_cache(*state, NULL);

	write_nodes(3);
	bench_run(*state, ANSWER_MS);
	assert_int_equal(own->heard, 1);
	assert_non_null(kube_cache_get(cache, "", "h100"));
	assert_int_equal(KUBE_CACHE_GET(cache, node_pool, "", "h100")->status.nodes, 3);
}

static void stop(const struct kube_entry *old, const struct kube_entry *new_, void *arg)
{
	(void)old;
	(void)new_;
	(void)arg;
	assert_true(writer_busy(&own->w));
	writer_stop(&own->w);
	free(own);
	own = NULL;
}

static void an_owner_may_end_while_the_cache_learns(void **state)
{
	OWN(kube_cache) cache = deaf_cache(*state, stop);

	write_nodes(3);
	bench_run(*state, ANSWER_MS);
	assert_null(own);
	assert_int_equal(stored_nodes(*state), 3);
	(void)cache;
}

static void a_version_that_has_passed_is_a_conflict(void **state)
{
	struct bench *d = *state;
	struct object_meta old = {.name = "h100", .resource_version = "1"};

	writer_status(&own->w, OBJECT_NODE_POOL, &old, json_pack("{s:i}", "nodes", 3), on_done);
	bench_run(d, ANSWER_MS);
	assert_int_equal(own->heard, 1);
	assert_int_equal(own->kind, ERR_CONFLICT);
	assert_int_equal(stored_nodes(d), 0);
	write_nodes(4); /* Repeats the write with the current version of the object. */
	bench_run(d, ANSWER_MS);
	assert_int_equal(own->kind, ERR_NONE);
	assert_int_equal(stored_nodes(d), 4);
}

static void what_is_gone_is_not_found(void **state)
{
	struct bench *d = *state;
	struct object_meta gone = *(&pool(d)->meta);

	gone.name = "h200";
	writer_status(&own->w, OBJECT_NODE_POOL, &gone, json_pack("{s:i}", "nodes", 3), on_done);
	bench_run(d, ANSWER_MS);
	assert_int_equal(own->heard, 1);
	assert_int_equal(own->kind, ERR_NOT_FOUND);
	assert_null(CTX_GET(&d->c, OBJECT_NODE_POOL, node_pool, "h200"));
}

static void one_that_is_stopped_hears_nothing(void **state)
{
	struct bench *d = *state;

	write_nodes(3);
	writer_stop(&own->w);
	assert_false(writer_busy(&own->w));
	bench_run(d, ANSWER_MS);
	assert_int_equal(own->heard, 0);
	write_nodes(4);
	bench_run(d, ANSWER_MS);
	assert_int_equal(own->heard, 1);
}

static void an_owner_may_end_when_it_hears(void **state)
{
	struct bench *d = *state;

	own->free_in_done = true;
	write_nodes(3);
	bench_run(d, ANSWER_MS);
	assert_null(own);
	assert_int_equal(stored_nodes(d), 3);
}

static void other_members_stay(void **state)
{
	struct bench *d = *state;

	bench_patch(d, OBJECT_NODE_POOL, "h100",
		    "{'metadata': {'annotations': {'example.com/a': '1', 'example.com/b': '2'}}}");
	writer_annotation(&own->w, OBJECT_NODE_POOL, &pool(d)->meta, "example.com/a", NULL,
			  on_done);
	bench_run(d, ANSWER_MS);
	assert_null(labels_get(&pool(d)->meta.annotations, "example.com/a"));
	assert_string_equal(labels_get(&pool(d)->meta.annotations, "example.com/b"), "2");
	writer_annotation(&own->w, OBJECT_NODE_POOL, &pool(d)->meta, "example.com/a", "3", on_done);
	bench_run(d, ANSWER_MS);
	assert_string_equal(labels_get(&pool(d)->meta.annotations, "example.com/a"), "3");
	writer_spec(&own->w, OBJECT_NODE_POOL, &pool(d)->meta, json_pack("{s:b}", "paused", 1),
		    on_done);
	bench_run(d, ANSWER_MS);
	assert_true(pool(d)->spec.paused);
	assert_int_equal(pool(d)->spec.template_.spec.images.n, 1);
	assert_int_equal(own->heard, 3);
}

static void a_finalizer_is_written_when_it_is_not_as_wanted(void **state)
{
	struct bench *d = *state;

	assert_true(
		writer_finalizer(&own->w, OBJECT_NODE_POOL, &pool(d)->meta, OURS, true, on_done));
	bench_run(d, ANSWER_MS);
	assert_true(finalizer_is_on(&pool(d)->meta.finalizers, OURS));
	assert_false(
		writer_finalizer(&own->w, OBJECT_NODE_POOL, &pool(d)->meta, OURS, true, on_done));
	assert_false(writer_busy(&own->w));
	assert_true(
		writer_finalizer(&own->w, OBJECT_NODE_POOL, &pool(d)->meta, OURS, false, on_done));
	bench_run(d, ANSWER_MS);
	assert_false(finalizer_is_on(&pool(d)->meta.finalizers, OURS));
	assert_int_equal(own->heard, 2);
}

static void only_the_object_that_was_seen_is_deleted(void **state)
{
	struct bench *d = *state;
	struct object_meta other = pool(d)->meta;

	other.uid = "of-the-one-before";
	writer_delete(&own->w, OBJECT_NODE_POOL, &other, on_done);
	bench_run(d, ANSWER_MS);
	assert_int_equal(own->kind, ERR_CONFLICT);
	assert_non_null(pool(d));
	writer_delete(&own->w, OBJECT_NODE_POOL, &pool(d)->meta, on_done);
	bench_run(d, ANSWER_MS);
	assert_int_equal(own->kind, ERR_NONE);
	assert_null(pool(d));
}

static void on_line(const char *line, size_t len, void *arg)
{
	unsigned *n = arg;

	(void)len;
	*n += strstr(line, "object not written") != NULL;
}

/* Two attempts fail in the same way, one succeeds, one fails again. drover logs two messages. */
static void a_server_that_is_away_is_logged_once(void **state)
{
	struct bench *d = *state;
	unsigned lines = 0;

	log_redirect(on_line, &lines);
	for (int n = 1; n <= 4; n++) {
		bench_away(d, &d->host, n != 3);
		write_nodes(n);
		bench_run(d, AWAY_MS);
		assert_int_equal(own->heard, n);
		assert_int_equal(own->kind == ERR_NONE, n == 3);
		assert_int_equal(lines, n <= 3 ? 1 : 2);
	}
	log_redirect(NULL, NULL);
}

static void keep_line(const char *line, size_t len, void *arg)
{
	char **last = arg;

	if (!strstr(line, "object not written"))
		return;
	free(*last);
	*last = mem_strndup(line, len);
}

/* Eight objects are not written at the same time, and one more a second later. */
static void of_many_failed_writes_one_a_second_is_logged(void **state)
{
	struct bench *d = *state;
	struct owner many[8] = {0};
	unsigned lines = 0;
	char *last = NULL;

	bench_away(d, &d->host, true);
	log_redirect(on_line, &lines);
	for (size_t i = 0; i < 8; i++) {
		many[i].d = d;
		writer_init(&many[i].w, &d->c, &many[i]);
		writer_status(&many[i].w, OBJECT_NODE_POOL, &pool(d)->meta,
			      json_pack("{s:i}", "nodes", 1), on_done);
	}
	bench_run(d, AWAY_MS);
	for (size_t i = 0; i < 8; i++) {
		assert_int_equal(many[i].heard, 1);
		writer_stop(&many[i].w);
	}
	assert_int_equal(lines, 1);
	log_redirect(keep_line, &last);
	write_nodes(2);
	bench_run(d, AWAY_MS);
	log_redirect(NULL, NULL);
	assert_non_null(last);
	assert_non_null(strstr(last, "others_not_logged=7"));
	free(last);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(what_is_written_is_in_the_cache_when_it_is_heard_of),
		T(an_answer_is_learned),
		T(an_owner_may_end_while_the_cache_learns),
		T(a_version_that_has_passed_is_a_conflict),
		T(what_is_gone_is_not_found),
		T(one_that_is_stopped_hears_nothing),
		T(an_owner_may_end_when_it_hears),
		T(other_members_stay),
		T(a_finalizer_is_written_when_it_is_not_as_wanted),
		T(only_the_object_that_was_seen_is_deleted),
		T(a_server_that_is_away_is_logged_once),
		T(of_many_failed_writes_one_a_second_is_logged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
