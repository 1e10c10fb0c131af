#ifndef CONTROLLER_LINE_H
#define CONTROLLER_LINE_H

#include "controller/controller.h"

/*
 * line: stop the line.  The same reason on three machines of one image, pool, provider or rack
 * within 30 min (an ImageMismatch at the first) pauses new claims there, and those failures do not
 * count against the machines.  After 10 min, doubling to 2 h with each further failure, one claim is let
 * through; one that comes to serve, a change of the named spec after the failures, or `drover resume`
 * (requests.h) opens the line.
 *
 * Nothing is stored: it is derived from status.failures of all Machines, the claims that exist and
 * the objects' generations, so any leader comes to the same answer.
 */
struct line_place {
	const char *pool, *image /* digest */, *provider,
		*rack; /* rack: value of perDomain.key's label; NULL: none */
};
struct line_stop {
	const char *scope, *name, *reason; /* "image", its digest, "ImageMismatch" */
	int64_t machines;		   /* how many have it */
	int64_t next; /* wall ms when one is let through; 0: now, unless one is on its way */
};
/* May a claim be made there now?  False: *why says what stopped it. */
bool line_open(const struct controller *c, const struct line_place *p, struct line_stop *why);
/* Is this failure one of a stopped line, and so not the machine's own? */
bool line_blames(const struct controller *c, const struct machine *m,
		 const struct machine_failure *f);
/* Three failures in a row that are its own: the machine is due for quarantine. */
bool line_machine_worn(const struct controller *c, const struct machine *m);

#endif
