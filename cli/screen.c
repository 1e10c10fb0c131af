#include "cli/screen.h"

#include <langinfo.h>
#include <locale.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

#include "base/mem.h"
#include "base/str.h"

const char *screen_sequence(enum screen_look look)
{
	static const char *const sequences[] = {
		[SCREEN_PLAIN] = "",	      [SCREEN_BOLD] = "\033[1m",
		[SCREEN_DIM] = "\033[2m",     [SCREEN_RED] = "\033[31m",
		[SCREEN_YELLOW] = "\033[33m", [SCREEN_CYAN] = "\033[36m",
		[SCREEN_GREEN] = "\033[32m",  [SCREEN_REVERSE] = "\033[7m",
	};

	return sequences[look];
}

void screen_size(struct screen *s)
{
	struct winsize size;

	s->width = 80;
	s->height = 24;
	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_col && size.ws_row) {
		s->width = size.ws_col;
		s->height = size.ws_row;
	}
	setlocale(LC_CTYPE, "");
	s->unicode = str_eq(nl_langinfo(CODESET), "UTF-8");
}

/* Returns the columns of a code point; 0: it cannot be shown. */
static size_t columns_of(const struct screen *s, int32_t point)
{
	int n;

	if (point < 0x80 || !s->width)
		return 1;
	n = s->unicode ? wcwidth((wchar_t)point) : 0;
	return n > 0 ? (size_t)n : 0;
}

void screen_add(struct screen *s, enum screen_look look, const char *text)
{
	char *copy, *out;
	size_t left, begin = s->column, used, n;

	if (s->line >= s->limit)
		return;
	out = copy = mem_strdup(text);
	left = strlen(copy);
	str_printable(copy);
	for (const char *p = copy; left; p += used, left -= used) {
		n = columns_of(s, str_utf8(p, left, &used));
		if (s->width && s->column + (n ? n : 1) > s->width)
			break;
		s->column += n ? n : 1;
		if (n)
			memmove(out, p, used);
		else
			*out = '?';
		out += n ? used : 1;
	}
	*out = '\0';
	s->pen.put(s->line, begin, look, copy, s->pen.arg);
	free(copy);
}

void screen_end(struct screen *s)
{
	s->line++;
	s->column = 0;
}

void screen_line(struct screen *s, enum screen_look look, const char *text)
{
	screen_add(s, look, text);
	screen_end(s);
}

size_t screen_left(const struct screen *s)
{
	return s->limit > s->line ? s->limit - s->line : 0;
}

/* --- as text ---------------------------------------------------------------------------------- */

static void put(size_t line, size_t column, enum screen_look look, const char *text, void *arg)
{
	struct screen_text *t = arg;
	const bool seen = t->colour && look != SCREEN_PLAIN && *text;

	for (; t->line < line; t->line++, t->column = 0)
		buf_puts(t->out, "\n");
	for (; t->column < column; t->column++)
		buf_puts(t->out, " ");
	buf_puts(t->out, seen ? screen_sequence(look) : "");
	buf_puts(t->out, text);
	buf_puts(t->out, seen ? SCREEN_NORMAL : "");
	for (; *text; text++)
		t->column += ((unsigned char)*text & 0xc0) != 0x80;
}

struct screen_pen screen_text_pen(struct screen_text *t)
{
	return (struct screen_pen){.put = put, .arg = t};
}

void screen_text_end(struct screen_text *t)
{
	buf_puts(t->out, "\n");
	t->line++;
	t->column = 0;
}
