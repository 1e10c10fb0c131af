#include <stdlib.h>
#include <string.h>

#include "cli/status_print.h"
#include "api/machine_states.h"
#include "base/arena.h"
#include "base/data/age.h"
#include "base/str.h"
#include "cli/stuck.h"

#define GPU "nvidia.com/gpu"
#define TITLE SCREEN_BOLD
#define BAD SCREEN_RED
#define CAUTION SCREEN_YELLOW
/* width of a screen on which the rows have all columns */
#define WIDE 60

/* A list with a title. The whole section is left out if it has no rows. */
struct section {
	/* title: contains the number of rows. heading: names of the columns; NULL: no heading
	 * line. */
	const char *title, *heading;
	/* command that shows all rows */
	const char *command;
	const json_t *rows;
	const char *(*text)(const json_t *row, const struct section *s);
	enum screen_look (*look)(const json_t *row);
	struct arena *a;
	int64_t now;
	bool wide;
	/* number of rows that the screen has space for */
	size_t shown;
};

/* --- rows ------------------------------------------------------------------------------------- */

static const char *age(const struct section *s, const char *since)
{
	OWN_JSON j = age_json(since, s->now);

	return since ? arena_strdup(s->a, json_string_value(j)) : "-";
}

static enum screen_look plain(const json_t *row)
{
	(void)row;
	return SCREEN_PLAIN;
}

#define RACKS_WIDE "  RACK              TOTAL SERVING    FREE  MOVING     OUT   OTHER"
#define RACKS_NARROW "  RACK        ALL SERVE FREE MOVE OUT"
static const char *rack_text(const json_t *k, const struct section *s)
{
	const char *name = json_str_at(k, "rack");
	const long long total = json_int_at(k, "total"), serving = json_int_at(k, "serving"),
			free = json_int_at(k, "free"), moving = json_int_at(k, "moving"),
			out = json_int_at(k, "out"), other = json_int_at(k, "other");

	name = str_empty(name) ? "-" : name;
	return s->wide ? arena_printf(s->a, "  %-15.30s %7lld %7lld %7lld %7lld %7lld %7lld", name,
				      total, serving, free, moving, out, other)
		       : arena_printf(s->a, "  %-10.10s %4lld %5lld %4lld %4lld %3lld", name, total,
				      serving, free, moving, out);
}

static enum screen_look rack_look(const json_t *k)
{
	return json_int_at(k, "out") ? BAD : SCREEN_PLAIN;
}

/* Returns the expected time, such as "10:20 to 10:31 UTC"; "": unknown. */
static const char *expected(const json_t *pod, struct arena *a)
{
	const char *p50 = json_str_at(pod, "expectedP50"), *p90 = json_str_at(pod, "expectedP90");

	if (!p50 || strlen(p50) < 16)
		return "";
	return arena_printf(a, ", %.5s%s%.5s UTC", p50 + 11, p90 && strlen(p90) >= 16 ? " to " : "",
			    p90 && strlen(p90) >= 16 ? p90 + 11 : "");
}

/* Returns the name of the pod, or of its gang with the number of its pods: "ns/podgroups/train (5
 * of 8 wait)". */
static const char *pod_name(const json_t *pod, struct arena *a)
{
	const json_int_t waiting = json_int_at(pod, "gang", "waiting"),
			 all = waiting + json_int_at(pod, "gang", "bound"),
			 size = json_int_at(pod, "gang", "size");

	if (!json_object_get(pod, "gang"))
		return str_or(json_str_at(pod, "pod"), "-");
	return arena_printf(a, "%s (%lld of %lld wait)",
			    str_or(json_str_at(pod, "gang", "name"), "-"), (long long)waiting,
			    (long long)(all > size ? all : size));
}

static const char *pod_text(const json_t *pod, const struct section *s)
{
	int64_t place = json_int_at(pod, "place");
	const char *at = place			     ? arena_printf(s->a, "%lld", (long long)place)
			 : json_str_at(pod, "claim") ? "now"
						     : "-";

	return arena_printf(s->a, "  %4.5s %5.6s  %s/%s  %s%s", at,
			    age(s, json_str_at(pod, "since")),
			    str_or(json_str_at(pod, "tenant"), "-"), pod_name(pod, s->a),
			    str_or(json_str_at(pod, "reason"), ""), expected(pod, s->a));
}

static const char *bar(int64_t used, int64_t of, struct arena *a)
{
	int n = of <= 0 ? 0 : used >= of ? 10 : (int)((double)used * 10 / (double)of);

	return arena_printf(a, "[%.*s%.*s]", n, "##########", 10 - n, "----------");
}

static const char *tenant_text(const json_t *t, const struct section *s)
{
	const char *quota = json_str_at(t, "quota", GPU),
		   *used = str_or(json_str_at(t, "allocated", GPU), "0");
	const char *gpus = arena_printf(s->a, "%s of %s", used, str_or(quota, "-"));

	return arena_printf(
		s->a, "  %-14.14s %s%s%-11.16s %4lld  %s", str_or(json_str_at(t, "name"), "-"),
		s->wide ? bar(strtoll(used, NULL, 10), strtoll(str_or(quota, "0"), NULL, 10), s->a)
			: "",
		s->wide ? " " : "", gpus, (long long)json_int_at(t, "waiting"),
		str_or(json_str_at(t, "state"), "-"));
}

static enum screen_look tenant_look(const json_t *t)
{
	return str_eq(json_str_at(t, "state"), "NotReady") ? BAD : SCREEN_PLAIN;
}

static const char *stopped_text(const json_t *r, const struct section *s)
{
	const char *reason = json_str_at(r, "reason"), *message = json_str_at(r, "message");
	bool failed = str_eq(json_str_at(r, "state"), "Stopped");

	return arena_printf(s->a, "  %s  %s for %s%s%s%s%s", str_or(json_str_at(r, "object"), "-"),
			    str_or(json_str_at(r, "state"), "-"), age(s, json_str_at(r, "since")),
			    failed && reason ? ", " : "", failed ? str_or(reason, "") : "",
			    failed && message ? ": " : "", failed ? str_or(message, "") : "");
}

static enum screen_look stopped_look(const json_t *r)
{
	return str_eq(json_str_at(r, "state"), "Stopped") ? BAD : CAUTION;
}

/* --- lines of numbers ------------------------------------------------------------------------- */

/* Texts that are drawn one after the other, on as many lines as they need. */
struct words {
	struct screen *s;
	struct arena *a;
	const char *line;
	enum screen_look look;
};

static void words_end(struct words *w)
{
	if (*w->line)
		screen_line(w->s, w->look, w->line);
	w->line = "";
}

static void words_add(struct words *w, const char *text)
{
	if (*w->line && w->s->width && strlen(w->line) + 2 + strlen(text) > w->s->width)
		words_end(w);
	w->line = arena_printf(w->a, "%s  %s", w->line, text);
}

static void print_machines(const json_t *status, struct screen *s, struct arena *a)
{
	const json_t *m = json_object_get(status, "machines");
	struct words w = {.s = s, .a = a, .line = ""};
	json_int_t n, gpus = json_int_at(m, "gpus");

	screen_line(s, TITLE,
		    arena_printf(a, "Machines %lld%s", (long long)json_int_at(m, "total"),
				 gpus ? arena_printf(a, ", %lld GPUs", (long long)gpus) : ""));
	for (int i = 0; i <= MACHINE_STATES; i++) {
		const char *name = i < MACHINE_STATES ? machine_state_info[i].name : "unknown";

		n = json_int_at(m, "byState", name);
		if (n)
			words_add(&w, arena_printf(a, "%s %lld", name, (long long)n));
	}
	words_end(&w);
	if (!json_int_at(m, "total"))
		screen_line(s, SCREEN_PLAIN, "  none; docs/add-rack.md adds machines");
}

static void print_needs(const json_t *status, struct screen *s, struct arena *a)
{
	struct words w = {.s = s, .a = a, .line = ""};
	size_t all = 0;
	json_int_t n;

	for (int need = 0; need < NEEDS; need++) {
		n = json_int_at(status, "needs", need_name((enum need)need));
		if (n && !all)
			w.look = stuck_need_look((enum need)need);
		all += (size_t)n;
	}
	screen_line(s, TITLE, all ? "Needs attention (drover why)" : "Nothing is stuck");
	for (int need = 0; need < NEEDS; need++) {
		static const char *const words[NEEDS] = {"needs an operator", "overdue", "slow",
							 "needs its tenant",  "waits",	 "held"};

		n = json_int_at(status, "needs", need_name((enum need)need));
		if (n)
			words_add(&w, arena_printf(a, "%s %lld", words[need], (long long)n));
	}
	words_end(&w);
}

/* --- sections --------------------------------------------------------------------------------- */

enum { RACKS, QUEUE, TENANTS, STOPPED, SECTIONS };

static size_t rows_of(const struct section *s)
{
	return json_array_size(s->rows);
}

/* Distributes `left` lines among the sections, one row at a time, after their titles. */
static void distribute(struct section *sections, size_t left)
{
	bool more = true;

	for (int i = 0; i < SECTIONS; i++) {
		size_t fixed = rows_of(&sections[i]) ? 1 + (sections[i].heading != NULL) : 0;

		left -= fixed < left ? fixed : left;
	}
	while (left && more) {
		more = false;
		for (int i = 0; i < SECTIONS && left; i++) {
			if (sections[i].shown == rows_of(&sections[i]))
				continue;
			sections[i].shown++;
			left--;
			more = true;
		}
	}
}

static void print_section(const struct section *x, struct screen *s)
{
	size_t n = rows_of(x);

	if (!n)
		return;
	screen_line(s, TITLE,
		    x->shown < n ? arena_printf(x->a, "%s (%s)", x->title, x->command) : x->title);
	if (x->heading)
		screen_line(s, SCREEN_PLAIN, x->heading);
	for (size_t i = 0; i < x->shown; i++) {
		const json_t *row = json_array_get(x->rows, i);

		screen_line(s, x->look(row), x->text(row, x));
	}
}

static const char *queue_title(const json_t *queue, const struct section *s)
{
	const char *since = json_str_at(queue, "since");

	return arena_printf(s->a, "Queue %lld%s", (long long)json_int_at(queue, "total"),
			    since ? arena_printf(s->a, ", longest %s", age(s, since)) : "");
}

/* True if any machine is in a rack. */
static bool has_racks(const json_t *racks)
{
	return json_array_size(racks) > 1 ||
	       !str_empty(json_str_at(json_array_get(racks, 0), "rack"));
}

void status_print(const json_t *status, int64_t now, struct screen *s)
{
	OWN(arena) a = arena_new();
	const json_t *queue = json_object_get(status, "queue"),
		     *racks = json_at(status, "machines", "racks");
	const struct section same = {
		.look = plain, .a = a, .now = now, .wide = !s->width || s->width >= WIDE};
	struct section x[SECTIONS];
	size_t left;

	for (int i = 0; i < SECTIONS; i++)
		x[i] = same;
	x[RACKS].rows = has_racks(racks) ? racks : NULL;
	x[RACKS].title = arena_printf(a, "Racks %zu", json_array_size(racks));
	x[RACKS].heading = x[RACKS].wide ? RACKS_WIDE : RACKS_NARROW;
	x[RACKS].command = "all: drover status | cat";
	x[RACKS].text = rack_text;
	x[RACKS].look = rack_look;
	x[QUEUE].rows = json_object_get(queue, "pods");
	x[QUEUE].title = queue_title(queue, &x[QUEUE]);
	x[QUEUE].command = "one: drover why TENANT/NAMESPACE/POD";
	x[QUEUE].text = pod_text;
	x[TENANTS].rows = json_object_get(status, "tenants");
	x[TENANTS].title = arena_printf(a, "Tenants %zu", rows_of(&x[TENANTS]));
	x[TENANTS].heading = x[TENANTS].wide
				     ? "  TENANT                      GPUS        WAIT  STATE"
				     : "  TENANT         GPUS        WAIT  STATE";
	x[TENANTS].command = "all: drover get tenants";
	x[TENANTS].text = tenant_text;
	x[TENANTS].look = tenant_look;
	x[STOPPED].rows = json_object_get(status, "stopped");
	x[STOPPED].title = arena_printf(a, "Stopped %zu", rows_of(&x[STOPPED]));
	x[STOPPED].command = "all: drover why";
	x[STOPPED].text = stopped_text;
	x[STOPPED].look = stopped_look;

	print_machines(status, s, a);
	print_needs(status, s, a);
	left = screen_left(s);
	distribute(x, left);
	for (int i = 0; i < SECTIONS; i++)
		print_section(&x[i], s);
	if (!rows_of(&x[QUEUE]))
		screen_line(s, TITLE, "Queue: no pod waits");
}
