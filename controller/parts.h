/*
 * parts: the parts of the controller. Not included outside the top level of controller/:
 * controller.c creates the parts and passes each what it needs. object_changes.c, tenant_changes.c
 * and secret_changes.c pass changes of watched objects on to the parts. Loop thread only.
 */
#pragma once

#include "api/resources.h"
#include "base/arena.h"
#include "base/loop/loop.h"
#include "controller/core/context.h"
#include "controller/core/recheck.h"
#include "controller/core/sweep.h"
#include "controller/endpoints.h"
#include "controller/tenant/tenant.h"

/* Argument of the callbacks of one cache: the controller, and the kind of object in the cache. */
struct kind_watch {
	struct controller *c;
	enum object_kind_id kind;
};

/* Number of kinds of objects that object_changes.c adds to indexes */
#define OBJECT_CHANGES_CHECKED 3

struct controller {
	struct context ctx;
	const char *agent_image, *agent_image_key;
	void (*on_ready)(void *arg);
	void *on_ready_arg;
	/* Callback of controller_stop() */
	void (*on_stopped)(void *arg);
	void *on_stopped_arg;
	struct gauges *gauges;
	struct endpoints endpoints;
	struct validation *validation;
	struct record_export *record_export;
	/* NULL: the audit log is not copied to a file */
	struct audit_file *audit_file;
	struct audit_trail *audit_trail;
	struct agent_endpoint *agent_endpoint;
	struct drivers *drivers;
	struct discovery *discovery;
	struct power_pacing *power_pacing;
	struct login_guard *login_guard;
	struct machine_index *machine_index;
	struct tenants *tenants;
	struct pending_cleanup *pending_cleanup;
	struct segments *segments;
	struct api_path_checks *api_path_checks;
	struct drains *drains;
	struct eta *eta;
	struct provisioner *provisioner;
	/* Feeds the planner's world (its snapshot of pods, nodes and machines). Owned by
	 * provisioner. */
	const struct changes *changes;
	struct world_sync *sync;
	struct view *view;
	/* NULL: controller_view_publish() was not called */
	struct view_published *published;
	/* NULL: controller_leader_service() was not called */
	struct leader_service *leader_service;
	struct tenant_list *tenant_list;
	struct claims *claims;
	struct owners *owners;
	struct warm_pool *warm_pool;
	struct drift *drift;
	struct supply_status *supply_status;
	struct provider_finalizer *provider_finalizer;
	struct provisioned_machines *provisioned_machines;
	struct fleet *fleet;
	struct ledgers *ledgers;
	struct lives *lives;
	/* Array with one element per kind of object */
	struct kind_watch *watches;
	/* Checks of the indexes, one for each kind of object that has an index */
	struct recheck rechecks[OBJECT_CHANGES_CHECKED];
	/* Timer that starts rederive(), a pass over all Machines and NodeClaims. The pass repeats
	 * what was derived from several kinds of objects while the caches of these kinds were
	 * loading. */
	struct loop_timer settle;
	/* rederive: the pass of rederive(). kicks: the pass of kick_all(). */
	struct pass {
		/* Memory of the pass; NULL: no pass in progress */
		struct arena *arena;
		struct sweep sweep;
		struct loop_timer timer;
		/* True: the pass has processed all Machines, and processes the NodeClaims now */
		bool claims;
	} rederive, kicks;
};

/* Requests per second to the host API server: Karpenter's default, for up to 2,400 machines. A new
 * leader sends four requests for each machine (fence, Secret, first observation, claim). Above
 * 2,400 machines the rate grows with their number, so that a takeover takes the same time for each
 * size of fleet. The limit of requests in flight, which protects a slow API server, is the same for
 * all sizes. */
#define CONTROLLER_HOST_QPS 200
#define CONTROLLER_HOST_QPS_MOST 1000
#define CONTROLLER_MACHINES_EACH_QPS 12

/* --- object_changes.c: objects of the host API ------------------------------------------------ */

/* Starts the caches of the CRDs and of all kinds that the controller acts on. */
void object_changes_watch(struct controller *c);
/* Starts the checks of the indexes of objects (core/recheck.h). Call after
 * object_changes_watch(). */
void object_changes_check(struct controller *c);
/* True if the caches of all kinds that object_changes_watch() started are synced, except
 * AuditSegment: no other part waits for the audit log. */
bool object_changes_synced(const struct controller *c);
/* Passes a changed Machine to all parts that depend on it; m NULL: the Machine was deleted. */
void object_changes_machine(struct controller *c, const char *name, const struct machine *m);
void object_changes_kick_machine_of_claim(struct controller *c, const struct node_claim *n);
/* Callback for machine_index_each(): schedules a tick of the machine; arg: struct controller.
 * Always returns true. */
bool object_changes_kick_machine(const char *machine, void *arg);

/* --- tenant_changes.c: pods and Nodes of the tenants ------------------------------------------ */

struct tenant_hooks tenant_changes_hooks(struct controller *c);

/* --- secret_changes.c: Secrets in the namespaces of drover and of the tenants ----------------- */

/* Callback of secrets_new(): renews what depends on Secret ns/name, which has changed; arg: struct
 * controller. */
void secret_changes_on(const char *ns, const char *name, void *arg);
