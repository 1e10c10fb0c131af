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
#define OUT_MAX ((size_t)64 << 20)

enum format { TABLE, JSON, SVG };
struct simulate_args {
	const char *path;
	enum format format;
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
		if (v->path)
			argp_error(st, "one file at a time");
		v->path = arg;
		return 0;
	case ARGP_KEY_END:
		if (!v->path)
			argp_error(st, "give a scenario file");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.args_doc = "FILE",
	.doc = "Plan a fleet from a file with the planner of the controller, and replay jobs that "
	       "arrive over time. FILE is a scenario in YAML, or the output of `drover snapshot`. "
	       "No cluster is read or changed.\v"
	       "Examples:\n  drover snapshot --tenants -o now.yaml && drover simulate now.yaml\n"
	       "  drover simulate examples/simulate/two-tenants.yaml\n"
	       "  drover simulate month.yaml -o svg >month.svg\n"
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

static int read_arrivals(const char *path, struct scenario *s, struct arena *a, struct err *e)
{
	char *name, *text;
	size_t len;
	int rc = -1;

	if (!s->arrivals)
		return 0;
	name = beside(path, s->arrivals);
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

	if (scenario_build(f, &s, a, e) == 0 && read_arrivals(f->path, &s, a, e) == 0)
		report = report_make(&s);
	world_free(s.world);
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

int cli_simulate(int argc, char **argv)
{
	struct simulate_args v = {0};
	struct scenario_file f = {0};
	struct err e;
	char *text;
	size_t len;
	int rc;

	args_parse(&argp, argc, argv, &v);
	text = file_text(v.path, SCENARIO_BYTES, &len, &e);
	if (!text)
		return failed(&e);
	rc = scenario_parse(&f, v.path, text, len, &e) < 0 ? failed(&e) : run(&v, &f, &e);
	scenario_file_done(&f);
	free(text);
	return rc;
}
