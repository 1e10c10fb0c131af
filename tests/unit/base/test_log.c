#include "tests/unit/testing.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <jansson.h>
#include "base/buf.h"
#include "base/log.h"

static struct buf lines;
static int calls;

static void keep(const char *line, size_t len, void *arg)
{
	calls++;
	buf_put(arg, line, len);
}

static int64_t clock_ms(void *arg)
{
	return *(int64_t *)arg;
}

static int64_t now_ms = 1796120400042;

static int setup(void **state)
{
	(void)state;
	calls = 0;
	buf_init(&lines, SIZE_MAX);
	log_redirect(keep, &lines);
	log_clock(clock_ms, &now_ms);
	log_config(LOG_INFO, LOG_TEXT);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	log_redirect(NULL, NULL);
	log_clock(NULL, NULL);
	buf_done(&lines);
	return 0;
}

#define STAMP "time=2026-12-01T10:20:00.042Z "

static void a_line_is_a_message_and_fields(void **state)
{
	(void)state;
	log_info("machine state", LOG_S("machine", "gpu-1"), LOG_S("to", "free"), LOG_I("n", -7));
	assert_string_equal(lines.data,
			    STAMP "level=info msg=\"machine state\" machine=gpu-1 to=free "
				  "n=-7\n");
	buf_clear(&lines);
	log_error("stop");
	assert_string_equal(lines.data, STAMP "level=error msg=stop\n");
}

static void json_says_the_same(void **state)
{
	(void)state;
	log_config(LOG_INFO, LOG_JSON);
	log_warn("machine state", LOG_S("machine", "gpu-1"), LOG_I("n", INT64_MIN),
		 LOG_S("x", NULL));
	assert_string_equal(lines.data, "{\"time\":\"2026-12-01T10:20:00.042Z\",\"level\":\"warn\","
					"\"msg\":\"machine state\",\"machine\":\"gpu-1\","
					"\"n\":-9223372036854775808,\"x\":null}\n");
}

static void an_error_shows_text_kind_and_place(void **state)
{
	struct err e = {.kind = ERR_TIMEOUT, .where = "a.c:7", .text = "no answer"};

	(void)state;
	log_info("x", LOG_E(&e));
	assert_string_equal(lines.data, STAMP "level=info msg=x error=\"no answer\" "
					      "error_kind=timeout error_where=a.c:7\n");
}

static void what_is_below_the_level_is_not_written(void **state)
{
	(void)state;
	log_debug("x");
	assert_int_equal(calls, 0);
	log_config(LOG_ERROR, LOG_TEXT);
	log_warn("x");
	assert_int_equal(calls, 0);
	log_error("x");
	assert_int_equal(calls, 1);
	log_config(LOG_DEBUG, LOG_TEXT);
	log_debug("x");
	assert_int_equal(calls, 2);
}

static void foreign_bytes_cannot_forge_a_line(void **state)
{
	static const struct {
		const char *value, *text;
	} cases[] = {
		{"plain-word_1.2/3:4@5+6", "plain-word_1.2/3:4@5+6"},
		{"", "\"\""},
		{"two words", "\"two words\""},
		{"a=b", "\"a=b\""},
		{"a\nlevel=error msg=forged", "\"a\\nlevel=error msg=forged\""},
		{"q\"uote", "\"q\\\"uote\""},
		{"back\\slash", "\"back\\\\slash\""},
		{"tab\tcr\r", "\"tab\\tcr\\r\""},
		{"\x1b[2J", "\"\\u001b[2J\""},
		{"\x7f", "\"\\u007f\""},
		{"\xc2\x9b", "\"\\u009b\""},	 /* a C1 control character */
		{"\xe2\x80\xae", "\"\\u202e\""}, /* right-to-left override */
		{"\xe2\x80\xa8", "\"\\u2028\""}, /* a line separator */
		{"\xff\xfe", "\"\\ufffd\\ufffd\""},
		{"cut\xc3", "\"cut\\ufffd\""},
		{"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80",
		 "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\""},
	};
	char want[256];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		buf_clear(&lines);
		log_info("m", LOG_S("v", cases[i].value));
		snprintf(want, sizeof(want), STAMP "level=info msg=m v=%s\n", cases[i].text);
		assert_string_equal(lines.data, want);
	}
}

static bool is_hidden(unsigned c)
{
	static const unsigned ranges[][2] = {{1, 0x1f},	       {0x7f, 0x9f},	 {0x61c, 0x61c},
					     {0x200e, 0x200f}, {0x2028, 0x202e}, {0x2066, 0x2069},
					     {0xfeff, 0xfeff}};

	for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++)
		if (c >= ranges[i][0] && c <= ranges[i][1])
			return true;
	return c == '"' || c == '\\';
}

/* Control characters, line separators and bidirectional overrides are escaped; nothing else is. */
static void every_character_is_shown_or_escaped(void **state)
{
	char value[4] = "", want[16];

	(void)state;
	log_config(LOG_INFO, LOG_JSON);
	for (unsigned c = 1; c < 0x10000; c++) {
		if (c >= 0xd800 && c <= 0xdfff)
			continue;
		if (c < 0x80)
			snprintf(value, sizeof(value), "%c", c);
		else if (c < 0x800)
			snprintf(value, sizeof(value), "%c%c", 0xc0 | c >> 6, 0x80 | (c & 0x3f));
		else
			snprintf(value, sizeof(value), "%c%c%c", 0xe0 | c >> 12,
				 0x80 | (c >> 6 & 0x3f), 0x80 | (c & 0x3f));
		snprintf(want, sizeof(want), "\"v\":\"%s\"}", value);
		buf_clear(&lines);
		log_info("m", LOG_S("v", value));
		if ((strstr(lines.data, want) == NULL) != is_hidden(c))
			fail_msg("U+%04X: %s", c, lines.data);
	}
}

static void json_stays_json_whatever_the_bytes(void **state)
{
	unsigned seed = 3;
	char value[40];

	(void)state;
	log_config(LOG_INFO, LOG_JSON);
	for (int i = 0; i < 3000; i++) {
		json_error_t je;
		json_t *j;

		for (size_t k = 0; k < sizeof(value) - 1; k++)
			value[k] = (char)((seed = seed * 1103515245 + 12345) >> 16 | 1);
		value[sizeof(value) - 1] = '\0';
		buf_clear(&lines);
		log_info("m", LOG_S("v", value));
		assert_ptr_equal(strchr(lines.data, '\n'), lines.data + lines.len - 1);
		j = json_loads(lines.data, JSON_REJECT_DUPLICATES, &je);
		if (!j)
			fail_msg("%s: %s", je.text, lines.data);
		json_decref(j);
	}
}

static void a_long_value_is_cut_and_a_long_line_says_so(void **state)
{
	static char huge[100000];
	json_t *j;

	(void)state;
	memset(huge, 'x', sizeof(huge) - 1);
	memcpy(huge + 4095, "\xc3\xa9", 2); /* across the truncation limit */
	log_config(LOG_INFO, LOG_JSON);
	log_info("m", LOG_S("a", huge), LOG_S("b", "after"));
	j = json_loads(lines.data, 0, NULL);
	assert_non_null(j);
	assert_int_equal(json_string_length(json_object_get(j, "a")), 4095 + 3);
	assert_string_equal(json_string_value(json_object_get(j, "b")), "after");
	assert_null(json_object_get(j, "truncated"));
	json_decref(j);

	buf_clear(&lines);
	log_info("m", LOG_S("a", huge), LOG_S("b", huge), LOG_S("c", huge), LOG_S("d", huge),
		 LOG_S("e", "small"));
	j = json_loads(lines.data, 0, NULL);
	assert_non_null(j);
	assert_null(json_object_get(j, "d"));
	assert_string_equal(json_string_value(json_object_get(j, "e")), "small");
	assert_true(json_is_true(json_object_get(j, "truncated")));
	json_decref(j);
	assert_true(lines.len <= 16 * 1024);

	log_config(LOG_INFO, LOG_TEXT);
	buf_clear(&lines);
	log_info("m", LOG_S("a", huge), LOG_S("b", huge), LOG_S("c", huge), LOG_S("d", huge));
	assert_string_equal(lines.data + lines.len - 16, " truncated=true\n");

	/* A value of exactly the limit is not truncated. */
	memset(huge, 'x', 4096);
	huge[4096] = '\0';
	buf_clear(&lines);
	log_info("m", LOG_S("a", huge));
	assert_null(strstr(lines.data, "..."));
	assert_int_equal(lines.len, strlen(STAMP "level=info msg=m a=\n") + 4096);

	/* A value that becomes longer by escaping is dropped if it does not fit in the line. */
	memset(huge, 1, sizeof(huge) - 1);
	buf_clear(&lines);
	log_info("m", LOG_S("a", huge), LOG_S("b", "small"));
	assert_string_equal(lines.data, STAMP "level=info msg=m b=small truncated=true\n");
}

static void errno_is_left_alone(void **state)
{
	(void)state;
	log_redirect(NULL, NULL);
	errno = EXDEV;
	log_debug("not written");
	log_redirect(keep, &lines);
	log_info("x");
	assert_int_equal(errno, EXDEV);
}

static void a_closed_standard_error_stops_nobody(void **state)
{
	int saved = dup(STDERR_FILENO);

	(void)state;
	log_redirect(NULL, NULL);
	close(STDERR_FILENO);
	log_info("x");
	assert_int_equal(dup2(saved, STDERR_FILENO), STDERR_FILENO);
	close(saved);
}

static void *shout(void *arg)
{
	for (int i = 0; i < 200; i++)
		log_info("thread", LOG_S("who", arg), LOG_I("i", i), LOG_S("same", arg));
	return NULL;
}

/* Writes to a pipe in place of standard error, as in production. */
static void lines_of_threads_never_mix(void **state)
{
	static char text[300000], a[] = "aaaaaaaaaaaaaaaaaaaa", b[] = "bbbbbbbbbbbbbbbbbbbb";
	int fds[2], saved = dup(STDERR_FILENO), n = 0;
	char *line, *save = NULL;
	pthread_t t[2];
	ssize_t len = 0, more;

	(void)state;
	log_redirect(NULL, NULL);
	assert_int_equal(pipe(fds), 0);
	assert_true(fcntl(fds[1], F_SETPIPE_SZ, 1 << 18) > 0);
	assert_true(dup2(fds[1], STDERR_FILENO) >= 0);
	pthread_create(&t[0], NULL, shout, a);
	pthread_create(&t[1], NULL, shout, b);
	pthread_join(t[0], NULL);
	pthread_join(t[1], NULL);
	dup2(saved, STDERR_FILENO);
	close(saved);
	close(fds[1]);
	while ((more = read(fds[0], text + len, sizeof(text) - 1 - (size_t)len)) > 0)
		len += more;
	close(fds[0]);
	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save), n++) {
		char who[32], same[32];
		int i;

		if (sscanf(line, STAMP "level=info msg=thread who=%31s i=%d same=%31s", who, &i,
			   same) != 3 ||
		    strcmp(who, same) != 0)
			fail_msg("mixed: %s", line);
	}
	assert_int_equal(n, 400);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_line_is_a_message_and_fields, setup, teardown),
		cmocka_unit_test_setup_teardown(json_says_the_same, setup, teardown),
		cmocka_unit_test_setup_teardown(an_error_shows_text_kind_and_place, setup,
						teardown),
		cmocka_unit_test_setup_teardown(what_is_below_the_level_is_not_written, setup,
						teardown),
		cmocka_unit_test_setup_teardown(foreign_bytes_cannot_forge_a_line, setup, teardown),
		cmocka_unit_test_setup_teardown(every_character_is_shown_or_escaped, setup,
						teardown),
		cmocka_unit_test_setup_teardown(json_stays_json_whatever_the_bytes, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_long_value_is_cut_and_a_long_line_says_so, setup,
						teardown),
		cmocka_unit_test_setup_teardown(errno_is_left_alone, setup, teardown),
		cmocka_unit_test_setup_teardown(a_closed_standard_error_stops_nobody, setup,
						teardown),
		cmocka_unit_test_setup_teardown(lines_of_threads_never_mix, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
