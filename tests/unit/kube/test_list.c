#include "tests/unit/testing.h"

#include <stdio.h>
#include <stdlib.h>
#include "base/buf.h"
#include "base/mem.h"
#include "base/str.h"
#include "tests/unit/kube/fake_api.h"

/* Serves Nodes n0 ... in pages of two, with tokens "2", "4" ...; the token expire_at is answered
 * with 410 once. */
struct pages {
	struct fake_api f;
	unsigned total, expire_at, expired;
	/* Body with which each request is answered; NULL: the pages. */
	const char *raw;
	char query[256];

	/* Results of the list. */
	unsigned items, restarts, done, stop_at;
	char names[256], rv[32];
	struct err e;
	struct kube_call *call;
};

static bool serve(struct fake_api *f, struct httpd_req *q)
{
	struct pages *p = f->arg;
	const char *token = httpd_query(q, "continue");
	unsigned from = token ? (unsigned)atoi(token) : 0, n = 0;
	struct buf b;

	snprintf(p->query, sizeof(p->query), "%s|%s|%s", str_or(httpd_query(q, "limit"), ""),
		 str_or(httpd_query(q, "labelSelector"), ""),
		 str_or(httpd_query(q, "fieldSelector"), ""));
	if (p->raw) {
		httpd_reply_json(q, 200, p->raw);
		return true;
	}
	if (token && from == p->expire_at && p->expired) {
		p->expired--;
		fake_api_status(q, 410, "Expired", "The provided continue parameter is too old");
		return true;
	}
	buf_init(&b, 65536);
	buf_puts(&b, "{\"kind\":\"NodeList\",\"items\":[");
	for (; n < 2 && from + n < p->total; n++)
		buf_printf(&b, "%s{\"metadata\":{\"name\":\"n%u\"}}", n ? "," : "", from + n);
	buf_printf(&b, "],\"metadata\":{\"resourceVersion\":\"%u\"", 50 + from);
	if (from + n < p->total)
		buf_printf(&b, ",\"continue\":\"%u\"", from + n);
	buf_puts(&b, "}}");
	httpd_reply_json(q, 200, b.data);
	buf_done(&b);
	return true;
}

static void on_item(json_t *object, void *arg)
{
	struct pages *p = arg;
	size_t at = strlen(p->names);

	p->items++;
	snprintf(p->names + at, sizeof(p->names) - at, "%s ",
		 str_or(json_str_at(object, "metadata", "name"), "?"));
	if (p->items == p->stop_at)
		kube_call_cancel(p->call);
}

static void on_restart(void *arg)
{
	struct pages *p = arg;

	p->restarts++;
	p->names[0] = '\0';
}

static void on_done(const char *rv, const struct err *e, void *arg)
{
	struct pages *p = arg;

	p->done++;
	err_clear(&p->e);
	if (e)
		p->e = *e;
	assert_true(!rv == !!e);
	str_copy(p->rv, sizeof(p->rv), str_or(rv, ""));
}

static void list(struct pages *p, const char *labels, const char *fields)
{
	fake_api_start(&p->f, NULL);
	p->f.serve = serve;
	p->f.arg = p;
	p->call = kube_list(p->f.c, &(struct kube_list_spec){
					    .resource = &KUBE_NODES,
					    .label_selector = labels,
					    .field_selector = fields,
					    .on_item = on_item,
					    .on_restart = on_restart,
					    .done = on_done,
					    .arg = p,
				    });
	assert_int_equal(p->done, 0);
	fake_api_run(&p->f, 600000);
}

static void a_list_comes_in_pages(void **state)
{
	struct pages p = {.total = 5};

	(void)state;
	list(&p, "a=b,c in (d,e)", "spec.nodeName=");
	assert_int_equal(p.done, 1);
	assert_int_equal(p.e.kind, ERR_NONE);
	assert_string_equal(p.names, "n0 n1 n2 n3 n4 ");
	assert_string_equal(p.rv, "50");
	assert_string_equal(p.query, "500|a=b,c in (d,e)|spec.nodeName=");
	assert_int_equal(p.f.requests, 3);
	assert_int_equal(p.restarts, 0);
	fake_api_stop(&p.f);
}

static void an_expired_page_starts_the_list_again(void **state)
{
	struct pages p = {.total = 5, .expire_at = 4, .expired = 1};

	(void)state;
	list(&p, NULL, NULL);
	assert_int_equal(p.e.kind, ERR_NONE);
	assert_int_equal(p.restarts, 1);
	assert_string_equal(p.names, "n0 n1 n2 n3 n4 ");
	fake_api_stop(&p.f);
}

static void a_list_that_always_expires_is_given_up(void **state)
{
	struct pages p = {.total = 5, .expire_at = 2, .expired = 1000};

	(void)state;
	list(&p, NULL, NULL);
	assert_int_equal(p.done, 1);
	assert_int_equal(p.e.code, 410);
	assert_int_equal(p.restarts, 3);
	fake_api_stop(&p.f);
}

static void a_list_that_is_none_is_refused(void **state)
{
	static const char *const cases[][2] = {
		{"{\"items\":[]}", "a list without resourceVersion"},
		{"{\"items\":[{}],\"metadata\":{\"resourceVersion\":\"1\"}", "ends after 1 items"},
		{"{\"items\":[3],\"metadata\":{\"resourceVersion\":\"1\"}}",
		 "item 0 of the list is not an object"},
		{"{\"items\":[{\"a\":}],\"metadata\":{\"resourceVersion\":\"1\"}}",
		 "item 0, byte 5: not a JSON value"},
		{"{\"items\":[],\"metadata\":{\"resourceVersion\":\"1\",\"continue\":\"x\"}}",
		 "a list whose next page is"},
		{"<html>", "byte 0: not a JSON value"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct pages p = {.raw = cases[i][0]};

		list(&p, NULL, NULL);
		assert_int_equal(p.done, 1);
		assert_int_equal(p.e.kind, ERR_PROTOCOL);
		if (!strstr(p.e.text, cases[i][1]))
			fail_msg("%s: %s", cases[i][0], p.e.text);
		fake_api_stop(&p.f);
	}
}

static void a_list_may_be_cancelled_by_its_items(void **state)
{
	for (unsigned i = 1; i <= 5; i++) {
		struct pages p = {.total = 5, .stop_at = i};

		(void)state;
		list(&p, NULL, NULL);
		assert_int_equal(p.done, 0);
		assert_int_equal(p.items, i);
		fake_api_stop(&p.f);
	}
}

static void selectors_without_end_are_refused(void **state)
{
	struct pages p = {.total = 1};
	char *labels = mem_alloc(70000);

	(void)state;
	memset(labels, 'a', 69999);
	list(&p, labels, NULL);
	assert_int_equal(p.e.kind, ERR_INVALID);
	assert_int_equal(p.f.requests, 0);
	free(labels);
	fake_api_stop(&p.f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_list_comes_in_pages),
		cmocka_unit_test(an_expired_page_starts_the_list_again),
		cmocka_unit_test(a_list_that_always_expires_is_given_up),
		cmocka_unit_test(a_list_that_is_none_is_refused),
		cmocka_unit_test(a_list_may_be_cancelled_by_its_items),
		cmocka_unit_test(selectors_without_end_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
