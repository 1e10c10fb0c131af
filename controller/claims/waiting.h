#ifndef CONTROLLER_CLAIMS_WAITING_H
#define CONTROLLER_CLAIMS_WAITING_H

#include "base/arena.h"
#include "controller/core/context.h"

/*
 * waiting: list of what the newest plan reports for each waiting pod, as written to
 * VirtualCluster.status.waiting.
 *
 * `drover why` reads this list, because events on pods are rare and may be lost, and its user may
 * have no access to the tenant's events. The list contains the first VIRTUAL_CLUSTER_WAITING_MAX
 * pods of a tenant in the order of the queue. A list is published as a whole, once all pods of its
 * plan were reported. It is published at most every WAITING_MS, because a tenant can change all
 * other tenants' places as often as it likes.
 *
 * On the loop thread.
 * Tests: tests/unit/controller/claims/test_waiting.c, tests/world/test_waiting.c
 */
#define WAITING_MS 10000

struct waiting;
/* published(): called when a new list was published, which waiting_status() then returns. */
struct waiting *waiting_new(struct context *c, void (*published)(void *arg), void *arg);
void waiting_free(struct waiting *w);

/* Begins the list of a plan. The caller must then call waiting_put() for each pod in the order of
 * the queue, and finally waiting_end(). A list that was not ended by waiting_end() is dropped by
 * the next waiting_begin(). */
void waiting_begin(struct waiting *w);
/* Adds a pod of the tenant to the list. row->pod is NAMESPACE/NAME; row->since is ignored. Texts
 * are copied, except row->reason, which must stay valid. */
void waiting_put(struct waiting *w, const char *tenant, const struct virtual_cluster_waiting *row);
void waiting_end(struct waiting *w);

/* Sets *out to the published list for status.waiting of vc. Its texts are valid until the next list
 * is published; out->v is in the arena. A pod that has the same reason and claim in vc keeps its
 * `since`. False: vc has this list already, or no list was published yet. */
bool waiting_status(const struct waiting *w, const struct virtual_cluster *vc, struct arena *a,
		    struct virtual_cluster_waits *out);

#endif
