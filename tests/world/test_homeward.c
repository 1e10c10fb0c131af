/* test_homeward: running work moves from a cloud instance to an owned machine. It keeps its
 * instance until the machine is Ready, and moves only if that gains enough. */
#include "tests/unit/testing.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/money.h"
#include "base/str.h"
#include "tests/world/burst_scene.h"
#include "tests/world/leaving.h"

#define POLICY "/apis/drover.dev/v1alpha1/burstpolicies/research"
#define MIN (60 * 1000)

static void set_home(struct burst_scene *s, const char *home, json_t *more)
{
	json_t *set = json_pack("{s:s, s:s, s:s}", "toOnPrem", home, "hysteresis", "10m",
				"idleTimeout", "2m");

	if (more)
		json_object_update_new(set, more);
	world_do(&s->w, &s->w.host, "PATCH", POLICY,
		 json_pack("{s:{s:{s:s}, s:o}}", "spec", "runtime", "maxRuntime", "8h", "scaleBack",
			   set));
}

static void manage(struct burst_scene *s, bool is)
{
	world_patch_machine(&s->w.servers[0],
			    json_pack("{s:s}", "managementPolicy", is ? "Manage" : "Observe"));
}

/* Creates a pod of Job "train"; wait: value of its checkpoint annotation, NULL: it does not save
 * its work. */
static void job_pod(struct burst_scene *s, const char *name, const char *wait)
{
	burst_job_pod(&s->w, name, json_pack("{s:s*}", "drover.dev/checkpoint", wait));
}

/* Creates a pod of a gang of two, which saves its work. */
static void gang_pod(struct burst_scene *s, const char *name)
{
	burst_job_pod(&s->w, name,
		      json_pack("{s:s, s:s, s:s}", "drover.dev/checkpoint", "true",
				"drover.dev/gang", "ring", "drover.dev/gang-size", "2"));
}

/* Starts a world with one owned machine, which drover may not use yet. Pod train-0 runs on an
 * instance. */
static struct burst_scene *start(uint64_t seed, const char *home, json_t *more, const char *wait)
{
	struct burst_scene *s = mem_new(struct burst_scene);
	struct err e;

	world_start(&s->w, seed, 1);
	manage(s, false);
	sky_start(&s->sky, &s->w, NULL);
	burst_policy(&s->w, "[a]", "1000");
	assert_ok(money_parse("1000", &s->sky.bursts.budget, &e), &e);
	set_home(s, home, more);
	world_replica(&s->w);
	job_pod(s, "train-0", wait);
	burst_running(s, "train-0");
	assert_int_equal(fake_cloud_alive(&s->sky.cloud), 1);
	return s;
}

static struct server *owned(struct burst_scene *s)
{
	return &s->w.servers[0];
}

/* Returns a member of the Machine of the newest instance, for example "status.state"; "" if it is
 * missing. */
static const char *cloud_at(struct burst_scene *s, const char *member, struct arena *a)
{
	OWN_JSON o = cluster_get(&s->w.host,
				 arena_printf(a, "machines.drover.dev/%s", sky_name(&s->sky)));

	return str_or(arena_strdup(a, json_str_at(json_object_get(o, "status"), member)), "");
}

static bool cloud_drains(void *arg)
{
	struct burst_scene *s = arg;
	OWN(arena) a = arena_new();

	return str_eq(cloud_at(s, "state", a), "draining");
}

static bool cloud_serves(void *arg)
{
	struct burst_scene *s = arg;
	OWN(arena) a = arena_new();

	return str_eq(cloud_at(s, "state", a), "serving");
}

static const char *pod_at(struct burst_scene *s, const char *pod, const char *annotation,
			  struct arena *a)
{
	OWN_JSON o = cluster_get(&s->w.tenants[0], arena_printf(a, "pods/default/%s", pod));

	return o ? str_or(arena_strdup(a, json_str_at(json_at(o, "metadata", "annotations"),
						      annotation)),
			  "")
		 : NULL;
}

static bool is_asked(void *arg)
{
	OWN(arena) a = arena_new();

	return !str_empty(pod_at(arg, "train-0", "drover.dev/checkpoint-requested", a));
}

static void saved(struct burst_scene *s, const char *pod)
{
	leaving_patch_pod(&s->w, pod,
			  json_pack("{s:{s:{s:s}}}", "metadata", "annotations",
				    "drover.dev/checkpoint-done", "yes"));
}

static bool nothing_launched(void *arg)
{
	struct burst_scene *s = arg;

	return !fake_cloud_alive(&s->sky.cloud);
}

static bool two_launched(void *arg)
{
	return ((struct burst_scene *)arg)->sky.cloud.launched == 2;
}

static json_int_t moves(struct burst_scene *s)
{
	OWN_JSON o = cluster_get(&s->w.host, "burstledgers.drover.dev/research");

	assert_int_equal(json_array_size(json_at(o, "status", "restarts")), 0);
	return json_int_at(json_array_get(json_at(o, "status", "moves"), 0), "count");
}

static void assert_stays(struct burst_scene *s)
{
	OWN(arena) a = arena_new();

	assert_string_equal(cloud_at(s, "state", a), "serving");
	assert_non_null(pod_at(s, "train-0", "", a));
	assert_int_equal(s->sky.cloud.launched, 1);
	assert_int_equal(fake_cloud_alive(&s->sky.cloud), 1);
}

/* Lets the owned machine become free and, after the hysteresis, Ready for the work. Until then the
 * work stays as it is. */
static void owned_is_ready(struct burst_scene *s)
{
	manage(s, true);
	world_wait_state(owned(s), "free", 3600);
	world_run(&s->w, 9 * MIN);
	assert_string_equal(owned(s)->state, "free");
	world_wait_state(owned(s), "claimed", 3 * 60);
	world_wait_state(owned(s), "joining", 900);
	assert_stays(s);
	world_wait_state(owned(s), "serving", 900);
}

/* The work has left the instance: its next pod runs on the owned machine. */
static void came_home(struct burst_scene *s)
{
	leaving_wait_gone(&s->w, &s->w.tenants[0], "pods/default/train-0", 120);
	job_pod(s, "train-1", "true");
	burst_running(s, "train-1");
	assert_ptr_equal(world_box_of(&s->w, &s->w.tenants[0], "train-1"), owned(s));
	world_wait(&s->w, nothing_launched, s, 900, "the instance has ended");
	world_run(&s->w, MIN);
	assert_int_equal(s->sky.cloud.launched, 1);
}

static void it_comes_home_after_its_checkpoint(void **state)
{
	struct burst_scene *s = start(8901, "AtCheckpoint", NULL, "true");
	OWN(arena) a = arena_new();

	(void)state;
	owned_is_ready(s);
	world_wait(&s->w, cloud_drains, s, 120, "the instance drains");
	assert_string_equal(world_at(owned(s), "status.state"), "serving");
	world_wait(&s->w, is_asked, s, 60, "the pod is asked for a checkpoint");
	world_run(&s->w, 2 * MIN);
	assert_non_null(pod_at(s, "train-0", "", a));
	saved(s, "train-0");
	came_home(s);
	assert_int_equal(moves(s), 1);
	/* The owned machine is in use. For the hysteresis no instance is launched for the same
	 * workload, then one is. */
	job_pod(s, "train-2", "true");
	world_run(&s->w, 5 * MIN);
	assert_int_equal(s->sky.cloud.launched, 1);
	world_wait(&s->w, two_launched, s, 600, "an instance is launched again");
	burst_stop(s);
}

static void without_an_answer_it_stays(void **state)
{
	struct burst_scene *s = start(8902, "AtCheckpoint", NULL, "1m");

	(void)state;
	owned_is_ready(s);
	world_wait(&s->w, cloud_drains, s, 120, "the instance drains");
	world_wait(&s->w, cloud_serves, s, 180, "the instance serves on");
	leaving_wait_event(&s->w, &s->w.host, "DrainWithdrawn", "saved their work");
	world_run(&s->w, 20 * MIN);
	assert_stays(s);
	burst_stop(s);
}

static void work_that_does_not_save_stays_or_moves_at_once(void **state)
{
	struct burst_scene *s = start(8903, "AtCheckpoint", NULL, NULL);

	(void)state;
	manage(s, true);
	world_wait_state(owned(s), "free", 3600);
	world_run(&s->w, 20 * MIN);
	assert_string_equal(owned(s)->state, "free");
	assert_stays(s);
	leaving_wait_event(&s->w, &s->w.host, "StaysInCloud", "save their work on request");
	set_home(s, "Immediate", NULL);
	world_wait_state(owned(s), "serving", 1800);
	came_home(s);
	assert_int_equal(moves(s), 1);
	burst_stop(s);
}

static void it_stays_if_too_little_is_gained(void **state)
{
	struct burst_scene *s =
		start(8904, "AtCheckpoint",
		      json_pack("{s:{s:s}}", "migrateGainOver", "money", "170"), "true");

	(void)state;
	manage(s, true);
	world_wait_state(owned(s), "free", 3600);
	world_run(&s->w, 30 * MIN);
	assert_string_equal(owned(s)->state, "free");
	assert_stays(s);
	leaving_wait_event(&s->w, &s->w.host, "StaysInCloud", "more than 170.00 USD");
	burst_stop(s);
}

/* The claim on the owned machine fails. The next attempt is made after an hour. */
static void it_stays_if_the_owned_machine_fails_on_its_way(void **state)
{
	struct burst_scene *s = start(8905, "AtCheckpoint", NULL, "true");

	(void)state;
	s->w.bad_images = 1;
	manage(s, true);
	world_wait_state(owned(s), "free", 3600);
	world_wait_reason(owned(s), "ImageMismatch", 1800);
	assert_stays(s);
	world_wait_state(owned(s), "free", 1800);
	world_run(&s->w, 20 * MIN);
	assert_string_equal(owned(s)->state, "free");
	assert_stays(s);
	world_wait_state(owned(s), "claimed", 3600);
	burst_stop(s);
}

/* The owned machine's Node is no longer Ready while the pod saves its work. */
static void it_stays_if_the_owned_machine_fails_during_the_drain(void **state)
{
	struct burst_scene *s = start(8906, "AtCheckpoint", NULL, "30m");
	char when[STR_TIME_SIZE];

	(void)state;
	owned_is_ready(s);
	world_wait(&s->w, cloud_drains, s, 120, "the instance drains");
	world_wait(&s->w, is_asked, s, 60, "the pod is asked for a checkpoint");
	leaving_patch_node(owned(s), "/status",
			   json_pack("{s:{s:[{s:s, s:s, s:s}]}}", "status", "conditions", "type",
				     "Ready", "status", "Unknown", "lastTransitionTime",
				     str_time(when, loop_wall(s->w.loop))));
	world_wait(&s->w, cloud_serves, s, 300, "the instance serves on");
	saved(s, "train-0");
	world_run(&s->w, 10 * MIN);
	assert_stays(s);
	burst_stop(s);
}

/* The owned machine is never free for as long as the hysteresis. */
static void what_is_free_only_now_and_then_moves_nothing(void **state)
{
	struct burst_scene *s = start(8907, "AtCheckpoint", NULL, "true");

	(void)state;
	manage(s, true);
	world_wait_state(owned(s), "free", 3600);
	for (unsigned i = 0; i < 6; i++) {
		world_run(&s->w, 8 * MIN);
		assert_string_equal(owned(s)->state, "free");
		manage(s, false);
		world_run(&s->w, MIN);
		manage(s, true);
	}
	assert_stays(s);
	world_wait_state(owned(s), "claimed", 720);
	burst_stop(s);
}

static void a_new_leader_goes_on(void **state)
{
	struct burst_scene *s = start(8908, "AtCheckpoint", NULL, "true");
	OWN(arena) a = arena_new();

	(void)state;
	manage(s, true);
	world_wait_state(owned(s), "free", 3600);
	world_wait_state(owned(s), "imaging", 1200);
	burst_another_leads(s);
	world_wait_state(owned(s), "serving", 900);
	world_wait(&s->w, cloud_drains, s, 300, "the instance drains");
	world_wait(&s->w, is_asked, s, 60, "the pod is asked for a checkpoint");
	burst_another_leads(s);
	world_run(&s->w, 2 * MIN);
	assert_string_equal(cloud_at(s, "state", a), "draining");
	assert_non_null(pod_at(s, "train-0", "", a));
	saved(s, "train-0");
	came_home(s);
	burst_another_leads(s);
	world_run(&s->w, 2 * MIN);
	assert_int_equal(moves(s), 1);
	burst_stop(s);
}

/* A pod of another workload came to the owned machine's Node before the work did. */
static void it_stays_if_its_room_is_taken(void **state)
{
	struct burst_scene *s = start(8910, "AtCheckpoint", NULL, "true");
	OWN(arena) a = arena_new();

	(void)state;
	manage(s, true);
	world_wait_state(owned(s), "free", 3600);
	world_wait_state(owned(s), "joining", 1800);
	leaving_small_pod(owned(s), "thief");
	world_wait_state(owned(s), "serving", 900);
	world_run(&s->w, 10 * MIN);
	assert_stays(s);
	assert_string_equal(pod_at(s, "train-0", "drover.dev/checkpoint-requested", a), "");
	burst_stop(s);
}

/* A PodDisruptionBudget refuses the eviction until the time of the drain is over. */
static void it_stays_if_it_cannot_be_evicted_in_time(void **state)
{
	struct burst_scene *s = start(8911, "AtCheckpoint",
				      json_pack("{s:{s:s}}", "drain", "maxWait", "4m"), "true");

	(void)state;
	owned_is_ready(s);
	leaving_budget(&s->w, "train-0");
	world_wait(&s->w, cloud_drains, s, 120, "the instance drains");
	world_wait(&s->w, is_asked, s, 60, "the pod is asked for a checkpoint");
	saved(s, "train-0");
	world_run(&s->w, 2 * MIN);
	assert_true(cloud_drains(s));
	world_wait(&s->w, cloud_serves, s, 180, "the instance serves on");
	world_run(&s->w, 20 * MIN);
	assert_stays(s);
	burst_stop(s);
}

static void a_gang_stays(void **state)
{
	struct burst_scene *s = start(8912, "AtCheckpoint", NULL, NULL);

	(void)state;
	gang_pod(s, "ring-0");
	gang_pod(s, "ring-1");
	burst_running(s, "ring-0");
	burst_running(s, "ring-1");
	manage(s, true);
	world_wait_state(owned(s), "free", 3600);
	world_run(&s->w, 20 * MIN);
	assert_string_equal(owned(s)->state, "free");
	leaving_wait_event(&s->w, &s->w.host, "StaysInCloud", "belongs to a gang");
	assert_int_equal(fake_cloud_alive(&s->sky.cloud), 3);
	burst_stop(s);
}

static void a_paused_policy_moves_nothing(void **state)
{
	struct burst_scene *s = start(8913, "AtCheckpoint", NULL, "true");

	(void)state;
	world_do(&s->w, &s->w.host, "PATCH", POLICY, json_pack("{s:{s:b}}", "spec", "paused", 1));
	manage(s, true);
	world_wait_state(owned(s), "free", 3600);
	world_run(&s->w, 20 * MIN);
	assert_string_equal(owned(s)->state, "free");
	assert_stays(s);
	world_do(&s->w, &s->w.host, "PATCH", POLICY, json_pack("{s:{s:b}}", "spec", "paused", 0));
	world_wait_state(owned(s), "claimed", 720);
	burst_stop(s);
}

/* An instance without pods is kept until its time is over. */
static void never_keeps_an_idle_instance(void **state)
{
	struct burst_scene *s = start(8909, "Never", NULL, "true");

	(void)state;
	manage(s, true);
	world_wait_state(owned(s), "free", 3600);
	burst_gone(s, "train-0");
	world_run(&s->w, 60 * MIN);
	assert_int_equal(fake_cloud_alive(&s->sky.cloud), 1);
	set_home(s, "AtCompletion", NULL);
	world_wait(&s->w, nothing_launched, s, 600, "the idle instance has ended");
	burst_stop(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_comes_home_after_its_checkpoint),
		cmocka_unit_test(without_an_answer_it_stays),
		cmocka_unit_test(work_that_does_not_save_stays_or_moves_at_once),
		cmocka_unit_test(it_stays_if_too_little_is_gained),
		cmocka_unit_test(it_stays_if_the_owned_machine_fails_on_its_way),
		cmocka_unit_test(it_stays_if_the_owned_machine_fails_during_the_drain),
		cmocka_unit_test(what_is_free_only_now_and_then_moves_nothing),
		cmocka_unit_test(a_new_leader_goes_on),
		cmocka_unit_test(it_stays_if_its_room_is_taken),
		cmocka_unit_test(it_stays_if_it_cannot_be_evicted_in_time),
		cmocka_unit_test(a_gang_stays),
		cmocka_unit_test(a_paused_policy_moves_nothing),
		cmocka_unit_test(never_keeps_an_idle_instance),
	};

	mem_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
