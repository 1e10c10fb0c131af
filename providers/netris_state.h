#ifndef PROVIDERS_NETRIS_STATE_H
#define PROVIDERS_NETRIS_STATE_H

#include "netris/release.h"
#include "providers/netris_look.h"
#include "providers/netris_way.h"
#include "providers/registry.h"

/*
 * netris_state: state that the parts of the fabric `netris` share: the controller, its release, the
 * names of segments.
 *
 *   netris_fabric.c		moves, observes and removes
 *   netris_fabric_way.c	paths to tenants' API servers
 *
 * On the loop thread.
 * Tests: tests/contract/test_fabric.c, tests/contract/test_netris_way.c
 */
#define NETRIS_STATE_CALL_MS 60000 /* Time limit of each fabric call. */
#define NETRIS_STATE_TENANTS "tenant/"

struct fabric_state {
	struct loop_group *group;
	struct netris *n;
	struct netris_looks *looks;
	struct netris_ways *way_lists;
	char *site, *template_, *admin, *prefix;
	char **hosts, **common;
	/* Cluster name -> struct netris_lane. */
	struct map *lanes;
	/* Machine name -> struct machine. */
	struct map *machines;
	/* Cluster name -> struct maker. */
	struct map *makers;
	struct list jobs, drops, ways;
	struct netris_request *release_asked;
	/* loop_now() of the last answer to the request for the release, even if the answer
	 * contained none; -1 means not asked yet. */
	int64_t release_at;
	enum netris_release release;
	char release_text[NETRIS_RELEASE_TEXT];
};

/* Requests the release of the controller, unless it was requested within the last six hours. */
void netris_state_ask_release(struct fabric_state *f);
/* Returns true if drover may change objects at the controller: its release was requested, and is
 * not one that is known to lose changes. */
bool netris_state_may_change(const struct fabric_state *f);
/* Writes the known release, human-readable. False: not requested yet. */
bool netris_state_release(const struct fabric_state *f, char *text, size_t size);

/* Returns the name of the server cluster of segment, malloc'd. */
char *netris_state_cluster(const struct fabric_state *f, const char *segment);

/* Returns a NULL-terminated copy, malloc'd; names NULL: an empty list. */
char **netris_state_copy_names(const char *const *names);
void netris_state_free_names(char **names);

/* Implementations for struct fabric_ops. */
void netris_fabric_way(struct fabric *fabric, const struct fabric_way *w,
		       const struct fabric_way_call *c);
void netris_fabric_unway(struct fabric *fabric, const struct fabric_way *w,
			 const struct fabric_way_call *c);
/* Stops all pending way calls without done(). */
void netris_fabric_ways_free(struct fabric_state *f);

#endif
