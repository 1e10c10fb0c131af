#include "providers/netris_snapshot.h"

#include <stdlib.h>
#include <string.h>
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"

/*
 * netris_snapshot: reads a snapshot in this order.
 *
 *   request --- next loop turn, or after the gap --->
 *     clusters, V-nets, switches (servers, links, templates) --->
 *     single elements whose members the lists omit ---> done()
 *
 * A request that arrives while a snapshot is being read waits for the next one.
 */
#define DETAILS 8 /* Maximum number of concurrent requests for single elements. */

struct netris_snapshots {
	struct loop_group *group;
	struct netris *n;
	char *site;
	/* waiting: callers of the next snapshot; served: callers of the snapshot in progress */
	struct list waiting, served;
	struct loop_timer begin;
	/* loop_now() at which the last snapshot ended */
	int64_t ended_at;
	bool busy;
	struct netris_snapshot snapshot;
	/* Number of requests in flight */
	unsigned pending;
	struct snapshot_read {
		struct netris_snapshots *ls;
		/* Request in flight; NULL: this entry is free */
		struct netris_request *q;
		enum netris_kind kind;
		/* Cluster or V-net to which the answer adds the members; NULL: the request reads a
		 * list */
		void *into;
	} reads[6 + DETAILS];
	struct arena **arenas;
	size_t narenas, arenas_cap;
	/* Index of the next cluster and of the next V-net to be checked for missing members */
	size_t next_cluster, next_vnet;
	bool with_inventory;
	/* loop_now() at which servers, links and templates were read; INT64_MIN: never */
	int64_t inventory_at;
	struct arena *servers_arena, *links_arena, *templates_arena;
	struct netris_objects servers, links;
	/* telling: done() functions are being called. closed: netris_snapshots_free() was called
	 * meanwhile. */
	bool telling, closed;
};

const struct netris_cluster *netris_snapshot_cluster(const struct netris_snapshot *l,
						     const char *name)
{
	for (size_t i = 0; i < l->nclusters; i++)
		if (str_eq(l->clusters[i].name, name))
			return &l->clusters[i];
	return NULL;
}

const struct netris_vnet *netris_snapshot_vnet(const struct netris_snapshot *l, int64_t id)
{
	for (size_t i = 0; i < l->nvnets; i++)
		if (l->vnets[i].id == id)
			return &l->vnets[i];
	return NULL;
}

const struct netris_template *netris_snapshot_template(const struct netris_snapshot *l, int64_t id)
{
	for (size_t i = 0; i < l->ntemplates; i++)
		if (l->templates[i].id == id)
			return &l->templates[i];
	return NULL;
}

/* True if V-net v reports its members. For other types than Ethernet an empty list of ports does
 * not count, because it does not show which servers are members. */
bool netris_reports_members(const struct netris_vnet *v)
{
	if (netris_fabric_of(v->type) == NETRIS_ETHERNET)
		return v->ports.said || v->ports_count == 0;
	return v->servers.said || v->ports.n;
}

const struct netris_device *netris_snapshot_switch(const struct netris_snapshot *l,
						   const char *name)
{
	for (size_t i = 0; i < l->nswitches; i++)
		if (str_eq(l->switches[i].name, name))
			return &l->switches[i];
	return NULL;
}

bool netris_has_member(const struct netris_cluster *c, int64_t server)
{
	for (size_t i = 0; i < c->servers.n; i++)
		if (c->servers.v[i].id == server)
			return true;
	return false;
}

static void keep_arena(struct netris_snapshots *ls, struct netris_objects *o)
{
	mem_grow(ls->arenas, ls->narenas, ls->arenas_cap);
	ls->arenas[ls->narenas++] = o->arena;
	o->arena = NULL;
}

static void forget(struct netris_snapshots *ls)
{
	for (size_t i = 0; i < ls->narenas; i++)
		arena_free(ls->arenas[i]);
	ls->narenas = 0;
	ls->snapshot.clusters = NULL;
	ls->snapshot.vnets = NULL;
	ls->snapshot.switches = NULL;
	ls->snapshot.nclusters = ls->snapshot.nvnets = ls->snapshot.nswitches = 0;
}

/* --- servers and their ports ------------------------------------------------------------------ */

/* Returns the name of the server in a port name such as "eth1@gpu-1", the part after '@'; NULL: the
 * name has no such part. */
static const char *owner_of(const struct netris_ref *port)
{
	const char *at = strrchr(port->name, '@');

	return at && at[1] ? at + 1 : NULL;
}

static void wire(struct netris_snapshots *ls, const struct netris_ref *near,
		 const struct netris_ref *far)
{
	const char *name = owner_of(near);
	struct netris_machine *m = name ? map_get(ls->snapshot.machines, name) : NULL;

	if (!m)
		return;
	if (m->n == NETRIS_PORTS_MAX) {
		m->more = true;
		return;
	}
	m->wires[m->n++] = (struct netris_wire){far->id, owner_of(far)};
}

static void build_inventory(struct netris_snapshots *ls)
{
	map_clear(ls->snapshot.machines);
	for (size_t i = 0; i < ls->servers.n; i++) {
		const struct netris_device *d = &ls->servers.device[i];
		struct netris_machine *m = map_get(ls->snapshot.machines, d->name);

		if (*d->site.name && !str_eq(d->site.name, ls->site))
			continue;
		if (m) {
			m->twice = true;
			continue;
		}
		m = mem_new(struct netris_machine);
		m->id = d->id;
		map_put(ls->snapshot.machines, d->name, m);
	}
	for (size_t i = 0; i < ls->links.n; i++) {
		wire(ls, &ls->links.link[i].local, &ls->links.link[i].remote);
		wire(ls, &ls->links.link[i].remote, &ls->links.link[i].local);
	}
}

/* --- one snapshot ----------------------------------------------------------------------------- */

static void tell(struct netris_snapshots *ls, const struct err *e);
static void on_read(struct netris_objects *o, const struct err *e, void *arg);

static void start(struct netris_snapshots *ls, enum netris_kind kind, int64_t id, void *into)
{
	struct snapshot_read *r = ls->reads;
	struct netris_call c = {.done = on_read};

	while (r->q)
		r++;
	c.arg = r;
	r->ls = ls;
	r->kind = kind;
	r->into = into;
	ls->pending++;
	r->q = into ? netris_get(ls->n, kind, id, &c) : netris_list(ls->n, kind, &c);
}

/* Reads those elements singly whose members the lists omit: members of clusters, ports of
 * V-nets. */
static void read_details(struct netris_snapshots *ls)
{
	struct netris_cluster *clusters = (struct netris_cluster *)ls->snapshot.clusters;
	struct netris_vnet *vnets = (struct netris_vnet *)ls->snapshot.vnets;

	for (; ls->next_cluster < ls->snapshot.nclusters && ls->pending < DETAILS;
	     ls->next_cluster++) {
		struct netris_cluster *c = &clusters[ls->next_cluster];

		if (!c->servers.said || !c->vnets.said)
			start(ls, NETRIS_CLUSTER, c->id, c);
	}
	for (; ls->next_vnet < ls->snapshot.nvnets && ls->pending < DETAILS; ls->next_vnet++) {
		struct netris_vnet *v = &vnets[ls->next_vnet];

		if (!netris_reports_members(v))
			start(ls, NETRIS_VNET, v->id, v);
	}
}

static void take_list(struct netris_snapshots *ls, enum netris_kind kind, struct netris_objects *o)
{
	struct netris_snapshot *l = &ls->snapshot;

	if (kind == NETRIS_TEMPLATE) {
		arena_free(ls->templates_arena);
		ls->templates_arena = o->arena;
		o->arena = NULL;
		l->templates = o->template_;
		l->ntemplates = o->n;
		return;
	}
	if (kind == NETRIS_SERVER || kind == NETRIS_LINK) {
		struct arena **a = kind == NETRIS_SERVER ? &ls->servers_arena : &ls->links_arena;

		arena_free(*a);
		*a = o->arena;
		o->arena = NULL;
		*(kind == NETRIS_SERVER ? &ls->servers : &ls->links) = *o;
		return;
	}
	if (kind == NETRIS_CLUSTER) {
		l->clusters = o->cluster;
		l->nclusters = o->n;
	} else if (kind == NETRIS_VNET) {
		l->vnets = o->vnet;
		l->nvnets = o->n;
	} else {
		l->switches = o->device;
		l->nswitches = o->n;
	}
	keep_arena(ls, o);
}

static void stop_reads(struct netris_snapshots *ls)
{
	for (size_t i = 0; i < sizeof(ls->reads) / sizeof(*ls->reads); i++) {
		netris_cancel(ls->reads[i].q);
		ls->reads[i].q = NULL;
	}
	ls->pending = 0;
}

static void on_read(struct netris_objects *o, const struct err *e, void *arg)
{
	struct snapshot_read *r = arg;
	struct netris_snapshots *ls = r->ls;
	bool lists = !r->into;

	r->q = NULL;
	ls->pending--;
	if (e) {
		struct err why = *e;

		/* Report a temporary error: the element was deleted after the list was read, and
		 * the next snapshot no longer contains it. */
		if (!lists && why.kind == ERR_NOT_FOUND)
			why.kind = ERR_UNAVAILABLE;
		stop_reads(ls);
		if (ls->with_inventory) {
			/* Forget the inventory (servers, links, templates), because its lists may
			 * be from different moments. */
			map_clear(ls->snapshot.machines);
			ls->inventory_at = INT64_MIN;
		}
		tell(ls, &why);
		return;
	}
	if (lists) {
		take_list(ls, r->kind, o);
	} else {
		if (r->kind == NETRIS_CLUSTER)
			*(struct netris_cluster *)r->into = *o->cluster;
		else
			*(struct netris_vnet *)r->into = *o->vnet;
		keep_arena(ls, o);
	}
	if (ls->pending && lists)
		return;
	read_details(ls);
	if (!ls->pending)
		tell(ls, NULL);
}

static void on_begin(void *arg)
{
	struct netris_snapshots *ls = arg;
	int64_t now = loop_now(loop_of(ls->group));

	if (ls->busy || list_empty(&ls->waiting))
		return;
	ls->busy = true;
	ls->snapshot.begun_at = now;
	ls->with_inventory =
		ls->inventory_at == INT64_MIN || now - ls->inventory_at >= NETRIS_INVENTORY_MS;
	list_for_each (w, &ls->waiting, struct netris_wait, link) {
		ls->with_inventory = ls->with_inventory || w->fresh;
		list_remove(&w->link);
		list_push_back(&ls->served, &w->link);
	}
	ls->next_cluster = ls->next_vnet = 0;
	start(ls, NETRIS_CLUSTER, 0, NULL);
	start(ls, NETRIS_VNET, 0, NULL);
	start(ls, NETRIS_SWITCH, 0, NULL);
	if (ls->with_inventory) {
		start(ls, NETRIS_SERVER, 0, NULL);
		start(ls, NETRIS_LINK, 0, NULL);
		start(ls, NETRIS_TEMPLATE, 0, NULL);
	}
}

static void begin_soon(struct netris_snapshots *ls)
{
	int64_t wait = ls->ended_at + NETRIS_SNAPSHOT_GAP_MS - loop_now(loop_of(ls->group));

	loop_timer_start(&ls->begin, wait > 0 ? wait : 0);
}

static void looks_release(struct netris_snapshots *ls)
{
	map_free(ls->snapshot.machines);
	arena_free(ls->servers_arena);
	arena_free(ls->links_arena);
	arena_free(ls->templates_arena);
	free(ls->arenas);
	free(ls->site);
	free(ls);
}

/* Calls done() of all callers that wait. If one of them frees ls, ls is released at the end of this
 * function. */
static void tell(struct netris_snapshots *ls, const struct err *e)
{
	struct netris_wait *w;

	if (!e && ls->with_inventory) {
		build_inventory(ls);
		ls->inventory_at = ls->snapshot.begun_at;
	}
	ls->telling = true;
	while (!ls->closed && (w = list_first(&ls->served, struct netris_wait, link))) {
		list_remove(&w->link);
		w->done(e ? NULL : &ls->snapshot, e, w->arg);
	}
	ls->telling = false;
	ls->busy = false;
	ls->ended_at = loop_now(loop_of(ls->group));
	forget(ls);
	if (ls->closed)
		looks_release(ls);
	else if (!list_empty(&ls->waiting))
		begin_soon(ls);
}

void netris_snapshot_ask(struct netris_snapshots *ls, struct netris_wait *w)
{
	list_push_back(&ls->waiting, &w->link);
	if (!ls->busy && !loop_timer_active(&ls->begin))
		begin_soon(ls);
}

struct netris_snapshots *netris_snapshots_new(struct loop_group *g, struct netris *n,
					      const char *site)
{
	struct netris_snapshots *ls = mem_new(struct netris_snapshots);

	ls->group = g;
	ls->n = n;
	ls->site = mem_strdup(site);
	ls->inventory_at = INT64_MIN;
	ls->snapshot.machines = map_new(free);
	list_init(&ls->waiting);
	list_init(&ls->served);
	loop_timer_init(&ls->begin, g, on_begin, ls);
	ls->ended_at = INT64_MIN / 2;
	return ls;
}

void netris_snapshots_free(struct netris_snapshots *ls)
{
	stop_reads(ls);
	loop_timer_stop(&ls->begin);
	ls->closed = true;
	if (ls->telling)
		return;
	forget(ls);
	looks_release(ls);
}
