#include <stdlib.h>
#include <string.h>
#include "base/str.h"
#include "kube/apiserver/server.h"

/*
 * Answers review requests of authentication.k8s.io and authorization.k8s.io, whose objects are not
 * stored.
 * Tests: tests/unit/kube/apiserver/test_auth.c
 */

static json_t *user_object(const struct user *u)
{
	json_t *groups = json_array();
	json_t *j = json_pack("{s:s, s:o}", "username", u->name, "groups", groups);

	for (size_t i = 0; i < u->ngroups; i++)
		json_array_append_new(groups, json_string(u->groups[i]));
	if (u->uid)
		json_object_set_new(j, "uid", json_string(u->uid));
	return j;
}

static json_t *token_status(struct request *rq, const json_t *spec)
{
	const char *text = json_str_at(spec, "token");
	OWN(secret) token = text ? secret_from_str(text) : NULL;
	struct user u;
	json_t *fit =
		token ? auth_token(rq->a, token, json_object_get(spec, "audiences"), &u, rq->arena)
		      : NULL;

	if (!fit)
		return json_pack("{s:b, s:s, s:{}}", "authenticated", 0, "error",
				 "the token is not known", "user");
	return json_pack("{s:b, s:o, s:o}", "authenticated", 1, "user", user_object(&u),
			 "audiences", fit);
}

/* --- may a user do something? ----------------------------------------------------------------- */

static struct access access_of(struct request *rq, const json_t *spec)
{
	const json_t *on = json_object_get(spec, "resourceAttributes");
	const json_t *path = json_object_get(spec, "nonResourceAttributes");
	const char *resource = str_or(json_str_at(on, "resource"), "");
	const char *sub = json_str_at(on, "subresource");
	struct access x = {
		.verb = str_or(json_str_at(on ? on : path, "verb"), ""),
		.path = json_str_at(path, "path"),
		.group = str_or(json_str_at(on, "group"), ""),
		.resource =
			str_empty(sub) ? resource : arena_printf(rq->arena, "%s/%s", resource, sub),
		.ns = json_str_at(on, "namespace"),
		.name = json_str_at(on, "name"),
	};

	return x;
}

static json_t *access_status(struct request *rq, const struct user *u, const struct access *x)
{
	const char *by = NULL;
	bool allowed = !rq->a->spec.rbac || rbac_allows(rq->a, u, x, &by);
	json_t *status = json_pack("{s:b}", "allowed", allowed);

	if (by)
		json_object_set_new(status, "reason",
				    json_string(arena_printf(
					    rq->arena, "RBAC: allowed by binding \"%s\"", by)));
	return status;
}

static struct user user_of_spec(struct request *rq, const json_t *spec)
{
	struct user u = {.name = str_or(json_str_at(spec, "user"), "")};
	size_t i;
	json_t *group;

	json_array_foreach (json_object_get(spec, "groups"), i, group)
		user_add_group(&u, rq->arena, str_or(json_string_value(group), ""));
	return u;
}

/* --- what may a user do? ---------------------------------------------------------------------- */

struct rules {
	json_t *resources, *paths;
};

static bool add_rule(const json_t *rule, void *arg)
{
	static const char *const members[] = {"verbs", "apiGroups", "resources", "resourceNames",
					      "nonResourceURLs"};
	struct rules *r = arg;
	json_t *copy = json_object();

	for (size_t i = 0; i < sizeof(members) / sizeof(*members); i++)
		if (json_object_get(rule, members[i]))
			json_object_set(copy, members[i], json_object_get(rule, members[i]));
	json_array_append_new(json_object_get(rule, "nonResourceURLs") ? r->paths : r->resources,
			      copy);
	return false;
}

static json_t *rules_status(struct request *rq, const char *ns)
{
	struct rules r = {.resources = json_array(), .paths = json_array()};
	bool all = !rq->a->spec.rbac || user_in_group(&rq->user, "system:masters");

	if (all) {
		json_array_append_new(r.resources, json_pack("{s:[s], s:[s], s:[s]}", "verbs", "*",
							     "apiGroups", "*", "resources", "*"));
		json_array_append_new(
			r.paths, json_pack("{s:[s], s:[s]}", "verbs", "*", "nonResourceURLs", "*"));
	} else {
		rbac_rules(rq->a, &rq->user, ns, add_rule, &r);
	}
	return json_pack("{s:o, s:o, s:b}", "resourceRules", r.resources, "nonResourceRules",
			 r.paths, "incomplete", 0);
}

/* --- the request ------------------------------------------------------------------------------ */

static json_t *status_of(struct request *rq, const json_t *spec)
{
	const char *what = rq->r->plural;
	struct access x = access_of(rq, spec);

	if (str_eq(what, "selfsubjectreviews"))
		return json_pack("{s:o}", "userInfo", user_object(&rq->user));
	if (str_eq(what, "tokenreviews"))
		return token_status(rq, spec);
	if (str_eq(what, "selfsubjectrulesreviews"))
		return rules_status(rq, json_str_at(spec, "namespace"));
	if (str_eq(what, "selfsubjectaccessreviews"))
		return access_status(rq, &rq->user, &x);

	struct user u = user_of_spec(rq, spec);

	if (rq->ns)
		x.ns = rq->ns;
	return access_status(rq, &u, &x);
}

void do_review(struct request *rq)
{
	OWN_JSON asked = request_body(rq);
	char time[STR_TIME_SIZE];
	json_t *spec;

	if (!asked || object_address(rq, asked, &rq->fault) < 0) {
		reply_fault(rq);
		return;
	}
	spec = json_object_get(asked, "spec");
	json_object_set_new(asked, "status", status_of(rq, spec));
	/* As in kube-apiserver, the reply to a SelfSubjectRulesReview has an empty spec. */
	if (str_eq(rq->r->plural, "selfsubjectrulesreviews"))
		json_object_set_new(asked, "spec", json_object());
	if (str_eq(rq->r->plural, "selfsubjectreviews"))
		json_object_set_new(object_meta(asked), "creationTimestamp",
				    json_string(str_time(time, loop_wall(rq->a->loop))));
	object_drop_zeros(rq->r, asked);
	object_add_zeros(rq->r, asked);
	reply_object(rq, 201, asked);
}
