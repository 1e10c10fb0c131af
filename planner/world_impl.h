#ifndef PLANNER_WORLD_IMPL_H
#define PLANNER_WORLD_IMPL_H

#include "base/arena.h"
#include "base/map.h"
#include "planner/world.h"

/*
 * world_impl: how the world is kept: for planner/ alone.
 *
 * Order of insertion means nothing: who needs an order sorts by key. Pods are many and alike: what
 * is the same in all replicas is kept once, as a shape, so that memory and most work go by shapes,
 * not pods. "plan" fields are scratch of the plan whose serial they carry.
 * Tests: tests/unit/planner/test_world.c
 */
struct world_object {
	struct arena *arena;
	/* struct world_pool, ... */
	void *it;
};

/* What pods have in common. Two kinds share one map: what decides which nodes suit a pod (tenant,
 * requests, selectors, tolerations), and what it is to other pods (tenant, namespace, labels,
 * topology). */
struct world_shape {
	/* only these members */
	struct world_pod pod;
	/* canonical text of them */
	char *key;
	struct arena *arena;
	/* that keeps it */
	struct world *world;
	/* of the first kind */
	struct world_fit *fit;
	/* the second kind */
	bool is_side;
	/* that have it */
	size_t pods;
	uint64_t plan;
	union {
		struct plan_class *class_;
		struct plan_side *side;
	};
};

/* What shapes have in common that differ in their requests alone: which labels and taints suit
 * them. */
struct world_fit {
	char *key;
	size_t shapes;
	uint64_t plan;
	struct plan_fit *fit;
};

/* A pod as it is kept: one allocation. */
struct world_one {
	struct world_shape *shape, *side;
	/* into text */
	const char *tenant, *ns, *name, *uid, *node, *nominated;
	int64_t since, priority, keep_until;
	int32_t deletion_cost;
	/* enum world_keep */
	uint8_t keep;
	bool daemon, unschedulable, terminating, saves, check, done, preempts;
	/* of its node; NULL: pending */
	struct world_load *load;
	/* of a gang; NULL: of none */
	struct world_member *member;
	/* of w->pending */
	size_t at;
	/* bytes of text, "TENANT\0NAMESPACE\0NAME\0", that order pods */
	size_t order;
	char text[];
};

/* It waits for a place. */
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
	/* in no order */
	struct world_member *before, *after;
};

/* Arguments of world_put_tenant_hold(). */
struct world_hold {
	int64_t rests, ends;
};

/* The pods that are bound to one node, whether that is known or not. */
struct world_load {
	char *key;
	/* daemons: of them */
	size_t pods, daemons;
	/* its node is in the world */
	bool known;
	struct load_sum {
		char *name;
		__int128 nano, daemons;
		/* that ask for it */
		size_t pods;
	} * v;
	size_t n, cap;
	/* its pods of one side */
	struct world_spot {
		struct world_shape *side;
		size_t pods, terminating;
	} * spots;
	size_t nspots, spots_cap;
	/* what its node has left, as plans count: by w->columns */
	int64_t *row;
	/* their serial; 0: to be counted anew */
	uint64_t row_of;
};

/* A node as it is kept. */
struct world_host {
	struct world_node node;
	struct world_load *load;
};

/* Objects of one kind by key, until one of them changes. */
struct world_list {
	void **v;
	size_t n;
	bool fresh;
};

/* Machines of one type of one provider, by their labels. */
struct world_kind {
	char *key;
	/* in no order */
	struct world_group **v;
	size_t n, cap;
};
/* Those with the same labels, permit and domain. */
struct world_group {
	char *key;
	struct world_kind *kind;
	/* in its kind */
	size_t at;
	struct arena *arena;
	struct labels labels;
	const char *permit, *domain;
	/* in no order */
	struct world_stock **v;
	size_t n, cap;
	uint64_t plan;
	struct supply_group *supply;
};
struct world_stock {
	struct world_machine m;
	struct arena *arena;
	struct world_group *group;
	/* in its group */
	size_t at;
	/* serial of the plan in which it is taken */
	uint64_t used;
	/* the tenant whose claim has it, where used is this plan's; NULL: a claim that goes */
	const char *serves;
	/* ... in which it is to be somebody's once it is free (timeline.c, holds.c) */
	uint64_t promised;
	/* ... in which who is before a gang may have it once it is free (timeline_wait()) */
	uint64_t hoped;
	/* the last look ahead that gave it to a gang (gang_try.c): world.tries */
	uint64_t tried;
	/* ... in which a gang may have it of which nobody knows when it is whole (holds.c) */
	uint64_t unsure;
	/* ... in which it is free and held for a gang (holds.c): taken as well */
	uint64_t held;
	const struct world_gang *held_for;
	/* ... in which somebody counts on it (reclaim.c) */
	uint64_t reclaimed;
};

struct world {
	/* key -> struct world_object */
	struct map *tenants, *providers, *pools, *claims, *nodes;
	/* name -> struct world_stock */
	struct map *machines;
	/* world_kind.key -> struct world_kind */
	struct map *kinds;
	/* world_group.key -> struct world_group */
	struct map *groups;
	/* key -> struct world_one */
	struct map *pods;
	/* world_load.key -> struct world_load */
	struct map *loads;
	/* world_gang.key -> struct world_gang */
	struct map *gangs;
	struct world_aging aging;
	/* world_put_clamp() */
	bool clamps;
	char *levels[WORLD_LEVELS];
	size_t nlevels;
	/* world_put_hold() */
	int64_t hold_ms;
	/* tenant -> struct world_hold */
	struct map *holds;
	/* machine -> int64_t, world_put_machine_rest() */
	struct map *rests;
	struct arena *stops_arena;
	/* world_put_stops() */
	struct world_stop *stops;
	size_t nstops;
	/* in no order */
	struct world_one **pending;
	/* ndemand: of them, world_is_demand() */
	size_t npending, pending_cap, ndemand;
	struct world_list sorted_nodes, sorted_claims;
	/* world_shape.key -> struct world_shape */
	struct map *shapes;
	/* world_fit.key -> struct world_fit */
	struct map *fits;
	/* that were put, of each kind: the next pod is often alike */
	struct world_shape *last[2];
	/* looks ahead, ever */
	uint64_t tries;
	/* serial of the last plan */
	uint64_t plan;
	/* of the last plan, as in struct planning */
	char **columns;
	size_t ncolumns;
	uint64_t columns_serial;
	/* scratch */
	char *text;
	size_t len, cap;
};

/* Valid until the world changes. */
const struct world_list *world_nodes(struct world *w);
const struct world_list *world_claims(struct world *w);
/* NULL: absent. */
void *world_find(const struct map *m, const char *key);
/* NULL: no machine of that type. */
struct world_kind *world_kind(struct world *w, const char *provider, const char *type);

/* Copies into an arena, sorted by key or name (world_copy.c). */
struct labels world_copy_labels(const struct labels *l, struct arena *a);
/* Copies the labels and adds WORLD_NODE_NAME. */
struct labels world_name_labels(const struct labels *l, const char *name, struct arena *a);
struct resources world_copy_resources(const struct resources *r, struct arena *a);
const char **world_copy_strings(const char *const *v, size_t n, struct arena *a);
struct selector world_copy_selector(const struct selector *s, struct arena *a);
struct world_taints world_copy_taints(const struct world_taints *t, struct arena *a);

/* The shape of a pod, counted; release takes one away (shape.c). */
struct world_shape *shape_of(struct world *w, const struct world_pod *p);
struct world_shape *shape_side(struct world *w, const struct world_pod *p);
/* In w->text: what constraints that count the same pods have in common. */
void shape_group_key(struct world *w, const struct world_topology *t, const struct world_pod *of,
		     unsigned what);
/* Added to it: what spreads that count the same nodes have in common. */
void shape_nodes_key(struct world *w, const struct world_topology *t, const struct world_pod *of);
/* A spread over other domains than nodes: not all nodes count for it. */
bool shape_is_wide_spread(const struct world_topology *t);
void shape_release(struct world_shape *s);

/* What the last plan had columns for; a new serial where these are others. */
void world_columns(struct world *w, const char *const *names, size_t n);

/* load.c: made when the first asks, dropped when the last of its pods and its node are gone. */
struct world_load *load_of_node(struct world *w, const char *tenant, const char *node);
void load_forget_node(struct world *w, struct world_load *l);
void load_join(struct world *w, struct world_one *p);
void load_leave(struct world *w, struct world_one *p);

/* world_gangs.c: the gang is made when its first pod joins, dropped when the last leaves. */
void gang_join(struct world *w, struct world_one *p, const char *key, int64_t min);
void gang_leave(struct world *w, struct world_one *p);
/* as its pods say it */
const char *gang_key(const struct world_gang *g);
/* Returns the bounds of the tenant's holds; zeros if there are none. */
struct world_hold hold_of_tenant(const struct world *w, const char *tenant);
/* Returns true if no gang may hold the machine at that time. */
bool hold_rests(const struct world *w, const char *machine, int64_t now_ms);

/* w->text as a key builder: each part prefixed by its length, so that parts never run together. */
void world_text_clear(struct world *w);
void world_text_add(struct world *w, const char *s);

/* world_pods.c: one that is no more in w->pods. */
void world_drop_pod(void *pod);

#endif
