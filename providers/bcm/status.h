#ifndef PROVIDERS_BCM_STATUS_H
#define PROVIDERS_BCM_STATUS_H

#include "providers/bcm/client.h"
#include "providers/bcm/node.h"

/*
 * status: reads the states of nodes in batches. A caller waits for the next list of states; one
 * list answers all callers that wait for it. BCM is asked for at most one list in STATUS_MS. A list
 * requested before the call is not used, because it may predate an act of the caller.
 *
 * Uses cmstatus.getStatusForDevices, whose members no public source documents. If this call does
 * not exist or the profile forbids it, uses GET /rest/v1/status. Logs once which of the two calls
 * works.
 * Tests: tests/contract/test_bcm.c
 */
#define STATUS_MS 2000

struct bcm_statuses;
struct bcm_asker;

struct bcm_statuses *bcm_statuses_new(struct loop_group *g, struct bcm *b);
/* Frees s. Callers that still wait get no done(). */
void bcm_statuses_free(struct bcm_statuses *s);

/* Requests the state of the node with this UUID or hostname. done(): `state` is valid during the
 * call; NULL with e on error. If the list does not contain the node, state is BCM_UNKNOWN with the
 * name "(no state)". */
struct bcm_asker *bcm_status_ask(struct bcm_statuses *s, const char *uuid, const char *hostname,
				 void (*done)(const struct bcm_state *state, const struct err *e,
					      void *arg),
				 void *arg);
/* Cancels without done(). NULL is allowed. */
void bcm_status_cancel(struct bcm_asker *a);

#endif
