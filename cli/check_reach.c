/*
 * check_reach: sends one request without credentials to each address, all at the same time. Any
 * HTTP reply, and any certificate, counts as reached: the controller alone checks certificates and
 * logins.
 * Tests: tests/unit/cli/test_check.c
 */
#include <stdlib.h>

#include "base/arena.h"
#include "base/http/http.h"
#include "base/loop/loop.h"
#include "base/mem.h"
#include "base/str.h"
#include "cli/check.h"

enum { TARGETS_MAX = 500, PROBE_MS = 5000 };

struct target {
	struct reach *reach;
	/* finding: object of the address, and how to make it reachable */
	const char *of, *mend;
	char *origin;
	struct http_peer *peer;
};

struct reach {
	struct check *k;
	struct arena *a;
	enum object_kind_id kind;
	/* set of the origins that are in v: {origin: true} */
	json_t *known;
	struct target **v;
	size_t n, cap, in_flight;
	/* number of addresses beyond TARGETS_MAX */
	size_t left_out;
};

static const char bmc_mend[] =
	"check the route and the firewalls between here and the network of the BMCs, and "
	"spec.bmc.address";
static const char agent_mend[] =
	"spec.agent.endpoint must be the address of the Service drover, or of the host on which "
	"drover runs, with its agent port (8443)";
static const char media_mend[] =
	"spec.boot.mediaURL must be the address of the Service drover, or of the host on which "
	"drover runs, with its media port (8080)";
static const char manager_mend[] =
	"check the endpoint in the Provider, and the route and the firewalls to it";
static const char tenant_mend[] =
	"check spec.server of the VirtualCluster, and the route and the firewalls to it";

/* Adds the address of a URL, unless it is known already or is not http: or https:. */
static void add(struct reach *r, const char *what, const char *url, const char *name,
		const char *mend)
{
	char *origin = url ? http_origin(url) : NULL;
	struct target *t;

	if (!origin || json_object_get(r->known, origin) || r->n == TARGETS_MAX) {
		r->left_out += origin && !json_object_get(r->known, origin);
		free(origin);
		return;
	}
	json_object_set_new(r->known, origin, json_true());
	t = arena_new_obj(r->a, struct target);
	*t = (struct target){
		.reach = r,
		.of = arena_printf(r->a, "%s of %s/%s", what, object_kinds[r->kind].singular, name),
		.mend = mend,
		.origin = origin};
	mem_grow(r->v, r->n + 1, r->cap);
	r->v[r->n++] = t;
}

static void on_object(json_t *o, void *arg)
{
	struct reach *r = arg;
	const json_t *spec = json_object_get(o, "spec");
	const char *name = str_or(json_str_at(o, "metadata", "name"), "?");

	if (r->kind == OBJECT_MACHINE)
		add(r, "BMC", json_str_at(spec, "bmc", "address"), name, bmc_mend);
	if (r->kind == OBJECT_VIRTUAL_CLUSTER)
		add(r, "API server", json_str_at(spec, "server"), name, tenant_mend);
	if (r->kind != OBJECT_PROVIDER)
		return;
	add(r, "agent endpoint", json_str_at(spec, "agent", "endpoint"), name, agent_mend);
	add(r, "boot media", json_str_at(spec, "boot", "mediaURL"), name, media_mend);
	add(r, "BCM", json_str_at(spec, "bcm", "endpoint"), name, manager_mend);
	add(r, "Netris", json_str_at(spec, "network", "netris", "endpoint"), name, manager_mend);
}

static void on_probed(const struct http_reply *reply, const struct err *e, void *arg)
{
	struct target *t = arg;
	struct reach *r = t->reach;

	(void)reply;
	if (e && e->kind != ERR_PROTOCOL)
		findings_add(r->k->f, FINDING_WRONG, t->of, t->mend, "%s cannot be reached: %s",
			     t->origin, e->text);
	else
		findings_add(r->k->f, FINDING_OK, t->of, NULL, "reached");
	if (--r->in_flight == 0)
		loop_stop(r->k->c->loop);
}

static void probe(struct target *t)
{
	const struct http_peer_spec spec = {
		.base_url = t->origin, .learn_pin = true, .plain_ok = true, .local_ok = true};
	const struct http_call call = {.path = "/",
				       .timeout_ms = PROBE_MS,
				       .connect_ms = PROBE_MS,
				       .done = on_probed,
				       .arg = t};
	struct err e;

	t->peer = http_peer_new(t->reach->k->c->http, &spec, &e);
	if (!t->peer) {
		findings_add(t->reach->k->f, FINDING_WRONG, t->of, t->mend, "%s: %s", t->origin,
			     e.text);
		return;
	}
	t->reach->in_flight++;
	http_start(t->peer, &call);
}

void check_reach(struct check *k)
{
	static const enum object_kind_id kinds[] = {OBJECT_PROVIDER, OBJECT_VIRTUAL_CLUSTER,
						    OBJECT_MACHINE};
	OWN(arena) a = arena_new();
	OWN_JSON known = json_object();
	struct reach r = {.k = k, .a = a, .known = known};
	struct err ignored; /* check_objects() reports what cannot be read */

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		r.kind = kinds[i];
		(void)cli_list(k->c, r.kind, on_object, &r, &ignored);
	}
	for (size_t i = 0; i < r.n; i++)
		probe(r.v[i]);
	while (r.in_flight)
		loop_run(k->c->loop);
	for (size_t i = 0; i < r.n; i++) {
		http_peer_free(r.v[i]->peer);
		free(r.v[i]->origin);
	}
	if (r.left_out)
		findings_add(k->f, FINDING_UNKNOWN, "addresses", NULL,
			     "%zu more addresses were not probed", r.left_out);
	free(r.v);
}
