#ifndef CONTROLLER_LIFE_LISTING_H
#define CONTROLLER_LIFE_LISTING_H

#include "controller/life/life.h"
#include "controller/rules/listed.h"

/*
 * listing: the drives that the BMC lists, read once for each boot of the agent.
 *
 * A BMC that lists none, or cannot be asked for any, is no fault.  One that does not answer is waited for; one that
 * goes on failing at this alone is let be after a while, with an event.
 * Tests: tests/world/test_listed.c
 */

/* l->listing is what the BMC says now.  False: it is being asked, or cannot be, which is said. */
bool life_ensure_listed(struct life *l);
/* Of these none is missing that nobody accounts for; else it is asked again for a while, since a BMC may show what was
 * there before the machine was switched on, and then *misfit is set.  u: n that were not seen; e: names them. */
bool life_ensure_listed_seen(struct life *l, const struct listed_unseen *u, size_t n, bool *misfit,
			     struct err *e);
void life_listing_forget(struct life *l);

#endif
