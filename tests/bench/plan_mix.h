#ifndef TESTS_BENCH_PLAN_MIX_H
#define TESTS_BENCH_PLAN_MIX_H

#include "tests/bench/plan_world.h"

/*
 * plan_mix: the pods of the planner's benchmarks.
 *
 * The mix has the distribution of Karpenter's scheduling benchmark: CPU uniform over 100, 250, 500,
 * 1000 and 1500m; memory over 100, 256, 512, 1024, 2048 and 4096Mi; labels over 7 letters. Instance
 * type i has i CPUs, 2i GiB and 10i pods, less 100m and 10Mi.
 *
 * There are five classes of equal size: plain; spread over zones; spread over hosts; together in a
 * zone (by their own label); apart on hosts (all with one label, so each needs its own node).
 *
 * Parameter `list` of the functions: file to which each pod is written as a line, KIND CPU MEMORY
 * OWN OTHER, for tests/peers; NULL: the pods are not written.
 */
enum mix_kind { PLAIN, ZONE_SPREAD, HOST_SPREAD, ZONE_TOGETHER, HOST_APART, KINDS };

static const char *const mix_kinds[] = {"plain", "zone-spread", "host-spread", "zone-together",
					"host-apart"};
static const char *const letters[] = {"a", "b", "c", "d", "e", "f", "g"};

static inline void mix_put_pod(struct world *w, unsigned i, unsigned total, bool mixed, uint64_t *s,
			       FILE *list)
{
	static const int64_t cpu[] = {100, 250, 500, 1000, 1500},
			     mib[] = {100, 256, 512, 1024, 2048, 4096};
	const enum mix_kind kind = !mixed || i / (total / KINDS) >= KINDS
					   ? PLAIN
					   : (enum mix_kind)(i / (total / KINDS));
	const char *own = mixed ? letters[bench_next(s) % 7] : "a",
		   *other = letters[bench_next(s) % 7];
	struct resource requests[2] = {
		{"cpu", bench_milli(mixed ? cpu[bench_next(s) % 5] : 500)},
		{"memory", quantity_of((mixed ? mib[bench_next(s) % 6] : 512) * BENCH_MIB)}};
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
	t.key = kind == ZONE_SPREAD || kind == ZONE_TOGETHER ? BENCH_ZONE : BENCH_HOST;
	p.topology.v = &t;
	p.topology.n = kind == PLAIN ? 0 : 1;
	world_put_pod(w, &p);
	if (list)
		(void)fprintf(list, "%s %lldm %lldMi %s %s\n", mix_kinds[kind],
			      (long long)(requests[0].q.nano / 1000000),
			      (long long)(quantity_floor(requests[1].q) / BENCH_MIB), label.value,
			      value);
}

static inline void mix_put_pods(struct world *w, unsigned pods, bool mixed, FILE *list)
{
	uint64_t s = 42;

	for (unsigned i = 0; i < pods; i++)
		mix_put_pod(w, i, pods, mixed, &s, list);
}

#endif
