#ifndef CONTROLLER_LIFE_JOURNAL_H
#define CONTROLLER_LIFE_JOURNAL_H

#include "api/reasons.h"
#include "controller/life/life.h"

/*
 * journal: writes the status of a Machine: changes of state, finalizer, why nothing moves.  Every write
 * is a merge patch with the resourceVersion.
 * Tests: tests/world/test_bmc.c, tests/world/test_crash.c
 */

/* The only place that changes status.state.  Written down before anything of the new state is done.
 * extra: further status members for the same patch (taken; may be NULL).  reason: not NULL when
 * something failed: it goes into status.failures with the claim, and into an event. */
void life_goto(struct life *l, enum machine_state to, json_t *extra, enum reason reason,
	       const char *fmt, ...) __attribute__((format(printf, 5, 6)));

/* To quarantined, with the reason and its exit. */
void life_quarantine(struct life *l, enum machine_exit exit, enum reason reason, const char *fmt,
		     ...) __attribute__((format(printf, 4, 5)));

/* The machine fails its claim: to stopping. */
#define life_fail(l, ...) life_goto((l), MACHINE_STOPPING, NULL, __VA_ARGS__)

/* Patch status or spec (taken; exactly one is not NULL) without changing the state. */
void life_write(struct life *l, json_t *status, json_t *spec);

/* Put our finalizer on the Machine, or take it off; gives true when there was something to write. */
bool life_finalizer(struct life *l, bool on);

/* Say why nothing moves: status.operation.waitingFor and lastError, written when they changed. */
void life_wait(struct life *l, enum machine_waiting waiting_for, enum reason reason,
	       const char *fmt, ...) __attribute__((format(printf, 4, 5)));

#endif
