#include "tests/unit/testing.h"

#include <stdio.h>
#include <stdlib.h>
#include "base/buf.h"
#include "base/data/scan.h"
#include "tests/unit/base/data/scan_reference.h"

#define ROUNDS 6000

/* --- tables ----------------------------------------------------------------------------------- */

static const struct scan_want deep[] = {SCAN_PLAIN("a"), SCAN_ALL("b", 0), SCAN_END};
static const struct scan_want rest[] = {SCAN_DROP("a"), SCAN_SOME("c", deep), SCAN_REST};
static const struct scan_want bound[] = {SCAN_ALL("a", 200), SCAN_SOME_OF("b", deep, 150),
					 SCAN_PLAIN("c"), SCAN_END};
static const struct scan_want none[] = {SCAN_END};
static const struct scan_want mixed[] = {SCAN_SOME("a", deep),	SCAN_SOME("b", rest),
					 SCAN_SOME("c", bound), SCAN_SOME("\xc3\xa9", none),
					 SCAN_ALL("", 0),	SCAN_END};
static const struct scan_want *const tables[] = {scan_all, deep, rest, bound, none, mixed};
#define TABLES (sizeof(tables) / sizeof(tables[0]))

/* --- random texts ----------------------------------------------------------------------------- */

static uint64_t dice_state;

static size_t dice(size_t below)
{
	dice_state ^= dice_state << 13;
	dice_state ^= dice_state >> 7;
	dice_state ^= dice_state << 17;
	return (size_t)((dice_state >> 11) % below);
}

#define PICK(list) ((list)[dice(sizeof(list) / sizeof((list)[0]))])

static void put_space(struct buf *b)
{
	static const char *const spaces[] = {"", "", "", "", "", " ", "\t", "\r", "\n", "  "};

	buf_puts(b, PICK(spaces));
}

static void put_string(struct buf *b)
{
	static const char *const parts[] = {"a",
					    "b",
					    "c",
					    "abcdefgh",
					    "train-0",
					    "\\\"",
					    "\\\\",
					    "\\/",
					    "\\b\\f\\n\\r\\t",
					    "\\u0041",
					    "\\u00e9",
					    "\\u20AC",
					    "\\ud83d\\ude00",
					    "\xc3\xa9",
					    "\xe2\x82\xac",
					    "\xf0\x9f\x98\x80",
					    "\x7f",
					    "{",
					    "]",
					    ":",
					    ",",
					    "  ",
					    "\xed\x9f\xbf",
					    "\xee\x80\x80",
					    "\xf4\x8f\xbf\xbf"};

	buf_puts(b, "\"");
	for (size_t n = dice(4); n; n--)
		buf_puts(b, PICK(parts));
	buf_puts(b, "\"");
}

static void put_name(struct buf *b)
{
	static const char *const names[] = {"\"a\"",	    "\"b\"",	   "\"c\"",
					    "\"\xc3\xa9\"", "\"\\u00E9\"", "\"\"",
					    "\"\\u0061\"",  "\"d\"",	   "\"e\""};

	if (dice(4))
		buf_puts(b, PICK(names));
	else
		put_string(b);
}

static void put_scalar(struct buf *b)
{
	static const char *const odd[] = {"true",
					  "false",
					  "null",
					  "0",
					  "-0",
					  "1",
					  "-17",
					  "9223372036854775807",
					  "-9223372036854775808",
					  "1.5",
					  "-0.0",
					  "1e3",
					  "1E-3",
					  "2.5e+10",
					  "1e308",
					  "1e-400",
					  "0.1",
					  "123456789012345678.0"};
	static const char *const wrong[] = {"tru",
					    "nul",
					    "True",
					    "01",
					    "-",
					    "1.",
					    ".5",
					    "1e",
					    "1e+",
					    "+1",
					    "9223372036854775808",
					    "-9223372036854775809",
					    "1e309",
					    "-1e999",
					    "NaN",
					    "Infinity",
					    "0x10",
					    "\"\\ud83d\"",
					    "\"\\ude00\"",
					    "\"\\ud83dx\"",
					    "\"\\ud83d\\u0041\"",
					    "\"\\u0000\"",
					    "\"\\x\"",
					    "\"\\u12g4\"",
					    "\"\x80\"",
					    "\"\xc0\x80\"",
					    "\"\xed\xa0\x80\"",
					    "\"\xf4\x90\x80\x80\"",
					    "\"\xf5\x80\x80\x80\"",
					    "\"\xe0\x80\x80\"",
					    "\"\xc3\"",
					    "\"\x01\"",
					    "\"\n\"",
					    "'a'",
					    "",
					    "}",
					    "]",
					    "\"",
					    "\\"};

	if (!dice(150))
		buf_puts(b, PICK(wrong));
	else if (dice(3))
		put_string(b);
	else
		buf_puts(b, PICK(odd));
}

static void put_value(struct buf *b, unsigned depth)
{
	size_t kind = depth ? dice(5) : 0, n = dice(4);

	put_space(b);
	if (kind < 2) {
		put_scalar(b);
	} else {
		buf_puts(b, kind == 2 ? "[" : "{");
		for (size_t i = 0; i < n; i++) {
			put_space(b);
			if (kind > 2) {
				put_name(b);
				put_space(b);
				buf_puts(b, dice(300) ? ":" : "=");
			}
			put_value(b, depth - 1);
			buf_puts(b, i + 1 < n || !dice(100) ? "," : "");
		}
		put_space(b);
		buf_puts(b, (kind == 2) ^ !dice(300) ? "]" : "}");
	}
	put_space(b);
}

/* Damages the text: one byte more, one byte less or one byte changed. */
static void damage(struct buf *b)
{
	size_t at = dice(b->len);

	if (!dice(3))
		b->data[at] = (char)dice(256);
	else if (dice(2))
		b->data[at] = PICK("{}[],:\"\\ 0e-");
	else
		b->data[b->len = at] = '\0';
}

static void assert_like_jansson(const char *text, size_t len, const struct scan_want *want)
{
	const size_t chunks[] = {len ? len : 1, 1, 1 + dice(16)};
	struct err ours = {0}, theirs = {0};
	OWN_JSON tree = reference_parse(text, len, &theirs);
	OWN_JSON wanted = reference_trim(tree, want);

	for (size_t i = 0; i < sizeof(chunks) / sizeof(chunks[0]); i++) {
		OWN_JSON out = reference_scan(want, false, len, text, len, chunks[i], &ours);

		if (!out != !tree)
			fail_msg("%.*s\nhere: %s, jansson: %s", (int)len, text,
				 out ? "good" : ours.text, tree ? "good" : theirs.text);
		if (!out)
			assert_int_equal(ours.kind, ERR_PROTOCOL);
		else if (!reference_same(json_array_get(out, 0), wanted))
			fail_msg("%.*s\nhere: %s\nwanted: %s", (int)len, text,
				 json_dumps(json_array_get(out, 0), JSON_ENCODE_ANY),
				 json_dumps(wanted, JSON_ENCODE_ANY));
	}
}

static void it_keeps_and_refuses_what_jansson_and_a_trim_do(void **state)
{
	size_t good = 0;

	(void)state;
	dice_state = 88172645463325252;
	for (unsigned i = 0; i < ROUNDS; i++) {
		struct err e;
		struct buf b;
		json_t *j;

		buf_init(&b, 1u << 20);
		put_value(&b, 1 + (unsigned)dice(6));
		if (b.len && !dice(4))
			damage(&b);
		j = reference_parse(b.data, b.len, &e);
		good += j != NULL;
		json_decref(j);
		assert_like_jansson(b.data, b.len, tables[i % TABLES]);
		buf_done(&b);
	}
	/* Many texts must be valid and many invalid. Otherwise one of the two cases would hardly be
	 * tested. */
	assert_true(good > ROUNDS / 3 && good < ROUNDS * 9 / 10);
}

static void text_of_a_byte_or_two_is_read_as_jansson_does(void **state)
{
	char text[2];

	(void)state;
	dice_state = 1;
	for (int a = 0; a < 256; a++)
		for (int c = 0; c < 256; c++) {
			text[0] = (char)a;
			text[1] = (char)c;
			assert_like_jansson(text, 2, scan_all);
		}
	assert_like_jansson("", 0, scan_all);
}

static void every_sequence_of_utf_8_is_judged_as_jansson_does(void **state)
{
	static const unsigned char edges[] = {0x00, 0x22, 0x7f, 0x80, 0x8f, 0x90,
					      0x9f, 0xa0, 0xbf, 0xc0, 0xc2, 0xff};

	(void)state;
	dice_state = 1;
	for (int first = 0x80; first < 256; first++)
		for (size_t i = 0; i < sizeof(edges); i++)
			for (size_t k = 0; k < sizeof(edges); k++) {
				char text[] = {'"',
					       (char)first,
					       (char)edges[i],
					       (char)edges[k],
					       (char)0x80,
					       '"',
					       '\0'};

				assert_like_jansson(text, 6, scan_all);
				text[4] = '"';
				assert_like_jansson(text, 5, scan_all);
				text[3] = '"';
				assert_like_jansson(text, 4, scan_all);
			}
}

/* --- selection of members --------------------------------------------------------------------- */

static json_t *scan_text(const char *text, const struct scan_want *want)
{
	struct err e;
	json_t *j = scan_parse(text, strlen(text), want, &e);

	if (!j)
		fail_msg("%s: %s", text, e.text);
	return j;
}

static void assert_kept(const char *text, const struct scan_want *want, const char *kept)
{
	OWN_JSON j = scan_text(text, want);
	char *out = json_text(j);

	assert_string_equal(out, kept);
	free(out);
}

static void assert_refused(const char *text, const struct scan_want *want, const char *why)
{
	struct err e = {0};
	json_t *j = scan_parse(text, strlen(text), want, &e);

	if (j)
		fail_msg("accepted: %s", text);
	assert_string_equal(e.text, why);
	assert_int_equal(e.kind, ERR_PROTOCOL);
}

static void what_is_not_wanted_is_checked_all_the_same(void **state)
{
	(void)state;
	assert_refused("{\"x\":{\"y\":1,\"\\u0079\":2}}", none,
		       "byte 20: a name twice in one object");
	assert_refused("{\"x\":[1e999]}", none, "byte 11: a number that does not fit");
	assert_refused("{\"x\":[99999999999999999999]}", none,
		       "byte 26: a number that does not fit");
	assert_refused("{\"x\":\"\xff\"}", none, "byte 6: a byte that is not UTF-8");
	assert_refused("{\"x\":\"\\u0000\"}", none, "byte 6: a NUL in a string");
	assert_refused("{\"x\":[1,]}", none, "byte 8: not a JSON value");
	assert_refused("{\"x\":1}{", none, "byte 7: something after the value");
	assert_refused("{\"x\":", none, "ends after 0 items and 5 bytes without being complete");
}

static void the_same_name_in_two_objects_is_no_duplicate(void **state)
{
	(void)state;
	assert_kept("[{\"a\":1},{\"a\":1},{\"a\":{\"a\":1}},{\"b\":{\"b\":1},\"a\":[{\"b\":1}]}]",
		    none, "[{},{},{},{}]");
	assert_refused("[{\"b\":{\"b\":1},\"a\":[{\"b\":1}],\"b\":2}]", none,
		       "byte 31: a name twice in one object");
}

/* Returns true if an object with n names, nested in another one with n names, is accepted. again:
 * number of a name that is repeated at the end, -1: no repetition. */
static bool is_accepted(int n, int again)
{
	struct err e;
	struct buf b;
	json_t *j;

	buf_init(&b, 1u << 20);
	buf_puts(&b, "{");
	for (int i = 0; i < n; i++)
		buf_printf(&b, "\"n%d\":1,", i);
	buf_puts(&b, "\"in\":{");
	for (int i = 0; i < n; i++)
		buf_printf(&b, "%s\"n%d\":{\"n%d\":1}", i ? "," : "", i, i);
	buf_puts(&b, "}");
	if (again >= 0)
		buf_printf(&b, ",\"n%d\":1", again);
	buf_puts(&b, "}");
	j = scan_parse(b.data, b.len, none, &e);
	json_decref(j);
	buf_done(&b);
	return j != NULL;
}

static void a_name_comes_twice_among_few_and_among_many(void **state)
{
	(void)state;
	for (int n = 58; n < 70; n++) {
		assert_true(is_accepted(n, -1));
		assert_true(is_accepted(n, n));
		for (int again = 0; again < n; again++)
			assert_false(is_accepted(n, again));
	}
}

static void depth_is_bounded_as_in_json_parse(void **state)
{
	(void)state;
	dice_state = 3;
	for (unsigned depth = 62; depth < 68; depth++) {
		struct buf b;

		buf_init(&b, 4096);
		for (unsigned i = 0; i < depth; i++)
			buf_puts(&b, i % 2 ? "[" : "{\"a\":");
		buf_puts(&b, "1");
		for (unsigned i = depth; i--;)
			buf_puts(&b, i % 2 ? "]" : "}");
		assert_like_jansson(b.data, b.len, scan_all);
		assert_like_jansson(b.data, b.len, none);
		buf_done(&b);
	}
}

static void a_million_names_cost_time_in_proportion(void **state)
{
	struct buf b;
	struct err e;

	(void)state;
	buf_init(&b, 16u << 20);
	buf_puts(&b, "{");
	for (unsigned i = 0; i < 400000; i++)
		buf_printf(&b, "\"%x\":0,", i);
	buf_puts(&b, "\"g\":1}");
	OWN_JSON j = scan_parse(b.data, b.len, deep, &e);

	assert_int_equal(json_object_size(j), 2);
	b.data[b.len - 5] = 'f'; /* repeats an existing name */
	assert_null(scan_parse(b.data, b.len, deep, &e));
	buf_done(&b);
}

/* --- lists ------------------------------------------------------------------------------------ */

static const struct scan_want head_meta[] = {SCAN_PLAIN("resourceVersion"), SCAN_END};
static const struct scan_want list[] = {SCAN_SOME("metadata", head_meta), SCAN_EACH("items", rest),
					SCAN_END};

static void assert_given(const struct scan_want *want, bool lines, const char *text,
			 const char *given)
{
	for (size_t chunk = 1; chunk <= strlen(text) + 1; chunk++) {
		struct err e;
		OWN_JSON out = reference_scan(want, lines, 256, text, strlen(text), chunk, &e);
		char *dump;

		if (!out)
			fail_msg("chunk %zu of %s: %s", chunk, text, e.text);
		dump = json_text(out);
		assert_string_equal(dump, given);
		free(dump);
	}
}

static void a_list_is_given_out_item_by_item(void **state)
{
	(void)state;
	assert_given(list, false,
		     "{\"kind\":\"PodList\",\"metadata\":{\"resourceVersion\":\"7\",\"x\":1},"
		     "\"items\":[{\"a\":1},{\"b\":[2]}]}",
		     "[{},{\"b\":[2]},{\"metadata\":{\"resourceVersion\":\"7\"}}]");
	assert_given(
		list, false,
		" {\n \"items\" : [ { \"q\" : 1 } , {} ] ,\n \"metadata\" : { } , \"n\" : 12 }\n\n",
		"[{\"q\":1},{},{\"metadata\":{}}]");
	assert_given(list, false, "{\"items\":[]}", "[{}]");
	assert_given(list, false, "{\"items\":[ ],\"a\":1}", "[{}]");
	assert_given(list, false, "{\"a\":1,\"items\":null,\"b\":2}", "[{}]");
	assert_given(list, false, "{}", "[{}]");
	assert_given(list, false, "{\"items\":[1,\"a,]\",[2],null]}", "[1,\"a,]\",[2],null,{}]");
	/* Only the member `items` of the outermost object is a list of items. */
	assert_given(list, false, "{\"x\":{\"items\":[1]},\"items\":[{\"items\":[{\"i\":1}]}]}",
		     "[{\"items\":[{\"i\":1}]},{}]");
	/* A member name may occur once in each item: items do not count as duplicates of one
	 * another. */
	assert_given(list, false, "{\"items\":[{\"b\":1},{\"b\":1}],\"b\":1}",
		     "[{\"b\":1},{\"b\":1},{}]");
}

static void a_list_that_is_not_one_is_refused(void **state)
{
	static const char *const bad[] = {"",
					  " ",
					  "{",
					  "{\"items\":[",
					  "{\"items\":[{}",
					  "{\"items\":[{}]",
					  "{\"items\":[{},]}",
					  "{\"items\":[,{}]}",
					  "{\"items\":[{}{}]}",
					  "{\"items\":{}}",
					  "{\"items\":7}",
					  "{\"items\":true}",
					  "{\"items\":\"\"}",
					  "{\"items\":[]}x",
					  "{\"items\":[]}{}",
					  "{\"items\":[],\"items\":[]}",
					  "{\"items\":null,\"items\":[1]}",
					  "{,}",
					  "{\"a\"}",
					  "{\"a\":1 2}",
					  "{a:1}",
					  "{\"items\":[}]}",
					  "\x01\x02",
					  "{\"items\":[{\"a\":\"",
					  "{\"b\":1,\"items\":[],\"b\":1}"};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		for (size_t chunk = 1; chunk <= 32; chunk += 31) {
			struct err e = {0};

			if (reference_scan(list, false, 64, bad[i], strlen(bad[i]), chunk, &e))
				fail_msg("accepted: %s", bad[i]);
			assert_int_equal(e.kind, ERR_PROTOCOL);
		}
}

static int scan_at(const struct scan_want *want, bool lines, size_t max, const char *text,
		   size_t chunk, struct err *e)
{
	json_t *out = reference_scan(want, lines, max, text, strlen(text), chunk, e);

	json_decref(out);
	return out ? 0 : -1;
}

static void an_item_past_the_limit_is_refused_and_one_at_the_limit_is_not(void **state)
{
	static const char items[] =
		"{\"items\":[{\"a\":\"12345678\"}]}"; /* the item has 16 bytes */
	static const char lines[] = "{\"a\":\"12345678\"}\n";

	(void)state;
	for (size_t chunk = 1; chunk <= 64; chunk += 3) {
		struct err e;

		assert_ok(scan_at(list, false, 16, items, chunk, &e), &e);
		assert_int_equal(scan_at(list, false, 15, items, chunk, &e), -1);
		assert_int_equal(e.kind, ERR_PROTOCOL);
		assert_string_equal(e.text, "item 0 has more than 15 bytes");
		assert_ok(scan_at(scan_all, true, 16, lines, chunk, &e), &e);
		assert_int_equal(scan_at(scan_all, true, 15, lines, chunk, &e), -1);
		assert_string_equal(e.text, "item 0 has more than 15 bytes");
	}
}

static void what_is_beside_the_items_is_bounded_too(void **state)
{
	struct err e;

	(void)state;
	assert_ok(scan_at(list, false, 22, "{\"x\":\"1\", \"items\":[   1,   2,     3   ]}", 4, &e),
		  &e);
	assert_int_equal(scan_at(list, false, 16, "{\"x\":\"123456789\",\"items\":[]}", 4, &e), -1);
	assert_string_equal(e.text, "more than 16 bytes");
}

static void an_item_deep_in_a_list_has_its_own_depth(void **state)
{
	struct buf b;
	struct err e;

	(void)state;
	for (unsigned depth = 64; depth <= 65; depth++) {
		buf_init(&b, 4096);
		buf_puts(&b, "{\"items\":[");
		for (unsigned i = 0; i < depth; i++)
			buf_puts(&b, "[");
		for (unsigned i = 0; i < depth; i++)
			buf_puts(&b, "]");
		buf_puts(&b, "]}");
		assert_int_equal(scan_at(list, false, 4096, b.data, 7, &e), depth == 64 ? 0 : -1);
		buf_done(&b);
	}
	assert_string_equal(e.text, "item 0, byte 64: JSON deeper than 64 levels");
}

static int refuse_second(json_t *value, void *arg, struct err *e)
{
	(void)value;
	return ++*(int *)arg == 2 ? err_set(e, ERR_INVALID, 7, "item 2 is refused") : 0;
}

static void an_error_of_the_caller_stops_the_scan_and_stays(void **state)
{
	static const struct scan_ops ops = {.on_each = refuse_second};
	int n = 0;
	OWN(scan)
	s = scan_new(&(struct scan_spec){.want = list, .max_bytes = 64, .ops = &ops, .arg = &n});
	struct err e = {0};

	(void)state;
	assert_int_equal(scan_feed(s, "{\"items\":[1,2,3]}", 17, &e), -1);
	assert_int_equal(e.code, 7);
	err_clear(&e);
	assert_int_equal(scan_feed(s, " ", 1, &e), -1);
	assert_string_equal(e.text, "item 2 is refused");
	assert_int_equal(scan_end(s, &e), -1);
	assert_int_equal(n, 2);
}

/* --- lines ------------------------------------------------------------------------------------ */

static void lines_are_given_out_and_a_partial_last_one_is_dropped(void **state)
{
	(void)state;
	assert_given(scan_all, true,
		     "{\"type\":\"ADDED\"}\n\n \r\n{\"type\":\"\\n\"}\r\n7\n null \n{\"cut\":",
		     "[{\"type\":\"ADDED\"},{\"type\":\"\\n\"},7,null]");
	assert_given(scan_all, true, "", "[]");
	/* The last line is complete JSON, but lacks its newline. More bytes could follow, so the
	 * line is not reported. */
	assert_given(scan_all, true, "{}\n{}", "[{}]");
	assert_given(scan_all, true, "1\n12", "[1]");
}

/* A line ends in the middle of an escape. That is refused, whatever the chunk size, and even if
 * nothing follows. */
static void an_escape_that_its_line_cuts_is_refused(void **state)
{
	static const char *const bad[] = {"\"\\\n", "\"\\u\n", "\"\\ud\n", "\"\\ud83d\\u\n",
					  "\"\\ud83d\\ude\n"};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		for (size_t chunk = 1; chunk <= 16; chunk++) {
			struct err e;

			assert_int_equal(scan_at(scan_all, true, 64, bad[i], chunk, &e), -1);
			assert_int_equal(e.kind, ERR_PROTOCOL);
		}
}

/* Remembers the digest of the first line; a line with that digest is known. */
struct memory {
	char note[64];
	unsigned asked, known, told;
	uint64_t digest;
};

static bool was_seen(const struct scan_line *line, void *arg)
{
	struct memory *m = arg;
	bool same = line->digest == m->digest;

	m->asked++;
	m->digest = line->digest;
	m->known += same;
	(void)snprintf(m->note, sizeof(m->note), "%.*s",
		       line->note[0].text ? (int)line->note[0].len : 4,
		       line->note[0].text ? line->note[0].text : "none");
	return same;
}

static int count_told(json_t *value, void *arg, struct err *e)
{
	(void)value;
	(void)e;
	((struct memory *)arg)->told++;
	return 0;
}

static const struct scan_want noted_in[] = {SCAN_NOTED("rv", 1), SCAN_PLAIN("name"), SCAN_END};
static const struct scan_want noted[] = {SCAN_SOME("m", noted_in), SCAN_ALL("l", 200),
					 SCAN_SOME("a", deep), SCAN_END};

/* True if the second line is known after the first. */
static bool is_the_same(const char *first, const char *second, struct memory *m)
{
	static const struct scan_ops ops = {.is_known = was_seen, .on_value = count_told};
	OWN(scan)
	s = scan_new(&(struct scan_spec){.want = noted,
					 .lines = true,
					 .digests = true,
					 .max_bytes = 1000,
					 .ops = &ops,
					 .arg = m});
	struct err e;
	struct buf b;

	*m = (struct memory){0};
	buf_init(&b, 4096);
	buf_printf(&b, "%s\n%s\n", first, second);
	assert_ok(scan_feed(s, b.data, b.len, &e), &e);
	assert_ok(scan_end(s, &e), &e);
	buf_done(&b);
	assert_int_equal(m->asked, 2);
	assert_int_equal(m->told, 2 - m->known);
	return m->known;
}

static void a_line_that_says_the_same_is_known_before_it_is_built(void **state)
{
	static const char is[] =
		"{\"m\":{\"rv\":\"1\",\"name\":\"n\"},\"l\":{\"a\":\"b\",\"n\":[1,true]},"
		"\"a\":[{\"a\":1,\"b\":{}}],\"x\":[{\"t\":\"10:00\"}]}";
	static const struct {
		const char *from, *to;
		bool same;
	} cases[] = {
		{"\"rv\":\"1\"", "\"rv\":\"2\"", true},
		{"\"rv\":\"1\"", "\"rv\":\"12345678901\"", true},
		{"10:00", "10:01", true},
		{"[{\"t\"", "[{},{\"u\":{}},{\"t\"", true},
		{"\"x\":[", "\"y\":1,\"x\":[", true},
		{",\"l\"", ", \"l\"", true},
		{"\"n\"}", "\"m\"}", false},
		{"\"n\"}", "null}", false},
		{"\"name\"", "\"naem\"", false},
		{"\"b\",", "\"\",", false},
		{"\"a\":\"b\"", "\"ab\":\"\"", false},
		{"true", "false", false},
		{"[1,true]", "[1],\"o\":[true]", false},
		{"[1,", "[2,", false},
		{"[1,true]", "[[1,true]]", false},
		{"\"b\":{}", "\"b\":[]", false},
		{"\"b\":{}", "\"b\":\"\"", false},
		{"{\"a\":1,\"b\":{}}", "{\"a\":1},{\"b\":{}}", false},
		{"[{\"a\"", "[{},{\"a\"", false},
	};
	struct memory m;

	(void)state;
	assert_true(is_the_same(is, is, &m));
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *at = strstr(is, cases[i].from);
		char other[512];

		assert_non_null(at);
		(void)snprintf(other, sizeof(other), "%.*s%s%s", (int)(at - is), is, cases[i].to,
			       at + strlen(cases[i].from));
		if (is_the_same(is, other, &m) != cases[i].same)
			fail_msg("%s -> %s", cases[i].from, cases[i].to);
	}
	/* Lines that are scalars. */
	assert_true(is_the_same("17", "17", &m));
	assert_false(is_the_same("17", "18", &m));
	assert_false(is_the_same("17", "\"17\"", &m));
}

static void what_is_noted_of_a_line_is_told_with_it(void **state)
{
	struct memory m;

	(void)state;
	(void)is_the_same("{}", "{\"m\":{\"rv\":\"77\"}}", &m);
	assert_string_equal(m.note, "77");
	(void)is_the_same("{}", "{\"m\":{\"rv\":\"\"}}", &m);
	assert_string_equal(m.note, "");
	/* A note that is no string or that contains an escape is not reported. */
	(void)is_the_same("{}", "{\"m\":{\"rv\":77}}", &m);
	assert_string_equal(m.note, "none");
	(void)is_the_same("{}", "{\"m\":{\"rv\":\"\\u0037\"}}", &m);
	assert_string_equal(m.note, "none");
	(void)is_the_same("{\"m\":{\"rv\":\"77\"}}", "{}", &m);
	assert_string_equal(m.note, "none");
}

static void a_line_that_is_cut_is_built_without_asking(void **state)
{
	static const struct scan_ops ops = {.is_known = was_seen, .on_value = count_told};
	struct memory m = {0};
	OWN(scan)
	s = scan_new(&(struct scan_spec){.want = noted,
					 .lines = true,
					 .digests = true,
					 .max_bytes = 1000,
					 .ops = &ops,
					 .arg = &m});
	struct err e;

	(void)state;
	assert_ok(scan_feed(s, "{\"m\":1}\n{\"m\"", 12, &e), &e);
	assert_ok(scan_feed(s, ":1}\n{\"m\":1}\n", 12, &e), &e);
	assert_int_equal(m.asked, 2);
	assert_int_equal(m.known, 1);
	assert_int_equal(m.told, 2);
}

static void a_line_that_is_no_value_is_refused(void **state)
{
	static const char *const bad[] = {"{\n}\n", "{\"a\":1\n}", "[1,\n", "{}{}\n",	  "1 2\n",
					  "\"\n",   "{}\n{]\n",	   "tru\n", "\"\\ud83d\n"};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		for (size_t chunk = 1; chunk < 8; chunk++) {
			struct err e = {0};

			if (scan_at(scan_all, true, 64, bad[i], chunk, &e) == 0)
				fail_msg("accepted: %s", bad[i]);
			assert_int_equal(e.kind, ERR_PROTOCOL);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_keeps_and_refuses_what_jansson_and_a_trim_do),
		cmocka_unit_test(text_of_a_byte_or_two_is_read_as_jansson_does),
		cmocka_unit_test(every_sequence_of_utf_8_is_judged_as_jansson_does),
		cmocka_unit_test(what_is_not_wanted_is_checked_all_the_same),
		cmocka_unit_test(the_same_name_in_two_objects_is_no_duplicate),
		cmocka_unit_test(a_name_comes_twice_among_few_and_among_many),
		cmocka_unit_test(depth_is_bounded_as_in_json_parse),
		cmocka_unit_test(a_million_names_cost_time_in_proportion),
		cmocka_unit_test(a_list_is_given_out_item_by_item),
		cmocka_unit_test(a_list_that_is_not_one_is_refused),
		cmocka_unit_test(an_item_past_the_limit_is_refused_and_one_at_the_limit_is_not),
		cmocka_unit_test(what_is_beside_the_items_is_bounded_too),
		cmocka_unit_test(an_item_deep_in_a_list_has_its_own_depth),
		cmocka_unit_test(an_error_of_the_caller_stops_the_scan_and_stays),
		cmocka_unit_test(lines_are_given_out_and_a_partial_last_one_is_dropped),
		cmocka_unit_test(an_escape_that_its_line_cuts_is_refused),
		cmocka_unit_test(a_line_that_says_the_same_is_known_before_it_is_built),
		cmocka_unit_test(what_is_noted_of_a_line_is_told_with_it),
		cmocka_unit_test(a_line_that_is_cut_is_built_without_asking),
		cmocka_unit_test(a_line_that_is_no_value_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
