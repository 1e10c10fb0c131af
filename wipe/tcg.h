#ifndef WIPE_TCG_H
#define WIPE_TCG_H

#include "wipe/host.h"

/*
 * tcg: detects whether a self-encrypting drive is locked by its owner (TCG Storage Architecture
 * Core, Level 0 Discovery; by NVMe Security Receive 82h, ATA TRUSTED RECEIVE 5Ch, SCSI SECURITY
 * PROTOCOL IN A2h). A locked range cannot be written or wiped before the drive is reverted by its
 * owner, or by the PSID on its label.
 *
 * Blocking: only from loop_work().
 * Tests: tests/unit/wipe/test_tcg.c
 */
/* True if the drive reports that it is locked; a drive that reports nothing counts as unlocked.
 * type: as in struct proto_drive. page: 4096 bytes of dio_buffer(). */
bool tcg_locked(const struct host *h, int fd, const char *type, uint8_t *page);

#endif
