#include "controller/tenant/pod_keep.h"

#include <stdlib.h>

#include "api/annotations.h"
#include "base/str.h"

/* limit of volumes of one pod; a pod with more counts as one with local data */
#define ITEMS_MAX 256
#define REQUIRED "requiredDuringSchedulingIgnoredDuringExecution"

static const json_t *note(const json_t *pod, const char *key)
{
	return json_at(pod, "metadata", "annotations", key);
}

/* True if the annotation asks not to disrupt the pod: any value but "false". *until: wall ms at
 * which the request ends, if the value is a duration from the pod's creation; 0: no end. */
static bool is_asked(const json_t *pod, const char *key, int64_t *until)
{
	const char *says = json_string_value(note(pod, key));
	int64_t created, ms;

	if (!says || str_eq(says, "false"))
		return false;
	*until = 0;
	if (str_to_duration(says, &ms) &&
	    str_to_time(str_or(json_str_at(pod, "metadata", "creationTimestamp"), ""), &created) &&
	    !__builtin_add_overflow(created, ms, until) && *until < 1)
		*until = 1;
	return true;
}

static bool has_controller(const json_t *pod)
{
	json_t *r;
	size_t i;

	json_array_foreach (json_at(pod, "metadata", "ownerReferences"), i, r)
		if (json_true_at(r, "controller"))
			return true;
	return false;
}

static bool keeps_files(const json_t *pod)
{
	json_t *v;
	size_t i;

	if (str_eq(json_string_value(note(pod, KEEP_SAFE_TO_EVICT)), "true"))
		return false;
	json_array_foreach (json_at(pod, "spec", "volumes"), i, v) {
		const json_t *dir = json_object_get(v, "emptyDir");

		if (i >= ITEMS_MAX || json_object_get(v, "hostPath") ||
		    (dir && !str_eq(json_str_at(dir, "medium"), "Memory")))
			return true;
	}
	return false;
}

static bool hangs_on_others(const json_t *pod)
{
	json_t *c;
	size_t i;

	json_array_foreach (json_at(pod, "spec", "topologySpreadConstraints"), i, c)
		if (!str_eq(json_str_at(c, "whenUnsatisfiable"), "ScheduleAnyway"))
			return true;
	return json_array_size(json_at(pod, "spec", "affinity", "podAffinity", REQUIRED)) > 0;
}

static enum world_keep why(const json_t *pod, const struct tenant_pod *p, int64_t *until)
{
	*until = 0;
	if (p->world.unsupported || p->large || json_at(pod, "spec", "resourceClaims"))
		return WORLD_KEEP_UNKNOWN;
	if (!has_controller(pod))
		return WORLD_KEEP_ALONE;
	if (keeps_files(pod))
		return WORLD_KEEP_LOCAL;
	if (p->nclaims)
		return WORLD_KEEP_VOLUMES;
	if (hangs_on_others(pod))
		return WORLD_KEEP_OTHERS;
	if (is_asked(pod, KEEP_DO_NOT_DISRUPT, until) ||
	    is_asked(pod, KEEP_KARPENTER_DO_NOT_DISRUPT, until))
		return WORLD_KEEP_ASKED;
	return str_eq(json_string_value(note(pod, KEEP_SAFE_TO_EVICT)), "false") ? WORLD_KEEP_ASKED
										 : WORLD_KEEP_NOT;
}

/* Returns the wall ms until which annotations ask not to disrupt the pod; INT64_MAX: always; 0: no
 * annotation asks. */
static int64_t asked_until(const json_t *pod)
{
	static const char *const keys[] = {KEEP_DO_NOT_DISRUPT, KEEP_KARPENTER_DO_NOT_DISRUPT};
	int64_t until, latest = 0;

	if (str_eq(json_string_value(note(pod, KEEP_SAFE_TO_EVICT)), "false"))
		return INT64_MAX;
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (!is_asked(pod, keys[i], &until))
			continue;
		until = until ? until : INT64_MAX;
		latest = until > latest ? until : latest;
	}
	return latest;
}

void pod_keep_read(const json_t *pod, struct tenant_pod *p)
{
	const char *cost = json_string_value(note(pod, KEEP_DELETION_COST));
	const long long n = cost ? strtoll(cost, NULL, 10) : 0;

	p->alone = !has_controller(pod);
	p->asks_until = asked_until(pod);
	p->world.keep = why(pod, p, &p->world.keep_until);
	p->world.deletion_cost = n > INT32_MAX ? INT32_MAX : n < INT32_MIN ? INT32_MIN : n;
}
