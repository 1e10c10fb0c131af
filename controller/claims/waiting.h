#ifndef CONTROLLER_CLAIMS_WAITING_H
#define CONTROLLER_CLAIMS_WAITING_H

#include "base/arena.h"
#include "controller/core/context.h"

/*
 * waiting: what the newest plan reports of each waiting pod, as written to
 * VirtualCluster.status.waiting.
 *
 * Events on pods are rare and may be lost, and the user of `drover why` may have no access to the
 * tenant's events. `drover why` reads this list. The list contains the first
 * VIRTUAL_CLUSTER_WAITING_MAX pods of a tenant in the order of the queue. A list is published as a
 * whole once its plan has been processed, at most every WAITING_MS, because a tenant can change all
 * other tenants' places as often as it likes.
 *
 * On the loop thread. Tests: tests/unit/controller/claims/test_waiting.c,
 * tests/world/test_waiting.c
 */
#define WAITING_MS 10000

struct waiting;
/* published: called when waiting_status() has a new list. */
struct waiting *waiting_new(struct context *c, void (*published)(void *arg), void *arg);
void waiting_free(struct waiting *w);

/* Begins the list of a plan. The caller then calls waiting_put() for each pod in the order of the
 * queue, and waiting_end(). A list without waiting_end() is dropped by the next waiting_begin(). */
void waiting_begin(struct waiting *w);
/* Adds a pod. row->since is ignored; row->pod is NAMESPACE/NAME; texts are copied, except
 * row->reason, which must stay valid. */
void waiting_put(struct waiting *w, const char *tenant, const struct virtual_cluster_waiting *row);
void waiting_end(struct waiting *w);

/* Sets *out to the list for status.waiting of vc. Its texts are valid until the next list is
 * published; out->v is in the arena. A pod with the same reason and claim as in vc keeps its
 * `since`. False: vc has this list already, or none was published yet. */
bool waiting_status(const struct waiting *w, const struct virtual_cluster *vc, struct arena *a,
		    struct virtual_cluster_waits *out);

#endif
