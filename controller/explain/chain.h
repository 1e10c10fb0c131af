#ifndef CONTROLLER_EXPLAIN_CHAIN_H
#define CONTROLLER_EXPLAIN_CHAIN_H

#include "api/kinds.h"

/*
 * chain: adds to an explanation (controller/explain/explain.h) the objects on which its object
 * depends, from the tenant down to the device, so that the cause is visible wherever it is.
 *
 * The explanation gets these members:
 *
 *   chain[]   kind, name, state, since, reason, message, lastContact, waitingFor, nextTry, owner
 *             (owner.h) of one object, as far as known; kind Device: what its BMC reported last
 *   owner     whose problem it is (owner.h); absent if there is no problem
 *   cause     TYPE/NAME of the object in the chain that has the problem; absent if the explained
 *             object has it itself
 *   command   the command that helps, to be run unchanged; absent if there is none
 * Tests: tests/unit/controller/explain/test_chain.c
 */

/* Adds the decoded object. now: wall ms. Call in the order from the tenant to the device. */
void chain_add(json_t *answer, enum object_kind_id kind, const void *object, int64_t now);
/* Adds what the BMC of m reported last. Adds nothing if it has reported nothing. */
void chain_add_device(json_t *answer, const struct machine *m);
/* Adds an object that is missing or cannot be read. why: the error of the read. */
void chain_add_unread(json_t *answer, enum object_kind_id kind, const char *name,
		      const struct err *why);
/* Determines owner, cause and command. If another object of the chain has the problem, adds to the
 * list `helps` what helps it. Call once, after everything else was added. */
void chain_end(json_t *answer);

#endif
