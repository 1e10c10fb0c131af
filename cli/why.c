/*
 * why: `drover why`. With a name it explains one object (cli/explain_ask.c); without one it lists
 * everything that is stuck (cli/stuck.c).
 * Tests: tests/unit/cli/test_why.c
 */
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/args.h"
#include "base/buf.h"
#include "base/loop/loop.h"
#include "base/mem.h"
#include "base/str.h"
#include "cli/cli.h"
#include "cli/explain_print.h"
#include "cli/explain_ask.h"
#include "api/target.h"
#include "cli/verbs.h"

struct asked {
	struct cli_client *c;
	bool done;
	int status;
};

static void print_answer(struct cli_client *c, const json_t *answer)
{
	struct buf b;

	if (c->json) {
		json_dumpf(answer, c->out, JSON_INDENT(2));
		fputc('\n', c->out);
		return;
	}
	buf_init(&b, 1 << 20);
	explain_print(answer, loop_wall(c->loop), &b);
	fwrite(b.data, 1, b.len, c->out);
	buf_done(&b);
}

static void on_answer(const json_t *answer, const struct err *e, void *arg)
{
	struct asked *w = arg;

	w->done = true;
	if (e)
		w->status = cli_failed(w->c, "%s", e->text);
	else
		print_answer(w->c, answer);
	if (json_str_at(answer, "podUnknown"))
		w->status = cli_failed(w->c, "cannot tell whether the pod exists: %s",
				       json_str_at(answer, "podUnknown"));
	loop_stop(w->c->loop);
}

int cli_do_why(struct cli_client *c, const char *target, const char *ns)
{
	const struct explain_asker with = {
		.host = c->host, .loop = c->loop, .group = c->group, .http = c->http, .ns = ns};
	struct asked w = {.c = c};

	explain_ask(&with, target, on_answer, &w);
	while (!w.done)
		loop_run(c->loop);
	return w.status;
}

/* --- the command ------------------------------------------------------------------------------ */

struct why {
	struct cli_options o;
	const char *words[2], *ns;
	size_t n;
	/* target for explain_ask(), such as TYPE/NAME; NULL: list everything that is stuck */
	char *target;
};

static const struct argp_option options[] = {
	{"namespace", 'n', "NAME", 0, "drover's own namespace (drover-system)", 0},
	CLI_OPTION_ROWS};

/* True if s is not empty and no part between slashes is empty. */
static bool is_whole(const char *s)
{
	return *s && *s != '/' && !strstr(s, "//") && !str_ends(s, "/");
}

static bool is_pod(const char *type, size_t len)
{
	return (len == 3 && !strncmp(type, "pod", len)) ||
	       (len == 4 && !strncmp(type, "pods", len));
}

/* Checks the arguments, and sets w->target in the form that explain_ask() expects. Ends the program
 * with an error if they are wrong. */
static void settle(struct why *w, struct argp_state *st)
{
	char *all = w->n == 2 ? mem_printf("%s/%s", w->words[0], w->words[1])
			      : mem_printf("%s", w->words[0]),
	     *s = all;
	size_t slashes = 0, type = strcspn(all, "/");

	for (const char *p = all; *p; p++)
		slashes += *p == '/';
	if (is_pod(s, type) && slashes == 3) {
		s += type + 1;
		slashes--;
	}
	if (!is_whole(s) || slashes > 2)
		argp_error(st, "want NAME, TYPE/NAME or TENANT/NAMESPACE/POD, got '%s'", all);
	if (slashes == 1 && is_pod(s, type))
		argp_error(st, "a pod is TENANT/NAMESPACE/POD, got '%s'", all);
	if (slashes == 1 && target_kind(s, type) == OBJECT_WIPE_RECORD)
		argp_error(st, "a WipeRecord is never stuck; `drover get wipe %s -o yaml` shows it",
			   s + type + 1);
	if (slashes == 1 && target_kind(s, type) == OBJECT_KINDS)
		argp_error(st, "unknown type '%.*s'; types: pod, " TARGET_KINDS, (int)type, s);
	w->target = mem_strdup(s);
	free(all);
}

static error_t parse(int key, char *arg, struct argp_state *st)
{
	struct why *w = st->input;

	switch (key) {
	case ARGP_KEY_ARG:
		if (w->n == 2)
			argp_error(st, "one object at a time");
		w->words[w->n++] = arg;
		return 0;
	case 'n':
		w->ns = arg;
		return 0;
	case ARGP_KEY_END:
		if (w->n)
			settle(w, st);
		return 0;
	default:
		return cli_option(key, arg, st, &w->o);
	}
}

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.args_doc = "\nNAME\nTYPE/NAME\nTENANT/NAMESPACE/POD",
	.doc = "Show why an object is stuck: since when, what it waits for, when drover retries, "
	       "and what helps. Without a name: list everything that is stuck, the most urgent "
	       "first.\v"
	       "Examples:\n  drover why\n  drover why gpu-r1-07\n  drover why pool/h100\n"
	       "  drover why tenant team-a\n  drover why h100-x7k2p -o json\n"
	       "  drover why team-a/default/train-0\nTypes: pod, " TARGET_KINDS
	       ". A NAME without a type is looked up as a machine, then as a claim, then as any "
	       "other type.\n"
	       "The command only reads: drover's objects; for a pod also the Secret with its "
	       "tenant's kubeconfig, and with it the pod. Exit status 1: the object does not "
	       "exist, or the pod could not be looked up.",
};

int cli_why(int argc, char **argv)
{
	struct why w = {.ns = "drover-system"};
	struct cli_client c;
	int status = 1;

	args_parse(&argp, argc, argv, &w);
	if (cli_open(&c, "drover why", &w.o) == 0) {
		status = w.target ? cli_do_why(&c, w.target, w.ns) : cli_do_stuck(&c);
		cli_close(&c);
	}
	free(w.target);
	return status;
}
