#ifndef WIPE_ATA_H
#define WIPE_ATA_H

#include <stdbool.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/err.h"
#include "wipe/drives.h"
#include "wipe/host.h"
#include "wipe/sat.h"

/*
 * ata: makes visible the sectors that an ATA drive hides from reads and writes. A drive hides
 * sectors by one of three features:
 * - a host protected area (ATA8-ACS: READ NATIVE MAX ADDRESS EXT 27h, SET MAX ADDRESS EXT 37h)
 * - its successor, the Accessible Max Address Configuration (ACS-3: 78h)
 * - a device configuration overlay (ATA8-ACS: DEVICE CONFIGURATION IDENTIFY B1h/C2h, RESTORE
 *   B1h/C0h)
 *
 * Hidden sectors are made visible permanently. A drive that refuses, because it is locked or
 * frozen, or that does not report its hidden sectors, is at fault: hidden sectors cannot be wiped.
 *
 * Blocking: only from loop_work().
 * Tests: tests/unit/wipe/test_ata.c
 */
/* Makes all sectors of the drive open as fd visible. *changed: set to true if sectors became
 * visible; the kernel must then rescan the drive. bytes: the drive's size in the kernel; 0: not yet
 * known. -1: sectors stay hidden, or the drive does not report whether it hides any. */
int ata_show(const struct host *h, int fd, int64_t bytes, bool *changed, struct err *e)
	__attribute__((warn_unused_result));
/* Lists the machine's drives as drives_scan() does, but first makes all hidden sectors visible
 * and has the kernel rescan the drives concerned. `fault` is set for a drive that still hides
 * sectors. */
void ata_scan(const struct host *h, struct arena *a, struct drive_list *out);

/* Turns off the drive's volatile write cache until the drive loses power (SET FEATURES EFh, 82h).
 * The drive may refuse; no error is reported. */
void ata_cache_off(const struct host *h, int fd);

#endif
