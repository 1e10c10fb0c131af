/*
 * snapshot_verb: `drover snapshot`. Parses the options. An output file is written completely or not
 * at all.
 * Tests: tests/unit/cli/simulate/test_snapshot.c
 */
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/args.h"
#include "base/file.h"
#include "cli/cli.h"
#include "cli/simulate/snapshot.h"

struct snapshot_args {
	struct cli_options o;
	const char *path, *ns;
	bool tenants;
};

static const struct argp_option options[] = {
	{"output", 'o', "FILE", 0, "Write to this file (default: standard output)", 0},
	{"tenants", 't', NULL, 0,
	 "Also save the tenants' Pods and Nodes, read with the tenants' kubeconfigs", 0},
	CLI_NAMESPACE_ROW,
	CLI_CLUSTER_ROWS,
	{0}};

static error_t parse(int key, char *arg, struct argp_state *st)
{
	struct snapshot_args *v = st->input;

	switch (key) {
	case 'o':
		v->path = arg;
		return 0;
	case 't':
		v->tenants = true;
		return 0;
	case 'n':
		v->ns = arg;
		return 0;
	case ARGP_KEY_ARG:
		argp_error(st, "unexpected argument: %s", arg);
		return 0;
	default:
		return cli_option(key, arg, st, &v->o);
	}
}

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.doc = "Save the live fleet as a scenario file for `drover simulate`.\v"
	       "Examples:\n"
	       "  drover snapshot -o fleet.yaml\n"
	       "  drover snapshot --tenants -o now.yaml && drover simulate now.yaml\n"
	       "The command changes nothing. It reads Providers, NodePools, VirtualClusters, "
	       "Machines, NodeClaims and WipeRecords. With --tenants it also reads the Secrets "
	       "with the tenants' kubeconfigs, and uses these kubeconfigs to read the tenants' "
	       "Pods and Nodes. The file contains only the fields that the planner reads, and no "
	       "Secret. Exit status 1: an object could not be read; a comment in the file names "
	       "it.",
};

static int to_file(const struct snapshot_args *v, const struct snapshot_spec *s)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);
	struct err e;
	int rc;

	if (!f)
		abort(); /* no memory */
	rc = snapshot_write(s, f);
	if (fclose(f) != 0)
		abort(); /* no memory */
	if (file_write(v->path, text, len, 0600, false, &e) < 0)
		rc = cli_failed(s->c, "%s", e.text);
	free(text);
	return rc;
}

int cli_snapshot(int argc, char **argv)
{
	struct snapshot_args v = {.ns = "drover-system"};
	struct cli_client c;
	struct snapshot_spec s = {.c = &c};
	int rc;

	args_parse(&argp, argc, argv, &v);
	if (cli_open(&c, "drover snapshot", &v.o) < 0)
		return 1;
	s.tenants = v.tenants;
	s.ns = v.ns;
	rc = v.path ? to_file(&v, &s) : snapshot_write(&s, stdout);
	cli_close(&c);
	return rc;
}
