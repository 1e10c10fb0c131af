/*
 * login: makes sure that each session that drover opens at a BMC is ended later. A successful read
 * writes its session to the journal, and the next login ends that session. If a read fails after
 * its login, its session is written, too. If the machine is attached again while a session is not
 * in the journal, this process remembers that session in memory, and ends it at its next login.
 * Tests: tests/world/test_bmc.c
 */
#include <stdlib.h>

#include "controller/life/login.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/life/journal.h"

const char *life_session(const struct life *l, bool *only)
{
	*only = true;
	return l->bmc && l->driver && l->driver->provider
		       ? provider_session(l->driver->provider, l->bmc, only)
		       : NULL;
}

bool life_ensure_session_written(struct life *l)
{
	bool only;
	const char *uri = life_session(l, &only);

	/* If drover knows an older session that may still be open (only is false), do not replace
	 * its URI in status before that session has been ended: a new leader could not end it
	 * otherwise. */
	if (!uri || !only || l->observation.busy || !l->observation.error ||
	    str_eq(uri, l->m->status.bmc.session_uri))
		return true;
	mem_save(&l->observation.session_uri, LIFE_URI_SIZE, uri);
	life_write(l, json_pack("{s:{s:s}}", "bmc", "sessionURI", uri), NULL);
	return false;
}

void life_session_left(struct life *l)
{
	bool only;
	const char *uri = life_session(l, &only);

	if (!uri)
		return;
	free(l->attached.left);
	l->attached.left = mem_strdup(uri);
}

/* Passes the saved session to the new attachment, whose next login ends that session. Does nothing
 * if the BMC's address has changed: at a different BMC the same path may be the session of another
 * client. */
void life_session_inherited(struct life *l)
{
	const char *address = l->m->spec.bmc->address;

	if (l->attached.left && str_eq(l->attached.address, address) &&
	    !str_eq(l->attached.left, l->m->status.bmc.session_uri))
		provider_inherit(l->driver->provider, l->bmc, l->attached.left);
	life_session_drop(l);
	l->attached.address = mem_strdup(address);
}

void life_session_drop(struct life *l)
{
	free(l->attached.left);
	free(l->attached.address);
	l->attached.left = l->attached.address = NULL;
}
