#include "wipe/ata.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "base/str.h"
#include "wipe/ata_erase.h"
#include "wipe/dio.h"

#define NAP_MS 100
#define AGAIN_MS 30000 /* Longest wait for a rescanned drive to reappear, in ms. */

#define ERR_BIT 0x01
#define FAULT_BIT 0x20

enum {
	IDENTIFY = 0xec,
	READ_NATIVE_MAX_EXT = 0x27,
	SET_MAX_EXT = 0x37,
	AMAC = 0x78,
	DCO = 0xb1,
	SET_FEATURES = 0xef,
};
enum { AMAC_GET_NATIVE = 0, AMAC_SET = 1 };
enum { CACHE_OFF = 0x82 };
enum { DCO_RESTORE = 0xc0, DCO_IDENTIFY = 0xc2 };

/* --- one drive ------------------------------------------------------------------------------- */

struct ata {
	const struct host *host;
	int fd;
	uint8_t page[ATA_SECTOR];
	/* Number of sectors that can be read and written. */
	uint64_t sectors;
	uint32_t sector_bytes;
	bool hpa, amac, dco;
};

static uint16_t word(const struct ata *d, size_t n)
{
	return (uint16_t)(d->page[2 * n] | d->page[2 * n + 1] << 8);
}

static int run(const struct ata *d, struct ata_command *c, const char *what, struct err *e)
{
	if (d->host->ata(d->fd, c) < 0)
		return err_errno(e, errno, "%s", what);
	if (c->status & (ERR_BIT | FAULT_BIT))
		return err_set(
			e, ERR_DENIED, c->error,
			"%s is refused (status %02xh, error %02xh): the drive is locked or frozen",
			what, c->status, c->error);
	return 0;
}

static int identify(struct ata *d, struct err *e)
{
	struct ata_command c = {.command = IDENTIFY, .count = 1, .data = d->page};

	if (run(d, &c, "IDENTIFY DEVICE", e) < 0)
		return -1;
	/* Checks that word 83 is valid (its bits 15:14 are 01) and that its bit 10 is set, which
	 * means 48-bit addresses. Words 119 and 120 (used below) exist if bit 15 of word 86 is
	 * set. */
	if ((word(d, 83) & 0xc000) != 0x4000 || !(word(d, 83) & 1 << 10))
		return err_set(e, ERR_UNSUPPORTED, 0,
			       "IDENTIFY DEVICE: the drive has no 48-bit addresses");
	d->sectors = word(d, 100) | (uint64_t)word(d, 101) << 16 | (uint64_t)word(d, 102) << 32 |
		     (uint64_t)word(d, 103) << 48;
	d->sector_bytes = 512;
	if ((word(d, 106) & 0xd000) == 0x5000)
		d->sector_bytes = 2 * (word(d, 117) | (uint32_t)word(d, 118) << 16);
	d->hpa = word(d, 82) & 1 << 10;
	d->dco = word(d, 83) & 1 << 11;
	d->amac = (word(d, 86) & 1 << 15) && (word(d, 119) & 0xc000) == 0x4000 &&
		  (word(d, 119) & 1 << 8);
	return 0;
}

/* Sets *sectors to the drive's full number of sectors, including those of a host protected area. */
static int read_native(const struct ata *d, uint64_t *sectors, struct err *e)
{
	struct ata_command c = {.command = d->amac ? AMAC : READ_NATIVE_MAX_EXT};

	*sectors = d->sectors;
	if (!d->amac && !d->hpa)
		return 0;
	if (run(d, &c, d->amac ? "GET NATIVE MAX ADDRESS" : "READ NATIVE MAX ADDRESS", e) < 0)
		return -1;
	*sectors = c.lba + 1;
	return 0;
}

/* Sets the largest address. Must directly follow read_native(), as the standard requires. */
static int set_max(const struct ata *d, uint64_t sectors, struct err *e)
{
	struct ata_command c = {.command = SET_MAX_EXT,
				.count = 1, /* persistent over power cycles */
				.lba = sectors - 1};

	if (d->amac)
		c = (struct ata_command){.command = AMAC, .feature = AMAC_SET, .lba = sectors - 1};
	if (run(d, &c, d->amac ? "SET ACCESSIBLE MAX ADDRESS" : "SET MAX ADDRESS", e) < 0)
		return err_wrap(e, "%llu sectors are hidden",
				(unsigned long long)(sectors - d->sectors));
	return 0;
}

/* Removes a host protected area; sets *changed if there was one. */
static int show_native(struct ata *d, bool *changed, struct err *e)
{
	uint64_t native;

	if (read_native(d, &native, e) < 0)
		return -1;
	if (native <= d->sectors)
		return 0;
	*changed = true;
	return set_max(d, native, e) < 0 ? -1 : identify(d, e);
}

/* Removes a device configuration overlay; sets *changed if there was one. Fails on a frozen drive,
 * which refuses even the IDENTIFY command below. */
static int show_overlaid(struct ata *d, bool *changed, struct err *e)
{
	uint8_t page[ATA_SECTOR] = {0};
	struct ata_command c = {.command = DCO, .feature = DCO_IDENTIFY, .count = 1, .data = page};
	uint64_t real = 0;

	if (!d->dco)
		return 0;
	if (run(d, &c, "DEVICE CONFIGURATION IDENTIFY", e) < 0)
		return -1;
	for (size_t i = 0; i < 8; i++) /* words 3 to 6: the largest LBA */
		real |= (uint64_t)page[6 + i] << 8 * i;
	if (real < d->sectors)
		return 0;
	c = (struct ata_command){.command = DCO, .feature = DCO_RESTORE};
	*changed = true;
	if (run(d, &c, "DEVICE CONFIGURATION RESTORE", e) < 0)
		return err_wrap(e, "%llu sectors are hidden",
				(unsigned long long)(real + 1 - d->sectors));
	return identify(d, e);
}

int ata_show(const struct host *h, int fd, int64_t bytes, bool *changed, struct err *e)
{
	struct ata d = {.host = h, .fd = fd};
	bool overlaid = false;

	*changed = false;
	if (identify(&d, e) < 0 || show_native(&d, changed, e) < 0 ||
	    show_overlaid(&d, &overlaid, e) < 0)
		return -1;
	*changed |= overlaid;
	/* Reads the native size again, because it may be larger without the overlay. */
	if (overlaid && show_native(&d, changed, e) < 0)
		return -1;
	if (!*changed && bytes && d.sectors != (uint64_t)bytes / d.sector_bytes)
		return err_set(
			e, ERR_CONFLICT, 0,
			"the drive reports %llu sectors of %u bytes, the kernel shows %lld bytes",
			(unsigned long long)d.sectors, (unsigned)d.sector_bytes, (long long)bytes);
	return 0;
}

void ata_cache_off(const struct host *h, int fd)
{
	struct ata_command c = {.command = SET_FEATURES, .feature = CACHE_OFF};

	(void)h->ata(fd, &c);
}

/* --- all drives ------------------------------------------------------------------------------- */

static void write_line(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	/* A failure is ignored: the next scan shows whether the write had an effect. */
	if (fd >= 0) {
		(void)!write(fd, text, strlen(text));
		close(fd);
	}
}

/* Deletes the device and rescans its SCSI host, because the kernel reads the size of a drive only
 * when it detects the drive. */
static void find_anew(const struct host *h, struct arena *a, const char *name)
{
	struct timespec nap = {.tv_nsec = NAP_MS * 1000000};
	const char *address = host_link(a, "%s/block/%s/device", h->sys, name), **names;
	const char *blocks = arena_printf(a, "%s/block", h->sys);
	size_t before = host_names(a, blocks, &names);

	if (!address)
		return;
	write_line(arena_printf(a, "%s/block/%s/device/delete", h->sys, name), "1");
	write_line(arena_printf(a, "%s/class/scsi_host/host%.*s/scan", h->sys,
				(int)strcspn(address, ":"), address),
		   "- - -");
	for (int waited = 0; waited < AGAIN_MS && host_names(a, blocks, &names) < before;
	     waited += NAP_MS)
		nanosleep(&nap, NULL);
}

/* Makes all sectors of the drive visible, or sets d->fault. Returns true if sectors became visible;
 * the kernel must then detect the drive anew (find_anew()). */
static bool show(const struct host *h, struct arena *a, struct proto_drive *d)
{
	bool changed = false;
	struct dio dio;
	struct err e;

	if (dio_open(&dio, h, drive_name(d), false, &e) < 0) {
		d->fault = arena_strdup(a, e.text);
		return false;
	}
	if (ata_unlock(h, dio.fd, &e) < 0 || ata_show(h, dio.fd, dio.bytes, &changed, &e) < 0)
		d->fault = arena_strdup(a, e.text);
	dio_close(&dio);
	return changed && !d->fault;
}

void ata_scan(const struct host *h, struct arena *a, struct drive_list *out)
{
	bool changed = false;

	drives_scan(h, a, out);
	for (size_t i = 0; h->ata && i < out->n; i++)
		if (str_eq(out->v[i].type, "SATA") && show(h, a, &out->v[i])) {
			find_anew(h, a, drive_name(&out->v[i]));
			changed = true;
		}
	if (!changed)
		return;
	drives_scan(h, a, out);
	for (size_t i = 0; i < out->n; i++)
		if (str_eq(out->v[i].type, "SATA") && show(h, a, &out->v[i]))
			out->v[i].fault =
				"the drive hides sectors again after all were made visible";
}
