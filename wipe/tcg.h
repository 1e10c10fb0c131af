#ifndef WIPE_TCG_H
#define WIPE_TCG_H

#include "wipe/host.h"

/*
 * tcg: whether a self-encrypting drive keeps its owner's lock (TCG Storage Architecture Core, Level
 * 0 Discovery; by NVMe Security Receive 82h, ATA TRUSTED RECEIVE 5Ch, SCSI SECURITY PROTOCOL IN
 * A2h). What it keeps locked nobody can write, nor wipe, before it was reverted by who owns it, or
 * by the PSID on its label.
 *
 * Blocking: only from loop_work().
 * Tests: tests/unit/wipe/test_tcg.c
 */
/* type: of the drive, as in struct proto_drive. A drive that does not say is not. page: 4096 bytes
 * of dio_buffer(). */
bool tcg_locked(const struct host *h, int fd, const char *type, uint8_t *page);

#endif
