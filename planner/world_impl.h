#ifndef PLANNER_WORLD_IMPL_H
#define PLANNER_WORLD_IMPL_H

#include "base/arena.h"
#include "base/map.h"
#include "planner/world.h"

/*
 * world_impl: internal representation of the world; not included outside planner/.
 *
 * The order of insertion has no meaning: code that needs an order sorts by key. Many pods are alike
 * (replicas), so their equal data is stored once, as a shape. So memory and most of the work depend
 * on the number of shapes, not of pods.
 *
 * A member named "plan", or described as the serial of a plan, contains the serial (world.plan) of
 * the plan that used the object last. The data beside this member is scratch data of that plan, and
 * invalid in any other plan.
 * Tests: tests/unit/planner/test_world.c
 */
struct world_object {
	struct arena *arena;
	/* The object itself: struct world_pool, struct world_tenant ... */
	void *it;
};

/* Shape: data that many pods share. There are two sorts of shapes, in one map. A constraint shape
 * (tenant, requests, selectors, tolerations) determines which nodes suit a pod. A topology profile
 * ("side": tenant, namespace, labels, topology) contains the pod's own topology constraints, and
 * the properties that other pods' topology constraints refer to. */
struct world_shape {
	/* The pod's data that belongs to this sort of shape; all other members of pod are 0. */
	struct world_pod pod;
	/* Canonical text of those members of pod that are set. */
	char *key;
	struct arena *arena;
	/* World that owns the shape. */
	struct world *world;
	/* Data that the shape shares with shapes that differ only in their requests; set only in a
	 * constraint shape. */
	struct world_fit *fit;
	/* True: the shape is a topology profile. False: it is a constraint shape. */
	bool is_profile;
	/* pods: number of pods with the shape. bound: number of those that are bound to a node;
	 * counted only for a topology profile. */
	size_t pods, bound;
	uint64_t plan;
	union {
		struct plan_class *class_;
		struct plan_profile *profile;
	};
};

/* Data that constraint shapes share if they differ only in their requests. The same labels and
 * taints suit the pods of all these shapes. */
struct world_fit {
	char *key;
	size_t shapes;
	uint64_t plan;
	struct plan_fit *fit;
};

/* A pod as the world stores it, in one allocation. */
struct world_one {
	struct world_shape *shape, *profile;
	/* Pointers into text; uid, node, nominated and denied may be NULL. denied: as in
	 * world_pod. */
	const char *tenant, *ns, *name, *uid, *node, *nominated, *denied;
	int64_t since, priority, keep_until;
	int32_t deletion_cost;
	/* Value of enum world_keep: why the pod may not be moved. */
	uint8_t keep;
	bool daemon, daemon_set, unschedulable, terminating, saves, check, done, preempts;
	/* Load (sum over all bound pods) of the pod's node; NULL: the pod is pending. */
	struct world_load *load;
	/* The pod's membership in a gang; NULL: no gang. */
	struct world_member *member;
	/* Index of a pending pod in w->pending. */
	size_t at;
	/* text begins with "TENANT\0NAMESPACE\0NAME\0", by which pods are sorted. order: length of
	 * this prefix. */
	size_t order;
	char text[];
};

/* True if the pod is demand: pending, marked unschedulable by kube-scheduler, and not of a
 * DaemonSet. */
static inline bool world_is_demand(const struct world_one *pod)
{
	return !pod->node && pod->unschedulable && !pod->daemon;
}

/* All pods of one gang, bound or not. */
struct world_gang {
	/* "TENANT/KEY", KEY as in world_pod.gang.key. */
	char *key;
	struct world_member *first;
	uint64_t plan;
	struct plan_gang *gang;
};
struct world_member {
	struct world_gang *gang;
	const struct world_one *pod;
	int64_t min;
	/* Previous and next member of the gang, in no particular order. */
	struct world_member *before, *after;
};

/* Arguments of world_put_tenant_hold() for one tenant. */
struct world_hold {
	int64_t rests, ends;
};

/* Load: sum over the pods that are bound to one node. Exists also for a node that is not in the
 * world. */
struct world_load {
	char *key;
	/* pods: number of pods on the node. daemons: number of those that belong to DaemonSets. */
	size_t pods, daemons;
	/* True if the node is in the world. */
	bool known;
	struct load_sum {
		char *name;
		__int128 nano, daemons;
		/* Number of pods on the node that request the resource. */
		size_t pods;
	} * v;
	size_t n, cap;
	/* Shared volumes (world_pod.shared) that are attached to the node. pods: number of their
	 * pods there. */
	struct load_shared {
		char *volume;
		size_t pods;
	} * shared;
	size_t nshared, shared_cap;
	/* Number of pods on the node, for each topology profile. */
	struct world_spot {
		struct world_shape *profile;
		size_t pods, terminating;
	} * spots;
	size_t nspots, spots_cap;
	/* Free amounts of the node, one for each column (resource name in world.columns). */
	int64_t *row;
	/* Serial of the plan whose reclaim pass may take the node's machine back; candidate: index
	 * of that machine among the candidates (reclaim_candidates.c). */
	uint64_t plan;
	size_t candidate;
	/* Value of world.columns_serial for which row was computed; 0: row must be computed
	 * again. */
	uint64_t row_of;
};

/* A node as the world stores it. */
struct world_host {
	struct world_node node;
	struct world_load *load;
};

/* A claim as the world stores it. */
struct world_claimed {
	/* Must be the first member: lists of claims (world_claims()) are also read as lists of
	 * struct world_claim. */
	struct world_claim claim;
	/* Serial of the plan that filled the members below (planning_claimed()). */
	uint64_t plan;
	/* Objects that the claim names; NULL: they are not in the world. */
	struct plan_tenant *tenant;
	const struct world_pool *pool;
	struct world_stock *machine;
	/* Node of the claim's tenant that names the claim, once its bin was considered
	 * (open_bins_add_node()); NULL: none. */
	struct world_host *host;
};

/* Objects of one sort, sorted. fresh: true until one of the objects changes; then the list must be
 * computed again. */
struct world_list {
	void **v;
	size_t n;
	bool fresh;
};

/* Kind: all machines of one instance type of one Provider, divided into groups (struct
 * world_group). */
struct world_kind {
	char *key;
	/* Groups of the kind, in no particular order. */
	struct world_group **v;
	size_t n, cap;
};
/* Group: machines of one kind with equal labels, permit and failure domain. */
struct world_group {
	char *key;
	struct world_kind *kind;
	/* Index of this group in kind->v. */
	size_t at;
	struct arena *arena;
	struct labels labels;
	const char *permit, *domain;
	/* Machines of the group, in no particular order. */
	struct world_stock **v;
	size_t n, cap;
	uint64_t plan;
	struct supply_group *supply;
};
struct world_stock {
	struct world_machine m;
	struct arena *arena;
	struct world_group *group;
	/* Index of this machine in group->v. */
	size_t at;
	/* Serial of the plan in which the machine has been taken by a claim, a pod or a gang. */
	uint64_t used;
	/* Name of the tenant whose claim has the machine; valid only if `used` equals world.plan.
	 * NULL: the claim is leaving or failed. */
	const char *serves;
	/* Serial of the plan that promised the machine to a pod or gang for the time when it
	 * becomes free (timeline.c, gang/holds.c). */
	uint64_t promised;
	/* Serial of the plan in which a queue entry before a gang is expected to get the machine
	 * when it becomes free (timeline_wait()). */
	uint64_t hoped;
	/* Value of world.tries in the last look-ahead that assigned the machine to a gang
	 * (gang/try.c). */
	uint64_t tried;
	/* Serial of the plan in which a gang without a known time may get the machine
	 * (gang/holds.c). Then expected times of other pods that depend on the machine are unknown.
	 * */
	uint64_t unsure;
	/* held: serial of the plan that reserved the machine, free at that time, for gang held_for
	 * (gang/holds.c). That plan also sets `used` to its serial. */
	uint64_t held;
	const struct world_gang *held_for;
	/* Serial of the plan that assigned the machine, free or being given back, to a waiting pod
	 * (reclaim.c). */
	uint64_t reclaimed;
};

struct world {
	/* Key of the object (see world.h) -> struct world_object. */
	struct map *tenants, *providers, *pools, *claims, *nodes;
	/* Sizes of the copies of the most numerous objects */
	struct arena_sizes claim_sizes, node_sizes, machine_sizes;
	/* Machine name -> struct world_stock. */
	struct map *machines;
	/* world_kind.key -> struct world_kind. */
	struct map *kinds;
	/* world_group.key -> struct world_group. */
	struct map *groups;
	/* Pod key (see world.h) -> struct world_one. */
	struct map *pods;
	/* world_load.key -> struct world_load. */
	struct map *loads;
	/* world_gang.key -> struct world_gang. */
	struct map *gangs;
	struct world_aging aging;
	/* True if a pod's priority counts among tenants only up to its tenant's priority; set by
	 * world_put_clamp(). */
	bool clamps;
	char *levels[WORLD_LEVELS];
	size_t nlevels;
	/* Time for which machines are reserved for a gang, in ms; set by world_put_hold(). */
	int64_t hold_ms;
	/* Tenant name -> struct world_hold, set by world_put_tenant_hold(). */
	struct map *holds;
	/* Machine name -> int64_t (Unix ms), set by world_put_machine_rest(). */
	struct map *rests;
	struct arena *stops_arena;
	/* Stops, set by world_put_stops(); nstops: their number. */
	struct world_stop *stops;
	size_t nstops;
	/* Pods that have no node and have not succeeded, in no particular order. */
	struct world_one **pending;
	/* ndemand: number of the pending pods for which world_is_demand() is true. */
	size_t npending, pending_cap, ndemand;
	struct world_list sorted_nodes, sorted_claims;
	/* world_shape.key -> struct world_shape. */
	struct map *shapes;
	/* world_fit.key -> struct world_fit. */
	struct map *fits;
	/* Shapes of the most recently put pod: [0] its constraint shape, [1] its topology profile.
	 * They are tried first for the next pod, which is often equal. */
	struct world_shape *last[2];
	/* Number of look-aheads made so far (gang_try_ahead()). */
	uint64_t tries;
	/* Serial of the last plan; incremented when a plan begins. */
	uint64_t plan;
	/* Resource names of the columns of the last plan, by column number (as planning.column). */
	char **columns;
	size_t ncolumns;
	uint64_t columns_serial;
	/* Scratch text in which keys are built by world_text_clear() and world_text_add(). */
	char *text;
	size_t len, cap;
};

/* Returns all nodes, sorted by key; valid until the world changes. */
const struct world_list *world_nodes(struct world *w);
/* Returns all claims, oldest first; valid until the world changes. */
const struct world_list *world_claims(struct world *w);
/* Returns member `it` of the struct world_object with that key; NULL: not found, or key is NULL. */
void *world_find(const struct map *m, const char *key);
/* Returns the machines of that Provider and type; NULL: there are none. */
struct world_kind *world_kind(struct world *w, const char *provider, const char *type);

/* The world_copy_*() functions and world_name_labels() return a copy in arena a. In a copy, labels
 * and resources are sorted by key or name. The functions are in world_copy.c. */
/* Returns a zeroed array; NULL if n is 0, because most lists of most objects are empty. */
void *world_copy_array(struct arena *a, size_t n, size_t size);
struct labels world_copy_labels(const struct labels *l, struct arena *a);
/* Returns a copy of the labels with the label WORLD_NODE_NAME added. */
struct labels world_name_labels(const struct labels *l, const char *name, struct arena *a);
struct resources world_copy_resources(const struct resources *r, struct arena *a);
const char **world_copy_strings(const char *const *v, size_t n, struct arena *a);
struct selector world_copy_selector(const struct selector *s, struct arena *a);
struct world_taints world_copy_taints(const struct world_taints *t, struct arena *a);

/* shape_of() returns the constraint shape of pod p, shape_profile() its topology profile. Both
 * create a missing shape and count one more pod of the shape. Call shape_release() once for each
 * call. */
struct world_shape *shape_of(struct world *w, const struct world_pod *p);
struct world_shape *shape_profile(struct world *w, const struct world_pod *p);
/* Writes to w->text the key of a topology group (planner/groups.h); keys of constraints that count
 * the same pods are equal. what: a value of enum group_what. */
void shape_group_key(struct world *w, const struct world_topology *t, const struct world_pod *of,
		     unsigned what);
/* Appends to w->text the part of a key that determines which nodes topology spread *t of pod *of
 * counts. */
void shape_nodes_key(struct world *w, const struct world_topology *t, const struct world_pod *of);
/* True for a topology spread whose key is not the hostname. Nodes without a label of that key do
 * not count for it. */
bool shape_is_wide_spread(const struct world_topology *t);
void shape_release(struct world_shape *s);

/* Stores the n column names of a plan in w->columns. Increments columns_serial if they differ from
 * those of the last plan. */
void world_columns(struct world *w, const char *const *names, size_t n);

/* load_of_node() returns the load (sum over bound pods) of a node, created on first use; it is
 * deleted when its node and the last of its pods are deleted. load_forget_node(): call when the
 * node is deleted. load_join(), load_leave(): add and subtract a pod. All four are in load.c. */
struct world_load *load_of_node(struct world *w, const char *tenant, const char *node);
void load_forget_node(struct world *w, struct world_load *l);
void load_join(struct world *w, struct world_one *p);
void load_leave(struct world *w, struct world_one *p);

/* gang_join() adds the pod to the gang, gang_leave() removes it. A gang is created when its first
 * pod joins, and deleted when the last one leaves. Both are in world_gangs.c. */
void gang_join(struct world *w, struct world_one *p, const char *key, int64_t min);
void gang_leave(struct world *w, struct world_one *p);
/* Returns the gang's key as world_pod.gang.key contains it, without the tenant. */
const char *gang_key(const struct world_gang *g);
/* Returns the arguments of the last world_put_tenant_hold() for the tenant; zeros if there are
 * none. */
struct world_hold hold_of_tenant(const struct world *w, const char *tenant);
/* True if the machine may not be reserved for a gang at the time now_ms (Unix ms). */
bool hold_rests(const struct world *w, const char *machine, int64_t now_ms);

/* world_text_clear() empties w->text, world_text_add() appends a part to it, to build a key. Each
 * part is prefixed by its length, so different sequences of parts never give the same key. */
void world_text_clear(struct world *w);
void world_text_add(struct world *w, const char *s);

/* Frees a pod that is no longer in w->pods, and removes it from the load of its node, its gang and
 * its shapes (world_pods.c). */
void world_drop_pod(void *pod);

#endif
