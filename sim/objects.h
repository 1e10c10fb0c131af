#ifndef SIM_OBJECTS_H
#define SIM_OBJECTS_H

#include "base/arena.h"
#include "base/data/json.h"
#include "base/data/labels.h"

/*
 * objects: what the scheduler and the controllers of `drover up` ask of objects of the Kubernetes
 * API.
 * Tests: tests/unit/sim/test_scheduler.c, tests/unit/sim/test_replicaset.c
 */
struct sim_kind {
	/* "/apis/apps/v1" */
	const char *base;
	const char *plural, *version, *kind;
};
extern const struct sim_kind sim_kind_pod, sim_kind_replica_set, sim_kind_deployment, sim_kind_job;

/* BASE/namespaces/NS/PLURAL/NAME/SUB; name and sub NULL: without; malloc'd. */
char *sim_object_path(const struct sim_kind *k, const char *ns, const char *name, const char *sub);
/* The path of that object. */
char *sim_object_path_of(const struct sim_kind *k, const json_t *obj, const char *sub);

const char *sim_object_name(const json_t *obj);
const char *sim_object_ns(const json_t *obj);
const char *sim_object_uid(const json_t *obj);
/* it has a deletionTimestamp */
bool sim_object_is_going(const json_t *obj);
/* Condition of that type; NULL: there is none.  And true if its status is True. */
json_t *sim_object_condition(const json_t *obj, const char *type);
bool sim_object_is(const json_t *obj, const char *condition);
/* Time in RFC 3339 as Unix ms; 0: there is none, or it cannot be read. */
int64_t sim_object_time(const json_t *text);

/* Succeeded or Failed */
bool sim_pod_is_over(const json_t *pod);

/* The members of a map of strings, sorted; valid as long as map and arena. */
struct labels sim_object_labels(json_t *map, struct arena *a);
/* One of matchExpressions; an expression that cannot be read matches nothing. */
bool sim_expression_matches(const json_t *x, const struct labels *l, struct arena *a);
/* A LabelSelector and metadata.labels; an empty or missing selector matches nothing. */
bool sim_selector_matches(const json_t *selector, const json_t *obj);

/* The ownerReference with controller: true; NULL: there is none. */
json_t *sim_object_controller(const json_t *obj);
/* a new one */
json_t *sim_object_owner_ref(const struct sim_kind *k, const json_t *owner);

#endif
