#ifndef REDFISH_QUIRKS_H
#define REDFISH_QUIRKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * quirks: what a BMC does otherwise than the schemas say, as data.  The rows
 * are in quirks.def; they are matched against facts that were read from the BMC
 * and merged from top to bottom, so that a later row corrects an earlier one.
 * Code asks for a flag, never for a vendor.
 */
enum quirk {
	QUIRK_MEDIA_PATCH = 1 << 0, /* media go in by PATCH of Image: do not look for InsertMedia */
	QUIRK_MEDIA_BARE = 1 << 1,  /* InsertMedia takes Image alone */
	QUIRK_CD_IS_USBCD = 1 << 2, /* virtual CDs boot as UsbCd */
	QUIRK_BOOT_MODE_ALWAYS = 1 << 3,  /* the boot mode goes with every override */
	QUIRK_BOOT_MODE_NEVER = 1 << 4,	  /* ... with none */
	QUIRK_BOOT_CLEAR_BY_PXE = 1 << 5, /* target None is refused: clear with Pxe and Disabled */
	QUIRK_MEDIA_WORDY = 1 << 6,	  /* InsertMedia wants the transfer protocol */
	QUIRK_MEDIA_NAMED = 1 << 7,	  /* ... a user name and password, also for nobody */
	QUIRK_CD_BY_ATTRIBUTE = 1 << 8,	  /* virtual CDs boot by an attribute; Cd is a drive */
	QUIRK_MEDIA_UPLOADS = 1 << 9, /* slots RDOC*, Remote* take files of a browser, no address */
};

/* All may be NULL: not given. */
struct quirk_facts {
	const char *vendor;  /* root Vendor, else the System's Manufacturer */
	const char *product; /* the System's Model, else root Product */
	const char *redfish_version;
	const char *bios; /* the System's BiosVersion */
	bool (*has)(const char *member,
		    const void *arg); /* is there such a member in the root's Oem? */
	const void *arg;
};

struct quirks {
	unsigned flags; /* of enum quirk */
	uint64_t rows;	/* bits: quirk_rows[] in force, without those that a later one corrects */
};
struct quirks quirks_of(const struct quirk_facts *f);

struct quirk_row {
	const char *id;	  /* Q26-nokia: unique, for ever */
	const char *name; /* what is done otherwise, for people */
	const char *vendor, *product, *redfish_version, *bios; /* globs, any case; NULL: any */
	const char *member;				       /* NULL: any */
	unsigned set, clear;
	const char *why;
};
extern const struct quirk_row quirk_rows[];
extern const size_t quirk_rows_n;

#endif
