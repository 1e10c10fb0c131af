/*
 * The scenario of a move: work runs on an instance, an owned machine becomes free, and the work
 * moves there after its checkpoint. Each effect of drover fails once in each way. `make test` tries
 * some of the effects, `make test-long` all (WORLD_EVERY=1).
 */
#include "tests/unit/testing.h"

#include <stdlib.h>
#include "base/mem.h"
#include "base/money.h"
#include "base/str.h"
#include "tests/world/burst_scene.h"
#include "tests/world/leaving.h"
#include "tests/world/sweep.h"

#ifdef __SANITIZE_ADDRESS__
#define EVERY 240
#else
#define EVERY 80
#endif

static struct sky sky;

static void manage(struct sim_world *w, const char *policy)
{
	world_patch_machine(&w->servers[0], json_pack("{s:s}", "managementPolicy", policy));
}

static void prepare(struct sim_world *w, uint64_t at)
{
	(void)at;
	manage(w, "Observe");
	sky_start(&sky, w, NULL);
	burst_policy(w, "[a]", "1000");
	world_do(w, &w->host, "PATCH", "/apis/drover.dev/v1alpha1/burstpolicies/research",
		 json_pack("{s:{s:{s:s}, s:{s:s, s:s, s:s}}}", "spec", "runtime", "maxRuntime",
			   "12h", "scaleBack", "toOnPrem", "AtCheckpoint", "hysteresis", "2m",
			   "idleTimeout", "2m"));
	sky.bursts.budget = 1000 * MONEY_UNIT;
}

/* The pod's annotations; NULL: there is no such pod. */
static json_t *notes_of(const struct sim_world *w)
{
	OWN_JSON o = cluster_get((struct cluster *)&w->tenants[0], "pods/default/train-0");

	return o ? json_incref(json_at(o, "metadata", "annotations")) : NULL;
}

/* True if the pod is asked for a checkpoint, or does not exist any more. */
static bool is_asked_or_gone(void *arg)
{
	OWN_JSON notes = notes_of(arg);

	return !notes || (json_str_at(notes, "drover.dev/checkpoint-requested") &&
			  !json_str_at(notes, "drover.dev/checkpoint-done"));
}

static bool nothing_launched(void *arg)
{
	(void)arg;
	return !fake_cloud_alive(&sky.cloud);
}

/* Answers each request for a checkpoint until the pod was evicted. The pod is not evicted before
 * its first answer. */
static void save_until_evicted(struct sim_world *w)
{
	for (unsigned answers = 0;; answers++) {
		OWN_JSON notes = NULL;

		world_wait(w, is_asked_or_gone, w, 3 * 3600, "the pod is asked for a checkpoint");
		notes = notes_of(w);
		if (!notes) {
			assert_true(answers > 0);
			return;
		}
		leaving_patch_pod(w, "train-0",
				  json_pack("{s:{s:{s:s}}}", "metadata", "annotations",
					    "drover.dev/checkpoint-done", "yes"));
		world_run(w, 1000);
	}
}

/* Runs the scenario. Whatever failed, one instance is launched, and one move is counted. */
static void trip(struct sim_world *w)
{
	OWN_JSON ledger = NULL;

	world_replica(w);
	burst_job_pod(w, "train-0", json_pack("{s:s}", "drover.dev/checkpoint", "true"));
	world_wait_running(w, &w->tenants[0], "train-0", 3600);
	manage(w, "Manage");
	save_until_evicted(w);
	burst_job_pod(w, "train-1", json_pack("{s:s}", "drover.dev/checkpoint", "true"));
	world_wait_running(w, &w->tenants[0], "train-1", 3600);
	assert_ptr_equal(world_box_of(w, &w->tenants[0], "train-1"), &w->servers[0]);
	world_wait(w, nothing_launched, w, 3600, "the instance has ended");
	world_run(w, 60 * 1000);
	assert_int_equal(sky.cloud.launched, 1);
	ledger = cluster_get(&w->host, "burstledgers.drover.dev/research");
	assert_int_equal(
		json_int_at(json_array_get(json_at(ledger, "status", "moves"), 0), "count"), 1);
	sky_stop(&sky);
}

static void every_effect_of_a_move_may_go_wrong(void **state)
{
	const struct sweep s = {.seed = 7500,
				.servers = 1,
				.by_effect = true,
				.every = EVERY,
				.prepare = prepare,
				.trip = trip};

	(void)state;
	assert_true(sweep_run(&s) > 300 / EVERY);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_effect_of_a_move_may_go_wrong),
	};

	mem_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
