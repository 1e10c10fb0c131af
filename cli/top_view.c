#include "cli/top_view.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "api/machine_states.h"
#include "base/arena.h"
#include "base/data/age.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/explain/explain.h"
#include "cli/explain_print.h"
#include "cli/screen.h"

enum { CLAIMS_MAX = 8, FILTER = 64, PAGE = 10, LINE = 512 };

enum order { BY_NEED, BY_NAME, BY_STATE, BY_AGE, BY_TENANT, BY_RACK, ORDERS };
static const char *const order_names[ORDERS] = {"need", "name", "state", "age", "tenant", "rack"};

struct top_view {
	/* arrays of explanations, as given to top_view_put() */
	json_t *machines, *claims;
	int64_t now;
	/* error of the last read; NULL: none */
	char *trouble;
	enum order order;
	char filter[FILTER];
	bool typing, help, opened;
	/* name of the selected machine; NULL: none selected yet, the first row counts as
	 * selected */
	char *chosen;
	/* shown: the machines that match the filter, sorted; rows: their number */
	size_t rows;
	json_t **shown;
};

struct top_view *top_view_new(void)
{
	struct top_view *v = mem_new(struct top_view);

	v->machines = json_array();
	v->claims = json_array();
	return v;
}

void top_view_free(struct top_view *v)
{
	if (!v)
		return;
	json_decref(v->machines);
	json_decref(v->claims);
	free(v->trouble);
	free(v->chosen);
	free(v->shown);
	free(v);
}

void top_view_trouble(struct top_view *v, const char *text)
{
	free(v->trouble);
	v->trouble = mem_strdup(text);
}

/* --- rows and their order --------------------------------------------------------------------- */

static const char *name_of(const json_t *m)
{
	return str_or(json_str_at(m, "name"), "");
}

static enum machine_state state_of(const json_t *m)
{
	return machine_state_find(str_or(json_str_at(m, "state"), ""));
}

/* Returns the sort key of a machine: 0 needs an operator, 1 has an error or is slow, 2 is in
 * transition, 3 serves, 4 is at rest. */
static int need_of(const json_t *m)
{
	enum machine_state s = state_of(m);

	if (s == MACHINE_QUARANTINED || json_object_get(m, "quarantine"))
		return 0;
	if (json_object_get(m, "lastError") || json_true_at(m, "slow"))
		return 1;
	if (s == MACHINE_SERVING)
		return 3;
	return s == MACHINE_FREE || s == MACHINE_KNOWN || s == MACHINE_RETIRED || s == MACHINE_GONE
		       ? 4
		       : 2;
}

static int by_text(const json_t *a, const json_t *b, const char *key)
{
	return strcmp(str_or(json_str_at(a, key), ""), str_or(json_str_at(b, key), ""));
}

static int compare(const void *x, const void *y, void *arg)
{
	const json_t *a = *(json_t *const *)x, *b = *(json_t *const *)y;
	int d = 0;

	switch (((const struct top_view *)arg)->order) {
	case BY_NEED:
		d = need_of(a) - need_of(b);
		d = d ? d : by_text(a, b, "since");
		break;
	case BY_STATE:
		d = (int)state_of(a) - (int)state_of(b);
		break;
	case BY_AGE:
		d = by_text(a, b, "since");
		break;
	case BY_TENANT:
		d = by_text(a, b, "tenant");
		break;
	case BY_RACK:
		d = by_text(a, b, "rack");
		break;
	case BY_NAME:
	case ORDERS:
		break;
	}
	return d ? d : strcmp(name_of(a), name_of(b));
}

static const char *reason_of(const json_t *m)
{
	const char *reason = json_str_at(m, "quarantine", "reason");

	return reason ? reason : json_str_at(m, "lastError", "reason");
}

static bool is_let_through(const struct top_view *v, const json_t *m)
{
	const char *const texts[] = {name_of(m), json_str_at(m, "state"), json_str_at(m, "tenant"),
				     json_str_at(m, "rack"), reason_of(m)};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (texts[i] && strcasestr(texts[i], v->filter))
			return true;
	return false;
}

static void choose(struct top_view *v, const char *name)
{
	char *copy = mem_strdup(name);

	free(v->chosen);
	v->chosen = copy;
}

static size_t chosen_row(const struct top_view *v)
{
	for (size_t i = 0; i < v->rows; i++)
		if (str_eq(name_of(v->shown[i]), v->chosen))
			return i;
	return 0;
}

static void arrange(struct top_view *v)
{
	json_t *m;
	size_t i;

	free(v->shown);
	v->shown = mem_calloc(json_array_size(v->machines) + 1, sizeof(*v->shown));
	v->rows = 0;
	json_array_foreach (v->machines, i, m)
		if (is_let_through(v, m))
			v->shown[v->rows++] = m;
	qsort_r(v->shown, v->rows, sizeof(*v->shown), compare, v);
	if (v->rows)
		choose(v, name_of(v->shown[chosen_row(v)]));
}

void top_view_put(struct top_view *v, json_t *machines, json_t *claims, int64_t now)
{
	json_decref(v->machines);
	json_decref(v->claims);
	v->machines = machines;
	v->claims = claims;
	v->now = now;
	arrange(v);
}

json_t *top_view_json(const struct top_view *v)
{
	json_t *machines = json_array();

	for (size_t i = 0; i < v->rows; i++)
		json_array_append(machines, v->shown[i]);
	return json_pack("{s:o, s:O}", "machines", machines, "claims", v->claims);
}

/* --- keys ------------------------------------------------------------------------------------- */

static void type(struct top_view *v, int key)
{
	size_t n = strlen(v->filter);

	if (key == '\n' || key == '\r') {
		v->typing = false;
	} else if (key == TOP_ESCAPE) {
		v->typing = false;
		v->filter[0] = '\0';
	} else if (key == 0x7f || key == 0x08) {
		v->filter[n ? n - 1 : 0] = '\0';
	} else if (key >= 0x20 && key < 0x7f && n + 1 < FILTER) {
		v->filter[n] = (char)key;
		v->filter[n + 1] = '\0';
	}
	arrange(v);
}

static void move(struct top_view *v, long by)
{
	size_t at = chosen_row(v);

	if (!v->rows)
		return;
	if (by < 0)
		at -= (size_t)-by < at ? (size_t)-by : at;
	else
		at += (size_t)by < v->rows - 1 - at ? (size_t)by : v->rows - 1 - at;
	choose(v, name_of(v->shown[at]));
}

bool top_view_key(struct top_view *v, int key)
{
	if (v->typing) {
		type(v, key);
		return true;
	}
	switch (key) {
	case 'q':
	case 3: /* Ctrl-C, if the terminal does not turn it into a signal */
		return false;
	case TOP_ESCAPE:
		if (!v->help && !v->opened)
			v->filter[0] = '\0';
		v->help = v->opened = false;
		arrange(v);
		break;
	case '?':
	case 'h':
		v->help = !v->help;
		break;
	case '\n':
	case '\r':
		v->opened = !v->opened && v->rows;
		break;
	case 's':
		v->order = (enum order)((v->order + 1) % ORDERS);
		arrange(v);
		break;
	case '/':
		v->typing = true;
		break;
	case 'k':
	case TOP_UP:
		move(v, -1);
		break;
	case 'j':
	case TOP_DOWN:
		move(v, 1);
		break;
	case TOP_PAGE_UP:
		move(v, -PAGE);
		break;
	case TOP_PAGE_DOWN:
		move(v, PAGE);
		break;
	default:
		break;
	}
	return true;
}

/* --- drawing ---------------------------------------------------------------------------------- */

static const char *age(const struct top_view *v, const char *since, struct arena *a)
{
	OWN_JSON j = age_json(since, v->now);

	return since ? arena_strdup(a, json_string_value(j)) : "-";
}

static void draw_states(const struct top_view *v, struct screen *d, struct arena *a)
{
	size_t n[MACHINE_STATES] = {0}, i;
	const char *text = arena_printf(a, "%zu machines", json_array_size(v->machines));
	json_t *m;

	json_array_foreach (v->machines, i, m)
		if (state_of(m) != MACHINE_STATE_NONE)
			n[state_of(m)]++;
	for (int s = 0; s < MACHINE_STATES; s++)
		if (n[s])
			text = arena_printf(a, "%s  %s %zu", text, machine_state_info[s].name,
					    n[s]);
	screen_line(d, "\033[1m", text);
}

static const char *bar(const json_t *p, struct arena *a)
{
	int64_t done = json_int_at(p, "doneBytes"), total = json_int_at(p, "totalBytes");
	char cells[11] = "          ";

	if (!p)
		return NULL;
	if (total <= 0 || done < 0 || done > total)
		return str_or(json_str_at(p, "phase"), "");
	memset(cells, '#', (size_t)((double)done * 10 / (double)total));
	return arena_printf(a, "%s [%s] %d %%", str_or(json_str_at(p, "phase"), ""), cells,
			    (int)((double)done * 100 / (double)total));
}

/* Returns the text of column DOING: the reason of an error, else the progress, else what the
 * machine waits for. */
static const char *doing(const json_t *m, struct arena *a)
{
	const char *reason = reason_of(m), *waits = json_str_at(m, "waitingFor"),
		   *progress = bar(json_object_get(m, "progress"), a);

	if (reason)
		return waits ? arena_printf(a, "%s, waits for %s", reason, waits) : reason;
	return progress ? progress : waits ? arena_printf(a, "waits for %s", waits) : "";
}

static const char *colour_of(const json_t *m)
{
	static const char *const colours[] = {"\033[31m", "\033[33m", "\033[36m", "\033[32m", ""};

	return colours[need_of(m)];
}

static size_t widest(const struct top_view *v, const char *key, size_t least)
{
	size_t most = least, n;

	for (size_t i = 0; i < v->rows; i++) {
		n = strlen(str_or(json_str_at(v->shown[i], key), ""));
		if (n > most)
			most = n;
	}
	return most > 40 ? 40 : most;
}

static void draw_machines(const struct top_view *v, struct screen *d, struct arena *a, size_t keep)
{
	size_t name = widest(v, "name", 7), tenant = widest(v, "tenant", 6),
	       rack = widest(v, "rack", 4), room, at = chosen_row(v), from = 0;

	screen_line(d, "\033[1m",
		    arena_printf(a, "  %-*s %-12s %7s  %-*s %-*s DOING", (int)name, "MACHINE",
				 "STATE", "FOR", (int)tenant, "TENANT", (int)rack, "RACK"));
	room = screen_left(d);
	room = room == SIZE_MAX ? room : room > keep ? room - keep : 1;
	if (room < v->rows && at >= room)
		from = at + 1 - room;
	for (size_t i = from; i < v->rows && i - from < room; i++) {
		const json_t *m = v->shown[i];

		screen_line(d, colour_of(m),
			    arena_printf(a, "%c %-*.*s %-12.12s %7.7s  %-*.*s %-*.*s %.200s",
					 d->height && i == at ? '>' : ' ', (int)name, (int)name,
					 name_of(m), str_or(json_str_at(m, "state"), "-"),
					 age(v, json_str_at(m, "since"), a), (int)tenant,
					 (int)tenant, str_or(json_str_at(m, "tenant"), "-"),
					 (int)rack, (int)rack, str_or(json_str_at(m, "rack"), "-"),
					 doing(m, a)));
	}
	if (!v->rows)
		screen_line(d, "",
			    *v->filter ? "  no machine matches the filter; Esc clears it"
				       : "  no machines");
}

/* Returns the time at which a claim is expected to be ready, such as "10:20 to 10:31 UTC", or
 * "unknown". */
static const char *eta(const json_t *n, struct arena *a)
{
	const char *p50 = json_str_at(n, "etaP50"), *p90 = json_str_at(n, "etaP90");

	if (!p50 || strlen(p50) < 16)
		return "unknown";
	return arena_printf(a, "%.5s%s%.5s UTC", p50 + 11, p90 && strlen(p90) >= 16 ? " to " : "",
			    p90 && strlen(p90) >= 16 ? p90 + 11 : "");
}

static size_t claim_lines(const struct top_view *v)
{
	size_t n = json_array_size(v->claims);

	return n ? (n < CLAIMS_MAX ? n : CLAIMS_MAX) + 2 : 0;
}

static void draw_claims(const struct top_view *v, struct screen *d, struct arena *a)
{
	size_t n = json_array_size(v->claims), i;
	json_t *c;

	if (!n)
		return;
	screen_line(d, "", "");
	screen_line(d, "\033[1m",
		    arena_printf(a, "  %-24s %-12s %-12s %-12s EXPECTED   (%zu in progress)",
				 "CLAIM", "POOL", "TENANT", "PHASE", n));
	json_array_foreach (v->claims, i, c)
		if (i < CLAIMS_MAX)
			screen_line(d, "",
				    arena_printf(a, "  %-24.40s %-12.40s %-12.40s %-12.20s %s",
						 name_of(c), str_or(json_str_at(c, "pool"), "-"),
						 str_or(json_str_at(c, "tenant"), "-"),
						 str_or(json_str_at(c, "state"), "-"), eta(c, a)));
}

static void draw_lines(struct screen *d, struct arena *a, const char *text)
{
	char *copy = arena_strdup(a, text), *save = NULL;

	for (char *l = strtok_r(copy, "\n", &save); l; l = strtok_r(NULL, "\n", &save))
		screen_line(d, "", l);
}

static void draw_opened(const struct top_view *v, struct screen *d, struct arena *a)
{
	struct buf text;

	buf_init(&text, 1 << 16);
	explain_print(v->shown[chosen_row(v)], v->now, &text);
	draw_lines(d, a, text.len ? text.data : "");
	buf_done(&text);
	screen_line(d, "", "");
	screen_line(d, "\033[1m", "  Esc, Enter: back   q: quit");
}

static void draw_help(struct screen *d, struct arena *a)
{
	draw_lines(
		d, a,
		"  up, down, j, k    select a machine        Enter   open it: why, and what "
		"helps\n"
		"  s                 sort by the next column /       filter: name, state, tenant, "
		"rack, reason\n  Esc               back, clear the filter  q       quit\n"
		"  red: needs an operator; yellow: failed or slow, drover retries; cyan: in "
		"transition;\n  green: serving");
}

static void draw_foot(const struct top_view *v, struct screen *d, struct arena *a)
{
	char t[STR_TIME_SIZE];

	if (v->typing)
		screen_line(d, "", arena_printf(a, "filter: %s_", v->filter));
	else if (*v->filter)
		screen_line(d, "",
			    arena_printf(a, "filter: %s (%zu of %zu)", v->filter, v->rows,
					 json_array_size(v->machines)));
	if (v->trouble)
		screen_line(d, "\033[31m",
			    arena_printf(a, "not updated since %s: %s", str_time(t, v->now),
					 v->trouble));
}

void top_view_draw(struct top_view *v, const struct top_screen *s, struct buf *out)
{
	OWN(arena) a = arena_new();
	struct screen d = {.width = s->width, .height = s->height, .colour = s->colour, .out = out};
	char t[STR_TIME_SIZE];

	if (s->height)
		screen_line(&d, "",
			    arena_printf(a, "drover top  %s  by %s  ? for help",
					 str_time(t, v->now), order_names[v->order]));
	draw_states(v, &d, a);
	draw_foot(v, &d, a);
	if (v->help)
		draw_help(&d, a);
	if (v->opened && v->rows) {
		draw_opened(v, &d, a);
		return;
	}
	draw_machines(v, &d, a, claim_lines(v));
	draw_claims(v, &d, a);
}
