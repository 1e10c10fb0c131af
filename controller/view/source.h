#ifndef CONTROLLER_VIEW_SOURCE_H
#define CONTROLLER_VIEW_SOURCE_H

#include "controller/claims/waiting.h"
#include "controller/core/context.h"

/*
 * view_source: what the view reads its lists from, and the version of each list.
 *
 * A version is the ETag of a list without its quotes. Lists of different leaders never have the
 * same version.
 * Tests: tests/unit/controller/view/test_view.c, tests/unit/controller/view/test_events.c
 */
#define VIEW_VERSION_SIZE 64

struct view_source {
	const struct context *c;
	const struct waiting *waiting;
	/* Random number of this process, part of each version */
	uint64_t process;
	/* Number of changed Machines, NodeClaims and Drains so far */
	uint64_t fleet;
};

/* True if this replica leads and its caches are loaded. */
bool view_source_leads(const struct view_source *s);
/* view_source_fleet() and view_source_queue() write the version of the list of machines or of
 * waiting pods to out, and return out. */
const char *view_source_fleet(const struct view_source *s, char out[static VIEW_VERSION_SIZE]);
const char *view_source_queue(const struct view_source *s, char out[static VIEW_VERSION_SIZE]);
/* Writes the version of a list to out and returns out. number: identifies the present content of
 * the list among all contents that the list has had in this process. */
const char *view_source_version(const struct view_source *s, uint64_t number,
				char out[static VIEW_VERSION_SIZE]);

#endif
