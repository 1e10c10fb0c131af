#ifndef CONTROLLER_LIFE_JOURNAL_H
#define CONTROLLER_LIFE_JOURNAL_H

#include "api/reasons.h"
#include "controller/life/life.h"

/*
 * journal: writes the status of a Machine: changes of state, finalizer, why nothing moves. Every
 * write is a merge patch with the resourceVersion.
 *
 *   step_*() --life_goto()--> recorded, LIFE_CHANGE --> the tick enacts it (steps/enter.h), at the end of the turn
 *      '-----life_wait()----> written if it changed, LIFE_STAY
 *
 * Only what runs in a turn of the machine's tick may decide. Who got LIFE_CHANGE returns with it:
 * what else would be written in this turn would be written instead.
 * Tests: tests/unit/controller/steps/test_enter.c, tests/world/test_bmc.c, tests/world/test_crash.c
 */

/* What a turn decided. A function that may decide on its way to another answer takes a pointer to
 * the decision of its caller, which is LIFE_STAY before. */
enum life_decision {
	/* the state stays */
	LIFE_STAY,
	/* another one, as recorded in struct life_journal, decided */
	LIFE_CHANGE,
};

#define LIFE_MUST_RETURN __attribute__((warn_unused_result))

/* The state is to be another one, and status.state is written down before anything of it is done.
 * extra: further status members for the same patch (taken; may be NULL). reason: not REASON_NONE
 * when something failed: it goes into status.failures with the claim, and into an event. Gives
 * LIFE_CHANGE. */
enum life_decision life_goto(struct life *l, enum machine_state to, json_t *extra,
			     enum reason reason, const char *fmt, ...)
	__attribute__((format(printf, 5, 6))) LIFE_MUST_RETURN;

/* To quarantined, with the reason and its exit. */
enum life_decision life_quarantine(struct life *l, enum machine_exit exit, enum reason reason,
				   const char *fmt, ...)
	__attribute__((format(printf, 4, 5))) LIFE_MUST_RETURN;

/* The machine fails its claim: to stopping. */
#define life_fail(l, ...) life_goto((l), MACHINE_STOPPING, NULL, __VA_ARGS__)

/* From the beginning: known, in a tenancy past every one that is known of, and what it held is not
 * clean. why: for the log. */
enum life_decision life_begin(struct life *l, const char *why) LIFE_MUST_RETURN;
/* ... since status is older than records or claims (life_outdated()); an event says so. */
enum life_decision life_begin_again(struct life *l) LIFE_MUST_RETURN;

/* Patch status or spec (taken; exactly one is not NULL) without changing the state. */
void life_write(struct life *l, json_t *status, json_t *spec);

/* Our finalizer is on the Machine, or off it.  False: that is being written. */
bool life_ensure_finalizer(struct life *l, bool on);

/* The Machine itself goes: what it was for is over. */
void life_delete(struct life *l);

/* Write an annotation, or take it away (value NULL). */
void life_annotate(struct life *l, const char *key, const char *value);

/* Say why nothing moves: status.operation.waitingFor and lastError, written when they changed.
 * Gives LIFE_STAY. */
enum life_decision life_wait(struct life *l, enum machine_waiting waiting_for, enum reason reason,
			     const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/* ... and when it is tried again, which is written anew for each try.  next: wall ms. */
enum life_decision life_wait_until(struct life *l, int64_t next, enum machine_waiting waiting_for,
				   enum reason reason, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));

/* It was found on, and drover did not do it (PowerStateUnexpected): what was recorded clean is not
 * any more. Told as life_wait() does, in the same write. */
void life_unclean(struct life *l, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
