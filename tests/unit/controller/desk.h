#ifndef TESTS_UNIT_CONTROLLER_DESK_H
#define TESTS_UNIT_CONTROLLER_DESK_H

#include "tests/unit/testing.h"

#include "base/http_mem.h"
#include "base/json.h"
#include "base/loop_sim.h"
#include "base/store.h"
#include "controller/agents.h"
#include "controller/claims.h"
#include "controller/controller.h"
#include "controller/keys.h"
#include "controller/life.h"
#include "controller/scheduler.h"
#include "controller/secrets.h"
#include "controller/source.h"
#include "controller/tenant.h"
#include "kube/apiserver/apiserver.h"

/*
 * desk: a controller taken apart.  Its parts lie ready, on the simulated loop
 * and with an embedded API server, but nothing tells one of another unless the
 * test does: there is no leader election, no life runs, and what a cache says goes to on_change alone.
 *
 * Texts of JSON are written with single quotes for double ones.
 */
#define DESK_NS "drover-system"
#define DESK_HOST "https://host.test:6443"
#define DESK_TEAM "https://team-a.test:6443"

struct desk_api {
	const char *origin;
	struct store *store;
	struct apiserver *api;
	struct httpd *d;
	struct http_peer *admin;
	bool denied; /* everybody: 401 */
};

struct desk;
struct desk_kind {
	struct desk *d;
	enum object_kind_id kind;
};

struct desk {
	struct loop *l;
	struct loop_group *server_g, *g;
	struct http_mem_net *net;
	struct http *admin;
	struct desk_api host, team; /* team: one tenant's */
	struct controller c;
	struct desk_kind kinds[OBJECT_KINDS];
	void (*on_change)(struct desk *d, enum object_kind_id kind, const char *name, void *object);
	void (*on_secret)(struct desk *d, const char *name);
	unsigned secret_changes;
	/* The last answer to the test itself. */
	bool done;
	int status;
	char text[8192];
	struct arena *a;
	struct err e;
};

void desk_start(struct desk *d);
void desk_stop(struct desk *d);
int desk_setup(void **state);
int desk_teardown(void **state);
void desk_run(struct desk *d, int64_t ms);

/* Ask an API server and wait; gives the status. */
int desk_do(struct desk *d, struct desk_api *api, const char *method, const char *path,
	    const char *body);
void desk_must(struct desk *d, struct desk_api *api, const char *method, const char *path,
	       const char *body);
/* Make an object of ours, status included, and wait until the cache has it. */
void desk_put(struct desk *d, const char *object);
/* Merge this into its status, or with spec into the object, and wait for the cache. */
void desk_status(struct desk *d, enum object_kind_id kind, const char *name, const char *status);
void desk_patch(struct desk *d, enum object_kind_id kind, const char *name, const char *patch);
/* Provider hall-a, pool h100, tenant team-a, and its Machine m-1: free and clean in tenancy 41. */
void desk_fleet(struct desk *d);
/* An object of ours as it stands in the API; gives, NULL: none. */
json_t *desk_get(struct desk *d, enum object_kind_id kind, const char *name);
/* Of an object's status: "True Ok"; "" when there is none. */
const char *desk_condition(struct desk *d, enum object_kind_id kind, const char *name,
			   const char *type);
json_t *desk_stored(struct desk_api *api, const char *key); /* "secrets/NS/NAME" */
/* A Secret of the host cluster with these two entries (key2 may be NULL). */
void desk_secret(struct desk *d, const char *name, const char *key1, const char *value1,
		 const char *key2, const char *value2);
size_t desk_events(struct desk_api *api, const char *reason);
void desk_away(struct desk *d, struct desk_api *api, bool away);
void desk_keys(struct desk *d); /* the three Secrets are there */
/* A life of that machine, for functions that take one; nothing runs.  Free with desk_life_done(). */
struct life *desk_life(struct desk *d, const char *machine);
void desk_life_done(struct life *l);
/* A kubeconfig for this server; more: members of the user beside its token ("" or ", 'exec': {}"). */
const char *desk_kubeconfig(struct desk *d, const char *server, const char *more);
/* An on_change: what a cache says goes to the scheduler. */
void desk_to_scheduler(struct desk *d, enum object_kind_id kind, const char *name, void *object);
/* From now on objects and Secrets reach tenants and the scheduler as in the controller; team-a's Secret is there. */
void desk_tenants(struct desk *d);
/* A pod of team-a that asks for GPUs and is marked unschedulable. */
void desk_pod(struct desk *d, const char *name, int gpus);
json_t *desk_json(const char *text);

#endif
