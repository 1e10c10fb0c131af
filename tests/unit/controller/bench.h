#ifndef TESTS_UNIT_CONTROLLER_BENCH_H
#define TESTS_UNIT_CONTROLLER_BENCH_H

#include "tests/unit/testing.h"

#include "base/httpd/http_mem.h"
#include "base/data/json.h"
#include "base/loop/loop_sim.h"
#include "base/store/store.h"
#include "controller/agent/endpoint.h"
#include "controller/claims/claims.h"
#include "controller/core/context.h"
#include "controller/core/keys.h"
#include "controller/life/life.h"
#include "controller/steps/lives.h"
#include "controller/claims/world_sync.h"
#include "controller/claims/avoided.h"
#include "controller/claims/eta.h"
#include "controller/claims/supply_status.h"
#include "controller/drain/drains.h"
#include "controller/core/counters.h"
#include "controller/claims/provisioner.h"
#include "controller/core/secrets.h"
#include "controller/hardware/driver.h"
#include "controller/tenant/tenant.h"
#include "kube/apiserver/apiserver.h"

/*
 * bench: a controller taken apart. Its parts lie ready, on the simulated loop and with an embedded
 * API server, but nothing tells one of another unless the test does: there is no leader election,
 * no life runs, and what a cache says goes to on_change alone.
 *
 * Texts of JSON are written with single quotes for double ones.
 */
#define BENCH_NS "drover-system"
#define BENCH_HOST "https://host.test:6443"
#define BENCH_TEAM "https://team-a.test:6443"
#define BENCH_JOIN "10.20.0.10:6443" /* where nodes join, as kubeadm-config has it */

struct bench_api {
	const char *origin;
	struct store *store;
	struct apiserver *api;
	struct httpd *d;
	struct http_peer *admin;
	/* everybody: 401 */
	bool denied;
	/* Whose path has this in it is denied as well, and counted; NULL: nobody is. */
	const char *denied_at;
	unsigned denials;
	/* What GET /node/join is answered with; 0: 404, as an API server does. */
	int join_script;
};

struct bench;
struct bench_kind {
	struct bench *d;
	enum object_kind_id kind;
};

struct bench {
	struct loop *l;
	struct loop_group *server_g, *g;
	struct http_mem_net *net;
	struct http *admin;
	/* team: one tenant's */
	struct bench_api host, team;
	struct context c;
	struct agent_endpoint *agent_endpoint;
	struct drivers *drivers;
	struct tenants *tenants;
	struct drains *drains;
	struct eta *eta;
	struct provisioner *provisioner;
	/* the provisioner's */
	struct world_sync *sync;
	struct claims *claims;
	/* For tests that make one; NULL otherwise. */
	struct debts *debts;
	struct warm_pool *warm_pool;
	struct supply_status *supply_status;
	struct power_pacing *power_pacing;
	struct life_parts life_parts;
	/* no tick runs */
	struct lives lives;
	struct bench_kind kinds[OBJECT_KINDS];
	void (*on_change)(struct bench *d, enum object_kind_id kind, const char *name,
			  void *object);
	void (*on_secret)(struct bench *d, const char *name);
	unsigned secret_changes;
	/* The last answer to the test itself. */
	bool done;
	int status;
	char text[8192];
	struct arena *a;
	struct err e;
};

void bench_start(struct bench *d);
void bench_stop(struct bench *d);
int bench_setup(void **state);
int bench_teardown(void **state);
void bench_run(struct bench *d, int64_t ms);

/* Ask an API server and wait; gives the status. */
int bench_do(struct bench *d, struct bench_api *api, const char *method, const char *path,
	     const char *body);
void bench_must(struct bench *d, struct bench_api *api, const char *method, const char *path,
		const char *body);
/* Make an object of ours, status included, and wait until the cache has it. */
void bench_put(struct bench *d, const char *object);
/* Merge this into its status, or with spec into the object, and wait for the cache. */
void bench_status(struct bench *d, enum object_kind_id kind, const char *name, const char *status);
void bench_patch(struct bench *d, enum object_kind_id kind, const char *name, const char *patch);
/* Provider hall-a, pool h100, tenant team-a, and its Machine m-1: free and clean in tenancy 41. */
void bench_fleet(struct bench *d);
/* An object of ours as it stands in the API; gives, NULL: none. */
json_t *bench_get(struct bench *d, enum object_kind_id kind, const char *name);
/* Of an object's status: "True Ok"; "" when there is none. */
const char *bench_condition(struct bench *d, enum object_kind_id kind, const char *name,
			    const char *type);
/* "secrets/NS/NAME" */
json_t *bench_stored(struct bench_api *api, const char *key);
/* A Secret of the host cluster with these two entries (key2 may be NULL). */
void bench_secret(struct bench *d, const char *name, const char *key1, const char *value1,
		  const char *key2, const char *value2);
size_t bench_events(struct bench_api *api, const char *reason);
void bench_away(struct bench *d, struct bench_api *api, bool away);
/* the three Secrets are there */
void bench_keys(struct bench *d);
/* A life of that machine, for functions that take one; nothing runs. Free with
 * bench_life_done(). */
struct life *bench_life(struct bench *d, const char *machine);
void bench_life_done(struct life *l);
/* A kubeconfig for this server; more: members of the user beside its token ("" or ", 'exec':
 * {}"). */
const char *bench_kubeconfig(struct bench *d, const char *server, const char *more);
/* An on_change: what a cache says goes to the planner's world. */
void bench_to_provisioner(struct bench *d, enum object_kind_id kind, const char *name,
			  void *object);
/* From now on objects and Secrets reach tenants and the provisioner as in the controller; team-a's
 * Secret is there. */
void bench_tenants(struct bench *d);
/* bench_setup() with the tenants, usable, and the fleet. */
int bench_setup_fleet(void **state);
/* A pod of team-a that asks for GPUs and is marked unschedulable. */
void bench_pod(struct bench *d, const char *name, int gpus);
json_t *bench_json(const char *text);

#endif
