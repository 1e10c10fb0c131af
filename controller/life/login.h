#ifndef CONTROLLER_LIFE_LOGIN_H
#define CONTROLLER_LIFE_LOGIN_H

#include "controller/life/life.h"

/* Returns the URI of the open session with the BMC; NULL: none. *only: false if drover knows an
 * older session with the BMC that may still be open. */
const char *life_session(const struct life *l, bool *only);
/* True unless a read failed after its login and status does not name the session of that read yet.
 * In that case writes the session to status, and returns false. */
bool life_ensure_session_written(struct life *l);
/* Saves the URI of the open session in memory, for the next login. Call before detaching the
 * machine from the BMC. */
void life_session_left(struct life *l);
void life_session_inherited(struct life *l);
void life_session_drop(struct life *l);

#endif
