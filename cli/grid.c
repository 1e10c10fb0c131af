#include "cli/grid.h"

#include <ctype.h>
#include <stdlib.h>

#include "base/data/json.h"
#include "base/mem.h"
#include "base/str.h"

enum { GAP = 3, COLUMNS = 32 };

struct grid {
	/* texts of the cells, row by row */
	json_t *cells;
	char *heads[COLUMNS];
	size_t n, widths[COLUMNS];
	/* true after grid_go_on(): no more headings, fixed column widths */
	bool goes_on;
};

struct grid *grid_new(void)
{
	struct grid *g = mem_new(struct grid);

	g->cells = json_array();
	return g;
}

void grid_free(struct grid *g)
{
	if (!g)
		return;
	for (size_t i = 0; i < g->n; i++)
		free(g->heads[i]);
	json_decref(g->cells);
	free(g);
}

/* Returns the number of code points in s, which is UTF-8. */
static size_t width_of(const char *s)
{
	size_t n = 0;

	for (; *s; s++)
		n += ((unsigned char)*s & 0xc0) != 0x80;
	return n;
}

void grid_head(struct grid *g, const char *text)
{
	if (g->n == COLUMNS)
		return;
	g->heads[g->n] = mem_printf("%s", text);
	g->widths[g->n++] = width_of(text);
}

void grid_cell(struct grid *g, const char *text)
{
	size_t column = json_array_size(g->cells) % g->n;
	char *shown = mem_strdup(str_or(text, "-"));
	size_t width;

	str_printable(shown);
	width = width_of(shown);
	json_array_append_new(g->cells, json_string(shown));
	if (width > g->widths[column] && !g->goes_on)
		g->widths[column] = width;
	free(shown);
}

static bool is_any(const char *s, const char *const *list)
{
	for (; *list; list++)
		if (str_eq(s, *list))
			return true;
	return false;
}

/* Returns the escape sequence that colours the text of a cell below heading `head`: green for a
 * good state or condition, red for a bad one; "": no colour. */
static const char *colour_of(const char *head, const char *text)
{
	static const char *const heads[] = {"State", "Phase",	  "Ready",   "Valid",
					    "Power", "Reachable", "Verdict", NULL};
	static const char *const well[] = {"serving", "True", "Ready", "Succeeded", "Pass", NULL};
	static const char *const not_well[] = {"quarantined", "False", "Failed",
					       "Partial",     "Fail",  NULL};

	if (!is_any(head, heads))
		return "";
	return is_any(text, well) ? "\033[32m" : is_any(text, not_well) ? "\033[31m" : "";
}

static size_t fits(const struct grid *g, size_t width)
{
	size_t n = 0, used = 0;

	for (; n < g->n; n++) {
		used += g->widths[n] + (n ? GAP : 0);
		if (n && width && used > width)
			break;
	}
	return n;
}

void grid_go_on(struct grid *g)
{
	json_array_clear(g->cells);
	g->goes_on = true;
}

/* Prints one cell, padded to the width of its column. The last shown cell of a row is not padded
 * and ends the line. */
static void print_cell(const struct grid *g, size_t column, size_t shown, const char *text,
		       const char *colour, FILE *out)
{
	int wide = (int)width_of(text), room = (int)g->widths[column];
	int fill = column + 1 == shown ? 0 : (wide < room ? room - wide : 0) + GAP;

	fprintf(out, "%s%s%s%*s%s", colour, text, *colour ? "\033[0m" : "", fill, "",
		column + 1 == shown ? "\n" : "");
}

static void print_heads(const struct grid *g, size_t shown, FILE *out)
{
	for (size_t i = 0; i < shown; i++) {
		char *head = mem_printf("%s", g->heads[i]);

		for (char *p = head; *p; p++)
			*p = (char)toupper((unsigned char)*p);
		print_cell(g, i, shown, head, "", out);
		free(head);
	}
}

void grid_print(const struct grid *g, const struct grid_style *style, FILE *out)
{
	size_t shown = fits(g, style->width), i;

	if (!style->headless && !g->goes_on)
		print_heads(g, shown, out);
	for (i = 0; i < json_array_size(g->cells); i++) {
		size_t column = i % g->n;
		const char *text = json_string_value(json_array_get(g->cells, i));

		if (column < shown)
			print_cell(g, column, shown, text,
				   style->colour ? colour_of(g->heads[column], text) : "", out);
	}
	if (shown == g->n || g->goes_on)
		return;
	fputs("(columns that do not fit:", out);
	for (i = shown; i < g->n; i++)
		fprintf(out, "%s %s", i > shown ? "," : "", g->heads[i]);
	fputs("; -o wide shows all)\n", out);
}
