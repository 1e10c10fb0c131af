#ifndef CONTROLLER_LIFE_NODE_H
#define CONTROLLER_LIFE_NODE_H

#include "controller/life/life.h"
#include "controller/tenant/tenant.h"

/*
 * node: the marks that drover sets on a tenant's Node (cordon, and the taint drover.dev/draining,
 * which tells drover's cordon from one by another writer), and the volumes attached to the Node.
 * Tests: tests/world/test_hold.c, tests/world/test_drain.c
 */

/* Cordons or uncordons the Node, with `reason` as the value of the draining taint (NULL: without
 * the taint). The request is named `about` (life_asked()). Always returns false: the request was
 * sent, or its answer is pending. */
bool life_mark_node(struct life *l, struct tenant *t, const struct tenant_node *node,
		    const char *reason, bool cordon, const char *about);
/* True if the Node is cordoned and has the draining taint. Otherwise starts that, with `reason`. */
bool life_ensure_node_marked(struct life *l, struct tenant *t, const struct tenant_node *node,
			     const char *reason);
/* Counts the VolumeAttachments of the machine's Node into l->volumes, as the request "volumes" of
 * life_asked(). */
void life_ask_volumes(struct life *l, struct tenant *t);

#endif
