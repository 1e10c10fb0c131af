/*
 * life_going: stopping and isolating.  The order is the guarantee: off and observed, cut off and
 * proved, then what life_leave.c does (S3).
 */
#include "base/log.h"
#include "base/str.h"
#include "controller/life.h"

void step_stopping(struct life *l)
{
	const struct provider_object *p = life_provider(l);
	const struct provider_object_instance_type *t = source_type(p, l->m->spec.instance_type);
	int64_t rest = t ? t->minimum_off_time : 0, off_for;
	struct err e;

	agents_close(l->seat);
	if (!life_seen(l, l->c->o.poll_ms * 2))
		return;
	if (life_identity(l, &e) < 0) { /* never switch off what may be somebody else's machine */
		life_wait(l, WAITING_APPROVAL, "DuplicateIdentity", "%s", e.text);
		return;
	}
	if (l->seen.power != PROVIDER_POWER_OFF) {
		life_power(l, false);
		return;
	}
	if (!life_off_proved(l))
		return;
	off_for = l->seen.read_at - l->seen.off_since;
	if (off_for < rest) {
		loop_timer_start(&l->timer, rest - off_for);
		return;
	}
	life_goto(l, MACHINE_ISOLATING, NULL, NULL, NULL);
}

void step_isolating(struct life *l)
{
	const struct provider_object *p = life_provider(l);

	if (life_placed(l, str_or(p->spec.network.segments.quarantine, "quarantine")))
		life_goto(l, MACHINE_LEAVING, NULL, NULL, NULL);
}
