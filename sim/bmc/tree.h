#ifndef SIM_BMC_TREE_H
#define SIM_BMC_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include "base/data/json.h"
#include "base/err.h"
#include "base/own.h"

/*
 * tree: the static resources of one Redfish service, and the paths of those resources that the
 * simulator changes (System, media, sessions and so on).
 *
 * The resources are in a mockup directory or in memory (dialect.h). A mockup is what DMTF's
 * Redfish-Mockup-Creator writes and its Redfish-Mockup-Server reads. In a mockup each resource is
 * PATH/index.json (or index.xml), in a directory that contains redfish/v1 (tall form) or is v1
 * itself (short form). A resource is read from the directory when it is requested, so that one tree
 * serves a rack of thousands; only the few simulated resources are cached.
 *
 * Simulated resources are found as a client finds them, by links from the service root (DSP0266,
 * DSP0268). A tree is read-only, and belongs to the loop thread.
 * Tests: tests/unit/sim/bmc/test_tree.c, tests/contract/test_dialects.c
 */
#define SIM_TREE_ROOT "/redfish/v1"
#define SIM_TREE_SLOTS 24
#define SIM_TREE_TEXT_MAX (8u << 20) /* Largest resource, in bytes. */

struct sim_slot {
	char *path;
	/* URLs of the actions InsertMedia and EjectMedia; NULL: the slot does not have the
	 * action. */
	char *insert, *eject;
	/* True: the slot accepts CDs or DVDs. */
	bool cd;
};

/* A tree. The paths in it have no final slash; a path NULL means that the service has no such
 * resource. */
struct sim_tree {
	/* Paths of services and collections. stream: URL of the stream of server-sent events. */
	char *session_service, *sessions, *tasks, *stream;
	/* Path of the System that can be switched on and off. */
	char *system;
	/* URLs of the System's Reset action and of its ActionInfo. */
	char *reset, *reset_info;
	/* Path of the System's settings object. */
	char *settings;
	/* Paths of the Managers; managers[0] is the Manager of the System. */
	char *managers[4];
	/* Paths of the collections of media slots. */
	char *media[8];
	struct sim_slot slots[SIM_TREE_SLOTS];
	size_t nslots;
	/* URL of the action AMIVirtualMedia.EnableRMedia, after which slots appear. */
	char *enable;
	/* Path of the attributes of a Dell manager. */
	char *attributes;
	/* Paths of the System's NICs. */
	char *nics[32];
	char *storages[32], *simple_storages[32];
	/* Paths of Systems that cannot be switched: GPU baseboards. */
	char *others[8];

	/* Directory v1 of the mockup; NULL: the tree is in memory. */
	char *folder;
	/* Cached resources: a JSON object whose member names are paths in lower case. */
	json_t *kept;
};

/* Opens a mockup directory. Errors name the directory and what is missing in it. */
struct sim_tree *sim_tree_open(const char *folder, struct err *e);
/* Creates a tree in memory. resources: an object that maps each path to its resource; takes
 * ownership. Adds "@odata.id" to resources that lack that member. */
struct sim_tree *sim_tree_of(json_t *resources, struct err *e);
void sim_tree_free(struct sim_tree *t);
DEFINE_OWN(sim_tree)

/* Returns a copy of a resource, which the caller owns; NULL: not found. Upper and lower case of the
 * path are not distinguished for cached resources, also in a mockup. */
json_t *sim_tree_get(const struct sim_tree *t, const char *path);
/* Returns the unparsed text of a resource, malloc'd; *type: its content type. NULL: not found. */
char *sim_tree_text(const struct sim_tree *t, const char *path, size_t *len, const char **type);

#endif
