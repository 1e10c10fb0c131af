#ifndef SIM_CLUSTER_OBJECTS_H
#define SIM_CLUSTER_OBJECTS_H

#include "base/arena.h"
#include "base/data/json.h"
#include "base/data/labels.h"

/*
 * objects: helpers to read objects of the Kubernetes API, for the scheduler and the controllers of
 * `drover up`.
 * Tests: tests/unit/sim/cluster/test_scheduler.c, tests/unit/sim/cluster/test_replicaset.c
 */
struct sim_kind {
	/* Path of the API group, for example "/apis/apps/v1". */
	const char *base;
	const char *plural, *version, *kind;
};
extern const struct sim_kind sim_kind_pod, sim_kind_replica_set, sim_kind_deployment, sim_kind_job;

/* Returns the path BASE/namespaces/NS/PLURAL/NAME/SUB, malloc'd; name or sub NULL: that part is
 * left out. */
char *sim_object_path(const struct sim_kind *k, const char *ns, const char *name, const char *sub);
/* Returns the path of the object obj, malloc'd; sub NULL: no subresource. */
char *sim_object_path_of(const struct sim_kind *k, const json_t *obj, const char *sub);

const char *sim_object_name(const json_t *obj);
const char *sim_object_ns(const json_t *obj);
const char *sim_object_uid(const json_t *obj);
/* True if the object has a deletionTimestamp. */
bool sim_object_is_going(const json_t *obj);
/* sim_object_condition() returns the object's condition of this type; NULL: none. sim_object_is()
 * returns true if the status of that condition is True. */
json_t *sim_object_condition(const json_t *obj, const char *type);
bool sim_object_is(const json_t *obj, const char *condition);
/* Returns a time in RFC 3339 as Unix ms; 0: it is absent or not valid. */
int64_t sim_object_time(const json_t *text);

/* True if the phase is Succeeded or Failed. */
bool sim_pod_is_over(const json_t *pod);

/* Returns the members of a map of strings, sorted; valid as long as the map and the arena. */
struct labels sim_object_labels(json_t *map, struct arena *a);
/* True if the labels match one element of matchExpressions; an expression that is not valid matches
 * nothing. */
bool sim_expression_matches(const json_t *x, const struct labels *l, struct arena *a);
/* True if a LabelSelector matches metadata.labels of obj; an empty or missing selector matches
 * nothing. */
bool sim_selector_matches(const json_t *selector, const json_t *obj);

/* Returns the object's ownerReference with controller: true; NULL: none. */
json_t *sim_object_controller(const json_t *obj);
/* Returns a new ownerReference to owner with controller: true, which the caller owns. */
json_t *sim_object_owner_ref(const struct sim_kind *k, const json_t *owner);

#endif
