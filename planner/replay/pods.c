/*
 * pods: the pods of simulated jobs: in the world, in the queue, and counted.
 * Tests: tests/unit/planner/replay/test_replay.c
 */
#include "planner/replay/replay_impl.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/str.h"

#define NAME_SIZE 24

uint32_t replay_pod_of(const struct plan_pod *x)
{
	return str_eq(x->ns, REPLAY_OURS) ? (uint32_t)strtoul(x->name + 1, NULL, 10)
					  : REPLAY_NOWHERE;
}

void replay_put_pod(struct replaying *r, uint32_t pod, const char *node)
{
	const struct replay_job *j = &r->s->jobs[r->owner[pod]];
	struct world_toleration all = {.op = WORLD_TOLERATES_EXISTS};
	struct label product = {REPLAY_PRODUCT, j->product};
	char name[NAME_SIZE], gang[NAME_SIZE];
	struct world_pod p = {.tenant = j->tenant,
			      .ns = REPLAY_OURS,
			      .name = name,
			      .uid = name,
			      .node = node,
			      .unschedulable = !node,
			      .since = j->at_ms,
			      .priority = j->priority,
			      .requests = j->requests,
			      .node_selector = {&product, j->product ? 1 : 0},
			      .tolerations = {&all, 1}};

	(void)str_format(name, sizeof(name), REPLAY_OURS "%010u", pod);
	(void)str_format(gang, sizeof(gang), REPLAY_OURS "%u", r->owner[pod]);
	if (j->gang) {
		p.gang.key = gang;
		p.gang.min = j->pods;
	}
	(void)world_put_pod(r->w, &p);
}

void replay_del_pod(struct replaying *r, uint32_t pod)
{
	char name[NAME_SIZE];

	(void)str_format(name, sizeof(name), REPLAY_OURS "%010u", pod);
	(void)world_del_pod(r->w, r->s->jobs[r->owner[pod]].tenant, REPLAY_OURS, name);
}

void replay_show(struct replaying *r, struct replay_line *l)
{
	while (l->shown < l->n && (!r->s->window || l->waiting < r->s->window)) {
		const uint32_t job = l->v[l->shown++];

		for (uint32_t p = r->first[job]; p < r->first[job + 1]; p++)
			replay_put_pod(r, p, NULL);
		l->waiting += r->s->jobs[job].pods;
		r->dirty = true;
	}
}

struct replay_line *replay_line_of(struct replaying *r, const char *tenant)
{
	struct replay_line *l = map_get(r->lines, tenant);

	if (!l) {
		l = mem_new(struct replay_line);
		map_put(r->lines, tenant, l);
	}
	return l;
}

void replay_pod_started(struct replaying *r, uint32_t job)
{
	r->queue--;
	r->waiting -= replay_gpus(&r->s->jobs[job].requests);
	if (--r->left[job] == 0)
		r->out->jobs[job].start_ms = r->now;
}

void replay_pod_ended(struct replaying *r, uint32_t job)
{
	if (++r->ended[job] == r->s->jobs[job].pods)
		r->out->jobs[job].end_ms = r->now;
}
