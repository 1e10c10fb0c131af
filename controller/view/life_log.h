#ifndef CONTROLLER_VIEW_LIFE_LOG_H
#define CONTROLLER_VIEW_LIFE_LOG_H

#include "api/kinds.h"

/*
 * life_log: the states that each machine went through while this process watched it, for the
 * timeline of a machine. Of each machine, the newest LIFE_LOG_MAX states are kept. On the loop
 * thread.
 * Tests: tests/unit/controller/view/test_life_log.c
 */
#define LIFE_LOG_MAX 48

struct life_log;
struct life_log *life_log_new(void);
void life_log_free(struct life_log *l);
DEFINE_OWN(life_log)
/* Records a changed Machine. was NULL: the Machine is new to this process. is NULL: it was deleted,
 * and its states are forgotten. */
void life_log_saw(struct life_log *l, const struct machine *was, const struct machine *is);
/* Returns the states of the machine, oldest first, as an array of {state, since, tenant}, owned by
 * the caller. tenant is left out if the machine had none. */
json_t *life_log_json(const struct life_log *l, const char *machine);

#endif
