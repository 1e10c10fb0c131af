/*
 * claim: image, instance type and phase of a NodeClaim, computed from the objects alone.
 */
#include "controller/rules/claim.h"

#include <string.h>

#include "api/annotations.h"
#include "base/crypto.h"
#include "base/str.h"
#include "controller/rules/provider.h"

const char *claim_image_id(const struct object_image *i)
{
	return i->digest ? i->digest : i->category;
}

const struct object_image *claim_image(const struct node_pool *pool, const char *version)
{
	for (size_t i = 0; i < pool->spec.template_.spec.images.n; i++)
		if (str_eq(pool->spec.template_.spec.images.v[i].kubernetes_version, version))
			return &pool->spec.template_.spec.images.v[i];
	return NULL;
}

const char *claim_instance_type(const struct node_claim *n, const struct machine *m)
{
	/* mutant: claim-type-unasked */
	if (m && !str_empty(m->spec.instance_type))
		return m->spec.instance_type;
	for (size_t i = 0; i < n->spec.requirements.n; i++) {
		const struct object_requirement *r = &n->spec.requirements.v[i];

		if (str_eq(r->key, "node.kubernetes.io/instance-type") && r->values.n)
			return r->values.v[0];
	}
	return NULL;
}

bool claim_counts(const struct node_claim *n)
{
	return !str_eq(n->status.phase, "Ended") && !str_eq(n->status.phase, CLAIM_PHASE_DENIED) &&
	       (!str_eq(n->status.phase, "Failed") || n->spec.machine_ref || n->status.machine_ref);
}

int64_t claim_waited_ms(const struct node_claim *n, int64_t now)
{
	const struct condition *c = condition_get(&n->status.conditions, APPROVED_CONDITION);
	const int64_t began = n->meta.creation_timestamp;
	int64_t until = 0;

	if (/* mutant: waiting-claim-expires */ c)
		until = c->status == CONDITION_TRUE ? c->last_transition_time : now;
	return until > began ? until - began : 0;
}

const struct resources *claim_capacity(const struct node_claim *n, const struct machine *m,
				       const struct provider_object *p)
{
	const char *type = claim_instance_type(n, m);
	const struct provider_object_instance_type *t =
		p && type ? provider_instance_type(p, type) : NULL;

	return t ? &t->capacity : NULL;
}

const char *claim_gang_uid(const char *tenant, const char *gang, struct arena *a)
{
	const char *text = arena_printf(a, "%s/%s", tenant, gang);
	char *out = arena_alloc(a, 33);
	uint8_t d[CRYPTO_SHA256];

	crypto_sha256(text, strlen(text), d);
	str_hex(out, d, 16);
	return out;
}

const char *claim_phase(const struct node_claim *n, const struct machine *m, bool *failed,
			const char **reason, const char **message)
{
	*failed = false;
	*reason = *message = "";
	if (!m)
		return n->meta.deletion_timestamp ? "Ended" : "Pending";
	for (size_t i = m->status.failures.n; i-- > 0;) {
		const struct machine_failure *f = &m->status.failures.v[i];

		if (!str_eq(f->claim, n->meta.name))
			continue;
		*failed = true;
		*reason = str_or(f->reason, "Unknown");
		*message = str_or(f->message, "");
		return "Failed";
	}
	return m->status.state;
}

bool claim_is_ready(const struct node_claim *n)
{
	const struct condition *c = condition_get(&n->status.conditions, "Ready");

	return c && c->status == CONDITION_TRUE;
}

bool claim_node_gone(const struct node_claim *n)
{
	const struct condition *c = condition_get(&n->status.conditions, "Ready");

	return c && c->status != CONDITION_TRUE && str_eq(c->reason, LEAVE_NODE_GONE);
}
