#ifndef REDFISH_QUIRKS_H
#define REDFISH_QUIRKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * quirks: deviations of BMCs from the schemas, as data. The rows in quirks.def are matched against
 * facts read from the BMC and merged from top to bottom, so that a later row corrects an earlier
 * one. Code tests a flag, never a vendor.
 */
enum quirk {
	/* Insert media by a PATCH of Image; do not search for InsertMedia. */
	QUIRK_MEDIA_PATCH = 1 << 0,
	/* Send InsertMedia with Image only. */
	QUIRK_MEDIA_BARE = 1 << 1,
	/* Virtual CDs boot as UsbCd. */
	QUIRK_CD_IS_USBCD = 1 << 2,
	/* Send the boot mode with every override. */
	QUIRK_BOOT_MODE_ALWAYS = 1 << 3,
	/* Never send the boot mode. */
	QUIRK_BOOT_MODE_NEVER = 1 << 4,
	/* The BMC refuses target None: clear the override with target Pxe and Enabled set to
	 * Disabled. */
	QUIRK_BOOT_CLEAR_BY_PXE = 1 << 5,
	/* InsertMedia needs the members TransferMethod and TransferProtocolType. */
	QUIRK_MEDIA_WORDY = 1 << 6,
	/* InsertMedia needs a user name and password, even for anonymous access. */
	QUIRK_MEDIA_NAMED = 1 << 7,
	/* Virtual CDs boot by a vendor attribute; Cd means the physical drive. */
	QUIRK_CD_BY_ATTRIBUTE = 1 << 8,
	/* Slots RDOC* and Remote* accept uploads from a browser, not addresses. */
	QUIRK_MEDIA_UPLOADS = 1 << 9,
};

/* Facts about a BMC that rows are matched against. Any text may be NULL: not reported. */
struct quirk_facts {
	/* Vendor of the root, else Manufacturer of the System. */
	const char *vendor;
	/* Model of the System, else Product of the root. */
	const char *product;
	const char *redfish_version;
	/* BiosVersion of the System. */
	const char *bios;
	/* Returns true if the Oem object of the service root has this member. */
	bool (*has)(const char *member, const void *arg);
	const void *arg;
};

struct quirks {
	/* Bits of enum quirk. */
	unsigned flags;
	/* Bits: indexes of the rows that apply, without those that a later row corrects. */
	uint64_t rows;
};
struct quirks quirks_of(const struct quirk_facts *f);

struct quirk_row {
	/* Unique and never changed, for example "Q26-nokia". */
	const char *id;
	/* The deviation, as text for display. */
	const char *name;
	/* Glob patterns, matched without regard to case; NULL matches every BMC. */
	const char *vendor, *product, *redfish_version, *bios;
	/* Name of a member that the root's Oem must have; NULL: no such condition. */
	const char *member;
	unsigned set, clear;
	const char *why;
};
extern const struct quirk_row quirk_rows[];
extern const size_t quirk_rows_n;

#endif
