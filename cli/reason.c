/*
 * reason: `drover explain`. Prints what a reason means and what the operator can do, from the same
 * list as docs/reasons.md; what a state of a machine means, from api/machine_states.def; and what a
 * field of an object means, from the field tables in api/. Needs no cluster.
 * Tests: tests/unit/cli/test_main.c, tests/unit/cli/test_explain_field.c
 */
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/codes.h"
#include "api/machine_states.h"
#include "api/reasons.h"
#include "api/target.h"
#include "base/arena.h"
#include "base/args.h"
#include "base/data/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/explain/answer.h"
#include "cli/cli.h"
#include "cli/client.h"
#include "cli/explain_field.h"
#include "cli/near.h"
#include "controller/explain/explain.h"

struct reason_args {
	struct cli_options o;
	/* name of a reason or state, or path of a field; NULL: list all reasons */
	const char *name;
};

static const struct argp_option options[] = {CLI_OUTPUT_ROW, {0}};

static error_t parse(int key, char *arg, struct argp_state *st)
{
	struct reason_args *w = st->input;

	switch (key) {
	case ARGP_KEY_ARG:
		if (w->name)
			argp_error(st, "one name at a time");
		w->name = arg;
		return 0;
	default:
		return key == 'o' ? cli_option(key, arg, st, &w->o) : ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.args_doc = "[REASON|STATE|TYPE[.FIELD...]]",
	.doc = "Explain one of these: a reason that drover reports about a machine, its NodeClaim "
	       "or its tenant, with what helps; a state of a machine; a field of an object. "
	       "Without an argument: list all reasons of machines.\v"
	       "Examples:\n"
	       "  drover explain DriveMissing\n"
	       "  drover explain | grep -i bmc\n"
	       "  drover explain wiping\n"
	       "  drover explain nodepool.spec.disruption.budgets\n"
	       "Reasons appear in conditions, in events and in column ERROR of `drover get "
	       "machines`. Reasons in events of waiting pods: docs/pods.md. Codes of BurstPolicy "
	       "decisions: docs/burst.md. Types of objects: " TARGET_KINDS
	       ". Exit status 1: there is no such reason, state or field.",
};

/* --- reasons ---------------------------------------------------------------------------------- */

/* Returns {reason, means, byItself, helps} of a reason, owned by the caller. The texts have MACHINE
 * in place of a machine's name. */
static json_t *row_of(enum reason r)
{
	json_t *o = json_pack("{s:s, s:s, s:s}", "reason", reason_info[r].name, "means",
			      reason_info[r].means, "byItself", reason_info[r].alone);

	answer_help(o, reason_info[r].helps, "MACHINE");
	return o;
}

static enum reason found(const char *name)
{
	for (int r = 1; r < REASONS; r++)
		if (!strcasecmp(reason_info[r].name, name))
			return (enum reason)r;
	return REASON_NONE;
}

/* Returns {reason, means, helps} of a reason that only conditions and events have, owned by the
 * caller; NULL: there is no such reason. */
static json_t *of_object(const char *name)
{
	const struct code_info *c = code_find(name);
	const char *helps = explain_tenant_remedy(c ? c->name : name);
	OWN(arena) a = arena_new();
	json_t *o;

	if (!c && !helps)
		return NULL;
	o = json_pack("{s:s, s:s}", "reason", c ? c->name : name, "means",
		      c ? arena_printf(a, "%s: %s", c->where, c->means)
			: "a reason in conditions of a VirtualCluster; the condition's message has "
			  "the details");
	if (!helps)
		helps = c->helps[0] ? c->helps : "no action needed";
	answer_help(o, helps, "NAME");
	return o;
}

static void print_reason(const json_t *o)
{
	const char *alone = json_str_at(o, "byItself");

	printf("%s\n  meaning       %s\n", json_str_at(o, "reason"), json_str_at(o, "means"));
	if (alone)
		printf("  by itself     %s\n", alone);
	printf("  what helps    %s\n",
	       json_string_value(json_array_get(json_object_get(o, "helps"), 0)));
}

static void print_json(const json_t *o)
{
	json_dumpf(o, stdout, JSON_INDENT(2));
	putchar('\n');
}

static int tell_all(const struct reason_args *w)
{
	OWN_JSON all = json_array();

	for (int r = 1; r < REASONS; r++) {
		if (w->o.json)
			json_array_append_new(all, row_of((enum reason)r));
		else
			printf("%-24s %s\n", reason_info[r].name, reason_info[r].means);
	}
	if (w->o.json)
		print_json(all);
	return 0;
}

/* --- states of machines ----------------------------------------------------------------------- */

/* Names the field that sets another limit for this state; NULL: the limit is fixed. */
static const char *limit_field(enum machine_state s)
{
	if (s == MACHINE_WIPING)
		return "spec.wipe.deadline of the Provider";
	if (s == MACHINE_IMAGING || s == MACHINE_BOOTING || s == MACHINE_JOINING ||
	    s == MACHINE_GATING)
		return "spec.deadlines of the NodeClaim";
	return NULL;
}

/* Returns {state, means, machines, limitSeconds, limitSetBy, onLimit, onLimitCloud, next} of a
 * state, owned by the caller. onLimitCloud: the state after the deadline for cloud instances, if it
 * differs. What the state does not have is left out. */
static json_t *state_row(enum machine_state s)
{
	static const char *const classes[] = {"hardware", "managed", "cloud"};
	const struct machine_state_info *m = &machine_state_info[s];
	json_t *o = json_pack("{s:s, s:s}", "state", m->name, "means", explain_state(s));
	json_t *machines = json_array(), *next = json_array();

	for (unsigned i = 0; i < sizeof(classes) / sizeof(classes[0]); i++)
		if (m->classes & 1u << i)
			json_array_append_new(machines, json_string(classes[i]));
	json_object_set_new(o, "machines", machines);
	if (m->limit_s)
		json_object_update_new(o, json_pack("{s:I, s:s*, s:s}", "limitSeconds",
						    (json_int_t)m->limit_s, "limitSetBy",
						    limit_field(s), "onLimit",
						    machine_state_info[m->on_limit].name));
	if (m->limit_s && m->classes & MACHINE_CLASS_ELASTIC &&
	    machine_state_after(s, true) != m->on_limit)
		json_object_set_new(
			o, "onLimitCloud",
			json_string(machine_state_info[machine_state_after(s, true)].name));
	for (int to = 0; to < MACHINE_STATES; to++)
		if (m->next & 1u << to)
			json_array_append_new(next, json_string(machine_state_info[to].name));
	json_object_set_new(o, "next", next);
	return o;
}

static void print_names(const char *title, const json_t *names)
{
	size_t i;
	json_t *name;

	printf("  %-13s ", title);
	json_array_foreach (names, i, name)
		printf("%s%s", i ? ", " : "", json_string_value(name));
	puts(json_array_size(names) ? "" : "none");
}

static void print_state(const json_t *o)
{
	const char *by = json_str_at(o, "limitSetBy"), *cloud = json_str_at(o, "onLimitCloud");
	char limit[STR_TIME_SIZE];

	printf("%s (state of a machine)\n  meaning       %s\n", json_str_at(o, "state"),
	       json_str_at(o, "means"));
	print_names("machines", json_at(o, "machines"));
	if (json_at(o, "limitSeconds")) {
		printf("  time limit    %s%s%s\n",
		       str_duration(limit, json_int_at(o, "limitSeconds") * 1000),
		       by ? ", or as set by " : "", str_or(by, ""));
		printf("  after that    %s", json_str_at(o, "onLimit"));
		if (cloud)
			printf("; a cloud instance: %s", cloud);
		putchar('\n');
	} else {
		puts("  time limit    none");
	}
	print_names("may go to", json_at(o, "next"));
}

static enum machine_state state_named(const char *name)
{
	for (int s = 0; s < MACHINE_STATES; s++)
		if (!strcasecmp(machine_state_info[s].name, name))
			return (enum machine_state)s;
	return MACHINE_STATE_NONE;
}

/* --- fields of objects ------------------------------------------------------------------------ */

static void print_line(const json_t *o, const char *key)
{
	const char *text = json_str_at(o, key);

	if (text)
		printf("  %-13s %s\n", key, text);
}

static void print_field(const json_t *o)
{
	const json_t *rules = json_at(o, "rules"), *fields = json_at(o, "fields");
	size_t i;
	json_t *v;

	printf("%s (field of %s, %s)\n", json_str_at(o, "field"), json_str_at(o, "kind"),
	       json_str_at(o, "apiVersion"));
	print_line(o, "type");
	print_line(o, "default");
	print_line(o, "allowed");
	print_line(o, "meaning");
	json_array_foreach (rules, i, v)
		printf("  %-13s %s\n", "rule", json_string_value(v));
	if (fields)
		puts("fields:");
	json_array_foreach (fields, i, v) {
		const char *allowed = json_str_at(v, "allowed"), *means = json_str_at(v, "meaning");

		printf("  %s (%s%s%s)\n", json_str_at(v, "name"), json_str_at(v, "type"),
		       allowed ? "; " : "", str_or(allowed, ""));
		if (means)
			printf("      %s\n", means);
	}
}

static int unknown_field(const struct explain_field *f)
{
	struct near near = {.word = f->unknown};
	char *word = mem_strdup(f->unknown), *prefix = mem_printf("%s.", f->path);

	str_printable(word);
	for (const struct field *row = explain_field_below(f); row->name; row++)
		if (explain_field_shown(row))
			near_try(&near, row->name);
	fprintf(stderr, "drover explain: %s has no field '%s'", f->path, word);
	near_print(&near, prefix, stderr);
	if (!near.n)
		fprintf(stderr, "; `drover explain %s` shows %s", f->path,
			explain_field_below(f)->name ? "its fields" : "what it is");
	fputc('\n', stderr);
	free(word);
	free(prefix);
	return 1;
}

/* --- the command ------------------------------------------------------------------------------ */

static int unknown_name(const char *name)
{
	struct near near = {.word = name};
	char *word = mem_strdup(name);

	str_printable(word);
	for (int r = 1; r < REASONS; r++)
		near_try(&near, reason_info[r].name);
	for (int s = 0; s < MACHINE_STATES; s++)
		near_try(&near, machine_state_info[s].name);
	for (int k = 0; k < OBJECT_KINDS; k++)
		near_try(&near, object_kinds[k].singular);
	fprintf(stderr, "drover explain: unknown reason, state or field '%s'", word);
	near_print(&near, "", stderr);
	if (!near.n)
		fputs("; `drover explain` lists all reasons of machines, and `drover explain "
		      "machine.spec` lists fields; for reasons of pods and bursts see docs/pods.md "
		      "and docs/burst.md",
		      stderr);
	fputc('\n', stderr);
	free(word);
	return 1;
}

int cli_explain(int argc, char **argv)
{
	void (*print)(const json_t *o) = print_reason;
	struct reason_args w = {0};
	OWN(arena) a = arena_new();
	struct explain_field f = {0};
	OWN_JSON o = NULL;

	args_parse(&argp, argc, argv, &w);
	if (!w.name)
		return tell_all(&w);
	if (found(w.name) != REASON_NONE) {
		o = row_of(found(w.name));
	} else if (state_named(w.name) != MACHINE_STATE_NONE) {
		o = state_row(state_named(w.name));
		print = print_state;
	} else if (explain_field_find(w.name, a, &f)) {
		if (f.unknown)
			return unknown_field(&f);
		o = explain_field_json(&f);
		print = print_field;
	} else {
		o = of_object(w.name);
	}
	if (!o)
		return unknown_name(w.name);
	if (w.o.json)
		print_json(o);
	else
		print(o);
	return 0;
}
