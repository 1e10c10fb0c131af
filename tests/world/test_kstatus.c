/* Tests the status that kstatus (kubectl wait, Flux, Argo CD, kpt) computes for drover's objects.
 * The test runs kstatus's algorithm for unknown kinds on the objects of a simulated world;
 * tests/real/judges.py asks kstatus itself. */
#include "tests/unit/testing.h"

#include "api/annotations.h"
#include "base/str.h"
#include "tests/world/leaving.h"
#include "tests/world/world.h"

#define LIMIT_MS 120000

/* Returns the status that the algorithm of sigs.k8s.io/cli-utils/pkg/kstatus computes. It checks
 * observedGeneration, then the conditions Reconciling and Stalled, then Ready. An object that has
 * none of these is Current. */
static const char *kstatus(const json_t *o)
{
	const json_t *conditions = json_at(o, "status", "conditions"), *c;
	const json_t *seen = json_at(o, "status", "observedGeneration");
	size_t i;

	if (json_at(o, "metadata", "deletionTimestamp"))
		return "Terminating";
	if (seen && json_integer_value(seen) != json_int_at(o, "metadata", "generation"))
		return "InProgress";
	json_array_foreach (conditions, i, c) {
		if (str_eq(json_str_at(c, "type"), "Reconciling") &&
		    str_eq(json_str_at(c, "status"), "True"))
			return "InProgress";
		if (str_eq(json_str_at(c, "type"), "Stalled") &&
		    str_eq(json_str_at(c, "status"), "True"))
			return "Failed";
	}
	json_array_foreach (conditions, i, c)
		if (str_eq(json_str_at(c, "type"), "Ready"))
			return str_eq(json_str_at(c, "status"), "True") ? "Current" : "InProgress";
	return "Current";
}

static const char *of(const struct sim_world *w, const char *key)
{
	OWN_JSON o = cluster_get(&w->host, key);

	return o ? kstatus(o) : "NotFound";
}

static int64_t generation(const struct sim_world *w, const char *key, const char *part,
			  const char *member)
{
	OWN_JSON o = cluster_get(&w->host, key);

	return json_int_at(o, part, member);
}

static void await(struct sim_world *w, const char *key, const char *want)
{
	for (int64_t ms = 0; ms < LIMIT_MS; ms += 500) {
		if (str_eq(of(w, key), want))
			return;
		world_run(w, 500);
	}
	fail_msg("%s is %s, not %s", key, of(w, key), want);
}

/* Edits a field of spec that changes no condition, and checks that status.observedGeneration
 * follows. */
static void edit(struct sim_world *w, const char *plural, const char *name, json_t *spec)
{
	char path[256], key[256];

	str_format(path, sizeof(path), "/apis/drover.dev/v1alpha1/%s/%s", plural, name);
	str_format(key, sizeof(key), "%s.drover.dev/%s", plural, name);
	world_do(w, &w->host, "PATCH", path, json_pack("{s:o}", "spec", spec));
	assert_true(generation(w, key, "metadata", "generation") > 1);
	await(w, key, "Current");
	assert_int_equal(generation(w, key, "status", "observedGeneration"),
			 generation(w, key, "metadata", "generation"));
}

static void each_kind_is_current_when_it_is_settled_and_follows_its_spec(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];
	char claim[256];

	(void)state;
	world_start(&w, 4711, 1);
	world_replica(&w);
	world_wait_state(b, "wiping", 900);
	assert_string_equal(of(&w, "machines.drover.dev/gpu-1"), "InProgress");
	world_wait_state(b, "free", 900);
	world_pod(&w, &w.tenants[0], "train");
	world_wait_state(b, "booting", 900);
	str_format(claim, sizeof(claim), "nodeclaims.drover.dev/%s", b->claim);
	await(&w, claim, "InProgress");
	world_wait_running(&w, &w.tenants[0], "train", 900);
	await(&w, claim, "Current");
	await(&w, "machines.drover.dev/gpu-1", "Current");
	edit(&w, "nodepools", "gpus", json_pack("{s:i}", "weight", 7));
	edit(&w, "providers", "rack", json_pack("{s:{s:i}}", "limits", "powerOnPerMinute", 31));
	edit(&w, "virtualclusters", "team-a",
	     json_pack("{s:{s:s}}", "quota", "nvidia.com/gpu", "640"));
	edit(&w, "nodeclaims", b->claim, json_pack("{s:s}", "terminationGracePeriod", "2h"));
	edit(&w, "machines", "gpu-1", json_pack("{s:s}", "bootMACAddress", "b8:ce:f6:01:02:03"));
	leaving_drain_of(&w, "out", "gpu-1", 0, "");
	world_run(&w, 2000);
	assert_string_equal(of(&w, "drains.drover.dev/out"), "InProgress");
	world_wait_state(b, "free", 1800);
	await(&w, "drains.drover.dev/out", "Current");
	assert_int_equal(generation(&w, "drains.drover.dev/out", "status", "observedGeneration"),
			 generation(&w, "drains.drover.dev/out", "metadata", "generation"));
	world_stop(&w);
}

/* An object that waits for an operator is Failed, until the operator has acted. */
static void what_waits_for_an_operator_is_failed(void **state)
{
	static const char path[] = "/apis/drover.dev/v1alpha1/machines/gpu-1";
	struct sim_world w;

	(void)state;
	world_start(&w, 4712, 1);
	world_replica(&w);
	world_wait_state(&w.servers[0], "free", 900);
	world_do(&w, &w.host, "PATCH", path,
		 json_pack("{s:{s:{s:s}}}", "metadata", "annotations", REQUEST_QUARANTINE, "RMA"));
	await(&w, "machines.drover.dev/gpu-1", "Failed");
	world_do(&w, &w.host, "PATCH", path,
		 json_pack("{s:{s:{s:n}}}", "metadata", "annotations", REQUEST_QUARANTINE));
	world_wait_state(&w.servers[0], "free", 1800);
	await(&w, "machines.drover.dev/gpu-1", "Current");
	world_stop(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_kind_is_current_when_it_is_settled_and_follows_its_spec),
		cmocka_unit_test(what_waits_for_an_operator_is_failed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
