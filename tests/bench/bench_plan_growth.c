/*
 * bench_plan_growth: how the time of a plan grows with its size, in the cases in which planners
 * become quadratic. Each case is planned with n / 8, n / 4, n / 2 and n, each in its own process.
 * The result is the time in ms, the memory in MB, and the exponent of the growth.
 *
 *   plan_growth_hosts        identical pods, spread over hosts with maxSkew 3
 *   plan_growth_apps         apps of 10 pods, each spread over zones, apart on hosts, and away from
 *                            another app
 *   plan_growth_shapes       pods with all different requests
 *   plan_growth_pools        pods with all different requests, for 50 pools
 *   plan_growth_racks        racks of 8 machines, pods of jobs, spread over racks or apart on them
 *   plan_growth_gangs        gangs of 8 pods, one machine for each pod, in 250 racks of 10 machines
 *   plan_growth_identical    identical pods
 *   plan_unplaced_topology   160,000 pods with all different requests, of apps of 10 pods, spread
 *                            over zones and apart on hosts, for 50 pools that share 150 machines:
 *                            the time, and the number of pods that are placed. Of 2,500 to 160,000
 *                            such pods, no more may be placed of fewer
 *   plan_50k_on_nodes_ms     50,000 pods of 500 shapes for 5,000 Nodes with enough free capacity
 *   plan_incremental_topology_ms   one more pod that is spread over zones and hosts, beside 50,000
 *                                  such pods on 5,000 Nodes; and the memory of this plan
 *
 * Times are processor time of the plan only, the best of the rounds. Every pod must be served,
 * unless the case says otherwise.
 */
#include <string.h>
#include "base/mem.h"
#include "tests/bench/entry.h"
#include "tests/bench/plan_world.h"

#define ROUNDS 3
#define POOLS 50
/* Number of sizes at which each case is planned */
#define SIZES 4
#define RACK "topology.drover.dev/rack"

static struct bench_figure measure(struct world *(*build)(unsigned n), unsigned n)
{
	struct bench_figure best = {0};

	for (int i = 0; i < ROUNDS; i++) {
		OWN(arena) a = arena_new();
		const double began = bench_ms();
		OWN(world) w = build(n);
		const double built = bench_ms();
		const struct plan *p = plan_make(w, 0, a);
		const double done = bench_ms();
		size_t served = 0;

		for (size_t k = 0; k < p->npods; k++)
			served += p->pods[k].outcome != PLAN_NOTHING;
		if (!i || done - built < best.plan_ms)
			best = (struct bench_figure){.all_ms = done - began,
						     .plan_ms = done - built,
						     .served = served,
						     .pods = p->npods,
						     .claims = p->nclaims};
	}
	return best;
}

static void put_pod(struct world *w, unsigned i, const struct world_pod *like, int64_t cpu)
{
	struct resource requests[2] = {{"cpu", bench_milli(cpu)},
				       {"memory", quantity_of(256 * BENCH_MIB)}};
	struct world_pod p = *like;
	char name[32];

	(void)str_format(name, sizeof(name), "pod-%06u", i);
	p.tenant = "t";
	p.ns = "default";
	p.name = p.uid = name;
	p.unschedulable = true;
	p.requests.v = requests;
	p.requests.n = 2;
	world_put_pod(w, &p);
}

/* --- cases ------------------------------------------------------------------------------------ */

static struct world *hosts(unsigned n)
{
	struct world *w = bench_world(n / 6 + BENCH_TYPES, BENCH_TYPES, 1);
	struct label label = {"app", "web"};
	struct requirement of = {"app", SELECTOR_IN, (const char *[]){"web"}, 1};
	struct world_topology t = {
		.kind = WORLD_SPREAD, .key = BENCH_HOST, .max_skew = 3, .pods = {&of, 1}};
	const struct world_pod like = {.labels = {&label, 1}, .topology = {&t, 1}};

	for (unsigned i = 0; i < n; i++)
		put_pod(w, i, &like, 500);
	return w;
}

static struct world *apps(unsigned n)
{
	struct world *w = bench_world(n / 6 + BENCH_TYPES, BENCH_TYPES, 1);

	for (unsigned i = 0; i < n; i++) {
		char app[16], other[16];
		const char *own = app, *enemy = other;
		struct label label = {"app", app};
		struct requirement of = {"app", SELECTOR_IN, &own, 1},
				   against = {"app", SELECTOR_IN, &enemy, 1};
		struct world_topology t[] = {
			{.kind = WORLD_SPREAD, .key = BENCH_ZONE, .max_skew = 1, .pods = {&of, 1}},
			{.kind = WORLD_APART, .key = BENCH_HOST, .pods = {&of, 1}},
			{.kind = WORLD_APART, .key = BENCH_HOST, .pods = {&against, 1}},
		};
		const struct world_pod like = {.labels = {&label, 1}, .topology = {t, 3}};

		(void)str_format(app, sizeof(app), "app-%u", i / 10);
		(void)str_format(other, sizeof(other), "app-%u", i / 10 ^ 1);
		put_pod(w, i, &like, 500);
	}
	return w;
}

static struct world *shapes_for(unsigned n, unsigned pools)
{
	struct world *w = bench_world(n / 50 + BENCH_TYPES, BENCH_TYPES, pools);

	for (unsigned i = 0; i < n; i++)
		put_pod(w, i, &(struct world_pod){0}, 500 + i);
	return w;
}

static struct world *shapes(unsigned n)
{
	return shapes_for(n, 1);
}

static struct world *pools(unsigned n)
{
	return shapes_for(n, POOLS);
}

static void put_racks(struct world *w, unsigned n, unsigned size)
{
	for (unsigned i = 0; i < n * size; i++) {
		char name[32], rack[32];
		struct label label = {RACK, rack};
		struct world_machine m = {.name = name,
					  .provider = "provider-0",
					  .instance_type = "type-16",
					  .labels = {&label, 1},
					  .offered = true,
					  .level_flash = -1,
					  .level_hdd = -1};

		(void)str_format(rack, sizeof(rack), "rack-%u", i / size);
		(void)str_format(name, sizeof(name), "machine-%u", i);
		world_put_machine(w, &m);
	}
}

static struct world *racks(unsigned n)
{
	struct world *w = bench_world(0, BENCH_TYPES, 1);

	put_racks(w, n, 8);
	for (unsigned i = 0; i < n * 8; i++) {
		char job[16];
		const char *own = job;
		struct label label = {"job", job};
		struct requirement of = {"job", SELECTOR_IN, &own, 1};
		struct world_topology t = {.kind = i % 2 ? WORLD_APART : WORLD_SPREAD,
					   .key = RACK,
					   .max_skew = 1,
					   .pods = {&of, 1}};
		const struct world_pod like = {.labels = {&label, 1}, .topology = {&t, 1}};

		(void)str_format(job, sizeof(job), "job-%u", (i & 1) + i / 32 * 2);
		put_pod(w, i, &like, 4000);
	}
	return w;
}

static struct world *gangs(unsigned n)
{
	struct world *w = bench_world(0, BENCH_TYPES, 1);
	const char *const levels[] = {RACK};

	world_put_levels(w, levels, 1);
	put_racks(w, 250, 10); /* The planner considers every rack for each gang. */
	for (unsigned i = 0; i < n * 8; i++) {
		char key[16];
		const struct world_pod like = {.gang = {key, 8}};

		(void)str_format(key, sizeof(key), "job-%u", i / 8);
		put_pod(w, i, &like, 15000);
	}
	return w;
}

static struct world *identical(unsigned n)
{
	struct world *w = bench_world(BENCH_TYPES * 4, BENCH_TYPES, 1);

	for (unsigned i = 0; i < n; i++)
		put_pod(w, i, &(struct world_pod){0}, 500);
	return w;
}

static struct world *on_nodes(unsigned n)
{
	struct world *w = bench_world(BENCH_TYPES, BENCH_TYPES, 1);

	bench_put_nodes(w, n / 10, 0, NULL);
	for (unsigned i = 0; i < n; i++)
		put_pod(w, i, &(struct world_pod){0}, 500 + i % 500);
	return w;
}

static struct world *unplaced(unsigned n)
{
	struct world *w = bench_world_of(50, BENCH_TYPES, POOLS, WORLD_EXPANDER_LEAST_COST);

	for (unsigned i = 0; i < n; i++) {
		char app[16];
		const char *own = app;
		struct label label = {"app", app};
		struct requirement of = {"app", SELECTOR_IN, &own, 1};
		struct world_topology t[] = {
			{.kind = WORLD_SPREAD, .key = BENCH_ZONE, .max_skew = 1, .pods = {&of, 1}},
			{.kind = WORLD_APART, .key = BENCH_HOST, .pods = {&of, 1}}};

		(void)str_format(app, sizeof(app), "app-%u", i / 10);
		put_pod(w, i, &(struct world_pod){.labels = {&label, 1}, .topology = {t, 2}},
			500 + i);
	}
	return w;
}

#define CASE(name)                                                                                 \
	static struct bench_figure measure_##name(unsigned n)                                      \
	{                                                                                          \
		return measure(name, n);                                                           \
	}
CASE(hosts)
CASE(apps)
CASE(shapes)
CASE(pools)
CASE(racks)
CASE(gangs)
CASE(identical)
CASE(on_nodes)
CASE(unplaced)

/* --- a plan after one change ------------------------------------------------------------------ */

static struct bench_figure incremental(unsigned n)
{
	OWN(world) w = bench_world(BENCH_TYPES, BENCH_TYPES, 1);
	struct label label = {"app", "web"};
	struct requirement of = {"app", SELECTOR_IN, (const char *[]){"web"}, 1};
	struct world_topology t[] = {
		{.kind = WORLD_SPREAD, .key = BENCH_ZONE, .max_skew = 1, .pods = {&of, 1}},
		{.kind = WORLD_SPREAD, .key = BENCH_HOST, .max_skew = 20, .pods = {&of, 1}}};
	const struct world_pod like = {.labels = {&label, 1}, .topology = {t, 2}};
	struct bench_figure best = {0};

	bench_put_nodes(w, n, 10, &like);
	for (unsigned i = 0; i < 5 * ROUNDS; i++) {
		OWN(arena) a = arena_new();
		const double began = bench_ms();
		const struct plan *p;
		double took;

		put_pod(w, i, &like, 100);
		p = plan_make(w, 0, a);
		took = bench_ms() - began;
		if (p->npods != i + 1 || p->pods[i].outcome == PLAN_NOTHING)
			bench_die("the pod is not served");
		if (!i || took < best.plan_ms)
			best = (struct bench_figure){.plan_ms = took,
						     .mb = (double)arena_size(a) / 1048576};
	}
	return best;
}

/* --- output ----------------------------------------------------------------------------------- */

static void print(const char *name, const char *what, double value, const char *unit, double goal,
		  unsigned n, const struct entry_curve *curve)
{
	char text[64];

	(void)str_format(text, sizeof(text), "%s_%s", name, what);
	entry_print_curve(&(struct entry){text, unit, "lower", value, goal, "goal", goal, n},
			  curve);
}

static struct bench_figure served(const char *name, struct bench_figure (*fn)(unsigned n),
				  unsigned n)
{
	struct bench_figure f = bench_apart(fn, n);

	(void)fprintf(stderr, "%s %u: plan %.1f ms, with its world %.1f ms, %.0f MB, %zu claims\n",
		      name, n, f.plan_ms, f.all_ms, f.mb, f.claims);
	if (f.served != f.pods)
		(void)fprintf(stderr, "%s %u: %zu of %zu pods are served\n", name, n, f.served,
			      f.pods);
	if (f.served != f.pods)
		bench_die("not all pods are served");
	return f;
}

static void grow(const char *name, struct bench_figure (*fn)(unsigned n), unsigned n,
		 double goal_ms)
{
	struct entry_curve ms = {.n = SIZES, .sizes = {n / 8, n / 4, n / 2, n}}, mb = ms;

	for (size_t i = 0; i < SIZES; i++) {
		const struct bench_figure f = served(name, fn, ms.sizes[i]);

		ms.values[i] = f.plan_ms;
		mb.values[i] = f.mb;
	}
	print(name, "ms", ms.values[SIZES - 1], "ms", goal_ms, n, &ms);
	print(name, "mb", mb.values[SIZES - 1], "MB", 64, n, &mb);
	print(name, "exponent", entry_exponent(&ms), "", 1.1, n, NULL);
}

/* Plans from 2,500 to 160,000 pods of which most find no machine. */
static void place_some(const char *name)
{
	struct bench_figure f = {0};
	unsigned n = 2500;

	for (; n <= 160000; n *= 2) {
		const size_t before = f.served;

		f = bench_apart(measure_unplaced, n);
		(void)fprintf(stderr, "%s %u: plan %.1f ms, %.0f MB, %zu pods are placed\n", name,
			      n, f.plan_ms, f.mb, f.served);
		if (f.served < before)
			bench_die("more pods asked, and fewer are placed");
	}
	print(name, "ms", f.plan_ms, "ms", 400, n / 2, NULL);
	entry_print(&(struct entry){"plan_unplaced_topology_placed", "pods", "higher",
				    (double)f.served, 2260, "goal", 2260, n / 2});
}

int main(void)
{
	struct bench_figure f;

	mem_init();
	grow("plan_growth_identical", measure_identical, 50000, 25);
	grow("plan_growth_hosts", measure_hosts, 50000, 100);
	grow("plan_growth_apps", measure_apps, 20000, 100);
	grow("plan_growth_shapes", measure_shapes, 20000, 150);
	grow("plan_growth_pools", measure_pools, 20000, 150);
	grow("plan_growth_racks", measure_racks, 2000, 150);
	grow("plan_growth_gangs", measure_gangs, 250, 100);
	place_some("plan_unplaced_topology");
	f = served("plan_50k_on_nodes", measure_on_nodes, 50000);
	print("plan_50k_on_nodes", "ms", f.plan_ms, "ms", 150, 50000, NULL);
	f = bench_apart(incremental, 5000);
	print("plan_incremental_topology", "ms", f.plan_ms, "ms", 5, 5000, NULL);
	return 0;
}
