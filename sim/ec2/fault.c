#include "base/str.h"
#include "sim/ec2/ec2_impl.h"

/*
 * Faults.
 *
 * Tests: tests/unit/sim/ec2/test_fault.c
 */
static const char *const kinds[] = {
	"Status",    "Throttle", "Error",	"StatusAfter", "LostReply", "Silent",  "Slow",
	"Garbage",   "Capacity", "Unsupported", "SlowPending", "Dies",	    "Partial", "Quota",
	"SpotQuota", "Late",	 "Stale",	"Pages",       "Skew",	    NULL};

int e2_fault_add(struct sim_ec2 *s, const struct sim_ec2_fault *in, struct err *e)
{
	int64_t now = loop_now(s->loop);

	if (!fault_kind(kinds, in->what))
		return err_set(e, ERR_INVALID, 0,
			       "what: unknown fault; docs/sim.md lists the faults");
	fault_add(&s->faults,
		  &(struct fault){.what = in->what,
				  .on = in->on,
				  .type = in->type,
				  .zone = in->zone,
				  .name = in->name,
				  .value = in->value,
				  .count = in->count > 0 ? in->count : 0,
				  .from = now + in->after_ms,
				  .until = in->for_ms > 0 ? now + in->after_ms + in->for_ms
							  : E2_NEVER});
	return 0;
}

void sim_ec2_well(struct sim_ec2 *s)
{
	fault_clear(&s->faults, NULL);
}

/* Returns the newest of the matching faults. */
struct fault *e2_stands(const struct sim_ec2 *s, const char *what, const char *on, const char *type,
			const char *zone)
{
	int64_t now = loop_now(s->loop);
	struct fault *found = NULL;

	list_for_each (f, &s->faults, struct fault, link)
		if (str_eq(f->what, what) && fault_is_of(f->on, on) && fault_is_of(f->type, type) &&
		    fault_is_of(f->zone, zone) && now >= f->from && now < f->until &&
		    !fault_is_over(f))
			found = f;
	return found;
}

struct fault *e2_strikes(struct sim_ec2 *s, const char *what, const char *on)
{
	struct fault *f = e2_stands(s, what, on, NULL, NULL);

	fault_struck(f);
	return f;
}
