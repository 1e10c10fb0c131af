#ifndef CLI_SIMULATE_SCENARIO_H
#define CLI_SIMULATE_SCENARIO_H

#include "base/arena.h"
#include "base/data/json.h"
#include "base/err.h"
#include "planner/replay.h"

/*
 * scenario: a fleet, its tenants and what waits, as a YAML file: an object, or a List of them, a
 * document.
 *
 *   Scenario (drover.dev/v1alpha1)   machines by number, times, what comes; at most one, for files alone
 *   NodePool, Provider, Machine, VirtualCluster, NodeClaim, WipeRecord   as in the API
 *   Pod, Node (v1)                   with `tenant: NAME` beside kind
 *   PodGroup, Workload               with `tenant: NAME`, in the versions of controller/tenant/pod_groups.h
 *
 * `drover snapshot` writes such a file of a live fleet. Decoding is strict: a field that its kind
 * does not have is refused by name and line, and so is what refers to something that is not there.
 * The files are foreign bytes: all is bounded.
 * Tests: tests/unit/cli/simulate/test_scenario.c, tests/fuzz/fuzz_scenario.c
 */
#define SCENARIO_BYTES ((size_t)512 << 20)
#define SCENARIO_MACHINES 100000
#define SCENARIO_JOBS 1000000
#define SCENARIO_PODS 4000000 /* of all jobs together */

/* The documents, before anything is made of them. */
struct scenario_doc {
	json_t *j;
	/* in the file; for lines of errors */
	const char *text;
	size_t len, line;
};
struct scenario_file {
	/* for errors */
	const char *path;
	struct scenario_doc *v;
	size_t n, cap;
};
/* A new copy without the members that name the kind, and without metadata that API servers alone
 * write. */
json_t *scenario_body(const json_t *doc);
/* text is borrowed as long as the file is in use. */
int scenario_parse(struct scenario_file *f, const char *path, const char *text, size_t len,
		   struct err *e) __attribute__((warn_unused_result));
void scenario_file_done(struct scenario_file *f);

struct scenario {
	const char *name;
	struct world *world;
	struct replay_times times;
	/* 0: not said */
	int64_t until_ms;
	/* path, as it stands there; NULL: none */
	const char *arrivals;
	struct replay_job *jobs;
	size_t njobs;
};
/* Its world is the caller's to free (also after an error, where it may be NULL); the rest is in the
 * arena. */
int scenario_build(const struct scenario_file *f, struct scenario *s, struct arena *a,
		   struct err *e) __attribute__((warn_unused_result));

/*
 * CSV (scenario_csv.c says of what kinds) with a header line: time, tenant, count, gpus, cpu,
 * memory, duration_s and, where it is wanted, gang, in any order. A line is a job of count pods
 * alike that comes so many seconds after the beginning and runs for duration_s; gang 1: all its
 * pods at once. path: for errors.
 */
int scenario_arrivals(struct scenario *s, const char *path, const char *text, size_t len,
		      struct arena *a, struct err *e) __attribute__((warn_unused_result));

#endif
