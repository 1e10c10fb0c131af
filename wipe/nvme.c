#include "wipe/nvme.h"

#include <endian.h>
#include <errno.h>
#include <linux/nvme_ioctl.h>
#include <string.h>

#define PAGE 4096
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

/* A block device of the same controller or subsystem: "nvme0n2" beside "nvme0n1". */
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

/* 0: every one has a block device. */
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
		return err_set(e, ERR_PROTOCOL, 0, "sysfs has no nsid");
	if (identify(h, fd, 0, CNS_CONTROLLER, page, e) < 0)
		return -1;
	fna = p[524];
	managed = p[256] & 8;
	memcpy(&sanicap, p + 328, 4);
	out->sanicap = le32toh(sanicap) & 7;
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
	/* Without its present format it is not formatted. */
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
