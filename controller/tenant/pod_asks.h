#ifndef CONTROLLER_TENANT_POD_ASKS_H
#define CONTROLLER_TENANT_POD_ASKS_H

#include <stdint.h>
#include "base/arena.h"
#include "base/data/json.h"
#include "planner/burst/burst.h"

struct tenant;

/*
 * pod_asks: what a waiting pod declares about itself for BurstPolicies (docs/pods.md):
 *
 *   drover.dev/expected-runtime   duration such as "3h"; spec.activeDeadlineSeconds of the pod is
 *                                 an upper bound, and the value if the annotation is missing
 *   drover.dev/latest-start       RFC 3339 time
 *   drover.dev/data-class         at most 63 letters, digits, '-', '_' and '.'
 *   drover.dev/checkpoint-interval  duration such as "30m"
 *   drover.dev/data               names of data sets, as burst_data_names() reads them
 *
 *   jobset.sigs.k8s.io/restart-attempt   number of restarts of the pod's JobSet, which JobSet sets
 *                                 as a label and as an annotation
 *
 * Controllers copy annotations from the pod template. All of it is the tenant's word: it decides
 * whether a policy launches for the pod, never for how long. Of the data that an instance moves,
 * what is declared is counted.
 * Tests: tests/unit/controller/tenant/test_pod_asks.c
 */
#define POD_ASKS_ATTEMPT "jobset.sigs.k8s.io/restart-attempt"
#define POD_ASKS_RUNTIME_MAX ((int64_t)366 * 24 * 3600 * 1000)

struct pod_asks {
	/* Expected run time in ms; 0: not declared */
	int64_t runs_ms;
	/* Latest time at which the pod must start, Unix ms; 0: not declared */
	int64_t start_by;
	/* NULL: not declared */
	const char *data_class;
	/* Longest time in ms between two checkpoints that the pod saves by itself; 0: not
	 * declared */
	int64_t interval_ms;
	/* Names of the data sets that the pod reads; n 0: not declared */
	struct burst_names data;
	/* Number of earlier attempts; 0: none, or no valid number */
	int64_t restarts;
	/* Why an annotation cannot be used, as text that names it; NULL: all are valid */
	const char *wrong;
};

/* Returns what the pod declares, in the arena; NULL: it declares nothing. */
const struct pod_asks *pod_asks_of(const json_t *pod, struct arena *a);
/* Returns what a waiting pod of the tenant declares, as a copy in the arena; NULL: nothing, or
 * there is no such pod. */
const struct pod_asks *pod_asks_get(const struct tenant *t, const char *ns, const char *name,
				    struct arena *a);

#endif
