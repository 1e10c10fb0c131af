#include "tests/unit/kube/apiserver/api_rig.h"

#include <stdio.h>
#include <stdlib.h>
#include "base/mem.h"

#define CM "/api/v1/namespaces/default/configmaps"
#define PODS "/api/v1/namespaces/default/pods"

/* want: events without their revision, as "MODIFIED a;". */
static void assert_said(struct api_watch *w, const char *want)
{
	struct buf short_form;
	char *copy = mem_strdup(w->said.data), *rest = copy;

	buf_init(&short_form, 1 << 20);
	for (char *one; (one = strsep(&rest, ";")) && *one;) {
		char *last = strrchr(one, ' ');

		*last = '\0';
		buf_printf(&short_form, "%s;", one);
	}
	assert_string_equal(short_form.data, want);
	buf_done(&short_form);
	free(copy);
}

static void watch_from_now(struct api *r, struct api_watch *w, const char *path)
{
	char *full = mem_printf("%s%cwatch=true&resourceVersion=%llu", path,
				strchr(path, '?') ? '&' : '?', (unsigned long long)store_rev(r->s));

	api_watch_start(r, w, full);
	free(full);
}

static void a_watch_tells_what_happens_from_its_revision_on(void **state)
{
	struct api *r = *state;
	struct api_watch w;
	char want[128], rev[32];

	api_do(r, "POST", CM, "{'metadata':{'name':'old'}}");
	watch_from_now(r, &w, CM);
	assert_int_equal(w.status, 200);
	assert_string_equal(w.said.data, "");
	api_do(r, "POST", CM, "{'metadata':{'name':'a'}}");
	api_do(r, "POST", "/api/v1/namespaces/kube-system/configmaps",
	       "{'metadata':{'name':'elsewhere'}}");
	api_patch(r, "merge-patch+json", CM "/a", "{'data':{'k':'v'}}");
	api_do(r, "DELETE", CM "/a", NULL);
	snprintf(rev, sizeof(rev), "%llu", (unsigned long long)store_rev(r->s));
	api_run(r, 1000);
	assert_said(&w, "ADDED a;MODIFIED a;DELETED a;");
	/* The deletion has its own revision. */
	snprintf(want, sizeof(want), "DELETED a %s;", rev);
	assert_non_null(strstr(w.said.data, want));
	assert_false(w.ended);
	api_watch_stop(&w);
}

static void a_watch_from_nowhere_begins_with_what_there_is(void **state)
{
	struct api *r = *state;
	struct api_watch w;

	api_do(r, "POST", CM, "{'metadata':{'name':'a'}}");
	api_do(r, "POST", CM, "{'metadata':{'name':'b'}}");
	api_watch_start(r, &w, CM "?watch=1&resourceVersion=0");
	assert_said(&w, "ADDED a;ADDED b;");
	api_do(r, "DELETE", CM "/a", NULL);
	api_run(r, 1000);
	assert_said(&w, "ADDED a;ADDED b;DELETED a;");
	api_watch_stop(&w);
}

static void an_object_comes_into_and_goes_out_of_a_selection(void **state)
{
	struct api *r = *state;
	struct api_watch by_label, by_node;

	watch_from_now(r, &by_label, PODS "?labelSelector=x%3D1");
	watch_from_now(r, &by_node, "/api/v1/pods?fieldSelector=spec.nodeName%3D");
	api_do(r, "POST", PODS, "{'metadata':{'name':'p'},'spec':{}}");
	api_patch(r, "merge-patch+json", PODS "/p", "{'metadata':{'labels':{'x':'1'}}}");
	api_patch(r, "merge-patch+json", PODS "/p", "{'metadata':{'annotations':{'n':'1'}}}");
	api_do(r, "POST", PODS "/p/binding", "{'target':{'name':'n1'}}");
	api_patch(r, "merge-patch+json", PODS "/p", "{'metadata':{'labels':{'x':'2'}}}");
	api_patch(r, "merge-patch+json", PODS "/p", "{'metadata':{'labels':{'x':'1'}}}");
	api_do(r, "DELETE", PODS "/p", NULL);
	api_run(r, 1000);
	assert_said(&by_label, "ADDED p;MODIFIED p;MODIFIED p;DELETED p;ADDED p;DELETED p;");
	assert_said(&by_node, "ADDED p;MODIFIED p;MODIFIED p;DELETED p;");
	api_watch_stop(&by_label);
	api_watch_stop(&by_node);
}

#define META "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"
#define TABLE "application/json;as=Table;v=v1;g=meta.k8s.io"

/* Two watches of each form, because the second one gets the lines of the first one. */
static void watches_of_all_forms_follow_one_object(void **state)
{
	static const struct {
		const char *accept, *path, *want, *shapes;
	} forms[] = {
		{NULL, PODS, "ADDED p;MODIFIED p;DELETED p;", "sss"},
		{NULL, PODS "?labelSelector=x%3D1", "ADDED p;DELETED p;", "ss"},
		{NULL, PODS "?labelSelector=x%3D2", "ADDED p;DELETED p;", "ss"},
		{META, PODS, "ADDED p;MODIFIED p;DELETED p;", "---"},
		{META, PODS "?labelSelector=x%3D1", "ADDED p;DELETED p;", "--"},
		{TABLE, PODS, "ADDED -;MODIFIED -;DELETED -;", "ooo"},
		{TABLE, PODS "?includeObject=None", "ADDED -;MODIFIED -;DELETED -;", "rrr"},
	};
	enum { N = sizeof(forms) / sizeof(*forms) };
	struct api *r = *state;
	struct api_watch w[2 * N];

	for (size_t i = 0; i < 2 * N; i++) {
		r->accept = forms[i % N].accept;
		watch_from_now(r, &w[i], forms[i % N].path);
	}
	r->accept = NULL;
	api_do(r, "POST", PODS, "{'metadata':{'name':'p','labels':{'x':'1'}},'spec':{}}");
	api_patch(r, "merge-patch+json", PODS "/p", "{'metadata':{'labels':{'x':'2'}}}");
	api_do(r, "DELETE", PODS "/p", NULL);
	api_run(r, 1000);
	for (size_t i = 0; i < 2 * N; i++) {
		assert_said(&w[i], forms[i % N].want);
		assert_string_equal(w[i].shapes, forms[i % N].shapes);
		api_watch_stop(&w[i]);
	}
}

static void a_revision_before_the_history_is_410_inside_the_stream(void **state)
{
	struct api r;
	struct api_watch w;

	(void)state;
	api_start(&r, NULL, 3);
	for (int i = 0; i < 6; i++)
		api_do(&r, "POST", CM, "{'metadata':{'generateName':'x'}}");
	api_watch_start(&r, &w, CM "?watch=true&resourceVersion=2");
	assert_int_equal(w.status, 200);
	assert_string_equal(w.said.data, "ERROR 410 Expired;");
	assert_true(w.ended);
	assert_true(w.whole);
	api_watch_stop(&w);
	api_stop(&r);
}

static void a_watch_ends_well_after_its_time(void **state)
{
	struct api *r = *state;
	struct api_watch w;

	api_watch_start(r, &w, CM "?watch=true&timeoutSeconds=10");
	api_run(r, 8000);
	assert_false(w.ended);
	api_run(r, 2000);
	assert_true(w.ended);
	assert_true(w.whole);
	api_watch_stop(&w);

	api_watch_start(r, &w, CM "?watch=true");
	api_run(r, 29 * 60 * 1000);
	assert_false(w.ended);
	api_run(r, 31 * 60 * 1000);
	assert_true(w.ended);
	api_watch_stop(&w);
}

static void bookmarks_carry_the_revision_that_was_reached(void **state)
{
	struct api *r = *state;
	struct api_watch w;
	char want[64];

	watch_from_now(r, &w, CM "?allowWatchBookmarks=true");
	for (int i = 0; i < 5; i++)
		api_do(r, "POST", PODS, "{'metadata':{'generateName':'p'}}");
	api_run(r, 61000);
	snprintf(want, sizeof(want), "BOOKMARK - %llu;", (unsigned long long)store_rev(r->s));
	assert_string_equal(w.said.data, want);
	api_watch_stop(&w);
}

static void initial_events_end_with_a_bookmark_that_says_so(void **state)
{
	struct api *r = *state;
	struct api_watch w;

	api_do(r, "POST", CM, "{'metadata':{'name':'a'}}");
	api_do(r, "POST", CM, "{'metadata':{'name':'b'}}");
	api_watch_start(r, &w,
			CM "?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
			   "&resourceVersion=2&allowWatchBookmarks=true");
	assert_said(&w, "ADDED a;ADDED b;BOOKMARK -;");
	assert_int_equal(w.initial_ends, 1);
	api_do(r, "DELETE", CM "/a", NULL);
	api_run(r, 61000);
	assert_said(&w, "ADDED a;ADDED b;BOOKMARK -;DELETED a;BOOKMARK -;");
	assert_int_equal(w.initial_ends, 1);
	api_watch_stop(&w);

	api_watch_start(r, &w,
			CM "?watch=true&sendInitialEvents=false&resourceVersionMatch=NotOlderThan");
	assert_said(&w, "");
	api_do(r, "DELETE", CM "/b", NULL);
	api_run(r, 1000);
	assert_said(&w, "DELETED b;");
	api_watch_stop(&w);
}

static void what_a_watch_cannot_do_is_refused(void **state)
{
	struct api *r = *state;
	struct api_watch w;

	api_watch_start(r, &w, CM "?watch=true&sendInitialEvents=true");
	assert_int_equal(w.status, 422);
	buf_clear(&w.line);
	api_watch_stop(&w);
	api_do(r, "GET", CM "?watch=true&resourceVersion=x", NULL);
	assert_status(r, 400);
	api_do(r, "GET", CM "?watch=true&timeoutSeconds=x", NULL);
	assert_status(r, 400);
	api_do(r, "GET", CM "?watch=true&fieldSelector=nothing%3D1", NULL);
	assert_status(r, 400);
}

static void a_client_that_reads_nothing_is_cut_off_in_the_end(void **state)
{
	struct api *r = *state;
	struct api_watch w;
	char *big = mem_alloc((2 << 20) + 1), *body;

	memset(big, 'x', 2 << 20);
	body = mem_printf("{'metadata':{'name':'big'},'data':{'k':'%s'}}", big);
	watch_from_now(r, &w, CM);
	api_do(r, "POST", CM, body);
	assert_status(r, 201);
	api_run(r, 1000);
	w.stalled = true;
	for (int i = 0; i < 20; i++) {
		api_patch(r, "merge-patch+json", CM "/big",
			  i % 2 ? "{'data':{'n':'1'}}" : "{'data':{'n':'2'}}");
		assert_status(r, 200);
	}
	api_run(r, 1000);
	w.stalled = false;
	http_want(w.q);
	api_run(r, 60000);
	/* The watch got fewer than all events, but each one completely. */
	assert_true(w.ended);
	assert_true(w.lines > 10 && w.lines < 21);
	api_watch_stop(&w);
	free(body);
	free(big);
}

static void a_client_that_goes_away_takes_its_watch_along(void **state)
{
	struct api *r = *state;
	struct api_watch w;

	watch_from_now(r, &w, CM);
	api_watch_stop(&w);
	api_do(r, "POST", CM, "{'metadata':{'name':'a'}}");
	assert_status(r, 201);
	api_run(r, 1000);
	/* apiserver_free() in the teardown asserts that no watch is left. */
	httpd_free(r->d);
	apiserver_free(r->a);
	r->d = NULL;
	r->a = NULL;
	http_mem_serve(r->net, "https://api:6443", NULL);
}

static void a_watch_of_a_kind_outlives_its_definition(void **state)
{
	struct api *r = *state;
	struct api_watch w;

	api_do(r, "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
	       "{'metadata':{'name':'things.example.dev'},"
	       "'spec':{'group':'example.dev','scope':'Cluster',"
	       "'names':{'plural':'things','kind':'Thing'},"
	       "'versions':[{'name':'v1','served':true,'storage':true}]}}");
	assert_status(r, 201);
	watch_from_now(r, &w, "/apis/example.dev/v1/things?allowWatchBookmarks=true");
	api_do(r, "POST", "/apis/example.dev/v1/things", "{'metadata':{'name':'a'}}");
	api_do(r, "DELETE",
	       "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/things.example.dev", NULL);
	assert_status(r, 200);
	api_run(r, 61000);
	assert_said(&w, "ADDED a;DELETED a;BOOKMARK -;");
	api_watch_stop(&w);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, api_setup, api_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_watch_tells_what_happens_from_its_revision_on),
		CASE(a_watch_from_nowhere_begins_with_what_there_is),
		CASE(an_object_comes_into_and_goes_out_of_a_selection),
		CASE(watches_of_all_forms_follow_one_object),
		cmocka_unit_test(a_revision_before_the_history_is_410_inside_the_stream),
		CASE(a_watch_ends_well_after_its_time),
		CASE(bookmarks_carry_the_revision_that_was_reached),
		CASE(initial_events_end_with_a_bookmark_that_says_so),
		CASE(what_a_watch_cannot_do_is_refused),
		CASE(a_client_that_reads_nothing_is_cut_off_in_the_end),
		CASE(a_client_that_goes_away_takes_its_watch_along),
		CASE(a_watch_of_a_kind_outlives_its_definition),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
