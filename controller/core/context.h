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
 * context: what all rooms of one replica share: the loop, the client and caches of the host
 * cluster, leadership, events, Secrets, keys. It knows no part above it: what changed is told by
 * notify().
 *
 * Owned and filled by controller/controller.c; borrowed by everybody else. On the loop thread.
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
	/* drover's own namespace: Secrets, Lease */
	const char *ns;
	/* of this replica, for the Lease and events */
	const char *identity;
	/* CAs that agents trust for https images; NULL: none, such images fail. */
	const char *image_ca_pem;
	/* WipeRecords and public keys are exported there; NULL: not at all. */
	const char *evidence_dir;
	/* Programs that Providers may name in network.exec.command, NULL-terminated; NULL: none. */
	const char *const *exec_allowed;
	/* Networks that no tenant's kubeconfig may lead to (reserved.h), NULL-terminated; NULL:
	 * none. */
	const char *const *management_networks;
	/* URIs of libvirt that Providers may name, NULL-terminated; NULL: none. And the path of
	 * drover-libvirt. */
	const char *const *libvirt_allowed;
	const char *libvirt_helper;
	/* Labels of machines by whose values a gang is kept together, the narrowest first,
	 * NULL-terminated; NULL: NVLink domain, rack, leaf, spine (claims/world_sync.c). */
	/* CONTEXT_LEVELS at most */
	const char *const *gang_levels;
	/* http:// BMCs: simulations and tests */
	bool plain_ok;
	/* times of the lease, and how old it may be: so many times as long; 0: 1 */
	unsigned lease_slower;
	/* between looks at a machine in transition; 0: 1000 */
	int64_t poll_ms;
	/* ... at one at rest; 0: 120000 */
	int64_t idle_poll_ms;
	/* between the two reads that prove off; 0: 5000 */
	int64_t settle_ms;
	/* Of a burst of pods, claims/batch.h; 0: 1000 and 10000. */
	int64_t batch_idle_ms, batch_most_ms;
	/* how long machines stand idle for a gang (claims/gang_holds.h); 0: 1800000; below: not at
	 * all */
	int64_t gang_hold_ms;
	/* Points of priority for each hour that a pod waits, and at most (planner/queue.h); 0: who
	 * waits does not rise. */
	int64_t aging_points, aging_most;
	/* do not clamp pod priorities by the tenant's priority (planner/queue.h) */
	bool pods_rank_everywhere;
	/* of what tenants have used; 0: a week (planner/usage.h) */
	int64_t usage_half_life_ms;
};

struct context {
	struct loop *loop;
	struct loop_group *group;
	/* borrowed */
	struct http *http;
	struct kube_client *host;
	struct kube_events *events;
	/* Our CustomResourceDefinitions: entries say whether they are terminating; NULL: not
	 * watched. */
	struct kube_cache *crds;
	/* of the host cluster; NULL where not watched */
	struct kube_cache *cache[OBJECT_KINDS];
	struct claim_index *claim_index;
	struct kube_lease *lease;
	/* wall ms when this process did */
	int64_t began;
	bool leading;
	/* all host caches are in and the agent endpoint has its keys */
	bool ready;
	/* there is a WipeRecord that this version cannot read */
	bool records_unread;
	struct metrics *metrics;
	/* NULL: nothing is counted */
	struct counters *counters;
	/* claims/held_gpus.h; NULL: nothing is counted */
	struct held_gpus *held_gpus;
	/* NULL: the clock is believed */
	struct clock_jumps *clock_jumps;
	/* NULL: nobody is told that it disagrees */
	struct host_clock *host_clock;
	struct reserved *reserved;
	struct ways *ways;
	struct secrets *secrets;
	struct keys *keys;
	void (*on_notice)(enum notice what, const char *name, void *arg);
	/* That this machine leaves with its claim is decided, and not yet written
	 * (claims/budget.h); NULL: nobody decides. */
	bool (*decided)(const struct machine *m, const struct node_claim *n, void *arg);
	/* of both */
	void *on_notice_arg;
	struct context_options o;
};

#define CTX_GET(c, kind_id, type, name) KUBE_CACHE_GET((c)->cache[kind_id], type, "", (name))

/* Watch our CustomResourceDefinitions, for ctx_crds_terminating(). */
void ctx_watch_crds(struct context *c);
/* One of our CustomResourceDefinitions is being deleted, or it is not known whether one is. */
bool ctx_crds_terminating(const struct context *c);
/* Returns true if drover may decide on and send what costs money, terminates or destroys: this
 * replica leads, it renewed its lease within 5 s (S7), and its clock agrees with the clock of the
 * API server (core/host_clock.h). */
bool ctx_may_act(const struct context *c);
/* The same as an error, for a call that leaves its client's line. */
int ctx_may_change(const struct context *c, struct err *e);
/* An event about an object of ours. */
void ctx_event(const struct context *c, enum object_kind_id kind, const struct object_meta *about,
	       const char *type, const char *reason, const char *note);

#endif
