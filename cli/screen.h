#ifndef CLI_SCREEN_H
#define CLI_SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include "base/buf.h"

/*
 * screen: lines of text on a terminal or a pipe.
 *
 * Any user who may write an object can put control characters into its texts. Each control
 * character is therefore printed as '?'.
 * Tests: tests/unit/cli/test_top.c, tests/unit/cli/test_status.c
 */
struct screen {
	/* size of the terminal in characters; 0: no limit, for output to a pipe */
	size_t width, height;
	bool colour;
	struct buf *out;
	/* number of lines drawn so far */
	size_t lines;
};

/* Sets width and height to the size of the terminal on standard output; unknown: 80 x 24. */
void screen_size(struct screen *s);
/* Appends one line to s->out, truncated to the width of the screen. colour: escape sequence for the
 * whole line; "": none. Draws nothing if the screen is full. The last line of a terminal always
 * stays free. */
void screen_line(struct screen *s, const char *colour, const char *text);
/* Returns the number of lines that are still free; SIZE_MAX: the screen has no limit. */
size_t screen_left(const struct screen *s);

#endif
