#ifndef PROVIDERS_NETRIS_STATE_H
#define PROVIDERS_NETRIS_STATE_H

#include "netris/release.h"
#include "providers/netris_api_path.h"
#include "providers/netris_snapshot.h"
#include "providers/registry.h"

/*
 * netris_state: state that the parts of the fabric `netris` share: the client of the controller,
 * its release, the clusters of segments, and the pending calls.
 *
 *   netris_fabric.c       moves machines, observes them and removes segments
 *   netris_fabric_api_path.c   paths to tenants' API servers
 *
 * On the loop thread.
 * Tests: tests/contract/test_fabric.c, tests/contract/test_netris_api_path.c
 */
#define NETRIS_STATE_CALL_MS 60000 /* Time limit of each fabric call. */
#define NETRIS_STATE_TENANTS "tenant/"

struct fabric_state {
	struct loop_group *group;
	struct netris *n;
	struct netris_snapshots *snapshots;
	struct netris_api_paths *api_paths;
	char *site, *template_, *admin, *prefix;
	char **hosts, **common;
	/* Key: name of a server cluster; value: struct netris_cluster_editor */
	struct map *editors;
	/* Key: name of a machine; value: struct machine */
	struct map *machines;
	/* Key: name of a server cluster; value: struct maker */
	struct map *makers;
	struct list jobs, drops, path_calls;
	struct netris_request *release_asked;
	/* loop_now() of the last answer to the request for the controller's release, even if the
	 * answer named no release; -1: not answered yet */
	int64_t release_at;
	enum netris_release release;
	char release_text[NETRIS_RELEASE_TEXT];
};

/* Requests the release of the controller, unless it was requested within the last six hours. */
void netris_state_ask_release(struct fabric_state *f);
/* True if drover may change objects at the controller: the request for its release was answered,
 * and the release is not one that is known to lose changes. */
bool netris_state_may_change(const struct fabric_state *f);
/* Writes the release as human-readable text. False: the request for it was not answered yet. */
bool netris_state_release(const struct fabric_state *f, char *text, size_t size);

/* Returns the name of the server cluster of segment, malloc'd. */
char *netris_state_cluster(const struct fabric_state *f, const char *segment);

/* Returns a copy of the names as a NULL-terminated list, malloc'd; an empty list if names is
 * NULL. */
char **netris_state_copy_names(const char *const *names);
void netris_state_free_names(char **names);

/* netris_fabric_ensure_api_path() and netris_fabric_remove_api_path() implement ensure_api_path and
 * remove_api_path of struct fabric_ops. */
void netris_fabric_ensure_api_path(struct fabric *fabric, const struct fabric_api_path *w,
				   const struct fabric_api_path_call *c);
void netris_fabric_remove_api_path(struct fabric *fabric, const struct fabric_api_path *w,
				   const struct fabric_api_path_call *c);
/* Stops all pending ensure_api_path and remove_api_path calls without done(). */
void netris_fabric_api_paths_free(struct fabric_state *f);

#endif
