#include "base/mem.h"
#include "base/str.h"
#include "kube/apiserver/erase.h"

/*
 * Answers requests that delete: one object, many objects, or a pod by eviction, which a
 * PodDisruptionBudget may refuse.
 */

/* --- options of a deletion -------------------------------------------------------------------- */

/* Returns the policy for a deletion request that names none. For Jobs the policy is Orphan, which
 * Kubernetes retains for backward compatibility (batch/v1 strategy of Jobs). */
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
		return fault_set(&rq->fault, FAULT_INVALID,
				 "DeleteOptions.meta.k8s.io \"\" is invalid: "
				 "propagationPolicy: Invalid value: \"%s\": orphanDependents and "
				 "deletionPropagation cannot be both set",
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
		"DeleteOptions.meta.k8s.io \"\" is invalid: propagationPolicy: Unsupported "
		"value: \"%s\": supported values: \"Foreground\", \"Background\", \"Orphan\"",
		name);
}

/* Reads dryRun from the DeleteOptions in the body, which allow the same values as the query
 * parameter dryRun. */
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
		return fault_set(&rq->fault, FAULT_CONFLICT,
				 "Operation cannot be fulfilled on %s \"%s\": the %s "
				 "in the precondition (%s) does not match the %s in record (%s). "
				 "The object might have been deleted and then recreated",
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
	(void)obj;
	return answer_new(rq, 201, mem_strdup(created_text));
}

/* Returns the DeleteOptions in the body. NULL without a fault: the request has no body. NULL with
 * the fault set: the body is malformed. */
static json_t *options_body(struct request *rq)
{
	size_t len;

	httpd_body(rq->q, &len);
	return len ? request_body(rq) : NULL;
}

/* True for namespaces that must not be deleted (admission plugin NamespaceLifecycle). */
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
	if (str_eq(rq->r->key, "namespaces/") && is_kept(rq->name)) {
		(void)!fault_set(
			&rq->fault, FAULT_FORBIDDEN,
			"namespaces \"%s\" is forbidden: this namespace may not be deleted",
			rq->name);
		reply_fault(rq);
		return;
	}
	wish.grace_s = erase_grace(rq, obj);
	if (read_dry_run(rq, options) < 0 || parse_options(rq, options, obj, &wish) < 0) {
		reply_fault(rq);
		return;
	}
	erase_object(rq, rq->r, key, obj, &wish, answer_status);
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

	erase_under(rq, rq->r, filter_prefix(&f, rq, rq->arena), &wish, &f);
	filter_done(&f);
	reply_object(rq, 200, list);
}

/* --- eviction --------------------------------------------------------------------------------- */

/* True if a pod that is not Ready may be evicted although its budget allows no disruption: always
 * with unhealthyPodEvictionPolicy AlwaysAllow, otherwise only while enough pods of the budget are
 * healthy. False for a pod that is Ready. */
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
		(void)str_format(rq->fault.cause, sizeof(rq->fault.cause),
				 "The disruption budget %.200s needs %lld healthy pods "
				 "and has %lld currently",
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
	const char *phase = json_str_at(pod, "status", "phase"), **keys;
	struct store_entry entry;
	unsigned matching = 0;
	int rc = 0;

	/* Budgets protect only pods that may be serving: any other pod may be evicted. */
	if (str_eq(phase, "Succeeded") || str_eq(phase, "Failed") || str_eq(phase, "Pending") ||
	    object_is_going(pod))
		return 0;
	/* Update the budgets' status now, because another eviction may follow at once and must
	 * already see this one in disruptionsAllowed. */
	if (rq->a->budgets)
		budgets_update(rq->a, rq->ns);
	keys = object_keys(rq->a,
			   arena_printf(rq->arena, "poddisruptionbudgets.policy/%s/", rq->ns),
			   rq->arena);
	for (const char **key = keys; *key && rc == 0; key++) {
		OWN_JSON pdb = object_read(rq->a, *key, &entry);

		if (!selector_object_matches(json_at(pdb, "spec", "selector"),
					     json_at(pod, "metadata", "labels")))
			continue;
		matching++;
		if (refuses(rq, pdb, pod))
			rc = refuse_eviction(rq, pdb);
	}
	if (rc == 0 && matching > 1 && rq->a->budgets)
		return fault_set(&rq->fault, FAULT_INTERNAL,
				 "This pod has more than one PodDisruptionBudget, which the "
				 "eviction subresource does not support.");
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
	wish.grace_s = erase_grace(rq, pod);
	if (read_dry_run(rq, json_at(eviction, "deleteOptions")) < 0 ||
	    parse_options(rq, json_at(eviction, "deleteOptions"), pod, &wish) < 0) {
		reply_fault(rq);
		return;
	}
	if (check_budgets(rq, pod) < 0) {
		reply_fault(rq);
		return;
	}
	erase_object(rq, rq->r, key, pod, &wish, answer_evicted);
}
