#ifndef PROVIDERS_BCM_EDIT_H
#define PROVIDERS_BCM_EDIT_H

#include "base/arena.h"
#include "providers/bcm/client.h"
#include "providers/bcm/node.h"

/*
 * edit: changes one device: read, change, write the whole object, read again.
 *
 *   getDevice --> plan() --> may_act() --> updateDevice --> getDevice --> [settle --> getDevice]
 *   	       nothing to change: done		 compared with what was written
 *
 * BCM has no conditional writes, so the last writer wins: the window between read and write cannot
 * be closed, only kept short and checked afterwards. If the reply to the write is lost, the read
 * after the write shows whether the write took effect. If a member that this edit changed differs
 * from what was written, the edit ends with ERR_CONFLICT and names the member. Members that another
 * writer changed meanwhile are logged, except those that BCM itself updates (modified, revision
 * ...).
 * Tests: tests/unit/providers/bcm/test_edit.c
 */
struct bcm_edit;

struct bcm_edit_spec {
	struct bcm *bcm;
	struct loop_group *group;
	/* Hostname or UUID of the device */
	const char *node;
	/* Time in ms after which the device is read and compared once more; 0: compared only
	 * once */
	uint32_t settle_ms;
	/* Returns the device as it is to be written, as JSON text in a. NULL with e->kind ERR_NONE:
	 * no change is needed. NULL with any other kind: the edit ends with *e. */
	const char *(*plan)(struct exact device, const struct bcm_node *n, struct arena *a,
			    void *arg, struct err *e);
	/* Called each time just before the write is sent; false ends the edit with ERR_CONFLICT */
	bool (*may_act)(void *arg);
	/* n: the device as last read, valid during done(); NULL: the edit failed with *e */
	void (*done)(const struct bcm_node *n, const struct err *e, void *arg);
	void *arg;
};
struct bcm_edit *bcm_edit_start(const struct bcm_edit_spec *s);
/* Cancels without done(). NULL is allowed. */
void bcm_edit_cancel(struct bcm_edit *x);

#endif
