#ifndef CONTROLLER_LIFE_NODE_H
#define CONTROLLER_LIFE_NODE_H

#include "controller/life/life.h"
#include "controller/tenant/tenant.h"

/*
 * node: the marks that drover puts on a tenant's Node (cordon, and the taint drover.dev/draining,
 * without which a cordon is somebody else's), and the volumes that are attached to it.
 * Tests: tests/world/test_hold.c, tests/world/test_drain.c
 */

/* Cordon it or not, with this reason in our taint (NULL: without the taint); asked under the name
 * `about` (life_asked()). Always false: asked, or the answer is waited for. */
bool life_mark_node(struct life *l, struct tenant *t, const struct tenant_node *node,
		    const char *reason, bool cordon, const char *about);
/* Cordoned and tainted with this reason; false: not yet, it is being done. */
bool life_ensure_node_marked(struct life *l, struct tenant *t, const struct tenant_node *node,
			     const char *reason);
/* Counts the VolumeAttachments that name its Node into l->volumes: the question "volumes" of
 * life_asked(). */
void life_ask_volumes(struct life *l, struct tenant *t);

#endif
