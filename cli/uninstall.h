#ifndef CLI_UNINSTALL_H
#define CLI_UNINSTALL_H

#include "cli/client.h"

/*
 * uninstall: the actions of `drover uninstall`, on an open client.
 *
 * drover's finalizers hold an object until drover has settled what depends on it. Once drover is
 * gone, nobody settles that, and a deleted object stays for ever. `drover uninstall` lists the
 * objects with what each loses, and, if the operator confirms, saves all of them in a file, saves
 * bills where the controller saves them (controller/rules/kept_bills.h), deletes the objects, and
 * removes drover's finalizers. Finalizers of others stay.
 * Tests: tests/unit/cli/test_uninstall.c, tests/real/install.py
 */
struct cli_uninstall {
	/* drover's own namespace */
	const char *ns;
	/* true: delete the objects and remove drover's finalizers; false: only list the objects */
	bool release;
	/* file that receives the objects before they are deleted, one JSON object a line; must not
	 * exist. Required with `release`. */
	const char *save;
	/* true: do not ask for confirmation */
	bool yes;
};
/* Returns the exit status: 0 if no object of drover is left afterwards. */
int cli_do_uninstall(struct cli_client *c, const struct cli_uninstall *u);

#endif
