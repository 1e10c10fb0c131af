#ifndef BASE_UUID_H
#define BASE_UUID_H

#include <stdbool.h>

/*
 * uuid: the system UUID as different witnesses write it.
 *
 * SMBIOS keeps the first three groups little-endian since 2.6 (DSP0134, System
 * Information, UUID); firmware and BMCs that do not hold to it say the same
 * sixteen bytes with those groups turned round.  So one machine has two spellings:
 *
 *	4c4c4544-0035-3410-8050-c6c04f314733	dmidecode, /sys/class/dmi/id/product_uuid, kubelet
 *	44454c4c-3500-1034-8050-c6c04f314733	its BMC
 *
 * What firmware says where nobody set one is no identity: every byte the same
 * (zeros, ones, fe, "XXXX"), nothing but a first group, and the defaults of
 * makers in uuid.c, in either order.
 *
 * Whether the other order is good enough is the caller's to decide: for "may these
 * two be one?" it always is, for "is it proved?" only with another proof beside it
 * (controller/rules/identity.h).
 */
#define UUID_TEXT 37

enum uuid_kind {
	/* NULL or "" */
	UUID_NONE,
	/* anything else that is no UUID */
	UUID_NOT,
	/* one that tells no machine from another */
	UUID_DEFAULT,
	UUID_IS,
};
/* In any case, with its dashes or without any. out, of the last two: lower case with dashes; else
 * "". */
enum uuid_kind uuid_read(const char *text, char out[static UUID_TEXT]);
/* UUID_IS */
bool uuid_is(const char *text);

enum uuid_match { UUID_DIFFERENT, UUID_EXACT, UUID_SWAPPED };
/* UUID_DIFFERENT unless both are UUID_IS: two defaults are not the same machine. */
enum uuid_match uuid_compare(const char *a, const char *b);
/* in either order */
bool uuid_same(const char *a, const char *b);
/* Two texts that uuid_same() have the same key, and no others; false: it is none that tells
 * machines apart. */
bool uuid_key(const char *text, char out[static UUID_TEXT]);

#endif
