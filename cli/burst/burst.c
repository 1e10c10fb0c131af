/*
 * burst: `drover burst plan` shows which launches the BurstPolicies would decide on now, and why
 * each other offer is not chosen, for a cluster (cli/burst/live.h) or for files. `drover burst
 * reset` is in cli/burst/reset.c.
 * Tests: tests/unit/cli/burst/test_burst.c
 */
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/args.h"
#include "base/file.h"
#include "base/str.h"
#include "cli/burst/docs.h"
#include "cli/burst/live.h"
#include "cli/burst/print.h"
#include "cli/cli.h"
#include "cli/simulate/scenario.h"
#include "cli/verbs.h"

#define FILES 16

struct verb {
	const char *paths[FILES];
	size_t n;
	enum { AS_TABLE, AS_JSON, AS_INPUT } output;
	enum { NOTHING, PLAN, RESET } asked;
	/* arguments of `reset` */
	const char *policy, *reason;
	struct cli_options o;
	struct view_where where;
};

static const struct argp_option options[] = {
	{"filename", 'f', "FILE", 0,
	 "YAML file with BurstPolicies, or with the BurstState (waiting work, cloud offers, "
	 "earlier launches), or both; may be repeated, but only one file has the BurstState",
	 0},
	{"output", 'o', "table|json|input", 0,
	 "Output format (default: table). input: what the plan of the cluster decides with, as a "
	 "file for --filename",
	 0},
	{"reason", 'r', "TEXT", 0,
	 "For reset: why the cost is cleared; drover records the text in the policy's BurstLedger",
	 0},
	CLI_CLUSTER_ROWS,
	VIEW_CLIENT_OPTIONS,
	{0}};

static error_t parse(int key, char *arg, struct argp_state *st)
{
	struct verb *v = st->input;

	switch (key) {
	case 'f':
		if (v->n == FILES)
			argp_error(st, "--filename: at most %d files", FILES);
		v->paths[v->n++] = arg;
		return 0;
	case 'o':
		if (!str_eq(arg, "table") && !str_eq(arg, "json") && !str_eq(arg, "input"))
			argp_error(st, "--output: want table, json or input, got '%s'", arg);
		v->output = str_eq(arg, "json")	   ? AS_JSON
			    : str_eq(arg, "input") ? AS_INPUT
						   : AS_TABLE;
		return 0;
	case 'r':
		v->reason = arg;
		return 0;
	case ARGP_KEY_ARG:
		if (v->asked == RESET && !v->policy)
			v->policy = arg;
		else if (!v->asked && str_eq(arg, "plan"))
			v->asked = PLAN;
		else if (!v->asked && str_eq(arg, "reset"))
			v->asked = RESET;
		else
			argp_error(st, "want plan or reset, got '%s'", arg);
		return 0;
	case ARGP_KEY_END:
		if (v->asked == RESET && (!v->policy || str_empty(v->reason)))
			argp_error(st, "reset needs the name of a BurstPolicy and --reason TEXT");
		if (!v->asked)
			argp_error(st, "give a command: plan, or reset POLICY --reason TEXT");
		if (v->output == AS_INPUT && (v->asked != PLAN || v->n))
			argp_error(st, "--output input is for the plan of a cluster, without -f");
		return 0;
	default:
		if (view_client_option(key, arg, &v->where) == 0)
			return 0;
		return cli_option(key, arg, st, &v->o);
	}
}

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.args_doc = "plan\nplan -f FILE\nreset POLICY",
	.doc = "plan: show which waiting work the BurstPolicies would send to a cloud now, to "
	       "which offer and at what cost, and why each other offer is not chosen. The command "
	       "launches nothing. Without -f it asks the leader for waiting work, offers and "
	       "launches; with -f it decides on what the files say, and contacts no cluster.\n\n"
	       "reset: clear the cost of ended launches from the policy's budgets. Running "
	       "launches still count. The BurstLedger records who, when, why and how much.\v"
	       "Examples:\n"
	       "  drover burst plan\n"
	       "  drover burst plan -o input > now.yaml && drover burst plan -f now.yaml\n"
	       "  drover burst plan -f examples/burst/research.yaml \\\n"
	       "      -f examples/burst/scenarios/research.yaml\n"
	       "  drover burst reset research --reason 'new fiscal year'\n"
	       "docs/burst.md describes the file format.",
};

/* --- the command ------------------------------------------------------------------------------ */

static void print(const struct verb *v, const struct burst_input *in, json_t *aside,
		  struct arena *a)
{
	const struct burst *b = burst_decide(in, a);

	if (v->output == AS_JSON)
		burst_print_json(b, aside, a);
	else
		burst_print_table(b, aside, a);
}

/* Decides with the documents of the files. texts, files: where each file is read to. */
static int plan_files(const struct verb *v, struct scenario_file *files, char **texts,
		      struct arena *a, struct err *e)
{
	OWN(zones) zones = zones_new();
	struct burst_doc *docs;
	struct burst_input in;
	size_t len, n = 0, at = 0;

	for (size_t i = 0; i < v->n; i++) {
		texts[i] = file_text(v->paths[i], SCENARIO_BYTES, &len, e);
		if (!texts[i] || scenario_parse(&files[i], v->paths[i], texts[i], len, e) < 0)
			return -1;
		n += files[i].n;
	}
	docs = arena_calloc(a, n + 1, sizeof(*docs));
	for (size_t i = 0; i < v->n; i++)
		for (size_t k = 0; k < files[i].n; k++)
			docs[at++] = (struct burst_doc){
				files[i].v[k].j,
				arena_printf(a, "%s:%zu", files[i].path, files[i].v[k].line)};
	if (burst_docs_read(docs, n, zones, &in, a, e) < 0)
		return -1;
	print(v, &in, NULL, a);
	return 0;
}

static int plan_of_files(const struct verb *v)
{
	OWN(arena) a = arena_new();
	struct scenario_file files[FILES] = {0};
	char *texts[FILES] = {0};
	struct err e;
	const int rc = plan_files(v, files, texts, a, &e);

	if (rc < 0)
		(void)fprintf(stderr, "drover burst: %s\n", e.text);
	for (size_t i = 0; i < v->n; i++) {
		scenario_file_done(&files[i]);
		free(texts[i]);
	}
	return rc < 0;
}

/* Prints the documents so that `plan -f` can read them again. */
static void print_input(const json_t *docs)
{
	const json_t *x;
	size_t i;

	json_array_foreach (docs, i, x) {
		(void)printf("---\n");
		(void)json_dumpf(x, stdout, JSON_INDENT(2));
		(void)printf("\n");
	}
}

/* Decides with the documents of the cluster. */
static int plan_live(const struct verb *v, const struct burst_live *live, struct arena *a,
		     struct err *e)
{
	OWN(zones) zones = zones_new();
	const size_t n = json_array_size(live->docs);
	struct burst_doc *docs = arena_calloc(a, n + 1, sizeof(*docs));
	struct burst_input in;

	for (size_t i = 0; i < n; i++)
		docs[i].j = json_array_get(live->docs, i);
	if (burst_docs_read(docs, n, zones, &in, a, e) < 0)
		return -1;
	if (v->output == AS_INPUT)
		print_input(live->docs);
	else
		print(v, &in, live->aside, a);
	return 0;
}

static int plan_of_cluster(const struct verb *v)
{
	OWN(arena) a = arena_new();
	struct burst_live live;
	struct cli_client c;
	struct err e;
	int rc;

	if (cli_open(&c, "drover burst", &v->o) < 0)
		return 1;
	rc = burst_live_read(&c, &v->where, &live, &e);
	if (!rc) {
		if (live.reading)
			(void)fprintf(stderr,
				      "drover burst: warning: the leader has not read the offers "
				      "of every Provider yet\n");
		rc = plan_live(v, &live, a, &e);
		burst_live_done(&live);
	}
	if (rc < 0)
		(void)cli_failed(&c, "%s", e.text);
	cli_close(&c);
	return rc < 0;
}

static int reset(const struct verb *v)
{
	const struct cli_options o = {v->o.kubeconfig, v->o.context, v->output == AS_JSON};
	struct cli_client c;
	int rc;

	if (cli_open(&c, "drover burst", &o) < 0)
		return 1;
	rc = CLI_REPEAT(&c, cli_do_burst_reset(&c, v->policy, v->reason));
	cli_close(&c);
	return rc;
}

int cli_burst(int argc, char **argv)
{
	struct verb v = {.where.ns = "drover-system"};

	args_parse(&argp, argc, argv, &v);
	if (v.asked == RESET)
		return reset(&v);
	return v.n ? plan_of_files(&v) : plan_of_cluster(&v);
}
