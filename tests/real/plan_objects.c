/*
 * plan_objects: runs drover's planner on the objects of a cluster. Each line of standard input is
 * one world as JSON; each line of standard output is the plan for it.
 *
 *   in {"nodes": [Node], "pods": [Pod], "types": [Node], "pool": Node, "machines": [Node]}
 *   out {"pods": [{"name", "namespace", "outcome", "target", "claim", "reasons": [[CODE, TEXT]]}],
 *     "claims": [{"machine", "type", "labels", "pods": [UID]}]}
 *
 * Nodes and Pods are objects of a tenant's API server. A type is given as the Node that it would
 * become (labels, allocatable). The pool has labels and taints. A machine has the labels of its
 * location, and its type as providerID. "claim" in the output is an index into "claims".
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/data/json.h"
#include "base/data/scan.h"
#include "base/mem.h"
#include "controller/tenant/projection.h"
#include "controller/tenant/tenant.h"
#include "planner/plan.h"

#define TENANT "team-a"
#define PROVIDER "metal"
#define VERSION "1.36"

static const char *const outcomes[] = {[PLAN_ON_NODE] = "node",
				       [PLAN_ON_CLAIM] = "claim",
				       [PLAN_ON_NEW] = "new",
				       [PLAN_NOTHING] = "nothing"};

static _Noreturn void die(const char *what, const struct err *e)
{
	(void)fprintf(stderr, "plan_objects: %s: %s\n", what, e->text);
	exit(1);
}

/* --- objects ---------------------------------------------------------------------------------- */

typedef void *project_fn(const json_t *o, struct arena *a, void *tenant, struct err *e);

/* Projects an object as the controller does: only the wanted members are read. */
static void *read_one(const json_t *o, const struct scan_want *want, project_fn *project,
		      struct arena *a)
{
	static struct tenant tenant = {.name = (char *)TENANT};
	struct err e = {0};
	char *text = json_text(o);
	OWN_JSON some = scan_parse(text, strlen(text), want, &e);
	void *out = some ? project(some, a, &tenant, &e) : NULL;

	if (!out)
		die(text, &e);
	free(text);
	return out;
}

static const struct tenant_node *node_of(const json_t *o, struct arena *a)
{
	return read_one(o, tenant_want_node, tenant_project_node, a);
}

static void put_supply(struct world *w, const json_t *in, struct arena *a)
{
	const json_t *types = json_object_get(in, "types"),
		     *machines = json_object_get(in, "machines");
	const struct tenant_node *pool = node_of(json_object_get(in, "pool"), a), *n;
	const char *provider = PROVIDER, *version = VERSION;
	struct world_provider p = {.name = PROVIDER};
	json_t *o;
	size_t i;

	p.types.v = arena_calloc(a, json_array_size(types) + 1, sizeof(*p.types.v));
	json_array_foreach (types, i, o) {
		n = node_of(o, a);
		p.types.v[p.types.n++] = (struct world_instance_type){
			n->world.name, n->world.allocatable, n->world.labels, 0};
	}
	world_put_provider(w, &p);
	world_put_pool(w, &(struct world_pool){.name = pool->world.name,
					       .providers = &provider,
					       .nproviders = 1,
					       .versions = &version,
					       .nversions = 1,
					       .labels = pool->world.labels,
					       .taints = pool->world.taints});
	json_array_foreach (machines, i, o) {
		n = node_of(o, a);
		world_put_machine(w, &(struct world_machine){.name = n->world.name,
							     .provider = PROVIDER,
							     .instance_type = n->provider_id,
							     .labels = n->world.labels,
							     .offered = true,
							     .level_flash = -1,
							     .level_hdd = -1});
	}
}

static struct world *world_of(const json_t *in, struct arena *a)
{
	struct world *w = world_new();
	const struct tenant_node *n;
	const struct tenant_pod *p;
	json_t *o;
	size_t i;

	world_put_tenant(w,
			 &(struct world_tenant){.name = TENANT, .weight = 1, .version = VERSION});
	put_supply(w, in, a);
	json_array_foreach (json_object_get(in, "nodes"), i, o) {
		n = node_of(o, a);
		world_put_node(w, &n->world);
	}
	json_array_foreach (json_object_get(in, "pods"), i, o) {
		p = read_one(o, tenant_want_pod, tenant_project_pod, a);
		world_put_pod(w, &p->world);
	}
	return w;
}

/* --- the plan --------------------------------------------------------------------------------- */

static json_t *pod_json(const struct plan_pod *p)
{
	json_t *reasons = json_array();

	for (size_t i = 0; i < p->nreasons; i++)
		(void)json_array_append_new(
			reasons, json_pack("[s, s]", plan_reason_names[p->reasons[i].code],
					   p->reasons[i].text));
	return json_pack("{s:s, s:s, s:s, s:s?, s:I, s:o}", "name", p->name, "namespace", p->ns,
			 "outcome", outcomes[p->outcome], "target", p->target, "claim",
			 (json_int_t)p->new_claim, "reasons", reasons);
}

static json_t *claim_json(const struct plan_claim *c)
{
	json_t *labels = json_object(), *pods = json_array();

	for (size_t i = 0; i < c->labels.n; i++)
		(void)json_object_set_new(labels, c->labels.v[i].key,
					  json_string(c->labels.v[i].value));
	for (size_t i = 0; i < c->npods; i++)
		(void)json_array_append_new(pods, json_string(c->pods[i]));
	return json_pack("{s:s, s:s, s:o, s:o}", "machine", c->machine, "type", c->instance_type,
			 "labels", labels, "pods", pods);
}

static void print(const struct plan *p)
{
	json_t *pods = json_array(), *claims = json_array();
	OWN_JSON out = json_pack("{s:o, s:o}", "pods", pods, "claims", claims);
	char *text;

	for (size_t i = 0; i < p->npods; i++)
		(void)json_array_append_new(pods, pod_json(&p->pods[i]));
	for (size_t i = 0; i < p->nclaims; i++)
		(void)json_array_append_new(claims, claim_json(&p->claims[i]));
	text = json_text(out);
	(void)puts(text);
	(void)fflush(stdout);
	free(text);
}

int main(void)
{
	char *line = NULL;
	size_t size = 0;
	ssize_t n;

	mem_init();
	while ((n = getline(&line, &size, stdin)) > 0) {
		OWN(arena) a = arena_new();
		OWN(world) w = NULL;
		struct err e = {0};
		OWN_JSON in = json_parse(line, (size_t)n, &e);

		if (!in)
			die("a world", &e);
		w = world_of(in, a);
		print(plan_make(w, 0, a));
	}
	free(line);
	return 0;
}
