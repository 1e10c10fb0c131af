#ifndef CONTROLLER_CORE_RECHECK_H
#define CONTROLLER_CORE_RECHECK_H

#include "controller/core/context.h"
#include "controller/core/sweep.h"

/*
 * recheck: compares indexes of the objects of one kind with the cache, each RECHECK_MS and in
 * slices. The owner of a cache updates the indexes at each change, so the check must find nothing
 * to correct. Otherwise drover has an error: the check has corrected the index, logs an error, and
 * counts it in drover_tally_corrections_total.
 *
 * An index that still has a deleted object is not wrong: a query skips a name that is not in the
 * cache.
 *
 * Embedded in its owner. On the loop thread.
 * Tests: tests/unit/controller/core/test_recheck.c, each world test at its end
 */
#define RECHECK_MS (10 * 60 * 1000)

struct recheck {
	struct context *c;
	enum object_kind_id kind;
	/* Puts the object into its indexes again. Returns true if an index has changed. */
	bool (*again)(const struct kube_entry *en, void *arg);
	void *arg;
	struct loop_timer timer;
	/* Arena of the check in progress; NULL: none is in progress */
	struct arena *arena;
	struct sweep sweep;
	/* Number of corrections */
	size_t corrected;
};

/* Starts the checks of c->cache[kind]. */
void recheck_init(struct recheck *r, struct context *c, enum object_kind_id kind,
		  bool (*again)(const struct kube_entry *en, void *arg), void *arg);
/* Ends the checks. A zeroed struct is allowed. */
void recheck_stop(struct recheck *r);
/* Checks all objects at once. Returns the number of corrections, which is 0 unless drover has an
 * error. For tests. */
size_t recheck_now(struct recheck *r);

#endif
