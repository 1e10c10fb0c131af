#ifndef PROVIDERS_BCM_EDIT_H
#define PROVIDERS_BCM_EDIT_H

#include "base/arena.h"
#include "providers/bcm/client.h"
#include "providers/bcm/node.h"

/*
 * edit: one change of a device: read, change, write whole, read again.
 *
 *   getDevice --> plan() --> may_act() --> updateDevice --> getDevice --> [settle --> getDevice]
 *   	       nothing to change: done		 compared with what was written
 *
 * BCM compares nothing, so the last writer wins: the window between read and write cannot be
 * closed, only be kept short and looked at. A reply that is lost is no failure: what is read
 * afterwards decides. What this change wrote and is not there then is ERR_CONFLICT, naming the
 * member; what others changed meanwhile is logged, but for what BCM itself moves (modified,
 * revision ...).
 * Tests: tests/unit/providers/bcm/test_edit.c
 */
struct bcm_edit;

struct bcm_edit_spec {
	struct bcm *bcm;
	struct loop_group *group;
	/* hostname or UUID */
	const char *node;
	/* read once more so much later; 0: not */
	uint32_t settle_ms;
	/* What the device is to be, as text in a; NULL with kind ERR_NONE: as it is. NULL with *e:
	 * that. */
	const char *(*plan)(struct exact device, const struct bcm_node *n, struct arena *a,
			    void *arg, struct err *e);
	/* asked before the write; false: ERR_CONFLICT */
	bool (*may_act)(void *arg);
	void (*done)(const struct bcm_node *n /* as it was read last; NULL: error */,
		     const struct err *e, void *arg);
	void *arg;
};
struct bcm_edit *bcm_edit_start(const struct bcm_edit_spec *s);
/* no done(); NULL is fine */
void bcm_edit_cancel(struct bcm_edit *x);

#endif
