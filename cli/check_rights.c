/*
 * check_rights: checks the caller's rights with SelfSubjectAccessReviews, and those of drover's
 * ServiceAccount with SubjectAccessReviews.
 * https://kubernetes.io/docs/reference/access-authn-authz/authorization/
 * Tests: tests/unit/cli/test_check.c
 */
#include <string.h>

#include "api/annotations.h"
#include "base/arena.h"
#include "base/str.h"
#include "cli/check.h"

#define LEADER_SLICE LEADER_SERVICE LEADER_SLICE_SUFFIX
#define ACCOUNT "drover" /* name of the ServiceAccount in deploy/rbac.yaml */

static const struct kube_resource self_reviews = {
	"authorization.k8s.io", "v1", "selfsubjectaccessreviews", "SelfSubjectAccessReview", false};
static const struct kube_resource reviews = {"authorization.k8s.io", "v1", "subjectaccessreviews",
					     "SubjectAccessReview", false};

enum allowed { ALLOWED_NO, ALLOWED_YES, ALLOWED_UNKNOWN };

static void put(json_t *o, const char *key, const char *value)
{
	if (!str_empty(value))
		json_object_set_new(o, key, json_string(value));
}

/* Asks the API server whether user has the right *r. user NULL: the caller. ALLOWED_UNKNOWN: with
 * *e. */
static enum allowed may(struct check *k, const char *user, const struct check_right *r,
			struct err *e)
{
	json_t *on = json_object(), *spec = json_pack("{s:o}", "resourceAttributes", on);
	OWN_JSON asked = json_pack("{s:s, s:s, s:o}", "apiVersion", "authorization.k8s.io/v1",
				   "kind", user ? reviews.kind : self_reviews.kind, "spec", spec);
	OWN(arena) a = arena_new();
	OWN_JSON answer = NULL;

	put(on, "group", r->group);
	put(on, "resource", r->resource);
	put(on, "subresource", r->sub);
	put(on, "verb", r->verb);
	put(on, "namespace", r->ns);
	put(on, "name", r->name);
	if (user) {
		put(spec, "user", user);
		json_object_set_new(spec, "groups",
				    json_pack("[s, s, s]", "system:authenticated",
					      "system:serviceaccounts",
					      arena_printf(a, "system:serviceaccounts:%s", k->ns)));
	}
	answer = cli_review(k->c, user ? &reviews : &self_reviews, asked, e);
	return !answer					   ? ALLOWED_UNKNOWN
	       : json_true_at(answer, "status", "allowed") ? ALLOWED_YES
							   : ALLOWED_NO;
}

/* --- the caller ------------------------------------------------------------------------------- */

static void check_caller(struct check *k)
{
	static const struct check_right view = {OBJECT_GROUP, "machines", NULL, "list", NULL, NULL},
					ask = {OBJECT_GROUP, "drains", NULL, "create", NULL, NULL},
					admin = {OBJECT_GROUP, "machines", NULL,
						 "administer", NULL,	   NULL};
	struct err e;
	enum allowed views = may(k, NULL, &view, &e);

	if (views == ALLOWED_UNKNOWN)
		findings_add(k->f, FINDING_UNKNOWN, "your rights", NULL, "%s", e.text);
	else if (views == ALLOWED_NO)
		findings_add(k->f, FINDING_WRONG, "your rights",
			     "ask for a binding to the ClusterRole drover-view, drover-oncall or "
			     "drover-admin (deploy/rbac.yaml)",
			     "your user cannot read drover's objects");
	else
		findings_add(k->f, FINDING_OK, "your rights", NULL,
			     "your user has the rights of the ClusterRole drover-%s",
			     may(k, NULL, &admin, &e) == ALLOWED_YES ? "admin"
			     : may(k, NULL, &ask, &e) == ALLOWED_YES ? "oncall"
								     : "view");
}

/* --- drover's ServiceAccount ------------------------------------------------------------------ */

static const char *account(const struct check *k, struct arena *a)
{
	return arena_printf(a, "system:serviceaccount:%s:" ACCOUNT, k->ns);
}

void check_right(struct check *k, const struct check_right *r, const char *mend)
{
	OWN(arena) a = arena_new();
	struct err e;
	enum allowed allowed = k->mute ? ALLOWED_YES : may(k, account(k, a), r, &e);

	if (allowed == ALLOWED_UNKNOWN) {
		k->mute = true;
		findings_add(k->f, FINDING_UNKNOWN, "drover's rights",
			     "checking them needs the permission `create` on subjectaccessreviews",
			     "%s", e.text);
	}
	if (allowed == ALLOWED_NO)
		findings_add(k->f, FINDING_WRONG, "drover's rights", mend,
			     "%s may not %s %s%s%s%s%s%s%s", account(k, a), r->verb, r->resource,
			     r->sub ? "/" : "", str_or(r->sub, ""), r->name ? " " : "",
			     str_or(r->name, ""), r->ns ? " in namespace " : "", str_or(r->ns, ""));
}

static const char rbac[] = "kubectl apply -f deploy/rbac.yaml";

static void check_group(struct check *k)
{
	static const char *const verbs[] = {"list", "watch", "patch"};

	for (int kind = 0; kind < OBJECT_KINDS; kind++) {
		const struct object_kind *o = &object_kinds[kind];
		struct check_right r = {.group = OBJECT_GROUP, .resource = o->plural};

		for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
			r.verb = verbs[i];
			check_right(k, &r, rbac);
		}
		r.sub = "status";
		if (o->has_status)
			check_right(k, &r, rbac);
	}
}

/* Checks those rights of deploy/rbac.yaml that differ from kind to kind. */
static void check_rest(struct check *k)
{
	const struct check_right rights[] = {
		{OBJECT_GROUP, "nodeclaims", NULL, "create", NULL, NULL},
		{OBJECT_GROUP, "nodeclaims", NULL, "delete", NULL, NULL},
		{OBJECT_GROUP, "wiperecords", NULL, "create", NULL, NULL},
		{OBJECT_GROUP, "machines", NULL, "create", NULL, NULL},
		{OBJECT_GROUP, "machines", NULL, "administer", NULL, NULL},
		{"apiextensions.k8s.io", "customresourcedefinitions", NULL, "list", NULL, NULL},
		{"", "namespaces", NULL, "get", NULL, "kube-system"},
		{"authentication.k8s.io", "tokenreviews", NULL, "create", NULL, NULL},
		{"authorization.k8s.io", "subjectaccessreviews", NULL, "create", NULL, NULL},
		{"", "events", NULL, "create", NULL, NULL},
		{"", "events", NULL, "patch", NULL, NULL},
		{"", "secrets", NULL, "get", k->ns, NULL},
		{"", "secrets", NULL, "create", k->ns, NULL},
		{"", "configmaps", NULL, "get", k->ns, NULL},
		{"", "configmaps", NULL, "create", k->ns, NULL},
		{"", "configmaps", NULL, "patch", k->ns, NULL},
		{"coordination.k8s.io", "leases", NULL, "get", k->ns, NULL},
		{"coordination.k8s.io", "leases", NULL, "create", k->ns, NULL},
		{"coordination.k8s.io", "leases", NULL, "patch", k->ns, NULL},
		{"discovery.k8s.io", "endpointslices", NULL, "create", k->ns, NULL},
		{"discovery.k8s.io", "endpointslices", NULL, "get", k->ns, LEADER_SLICE},
		{"discovery.k8s.io", "endpointslices", NULL, "patch", k->ns, LEADER_SLICE},
		{"discovery.k8s.io", "endpointslices", NULL, "delete", k->ns, LEADER_SLICE},
	};

	for (size_t i = 0; i < sizeof(rights) / sizeof(rights[0]); i++)
		check_right(k, &rights[i], rbac);
}

/* False if drover's ServiceAccount does not exist. drover then runs outside the cluster, as a user
 * that this command does not know. */
static bool has_account(struct check *k)
{
	static const struct kube_resource accounts = {"", "v1", "serviceaccounts", "ServiceAccount",
						      true};
	struct err e;
	OWN_JSON o = cli_metadata(k->c, &accounts, k->ns, ACCOUNT, &e);

	return o || e.kind != ERR_NOT_FOUND;
}

void check_rights(struct check *k)
{
	size_t wrong;

	check_caller(k);
	k->mute = !has_account(k);
	if (k->mute) {
		findings_add(
			k->f, FINDING_UNKNOWN, "drover's rights",
			"if drover runs in this cluster: kubectl apply -f deploy/rbac.yaml, or "
			"give -n NAMESPACE if it runs in another namespace",
			"namespace %s has no ServiceAccount " ACCOUNT
			", so its rights cannot be checked",
			k->ns);
		return;
	}
	wrong = findings_of(k->f, FINDING_WRONG);
	check_group(k);
	check_rest(k);
	if (!k->mute && findings_of(k->f, FINDING_WRONG) == wrong)
		findings_add(k->f, FINDING_OK, "drover's rights", NULL,
			     "complete, as in deploy/rbac.yaml");
}
