/*
 * scenario_csv: reads arrivals from CSV, one job a line, in the forms that people and spreadsheets
 * write. Cells are separated by commas, semicolons or tabs, and may be quoted. The text may begin
 * with a byte order mark, and lines may end with empty cells. A time is seconds since the
 * beginning, Unix time in s or ms, or RFC 3339.
 * Tests: tests/unit/cli/simulate/test_scenario.c
 */
#include <string.h>

#include "base/data/quantity.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "cli/simulate/scenario.h"
#include "planner/world_report.h"

#include <stdlib.h>

#define CELL 64
#define CELLS 64 /* maximum number of cells of a line, including empty cells at its end */
/* lowest number that counts as Unix time in seconds; a smaller number counts as seconds from the
 * beginning of the scenario */
#define EPOCH_S INT64_C(1000000000)
#define EPOCH_MS INT64_C(1000000000000)	     /* lowest number that counts as Unix time in ms */
#define TIME_MAX (INT64_C(10) * 366 * 86400) /* largest time span, ten years in seconds */
#define COUNT_MAX 4096

enum column {
	TIME,
	TENANT,
	COUNT,
	GPUS,
	CPU,
	MEMORY,
	DURATION,
	/* The columns from here on are optional. */
	GANG,
	PRODUCT,
	PRIORITY,
	SAVES,
	APPROVED,
	SLACK,
	CLASS,
	INTERVAL,
	DATA,
	COLUMNS
};
static const char *const names[COLUMNS] = {"time",
					   "tenant",
					   "count",
					   "gpus",
					   "cpu",
					   "memory",
					   "duration_s",
					   "gang",
					   "product",
					   "priority",
					   "checkpointable",
					   "approved",
					   "slack_s",
					   "data_class",
					   "checkpoint_interval_s",
					   "data"};

enum clock { UNKNOWN, SINCE_BEGINNING, SINCE_1970 };
struct reader {
	struct scenario *s;
	const char *path;
	char separator;
	enum clock clock;
	/* earliest and latest time in all lines, in ms */
	int64_t first, last;
	size_t line, pods, cap;
	/* index of the cell of each column in a line; -1: the file lacks the column */
	int at[COLUMNS];
	size_t ncells;
	/* "CPU,MEMORY,GPUS" as written in the line -> struct resources */
	struct map *sizes;
	struct arena *a;
	struct err *e;
};

static int wrong(struct reader *r, enum column c, const char *want, const char *got)
{
	return err_set(r->e, ERR_INVALID, 0, "%s:%zu: %s: want %s, got '%s'", r->path, r->line,
		       names[c], want, got);
}

/* Returns the first comma, semicolon or tab in the header that is outside quotes; ',' if there is
 * none. */
static char separator_of(const char *text, size_t len)
{
	bool quoted = false;

	for (size_t i = 0; i < len; i++) {
		quoted ^= text[i] == '"';
		if (!quoted && strchr(",;\t", text[i]))
			return text[i];
	}
	return ',';
}

static int add_char(struct reader *r, char *cell, size_t *n, char c)
{
	if (*n == CELL - 1)
		return err_set(r->e, ERR_INVALID, 0, "%s:%zu: a cell has more than 63 bytes",
			       r->path, r->line);
	cell[(*n)++] = c;
	return 0;
}

/* Copies a quoted cell to `cell`. Two quotes in the text stand for one quote in the cell. *at: on
 * entry, the offset behind the opening quote; on return, the offset behind the closing quote. */
static int cut_quoted(struct reader *r, const char *text, size_t len, size_t *at, char *cell,
		      size_t *n)
{
	for (; *at < len; (*at)++) {
		if (text[*at] == '"' && !(*at + 1 < len && text[*at + 1] == '"')) {
			(*at)++;
			return 0;
		}
		*at += text[*at] == '"';
		if (add_char(r, cell, n, text[*at]) < 0)
			return -1;
	}
	return err_set(r->e, ERR_INVALID, 0, "%s:%zu: a quoted cell does not end in this line",
		       r->path, r->line);
}

/* Copies the cell at *at to `cell`, without blanks around it. Afterwards *at is the offset of its
 * separator or the end of the line. */
static int cut_cell(struct reader *r, const char *text, size_t len, size_t *at, char cell[CELL])
{
	const char *blanks = r->separator == '\t' ? " \r" : " \t\r";
	size_t n = 0;
	bool quoted;

	while (*at < len && strchr(blanks, text[*at]))
		(*at)++;
	quoted = *at < len && text[*at] == '"';
	if (quoted && (++*at, cut_quoted(r, text, len, at, cell, &n) < 0))
		return -1;
	for (; *at < len && text[*at] != r->separator; (*at)++)
		if (!(quoted && strchr(blanks, text[*at])) && add_char(r, cell, &n, text[*at]) < 0)
			return -1;
	while (!quoted && n && strchr(blanks, cell[n - 1]))
		n--;
	cell[n] = '\0';
	str_clean(cell);
	return 0;
}

/* Splits a line into cells, without empty cells at its end, and sets *n to their number. -1: a cell
 * is too long, or there are too many cells. */
static int cut(struct reader *r, const char *text, size_t len, char cell[CELLS][CELL], size_t *n)
{
	*n = 0;
	for (size_t at = 0; at <= len; at++) {
		if (*n == CELLS)
			return err_set(r->e, ERR_INVALID, 0, "%s:%zu: more than %d cells", r->path,
				       r->line, CELLS);
		if (cut_cell(r, text, len, &at, cell[*n]) < 0)
			return -1;
		(*n)++;
	}
	while (*n && !*cell[*n - 1])
		--*n;
	return 0;
}

static int read_header(struct reader *r, char cell[CELLS][CELL], size_t n)
{
	for (size_t c = 0; c < COLUMNS; c++)
		r->at[c] = -1;
	for (size_t i = 0; i < n; i++) {
		size_t c = 0;

		while (c < COLUMNS && !str_eq(names[c], cell[i]))
			c++;
		if (c == COLUMNS || r->at[c] >= 0)
			return err_set(r->e, ERR_INVALID, 0, "%s:%zu: %s column '%s'", r->path,
				       r->line, c == COLUMNS ? "unknown" : "repeated", cell[i]);
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
	return wrong(r, c, strchr(text, ',') ? "a number without a comma" : want, text);
}

/* Parses a time into ms, and updates r->first and r->last. -1: the text is not a time, or it counts
 * from the beginning where earlier lines use Unix time (or the reverse). */
static int time_of(struct reader *r, const char *text, int64_t *ms)
{
	enum clock clock = SINCE_1970;

	if (!str_to_time(text, ms)) {
		if (!str_to_i64(text, EPOCH_S, INT64_MAX / 1000, ms)) {
			clock = SINCE_BEGINNING;
			if (number(r, TIME, text, 0, TIME_MAX, ms) < 0)
				return -1;
		}
		*ms *= *ms >= EPOCH_MS ? 1 : 1000;
	}
	if (r->clock && r->clock != clock)
		return wrong(r, TIME,
			     "the same kind of time in each line: seconds since the beginning, "
			     "or dates",
			     text);
	if (!r->clock)
		r->first = r->last = *ms;
	r->clock = clock;
	r->first = *ms < r->first ? *ms : r->first;
	r->last = *ms > r->last ? *ms : r->last;
	if (r->last - r->first > TIME_MAX * 1000)
		return wrong(r, TIME, "a time at most ten years from all others", text);
	return 0;
}

/* Sets *out to the resource requests of one pod of the job. Lines with equal texts share one
 * list. */
static int size_of(struct reader *r, char cell[CELLS][CELL], struct resources *out)
{
	/* columns in the order of the resource names in resource[], which must be sorted */
	static const enum column of[] = {CPU, MEMORY, GPUS};
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
				return wrong(r, of[i],
					     strchr(text, ',') ? "a decimal point, no comma"
							       : "a quantity",
					     text);
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

/* True if a line of n cells has the cells that every job needs. */
static bool cells_are_there(const struct reader *r, size_t n)
{
	static const enum column needed[] = {TIME, TENANT, COUNT, DURATION};

	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
		if ((size_t)r->at[needed[i]] >= n)
			return false;
	return true;
}

/* Returns the cell of an optional column; "": the file has no such column. */
static const char *optional(const struct reader *r, char cell[CELLS][CELL], enum column c)
{
	return r->at[c] < 0 ? "" : cell[r->at[c]];
}

/* Sets *out to the number in the cell of an optional column; 0 if there is none. */
static int maybe_number(struct reader *r, char cell[CELLS][CELL], enum column c, int64_t min,
			int64_t max, int64_t *out)
{
	const char *text = optional(r, cell, c);

	*out = 0;
	return *text ? number(r, c, text, min, max, out) : 0;
}

/* Reads the optional cells of a line into *j. */
static int read_more(struct reader *r, char cell[CELLS][CELL], struct replay_job *j)
{
	const char *product = optional(r, cell, PRODUCT), *class = optional(r, cell, CLASS),
		   *data = optional(r, cell, DATA);
	int64_t gang, saves, approved, slack, interval;

	if (maybe_number(r, cell, GANG, 0, 1, &gang) < 0 ||
	    maybe_number(r, cell, SAVES, 0, 1, &saves) < 0 ||
	    maybe_number(r, cell, APPROVED, 0, 1, &approved) < 0 ||
	    maybe_number(r, cell, PRIORITY, INT32_MIN, INT32_MAX, &j->priority) < 0 ||
	    maybe_number(r, cell, SLACK, 0, TIME_MAX, &slack) < 0 ||
	    maybe_number(r, cell, INTERVAL, 0, TIME_MAX, &interval) < 0)
		return -1;
	if (*data && !burst_data_names(data, &j->data, r->a))
		return wrong(r, DATA, "names of data sets, separated by commas", data);
	j->gang = gang != 0;
	j->saves = saves != 0;
	j->approved = approved != 0;
	j->product = *product ? arena_strdup(r->a, product) : NULL;
	j->data_class = *class ? arena_strdup(r->a, class) : NULL;
	j->start_by_ms = slack * 1000;
	j->interval_ms = interval * 1000;
	return 0;
}

static int read_job(struct reader *r, char cell[CELLS][CELL], size_t n)
{
	struct replay_job j = {0};
	int64_t time, count, duration;

	if (!n) /* the line has only separators */
		return 0;
	if (n > r->ncells || !cells_are_there(r, n))
		return err_set(r->e, ERR_INVALID, 0, "%s:%zu: want %zu cells, got %zu", r->path,
			       r->line, r->ncells, n);
	for (; n < r->ncells; n++)
		*cell[n] = '\0';
	if (r->s->njobs == SCENARIO_JOBS)
		return err_set(r->e, ERR_INVALID, 0, "%s: more than %d jobs", r->path,
			       SCENARIO_JOBS);
	if (time_of(r, cell[r->at[TIME]], &time) < 0 ||
	    number(r, COUNT, cell[r->at[COUNT]], 1, COUNT_MAX, &count) < 0 ||
	    number(r, DURATION, cell[r->at[DURATION]], 1, TIME_MAX, &duration) < 0 ||
	    read_more(r, cell, &j) < 0 || size_of(r, cell, &j.requests) < 0)
		return -1;
	j.tenant = world_tenant_name(r->s->world, cell[r->at[TENANT]]);
	if (!j.tenant)
		return wrong(r, TENANT, "the name of a VirtualCluster", cell[r->at[TENANT]]);
	r->pods += (size_t)count;
	if (r->pods > SCENARIO_PODS)
		return err_set(r->e, ERR_INVALID, 0, "%s:%zu: more than %d pods", r->path, r->line,
			       SCENARIO_PODS);
	j.at_ms = time;
	j.takes_ms = duration * 1000;
	j.pods = (uint32_t)count;
	mem_grow(r->s->jobs, r->s->njobs, r->cap);
	r->s->jobs[r->s->njobs++] = j;
	return 0;
}

/* Skips a byte order mark. Refuses UTF-16, which spreadsheets offer as "Unicode text". */
static int skip_mark(struct reader *r, const char **text, size_t *len)
{
	if (*len >= 2 && (!memcmp(*text, "\xff\xfe", 2) || !memcmp(*text, "\xfe\xff", 2)))
		return err_set(r->e, ERR_INVALID, 0,
			       "%s: the file is UTF-16; save it as CSV in UTF-8", r->path);
	if (*len >= 3 && !memcmp(*text, "\xef\xbb\xbf", 3)) {
		*text += 3;
		*len -= 3;
	}
	return 0;
}

static int read_lines(struct reader *r, const char *text, size_t len)
{
	char cell[CELLS][CELL];
	bool headed = false;
	size_t n;

	for (size_t at = 0; at < len;) {
		const char *nl = memchr(text + at, '\n', len - at);
		const size_t end = nl ? (size_t)(nl - text) : len;

		r->line++;
		if (!headed)
			r->separator = separator_of(text + at, end - at);
		if (end > at && !(end == at + 1 && text[at] == '\r') && text[at] != '#') {
			if (cut(r, text + at, end - at, cell, &n) < 0 ||
			    (headed ? read_job(r, cell, n) : read_header(r, cell, n)) < 0)
				return -1;
			headed = true;
		}
		at = end + 1;
	}
	return headed ? 0
		      : err_set(r->e, ERR_INVALID, 0,
				"%s: want a header line with the names of the columns", r->path);
}

int scenario_arrivals(struct scenario *s, const char *path, const char *text, size_t len,
		      struct arena *a, struct err *e)
{
	struct reader r = {.s = s, .path = path, .sizes = map_new(NULL), .a = a, .e = e};
	struct replay_job *kept;
	int rc;

	s->jobs = NULL;
	s->njobs = 0;
	rc = skip_mark(&r, &text, &len) < 0 ? -1 : read_lines(&r, text, len);
	for (size_t i = 0; i < s->njobs && r.clock == SINCE_1970; i++)
		s->jobs[i].at_ms -= r.first;
	/* So far the latest start counts from the arrival. */
	for (size_t i = 0; i < s->njobs; i++)
		if (s->jobs[i].start_by_ms)
			s->jobs[i].start_by_ms += s->jobs[i].at_ms;
	kept = arena_calloc(a, s->njobs + 1, sizeof(*kept));
	if (s->njobs)
		memcpy(kept, s->jobs, s->njobs * sizeof(*kept));
	free(s->jobs);
	s->jobs = kept;
	map_free(r.sizes);
	return rc;
}
