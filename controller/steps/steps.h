#ifndef CONTROLLER_STEPS_STEPS_H
#define CONTROLLER_STEPS_STEPS_H

#include "controller/life/life.h"

/*
 * steps: one function for each state of api/machine_states.def.  A step looks at what was observed,
 * starts at most one act, and returns; it never blocks.
 */
void step_known(struct life *l);
void step_free(struct life *l);
void step_claimed(struct life *l);
void step_imaging(struct life *l);
void step_attaching(struct life *l);
void step_booting(struct life *l);
void step_joining(struct life *l);
void step_gating(struct life *l);
void step_serving(struct life *l);
void step_draining(struct life *l);
void step_stopping(struct life *l);
void step_isolating(struct life *l);
void step_leaving(struct life *l);
void step_dirty(struct life *l);
void step_inspecting(struct life *l);
void step_wiping(struct life *l);
void step_verifying(struct life *l);
void step_quarantined(struct life *l);
void step_retired(struct life *l);
void step_gone(struct life *l);

#endif
