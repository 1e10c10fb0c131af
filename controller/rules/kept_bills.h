#ifndef CONTROLLER_RULES_KEPT_BILLS_H
#define CONTROLLER_RULES_KEPT_BILLS_H

#include <jansson.h>

#include "api/virtualcluster.h"
#include "base/arena.h"

/*
 * kept_bills: keeps the bills of deleted VirtualClusters in ConfigMaps in drover's own namespace.
 * Pure functions.
 *
 * There are KEPT_BILLS ConfigMaps. The UID of a VirtualCluster determines its ConfigMap, and the
 * bill is stored under that UID. Writing a bill again therefore counts nothing twice. A bill is a
 * VirtualCluster that has only metadata and status.cost.
 * Tests: tests/unit/controller/rules/test_kept_bills.c,
 * tests/unit/controller/tenant/test_pending_cleanup.c
 */
#define KEPT_BILLS 16
#define KEPT_BILLS_NAME 16
/* maximum number of bytes in one ConfigMap's data; beyond it the oldest bills are deleted */
#define KEPT_BILLS_MAX (900 * 1024)

void kept_bills_name(int i, char out[static KEPT_BILLS_NAME]);
/* Returns the index (0 to KEPT_BILLS - 1) of the ConfigMap for the VirtualCluster with this UID. */
int kept_bills_of(const char *uid);
/* Returns a merge patch for the ConfigMap's `data`, owned by the caller. The patch contains the
 * bill of vc up to `now`, and null for each bill to delete. data: current content; NULL: empty.
 * *dropped: number of bills deleted for lack of space although they are younger than LEDGER_MONTHS
 * months. */
json_t *kept_bills_patch(const json_t *data, const struct virtual_cluster *vc, int64_t now,
			 struct arena *a, size_t *dropped);

/* One bill, decoded from a ConfigMap's `data`; strings belong to the arena. */
struct kept_bill {
	/* name of the deleted VirtualCluster */
	const char *name;
	struct virtual_cluster_cost cost;
};
/* Decodes a bill, text, into *out. Calls on_unread() for each charge that cannot be decoded, and
 * leaves the charge out. -1: the whole bill cannot be decoded. */
int kept_bill_read(const char *text, struct arena *a, struct kept_bill *out,
		   void (*on_unread)(const struct err *e, void *arg), void *arg, struct err *e);
/* Decodes status.cost of a VirtualCluster into *out. Calls on_unread() for each charge that cannot
 * be decoded, and leaves the charge out. -1: the whole cost cannot be decoded. */
int kept_bill_cost(const json_t *cost, struct arena *a, struct virtual_cluster_cost *out,
		   void (*on_unread)(const struct err *e, void *arg), void *arg, struct err *e);

#endif
