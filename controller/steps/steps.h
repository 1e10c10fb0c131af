#ifndef CONTROLLER_STEPS_STEPS_H
#define CONTROLLER_STEPS_STEPS_H

#include "controller/life/journal.h"

/*
 * steps: one function for each state of api/machine_states.def. A step evaluates what was observed,
 * starts at most one act (a request that changes something), and returns its decision. It never
 * blocks, and it does not change the state itself.
 */
enum life_decision step_known(struct life *l);
enum life_decision step_free(struct life *l);
enum life_decision step_claimed(struct life *l);
enum life_decision step_imaging(struct life *l);
enum life_decision step_attaching(struct life *l);
enum life_decision step_booting(struct life *l);
enum life_decision step_joining(struct life *l);
enum life_decision step_gating(struct life *l);
enum life_decision step_serving(struct life *l);
enum life_decision step_draining(struct life *l);
enum life_decision step_stopping(struct life *l);
enum life_decision step_isolating(struct life *l);
enum life_decision step_leaving(struct life *l);
enum life_decision step_dirty(struct life *l);
enum life_decision step_inspecting(struct life *l);
enum life_decision step_wiping(struct life *l);
enum life_decision step_verifying(struct life *l);
enum life_decision step_quarantined(struct life *l);
enum life_decision step_retired(struct life *l);
enum life_decision step_gone(struct life *l);

#endif
