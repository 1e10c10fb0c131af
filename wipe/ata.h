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
 * ata: sectors that an ATA drive hides from whoever reads and writes it: by a host protected area
 * (ATA8-ACS: READ NATIVE MAX ADDRESS EXT 27h, SET MAX ADDRESS EXT 37h), by the Accessible Max
 * Address Configuration that came in its place (ACS-3: 78h), or by a device configuration overlay
 * (ATA8-ACS: DEVICE CONFIGURATION IDENTIFY B1h/C2h, RESTORE B1h/C0h). What is hidden is shown, for
 * good; a drive that refuses, because it is locked or frozen, or does not say, is at fault: nobody
 * can wipe what it hides.
 *
 * Blocking: only from loop_work().
 * Tests: tests/unit/wipe/test_ata.c
 */
/* The drive open as fd shows all its sectors. *changed: it did not before, and the kernel has to
 * look at it anew. bytes: its size as the kernel has it, 0: not yet known. -1: it hides some, or
 * does not say. */
int ata_show(const struct host *h, int fd, int64_t bytes, bool *changed, struct err *e)
	__attribute__((warn_unused_result));
/* drives_scan(), of drives that show all they have: what hid something is taken up anew by the
 * kernel, and `fault` says which one hides some still. */
void ata_scan(const struct host *h, struct arena *a, struct drive_list *out);

/* Its volatile write cache is off until it loses its power (SET FEATURES EFh, 82h); it may
 * refuse. */
void ata_cache_off(const struct host *h, int fd);

#endif
