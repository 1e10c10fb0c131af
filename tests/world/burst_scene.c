#include "tests/world/burst_scene.h"

#include <stdlib.h>
#include "base/mem.h"
#include "base/money.h"
#include "base/str.h"
#include "tests/unit/testing.h"

void burst_policy(struct sim_world *w, const char *zones, const char *amount)
{
	OWN(arena) a = arena_new();

	world_apply(
		w,
		arena_printf(
			a,
			"apiVersion: drover.dev/v1alpha1\nkind: BurstPolicy\n"
			"metadata: {name: research}\n"
			"spec:\n  mode: Enforce\n  match: {tenants: [team-a]}\n"
			"  trigger: {maxQueueWait: {default: 1m}}\n  tiers: [{market: OnDemand}]\n"
			"  offers: [{name: sky, provider: sky, regions: [r1], zones: %s, "
			"instanceTypes: [gpu-8]}]\n"
			"  cost: {currency: USD}\n  runtime: {maxRuntime: 1h}\n"
			"  scaleBack: {idleTimeout: 2m}\n"
			"  budget: [{scope: Policy, amount: '%s', per: Day}]\n",
			zones, amount));
}

struct burst_scene *burst_start_in(uint64_t seed, const char *zones, const char *amount)
{
	struct burst_scene *s = mem_new(struct burst_scene);
	struct err e;

	world_start(&s->w, seed, 0);
	sky_start(&s->sky, &s->w, NULL);
	burst_policy(&s->w, zones, amount);
	assert_ok(money_parse(amount, &s->sky.bursts.budget, &e), &e);
	world_replica(&s->w);
	return s;
}

struct burst_scene *burst_start(uint64_t seed, const char *amount)
{
	return burst_start_in(seed, "[a, b]", amount);
}

void burst_stop(struct burst_scene *s)
{
	sky_stop(&s->sky);
	world_stop(&s->w);
	free(s);
}

static bool nothing_alive(void *arg)
{
	struct burst_scene *s = arg;

	return !fake_cloud_alive(&s->sky.cloud) &&
	       !store_count(s->w.host.store, "machines.drover.dev/") &&
	       !store_count(s->w.host.store, "nodeclaims.drover.dev/");
}

bool burst_is_claimed(void *arg)
{
	return store_count(((struct burst_scene *)arg)->w.host.store, "nodeclaims.drover.dev/") > 0;
}

bool burst_was_launched(void *arg)
{
	return ((struct burst_scene *)arg)->sky.cloud.launched > 0;
}

const struct fake_instance *burst_newest(const struct burst_scene *s)
{
	return list_entry(s->sky.cloud.instances.prev, struct fake_instance, link);
}

void burst_job_pod(struct sim_world *w, const char *name, json_t *notes)
{
	world_do(w, &w->tenants[0], "POST", "/api/v1/namespaces/default/pods",
		 json_pack("{s:s,s:s,s:{s:s,s:s,s:o,s:[{s:s,s:s,s:s,s:s,s:b}]},"
			   "s:{s:[{s:s,s:s}],s:[{s:s,s:s,s:{s:{s:s}}}]}}",
			   "apiVersion", "v1", "kind", "Pod", "metadata", "name", name, "namespace",
			   "default", "annotations", notes, "ownerReferences", "apiVersion",
			   "batch/v1", "kind", "Job", "name", "train", "uid", "train-1",
			   "controller", 1, "spec", "tolerations", "key", "nvidia.com/gpu",
			   "operator", "Exists", "containers", "name", "main", "image", "train:1",
			   "resources", "limits", "nvidia.com/gpu", "8"));
}

void burst_pod(struct burst_scene *s, const char *name)
{
	world_pod(&s->w, &s->w.tenants[0], name);
}

void burst_unfit_pod(struct burst_scene *s, const char *name)
{
	world_do(
		&s->w, &s->w.tenants[0], "POST", "/api/v1/namespaces/default/pods",
		json_pack(
			"{s:s,s:s,s:{s:s,s:s},s:{s:{s:s},s:[{s:s,s:s}],s:[{s:s,s:s,s:{s:{s:s}}}]}}",
			"apiVersion", "v1", "kind", "Pod", "metadata", "name", name, "namespace",
			"default", "spec", "nodeSelector", "kubernetes.io/arch", "arm64",
			"tolerations", "key", "nvidia.com/gpu", "operator", "Exists", "containers",
			"name", "main", "image", "train:1", "resources", "limits", "nvidia.com/gpu",
			"8"));
}

void burst_running(struct burst_scene *s, const char *name)
{
	world_wait_running(&s->w, &s->w.tenants[0], name, 1800);
}

void burst_gone(struct burst_scene *s, const char *name)
{
	world_delete_pod(&s->w, &s->w.tenants[0], name);
}

void burst_nothing_left(struct burst_scene *s)
{
	world_wait(&s->w, nothing_alive, s, 7200, "instance, Machine and claim are gone");
}

void burst_another_leads(struct burst_scene *s)
{
	world_kill(&s->w.replicas[s->w.nreplicas - 1]);
	world_replica(&s->w);
}

int64_t burst_settled(struct sim_world *w)
{
	OWN_JSON o = cluster_get(&w->host, "burstledgers.drover.dev/research");
	const json_t *row;
	int64_t sum = 0, one;
	struct err e;
	size_t i;

	json_array_foreach (json_at(o, "status", "rows"), i, row) {
		assert_ok(money_parse(json_str_at(row, "amount"), &one, &e), &e);
		sum += one;
	}
	return sum;
}
