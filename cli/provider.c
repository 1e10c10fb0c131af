/*
 * provider: `drover provider test -- COMMAND`. Tests whether a program follows
 * docs/provider-protocol.md, before a Provider of type exec uses the program. Needs no cluster.
 * Tests: tests/contract/test_exec_check.c, tests/unit/cli/test_provider.c
 */
#include <argp.h>
#include <stdio.h>
#include <string.h>

#include "base/args.h"
#include "base/loop/loop_uv.h"
#include "base/str.h"
#include "cli/cli.h"
#include "providers/exec_check.h"

enum { MACHINE = 0x7001, CHANGE, CLOUD };

struct test {
	const char *what, *machine;
	/* program and arguments, NULL-terminated */
	char **command;
	bool changes, cloud, json;
	struct loop *loop;
	unsigned wrong;
};

static void print(const json_t *findings, unsigned wrong)
{
	size_t i;
	json_t *f;

	json_array_foreach (findings, i, f) {
		const char *mend = json_str_at(f, "mend");

		printf("  %-5s  %s: %s\n", json_str_at(f, "result"), json_str_at(f, "of"),
		       json_str_at(f, "says"));
		if (mend)
			printf("         %s\n", mend);
	}
	printf(wrong ? "%u wrong\n" : "nothing wrong\n", wrong);
}

static void on_done(const json_t *findings, unsigned wrong, void *arg)
{
	struct test *t = arg;

	t->wrong = wrong;
	if (t->json) {
		json_dumpf(findings, stdout, JSON_INDENT(2));
		putchar('\n');
	} else {
		print(findings, wrong);
	}
	loop_stop(t->loop);
}

static const struct argp_option options[] = {
	{"machine", MACHINE, "NAME", 0, "Name of the machine to ask about, as the program knows it",
	 0},
	{"cloud", CLOUD, "TYPE", 0,
	 "For a program that launches cloud instances: the instance type to ask about. With "
	 "--change one instance is launched, billed and terminated",
	 0},
	{"change", CHANGE, NULL, 0,
	 "Also switch the machine off and on and change what it boots: choose a machine that "
	 "nobody needs",
	 0},
	{"output", 'o', "text|json", 0, "Output format (default: text)", 0},
	{0}};

static error_t parse(int key, char *arg, struct argp_state *st)
{
	struct test *t = st->input;

	switch (key) {
	case MACHINE:
		t->machine = arg;
		return 0;
	case CLOUD:
		t->machine = arg;
		t->cloud = true;
		return 0;
	case CHANGE:
		t->changes = true;
		return 0;
	case 'o':
		if (!str_eq(arg, "json") && !str_eq(arg, "text"))
			argp_error(st, "-o: want text or json, got '%s'", arg);
		t->json = str_eq(arg, "json");
		return 0;
	case ARGP_KEY_ARG:
		if (!t->what && !str_eq(arg, "test"))
			argp_error(st, "unknown subcommand '%s': want test", arg);
		if (!t->what) {
			t->what = arg;
			return 0;
		}
		t->command = &st->argv[st->next - 1];
		st->next = st->argc;
		return 0;
	case ARGP_KEY_END:
		if (!t->machine)
			argp_error(st, "give --machine NAME or --cloud TYPE");
		else if (!t->command || t->command[0][0] != '/')
			argp_error(st,
				   "give the program by its absolute path: test --machine NAME -- "
				   "/path/to/program [ARGUMENT...]");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.args_doc = "test --machine NAME|--cloud TYPE [--change] -- /PATH [ARGUMENT...]",
	.doc = "Test whether a program can serve a Provider of type exec. Calls the program as "
	       "drover does, and prints each deviation from docs/provider-protocol.md and how to "
	       "fix it. Exit status 1: something is wrong.\v"
	       "Example:\n"
	       "  drover provider test --machine gpu-7 -- /etc/drover/machines "
	       "/var/lib/machines.json\n",
};

int cli_provider(int argc, char **argv)
{
	struct test t = {0};
	struct exec_check_spec s = {.done = on_done, .arg = &t};
	struct exec_check *c;

	args_parse(&argp, argc, argv, &t);
	t.loop = loop_uv_new();
	s.group = loop_group_new(t.loop, "check");
	s.command = (const char *const *)t.command;
	s.machine = t.machine;
	s.changes = t.changes;
	s.cloud = t.cloud;
	s.fence = loop_wall(t.loop) / 1000;
	c = exec_check_new(&s);
	loop_run(t.loop);
	exec_check_free(c);
	loop_group_free(s.group);
	loop_free(t.loop);
	return t.wrong ? 1 : 0;
}
