#include "wipe/uncovered.h"

#include <endian.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/str.h"
#include "wipe/drives.h"

#define NFIT_MOST 65536
#define NFIT_HEAD 40 /* Size of the table's header, after which the structures follow. */
#define SPA_RANGE 0
#define SPA_BYTES 56
#define CAP_PMRS (UINT64_C(1) << 57)

/* Type of byte-addressable persistent memory, 66F0D379-B4F3-4074-AC43-0D3318B78CDB, in the byte
 * order of the table. */
static const uint8_t persistent[16] = {0x79, 0xd3, 0xf0, 0x66, 0xf3, 0xb4, 0x74, 0x40,
				       0xac, 0x43, 0x0d, 0x33, 0x18, 0xb7, 0x8c, 0xdb};

static uint64_t u64_at(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return le64toh(v);
}

/* Returns the size of all persistent ranges in the NFIT; 0: none. */
static uint64_t nvdimm_bytes(const struct host *h, struct arena *a)
{
	uint8_t *table = arena_calloc(a, NFIT_MOST, 1);
	size_t n = host_bytes(table, NFIT_MOST,
			      arena_printf(a, "%s/firmware/acpi/tables/NFIT", h->sys));
	uint64_t bytes = 0;

	for (size_t at = NFIT_HEAD; at + 4 <= n;) {
		unsigned type = table[at] | (unsigned)table[at + 1] << 8;
		size_t len = table[at + 2] | (size_t)table[at + 3] << 8;

		if (len < 4 || at + len > n)
			break;
		if (type == SPA_RANGE && len >= SPA_BYTES &&
		    !memcmp(table + at + 16, persistent, 16))
			bytes += u64_at(table + at + 40);
		at += len;
	}
	return bytes;
}

/* Returns the size in bytes of the persistent memory that the kernel shows as drives. These drives
 * are wiped like all others. */
static uint64_t shown_bytes(const struct proto_inventory *seen)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < seen->drives.n; i++)
		if (str_starts(drive_name(&seen->drives.v[i]), "pmem"))
			bytes += (uint64_t)seen->drives.v[i].bytes;
	return bytes;
}

/* True if the NVMe controller at the PCI address has a Persistent Memory Region, as its first
 * register, CAP, shows. False also if the kernel is locked down and denies access. */
static bool has_pmr(const struct host *h, const char *address)
{
	char path[PATH_MAX];
	const volatile uint64_t *cap;
	uint64_t value = 0;
	struct stat st;
	void *bar;
	int fd;

	snprintf(path, sizeof(path), "%s/bus/pci/devices/%s/resource0", h->sys, address);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_SYNC);
	if (fd < 0)
		return false;
	bar = fstat(fd, &st) == 0 && st.st_size >= (off_t)sizeof(value)
		      ? mmap(NULL, sizeof(value), PROT_READ, MAP_SHARED, fd, 0)
		      : MAP_FAILED;
	close(fd);
	if (bar == MAP_FAILED)
		return false;
	cap = bar;
	value = *cap;
	munmap(bar, sizeof(value));
	/* All ones in the register mean that the controller does not respond. */
	return value != UINT64_MAX && le64toh(value) & CAP_PMRS;
}

void uncovered_list(const struct host *h, struct arena *a, const struct proto_inventory *seen,
		    struct strings *out)
{
	uint64_t nvdimm = nvdimm_bytes(h, a), shown = shown_bytes(seen);
	const char **v = arena_calloc(a, seen->controllers.n + 3, sizeof(*v));
	const char *usb = arena_printf(a, "%s/bus/usb/drivers/usb-storage", h->sys);
	size_t n = 0;

	if (nvdimm > shown)
		v[n++] = arena_printf(a, "NVDIMM %" PRIu64, nvdimm - shown);
	for (size_t i = 0; i < seen->controllers.n; i++) {
		const struct proto_controller *c = &seen->controllers.v[i];

		if (str_eq(c->driver, "nvme") && has_pmr(h, c->address))
			v[n++] = arena_printf(a, "PMR %s", c->address);
	}
	if (access(usb, F_OK) < 0)
		v[n++] = "FixedUSB";
	*out = (struct strings){v, n};
}
