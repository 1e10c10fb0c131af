#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "base/str.h"
#include "kube/apiserver/server.h"

/*
 * Deleting.  An object with finalizers stays, marked, until the last of them
 * goes.  A namespace and a definition take with them what is in them, and stay,
 * marked, until the last of that is gone.
 */

const char *success_text(struct request *rq, const json_t *obj)
{
	OWN_JSON j = json_pack("{s:s, s:s, s:{}, s:s, s:{s:s, s:s, s:s, s:s}}", "kind", "Status",
			       "apiVersion", "v1", "metadata", "status", "Success", "details",
			       "name", str_or(json_str_at(obj, "metadata", "name"), ""), "group",
			       rq->r->group, "kind", rq->r->plural, "uid",
			       str_or(json_str_at(obj, "metadata", "uid"), ""));
	char *text = json_text(j);
	const char *copy = arena_strdup(rq->arena, text);

	free(text);
	return copy;
}

/* --- what was waiting for the last one to go ----------------------------------------------------- */

static bool is_namespace(const struct resource *r)
{
	return str_eq(r->key, "namespaces/");
}

static bool namespace_is_empty(struct request *rq, const char *ns)
{
	for (const struct resource *r = NULL; resource_next(rq->a, &r);)
		if (r->namespaced && store_count(rq->a->store, resource_key(r, rq->arena, ns, "")))
			return false;
	return true;
}

bool object_is_emptied(struct request *rq, const struct resource *r, const char *name)
{
	if (is_namespace(r))
		return namespace_is_empty(rq, name);
	if (resource_is_crd(r))
		return store_count(rq->a->store, arena_printf(rq->arena, "%s/", name)) == 0;
	return true;
}

/* The finalizer by which a namespace waits for its contents. */
static bool drop_kubernetes(json_t *ns)
{
	json_t *list = json_at(ns, "spec", "finalizers");

	for (size_t i = 0; i < json_array_size(list); i++)
		if (str_eq(json_string_value(json_array_get(list, i)), "kubernetes"))
			return json_array_remove(list, i) == 0;
	return false;
}

static void remove_if_emptied(struct request *rq, const struct resource *r, const char *name)
{
	const char *key = resource_key(r, rq->arena, NULL, name);
	struct store_entry entry;
	OWN_JSON holder = object_read(rq->a, key, &entry);

	if (!object_is_going(holder) || !object_is_emptied(rq, r, name))
		return;
	bool held = is_namespace(r) && drop_kubernetes(holder);

	if (object_may_go(rq->a, r, holder)) {
		write_object(rq, r, key, NULL, -1, NULL);
	} else if (held) {
		object_set_rev(rq->a, holder);
		write_object(rq, r, key, holder, -1, NULL);
	}
}

void remove_object(struct request *rq, const struct resource *r, const char *key, const json_t *obj,
		   struct answer *c)
{
	const struct resource *crds =
		resource_find(rq->a, "apiextensions.k8s.io", "v1", "customresourcedefinitions");
	/* The definition may go with it, and r with that. */
	const char *definition =
		r->custom ? arena_printf(rq->arena, "%s.%s", r->plural, r->group) : NULL;
	const char *ns = r->namespaced ? json_str_at(obj, "metadata", "namespace") : NULL;

	write_object(rq, r, key, NULL, -1, c);
	if (rq->dry_run)
		return;
	if (definition)
		remove_if_emptied(rq, crds, definition);
	if (ns)
		remove_if_emptied(rq, resource_find(rq->a, "", "v1", "namespaces"), ns);
}

/* --- delete ---------------------------------------------------------------------------------------- */

static void set_terminating(struct request *rq, const struct resource *r, json_t *obj)
{
	char now[STR_TIME_SIZE];
	json_t *status;

	if (!json_is_object(json_object_get(obj, "status")))
		json_object_set_new(obj, "status", json_object());
	status = json_object_get(obj, "status");
	if (is_namespace(r))
		json_object_set_new(status, "phase", json_string("Terminating"));
	else if (json_is_array(json_object_get(status, "conditions")))
		json_array_append_new(
			json_object_get(status, "conditions"),
			json_pack("{s:s, s:s, s:s, s:s, s:s}", "type", "Terminating", "status",
				  "True", "reason", "InstanceDeletionPending", "message",
				  "CustomResource deletion is in progress", "lastTransitionTime",
				  str_time(now, loop_wall(rq->a->loop))));
}

/* How it is to be deleted. */
struct wish {
	int64_t grace_s;
	enum policy policy;
};

/* One object, by its key.  Answers only where `answer` says how. */
static void delete_object(struct request *rq, const struct resource *r, const char *key,
			  json_t *obj, const struct wish *wish,
			  struct answer *(*answer)(struct request *rq, const json_t *obj));

struct keys {
	struct arena *arena;
	const char **v;
	size_t n, cap;
};

static bool collect_key(const struct store_entry *e, void *arg)
{
	struct keys *k = arg;

	mem_grow(k->v, k->n, k->cap);
	k->v[k->n++] = arena_strdup(k->arena, e->key);
	return true;
}

/* A definition may go with the last of its objects. */
static const struct resource *keep_resource(struct arena *a, const struct resource *r)
{
	struct resource *copy = arena_new_obj(a, struct resource);

	*copy = *r;
	copy->group = arena_strdup(a, r->group);
	copy->plural = arena_strdup(a, r->plural);
	copy->kind = arena_strdup(a, r->kind);
	copy->key = arena_strdup(a, r->key);
	return copy;
}

/* Pods have a grace period of their own; nothing else waits. */
static int64_t default_grace(const struct request *rq, const json_t *obj)
{
	const json_t *grace = json_at(obj, "spec", "terminationGracePeriodSeconds");

	if (!rq->a->spec.graceful_pods || !str_eq(rq->r->key, "pods/"))
		return 0;
	return json_is_integer(grace) && json_integer_value(grace) >= 0 ? json_integer_value(grace)
									: 30;
}

static void delete_under(struct request *rq, const struct resource *r, const char *prefix,
			 const struct wish *wish, const struct filter *only)
{
	struct keys keys = {.arena = rq->arena};
	struct store_entry entry;

	r = keep_resource(rq->arena, r);
	store_list(rq->a->store, prefix, NULL, 0, collect_key, &keys);
	for (size_t i = 0; i < keys.n; i++) {
		OWN_JSON obj = object_read(rq->a, keys.v[i], &entry);

		struct wish own = *wish;

		if (!obj || (only && !filter_matches(only, obj)))
			continue;
		if (own.grace_s < 0)
			own.grace_s = default_grace(rq, obj);
		delete_object(rq, r, keys.v[i], obj, &own, NULL);
	}
	free(keys.v);
}

static void delete_contents(struct request *rq, const struct resource *r, const char *name)
{
	const struct resource **in = NULL;
	size_t n = 0, cap = 0;

	for (const struct resource *it = NULL; resource_next(rq->a, &it);) {
		mem_grow(in, n, cap);
		if (is_namespace(r) ? it->namespaced
				    : str_eq(it->key, arena_printf(rq->arena, "%s/", name)))
			in[n++] = keep_resource(rq->arena, it);
	}
	for (size_t i = 0; i < n; i++)
		delete_under(rq, in[i],
			     resource_key(in[i], rq->arena, is_namespace(r) ? name : NULL, ""),
			     &(struct wish){.policy = POLICY_BACKGROUND}, NULL);
	free(in);
}

void object_empty(struct request *rq, const struct resource *r, const char *name)
{
	delete_contents(rq, r, name);
	remove_if_emptied(rq, r, name);
}

static bool set_finalizer(json_t *obj, const char *name, bool wanted)
{
	json_t *meta = object_meta(obj), *list = json_object_get(meta, "finalizers");

	for (size_t i = 0; i < json_array_size(list); i++) {
		if (!str_eq(json_string_value(json_array_get(list, i)), name))
			continue;
		if (!wanted)
			json_array_remove(list, i);
		return !wanted;
	}
	if (!wanted)
		return false;
	if (!json_is_array(list)) {
		list = json_array();
		json_object_set_new(meta, "finalizers", list);
	}
	json_array_append_new(list, json_string(name));
	return true;
}

/* What was asked for last counts.  True: something changed. */
static bool set_policy(json_t *obj, enum policy policy)
{
	bool changed;

	if (policy == POLICY_DEFAULT)
		return false;
	changed = set_finalizer(obj, FINALIZER_FOREGROUND, policy == POLICY_FOREGROUND);
	return set_finalizer(obj, FINALIZER_ORPHAN, policy == POLICY_ORPHAN) || changed;
}

static void delete_object(struct request *rq, const struct resource *r, const char *key,
			  json_t *obj, const struct wish *wish,
			  struct answer *(*answer)(struct request *rq, const json_t *obj))
{
	const char *name = arena_strdup(rq->arena, json_str_at(obj, "metadata", "name"));
	bool marked = object_is_going(obj) &&
		      json_int_at(obj, "metadata", "deletionGracePeriodSeconds") <= wish->grace_s;
	bool holder = is_namespace(r) || resource_is_crd(r);
	bool finalized = rq->a->collector && set_policy(obj, wish->policy);

	if (!marked) {
		object_mark_deleted(rq->a, r, obj, wish->grace_s);
		if (holder)
			set_terminating(rq, r, obj);
	}
	if (object_may_go(rq->a, r, obj) && (!holder || object_is_emptied(rq, r, name))) {
		remove_object(rq, r, key, obj, answer ? answer(rq, obj) : NULL);
		return;
	}
	if (!marked || finalized) {
		object_set_rev(rq->a, obj);
		write_object(rq, r, key, obj, -1, answer ? answer(rq, obj) : NULL);
	} else if (answer) {
		reply_object(rq, 200, obj);
	}
	if (holder && !rq->dry_run && !rq->a->collector)
		object_empty(rq, r, name);
}

void object_delete(struct request *rq, const char *key, json_t *obj, enum policy policy)
{
	struct wish wish = {.grace_s = default_grace(rq, obj), .policy = policy};

	delete_object(rq, rq->r, key, obj, &wish, NULL);
}

/* --- options ---------------------------------------------------------------------------------------- */

/* For back compatibility (batch/v1 strategy of Jobs). */
static enum policy default_policy(const struct request *rq)
{
	return str_eq(rq->r->key, "jobs.batch/") ? POLICY_ORPHAN : POLICY_DEFAULT;
}

static int parse_policy(struct request *rq, const json_t *options, enum policy *policy)
{
	static const char *const names[] = {"", "Background", "Foreground", "Orphan"};
	const char *name = str_or(httpd_query(rq->q, "propagationPolicy"),
				  json_str_at(options, "propagationPolicy"));
	const char *query = httpd_query(rq->q, "orphanDependents");
	const json_t *orphan = json_object_get(options, "orphanDependents");

	*policy = default_policy(rq);
	if (!str_empty(name) && (query || json_is_boolean(orphan)))
		return fault_set(
			&rq->fault, FAULT_INVALID,
			"DeleteOptions.meta.k8s.io \"\" is invalid: propagationPolicy: Invalid value: \"%s\": orphanDependents and deletionPropagation cannot be both set",
			name);
	if (query || json_is_boolean(orphan))
		*policy = name_is_true(query) || json_is_true(orphan) ? POLICY_ORPHAN
								      : POLICY_BACKGROUND;
	if (str_empty(name))
		return 0;
	for (size_t i = POLICY_BACKGROUND; i <= POLICY_ORPHAN; i++) {
		if (str_eq(name, names[i])) {
			*policy = (enum policy)i;
			return 0;
		}
	}
	return fault_set(
		&rq->fault, FAULT_INVALID,
		"DeleteOptions.meta.k8s.io \"\" is invalid: propagationPolicy: Unsupported value: \"%s\": supported values: \"Foreground\", \"Background\", \"Orphan\"",
		name);
}

/* In the options of a deletion, as in a query. */
static int read_dry_run(struct request *rq, const json_t *options)
{
	const json_t *list = json_object_get(options, "dryRun");
	size_t i;
	json_t *one;

	json_array_foreach (list, i, one) {
		if (!str_eq(json_string_value(one), "All"))
			return fault_set(&rq->fault, FAULT_INVALID,
					 "dryRun: Unsupported value: supported values: \"All\"");
		rq->dry_run = true;
	}
	return 0;
}

static int parse_options(struct request *rq, const json_t *options, const json_t *obj,
			 struct wish *wish)
{
	const char *uid = json_str_at(options, "preconditions", "uid");
	const char *rev = json_str_at(options, "preconditions", "resourceVersion");
	const char *query = httpd_query(rq->q, "gracePeriodSeconds");
	const json_t *grace = json_at(options, "gracePeriodSeconds");
	const char *what = "UID", *is = json_str_at(obj, "metadata", "uid");

	if (options && !json_is_object(options))
		return fault_set(&rq->fault, FAULT_BAD_REQUEST,
				 "the delete options are not an object");
	if (uid && (!obj || str_eq(uid, is)))
		uid = NULL;
	if (obj && !uid && rev && !str_eq(rev, json_str_at(obj, "metadata", "resourceVersion"))) {
		uid = rev;
		is = json_str_at(obj, "metadata", "resourceVersion");
		what = "ResourceVersion";
	}
	if (uid)
		return fault_set(
			&rq->fault, FAULT_CONFLICT,
			"Operation cannot be fulfilled on %s \"%s\": the %s in the precondition (%s) does not match the %s in record (%s). The object might have been deleted and then recreated",
			rq->r->plural, rq->name, what, uid, what, is);
	if (parse_policy(rq, options, &wish->policy) < 0)
		return -1;
	if (query && !str_to_i64(query, 0, INT32_MAX, &wish->grace_s))
		return fault_set(&rq->fault, FAULT_BAD_REQUEST,
				 "gracePeriodSeconds: want a number, got %s", query);
	if (query)
		return 0;
	if (json_is_integer(grace) && json_integer_value(grace) >= 0 &&
	    json_integer_value(grace) <= INT32_MAX)
		wish->grace_s = json_integer_value(grace);
	return 0;
}

static struct answer *answer_status(struct request *rq, const json_t *obj)
{
	if (object_may_go(rq->a, rq->r, obj))
		return answer_new(rq, 200, mem_strdup(success_text(rq, obj)));
	return answer_new(rq, 200, json_text(obj));
}

static struct answer *answer_evicted(struct request *rq, const json_t *obj)
{
	return answer_new(rq, 201, mem_strdup(success_text(rq, obj)));
}

/* NULL without a fault: there is none. */
static json_t *options_body(struct request *rq)
{
	size_t len;

	httpd_body(rq->q, &len);
	return len ? request_body(rq) : NULL;
}

/* Admission plugin NamespaceLifecycle. */
static bool is_kept(const char *ns)
{
	return str_eq(ns, "default") || str_eq(ns, "kube-system") || str_eq(ns, "kube-public");
}

void do_delete(struct request *rq)
{
	const char *key = resource_key(rq->r, rq->arena, rq->ns, rq->name);
	struct store_entry entry;
	OWN_JSON obj = object_read(rq->a, key, &entry);
	OWN_JSON options = options_body(rq);
	struct wish wish = {0};

	if (rq->fault.text[0]) {
		reply_fault(rq);
		return;
	}
	if (!obj) {
		fault_not_found(rq);
		return;
	}
	if (is_namespace(rq->r) && is_kept(rq->name)) {
		(void)!fault_set(
			&rq->fault, FAULT_FORBIDDEN,
			"namespaces \"%s\" is forbidden: this namespace may not be deleted",
			rq->name);
		reply_fault(rq);
		return;
	}
	wish.grace_s = default_grace(rq, obj);
	if (read_dry_run(rq, options) < 0 || parse_options(rq, options, obj, &wish) < 0) {
		reply_fault(rq);
		return;
	}
	delete_object(rq, rq->r, key, obj, &wish, answer_status);
}

void do_delete_all(struct request *rq)
{
	OWN_JSON options = options_body(rq);
	struct wish wish = {.grace_s = -1};
	struct filter f;

	if (rq->fault.text[0] || read_dry_run(rq, options) < 0 ||
	    parse_options(rq, options, NULL, &wish) < 0 || filter_init(&f, rq, &rq->fault) < 0) {
		reply_fault(rq);
		return;
	}

	const char *version = resource_api_version(rq->r, rq->arena);
	OWN_JSON list = json_pack("{s:s+, s:s, s:{}, s:[]}", "kind", rq->r->kind, "List",
				  "apiVersion", version, "metadata", "items");

	delete_under(rq, rq->r, filter_prefix(&f, rq, rq->arena), &wish, &f);
	filter_done(&f);
	reply_object(rq, 200, list);
}

/* --- eviction --------------------------------------------------------------------------------------- */

/* May a pod that is not Ready go although its budget allows none?  It serves nobody, unless its
 * like are few already (unhealthyPodEvictionPolicy). */
static bool spares_unready(const json_t *pdb, const json_t *pod)
{
	if (pod_is_ready(pod))
		return false;
	return str_eq(json_str_at(pdb, "spec", "unhealthyPodEvictionPolicy"), "AlwaysAllow") ||
	       (json_int_at(pdb, "status", "desiredHealthy") > 0 &&
		json_int_at(pdb, "status", "currentHealthy") >=
			json_int_at(pdb, "status", "desiredHealthy"));
}

static bool refuses(const struct request *rq, const json_t *pdb, const json_t *pod)
{
	const json_t *allowed = json_at(pdb, "status", "disruptionsAllowed");

	return allowed && json_integer_value(allowed) <= 0 &&
	       !(rq->a->budgets && spares_unready(pdb, pod));
}

static int refuse_eviction(struct request *rq, const json_t *pdb)
{
	const json_t *status = json_object_get(pdb, "status");
	int rc = fault_set(&rq->fault, FAULT_TOO_MANY,
			   "Cannot evict pod as it would violate the pod's disruption budget.");
	const char *name = json_str_at(pdb, "metadata", "name");

	if (json_object_get(status, "desiredHealthy"))
		(void)str_format(
			rq->fault.cause, sizeof(rq->fault.cause),
			"The disruption budget %.200s needs %lld healthy pods and has %lld currently",
			name, (long long)json_int_at(status, "desiredHealthy"),
			(long long)json_int_at(status, "currentHealthy"));
	else
		(void)str_format(
			rq->fault.cause, sizeof(rq->fault.cause),
			"The disruption budget %.200s needs more healthy pods than there are",
			name);
	return rc;
}

static int check_budgets(struct request *rq, const json_t *pod)
{
	const char *phase = json_str_at(pod, "status", "phase");
	struct keys keys = {.arena = rq->arena};
	struct store_entry entry;
	unsigned matching = 0;
	int rc = 0;

	/* Only a pod that runs, or is about to, is anybody's replica. */
	if (str_eq(phase, "Succeeded") || str_eq(phase, "Failed") || str_eq(phase, "Pending") ||
	    object_is_going(pod))
		return 0;
	/* One eviction a moment after another must find it counted. */
	if (rq->a->budgets)
		budgets_update(rq->a, rq->ns);
	store_list(rq->a->store, arena_printf(rq->arena, "poddisruptionbudgets.policy/%s/", rq->ns),
		   NULL, 0, collect_key, &keys);
	for (size_t i = 0; i < keys.n && rc == 0; i++) {
		OWN_JSON pdb = object_read(rq->a, keys.v[i], &entry);

		if (!selector_object_matches(json_at(pdb, "spec", "selector"),
					     json_at(pod, "metadata", "labels")))
			continue;
		matching++;
		if (refuses(rq, pdb, pod))
			rc = refuse_eviction(rq, pdb);
	}
	free(keys.v);
	if (rc == 0 && matching > 1 && rq->a->budgets)
		return fault_set(
			&rq->fault, FAULT_INTERNAL,
			"This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.");
	return rc;
}

void do_eviction(struct request *rq)
{
	const char *key = resource_key(rq->r, rq->arena, rq->ns, rq->name);
	struct store_entry entry;
	OWN_JSON eviction = request_body(rq);
	OWN_JSON pod = object_read(rq->a, key, &entry);
	struct wish wish = {0};

	if (!eviction) {
		reply_fault(rq);
		return;
	}
	if (!str_empty(json_str_at(eviction, "metadata", "name")) &&
	    !str_eq(json_str_at(eviction, "metadata", "name"), rq->name)) {
		(void)!fault_set(&rq->fault, FAULT_BAD_REQUEST,
				 "name in URL does not match name in Eviction object");
		reply_fault(rq);
		return;
	}
	if (!pod) {
		fault_not_found(rq);
		return;
	}
	wish.grace_s = default_grace(rq, pod);
	if (read_dry_run(rq, json_at(eviction, "deleteOptions")) < 0 ||
	    parse_options(rq, json_at(eviction, "deleteOptions"), pod, &wish) < 0) {
		reply_fault(rq);
		return;
	}
	if (check_budgets(rq, pod) < 0) {
		reply_fault(rq);
		return;
	}
	delete_object(rq, rq->r, key, pod, &wish, answer_evicted);
}
