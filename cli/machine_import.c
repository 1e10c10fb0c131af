/*
 * machine_import: `drover machine import`. Reads the BareMetalHosts of a cluster and prints the
 * Machines that an administrator applies to bring the hosts to drover. It reads no Secret and
 * writes nothing.
 * Tests: tests/unit/cli/test_machine_import.c
 */
#include <stdlib.h>
#include <string.h>

#include "base/args.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/data/yaml.h"
#include "base/mem.h"
#include "base/str.h"
#include "cli/baremetalhost.h"
#include "cli/cli.h"
#include "cli/import_args.h"
#include "cli/verbs.h"

static const struct kube_resource hosts = {"metal3.io", "v1alpha1", "baremetalhosts",
					   "BareMetalHost", true};

struct machine_import {
	struct cli_client *c;
	const struct cli_import_hosts *want;
	struct arena *a;
	/* hosts that were asked for, sorted by namespace and name */
	struct {
		json_t **v;
		size_t n, cap;
	} found;
	/* set of names of all Machines; and BMC address -> name of the Machine that has it */
	json_t *names, *addresses;
};

static void on_machine(json_t *o, void *arg)
{
	struct machine_import *m = arg;
	const char *name = json_str_at(o, "metadata", "name"),
		   *address = json_str_at(o, "spec", "bmc", "address");

	json_object_set_new(m->names, name, json_true());
	if (address)
		json_object_set_new(m->addresses, address, json_string(name));
}

static bool is_wanted(const struct machine_import *m, const json_t *o)
{
	const char *of = m->want->of, *name = json_str_at(o, "metadata", "name"),
		   *ns = json_str_at(o, "metadata", "namespace");

	return !of || str_eq(of, name) ||
	       str_eq(of, arena_printf(m->a, "%s/%s", str_or(ns, ""), str_or(name, "")));
}

static void on_host(json_t *o, void *arg)
{
	struct machine_import *m = arg;

	if (!is_wanted(m, o))
		return;
	mem_grow(m->found.v, m->found.n + 1, m->found.cap);
	m->found.v[m->found.n++] = json_incref(o);
}

static int by_place(const void *a, const void *b)
{
	const json_t *x = *(json_t *const *)a, *y = *(json_t *const *)b;
	int rc = strcmp(str_or(json_str_at(x, "metadata", "namespace"), ""),
			str_or(json_str_at(y, "metadata", "namespace"), ""));

	return rc ? rc
		  : strcmp(str_or(json_str_at(x, "metadata", "name"), ""),
			   str_or(json_str_at(y, "metadata", "name"), ""));
}

/* Prints the notes of a host, and its Machine (NULL: none). */
static void print(const struct machine_import *m, const struct buf *notes, const json_t *machine)
{
	struct buf b;

	fwrite(notes->data, 1, notes->len, m->c->json ? stderr : m->c->out);
	if (!machine || m->c->json)
		return;
	buf_init(&b, 1 << 20);
	yaml_print(machine, &b);
	fprintf(m->c->out, "---\n%s", b.data);
	buf_done(&b);
}

/* Converts and prints all hosts. Returns the number of hosts that are or become Machines. */
static size_t import_all(struct machine_import *m)
{
	OWN_JSON secrets = json_object();
	OWN_JSON all = json_array();
	struct baremetalhost_import i = {.provider = m->want->provider,
					 .instance_type = m->want->instance_type,
					 .ns = m->want->ns,
					 .a = m->a,
					 .secrets = secrets,
					 .names = m->names};
	size_t n = 0;

	for (size_t k = 0; k < m->found.n; k++) {
		struct buf notes;
		OWN_JSON o = NULL;
		const char *known;

		buf_init(&notes, 1 << 20);
		o = baremetalhost_machine(&i, m->found.v[k], &notes);
		known = json_string_value(json_object_get(
			m->addresses, str_or(json_str_at(o, "spec", "bmc", "address"), "")));
		if (known) {
			buf_clear(&notes);
			buf_printf(&notes, "# BareMetalHost %s/%s is already Machine %s\n",
				   json_str_at(m->found.v[k], "metadata", "namespace"),
				   json_str_at(m->found.v[k], "metadata", "name"), known);
		}
		print(m, &notes, known ? NULL : o);
		if (o && !known)
			json_array_append(all, o);
		n += o || known;
		buf_done(&notes);
	}
	if (m->c->json) {
		OWN_JSON list = json_pack("{s:s, s:s, s:O}", "apiVersion", "v1", "kind", "List",
					  "items", all);

		json_dumpf(list, m->c->out, JSON_INDENT(2));
		fputc('\n', m->c->out);
	}
	return n;
}

static int import(struct machine_import *m)
{
	struct err e;

	/* A cluster of Metal3 need not have drover's types. */
	if (cli_list(m->c, OBJECT_MACHINE, on_machine, m, &e) < 0 && e.kind != ERR_NOT_FOUND)
		return cli_report_unreadable(m->c, OBJECT_MACHINE, NULL, &e);
	if (cli_list_of(m->c, &hosts, NULL, NULL, on_host, m, &e) < 0)
		return cli_failed(
			m->c,
			e.kind == ERR_NOT_FOUND
				? "%s; this cluster has no BareMetalHosts of Metal3: check "
				  "--kubeconfig and --context"
				: "%s; this needs the permission `list` on "
				  "baremetalhosts.metal3.io",
			e.text);
	if (!m->found.n)
		return cli_failed(m->c, "found no BareMetalHost %s%sin this cluster",
				  str_or(m->want->of, ""), m->want->of ? " " : "");
	qsort(m->found.v, m->found.n, sizeof(*m->found.v), by_place);
	return import_all(m) ? 0
			     : cli_failed(m->c, "no BareMetalHost could be converted; the "
						"comments above name the reasons");
}

int cli_do_import_hosts(struct cli_client *c, const struct cli_import_hosts *i)
{
	OWN(arena) a = arena_new();
	OWN_JSON names = json_object();
	OWN_JSON addresses = json_object();
	struct machine_import m = {
		.c = c, .want = i, .a = a, .names = names, .addresses = addresses};
	int status = import(&m);

	for (size_t k = 0; k < m.found.n; k++)
		json_decref(m.found.v[k]);
	free(m.found.v);
	return status;
}

/* --- the command ------------------------------------------------------------------------------ */

enum { PROVIDER = 256, TYPE };

struct machine_import_args {
	struct import_args all;
	const char *provider, *type;
};

static const struct argp_option options[] = {
	{"provider", PROVIDER, "NAME", 0, "Provider that will manage the Machines (required)", 0},
	{"instance-type", TYPE, "NAME", 0, "Instance type of the Machines (default: not set)", 0},
	CLI_NAMESPACE_ROW,
	CLI_OPTION_ROWS};

static error_t parse(int key, char *arg, struct argp_state *st)
{
	struct machine_import_args *v = st->input;
	error_t rc;

	switch (key) {
	case PROVIDER:
		if (!str_is_dns_subdomain(arg))
			argp_error(st, "--provider: want the name of a Provider, got '%s'", arg);
		v->provider = arg;
		return 0;
	case TYPE:
		v->type = arg;
		return 0;
	default:
		rc = import_args_parse(key, arg, st, &v->all, "BareMetalHost");
		if (key == ARGP_KEY_END && !v->provider)
			argp_error(st, "which Provider will manage the machines? Give --provider");
		return rc;
	}
}

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.args_doc = IMPORT_ARGS_DOC,
	.doc = "Read the BareMetalHosts of Metal3 and print a Machine for each that is not a "
	       "Machine yet, with comments on what to do before it is applied.\v"
	       "Examples:\n  drover machine import --provider hall-a\n"
	       "  drover machine import --context metal3 --provider hall-a > machines.yaml\n"
	       "  drover machine import metal3/node-0 --provider hall-a -o json\n"
	       "The command reads no Secret and changes nothing: review its output, copy the "
	       "Secrets that it names, then apply it. With -o json the comments are printed on "
	       "standard error. Exit status 1: no host was found or none could be converted, or "
	       "the cluster could not be read.",
};

int cli_machine_import(int argc, char **argv)
{
	struct machine_import_args v = {.all.ns = "drover-system"};
	struct cli_client c;
	int status;

	args_parse(&argp, argc, argv, &v);
	if (cli_open(&c, "drover machine", &v.all.o) < 0)
		return 1;
	status = cli_do_import_hosts(&c, &(struct cli_import_hosts){.of = v.all.of,
								    .provider = v.provider,
								    .instance_type = v.type,
								    .ns = v.all.ns});
	cli_close(&c);
	return status;
}
