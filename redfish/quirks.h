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
	/* media go in by PATCH of Image: do not look for InsertMedia */
	QUIRK_MEDIA_PATCH = 1 << 0,
	/* InsertMedia takes Image alone */
	QUIRK_MEDIA_BARE = 1 << 1,
	/* virtual CDs boot as UsbCd */
	QUIRK_CD_IS_USBCD = 1 << 2,
	/* the boot mode goes with every override */
	QUIRK_BOOT_MODE_ALWAYS = 1 << 3,
	/* ... with none */
	QUIRK_BOOT_MODE_NEVER = 1 << 4,
	/* target None is refused: clear with Pxe and Disabled */
	QUIRK_BOOT_CLEAR_BY_PXE = 1 << 5,
	/* InsertMedia wants the transfer protocol */
	QUIRK_MEDIA_WORDY = 1 << 6,
	/* ... a user name and password, also for nobody */
	QUIRK_MEDIA_NAMED = 1 << 7,
	/* virtual CDs boot by an attribute; Cd is a drive */
	QUIRK_CD_BY_ATTRIBUTE = 1 << 8,
	/* slots RDOC*, Remote* take files of a browser, no address */
	QUIRK_MEDIA_UPLOADS = 1 << 9,
};

/* All may be NULL: not given. */
struct quirk_facts {
	/* root Vendor, else the System's Manufacturer */
	const char *vendor;
	/* the System's Model, else root Product */
	const char *product;
	const char *redfish_version;
	/* the System's BiosVersion */
	const char *bios;
	/* is there such a member in the root's Oem? */
	bool (*has)(const char *member, const void *arg);
	const void *arg;
};

struct quirks {
	/* of enum quirk */
	unsigned flags;
	/* bits: quirk_rows[] in force, without those that a later one corrects */
	uint64_t rows;
};
struct quirks quirks_of(const struct quirk_facts *f);

struct quirk_row {
	/* Q26-nokia: unique, for ever */
	const char *id;
	/* what is done otherwise, for people */
	const char *name;
	/* globs, any case; NULL: any */
	const char *vendor, *product, *redfish_version, *bios;
	/* NULL: any */
	const char *member;
	unsigned set, clear;
	const char *why;
};
extern const struct quirk_row quirk_rows[];
extern const size_t quirk_rows_n;

#endif
