#ifndef CLI_SIMULATE_SCENARIO_H
#define CLI_SIMULATE_SCENARIO_H

#include "base/arena.h"
#include "base/data/json.h"
#include "base/err.h"
#include "planner/replay.h"

/*
 * scenario: a fleet, its tenants and waiting pods, as a YAML file. Each document is an object or a
 * List of objects:
 *
 *   Scenario (drover.dev/v1alpha1)
 *       machines by number, times, arrivals; at most one; exists only in files
 *   NodePool, Provider, Machine, VirtualCluster, NodeClaim, WipeRecord
 *       as in the API
 *   Pod, Node (v1)
 *       with `tenant: NAME` beside kind
 *   PodGroup, Workload
 *       with `tenant: NAME`, in the versions of controller/tenant/pod_groups.h
 *
 * `drover snapshot` writes such a file from a live fleet. Decoding is strict: an unknown field and
 * a reference to a missing object are errors with the line. Files are untrusted input, so all sizes
 * are bounded.
 * Tests: tests/unit/cli/simulate/test_scenario.c, tests/fuzz/fuzz_scenario.c
 */
#define SCENARIO_BYTES ((size_t)512 << 20)
#define SCENARIO_MACHINES 100000
#define SCENARIO_JOBS 1000000
#define SCENARIO_PODS 4000000 /* of all jobs together */

/* The parsed documents of a file */
struct scenario_doc {
	json_t *j;
	/* Text of the document in the file, and its first line; for line numbers in errors */
	const char *text;
	size_t len, line;
};
struct scenario_file {
	/* For errors */
	const char *path;
	struct scenario_doc *v;
	size_t n, cap;
};
/* Returns a new copy of doc without apiVersion and kind, and without the metadata that only API
 * servers write. */
json_t *scenario_body(const json_t *doc);
/* Splits text into documents. text is borrowed until scenario_file_done(). Returns -1 with e. */
int scenario_parse(struct scenario_file *f, const char *path, const char *text, size_t len,
		   struct err *e) __attribute__((warn_unused_result));
void scenario_file_done(struct scenario_file *f);

struct scenario {
	const char *name;
	struct world *world;
	struct replay_times times;
	/* End of the replay; 0: not set */
	int64_t until_ms;
	/* Path of the arrivals file, as written in the scenario; NULL: no arrivals */
	const char *arrivals;
	struct replay_job *jobs;
	size_t njobs;
};
/* Builds the world from the documents. The caller must free s->world, also after an error, when it
 * may be NULL; everything else is allocated in the arena a. */
int scenario_build(const struct scenario_file *f, struct scenario *s, struct arena *a,
		   struct err *e) __attribute__((warn_unused_result));

/*
 * Reads arrivals from CSV text into s->jobs. scenario_csv.c lists the accepted variants of CSV. The
 * header line has the columns time, tenant, count, gpus, cpu, memory, duration_s and optionally
 * gang, in any order. Each other line is a job: count equal pods that arrive at `time` and run for
 * duration_s; with gang 1 all its pods start together. path: for errors.
 */
int scenario_arrivals(struct scenario *s, const char *path, const char *text, size_t len,
		      struct arena *a, struct err *e) __attribute__((warn_unused_result));

#endif
