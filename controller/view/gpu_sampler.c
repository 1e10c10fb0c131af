#include "controller/view/gpu_sampler.h"

#include <stdlib.h>

#include "api/machine_states.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/claims/machine_gpus.h"
#include "controller/core/host_clock.h"
#include "controller/view/gpu_history_store.h"

/* Time until the next try while caches are not loaded, or the clock is wrong */
#define WAIT_MS 10000

struct gpu_sampler {
	struct context *c;
	struct gpu_history *h;
	struct gpu_history_store *store;
	struct loop_timer timer;
};

static enum gpu_group group_of(enum machine_state s)
{
	switch (s) {
	case MACHINE_SERVING:
		return GPU_SERVING;
	case MACHINE_CLAIMED:
	case MACHINE_IMAGING:
	case MACHINE_ATTACHING:
	case MACHINE_BOOTING:
	case MACHINE_JOINING:
	case MACHINE_GATING:
		return GPU_MOVING;
	case MACHINE_DRAINING:
	case MACHINE_STOPPING:
	case MACHINE_ISOLATING:
	case MACHINE_LEAVING:
	case MACHINE_DIRTY:
	case MACHINE_INSPECTING:
	case MACHINE_WIPING:
	case MACHINE_VERIFYING:
		return GPU_LEAVING;
	case MACHINE_FREE:
		return GPU_FREE;
	case MACHINE_QUARANTINED:
		return GPU_QUARANTINED;
	case MACHINE_KNOWN:
	case MACHINE_RETIRED:
	case MACHINE_GONE:
	case MACHINE_STATES:
	case MACHINE_STATE_NONE:
		break;
	}
	return GPU_OTHER;
}

static bool count(const struct kube_entry *en, void *arg)
{
	const struct machine *m = en->object;
	struct gpu_sampler *s = arg;
	const enum gpu_group g = group_of(machine_state_find(str_or(m->status.state, "known")));
	const int64_t gpus = machine_gpus(s->c, m), step = gpu_history_newest(s->h);

	gpu_column_add(gpu_history_group(s->h, g), step, gpus);
	if (g == GPU_SERVING && gpus && m->status.tenant.name)
		gpu_column_add(gpu_history_tenant(s->h, m->status.tenant.name), step, gpus);
	return true;
}

static void tick(void *arg)
{
	struct gpu_sampler *s = arg;
	const int64_t wall = loop_wall(s->c->loop), step = wall / GPU_HISTORY_STEP_MS;

	if (!s->c->leading)
		return;
	if (!s->c->ready || !host_clock_agrees(s->c)) {
		loop_timer_start(&s->timer, WAIT_MS);
		return;
	}
	if (step > gpu_history_newest(s->h) && gpu_history_open(s->h, step)) {
		kube_cache_each(s->c->cache[OBJECT_MACHINE], count, s);
		gpu_history_store_changed(s->store, step);
	}
	loop_timer_start(&s->timer, GPU_HISTORY_STEP_MS - wall % GPU_HISTORY_STEP_MS);
}

struct gpu_history *gpu_sampler_history(struct gpu_sampler *s)
{
	return s->h;
}

void gpu_sampler_lead(struct gpu_sampler *s)
{
	gpu_history_store_lead(s->store);
	loop_timer_start(&s->timer, 0);
}

void gpu_sampler_stop(struct gpu_sampler *s, void (*done)(void *arg), void *arg)
{
	loop_timer_stop(&s->timer);
	gpu_history_store_finish(s->store, done, arg);
}

struct gpu_sampler *gpu_sampler_new(struct context *c)
{
	struct gpu_sampler *s = mem_new(struct gpu_sampler);

	s->c = c;
	s->h = gpu_history_new();
	s->store = gpu_history_store_new(c, s->h);
	loop_timer_init(&s->timer, c->group, tick, s);
	return s;
}

void gpu_sampler_free(struct gpu_sampler *s)
{
	if (!s)
		return;
	loop_timer_stop(&s->timer);
	gpu_history_store_free(s->store);
	gpu_history_free(s->h);
	free(s);
}
