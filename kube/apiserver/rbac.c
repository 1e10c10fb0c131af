#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "base/str.h"
#include "kube/apiserver/server.h"

/*
 * Role-based access control (rbac.authorization.k8s.io/v1). Parsed roles and bindings are cached,
 * and all are read again after any of them was written. Rules can only grant rights, not deny them.
 * The group system:masters has all rights without a rule.
 * Tests: tests/unit/kube/apiserver/test_auth.c
 */
struct rbac {
	struct observer observer;
	bool stale;
	/* Parsed roles. cluster_roles: ClusterRoles by "name"; roles: Roles by "ns/name". */
	json_t *cluster_roles, *roles;
	/* Arrays of ClusterRoleBindings and of RoleBindings. */
	json_t *cluster_bindings, *bindings;
};

#define GROUP_RBAC "rbac.authorization.k8s.io"

/* --- cache of roles and bindings -------------------------------------------------------------- */

static void forget(struct rbac *b)
{
	json_decref(b->cluster_roles);
	json_decref(b->roles);
	json_decref(b->cluster_bindings);
	json_decref(b->bindings);
}

struct reading {
	json_t *into;
	size_t prefix;
};

static bool read_one(const struct store_entry *e, void *arg)
{
	struct reading *r = arg;
	struct err err;
	json_t *obj = json_parse(e->value, e->value_len, &err);

	if (obj && json_is_array(r->into))
		json_array_append_new(r->into, obj);
	else if (obj)
		json_object_set_new(r->into, e->key + r->prefix, obj);
	return true;
}

static json_t *read_all(struct apiserver *a, const char *prefix, json_t *into)
{
	struct reading r = {.into = into, .prefix = strlen(prefix)};

	store_list(a->store, prefix, NULL, 0, read_one, &r);
	return into;
}

static struct rbac *fresh(struct apiserver *a)
{
	struct rbac *b = a->rbac;

	if (!b->stale)
		return b;
	forget(b);
	b->cluster_roles = read_all(a, "clusterroles." GROUP_RBAC "/", json_object());
	b->roles = read_all(a, "roles." GROUP_RBAC "/", json_object());
	b->cluster_bindings = read_all(a, "clusterrolebindings." GROUP_RBAC "/", json_array());
	b->bindings = read_all(a, "rolebindings." GROUP_RBAC "/", json_array());
	b->stale = false;
	return b;
}

static void on_written(struct observer *o, const struct written *w)
{
	if (str_eq(w->r->group, GROUP_RBAC))
		container_of(o, struct rbac, observer)->stale = true;
}

void rbac_start(struct apiserver *a)
{
	struct rbac *b = mem_new(struct rbac);

	b->stale = true;
	b->observer.written = on_written;
	observe(a, &b->observer);
	a->rbac = b;
}

void rbac_free(struct rbac *b)
{
	if (!b)
		return;
	list_remove(&b->observer.link);
	forget(b);
	free(b);
}

/* --- the rules of a user ---------------------------------------------------------------------- */

/* True if the subject of a binding is user u, or one of the user's groups. ns: namespace of the
 * binding, for a ServiceAccount subject without one. */
static bool is_subject(const json_t *subject, const char *ns, const struct user *u)
{
	const char *kind = json_str_at(subject, "kind"), *name = json_str_at(subject, "name");
	const char *account_ns = str_or(json_str_at(subject, "namespace"), ns);
	char account[600];

	if (!name)
		return false;
	if (str_eq(kind, "User"))
		return str_eq(name, u->name);
	if (str_eq(kind, "Group"))
		return user_in_group(u, name);
	return str_eq(kind, "ServiceAccount") && account_ns &&
	       str_format(account, sizeof(account), "system:serviceaccount:%s:%s", account_ns,
			  name) &&
	       str_eq(account, u->name);
}

static bool binds(const json_t *binding, const struct user *u)
{
	const char *ns = json_str_at(binding, "metadata", "namespace");
	size_t i;
	json_t *subject;

	json_array_foreach (json_object_get(binding, "subjects"), i, subject)
		if (is_subject(subject, ns, u))
			return true;
	return false;
}

struct visit {
	struct rbac *b;
	/* Called for each rule; returns true to stop. */
	bool (*fn)(const json_t *rule, void *arg);
	void *arg;
};

static bool visit_rules(const struct visit *v, const json_t *rules)
{
	size_t i;
	json_t *rule;

	json_array_foreach (rules, i, rule)
		if (v->fn(rule, v->arg))
			return true;
	return false;
}

static bool is_aggregated(const json_t *role, const json_t *labels)
{
	size_t i;
	json_t *selector;

	json_array_foreach (json_at(role, "aggregationRule", "clusterRoleSelectors"), i, selector)
		if (selector_object_matches(selector, labels))
			return true;
	return false;
}

/* Calls v->fn for the rules of the role. An aggregated role has the rules of the roles that its
 * aggregationRule selects; the rules stored in the role itself are ignored. */
static bool visit_role(const struct visit *v, const json_t *role)
{
	const char *name;
	json_t *other;

	if (!json_is_object(json_object_get(role, "aggregationRule")))
		return visit_rules(v, json_object_get(role, "rules"));
	json_object_foreach (v->b->cluster_roles, name, other)
		if (!json_object_get(other, "aggregationRule") &&
		    is_aggregated(role, json_at(other, "metadata", "labels")) &&
		    visit_rules(v, json_object_get(other, "rules")))
			return true;
	return false;
}

static const json_t *role_of(const struct rbac *b, const json_t *ref, const char *ns)
{
	const char *name = json_str_at(ref, "name");
	char key[600];

	if (!name)
		return NULL;
	if (str_eq(json_str_at(ref, "kind"), "ClusterRole"))
		return json_object_get(b->cluster_roles, name);
	return ns && str_format(key, sizeof(key), "%s/%s", ns, name)
		       ? json_object_get(b->roles, key)
		       : NULL;
}

static const json_t *bound_by(const struct visit *v, const json_t *bindings, const struct user *u,
			      const char *ns)
{
	size_t i;
	json_t *binding;

	json_array_foreach (bindings, i, binding)
		if ((!ns || str_eq(json_str_at(binding, "metadata", "namespace"), ns)) &&
		    binds(binding, u) &&
		    visit_role(v, role_of(v->b, json_object_get(binding, "roleRef"), ns)))
			return binding;
	return NULL;
}

/* Calls fn for every rule that u has in the cluster and in namespace ns (NULL or "": only in the
 * cluster), until fn returns true. Returns the binding that granted that last rule; NULL: fn never
 * returned true. */
static const json_t *visit_user(struct apiserver *a, const struct user *u, const char *ns,
				bool (*fn)(const json_t *rule, void *arg), void *arg)
{
	struct visit v = {.b = fresh(a), .fn = fn, .arg = arg};
	const json_t *by = bound_by(&v, v.b->cluster_bindings, u, NULL);

	return by || str_empty(ns) ? by : bound_by(&v, v.b->bindings, u, ns);
}

void rbac_rules(struct apiserver *a, const struct user *u, const char *ns,
		bool (*fn)(const json_t *rule, void *arg), void *arg)
{
	visit_user(a, u, ns, fn, arg);
}

/* --- does a rule allow it? -------------------------------------------------------------------- */

static bool names(const json_t *list, const char *wanted)
{
	size_t i;
	json_t *one;

	json_array_foreach (list, i, one)
		if (str_eq(json_string_value(one), wanted) || str_eq(json_string_value(one), "*"))
			return true;
	return false;
}

static bool names_resource(const json_t *list, const struct access *x)
{
	const char *sub = strchr(x->resource, '/');
	size_t i;
	json_t *one;

	if (names(list, x->resource))
		return true;
	json_array_foreach (list, i, one) {
		const char *r = json_string_value(one);

		if (sub && r && str_starts(r, "*/") && str_eq(r + 1, sub))
			return true;
	}
	return false;
}

static bool names_path(const json_t *list, const char *path)
{
	size_t i, n;
	json_t *one;

	json_array_foreach (list, i, one) {
		const char *p = str_or(json_string_value(one), "");

		n = strlen(p);
		if (str_eq(p, path) || (n && p[n - 1] == '*' && strncmp(p, path, n - 1) == 0))
			return true;
	}
	return false;
}

static bool rule_allows(const json_t *rule, void *arg)
{
	const struct access *x = arg;
	const json_t *only = json_object_get(rule, "resourceNames");
	size_t i;
	json_t *one;

	if (!names(json_object_get(rule, "verbs"), x->verb))
		return false;
	if (x->path)
		return names_path(json_object_get(rule, "nonResourceURLs"), x->path);
	if (!names(json_object_get(rule, "apiGroups"), x->group) ||
	    !names_resource(json_object_get(rule, "resources"), x))
		return false;
	json_array_foreach (only, i, one)
		if (!str_empty(x->name) && str_eq(json_string_value(one), x->name))
			return true;
	return json_array_size(only) == 0;
}

bool rbac_allows(struct apiserver *a, const struct user *u, const struct access *x, const char **by)
{
	const json_t *binding;

	if (user_in_group(u, "system:masters"))
		return true;
	binding = visit_user(a, u, x->ns, rule_allows, (void *)x);
	if (binding && by)
		*by = json_str_at(binding, "metadata", "name");
	return binding;
}

/* --- requests --------------------------------------------------------------------------------- */

static const char *verb_of(const struct request *rq)
{
	const char *method = httpd_method(rq->q);

	if (str_eq(method, "POST"))
		return "create";
	if (str_eq(method, "PUT"))
		return "update";
	if (str_eq(method, "PATCH"))
		return "patch";
	if (str_eq(method, "DELETE"))
		return rq->name ? "delete" : "deletecollection";
	if (rq->name)
		return "get";
	return name_is_true(httpd_query(rq->q, "watch")) ? "watch" : "list";
}

/* Returns the name NAME if a list, watch or deletecollection has the field selector
 * metadata.name=NAME; NULL otherwise. RBAC treats such a request as one for the object of that
 * name. */
static const char *selected_name(struct request *rq)
{
	const char *fields = httpd_query(rq->q, "fieldSelector");
	char *rest = fields ? arena_strdup(rq->arena, fields) : NULL;

	for (char *term; rest && (term = strsep(&rest, ","));)
		if (str_starts(term, "metadata.name="))
			return term + strlen("metadata.name=") +
			       (term[strlen("metadata.name=")] == '=');
	return NULL;
}

static int forbidden(struct request *rq, const struct access *x)
{
	const char *where = str_empty(x->ns)
				    ? " at the cluster scope"
				    : arena_printf(rq->arena, " in the namespace \"%s\"", x->ns);
	const char *name = str_empty(x->name) ? "" : arena_printf(rq->arena, " \"%s\"", x->name);

	if (x->path)
		return fault_set(&rq->fault, FAULT_FORBIDDEN,
				 "forbidden: User \"%s\" cannot %s path \"%s\"", rq->user.name,
				 x->verb, x->path);
	return fault_set(&rq->fault, FAULT_FORBIDDEN,
			 "%s%s%s%s is forbidden: User \"%s\" cannot %s resource "
			 "\"%s\" in API group \"%s\"%s",
			 rq->r->plural, *x->group ? "." : "", x->group, name, rq->user.name,
			 x->verb, x->resource, x->group, where);
}

int rbac_check(struct request *rq)
{
	struct access x = {0};

	if (!rq->a->spec.rbac)
		return 0;
	x.verb = verb_of(rq);
	if (!rq->r) {
		/* The path is not that of a resource. For such paths RBAC uses the HTTP method in
		 * lower case as the verb. */
		x.path = httpd_path(rq->q);
		x.verb = "get";
	} else {
		x.group = rq->r->group;
		x.resource = rq->sub ? arena_printf(rq->arena, "%s/%s", rq->r->plural, rq->sub)
				     : rq->r->plural;
		x.ns = rq->ns ? rq->ns : str_eq(rq->r->key, "namespaces/") ? rq->name : NULL;
		x.name = rq->name ? rq->name : selected_name(rq);
	}
	return rbac_allows(rq->a, &rq->user, &x, NULL) ? 0 : forbidden(rq, &x);
}

/* --- users may grant only rights that they have ----------------------------------------------- */

struct escalation {
	struct request *rq;
	const char *ns;
	struct access missing;
};

static const char *nth(const json_t *list, size_t i)
{
	return str_or(json_string_value(json_array_get(list, i)), "");
}

static bool holds(struct escalation *x, const struct access *one)
{
	if (rbac_allows(x->rq->a, &x->rq->user, one, NULL))
		return true;
	x->missing = *one;
	return false;
}

static bool lacks_resources(const json_t *rule, struct escalation *x, const char *verb)
{
	const json_t *groups = json_object_get(rule, "apiGroups");
	const json_t *resources = json_object_get(rule, "resources");
	const json_t *only = json_object_get(rule, "resourceNames");

	for (size_t g = 0; g < json_array_size(groups); g++) {
		for (size_t r = 0; r < json_array_size(resources); r++) {
			struct access one = {.verb = verb,
					     .group = nth(groups, g),
					     .resource = nth(resources, r),
					     .ns = x->ns};
			size_t n = json_array_size(only);

			/* A rule without resourceNames grants the right for all names: check that
			 * the user has the right for all names too. */
			for (size_t i = 0; i < (n ? n : 1); i++) {
				one.name = n ? nth(only, i) : NULL;
				if (!holds(x, &one))
					return true;
			}
		}
	}
	return false;
}

/* True (which ends the iteration) if the user lacks a right of this rule. A wildcard in the rule
 * counts as covered only if the user has the same wildcard. */
static bool lacks(const json_t *rule, void *arg)
{
	struct escalation *x = arg;
	const json_t *verbs = json_object_get(rule, "verbs");
	const json_t *paths = json_object_get(rule, "nonResourceURLs");

	for (size_t v = 0; v < json_array_size(verbs); v++) {
		if (lacks_resources(rule, x, nth(verbs, v)))
			return true;
		for (size_t i = 0; i < json_array_size(paths); i++) {
			struct access one = {.verb = nth(verbs, v), .path = nth(paths, i)};

			if (!holds(x, &one))
				return true;
		}
	}
	return false;
}

static int escalates(const struct escalation *x, struct fault *f)
{
	const struct access *m = &x->missing;

	return fault_set(f, FAULT_FORBIDDEN,
			 "%s \"%.100s\" is forbidden: user \"%.100s\" is attempting to grant RBAC "
			 "permissions not currently held: %s %.100s",
			 x->rq->r->plural, str_or(x->rq->name, ""), x->rq->user.name, m->verb,
			 m->path ? m->path : m->resource);
}

/* True if the user has all rights. Only such a user may write an aggregated role, because nobody
 * knows which rules the role will get from other roles later. */
static bool holds_all(struct escalation *x)
{
	const struct access things = {.verb = "*", .group = "*", .resource = "*"};
	const struct access paths = {.verb = "*", .path = "*"};

	return holds(x, &things) && holds(x, &paths);
}

int rbac_check_grant(struct request *rq, const json_t *obj, struct fault *f)
{
	const json_t *ref = json_object_get(obj, "roleRef");
	bool role = str_ends(rq->r->kind, "Role");
	struct escalation x = {.rq = rq, .ns = json_str_at(obj, "metadata", "namespace")};
	struct visit v = {.fn = lacks, .arg = &x};
	struct access pass = {.group = GROUP_RBAC, .ns = x.ns};

	if (!rq->a->spec.rbac || !rq->q || !str_eq(rq->r->group, GROUP_RBAC))
		return 0;
	pass.verb = role ? "escalate" : "bind";
	pass.resource = role						  ? rq->r->plural
			: str_eq(json_str_at(ref, "kind"), "ClusterRole") ? "clusterroles"
									  : "roles";
	pass.name = role ? json_str_at(obj, "metadata", "name") : json_str_at(ref, "name");
	if (rbac_allows(rq->a, &rq->user, &pass, NULL))
		return 0;
	if (role && json_object_get(obj, "aggregationRule"))
		return holds_all(&x) ? 0 : escalates(&x, f);
	v.b = fresh(rq->a);
	if (!role && !role_of(v.b, ref, x.ns))
		return fault_set(f, FAULT_NOT_FOUND, "%s \"%s\" not found", pass.resource,
				 str_or(pass.name, ""));
	return visit_role(&v, role ? obj : role_of(v.b, ref, x.ns)) ? escalates(&x, f) : 0;
}
