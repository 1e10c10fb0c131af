#ifndef CLI_GRID_H
#define CLI_GRID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/*
 * grid: prints rows of text below headings. Each column is as wide as its widest text.
 *
 * Any user who may write an object can put control characters into its texts. Each control
 * character is therefore printed as '?'.
 * Tests: tests/unit/cli/test_get.c
 */
struct grid;
struct grid *grid_new(void);
void grid_free(struct grid *g);
/* Adds a column with this heading, which is printed in capitals. All headings must be added before
 * the first cell. */
void grid_head(struct grid *g, const char *text);
/* Adds the next cell: from left to right, row by row. text: UTF-8; "" and NULL are printed as
 * "-". */
void grid_cell(struct grid *g, const char *text);

/* Removes all rows that were printed, so that the next grid_print() continues the table: it prints
 * no headings and keeps the column widths. A wider cell then shifts the cells after it. */
void grid_go_on(struct grid *g);

struct grid_style {
	/* width of the terminal in columns; 0: no limit */
	size_t width;
	/* true: print good states and conditions in green, bad ones in red */
	bool colour;
	/* true: print no headings */
	bool headless;
};
/* Prints headings and rows. Columns on the right for which the terminal is too narrow are left out
 * and named in a last line; the first column is always printed. */
void grid_print(const struct grid *g, const struct grid_style *style, FILE *out);

#endif
