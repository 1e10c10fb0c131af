#ifndef CONTROLLER_CORE_ETA_H
#define CONTROLLER_CORE_ETA_H

#include "api/kinds.h"
#include "api/machine_states.h"

/*
 * eta: estimates how long claimed machines take until they serve, and how long leaving machines
 * take until they are free. Each of the two is called a transition.
 *
 * For each Provider, instance type and state, a sample is the time from the entry into the state to
 * the end of the transition. Times of single states are never added, because the sum of their p90
 * would be too high. The last ETA_RECENT samples of each state are kept. A transition that is given
 * up gives no sample. A transition that led through quarantine is measured from quarantine on.
 *
 * The samples are stored in Provider.status.paths. Each replica sees all Machines and keeps its own
 * samples. If the status has counted more samples than the replica, the replica uses those in the
 * status. So a restart loses no sample, only the beginning of transitions in progress. Until
 * ETA_ENOUGH samples exist, Provider.spec.instanceTypes[].expected is used if it is set.
 * Tests: tests/unit/controller/core/test_eta.c, tests/world/test_eta.c
 */
#define ETA_RECENT 50
#define ETA_ENOUGH 3

struct eta;
struct eta *eta_new(void);
void eta_free(struct eta *e);

/* Transition of a machine. ETA_SERVING: from claimed to serving. ETA_FREE: from leaving to free. */
enum eta_transition { ETA_SERVING, ETA_FREE, ETA_TRANSITIONS };
/* How long a transition took in comparison with the estimate made at its beginning: at most its
 * p50, at most its p90, or longer. */
enum eta_by { ETA_BY_NONE, ETA_BY_P50, ETA_BY_P90, ETA_LATER };
/* Names of enum eta_transition: "serving", "free" */
extern const char *const eta_transition_names[];
/* Names of enum eta_by: "", "p50", "p90", "later" */
extern const char *const eta_by_names[];
struct eta_end {
	enum eta_transition transition;
	/* Accuracy of the transition that ended; ETA_BY_NONE: no transition ended, or no estimate
	 * was made at its beginning */
	enum eta_by by;
};
/* Records a change of a Machine from was (NULL: the Machine is new) to is (NULL: deleted). Returns
 * which transition ended with this change, if any. */
struct eta_end eta_saw(struct eta *e, const struct machine *was, const struct machine *is);

/* Reads the expected times that Provider p declares. For each state for which the status of p has
 * counted more samples than this replica, also replaces the samples by those in the status. */
void eta_provider(struct eta *e, const struct provider_object *p);
/* Sets out->paths to the status.paths that Provider p should have, for its instance types. Numbers
 * are in the arena; names point into p. */
void eta_paths(const struct eta *e, const struct provider_object *p, struct arena *a,
	       struct provider_object_status *out);

struct eta_span {
	/* Time within which 50 % and 90 % of the machines complete the transition, ms, counted from
	 * the entry into the state */
	int64_t p50, p90;
};
/* Estimates the whole time from `state` to the end of its transition, for a machine that has been
 * in that state for been_ms. Uses only the samples that took at least been_ms. False: not known,
 * because the state belongs to no transition, there are too few samples, or none took that long. */
bool eta_from(const struct eta *e, const char *provider, const char *type, enum machine_state state,
	      int64_t been_ms, struct eta_span *out);

/* Formats ms as "about 4 min", rounded up to 1 2 3 4 5 7 10 15 20 30 45 min, or to hours. */
const char *eta_text(int64_t ms, char *buf, size_t size);

/* Formats the two wall times of `at` as "10:20 to 10:31 UTC". Rounds the first down and the second
 * up to 1, 5, 15 or 60 min, coarser the further the second is ahead of now. A time on another day
 * than now gets its date. */
#define ETA_BETWEEN_SIZE 64
const char *eta_between(const struct eta_span *at, int64_t now, char buf[static ETA_BETWEEN_SIZE]);

#endif
