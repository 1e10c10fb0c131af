#ifndef API_MACHINE_STATES_H
#define API_MACHINE_STATES_H

#include <stdbool.h>
#include <stdint.h>

/*
 * machine_states: the values of status.state of a Machine: their names, time limits and possible
 * next states, generated from machine_states.def. controller/steps/ implements what happens in each
 * state.
 */
enum machine_state {
#define MACHINE_STATE(id, ...) MACHINE_##id,
#include "api/machine_states.def"
	MACHINE_STATES,
	MACHINE_STATE_NONE = -1
};

/* Classes of machines that pass through a state: machines with a BMC, machines of a manager such as
 * BCM, cloud instances. */
enum machine_class {
	MACHINE_CLASS_HARDWARE = 1,
	MACHINE_CLASS_MANAGED = 2,
	MACHINE_CLASS_ELASTIC = 4
};

struct machine_state_info {
	const char *name;
	/* classes whose machines pass through the state: OR of enum machine_class */
	unsigned classes;
	/* seconds that a machine may stay in the state; 0: no limit */
	int64_t limit_s;
	enum machine_state on_limit;
	/* possible next states: bit 1 << S for each enum machine_state S */
	uint32_t next;
};
extern const struct machine_state_info machine_state_info[MACHINE_STATES];
/* Returns the state with this name; MACHINE_STATE_NONE: no state has it, or name is NULL. */
enum machine_state machine_state_find(const char *name);
/* Returns the state that follows s at its time limit: on_limit of s, except that a cloud instance
 * (elastic) is quarantined instead of a state that its class does not have. */
enum machine_state machine_state_after(enum machine_state s, bool elastic);

#endif
