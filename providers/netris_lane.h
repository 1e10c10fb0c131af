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
 * netris_lane: changes which servers are in one server cluster.
 *
 * A PUT sends the complete list of servers, and the controller does not compare it with the current
 * one: a list from an old read would remove other machines from their tenant's network. So at most
 * one change of a cluster is in progress at a time; edits that arrive meanwhile are merged into the
 * next one. The list is read just before the PUT and again afterwards:
 *
 *   idle --> read --> PUT --> read again --> done()
 *
 * All other servers, their `shared` flags and the tags stay unchanged. A list that does not report
 * `shared` is not written back. The answer to the PUT proves nothing, nor does a lost answer; only
 * the list that is read afterwards does.
 *
 * An incident is a server of drover, or a shared one, that disappeared without an edit of drover:
 * after drover's PUT, or since the list that was read after the previous change. Because a read may
 * be stale, the list is read three times before an incident is declared. Then drover writes nothing
 * more to this cluster, and each edit fails with this reason, until a snapshot shows the server in
 * some cluster again or shows that the site has no server with its id. Exception: a change that
 * adds all missing servers is made, because otherwise only an operator could repair the cluster.
 *
 * Not covered: a change that another writer makes between drover's read and PUT (some milliseconds)
 * is undone without notice.
 *
 * On the loop thread; calls done() exactly once, never inside the call.
 * Tests: tests/contract/test_fabric.c
 */
struct netris_lane;

/* One requested change; embedded in the caller's structure. */
struct netris_edit {
	struct list link;
	int64_t server;
	/* True: add the server; false: remove it. */
	bool add;
	/* loop_now() after which the edit is no longer sent. */
	int64_t until;
	/* Internal: the edit is part of the change in progress. */
	bool merged;
	/* Called just before the edit is sent; NULL: always true. */
	bool (*may_act)(void *arg);
	/* e NULL: the list shows the change. */
	void (*done)(const struct err *e, void *arg);
	void *arg;
};

/* ours: returns true if the server is a machine that only drover moves. */
struct netris_lane *netris_lane_new(struct loop_group *g, struct netris *n, int64_t id,
				    const char *name, bool (*ours)(int64_t server, void *arg),
				    void *arg);
/* Drops pending edits without calling done(). */
void netris_lane_free(struct netris_lane *l);
void netris_lane_edit(struct netris_lane *l, struct netris_edit *ed);
/* Drops the edit without calling done(). A request already sent may still take effect. */
void netris_lane_drop(struct netris_edit *ed);
/* Passes a snapshot, which may end an incident. */
void netris_lane_saw(struct netris_lane *l, const struct netris_look *look);
int64_t netris_lane_id(const struct netris_lane *l);
/* Writes a human-readable description of the incident that blocks the cluster; false: none. */
bool netris_lane_incident(const struct netris_lane *l, char *text, size_t size);

#endif
