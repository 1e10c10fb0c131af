#ifndef WIPE_INVENTORY_H
#define WIPE_INVENTORY_H

#include "base/arena.h"
#include "wipe/host.h"
#include "wipe/proto.h"

/*
 * inventory: what the machine is and has, from SMBIOS, sysfs and /proc.  Blocking: only
 * from loop_work().  No drive is touched: stamps are left out.  What cannot be read is left out.
 */
void inventory_dmi(const struct host *h, struct arena *a, struct proto_dmi *out);
void inventory_read(const struct host *h, struct arena *a, struct proto_inventory *out);

#endif
