/* An instance paid for by a policy ends at its maximum runtime, whoever tries to prolong it. */
#include "tests/unit/testing.h"

#include "base/mem.h"
#include "base/str.h"
#include "tests/world/burst_scene.h"

static void patch(struct burst_scene *s, struct cluster *p, const char *path, json_t *body)
{
	world_do(&s->w, p, "PATCH", path, body);
}

static const char *path_of(struct burst_scene *s, const char *plural, struct arena *a)
{
	return arena_printf(a, "/apis/drover.dev/v1alpha1/%s/%s", plural, sky_name(&s->sky));
}

/* Cordons the Node, as anybody in the tenant could do. */
static void cordoned(struct burst_scene *s, struct arena *a)
{
	patch(s, &s->w.tenants[0], arena_printf(a, "/api/v1/nodes/%s", sky_name(&s->sky)),
	      json_pack("{s:{s:b}}", "spec", "unschedulable", 1));
}

static void silent(struct burst_scene *s, struct arena *a)
{
	(void)a;
	cluster_away(&s->w.tenants[0], true);
}

static void tenant_paused(struct burst_scene *s, struct arena *a)
{
	(void)a;
	patch(s, &s->w.host, "/apis/drover.dev/v1alpha1/virtualclusters/team-a",
	      json_pack("{s:{s:b}}", "spec", "paused", 1));
}

static void pool_paused(struct burst_scene *s, struct arena *a)
{
	(void)a;
	patch(s, &s->w.host, "/apis/drover.dev/v1alpha1/nodepools/gpus",
	      json_pack("{s:{s:b}}", "spec", "paused", 1));
}

static void provider_paused(struct burst_scene *s, struct arena *a)
{
	(void)a;
	patch(s, &s->w.host, "/apis/drover.dev/v1alpha1/providers/sky",
	      json_pack("{s:{s:b}}", "spec", "paused", 1));
}

static void observed(struct burst_scene *s, struct arena *a)
{
	patch(s, &s->w.host, path_of(s, "machines", a),
	      json_pack("{s:{s:s}}", "spec", "managementPolicy", "Observe"));
}

static void held(struct burst_scene *s, struct arena *a)
{
	world_apply(&s->w,
		    arena_printf(
			    a,
			    "apiVersion: drover.dev/v1alpha1\nkind: Drain\nmetadata: {name: look}\n"
			    "spec: {targets: {machines: [%s]}, reason: look, then: Hold}\n",
			    sky_name(&s->sky)));
	world_run(&s->w, 120 * 1000);
}

/* Creates a Drain whose deadline is a week away. */
static void drained_slowly(struct burst_scene *s, struct arena *a)
{
	char when[STR_TIME_SIZE];

	world_apply(&s->w,
		    arena_printf(
			    a,
			    "apiVersion: drover.dev/v1alpha1\nkind: Drain\nmetadata: {name: slow}\n"
			    "spec: {targets: {machines: [%s]}, reason: fans, "
			    "deadline: '%s', onDeadline: Stop}\n",
			    sky_name(&s->sky),
			    str_time(when, loop_wall(s->w.loop) + (int64_t)7 * 24 * 3600 * 1000)));
}

static void policy_runs(struct burst_scene *s, const char *runtime)
{
	patch(s, &s->w.host, "/apis/drover.dev/v1alpha1/burstpolicies/research",
	      json_pack("{s:{s:{s:s}}}", "spec", "runtime", "maxRuntime", runtime));
}

static int64_t lived(const struct burst_scene *s)
{
	return burst_newest(s)->ended_at - burst_newest(s)->launched_at;
}

static bool has_ended(void *arg)
{
	return burst_newest(arg)->gone;
}

/* The budget: 20 USD an hour for 10 minutes of boot and 15 of work is 8.34 USD. S6 checks the
 * bill. */
static void nobody_keeps_it_beyond_its_time(void **state)
{
	static void (*const keep[])(struct burst_scene * s, struct arena * a) = {
		cordoned,	 silent,   tenant_paused, pool_paused,
		provider_paused, observed, held,	  drained_slowly,
	};

	(void)state;
	for (size_t i = 0; i < sizeof(keep) / sizeof(*keep); i++) {
		struct burst_scene *s = burst_start(7320 + i, "8.5");
		OWN(arena) a = arena_new();

		policy_runs(s, "15m");
		burst_pod(s, "train");
		burst_running(s, "train");
		keep[i](s, a);
		world_wait(&s->w, has_ended, s, 3600, "the instance has ended");
		assert_in_range(lived(s), 1000 * 1000, 1500 * 1000);
		burst_stop(s);
	}
}

static bool one_is_launched(void *arg)
{
	return ((struct burst_scene *)arg)->sky.cloud.launched == 1;
}

/* The tenant's API server fails before the Node has joined. The deadlines of the machine's states
 * are longer than the policy's maximum runtime, so the runtime must end the instance. */
static void what_never_served_ends_too(void **state)
{
	struct burst_scene *s = burst_start(7330, "8.5");

	(void)state;
	patch(s, &s->w.host, "/apis/drover.dev/v1alpha1/nodepools/gpus",
	      json_pack("{s:{s:{s:s, s:s}}}", "spec", "deadlines", "booting", "12h", "joining",
			"12h"));
	policy_runs(s, "15m");
	burst_pod(s, "train");
	world_wait(&s->w, one_is_launched, s, 1800, "it is launched");
	cluster_away(&s->w.tenants[0], true);
	world_wait(&s->w, has_ended, s, 3600, "the instance has ended");
	assert_in_range(lived(s), 600 * 1000, 1500 * 1000);
	burst_stop(s);
}

/* A policy that is replaced (deleted and created again) ends nothing. A policy that stays deleted
 * ends its instances. */
static void a_deleted_policy_pays_for_nothing(void **state)
{
	struct burst_scene *s = burst_start(7331, "1000");
	int64_t from;

	(void)state;
	burst_pod(s, "train");
	burst_running(s, "train");
	world_do(&s->w, &s->w.host, "DELETE", "/apis/drover.dev/v1alpha1/burstpolicies/research",
		 NULL);
	world_run(&s->w, 30 * 1000);
	burst_policy(&s->w, "[a, b]", "1000");
	world_run(&s->w, 600 * 1000);
	assert_false(has_ended(s));
	from = loop_now(s->w.loop);
	world_do(&s->w, &s->w.host, "DELETE", "/apis/drover.dev/v1alpha1/burstpolicies/research",
		 NULL);
	world_wait(&s->w, has_ended, s, 600, "the instance has ended");
	assert_in_range(loop_now(s->w.loop) - from, 60 * 1000, 320 * 1000);
	burst_stop(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nobody_keeps_it_beyond_its_time),
		cmocka_unit_test(what_never_served_ends_too),
		cmocka_unit_test(a_deleted_policy_pays_for_nothing),
	};

	mem_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
