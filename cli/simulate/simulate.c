/*
 * simulate: `drover simulate FILE`: plans and replays a scenario, and compares it with changes.
 * Tests: tests/unit/cli/simulate/test_simulate.c
 */
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/args.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "cli/cli.h"
#include "cli/simulate/report.h"
#include "cli/simulate/what_if.h"

#define CHANGES 32
#define FILES 16
#define OUT_MAX ((size_t)64 << 20)

enum simulate_format { TABLE, JSON, SVG };
struct simulate_args {
	const char *paths[FILES];
	size_t npaths;
	enum simulate_format format;
	const char *changes[CHANGES];
	size_t nchanges;
};

static const struct argp_option options[] = {
	{"output", 'o', "table|json|svg", 0,
	 "Output format (default: table); svg: a chart of the replay", 0},
	{"what-if", 'w', "CHANGE", 0,
	 "Also simulate the fleet with this change, and compare both results; may be repeated: "
	 "all changes apply together",
	 0},
	{0}};

static error_t parse(int key, char *arg, struct argp_state *st)
{
	struct simulate_args *v = st->input;

	switch (key) {
	case 'o':
		if (!str_eq(arg, "table") && !str_eq(arg, "json") && !str_eq(arg, "svg"))
			argp_error(st, "--output: want table, json or svg, got '%s'", arg);
		v->format = str_eq(arg, "json") ? JSON : str_eq(arg, "svg") ? SVG : TABLE;
		return 0;
	case 'w':
		if (v->nchanges == CHANGES)
			argp_error(st, "--what-if: at most %d changes", CHANGES);
		v->changes[v->nchanges++] = arg;
		return 0;
	case ARGP_KEY_ARG:
		if (v->npaths == FILES)
			argp_error(st, "at most %d files", FILES);
		v->paths[v->npaths++] = arg;
		return 0;
	case ARGP_KEY_END:
		if (!v->npaths)
			argp_error(st, "give a scenario file");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.args_doc = "FILE...",
	.doc = "Plan a fleet from a file with the planner of the controller, and replay jobs that "
	       "arrive over time. FILE is a scenario in YAML, or the output of `drover snapshot`; "
	       "several files are read as one. No cluster is read or changed.\v"
	       "Examples:\n  drover snapshot --tenants -o now.yaml && drover simulate now.yaml\n"
	       "  drover simulate examples/simulate/two-tenants.yaml\n"
	       "  drover simulate month.yaml -o svg >month.svg\n"
	       "  drover simulate examples/burst/scenarios/month.yaml \\\n"
	       "      examples/burst/overflow.yaml\n"
	       "  drover simulate month.yaml --what-if machines+=10 --what-if pool.h100.max=80\n"
	       "A change is one of " WHAT_IF_FORMS ". docs/simulate.md describes the file.",
};

static int failed(const struct err *e)
{
	(void)fprintf(stderr, "drover simulate: %s\n", e->text);
	return 1;
}

/* Returns the path of the file `name`, malloc'd. A relative name counts from the folder of the file
 * `path`. */
static char *beside(const char *path, const char *name)
{
	const char *slash = strrchr(path, '/');

	if (*name == '/' || !slash)
		return mem_strdup(name);
	return mem_printf("%.*s/%s", (int)(slash - path), path, name);
}

static int read_arrivals(struct scenario *s, struct arena *a, struct err *e)
{
	char *name, *text;
	size_t len;
	int rc = -1;

	if (!s->arrivals)
		return 0;
	name = beside(s->path, s->arrivals);
	text = file_text(name, SCENARIO_BYTES, &len, e);
	if (text)
		rc = scenario_arrivals(s, name, text, len, a, e);
	free(text);
	free(name);
	return rc;
}

/* Builds the world of the scenario, plans and replays it. Returns the report, owned by the caller;
 * NULL with *e. */
static json_t *simulate(const struct scenario_file *f, struct err *e)
{
	OWN(arena) a = arena_new();
	struct scenario s;
	json_t *report = NULL;

	if (scenario_build(f, &s, a, e) == 0 && read_arrivals(&s, a, e) == 0)
		report = report_make(&s);
	scenario_done(&s);
	return report;
}

static int print(const struct simulate_args *v, json_t *report, json_t *before)
{
	struct buf b;
	int rc = 0;

	buf_init(&b, OUT_MAX);
	if (v->format == JSON) {
		if (before)
			json_object_set(report, "before", before);
		(void)json_dumpf(report, stdout, JSON_INDENT(2));
		(void)putchar('\n');
	} else if (v->format == TABLE) {
		report_table(report, before, &b);
	} else if (!report_svg(report, &b)) {
		(void)fputs("drover simulate: -o svg needs spec.arrivals in the Scenario\n",
			    stderr);
		rc = 1;
	}
	(void)fwrite(b.data, 1, b.len, stdout);
	buf_done(&b);
	return rc;
}

static int run(const struct simulate_args *v, struct scenario_file *f, struct err *e)
{
	OWN_JSON before = NULL;
	OWN_JSON report = NULL;

	if (v->nchanges) {
		before = simulate(f, e);
		if (!before)
			return failed(e);
	}
	for (size_t i = 0; i < v->nchanges; i++)
		if (what_if_apply(f, v->changes[i], e) < 0)
			return failed(e);
	report = simulate(f, e);
	return report ? print(v, report, before) : failed(e);
}

/* Reads the files into *f and texts, which the caller frees. */
static int read_files(const struct simulate_args *v, struct scenario_file *f, char **texts,
		      struct err *e)
{
	size_t len;

	f->path = v->paths[0];
	for (size_t i = 0; i < v->npaths; i++) {
		texts[i] = file_text(v->paths[i], SCENARIO_BYTES, &len, e);
		if (!texts[i] || scenario_add(f, v->paths[i], texts[i], len, e) < 0)
			return -1;
	}
	return 0;
}

int cli_simulate(int argc, char **argv)
{
	struct simulate_args v = {0};
	struct scenario_file f = {0};
	char *texts[FILES] = {0};
	struct err e;
	int rc;

	args_parse(&argp, argc, argv, &v);
	rc = read_files(&v, &f, texts, &e) < 0 ? failed(&e) : run(&v, &f, &e);
	scenario_file_done(&f);
	for (size_t i = 0; i < v.npaths; i++)
		free(texts[i]);
	return rc;
}
