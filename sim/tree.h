#ifndef SIM_TREE_H
#define SIM_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include "base/data/json.h"
#include "base/err.h"
#include "base/own.h"

/*
 * tree: the resources of one Redfish service as they lie there, and where in them the things are
 * that live.
 *
 * Either a mockup folder, as DMTF's Redfish-Mockup-Creator writes and its Redfish-Mockup-Server
 * reads it: each resource is PATH/index.json (or index.xml), in a folder that has redfish/v1 in it
 * (tall form) or that is v1 itself (short form); or resources in memory (dialect.h). A folder is
 * read when a resource is asked for, so that one tree serves a rack of thousands; the few resources
 * that live are kept.
 *
 * What lives is found as a client finds it, by links from the service root (DSP0266, DSP0268). A
 * tree is read only, and belongs to the loop thread.
 * Tests: tests/unit/sim/test_tree.c, tests/contract/test_dialects.c
 */
#define SIM_TREE_ROOT "/redfish/v1"
#define SIM_TREE_SLOTS 24
#define SIM_TREE_TEXT_MAX (8u << 20) /* of one resource */

struct sim_slot {
	char *path;
	/* targets of its actions; NULL: it has none */
	char *insert, *eject;
	/* takes CDs or DVDs */
	bool cd;
};

/* Paths without a slash at the end; NULL: this service has none. */
struct sim_tree {
	/* stream: of server-sent events */
	char *session_service, *sessions, *tasks, *stream;
	/* the one that can be switched */
	char *system;
	/* its action's target, and ActionInfo */
	char *reset, *reset_info;
	/* its pending object */
	char *settings;
	/* managers[0]: the System's own */
	char *managers[4];
	/* collections of slots */
	char *media[8];
	struct sim_slot slots[SIM_TREE_SLOTS];
	size_t nslots;
	/* AMIVirtualMedia.EnableRMedia: what makes slots appear */
	char *enable;
	/* a Dell manager's own attributes */
	char *attributes;
	/* the System's */
	char *nics[32];
	char *storages[32], *simple_storages[32];
	/* Systems that cannot be switched: baseboards */
	char *others[8];

	/* of v1; NULL: in memory */
	char *folder;
	/* path, in lower case, to resource */
	json_t *kept;
};

/* Errors name the folder and what is missing in it. */
struct sim_tree *sim_tree_open(const char *folder, struct err *e);
/* resources: an object, path to resource; taken.  "@odata.id" is added where it is missing. */
struct sim_tree *sim_tree_of(json_t *resources, struct err *e);
void sim_tree_free(struct sim_tree *t);
DEFINE_OWN(sim_tree)

/* A new object; NULL: there is none. In folders, whatever the case of the path, where it is one
 * that lives. */
json_t *sim_tree_get(const struct sim_tree *t, const char *path);
/* As it lies there, malloc'd; *type: of its content.  NULL: there is none. */
char *sim_tree_text(const struct sim_tree *t, const char *path, size_t *len, const char **type);

#endif
