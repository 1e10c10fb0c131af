#ifndef CONTROLLER_SUMMARY_H
#define CONTROLLER_SUMMARY_H

#include "controller/controller.h"

/*
 * summary: the status of NodePools and Providers, which is the sum of what
 * claims, machines and drivers say.
 *
 * A kick marks; one pass over all of them follows, at most one in 2 s.  What has
 * changed is written by compare-and-swap, only by the leader; while a version of
 * an object is refused it is not written against again.  Conditions of other writers stay.
 */
struct summary;
struct summary *summary_new(struct controller *c);
void summary_free(struct summary *s);
void summary_kick(struct summary *s);

/* What their status should say now, from the caches.  *out begins as the object's own status; arena: its strings. */
void summary_pool(const struct controller *c, const struct node_pool *p, struct arena *a,
		  struct node_pool_status *out);
void summary_provider(const struct controller *c, const struct provider_object *p, struct arena *a,
		      struct provider_object_status *out);

#endif
