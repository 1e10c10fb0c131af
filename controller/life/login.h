#ifndef CONTROLLER_LIFE_LOGIN_H
#define CONTROLLER_LIFE_LOGIN_H

#include "controller/life/life.h"

/* Returns the URI of the open session with the BMC, as provider_session() does; NULL: none. */
const char *life_session(const struct life *l, bool *only);
/* False while the session of a failed read is being written to status. */
bool life_ensure_session_written(struct life *l);
/* Saves the open session of a machine. Call before detaching it from the BMC. */
void life_session_left(struct life *l);
void life_session_inherited(struct life *l);
void life_session_drop(struct life *l);

#endif
