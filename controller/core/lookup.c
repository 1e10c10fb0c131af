#include "controller/core/lookup.h"

#include "api/annotations.h"
#include "base/str.h"
#include "controller/core/claim_index.h"

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

struct finding {
	const char *of;
	const struct node_claim *found;
};

static bool find(const struct node_claim *n, void *arg)
{
	struct finding *f = arg;

	if (!n->meta.deletion_timestamp && !str_eq(n->status.phase, "Failed") &&
	    str_eq(labels_get(&n->meta.annotations, CLAIM_REPLACES), f->of))
		f->found = n;
	return true;
}

const struct node_claim *claim_replacement_of(const struct context *c, const struct node_claim *n)
{
	struct finding f = {.of = n->meta.name};

	claim_index_each(c, CLAIM_BY_TENANT, str_or(n->spec.virtual_cluster_ref.name, ""), find,
			 &f);
	return f.found;
}
