#include "sim/cluster/workloads_impl.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"

/*
 * owned: objects that have an owner: how a controller writes, adopts and counts them.
 * Tests: tests/unit/sim/cluster/test_replicaset.c, tests/unit/sim/cluster/test_deployment.c,
 * tests/unit/sim/cluster/test_job.c
 */

/* Largest number of pods that one owner gets in one round, as in kube-controller-manager. */
#define BURST 500

int64_t workloads_now(const struct sim_workloads *s)
{
	return sim_rounds_wall(s->rounds);
}

/* --- writes ----------------------------------------------------------------------------------- */

void workloads_patch(struct sim_workloads *s, const struct sim_kind *k, const json_t *obj,
		     const char *sub, json_t *body)
{
	char *path = sim_object_path_of(k, obj, sub);

	sim_rounds_write(
		s->rounds,
		&(struct sim_write){.method = "PATCH", .path = path, .body = body, .merge = true});
	free(path);
	json_decref(body);
}

void workloads_delete(struct sim_workloads *s, const struct sim_kind *k, const json_t *obj)
{
	char *path = sim_object_path_of(k, obj, NULL);
	OWN_JSON body = json_pack("{s:s, s:s, s:s, s:{s:s}}", "apiVersion", "v1", "kind",
				  "DeleteOptions", "propagationPolicy", "Background",
				  "preconditions", "uid", sim_object_uid(obj));

	sim_rounds_write(s->rounds,
			 &(struct sim_write){.method = "DELETE", .path = path, .body = body});
	free(path);
}

static void send_event(struct sim_workloads *s, const json_t *about, const char *text)
{
	const char *ns = json_str_at(about, "namespace"), *name = json_str_at(about, "name");
	char *path = mem_printf("/api/v1/namespaces/%s/events", ns), now[STR_TIME_SIZE];
	char *base = mem_printf("%s.", name), *message = mem_printf("Error creating: %s", text);
	OWN_JSON body =
		json_pack("{s:s, s:s, s:{s:s}, s:O, s:s, s:s, s:s, s:{s:s}, s:s, s:s, s:i}",
			  "apiVersion", "v1", "kind", "Event", "metadata", "generateName", base,
			  "involvedObject", about, "type", "Warning", "reason", "FailedCreate",
			  "message", message, "source", "component", "drover-up", "firstTimestamp",
			  str_time(now, workloads_now(s)), "lastTimestamp", now, "count", 1);

	sim_rounds_write(s->rounds,
			 &(struct sim_write){.method = "POST", .path = path, .body = body});
	free(path);
	free(base);
	free(message);
}

static void on_created(void *arg, int status, const json_t *reply, const char *note)
{
	struct sim_workloads *s = arg;
	const char *why = str_or(json_str_at(reply, "message"), "refused by the server"), *uid;
	struct err e;
	OWN_JSON owner = json_parse(note, strlen(note), &e);

	uid = str_or(json_str_at(owner, "uid"), "");
	if (status == 201) {
		map_del(s->refused, uid);
	} else if (status && !str_eq(map_get(s->refused, uid), why)) {
		map_put(s->refused, uid, mem_strdup(why));
		send_event(s, owner, why);
	}
}

void workloads_create(struct sim_workloads *s, const struct sim_kind *k, const json_t *owner,
		      const struct sim_kind *owner_kind, json_t *body)
{
	char *path = sim_object_path(k, sim_object_ns(owner), NULL, NULL);
	OWN_JSON about = json_pack("{s:s, s:s, s:s, s:s, s:s}", "apiVersion", owner_kind->version,
				   "kind", owner_kind->kind, "namespace", sim_object_ns(owner),
				   "name", sim_object_name(owner), "uid", sim_object_uid(owner));
	char *note = json_text(about);

	sim_rounds_write(s->rounds, &(struct sim_write){.method = "POST",
							.path = path,
							.body = body,
							.done = on_created,
							.note = note});
	free(note);
	free(path);
	json_decref(body);
}

static bool is_empty(const json_t *v)
{
	return (json_is_integer(v) && !json_integer_value(v)) ||
	       (json_is_array(v) && !json_array_size(v)) ||
	       (json_is_object(v) && !json_object_size(v));
}

/* Removes empty values that the patch would add to `now`, the present status. The API server drops
 * 0, [] and {}, so `now` never contains them and the patch would be sent again each round. */
static void drop_empty(json_t *patch, const json_t *now)
{
	const char *key;
	json_t *v;
	void *next;

	json_object_foreach_safe(patch, next, key, v)
	{
		if (json_is_object(v))
			drop_empty(v, json_object_get(now, key));
		if (is_empty(v) && !json_object_get(now, key))
			json_object_del(patch, key);
	}
}

void workloads_status(struct sim_workloads *s, const struct sim_kind *k, const json_t *obj,
		      json_t *status)
{
	const json_t *now = json_at(obj, "status");
	OWN_JSON none = json_object();
	json_t *diff = json_merge_diff(now ? now : none, status);

	drop_empty(diff, now);
	if (json_object_size(diff))
		workloads_patch(s, k, obj, "status", json_pack("{s:O}", "status", diff));
	json_decref(diff);
	json_decref(status);
}

json_t *workloads_condition(const struct sim_workloads *s, const json_t *old, const char *type,
			    const char *status, const char *reason, const char *message)
{
	char now[STR_TIME_SIZE];
	const char *since = str_time(now, workloads_now(s));
	json_t *c;
	size_t i;

	json_array_foreach (old, i, c) {
		if (!str_eq(json_str_at(c, "type"), type) ||
		    !str_eq(json_str_at(c, "status"), status))
			continue;
		if (str_eq(json_str_at(c, "reason"), reason) &&
		    str_eq(json_str_at(c, "message"), message))
			return json_incref(c);
		since = str_or(json_str_at(c, "lastTransitionTime"), since);
	}
	return json_pack("{s:s, s:s, s:s, s:s, s:s}", "type", type, "status", status, "reason",
			 reason, "message", message, "lastTransitionTime", since);
}

/* --- children --------------------------------------------------------------------------------- */

/* Replaces the ownerReferences of a child. The server refuses the write if the child has changed
 * since the list was read. */
static void set_refs(struct sim_workloads *s, const struct sim_kind *k, const json_t *child,
		     json_t *refs)
{
	workloads_patch(s, k, child, NULL,
			json_pack("{s:{s:s, s:s, s:o}}", "metadata", "uid", sim_object_uid(child),
				  "resourceVersion",
				  json_str_at(child, "metadata", "resourceVersion"),
				  "ownerReferences", refs));
}

static void adopt(struct sim_workloads *s, const struct sim_kind *owner_kind, const json_t *owner,
		  const struct sim_kind *k, const json_t *child)
{
	json_t *refs = json_deep_copy(json_at(child, "metadata", "ownerReferences"));

	if (!refs)
		refs = json_array();
	json_array_append_new(refs, sim_object_owner_ref(owner_kind, owner));
	set_refs(s, k, child, refs);
}

static void release(struct sim_workloads *s, const json_t *owner, const struct sim_kind *k,
		    const json_t *child)
{
	json_t *refs = json_array(), *ref;
	size_t i;

	json_array_foreach (json_at(child, "metadata", "ownerReferences"), i, ref)
		if (!str_eq(json_str_at(ref, "uid"), sim_object_uid(owner)))
			json_array_append(refs, ref);
	set_refs(s, k, child, refs);
}

/* True if the child belongs to owner already, or is adopted now. Releases a child of owner that the
 * selector no longer matches. */
static bool claim(struct sim_workloads *s, const struct sim_kind *owner_kind, const json_t *owner,
		  const struct sim_kind *k, const json_t *child)
{
	const json_t *ref = sim_object_controller(child);
	bool matches = sim_selector_matches(json_at(owner, "spec", "selector"), child);

	if (ref && !str_eq(json_str_at(ref, "uid"), sim_object_uid(owner)))
		return false;
	if (!!ref == matches || sim_object_is_going(owner))
		return ref != NULL;
	if (ref) {
		release(s, owner, k, child);
		return false;
	}
	if (sim_object_is_going(child))
		return false;
	adopt(s, owner_kind, owner, k, child);
	return true;
}

static int by_age(const void *a, const void *b)
{
	const json_t *x = *(json_t *const *)a, *y = *(json_t *const *)b;
	int rc = strcmp(str_or(json_str_at(x, "metadata", "creationTimestamp"), ""),
			str_or(json_str_at(y, "metadata", "creationTimestamp"), ""));

	return rc ? rc : strcmp(sim_object_name(x), sim_object_name(y));
}

static json_t *sorted(const json_t *list, int (*cmp)(const void *a, const void *b))
{
	json_t **v = mem_calloc(json_array_size(list) + 1, sizeof(*v)), *out = json_array();
	size_t n = json_array_size(list);

	for (size_t i = 0; i < n; i++)
		v[i] = json_array_get(list, i);
	qsort(v, n, sizeof(*v), cmp);
	for (size_t i = 0; i < n; i++)
		json_array_append(out, v[i]);
	free(v);
	return out;
}

json_t *workloads_claim(struct sim_workloads *s, const struct sim_kind *owner_kind,
			const json_t *owner, const struct sim_kind *kind, json_t *all, bool live)
{
	OWN_JSON out = json_array();
	json_t *child;
	size_t i;

	json_array_foreach (all, i, child)
		if (str_eq(sim_object_ns(child), sim_object_ns(owner)) &&
		    !(live && (sim_pod_is_over(child) || sim_object_is_going(child))) &&
		    claim(s, owner_kind, owner, kind, child))
			json_array_append(out, child);
	return sorted(out, by_age);
}

/* --- pods ------------------------------------------------------------------------------------- */

json_t *workloads_pod(const struct sim_kind *owner_kind, const json_t *owner, const char *base)
{
	static const char *const kept[] = {"labels", "annotations", "finalizers"};
	const json_t *from = json_at(owner, "spec", "template", "metadata");
	json_t *meta = json_object();
	char *prefix = mem_printf("%s-", base);

	for (size_t i = 0; i < sizeof(kept) / sizeof(*kept); i++)
		if (json_at(from, kept[i]))
			json_object_set_new(meta, kept[i], json_deep_copy(json_at(from, kept[i])));
	json_object_set_new(meta, "generateName", json_string(prefix));
	json_object_set_new(meta, "ownerReferences",
			    json_pack("[o]", sim_object_owner_ref(owner_kind, owner)));
	free(prefix);
	return json_pack("{s:s, s:s, s:o, s:o}", "apiVersion", "v1", "kind", "Pod", "metadata",
			 meta, "spec", json_deep_copy(json_at(owner, "spec", "template", "spec")));
}

/* Returns the progress of a pod as a number: 0 without a node, then Pending, Running, Ready. */
static int stage_of(const json_t *pod)
{
	if (str_empty(json_str_at(pod, "spec", "nodeName")))
		return 0;
	if (!str_eq(json_str_at(pod, "status", "phase"), "Running"))
		return 1;
	return sim_object_is(pod, "Ready") ? 3 : 2;
}

static int64_t cost_of(const json_t *pod)
{
	const char *text = json_str_at(pod, "metadata", "annotations",
				       "controller.kubernetes.io/pod-deletion-cost");
	int64_t cost;

	return text && str_to_i64(text, INT32_MIN, INT32_MAX, &cost) ? cost : 0;
}

static int by_loss(const void *a, const void *b)
{
	const json_t *x = *(json_t *const *)a, *y = *(json_t *const *)b;

	if (stage_of(x) != stage_of(y))
		return stage_of(x) - stage_of(y);
	if (cost_of(x) != cost_of(y))
		return cost_of(x) < cost_of(y) ? -1 : 1;
	return by_age(b, a); /* The younger pod comes first. */
}

void workloads_shrink(struct sim_workloads *s, json_t *pods, size_t n)
{
	OWN_JSON order = sorted(pods, by_loss);

	for (size_t i = 0; i < n && i < json_array_size(order); i++)
		workloads_delete(s, &sim_kind_pod, json_array_get(order, i));
}

size_t workloads_burst(const struct sim_workloads *s, const json_t *owner, size_t n)
{
	if (map_has(s->refused, sim_object_uid(owner)))
		return n ? 1 : 0;
	return n < BURST ? n : BURST;
}
