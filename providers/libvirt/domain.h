#ifndef PROVIDERS_LIBVIRT_DOMAIN_H
#define PROVIDERS_LIBVIRT_DOMAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/err.h"
#include "base/mem.h"

/*
 * domain: a libvirt domain's XML (libvirt.org/formatdomain.html): read, changed in place, built
 * from a template. A tree of libxml2 throughout: no text is ever put together, and what drover does
 * not know stays as it is.
 *
 * What drover keeps of a domain stands in its <metadata>, in an element of the namespace DOMAIN_NS:
 * the fence of the last change, the address that the medium in its slot was fetched from and, of a
 * domain that drover defined, whose it is. Whoever may read the domain's XML can read that.
 *
 * The slot is the first CD-ROM of the domain; one is added when a medium is put into a domain that
 * has none. Pure: no libvirt, no files. Any text is read: tests/fuzz/fuzz_domain.c.
 */
#define DOMAIN_NS "https://drover.dev/libvirt/1"
#define DOMAIN_XML_MAX (1u << 20)

enum domain_boot { DOMAIN_BOOT_DISK, DOMAIN_BOOT_MEDIA, DOMAIN_BOOT_OTHER };
/* disk, media, other */
extern const char *const domain_boot_names[];

/* Texts are the arena's that was given; NULL: there is none. */
struct domain_facts {
	const char *name, *uuid;
	/* of the system, as SMBIOS says it */
	const char *serial;
	/* what comes first */
	enum domain_boot boot;
	/* something is in the slot */
	bool inserted;
	/* ... a volume of a pool */
	const char *pool, *volume;
	/* ... that was fetched from there; only when it is drover's own volume */
	const char *media_url;
	/* of the last change; 0: none yet */
	int64_t fence;
	/* who defined it: uid of the Provider, name of the Machine */
	const char *provider, *machine;
};

struct domain;
/* From libvirt's text.  ERR_PROTOCOL: no domain, too large, or with a DTD. */
struct domain *domain_parse(const char *xml, size_t len, struct err *e);
void domain_free(struct domain *d);
static inline void domain_own_free_(struct domain **d)
{
	domain_free(*d);
}
int domain_read(const struct domain *d, struct arena *a, struct domain_facts *f, struct err *e);
/* malloc'd */
char *domain_text(const struct domain *d);

void domain_set_fence(struct domain *d, int64_t fence);
/* What boots next: the slot's medium, or the first disk, before all that was first until now. */
void domain_set_boot(struct domain *d, bool media);
/* url: what the volume was fetched from. */
void domain_insert(struct domain *d, const char *pool, const char *volume, const char *url);
void domain_eject(struct domain *d);
/* The slot's element alone, for a change of a running domain; malloc'd, NULL: there is no slot. */
char *domain_slot_text(const struct domain *d);
/* Name of the volume that drover puts its media for the domain of that UUID into. */
const char *domain_media_volume(struct arena *a, const char *uuid);

/* --- templates -------------------------------------------------------------------------------- */

enum domain_bus { DOMAIN_BUS_SATA, DOMAIN_BUS_NVME };
/* sata, nvme */
extern const char *const domain_bus_names[];
#define DOMAIN_DRIVES 8

struct domain_template {
	/* both are the machine's for ever */
	const char *name, *uuid;
	/* owner */
	const char *provider, *machine;
	/* kvm, qemu, test */
	const char *type;
	int64_t cpus, memory_bytes;
	const char *pool;
	/* of libvirt, of the host; neither: QEMU's user network */
	const char *network, *bridge;
	size_t ndrives;
	struct {
		enum domain_bus bus;
		/* nvme: of its volume */
		const char *path;
	} drives[DOMAIN_DRIVES];
};
/* UEFI without Secure Boot, its variables in libvirt's own store; an empty slot; a serial console.
 * libvirt 9 knows no NVMe disks: these are arguments for QEMU, which has to be able to open the
 * volume's file by itself. */
struct domain *domain_build(const struct domain_template *t);
const char *domain_drive_volume(struct arena *a, const char *name, size_t drive);
/* Whom QEMU runs as, from the capabilities of its host; false: they do not say. */
struct domain_user {
	int64_t uid, gid;
};
bool domain_qemu_user(const char *capabilities, size_t len, struct domain_user *out);
/* A volume's XML, readable by its owner alone (NULL: whoever libvirt takes); malloc'd. */
char *domain_volume_text(const char *name, int64_t bytes, const struct domain_user *owner);

#endif
