/*
 * top_draw: the layout of `drover top`. The size of the screen decides which panels and columns are
 * drawn (cli/top_view.h).
 * Tests: tests/unit/cli/test_top.c
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

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
	struct screen *s;
	struct arena *a;
};

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
static const enum screen_look need_looks[NEEDS] = {SCREEN_RED, SCREEN_YELLOW, SCREEN_CYAN,
						   SCREEN_GREEN, SCREEN_PLAIN};

static void draw_states(struct draw *d)
{
	const struct top_view *v = d->v;
	const char *text;
	char t[STR_TIME_SIZE];

	screen_add(d->s, SCREEN_BOLD, arena_printf(d->a, "%zu machines", map_size(v->machines)));
	for (int s = 0; s < MACHINE_STATES; s++) {
		if (!v->states[s])
			continue;
		text = arena_printf(d->a, "  %s %zu", machine_state_info[s].name, v->states[s]);
		if (d->s->width && d->s->column + strlen(text) > d->s->width && d->s->line < 2)
			screen_end(d->s);
		screen_add(d->s, SCREEN_BOLD, d->s->column ? text : text + 2);
	}
	text = arena_printf(d->a, "  by %s  %.5s UTC", top_view_order(v), str_time(t, v->now) + 11);
	if (d->s->height && d->s->column + strlen(text) <= d->s->width)
		screen_add(d->s, SCREEN_PLAIN, text);
	screen_end(d->s);
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

	screen_add(d->s, SCREEN_BOLD, arena_printf(d->a, "  %-*s %-11s", name, "MACHINE", "STATE"));
	if (mid)
		screen_add(d->s, SCREEN_BOLD,
			   arena_printf(d->a, " %7s  %-*s", "FOR", tenant, "TENANT"));
	if (wide)
		screen_add(d->s, SCREEN_BOLD, arena_printf(d->a, " %-*s", rack, "RACK"));
	screen_line(d->s, SCREEN_BOLD, " DOING");
	room = screen_left(d->s);
	from = first_row(v->at, room);
	for (size_t i = from; i < v->rows && i - from < room; i++) {
		const json_t *m = v->shown[i]->answer;
		bool at = d->s->height && i == v->at;
		enum screen_look look = at ? SCREEN_REVERSE : need_looks[v->shown[i]->need];

		screen_add(d->s, look,
			   arena_printf(d->a, "%c %-*.*s %-11.11s", at ? '>' : ' ', name, name,
					v->shown[i]->name, str_or(json_str_at(m, "state"), "-")));
		if (mid)
			screen_add(d->s, look,
				   arena_printf(d->a, " %7.7s  %-*.*s",
						age(d, json_str_at(m, "since")), tenant, tenant,
						str_or(json_str_at(m, "tenant"), "-")));
		if (wide)
			screen_add(d->s, look,
				   arena_printf(d->a, " %-*.*s", rack, rack,
						str_or(json_str_at(m, "rack"), "-")));
		screen_line(d->s, look, arena_printf(d->a, " %.200s", doing(d, m)));
	}
	if (!v->rows)
		screen_line(d->s, SCREEN_PLAIN,
			    *v->filter ? "  no machine matches the filter; Esc clears it"
				       : "  no machines");
}

/* --- racks ------------------------------------------------------------------------------------ */

/* Sizes in columns that are the same for the blocks of all racks. across: number of blocks side by
 * side. */
struct rack_blocks {
	size_t label, cells, width, across;
};

static struct rack_blocks blocks_of(const struct draw *d)
{
	const struct top_view *v = d->v;
	struct rack_blocks b = {.label = 1, .cells = 1, .across = 1};

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

static void draw_block(struct draw *d, const struct rack_blocks *b, size_t at, bool chosen)
{
	const struct top_view *v = d->v;
	const struct top_rack *r = &v->racks[at];
	size_t n = r->n > b->cells ? b->cells : r->n, begin = d->s->column;
	char *run = arena_alloc(d->a, b->cells * 4 + 1);

	screen_add(d->s, chosen ? SCREEN_REVERSE : SCREEN_PLAIN,
		   arena_printf(d->a, "%c%-*.*s", chosen ? '>' : ' ', (int)b->label, (int)b->label,
				*r->name ? r->name : "-"));
	screen_add(d->s, SCREEN_PLAIN, " ");
	for (size_t i = 0, k; i < n; i = k) {
		enum top_need need = v->racked[r->first + i]->need;
		const char *glyph =
			d->s->unicode && need == NEED_SERVES ? "\u25a0" : need_glyphs[need];
		char *to = run;

		for (k = i; k < n && v->racked[r->first + k]->need == need; k++)
			to = stpcpy(to, glyph);
		screen_add(d->s, need_looks[need], run);
	}
	if (r->n > n)
		screen_add(d->s, SCREEN_PLAIN, arena_printf(d->a, "+%zu", r->n - n));
	if (d->s->width && b->across > 1 && d->s->column < begin + b->width)
		d->s->column = begin + b->width;
}

static size_t rack_lines(const struct draw *d)
{
	struct rack_blocks b = blocks_of(d);

	if (!d->v->nracks || (d->v->nracks == 1 && !*d->v->racks[0].name))
		return 0;
	return 1 + (d->v->nracks + b.across - 1) / b.across;
}

static void draw_racks(struct draw *d, bool choose)
{
	const struct top_view *v = d->v;
	struct rack_blocks b = blocks_of(d);
	size_t from, room;

	screen_line(d->s, SCREEN_BOLD,
		    arena_printf(d->a,
				 " %zu RACKS   ! operator  x fails  ~ changes  %s serves  . rests",
				 v->nracks, d->s->unicode ? "\u25a0" : need_glyphs[NEED_SERVES]));
	room = screen_left(d->s) < v->nracks ? screen_left(d->s) * b.across : v->nracks;
	from = choose ? first_row(v->rack_at, room) : 0;
	for (size_t i = from; i < v->nracks && i - from < room; i++) {
		draw_block(d, &b, i, choose && i == v->rack_at);
		if ((i - from) % b.across == b.across - 1 || i + 1 == v->nracks)
			screen_end(d->s);
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

	screen_line(d->s, SCREEN_BOLD,
		    arena_printf(d->a, " PLACE %-*s %s%-19s %s", name,
				 arena_printf(d->a, "POD (%zu)", v->npods), mid ? "    FOR " : "",
				 "EXPECTED", mid ? "WHY" : ""));
	room = screen_left(d->s);
	from = choose ? first_row(v->pod_at, room) : 0;
	for (size_t i = from; i < v->npods && i - from < room; i++) {
		const json_t *now = json_object_get(v->pods[i], "now");
		const char *claim = json_str_at(now, "claim");
		int64_t place = json_int_at(now, "place");
		bool at = choose && i == v->pod_at;
		enum screen_look look = at ? SCREEN_REVERSE : SCREEN_PLAIN;

		screen_add(
			d->s, look,
			arena_printf(d->a, "%c%5.9s %-*.*s ", at ? '>' : ' ',
				     place > 0 ? arena_printf(d->a, "%lld", (long long)place) : "-",
				     name, name, str_or(json_str_at(v->pods[i], "name"), "")));
		if (mid)
			screen_add(d->s, look,
				   arena_printf(d->a, "%7.7s ", age(d, json_str_at(now, "since"))));
		screen_line(d->s, look,
			    arena_printf(d->a, mid ? "%-19s %s%s%.200s" : "%.8s",
					 claim ? eta(d, map_get(v->claims, claim)) : "unknown",
					 str_or(json_str_at(now, "reason"), ""),
					 json_str_at(now, "message") ? ": " : "",
					 str_or(json_str_at(now, "message"), "")));
	}
	if (!v->npods)
		screen_line(d->s, SCREEN_PLAIN, "  no pod waits");
}

static void draw_claims(struct draw *d)
{
	struct map_iter it;

	screen_line(d->s, SCREEN_BOLD,
		    arena_printf(d->a, "  %-24s %-12s %-12s %-12s EXPECTED   (%zu in progress)",
				 "CLAIM", "POOL", "TENANT", "PHASE", map_size(d->v->claims)));
	map_for_each (it, d->v->claims) {
		const json_t *c = it.value;

		if (screen_left(d->s))
			screen_line(d->s, SCREEN_PLAIN,
				    arena_printf(d->a, "  %-24.40s %-12.40s %-12.40s %-12.20s %s",
						 it.key, str_or(json_str_at(c, "pool"), "-"),
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
	skip = lines > screen_left(d->s) ? lines - screen_left(d->s) : 0;
	d->v->scroll = d->v->scroll < skip ? d->v->scroll : skip;
	for (size_t i = d->v->scroll; i < lines; i++)
		screen_line(d->s, SCREEN_PLAIN, parts[i]);
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
		buf_puts(&text, "reading the related objects ...\n");
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
static const char *foot_of(const struct draw *d, enum screen_look *look)
{
	const struct top_view *v = d->v;
	const char *verb = top_verb_names[v->verb];
	char t[STR_TIME_SIZE];

	*look = SCREEN_BOLD;
	if (v->input == TOP_FILTER)
		return arena_printf(d->a, "filter: %s_", v->filter);
	if (v->input == TOP_REASON)
		return arena_printf(d->a, "%s %s, reason: %s_", verb, v->asked, v->reason);
	if (v->input == TOP_SURE)
		return arena_printf(d->a, "%s %s? y: yes; any other key: no", verb, v->asked);
	*look = v->trouble ? SCREEN_RED : SCREEN_PLAIN;
	if (v->trouble)
		return arena_printf(d->a, "not updated since %s: %s", str_time(t, v->now),
				    v->trouble);
	if (v->said || v->opened || v->help)
		return "Esc: back  up, down: scroll  q: quit";
	if (*v->filter)
		return arena_printf(d->a, "filter: %s (%zu of %zu)", v->filter, v->rows,
				    map_size(v->machines));
	return arena_printf(d->a, "?: help  q: quit  Tab: show racks (%zu) or queue (%zu)",
			    v->nracks, v->npods);
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
	size_t room = screen_left(d->s), end_at = d->s->limit, racks = rack_lines(d),
	       queue = v->npods + 1, claims = map_size(v->claims) + 1;

	racks = racks > room / 4 ? room / 4 : racks;
	queue = queue > room / 4 ? room / 4 : queue;
	claims = claims > room / 5 ? room / 5 : claims;
	queue = v->npods ? queue : 0;
	claims = map_size(v->claims) ? claims : 0;
	if (racks > 1) {
		d->s->limit = d->s->line + racks;
		draw_racks(d, false);
	}
	d->s->limit = end_at - queue - claims;
	draw_machines(d);
	if (queue) {
		d->s->line = d->s->line > d->s->limit ? d->s->limit : d->s->line;
		d->s->limit = end_at - claims;
		draw_queue(d, false);
	}
	d->s->limit = end_at;
	if (claims)
		draw_claims(d);
}

static void draw_pipe(struct draw *d)
{
	draw_machines(d);
	if (d->v->npods) {
		screen_end(d->s);
		draw_queue(d, false);
	}
	if (map_size(d->v->claims)) {
		screen_end(d->s);
		draw_claims(d);
	}
	if (rack_lines(d)) {
		screen_end(d->s);
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
	else if (screen_left(d->s) >= BIG)
		draw_all(d);
	else
		draw_machines(d);
}

void top_view_draw(struct top_view *v, struct screen *s)
{
	OWN(arena) a = arena_new();
	struct draw d = {.v = v, .s = s, .a = a};
	const char *text, **parts = arena_calloc(a, s->height + 1, sizeof(*parts));
	enum screen_look look;
	size_t n;

	s->line = s->column = 0;
	s->limit = SIZE_MAX;
	top_view_settle(v);
	if (!s->height) {
		draw_states(&d);
		draw_pipe(&d);
		return;
	}
	text = foot_of(&d, &look);
	n = cut_foot(&d, text, parts);
	s->limit = s->height - n;
	draw_states(&d);
	draw_body(&d);
	s->limit = s->height;
	s->line = s->height - n;
	s->column = 0;
	for (size_t i = 0; i < n; i++)
		screen_line(s, look, parts[i]);
}

void top_view_print(struct top_view *v, size_t width, size_t height, struct buf *out)
{
	struct screen_text t = {.out = out};
	struct screen s = {.width = width, .height = height, .pen = screen_text_pen(&t)};

	top_view_draw(v, &s);
	screen_text_end(&t);
}
