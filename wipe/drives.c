#include "wipe/drives.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/str.h"
#include "wipe/nvme.h"
#include "wipe/slot.h"

const char *drive_name(const struct proto_drive *d)
{
	const char *slash = strrchr(d->path, '/');

	return slash ? slash + 1 : d->path;
}

static bool has_no_medium(const char *name)
{
	static const char *const none[] = {"loop", "ram", "zram", "md", "dm-", "sr", "fd", "nbd"};

	for (size_t i = 0; i < sizeof(none) / sizeof(*none); i++)
		if (str_starts(name, none[i]))
			return true;
	return false;
}

/* Returns the text behind the number in the name of an eMMC device (Linux, drivers/mmc/core/mmc.c:
 * boot%d, gp%d, rpmb); NULL: not an eMMC device. */
static const char *emmc_part(const char *name)
{
	const char *s = str_starts(name, "mmcblk") ? name + strlen("mmcblk") : NULL;

	return s ? s + strspn(s, "0123456789") : NULL;
}

/* True for a USB stick, and for an empty slot of a removable or USB drive. A USB stick is most
 * likely the BMC's virtual medium from which the agent booted. Any other drive without a size is
 * broken, locked, or formatted in a way that this kernel cannot read: it is listed, and its wipe
 * fails. */
static bool is_stick(const struct host *h, const char *name, bool empty)
{
	char path[PATH_MAX], to[PATH_MAX];
	ssize_t n;
	bool usb, removable;

	snprintf(path, sizeof(path), "%s/block/%s", h->sys, name);
	n = readlink(path, to, sizeof(to) - 1);
	to[n > 0 ? n : 0] = '\0';
	usb = strstr(to, "/usb");
	removable = host_number(0, "%s/removable", path) == 1;
	return empty ? usb || removable : usb && removable;
}

/* Returns an identity reduced to one word of printable characters, because identities are compared
 * and are used in JSON and in names. */
static const char *one_word(struct arena *a, const char *s)
{
	char *out = arena_strdup(a, s), *w = out;

	for (const char *r = out; *r; r++) {
		bool plain = isgraph((unsigned char)*r) && *r != '"' && *r != '\\';

		if (plain)
			*w++ = *r;
		else if (w > out && w[-1] != '_')
			*w++ = '_';
	}
	while (w > out && w[-1] == '_')
		w--;
	*w = '\0';
	return out;
}

/* Reads the unit serial number page (SPC): a header of 4 bytes, then the text. */
static const char *scsi_serial(const struct host *h, struct arena *a, const char *name)
{
	unsigned char page[256];
	char path[512];
	size_t n;

	snprintf(path, sizeof(path), "%s/block/%s/device/vpd_pg80", h->sys, name);
	n = host_bytes(page, sizeof(page), path);
	if (n <= 4)
		return NULL;
	if (n - 4 > page[3])
		n = 4u + page[3];
	return one_word(a, arena_strndup(a, (const char *)page + 4, n - 4));
}

static const char *type_of(const struct host *h, struct arena *a, const char *name)
{
	if (str_starts(name, "nvme"))
		return "NVMe";
	if (str_starts(name, "vd"))
		return "Virtio";
	if (str_starts(name, "mmcblk"))
		return "MMC";
	if (str_eq(host_line(a, "%s/block/%s/device/vendor", h->sys, name), "ATA"))
		return "SATA";
	return str_starts(name, "sd") ? "SAS" : "Other";
}

static void read_identity(const struct host *h, struct arena *a, const char *name,
			  struct proto_drive *d)
{
	const char *id;

	d->type = type_of(h, a, name);
	d->model = str_or(host_line(a, "%s/block/%s/device/model", h->sys, name), d->type);
	d->serial = host_line(a, "%s/block/%s/device/serial", h->sys, name);
	if (!d->serial)
		d->serial = host_line(a, "%s/block/%s/serial", h->sys, name);
	if (!d->serial)
		d->serial = scsi_serial(h, a, name);
	id = host_line(a, "%s/block/%s/wwid", h->sys, name);
	if (!id)
		id = host_line(a, "%s/block/%s/device/wwid", h->sys, name);
	if (!id && d->serial)
		id = arena_printf(a, "%s.%s.%s", d->type, d->model, d->serial);
	/* Identifies the drive by its device name, as the last resort. Such an identity is better
	 * than none, and it equals the identity of no other drive. */
	if (!id)
		id = arena_printf(a, "%s.%s.at.%s", d->type, d->model, name);
	d->wwn = one_word(a, id);
}

int drive_check(const struct host *h, const struct proto_drive *d, struct err *e)
{
	OWN(arena) a = arena_new();
	const char *name = drive_name(d);
	struct proto_drive now = {0};
	size_t n;

	if (!host_number(0, "%s/block/%s/size", h->sys, name))
		/* The drive has disappeared, which is no conflict: I/O through the open descriptor
		 * fails. */
		return 0;
	read_identity(h, a, name, &now);
	n = strlen(now.wwn);
	if (!strncmp(d->wwn, now.wwn, n) && (!d->wwn[n] || d->wwn[n] == '#'))
		return 0;
	return err_set(e, ERR_CONFLICT, 0, "%s is now drive %s, was %s when drives were listed",
		       d->path, now.wwn, d->wwn);
}

/* Appends "#2" and so on to the identity of drives that have the same one (multipath, or faulty
 * firmware), so that each of them is wiped. */
static void tell_apart(struct arena *a, struct drive_list *l)
{
	for (size_t i = 1; i < l->n; i++) {
		int same = 1;

		for (size_t k = 0; k < i; k++)
			same += str_eq(l->v[k].wwn, l->v[i].wwn);
		if (same > 1)
			l->v[i].wwn = arena_printf(a, "%s#%d", l->v[i].wwn, same);
	}
}

void drives_scan(const struct host *h, struct arena *a, struct drive_list *out)
{
	const char **names;
	size_t n = host_names(a, arena_printf(a, "%s/block", h->sys), &names);

	out->n = out->parts.n = 0;
	out->v = arena_calloc(a, n + 1, sizeof(*out->v));
	out->parts.v = arena_calloc(a, n + 1, sizeof(*out->parts.v));
	for (size_t i = 0; i < n; i++) {
		struct proto_drive *d = &out->v[out->n];
		const char *part = emmc_part(names[i]);
		int64_t sectors = host_number(0, "%s/block/%s/size", h->sys, names[i]);

		if (part && str_starts(part, "boot"))
			out->parts.v[out->parts.n++] = names[i];
		if (part && (str_starts(part, "boot") || str_eq(part, "rpmb")))
			continue;
		if (sectors < 0 || sectors > INT64_MAX / 512)
			sectors = 0;
		if (has_no_medium(names[i]) ||
		    host_number(0, "%s/block/%s/hidden", h->sys, names[i]) ||
		    is_stick(h, names[i], !sectors))
			continue;
		d->path = arena_printf(a, "%s/%s", h->dev, names[i]);
		d->bytes = sectors * 512;
		d->block_size =
			host_number(512, "%s/block/%s/queue/logical_block_size", h->sys, names[i]);
		d->rotational =
			host_number(0, "%s/block/%s/queue/rotational", h->sys, names[i]) == 1;
		d->removable = host_number(0, "%s/block/%s/removable", h->sys, names[i]) == 1;
		d->read_only = host_number(0, "%s/block/%s/ro", h->sys, names[i]) == 1;
		read_identity(h, a, names[i], d);
		if (str_eq(d->type, "NVMe"))
			d->subsystem = nvme_subsystem(h, a, names[i]);
		d->slot = slot_of(h, a, names[i]);
		out->n++;
	}
	tell_apart(a, out);
}
