#ifndef CONTROLLER_CLAIMS_WAITING_H
#define CONTROLLER_CLAIMS_WAITING_H

#include "base/arena.h"
#include "controller/core/context.h"

/*
 * waiting: what the newest plan says of each waiting pod, as it goes into
 * VirtualCluster.status.waiting.
 *
 * An event on a pod is written seldom and may be lost, and the tenant's kubeconfig need not be
 * allowed to read it. This list is what `drover why` reads. It has the first
 * VIRTUAL_CLUSTER_WAITING_MAX pods of a tenant in the order of the queue. A list is published
 * whole, when its plan has been gone through, and at most every WAITING_MS, since a tenant can
 * change all others' places as often as it likes.
 *
 * On the loop thread. Tests: tests/unit/controller/claims/test_waiting.c,
 * tests/world/test_waiting.c
 */
#define WAITING_MS 10000

struct waiting;
/* published: a new list is there for waiting_status(). */
struct waiting *waiting_new(struct context *c, void (*published)(void *arg), void *arg);
void waiting_free(struct waiting *w);

/* A plan is gone through: begin, a row for each pod in the order of the queue, end. A list that did
 * not end is dropped by the next begin. */
void waiting_begin(struct waiting *w);
/* row: without since; its texts are copied, pod is NAMESPACE/NAME. */
void waiting_put(struct waiting *w, const char *tenant, const struct virtual_cluster_waiting *row);
void waiting_end(struct waiting *w);

/* Sets *out to the list for status.waiting of vc; texts live until the next list is published,
 * out->v in the arena. A pod whose reason and claim are those of vc keeps its since. False: vc has
 * that list, or none was published yet. */
bool waiting_status(const struct waiting *w, const struct virtual_cluster *vc, struct arena *a,
		    struct virtual_cluster_waits *out);

#endif
