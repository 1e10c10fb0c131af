/*
 * rollout: the next number of replicas of each ReplicaSet of a Deployment, by the rules of
 * kube-controller-manager:
 *
 *   all ReplicaSets together  <= replicas + maxSurge
 *   available pods            >= replicas - maxUnavailable
 *
 * Tests: tests/unit/sim/cluster/test_deployment.c
 */
#include <string.h>

#include "base/str.h"
#include "sim/cluster/workloads_impl.h"

static json_int_t least(json_int_t a, json_int_t b)
{
	return a < b ? a : b;
}

static json_int_t most(json_int_t a, json_int_t b)
{
	return a > b ? a : b;
}

/* Returns the number of pods in v: a number, or a percentage of `all`. up: rounds up instead of
 * down. */
static json_int_t share(const json_t *v, json_int_t all, bool up)
{
	const char *text = json_string_value(v);
	int64_t percent;
	char digits[8];

	if (!text)
		return most(json_integer_value(v), 0);
	if (!str_ends(text, "%") ||
	    !str_format(digits, sizeof(digits), "%.*s", (int)strlen(text) - 1, text) ||
	    !str_to_i64(digits, 0, 100, &percent))
		return 0;
	return (all * percent + (up ? 99 : 0)) / 100;
}

static bool is_rolling(const json_t *deployment)
{
	return !str_eq(json_str_at(deployment, "spec", "strategy", "type"), "Recreate");
}

void rollout_read(const json_t *deployment, struct rollout *r)
{
	const json_t *how = json_at(deployment, "spec", "strategy", "rollingUpdate");

	*r = (struct rollout){.replicas = json_int_at(deployment, "spec", "replicas")};
	if (!is_rolling(deployment))
		return;
	r->surge = share(json_at(how, "maxSurge"), r->replicas, true);
	r->unavailable = share(json_at(how, "maxUnavailable"), r->replicas, false);
	if (!r->surge && !r->unavailable)
		r->unavailable = 1;
	r->unavailable = least(r->unavailable, r->replicas);
}

static json_int_t wanted(const json_t *rs)
{
	return json_int_at(rs, "spec", "replicas");
}

static json_int_t available(const json_t *rs)
{
	return json_int_at(rs, "status", "availableReplicas");
}

static void set(json_t *rs, json_int_t n)
{
	json_object_set_new(json_at(rs, "spec"), "replicas", json_integer(n));
}

static json_int_t sum(const json_t *sets, json_int_t (*of)(const json_t *rs))
{
	json_int_t n = 0;
	json_t *rs;
	size_t i;

	json_array_foreach (sets, i, rs)
		n += of(rs);
	return n;
}

/* --- scaling while paused --------------------------------------------------------------------- */

/* Scales a paused Deployment. The newest ReplicaSet that has replicas gets the whole change in the
 * number of replicas; if none has replicas, the newest ReplicaSet of all gets it. */
static void scale(const struct rollout *r, json_t *fresh, json_t *old)
{
	json_int_t all = wanted(fresh) + sum(old, wanted);
	json_t *newest = fresh ? fresh : json_array_get(old, json_array_size(old) - 1);

	for (size_t i = json_array_size(old); i-- > 0 && !wanted(newest);)
		if (wanted(json_array_get(old, i)))
			newest = json_array_get(old, i);
	if (newest)
		set(newest, most(wanted(newest) + r->replicas - all, 0));
}

/* --- RollingUpdate ---------------------------------------------------------------------------- */

/* Increases the replicas of the new ReplicaSet. Returns true if their number was changed; the old
 * ReplicaSets must then wait until the next round. */
static bool grow(const struct rollout *r, json_t *fresh, const json_t *old)
{
	json_int_t has = wanted(fresh), room;

	if (has >= r->replicas) {
		set(fresh, r->replicas);
		return has > r->replicas;
	}
	room = r->replicas + r->surge - has - sum(old, wanted);
	if (room <= 0)
		return false;
	set(fresh, has + least(room, r->replicas - has));
	return true;
}

/* Removes unavailable pods from the numbers of replicas of the old ReplicaSets, at most `bound`
 * pods in total. Returns the part of bound that was not used. */
static json_int_t drop_unavailable(json_t *old, json_int_t bound)
{
	json_t *rs;
	size_t i;

	json_array_foreach (old, i, rs) {
		json_int_t n = most(least(bound, wanted(rs) - available(rs)), 0);

		set(rs, wanted(rs) - n);
		bound -= n;
	}
	return bound;
}

static void drop_available(json_t *old, json_int_t bound)
{
	json_t *rs;
	size_t i;

	json_array_foreach (old, i, rs) {
		json_int_t n = least(bound, wanted(rs));

		set(rs, wanted(rs) - n);
		bound -= n;
	}
}

static void shrink(const struct rollout *r, const json_t *fresh, json_t *old)
{
	json_int_t keep = r->replicas - r->unavailable, bound, spare;

	/* Subtracts new replicas that are not available yet, because they do not replace old
	 * ones. */
	bound = sum(old, wanted) + wanted(fresh) - keep - most(wanted(fresh) - available(fresh), 0);
	if (bound <= 0)
		return;
	drop_unavailable(old, bound);
	spare = sum(old, available) + available(fresh) - keep;
	if (spare > 0)
		drop_available(old, spare);
}

/* --- Recreate --------------------------------------------------------------------------------- */

/* True if pods of the old ReplicaSets exist that have not ended. Pods that are being deleted count,
 * because their containers may still run. */
static bool any_runs(const json_t *old, const json_t *pods)
{
	json_t *rs, *pod;
	size_t i, k;

	json_array_foreach (old, i, rs)
		json_array_foreach (pods, k, pod)
			if (str_eq(json_str_at(sim_object_controller(pod), "uid"),
				   sim_object_uid(rs)) &&
			    !sim_pod_is_over(pod))
				return true;
	return false;
}

void rollout_step(const json_t *deployment, json_t *fresh, json_t *old, const json_t *pods)
{
	struct rollout r;

	rollout_read(deployment, &r);
	if (json_true_at(deployment, "spec", "paused")) {
		scale(&r, fresh, old);
	} else if (is_rolling(deployment)) {
		if (fresh && !grow(&r, fresh, old))
			shrink(&r, fresh, old);
	} else if (sum(old, wanted)) {
		drop_available(old, sum(old, wanted));
	} else if (fresh && !any_runs(old, pods)) {
		set(fresh, r.replicas);
	}
}
