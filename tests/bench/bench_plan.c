/*
 * bench_plan: measures how one thread builds a world from nothing and plans it. The world has 400
 * instance types, each in three zones; every machine and every pod is added separately.
 *
 *   plan_1k_mixed_ms, plan_5k_mixed_ms, plan_20k_mixed_ms   world and plan, pods of the mix
 *   plan_4k_preferences_ms    world and plan, pods that prefer one zone (weight 10) to another
 *                             (weight 1); each must get the first, which has room
 *   plan_50k_identical_ms     adds 50,000 identical pods to a world that has the fleet, and plans:
 *                             what turns of the controller pay for them. As there, the fleet and
 *                             the texts of the pods exist before, and the process has planned
 *                             before: the rounds share one world, and the first is not the best
 *   plan_20k_mixed_solve_ms   plan_make() alone
 *   plan_incremental_ms       adds one more pod to a fleet of 5,000 nodes with 10 pods each, and
 *                             plans
 *   plan_timeline_ms          20,000 pods of the mix that get nothing, and 2,000 machines that will
 *                             become free: the part of plan_make() that estimates when each pod is
 *                             served
 *   plan_rss_mb               peak of memory with 20,000 pending pods and 2,000 nodes, in its own
 *                             process
 *
 * tests/bench/plan_mix.h describes the mix.
 *
 * There are differences from the reference, Karpenter's benchmark. Machines are finite and named,
 * and each must be added. There are no prices, so the type that wastes least is chosen. Spot and on
 * demand are not distinguished. Karpenter's figures do not include the creation of the pods.
 *
 * Times are processor time, the best of the rounds. Every pod must be served.
 */
#include <string.h>
#include "base/mem.h"
#include "tests/bench/entry.h"
#include "tests/bench/plan_mix.h"

#define ROUNDS 5

static struct world *make_world(unsigned pods, bool mixed)
{
	struct world *w =
		bench_world(mixed ? pods / 8 + BENCH_TYPES : BENCH_TYPES * 4, BENCH_TYPES, 1);

	mix_put_pods(w, pods, mixed, NULL);
	return w;
}

/* --- measurement ------------------------------------------------------------------------------ */

struct times {
	double all, solve;
	size_t served, claims;
};

static struct times measure(unsigned pods)
{
	struct times best = {0};

	for (int i = 0; i < ROUNDS; i++) {
		OWN(arena) a = arena_new();
		const double began = bench_ms();
		OWN(world) w = make_world(pods, true);
		const double built = bench_ms();
		const struct plan *p = plan_make(w, 0, a);
		const double done = bench_ms();
		size_t served = 0;

		for (size_t k = 0; k < p->npods; k++)
			served += p->pods[k].outcome == PLAN_ON_NEW;
		if (served != pods)
			bench_die("not all pods are served");
		if (!i || done - began < best.all)
			best = (struct times){done - began, done - built, served, p->nclaims};
	}
	(void)fprintf(stderr,
		      "%u pods: %.1f ms, of it the plan %.1f ms; %zu served by %zu claims\n", pods,
		      best.all, best.solve, best.served, best.claims);
	return best;
}

/* Two preferred terms of node affinity: zone-1 before zone-2. */
static double preferences(void)
{
	static const char *zones[] = {"zone-1", "zone-2"};
	struct requirement of[] = {{BENCH_ZONE, SELECTOR_IN, &zones[0], 1},
				   {BENCH_ZONE, SELECTOR_IN, &zones[1], 1}};
	struct world_preference wish[] = {{10, {&of[0], 1}}, {1, {&of[1], 1}}};
	struct resource requests[] = {{"cpu", bench_milli(500)},
				      {"memory", quantity_of(512 * BENCH_MIB)}};
	struct label label = {"my-label", "a"};
	double best = 0;

	for (int i = 0; i < ROUNDS; i++) {
		OWN(arena) a = arena_new();
		const double began = bench_ms();
		OWN(world) w = bench_world(BENCH_TYPES * 4, BENCH_TYPES, 1);
		const struct plan *p;
		double took;

		for (unsigned k = 0; k < 4000; k++) {
			char name[32];

			(void)str_format(name, sizeof(name), "pod-%06u", k);
			world_put_pod(w, &(struct world_pod){.tenant = "t",
							     .ns = "default",
							     .name = name,
							     .uid = name,
							     .unschedulable = true,
							     .requests = {requests, 2},
							     .preferences = {wish, 2},
							     .labels = {&label, 1}});
		}
		p = plan_make(w, 0, a);
		took = bench_ms() - began;
		for (size_t k = 0; k < p->npods; k++)
			if (p->pods[k].outcome != PLAN_ON_NEW)
				bench_die("not all pods are served");
		for (size_t k = 0; k < p->nclaims; k++)
			if (!str_eq(p->claims[k].provider, "provider-1"))
				bench_die("a pod is not in the zone that it prefers");
		if (!i || took < best)
			best = took;
	}
	return best;
}

static void put_identical(struct world *w, const char *name)
{
	struct resource requests[] = {{"cpu", bench_milli(500)},
				      {"memory", quantity_of(512 * BENCH_MIB)}};
	struct label label = {"my-label", "a"};

	world_put_pod(w, &(struct world_pod){.tenant = "t",
					     .ns = "default",
					     .name = name,
					     .uid = name,
					     .unschedulable = true,
					     .requests = {requests, 2},
					     .labels = {&label, 1}});
}

static double identical(unsigned pods)
{
	char(*names)[16] = mem_calloc(pods, sizeof(*names));
	OWN(world) w = make_world(0, false);
	double best = 0, plans = 0;

	for (unsigned i = 0; i < pods; i++)
		(void)str_format(names[i], sizeof(names[i]), "pod-%06u", i);
	for (int i = 0; i < ROUNDS; i++) {
		OWN(arena) a = arena_new();
		const double began = bench_ms();
		const struct plan *p;
		double put, done;

		for (unsigned k = 0; k < pods; k++)
			put_identical(w, names[k]);
		put = bench_ms();
		p = plan_make(w, 0, a);
		done = bench_ms();
		for (size_t k = 0; k < p->npods; k++)
			if (p->npods != pods || p->pods[k].outcome != PLAN_ON_NEW)
				bench_die("not all pods are served");
		if (!i || done - began < best) {
			best = done - began;
			plans = done - put;
		}
		for (unsigned k = 0; k < pods; k++)
			(void)world_del_pod(w, "t", "default", names[k]);
	}
	free(names);
	(void)fprintf(stderr, "%u identical pods: %.1f ms, of it the plan %.1f ms\n", pods, best,
		      plans);
	return best;
}

static double incremental(void)
{
	OWN(world) w = make_world(0, true);
	uint64_t s = 1;
	double best = 0;

	bench_put_nodes(w, 5000, 10, NULL);
	for (unsigned i = 0; i < 4 * ROUNDS; i++) {
		OWN(arena) a = arena_new();
		const double began = bench_ms();
		const struct plan *p;
		double took;

		mix_put_pod(w, i, 1, false, &s, NULL);
		p = plan_make(w, 0, a);
		took = bench_ms() - began;
		if (p->npods != i + 1)
			bench_die("the pod is not in the plan");
		if (!i || took < best)
			best = took;
	}
	return best;
}

static double wait_for(bool timed, size_t *told)
{
	double best = 0;

	for (int i = 0; i < ROUNDS; i++) {
		OWN(arena) a = arena_new();
		OWN(world) w = bench_world(0, BENCH_TYPES, 1);
		uint64_t s = 42;
		const struct plan *p;
		double began, took;

		for (unsigned k = 0; k < 2001; k++) {
			char name[32], provider[16], type[16];
			const int64_t at = timed ? (int64_t)(1 + k * 7919 % 2001) * 1000 : 0;

			(void)str_format(name, sizeof(name), "machine-%u", k);
			(void)str_format(provider, sizeof(provider), "provider-%u", k % 3);
			(void)str_format(type, sizeof(type), "type-%u", k % BENCH_TYPES + 1);
			world_put_machine(w, &(struct world_machine){.name = name,
								     .provider = provider,
								     .instance_type = type,
								     .not_offered = "wiping",
								     .free_p50_ms = at,
								     .free_p90_ms = 2 * at,
								     .level_flash = -1,
								     .level_hdd = -1});
		}
		for (unsigned k = 0; k < 20000; k++)
			mix_put_pod(w, k, 20000, true, &s, NULL);
		began = bench_ms();
		p = plan_make(w, 0, a);
		took = bench_ms() - began;
		*told = 0;
		for (size_t k = 0; k < p->npods; k++)
			*told += p->pods[k].expected.machine != NULL;
		if (!i || took < best)
			best = took;
	}
	return best;
}

static double timeline(void)
{
	size_t told, none;
	const double with = wait_for(true, &told), without = wait_for(false, &none);

	if (told < 5000 || none)
		bench_die("not all that wait are told when");
	(void)fprintf(stderr, "%zu of 20000 pods are told when: %.1f ms, without %.1f ms\n", told,
		      with, without);
	return with - without;
}

static struct bench_figure peak(unsigned pods)
{
	struct world *w = make_world(pods, true);
	struct arena *a = arena_new();

	bench_put_nodes(w, 2000, 0, NULL);
	if (plan_make(w, 0, a)->npods != pods)
		bench_die("not all pods are in the plan");
	return (struct bench_figure){0};
}

static void print(const char *name, double value, const char *unit, double goal,
		  const char *reference, double reference_value, unsigned n)
{
	entry_print(
		&(struct entry){name, unit, "lower", value, goal, reference, reference_value, n});
}

int main(void)
{
	struct times t;

	mem_init();
	print("plan_rss_mb", bench_apart(peak, 20000).mb, "MB", 64,
	      "Karpenter, gate for 2,000 pods", 1330, 20000);
	t = measure(1000);
	print("plan_1k_mixed_ms", t.all, "ms", 8, "Karpenter", 2260, 1000);
	t = measure(5000);
	print("plan_5k_mixed_ms", t.all, "ms", 25, "Karpenter", 12500, 5000);
	t = measure(20000);
	print("plan_20k_mixed_ms", t.all, "ms", 80, "Karpenter", 68700, 20000);
	print("plan_20k_mixed_solve_ms", t.solve, "ms", 80, "Karpenter", 68700, 20000);
	print("plan_4k_preferences_ms", preferences(), "ms", 60,
	      "Karpenter, with preferred anti-affinity too", 50700, 4000);
	print("plan_50k_identical_ms", identical(50000), "ms", 25,
	      "Cluster Autoscaler, 51,000 like pods, published", 41.4, 50000);
	print("plan_timeline_ms", timeline(), "ms", 10, "goal", 10, 20000);
	print("plan_incremental_ms", incremental(), "ms", 5, "goal", 5, 5000);
	return 0;
}
