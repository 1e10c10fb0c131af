#ifndef CONTROLLER_CLAIMS_ETA_H
#define CONTROLLER_CLAIMS_ETA_H

#include "api/kinds.h"
#include "api/machine_states.h"

/*
 * eta: how long machines take to serve once they are claimed, and to be free once they leave.
 *
 * Measured are whole ways, by Provider and instance type: from the entry into each state that lies
 * on the way to its end, never a sum of states, whose p90 would be too much. The last ETA_RECENT of
 * each are kept. A way that is given up counts for nothing; one that led through quarantine counts
 * from there on.
 *
 * The samples stand in Provider.status.paths. Each replica sees all Machines and keeps its own;
 * what the status has more of is taken from there, so that a restart forgets no sample; of a way
 * that is not over it forgets how it began. Before ETA_ENOUGH were measured,
 * Provider.spec.instanceTypes[].expected stands in for them, if it is there.
 * Tests: tests/unit/controller/claims/test_eta.c, tests/world/test_eta.c
 */
#define ETA_RECENT 50
#define ETA_ENOUGH 3

struct eta;
struct eta *eta_new(void);
void eta_free(struct eta *e);

/* A way that ended, and by which of the times that were expected when it began. */
enum eta_way { ETA_SERVING, ETA_FREE, ETA_WAYS };
enum eta_by { ETA_BY_NONE, ETA_BY_P50, ETA_BY_P90, ETA_LATER };
/* serving, free */
extern const char *const eta_way_names[];
/* "", p50, p90, later */
extern const char *const eta_by_names[];
struct eta_end {
	enum eta_way way;
	/* ETA_BY_NONE: nothing ended, or nothing was expected of it */
	enum eta_by by;
};
/* A Machine changed; either may be NULL. */
struct eta_end eta_saw(struct eta *e, const struct machine *was, const struct machine *is);

/* What the Provider declares, and what its status has more of than was seen here. */
void eta_provider(struct eta *e, const struct provider_object *p);
/* What status.paths of the Provider shall be, of its instance types; numbers in the arena, names
 * are p's. */
void eta_paths(const struct eta *e, const struct provider_object *p, struct arena *a,
	       struct provider_object_status *out);

struct eta_span {
	/* ms from the entry into the state to the end of the way */
	int64_t p50, p90;
};
/* Of a machine that has been in the state for so many ms: of those that were not through by then.
 * False: not known, for the state is on no way, too few came through it, or none took so long. */
bool eta_from(const struct eta *e, const char *provider, const char *type, enum machine_state state,
	      int64_t been_ms, struct eta_span *out);

/* "about 4 min", of so many ms, in steps: 1 2 3 4 5 7 10 15 20 30 45 min, hours. */
const char *eta_text(int64_t ms, char *buf, size_t size);

/* "10:20 to 10:31 UTC", of two wall times: the first rounded down, the second up, to 1, 5, 15 or 60
 * min, the coarser the further the second is ahead of now; with its date where a time is not of
 * today. */
#define ETA_BETWEEN_SIZE 64
const char *eta_between(const struct eta_span *at, int64_t now, char buf[static ETA_BETWEEN_SIZE]);

#endif
