#ifndef CONTROLLER_CONTROLLER_H
#define CONTROLLER_CONTROLLER_H

#include <stdbool.h>
#include <stdint.h>
#include "api/kinds.h"
#include "base/http/http.h"
#include "base/httpd/httpd.h"
#include "base/loop/loop.h"
#include "base/map.h"
#include "base/metrics.h"
#include "kube/cache.h"
#include "kube/event.h"
#include "kube/lease.h"

/*
 * controller: one replica.  It ties the parts together and owns what they share.
 *
 *	tenants --pods, nodes--> scheduler --NodeClaims--> life (one for each Machine)
 *	                             ^                       |        |        |
 *	   host caches (objects) ----'                    source   agents   tenant
 *	                                               (BMC, ports)  (orders)  (token, Node)
 *
 * Everything is on one loop thread.  A part tells the others that something
 * changed by controller_kick_*(), which only marks and defers: no part calls
 * back into another that is in the middle of its own work.
 * Tests: tests/world/test_fence.c, tests/world/test_crash.c, tests/world/test_chaos.c
 */
struct agent_endpoint;
struct claims;
struct debts;
struct drains;
struct eta;
struct counters;
struct clock_jumps;
struct keys;
struct record_export;
struct kind_watch;
struct power_pacing;
struct provisioner;
struct login_guard;
struct secrets;
struct supply_status;
struct validation;
struct warm_pool;

struct controller_options {
	const char *ns;	      /* drover's own namespace: Secrets, Lease */
	const char *identity; /* of this replica, for the Lease and events */
	const char *
		image_ca_pem; /* CAs that agents trust for https images; NULL: none, such images fail */
	const char *agent_image; /* path of the ISO; NULL: no machine can be booted */
	const char *
		evidence_dir; /* WipeRecords and public keys are exported there; NULL: not at all */
	bool plain_ok;	      /* http:// BMCs: simulations and tests */
	int64_t poll_ms;      /* between looks at a machine in transition; 0: 1000 */
	int64_t idle_poll_ms; /* ... at one at rest; 0: 120000 */
	int64_t settle_ms;    /* between the two reads that prove off; 0: 5000 */
	void (*on_ready)(
		void *arg); /* once, when caches and keys are in: the agent endpoint may open */
	void *on_ready_arg;
};

struct controller {
	struct loop *loop;
	struct loop_group *group;
	struct http *http; /* borrowed */
	struct kube_client *host;
	struct kube_events *events;
	struct kube_cache
		*crds; /* our CustomResourceDefinitions: entries say whether they are terminating */
	struct kube_cache *cache[OBJECT_KINDS]; /* of the host cluster; NULL where not watched */
	struct kube_lease *lease;
	bool leading;
	struct metrics *metrics;
	struct counters *counters;
	struct clock_jumps *clock_jumps; /* NULL: the clock is believed */
	struct eta *eta;
	struct map *lives;   /* Machine name -> struct life */
	struct map *tenants; /* VirtualCluster name -> struct tenant */
	struct map *drivers; /* Provider name -> struct driver */
	struct secrets *secrets;
	struct keys *keys;
	struct record_export *record_export;
	struct claims *claims;
	struct drains *drains;
	struct debts *debts;
	struct agent_endpoint *agent_endpoint;
	struct provisioner *provisioner;
	struct power_pacing *power_pacing;
	struct login_guard *login_guard;
	struct validation *validation;
	struct supply_status *supply_status;
	struct warm_pool *warm_pool;
	struct kind_watch *watches; /* one for each kind */
	struct loop_timer settle;   /* derives again what depends on several kinds */
	bool ready;
	bool records_unread; /* there is a WipeRecord that this version cannot read */
	struct controller_options o;
};

struct controller *controller_new(struct loop_group *g, struct http *h,
				  const struct kube_config *host,
				  const struct controller_options *o, struct err *e);
void controller_free(struct controller *c);
DEFINE_OWN(controller)

/* Routes of /healthz, /readyz, /leadz (200 on the leader alone) and /metrics. */
void controller_ops_routes(struct controller *c, struct httpd *d);
/* All host caches are in and the agent endpoint has its keys. */
bool controller_ready(const struct controller *c);
/* Give the lease back, then done(arg). */
void controller_stop(struct controller *c, void (*done)(void *arg), void *arg);

/* Something about this object changed: look again in the next turn. */
void controller_kick_machine(struct controller *c, const char *machine);
void controller_kick_all(struct controller *c);

/* One of our CustomResourceDefinitions is being deleted, or it is not known whether one is. */
bool controller_crds_terminating(const struct controller *c);
/* Leading, and the lease was renewed within 5 s: destructive requests may go out (S7). */
bool controller_may_destroy(const struct controller *c);

#define CONTROLLER_GET(c, kind_id, type, name) KUBE_CACHE_GET((c)->cache[kind_id], type, "", (name))

/* An event about an object of ours. */
void controller_event(struct controller *c, enum object_kind_id kind,
		      const struct object_meta *about, const char *type, const char *reason,
		      const char *note);

#endif
