#ifndef BASE_UUID_H
#define BASE_UUID_H

#include <stdbool.h>

/*
 * uuid: compares system UUIDs as different sources report them.
 *
 * SMBIOS stores the first three groups little-endian since 2.6 (DSP0134, System Information, UUID).
 * Firmware and BMCs that do not comply report the same sixteen bytes with these groups reversed. So
 * one machine can have two spellings:
 *
 *   4c4c4544-0035-3410-8050-c6c04f314733  dmidecode, /sys/class/dmi/id/product_uuid, kubelet
 *   44454c4c-3500-1034-8050-c6c04f314733  its BMC
 *
 * UUIDs that firmware reports by default identify no machine: all bytes equal (zeros, ones, fe,
 * "XXXX"), only the first group set, and the vendors' defaults listed in uuid.c, in either byte
 * order.
 *
 * The caller decides whether a match in the other byte order suffices. To assume that two UUIDs may
 * belong to one machine, such a match always suffices. To prove an identity, a further proof is
 * needed (controller/rules/identity.h).
 */
#define UUID_TEXT 37

enum uuid_kind {
	/* The text is NULL or "". */
	UUID_NONE,
	/* The text is not a UUID. */
	UUID_NOT,
	/* A UUID that identifies no machine. */
	UUID_DEFAULT,
	UUID_IS,
};
/* Reads a UUID in either case, with all dashes or none. Writes it to out in lower case with dashes
 * for UUID_DEFAULT and UUID_IS; else writes "". */
enum uuid_kind uuid_read(const char *text, char out[static UUID_TEXT]);
/* True if text is a UUID that identifies a machine (UUID_IS). */
bool uuid_is(const char *text);

enum uuid_match { UUID_DIFFERENT, UUID_EXACT, UUID_SWAPPED };
/* Compares two UUIDs. Returns UUID_DIFFERENT unless both identify a machine (UUID_IS), because two
 * equal default UUIDs prove nothing about the machines. */
enum uuid_match uuid_compare(const char *a, const char *b);
/* True if both identify a machine (UUID_IS) and are equal in one of the two byte orders. */
bool uuid_same(const char *a, const char *b);
/* Writes a key to out: two texts get the same key exactly if uuid_same() is true for them. False:
 * the text identifies no machine. */
bool uuid_key(const char *text, char out[static UUID_TEXT]);

#endif
