#ifndef PROVIDERS_NETRIS_LOOK_H
#define PROVIDERS_NETRIS_LOOK_H

#include <stdbool.h>
#include <stdint.h>
#include "base/err.h"
#include "base/list.h"
#include "base/loop/loop.h"
#include "netris/netris.h"

/*
 * netris_look: what a Netris controller says of a whole site at one moment: server clusters with
 * their members, V-nets with their ports, switches, and which ports a server has.
 *
 * Whoever asks gets a look that was begun after asking. One is under way at a time, and serves all
 * who wait for it, and NETRIS_LOOK_GAP_MS lie between two of them, so that a thousand machines cost
 * as many requests as one. What a list leaves out of its elements is read element by element.
 * Servers, links and templates are read at most once in NETRIS_INVENTORY_MS, and again when `fresh`
 * is asked for.
 *
 * On the loop thread; done() exactly once, never inside the call.
 * Tests: tests/contract/test_fabric.c
 */
#define NETRIS_INVENTORY_MS 60000
#define NETRIS_LOOK_GAP_MS 500
#define NETRIS_PORTS_MAX 64 /* of one server */

struct netris_looks;

/* A port of a switch that a server is linked to. */
struct netris_wire {
	/* id; 0: not said */
	int64_t port;
	/* name; NULL: not said */
	const char *switch_;
};
struct netris_machine {
	int64_t id;
	/* two servers have this name */
	bool twice;
	struct netris_wire wires[NETRIS_PORTS_MAX];
	size_t n;
	/* than fit */
	bool more;
};
struct netris_look {
	/* loop_now() */
	int64_t begun_at;
	const struct netris_cluster *clusters;
	size_t nclusters;
	const struct netris_vnet *vnets;
	size_t nvnets;
	const struct netris_device *switches;
	size_t nswitches;
	const struct netris_template *templates;
	size_t ntemplates;
	/* of the site, by name -> struct netris_machine */
	struct map *machines;
};
const struct netris_cluster *netris_look_cluster(const struct netris_look *l, const char *name);
const struct netris_vnet *netris_look_vnet(const struct netris_look *l, int64_t id);
const struct netris_template *netris_look_template(const struct netris_look *l, int64_t id);
/* Does this V-net say who is in it? */
bool netris_says_members(const struct netris_vnet *v);
const struct netris_device *netris_look_switch(const struct netris_look *l, const char *name);
bool netris_has_member(const struct netris_cluster *c, int64_t server);

/* Embedded in whoever asks. */
struct netris_wait {
	struct list link;
	/* servers, links and templates are read as well */
	bool fresh;
	/* l: NULL with e; valid during the call. */
	void (*done)(const struct netris_look *l, const struct err *e, void *arg);
	void *arg;
};

/* site: name of the site whose servers count. */
struct netris_looks *netris_looks_new(struct loop_group *g, struct netris *n, const char *site);
/* nobody may wait any more */
void netris_looks_free(struct netris_looks *ls);
void netris_look(struct netris_looks *ls, struct netris_wait *w);

#endif
