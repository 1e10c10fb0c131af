/*
 * stuck: `drover why` without a name. Lists all objects that need an operator, are overdue or wait,
 * the most urgent first.
 *
 * The texts come from explain_object() (controller/explain/explain.h), so that this list and
 * `drover why NAME` use the same words.
 * Tests: tests/unit/cli/test_why.c
 */
#include <stdlib.h>
#include <string.h>

#include "api/annotations.h"
#include "base/arena.h"
#include "base/data/age.h"
#include "base/loop/loop.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/explain/answer.h"
#include "cli/stuck.h"
#include "cli/verbs.h"

static const struct {
	const char *title;
	enum screen_look look;
} needs[NEEDS] = {
	[NEED_OPERATOR] = {"Needs an operator", SCREEN_RED},
	[NEED_LATE] = {"Overdue or unreachable", SCREEN_YELLOW},
	[NEED_SLOW] = {"Slower than usual, nothing has failed yet", SCREEN_YELLOW},
	[NEED_TENANT] = {"Needs a change by its tenant", SCREEN_YELLOW},
	[NEED_WAITS] = {"Waiting, continues without help", SCREEN_PLAIN},
	[NEED_HELD] = {"Held or paused by an operator", SCREEN_PLAIN},
};

enum screen_look stuck_need_look(enum need need)
{
	return needs[need].look;
}

/* --- one row ---------------------------------------------------------------------------------- */

static json_t *row_of(enum object_kind_id kind, const json_t *answer, const json_t *why)
{
	OWN(arena) a = arena_new();
	json_t *o = json_object();

	answer_put(o, "object",
		   arena_printf(a, "%s/%s", object_kinds[kind].singular,
				str_or(json_str_at(answer, "name"), "-")));
	answer_put(o, "state", json_str_at(answer, "state"));
	answer_put(o, "since", json_str_at(answer, "since"));
	answer_put(o, "reason", json_str_at(why, "reason"));
	answer_put(o, "message", json_str_at(why, "message"));
	answer_put(o, "waitingFor", json_str_at(answer, "waitingFor"));
	answer_put(o, "nextTry", json_str_at(answer, "nextTry"));
	if (json_object_get(answer, "helps"))
		json_object_set(o, "helps", json_object_get(answer, "helps"));
	answer_put(o, "command", answer_command(answer, a));
	return o;
}

/* Returns the row of an object that this version of drover cannot decode; the caller owns it. No
 * controller of this version acts on such an object. */
static json_t *unreadable(enum object_kind_id kind, const json_t *o, const struct err *e)
{
	OWN_JSON answer = json_object();
	OWN_JSON why = json_pack("{s:s, s:s}", "reason", "Unreadable", "message", e->text);

	answer_put(answer, "name", json_str_at(o, "metadata", "name"));
	answer_put(answer, "since", json_str_at(o, "metadata", "creationTimestamp"));
	answer_help(answer,
		    "correct the field that the message names, or run the version of drover "
		    "that wrote the object",
		    "");
	return row_of(kind, answer, why);
}

json_t *stuck_row(enum object_kind_id kind, const json_t *o, int64_t now, enum need *need)
{
	OWN(arena) a = arena_new();
	OWN_JSON answer = NULL;
	const json_t *why = NULL;
	struct err e;
	void *object;

	*need = NEED_OPERATOR;
	if (object_decode(&object_kinds[kind], o, a, &object, &e) < 0)
		return unreadable(kind, o, &e);
	answer = need_explain(kind, object, now, need, &why);
	return answer ? row_of(kind, answer, why) : NULL;
}

/* --- all rows --------------------------------------------------------------------------------- */

struct stuck {
	struct cli_client *c;
	json_t *rows[NEEDS];
	size_t seen;
	/* kind of the objects that the API server is listing now */
	enum object_kind_id kind;
	int64_t now;
};

static void on_object(json_t *o, void *arg)
{
	struct stuck *s = arg;
	enum need need;
	json_t *row = stuck_row(s->kind, o, s->now, &need);

	s->seen++;
	if (row)
		json_array_append_new(s->rows[need], row);
}

/* Orders rows by member `since`, the earliest first. All such texts have the same RFC 3339 form, so
 * that strcmp() orders them. */
static int by_age(const void *a, const void *b)
{
	const char *x = str_or(json_str_at(*(json_t *const *)a, "since"), ""),
		   *y = str_or(json_str_at(*(json_t *const *)b, "since"), "");

	return strcmp(x, y);
}

/* --- printing --------------------------------------------------------------------------------- */

/* maximum number of rows of one need that are printed on a terminal */
#define ROWS_MAX 10
/* maximum number of "what helps" lines of one row */
#define HELPS_MAX 2

static void print_line(FILE *out, struct arena *a, const char *text)
{
	char *line = arena_strdup(a, text);

	str_printable(line);
	fprintf(out, "%s\n", line);
}

static void print_row(const struct stuck *s, const json_t *r)
{
	OWN(arena) a = arena_new();
	OWN_JSON age = age_json(json_str_at(r, "since"), s->now);
	const char *reason = json_str_at(r, "reason"), *message = json_str_at(r, "message"),
		   *waits = json_str_at(r, "waitingFor");
	json_t *x;
	size_t i;

	print_line(s->c->out, a,
		   arena_printf(
			   a, "  %s  %s%sfor %s%s%s%s%s%s%s", json_str_at(r, "object"),
			   str_or(json_str_at(r, "state"), ""), json_str_at(r, "state") ? " " : "",
			   json_str_at(r, "since") ? json_string_value(age) : "an unknown time",
			   reason ? ", " : "", str_or(reason, ""), message ? ": " : "",
			   str_or(message, ""), !reason && waits ? ", waits for " : "",
			   reason ? "" : str_or(waits, "")));
	json_array_foreach (json_object_get(r, "helps"), i, x)
		if (i < HELPS_MAX)
			print_line(s->c->out, a,
				   arena_printf(a, "      what helps: %s", json_string_value(x)));
	if (json_str_at(r, "command"))
		print_line(s->c->out, a,
			   arena_printf(a, "      then run:   %s", json_str_at(r, "command")));
}

static void print_need(const struct stuck *s, enum need need)
{
	bool colour = cli_colours(s->c) && needs[need].look != SCREEN_PLAIN;
	size_t n = json_array_size(s->rows[need]), shown = s->c->tty && n > ROWS_MAX ? ROWS_MAX : n;

	if (!n)
		return;
	fprintf(s->c->out, "%s%s (%zu)%s\n", colour ? screen_sequence(needs[need].look) : "",
		needs[need].title, n, colour ? SCREEN_NORMAL : "");
	for (size_t i = 0; i < shown; i++)
		print_row(s, json_array_get(s->rows[need], i));
	if (shown < n)
		fprintf(s->c->out, "  %zu more; `drover why | cat` shows all\n", n - shown);
}

static void print_json(const struct stuck *s)
{
	OWN_JSON all = json_pack("{s:I}", "seen", (json_int_t)s->seen);
	OWN_JSON rows = json_array();
	size_t i;
	json_t *r;

	for (int need = 0; need < NEEDS; need++)
		json_array_foreach (s->rows[need], i, r) {
			json_object_set_new(r, "need", json_string(need_name((enum need)need)));
			json_array_append(rows, r);
		}
	json_object_set(all, "stuck", rows);
	json_dumpf(all, s->c->out, JSON_INDENT(2));
	fputc('\n', s->c->out);
}

static void tell(struct stuck *s)
{
	size_t stuck = 0;

	for (int need = 0; need < NEEDS; need++) {
		json_sort(&s->rows[need], by_age);
		stuck += json_array_size(s->rows[need]);
	}
	if (s->c->json) {
		print_json(s);
		return;
	}
	for (int need = 0; need < NEEDS; need++)
		print_need(s, (enum need)need);
	if (stuck)
		fprintf(s->c->out,
			"%zu objects checked; `drover why TYPE/NAME` shows one in full\n", s->seen);
	else
		fprintf(s->c->out, "nothing is stuck; %zu objects checked\n", s->seen);
}

int cli_do_stuck(struct cli_client *c)
{
	static const enum object_kind_id kinds[] = {
		OBJECT_PROVIDER, OBJECT_NODE_POOL,  OBJECT_VIRTUAL_CLUSTER, OBJECT_MACHINE,
		OBJECT_DRAIN,	 OBJECT_NODE_CLAIM, OBJECT_BURST_POLICY};
	struct stuck s = {.c = c, .now = loop_wall(c->loop)};
	int status = 0;
	struct err e;

	for (int need = 0; need < NEEDS; need++)
		s.rows[need] = json_array();
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]) && !status; i++) {
		s.kind = kinds[i];
		if (cli_list(c, s.kind, on_object, &s, &e) < 0)
			status = cli_report_unreadable(c, s.kind, NULL, &e);
	}
	if (!status)
		tell(&s);
	for (int need = 0; need < NEEDS; need++)
		json_decref(s.rows[need]);
	return status;
}
