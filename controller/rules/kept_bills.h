#ifndef CONTROLLER_RULES_KEPT_BILLS_H
#define CONTROLLER_RULES_KEPT_BILLS_H

#include <jansson.h>

#include "api/virtualcluster.h"
#include "base/arena.h"

/*
 * kept_bills: bills of VirtualClusters that are gone, as ConfigMaps in drover's own namespace keep
 * them. Pure.
 *
 * There are KEPT_BILLS of them; a bill is under the UID of its VirtualCluster in the one that the
 * UID chooses, so that writing it again counts nothing twice. A bill is a VirtualCluster with
 * metadata and status.cost alone.
 * Tests: tests/unit/controller/rules/test_kept_bills.c, tests/unit/controller/tenant/test_debts.c
 */
#define KEPT_BILLS 16
#define KEPT_BILLS_NAME 16
#define KEPT_BILLS_MAX                                                                             \
	(900 * 1024) /* bytes of one ConfigMap's data; beyond that the oldest bills go */

void kept_bills_name(int i, char out[static KEPT_BILLS_NAME]);
/* In which one. */
int kept_bills_of(const char *uid);
/* Its `data` as a merge patch: this bill up to now, and null for those that go. data: what it has;
 * NULL: nothing. *dropped: bills younger than LEDGER_MONTHS that go. */
json_t *kept_bills_patch(const json_t *data, const struct virtual_cluster *vc, int64_t now,
			 struct arena *a, size_t *dropped);

/* A member of a ConfigMap's `data`, as it stands there; texts are the arena's. */
struct kept_bill {
	/* of the VirtualCluster that is gone */
	const char *name;
	struct virtual_cluster_cost cost;
};
/* Reads a kept bill. Calls on_unread() for each charge that cannot be decoded, and leaves the
 * charge out. -1: the whole bill cannot be decoded. */
int kept_bill_read(const char *text, struct arena *a, struct kept_bill *out,
		   void (*on_unread)(const struct err *e, void *arg), void *arg, struct err *e);
/* Reads status.cost of a VirtualCluster, with the same rules. */
int kept_bill_cost(const json_t *cost, struct arena *a, struct virtual_cluster_cost *out,
		   void (*on_unread)(const struct err *e, void *arg), void *arg, struct err *e);

#endif
