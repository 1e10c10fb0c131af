/*
 * scenario_csv: arrivals, a line a job.
 * Tests: tests/unit/cli/simulate/test_scenario.c
 */
#include <string.h>

#include "base/data/quantity.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "cli/simulate/scenario.h"
#include "planner/world_look.h"

#include <stdlib.h>

#define CELL 64
#define TIME_MAX (INT64_C(10) * 366 * 86400) /* ten years, in seconds */
#define COUNT_MAX 4096

enum column { TIME, TENANT, COUNT, GPUS, CPU, MEMORY, DURATION, GANG, COLUMNS };
static const char *const names[COLUMNS] = {"time", "tenant", "count",	   "gpus",
					   "cpu",  "memory", "duration_s", "gang"};

struct reader {
	struct scenario *s;
	const char *path;
	size_t line, pods, cap;
	int at[COLUMNS]; /* which cell; -1: it has none */
	size_t ncells;
	struct map *sizes; /* text of gpus, cpu and memory -> struct resources */
	struct arena *a;
	struct err *e;
};

static int wrong(struct reader *r, enum column c, const char *want, const char *got)
{
	return err_set(r->e, ERR_INVALID, 0, "%s:%zu: %s: want %s, got '%s'", r->path, r->line,
		       names[c], want, got);
}

/* The cells of a line without its end; -1: too many, or one is too long. */
static int cut(struct reader *r, const char *text, size_t len, char cell[COLUMNS][CELL], size_t *n)
{
	*n = 0;
	for (size_t at = 0; at <= len;) {
		const char *comma = memchr(text + at, ',', len - at);
		size_t end = comma ? (size_t)(comma - text) : len, next = end + 1;

		while (at < end && strchr(" \t\r", text[at]))
			at++;
		while (end > at && strchr(" \t\r", text[end - 1]))
			end--;
		if (*n == COLUMNS || end - at >= CELL)
			return err_set(r->e, ERR_INVALID, 0, "%s:%zu: %s", r->path, r->line,
				       *n == COLUMNS ? "more cells than columns"
						     : "a cell of more than 63 bytes");
		memcpy(cell[*n], text + at, end - at);
		cell[*n][end - at] = '\0';
		str_clean(cell[*n]);
		(*n)++;
		at = next;
	}
	return 0;
}

static int read_header(struct reader *r, char cell[COLUMNS][CELL], size_t n)
{
	for (size_t c = 0; c < COLUMNS; c++)
		r->at[c] = -1;
	for (size_t i = 0; i < n; i++) {
		size_t c = 0;

		while (c < COLUMNS && !str_eq(names[c], cell[i]))
			c++;
		if (c == COLUMNS || r->at[c] >= 0)
			return err_set(r->e, ERR_INVALID, 0, "%s:%zu: %s column '%s'", r->path,
				       r->line, c == COLUMNS ? "unknown" : "a second", cell[i]);
		r->at[c] = (int)i;
	}
	for (size_t c = 0; c < GANG; c++)
		if (r->at[c] < 0)
			return err_set(r->e, ERR_INVALID, 0, "%s:%zu: no column '%s'", r->path,
				       r->line, names[c]);
	r->ncells = n;
	return 0;
}

static int number(struct reader *r, enum column c, const char *text, int64_t min, int64_t max,
		  int64_t *out)
{
	char want[64];

	if (str_to_i64(text, min, max, out))
		return 0;
	(void)str_format(want, sizeof(want), "%lld to %lld", (long long)min, (long long)max);
	return wrong(r, c, want, text);
}

/* What it asks for, once for all lines that ask for the same. */
static int size_of(struct reader *r, char cell[COLUMNS][CELL], struct resources *out)
{
	static const enum column of[] = {CPU, MEMORY, GPUS}; /* by name of the resource */
	static const char *const resource[] = {"cpu", "memory", "nvidia.com/gpu"};
	char key[3 * CELL + 3];
	struct resources *known;

	(void)str_format(key, sizeof(key), "%s,%s,%s", cell[r->at[CPU]], cell[r->at[MEMORY]],
			 cell[r->at[GPUS]]);
	known = map_get(r->sizes, key);
	if (!known) {
		known = arena_new_obj(r->a, struct resources);
		known->v = arena_calloc(r->a, 3, sizeof(*known->v));
		for (size_t i = 0; i < 3; i++) {
			const char *text = cell[r->at[of[i]]];
			struct quantity q = {0};
			struct err bad;

			if (!str_empty(text) && quantity_parse(text, &q, &bad) < 0)
				return wrong(r, of[i], "a quantity", text);
			if (q.nano < 0 || quantity_cmp(q, quantity_of(INT64_C(1) << 50)) > 0)
				return wrong(r, of[i], "0 to 2^50", text);
			if (of[i] == GPUS && q.nano % 1000000000)
				return wrong(r, of[i], "whole GPUs", text);
			if (q.nano)
				known->v[known->n++] = (struct resource){resource[i], q};
		}
		map_put(r->sizes, key, known);
	}
	*out = *known;
	return 0;
}

static int read_job(struct reader *r, char cell[COLUMNS][CELL], size_t n)
{
	struct replay_job j = {0};
	int64_t time, count, duration, gang = 0;

	if (n != r->ncells)
		return err_set(r->e, ERR_INVALID, 0, "%s:%zu: want %zu cells, got %zu", r->path,
			       r->line, r->ncells, n);
	if (r->s->njobs == SCENARIO_JOBS)
		return err_set(r->e, ERR_INVALID, 0, "%s: more than %d jobs", r->path,
			       SCENARIO_JOBS);
	if (number(r, TIME, cell[r->at[TIME]], 0, TIME_MAX, &time) < 0 ||
	    number(r, COUNT, cell[r->at[COUNT]], 1, COUNT_MAX, &count) < 0 ||
	    number(r, DURATION, cell[r->at[DURATION]], 1, TIME_MAX, &duration) < 0 ||
	    (r->at[GANG] >= 0 && number(r, GANG, cell[r->at[GANG]], 0, 1, &gang) < 0) ||
	    size_of(r, cell, &j.requests) < 0)
		return -1;
	j.tenant = world_tenant_name(r->s->world, cell[r->at[TENANT]]);
	if (!j.tenant)
		return wrong(r, TENANT, "the name of a VirtualCluster", cell[r->at[TENANT]]);
	r->pods += (size_t)count;
	if (r->pods > SCENARIO_PODS)
		return err_set(r->e, ERR_INVALID, 0, "%s:%zu: more than %d pods", r->path, r->line,
			       SCENARIO_PODS);
	j.at_ms = time * 1000;
	j.takes_ms = duration * 1000;
	j.pods = (uint32_t)count;
	j.gang = gang != 0;
	mem_grow(r->s->jobs, r->s->njobs, r->cap);
	r->s->jobs[r->s->njobs++] = j;
	return 0;
}

static int read_lines(struct reader *r, const char *text, size_t len)
{
	char cell[COLUMNS][CELL];
	bool headed = false;
	size_t n;

	for (size_t at = 0; at < len;) {
		const char *nl = memchr(text + at, '\n', len - at);
		const size_t end = nl ? (size_t)(nl - text) : len;

		r->line++;
		if (end > at && !(end == at + 1 && text[at] == '\r') && text[at] != '#') {
			if (cut(r, text + at, end - at, cell, &n) < 0 ||
			    (headed ? read_job(r, cell, n) : read_header(r, cell, n)) < 0)
				return -1;
			headed = true;
		}
		at = end + 1;
	}
	return headed ? 0
		      : err_set(r->e, ERR_INVALID, 0, "%s: want a line with the columns' names",
				r->path);
}

int scenario_arrivals(struct scenario *s, const char *path, const char *text, size_t len,
		      struct arena *a, struct err *e)
{
	struct reader r = {.s = s, .path = path, .sizes = map_new(NULL), .a = a, .e = e};
	struct replay_job *kept;
	int rc;

	s->jobs = NULL;
	s->njobs = 0;
	rc = read_lines(&r, text, len);
	kept = arena_calloc(a, s->njobs + 1, sizeof(*kept));
	if (s->njobs)
		memcpy(kept, s->jobs, s->njobs * sizeof(*kept));
	free(s->jobs);
	s->jobs = kept;
	map_free(r.sizes);
	return rc;
}
