#include "tests/unit/testing.h"

#include <stdio.h>
#include <stdlib.h>
#include "base/data/items.h"

/* Everything handed out, one line each: "item TEXT" or "head TEXT". */
struct seen {
	char text[4096];
	size_t len;
	int stop_after; /* refuse this item; 0: none */
	int items;
};

static void note(struct seen *s, const char *what, const char *text, size_t len)
{
	int n = snprintf(s->text + s->len, sizeof(s->text) - s->len, "%s %.*s\n", what, (int)len,
			 text);

	assert_true(n > 0 && (size_t)n < sizeof(s->text) - s->len);
	s->len += (size_t)n;
}

static int on_item(const char *text, size_t len, void *arg, struct err *e)
{
	struct seen *s = arg;

	if (++s->items == s->stop_after)
		return err_set(e, ERR_INVALID, 7, "item %d is refused", s->items);
	note(s, "item", text, len);
	return 0;
}

static int on_head(const char *text, size_t len, void *arg, struct err *e)
{
	(void)e;
	note(arg, "head", text, len);
	return 0;
}

static const struct items_ops ops = {.on_item = on_item, .on_head = on_head};

/* chunk: bytes a feed; each piece is copied to the heap so that reading past it is seen. */
static int run(enum items_mode mode, size_t max, const char *text, size_t chunk, struct seen *s,
	       struct err *e)
{
	struct items *it = items_new(mode, max, &ops, s);
	size_t len = strlen(text);
	int rc = 0;

	for (size_t i = 0; i < len && rc == 0; i += chunk) {
		size_t n = len - i < chunk ? len - i : chunk;
		char *piece = malloc(n);

		memcpy(piece, text + i, n);
		rc = items_feed(it, piece, n, e);
		free(piece);
	}
	if (rc == 0)
		rc = items_end(it, e);
	items_free(it);
	return rc;
}

static void assert_seen(enum items_mode mode, const char *text, const char *want)
{
	for (size_t chunk = 1; chunk <= strlen(text) + 1; chunk++) {
		struct seen s = {0};
		struct err e;

		if (run(mode, 64, text, chunk, &s, &e) < 0)
			fail_msg("chunk %zu of %s: %s", chunk, text, e.text);
		assert_string_equal(s.text, want);
	}
}

static void a_list_is_split_whatever_the_size_of_the_chunks(void **state)
{
	(void)state;
	assert_seen(
		ITEMS_LIST,
		"{\"kind\":\"PodList\",\"metadata\":{\"resourceVersion\":\"7\"},\"items\":[{\"a\":1},{\"b\":[2]}]}",
		"item {\"a\":1}\nitem {\"b\":[2]}\n"
		"head {\"kind\":\"PodList\",\"metadata\":{\"resourceVersion\":\"7\"}}\n");
	assert_seen(
		ITEMS_LIST,
		" {\n \"items\" : [ { \"a\" : 1 } , {} ] ,\n \"metadata\" : { } , \"n\" : 12 }\n\n",
		"item { \"a\" : 1 }\nitem {}\nhead {\"metadata\":{ },\"n\":12}\n");
	assert_seen(ITEMS_LIST, "{\"items\":[]}", "head {}\n");
	assert_seen(ITEMS_LIST, "{\"items\":[ ],\"a\":1}", "head {\"a\":1}\n");
	assert_seen(ITEMS_LIST, "{\"a\":1,\"items\":null,\"b\":2}", "head {\"a\":1,\"b\":2}\n");
	assert_seen(ITEMS_LIST, "{}", "head {}\n");
	assert_seen(ITEMS_LIST, "{\"items\":[1,\"a,]\",[2],null]}",
		    "item 1\nitem \"a,]\"\nitem [2]\nitem null\nhead {}\n");
}

static void brackets_and_quotes_inside_strings_end_nothing(void **state)
{
	(void)state;
	assert_seen(ITEMS_LIST,
		    "{\"items\":[{\"a\":\"}]\\\"}{\"},{\"b\":\"\\\\\"}],\"x\\\"}\":\"]}\"}",
		    "item {\"a\":\"}]\\\"}{\"}\nitem {\"b\":\"\\\\\"}\nhead {\"x\\\"}\":\"]}\"}\n");
}

static void only_the_items_of_the_top_object_are_the_items(void **state)
{
	(void)state;
	assert_seen(
		ITEMS_LIST,
		"{\"metadata\":{\"items\":[{\"no\":1}]},\"items\":[{\"items\":[{\"in\":1}]}],\"items2\":[1]}",
		"item {\"items\":[{\"in\":1}]}\nhead {\"metadata\":{\"items\":[{\"no\":1}]},\"items2\":[1]}\n");
}

static void a_list_that_is_not_one_is_refused(void **state)
{
	static const char *const bad[] = {
		"",
		" ",
		"[",
		"null",
		"{",
		"{\"items\":[",
		"{\"items\":[{}",
		"{\"items\":[{}]",
		"{\"items\":[{},]}",
		"{\"items\":[,{}]}",
		"{\"items\":[{}{}]}",
		"{\"items\":{}}",
		"{\"items\":7}",
		"{\"items\":[]}x",
		"{\"items\":[]}{}",
		"{\"items\":[],\"items\":[]}",
		"{,}",
		"{\"a\"}",
		"{\"a\":1 2}",
		"{a:1}",
		"{\"items\":[}]}",
		"\x01\x02",
		"{\"items\":[{\"a\":\"",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		for (size_t chunk = 1; chunk <= 32; chunk += 31) {
			struct seen s = {0};
			struct err e = {0};

			if (run(ITEMS_LIST, 64, bad[i], chunk, &s, &e) == 0)
				fail_msg("accepted: %s", bad[i]);
			assert_int_equal(e.kind, ERR_PROTOCOL);
		}
}

static void an_item_past_the_limit_is_refused_and_one_at_the_limit_is_not(void **state)
{
	static const char list[] = "{\"items\":[{\"a\":\"12345678\"}]}"; /* the item has 16 bytes */
	static const char lines[] = "{\"a\":\"12345678\"}\n";

	(void)state;
	for (size_t chunk = 1; chunk <= 64; chunk += 3) {
		struct seen s = {0};
		struct err e;

		assert_ok(run(ITEMS_LIST, 16, list, chunk, &s, &e), &e);
		assert_int_equal(run(ITEMS_LIST, 15, list, chunk, &s, &e), -1);
		assert_int_equal(e.kind, ERR_PROTOCOL);
		assert_string_equal(e.text, "item 0 has more than 15 bytes");
		assert_ok(run(ITEMS_LINES, 16, lines, chunk, &s, &e), &e);
		assert_int_equal(run(ITEMS_LINES, 15, lines, chunk, &s, &e), -1);
		assert_string_equal(e.text, "item 0 has more than 15 bytes");
	}
}

static void what_is_not_in_items_is_bounded_too(void **state)
{
	struct seen s = {0};
	struct err e;

	(void)state;
	assert_int_equal(
		run(ITEMS_LIST, 16, "{\"metadata\":\"123456789\",\"items\":[]}", 4, &s, &e), -1);
	assert_string_equal(e.text, "list without its items has more than 16 bytes");
}

static void an_error_of_the_caller_stops_the_list_and_stays(void **state)
{
	struct seen s = {.stop_after = 2};
	struct items *it = items_new(ITEMS_LIST, 64, &ops, &s);
	struct err e = {0};

	(void)state;
	assert_int_equal(items_feed(it, "{\"items\":[1,2,3]}", 17, &e), -1);
	assert_int_equal(e.code, 7);
	err_clear(&e);
	assert_int_equal(items_feed(it, "[", 1, &e), -1);
	assert_string_equal(e.text, "item 2 is refused");
	assert_int_equal(items_end(it, &e), -1);
	assert_string_equal(s.text, "item 1\n");
	items_free(it);
}

static void a_watch_is_split_into_lines_and_a_partial_last_one_is_dropped(void **state)
{
	(void)state;
	assert_seen(ITEMS_LINES, "{\"type\":\"ADDED\"}\n\n \r\n{\"type\":\"\\n\"}\r\n{\"cut\":",
		    "item {\"type\":\"ADDED\"}\nitem {\"type\":\"\\n\"}\r\n");
	assert_seen(ITEMS_LINES, "", "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_list_is_split_whatever_the_size_of_the_chunks),
		cmocka_unit_test(brackets_and_quotes_inside_strings_end_nothing),
		cmocka_unit_test(only_the_items_of_the_top_object_are_the_items),
		cmocka_unit_test(a_list_that_is_not_one_is_refused),
		cmocka_unit_test(an_item_past_the_limit_is_refused_and_one_at_the_limit_is_not),
		cmocka_unit_test(what_is_not_in_items_is_bounded_too),
		cmocka_unit_test(an_error_of_the_caller_stops_the_list_and_stays),
		cmocka_unit_test(a_watch_is_split_into_lines_and_a_partial_last_one_is_dropped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
