#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/crypto.h"
#include "base/mem.h"
#include "base/str.h"
#include "sim/cluster/workloads_impl.h"

/*
 * The Deployment controller: one ReplicaSet for each template, named by the template's hash.
 * rollout.c computes the next number of replicas of each ReplicaSet. This file writes these
 * numbers, maintains revisions (`kubectl rollout undo`), and reports progress in the status
 * (`kubectl rollout status`).
 */
#define HASH "pod-template-hash"
#define REVISION "deployment.kubernetes.io/revision"
#define OURS "deployment.kubernetes.io/"
#define APPLIED "kubectl.kubernetes.io/last-applied-configuration"
#define HASH_TEXT 11 /* Size of a hash text: ten characters and NUL. */

struct view {
	struct sim_workloads *s;
	json_t *d;
	/* ReplicaSet of the present template; NULL: none. */
	json_t *fresh;
	/* The Deployment's other ReplicaSets, oldest first. */
	json_t *old;
	/* True: this round creates `fresh`. */
	bool created;
	/* True: a ReplicaSet that does not match the template already has the name that `fresh`
	 * would get. */
	bool taken;
};

/* --- find or create the ReplicaSet ------------------------------------------------------------ */

/* Writes the hash of a template to out: at most ten letters and digits without vowels, like the
 * hashes of kube-controller-manager. collisions: status.collisionCount, which changes the hash. */
static void hash_of(const json_t *template, json_int_t collisions, char out[static HASH_TEXT])
{
	static const char letters[] = "bcdfghjklmnpqrstvwxz2456789";
	char *text = json_text_sorted(template), *all;
	uint8_t digest[CRYPTO_SHA256];
	uint32_t n;

	all = mem_printf("%s%lld", text, (long long)collisions);
	crypto_sha256(all, strlen(all), digest);
	n = (uint32_t)digest[0] << 24 | (uint32_t)digest[1] << 16 | (uint32_t)digest[2] << 8 |
	    digest[3];
	str_format(out, HASH_TEXT, "%u", n);
	for (char *c = out; *c; c++)
		*c = letters[(unsigned char)*c % (sizeof(letters) - 1)];
	free(all);
	free(text);
}

static bool has_template(const json_t *rs, const json_t *d)
{
	OWN_JSON bare = json_deep_copy(json_at(rs, "spec", "template"));

	json_object_del(json_at(bare, "metadata", "labels"), HASH);
	return json_equal(bare, json_at(d, "spec", "template"));
}

static void look(struct view *v)
{
	OWN_JSON sets = workloads_claim(v->s, &sim_kind_deployment, v->d, &sim_kind_replica_set,
					v->s->replica_sets, false);
	json_t *rs;
	size_t i;

	v->old = json_array();
	json_array_foreach (sets, i, rs) {
		if (!v->fresh && has_template(rs, v->d))
			v->fresh = json_incref(rs);
		else
			json_array_append(v->old, rs);
	}
}

static void mark(json_t *parent, const char *member, const char *hash)
{
	if (!json_object_get(parent, member))
		json_object_set_new(parent, member, json_object());
	json_object_set_new(json_object_get(parent, member), HASH, json_string(hash));
}

static json_t *annotations_of(const json_t *d)
{
	json_t *out = json_object(), *v;
	const char *key;

	json_object_foreach (json_at(d, "metadata", "annotations"), key, v)
		if (!str_starts(key, OURS) && !str_eq(key, APPLIED))
			json_object_set(out, key, v);
	return out;
}

static json_t *new_set(const json_t *d)
{
	json_t *template = json_deep_copy(json_at(d, "spec", "template"));
	json_t *selector = json_deep_copy(json_at(d, "spec", "selector"));
	char hash[HASH_TEXT], *name;
	json_t *rs;

	hash_of(template, json_int_at(d, "status", "collisionCount"), hash);
	mark(json_object_get(template, "metadata"), "labels", hash);
	mark(selector, "matchLabels", hash);
	name = mem_printf("%s-%s", sim_object_name(d), hash);
	rs = json_pack("{s:s, s:s, s:{s:s, s:s, s:O, s:o, s:[o]}, s:{s:i, s:O*, s:o, s:o}}",
		       "apiVersion", "apps/v1", "kind", "ReplicaSet", "metadata", "namespace",
		       sim_object_ns(d), "name", name, "labels",
		       json_at(template, "metadata", "labels"), "annotations", annotations_of(d),
		       "ownerReferences", sim_object_owner_ref(&sim_kind_deployment, d), "spec",
		       "replicas", 0, "minReadySeconds", json_at(d, "spec", "minReadySeconds"),
		       "selector", selector, "template", template);
	free(name);
	return rs;
}

static bool is_taken(const struct view *v, const json_t *rs)
{
	json_t *other;
	size_t i;

	json_array_foreach (v->s->replica_sets, i, other)
		if (str_eq(sim_object_ns(other), sim_object_ns(rs)) &&
		    str_eq(sim_object_name(other), sim_object_name(rs)))
			return true;
	return false;
}

static void find_fresh(struct view *v)
{
	look(v);
	if (v->fresh) {
		map_del(v->s->refused, sim_object_uid(v->d));
		return;
	}
	if (sim_object_is_going(v->d) || json_true_at(v->d, "spec", "paused"))
		return;
	v->fresh = new_set(v->d);
	v->taken = is_taken(v, v->fresh);
	v->created = !v->taken;
	if (v->taken) {
		json_decref(v->fresh);
		v->fresh = NULL;
	}
}

/* --- revisions -------------------------------------------------------------------------------- */

static int64_t revision_of(const json_t *obj)
{
	const char *text = json_str_at(obj, "metadata", "annotations", REVISION);
	int64_t n;

	return text && str_to_i64(text, 0, INT64_MAX - 1, &n) ? n : 0;
}

static int64_t fresh_revision(const struct view *v)
{
	int64_t newest = 0;
	json_t *rs;
	size_t i;

	json_array_foreach (v->old, i, rs)
		if (revision_of(rs) > newest)
			newest = revision_of(rs);
	return revision_of(v->fresh) > newest ? revision_of(v->fresh) : newest + 1;
}

/* Deletes the oldest ReplicaSets without replicas, as many as exceed spec.revisionHistoryLimit. */
static void forget_history(const struct view *v)
{
	json_int_t limit = json_int_at(v->d, "spec", "revisionHistoryLimit");
	OWN_JSON idle = json_array();
	json_t *rs;
	size_t i;

	json_array_foreach (v->old, i, rs)
		if (!json_int_at(rs, "spec", "replicas") &&
		    !json_int_at(rs, "status", "replicas") && !sim_object_is_going(rs))
			json_array_append(idle, rs);
	while ((json_int_t)json_array_size(idle) > limit) {
		size_t oldest = 0;

		json_array_foreach (idle, i, rs)
			if (revision_of(rs) < revision_of(json_array_get(idle, oldest)))
				oldest = i;
		workloads_delete(v->s, &sim_kind_replica_set, json_array_get(idle, oldest));
		json_array_remove(idle, oldest);
	}
}

/* --- writes ----------------------------------------------------------------------------------- */

static void save_set(const struct view *v, const json_t *rs, json_int_t before, int64_t revision)
{
	json_int_t min_ready = json_int_at(v->d, "spec", "minReadySeconds");
	json_t *body;
	char number[24];

	if (json_int_at(rs, "spec", "replicas") == before &&
	    json_int_at(rs, "spec", "minReadySeconds") == min_ready &&
	    (!revision || revision == revision_of(rs)))
		return;
	body = json_pack("{s:{s:O, s:I}}", "spec", "replicas", json_at(rs, "spec", "replicas"),
			 "minReadySeconds", min_ready);
	str_format(number, sizeof(number), "%lld", (long long)revision);
	if (revision)
		json_object_set_new(body, "metadata",
				    json_pack("{s:{s:s}}", "annotations", REVISION, number));
	workloads_patch(v->s, &sim_kind_replica_set, rs, NULL, body);
}

static void save_fresh(struct view *v, json_int_t before)
{
	int64_t revision = fresh_revision(v);
	char number[24];

	str_format(number, sizeof(number), "%lld", (long long)revision);
	if (v->created) {
		json_object_set_new(json_at(v->fresh, "metadata", "annotations"), REVISION,
				    json_string(number));
		workloads_create(v->s, &sim_kind_replica_set, v->d, &sim_kind_deployment,
				 json_incref(v->fresh));
	} else {
		save_set(v, v->fresh, before, revision);
	}
	if (revision != revision_of(v->d))
		workloads_patch(
			v->s, &sim_kind_deployment, v->d, NULL,
			json_pack("{s:{s:{s:s}}}", "metadata", "annotations", REVISION, number));
}

static void roll(struct view *v)
{
	OWN_JSON before = json_deep_copy(v->old);
	json_int_t fresh = json_int_at(v->fresh, "spec", "replicas");
	json_t *rs;
	size_t i;

	rollout_step(v->d, v->fresh, v->old, v->s->pods);
	json_array_foreach (v->old, i, rs)
		save_set(v, rs, json_int_at(json_array_get(before, i), "spec", "replicas"), 0);
	if (v->fresh)
		save_fresh(v, fresh);
}

/* --- status ----------------------------------------------------------------------------------- */

static json_int_t total(const struct view *v, const char *group, const char *member)
{
	json_int_t n = json_int_at(v->fresh, group, member);
	json_t *rs;
	size_t i;

	json_array_foreach (v->old, i, rs)
		n += json_int_at(rs, group, member);
	return n;
}

static json_t *condition(const struct view *v, const char *type, bool on, const char *reason,
			 const char *message)
{
	json_t *c = workloads_condition(v->s, json_at(v->d, "status", "conditions"), type,
					on ? "True" : "False", reason, message);
	char now[STR_TIME_SIZE];

	if (!json_object_get(c, "lastUpdateTime"))
		json_object_set_new(c, "lastUpdateTime",
				    json_string(str_time(now, workloads_now(v->s))));
	return c;
}

static json_t *available_condition(const struct view *v, json_int_t available)
{
	struct rollout r;

	rollout_read(v->d, &r);
	return available >= r.replicas - r.unavailable
		       ? condition(v, "Available", true, "MinimumReplicasAvailable",
				   "Deployment has minimum availability.")
		       : condition(v, "Available", false, "MinimumReplicasUnavailable",
				   "Deployment does not have minimum availability.");
}

/* True if the status `is`, compared with `was`, has more pods of the new template, fewer pods of
 * old templates, or more pods that are ready or available. */
static bool has_progressed(const json_t *was, const json_t *is)
{
	json_int_t old_was = json_int_at(was, "replicas") - json_int_at(was, "updatedReplicas");
	json_int_t old_is = json_int_at(is, "replicas") - json_int_at(is, "updatedReplicas");

	return json_int_at(is, "updatedReplicas") > json_int_at(was, "updatedReplicas") ||
	       old_is < old_was ||
	       json_int_at(is, "readyReplicas") > json_int_at(was, "readyReplicas") ||
	       json_int_at(is, "availableReplicas") > json_int_at(was, "availableReplicas");
}

static bool is_complete(const struct view *v, const json_t *status)
{
	const json_t *want = json_at(v->d, "spec", "replicas");

	return json_equal(json_at(status, "updatedReplicas"), want) &&
	       json_equal(json_at(status, "replicas"), want) &&
	       json_equal(json_at(status, "availableReplicas"), want);
}

static bool is_late(const struct view *v, const json_t *now)
{
	json_int_t limit_s = json_int_at(v->d, "spec", "progressDeadlineSeconds");

	return limit_s && sim_object_time(json_at(now, "lastUpdateTime")) + limit_s * 1000 <
				  workloads_now(v->s);
}

/* Returns the condition Progressing with a new lastUpdateTime, so that the progress deadline starts
 * again. */
static json_t *progress(const struct view *v, const char *reason, const char *message)
{
	OWN_JSON c = condition(v, "Progressing", true, reason, message);
	json_t *renewed = json_copy(c);
	char now[STR_TIME_SIZE];

	json_object_set_new(renewed, "lastUpdateTime",
			    json_string(str_time(now, workloads_now(v->s))));
	return renewed;
}

static json_t *paused_condition(const struct view *v, const json_t *now)
{
	json_t *c;

	if (str_eq(json_str_at(now, "reason"), "DeploymentPaused"))
		return json_deep_copy(now);
	c = progress(v, "DeploymentPaused", "Deployment is paused");
	json_object_set_new(c, "status", json_string("Unknown"));
	return c;
}

static json_t *progressing_condition(const struct view *v, const json_t *status)
{
	const json_t *now = sim_object_condition(v->d, "Progressing");
	const char *reason = json_str_at(now, "reason"), *name = sim_object_name(v->fresh);
	bool was_complete = str_eq(reason, "NewReplicaSetAvailable");
	char text[400];

	if (json_true_at(v->d, "spec", "paused"))
		return paused_condition(v, now);
	if (v->created) {
		str_format(text, sizeof(text), "Created new replica set \"%.260s\"", name);
		return progress(v, "NewReplicaSetCreated", text);
	}
	if (is_complete(v, status)) {
		str_format(text, sizeof(text), "ReplicaSet \"%.260s\" has successfully progressed.",
			   name);
		return condition(v, "Progressing", true, "NewReplicaSetAvailable", text);
	}
	/* Keeps the condition after a complete rollout: losing a pod or scaling does not start a
	 * new rollout. */
	if (was_complete &&
	    json_int_at(status, "replicas") == json_int_at(status, "updatedReplicas"))
		return json_deep_copy(now);
	if (!now || str_eq(reason, "DeploymentPaused"))
		return progress(v, now ? "DeploymentResumed" : "FoundNewReplicaSet",
				now ? "Deployment is resumed" : "Found the replica set");
	if (has_progressed(json_at(v->d, "status"), status)) {
		str_format(text, sizeof(text), "ReplicaSet \"%.260s\" is progressing.", name);
		return progress(v, "ReplicaSetUpdated", text);
	}
	if (was_complete || !is_late(v, now))
		return json_deep_copy(now);
	str_format(text, sizeof(text), "ReplicaSet \"%.260s\" has timed out progressing.", name);
	return condition(v, "Progressing", false, "ProgressDeadlineExceeded", text);
}

/* Returns why the server refused an object of the Deployment, or of its new ReplicaSet; NULL:
 * nothing was refused. */
static const char *refusal(const struct view *v)
{
	const char *own = map_get(v->s->refused, sim_object_uid(v->d));

	return own ? own : json_str_at(sim_object_condition(v->fresh, "ReplicaFailure"), "message");
}

static void write_status(const struct view *v)
{
	json_int_t available = total(v, "status", "availableReplicas");
	json_int_t lacking = total(v, "spec", "replicas") - available;
	json_int_t collisions = json_int_at(v->d, "status", "collisionCount") + v->taken;
	json_t *status = json_pack(
		"{s:O, s:I, s:I, s:I, s:I, s:I, s:o}", "observedGeneration",
		json_at(v->d, "metadata", "generation"), "replicas", total(v, "status", "replicas"),
		"updatedReplicas", json_int_at(v->fresh, "status", "replicas"), "readyReplicas",
		total(v, "status", "readyReplicas"), "availableReplicas", available,
		"unavailableReplicas", lacking > 0 ? lacking : 0, "conditions",
		json_pack("[o]", available_condition(v, available)));
	const char *why = refusal(v);

	if (collisions)
		json_object_set_new(status, "collisionCount", json_integer(collisions));
	json_array_append_new(json_object_get(status, "conditions"),
			      progressing_condition(v, status));
	if (why)
		json_array_append_new(json_object_get(status, "conditions"),
				      condition(v, "ReplicaFailure", true, "FailedCreate", why));
	if (is_complete(v, status) && !v->created)
		forget_history(v);
	workloads_status(v->s, &sim_kind_deployment, v->d, status);
}

void deployment_sync(struct sim_workloads *s, json_t *d)
{
	struct view v = {.s = s, .d = d};

	find_fresh(&v);
	if (!sim_object_is_going(d))
		roll(&v);
	write_status(&v);
	json_decref(v.fresh);
	json_decref(v.old);
}
