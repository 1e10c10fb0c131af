#ifndef CONTROLLER_RULES_KEPT_BILLS_H
#define CONTROLLER_RULES_KEPT_BILLS_H

#include <jansson.h>

#include "api/virtualcluster.h"
#include "base/arena.h"

/*
 * kept_bills: bills of deleted VirtualClusters, kept in ConfigMaps in drover's own namespace. Pure.
 *
 * There are KEPT_BILLS ConfigMaps; the UID of a VirtualCluster chooses one, and the bill is stored
 * under that UID. Writing a bill again therefore counts nothing twice. A bill is a VirtualCluster
 * that has only metadata and status.cost.
 * Tests: tests/unit/controller/rules/test_kept_bills.c, tests/unit/controller/tenant/test_debts.c
 */
#define KEPT_BILLS 16
#define KEPT_BILLS_NAME 16
#define KEPT_BILLS_MAX                                                                             \
	(900 * 1024) /* bytes of one ConfigMap's data; beyond that the oldest bills are deleted */

void kept_bills_name(int i, char out[static KEPT_BILLS_NAME]);
/* Returns the index of the ConfigMap for that UID. */
int kept_bills_of(const char *uid);
/* Returns a merge patch for the ConfigMap's `data`: the bill of vc up to now, and null for bills
 * that are deleted. data: current content; NULL: empty. *dropped: number of deleted bills that are
 * younger than LEDGER_MONTHS. */
json_t *kept_bills_patch(const json_t *data, const struct virtual_cluster *vc, int64_t now,
			 struct arena *a, size_t *dropped);

/* One bill, decoded from a ConfigMap's `data`; strings belong to the arena. */
struct kept_bill {
	/* name of the deleted VirtualCluster */
	const char *name;
	struct virtual_cluster_cost cost;
};
/* Reads a kept bill. Calls on_unread() for each charge that cannot be decoded, and leaves the
 * charge out. -1: the whole bill cannot be decoded. */
int kept_bill_read(const char *text, struct arena *a, struct kept_bill *out,
		   void (*on_unread)(const struct err *e, void *arg), void *arg, struct err *e);
/* Reads status.cost of a VirtualCluster. Calls on_unread() for each charge that cannot be decoded,
 * and leaves the charge out. -1: the whole cost cannot be decoded. */
int kept_bill_cost(const json_t *cost, struct arena *a, struct virtual_cluster_cost *out,
		   void (*on_unread)(const struct err *e, void *arg), void *arg, struct err *e);

#endif
