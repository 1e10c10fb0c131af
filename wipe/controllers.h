#ifndef WIPE_CONTROLLERS_H
#define WIPE_CONTROLLERS_H

#include "base/arena.h"
#include "wipe/host.h"
#include "wipe/proto.h"

/*
 * controllers: which storage controllers the machine has, from PCI (base class 01h), and whether
 * each shows all that it holds. What no drive tells of, its controller does: one that is dead, or
 * whose namespaces are all detached, has no block device at all.
 *
 * An NVMe controller must be live and say which namespaces it holds (nvme.h); those that are
 * allocated and attached to nobody are attached to it, so that they are drives like others when
 * drives_scan() looks after this. An NVMe controller that holds no namespace is at fault too: an
 * empty drive and a broken one look alike. Controllers of other kinds may be there without a drive.
 *
 * Blocking: only from loop_work().
 * Tests: tests/unit/wipe/test_controllers.c
 */
void controllers_scan(const struct host *h, struct arena *a, struct proto_inventory *out);
/* The first that is at fault, or NULL. */
const struct proto_controller *controllers_fault(const struct proto_inventory *inv);

#endif
