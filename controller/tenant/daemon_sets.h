#ifndef CONTROLLER_TENANT_DAEMON_SETS_H
#define CONTROLLER_TENANT_DAEMON_SETS_H

#include "api/virtualcluster.h"
#include "base/arena.h"
#include "planner/world.h"

/*
 * daemon_sets: passes the DaemonSets of a tenant's cluster to the planner, so that a new machine
 * has room for their pods (planner/supply/overhead.h).
 *
 * DaemonSets are watched from the start. Until they are read, or turn out to be unreadable, the
 * tenant is not usable (Syncing), because its first machine might be too small. If they cannot be
 * read, the planner uses only what it measures on Nodes. The condition DaemonSetsRead reports a
 * missing permission and an exceeded limit; it appears when that happens first and stays.
 *
 * A DaemonSet that is being deleted, and one whose template is too large or has requests that
 * cannot be read, is left out.
 *
 * Part of a struct tenant. All on the loop thread.
 * Tests: tests/unit/controller/tenant/test_daemon_sets.c, tests/world/test_daemon_sets.c
 */
#define DAEMON_SETS 500 /* maximum number that is read */
#define DAEMON_SETS_BYTES ((size_t)2 << 20)

struct tenant;
struct daemon_sets;
/* Creates the module. changed(): called when the result of daemon_sets_known() or the condition may
 * have changed. */
struct daemon_sets *daemon_sets_new(struct tenant *t, void (*changed)(struct tenant *t));
void daemon_sets_free(struct daemon_sets *d);
/* Starts to read DaemonSets; call once the tenant has a working client. */
void daemon_sets_start(struct daemon_sets *d);
/* Drops the cache, because the tenant's client is about to be freed. Must not be called from a
 * cache's callbacks. */
void daemon_sets_forget(struct daemon_sets *d);
/* True once the DaemonSets were read, or a request for them failed. */
bool daemon_sets_known(const struct daemon_sets *d);
/* True if `pod` is the name under which the planner has a DaemonSet. Then *name is the DaemonSet's
 * name, allocated in the arena. */
bool daemon_sets_is_name(const char *pod, const char **name, struct arena *a);
/* Returns the DaemonSet for the planner (world_pod.daemon_set). pod: its name there; NULL: no such
 * DaemonSet. */
const struct world_pod *daemon_sets_get(const struct daemon_sets *d, const char *ns,
					const char *pod);
/* Sets the condition DaemonSetsRead in cs; the array cs->v must have room for one more condition.
 * Returns true if cs has changed. */
bool daemon_sets_status(const struct daemon_sets *d, const struct virtual_cluster *vc,
			struct arena *a, struct conditions *cs);

#endif
