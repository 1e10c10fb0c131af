#ifndef CONTROLLER_CORE_CONTEXT_H
#define CONTROLLER_CORE_CONTEXT_H

#include <stdbool.h>
#include <stdint.h>
#include "api/kinds.h"
#include "base/http/http.h"
#include "base/loop/loop.h"
#include "base/metrics.h"
#include "controller/core/notify.h"
#include "kube/cache.h"
#include "kube/event.h"
#include "kube/lease.h"

/*
 * context: what all parts of one replica share: the loop, the client and caches of the host
 * cluster, leadership, events, Secrets, keys. It knows none of the parts that use it; they learn of
 * changes through notify().
 *
 * Owned and filled by controller/controller.c; all other code borrows it. On the loop thread.
 * Tests: tests/world/test_fence.c, tests/world/test_crash.c
 */
struct claim_index;
struct counters;
struct held_gpus;
struct clock_jumps;
struct host_clock;
struct keys;
struct reserved;
struct secrets;
struct ways;

#define CONTEXT_LEVELS 8
struct context_options {
	/* drover's own namespace, for Secrets and the Lease */
	const char *ns;
	/* name of this replica, in the Lease and in events */
	const char *identity;
	/* CA certificates that agents trust for https images; NULL: none, and such images fail */
	const char *image_ca_pem;
	/* directory to which WipeRecords and public keys are exported; NULL: no export */
	const char *evidence_dir;
	/* programs that Providers may name in network.exec.command, NULL-terminated; NULL: none */
	const char *const *exec_allowed;
	/* networks to which no tenant's kubeconfig may point (reserved.h), NULL-terminated; NULL:
	 * none */
	const char *const *management_networks;
	/* URIs of libvirt hosts that Providers may name, NULL-terminated; NULL: none.
	 * libvirt_helper: path of drover-libvirt. */
	const char *const *libvirt_allowed;
	const char *libvirt_helper;
	/* Machine labels by whose values a gang is kept together, the narrowest first,
	 * NULL-terminated, at most CONTEXT_LEVELS. NULL: NVLink domain, rack, leaf, spine
	 * (claims/world_sync.c). */
	const char *const *gang_levels;
	/* allows http:// BMCs, for simulations and tests */
	bool plain_ok;
	/* factor on the times of the Lease and on the age up to which it allows acting; 0 means
	 * 1 */
	unsigned lease_slower;
	/* poll interval of a machine in transition, in ms; 0 means 1000 */
	int64_t poll_ms;
	/* poll interval of a machine at rest, in ms; 0 means 120000 */
	int64_t idle_poll_ms;
	/* time between the two reads that prove a machine off, in ms; 0 means 5000 */
	int64_t settle_ms;
	/* times for batching a burst of pods (claims/batch.h), in ms; 0 means 1000 and 10000 */
	int64_t batch_idle_ms, batch_most_ms;
	/* longest time that machines stay idle for a gang (claims/gang_holds.h), in ms; 0 means
	 * 1800000, negative means never */
	int64_t gang_hold_ms;
	/* priority points per hour of waiting, and their maximum (planner/queue.h); 0: waiting does
	 * not raise the priority */
	int64_t aging_points, aging_most;
	/* does not clamp pod priorities to the tenant's priority (planner/queue.h) */
	bool pods_rank_everywhere;
	/* half-life of the GPU time that tenants have used, in ms; 0 means a week
	 * (planner/usage.h) */
	int64_t usage_half_life_ms;
};

struct context {
	struct loop *loop;
	struct loop_group *group;
	/* borrowed */
	struct http *http;
	struct kube_client *host;
	struct kube_events *events;
	/* cache of drover's CustomResourceDefinitions; each entry is a bool: the definition is
	 * terminating. NULL: not watched. */
	struct kube_cache *crds;
	/* caches of the host cluster's objects; NULL: this kind is not watched */
	struct kube_cache *cache[OBJECT_KINDS];
	struct claim_index *claim_index;
	struct kube_lease *lease;
	/* wall ms when this process started */
	int64_t began;
	bool leading;
	/* all caches of the host cluster are synced and the agent endpoint has its keys */
	bool ready;
	/* a WipeRecord exists that this version cannot read */
	bool records_unread;
	struct metrics *metrics;
	/* NULL: nothing is counted */
	struct counters *counters;
	/* claims/held_gpus.h; NULL: nothing is counted */
	struct held_gpus *held_gpus;
	/* NULL: the wall clock is trusted */
	struct clock_jumps *clock_jumps;
	/* NULL: a clock that differs from the API server's is not detected */
	struct host_clock *host_clock;
	struct reserved *reserved;
	struct ways *ways;
	struct secrets *secrets;
	struct keys *keys;
	void (*on_notice)(enum notice what, const char *name, void *arg);
	/* Returns true if it is decided, but not written yet, that this machine leaves with its
	 * claim (claims/budget.h). NULL: no such decisions are made. */
	bool (*decided)(const struct machine *m, const struct node_claim *n, void *arg);
	/* argument of on_notice() and decided() */
	void *on_notice_arg;
	struct context_options o;
};

#define CTX_GET(c, kind_id, type, name) KUBE_CACHE_GET((c)->cache[kind_id], type, "", (name))

/* Starts to watch drover's CustomResourceDefinitions, for ctx_crds_terminating(). */
void ctx_watch_crds(struct context *c);
/* True if one of drover's CustomResourceDefinitions is being deleted, or if that is not known
 * yet. */
bool ctx_crds_terminating(const struct context *c);
/* Returns true if drover may decide on and send what costs money, terminates or destroys: this
 * replica leads, it renewed its lease within 5 s (S7), and its clock agrees with the clock of the
 * API server (core/host_clock.h). */
bool ctx_may_act(const struct context *c);
/* Returns 0 if ctx_may_act(), else -1 with ERR_UNAVAILABLE. For the check of a queued call just
 * before it is sent (kube_call_check()). */
int ctx_may_change(const struct context *c, struct err *e);
/* Sends an event about one of drover's objects. */
void ctx_event(const struct context *c, enum object_kind_id kind, const struct object_meta *about,
	       const char *type, const char *reason, const char *note);

#endif
