#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
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
	"SpotQuota", "Late",	 "Stale",	"Pages",       "Skew"};

bool e2_is_of(const char *wanted, const char *is)
{
	return !wanted || str_eq(wanted, is);
}

int e2_fault_add(struct sim_ec2 *s, const struct sim_ec2_fault *in, struct err *e)
{
	int64_t now = loop_now(s->loop);

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		struct e2_fault *f;

		if (!str_eq(kinds[i], in->what))
			continue;
		f = mem_new(struct e2_fault);
		*f = (struct e2_fault){.what = kinds[i],
				       .on = mem_strdup(in->on),
				       .type = mem_strdup(in->type),
				       .zone = mem_strdup(in->zone),
				       .name = mem_strdup(in->name),
				       .value = in->value,
				       .count = in->count,
				       .for_ever = in->count <= 0,
				       .from = now + in->after_ms,
				       .until = in->for_ms > 0 ? now + in->after_ms + in->for_ms
							       : E2_NEVER};
		list_push_back(&s->faults, &f->link);
		return 0;
	}
	return err_set(e, ERR_INVALID, 0, "what: unknown fault; docs/sim.md lists the faults");
}

static void fault_free(struct e2_fault *f)
{
	list_remove(&f->link);
	free(f->on);
	free(f->type);
	free(f->zone);
	free(f->name);
	free(f);
}

void sim_ec2_well(struct sim_ec2 *s)
{
	list_for_each (f, &s->faults, struct e2_fault, link)
		fault_free(f);
}

/* Returns the newest of the matching faults. */
struct e2_fault *e2_stands(const struct sim_ec2 *s, const char *what, const char *on,
			   const char *type, const char *zone)
{
	int64_t now = loop_now(s->loop);
	struct e2_fault *found = NULL;

	list_for_each (f, &s->faults, struct e2_fault, link)
		if (str_eq(f->what, what) && e2_is_of(f->on, on) && e2_is_of(f->type, type) &&
		    e2_is_of(f->zone, zone) && now >= f->from && now < f->until &&
		    (f->for_ever || f->count > 0))
			found = f;
	return found;
}

void e2_struck(struct e2_fault *f)
{
	if (f)
		f->count--;
}

struct e2_fault *e2_strikes(struct sim_ec2 *s, const char *what, const char *on)
{
	struct e2_fault *f = e2_stands(s, what, on, NULL, NULL);

	e2_struck(f);
	return f;
}
