/*
 * why: `drover why`: asks the host cluster's API server and prints the
 * answer of cli/explain.c.
 * Tests: tests/unit/cli/test_explain.c
 */
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/resources.h"
#include "base/args.h"
#include "base/arena.h"
#include "base/loop/loop.h"
#include "base/mem.h"
#include "base/str.h"
#include "cli/cli.h"
#include "cli/client.h"
#include "cli/explain.h"
#include "kube/config.h"
#include "kube/call.h"

/* --- asking ------------------------------------------------------------------------------------- */

struct ask {
	struct explain_asker with;
	struct kube_client *host, *tenant; /* tenant: of the pod's; NULL: none */
	struct loop *loop;
	struct arena *a;	     /* target and decoded objects */
	const char *name, *ns, *pod; /* ns, pod: NULL unless it is a pod; then name is the tenant */
	struct node_claim *claim, *served; /* served: by the machine that was asked for */
	struct machine *machine;	   /* NULL: none */
	struct drain *drain; /* that its status.leave names; NULL: none, or it cannot be read */
	struct virtual_cluster *vc; /* of the pod */
	json_t *answer;
	void (*done)(const json_t *answer, const struct err *e, void *arg);
	void *arg;
};

static void finish(struct ask *q, const struct err *e)
{
	q->done(e ? NULL : q->answer, e, q->arg);
	json_decref(q->answer);
	kube_client_free(q->tenant);
	arena_free(q->a);
	free(q);
}

/* NULL with the end of it all when the object is not one that this version reads. */
static void *decode(struct ask *q, enum object_kind_id kind, const json_t *o)
{
	struct err e;
	void *out;

	if (object_decode(&object_kinds[kind], o, q->a, &out, &e) == 0)
		return out;
	(void)!err_wrap(&e, "%s %s", object_kinds[kind].kind, q->name);
	finish(q, &e);
	return NULL;
}

/* The answer stands; whether the tenant sleeps belongs to it, where that may be read. */
static void on_its_tenant(json_t *o, const struct err *e, void *arg)
{
	struct ask *q = arg;
	struct virtual_cluster *vc;
	struct err bad;
	void *out;

	if (!e && object_decode(&object_kinds[OBJECT_VIRTUAL_CLUSTER], o, q->a, &out, &bad) == 0) {
		vc = out;
		explain_tenant(q->answer, vc, q->machine);
	}
	finish(q, NULL);
}

static void ask_tenant(struct ask *q, const char *name)
{
	if (str_empty(name))
		finish(q, NULL);
	else
		(void)kube_get(q->host, &object_resources[OBJECT_VIRTUAL_CLUSTER], NULL, name,
			       on_its_tenant, q);
}

static void on_served_pool(json_t *o, const struct err *e, void *arg)
{
	struct ask *q = arg;
	struct err bad;
	void *out = NULL;

	if (!e && object_decode(&object_kinds[OBJECT_NODE_POOL], o, q->a, &out, &bad) < 0)
		out = NULL;
	explain_serving(q->answer, q->served, out, loop_wall(q->loop));
	ask_tenant(q, q->machine->status.tenant.name);
}

/* What its claim and pool say of it belongs to the answer, where they may be read. */
static void on_served_claim(json_t *o, const struct err *e, void *arg)
{
	struct ask *q = arg;
	struct err bad;
	void *out;

	if (e || object_decode(&object_kinds[OBJECT_NODE_CLAIM], o, q->a, &out, &bad) < 0) {
		ask_tenant(q, q->machine->status.tenant.name);
		return;
	}
	q->served = out;
	(void)kube_get(q->host, &object_resources[OBJECT_NODE_POOL], NULL,
		       str_or(q->served->spec.node_pool_ref.name, "-"), on_served_pool, q);
}

/* All that there is to know of it is there. */
static void answer(struct ask *q)
{
	const struct machine *m = q->machine;

	if (q->claim) {
		q->answer = explain_claim(q->claim, m, q->drain, loop_wall(q->loop));
		ask_tenant(q, q->claim->spec.virtual_cluster_ref.name);
	} else {
		q->answer = explain_machine(m, q->drain, loop_wall(q->loop));
		if (m->status.claim_ref && str_eq(m->status.state, "serving"))
			(void)kube_get(q->host, &object_resources[OBJECT_NODE_CLAIM], NULL,
				       m->status.claim_ref->name, on_served_claim, q);
		else
			ask_tenant(q, m->status.claim_ref ? m->status.tenant.name : NULL);
	}
}

static void on_drain(json_t *o, const struct err *e, void *arg)
{
	struct ask *q = arg;
	struct err bad;
	void *out;

	if (!e && object_decode(&object_kinds[OBJECT_DRAIN], o, q->a, &out, &bad) == 0)
		q->drain = out;
	answer(q);
}

static void ask_drain(struct ask *q)
{
	const struct machine_leave *lv = q->machine ? q->machine->status.leave : NULL;

	if (lv && !str_empty(lv->drain))
		(void)kube_get(q->host, &object_resources[OBJECT_DRAIN], NULL, lv->drain, on_drain,
			       q);
	else
		answer(q);
}

static void on_claims_machine(json_t *o, const struct err *e, void *arg)
{
	struct ask *q = arg;

	if (e && e->kind != ERR_NOT_FOUND) {
		finish(q, e);
		return;
	}
	if (!e && !(q->machine = decode(q, OBJECT_MACHINE, o)))
		return;
	ask_drain(q);
}

static void on_claim(json_t *o, const struct err *e, void *arg)
{
	struct ask *q = arg;
	struct err none;
	const struct object_ref *r;

	if (e && e->kind == ERR_NOT_FOUND) {
		(void)!err_set(
			&none, ERR_NOT_FOUND, 0,
			"there is no Machine and no NodeClaim %s; a pod is TENANT/NAMESPACE/POD",
			q->name);
		e = &none;
	}
	if (e) {
		finish(q, e);
		return;
	}
	q->claim = decode(q, OBJECT_NODE_CLAIM, o);
	if (!q->claim)
		return;
	r = q->claim->status.machine_ref ? q->claim->status.machine_ref
					 : q->claim->spec.machine_ref;
	if (r && r->name) {
		(void)kube_get(q->host, &object_resources[OBJECT_MACHINE], NULL, r->name,
			       on_claims_machine, q);
		return;
	}
	answer(q);
}

static void on_machine(json_t *o, const struct err *e, void *arg)
{
	struct ask *q = arg;

	if (e && e->kind == ERR_NOT_FOUND) {
		(void)kube_get(q->host, &object_resources[OBJECT_NODE_CLAIM], NULL, q->name,
			       on_claim, q);
		return;
	}
	if (e) {
		finish(q, e);
		return;
	}
	q->machine = decode(q, OBJECT_MACHINE, o);
	if (q->machine)
		ask_drain(q);
}

static void on_item(json_t *o, void *arg)
{
	struct ask *q = arg;
	struct err e;
	void *n;

	if (object_decode(&object_kinds[OBJECT_NODE_CLAIM], o, q->a, &n, &e) == 0)
		explain_pod_claim(q->answer, n);
}

static void on_restart(void *arg)
{
	struct ask *q = arg;

	json_array_clear(json_object_get(q->answer, "claims"));
}

/* --- the pod, where its tenant has it --- */

/* What is known stands; that the pod was not looked for is said. */
static void pod_unknown(struct ask *q, const char *why)
{
	json_object_set_new(q->answer, "podUnknown", json_string(why));
	explain_pod_waits(q->answer, q->ns, q->pod);
	finish(q, NULL);
}

/* Events as they are stored (core v1): those of events.k8s.io are the same objects. */
static const struct kube_resource events = {"", "v1", "events", "Event", true};

static void on_event(json_t *o, void *arg)
{
	struct ask *q = arg;

	explain_pod_event(q->answer, o);
}

static void on_event_restart(void *arg)
{
	struct ask *q = arg;

	json_object_del(q->answer, "told");
}

/* Whoever may not read events there is told where they are. */
static void on_events(const char *rv, const struct err *e, void *arg)
{
	struct ask *q = arg;

	(void)rv;
	(void)e;
	if (!json_object_get(q->answer, "told"))
		explain_pod_waits(q->answer, q->ns, q->pod);
	finish(q, NULL);
}

static void ask_events(struct ask *q)
{
	const struct kube_list_spec s = {
		.resource = &events,
		.ns = q->ns,
		.field_selector = arena_printf(
			q->a, "involvedObject.kind=Pod,involvedObject.name=%s", q->pod),
		.on_item = on_event,
		.on_restart = on_event_restart,
		.done = on_events,
		.arg = q,
	};

	(void)kube_list(q->tenant, &s);
}

static void on_pod(json_t *o, const struct err *e, void *arg)
{
	struct ask *q = arg;
	struct err none;

	if (e && e->kind == ERR_NOT_FOUND) {
		(void)!err_set(&none, ERR_NOT_FOUND, 0, "tenant %s has no pod %s/%s", q->name,
			       q->ns, q->pod);
		finish(q, &none);
	} else if (e) {
		pod_unknown(q, arena_printf(q->a, "the tenant's API: %s", e->text));
	} else {
		explain_pod_seen(q->answer, o);
		if (json_str_at(o, "spec", "nodeName"))
			finish(q, NULL);
		else
			ask_events(q);
	}
}

static void on_kubeconfig(json_t *o, const struct err *e, void *arg)
{
	struct ask *q = arg;
	const struct object_secret_ref *r = &q->vc->spec.kubeconfig_secret_ref;
	struct kube_client_spec cs = {
		.name = q->name, .timeout_ms = 10000, .plain_ok = q->with.plain_ok};
	const char *coded = json_str_at(o, "data", str_or(r->key, "config"));
	struct err bad;

	if (e || !coded) {
		pod_unknown(q, e ? arena_printf(q->a, "its kubeconfig: %s", e->text)
				 : arena_printf(q->a, "Secret %s has no key %s", r->name,
						str_or(r->key, "config")));
		return;
	}
	OWN(secret)
	text = cli_decoded(coded, &bad);
	OWN(kube_config)
	cfg = text ? kube_config_parse(secret_expose(text), secret_len(text), KUBE_CONFIG_TENANT,
				       q->vc->spec.server, NULL, &bad)
		   : NULL;
	cs.config = cfg;
	if (cfg)
		q->tenant = kube_client_new(q->with.group, q->with.http, &cs, &bad);
	if (!q->tenant)
		pod_unknown(q, arena_printf(q->a, "its kubeconfig: %s", bad.text));
	else
		(void)kube_get(q->tenant, &KUBE_PODS, q->ns, q->pod, on_pod, q);
}

static void on_listed(const char *rv, const struct err *e, void *arg)
{
	struct ask *q = arg;
	const struct object_secret_ref *r = &q->vc->spec.kubeconfig_secret_ref;

	(void)rv;
	if (e)
		finish(q, e);
	else
		(void)kube_get(q->host, &KUBE_SECRETS, str_or(r->namespace, q->with.ns), r->name,
			       on_kubeconfig, q);
}

static void on_tenant(json_t *o, const struct err *e, void *arg)
{
	struct ask *q = arg;
	struct kube_list_spec s = {
		.resource = &object_resources[OBJECT_NODE_CLAIM],
		.on_item = on_item,
		.on_restart = on_restart,
		.done = on_listed,
		.arg = q,
	};
	struct err none;

	if (e && e->kind == ERR_NOT_FOUND) {
		(void)!err_set(&none, ERR_NOT_FOUND, 0, "there is no tenant (VirtualCluster) %s",
			       q->name);
		e = &none;
	}
	if (e) {
		finish(q, e);
		return;
	}
	q->vc = decode(q, OBJECT_VIRTUAL_CLUSTER, o);
	if (!q->vc)
		return;
	q->answer = explain_pod(q->vc, q->ns, q->pod);
	s.label_selector = arena_printf(q->a, "drover.dev/virtual-cluster=%s", q->vc->meta.name);
	(void)kube_list(q->host, &s);
}

void explain_ask(const struct explain_asker *with, const char *target,
		 void (*done)(const json_t *answer, const struct err *e, void *arg), void *arg)
{
	struct ask *q = mem_new(struct ask);
	char *first, *second;

	q->with = *with;
	q->host = with->host;
	q->loop = with->loop;
	q->a = arena_new();
	q->done = done;
	q->arg = arg;
	q->name = first = arena_strdup(q->a, target);
	first = strchr(first, '/');
	second = first ? strchr(first + 1, '/') : NULL;
	if (second) {
		*first = *second = '\0';
		q->ns = first + 1;
		q->pod = second + 1;
	}
	(void)kube_get(q->host, &object_resources[second ? OBJECT_VIRTUAL_CLUSTER : OBJECT_MACHINE],
		       NULL, q->name, second ? on_tenant : on_machine, q);
}

/* --- the verb ----------------------------------------------------------------------------------- */

struct why {
	struct cli_options o;
	const char *target, *ns;
	struct cli_client c;
	int status;
};

static const struct argp_option options[] = {
	{"namespace", 'n', "NAME", 0, "drover's own namespace (drover-system)", 0},
	CLI_OPTION_ROWS};

/* A name, or three with slashes between. */
static bool is_target(const char *s)
{
	size_t slashes = 0;

	for (const char *p = s; *p; p++)
		if (*p == '/') {
			slashes++;
			if (p == s || p[1] == '/' || !p[1])
				return false;
		}
	return *s && (slashes == 0 || slashes == 2);
}

static error_t parse(int key, char *arg, struct argp_state *st)
{
	struct why *w = st->input;

	switch (key) {
	case ARGP_KEY_ARG:
		if (w->target)
			argp_error(st, "one at a time");
		if (!is_target(arg))
			argp_error(st, "want MACHINE, CLAIM or TENANT/NAMESPACE/POD, got '%s'",
				   arg);
		w->target = arg;
		return 0;
	case 'n':
		w->ns = arg;
		return 0;
	case ARGP_KEY_END:
		if (!w->target)
			argp_error(st, "which machine, claim or pod?");
		return 0;
	default:
		return cli_option(key, arg, st, &w->o);
	}
}

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.args_doc = "MACHINE|CLAIM|TENANT/NAMESPACE/POD",
	.doc = "Say what is stuck, since when, waiting for what, when it is tried next, and what helps.\v"
	       "Examples:\n  drover why gpu-r1-07\n  drover why h100-x7k2p -o json\n  drover why team-a/default/train-0\n"
	       "It only reads: Machines, NodeClaims, Drains and VirtualClusters; of a pod also the Secret with its tenant's "
	       "kubeconfig, and with that the pod. Exit status 1: there is none, or a pod could not be looked for.",
};

static void on_answer(const json_t *answer, const struct err *e, void *arg)
{
	struct why *w = arg;
	struct buf b;

	if (e) {
		w->status = cli_failed(&w->c, "%s", e->text);
	} else if (w->c.json) {
		json_dumpf(answer, stdout, JSON_INDENT(2));
		putchar('\n');
	} else {
		buf_init(&b, 1 << 20);
		explain_print(answer, loop_wall(w->c.loop), &b);
		fwrite(b.data, 1, b.len, stdout);
		buf_done(&b);
	}
	if (json_str_at(answer, "podUnknown"))
		w->status = cli_failed(&w->c, "whether there is such a pod is not known: %s",
				       json_str_at(answer, "podUnknown"));
	loop_stop(w->c.loop);
}

int cli_why(int argc, char **argv)
{
	struct why w = {.ns = "drover-system"};
	struct explain_asker with;

	args_parse(&argp, argc, argv, &w);
	if (cli_open(&w.c, "drover why", &w.o) < 0)
		return 1;
	with = (struct explain_asker){.host = w.c.host,
				      .loop = w.c.loop,
				      .group = w.c.group,
				      .http = w.c.http,
				      .ns = w.ns};
	explain_ask(&with, w.target, on_answer, &w);
	loop_run(w.c.loop);
	cli_close(&w.c);
	return w.status;
}
