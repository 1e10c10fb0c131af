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
 * context: data that all parts of one replica share: the loop, the client and caches of the host
 * cluster, leadership, events, Secrets, keys. The context does not depend on the parts that use it;
 * they learn of changes through notify().
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
struct machine_lists;
struct record_index;
struct reserved;
struct secrets;
struct spans;
struct api_paths;
struct zones;

#define CONTEXT_LEVELS 8
struct context_options {
	/* drover's own namespace, for Secrets and the Lease */
	const char *ns;
	/* name of this replica, used in the Lease and in events */
	const char *identity;
	/* CA certificates that agents trust for https images; NULL: none, and https images fail to
	 * load */
	const char *image_ca_pem;
	/* directory to which WipeRecords and public keys are exported; NULL: no export */
	const char *evidence_dir;
	/* file to which the audit log is copied (audit_file.h), "-": standard output; NULL: no
	 * copy */
	const char *audit_log;
	/* programs that Providers may name in network.exec.command, NULL-terminated; NULL: none */
	const char *const *exec_allowed;
	/* networks to which no tenant's kubeconfig may point (see reserved.h), NULL-terminated;
	 * NULL: none */
	const char *const *management_networks;
	/* URIs of libvirt hosts that Providers may name, NULL-terminated; NULL: none.
	 * libvirt_helper: path of drover-libvirt. */
	const char *const *libvirt_allowed;
	const char *libvirt_helper;
	/* Keys of the Machine labels that define topology levels, the narrowest level first. A gang
	 * is placed on machines that share the value of the narrowest possible label.
	 * NULL-terminated, at most CONTEXT_LEVELS. NULL: NVLink domain, rack, leaf, spine
	 * (claims/world_sync.c). */
	const char *const *gang_levels;
	/* True: allows http:// BMCs, for simulations and tests */
	bool plain_ok;
	/* Multiplies the durations of the Lease, and the time since the last renewal in which
	 * drover may act; 0 means 1 */
	unsigned lease_slower;
	/* poll interval of a machine in transition, in ms; 0 means 1000 */
	int64_t poll_ms;
	/* poll interval of a machine at rest, in ms; 0 means 120000 */
	int64_t idle_poll_ms;
	/* time between the two reads that prove a machine off, in ms; 0 means 5000 */
	int64_t settle_ms;
	/* Batching of pods that arrive together (claims/batch.h): the batch ends after
	 * batch_idle_ms without a new pod, at the latest after batch_most_ms; 0 means 1000 and
	 * 10000 */
	int64_t batch_idle_ms, batch_most_ms;
	/* longest time that machines stay idle for a gang (claims/gang_holds.h), in ms; 0 means
	 * 1800000, negative means never */
	int64_t gang_hold_ms;
	/* priority points that a pod gains per hour of waiting, and their maximum
	 * (planner/queue.h); 0: waiting does not raise the priority */
	int64_t aging_points, aging_most;
	/* True: a pod's own priority counts in full. False: the priority of the pod's tenant is an
	 * upper limit (planner/queue.h). */
	bool pods_rank_everywhere;
	/* half-life of the GPU time that a tenant has used, in ms; 0 means a week
	 * (planner/usage.h) */
	int64_t usage_half_life_ms;
};

struct context {
	struct loop *loop;
	struct loop_group *group;
	/* HTTP client, borrowed from the caller of controller_new() */
	struct http *http;
	struct kube_client *host;
	struct kube_events *events;
	/* Cache of drover's CustomResourceDefinitions. Each entry is a bool: true if that
	 * CustomResourceDefinition is being deleted. NULL: not watched. */
	struct kube_cache *crds;
	/* caches of the host cluster's objects, by kind; NULL: this kind is not watched */
	struct kube_cache *cache[OBJECT_KINDS];
	struct claim_index *claim_index;
	struct machine_lists *machine_lists;
	struct record_index *record_index;
	struct kube_lease *lease;
	/* wall ms when this process started */
	int64_t began;
	bool leading;
	/* True once all caches of the host cluster are synced and the agent endpoint has its
	 * keys */
	bool ready;
	/* True if a WipeRecord exists that this version of drover cannot read */
	bool records_unread;
	struct metrics *metrics;
	/* metrics of claims and machines; NULL: none are counted */
	struct counters *counters;
	/* traces (core/spans.h); NULL: traces are off */
	struct spans *spans;
	/* reserved GPUs of each tenant (billing/held_gpus.h); NULL: not counted */
	struct held_gpus *held_gpus;
	/* detector of jumps of the wall clock; NULL: jumps are not detected */
	struct clock_jumps *clock_jumps;
	/* Reports a difference between this clock and the API server's; NULL: no report.
	 * ctx_may_act() compares the clocks even without it. */
	struct host_clock *host_clock;
	/* Failed writes (core/status_writer.h). next_at: loop_now() from which the next one is
	 * logged; left_out: number of failed writes since the last line that were not logged */
	struct {
		int64_t next_at, left_out;
	} failed_writes;
	struct reserved *reserved;
	struct api_paths *api_paths;
	struct secrets *secrets;
	struct keys *keys;
	/* time zones that BurstPolicies name */
	struct zones *zones;
	void (*on_notice)(enum notice what, const char *name, void *arg);
	/* Returns true if drover has decided that machine m leaves its tenant with claim n, but has
	 * not written the decision to the Machine yet (claims/budget.h). decided NULL: no such
	 * decision is ever pending. */
	bool (*decided)(const struct machine *m, const struct node_claim *n, void *arg);
	/* argument of on_notice() and decided() */
	void *on_notice_arg;
	struct context_options o;
};

#define CTX_GET(c, kind_id, type, name) KUBE_CACHE_GET((c)->cache[kind_id], type, "", (name))

/* Starts to watch drover's CustomResourceDefinitions, which ctx_crds_terminating() reads. */
void ctx_watch_crds(struct context *c);
/* True if one of drover's CustomResourceDefinitions is being deleted, or if the cache of them is
 * not synced yet. */
bool ctx_crds_terminating(const struct context *c);
/* True if drover may start an act (a request that costs money, stops or erases something). This
 * replica must be the leader and must have renewed its Lease in the last 5 s (times o.lease_slower;
 * invariant S7 of tests/world/invariants.h). Its clock must agree with the clock of the API server
 * (core/host_clock.h). */
bool ctx_may_act(const struct context *c);
/* Checks ctx_may_act() just before a queued call is sent; for kube_call_check(). Returns 0 if the
 * call may be sent, else -1 with ERR_UNAVAILABLE. */
int ctx_may_change(const struct context *c, struct err *e);
/* Sends an event about one of drover's objects. `type`: "Normal" or "Warning". */
void ctx_event(const struct context *c, enum object_kind_id kind, const struct object_meta *about,
	       const char *type, const char *reason, const char *note);

#endif
