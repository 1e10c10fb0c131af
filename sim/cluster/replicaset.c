#include <stdlib.h>

#include "base/mem.h"
#include "base/str.h"
#include "sim/cluster/workloads_impl.h"

/*
 * The ReplicaSet controller: ensures that spec.replicas pods exist, not counting those that have
 * ended or are being deleted.
 */

/* True if the pod has been Ready for minReadySeconds. */
static bool is_available(const struct sim_workloads *s, const json_t *rs, const json_t *pod)
{
	const json_t *c = sim_object_condition(pod, "Ready");
	json_int_t min_ms = json_int_at(rs, "spec", "minReadySeconds") * 1000;

	return sim_object_is(pod, "Ready") &&
	       (!min_ms ||
		sim_object_time(json_at(c, "lastTransitionTime")) + min_ms <= workloads_now(s));
}

static bool is_fully_labeled(const json_t *rs, const json_t *pod)
{
	const char *key;
	json_t *v;

	json_object_foreach (json_at(rs, "spec", "template", "metadata", "labels"), key, v)
		if (!str_eq(json_str_at(pod, "metadata", "labels", key), json_string_value(v)))
			return false;
	return true;
}

static void write_status(struct sim_workloads *s, const json_t *rs, const json_t *pods)
{
	const char *why = map_get(s->refused, sim_object_uid(rs));
	json_int_t ready = 0, available = 0, labeled = 0;
	json_t *status, *pod;
	size_t i;

	json_array_foreach (pods, i, pod) {
		ready += sim_object_is(pod, "Ready");
		available += is_available(s, rs, pod);
		labeled += is_fully_labeled(rs, pod);
	}
	status = json_pack("{s:I, s:I, s:I, s:I, s:O}", "replicas",
			   (json_int_t)json_array_size(pods), "fullyLabeledReplicas", labeled,
			   "readyReplicas", ready, "availableReplicas", available,
			   "observedGeneration", json_at(rs, "metadata", "generation"));
	if (why)
		json_object_set_new(
			status, "conditions",
			json_pack("[o]", workloads_condition(s, json_at(rs, "status", "conditions"),
							     "ReplicaFailure", "True",
							     "FailedCreate", why)));
	workloads_status(s, &sim_kind_replica_set, rs, status);
}

void replica_set_sync(struct sim_workloads *s, json_t *rs)
{
	OWN_JSON pods = workloads_claim(s, &sim_kind_replica_set, rs, &sim_kind_pod, s->pods, true);
	json_int_t wanted = json_int_at(rs, "spec", "replicas");
	json_int_t missing = wanted - (json_int_t)json_array_size(pods);

	if (missing <= 0)
		map_del(s->refused, sim_object_uid(rs));
	write_status(s, rs, pods);
	if (sim_object_is_going(rs))
		return;
	if (missing < 0)
		workloads_shrink(s, pods, (size_t)-missing);
	for (size_t n = missing > 0 ? workloads_burst(s, rs, (size_t)missing) : 0; n > 0; n--)
		workloads_create(s, &sim_kind_pod, rs, &sim_kind_replica_set,
				 workloads_pod(&sim_kind_replica_set, rs, sim_object_name(rs)));
}
