#ifndef WIPE_CONTROLLERS_H
#define WIPE_CONTROLLERS_H

#include "base/arena.h"
#include "wipe/host.h"
#include "wipe/proto.h"

/*
 * controllers: lists the machine's storage controllers from PCI (base class 01h), and checks that
 * each shows all its drives. Drives of a dead controller, and of an NVMe controller whose
 * namespaces are all detached, have no block device. They are detected only by checking the
 * controllers.
 *
 * An NVMe controller must be live and list its namespaces (nvme.h). Allocated namespaces that are
 * not attached to any controller are attached to the controller that lists them, so that a later
 * drives_scan() finds them. An NVMe controller without a namespace is at fault too, because an
 * empty drive and a broken one look alike. Controllers of other kinds may have no drive.
 *
 * Blocking: only from loop_work().
 * Tests: tests/unit/wipe/test_controllers.c
 */
void controllers_scan(const struct host *h, struct arena *a, struct proto_inventory *out);
/* Returns the first controller at fault; NULL: none. */
const struct proto_controller *controllers_fault(const struct proto_inventory *inv);

#endif
