/*
 * machine_states: the table of machine_states.def as C: names, time limits and possible next
 * states. controller/steps/ implements what happens in each state.
 * Tests: tests/unit/api/test_machine_states.c
 */
#include "api/machine_states.h"
#include "base/str.h"

#define H MACHINE_CLASS_HARDWARE
#define M MACHINE_CLASS_MANAGED
#define E MACHINE_CLASS_ELASTIC
#define TO(id) | 1u << MACHINE_##id
const struct machine_state_info machine_state_info[MACHINE_STATES] = {
#define MACHINE_STATE(id, name_, classes_, limit_, on_limit_, next_)                               \
	[MACHINE_##id] = {.name = (name_),                                                         \
			  .classes = (classes_),                                                   \
			  .limit_s = (limit_),                                                     \
			  .on_limit = MACHINE_##on_limit_,                                         \
			  .next = 0 next_},
#include "api/machine_states.def"
};

enum machine_state machine_state_find(const char *name)
{
	for (int i = 0; i < MACHINE_STATES; i++)
		if (str_eq(machine_state_info[i].name, name))
			return (enum machine_state)i;
	return MACHINE_STATE_NONE;
}

enum machine_state machine_state_after(enum machine_state s, bool elastic)
{
	enum machine_state to = machine_state_info[s].on_limit;

	return elastic && !(machine_state_info[to].classes & E) ? MACHINE_QUARANTINED : to;
}
