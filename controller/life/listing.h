#ifndef CONTROLLER_LIFE_LISTING_H
#define CONTROLLER_LIFE_LISTING_H

#include "controller/life/life.h"
#include "controller/rules/listed.h"

/*
 * listing: the list of drives that the BMC reports, read once for each boot of the agent.
 *
 * The list is requested while the agent inspects and wipes. It is compared with the agent's
 * inventory before the wipe is proved. A BMC that lists no drives, or has no such list, is not an
 * error. If a BMC answers that it does not serve the list, status.bmc records this for the BMC's
 * firmware version, and the BMC is asked again after a day. If a BMC does not answer at all, drover
 * waits for it. If only this request fails, drover gives up after a few tries, with an event.
 * Tests: tests/world/test_listed.c
 */

/* True if l->listing contains the list of this boot, or drover has given up. False while the list
 * is being read or cannot be read; status then shows the reason. */
bool life_ensure_listed(struct life *l);
/* Starts to read the list while the machine does something else. Returns the same as
 * life_ensure_listed(), but reports no reason in status and never gives up. */
bool life_listing_ask(struct life *l);
/* Forgets the answers so far, so that the list is requested again. Called for `drover retry`. */
void life_listing_retry(struct life *l);
/* True if spec.unseenDrives accounts for every listed drive that the agent did not see. Otherwise
 * reads the list again for a while, because a BMC may still show drives from before the power-on;
 * after that time sets *misfit to true. u: the n unseen drives. e names those that are not
 * accounted for. */
bool life_ensure_listed_seen(struct life *l, const struct listed_unseen *u, size_t n, bool *misfit,
			     struct err *e);
void life_listing_forget(struct life *l);

#endif
