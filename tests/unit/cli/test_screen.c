/* Tests how lines are drawn on a screen: what is replaced, truncated, coloured and left out. */
#include "tests/unit/testing.h"

#include <locale.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "cli/screen.h"

static struct buf out;
static struct screen_text text;

static struct screen screen_of(size_t width, bool unicode, bool colour)
{
	buf_clear(&out);
	text = (struct screen_text){.out = &out, .colour = colour};
	return (struct screen){.width = width,
			       .unicode = unicode,
			       .pen = screen_text_pen(&text),
			       .limit = SIZE_MAX};
}

/* Draws one line and asserts what is printed. */
static void assert_line(size_t width, bool unicode, const char *line, const char *want)
{
	struct screen s = screen_of(width, unicode, false);

	screen_line(&s, SCREEN_RED, line);
	screen_text_end(&text);
	assert_string_equal(out.data, want);
}

static void control_characters_never_reach_the_terminal(void **state)
{
	(void)state;
	assert_line(0, false, "a\033[31mb\x7f\r\n", "a?[31mb???\n");
	/* The two bytes of U+009B, which begins an escape sequence, become one character. */
	assert_line(0, true,
		    "a\xc2\x9b"
		    "31m",
		    "a?31m\n");
	assert_line(3, true, "\xc2\x9b\xc2\x9b\xc2\x9b\xc2\x9b", "???\n");
	assert_line(9, true, "\xc2\x9b\xc2\x9b", "??\n");
}

static void a_line_is_no_wider_than_the_screen(void **state)
{
	(void)state;
	assert_line(4, false, "abcdef", "abcd\n");
	assert_line(0, false, "abcdef", "abcdef\n");
	assert_non_null(setlocale(LC_CTYPE, "C.UTF-8"));
	assert_line(4, true, "\xc3\xa4\xc3\xb6\xc3\xbc\xc3\x9f\xc3\xa4",
		    "\xc3\xa4\xc3\xb6\xc3\xbc\xc3\x9f\n");
	/* An ideograph has two columns; half of one is not drawn. */
	assert_line(4, true, "a\xe4\xb8\xad\xe4\xb8\xad", "a\xe4\xb8\xad\n");
	/* A terminal that cannot show them */
	assert_line(4, false,
		    "\xc3\xa4\xe4\xb8\xad"
		    "abc",
		    "??ab\n");
}

static void pieces_have_looks_and_lines_end_at_the_limit(void **state)
{
	struct screen s = screen_of(6, false, true);

	(void)state;
	s.limit = 3;
	assert_int_equal(screen_left(&s), 3);
	screen_add(&s, SCREEN_BOLD, "ab");
	screen_add(&s, SCREEN_PLAIN, "cd");
	screen_line(&s, SCREEN_GREEN, "efgh");
	screen_end(&s); /* an empty line */
	screen_line(&s, SCREEN_DIM, "x");
	assert_int_equal(screen_left(&s), 0);
	screen_line(&s, SCREEN_BOLD, "below the limit");
	screen_text_end(&text);
	assert_string_equal(out.data, "\033[1mab\033[0mcd\033[32mef\033[0m\n\n\033[2mx\033[0m\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(control_characters_never_reach_the_terminal),
		cmocka_unit_test(a_line_is_no_wider_than_the_screen),
		cmocka_unit_test(pieces_have_looks_and_lines_end_at_the_limit),
	};
	int failed;

	buf_init(&out, 1 << 16);
	cmocka_set_test_filter(getenv("ONLY"));
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	buf_done(&out);
	return failed;
}
