/*
 * bench_consolidate: measures one consolidation sweep over a fleet, as the controller makes it
 * after a plan. A sweep decides which Nodes can be released, and to which Nodes their pods can
 * move.
 *
 *   consolidate_1k_nodes_ms   1,000 nodes of 16 CPUs with 10 pods each, of sizes as in
 *                             tests/bench/plan_mix.h: some 40% of the CPUs are requested, and a
 *                             third of the pods must be in one of three zones
 *
 * The world is built beforehand, as in the controller. Times are processor time, the best of the
 * rounds. A separate checker adds up the resources of each node after all pods have moved as the
 * sweep decided.
 */
#include "tests/bench/entry.h"
#include "tests/bench/plan_world.h"

#include "base/mem.h"
#include "planner/consolidate.h"

#define ROUNDS 5
enum { NODES = 1000, EACH = 10, PODS = NODES * EACH, CPUS = 16000, GIB = 64 };

struct fleet {
	struct {
		int64_t milli, mib;
		unsigned node;
		bool picky;
	} pod[PODS];
	bool gone[NODES];
};

static void put_node(struct world *w, unsigned i)
{
	struct resource room[] = {{"cpu", bench_milli(CPUS)},
				  {"memory", quantity_of((int64_t)GIB * 1024 * BENCH_MIB)},
				  {"pods", quantity_of(110)}};
	char name[32], zone[16];
	struct label labels[] = {{BENCH_HOST, name}, {BENCH_ZONE, zone}};

	(void)str_format(name, sizeof(name), "node-%u", i);
	(void)str_format(zone, sizeof(zone), "zone-%u", i % BENCH_ZONES);
	world_put_claim(w, &(struct world_claim){.name = name,
						 .tenant = "t",
						 .pool = "pool-0",
						 .machine = name,
						 .ready = true,
						 .capacity = {room, 3}});
	world_put_node(w, &(struct world_node){.tenant = "t",
					       .name = name,
					       .claim = name,
					       .ready = true,
					       .labels = {labels, 2},
					       .allocatable = {room, 3}});
}

static void put_pod(struct world *w, const struct fleet *f, unsigned i)
{
	char name[32], node[32], zone[16];
	struct resource asks[] = {{"cpu", bench_milli(f->pod[i].milli)},
				  {"memory", quantity_of(f->pod[i].mib * BENCH_MIB)}};
	struct label selects = {BENCH_ZONE, zone};

	(void)str_format(name, sizeof(name), "%u", i);
	(void)str_format(node, sizeof(node), "node-%u", f->pod[i].node);
	(void)str_format(zone, sizeof(zone), "zone-%u", f->pod[i].node % BENCH_ZONES);
	world_put_pod(w, &(struct world_pod){.tenant = "t",
					     .ns = "default",
					     .name = name,
					     .uid = name,
					     .node = node,
					     .requests = {asks, 2},
					     .node_selector = {&selects, f->pod[i].picky}});
}

static struct world *make(struct fleet *f)
{
	static const int64_t millis[] = {100, 250, 500, 1000, 1500},
			     mibs[] = {100, 256, 512, 1024, 2048, 4096};
	struct world *w = bench_world(0, BENCH_TYPES, 1);
	const char *providers[] = {"provider-0"}, *versions[] = {"1.36"};
	uint64_t s = 42;

	world_put_pool(w, &(struct world_pool){.name = "pool-0",
					       .providers = providers,
					       .nproviders = 1,
					       .versions = versions,
					       .nversions = 1,
					       .underused = true});
	for (unsigned i = 0; i < NODES; i++)
		put_node(w, i);
	for (unsigned i = 0; i < PODS; i++) {
		f->pod[i].milli = millis[bench_next(&s) % 5];
		f->pod[i].mib = mibs[bench_next(&s) % 6];
		f->pod[i].node = i / EACH;
		f->pod[i].picky = bench_next(&s) % 3 == 0;
		put_pod(w, f, i);
	}
	return w;
}

static void check(struct fleet f, const struct consolidate *c)
{
	int64_t milli[NODES] = {0}, mib[NODES] = {0};

	for (size_t i = 0; i < c->n; i++) {
		const struct consolidate_node *n = &c->v[i];

		f.gone[strtoul(n->node + 5, NULL, 10)] = n->verdict == CONSOLIDATE_GIVE;
		for (size_t k = 0; k < n->nmoves; k++) {
			const unsigned long pod = strtoul(n->moves[k].pod, NULL, 10),
					    to = strtoul(n->moves[k].to + 5, NULL, 10);

			if (f.pod[pod].picky && f.pod[pod].node % BENCH_ZONES != to % BENCH_ZONES)
				bench_die("a pod is in a zone that it does not want");
			f.pod[pod].node = (unsigned)to;
		}
	}
	for (unsigned i = 0; i < PODS; i++) {
		milli[f.pod[i].node] += f.pod[i].milli;
		mib[f.pod[i].node] += f.pod[i].mib;
	}
	for (unsigned i = 0; i < NODES; i++)
		if (milli[i] > CPUS || mib[i] > GIB * 1024 || (f.gone[i] && milli[i]))
			bench_die("a node has more than there is room for, or is gone");
}

int main(void)
{
	static struct fleet f;
	double best = 0;
	size_t given = 0;

	mem_init();
	for (int i = 0; i < ROUNDS; i++) {
		OWN(arena) a = arena_new();
		OWN(world) w = make(&f);
		const double began = bench_ms();
		struct consolidate_run *r = consolidate_begin(w, 0, a);
		const struct consolidate *c = consolidate_step(r, UINT64_MAX);
		const double took = bench_ms() - began;

		if (c->n != NODES || c->given < NODES / 3)
			bench_die("not all Nodes are tried, or few are given");
		check(f, c);
		given = c->given;
		consolidate_end(r);
		best = !i || took < best ? took : best;
	}
	(void)fprintf(stderr, "%zu of %d nodes are given back: %.1f ms\n", given, NODES, best);
	entry_print(&(struct entry){"consolidate_1k_nodes_ms", "ms", "lower", best, 500,
				    "Karpenter, 1,000 nodes, published", 1080000, NODES});
	return 0;
}
