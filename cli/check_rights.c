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
#include "cli/caller.h"
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

/* Returns a command that gives the caller the rights of the ClusterRole drover-view. */
static const char *binding(const struct check *k, struct arena *a)
{
	static const char prefix[] = "system:serviceaccount:";
	const char *name = strrchr(k->user, ':'), *of = k->user + sizeof(prefix) - 1;

	if (str_starts(k->user, prefix) && name > of)
		return arena_printf(a, "--serviceaccount=%.*s:%s", (int)(name - of), of, name + 1);
	return arena_printf(a, "--user='%s'", k->user[0] ? k->user : "YOU");
}

bool check_caller(struct check *k)
{
	static const struct check_right view = {OBJECT_GROUP, "machines", NULL, "list", NULL, NULL},
					ask = {OBJECT_GROUP, "drains", NULL, "create", NULL, NULL},
					admin = {OBJECT_GROUP, "machines", NULL,
						 "administer", NULL,	   NULL};
	OWN(arena) a = arena_new();
	struct err e;
	enum allowed views;

	str_copy(k->user, sizeof(k->user), str_or(cli_caller(k->c, a, &e), ""));
	views = may(k, NULL, &view, &e);
	if (views == ALLOWED_UNKNOWN && e.kind == ERR_DENIED && e.code == 401) {
		findings_add(k->f, FINDING_WRONG, "your login", cli_remedy(&e), "%s", e.text);
		return false;
	}
	if (views == ALLOWED_UNKNOWN)
		findings_add(k->f, FINDING_UNKNOWN, "your rights", NULL, "%s", e.text);
	else if (views == ALLOWED_NO)
		findings_add(k->f, FINDING_WRONG, "your rights",
			     arena_printf(a,
					  "an administrator gives them with: kubectl create "
					  "clusterrolebinding drover-view-me "
					  "--clusterrole=drover-view %s; to operate machines, with "
					  "drover-oncall or drover-admin (deploy/rbac.yaml)",
					  binding(k, a)),
			     "your user %s cannot read drover's objects; nothing else can be "
			     "checked completely",
			     k->user[0] ? k->user : "(name unknown)");
	else
		findings_add(k->f, FINDING_OK, "your rights", NULL,
			     "your user has the rights of the ClusterRole drover-%s",
			     may(k, NULL, &admin, &e) == ALLOWED_YES ? "admin"
			     : may(k, NULL, &ask, &e) == ALLOWED_YES ? "oncall"
								     : "view");
	return true;
}

/* --- drover's ServiceAccount ------------------------------------------------------------------ */

static const char *account(const struct check *k, struct arena *a)
{
	return arena_printf(a, "system:serviceaccount:%s:" ACCOUNT, k->ns);
}

static bool is_same(const json_t *o, const char *key, const char *value)
{
	return str_eq(str_or(json_str_at(o, key), ""), str_or(value, ""));
}

/* Adds the verb to the entry of k->missing for the same objects; creates the entry if there is
 * none. */
static void add_missing(struct check *k, const struct check_right *r)
{
	OWN(arena) a = arena_new();
	const char *resource = r->sub ? arena_printf(a, "%s/%s", r->resource, r->sub) : r->resource;
	json_t *o, *found = NULL;
	size_t i;

	json_array_foreach (k->missing, i, o)
		if (is_same(o, "group", r->group) && is_same(o, "resource", resource) &&
		    is_same(o, "ns", r->ns) && is_same(o, "name", r->name))
			found = o;
	if (!found) {
		found = json_pack("{s:s, s:s, s:s, s:s, s:[]}", "group", r->group, "resource",
				  resource, "ns", str_or(r->ns, ""), "name", str_or(r->name, ""),
				  "verbs");
		json_array_append_new(k->missing, found);
	}
	json_array_append_new(json_object_get(found, "verbs"), json_string(r->verb));
}

void check_right(struct check *k, const struct check_right *r)
{
	OWN(arena) a = arena_new();
	const char *of = account(k, a);
	struct err e;
	enum allowed allowed;

	if (k->mute)
		return;
	/* drover's own user, as in its pod, needs no permission to ask about itself */
	allowed = may(k, str_eq(k->user, of) ? NULL : of, r, &e);
	if (allowed == ALLOWED_NO)
		add_missing(k, r);
	if (allowed != ALLOWED_UNKNOWN)
		return;
	k->mute = true;
	findings_add(k->f, FINDING_UNKNOWN, "drover's rights",
		     "give your user the permission `create` on subjectaccessreviews", "%s",
		     e.text);
}

static const char *verbs_of(const json_t *o, struct arena *a)
{
	const char *text = "";
	json_t *v;
	size_t i;

	json_array_foreach (json_object_get(o, "verbs"), i, v)
		text = arena_printf(a, "%s%s%s", text, i ? ", " : "", json_string_value(v));
	return text;
}

void check_rights_report(struct check *k, const char *mend)
{
	OWN(arena) a = arena_new();
	json_t *o;
	size_t i;

	json_array_foreach (k->missing, i, o) {
		const char *ns = json_str_at(o, "ns"), *name = json_str_at(o, "name"),
			   *group = json_str_at(o, "group"), *verbs = verbs_of(o, a),
			   *resource = json_str_at(o, "resource");

		findings_add(k->f, FINDING_WRONG, "drover's rights",
			     arena_printf(a,
					  "%s; or bind a %s to the ServiceAccount with this rule: "
					  "- {apiGroups: [%s], resources: [%s], %s%s%sverbs: [%s]}",
					  mend, ns[0] ? "Role" : "ClusterRole",
					  group[0] ? group : "\"\"", resource,
					  name[0] ? "resourceNames: [" : "", name,
					  name[0] ? "], " : "", verbs),
			     "%s may not %s %s%s%s%s%s", account(k, a), verbs, resource,
			     name[0] ? " " : "", name, ns[0] ? " in namespace " : "", ns);
	}
	json_array_clear(k->missing);
}

static void check_group(struct check *k)
{
	static const char *const verbs[] = {"list", "watch", "patch"};

	for (int kind = 0; kind < OBJECT_KINDS; kind++) {
		const struct object_kind *o = &object_kinds[kind];
		struct check_right r = {.group = OBJECT_GROUP, .resource = o->plural};

		for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
			r.verb = verbs[i];
			check_right(k, &r);
		}
		r.sub = "status";
		if (o->has_status)
			check_right(k, &r);
	}
}

/* Checks those rights of deploy/rbac.yaml that differ from kind to kind. */
static void check_rest(struct check *k)
{
	const struct check_right rights[] = {
		{OBJECT_GROUP, "nodeclaims", NULL, "create", NULL, NULL},
		{OBJECT_GROUP, "nodeclaims", NULL, "delete", NULL, NULL},
		{OBJECT_GROUP, "wiperecords", NULL, "create", NULL, NULL},
		{OBJECT_GROUP, "auditsegments", NULL, "create", NULL, NULL},
		{OBJECT_GROUP, "auditsegments", NULL, "patch", NULL, NULL},
		{OBJECT_GROUP, "auditsegments", NULL, "delete", NULL, NULL},
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
		check_right(k, &rights[i]);
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
	check_rights_report(k, "kubectl apply -f deploy/rbac.yaml");
	if (!k->mute && findings_of(k->f, FINDING_WRONG) == wrong)
		findings_add(k->f, FINDING_OK, "drover's rights", NULL,
			     "complete, as in deploy/rbac.yaml");
}
