#include "wipe/tcg.h"

#include <linux/nvme_ioctl.h>
#include <string.h>
#include "base/str.h"
#include "wipe/sat.h"
#include "wipe/scsi.h"

#define BYTES 512
#define HEAD 48	   /* Size of the discovery header, after which the features follow. */
#define PROTOCOL 1 /* Security protocol of the TCG; its communication ID 1 is Level 0 Discovery. */
#define LOCKING 0x0002

enum { ENABLED = 1 << 1, LOCKED = 1 << 2, SHADOWED = 1 << 4, SHADOW_DONE = 1 << 5 };

static int receive_nvme(const struct host *h, int fd, uint8_t *page)
{
	struct nvme_passthru_cmd c = {
		.opcode = 0x82,
		.addr = (uintptr_t)page,
		.data_len = BYTES,
		.cdw10 = PROTOCOL << 24 | 1 << 8,
		.cdw11 = BYTES,
		.timeout_ms = 10000,
	};

	return h->nvme_admin(fd, &c);
}

static int receive_ata(const struct host *h, int fd, uint8_t *page)
{
	struct ata_command c = {
		.command = 0x5c, .feature = PROTOCOL, .count = 1, .lba = 1 << 8, .data = page};

	return h->ata(fd, &c) < 0 || c.status & 0x21 ? -1 : 0;
}

static int receive_scsi(const struct host *h, int fd, uint8_t *page)
{
	struct scsi_command c = {.cdb = {0xa2, PROTOCOL, 0, 1, 0, 0, 0, 0, BYTES >> 8, 0},
				 .cdb_len = 12,
				 .data = page,
				 .len = BYTES};

	return h->scsi(fd, &c) < 0 || c.status != SCSI_GOOD ? -1 : 0;
}

static int receive(const struct host *h, int fd, const char *type, uint8_t *page)
{
	if (str_eq(type, "NVMe") && h->nvme_admin)
		return receive_nvme(h, fd, page);
	if (str_eq(type, "SATA") && h->ata)
		return receive_ata(h, fd, page);
	if (str_eq(type, "SAS") && h->scsi)
		return receive_scsi(h, fd, page);
	return -1;
}

/* True if the locking feature's flags show that a range is locked, or that the shadow MBR is shown
 * instead of the first blocks. */
static bool keeps_locked(unsigned flags)
{
	return flags & ENABLED && (flags & LOCKED || (flags & SHADOWED && !(flags & SHADOW_DONE)));
}

bool tcg_locked(const struct host *h, int fd, const char *type, uint8_t *page)
{
	size_t end;

	memset(page, 0, BYTES);
	if (receive(h, fd, type, page) != 0)
		return false;
	end = ((size_t)page[0] << 24 | (size_t)page[1] << 16 | (size_t)page[2] << 8 | page[3]) + 4;
	if (end > BYTES)
		end = BYTES;
	for (size_t at = HEAD; at + 5 <= end; at += 4u + page[at + 3])
		if ((page[at] << 8 | page[at + 1]) == LOCKING && page[at + 3])
			return keeps_locked(page[at + 4]);
	return false;
}
