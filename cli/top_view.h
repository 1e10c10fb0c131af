#ifndef CLI_TOP_VIEW_H
#define CLI_TOP_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include "base/buf.h"
#include "base/data/json.h"

/*
 * top_view: the content of `drover top`, without a terminal: the number of machines in each state,
 * a row for each machine, the claims in progress, and details of one machine. Keys sort, filter and
 * open details.
 *
 * Machines and claims are explanations from explain_object() (controller/explain/explain.h), with
 * additional members: `rack` of a machine, `etaP50` and `etaP90` of a claim. Control characters in
 * texts never reach the screen, because users can write such texts.
 * Tests: tests/unit/cli/test_top.c
 */
struct top_view;
struct top_view *top_view_new(void);
void top_view_free(struct top_view *v);

/* Replaces the machines and claims that the view shows; takes ownership of both. now: wall ms. The
 * selected machine stays selected, by its name. */
void top_view_put(struct top_view *v, json_t *machines, json_t *claims, int64_t now);
/* Sets the error of the last read. The view then shows text, and that its content is old. text
 * NULL: the last read succeeded. */
void top_view_trouble(struct top_view *v, const char *text);

/* Returns {machines, claims}, sorted and filtered as the view shows them; the caller owns it. */
json_t *top_view_json(const struct top_view *v);

/* keys of top_view_key() besides characters */
enum { TOP_UP = 0x100, TOP_DOWN, TOP_PAGE_UP, TOP_PAGE_DOWN, TOP_ESCAPE };
/* Handles a key: a character or one of the TOP_... keys. False: the user quits. */
bool top_view_key(struct top_view *v, int key);

struct top_screen {
	/* size of the terminal in characters; 0: no limit and no selected row, for output to a
	 * pipe */
	size_t width, height;
	bool colour;
};
/* Appends one screen to `out`. Each line ends with a newline; no line is wider than the screen. */
void top_view_draw(struct top_view *v, const struct top_screen *s, struct buf *out);

#endif
