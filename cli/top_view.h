#ifndef CLI_TOP_VIEW_H
#define CLI_TOP_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include "base/buf.h"
#include "base/data/json.h"

/*
 * top_view: what `drover top` shows, without a terminal: machines by state, a row for each machine,
 * claims that are on their way, one machine whole; sorted, filtered and opened by keys.
 *
 * Machines and claims are answers of cli/explain.h, a machine's with `rack`, a claim's with
 * `etaP50` and `etaP90` beside them. Texts are anybody's: none reaches the screen with a control
 * character in it.
 * Tests: tests/unit/cli/test_top.c
 */
struct top_view;
struct top_view *top_view_new(void);
void top_view_free(struct top_view *v);

/* What is there now; taken.  now: wall ms.  The row that was chosen stays so, by its name. */
void top_view_put(struct top_view *v, json_t *machines, json_t *claims, int64_t now);
/* It could not be read: what is shown is old, and says so and why.  NULL: it was read. */
void top_view_trouble(struct top_view *v, const char *text);

/* {machines, claims}, sorted and filtered as it is shown; gives. */
json_t *top_view_json(const struct top_view *v);

/* Beside the characters. */
enum { TOP_UP = 0x100, TOP_DOWN, TOP_PAGE_UP, TOP_PAGE_DOWN, TOP_ESCAPE };
/* False: the person wants to leave. */
bool top_view_key(struct top_view *v, int key);

struct top_screen {
	/* 0: no bound, and nothing is chosen: for a pipe */
	size_t width, height;
	bool colour;
};
/* One screen; lines end with a newline, and none is wider than the screen. */
void top_view_draw(struct top_view *v, const struct top_screen *s, struct buf *out);

#endif
