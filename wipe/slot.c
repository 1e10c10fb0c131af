#include "wipe/slot.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "base/str.h"

/* Largest number of bytes used of a name that firmware or an enclosure supplies. */
#define NAME_MAX_BYTES 48

/* Returns `before` followed by `foreign`, a name that firmware or an enclosure supplies. `foreign`
 * is truncated and made printable, because it may contain any bytes. */
static const char *plain(struct arena *a, const char *before, const char *foreign)
{
	char *out = arena_printf(a, "%s%.*s", before, NAME_MAX_BYTES, foreign);

	for (char *c = out; *c; c++)
		if (!isprint((unsigned char)*c))
			*c = '?';
	return out;
}

static const char *bay(const struct host *h, struct arena *a, const char *name)
{
	static const char link[] = "enclosure_device:";
	const char **names, *number;
	size_t n = host_names(a, arena_printf(a, "%s/block/%s/device", h->sys, name), &names);

	for (size_t i = 0; i < n; i++) {
		if (!str_starts(names[i], link))
			continue;
		number = host_line(a, "%s/block/%s/device/%s/slot", h->sys, name, names[i]);
		return plain(a, "bay ", number ? number : names[i] + sizeof(link) - 1);
	}
	return NULL;
}

/* Returns the PCI address of the namespace's controller. With multipath, `device` is the subsystem,
 * which contains the controllers. */
static const char *nvme_address(const struct host *h, struct arena *a, const char *name)
{
	const char *own = host_line(a, "%s/block/%s/device/address", h->sys, name), **names;
	size_t n;

	if (own)
		return own;
	n = host_names(a, arena_printf(a, "%s/block/%s/device", h->sys, name), &names);
	for (size_t i = 0; i < n && !own; i++)
		if (str_starts(names[i], "nvme"))
			own = host_line(a, "%s/block/%s/device/%s/address", h->sys, name, names[i]);
	return own;
}

/* True for a PCI address such as 0000:3b:00.0. */
static bool is_pci_address(const char *s)
{
	static const char form[] = "xxxx:xx:xx.x";

	for (size_t i = 0; i < sizeof(form) - 1; i++)
		if (form[i] == 'x' ? !isxdigit((unsigned char)s[i]) : s[i] != form[i])
			return false;
	return !s[sizeof(form) - 1];
}

/* Finds the last PCI device and the last ataN in the path that the block device links to; sets *pci
 * and *ata, each only if found. */
static void read_path(const struct host *h, struct arena *a, const char *name, const char **pci,
		      const char **ata)
{
	char path[PATH_MAX], to[PATH_MAX], *rest, *part;
	ssize_t n;

	snprintf(path, sizeof(path), "%s/block/%s", h->sys, name);
	n = readlink(path, to, sizeof(to) - 1);
	to[n > 0 ? n : 0] = '\0';
	for (part = strtok_r(to, "/", &rest); part; part = strtok_r(NULL, "/", &rest)) {
		if (is_pci_address(part))
			*pci = arena_strdup(a, part);
		else if (str_starts(part, "ata") && isdigit((unsigned char)part[3]))
			*ata = arena_strdup(a, part);
	}
}

static const char *pci_slot(const struct host *h, struct arena *a, const char *address)
{
	/* Length of the address without the ".0" at its end. */
	size_t function = strlen(address) - 2;
	const char **names, *of;
	size_t n = host_names(a, arena_printf(a, "%s/bus/pci/slots", h->sys), &names);

	for (size_t i = 0; i < n; i++) {
		of = host_line(a, "%s/bus/pci/slots/%s/address", h->sys, names[i]);
		if (of && strlen(of) == function && !strncmp(of, address, function))
			return plain(a, "slot ", names[i]);
	}
	return arena_printf(a, "pci %s", address);
}

const char *slot_of(const struct host *h, struct arena *a, const char *name)
{
	const char *found = bay(h, a, name), *pci = NULL, *ata = NULL, *scsi;
	bool nvme = str_starts(name, "nvme");

	if (found)
		return found;
	if (nvme)
		pci = nvme_address(h, a, name);
	if (!pci)
		read_path(h, a, name, &pci, &ata);
	if ((nvme || str_starts(name, "vd")) && pci && is_pci_address(pci))
		return pci_slot(h, a, pci);
	if (ata)
		return plain(a, "", ata);
	scsi = str_starts(name, "sd") ? host_link(a, "%s/block/%s/device", h->sys, name) : NULL;
	return scsi ? plain(a, "scsi ", scsi) : NULL;
}
