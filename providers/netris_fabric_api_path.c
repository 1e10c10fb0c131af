/*
 * netris_fabric_api_path: implements the calls ensure_api_path() and remove_api_path() of the
 * fabric `netris` (path to a tenant's API server). Each call uses one struct netris_api_path and
 * has a limit of 60 s.
 * Tests: tests/contract/test_netris_api_path.c
 */
#include <stdlib.h>

#include "base/mem.h"
#include "base/str.h"
#include "providers/netris_state.h"

/* One ensure_api_path() or remove_api_path() call. */
struct path_call {
	struct list link;
	struct fabric_state *f;
	struct fabric_api_path_call call;
	char *name, *uid, *address, **backends;
	struct netris_api_path *path;
	struct loop_timer limit;
};

static void path_call_free(struct path_call *w)
{
	list_remove(&w->link);
	loop_timer_stop(&w->limit);
	netris_api_path_free(w->path);
	netris_state_free_names(w->backends);
	free(w->name);
	free(w->uid);
	free(w->address);
	free(w);
}

/* Calls done() and frees the call. The caller must return afterwards, because done() may free the
 * fabric. */
static void on_api_path(const struct fabric_api_path_state *s, const struct err *e, void *arg)
{
	struct path_call *w = arg;
	struct err why = {0};

	if (e && w->f->release == NETRIS_RELEASE_OLD)
		err_note(&why, ERR_UNSUPPORTED, 0, "Netris: %s", w->f->release_text);
	else if (e)
		why = *e;
	list_remove(&w->link);
	w->call.done(s, e ? &why : NULL, w->call.arg);
	path_call_free(w);
}

static void on_path_call_limit(void *arg)
{
	struct path_call *w = arg;
	struct err e;

	err_note(&e, ERR_TIMEOUT, 0,
		 "Netris did not complete the requests for the API server of %.100s within 60 s",
		 w->name);
	on_api_path(NULL, &e, w);
}

static bool path_call_may_act(void *arg)
{
	const struct path_call *w = arg;

	return netris_state_may_change(w->f) && (!w->call.may_act || w->call.may_act(w->call.arg));
}

static void path_call_begin(struct fabric *fabric, const struct fabric_api_path *want,
			    const struct fabric_api_path_call *c, bool remove)
{
	struct fabric_state *f = fabric->state;
	struct path_call *w = mem_new(struct path_call);
	struct netris_api_path_spec s = {.make = {.prefix = f->prefix,
						  .site = f->site,
						  .template_ = f->template_,
						  .admin = f->admin,
						  .host_servers = (const char *const *)f->hosts,
						  .may_act = path_call_may_act},
					 .path = *want,
					 .done = on_api_path};

	netris_state_ask_release(f);
	w->f = f;
	w->call = *c;
	w->name = netris_state_cluster(f, want->segment);
	w->uid = mem_strdup(want->uid);
	w->address = mem_strdup(want->address);
	w->backends = netris_state_copy_names(want->backends);
	s.make.name = w->name;
	/* Set arg for both netris_api_path_start and netris_make, because both pass it to
	 * path_call_may_act(). */
	s.make.arg = s.arg = w;
	s.path.uid = w->uid;
	s.path.address = w->address;
	s.path.backends = (const char *const *)w->backends;
	list_push_back(&f->path_calls, &w->link);
	loop_timer_init(&w->limit, f->group, on_path_call_limit, w);
	loop_timer_start(&w->limit, NETRIS_STATE_CALL_MS);
	w->path = netris_api_path_start(f->api_paths, &s, remove);
}

void netris_fabric_ensure_api_path(struct fabric *fabric, const struct fabric_api_path *w,
				   const struct fabric_api_path_call *c)
{
	path_call_begin(fabric, w, c, false);
}

void netris_fabric_remove_api_path(struct fabric *fabric, const struct fabric_api_path *w,
				   const struct fabric_api_path_call *c)
{
	path_call_begin(fabric, w, c, true);
}

void netris_fabric_api_paths_free(struct fabric_state *f)
{
	list_for_each (w, &f->path_calls, struct path_call, link)
		path_call_free(w);
}
