/*
 * cli: the short verbs.  Each is a field or an annotation that kubectl can
 * write as well; what is written is printed.
 */
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/http_curl.h"
#include "base/loop_uv.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/cli.h"
#include "controller/controller.h"
#include "controller/crds.h"

void cli_parse(const struct argp *p, int argc, char **argv, void *input)
{
	argp_err_exit_status = 2;
	argp_parse(p, argc, argv, 0, NULL, input);
}

int cli_version(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	printf("drover %s (%s)\n", DROVER_VERSION, OBJECT_API_VERSION);
	return 0;
}

int cli_crds(int argc, char **argv)
{
	struct buf b;

	(void)argc;
	(void)argv;
	buf_init(&b, 16 << 20);
	crds_write(&b);
	fwrite(b.data, 1, b.len, stdout);
	buf_done(&b);
	return fflush(stdout) ? 1 : 0;
}

/* --- approve ------------------------------------------------------------------------------------ */

struct approve {
	const char *kubeconfig, *machine;
	bool wipe;
	struct loop *loop;
	struct kube_client *client;
	int status;
};

static const struct argp_option approve_options[] = {
	{"kubeconfig", 'k', "FILE", 0, "The host cluster (KUBECONFIG)", 0},
	{"wipe", 'w', NULL, 0,
	 "It holds nothing of worth: take it down and wipe it although it is on or quarantined", 0},
	{0},
};

static error_t parse_approve(int key, char *arg, struct argp_state *st)
{
	struct approve *a = st->input;

	switch (key) {
	case 'k':
		a->kubeconfig = arg;
		return 0;
	case 'w':
		a->wipe = true;
		return 0;
	case ARGP_KEY_ARG:
		if (a->machine)
			argp_error(st, "one machine at a time");
		a->machine = arg;
		return 0;
	case ARGP_KEY_END:
		if (!a->machine)
			argp_error(st, "which machine?");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp approve_argp = {
	.options = approve_options,
	.parser = parse_approve,
	.args_doc = "MACHINE",
	.doc = "Let drover act on a machine: spec.managementPolicy becomes Manage and spec.identity what its BMC said.\v"
	       "Examples:\n  drover approve gpu-r1-07\n  drover approve gpu-r1-07 --wipe\n"
	       "The same with kubectl: patch spec.managementPolicy, spec.identity, spec.approval.",
};

static void finish(struct approve *a, const struct err *e)
{
	if (e) {
		fprintf(stderr, "drover approve: %s\n", e->text);
		a->status = 1;
	}
	loop_stop(a->loop);
}

static void on_patched(json_t *o, const struct err *e, void *arg)
{
	struct approve *a = arg;

	if (!e)
		printf("machine %s: managed, system UUID %s%s\n", a->machine,
		       str_or(json_str_at(o, "spec", "identity", "systemUUID"), "(none)"),
		       a->wipe ? ", approved to be wiped" : "");
	finish(a, e);
}

static void on_machine(json_t *o, const struct err *e, void *arg)
{
	struct approve *a = arg;
	const json_t *seen = json_at(o, "status", "identity");
	struct err mine;
	char id[33];
	uint8_t raw[16];
	json_t *spec, *patch;

	if (!e && !json_at(o, "spec", "identity") && !seen) {
		(void)!err_set(&mine, ERR_NOT_FOUND, 0,
			       "machine %s: its BMC was not read yet; is the controller running?",
			       a->machine);
		e = &mine;
	}
	if (e) {
		finish(a, e);
		return;
	}
	spec = json_pack("{s:s}", "managementPolicy", "Manage");
	if (!json_at(o, "spec", "identity"))
		json_object_set(spec, "identity", (json_t *)seen);
	if (a->wipe) {
		loop_random_bytes(a->loop, raw, sizeof(raw));
		str_hex(id, raw, sizeof(raw));
		json_object_set_new(spec, "approval",
				    json_pack("{s:s, s:s}", "action", "Wipe", "id", id));
	}
	patch = json_pack("{s:{s:s}, s:o}", "metadata", "resourceVersion",
			  str_or(json_str_at(o, "metadata", "resourceVersion"), ""), "spec", spec);
	(void)kube_patch(a->client, &controller_resources[OBJECT_MACHINE], NULL, a->machine, NULL,
			 KUBE_PATCH_MERGE, patch, on_patched, a);
	json_decref(patch);
}

int cli_approve(int argc, char **argv)
{
	struct approve a = {.kubeconfig = getenv("KUBECONFIG")};
	struct loop_group *g;
	struct http *h;
	struct kube_client_spec cs = {.name = "host"};
	struct err e;

	cli_parse(&approve_argp, argc, argv, &a);
	OWN(kube_config)
	host = a.kubeconfig ? kube_config_load(a.kubeconfig, &e) : kube_config_in_cluster(&e);
	if (!host) {
		fprintf(stderr, "drover approve: %s\n", e.text);
		return 1;
	}
	a.loop = loop_uv_new();
	g = loop_group_new(a.loop, "cli");
	h = http_new(g, http_curl_new(g, 4), 4);
	cs.config = host;
	a.client = kube_client_new(g, h, &cs, &e);
	if (a.client) {
		(void)kube_get(a.client, &controller_resources[OBJECT_MACHINE], NULL, a.machine,
			       on_machine, &a);
		loop_run(a.loop);
	} else {
		fprintf(stderr, "drover approve: %s\n", e.text);
		a.status = 1;
	}
	kube_client_free(a.client);
	http_free(h);
	loop_group_free(g);
	loop_free(a.loop);
	return a.status;
}
