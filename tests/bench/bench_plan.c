/*
 * bench_plan: one thread builds a world from nothing (400 instance types, each
 * in three zones, every machine and every pod put one by one) and plans it.
 *
 *	plan_1k_mixed_ms, plan_5k_mixed_ms, plan_20k_mixed_ms   world and plan, the mix below
 *	plan_50k_identical_ms                                   the same, pods all alike
 *	plan_20k_mixed_solve_ms                                 plan_make() alone
 *	plan_incremental_ms   one more pod in a fleet of 5,000 nodes with 10 pods each: put and plan
 *	plan_rss_mb           peak with 20,000 pending pods and 2,000 nodes, in a process of its own
 *
 * The mix is the distribution of Karpenter's scheduling benchmark: CPU uniform
 * over 100, 250, 500, 1000 and 1500m, memory over 100, 256, 512, 1024, 2048 and
 * 4096Mi, labels over 7 letters; type i has i CPUs, 2i GiB and room for 10i
 * pods, less 100m and 10Mi.
 *
 * Five equal classes: plain, spread over zones, spread over hosts, together in a
 * zone (with their own label), apart on hosts (one label, so one node each).
 *
 * What differs from the reference: machines are finite and named, and each is
 * put, too; there is no price, so the type that wastes least is taken; spot and
 * on demand are one.  Karpenter's figures were taken without making the pods.
 *
 * Times are the best of the rounds.  Every pod must be served.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <jansson.h>
#include "base/mem.h"
#include "base/str.h"
#include "planner/plan.h"

#define TYPES 400
#define ZONES 3
#define ROUNDS 5
#define MIB ((int64_t)1024 * 1024)

static double now_ms(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static _Noreturn void die(const char *what)
{
	(void)fprintf(stderr, "bench_plan: %s\n", what);
	exit(1);
}

/* A repeatable sequence (source: xorshift64, Marsaglia 2003). */
static uint64_t next(uint64_t *s)
{
	*s ^= *s << 13;
	*s ^= *s >> 7;
	*s ^= *s << 17;
	return *s;
}

static struct quantity milli(int64_t n)
{
	return (struct quantity){(__int128)n * 1000000};
}

/* --- the world ----------------------------------------------------------------------------------- */

enum kind { PLAIN, ZONE_SPREAD, HOST_SPREAD, ZONE_TOGETHER, HOST_APART, KINDS };

static const char *const letters[] = {"a", "b", "c", "d", "e", "f", "g"};

static void put_pod(struct world *w, unsigned i, unsigned total, bool mixed, uint64_t *s)
{
	static const int64_t cpu[] = {100, 250, 500, 1000, 1500},
			     mib[] = {100, 256, 512, 1024, 2048, 4096};
	const enum kind kind =
		!mixed || i / (total / KINDS) >= KINDS ? PLAIN : (enum kind)(i / (total / KINDS));
	const char *own = mixed ? letters[next(s) % 7] : "a", *other = letters[next(s) % 7];
	struct resource requests[2] = {
		{"cpu", milli(mixed ? cpu[next(s) % 5] : 500)},
		{"memory", quantity_of((mixed ? mib[next(s) % 6] : 512) * MIB)}};
	struct label label = {"my-label", kind == HOST_APART ? "nginx" : own};
	const char *value = kind == ZONE_TOGETHER ? own : kind == HOST_APART ? "nginx" : other;
	struct requirement of = {"my-label", SELECTOR_IN, &value, 1};
	struct world_topology t = {.max_skew = 1, .pods = {&of, 1}};
	struct world_pod p = {.tenant = "t",
			      .ns = "default",
			      .unschedulable = true,
			      .requests = {requests, 2},
			      .labels = {&label, 1}};
	char name[32];

	(void)str_format(name, sizeof(name), "pod-%06u", i);
	p.name = p.uid = name;
	t.kind = kind == ZONE_TOGETHER ? WORLD_TOGETHER
		 : kind == HOST_APART  ? WORLD_APART
				       : WORLD_SPREAD;
	t.key = kind == ZONE_SPREAD || kind == ZONE_TOGETHER ? "topology.kubernetes.io/zone"
							     : "kubernetes.io/hostname";
	p.topology.v = &t;
	p.topology.n = kind == PLAIN ? 0 : 1;
	world_put_pod(w, &p);
}

static void put_provider(struct world *w, unsigned zone, unsigned machines)
{
	static struct world_instance_type types[TYPES];
	static struct resource capacity[TYPES][3];
	static char names[TYPES][16];
	char provider[16], zone_name[16];
	struct label label = {"topology.kubernetes.io/zone", zone_name};

	(void)str_format(provider, sizeof(provider), "provider-%u", zone);
	(void)str_format(zone_name, sizeof(zone_name), "zone-%u", zone);
	for (unsigned i = 0; i < TYPES; i++) {
		(void)str_format(names[i], sizeof(names[i]), "type-%u", i + 1);
		capacity[i][0] = (struct resource){"cpu", milli((int64_t)(i + 1) * 1000 - 100)};
		capacity[i][1] = (struct resource){
			"memory", quantity_of((int64_t)(i + 1) * 2048 * MIB - 10 * MIB)};
		capacity[i][2] = (struct resource){"pods", quantity_of((int64_t)(i + 1) * 10)};
		types[i] = (struct world_instance_type){names[i], {capacity[i], 3}, {&label, 1}};
	}
	world_put_provider(w, &(struct world_provider){.name = provider, .types = {types, TYPES}});
	for (unsigned i = 0; i < machines; i++) {
		char name[32];
		struct world_machine m = {.name = name,
					  .provider = provider,
					  .instance_type = names[i % TYPES],
					  .offered = true,
					  .level_flash = -1,
					  .level_hdd = -1};

		(void)str_format(name, sizeof(name), "machine-%u-%u", zone, i);
		world_put_machine(w, &m);
	}
}

static struct world *make_world(unsigned pods, bool mixed)
{
	struct world *w = world_new();
	const char *providers[ZONES] = {"provider-0", "provider-1", "provider-2"},
		   *versions[] = {"1.36"};
	uint64_t s = 42;

	world_put_tenant(w, &(struct world_tenant){.name = "t", .weight = 1, .version = "1.36"});
	for (unsigned z = 0; z < ZONES; z++)
		put_provider(w, z, mixed ? pods / 8 + TYPES : TYPES * 4);
	world_put_pool(w, &(struct world_pool){.name = "pool",
					       .providers = providers,
					       .nproviders = ZONES,
					       .versions = versions,
					       .nversions = 1});
	for (unsigned i = 0; i < pods; i++)
		put_pod(w, i, pods, mixed, &s);
	return w;
}

/* --- measuring ----------------------------------------------------------------------------------- */

struct times {
	double all, solve;
	size_t served, claims;
};

static struct times measure(unsigned pods, bool mixed)
{
	struct times best = {0};

	for (int i = 0; i < ROUNDS; i++) {
		OWN(arena) a = arena_new();
		const double began = now_ms();
		OWN(world) w = make_world(pods, mixed);
		const double built = now_ms();
		const struct plan *p = plan_make(w, 0, a);
		const double done = now_ms();
		size_t served = 0;

		for (size_t k = 0; k < p->npods; k++)
			served += p->pods[k].outcome == PLAN_ON_NEW;
		if (served != pods)
			die("not all pods are served");
		if (!i || done - began < best.all)
			best = (struct times){done - began, done - built, served, p->nclaims};
	}
	(void)fprintf(stderr,
		      "%u pods: %.1f ms, of it the plan %.1f ms; %zu served by %zu claims\n", pods,
		      best.all, best.solve, best.served, best.claims);
	return best;
}

static void put_nodes(struct world *w, unsigned nodes, unsigned pods_each)
{
	struct resource room[] = {{"cpu", milli(16000)},
				  {"memory", quantity_of(65536 * MIB)},
				  {"pods", quantity_of(110)}};
	struct resource used[] = {{"cpu", milli(1600)}, {"memory", quantity_of(4096 * MIB)}};

	for (unsigned i = 0; i < nodes; i++) {
		char name[32], zone[16];
		struct label labels[] = {{"kubernetes.io/hostname", name},
					 {"topology.kubernetes.io/zone", zone}};

		(void)str_format(name, sizeof(name), "node-%u", i);
		(void)str_format(zone, sizeof(zone), "zone-%u", i % ZONES);
		world_put_node(w, &(struct world_node){.tenant = "t",
						       .name = name,
						       .ready = true,
						       .labels = {labels, 2},
						       .allocatable = {room, 3}});
		for (unsigned k = 0; k < pods_each; k++) {
			char pod[32];

			(void)str_format(pod, sizeof(pod), "bound-%u-%u", i, k);
			world_put_pod(w, &(struct world_pod){.tenant = "t",
							     .ns = "default",
							     .name = pod,
							     .uid = pod,
							     .node = name,
							     .requests = {used, 2}});
		}
	}
}

static double incremental(void)
{
	OWN(world) w = make_world(0, true);
	uint64_t s = 1;
	double best = 0;

	put_nodes(w, 5000, 10);
	for (unsigned i = 0; i < 4 * ROUNDS; i++) {
		OWN(arena) a = arena_new();
		const double began = now_ms();
		const struct plan *p;
		double took;

		put_pod(w, i, 1, false, &s);
		p = plan_make(w, 0, a);
		took = now_ms() - began;
		if (p->npods != i + 1)
			die("the pod is not in the plan");
		if (!i || took < best)
			best = took;
	}
	return best;
}

/* In a child, so that what was measured before does not count. */
static double peak_mb(void)
{
	struct rusage u;
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		struct world *w = make_world(20000, true);
		struct arena *a = arena_new();

		put_nodes(w, 2000, 0);
		_exit(plan_make(w, 0, a)->npods == 20000 ? 0 : 1);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status ||
	    getrusage(RUSAGE_CHILDREN, &u) < 0)
		die("the child failed");
	return (double)u.ru_maxrss / 1024;
}

static void cpu_name(char out[static 128])
{
	FILE *f = fopen("/proc/cpuinfo", "re");
	char line[256];

	(void)str_copy(out, 128, "unknown");
	while (f && fgets(line, sizeof(line), f)) {
		char *colon = strchr(line, ':');

		if (!colon || !str_starts(line, "model name"))
			continue;
		colon[strcspn(colon, "\n")] = '\0';
		(void)str_copy(out, 128, colon + 2);
		break;
	}
	if (f)
		(void)fclose(f);
}

static void print(const char *name, double value, const char *unit, double goal,
		  const char *reference, double reference_value, unsigned n)
{
	char cpu[128], *text;
	json_t *j;

	cpu_name(cpu);
	j = json_pack("{s:s, s:f, s:s, s:f, s:s, s:{s:s, s:f}, s:f, s:i, s:s}", "name", name,
		      "value", value, "unit", unit, "goal", goal, "better", "lower", "reference",
		      "name", reference, "value", reference_value, "ratio", value / reference_value,
		      "n", (int)n, "cpu", cpu);
	text = json_dumps(j, JSON_COMPACT | JSON_REAL_PRECISION(6));
	(void)puts(text);
	free(text);
	json_decref(j);
}

int main(void)
{
	struct times t;

	mem_init();
	print("plan_rss_mb", peak_mb(), "MB", 64, "Karpenter, gate for 2,000 pods", 1330, 20000);
	t = measure(1000, true);
	print("plan_1k_mixed_ms", t.all, "ms", 10, "Karpenter", 2260, 1000);
	t = measure(5000, true);
	print("plan_5k_mixed_ms", t.all, "ms", 50, "Karpenter", 12500, 5000);
	t = measure(20000, true);
	print("plan_20k_mixed_ms", t.all, "ms", 250, "Karpenter", 68700, 20000);
	print("plan_20k_mixed_solve_ms", t.solve, "ms", 250, "Karpenter", 68700, 20000);
	t = measure(50000, false);
	print("plan_50k_identical_ms", t.all, "ms", 50,
	      "Cluster Autoscaler, 51,000 like pods, published", 41.4, 50000);
	print("plan_incremental_ms", incremental(), "ms", 5, "goal", 5, 5000);
	return 0;
}
