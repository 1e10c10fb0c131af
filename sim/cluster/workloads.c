#include "sim/cluster/workloads_impl.h"

#include "base/mem.h"

/*
 * Rounds of the controllers.
 * Tests: tests/unit/sim/cluster/test_replicaset.c, tests/unit/sim/cluster/test_deployment.c,
 * tests/unit/sim/cluster/test_job.c
 */
static void sync_all(struct sim_workloads *s, json_t *list,
		     void (*sync)(struct sim_workloads *s, json_t *obj))
{
	json_t *obj;
	size_t i;

	json_array_foreach (list, i, obj)
		sync(s, obj);
}

static void keep(json_t **slot, json_t *items)
{
	json_decref(*slot);
	*slot = json_incref(items);
}

static void on_deployments(void *arg, json_t *items)
{
	struct sim_workloads *s = arg;

	keep(&s->deployments, items);
	s->busy = json_array_size(s->replica_sets) || json_array_size(s->jobs) ||
		  json_array_size(s->deployments);
	if (!s->pods)
		return;
	s->busy = job_free_orphans(s) || s->busy;
	/* Runs the Deployments last, so that all controllers see the ReplicaSets as they were at
	 * the beginning of the round. */
	sync_all(s, s->replica_sets, replica_set_sync);
	sync_all(s, s->jobs, job_sync);
	sync_all(s, s->deployments, deployment_sync);
}

static void on_jobs(void *arg, json_t *items)
{
	struct sim_workloads *s = arg;

	keep(&s->jobs, items);
	sim_rounds_list(s->rounds, "/apis/apps/v1/deployments", on_deployments);
}

static void on_replica_sets(void *arg, json_t *items)
{
	struct sim_workloads *s = arg;

	keep(&s->replica_sets, items);
	sim_rounds_list(s->rounds, "/apis/batch/v1/jobs", on_jobs);
}

static void on_pods(void *arg, json_t *items)
{
	struct sim_workloads *s = arg;

	keep(&s->pods, items);
	sim_rounds_list(s->rounds, "/apis/apps/v1/replicasets", on_replica_sets);
}

/* Begins a round. Lists children before owners. Otherwise an owner that is deleted between the two
 * lists could be listed without its children and get new ones. */
static void on_begin(void *arg)
{
	struct sim_workloads *s = arg;

	keep(&s->pods, NULL);
	if (s->busy)
		sim_rounds_list(s->rounds, "/api/v1/pods", on_pods);
	else
		sim_rounds_list(s->rounds, "/apis/apps/v1/replicasets", on_replica_sets);
}

struct sim_workloads *sim_workloads_new(struct loop_group *g, const struct sim_rounds_spec *spec,
					struct err *e)
{
	struct sim_workloads *s = mem_new(struct sim_workloads);

	s->refused = map_new(free);
	s->busy = true;
	s->rounds = sim_rounds_new(g, spec, on_begin, s, e);
	if (!s->rounds) {
		sim_workloads_free(s);
		return NULL;
	}
	return s;
}

void sim_workloads_free(struct sim_workloads *s)
{
	if (!s)
		return;
	sim_rounds_free(s->rounds);
	json_decref(s->pods);
	json_decref(s->replica_sets);
	json_decref(s->jobs);
	json_decref(s->deployments);
	map_free(s->refused);
	free(s);
}
