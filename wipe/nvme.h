#ifndef WIPE_NVME_H
#define WIPE_NVME_H

#include "wipe/host.h"

/*
 * nvme: which erase commands a controller supports, and whether everything that it holds is
 * visible.
 *
 * NVM Express Base 2.0: Identify 06h; figure 275 (controller), NVM Command Set figure 97
 * (namespace); CNS 02h lists the active namespaces, 10h the allocated ones, which may be unattached
 * and so have no block device.
 *
 * Blocking: only from loop_work().
 * Tests: tests/unit/wipe/test_erase_nvme.c, tests/unit/wipe/test_subsystem.c
 */
#define NVME_PAGE 4096

struct nvme_abilities {
	bool format, format_crypto;
	/* Format, or its erase, applies to every namespace. */
	bool format_all;
	/* Format accepts FFFFFFFFh for all namespaces. */
	bool broadcast;
	/* No other active namespace exists, so commands for all namespaces affect only this one. */
	bool alone;
	/* Supports Security Receive. */
	bool security;
	/* Has a volatile write cache. */
	bool cache;
	uint32_t sanicap;
	/* lbaf: cdw10 of a Format that retains the present LBA format. */
	uint32_t nsid, lbaf;
	/* A namespace that holds data and has no block device; 0: none. */
	uint32_t hidden;
};

/* fd: the drive open under that name. page: 4096 bytes of dio_buffer(). -1: the controller does not
 * report what it holds. */
int nvme_abilities(const struct host *h, const char *name, int fd, void *page,
		   struct nvme_abilities *out, struct err *e) __attribute__((warn_unused_result));

/* Returns the subsystem of the block device: its NQN, or its controller's name. */
const char *nvme_subsystem(const struct host *h, struct arena *a, const char *name);

struct nvme_set {
	/* Names of block devices of one subsystem. */
	const char *const *names;
	const uint32_t *nsids;
	size_t n;
};
/* True if neither the controller open as fd nor sysfs lists a further namespace of that
 * subsystem. */
bool nvme_only(const struct host *h, int fd, void *page, const struct nvme_set *set);

/* Gives every namespace that the controller open as fd holds a block device, attaching unattached
 * ones to it (Namespace Attachment, 15h). -1 names one that cannot be attached, or reports that
 * there is none at all. dir: the controller's folder in sysfs. page: NVME_PAGE bytes of
 * dio_buffer(). */
int nvme_show_all(const struct host *h, const char *dir, int fd, void *page, struct err *e)
	__attribute__((warn_unused_result));

/* Turns the volatile write cache off until the next reset (Set Features 09h, feature 06h). The
 * result does not matter: writes are flushed, and checked again after a power cycle. */
void nvme_cache_off(const struct host *h, int fd);

#endif
