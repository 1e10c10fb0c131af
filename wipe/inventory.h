#ifndef WIPE_INVENTORY_H
#define WIPE_INVENTORY_H

#include "base/arena.h"
#include "wipe/host.h"
#include "wipe/proto.h"

/*
 * inventory: identity and hardware of the machine, from SMBIOS, sysfs and /proc. Blocking: only
 * from loop_work(). No drive is read, so the drives' stamps are not set. Values that cannot be read
 * are not set.
 */
void inventory_dmi(const struct host *h, struct arena *a, struct proto_dmi *out);
void inventory_read(const struct host *h, struct arena *a, struct proto_inventory *out);

#endif
