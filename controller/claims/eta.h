
#include "api/kinds.h"
#include "api/machine_states.h"
#ifndef CONTROLLER_CLAIMS_ETA_H
#define CONTROLLER_CLAIMS_ETA_H

/*
 * eta: when a machine that was claimed will serve, from how long the machines of its instance type took
 * lately: the last 50 durations of each state on the way, seen by this replica, so the first claims
 * after its start have no estimate.
 */
struct eta;
struct eta *eta_new(void);
void eta_free(struct eta *e);

/* A Machine changed; either may be NULL. */
void eta_saw(struct eta *e, const struct machine *was, const struct machine *is);

struct eta_span {
	int64_t p50,
		p90; /* ms from the entry into the state until it serves; sums of those of the states */
};
/* False: not known yet, for fewer than 3 came through a state that lies ahead. */
bool eta_from(const struct eta *e, const char *type, enum machine_state state,
	      struct eta_span *out);

/* "about 4 min", of so many ms, in steps: 1 2 3 4 5 7 10 15 20 30 45 min, hours. */
const char *eta_text(int64_t ms, char *buf, size_t size);

#endif
