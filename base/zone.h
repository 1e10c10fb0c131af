#ifndef BASE_ZONE_H
#define BASE_ZONE_H

#include <stddef.h>
#include <stdint.h>
#include "base/err.h"
#include "base/own.h"

/*
 * zone: time zones by IANA name, such as Europe/Berlin, from the files of the package tzdata.
 *
 * A zone is immutable after it was read, and independent of the environment and of the C library's
 * own time zone: the same zone and time always give the same offset, on any thread. A NULL zone is
 * UTC. Times are Unix ms. Years after 2200 have the offset of the end of 2200.
 * Tests: tests/unit/base/test_zone.c
 */
struct zone;
struct zones;

/* Longest name and largest file that are accepted, in bytes. */
#define ZONE_NAME_MAX 63
#define ZONE_FILE_MAX ((size_t)64 * 1024)

/* Parses the bytes of a file of the time zone database (RFC 8536, version 2 or later). Sets
 * *out to a new zone that the caller owns. ERR_INVALID: the bytes are no such file, or have leap
 * seconds. */
int zone_parse(const void *bytes, size_t len, struct zone **out, struct err *e)
	__attribute__((warn_unused_result));
void zone_free(struct zone *z);
DEFINE_OWN(zone)

/* Returns 0 if this computer has a zone of that name. ERR_INVALID: the name cannot be one of a zone
 * ("..", "localtime"); ERR_NOT_FOUND: the database lacks it. Both name it. Reads a file. */
int zone_check(const char *name, struct err *e) __attribute__((warn_unused_result));

/* Zones by name, each read once. On one thread. */
struct zones *zones_new(void);
void zones_free(struct zones *zs);
DEFINE_OWN(zones)
/* Sets *z to the zone of that name, which zs owns; NULL for UTC, which needs no file. A NULL name
 * is UTC. -1: as zone_check(), *z is then unchanged, and the next call reads again. */
int zones_get(struct zones *zs, const char *name, const struct zone **z, struct err *e)
	__attribute__((warn_unused_result));

/* Returns the difference between local time and UTC at that time, in ms; positive in the east. */
int64_t zone_offset(const struct zone *z, int64_t at);
/* Returns the first time after `at` at which the offset may change; INT64_MAX: it never changes. */
int64_t zone_change(const struct zone *z, int64_t at);
/* Returns the first time whose local time is `local` (ms since 1970-01-01 00:00 local time) or
 * later. If the clock skips `local`, that is the time of the change; if the clock shows it twice,
 * the first of the two. */
int64_t zone_first(const struct zone *z, int64_t local);

#endif
