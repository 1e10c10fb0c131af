#ifndef PROVIDERS_BCM_ACQUIRE_H
#define PROVIDERS_BCM_ACQUIRE_H

#include "providers/bcm/edit.h"
#include "providers/managed.h"

/*
 * acquire: prepares a node for a new install, and restores it afterwards.
 *
 *   acquire:  getCategories, getSoftwareImages, getNetworks --> edit: set mark, category, image,
 *   	  network, nextBootInstallMode FULL, blockDevicesClearedOnNextBoot
 *   release:  edit: restore the values that the mark records; remove the mark
 *
 * The mark (struct bcm_lock, stored in the node's extra_values) is drover's lock on the node. It is
 * a lock by convention only: BCM has no conditional writes, so the mark is read back twice, some
 * seconds apart. The operation fails with ERR_CONFLICT if the node has the mark of another Machine,
 * a mark that drover did not write, or a mark with a higher fence (that is, of a newer leader). A
 * second acquire with the same token changes nothing.
 * Tests: tests/contract/test_bcm.c
 */
struct bcm_acquire;

struct bcm_acquire_spec {
	struct bcm *bcm;
	struct loop_group *group;
	const char *node;
	/* UID and name of the Machine */
	const char *machine, *name;
	const char *token;
	int64_t fence;
	/* NULL: release */
	const struct provider_target *target;
	bool (*may_act)(void *arg);
	void (*done)(const struct err *e, void *arg);
	void *arg;
};
struct bcm_acquire *bcm_acquire_start(const struct bcm_acquire_spec *s);
/* Cancels without done(). NULL is allowed. */
void bcm_acquire_cancel(struct bcm_acquire *q);

/* Checks the mark of n. Returns 0 if n has no mark, or the mark of this Machine (UID) with a fence
 * of at most `fence`. Otherwise ERR_CONFLICT, with a text that names the other owner, the newer
 * leader, or a mark that drover did not write. */
int bcm_holder_check(const struct bcm_node *n, const char *machine, int64_t fence, struct err *e)
	__attribute__((warn_unused_result));

#endif
