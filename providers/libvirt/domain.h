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
 * The slot is the domain's first CD-ROM drive; one is added when a medium is inserted into a domain
 * without a slot. Pure functions: no libvirt, no files. Arbitrary text is accepted as input:
 * tests/fuzz/fuzz_domain.c.
 */
#define DOMAIN_NS "https://drover.dev/libvirt/1"
#define DOMAIN_XML_MAX (1u << 20)

enum domain_boot { DOMAIN_BOOT_DISK, DOMAIN_BOOT_MEDIA, DOMAIN_BOOT_OTHER };
/* "disk", "media", "other" */
extern const char *const domain_boot_names[];

/* Strings are in the arena that was passed; NULL: none. */
struct domain_facts {
	const char *name, *uuid;
	/* Serial number of the system, as in SMBIOS */
	const char *serial;
	/* First boot device */
	enum domain_boot boot;
	/* The slot contains a medium */
	bool inserted;
	/* The slot's volume and its pool; NULL: not a volume */
	const char *pool, *volume;
	/* URL from which the medium was fetched; NULL unless the volume is drover's own */
	const char *media_url;
	/* Fence of the last change; 0: none yet */
	int64_t fence;
	/* Owner of a domain that drover defined: uid of the Provider, name of the Machine */
	const char *provider, *machine;
};

struct domain;
/* Parses libvirt's XML. ERR_PROTOCOL: not a domain, too large, or with a DTD. */
struct domain *domain_parse(const char *xml, size_t len, struct err *e);
void domain_free(struct domain *d);
static inline void domain_own_free_(struct domain **d)
{
	domain_free(*d);
}
int domain_read(const struct domain *d, struct arena *a, struct domain_facts *f, struct err *e);
/* Returns the XML; the caller frees. */
char *domain_text(const struct domain *d);

void domain_set_fence(struct domain *d, int64_t fence);
/* Makes the slot's medium, or the first disk, the first boot device, before all others. */
void domain_set_boot(struct domain *d, bool media);
/* Inserts a volume into the slot. url: where the volume's content was fetched from. */
void domain_insert(struct domain *d, const char *pool, const char *volume, const char *url);
void domain_eject(struct domain *d);
/* Returns the XML of the slot alone, for a change of a running domain; the caller frees. NULL: no
 * slot. */
char *domain_slot_text(const struct domain *d);
/* Returns the name of the volume for drover's media of the domain with that UUID. */
const char *domain_media_volume(struct arena *a, const char *uuid);

/* --- templates -------------------------------------------------------------------------------- */

enum domain_bus { DOMAIN_BUS_SATA, DOMAIN_BUS_NVME };
/* "sata", "nvme" */
extern const char *const domain_bus_names[];
#define DOMAIN_DRIVES 8

struct domain_template {
	/* Fixed for the lifetime of the machine */
	const char *name, *uuid;
	/* Owner: uid of the Provider, name of the Machine */
	const char *provider, *machine;
	/* "kvm", "qemu" or "test" */
	const char *type;
	int64_t cpus, memory_bytes;
	const char *pool;
	/* Network of libvirt, or bridge of the host; both NULL: QEMU's user network */
	const char *network, *bridge;
	size_t ndrives;
	struct {
		enum domain_bus bus;
		/* For NVMe: path of the volume's file */
		const char *path;
	} drives[DOMAIN_DRIVES];
};
/* Builds a domain with UEFI without Secure Boot (variables in libvirt's own store), an empty slot
 * and a serial console. libvirt 9 does not support NVMe disks: they are arguments for QEMU, which
 * must be able to open the volume's file itself. */
struct domain *domain_build(const struct domain_template *t);
const char *domain_drive_volume(struct arena *a, const char *name, size_t drive);
struct domain_user {
	int64_t uid, gid;
};
/* Parses the user that QEMU runs as from the host's capabilities. False: they do not contain it. */
bool domain_qemu_user(const char *capabilities, size_t len, struct domain_user *out);
/* Returns the XML of a volume with mode 0600; owner NULL: libvirt chooses the owner. The caller
 * frees. */
char *domain_volume_text(const char *name, int64_t bytes, const struct domain_user *owner);

#endif
