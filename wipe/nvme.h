#ifndef WIPE_NVME_H
#define WIPE_NVME_H

#include "wipe/host.h"

/*
 * nvme: which erase commands an NVMe controller supports, and whether all its namespaces are
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
	/* True: a Format, or its erase, always applies to every namespace. */
	bool format_all;
	/* True: Format accepts the namespace FFFFFFFFh for all namespaces. */
	bool broadcast;
	/* True: no other active namespace exists, so commands for all namespaces affect only this
	 * one. */
	bool alone;
	/* True: the controller supports Security Receive. */
	bool security;
	/* True: the controller has a volatile write cache. */
	bool cache;
	uint32_t sanicap;
	/* nsid: number of the namespace. lbaf: cdw10 of a Format that retains the present LBA
	 * format. */
	uint32_t nsid, lbaf;
	/* Number of a namespace that holds data and has no block device; 0: none. */
	uint32_t hidden;
};

/* Reads the erase commands that the controller supports into *out. fd: open descriptor of the block
 * device `name`. page: 4096 bytes of dio_buffer(). -1: the controller does not report its
 * namespaces. */
int nvme_abilities(const struct host *h, const char *name, int fd, void *page,
		   struct nvme_abilities *out, struct err *e) __attribute__((warn_unused_result));

/* Returns the name of the NVMe subsystem of the block device `name`: its NQN, or the name of its
 * controller. */
const char *nvme_subsystem(const struct host *h, struct arena *a, const char *name);

struct nvme_set {
	/* names: block devices of one subsystem. nsids: the namespace number of each. */
	const char *const *names;
	const uint32_t *nsids;
	size_t n;
};
/* True if neither the controller open as fd nor sysfs lists a namespace of the subsystem that is
 * not in *set. */
bool nvme_only(const struct host *h, int fd, void *page, const struct nvme_set *set);

/* Ensures that every namespace of the controller open as fd has a block device; attaches unattached
 * namespaces to the controller (Namespace Attachment, 15h). -1: *e names a namespace that cannot be
 * attached or has no device, or reports that the controller has no namespace. dir: the controller's
 * folder in sysfs. page: NVME_PAGE bytes of dio_buffer(). */
int nvme_show_all(const struct host *h, const char *dir, int fd, void *page, struct err *e)
	__attribute__((warn_unused_result));

/* Turns off the volatile write cache until the next reset (Set Features 09h, feature 06h). A
 * failure is ignored, because writes are also flushed, and the drive is checked again after a power
 * cycle. */
void nvme_cache_off(const struct host *h, int fd);

#endif
