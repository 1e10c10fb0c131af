/*
 * why: `drover why`. With a name it explains one object (cli/explain_ask.c); without one it lists
 * everything that is stuck (cli/stuck.c). In a tenant's cluster it explains the tenant's pods
 * (cli/why_tenant.c).
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
#include "cli/why_near.h"
#include "cli/why_tenant.h"
#include "kube/config.h"

struct why_request {
	struct cli_client *c;
	/* missing: the object does not exist */
	bool done, missing;
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
	struct why_request *w = arg;

	w->done = true;
	w->missing = e && e->kind == ERR_NOT_FOUND;
	if (e)
		w->status = cli_failed_read(w->c, e);
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
	struct why_request w = {.c = c};

	(void)explain_ask(&with, target, on_answer, &w);
	while (!w.done)
		loop_run(c->loop);
	if (w.missing)
		why_near(c, target);
	return w.status;
}

/* --- the command ------------------------------------------------------------------------------ */

struct why {
	struct cli_options o;
	struct view_where view;
	/* true: one line for each row of the list */
	bool brief;
	const char *words[2], *ns;
	size_t n;
	/* the words as one target; NULL: list everything that is stuck */
	char *target;
};

static const struct argp_option options[] = {
	{"namespace", 'n', "NAME", 0,
	 "Namespace in which drover runs (default: drover-system). With a tenant's kubeconfig: "
	 "namespace of the pod (default: that of the kubeconfig's context)",
	 0},
	VIEW_CLIENT_PLACE,
	{"short", 's', NULL, 0,
	 "Without a name: one line for each stuck object, with the command that helps", 0},
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

static size_t slashes_in(const char *s)
{
	size_t n = 0;

	for (; *s; s++)
		n += *s == '/';
	return n;
}

/* Returns s without a leading "pod/" if TENANT/NAMESPACE/POD follows it. gang: also without
 * "gang/". */
static const char *without_type(const char *s, bool gang)
{
	const size_t type = strcspn(s, "/");

	return slashes_in(s) == 3 && (is_pod(s, type) || (gang && str_starts(s, "gang/")))
		       ? s + type + 1
		       : s;
}

/* Sets w->target. Ends the program with an error if the words are no target of any cluster. */
static void settle(struct why *w, struct argp_state *st)
{
	w->target = w->n == 2 ? mem_printf("%s/%s", w->words[0], w->words[1])
			      : mem_printf("%s", w->words[0]);
	if (!is_whole(w->target) || slashes_in(without_type(w->target, true)) > 2)
		argp_error(st, "want NAME, TYPE/NAME or TENANT/NAMESPACE/POD, got '%s'", w->target);
}

/* Explains an object of the host cluster. Refuses types that are not explained. */
static int why_at_host(struct cli_client *c, const char *target, const char *ns)
{
	const char *s = without_type(target, false);
	const size_t type = strcspn(s, "/");
	char *near;
	int status;

	if (slashes_in(s) != 1)
		return cli_do_why(c, s, ns);
	if (is_pod(s, type))
		return cli_failed(c, "name a pod as TENANT/NAMESPACE/POD, got '%s'", s);
	if (str_starts(s, "gang/"))
		return cli_failed(c, "a gang is gang/TENANT/NAMESPACE/GANG, got '%s'", s);
	if (target_kind(s, type) == OBJECT_WIPE_RECORD)
		return cli_failed(
			c, "a WipeRecord is never stuck; `drover get wipe %s -o yaml` shows it",
			s + type + 1);
	if (target_kind(s, type) == OBJECT_KINDS) {
		near = why_near_type(s, type);
		status = cli_failed(c, "unknown type '%.*s'%s; types: pod, " TARGET_KINDS,
				    (int)type, s, near);
		free(near);
		return status;
	}
	return cli_do_why(c, s, ns);
}

int cli_do_why_here(struct cli_client *c, const char *target, const char *ns, const char *pod_ns,
		    const struct cli_stuck *list)
{
	if (why_tenant_is(c))
		return cli_do_why_tenant(c, target, ns ? ns : pod_ns);
	if (!target)
		return cli_do_stuck(c, list);
	return why_at_host(c, target, str_or(ns, "drover-system"));
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
	case 's':
		w->brief = true;
		return 0;
	case VIEW_URL:
	case VIEW_CA:
		return view_client_option(key, arg, &w->view);
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
	.args_doc = "\nNAME\nTYPE/NAME\nTENANT/NAMESPACE/POD\ngang/TENANT/NAMESPACE/GANG",
	.doc = "Show why an object is stuck: since when, what the object waits for, when drover "
	       "retries, and what helps. Without a name: list everything that is stuck, the most "
	       "urgent first. The list comes from the leader (docs/view.md); if the leader does "
	       "not answer within 3 s, the command makes the list from drover's objects, and a "
	       "line on standard error says so.\vExamples:\n"
	       "  drover why\n"
	       "  drover why --short\n"
	       "  drover why gpu-r1-07\n"
	       "  drover why pool/h100\n"
	       "  drover why tenant team-a\n"
	       "  drover why h100-x7k2p -o json\n"
	       "  drover why team-a/default/train-0\n"
	       "  drover why gang/team-a/default/train\n"
	       "  drover why train-0 --kubeconfig team-a.conf\n"
	       "Types: pod, " TARGET_KINDS
	       ". A NAME without a type is looked up as a machine, then as a claim, then as any "
	       "other type.\n"
	       "The command changes nothing. It reads drover's objects; for a pod also the Secret "
	       "with its tenant's kubeconfig, which it uses to read the pod. Exit status 1: the "
	       "object does not exist, or the pod could not be looked up.",
};

int cli_why(int argc, char **argv)
{
	struct why w = {.view.total_ms = CLI_STUCK_VIEW_MS};
	struct cli_client c;
	struct err e;
	int status = 1;

	args_parse(&argp, argc, argv, &w);
	if (cli_open(&c, "drover why", &w.o) == 0) {
		OWN(kube_config) config = cli_kubeconfig(w.o.kubeconfig, w.o.context, &e);
		const struct cli_stuck list = {.view = &w.view, .brief = w.brief};

		w.view.ns = str_or(w.ns, "drover-system");
		status = cli_do_why_here(&c, w.target, w.ns,
					 config ? config->namespace_ : "default", &list);
		cli_close(&c);
	}
	free(w.target);
	return status;
}
