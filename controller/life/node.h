#ifndef CONTROLLER_LIFE_NODE_H
#define CONTROLLER_LIFE_NODE_H

#include "controller/life/life.h"
#include "controller/tenant/tenant.h"

/*
 * node: sets drover's marks on a tenant's Node, and counts the volumes attached to the Node. The
 * marks are the cordon, and the taint drover.dev/draining, which distinguishes drover's cordon from
 * a cordon by another writer.
 * Tests: tests/world/test_hold.c, tests/world/test_drain.c
 */

/* Cordons or uncordons the Node, and sets the draining taint to the value `reason` (NULL: removes
 * the taint). about: name of the request for life_asked(). Always returns false, because the
 * request was just sent, or its effect is not in the cache yet. */
bool life_mark_node(struct life *l, struct tenant *t, const struct tenant_node *node,
		    const char *reason, bool cordon, const char *about);
/* True if the Node is cordoned and has the draining taint. Otherwise starts to set both, with
 * `reason` as the value of the taint, and returns false. */
bool life_ensure_node_marked(struct life *l, struct tenant *t, const struct tenant_node *node,
			     const char *reason);
/* Starts to count the VolumeAttachments of the machine's Node into l->volumes. The request has the
 * name "volumes" for life_asked(). */
void life_ask_volumes(struct life *l, struct tenant *t);

#endif
