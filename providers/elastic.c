/*
 * elastic: makes the calls that launch instances, and measures them; names of instance states.
 * Tests: tests/contract/test_elastic.c
 */
#include "providers/elastic.h"

#include "providers/provider.h"

const char *const elastic_state_names[] = {"Unknown", "Pending", "Running", "Ending", "Gone"};

bool provider_offers(struct provider *p, elastic_offers_done *done, void *arg)
{
	if (!p->ops->elastic)
		return false;
	timed_offers(&p->timed, &done, &arg);
	p->ops->elastic->offers(p, done, arg);
	return true;
}

bool provider_launch(struct provider *p, const struct elastic_launch *l,
		     elastic_instances_done *done, void *arg)
{
	struct elastic_launch timed = *l;

	if (!p->ops->elastic)
		return false;
	timed_instances(&p->timed, "launch", &done, &arg, &timed.may_act, &timed.may_act_arg);
	p->ops->elastic->launch(p, &timed, done, arg);
	return true;
}

bool provider_list_owned(struct provider *p, const char *cluster, elastic_instances_done *done,
			 void *arg)
{
	bool (*may_act)(void *) = NULL;

	if (!p->ops->elastic)
		return false;
	timed_instances(&p->timed, "list_owned", &done, &arg, &may_act, NULL);
	p->ops->elastic->list_owned(p, cluster, done, arg);
	return true;
}

bool provider_terminate(struct provider *p, const char *region, const char *id,
			bool (*may_act)(void *arg), elastic_instances_done *done, void *arg)
{
	void *may_act_arg = arg;

	if (!p->ops->elastic)
		return false;
	/* The implementation calls may_act() with the argument of done(). */
	timed_instances(&p->timed, "terminate", &done, &arg, &may_act, &may_act_arg);
	p->ops->elastic->terminate(p, region, id, may_act, done, arg);
	return true;
}
