#ifndef PROVIDERS_NETRIS_STATE_H
#define PROVIDERS_NETRIS_STATE_H

#include "netris/release.h"
#include "providers/netris_look.h"
#include "providers/netris_way.h"
#include "providers/registry.h"

/*
 * netris_state: what the parts of the fabric `netris` share: the controller, its release, the names
 * of segments.
 *
 *   netris_fabric.c		places, observes and drops
 *   netris_fabric_way.c	the ways to tenants' API servers
 *
 * On the loop thread.
 * Tests: tests/contract/test_fabric.c, tests/contract/test_netris_way.c
 */
#define NETRIS_STATE_CALL_MS 60000 /* of each call of a fabric */
#define NETRIS_STATE_TENANTS "tenant/"

struct fabric_state {
	struct loop_group *group;
	struct netris *n;
	struct netris_looks *looks;
	struct netris_ways *way_lists;
	char *site, *template_, *admin, *prefix;
	char **hosts, **common;
	/* name of the cluster -> struct netris_lane */
	struct map *lanes;
	/* name -> struct machine */
	struct map *machines;
	/* name of the cluster -> struct maker */
	struct map *makers;
	struct list jobs, drops, ways;
	struct netris_request *release_asked;
	/* loop_now() when that was answered last, told or not; -1: never */
	int64_t release_at;
	enum netris_release release;
	char release_text[NETRIS_RELEASE_TEXT];
};

/* It is asked, if it was not in the last six hours. */
void netris_state_ask_release(struct fabric_state *f);
/* Not before it was asked what it is, nor where it is known to lose what it is told. */
bool netris_state_may_change(const struct fabric_state *f);
/* What is known of its release, for people.  False: it was not asked yet. */
bool netris_state_release(const struct fabric_state *f, char *text, size_t size);

/* Of that segment; malloc'd. */
char *netris_state_cluster(const struct fabric_state *f, const char *segment);

/* NULL-terminated, malloc'd; names NULL: none. */
char **netris_state_copy_names(const char *const *names);
void netris_state_free_names(char **names);

/* struct fabric_ops. */
void netris_fabric_way(struct fabric *fabric, const struct fabric_way *w,
		       const struct fabric_way_call *c);
void netris_fabric_unway(struct fabric *fabric, const struct fabric_way *w,
			 const struct fabric_way_call *c);
/* all that are under way, without done() */
void netris_fabric_ways_free(struct fabric_state *f);

#endif
