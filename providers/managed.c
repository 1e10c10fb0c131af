/*
 * managed: makes the calls of a manager, and measures them.
 * Tests: tests/contract/test_bcm.c, tests/unit/providers/test_timed_calls.c
 */
#include "providers/managed.h"

#include "providers/provider.h"

void provider_acquire(struct provider *p, struct provider_machine *m,
		      const struct provider_target *t, const struct provider_call *c)
{
	struct provider_call timed = *c;

	if (!p->ops->managed) {
		provider_refuse(p, c, "installs by a manager");
		return;
	}
	timed_machine_call(&p->timed, "acquire", m, &timed);
	p->ops->managed->acquire(p, m, t, &timed);
}

void provider_release(struct provider *p, struct provider_machine *m, const struct provider_call *c)
{
	struct provider_call timed = *c;

	if (!p->ops->managed) {
		provider_refuse(p, c, "installs by a manager");
		return;
	}
	timed_machine_call(&p->timed, "release", m, &timed);
	p->ops->managed->release(p, m, &timed);
}

bool provider_discover(struct provider *p,
		       void (*done)(const struct provider_inventory *i, const struct err *e,
				    void *arg),
		       void *arg)
{
	if (!p->ops->managed)
		return false;
	timed_discovery(&p->timed, &done, &arg);
	p->ops->managed->discover(p, done, arg);
	return true;
}

bool provider_is_managed(const struct provider *p)
{
	return p->ops->managed;
}
