#ifndef PROVIDERS_LIBVIRT_DOMAIN_H
#define PROVIDERS_LIBVIRT_DOMAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/err.h"
#include "base/mem.h"

/*
 * domain: reads a libvirt domain's XML (libvirt.org/formatdomain.html), changes it in place, or
 * builds it from a template. Works on a libxml2 tree throughout: XML text is never concatenated,
 * and elements that drover does not know stay unchanged.
 *
 * drover's own data about a domain is in its <metadata>, in an element of the namespace DOMAIN_NS:
 * the fence of the last change, the URL of the medium in the slot and, for a domain that drover
 * defined, the owning Provider and Machine. Anyone who may read the domain's XML can read this
 * data.
 *
 * The slot is the domain's first CD-ROM drive. It is added when a medium is inserted into a domain
 * that has none. Pure functions: no libvirt, no files. The input may be arbitrary text:
 * tests/fuzz/fuzz_domain.c.
 */
#define DOMAIN_NS "https://drover.dev/libvirt/1"
#define DOMAIN_XML_MAX (1u << 20)

enum domain_boot { DOMAIN_BOOT_DISK, DOMAIN_BOOT_MEDIA, DOMAIN_BOOT_OTHER };
/* Texts of enum domain_boot: "disk", "media", "other" */
extern const char *const domain_boot_names[];

/* Facts that drover reads from a domain's XML. Strings are in the arena that was passed to
 * domain_read(); NULL: not in the XML. */
struct domain_facts {
	const char *name, *uuid;
	/* Serial number of the system, as in SMBIOS */
	const char *serial;
	/* First boot device */
	enum domain_boot boot;
	/* True: the slot contains a medium */
	bool inserted;
	/* Storage pool and volume of the medium in the slot; NULL: no medium, or one that is not a
	 * volume */
	const char *pool, *volume;
	/* URL from which the medium in the slot was fetched; NULL unless the medium is the volume
	 * that drover creates for this domain */
	const char *media_url;
	/* Fence of the last change by drover; 0: drover has not changed the domain */
	int64_t fence;
	/* Owner of a domain that drover defined: UID of the Provider, name of the Machine; NULL:
	 * drover did not define it */
	const char *provider, *machine;
};

struct domain;
/* Parses libvirt's XML; the caller frees with domain_free(). NULL with ERR_PROTOCOL: not a domain,
 * too large, or with a DTD. */
struct domain *domain_parse(const char *xml, size_t len, struct err *e);
void domain_free(struct domain *d);
static inline void domain_own_free_(struct domain **d)
{
	domain_free(*d);
}
int domain_read(const struct domain *d, struct arena *a, struct domain_facts *f, struct err *e);
/* Returns the domain's XML; the caller frees. */
char *domain_text(const struct domain *d);

void domain_set_fence(struct domain *d, int64_t fence);
/* Changes the boot order: the slot's medium (media true) or the first disk becomes the first boot
 * device. */
void domain_set_boot(struct domain *d, bool media);
/* Inserts a volume into the slot. url: the URL from which the volume's content was fetched. */
void domain_insert(struct domain *d, const char *pool, const char *volume, const char *url);
void domain_eject(struct domain *d);
/* Returns the XML of the slot alone, as needed to change a running domain; the caller frees. NULL:
 * no slot. */
char *domain_slot_text(const struct domain *d);
/* Returns the name of the volume in which drover stores the medium of the domain with that UUID. */
const char *domain_media_volume(struct arena *a, const char *uuid);

/* --- templates -------------------------------------------------------------------------------- */

enum domain_bus { DOMAIN_BUS_SATA, DOMAIN_BUS_NVME };
/* Texts of enum domain_bus: "sata", "nvme" */
extern const char *const domain_bus_names[];
#define DOMAIN_DRIVES 8

struct domain_template {
	/* Name and UUID of the domain, constant for the lifetime of the machine */
	const char *name, *uuid;
	/* Owner: UID of the Provider, name of the Machine */
	const char *provider, *machine;
	/* Type of the domain: "kvm", "qemu" or "test" */
	const char *type;
	int64_t cpus, memory_bytes;
	const char *pool;
	/* libvirt network, or bridge of the host, to which the machine's card is connected; both
	 * NULL: QEMU's user network */
	const char *network, *bridge;
	size_t ndrives;
	struct {
		enum domain_bus bus;
		/* For an NVMe drive: path of the volume's file. Not used for SATA. */
		const char *path;
	} drives[DOMAIN_DRIVES];
};
/* Builds a domain with UEFI without Secure Boot (variables in libvirt's own store), an empty slot
 * and a serial console. libvirt 9 does not support NVMe disks, so they are added as QEMU arguments;
 * QEMU must therefore be able to open the volume's file itself. */
struct domain *domain_build(const struct domain_template *t);
const char *domain_drive_volume(struct arena *a, const char *name, size_t drive);
struct domain_user {
	int64_t uid, gid;
};
/* Reads the user that QEMU runs as from the host's capabilities (XML) into *out. False: the
 * capabilities do not contain the user. */
bool domain_qemu_user(const char *capabilities, size_t len, struct domain_user *out);
/* Returns the XML of a volume with mode 0600. owner: the owner of its file; NULL: libvirt chooses
 * the owner. The caller frees. */
char *domain_volume_text(const char *name, int64_t bytes, const struct domain_user *owner);

#endif
