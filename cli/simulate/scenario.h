#ifndef CLI_SIMULATE_SCENARIO_H
#define CLI_SIMULATE_SCENARIO_H

#include "base/arena.h"
#include "base/data/json.h"
#include "base/err.h"
#include "planner/replay/replay.h"

/*
 * scenario: reads a fleet, its tenants and waiting pods from a YAML file. Each document is an
 * object or a List of objects:
 *
 *   Scenario (drover.dev/v1alpha1)
 *       machines by number, times, arrivals; at most one; exists only in files
 *   NodePool, Provider, Machine, VirtualCluster, NodeClaim, WipeRecord
 *       as in the API
 *   Pod, Node (v1)
 *       with `tenant: NAME` beside kind
 *   BurstPolicy
 *       as in the API
 *   BurstState (controller/burst/state.h)
 *       offers of clouds and earlier launches, without work; with BurstPolicies exactly one
 *   PodGroup, Workload
 *       with `tenant: NAME`, in the versions of controller/tenant/pod_groups.h
 *
 * `drover snapshot` writes such a file from a live fleet. Decoding is strict: an unknown field or a
 * reference to a missing object is an error that names the line. Files are untrusted input, so all
 * sizes are bounded.
 * Tests: tests/unit/cli/simulate/test_scenario.c, tests/fuzz/fuzz_scenario.c
 */
#define SCENARIO_BYTES ((size_t)512 << 20)
#define SCENARIO_MACHINES 100000
#define SCENARIO_JOBS 1000000
#define SCENARIO_PODS 4000000 /* maximum number of pods of all jobs together */

/* One parsed document of a file. */
struct scenario_doc {
	json_t *j;
	/* path of the file, for errors */
	const char *path;
	/* text of the document in the file, and number of its first line; used for line numbers in
	 * errors */
	const char *text;
	size_t len, line;
};
/* The documents of one file, or of several. */
struct scenario_file {
	/* path of the first file, for errors */
	const char *path;
	struct scenario_doc *v;
	size_t n, cap;
};
/* Returns a copy of doc without apiVersion and kind, and without the metadata that only API servers
 * write; the caller owns it. */
json_t *scenario_body(const json_t *doc);
/* scenario_parse() splits text into documents and stores them in *f. scenario_add() adds those of
 * another text to them. path and text are borrowed until scenario_file_done(). Return 0, or -1 with
 * *e. */
int scenario_parse(struct scenario_file *f, const char *path, const char *text, size_t len,
		   struct err *e) __attribute__((warn_unused_result));
int scenario_add(struct scenario_file *f, const char *path, const char *text, size_t len,
		 struct err *e) __attribute__((warn_unused_result));
void scenario_file_done(struct scenario_file *f);

struct scenario {
	const char *name;
	struct world *world;
	struct replay_times times;
	/* time at which the replay ends, ms; 0: not set */
	int64_t until_ms;
	/* path of the file with the arrivals (scenario_arrivals()), as written in the scenario;
	 * NULL: no arrivals. path: path of the scenario's file */
	const char *arrivals, *path;
	struct replay_job *jobs;
	size_t njobs;
	/* BurstPolicies and BurstState as input of burst_decide(); NULL: the file has no
	 * BurstPolicy */
	const struct burst_input *bursts;
	/* Time zones to which bursts refers */
	struct zones *zones;
};
/* Builds s->world and the other members of *s from the documents of f. The caller must call
 * scenario_done(), also after an error; what that does not free is allocated in the arena. Returns
 * 0, or -1 with *e. */
int scenario_build(const struct scenario_file *f, struct scenario *s, struct arena *a,
		   struct err *e) __attribute__((warn_unused_result));
/* Frees world and time zones. Does not free s. */
void scenario_done(struct scenario *s);

/*
 * Reads the arrivals from CSV text into s->jobs. The header line has the columns time, tenant,
 * count, gpus, cpu, memory, duration_s, and optionally gang, product, priority, checkpointable,
 * approved, slack_s, data_class, checkpoint_interval_s and data, in any order. Each other line is a
 * job: count equal pods that arrive at `time` and run for duration_s; if gang is 1, all its pods
 * start together. docs/simulate.md describes the other columns, scenario_csv.c the accepted
 * variants of CSV. path: for errors. Returns 0, or -1 with *e.
 */
int scenario_arrivals(struct scenario *s, const char *path, const char *text, size_t len,
		      struct arena *a, struct err *e) __attribute__((warn_unused_result));

#endif
