/*
 * top_draw: the layout of `drover top`. The size of the screen decides which panels and columns are
 * drawn (cli/top_view.h).
 * Tests: tests/unit/cli/test_top.c
 */
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "base/arena.h"
#include "base/data/age.h"
#include "base/str.h"
#include "cli/explain_print.h"
#include "cli/top_view.h"
#include "cli/top_view_impl.h"
#include "controller/explain/explain.h"

/* BIG: smallest number of free lines for more than one panel. NARROW, WIDE: widths of the screen
 * from which a table shows additional columns. CELLS: maximum number of machines in one rack's
 * block. */
enum { BIG = 14, NARROW = 60, WIDE = 100, CELLS = 24 };

struct draw {
	struct top_view *v;
	const struct top_size *s;
	const struct top_pen *pen;
	struct arena *a;
	/* limit: first line that is not drawn */
	size_t line, column, limit;
};

/* --- text ------------------------------------------------------------------------------------- */

/* Returns the columns of a code point; 0: it cannot be shown. */
static size_t columns_of(const struct draw *d, int32_t point)
{
	int n;

	if (point < 0x80 || !d->s->width)
		return 1;
	n = d->s->unicode ? wcwidth((wchar_t)point) : 0;
	return n > 0 ? (size_t)n : 0;
}

/* Appends text to the line, truncated at the width of the screen. A character that the screen
 * cannot show becomes '?'. */
static void add(struct draw *d, enum top_look look, const char *text)
{
	char *copy = arena_strdup(d->a, text), *out = copy;
	size_t left = strlen(copy), begin = d->column, used, n;

	if (d->line >= d->limit)
		return;
	str_printable(copy);
	for (const char *p = copy; left; p += used, left -= used) {
		n = columns_of(d, str_utf8(p, left, &used));
		if (d->s->width && d->column + (n ? n : 1) > d->s->width)
			break;
		d->column += n ? n : 1;
		if (n)
			memmove(out, p, used);
		else
			*out = '?';
		out += n ? used : 1;
	}
	*out = '\0';
	d->pen->put(d->line, begin, look, copy, d->pen->arg);
}

static void end(struct draw *d)
{
	d->line++;
	d->column = 0;
}

static void line(struct draw *d, enum top_look look, const char *text)
{
	add(d, look, text);
	end(d);
}

static size_t left(const struct draw *d)
{
	return d->limit > d->line ? d->limit - d->line : 0;
}

static bool is_wide(const struct draw *d, size_t columns)
{
	return !d->s->width || d->s->width >= columns;
}

static const char *age(const struct draw *d, const char *since)
{
	OWN_JSON j = age_json(since, d->v->now);

	return since ? arena_strdup(d->a, json_string_value(j)) : "-";
}

/* Returns the index of the first row that the panel shows. The panel shows the page (a group of
 * `room` rows) that contains row `at`. */
static size_t first_row(size_t at, size_t room)
{
	return room ? at / room * room : 0;
}

/* --- machines --------------------------------------------------------------------------------- */

static const char *const need_glyphs[NEEDS] = {"!", "x", "~", "#", "."};
static const enum top_look need_looks[NEEDS] = {TOP_RED, TOP_YELLOW, TOP_CYAN, TOP_GREEN,
						TOP_PLAIN};

static void draw_states(struct draw *d)
{
	const struct top_view *v = d->v;
	const char *text;
	char t[STR_TIME_SIZE];

	add(d, TOP_BOLD, arena_printf(d->a, "%zu machines", map_size(v->machines)));
	for (int s = 0; s < MACHINE_STATES; s++) {
		if (!v->states[s])
			continue;
		text = arena_printf(d->a, "  %s %zu", machine_state_info[s].name, v->states[s]);
		if (d->s->width && d->column + strlen(text) > d->s->width && d->line < 2)
			end(d);
		add(d, TOP_BOLD, d->column ? text : text + 2);
	}
	text = arena_printf(d->a, "  by %s  %.5s UTC", top_view_order(v), str_time(t, v->now) + 11);
	if (d->s->height && d->column + strlen(text) <= d->s->width)
		add(d, TOP_PLAIN, text);
	end(d);
}

/* Returns the time left of a phase, such as " 12m left"; "" if it is unknown. */
static const char *time_left(const struct draw *d, const json_t *p)
{
	const char *end_at = json_str_at(p, "expectedEnd");
	int64_t rate = json_int_at(p, "bytesPerSecond"), ms = -1, at;
	char from[STR_TIME_SIZE];

	if (end_at && str_to_time(end_at, &at))
		ms = at - d->v->now;
	else if (rate > 0)
		ms = (json_int_at(p, "totalBytes") - json_int_at(p, "doneBytes")) / rate * 1000;
	if (ms < 0)
		return "";
	return arena_printf(d->a, " %s left", age(d, str_time(from, d->v->now - ms)));
}

static const char *rate_of(const struct draw *d, const json_t *p)
{
	int64_t rate = json_int_at(p, "bytesPerSecond");

	return rate <= 0	 ? ""
	       : rate >= 1000000 ? arena_printf(d->a, " %lld MB/s", (long long)(rate / 1000000))
				 : arena_printf(d->a, " %lld kB/s", (long long)(rate / 1000));
}

static const char *progress(const struct draw *d, const json_t *p)
{
	int64_t done = json_int_at(p, "doneBytes"), total = json_int_at(p, "totalBytes");
	const char *phase = str_or(json_str_at(p, "phase"), "");
	char cells[11] = "          ";
	int percent;

	if (!p)
		return NULL;
	if (total <= 0 || done < 0 || done > total)
		return phase;
	percent = (int)((double)done * 100 / (double)total);
	if (!is_wide(d, NARROW))
		return arena_printf(d->a, "%d %%%s", percent, time_left(d, p));
	memset(cells, '#', (size_t)((double)done * 10 / (double)total));
	return arena_printf(d->a, "%.40s [%s] %d %%%s%s", phase, cells, percent, rate_of(d, p),
			    time_left(d, p));
}

/* Returns the text of column DOING: the reason of an error, else the progress, else what the
 * machine waits for. */
static const char *doing(const struct draw *d, const json_t *m)
{
	const char *reason = top_view_reason(m), *waits = json_str_at(m, "waitingFor"),
		   *part = progress(d, json_object_get(m, "progress"));

	if (reason)
		return waits ? arena_printf(d->a, "%s, waits for %s", reason, waits) : reason;
	return part ? part : waits ? arena_printf(d->a, "waits for %s", waits) : "";
}

static int widest(const struct top_view *v, const char *key, size_t least, size_t most)
{
	size_t found = least, n;

	for (size_t i = 0; i < v->rows; i++) {
		n = strlen(str_or(json_str_at(v->shown[i]->answer, key), ""));
		if (n > found)
			found = n;
	}
	return (int)(found > most ? most : found);
}

static void draw_machines(struct draw *d)
{
	struct top_view *v = d->v;
	bool mid = is_wide(d, NARROW), wide = is_wide(d, WIDE);
	int name = widest(v, "name", 7,
			  wide	? 40
			  : mid ? 24
				: 14),
	    tenant = widest(v, "tenant", 6, wide ? 40 : 12), rack = widest(v, "rack", 4, 40);
	size_t room, from;

	add(d, TOP_BOLD, arena_printf(d->a, "  %-*s %-11s", name, "MACHINE", "STATE"));
	if (mid)
		add(d, TOP_BOLD, arena_printf(d->a, " %7s  %-*s", "FOR", tenant, "TENANT"));
	if (wide)
		add(d, TOP_BOLD, arena_printf(d->a, " %-*s", rack, "RACK"));
	line(d, TOP_BOLD, " DOING");
	room = left(d);
	from = first_row(v->at, room);
	for (size_t i = from; i < v->rows && i - from < room; i++) {
		const json_t *m = v->shown[i]->answer;
		bool at = d->s->height && i == v->at;
		enum top_look look = at ? TOP_REVERSE : need_looks[v->shown[i]->need];

		add(d, look,
		    arena_printf(d->a, "%c %-*.*s %-11.11s", at ? '>' : ' ', name, name,
				 v->shown[i]->name, str_or(json_str_at(m, "state"), "-")));
		if (mid)
			add(d, look,
			    arena_printf(d->a, " %7.7s  %-*.*s", age(d, json_str_at(m, "since")),
					 tenant, tenant, str_or(json_str_at(m, "tenant"), "-")));
		if (wide)
			add(d, look,
			    arena_printf(d->a, " %-*.*s", rack, rack,
					 str_or(json_str_at(m, "rack"), "-")));
		line(d, look, arena_printf(d->a, " %.200s", doing(d, m)));
	}
	if (!v->rows)
		line(d, TOP_PLAIN,
		     *v->filter ? "  no machine matches the filter; Esc clears it"
				: "  no machines");
}

/* --- racks ------------------------------------------------------------------------------------ */

/* Sizes in columns that are the same for the blocks of all racks. across: number of blocks side by
 * side. */
struct blocks {
	size_t label, cells, width, across;
};

static struct blocks blocks_of(const struct draw *d)
{
	const struct top_view *v = d->v;
	struct blocks b = {.label = 1, .cells = 1, .across = 1};

	for (size_t i = 0; i < v->nracks; i++) {
		size_t n = strlen(v->racks[i].name);

		b.label = n > b.label ? n : b.label;
		b.cells = v->racks[i].n > b.cells ? v->racks[i].n : b.cells;
	}
	b.label = b.label > 16 ? 16 : b.label;
	b.cells = b.cells > CELLS ? CELLS : b.cells;
	/* in this order: mark, label, space, cells, number of machines without a cell, space */
	b.width = 1 + b.label + 1 + b.cells + (b.cells == CELLS ? 5 : 0) + 1;
	if (d->s->width > b.width)
		b.across = d->s->width / b.width;
	return b;
}

static void draw_block(struct draw *d, const struct blocks *b, size_t at, bool chosen)
{
	const struct top_view *v = d->v;
	const struct top_rack *r = &v->racks[at];
	size_t n = r->n > b->cells ? b->cells : r->n, begin = d->column;
	char *run = arena_alloc(d->a, b->cells * 4 + 1);

	add(d, chosen ? TOP_REVERSE : TOP_PLAIN,
	    arena_printf(d->a, "%c%-*.*s", chosen ? '>' : ' ', (int)b->label, (int)b->label,
			 *r->name ? r->name : "-"));
	add(d, TOP_PLAIN, " ");
	for (size_t i = 0, k; i < n; i = k) {
		enum top_need need = v->racked[r->first + i]->need;
		const char *glyph =
			d->s->unicode && need == NEED_SERVES ? "\u25a0" : need_glyphs[need];
		char *to = run;

		for (k = i; k < n && v->racked[r->first + k]->need == need; k++)
			to = stpcpy(to, glyph);
		add(d, need_looks[need], run);
	}
	if (r->n > n)
		add(d, TOP_PLAIN, arena_printf(d->a, "+%zu", r->n - n));
	if (d->s->width && b->across > 1 && d->column < begin + b->width)
		d->column = begin + b->width;
}

static size_t rack_lines(const struct draw *d)
{
	struct blocks b = blocks_of(d);

	if (!d->v->nracks || (d->v->nracks == 1 && !*d->v->racks[0].name))
		return 0;
	return 1 + (d->v->nracks + b.across - 1) / b.across;
}

static void draw_racks(struct draw *d, bool choose)
{
	const struct top_view *v = d->v;
	struct blocks b = blocks_of(d);
	size_t from, room;

	line(d, TOP_BOLD,
	     arena_printf(d->a, " %zu RACKS   ! operator  x fails  ~ changes  %s serves  . rests",
			  v->nracks, d->s->unicode ? "\u25a0" : need_glyphs[NEED_SERVES]));
	room = left(d) < v->nracks ? left(d) * b.across : v->nracks;
	from = choose ? first_row(v->rack_at, room) : 0;
	for (size_t i = from; i < v->nracks && i - from < room; i++) {
		draw_block(d, &b, i, choose && i == v->rack_at);
		if ((i - from) % b.across == b.across - 1 || i + 1 == v->nracks)
			end(d);
	}
}

/* --- queue and claims ------------------------------------------------------------------------- */

/* Returns the time at which a claim is expected to be ready, such as "10:20 to 10:31 UTC", or
 * "unknown". */
static const char *eta(const struct draw *d, const json_t *n)
{
	const char *p50 = json_str_at(n, "etaP50"), *p90 = json_str_at(n, "etaP90");

	if (!p50 || strlen(p50) < 16)
		return "unknown";
	if (!is_wide(d, NARROW))
		return arena_printf(d->a, "%.5s", p50 + 11);
	return arena_printf(d->a, "%.5s%s%.5s UTC", p50 + 11,
			    p90 && strlen(p90) >= 16 ? " to " : "",
			    p90 && strlen(p90) >= 16 ? p90 + 11 : "");
}

static void draw_queue(struct draw *d, bool choose)
{
	const struct top_view *v = d->v;
	bool mid = is_wide(d, NARROW);
	size_t most = is_wide(d, WIDE) ? 40 : mid ? 24 : 20, longest = 8, room, from;
	int name;

	for (size_t i = 0; i < v->npods; i++) {
		size_t n = strlen(str_or(json_str_at(v->pods[i], "name"), ""));

		longest = n > longest ? n : longest;
	}
	name = (int)(longest > most ? most : longest);

	line(d, TOP_BOLD,
	     arena_printf(d->a, " PLACE %-*s %s%-19s %s", name,
			  arena_printf(d->a, "POD (%zu)", v->npods), mid ? "    FOR " : "",
			  "EXPECTED", mid ? "WHY" : ""));
	room = left(d);
	from = choose ? first_row(v->pod_at, room) : 0;
	for (size_t i = from; i < v->npods && i - from < room; i++) {
		const json_t *now = json_object_get(v->pods[i], "now");
		const char *claim = json_str_at(now, "claim");
		int64_t place = json_int_at(now, "place");
		bool at = choose && i == v->pod_at;
		enum top_look look = at ? TOP_REVERSE : TOP_PLAIN;

		add(d, look,
		    arena_printf(d->a, "%c%5.9s %-*.*s ", at ? '>' : ' ',
				 place > 0 ? arena_printf(d->a, "%lld", (long long)place) : "-",
				 name, name, str_or(json_str_at(v->pods[i], "name"), "")));
		if (mid)
			add(d, look,
			    arena_printf(d->a, "%7.7s ", age(d, json_str_at(now, "since"))));
		line(d, look,
		     arena_printf(d->a, mid ? "%-19s %s%s%.200s" : "%.8s",
				  claim ? eta(d, map_get(v->claims, claim)) : "unknown",
				  str_or(json_str_at(now, "reason"), ""),
				  json_str_at(now, "message") ? ": " : "",
				  str_or(json_str_at(now, "message"), "")));
	}
	if (!v->npods)
		line(d, TOP_PLAIN, "  no pod waits");
}

static void draw_claims(struct draw *d)
{
	struct map_iter it;

	line(d, TOP_BOLD,
	     arena_printf(d->a, "  %-24s %-12s %-12s %-12s EXPECTED   (%zu in progress)", "CLAIM",
			  "POOL", "TENANT", "PHASE", map_size(d->v->claims)));
	map_for_each (it, d->v->claims) {
		const json_t *c = it.value;

		if (left(d))
			line(d, TOP_PLAIN,
			     arena_printf(d->a, "  %-24.40s %-12.40s %-12.40s %-12.20s %s", it.key,
					  str_or(json_str_at(c, "pool"), "-"),
					  str_or(json_str_at(c, "tenant"), "-"),
					  str_or(json_str_at(c, "state"), "-"), eta(d, c)));
	}
}

/* --- texts ------------------------------------------------------------------------------------ */

/* Returns the length of the first part of text that fits in `width` bytes, cut at a space if
 * possible. */
static size_t part_of(const char *text, size_t width)
{
	size_t n = strlen(text), cut;

	if (!width || n <= width)
		return n;
	for (cut = width; cut > width / 2 && text[cut] != ' '; cut--)
		;
	if (text[cut] == ' ')
		return cut;
	/* not inside a character */
	for (cut = width; cut > 1 && ((unsigned char)text[cut] & 0xc0) == 0x80; cut--)
		;
	return cut;
}

/* Draws a text of several lines, from line v->scroll; long lines are continued. */
static void draw_text(struct draw *d, const char *text)
{
	char *copy = arena_strdup(d->a, text), *save = NULL;
	size_t lines = 0, cut, skip;
	const char **parts = arena_calloc(d->a, strlen(text) + 1, sizeof(*parts));

	for (char *l = strtok_r(copy, "\n", &save); l; l = strtok_r(NULL, "\n", &save)) {
		do {
			cut = part_of(l, d->s->width);
			parts[lines++] = arena_strndup(d->a, l, cut);
			l += cut;
			l += *l == ' ';
		} while (*l);
	}
	skip = lines > left(d) ? lines - left(d) : 0;
	d->v->scroll = d->v->scroll < skip ? d->v->scroll : skip;
	for (size_t i = d->v->scroll; i < lines; i++)
		line(d, TOP_PLAIN, parts[i]);
}

/* Returns what the object of the opened row alone explains; NULL: it no longer exists. */
static const json_t *alone(const struct top_view *v)
{
	const struct top_row *r;

	if (v->panel != TOP_QUEUE) {
		r = map_get(v->machines, v->opened + strlen("machine/"));
		return r ? r->answer : NULL;
	}
	for (size_t i = 0; i < v->npods; i++)
		if (str_eq(json_str_at(v->pods[i], "name"), v->opened))
			return v->pods[i];
	return NULL;
}

static void draw_opened(struct draw *d)
{
	const struct top_view *v = d->v;
	const json_t *answer = v->chain ? v->chain : alone(v);
	struct buf text;

	buf_init(&text, 1 << 20);
	buf_puts(&text, "");
	if (answer)
		explain_print(answer, v->now, &text);
	if (v->chain_trouble)
		buf_printf(&text, "%s: %s\n", v->chain ? "not updated" : "not complete",
			   v->chain_trouble);
	else if (!v->chain)
		buf_puts(&text, "reading the objects that belong to it ...\n");
	draw_text(d, text.data);
	buf_done(&text);
}

static const char help_text[] =
	"up, down, j, k  select, scroll\n"
	"PgUp, PgDn      ten rows\n"
	"Enter           why; on a rack: its machines\n"
	"Tab             machines, racks, queue\n"
	"s               sort by the next column\n"
	"/               filter: name, state, tenant, rack, reason; or rack=r1\n"
	"r               retry now\n"
	"l               release\n"
	"Q, D, X         quarantine, drain, retire; asks for a reason\n"
	"Esc             back, clear the filter\n"
	"Ctrl-L          draw again\n"
	"q               quit\n"
	"red ! needs an operator; yellow x failed or slow, drover retries\n"
	"cyan ~ in transition; green # serving; . at rest";

/* --- the screen ------------------------------------------------------------------------------- */

/* Returns the text for the bottom of the screen; *look: how it is drawn. */
static const char *foot_of(const struct draw *d, enum top_look *look)
{
	const struct top_view *v = d->v;
	const char *verb = top_verb_names[v->verb];
	char t[STR_TIME_SIZE];

	*look = TOP_BOLD;
	if (v->input == TOP_FILTER)
		return arena_printf(d->a, "filter: %s_", v->filter);
	if (v->input == TOP_REASON)
		return arena_printf(d->a, "%s %s, reason: %s_", verb, v->asked, v->reason);
	if (v->input == TOP_SURE)
		return arena_printf(d->a, "y: %s %s? other key: no", verb, v->asked);
	*look = v->trouble ? TOP_RED : TOP_PLAIN;
	if (v->trouble)
		return arena_printf(d->a, "not updated since %s: %s", str_time(t, v->now),
				    v->trouble);
	if (v->said || v->opened || v->help)
		return "Esc: back  up, down: scroll  q: quit";
	if (*v->filter)
		return arena_printf(d->a, "filter: %s (%zu of %zu)", v->filter, v->rows,
				    map_size(v->machines));
	return arena_printf(d->a, "?: help  q: quit  Tab: racks %zu, queue %zu", v->nracks,
			    v->npods);
}

/* Splits the text for the bottom of the screen into lines, so that a long question can be read
 * completely. Returns the number of lines: at least 1, at most a third of the screen. */
static size_t cut_foot(const struct draw *d, const char *text, const char **parts)
{
	size_t most = d->s->height / 3 ? d->s->height / 3 : 1, n = 0, cut;

	do {
		cut = n + 1 < most ? part_of(text, d->s->width) : strlen(text);
		parts[n++] = arena_strndup(d->a, text, cut);
		text += cut;
		text += *text == ' ';
	} while (*text);
	return n;
}

/* Draws all panels that have rows. Racks and queue get at most a quarter of the screen each, claims
 * at most a fifth. The machines get the remaining lines. */
static void draw_all(struct draw *d)
{
	const struct top_view *v = d->v;
	size_t room = left(d), end_at = d->limit, racks = rack_lines(d), queue = v->npods + 1,
	       claims = map_size(v->claims) + 1;

	racks = racks > room / 4 ? room / 4 : racks;
	queue = queue > room / 4 ? room / 4 : queue;
	claims = claims > room / 5 ? room / 5 : claims;
	queue = v->npods ? queue : 0;
	claims = map_size(v->claims) ? claims : 0;
	if (racks > 1) {
		d->limit = d->line + racks;
		draw_racks(d, false);
	}
	d->limit = end_at - queue - claims;
	draw_machines(d);
	if (queue) {
		d->line = d->line > d->limit ? d->limit : d->line;
		d->limit = end_at - claims;
		draw_queue(d, false);
	}
	d->limit = end_at;
	if (claims)
		draw_claims(d);
}

static void draw_pipe(struct draw *d)
{
	draw_machines(d);
	if (d->v->npods) {
		end(d);
		draw_queue(d, false);
	}
	if (map_size(d->v->claims)) {
		end(d);
		draw_claims(d);
	}
	if (rack_lines(d)) {
		end(d);
		draw_racks(d, false);
	}
}

static void draw_body(struct draw *d)
{
	const struct top_view *v = d->v;

	if (v->said)
		draw_text(d, v->said);
	else if (v->help)
		draw_text(d, help_text);
	else if (v->opened)
		draw_opened(d);
	else if (v->panel == TOP_RACKS)
		draw_racks(d, true);
	else if (v->panel == TOP_QUEUE)
		draw_queue(d, true);
	else if (left(d) >= BIG)
		draw_all(d);
	else
		draw_machines(d);
}

void top_view_draw(struct top_view *v, const struct top_size *s, const struct top_pen *pen)
{
	OWN(arena) a = arena_new();
	struct draw d = {.v = v, .s = s, .pen = pen, .a = a, .limit = SIZE_MAX};
	const char *text, **parts = arena_calloc(a, s->height + 1, sizeof(*parts));
	enum top_look look;
	size_t n;

	top_view_settle(v);
	if (!s->height) {
		draw_states(&d);
		draw_pipe(&d);
		return;
	}
	text = foot_of(&d, &look);
	n = cut_foot(&d, text, parts);
	d.limit = s->height - n;
	draw_states(&d);
	draw_body(&d);
	d.limit = s->height;
	d.line = s->height - n;
	d.column = 0;
	for (size_t i = 0; i < n; i++)
		line(&d, look, parts[i]);
}

/* --- as text ---------------------------------------------------------------------------------- */

struct printing {
	struct buf *out;
	size_t line, column;
};

static void print(size_t to, size_t column, enum top_look look, const char *text, void *arg)
{
	struct printing *p = arg;

	(void)look;
	for (; p->line < to; p->line++, p->column = 0)
		buf_puts(p->out, "\n");
	for (; p->column < column; p->column++)
		buf_puts(p->out, " ");
	buf_puts(p->out, text);
	for (; *text; text++)
		p->column += ((unsigned char)*text & 0xc0) != 0x80;
}

void top_view_print(struct top_view *v, const struct top_size *s, struct buf *out)
{
	struct printing p = {.out = out};

	top_view_draw(v, s, &(struct top_pen){.put = print, .arg = &p});
	buf_puts(out, "\n");
}
