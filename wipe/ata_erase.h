#ifndef WIPE_ATA_ERASE_H
#define WIPE_ATA_ERASE_H

#include "wipe/host.h"
#include "wipe/sanitize.h"

/*
 * ata_erase: what an ATA drive can erase by itself.
 *
 * SANITIZE DEVICE (ACS-3: B4h): crypto scramble 11h, block erase 12h, overwrite 14h; status 00h. A
 * drive that is sanitize frozen takes none until it loses its power.
 *
 * SECURITY ERASE UNIT (ATA8-ACS: F4h, after SECURITY SET PASSWORD F1h and ERASE PREPARE F3h). A
 * drive that is frozen (most firmware sees to that at boot) takes neither until it loses its power.
 * One whose power goes while it erases is locked by the password that it was given: ATA_PASSWORD,
 * always, so that whoever comes next can unlock it.
 *
 * Blocking: only from loop_work().
 * Tests: tests/unit/wipe/test_erase_ata.c
 */
#define ATA_PASSWORD "drover erases this drive" /* no secret: 32 bytes, the rest zeros */

struct ata_abilities {
	/* SANITIZES_..., 0 while it is sanitize frozen */
	unsigned sanitizes;
	bool erase, erase_enhanced;
	/* it knows TRUSTED RECEIVE */
	bool trusted;
	bool enabled, locked;
	bool erase_frozen, sanitize_frozen;
	/* as the drive says; 0: it does not */
	int64_t erase_ms, enhanced_ms;
};
/* All false where the drive does not say. */
void ata_abilities(const struct host *h, int fd, struct ata_abilities *out);

extern const struct sanitize_ops ata_sanitize;

/* How long a SECURITY ERASE UNIT may take, of which nothing is heard meanwhile. */
int64_t ata_erase_limit_ms(const struct ata_abilities *a, bool enhanced);
/* *status: what the drive answered. Where it fails the password is taken back as far as the drive
 * lets it. */
int ata_erase(const struct host *h, int fd, bool enhanced, int64_t limit_ms, int64_t *status,
	      struct err *e) __attribute__((warn_unused_result));
/* A drive that is locked by ATA_PASSWORD is so no more.  -1: it is locked by another. */
int ata_unlock(const struct host *h, int fd, struct err *e) __attribute__((warn_unused_result));

#endif
