#ifndef PROVIDERS_BCM_ACQUIRE_H
#define PROVIDERS_BCM_ACQUIRE_H

#include "providers/bcm/edit.h"
#include "providers/provider.h"

/*
 * acquire: a node is to be installed anew, and later is as it was before.
 *
 *   acquire:  getCategories, getSoftwareImages, getNetworks --> edit: mark, category, image, network,
 *   	  nextBootInstallMode FULL, blockDevicesClearedOnNextBoot
 *   release:  edit: what the mark says was before; the mark goes
 *
 * The mark is drover's lock, by convention alone: BCM compares nothing, so it is read back twice,
 * some seconds apart. A node with another Machine's mark, or with one that is none of drover's, is
 * ERR_CONFLICT; so is one with a higher fence. The same token again changes nothing.
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
/* no done(); NULL is fine */
void bcm_acquire_cancel(struct bcm_acquire *q);

/* Whose node is it? ERR_CONFLICT names who holds it, or what stands there; 0: nobody, or this
 * Machine. */
int bcm_holder_check(const struct bcm_node *n, const char *machine, int64_t fence, struct err *e)
	__attribute__((warn_unused_result));

#endif
