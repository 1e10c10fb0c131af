/* lookup: which object of the host belongs to which, by name and UID. */
#include "controller/core/lookup.h"

#include "base/str.h"

const struct machine *machine_of_claim(const struct context *c, const struct node_claim *n)
{
	const struct object_ref *r =
		n->spec.machine_ref ? n->spec.machine_ref : n->status.machine_ref;
	const struct machine *m = r ? CTX_GET(c, OBJECT_MACHINE, machine, r->name) : NULL;

	return m && m->status.claim_ref && str_eq(m->status.claim_ref->uid, n->meta.uid) ? m : NULL;
}
