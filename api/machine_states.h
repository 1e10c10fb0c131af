#ifndef API_MACHINE_STATES_H
#define API_MACHINE_STATES_H

#include <stdint.h>

/*
 * machine_states: the states of status.state of a Machine, from machine_states.def: their names,
 * how long each may take and where it may lead. What is done in a state is in controller/steps/.
 */
enum machine_state {
#define MACHINE_STATE(id, ...) MACHINE_##id,
#include "api/machine_states.def"
	MACHINE_STATES,
	MACHINE_STATE_NONE = -1
};

/* Which machines pass through a state: those with a BMC, those of a manager such as BCM, those of a
 * cloud. */
enum machine_class {
	MACHINE_CLASS_HARDWARE = 1,
	MACHINE_CLASS_MANAGED = 2,
	MACHINE_CLASS_ELASTIC = 4
};

struct machine_state_info {
	const char *name;
	/* bits of enum machine_class */
	unsigned classes;
	/* 0: none */
	int64_t limit_s;
	enum machine_state on_limit;
	/* bits: where it may go */
	uint32_t next;
};
extern const struct machine_state_info machine_state_info[MACHINE_STATES];
/* MACHINE_STATE_NONE */
enum machine_state machine_state_find(const char *name);

#endif
