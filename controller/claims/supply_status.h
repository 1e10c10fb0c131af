#ifndef CONTROLLER_CLAIMS_SUPPLY_STATUS_H
#define CONTROLLER_CLAIMS_SUPPLY_STATUS_H

#include "controller/controller.h"

/*
 * summary: the status of NodePools and Providers, which is the sum of what
 * claims, machines and drivers say.
 *
 * A kick marks; one pass over all of them follows, at most one in 2 s.  What has
 * changed is written by compare-and-swap, only by the leader; while a version of
 * an object is refused it is not written against again.  Conditions of other writers stay.
 */
struct supply_status;
struct supply_status *supply_status_new(struct controller *c);
void supply_status_free(struct supply_status *s);
void supply_status_kick(struct supply_status *s);

/* What their status should say now, from the caches.  *out begins as the object's own status; arena: its strings. */
void supply_status_pool(const struct controller *c, const struct node_pool *p, struct arena *a,
			struct node_pool_status *out);
void supply_status_provider(const struct controller *c, const struct provider_object *p,
			    struct arena *a, struct provider_object_status *out);

#endif
