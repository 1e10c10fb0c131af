#ifndef TESTS_BENCH_PLAN_WORLD_H
#define TESTS_BENCH_PLAN_WORLD_H

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "base/str.h"
#include "planner/plan.h"

/*
 * plan_world: builds the worlds of the planner's benchmarks. A world has tenant "t", pool "pool",
 * and the types of Karpenter's scheduling benchmark: type i has i CPUs, 2i GiB and 10i pods, less
 * 100m and 10Mi. There are three zones with one Provider each.
 *
 * Times are processor time, so other load on the computer does not count.
 */
#define BENCH_TYPES 400
#define BENCH_ZONES 3
#define BENCH_MIB ((int64_t)1024 * 1024)
#define BENCH_ZONE "topology.kubernetes.io/zone"
#define BENCH_HOST "kubernetes.io/hostname"

static inline double bench_ms(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static inline _Noreturn void bench_die(const char *what)
{
	(void)fprintf(stderr, "bench: %s\n", what);
	exit(1);
}

/* Returns the next number of a repeatable sequence (xorshift64, Marsaglia 2003). */
static inline uint64_t bench_next(uint64_t *s)
{
	*s ^= *s << 13;
	*s ^= *s >> 7;
	*s ^= *s << 17;
	return *s;
}

static inline struct quantity bench_milli(int64_t n)
{
	return (struct quantity){(__int128)n * 1000000};
}

/* Adds a Provider with `machines` machines: one of each type, then more of the first of_types types
 * in turn. */
static inline void bench_put_provider(struct world *w, unsigned zone, unsigned machines,
				      unsigned of_types)
{
	static struct world_instance_type types[BENCH_TYPES];
	static struct resource capacity[BENCH_TYPES][3];
	static char names[BENCH_TYPES][16];
	char provider[16], zone_name[16];
	struct label label = {BENCH_ZONE, zone_name};

	(void)str_format(provider, sizeof(provider), "provider-%u", zone);
	(void)str_format(zone_name, sizeof(zone_name), "zone-%u", zone);
	for (unsigned i = 0; i < BENCH_TYPES; i++) {
		(void)str_format(names[i], sizeof(names[i]), "type-%u", i + 1);
		capacity[i][0] =
			(struct resource){"cpu", bench_milli((int64_t)(i + 1) * 1000 - 100)};
		capacity[i][1] = (struct resource){
			"memory",
			quantity_of((int64_t)(i + 1) * 2048 * BENCH_MIB - 10 * BENCH_MIB)};
		capacity[i][2] = (struct resource){"pods", quantity_of((int64_t)(i + 1) * 10)};
		types[i] = (struct world_instance_type){
			.name = names[i], .capacity = {capacity[i], 3}, .labels = {&label, 1}};
	}
	world_put_provider(
		w, &(struct world_provider){.name = provider, .types = {types, BENCH_TYPES}});
	for (unsigned i = 0; i < machines; i++) {
		char name[32];
		struct world_machine m = {.name = name,
					  .provider = provider,
					  .instance_type =
						  names[i < BENCH_TYPES ? i : i % of_types],
					  .offered = true,
					  .level_flash = -1,
					  .level_hdd = -1};

		(void)str_format(name, sizeof(name), "machine-%u-%u", zone, i);
		world_put_machine(w, &m);
	}
}

/* Creates a world with this many machines in each zone, and `pools` identical pools. */
static inline struct world *bench_world_of(unsigned machines, unsigned of_types, unsigned pools,
					   enum world_expander expander)
{
	struct world *w = world_new();
	const char *providers[BENCH_ZONES] = {"provider-0", "provider-1", "provider-2"},
		   *versions[] = {"1.36"};

	world_put_tenant(w, &(struct world_tenant){.name = "t", .weight = 1, .version = "1.36"});
	for (unsigned z = 0; z < BENCH_ZONES; z++)
		bench_put_provider(w, z, machines, of_types);
	for (unsigned i = 0; i < pools; i++) {
		char name[16];

		(void)str_format(name, sizeof(name), "pool-%u", i);
		world_put_pool(w, &(struct world_pool){.name = name,
						       .expander = expander,
						       .providers = providers,
						       .nproviders = BENCH_ZONES,
						       .versions = versions,
						       .nversions = 1});
	}
	return w;
}

static inline struct world *bench_world(unsigned machines, unsigned of_types, unsigned pools)
{
	return bench_world_of(machines, of_types, pools, WORLD_EXPANDER_AUTO);
}

/* Adds Nodes of 16 CPUs with pods_each bound pods on each. bound: properties of these pods; this
 * function sets name, node and requests. */
static inline void bench_put_nodes(struct world *w, unsigned nodes, unsigned pods_each,
				   const struct world_pod *bound)
{
	struct resource room[] = {{"cpu", bench_milli(16000)},
				  {"memory", quantity_of(65536 * BENCH_MIB)},
				  {"pods", quantity_of(110)}};
	struct resource used[] = {
		{"cpu", bench_milli(16000 / (2 * (pods_each + 1)))},
		{"memory", quantity_of(65536 / (2 * (pods_each + 1)) * BENCH_MIB)}};

	for (unsigned i = 0; i < nodes; i++) {
		char name[32], zone[16];
		struct label labels[] = {{BENCH_HOST, name}, {BENCH_ZONE, zone}};

		(void)str_format(name, sizeof(name), "node-%u", i);
		(void)str_format(zone, sizeof(zone), "zone-%u", i % BENCH_ZONES);
		world_put_node(w, &(struct world_node){.tenant = "t",
						       .name = name,
						       .ready = true,
						       .labels = {labels, 2},
						       .allocatable = {room, 3}});
		for (unsigned k = 0; k < pods_each; k++) {
			struct world_pod p = bound ? *bound : (struct world_pod){0};
			char pod[32];

			(void)str_format(pod, sizeof(pod), "bound-%u-%u", i, k);
			p.tenant = "t";
			p.ns = "default";
			p.name = p.uid = pod;
			p.node = name;
			p.requests.v = used;
			p.requests.n = 2;
			world_put_pod(w, &p);
		}
	}
}

/* Result of a measurement: the best time of its rounds, and the peak of memory of its process. 0
 * means not measured: the time of one work unit, the number of work units, and the time of a walk
 * over as much memory as the world and the plan have. */
struct bench_figure {
	double all_ms, plan_ms, unit_ns, walk_ms, work, mb;
	size_t served, pods, claims;
};

/* Runs fn(n) in a child process, so that the memory of earlier measurements does not count; returns
 * its result. */
static inline struct bench_figure bench_apart(struct bench_figure (*fn)(unsigned n), unsigned n)
{
	struct bench_figure f = {0};
	struct rusage u;
	int ends[2], status;
	pid_t pid;

	if (pipe(ends) < 0)
		bench_die("pipe");
	pid = fork();
	if (pid == 0) {
		f = fn(n);
		if (getrusage(RUSAGE_SELF, &u) < 0)
			bench_die("getrusage");
		f.mb = (double)u.ru_maxrss / 1024;
		_exit(write(ends[1], &f, sizeof(f)) == sizeof(f) ? 0 : 1);
	}
	(void)close(ends[1]);
	if (pid < 0 || read(ends[0], &f, sizeof(f)) != sizeof(f) ||
	    waitpid(pid, &status, 0) != pid || status)
		bench_die("the child failed");
	(void)close(ends[0]);
	return f;
}

#endif
