#ifndef CONTROLLER_LIFE_LOGIN_H
#define CONTROLLER_LIFE_LOGIN_H

#include "controller/life/life.h"

/* The session that is open with its BMC, as provider_session() has it; NULL: none. */
const char *life_session(const struct life *l, bool *only);
/* False: a session of a look that failed is being written down. */
bool life_ensure_session_written(struct life *l);
/* Before it is detached, and after it was attached again. */
void life_session_left(struct life *l);
void life_session_inherited(struct life *l);
void life_session_drop(struct life *l);

#endif
