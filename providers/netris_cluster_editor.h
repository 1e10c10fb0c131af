#ifndef PROVIDERS_NETRIS_CLUSTER_EDITOR_H
#define PROVIDERS_NETRIS_CLUSTER_EDITOR_H

#include <stdbool.h>
#include <stdint.h>
#include "base/err.h"
#include "base/list.h"
#include "base/loop/loop.h"
#include "netris/netris.h"
#include "providers/netris_snapshot.h"

/*
 * netris_cluster_editor: changes which servers are in one server cluster (the Netris object behind
 * a segment).
 *
 * The change is a PUT of the cluster's complete list of servers, and the controller does not
 * compare that list with the current one. A list from an old read would remove other machines from
 * their tenant's network. So at most one change of a cluster is in progress at a time; edits that
 * arrive meanwhile are merged into the next change. The list is read just before the PUT and again
 * afterwards:
 *
 *   idle --> read --> PUT --> read again --> done()
 *
 * All other servers, their `shared` flags and the tags stay unchanged. A list that does not report
 * `shared` is not written back. The answer to the PUT proves nothing, nor does a lost answer; only
 * the list that is read afterwards does.
 *
 * In an incident, a server that drover moves, or a shared server, has vanished from the cluster
 * although no edit removed it. It vanished after drover's PUT, or since the list that was read
 * after the previous change. Because a read may be stale, the list is read three times before an
 * incident is declared. Then drover writes nothing more to this cluster, and each edit fails with
 * the incident as the reason. The incident ends when a snapshot shows the server in some cluster
 * again, or shows that the site has no server with its id. Exception: a change that adds all
 * missing servers is made even during an incident, because otherwise only an operator could repair
 * the cluster.
 *
 * Not covered: a change that another writer makes between drover's read and PUT (some milliseconds)
 * is undone without notice.
 *
 * On the loop thread; calls done() exactly once, never inside the call.
 * Tests: tests/contract/test_fabric.c
 */
struct netris_cluster_editor;

/* One requested change of the cluster; embedded in the caller's structure. */
struct netris_edit {
	struct list link;
	int64_t server;
	/* True: add the server; false: remove it. */
	bool add;
	/* loop_now() after which the edit must no longer be sent */
	int64_t until;
	/* For netris_cluster_editor.c only. True: the edit is part of the change in progress */
	bool merged;
	/* Called just before the edit is sent; false: it is not sent. NULL: always true. */
	bool (*may_act)(void *arg);
	/* Called when the edit has ended. e NULL: the list that was read afterwards shows the
	 * change. */
	void (*done)(const struct err *e, void *arg);
	void *arg;
};

/* Creates the editor (queue of edits) of the cluster with this id and name. ours(): true if the
 * server is a machine that only drover moves. */
struct netris_cluster_editor *netris_cluster_editor_new(struct loop_group *g, struct netris *n,
							int64_t id, const char *name,
							bool (*ours)(int64_t server, void *arg),
							void *arg);
/* Frees the editor. Its pending edits are dropped without done(). */
void netris_cluster_editor_free(struct netris_cluster_editor *l);
void netris_cluster_editor_edit(struct netris_cluster_editor *l, struct netris_edit *ed);
/* Drops the edit without calling done(). A request already sent may still take effect. */
void netris_cluster_editor_drop(struct netris_edit *ed);
/* Compares a new snapshot with the editor's incident, which may end it. */
void netris_cluster_editor_saw(struct netris_cluster_editor *l,
			       const struct netris_snapshot *snapshot);
int64_t netris_cluster_editor_id(const struct netris_cluster_editor *l);
/* Writes a human-readable description of the incident that blocks the cluster to text. False: there
 * is no incident. */
bool netris_cluster_editor_incident(const struct netris_cluster_editor *l, char *text, size_t size);

#endif
