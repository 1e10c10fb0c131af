#ifndef CONTROLLER_CLAIMS_WAITING_H
#define CONTROLLER_CLAIMS_WAITING_H

#include "base/arena.h"
#include "controller/core/context.h"

/*
 * waiting: list of what the newest plan reports for each waiting pod.
 *
 * VirtualCluster.status.waiting contains the first VIRTUAL_CLUSTER_WAITING_MAX pods of a tenant in
 * the order of the queue. `drover why` reads this list, because events on pods are rare and may be
 * lost, and because its user may have no access to the tenant's events. The whole list is served
 * to readers of the leader (controller/view/view.h).
 *
 * A list is published as a whole, once all pods of its plan were reported. It is published at most
 * every WAITING_MS, because a tenant can change all other tenants' places as often as it likes. The
 * publication of a long list takes several turns of the loop, with WAITING_ROWS rows in each.
 *
 * On the loop thread.
 * Tests: tests/unit/controller/claims/test_waiting.c, tests/world/test_waiting.c
 */
#define WAITING_MS 10000
#define WAITING_ROWS 2000

struct waiting;
/* A gang of which a pod waits. */
struct waiting_gang {
	/* Name in its tenant: plan_pod.gang_key, at most WAITING_GANG_MAX bytes */
	const char *name;
	/* Number of pods that the gang needs (0: unknown), and of its pods that have a Node */
	size_t size, begun;
	/* The members below describe a published list; waiting_put() ignores them. waiting: number
	 * of the gang's pods in the list. first: index of the first of these pods. */
	size_t waiting, first;
	/* Earliest `since` of these pods. p50, p90: latest expected times of these pods; 0: that of
	 * one is unknown. Wall ms. */
	int64_t since, p50, p90;
};
#define WAITING_GANG_MAX 600
/* A waiting pod. */
struct waiting_row {
	const char *tenant;
	struct virtual_cluster_waiting at;
	/* Times at which the pod is expected to be served with a probability of 50 % and of 90 %,
	 * wall ms; 0: unknown */
	int64_t p50, p90;
	/* NULL: the pod belongs to no gang. */
	struct waiting_gang *gang;
};

/* published(): called when a new list was published, which waiting_status() then returns. */
struct waiting *waiting_new(struct context *c, void (*published)(void *arg), void *arg);
void waiting_free(struct waiting *w);

/* Begins the list of a plan. The caller must then call waiting_put() for each pod in the order of
 * the queue, and finally waiting_end(). A list that was not ended by waiting_end() is dropped by
 * the next waiting_begin(). */
void waiting_begin(struct waiting *w);
/* Adds a pod to the list. row->at.since is ignored. The gang and all texts are copied, except
 * row->at.reason, which must stay valid. */
void waiting_put(struct waiting *w, const struct waiting_row *row);
void waiting_end(struct waiting *w);

/* Sets *out to the published list for status.waiting of vc. Its texts are valid until the next list
 * is published; out->v is in the arena. A pod that has the same reason and claim in vc keeps its
 * `since`. False: vc has this list already, or no list was published yet. */
bool waiting_status(const struct waiting *w, const struct virtual_cluster *vc, struct arena *a,
		    struct virtual_cluster_waits *out);

/* Returns the published list of all tenants in the order of the queue, and its length in *n. Valid
 * until the next list is published. */
const struct waiting_row *waiting_rows(const struct waiting *w, size_t *n);
/* Returns the number of the published list, which differs from those of earlier lists; 0: none was
 * published yet. */
uint64_t waiting_number(const struct waiting *w);

#endif
