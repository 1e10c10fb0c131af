#include "cli/screen.h"

#include <stdint.h>
#include <sys/ioctl.h>
#include <unistd.h>

void screen_size(struct screen *s)
{
	struct winsize size;

	s->width = 80;
	s->height = 24;
	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_col && size.ws_row) {
		s->width = size.ws_col;
		s->height = size.ws_row;
	}
}

void screen_line(struct screen *s, const char *colour, const char *text)
{
	size_t width = 0;
	const char *end;

	if (s->height && s->lines + 1 >= s->height)
		return;
	s->lines++;
	if (s->colour)
		buf_puts(s->out, colour);
	for (const char *p = text; *p; p = end) {
		unsigned char c = (unsigned char)*p;

		for (end = p + 1; ((unsigned char)*end & 0xc0) == 0x80; end++)
			;
		if (s->width && width == s->width)
			break;
		width++;
		if (c < 0x20 || c == 0x7f || (c == 0xc2 && (unsigned char)p[1] < 0xa0))
			buf_puts(s->out, "?");
		else
			buf_put(s->out, p, (size_t)(end - p));
	}
	if (s->colour && *colour)
		buf_puts(s->out, "\033[0m");
	buf_puts(s->out, "\n");
}

size_t screen_left(const struct screen *s)
{
	return !s->height ? SIZE_MAX : s->height > s->lines + 1 ? s->height - s->lines - 1 : 0;
}
