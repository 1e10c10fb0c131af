#ifndef WIPE_ATA_ERASE_H
#define WIPE_ATA_ERASE_H

#include "wipe/host.h"
#include "wipe/sanitize.h"

/*
 * ata_erase: erase methods of ATA drives.
 *
 * SANITIZE DEVICE (ACS-3: B4h): crypto scramble 11h, block erase 12h, overwrite 14h; status 00h. A
 * sanitize-frozen drive accepts none until it loses power.
 *
 * SECURITY ERASE UNIT (ATA8-ACS: F4h, after SECURITY SET PASSWORD F1h and ERASE PREPARE F3h). A
 * frozen drive (most firmware freezes drives at boot) accepts none of these until it loses power. A
 * drive that loses power during the erase is locked by the password, which is always ATA_PASSWORD,
 * so that any later attempt can unlock it.
 *
 * Blocking: only from loop_work().
 * Tests: tests/unit/wipe/test_erase_ata.c
 */
#define ATA_PASSWORD "drover erases this drive" /* Not a secret; 32 bytes, padded with zeros. */

struct ata_abilities {
	/* Bits SANITIZES_...; 0 while sanitize-frozen. */
	unsigned sanitizes;
	bool erase, erase_enhanced;
	/* Supports TRUSTED RECEIVE. */
	bool trusted;
	bool enabled, locked;
	bool erase_frozen, sanitize_frozen;
	/* Durations that the drive reports, in ms; 0: not reported. */
	int64_t erase_ms, enhanced_ms;
};
/* All false if the drive does not report them. */
void ata_abilities(const struct host *h, int fd, struct ata_abilities *out);

extern const struct sanitize_ops ata_sanitize;

/* Limit of a SECURITY ERASE UNIT in ms; the command reports no progress. */
int64_t ata_erase_limit_ms(const struct ata_abilities *a, bool enhanced);
/* *status: the drive's result. After a failure the password is removed if the drive permits. */
int ata_erase(const struct host *h, int fd, bool enhanced, int64_t limit_ms, int64_t *status,
	      struct err *e) __attribute__((warn_unused_result));
/* Unlocks a drive that is locked by ATA_PASSWORD. -1: it is locked by another password. */
int ata_unlock(const struct host *h, int fd, struct err *e) __attribute__((warn_unused_result));

#endif
