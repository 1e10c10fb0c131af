#ifndef WIPE_NVME_H
#define WIPE_NVME_H

#include "wipe/host.h"

/*
 * nvme: what a controller says it can erase, and whether what it holds is all seen here.
 *
 * NVM Express Base 2.0: Identify 06h; figure 275 (controller), NVM Command Set figure 97
 * (namespace); CNS 02h lists the active namespaces, 10h the allocated ones, which may be
 * attached to nobody and so have no block device.
 *
 * Blocking: only from loop_work().
 * Tests: tests/unit/wipe/test_erase_nvme.c, tests/unit/wipe/test_subsystem.c
 */
#define NVME_PAGE 4096

struct nvme_abilities {
	bool format, format_crypto;
	/* Format or its erase hits every namespace */
	bool format_all;
	/* Format may name them all, FFFFFFFFh */
	bool broadcast;
	/* no other active namespace: what hits all hits this one */
	bool alone;
	/* it knows Security Receive */
	bool security;
	/* it has a volatile write cache */
	bool cache;
	uint32_t sanicap;
	/* lbaf: cdw10 of Format that keeps the format as it is */
	uint32_t nsid, lbaf;
	/* a namespace that holds data and has no block device; 0: none */
	uint32_t hidden;
};

/* fd: the drive open under that name.  page: 4096 bytes of dio_buffer().  -1: it does not say
 * what it holds. */
int nvme_abilities(const struct host *h, const char *name, int fd, void *page,
		   struct nvme_abilities *out, struct err *e) __attribute__((warn_unused_result));

/* Which subsystem the block device is of: its NQN, or its controller's name. */
const char *nvme_subsystem(const struct host *h, struct arena *a, const char *name);

struct nvme_set {
	/* of block devices of one subsystem */
	const char *const *names;
	const uint32_t *nsids;
	size_t n;
};
/* Neither the controller open as fd nor sysfs tells of a namespace of that subsystem that is not
 * among them. */
bool nvme_only(const struct host *h, int fd, void *page, const struct nvme_set *set);

/* Every namespace that the controller open as fd holds has a block device here, those that were
 * attached to nobody after they were attached to it (Namespace Attachment, 15h). -1 names one that
 * cannot be shown, or says that there is none at all. dir: the controller's folder in sysfs. page:
 * NVME_PAGE bytes of dio_buffer(). */
int nvme_show_all(const struct host *h, const char *dir, int fd, void *page, struct err *e)
	__attribute__((warn_unused_result));

/* Its volatile write cache is off until the next reset (Set Features 09h, feature 06h). What it
 * answers to that nobody needs to know: what is written is flushed, and looked at again after a
 * power cycle. */
void nvme_cache_off(const struct host *h, int fd);

#endif
