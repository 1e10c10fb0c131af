#include "base/str.h"
#include "controller/drains.h"
#include "controller/leave.h"

struct leave leave_wanted(struct life *l)
{
	const struct node_claim *n = life_claim(l);
	const struct drain *d;
	bool escalate = false;

	if (n && n->meta.deletion_timestamp)
		return (struct leave){.reason = LEAVE_CLAIM_DELETED,
				      .then = leave_then(l->m),
				      .deadline = life_deadline(l)};
	d = drains_wants(l->c, l->name, &escalate);
	if (d)
		return (struct leave){.reason = LEAVE_DRAIN,
				      .drain = d->meta.name,
				      .then = d->spec.then,
				      .deadline = d->spec.deadline,
				      .stop = d->spec.on_deadline == DRAIN_STOP,
				      .now = escalate};
	return (struct leave){0};
}

enum drain_then leave_then(const struct machine *m)
{
	return m->status.leave ? (enum drain_then)m->status.leave->then : DRAIN_RELEASE;
}
