#include "controller/tenant/gang_names.h"

#include <string.h>

#include "api/annotations.h"
#include "base/data/json.h"
#include "base/str.h"
#include "kube/want.h"

#define NAME_MAX_BYTES 253
#define COSCHEDULING "scheduling.x-k8s.io/pod-group"
#define JOBSET "jobset.sigs.k8s.io/jobset-name"
#define LWS_NAME "leaderworkerset.sigs.k8s.io/name"
#define LWS_GROUP "leaderworkerset.sigs.k8s.io/group-index"

/* --- pods ------------------------------------------------------------------------------------- */

static const char *note(const json_t *o, const char *key)
{
	return json_str_at(o, "metadata", "annotations", key);
}

static const char *label(const json_t *o, const char *key)
{
	return json_str_at(o, "metadata", "labels", key);
}

static const char *controller_of(const json_t *o)
{
	json_t *r;
	size_t i;

	json_array_foreach (json_at(o, "metadata", "ownerReferences"), i, r)
		if (json_true_at(r, "controller"))
			return json_str_at(r, "uid");
	return NULL;
}

static struct gang_name *of_group(enum gang_kind kind, const char *plural, const char *ns,
				  const char *name, struct arena *a)
{
	struct gang_name *g = arena_new_obj(a, struct gang_name);

	g->kind = kind;
	g->name = arena_strndup(a, name, strnlen(name, NAME_MAX_BYTES + 1));
	g->key = arena_printf(a, "%s/%s/%s", ns, plural, g->name);
	return g;
}

/* Returns a gang whose size the pod itself specifies; NULL for a size of 1, which is no gang.
 * whose: names the source of `size`, for messages. */
static struct gang_name *of_size(const char *key, const char *size, const char *whose,
				 struct arena *a)
{
	struct gang_name *g = arena_new_obj(a, struct gang_name);

	g->kind = GANG_SIZE_IN_POD;
	g->key = key;
	if (!size || !str_to_i64(size, 1, GANG_SIZE_MAX, &g->size))
		g->wait = arena_printf(a, "%s is not a number from 1 to %d", whose, GANG_SIZE_MAX);
	return g->size == 1 ? NULL : g;
}

/* Returns the gang that drover's own annotations specify; NULL for a size of 1. */
static struct gang_name *of_notes(const json_t *o, const char *ns, struct arena *a)
{
	const char *name = note(o, GANG_NAME), *jobset = label(o, JOBSET),
		   *owner = controller_of(o),
		   *kind = name	    ? "gangs"
			   : jobset ? "jobsets"
				    : "controllers";
	struct gang_name *g;

	name = name ? name : jobset ? jobset : owner;
	g = of_size(arena_printf(a, "%s/%s/%.*s", ns, kind, NAME_MAX_BYTES, str_or(name, "")),
		    note(o, GANG_SIZE), "annotation " GANG_SIZE, a);
	if (g && str_empty(name))
		g->wait = "annotation " GANG_SIZE " is set, but neither annotation " GANG_NAME
			  " nor a controller of the pod names the gang";
	return g;
}

static struct gang_name *of_lws(const json_t *o, const char *ns, const char *name, struct arena *a)
{
	return of_size(arena_printf(a, "%s/leaderworkersets/%.*s/%.*s", ns, NAME_MAX_BYTES, name,
				    NAME_MAX_BYTES, str_or(label(o, LWS_GROUP), "")),
		       note(o, GANG_LWS_SIZE), "annotation " GANG_LWS_SIZE, a);
}

/* Returns the gang of a pod group in a Workload (scheduling.k8s.io/v1alpha1 of Kubernetes 1.35).
 * Each replica key has a gang of its own. Kubernetes 1.36 no longer reads this field. */
static struct gang_name *of_workload(const char *ns, const json_t *ref, struct arena *a)
{
	struct gang_name *g = of_group(GANG_WORKLOAD, "workloads.scheduling.k8s.io", ns,
				       json_str_at(ref, "name"), a);
	const char *part = str_or(json_str_at(ref, "podGroup"), "");

	g->part = arena_strndup(a, part, strnlen(part, NAME_MAX_BYTES + 1));
	g->key = arena_printf(a, "%s/%s/%.*s", g->key, g->part, NAME_MAX_BYTES,
			      str_or(json_str_at(ref, "podGroupReplicaKey"), ""));
	return g;
}

struct gang_name *gang_name_of(const json_t *o, struct arena *a)
{
	const char *ns = str_or(json_str_at(o, "metadata", "namespace"), ""), *name;

	if (note(o, GANG_SIZE) || note(o, GANG_NAME))
		return of_notes(o, ns, a);
	name = json_str_at(o, "spec", "schedulingGroup", "podGroupName");
	if (name)
		return of_group(GANG_KUBERNETES, "podgroups.scheduling.k8s.io", ns, name, a);
	if (json_str_at(o, "spec", "workloadRef", "name"))
		return of_workload(ns, json_at(o, "spec", "workloadRef"), a);
	name = label(o, COSCHEDULING);
	if (name)
		return of_group(GANG_COSCHEDULING, "podgroups.scheduling.x-k8s.io", ns, name, a);
	name = str_or(note(o, GANG_VOLCANO_GROUP), note(o, GANG_VOLCANO_GROUP_TOO));
	if (name)
		return of_group(GANG_VOLCANO, "podgroups.scheduling.volcano.sh", ns, name, a);
	name = note(o, GANG_KAI_GROUP);
	if (name)
		return of_group(GANG_KAI, "podgroups.scheduling.run.ai", ns, name, a);
	name = label(o, LWS_NAME);
	return name && note(o, GANG_LWS_SIZE) ? of_lws(o, ns, name, a) : NULL;
}

/* --- PodGroups -------------------------------------------------------------------------------- */

static const struct scan_want group_meta[] = {KUBE_WANT_META, SCAN_END};
static const struct scan_want group_gang[] = {SCAN_PLAIN("minCount"), SCAN_END};
static const struct scan_want group_nothing[] = {SCAN_END};
static const struct scan_want group_policy[] = {SCAN_SOME("gang", group_gang),
						SCAN_SOME("basic", group_nothing), SCAN_END};
static const struct scan_want group_part[] = {SCAN_PLAIN("name"), SCAN_SOME("policy", group_policy),
					      SCAN_END};
static const struct scan_want group_spec[] = {
	SCAN_PLAIN("minMember"), SCAN_SOME("schedulingPolicy", group_policy),
	SCAN_SOME_OF("podGroups", group_part, GANG_PARTS_BYTES + 1), SCAN_END};
const struct scan_want gang_want_group[] = {SCAN_SOME("metadata", group_meta),
					    SCAN_SOME("spec", group_spec), SCAN_END};

/* Returns the gang size that a policy specifies: minCount of the gang policy; 1 for the basic
 * policy, which schedules pods one by one; 0 if not specified or out of range. */
static int64_t size_by(const json_t *policy)
{
	const json_t *gang = json_object_get(policy, "gang");
	const int64_t size =
		gang ? json_int_at(gang, "minCount") : json_object_get(policy, "basic") != NULL;

	return size < 0 || size > GANG_SIZE_MAX ? 0 : size;
}

static void read_parts(struct gang_group *g, const json_t *list, struct arena *a)
{
	json_t *p;
	size_t i;

	if (scan_weight(list) > GANG_PARTS_BYTES)
		return;
	g->parts = arena_calloc(a, json_array_size(list) + 1, sizeof(*g->parts));
	json_array_foreach (list, i, p)
		g->parts[g->nparts++] =
			(struct gang_part){arena_strdup(a, str_or(json_str_at(p, "name"), "")),
					   size_by(json_object_get(p, "policy"))};
}

void *gang_project_group(const json_t *o, struct arena *a, void *arg, struct err *e)
{
	const json_t *spec = json_object_get(o, "spec"),
		     *policy = json_object_get(spec, "schedulingPolicy");
	struct gang_group *g = arena_new_obj(a, struct gang_group);

	(void)arg;
	(void)e;
	g->size = policy ? size_by(policy) : json_int_at(spec, "minMember");
	if (g->size < 0 || g->size > GANG_SIZE_MAX)
		g->size = 0;
	read_parts(g, json_object_get(spec, "podGroups"), a);
	return g;
}

const char *gang_size_in(const struct gang_group *o, const struct gang_name *n, const char *plural,
			 int64_t *size, struct arena *a)
{
	const char *whose =
		n->part ? arena_printf(a, "pod group %s of Workload %s", n->part, n->name)
			: arena_printf(a, "PodGroup %s of %s", n->name, plural);
	size_t i = 0;

	while (n->part && i < o->nparts && !str_eq(o->parts[i].name, n->part))
		i++;
	if (n->part && i == o->nparts)
		return arena_printf(a, "%s does not exist", whose);
	*size = n->part ? o->parts[i].size : o->size;
	return *size ? NULL
		     : arena_printf(a, "%s specifies no size from 1 to %d", whose, GANG_SIZE_MAX);
}
