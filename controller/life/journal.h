#ifndef CONTROLLER_LIFE_JOURNAL_H
#define CONTROLLER_LIFE_JOURNAL_H

#include "api/reasons.h"
#include "controller/life/life.h"

/*
 * journal: writes the status of a Machine, which is drover's journal: changes of state, the
 * finalizer, and the reason for waiting. Every write is a merge patch with the resourceVersion.
 *
 *   step_*() --life_goto()--> recorded, returns LIFE_CHANGE
 *      |                          '--> the tick writes it at the end of the turn (steps/enter.h)
 *      '-----life_wait()----> written if it changed, returns LIFE_STAY
 *
 * Only code that runs in a turn (one run of the machine's tick) may decide. A caller that gets
 * LIFE_CHANGE must return it at once. Only one status write can be in flight. Any other write in
 * this turn would replace the state change.
 * Tests: tests/unit/controller/steps/test_enter.c, tests/world/test_bmc.c, tests/world/test_crash.c
 */

/* What a turn decided. A function that may decide, but returns something else, reports its decision
 * in *d. The caller sets *d to LIFE_STAY before the call. */
enum life_decision {
	/* the machine stays in its state */
	LIFE_STAY,
	/* the machine changes its state, as recorded in l->journal.decided */
	LIFE_CHANGE,
};

#define LIFE_MUST_RETURN __attribute__((warn_unused_result))

/* Records a change of state to `to`; returns LIFE_CHANGE. The new status.state is written before
 * anything is done in the new state. extra: further status members for the same patch; takes
 * ownership; may be NULL. reason: why the machine or its claim failed; it is added to
 * status.failures with the claim, and sent as an event. REASON_NONE: no failure. */
enum life_decision life_goto(struct life *l, enum machine_state to, json_t *extra,
			     enum reason reason, const char *fmt, ...)
	__attribute__((format(printf, 5, 6))) LIFE_MUST_RETURN;

/* Records a change to quarantined, with its reason. exit_: whether the machine leaves quarantine by
 * itself after a while (EXIT_AUTO), or only when an operator acts (EXIT_OPERATOR). */
enum life_decision life_quarantine(struct life *l, enum machine_exit exit, enum reason reason,
				   const char *fmt, ...)
	__attribute__((format(printf, 4, 5))) LIFE_MUST_RETURN;

/* Fails the machine's claim: records a change to stopping with a reason and message. */
#define life_fail(l, ...) life_goto((l), MACHINE_STOPPING, NULL, __VA_ARGS__)

/* Records that the machine starts again from the beginning: in state known, with a tenancy higher
 * than any known one, and not clean. why: text for the log. */
enum life_decision life_begin(struct life *l, const char *why) LIFE_MUST_RETURN;
/* Calls life_begin() for a machine whose status is older than its records or claims
 * (life_outdated()), and sends an event. */
enum life_decision life_begin_again(struct life *l) LIFE_MUST_RETURN;

/* Patches status or spec without changing the state. Exactly one of the two is not NULL; takes
 * ownership of it. Does nothing while another write is in flight, or if this replica does not
 * lead. */
void life_write(struct life *l, json_t *status, json_t *spec);

/* Makes drover's finalizer on the Machine present (on true) or absent (on false). True if it is
 * already so. Otherwise starts the write that is missing, and returns false. */
bool life_ensure_finalizer(struct life *l, bool on);

/* Deletes the Machine object. */
void life_delete(struct life *l);

/* Sets annotation `key` of the Machine to `value`; value NULL removes the annotation. */
void life_annotate(struct life *l, const char *key, const char *value);

/* Reports why the machine does not proceed: writes status.operation.waitingFor and lastError if
 * they changed. Sends an event if the reason changed. Returns LIFE_STAY. */
enum life_decision life_wait(struct life *l, enum machine_waiting waiting_for, enum reason reason,
			     const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/* Works like life_wait(), and also writes the wall time `next` (ms) of the next attempt. */
enum life_decision life_wait_until(struct life *l, int64_t next, enum machine_waiting waiting_for,
				   enum reason reason, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));

/* Sets status.clean to false, because the machine was found on and drover did not switch it on.
 * Writes the reason PowerStateUnexpected with the message in the same patch. */
void life_unclean(struct life *l, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
