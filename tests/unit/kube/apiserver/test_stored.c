#include "tests/unit/kube/apiserver/api_rig.h"

#include "base/str.h"
#include "kube/apiserver/server.h"

#define PODS "/api/v1/namespaces/default/pods"

/* Records each notification, as "KEY is COLOR;" or "KEY was COLOR;". */
struct witness {
	struct observer observer;
	struct buf said;
};

static void on_written(struct observer *o, const struct written *w)
{
	struct witness *t = container_of(o, struct witness, observer);
	const json_t *shown = w->obj ? w->obj : w->old;

	assert_true(!w->obj || !w->old);
	buf_printf(&t->said, "%s %s %s;", w->key, w->obj ? "is" : "was",
		   str_or(json_str_at(shown, "metadata", "labels", "color"), "plain"));
	assert_string_equal(w->r->kind, "Pod");
}

static void witness_start(struct witness *t, struct api *r)
{
	*t = (struct witness){.observer.written = on_written};
	buf_init(&t->said, 4096);
	observe(r->a, &t->observer);
}

static void witness_expect(struct witness *t, const char *want)
{
	assert_string_equal(t->said.len ? t->said.data : "", want);
	buf_clear(&t->said);
}

static void witness_stop(struct witness *t)
{
	list_remove(&t->observer.link);
	buf_done(&t->said);
}

static void paint(struct api *r, const char *path)
{
	api_patch(r, "merge-patch+json", path, "{'metadata':{'labels':{'color':'red'}}}");
	assert_status(r, 200);
}

static void every_observer_is_told_of_each_write(void **state)
{
	struct api *r = *state;
	struct witness a, b;

	witness_start(&a, r);
	witness_start(&b, r);
	api_do(r, "POST", PODS, "{'metadata':{'name':'p'},'spec':{'containers':[]}}");
	assert_status(r, 201);
	witness_expect(&a, "pods/default/p is plain;");
	paint(r, PODS "/p");
	witness_expect(&a, "pods/default/p is red;");
	witness_stop(&a);
	api_do(r, "DELETE", PODS "/p", NULL);
	assert_status(r, 200);
	witness_expect(&b, "pods/default/p is plain;pods/default/p is red;pods/default/p was red;");
	witness_stop(&b);
}

static void what_is_not_written_is_not_told(void **state)
{
	struct api *r = *state;
	struct witness t;

	api_do(r, "POST", PODS, "{'metadata':{'name':'p'},'spec':{'containers':[]}}");
	assert_status(r, 201);
	witness_start(&t, r);
	paint(r, PODS "/p?dryRun=All");
	api_do(r, "DELETE", PODS "/p?dryRun=All", NULL);
	assert_status(r, 200);
	api_patch(r, "merge-patch+json", PODS "/p", "{}");
	assert_status(r, 200);
	witness_expect(&t, "");

	struct request rq = {.a = r->a, .arena = arena_new()};
	struct store_entry entry;
	OWN_JSON pod = object_read(r->a, "pods/default/p", &entry);

	rq.r = resource_find(r->a, "", "v1", "pods");
	write_object(&rq, rq.r, "pods/default/p", pod, (int64_t)entry.rev + 1, NULL);
	witness_expect(&t, "");
	write_object(&rq, rq.r, "pods/default/p", pod, (int64_t)entry.rev, NULL);
	witness_expect(&t, "pods/default/p is plain;");
	arena_free(rq.arena);
	witness_stop(&t);
}

static void keys_are_those_below_a_prefix(void **state)
{
	struct api *r = *state;
	OWN(arena) m = arena_new();
	const char **keys;

	assert_null(object_keys(r->a, "pods/", m)[0]);
	for (char name[2] = "a"; *name <= 'k'; ++*name) {
		char body[100];

		str_format(body, sizeof(body),
			   "{'metadata':{'name':'%s'},'spec':{'containers':[]}}", name);
		api_do(r, "POST", PODS, body);
		assert_status(r, 201);
	}
	keys = object_keys(r->a, "pods/", m);
	for (int i = 0; i < 11; i++)
		assert_string_equal(keys[i], arena_printf(m, "pods/default/%c", 'a' + i));
	assert_null(keys[11]);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, api_setup, api_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(every_observer_is_told_of_each_write),
		CASE(what_is_not_written_is_not_told),
		CASE(keys_are_those_below_a_prefix),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
