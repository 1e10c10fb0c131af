#ifndef PROVIDERS_NETRIS_SNAPSHOT_H
#define PROVIDERS_NETRIS_SNAPSHOT_H

#include <stdbool.h>
#include <stdint.h>
#include "base/err.h"
#include "base/list.h"
#include "base/loop/loop.h"
#include "netris/netris.h"

/*
 * netris_snapshot: reads snapshots of a whole Netris site: server clusters with their members,
 * V-nets with their ports, switches, and the switch ports of each server.
 *
 * A caller gets a snapshot that was begun after its request. Only one snapshot is read at a time.
 * It serves all callers that wait, and the next one begins at the earliest NETRIS_SNAPSHOT_GAP_MS
 * later. So a thousand machines cost as many requests as one. Members that a list omits are read
 * element by element. Servers, links and templates are read at most once in NETRIS_INVENTORY_MS,
 * and in addition when a caller sets `fresh`.
 *
 * On the loop thread; calls done() exactly once, never inside the call.
 * Tests: tests/contract/test_fabric.c
 */
#define NETRIS_INVENTORY_MS 60000
#define NETRIS_SNAPSHOT_GAP_MS 500
#define NETRIS_PORTS_MAX 64 /* Maximum number of ports of one server that are read. */

struct netris_snapshots;

/* A switch port to which a server is linked. */
struct netris_wire {
	/* ID of the port; 0: not reported */
	int64_t port;
	/* Name of the switch; NULL: not reported. */
	const char *switch_;
};
struct netris_machine {
	int64_t id;
	/* True: two servers of the site have this name, so it identifies neither */
	bool twice;
	struct netris_wire wires[NETRIS_PORTS_MAX];
	size_t n;
	/* True: the server has more than NETRIS_PORTS_MAX links, and only the first are in
	 * `wires` */
	bool more;
};
struct netris_snapshot {
	/* loop_now() when the first read was sent. */
	int64_t begun_at;
	const struct netris_cluster *clusters;
	size_t nclusters;
	const struct netris_vnet *vnets;
	size_t nvnets;
	const struct netris_device *switches;
	size_t nswitches;
	const struct netris_template *templates;
	size_t ntemplates;
	/* Servers of the site. Key: name; value: struct netris_machine */
	struct map *machines;
};
const struct netris_cluster *netris_snapshot_cluster(const struct netris_snapshot *l,
						     const char *name);
const struct netris_vnet *netris_snapshot_vnet(const struct netris_snapshot *l, int64_t id);
const struct netris_template *netris_snapshot_template(const struct netris_snapshot *l, int64_t id);
/* True if Netris reports which servers or ports V-net v contains. */
bool netris_reports_members(const struct netris_vnet *v);
const struct netris_device *netris_snapshot_switch(const struct netris_snapshot *l,
						   const char *name);
bool netris_has_member(const struct netris_cluster *c, int64_t server);

/* A caller that waits for a snapshot; embedded in the caller's structure. */
struct netris_wait {
	struct list link;
	/* True: also read servers, links and templates for this snapshot */
	bool fresh;
	/* Called once with the snapshot l, valid during the call; with an error l is NULL. */
	void (*done)(const struct netris_snapshot *l, const struct err *e, void *arg);
	void *arg;
};

/* Creates the reader of snapshots. site: name of the site whose servers are included. */
struct netris_snapshots *netris_snapshots_new(struct loop_group *g, struct netris *n,
					      const char *site);
/* Frees the reader. No caller may be waiting. May be called inside a done(). */
void netris_snapshots_free(struct netris_snapshots *ls);
void netris_snapshot_ask(struct netris_snapshots *ls, struct netris_wait *w);

#endif
