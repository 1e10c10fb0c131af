/*
 * stuck: `drover why` without a name. Lists all objects that need an operator, are overdue or wait,
 * the most urgent first.
 *
 * The texts come from explain_object() (controller/explain/explain.h), so that this list and
 * `drover why NAME` use the same words.
 * Tests: tests/unit/cli/test_stuck.c, tests/unit/cli/test_why.c
 */
#include <stdlib.h>
#include <string.h>

#include "api/annotations.h"
#include "api/codes.h"
#include "base/arena.h"
#include "base/data/age.h"
#include "base/loop/loop.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/explain/answer.h"
#include "controller/explain/pod_remedy.h"
#include "cli/lease_holder.h"
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
	bool brief;
	/* why the leader's view was not read; kind ERR_NONE: the rows are the leader's, or objects
	 * alone were asked for */
	struct err problem;
	bool from_leader;
	json_t *rows[NEEDS];
	size_t seen;
	/* kind of the objects that the API server is listing now */
	enum object_kind_id kind;
	int64_t now;
};

/* Counts one more pod in a row. since: wall ms since when the pod waits; 0: unknown. */
static void count_pod(json_t *row, int64_t since)
{
	char t[STR_TIME_SIZE];
	const char *earliest = json_str_at(row, "since");

	json_object_set_new(row, "pods", json_integer(json_int_at(row, "pods") + 1));
	/* All times have the same form, as in by_age(). */
	if (since && earliest && strcmp(str_time(t, since), earliest) < 0)
		answer_put(row, "since", t);
}

/* Adds one row for the pods of a tenant that wait too long for the same reason, with the time of
 * the pod that waits longest. Status lists at most VIRTUAL_CLUSTER_WAITING_MAX pods; only the
 * leader knows all. */
static void add_pods(struct stuck *s, const struct virtual_cluster *vc)
{
	OWN(arena) a = arena_new();
	OWN(map) of = map_new(NULL);

	for (size_t i = 0; i < vc->status.waiting.n; i++) {
		const struct virtual_cluster_waiting *w = &vc->status.waiting.v[i];
		const enum need need = need_of_pod(w->reason, w->claim, w->since, 0, s->now);
		const char *reason = str_or(w->reason, ""), *remedy = pod_operator_remedy(reason);
		json_t *row = map_get(of, reason);

		if (need == NEED_NONE)
			continue;
		if (row) {
			count_pod(row, w->since);
			continue;
		}
		row = json_pack("{s:i}", "pods", 1);
		answer_put(row, "object",
			   arena_printf(a, "pod/%s/%s", vc->meta.name, str_or(w->pod, "-")));
		answer_put(row, "state", "waiting");
		answer_time(row, "since", w->since);
		answer_put(row, "reason", reason);
		answer_put(row, "message", w->message);
		if (remedy)
			answer_help(row, remedy, "");
		map_put(of, reason, row);
		json_array_append_new(s->rows[need], row);
	}
}

static void add_pods_of(struct stuck *s, const json_t *o)
{
	OWN(arena) a = arena_new();
	struct err e;
	void *vc;

	if (object_decode(&object_kinds[OBJECT_VIRTUAL_CLUSTER], o, a, &vc, &e) == 0)
		add_pods(s, vc);
}

static void on_object(json_t *o, void *arg)
{
	struct stuck *s = arg;
	enum need need;
	json_t *row = stuck_row(s->kind, o, s->now, &need);

	s->seen++;
	if (row)
		json_array_append_new(s->rows[need], row);
	if (s->kind == OBJECT_VIRTUAL_CLUSTER)
		add_pods_of(s, o);
}

/* Adds a row of the leader's list (docs/view.md, "Needs attention"). A need that this version does
 * not know counts as the most urgent one, so that no row is lost. */
static void add_leaders(struct stuck *s, const json_t *x)
{
	static const char *const same[] = {"object",  "state", "since",	 "reason", "waitingFor",
					   "nextTry", "owner", "tenant", "gang"};
	const enum need need = need_find(json_str_at(x, "need"));
	json_t *o = json_object();

	for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++)
		answer_put(o, same[i], json_str_at(x, same[i]));
	answer_put(o, "message", json_str_at(x, "text"));
	if (json_is_array(json_object_get(x, "help")))
		json_object_set(o, "helps", json_object_get(x, "help"));
	if (json_is_integer(json_object_get(x, "pods")))
		json_object_set(o, "pods", json_object_get(x, "pods"));
	answer_put(o, "command",
		   json_string_value(json_array_get(json_object_get(x, "commands"), 0)));
	json_array_append_new(s->rows[need == NEED_NONE ? NEED_OPERATOR : need], o);
}

/* Reads the leader's list. Returns false with s->problem if it cannot be read. */
static bool read_leader(struct stuck *s, const struct view_where *w)
{
	OWN(view_client) v = view_client_new(s->c, w);
	OWN_JSON list = view_client_list(v, "/v1/attention", "rows", &s->problem);
	size_t i;
	json_t *x;

	if (!list)
		return false;
	json_array_foreach (json_object_get(list, "rows"), i, x)
		add_leaders(s, x);
	return true;
}

/* Adds a row if the leader cannot write the file of its audit log. Whoever may not read the Lease
 * gets no such row. */
static void add_audit_file(struct stuck *s, const char *ns)
{
	struct lease_holder h;
	struct err e;

	if (lease_holder_read(s->c, ns, &h, &e) < 0 || !h.audit_file_fails[0])
		return;
	json_array_append_new(s->rows[NEED_OPERATOR],
			      json_pack("{s:s, s:s*, s:s, s:s, s:[s]}", "object",
					"lease/" CONTROLLER_LEASE, "since",
					h.audit_file_since[0] ? h.audit_file_since : NULL, "reason",
					"AuditFileFails", "message", h.audit_file_fails, "helps",
					code_find("AuditFileFails")->helps));
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
	const long long pods = json_int_at(r, "pods");
	json_t *x;
	size_t i;

	print_line(s->c->out, a,
		   arena_printf(
			   a, "  %s%s  %s%sfor %s%s%s%s%s%s%s",
			   str_or(json_str_at(r, "object"), "-"),
			   pods > 1 ? arena_printf(a, " and %lld more", pods - 1) : "",
			   str_or(json_str_at(r, "state"), ""), json_str_at(r, "state") ? " " : "",
			   json_str_at(r, "since") ? json_string_value(age) : "an unknown time",
			   reason ? ", " : "", str_or(reason, ""), message ? ": " : "",
			   str_or(message, ""), !reason && waits ? ", waits for " : "",
			   reason ? "" : str_or(waits, "")));
	json_array_foreach (json_object_get(r, "helps"), i, x)
		if (i < HELPS_MAX)
			print_line(s->c->out, a,
				   arena_printf(a, "      what helps: %s",
						str_or(json_string_value(x), "-")));
	if (json_str_at(r, "command"))
		print_line(s->c->out, a,
			   arena_printf(a, "      then run:   %s", json_str_at(r, "command")));
}

/* Prints a row in one line: object, since when, reason, and the command or, if there is none, what
 * helps. */
static void print_brief(const struct stuck *s, const json_t *r)
{
	OWN(arena) a = arena_new();
	OWN_JSON age = age_json(json_str_at(r, "since"), s->now);
	const char *command = json_str_at(r, "command"),
		   *help = json_string_value(json_array_get(json_object_get(r, "helps"), 0));
	const long long pods = json_int_at(r, "pods");

	print_line(
		s->c->out, a,
		arena_printf(a, "  %s%s  %s  %s  %s", str_or(json_str_at(r, "object"), "-"),
			     pods > 1 ? arena_printf(a, " (+%lld)", pods - 1) : "",
			     json_str_at(r, "since") ? json_string_value(age) : "-",
			     str_or(json_str_at(r, "reason"), str_or(json_str_at(r, "state"), "-")),
			     command ? command : str_or(help, "-")));
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
		(s->brief ? print_brief : print_row)(s, json_array_get(s->rows[need], i));
	if (shown < n)
		fprintf(s->c->out, "  %zu more; `drover why | cat` shows all\n", n - shown);
}

static void print_json(const struct stuck *s)
{
	OWN_JSON all = json_pack("{s:s}", "source", s->from_leader ? "leader" : "objects");
	OWN_JSON rows = json_array();
	size_t i;
	json_t *r;

	for (int need = 0; need < NEEDS; need++)
		json_array_foreach (s->rows[need], i, r) {
			json_object_set_new(r, "need", json_string(need_name((enum need)need)));
			json_array_append(rows, r);
		}
	if (!s->from_leader)
		json_object_set_new(all, "seen", json_integer((json_int_t)s->seen));
	if (s->problem.kind != ERR_NONE)
		json_object_set_new(all, "problem", json_string(s->problem.text));
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
	if (!stuck)
		fputs("nothing is stuck; ", s->c->out);
	if (s->from_leader)
		fputs("read from the leader", s->c->out);
	else
		fprintf(s->c->out, "%zu objects checked", s->seen);
	fputs(stuck ? "; `drover why TYPE/NAME` shows one in full\n" : "\n", s->c->out);
}

/* Reads all objects. Returns the exit status. */
static int read_objects(struct stuck *s)
{
	static const enum object_kind_id kinds[] = {
		OBJECT_PROVIDER, OBJECT_NODE_POOL,  OBJECT_VIRTUAL_CLUSTER, OBJECT_MACHINE,
		OBJECT_DRAIN,	 OBJECT_NODE_CLAIM, OBJECT_BURST_POLICY};
	struct err e;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		s->kind = kinds[i];
		if (cli_list(s->c, s->kind, on_object, s, &e) < 0)
			return cli_report_unreadable(s->c, s->kind, NULL, &e);
	}
	return 0;
}

/* Prints on standard error that the leader's view was not read. */
static void print_problem(const struct stuck *s)
{
	(void)cli_failed(s->c,
			 "the leader does not answer (%s): the list comes from drover's "
			 "objects alone",
			 s->problem.text);
}

int cli_do_stuck(struct cli_client *c, const struct cli_stuck *list)
{
	struct stuck s = {.c = c, .brief = list && list->brief, .now = loop_wall(c->loop)};
	int status = 0;

	for (int need = 0; need < NEEDS; need++)
		s.rows[need] = json_array();
	s.from_leader = list && list->view && read_leader(&s, list->view);
	if (!s.from_leader)
		status = read_objects(&s);
	if (list && list->view)
		add_audit_file(&s, list->view->ns);
	if (!status && s.problem.kind != ERR_NONE && !c->json)
		print_problem(&s);
	if (!status)
		tell(&s);
	for (int need = 0; need < NEEDS; need++)
		json_decref(s.rows[need]);
	return status;
}
