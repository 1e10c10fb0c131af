#ifndef WIPE_UNCOVERED_H
#define WIPE_UNCOVERED_H

#include "wipe/host.h"
#include "wipe/proto.h"

/*
 * uncovered: lists memory and drives that retain a tenant's data but are not wiped, by the names
 * that a record's `notCovered` uses:
 *
 *   NVDIMM 137438953472       persistent memory, in bytes, that the firmware lists (ACPI 6.4,
 *                             5.2.25: NFIT) and the kernel does not show as a drive
 *   PMR 0000:3b:00.0          a Persistent Memory Region (NVM Express Base 2.0, 3.1.3.1: CAP.PMRS)
 *                             of an NVMe controller; a Sanitize erases it, but it is not read back
 *   FixedUSB                  the kernel has no driver for drives on USB
 *
 * Blocking: only from loop_work().
 * Tests: tests/unit/wipe/test_uncovered.c
 */
void uncovered_list(const struct host *h, struct arena *a, const struct proto_inventory *seen,
		    struct strings *out);

#endif
