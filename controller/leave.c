#include "base/str.h"
#include "controller/drains.h"
#include "controller/leave.h"
#include "controller/tenant.h"

static int64_t earlier(int64_t a, int64_t b)
{
	return !a ? b : !b ? a : a < b ? a : b;
}

/* Its target, as the Drain itself has it, is done: whoever let go of the hold since then meant it. */
static bool done_with(const struct drain *d, const char *machine)
{
	for (size_t i = 0; i < d->status.targets.n; i++)
		if (str_eq(d->status.targets.v[i].machine, machine))
			return str_eq(d->status.targets.v[i].phase, "Done");
	return false;
}

static struct leave for_drain(const struct life *l)
{
	bool escalate = false;
	const struct drain *d = drains_wants(l->c, l->name, &escalate);
	struct leave lv = {0};

	if (!d || (d->spec.then == DRAIN_HOLD && done_with(d, l->name)))
		return lv;
	lv.reason = LEAVE_DRAIN;
	lv.drain = d->meta.name;
	lv.then = (enum drain_then)d->spec.then;
	lv.deadline = d->spec.deadline;
	lv.stop = d->spec.on_deadline == DRAIN_STOP;
	lv.now = escalate;
	/* One that stops at its deadline has nothing more to say after it. */
	if (lv.stop && l->state == MACHINE_SERVING && lv.deadline &&
	    loop_wall(l->c->loop) >= lv.deadline)
		return (struct leave){0};
	return lv;
}

/* It cannot be undone, so a Drain that runs besides may only make it sooner. */
static struct leave for_deletion(const struct life *l, const struct node_claim *n,
				 const struct leave *drain)
{
	const struct machine_leave *was = l->state == MACHINE_DRAINING ? l->m->status.leave : NULL;
	int64_t now = loop_wall(l->c->loop), from = n->meta.deletion_timestamp;
	struct leave lv = {.reason = LEAVE_CLAIM_DELETED};

	if (from > now)
		from = now;
	if (from < l->m->status.state_since || l->state != MACHINE_DRAINING)
		from = l->state == MACHINE_DRAINING ? l->m->status.state_since : now;
	lv.deadline = from + n->spec.termination_grace_period;
	if (drain->reason) {
		lv.drain = drain->drain;
		lv.then = drain->then;
		lv.now = drain->now;
		if (!drain->stop)
			lv.deadline = earlier(lv.deadline, drain->deadline);
	} else if (was) {
		lv.drain = was->drain;
		lv.then = (enum drain_then)was->then;
	}
	if (lv.then == DRAIN_HOLD) /* there is nothing left to serve on with */
		lv.then = DRAIN_RELEASE;
	return lv;
}

struct leave leave_wanted(struct life *l)
{
	const struct node_claim *n = life_claim(l);
	struct leave lv = for_drain(l);

	if (n && n->meta.deletion_timestamp)
		return for_deletion(l, n, &lv);
	return lv;
}

enum drain_then leave_then(const struct machine *m)
{
	return m->status.leave ? (enum drain_then)m->status.leave->then : DRAIN_RELEASE;
}
