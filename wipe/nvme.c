#include "wipe/nvme.h"

#include <endian.h>
#include <errno.h>
#include <linux/nvme_ioctl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/mem.h"
#include "base/str.h"

#define PAGE NVME_PAGE
#define NAP_MS 100
#define SHOW_MS 30000 /* Longest wait for a namespace's block device to appear. */
#define NSIDS (PAGE / 4)

enum cns { CNS_NAMESPACE = 0, CNS_CONTROLLER = 1, CNS_ACTIVE = 2, CNS_ALLOCATED = 0x10 };

static int identify(const struct host *h, int fd, uint32_t nsid, enum cns cns, uint8_t *page,
		    struct err *e)
{
	struct nvme_passthru_cmd c = {
		.opcode = 0x06,
		.nsid = nsid,
		.addr = (uintptr_t)page,
		.data_len = PAGE,
		.cdw10 = cns,
		.timeout_ms = 10000,
	};
	int rc;

	memset(page, 0, PAGE);
	rc = h->nvme_admin(fd, &c);
	if (rc < 0)
		return err_errno(e, errno, "Identify %xh", (unsigned)cns);
	if (rc > 0)
		return err_set(e, ERR_UNSUPPORTED, rc, "Identify %xh: status %xh", (unsigned)cns,
			       (unsigned)rc);
	return 0;
}

static uint32_t nsid_at(const uint8_t *page, size_t i)
{
	uint32_t n;

	memcpy(&n, page + i * 4, 4);
	return le32toh(n);
}

/* True if the namespace nsid has a block device of the same controller or subsystem as the block
 * device `name`: "nvme0n2" beside "nvme0n1". */
static bool is_seen(const struct host *h, const char *name, uint32_t nsid)
{
	OWN(arena) a = arena_new();
	const char *end = strrchr(name, 'n');
	size_t prefix = end ? (size_t)(end - name) + 1 : 0;
	const char **names;
	size_t n = host_names(a, arena_printf(a, "%s/block", h->sys), &names);

	for (size_t i = 0; i < n; i++)
		if (!strncmp(names[i], name, prefix) &&
		    host_number(0, "%s/block/%s/nsid", h->sys, names[i]) == (int64_t)nsid &&
		    host_number(0, "%s/block/%s/size", h->sys, names[i]) > 0)
			return true;
	return false;
}

/* Returns the first namespace in the list without a block device; 0: each has one. */
static uint32_t first_hidden(const struct host *h, const char *name, const uint8_t *page)
{
	for (size_t i = 0; i < NSIDS && nsid_at(page, i); i++)
		if (!is_seen(h, name, nsid_at(page, i)))
			return nsid_at(page, i);
	return 0;
}

int nvme_abilities(const struct host *h, const char *name, int fd, void *page,
		   struct nvme_abilities *out, struct err *e)
{
	const uint8_t *p = page;
	bool managed;
	uint8_t fna, flbas, dps;
	uint32_t sanicap;

	memset(out, 0, sizeof(*out));
	out->nsid = (uint32_t)host_number(0, "%s/block/%s/nsid", h->sys, name);
	if (!out->nsid)
		return err_set(e, ERR_PROTOCOL, 0, "sysfs shows no namespace ID (nsid)");
	if (identify(h, fd, 0, CNS_CONTROLLER, page, e) < 0)
		return -1;
	fna = p[524];
	managed = p[256] & 8;
	memcpy(&sanicap, p + 328, 4);
	out->sanicap = le32toh(sanicap) & 7;
	out->cache = p[525] & 1;
	out->security = p[256] & 1;
	out->format = p[256] & 2;
	out->format_crypto = out->format && (fna & 4);
	out->format_all = fna & 3;
	out->broadcast = !(fna & 8);
	if (identify(h, fd, 0, CNS_ACTIVE, page, e) < 0)
		return -1;
	out->alone = nsid_at(page, 0) == out->nsid && !nsid_at(page, 1);
	out->hidden = first_hidden(h, name, page);
	if (managed && !out->hidden) {
		if (identify(h, fd, 0, CNS_ALLOCATED, page, e) < 0)
			return -1;
		out->hidden = first_hidden(h, name, page);
	}
	/* Clears the Format abilities if the namespace's present LBA format is not known, because a
	 * Format must retain that LBA format. */
	if (identify(h, fd, out->nsid, CNS_NAMESPACE, page, e) < 0) {
		out->format = out->format_crypto = false;
		return 0;
	}
	flbas = p[26];
	dps = p[29];
	out->lbaf = (flbas & 0x0fu) | (flbas & 0x10u) | (dps & 7u) << 5 | (dps & 8u) << 5 |
		    (flbas & 0x60u) << 7;
	return 0;
}

const char *nvme_subsystem(const struct host *h, struct arena *a, const char *name)
{
	const char *nqn = host_line(a, "%s/block/%s/device/subsysnqn", h->sys, name);
	const char *end = strrchr(name, 'n');

	return nqn ? nqn : arena_strndup(a, name, end ? (size_t)(end - name) : strlen(name));
}

static bool has_name(const struct nvme_set *set, const char *name)
{
	for (size_t i = 0; i < set->n; i++)
		if (str_eq(set->names[i], name))
			return true;
	return false;
}

static bool has_nsid(const struct nvme_set *set, uint32_t nsid)
{
	for (size_t i = 0; i < set->n; i++)
		if (set->nsids[i] == nsid)
			return true;
	return false;
}

bool nvme_only(const struct host *h, int fd, void *page, const struct nvme_set *set)
{
	OWN(arena) a = arena_new();
	const char *subsystem = nvme_subsystem(h, a, set->names[0]);
	const char **names;
	size_t n = host_names(a, arena_printf(a, "%s/block", h->sys), &names);
	struct err e;

	for (size_t i = 0; i < n; i++)
		if (str_starts(names[i], "nvme") && !has_name(set, names[i]) &&
		    !host_number(0, "%s/block/%s/hidden", h->sys, names[i]) &&
		    str_eq(nvme_subsystem(h, a, names[i]), subsystem))
			return false;
	if (identify(h, fd, 0, CNS_ACTIVE, page, &e) < 0)
		return false;
	for (size_t i = 0; i < NSIDS && nsid_at(page, i); i++)
		if (!has_nsid(set, nsid_at(page, i)))
			return false;
	return true;
}

void nvme_cache_off(const struct host *h, int fd)
{
	struct nvme_passthru_cmd c = {.opcode = 0x09, .cdw10 = 0x06, .timeout_ms = 60000};

	(void)h->nvme_admin(fd, &c);
}

/* --- all namespaces of a controller ----------------------------------------------------------- */

/* True if the controller with this folder in sysfs has a block device for the namespace: "nvme0n1",
 * or "nvme0c0n1", a path of multipath. */
static bool has_device(const char *dir, uint32_t nsid)
{
	OWN(arena) a = arena_new();
	const char **names;
	size_t n = host_names(a, dir, &names);

	for (size_t i = 0; i < n; i++)
		if (str_starts(names[i], "nvme") &&
		    host_number(0, "%s/%s/nsid", dir, names[i]) == (int64_t)nsid &&
		    host_number(0, "%s/%s/size", dir, names[i]) > 0)
			return true;
	return false;
}

static bool listed(const uint8_t *page, uint32_t nsid)
{
	for (size_t i = 0; i < NSIDS && nsid_at(page, i); i++)
		if (nsid_at(page, i) == nsid)
			return true;
	return false;
}

/* Attaches one namespace to the controller. data: a page for the controller list, which has one
 * entry. */
static int attach(const struct host *h, int fd, uint32_t nsid, uint16_t controller, uint8_t *data,
		  struct err *e)
{
	struct nvme_passthru_cmd c = {
		.opcode = 0x15, /* Namespace Attachment; cdw10 0: attach */
		.nsid = nsid,
		.addr = (uintptr_t)data,
		.data_len = PAGE,
		.timeout_ms = 60000,
	};
	const uint16_t one = htole16(1), id = htole16(controller);
	int rc;

	memset(data, 0, PAGE);
	memcpy(data, &one, 2);
	memcpy(data + 2, &id, 2);
	rc = h->nvme_admin(fd, &c);
	if (rc < 0)
		return err_errno(e, errno, "namespace %u cannot be attached", (unsigned)nsid);
	if (rc > 0)
		return err_set(e, ERR_UNSUPPORTED, rc,
			       "namespace %u cannot be attached: status %xh", (unsigned)nsid,
			       (unsigned)rc);
	return 0;
}

/* Attaches each namespace in the list `all` that is not active to the controller. */
static int attach_rest(const struct host *h, int fd, const uint8_t *all, uint16_t controller,
		       uint8_t *page, struct err *e)
{
	uint8_t *active = mem_alloc(PAGE);
	bool some = false;
	int rc;

	rc = identify(h, fd, 0, CNS_ACTIVE, page, e);
	memcpy(active, page, PAGE);
	for (size_t i = 0; !rc && i < NSIDS && nsid_at(all, i); i++)
		if (!listed(active, nsid_at(all, i))) {
			rc = attach(h, fd, nsid_at(all, i), controller, page, e);
			some = true;
		}
	free(active);
	if (!rc && some && h->nvme_rescan && h->nvme_rescan(fd) < 0)
		rc = err_errno(e, errno, "cannot rescan namespaces");
	return rc;
}

/* Waits until every namespace has its block device, which the kernel creates asynchronously. */
static int await_devices(const struct host *h, const char *dir, const uint8_t *all, struct err *e)
{
	struct timespec nap = {.tv_nsec = NAP_MS * 1000000};
	int waited = h->nvme_rescan ? 0 : SHOW_MS;

	for (size_t i = 0; i < NSIDS && nsid_at(all, i);) {
		if (has_device(dir, nsid_at(all, i))) {
			i++;
		} else if (waited >= SHOW_MS) {
			return err_set(e, ERR_UNSUPPORTED, 0, "namespace %u has no block device",
				       (unsigned)nsid_at(all, i));
		} else {
			nanosleep(&nap, NULL);
			waited += NAP_MS;
		}
	}
	return 0;
}

int nvme_show_all(const struct host *h, const char *dir, int fd, void *page, struct err *e)
{
	const uint8_t *p = page;
	uint8_t *all;
	uint16_t controller;
	bool managed;
	int rc;

	if (identify(h, fd, 0, CNS_CONTROLLER, page, e) < 0)
		return -1;
	managed = p[256] & 8;
	memcpy(&controller, p + 78, 2);
	if (identify(h, fd, 0, managed ? CNS_ALLOCATED : CNS_ACTIVE, page, e) < 0)
		return -1;
	if (!nsid_at(page, 0))
		return err_set(e, ERR_NOT_FOUND, 0,
			       "the controller has no namespace: create one, or remove the drive");
	if (nsid_at(page, NSIDS - 1))
		return err_set(e, ERR_CAPACITY, 0,
			       "the controller has %d namespaces or more: delete some, or remove "
			       "the drive",
			       NSIDS);
	all = mem_alloc(PAGE);
	memcpy(all, page, PAGE);
	rc = managed ? attach_rest(h, fd, all, le16toh(controller), page, e) : 0;
	if (!rc)
		rc = await_devices(h, dir, all, e);
	free(all);
	return rc;
}
