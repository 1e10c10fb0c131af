#include "tests/unit/kube/apiserver/api_rig.h"

#include <stdio.h>
#include <stdlib.h>
#include "base/http/http.h"
#include "base/mem.h"

#define CM "/api/v1/namespaces/default/configmaps"
#define PODS "/api/v1/namespaces/default/pods"

static void names_of(struct api *r, struct buf *out)
{
	char path[64];
	const char *name;

	buf_clear(out);
	for (int i = 0;
	     snprintf(path, sizeof(path), "items.%d.metadata.name", i), (name = api_str(r, path));
	     i++)
		buf_printf(out, "%s ", name);
}

static void selectors_choose(void **state)
{
	struct api *r = *state;
	static const struct {
		const char *query, *want;
	} cases[] = {
		{"", "a b c "},
		{"?labelSelector=x%3D1", "a "},
		{"?labelSelector=x!%3D1", "b c "},
		{"?labelSelector=x%20in%20(1,2)", "a b "},
		{"?labelSelector=!x", "c "},
		{"?fieldSelector=metadata.name%3Db", "b "},
		{"?fieldSelector=metadata.name%3D%3Db", "b "},
		{"?fieldSelector=metadata.name!%3Db", "a c "},
		{"?fieldSelector=spec.nodeName%3Dn1", "a "},
		{"?fieldSelector=spec.nodeName%3D", "b c "},
		{"?fieldSelector=spec.nodeName%3Dn1,status.phase%3DPending", "a "},
		{"?fieldSelector=spec.nodeName%3Dn1,status.phase%3DRunning", ""},
		{"?fieldSelector=metadata.namespace%3Ddefault", "a b c "},
		{"?fieldSelector=metadata.namespace%3Dother", ""},
		{"?labelSelector=x&fieldSelector=metadata.name%3Db", "b "},
	};
	static const char *const refused[] = {
		"?fieldSelector=spec.other%3D1",
		"?fieldSelector=x",
		"?labelSelector=%3D%3D",
		"?limit=x",
		"?resourceVersion=x",
		"?continue=x",
		"?continue=e30%3D",
	};
	struct buf names;

	buf_init(&names, 1024);
	api_do(r, "POST", PODS, "{'metadata':{'name':'b','labels':{'x':'2'}},'spec':{}}");
	api_do(r, "POST", PODS,
	       "{'metadata':{'name':'a','labels':{'x':'1'}},'spec':{'nodeName':'n1'}}");
	api_do(r, "POST", PODS, "{'metadata':{'name':'c'}}");
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char path[256];

		snprintf(path, sizeof(path), PODS "%s", cases[i].query);
		api_do(r, "GET", path, NULL);
		assert_status(r, 200);
		assert_string_equal(api_str(r, "kind"), "PodList");
		assert_string_equal(api_str(r, "apiVersion"), "v1");
		names_of(r, &names);
		if (strcmp(names.data, cases[i].want) != 0)
			fail_msg("%s: want %s, got %s", cases[i].query, cases[i].want, names.data);
	}
	for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++) {
		char path[256];

		snprintf(path, sizeof(path), PODS "%s", refused[i]);
		api_do(r, "GET", path, NULL);
		assert_status(r, 400);
	}
	buf_done(&names);
}

static void a_list_over_all_namespaces_and_of_one(void **state)
{
	struct api *r = *state;

	api_do(r, "POST", CM, "{'metadata':{'name':'a'}}");
	api_do(r, "POST", "/api/v1/namespaces/kube-system/configmaps", "{'metadata':{'name':'b'}}");
	api_do(r, "GET", "/api/v1/configmaps", NULL);
	assert_int_equal(api_int(r, "items"), 2);
	api_do(r, "GET", CM, NULL);
	assert_int_equal(api_int(r, "items"), 1);
	api_do(r, "GET", "/api/v1/namespaces", NULL);
	assert_int_equal(api_int(r, "items"), 4);
	api_do(r, "GET", "/api/v1/namespaces/none/configmaps", NULL);
	assert_status(r, 200);
	assert_int_equal(api_int(r, "items"), 0);
}

static void pages_join_to_the_whole_with_one_revision(void **state)
{
	struct api *r = *state;
	struct buf names, path;
	char rev[32];
	int pages = 0;

	buf_init(&names, 4096);
	buf_init(&path, 4096);
	for (int i = 0; i < 7; i++) {
		char body[64];

		snprintf(body, sizeof(body), "{'metadata':{'name':'c%d'}}", i);
		api_do(r, "POST", CM, body);
	}
	snprintf(rev, sizeof(rev), "%llu", (unsigned long long)store_rev(r->s));
	buf_puts(&path, CM "?limit=3");
	for (bool more = true; more; pages++) {
		char *token;

		api_do(r, "GET", path.data, NULL);
		assert_status(r, 200);
		assert_string_equal(api_str(r, "metadata.resourceVersion"), rev);
		for (int i = 0; i < (int)api_int(r, "items"); i++) {
			char at[64];

			snprintf(at, sizeof(at), "items.%d.metadata.name", i);
			buf_printf(&names, "%s ", api_str(r, at));
		}
		token = api_str(r, "metadata.continue")
				? mem_strdup(api_str(r, "metadata.continue"))
				: NULL;
		more = token != NULL;
		buf_clear(&path);
		buf_puts(&path, CM "?limit=3&continue=");
		if (more) {
			http_escape(&path, token);
			/* Objects created between two pages do not change the revision of the
			 * list. */
			api_do(r, "POST", CM, "{'metadata':{'generateName':'b'}}");
		}
		free(token);
	}
	assert_int_equal(pages, 3);
	assert_string_equal(names.data, "c0 c1 c2 c3 c4 c5 c6 ");
	buf_done(&names);
	buf_done(&path);
}

static void a_page_from_before_the_history_is_410(void **state)
{
	struct api r;
	struct buf path;

	(void)state;
	api_start(&r, NULL, 5);
	buf_init(&path, 4096);
	api_do(&r, "POST", CM, "{'metadata':{'name':'a'}}");
	api_do(&r, "POST", CM, "{'metadata':{'name':'b'}}");
	api_do(&r, "GET", CM "?limit=1", NULL);
	buf_puts(&path, CM "?limit=1&continue=");
	http_escape(&path, api_str(&r, "metadata.continue"));
	for (int i = 0; i < 6; i++)
		api_do(&r, "POST", CM, "{'metadata':{'generateName':'x'}}");
	api_do(&r, "GET", path.data, NULL);
	assert_status(&r, 410);
	assert_string_equal(api_str(&r, "reason"), "Expired");
	buf_done(&path);
	api_stop(&r);
}

static void a_large_list_comes_whole_and_leaves_turns_to_others(void **state)
{
	struct api *r = *state;
	enum { N = 400 };
	char *big = mem_alloc(8001), *body;

	memset(big, 'x', 8000);
	for (int i = 0; i < N; i++) {
		body = mem_printf(
			"{'metadata':{'name':'c%03d','labels':{'odd':'%d'}},'data':{'k':'%s'}}", i,
			i & 1, big);
		api_do(r, "POST", CM, body);
		free(body);
	}
	api_do(r, "GET", CM, NULL);
	assert_status(r, 200);
	assert_int_equal(api_int(r, "items"), N);
	assert_string_equal(api_str(r, "items.399.metadata.name"), "c399");
	/* Most chunks of this reply are empty: 3.2 MB are read for one match. */
	api_do(r, "GET", CM "?fieldSelector=metadata.name%3Dc399", NULL);
	assert_int_equal(api_int(r, "items"), 1);
	api_do(r, "GET", CM "?labelSelector=odd%3D1", NULL);
	assert_int_equal(api_int(r, "items"), N / 2);
	free(big);
}

static void a_revision_that_is_not_yet_is_a_timeout(void **state)
{
	struct api *r = *state;

	api_do(r, "GET", CM "?resourceVersion=0", NULL);
	assert_status(r, 200);
	api_do(r, "GET", CM "?resourceVersion=100000", NULL);
	assert_status(r, 504);
}

/* --- only metadata ---------------------------------------------------------------------------- */

static void on_done(const struct http_reply *reply, const struct err *e, void *arg)
{
	struct err unreadable;

	assert_null(e);
	assert_int_equal(reply->status, 200);
	*(json_t **)arg = json_parse(reply->body, reply->body_len, &unreadable);
}

static void metadata_alone_may_be_asked_for(void **state)
{
	struct api *r = *state;
	struct http_header accept = {
		"Accept", "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"};
	json_t *j = NULL;
	struct http_call c = {
		.path = CM, .headers = &accept, .nheaders = 1, .done = on_done, .arg = &j};

	api_do(r, "POST", CM, "{'metadata':{'name':'a'},'data':{'k':'v'}}");
	http_start(r->p, &c);
	api_run(r, 1000);
	assert_non_null(j);
	assert_string_equal(json_str_at(j, "kind"), "PartialObjectMetadataList");
	assert_string_equal(json_str_at(json_array_get(json_at(j, "items"), 0), "metadata", "name"),
			    "a");
	assert_null(json_at(json_array_get(json_at(j, "items"), 0), "data"));
	json_decref(j);
}

static void a_list_may_ask_for_an_exact_revision(void **state)
{
	struct api *r = *state;
	static const char list[] = "/api/v1/namespaces/default/configmaps";
	char path[200];

	api_do(r, "POST", list, "{'metadata':{'name':'exact'}}");
	snprintf(path, sizeof(path), "%s?resourceVersionMatch=Exact&resourceVersion=%s", list,
		 api_str(r, "metadata.resourceVersion"));
	api_do(r, "GET", path, NULL);
	assert_status(r, 200);
	api_do(r, "POST", list, "{'metadata':{'name':'later'}}");
	api_do(r, "GET", path, NULL);
	assert_status(r, 410);
	snprintf(path, sizeof(path), "%s?resourceVersionMatch=NotOlderThan&resourceVersion=1",
		 list);
	api_do(r, "GET", path, NULL);
	assert_status(r, 200);
	snprintf(path, sizeof(path), "%s?resourceVersionMatch=NotOlderThan", list);
	api_do(r, "GET", path, NULL);
	assert_status(r, 422);
	snprintf(path, sizeof(path), "%s?resourceVersionMatch=Exact&resourceVersion=0", list);
	api_do(r, "GET", path, NULL);
	assert_status(r, 422);
	snprintf(path, sizeof(path), "%s?resourceVersionMatch=Near&resourceVersion=1", list);
	api_do(r, "GET", path, NULL);
	assert_status(r, 422);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, api_setup, api_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(selectors_choose),
		CASE(a_list_over_all_namespaces_and_of_one),
		CASE(pages_join_to_the_whole_with_one_revision),
		cmocka_unit_test(a_page_from_before_the_history_is_410),
		CASE(a_large_list_comes_whole_and_leaves_turns_to_others),
		CASE(a_revision_that_is_not_yet_is_a_timeout),
		CASE(metadata_alone_may_be_asked_for),
		CASE(a_list_may_ask_for_an_exact_revision),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
