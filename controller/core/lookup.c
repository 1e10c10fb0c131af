#include "controller/core/lookup.h"

#include "base/str.h"

const struct machine *machine_of_claim(const struct context *c, const struct node_claim *n)
{
	const struct object_ref *r =
		n->spec.machine_ref ? n->spec.machine_ref : n->status.machine_ref;
	const struct machine *m = r ? CTX_GET(c, OBJECT_MACHINE, machine, r->name) : NULL;

	return m && m->status.claim_ref && str_eq(m->status.claim_ref->uid, n->meta.uid) ? m : NULL;
}

const struct machine *machine_named_by(const struct context *c, const struct node_claim *n)
{
	const struct object_ref *r =
		n->spec.machine_ref ? n->spec.machine_ref : n->status.machine_ref;

	return r ? CTX_GET(c, OBJECT_MACHINE, machine, r->name) : NULL;
}

const struct provider_object *provider_of_claim(const struct context *c, const struct node_claim *n)
{
	const struct machine *m = machine_named_by(c, n);
	const char *name = m			  ? m->spec.provider_ref.name
			   : n->spec.provider_ref ? n->spec.provider_ref->name
						  : NULL;

	return name ? CTX_GET(c, OBJECT_PROVIDER, provider_object, name) : NULL;
}
