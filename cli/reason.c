/*
 * reason: `drover explain`. Prints what a reason means and what the operator can do, from the same
 * list as docs/reasons.md. Needs no cluster.
 * Tests: tests/unit/cli/test_main.c
 */
#include <argp.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "api/reasons.h"
#include "base/args.h"
#include "base/data/json.h"
#include "base/str.h"
#include "controller/explain/answer.h"
#include "cli/cli.h"
#include "cli/client.h"
#include "controller/explain/explain.h"

struct asked {
	struct cli_options o;
	/* name of the reason; NULL: list all reasons */
	const char *reason;
};

static const struct argp_option options[] = {CLI_OUTPUT_ROW, {0}};

static error_t parse(int key, char *arg, struct argp_state *st)
{
	struct asked *w = st->input;

	switch (key) {
	case ARGP_KEY_ARG:
		if (w->reason)
			argp_error(st, "one reason at a time");
		w->reason = arg;
		return 0;
	default:
		return key == 'o' ? cli_option(key, arg, st, &w->o) : ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.args_doc = "[REASON]",
	.doc = "Explain a reason that drover reports about a machine, its NodeClaim or its "
	       "tenant, and what helps. Without REASON: list all reasons of machines.\v"
	       "Examples:\n  drover explain DriveMissing\n  drover explain | grep -i bmc\n"
	       "These reasons appear in conditions, in events and in column ERROR of `drover get "
	       "machines`. Reasons in events of waiting pods: docs/pods.md. Codes of BurstPolicy "
	       "decisions: docs/burst.md. Exit status 1: no such reason in the list.",
};

/* Returns {reason, means, helps} of a reason, owned by the caller. The texts have MACHINE in place
 * of a machine's name. */
static json_t *row_of(enum reason r)
{
	json_t *o = json_pack("{s:s, s:s}", "reason", reason_info[r].name, "means",
			      reason_info[r].means);

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

/* Returns {reason, means, helps} of a reason that only conditions of a VirtualCluster have, owned
 * by the caller; NULL: there is no such reason. */
static json_t *of_tenant(const char *name)
{
	const char *helps = explain_tenant_remedy(name);
	json_t *o;

	if (!helps)
		return NULL;
	o = json_pack("{s:s, s:s}", "reason", name, "means",
		      "used in conditions of a VirtualCluster; the condition's message has the "
		      "details");
	answer_help(o, helps, "NAME");
	return o;
}

static void print(const json_t *o)
{
	printf("%s\n  meaning       %s\n  what helps    %s\n", json_str_at(o, "reason"),
	       json_str_at(o, "means"),
	       json_string_value(json_array_get(json_object_get(o, "helps"), 0)));
}

static int tell_all(const struct asked *w)
{
	OWN_JSON all = json_array();

	for (int r = 1; r < REASONS; r++) {
		if (w->o.json)
			json_array_append_new(all, row_of((enum reason)r));
		else
			printf("%-24s %s\n", reason_info[r].name, reason_info[r].means);
	}
	if (w->o.json) {
		json_dumpf(all, stdout, JSON_INDENT(2));
		putchar('\n');
	}
	return 0;
}

int cli_explain(int argc, char **argv)
{
	struct asked w = {0};
	enum reason r;
	OWN_JSON o = NULL;

	args_parse(&argp, argc, argv, &w);
	if (!w.reason)
		return tell_all(&w);
	r = found(w.reason);
	o = r != REASON_NONE ? row_of(r) : of_tenant(w.reason);
	if (!o) {
		fprintf(stderr,
			"drover explain: unknown reason '%s'; `drover explain` lists all reasons "
			"of machines; for those of pods and bursts see docs/pods.md and "
			"docs/burst.md\n",
			w.reason);
		return 1;
	}
	if (w.o.json) {
		json_dumpf(o, stdout, JSON_INDENT(2));
		putchar('\n');
	} else {
		print(o);
	}
	return 0;
}
