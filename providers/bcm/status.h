#ifndef PROVIDERS_BCM_STATUS_H
#define PROVIDERS_BCM_STATUS_H

#include "providers/bcm/client.h"
#include "providers/bcm/node.h"

/*
 * status: the states of nodes, asked for together: whoever asks waits for the next list, and one
 * list answers all, at most one in STATUS_MS. A list that was asked for before is nobody's answer:
 * it may be from before an act.
 *
 * By cmstatus.getStatusForDevices, of which no public source tells the members; where there is no
 * such call, or the profile forbids it, by GET /rest/v1/status. Which of them answers is logged
 * once.
 * Tests: tests/contract/test_bcm.c
 */
#define STATUS_MS 2000

struct bcm_statuses;
struct bcm_asker;

struct bcm_statuses *bcm_statuses_new(struct loop_group *g, struct bcm *b);
/* its askers end without done() */
void bcm_statuses_free(struct bcm_statuses *s);

/* s: lives during done(); phase BCM_UNKNOWN with the name "(none told)" where the list has no such
 * node. */
struct bcm_asker *bcm_status_ask(struct bcm_statuses *s, const char *uuid, const char *hostname,
				 void (*done)(const struct bcm_state *state, const struct err *e,
					      void *arg),
				 void *arg);
/* no done(); NULL is fine */
void bcm_status_cancel(struct bcm_asker *a);

#endif
