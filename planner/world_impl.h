#ifndef PLANNER_WORLD_IMPL_H
#define PLANNER_WORLD_IMPL_H

#include "base/arena.h"
#include "base/map.h"
#include "planner/world.h"

/*
 * world_impl: internal representation of the world; not included outside planner/.
 *
 * The order of insertion has no meaning: code that needs an order sorts by key. Many pods are
 * alike, so what is equal in all replicas is stored once, as a shape; memory and most work depend
 * on the number of shapes, not of pods. Members named "plan", and members that hold a plan's
 * serial, are scratch data of the plan with that serial.
 * Tests: tests/unit/planner/test_world.c
 */
struct world_object {
	struct arena *arena;
	/* struct world_pool, ... */
	void *it;
};

/* Data that many pods share. Shapes of two sorts are in one map: the constraint shape decides which
 * nodes suit a pod (tenant, requests, selectors, tolerations); the topology profile ("side") is
 * what the pod is to other pods (tenant, namespace, labels, topology constraints). */
struct world_shape {
	/* Only the members that belong to the sort of shape are set. */
	struct world_pod pod;
	/* Canonical text of these members. */
	char *key;
	struct arena *arena;
	/* The world that owns the shape. */
	struct world *world;
	/* Only of a constraint shape. */
	struct world_fit *fit;
	/* True for a topology profile. */
	bool is_side;
	/* Number of pods with the shape. */
	size_t pods;
	uint64_t plan;
	union {
		struct plan_class *class_;
		struct plan_side *side;
	};
};

/* What constraint shapes share that differ only in their requests: which labels and taints suit
 * their pods. */
struct world_fit {
	char *key;
	size_t shapes;
	uint64_t plan;
	struct plan_fit *fit;
};

/* A pod as the world stores it, in one allocation. */
struct world_one {
	struct world_shape *shape, *side;
	/* Pointers into text. */
	const char *tenant, *ns, *name, *uid, *node, *nominated;
	int64_t since, priority, keep_until;
	int32_t deletion_cost;
	/* enum world_keep. */
	uint8_t keep;
	bool daemon, unschedulable, terminating, saves, check, done, preempts;
	/* Load of its node; NULL: pending. */
	struct world_load *load;
	/* Its membership in a gang; NULL: no gang. */
	struct world_member *member;
	/* Index into w->pending. */
	size_t at;
	/* Length of the prefix of text by which pods are sorted: "TENANT\0NAMESPACE\0NAME\0". */
	size_t order;
	char text[];
};

/* True if the pod waits for a node. */
static inline bool world_is_demand(const struct world_one *pod)
{
	return !pod->node && pod->unschedulable && !pod->daemon;
}

/* Pods of one gang, bound or not. */
struct world_gang {
	/* "TENANT/KEY" */
	char *key;
	struct world_member *first;
	uint64_t plan;
	struct plan_gang *gang;
};
struct world_member {
	struct world_gang *gang;
	const struct world_one *pod;
	int64_t min;
	/* List of the gang's members, in no order. */
	struct world_member *before, *after;
};

/* Arguments of world_put_tenant_hold(). */
struct world_hold {
	int64_t rests, ends;
};

/* Sum of the pods that are bound to one node, whether the node is in the world or not. */
struct world_load {
	char *key;
	/* daemons: how many of the pods belong to DaemonSets. */
	size_t pods, daemons;
	/* True if the node is in the world. */
	bool known;
	struct load_sum {
		char *name;
		__int128 nano, daemons;
		/* Number of pods that request the resource. */
		size_t pods;
	} * v;
	size_t n, cap;
	/* The node's pods by topology profile. */
	struct world_spot {
		struct world_shape *side;
		size_t pods, terminating;
	} * spots;
	size_t nspots, spots_cap;
	/* Free amounts of the node, by w->columns. */
	int64_t *row;
	/* columns_serial for which row was computed; 0: row must be computed again. */
	uint64_t row_of;
};

/* A node as the world stores it. */
struct world_host {
	struct world_node node;
	struct world_load *load;
};

/* Objects of one sort in order. fresh: valid until one of them changes. */
struct world_list {
	void **v;
	size_t n;
	bool fresh;
};

/* Machines of one instance type of one Provider, grouped by their labels. */
struct world_kind {
	char *key;
	/* In no order. */
	struct world_group **v;
	size_t n, cap;
};
/* Machines of a kind with equal labels, permit and failure domain. */
struct world_group {
	char *key;
	struct world_kind *kind;
	/* Index into kind->v. */
	size_t at;
	struct arena *arena;
	struct labels labels;
	const char *permit, *domain;
	/* In no order. */
	struct world_stock **v;
	size_t n, cap;
	uint64_t plan;
	struct supply_group *supply;
};
struct world_stock {
	struct world_machine m;
	struct arena *arena;
	struct world_group *group;
	/* Index into group->v. */
	size_t at;
	/* Serial of the plan in which the machine is taken. */
	uint64_t used;
	/* If used is the present plan's serial: the tenant whose claim has the machine; NULL: the
	 * claim is leaving or failed. */
	const char *serves;
	/* Serial of the plan in which the machine is promised to a pod or gang for the time when it
	 * becomes free (timeline.c, holds.c). */
	uint64_t promised;
	/* Serial of the plan in which a queue entry before a gang may get the machine once it is
	 * free (timeline_wait()). */
	uint64_t hoped;
	/* Value of world.tries in the last look-ahead that assigned the machine to a gang
	 * (gang_try.c). */
	uint64_t tried;
	/* Serial of the plan in which a gang may get the machine, but the time at which that gang
	 * becomes whole is unknown (holds.c). */
	uint64_t unsure;
	/* Serial of the plan in which the machine is free and reserved for the gang held_for
	 * (holds.c); it is then also used. */
	uint64_t held;
	const struct world_gang *held_for;
	/* Serial of the plan in which a waiting pod already counts on the machine (reclaim.c). */
	uint64_t reclaimed;
};

struct world {
	/* Key -> struct world_object. */
	struct map *tenants, *providers, *pools, *claims, *nodes;
	/* Name -> struct world_stock. */
	struct map *machines;
	/* world_kind.key -> struct world_kind. */
	struct map *kinds;
	/* world_group.key -> struct world_group. */
	struct map *groups;
	/* Key -> struct world_one. */
	struct map *pods;
	/* world_load.key -> struct world_load. */
	struct map *loads;
	/* world_gang.key -> struct world_gang. */
	struct map *gangs;
	struct world_aging aging;
	/* Set by world_put_clamp(). */
	bool clamps;
	char *levels[WORLD_LEVELS];
	size_t nlevels;
	/* Set by world_put_hold(). */
	int64_t hold_ms;
	/* Tenant -> struct world_hold. */
	struct map *holds;
	/* Machine -> int64_t, set by world_put_machine_rest(). */
	struct map *rests;
	struct arena *stops_arena;
	/* Set by world_put_stops(). */
	struct world_stop *stops;
	size_t nstops;
	/* Pods without a node that have not succeeded, in no order. */
	struct world_one **pending;
	/* ndemand: how many of the pending pods are demand, world_is_demand(). */
	size_t npending, pending_cap, ndemand;
	struct world_list sorted_nodes, sorted_claims;
	/* world_shape.key -> struct world_shape. */
	struct map *shapes;
	/* world_fit.key -> struct world_fit. */
	struct map *fits;
	/* The shapes of the pod put last, one of each sort: the next pod is often alike. */
	struct world_shape *last[2];
	/* Number of look-aheads ever made. */
	uint64_t tries;
	/* Serial of the last plan. */
	uint64_t plan;
	/* Columns of the last plan, as in struct planning. */
	char **columns;
	size_t ncolumns;
	uint64_t columns_serial;
	/* Scratch: the key builder, see world_text_add(). */
	char *text;
	size_t len, cap;
};

/* Returns all nodes, sorted by key; valid until the world changes. */
const struct world_list *world_nodes(struct world *w);
/* Returns all claims, oldest first; valid until the world changes. */
const struct world_list *world_claims(struct world *w);
/* Returns the object; NULL: not found. */
void *world_find(const struct map *m, const char *key);
/* Returns NULL if there is no machine of that type. */
struct world_kind *world_kind(struct world *w, const char *provider, const char *type);

/* The following functions of world_copy.c copy into an arena, sorted by key or name. */
struct labels world_copy_labels(const struct labels *l, struct arena *a);
/* Copies the labels and adds WORLD_NODE_NAME. */
struct labels world_name_labels(const struct labels *l, const char *name, struct arena *a);
struct resources world_copy_resources(const struct resources *r, struct arena *a);
const char **world_copy_strings(const char *const *v, size_t n, struct arena *a);
struct selector world_copy_selector(const struct selector *s, struct arena *a);
struct world_taints world_copy_taints(const struct world_taints *t, struct arena *a);

/* Returns the constraint shape of a pod and counts one more pod. Call shape_release() for each
 * (shape.c). */
struct world_shape *shape_of(struct world *w, const struct world_pod *p);
struct world_shape *shape_side(struct world *w, const struct world_pod *p);
/* Writes the key of a group of topology constraints to w->text: equal for constraints that count
 * the same pods. */
void shape_group_key(struct world *w, const struct world_topology *t, const struct world_pod *of,
		     unsigned what);
/* Appends to w->text what spread constraints that count the same nodes have in common. */
void shape_nodes_key(struct world *w, const struct world_topology *t, const struct world_pod *of);
/* True for a topology spread whose key is not the hostname: nodes without that label do not
 * count. */
bool shape_is_wide_spread(const struct world_topology *t);
void shape_release(struct world_shape *s);

/* Stores the columns of a plan; columns_serial changes if they differ from the last plan's. */
void world_columns(struct world *w, const char *const *names, size_t n);

/* load.c. The load of a node is created on first use, and deleted when its node and the last of its
 * pods are deleted. */
struct world_load *load_of_node(struct world *w, const char *tenant, const char *node);
void load_forget_node(struct world *w, struct world_load *l);
void load_join(struct world *w, struct world_one *p);
void load_leave(struct world *w, struct world_one *p);

/* world_gangs.c. A gang is created when its first pod joins, and deleted when the last one
 * leaves. */
void gang_join(struct world *w, struct world_one *p, const char *key, int64_t min);
void gang_leave(struct world *w, struct world_one *p);
/* Returns the key as the gang's pods have it, without the tenant. */
const char *gang_key(const struct world_gang *g);
/* Returns the bounds of the tenant's reservations; zeros if there are none. */
struct world_hold hold_of_tenant(const struct world *w, const char *tenant);
/* Returns true if the machine may not be reserved for a gang at that time. */
bool hold_rests(const struct world *w, const char *machine, int64_t now_ms);

/* Build a key in w->text. Each part is prefixed by its length, so different parts never give the
 * same key. */
void world_text_clear(struct world *w);
void world_text_add(struct world *w, const char *s);

/* world_pods.c: frees a pod that is no longer in w->pods. */
void world_drop_pod(void *pod);

#endif
