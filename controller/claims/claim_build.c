/*
 * claim_build: combines a claim of the plan with the pool's template and the tenant into one
 * NodeClaim. claims/provisioner.c sends the NodeClaim.
 */
#include <stdlib.h>
#include <string.h>

#include "controller/claims/claim_build.h"
#include "api/annotations.h"
#include "base/arena.h"
#include "base/list.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/burst/permits.h"
#include "controller/burst/to_come.h"
#include "controller/core/context.h"
#include "controller/rules/claim.h"
#include "controller/rules/promise.h"
#include "kube/call.h"
#include "planner/plan.h"

/* Maximum number of pods listed in spec.pods, the limit of api/nodeclaim.c; a kubelet runs 110 pods
 * by default */
#define PODS_MAX 256

static struct object_requirements with_type(const struct node_pool *pool, const char *type,
					    struct arena *a)
{
	const struct object_requirements *r = &pool->spec.template_.spec.requirements;
	struct object_requirements out = {.v = arena_calloc(a, r->n + 1, sizeof(*out.v))};
	const char **value = arena_calloc(a, 1, sizeof(*value));

	for (size_t i = 0; i < r->n; i++)
		if (!str_eq(r->v[i].key, "node.kubernetes.io/instance-type"))
			out.v[out.n++] = r->v[i];
	*value = type;
	out.v[out.n++] = (struct object_requirement){.key = "node.kubernetes.io/instance-type",
						     .operator= OPERATOR_IN,
						     .values = {value, 1}};
	return out;
}

/* Sets spec.burst to the burst of the permit p. Shortens spec.expireAfter to the permit's, if that
 * is set and shorter. */
static void set_burst(struct node_claim_spec *s, const struct permit *p)
{
	s->burst = &p->burst;
	if (p->expire_after && (s->expire_after <= 0 || p->expire_after < s->expire_after))
		s->expire_after = p->expire_after;
}

/* Returns the claim's spec.gang in the arena; NULL: the claim was not opened for a gang. size and
 * hold_until are set only if one BurstPolicy decision covers several machines: then these claims
 * are kept or deleted together (burst/gangs.h). */
static const struct node_claim_gang *gang_of(const struct plan_claim *p,
					     const struct permit *permit, struct arena *a)
{
	struct node_claim_gang *g = arena_new_obj(a, struct node_claim_gang);

	if (permit && permit->gang.uid)
		*g = permit->gang.size > 1 ? permit->gang
					   : (struct node_claim_gang){.uid = permit->gang.uid};
	else if (p->gang_key)
		g->uid = claim_gang_uid(p->tenant, p->gang_key, a);
	return g->uid ? g : NULL;
}

json_t *claims_build(struct context *c, const struct plan_claim *p, const struct permit *permit,
		     struct err *e)
{
	const struct node_pool *pool = CTX_GET(c, OBJECT_NODE_POOL, node_pool, p->pool);
	const struct virtual_cluster *vc =
		CTX_GET(c, OBJECT_VIRTUAL_CLUSTER, virtual_cluster, p->tenant);
	const struct machine *m = CTX_GET(c, OBJECT_MACHINE, machine, p->machine);
	const bool elastic = to_come_is(c, p->provider, p->machine);
	const struct object_image *image = pool ? claim_image(pool, p->version) : NULL;
	OWN(arena) a = arena_new();
	struct node_claim n = {0};
	struct object_ref machine;
	struct object_name_ref provider = {p->provider};
	const char *name;
	json_t *o, *spec;
	char tail[9];
	uint8_t raw[4];

	if (!pool || !vc || (!m && !elastic) || !image) {
		err_note(e, ERR_CONFLICT, 0,
			 "pool %s, tenant %s or machine %s changed while the plan was made",
			 p->pool, p->tenant, p->machine);
		return NULL;
	}
	loop_random_bytes(c->loop, raw, sizeof(raw));
	str_hex(tail, raw, sizeof(raw));
	name = arena_printf(a, "%.50s-%s", pool->meta.name, tail);
	machine = elastic ? (struct object_ref){name, NULL}
			  : (struct object_ref){m->meta.name, m->meta.uid};
	n.spec = promise_of(pool, image);
	n.spec.virtual_cluster_ref = (struct object_ref){vc->meta.name, vc->meta.uid};
	n.spec.node_pool_ref = (struct object_ref){pool->meta.name, pool->meta.uid};
	n.spec.machine_ref = &machine;
	n.spec.provider_ref = elastic ? &provider : NULL;
	n.spec.requirements = with_type(pool, p->instance_type, a);
	if (permit)
		set_burst(&n.spec, permit);
	n.spec.gang = gang_of(p, permit, a);
	n.spec.resources.requests = p->requests;
	n.spec.pods = (struct strings){p->pods, p->npods < PODS_MAX ? p->npods : PODS_MAX};
	o = fields_encode(object_kinds[OBJECT_NODE_CLAIM].fields, &n);
	spec = json_incref(json_object_get(o, "spec"));
	json_decref(o);
	return json_pack("{s:s, s:s, s:{s:s, s:{s:s, s:s}, s:{s:s}, s:[s]}, s:o}", "apiVersion",
			 OBJECT_API_VERSION, "kind", "NodeClaim", "metadata", "name", name,
			 "labels", "drover.dev/nodepool", pool->meta.name,
			 "drover.dev/virtual-cluster", vc->meta.name, "annotations", CLAIM_FOR_PODS,
			 arena_printf(a, "%zu", p->npods), "finalizers", FINALIZER_CLAIM, "spec",
			 spec);
}
