#ifndef SIM_TREE_H
#define SIM_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include "base/data/json.h"
#include "base/err.h"
#include "base/own.h"

/*
 * tree: the static resources of one Redfish service, and the paths of those that the simulator
 * changes (System, media, sessions and so on).
 *
 * The resources are in a mockup directory, as DMTF's Redfish-Mockup-Creator writes and its
 * Redfish-Mockup-Server reads it, or in memory (dialect.h). In a mockup each resource is
 * PATH/index.json (or index.xml), in a directory that contains redfish/v1 (tall form) or is v1
 * itself (short form). A resource is read from the directory when it is requested, so that one tree
 * serves a rack of thousands; only the few simulated resources are cached.
 *
 * Simulated resources are found as a client finds them, by links from the service root (DSP0266,
 * DSP0268). A tree is read-only, and belongs to the loop thread.
 * Tests: tests/unit/sim/test_tree.c, tests/contract/test_dialects.c
 */
#define SIM_TREE_ROOT "/redfish/v1"
#define SIM_TREE_SLOTS 24
#define SIM_TREE_TEXT_MAX (8u << 20) /* Largest resource, in bytes. */

struct sim_slot {
	char *path;
	/* Targets of the actions; NULL: the slot has none. */
	char *insert, *eject;
	/* Accepts CDs or DVDs. */
	bool cd;
};

/* Paths without a final slash; NULL: the service has no such resource. */
struct sim_tree {
	/* stream: of server-sent events. */
	char *session_service, *sessions, *tasks, *stream;
	/* The System that can be switched. */
	char *system;
	/* Target and ActionInfo of its Reset. */
	char *reset, *reset_info;
	/* Settings object of the System. */
	char *settings;
	/* managers[0]: the Manager of the System. */
	char *managers[4];
	/* Collections of slots. */
	char *media[8];
	struct sim_slot slots[SIM_TREE_SLOTS];
	size_t nslots;
	/* Target of AMIVirtualMedia.EnableRMedia, after which slots appear. */
	char *enable;
	/* Attributes of a Dell manager. */
	char *attributes;
	/* NICs of the System. */
	char *nics[32];
	char *storages[32], *simple_storages[32];
	/* Systems that cannot be switched: baseboards. */
	char *others[8];

	/* Directory of v1; NULL: in memory. */
	char *folder;
	/* Cached resources, by path in lower case. */
	json_t *kept;
};

/* Opens a mockup directory. Errors name the directory and what is missing in it. */
struct sim_tree *sim_tree_open(const char *folder, struct err *e);
/* Creates a tree in memory. resources: an object, path to resource; takes ownership. Adds missing
 * "@odata.id". */
struct sim_tree *sim_tree_of(json_t *resources, struct err *e);
void sim_tree_free(struct sim_tree *t);
DEFINE_OWN(sim_tree)

/* Returns a resource as a new object; NULL: not found. For cached resources the path's case is
 * ignored, also in a mockup. */
json_t *sim_tree_get(const struct sim_tree *t, const char *path);
/* Returns the unparsed text of a resource, malloc'd; *type: its content type. NULL: not found. */
char *sim_tree_text(const struct sim_tree *t, const char *path, size_t *len, const char **type);

#endif
