#ifndef CONTROLLER_LIFE_LISTING_H
#define CONTROLLER_LIFE_LISTING_H

#include "controller/life/life.h"
#include "controller/rules/listed.h"

/*
 * listing: the drives that the BMC lists, read once for each boot of the agent.
 *
 * The list is asked for while the agent inspects and wipes, and is compared with what the agent saw
 * before the wipe is proved. A BMC that lists none, or cannot be asked for any, is no fault. One
 * that answers that it does not serve the list is remembered in status.bmc for its firmware
 * version, and asked again after a day. One that does not answer at all is waited for; one that
 * fails at this alone is given up after a few tries, with an event.
 * Tests: tests/world/test_listed.c
 */

/* l->listing is what the BMC says now.  False: it is being asked, or cannot be, which is said. */
bool life_ensure_listed(struct life *l);
/* Asks on while the machine does something else: nothing is said, and nothing given up. True:
 * l->listing is what the BMC says now. */
bool life_listing_ask(struct life *l);
/* `drover retry`: what was answered so far does not count. */
void life_listing_retry(struct life *l);
/* Of these none is missing that nobody accounts for; else it is asked again for a while, since a
 * BMC may show what was there before the machine was switched on, and then *misfit is set. u: n
 * that were not seen; e: names them. */
bool life_ensure_listed_seen(struct life *l, const struct listed_unseen *u, size_t n, bool *misfit,
			     struct err *e);
void life_listing_forget(struct life *l);

#endif
