#include "controller/billing/used.h"

#include "controller/billing/held_gpus.h"
#include "planner/planning.h"
#include "planner/usage.h"

static int64_t half_life(const struct context *c)
{
	return c->o.usage_half_life_ms ? c->o.usage_half_life_ms : USAGE_HALF_LIFE_MS;
}

int64_t used_unwritten(const struct context *c, const struct virtual_cluster *vc)
{
	/* mutant: held-not-used */
	return held_gpus_seconds(c->held_gpus, vc->meta.name,
				 vc->status.usage ? vc->status.usage->time
						  : vc->meta.creation_timestamp,
				 loop_wall(c->loop));
}

struct virtual_cluster_usage used_now(const struct context *c, const struct virtual_cluster *vc)
{
	const struct virtual_cluster_usage *was = vc->status.usage;
	const struct quantity *held = resources_get(&vc->status.allocated, PLANNING_GPU);
	const int64_t now = loop_wall(c->loop);

	return (struct virtual_cluster_usage){
		.gpu_seconds =
			used_unwritten(c, vc) +
			(was ? usage_after(was->gpu_seconds, held ? quantity_milli_floor(*held) : 0,
					   now - was->time, half_life(c))
			     : 0),
		.time = now,
	};
}

int64_t used_average(const struct context *c, const struct virtual_cluster *vc)
{
	return usage_average(used_now(c, vc).gpu_seconds, half_life(c));
}
