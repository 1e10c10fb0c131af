#ifndef TESTS_UNIT_CONTROLLER_BENCH_H
#define TESTS_UNIT_CONTROLLER_BENCH_H

#include "tests/unit/testing.h"

#include "tests/simulated/http_mem.h"
#include "base/data/json.h"
#include "tests/simulated/loop_sim.h"
#include "base/store/store.h"
#include "controller/agent/endpoint.h"
#include "controller/claims/claims.h"
#include "controller/core/context.h"
#include "controller/core/keys.h"
#include "controller/life/life.h"
#include "controller/steps/lives.h"
#include "controller/claims/changes.h"
#include "controller/claims/world_sync.h"
#include "controller/claims/avoided.h"
#include "controller/core/eta.h"
#include "controller/claims/supply_status.h"
#include "controller/drain/drains.h"
#include "controller/core/counters.h"
#include "controller/claims/provisioner.h"
#include "controller/core/secrets.h"
#include "controller/hardware/driver.h"
#include "controller/tenant/tenant.h"
#include "kube/apiserver/apiserver.h"

/*
 * bench: the parts of a controller on the simulated loop, with embedded API servers, but not
 * connected to each other. A test must pass events from one part to the other itself. There is no
 * leader election and no machine's state machine (life) runs. A change in a cache is reported to
 * on_change only.
 *
 * JSON texts are written with single quotes in place of double quotes.
 */
#define BENCH_NS "drover-system"
#define BENCH_HOST "https://host.test:6443"
#define BENCH_TEAM "https://team-a.test:6443"
#define BENCH_JOIN "10.20.0.10:6443" /* where nodes join, as in kubeadm-config */

struct bench_api {
	const char *origin;
	struct store *store;
	struct apiserver *api;
	struct httpd *d;
	struct http_peer *admin;
	/* True: every request is answered with 401 */
	bool denied;
	/* Requests whose path contains this text are answered with 401 and counted in denials;
	 * NULL: none */
	const char *denied_at;
	unsigned denials;
	/* Requests whose path contains this text are counted in `counted`; NULL: none */
	const char *counted_at;
	unsigned counted;
	/* Status of the answer to GET /node/join; 0: 404, as from an API server */
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
	/* API servers of the host cluster and of tenant team-a */
	struct bench_api host, team;
	struct context c;
	struct agent_endpoint *agent_endpoint;
	struct drivers *drivers;
	struct tenants *tenants;
	struct drains *drains;
	struct eta *eta;
	struct provisioner *provisioner;
	/* Owned by provisioner */
	const struct changes *changes;
	struct world_sync *sync;
	struct claims *claims;
	/* Set by tests that create one; NULL otherwise */
	struct pending_cleanup *pending_cleanup;
	struct warm_pool *warm_pool;
	struct supply_status *supply_status;
	struct power_pacing *power_pacing;
	struct life_parts life_parts;
	/* Lives of the machines; their timers never run */
	struct lives lives;
	struct bench_kind kinds[OBJECT_KINDS];
	void (*on_change)(struct bench *d, enum object_kind_id kind, const char *name,
			  void *object);
	void (*on_secret)(struct bench *d, const char *name);
	/* A tenant's client is about to be freed (struct tenant_hooks) */
	void (*on_closing)(struct bench *d, const struct tenant *t);
	/* Argument of on_closing() of the test */
	void *closing_arg;
	unsigned secret_changes;
	/* The last reply to a request of the test */
	bool done;
	int status;
	char text[16384];
	struct arena *a;
	struct err e;
};

void bench_start(struct bench *d);
void bench_stop(struct bench *d);
int bench_setup(void **state);
int bench_teardown(void **state);
void bench_run(struct bench *d, int64_t ms);

/* Sends a request to an API server and waits; returns the status. */
int bench_do(struct bench *d, struct bench_api *api, const char *method, const char *path,
	     const char *body);
void bench_must(struct bench *d, struct bench_api *api, const char *method, const char *path,
		const char *body);
/* Creates an object of drover's API, including its status, and waits until the cache has it. */
void bench_put(struct bench *d, const char *object);
/* bench_status() merges JSON into the object's status, bench_patch() into the object; both wait
 * until the cache has the change. */
void bench_status(struct bench *d, enum object_kind_id kind, const char *name, const char *status);
void bench_patch(struct bench *d, enum object_kind_id kind, const char *name, const char *patch);
/* Creates Provider hall-a, pool h100, tenant team-a, and Machine m-1, which is free and clean after
 * tenancy 41. */
void bench_fleet(struct bench *d);
/* Returns an object of drover's API; the caller owns the result. NULL: the object does not
 * exist. */
json_t *bench_get(struct bench *d, enum object_kind_id kind, const char *name);
/* Returns status and reason of an object's condition, such as "True Ok"; "" if there is none. */
const char *bench_condition(struct bench *d, enum object_kind_id kind, const char *name,
			    const char *type);
/* Returns the object stored under key, such as "secrets/NS/NAME"; the caller owns the result. NULL:
 * not found. */
json_t *bench_stored(struct bench_api *api, const char *key);
/* Creates or replaces a Secret of the host cluster with the entries key1 and key2 (key2 may be
 * NULL). */
void bench_secret(struct bench *d, const char *name, const char *key1, const char *value1,
		  const char *key2, const char *value2);
size_t bench_events(struct bench_api *api, const char *reason);
void bench_away(struct bench *d, struct bench_api *api, bool away);
/* Creates the Secrets that hold drover's own keys. */
void bench_keys(struct bench *d);
/* Returns a life of this machine, for functions that need one; the life never runs. Free it with
 * bench_life_done(). */
struct life *bench_life(struct bench *d, const char *machine);
void bench_life_done(struct life *l);
/* Returns a kubeconfig for this server. more: text appended to the user's members after its token,
 * such as ", 'exec': {}"; "" for none. */
const char *bench_kubeconfig(struct bench *d, const char *server, const char *more);
/* A value for on_change: passes each change of a cache to the planner's world. */
void bench_to_provisioner(struct bench *d, enum object_kind_id kind, const char *name,
			  void *object);
/* From now on changes of objects and Secrets reach tenants and the provisioner, as in the
 * controller. Creates the Secret of team-a. */
void bench_tenants(struct bench *d);
/* bench_setup(), with bench_tenants() and bench_fleet(). */
int bench_setup_fleet(void **state);
/* Creates a pod of team-a that requests GPUs and is marked unschedulable. */
void bench_pod(struct bench *d, const char *name, int gpus);
json_t *bench_json(const char *text);

#endif
