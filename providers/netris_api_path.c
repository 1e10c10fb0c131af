#include "providers/netris_api_path.h"

#include <stdlib.h>
#include <string.h>
#include "base/address.h"
#include "base/mem.h"
#include "base/str.h"

/* After this number of changes (POST, PUT, DELETE), a call ends with an error if its last change
 * failed or if a further DELETE would be needed. */
#define CHANGES 4
#define VNETS 8 /* Maximum number of V-nets of a cluster that are judged. */
#define PORT 6443
#define CHECK_MS "2000"

static const enum netris_kind looked_at[] = {NETRIS_SITE, NETRIS_TENANT, NETRIS_VPC, NETRIS_CLUSTER,
					     NETRIS_L4LB};
#define LISTS (sizeof(looked_at) / sizeof(*looked_at))
#define BALANCERS (LISTS - 1)

struct netris_api_paths {
	struct loop_group *group;
	struct netris *n;
	/* Lists of netris_api_path.link. waiting: calls that wait for the next read of the lists;
	 * served: calls that wait for the read in progress. */
	struct list waiting, served;
	struct loop_timer begin;
	/* loop_now() at which the last read ended */
	int64_t ended_at;
	bool busy;
	struct api_path_read {
		struct netris_api_paths *ws;
		/* Request in flight; NULL: none */
		struct netris_request *q;
	} reads[LISTS];
	struct netris_objects o[LISTS];
	/* telling: waiting calls are being continued. closed: netris_api_paths_free() was called
	 * meanwhile. */
	bool telling, closed;
};

struct netris_api_path {
	/* Link in netris_api_paths.waiting or .served. */
	struct list link;
	struct netris_api_paths *ws;
	struct netris *n;
	struct netris_api_path_spec s;
	bool remove, made, posted;
	unsigned changes;
	/* Name of the call's load balancer */
	char name[NETRIS_API_PATH_NAME];
	struct netris_make *make;
	/* Request in flight for one change or one element; NULL: none */
	struct netris_request *request;
	/* Error of the last change; kind ERR_NONE: success */
	struct err err;
	struct arena *arenas[VNETS + 1];
	size_t narenas;
	const struct netris_cluster *cluster;
	struct netris_vnet vnets[VNETS];
	size_t nvnets;
	int64_t site, admin, vpc, cluster_id;
};

static void go_on(struct netris_api_path *w);

void netris_api_path_name(char out[static NETRIS_API_PATH_NAME], const char *name, const char *uid)
{
	str_format(out, NETRIS_API_PATH_NAME, "%.300s-api-%.64s", name, uid);
}

void netris_api_path_free(struct netris_api_path *w)
{
	if (!w)
		return;
	list_remove(&w->link);
	netris_cancel(w->request);
	netris_make_free(w->make);
	for (size_t i = 0; i < w->narenas; i++)
		arena_free(w->arenas[i]);
	free(w);
}

/* Calls done() with s or e. The caller must return afterwards, because done() may free w. */
static void end(struct netris_api_path *w, const struct fabric_api_path_state *s,
		const struct err *e)
{
	struct err why;

	if (e) {
		why = *e;
		why.scope = ERR_PROVIDER;
	}
	w->s.done(e ? NULL : s, e ? &why : NULL, w->s.arg);
}

static void end_failed(struct netris_api_path *w, enum err_kind kind, const char *what,
		       const char *name)
{
	struct err e;

	err_note(&e, kind, 0, "%s %.80s", what, name);
	end(w, NULL, &e);
}

/* --- lists ------------------------------------------------------------------------------------ */

static void forget(struct netris_api_paths *ws)
{
	for (size_t i = 0; i < LISTS; i++) {
		netris_cancel(ws->reads[i].q);
		ws->reads[i].q = NULL;
		arena_free(ws->o[i].arena);
		ws->o[i] = (struct netris_objects){0};
	}
}

static void begin_soon(struct netris_api_paths *ws)
{
	int64_t wait = ws->ended_at + NETRIS_API_PATH_GAP_MS - loop_now(loop_of(ws->group));

	loop_timer_start(&ws->begin, wait > 0 ? wait : 0);
}

static void look_again(struct netris_api_path *w)
{
	struct netris_api_paths *ws = w->ws;

	list_push_back(&ws->waiting, &w->link);
	if (!ws->busy && !loop_timer_active(&ws->begin))
		begin_soon(ws);
}

/* Continues or ends all calls that wait for the lists. If a done() frees ws, ws is released at the
 * end of this function. */
static void tell(struct netris_api_paths *ws, const struct err *e)
{
	struct netris_api_path *w;

	ws->telling = true;
	while (!ws->closed && (w = list_first(&ws->served, struct netris_api_path, link))) {
		list_remove(&w->link);
		if (!e)
			go_on(w);
		else
			end(w, NULL, w->err.kind != ERR_NONE ? &w->err : e);
	}
	ws->telling = false;
	ws->busy = false;
	ws->ended_at = loop_now(loop_of(ws->group));
	forget(ws);
	if (ws->closed)
		free(ws);
	else if (!list_empty(&ws->waiting))
		begin_soon(ws);
}

static void on_list(struct netris_objects *o, const struct err *e, void *arg)
{
	struct api_path_read *r = arg;
	struct netris_api_paths *ws = r->ws;
	struct err why;

	r->q = NULL;
	if (e) {
		why = *e;
		forget(ws);
		tell(ws, &why);
		return;
	}
	ws->o[r - ws->reads] = *o;
	o->arena = NULL;
	for (size_t k = 0; k < LISTS; k++)
		if (ws->reads[k].q)
			return;
	tell(ws, NULL);
}

static void on_begin(void *arg)
{
	struct netris_api_paths *ws = arg;

	ws->busy = true;
	list_for_each (w, &ws->waiting, struct netris_api_path, link) {
		list_remove(&w->link);
		list_push_back(&ws->served, &w->link);
	}
	for (size_t i = 0; i < LISTS; i++) {
		const struct netris_call c = {.done = on_list, .arg = &ws->reads[i]};

		ws->reads[i].ws = ws;
		ws->reads[i].q = netris_list(ws->n, looked_at[i], &c);
	}
}

struct netris_api_paths *netris_api_paths_new(struct loop_group *g, struct netris *n)
{
	struct netris_api_paths *ws = mem_new(struct netris_api_paths);

	ws->group = g;
	ws->n = n;
	ws->ended_at = INT64_MIN / 2;
	list_init(&ws->waiting);
	list_init(&ws->served);
	loop_timer_init(&ws->begin, g, on_begin, ws);
	return ws;
}

void netris_api_paths_free(struct netris_api_paths *ws)
{
	forget(ws);
	loop_timer_stop(&ws->begin);
	ws->closed = true;
	if (!ws->telling)
		free(ws);
}

/* --- objects that must exist ------------------------------------------------------------------ */

static void on_made(const struct err *e, void *arg)
{
	struct netris_api_path *w = arg;

	netris_make_free(w->make);
	w->make = NULL;
	if (e && netris_refused(e))
		end(w, NULL, e);
	else
		look_again(w);
}

static bool may_change(void *arg)
{
	const struct netris_api_path *w = arg;

	return w->s.make.may_act(w->s.make.arg);
}

static void make(struct netris_api_path *w)
{
	struct netris_make_spec s = w->s.make;

	if (w->made) {
		end_failed(w, ERR_UNAVAILABLE,
			   "created, but not listed yet: VPC and server cluster", s.name);
		return;
	}
	w->made = true;
	s.done = on_made;
	s.may_act = w->s.make.may_act ? may_change : NULL;
	s.arg = w;
	w->make = netris_make(w->n, &s);
}

static void find_ids(struct netris_api_path *w)
{
	w->site = w->admin = w->vpc = w->cluster_id = 0;
	for (size_t i = 0; i < w->ws->o[0].n; i++)
		if (str_eq(w->ws->o[0].site[i].name, w->s.make.site))
			w->site = w->ws->o[0].site[i].id;
	for (size_t i = 0; i < w->ws->o[1].n; i++)
		if (str_eq(w->ws->o[1].tenant[i].name, w->s.make.admin))
			w->admin = w->ws->o[1].tenant[i].id;
	for (size_t i = 0; i < w->ws->o[2].n; i++)
		if (str_eq(w->ws->o[2].vpc[i].name, w->s.make.name))
			w->vpc = w->ws->o[2].vpc[i].id;
	for (size_t i = 0; i < w->ws->o[3].n; i++)
		if (str_eq(w->ws->o[3].cluster[i].name, w->s.make.name)) {
			w->cluster_id = w->ws->o[3].cluster[i].id;
			/* Use the cluster's own VPC, whatever the VPC's name is. */
			if (w->ws->o[3].cluster[i].vpc.id)
				w->vpc = w->ws->o[3].cluster[i].vpc.id;
		}
}

/* --- VIP -------------------------------------------------------------------------------------- */

static void on_vnet(struct netris_objects *o, const struct err *e, void *arg);

static void next_vnet(struct netris_api_path *w)
{
	const struct netris_call c = {.done = on_vnet, .arg = w};
	struct fabric_api_path_state seen;
	char why[NETRIS_API_PATH_WHY], host[ADDRESS_TEXT];

	if (w->nvnets < w->cluster->vnets.n && w->nvnets < VNETS) {
		w->request = netris_get(w->n, NETRIS_VNET, w->cluster->vnets.v[w->nvnets].id, &c);
		return;
	}
	(void)address_host(w->s.path.address, host);
	netris_judge_vip(w->cluster, w->vnets, w->nvnets, host, &seen, why);
	seen.address = w->s.path.address;
	end(w, &seen, NULL);
}

static void keep(struct netris_api_path *w, struct netris_objects *o)
{
	w->arenas[w->narenas++] = o->arena;
	o->arena = NULL;
}

static void on_vnet(struct netris_objects *o, const struct err *e, void *arg)
{
	struct netris_api_path *w = arg;

	w->request = NULL;
	if (e) {
		end(w, NULL, e);
		return;
	}
	w->vnets[w->nvnets++] = *o->vnet;
	keep(w, o);
	next_vnet(w);
}

static void on_cluster(struct netris_objects *o, const struct err *e, void *arg)
{
	struct netris_api_path *w = arg;

	w->request = NULL;
	if (e) {
		end(w, NULL, e);
		return;
	}
	w->cluster = o->cluster;
	keep(w, o);
	next_vnet(w);
}

/* --- load balancer ---------------------------------------------------------------------------- */

/* Handles the answer to a change. Ends the call if the change was refused; otherwise reads the
 * lists again, because only the list that is read afterwards counts. */
static void on_changed(struct netris_objects *o, const struct err *e, void *arg)
{
	struct netris_api_path *w = arg;

	(void)o;
	w->request = NULL;
	err_clear(&w->err);
	if (e)
		w->err = *e;
	if (e && netris_refused(e) && e->kind != ERR_NOT_FOUND)
		end(w, NULL, e);
	else
		look_again(w);
}

static void change(struct netris_api_path *w, const char *method, int64_t id, json_t *body)
{
	const struct netris_call c = {
		.done = on_changed, .may_act = w->s.make.may_act ? may_change : NULL, .arg = w};

	w->changes++;
	w->request = netris_change(w->n, method, NETRIS_L4LB, id, body, &c);
}

/* True if the load balancer `was` has this backend in maintenance. was: the load balancer as read;
 * NULL: there is none. */
static bool in_maintenance(const struct netris_l4lb *was, const char *ip, int64_t port)
{
	for (size_t i = 0; was && i < was->backends.n; i++)
		if (address_same(was->backends.v[i].ip, ip) && was->backends.v[i].port == port)
			return was->backends.v[i].maintenance == NETRIS_YES;
	return false;
}

static json_t *body_of(const struct netris_api_path *w, const struct netris_l4lb *was)
{
	const struct fabric_api_path *want = &w->s.path;
	char ip[ADDRESS_TEXT] = "", to[ADDRESS_TEXT];
	uint16_t port = PORT, at = 0;
	json_t *backends = json_array();

	if (want->address)
		(void)address_service(want->address, ip, &port);
	for (size_t i = 0; want->backends[i]; i++)
		if (address_service(want->backends[i], to, &at))
			json_array_append_new(backends, json_pack("{s:s, s:i, s:b}", "ip", to,
								  "port", at, "maintenance",
								  in_maintenance(was, to, at)));
	/* Keep the address that the controller has assigned. */
	if (!want->address && was) {
		str_copy(ip, sizeof(ip), was->ip);
		port = was->port > 0 && was->port <= UINT16_MAX ? (uint16_t)was->port : PORT;
	}
	return json_pack(
		"{s:s, s:{s:I, s:s}, s:I, s:s, s:b, s:s, s:s, s:i, s:s, s:s, s:s, s:s, s:o, "
		"s:{s:I, s:s}}",
		"name", w->name, "tenant", "id", (json_int_t)w->admin, "name", w->s.make.admin,
		"siteId", (json_int_t)w->site, "siteName", w->s.make.site, "automatic",
		!want->address, "protocol", "TCP", "ip", ip, "port", port, "status", "enable",
		"healthCheck", "TCP", "timeOut", CHECK_MS, "requestPath", "", "backendIps",
		backends, "vpc", "id", (json_int_t)w->vpc, "name", w->s.make.name);
}

static void judge_balancer(struct netris_api_path *w, const struct netris_l4lb *b)
{
	struct fabric_api_path_state seen;
	char why[NETRIS_API_PATH_WHY], at[ADDRESS_TEXT + 8];

	netris_judge_lb(b, w->vpc, &w->s.path, &seen, why);
	if (*b->ip) {
		str_format(at, sizeof(at), strchr(b->ip, ':') ? "[%.45s]:%lld" : "%.45s:%lld",
			   b->ip, (long long)b->port);
		seen.address = at;
	}
	end(w, &seen, NULL);
}

static void look_at_balancers(struct netris_api_path *w)
{
	const struct netris_objects *o = &w->ws->o[BALANCERS];
	const struct netris_l4lb *first = NULL, *last = NULL;
	const struct fabric_api_path_state making = {
		.reason = "Making",
		.why = "the load balancer was requested, but is not listed yet"};

	for (size_t i = 0; i < o->n; i++) {
		if (!str_eq(o->l4lb[i].name, w->name))
			continue;
		if (!first || o->l4lb[i].id < first->id)
			first = &o->l4lb[i];
		if (!last || o->l4lb[i].id > last->id)
			last = &o->l4lb[i];
	}
	if (w->remove ? !first : first && first == last && !netris_lb_differs(first, &w->s.path)) {
		if (w->remove)
			end(w, NULL, NULL);
		else
			judge_balancer(w, first);
	} else if (w->changes >= CHANGES && w->err.kind != ERR_NONE) {
		end(w, NULL, &w->err);
	} else if (w->changes >= CHANGES && (w->remove || first != last)) {
		end_failed(w, ERR_UNAVAILABLE, "deleted, but still listed: load balancer", w->name);
	} else if (w->remove || first != last) {
		change(w, "DELETE", last->id, NULL);
	} else if (first && !w->posted) {
		/* Correct the load balancer only once per call. If the list that is read afterwards
		 * still differs, the load balancer is judged as it is. */
		w->posted = true;
		change(w, "PUT", first->id, body_of(w, first));
	} else if (first) {
		judge_balancer(w, first);
	} else if (w->posted) {
		end(w, &making, NULL);
	} else {
		w->posted = true;
		change(w, "POST", 0, body_of(w, NULL));
	}
}

/* --- steps of a call -------------------------------------------------------------------------- */

static void go_on(struct netris_api_path *w)
{
	const struct netris_call c = {.done = on_cluster, .arg = w};

	if (w->remove) {
		look_at_balancers(w);
		return;
	}
	find_ids(w);
	if (!w->site)
		end_failed(w, ERR_NOT_FOUND, "network.netris.site: Netris shows this user no site",
			   w->s.make.site);
	else if (!w->admin)
		end_failed(w, ERR_NOT_FOUND,
			   "network.netris.admin: Netris shows this user no tenant",
			   w->s.make.admin);
	else if (!w->vpc || !w->cluster_id)
		make(w);
	else if (w->s.path.via == FABRIC_VIA_L4LB)
		look_at_balancers(w);
	else
		w->request = netris_get(w->n, NETRIS_CLUSTER, w->cluster_id, &c);
}

struct netris_api_path *netris_api_path_start(struct netris_api_paths *ws,
					      const struct netris_api_path_spec *s, bool remove)
{
	struct netris_api_path *w = mem_new(struct netris_api_path);

	w->ws = ws;
	w->n = ws->n;
	w->s = *s;
	w->remove = remove;
	list_init(&w->link);
	netris_api_path_name(w->name, s->make.name, s->path.uid);
	look_again(w);
	return w;
}
