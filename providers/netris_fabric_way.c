/*
 * netris_fabric_way: implements the calls way() and unway() of the fabric `netris` (path to a
 * tenant's API server). Each call uses one struct netris_way and has a limit of 60 s.
 * Tests: tests/contract/test_netris_way.c
 */
#include <stdlib.h>

#include "base/mem.h"
#include "base/str.h"
#include "providers/netris_state.h"

/* One way() or unway() call. */
struct way {
	struct list link;
	struct fabric_state *f;
	struct fabric_way_call call;
	char *name, *uid, *address, **backends;
	struct netris_way *way;
	struct loop_timer limit;
};

static void way_free(struct way *w)
{
	list_remove(&w->link);
	loop_timer_stop(&w->limit);
	netris_way_free(w->way);
	netris_state_free_names(w->backends);
	free(w->name);
	free(w->uid);
	free(w->address);
	free(w);
}

/* Calls done() and frees the call. The caller must return afterwards, because done() may free the
 * fabric. */
static void on_way(const struct fabric_way_seen *s, const struct err *e, void *arg)
{
	struct way *w = arg;
	struct err why = {0};

	if (e && w->f->release == NETRIS_RELEASE_OLD)
		(void)!err_set(&why, ERR_UNSUPPORTED, 0, "Netris: %s", w->f->release_text);
	else if (e)
		why = *e;
	list_remove(&w->link);
	w->call.done(s, e ? &why : NULL, w->call.arg);
	way_free(w);
}

static void on_way_limit(void *arg)
{
	struct way *w = arg;
	struct err e;

	(void)!err_set(
		&e, ERR_TIMEOUT, 0,
		"Netris did not complete the requests for the API server of %.100s within 60 s",
		w->name);
	on_way(NULL, &e, w);
}

static bool way_may_act(void *arg)
{
	const struct way *w = arg;

	return netris_state_may_change(w->f) && (!w->call.may_act || w->call.may_act(w->call.arg));
}

static void way_begin(struct fabric *fabric, const struct fabric_way *want,
		      const struct fabric_way_call *c, bool remove)
{
	struct fabric_state *f = fabric->state;
	struct way *w = mem_new(struct way);
	struct netris_way_spec s = {.make = {.prefix = f->prefix,
					     .site = f->site,
					     .template_ = f->template_,
					     .admin = f->admin,
					     .host_servers = (const char *const *)f->hosts,
					     .may_act = way_may_act},
				    .way = *want,
				    .done = on_way};

	netris_state_ask_release(f);
	w->f = f;
	w->call = *c;
	w->name = netris_state_cluster(f, want->segment);
	w->uid = mem_strdup(want->uid);
	w->address = mem_strdup(want->address);
	w->backends = netris_state_copy_names(want->backends);
	s.make.name = w->name;
	/* Set arg for both netris_way and netris_make, because both pass it to way_may_act(). */
	s.make.arg = s.arg = w;
	s.way.uid = w->uid;
	s.way.address = w->address;
	s.way.backends = (const char *const *)w->backends;
	list_push_back(&f->ways, &w->link);
	loop_timer_init(&w->limit, f->group, on_way_limit, w);
	loop_timer_start(&w->limit, NETRIS_STATE_CALL_MS);
	w->way = netris_way(f->way_lists, &s, remove);
}

void netris_fabric_way(struct fabric *fabric, const struct fabric_way *w,
		       const struct fabric_way_call *c)
{
	way_begin(fabric, w, c, false);
}

void netris_fabric_unway(struct fabric *fabric, const struct fabric_way *w,
			 const struct fabric_way_call *c)
{
	way_begin(fabric, w, c, true);
}

void netris_fabric_ways_free(struct fabric_state *f)
{
	list_for_each (w, &f->ways, struct way, link)
		way_free(w);
}
