/*
 * plan_peer: drover's part of `make bench-peers`. It plans PODS pods of the mix (plan_mix.h), and
 * writes the pods to LIST, so that the other program can plan the same ones. EXPANDER is that of
 * the pool: LeastNodes or LeastCost.
 *
 *   plan_peer PODS ROUNDS LIST EXPANDER
 *
 * It prints one line of JSON: the best time of the rounds, with and without adding the pods and
 * machines, the peak of memory, the number of nodes, and their cost. The price of a type is that of
 * Karpenter's fake cloud: 0.1 for a CPU and 0.1 for 10^9 bytes.
 */
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "base/str.h"
#include "tests/bench/plan_mix.h"

/* The machines are of this many types, the smallest ones, each of which fits a handful of pods. A
 * cloud never runs out of instances, so each zone has as many machines as there are pods */
#define SMALL_TYPES 16

static struct world *make_world(unsigned pods, enum world_expander expander, FILE *list)
{
	struct world *w = bench_world_of(pods + BENCH_TYPES, SMALL_TYPES, 1, expander);

	mix_put_pods(w, pods, true, list);
	return w;
}

static double price_of(const char *type)
{
	const double cpus = (double)strtol(type + strlen("type-"), NULL, 10);

	return 0.1 * cpus + 0.1 * cpus * 2048 * (double)BENCH_MIB / 1e9;
}

static double price(const struct plan *p)
{
	double sum = 0;

	for (size_t i = 0; i < p->nclaims; i++)
		sum += price_of(p->claims[i].instance_type);
	return sum;
}

static enum world_expander expander_of(const char *name)
{
	return str_eq(name, "LeastNodes")  ? WORLD_EXPANDER_LEAST_NODES
	       : str_eq(name, "LeastCost") ? WORLD_EXPANDER_LEAST_COST
					   : WORLD_EXPANDER_AUTO;
}

int main(int argc, char **argv)
{
	const unsigned pods = argc == 5 ? (unsigned)strtoul(argv[1], NULL, 10) : 0,
		       rounds = argc == 5 ? (unsigned)strtoul(argv[2], NULL, 10) : 0;
	const enum world_expander expander = argc == 5 ? expander_of(argv[4]) : WORLD_EXPANDER_AUTO;
	double all = 0, solve = 0, cost = 0;
	struct rusage u;
	size_t nodes = 0;
	FILE *list;

	mem_init();
	if (!pods || !rounds || expander == WORLD_EXPANDER_AUTO)
		bench_die("usage: plan_peer PODS ROUNDS LIST LeastNodes|LeastCost");
	for (unsigned i = 0; i < rounds; i++) {
		OWN(arena) a = arena_new();
		const double began = bench_ms();
		OWN(world) w = make_world(pods, expander, NULL);
		const double built = bench_ms();
		const struct plan *p = plan_make(w, 0, a);
		const double done = bench_ms();

		for (size_t k = 0; k < p->npods; k++)
			if (p->pods[k].outcome != PLAN_ON_NEW)
				bench_die("not all pods are served");
		if (!i || done - began < all) {
			all = done - began;
			solve = done - built;
		}
		nodes = p->nclaims;
		cost = price(p);
	}
	if (getrusage(RUSAGE_SELF, &u) < 0)
		bench_die("getrusage");
	list = fopen(argv[3], "we");
	if (!list)
		bench_die(argv[3]);
	world_free(make_world(pods, expander, list));
	if (fclose(list))
		bench_die(argv[3]);
	printf("{\"pods\": %u, \"ms\": %.3f, \"plan_ms\": %.3f, \"mb\": %.1f, \"nodes\": %zu, "
	       "\"price\": %.2f}\n",
	       pods, all, solve, (double)u.ru_maxrss / 1024, nodes, cost);
	return 0;
}
