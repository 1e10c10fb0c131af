#include "providers/elastic.h"

#include "providers/provider.h"

const char *const elastic_market_names[] = {"OnDemand", "Spot", "Reserved"};
const char *const elastic_state_names[] = {"Unknown", "Pending", "Running", "Ending", "Gone"};

bool provider_is_elastic(const struct provider *p)
{
	return p->ops->elastic;
}

void provider_offers(struct provider *p, elastic_offers_done *done, void *arg)
{
	if (p->ops->elastic)
		p->ops->elastic->offers(p, done, arg);
	else
		provider_refuse_elastic(p, done, NULL, arg);
}

void provider_launch(struct provider *p, const struct elastic_launch *l,
		     elastic_instances_done *done, void *arg)
{
	if (p->ops->elastic)
		p->ops->elastic->launch(p, l, done, arg);
	else
		provider_refuse_elastic(p, NULL, done, arg);
}

void provider_list_owned(struct provider *p, const char *cluster, elastic_instances_done *done,
			 void *arg)
{
	if (p->ops->elastic)
		p->ops->elastic->list_owned(p, cluster, done, arg);
	else
		provider_refuse_elastic(p, NULL, done, arg);
}

void provider_terminate(struct provider *p, const char *region, const char *id,
			bool (*may_act)(void *arg), elastic_instances_done *done, void *arg)
{
	if (p->ops->elastic)
		p->ops->elastic->terminate(p, region, id, may_act, done, arg);
	else
		provider_refuse_elastic(p, NULL, done, arg);
}
