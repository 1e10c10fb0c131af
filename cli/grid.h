#ifndef CLI_GRID_H
#define CLI_GRID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/*
 * grid: rows of text below headings, each column as wide as what stands in it.
 *
 * Texts come from whoever may write an object: a control character shows as '?'.
 * Tests: tests/unit/cli/test_get.c
 */
struct grid;
struct grid *grid_new(void);
void grid_free(struct grid *g);
/* All headings come before the first cell; shown in capitals. */
void grid_head(struct grid *g, const char *text);
/* The next cell, from left to right, row by row; "" and NULL show as "-".  UTF-8. */
void grid_cell(struct grid *g, const char *text);

/* Forget the rows, for those that come below what was printed: no heading is printed any more,
 * widths stay as they are, and a wider cell pushes those behind it. */
void grid_go_on(struct grid *g);

struct grid_look {
	/* of the terminal, in columns; 0: no bound */
	size_t width;
	/* of states and conditions: green is well, red is not */
	bool colour;
	/* no headings */
	bool headless;
};
/* Columns on the right that do not fit are left out, and named in a last line; the first is always
 * shown. */
void grid_print(const struct grid *g, const struct grid_look *look, FILE *out);

#endif
