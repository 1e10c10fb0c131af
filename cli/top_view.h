#ifndef CLI_TOP_VIEW_H
#define CLI_TOP_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include "base/buf.h"
#include "base/data/json.h"

/*
 * top_view: the content of `drover top`, without a terminal: number of machines by state, a row for
 * each machine, claims in progress, details of one machine. Keys sort, filter and open.
 *
 * Machines and claims are answers of explain_object() (cli/explain.h); machines also have `rack`,
 * claims also have `etaP50` and `etaP90`. Control characters in texts never reach the screen,
 * because users can write such texts.
 * Tests: tests/unit/cli/test_top.c
 */
struct top_view;
struct top_view *top_view_new(void);
void top_view_free(struct top_view *v);

/* Replaces the content; takes ownership of machines and claims. now: wall ms. The selected machine
 * stays selected, by name. */
void top_view_put(struct top_view *v, json_t *machines, json_t *claims, int64_t now);
/* Sets the error of the last read: the view shows the text, and that its content is old. NULL: the
 * last read succeeded. */
void top_view_trouble(struct top_view *v, const char *text);

/* Returns {machines, claims}, sorted and filtered as shown; the caller owns it. */
json_t *top_view_json(const struct top_view *v);

/* Keys in addition to characters */
enum { TOP_UP = 0x100, TOP_DOWN, TOP_PAGE_UP, TOP_PAGE_DOWN, TOP_ESCAPE };
/* Handles a key. False: the user quits. */
bool top_view_key(struct top_view *v, int key);

struct top_screen {
	/* Size of the terminal; 0: no limit and no selection, for a pipe */
	size_t width, height;
	bool colour;
};
/* Draws one screen. Each line ends with a newline; no line is wider than the screen. */
void top_view_draw(struct top_view *v, const struct top_screen *s, struct buf *out);

#endif
