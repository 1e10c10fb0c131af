#ifndef WIPE_ATA_ERASE_H
#define WIPE_ATA_ERASE_H

#include "wipe/host.h"
#include "wipe/sanitize.h"

/*
 * ata_erase: erase methods of ATA drives.
 *
 * SANITIZE DEVICE (ACS-3: B4h): crypto scramble 11h, block erase 12h, overwrite 14h; status 00h. A
 * sanitize-frozen drive accepts no Sanitize command until it loses power.
 *
 * SECURITY ERASE UNIT (ATA8-ACS: F4h, after SECURITY SET PASSWORD F1h and ERASE PREPARE F3h). A
 * security-frozen drive (most firmware freezes drives at boot) accepts none of these three commands
 * until it loses power. A drive that loses power during the erase is then locked by the password.
 * The password is always ATA_PASSWORD, so that any later attempt can unlock the drive.
 *
 * Blocking: only from loop_work().
 * Tests: tests/unit/wipe/test_erase_ata.c
 */
#define ATA_PASSWORD "drover erases this drive" /* Not a secret; 32 bytes, padded with zeros. */

struct ata_abilities {
	/* Sanitize actions that the drive accepts: bits SANITIZES_... (sanitize.h); 0 while the
	 * drive is sanitize-frozen. */
	unsigned sanitizes;
	bool erase, erase_enhanced;
	/* True: the drive supports TRUSTED RECEIVE (needed by tcg.h). */
	bool trusted;
	bool enabled, locked;
	bool erase_frozen, sanitize_frozen;
	/* Durations of SECURITY ERASE UNIT (normal, enhanced) that the drive reports, in ms; 0: not
	 * reported. */
	int64_t erase_ms, enhanced_ms;
};
/* Reads the drive's erase abilities into *out; all are false or 0 if the drive does not report
 * them. */
void ata_abilities(const struct host *h, int fd, struct ata_abilities *out);

extern const struct sanitize_ops ata_sanitize;

/* Returns the time limit of a SECURITY ERASE UNIT in ms. A limit is needed because the command
 * reports no progress. */
int64_t ata_erase_limit_ms(const struct ata_abilities *a, bool enhanced);
/* Sets ATA_PASSWORD and runs SECURITY ERASE UNIT; blocks until it ends. *status: the drive's result
 * of the last command. After a failed erase the password is removed if the drive permits. */
int ata_erase(const struct host *h, int fd, bool enhanced, int64_t limit_ms, int64_t *status,
	      struct err *e) __attribute__((warn_unused_result));
/* Unlocks a drive that is locked by ATA_PASSWORD, and removes the password. -1: the drive is locked
 * by another password. */
int ata_unlock(const struct host *h, int fd, struct err *e) __attribute__((warn_unused_result));

#endif
