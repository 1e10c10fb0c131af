#ifndef PROVIDERS_NETRIS_LANE_H
#define PROVIDERS_NETRIS_LANE_H

#include <stdbool.h>
#include <stdint.h>
#include "base/err.h"
#include "base/list.h"
#include "base/loop/loop.h"
#include "netris/netris.h"
#include "providers/netris_look.h"

/*
 * netris_lane: who is in one server cluster, changed.
 *
 * A PUT sends the complete list of servers, and the controller compares nothing: whoever sends a
 * list from an old read takes other machines out of their tenant's network. So one change of a
 * cluster is under way at a time, with all that was asked for meanwhile in it; the list is read
 * just before and again after:
 *
 *   idle --> read --> PUT --> read again --> told
 *
 * Unchanged stay every other server, `shared`, and tags. A list that does not say who is shared is
 * not written. What an answer says proves nothing, and one that was lost neither: the list that is
 * read afterwards does.
 *
 * An incident is a server of ours, or a shared one, that nobody took out through here and that is
 * gone: after our own PUT, or since the list that was read after the last one. A read may be stale,
 * so it is asked for three times. Then nothing more is written to this cluster until a look shows
 * the server in some cluster again, or that the site has none of its id: each call says so. But a
 * change that puts all who are missing back is made, or nobody but a person could ever do that.
 *
 * Not closed: between the read and the PUT, some milliseconds, another writer's change is undone
 * unseen by drover.
 *
 * On the loop thread; done() exactly once, never inside the call.
 * Tests: tests/contract/test_fabric.c
 */
struct netris_lane;

/* Embedded in whoever asks. */
struct netris_edit {
	struct list link;
	int64_t server;
	/* else remove */
	bool add;
	/* loop_now(): not sent any more after */
	int64_t until;
	/* the lane's own: it is in the change under way */
	bool merged;
	/* NULL: always */
	bool (*may_act)(void *arg);
	/* e NULL: the list shows it */
	void (*done)(const struct err *e, void *arg);
	void *arg;
};

/* ours: is it a machine that only we move? */
struct netris_lane *netris_lane_new(struct loop_group *g, struct netris *n, int64_t id,
				    const char *name, bool (*ours)(int64_t server, void *arg),
				    void *arg);
/* edits end without done() */
void netris_lane_free(struct netris_lane *l);
void netris_lane_edit(struct netris_lane *l, struct netris_edit *ed);
/* It is not waited for any more; what was sent may have its effect. */
void netris_lane_drop(struct netris_edit *ed);
/* What a look shows: an incident may be over. */
void netris_lane_saw(struct netris_lane *l, const struct netris_look *look);
int64_t netris_lane_id(const struct netris_lane *l);
/* The incident that stops it, for people; false: there is none. */
bool netris_lane_incident(const struct netris_lane *l, char *text, size_t size);

#endif
