/* pod_workload: reads the workload annotation and the owner reference of the controller from a
 * pod. */
#include "controller/tenant/pod_workload.h"

#include <string.h>

#include "api/annotations.h"
#include "base/str.h"
#include "controller/tenant/tenant.h"

/* label of a Deployment's pods; its value is the last part of the ReplicaSet's name */
#define HASH "pod-template-hash"
#define KIND_MAX 63

const char *pod_workload_annotation(const json_t *pod, struct arena *a)
{
	const char *text = json_str_at(pod, "metadata", "annotations", BURST_WORKLOAD);

	return str_empty(text) ? NULL : arena_strndup(a, text, strnlen(text, POD_WORKLOAD_MAX));
}

const char *pod_workload_owner(const json_t *pod, struct arena *a)
{
	const char *hash = json_str_at(pod, "metadata", "labels", HASH),
		   *ns = str_or(json_str_at(pod, "metadata", "namespace"), "");
	json_t *r;
	size_t i;

	json_array_foreach (json_at(pod, "metadata", "ownerReferences"), i, r) {
		const char *kind = json_str_at(r, "kind"), *name = json_str_at(r, "name");
		size_t n = name ? strlen(name) : 0, h = hash ? strlen(hash) : 0;

		if (!json_true_at(r, "controller") || str_empty(kind) || strlen(kind) > KIND_MAX ||
		    !n || n > POD_WORKLOAD_MAX)
			continue;
		if (str_eq(kind, "ReplicaSet") && h && n > h + 1 && name[n - h - 1] == '-' &&
		    str_eq(name + n - h, hash))
			return arena_printf(a, "Deployment %s/%.*s", ns, (int)(n - h - 1), name);
		return arena_printf(a, "%s %s/%s", kind, ns, name);
	}
	return NULL;
}

const char *pod_workload_of(const struct tenant *t, const char *ns, const char *name,
			    const char *gang, struct arena *a)
{
	const struct tenant_pod *p = t->pods ? KUBE_CACHE_GET(t->pods, tenant_pod, ns, name) : NULL;
	const struct pod_unplaced *u = p ? p->unplaced : NULL;

	return arena_strdup(a, u && u->workload ? u->workload : gang ? gang : u ? u->owner : NULL);
}
