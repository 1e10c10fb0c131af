#ifndef CONTROLLER_LIFE_LISTING_H
#define CONTROLLER_LIFE_LISTING_H

#include "controller/life/life.h"
#include "controller/rules/listed.h"

/*
 * listing: the list of drives that the BMC reports, read once for each boot of the agent.
 *
 * The list is requested while the agent inspects and wipes, and compared with the agent's inventory
 * before the wipe is proved. A BMC that lists no drives, or has no such list, is not an error. A
 * BMC that answers that it does not serve the list is remembered in status.bmc for its firmware
 * version, and asked again after a day. A BMC that does not answer at all is waited for. If it
 * fails at this request only, drover gives up after a few tries, with an event.
 * Tests: tests/world/test_listed.c
 */

/* True if l->listing holds the list of this boot. False while it is being read or cannot be read;
 * the reason is then in status. */
bool life_ensure_listed(struct life *l);
/* Like life_ensure_listed(), for use while the machine does something else: reports no reason and
 * never gives up. */
bool life_listing_ask(struct life *l);
/* Forgets the answers so far, for `drover retry`. */
void life_listing_retry(struct life *l);
/* True if every listed drive that the agent did not see is accounted for in spec.unseenDrives.
 * Otherwise reads the list again for a while, because a BMC may still show drives from before the
 * power-on, and then sets *misfit. u: the n unseen drives; e names them. */
bool life_ensure_listed_seen(struct life *l, const struct listed_unseen *u, size_t n, bool *misfit,
			     struct err *e);
void life_listing_forget(struct life *l);

#endif
