#include <stdlib.h>
#include <string.h>
#include "base/str.h"
#include "kube/apiserver/server.h"

/* Serves unaggregated discovery (one reply per group and version) for clients that do not request
 * the aggregated form: /api, /apis and the paths below them. */

static void add_resource(json_t *list, const struct resource *r, const struct subresource *sub,
			 struct arena *a)
{
	const char *name = sub ? arena_printf(a, "%s/%s", r->plural, sub->name) : r->plural;
	json_t *j = json_pack("{s:s, s:s, s:b, s:s, s:o}", "name", name, "singularName",
			      sub ? "" : r->singular, "namespaced", r->namespaced, "kind",
			      sub ? sub->kind : r->kind, "verbs", discovery_verbs(r, sub));

	if (sub && sub->group) {
		json_object_set_new(j, "group", json_string(sub->group));
		json_object_set_new(j, "version", json_string(sub->version));
	}

	if (!sub && *r->short_names)
		json_object_set_new(j, "shortNames", discovery_words(r->short_names, a));
	if (!sub && *resource_categories(r))
		json_object_set_new(j, "categories", discovery_words(resource_categories(r), a));
	json_array_append_new(list, j);
}

static void reply_resources(struct request *rq, const char *group, const char *version)
{
	json_t *list = json_array();
	struct subresource subs[MAX_SUBS];
	size_t n;
	const char *gv = *group ? arena_printf(rq->arena, "%s/%s", group, version) : version;
	OWN_JSON j = json_pack("{s:s, s:s, s:s, s:o}", "kind", "APIResourceList", "apiVersion",
			       "v1", "groupVersion", gv, "resources", list);

	for (const struct resource *r = NULL; resource_next(rq->a, &r);) {
		if (!str_eq(r->group, group) || !str_eq(r->version, version))
			continue;
		add_resource(list, r, NULL, rq->arena);
		n = resource_subs(r, subs);
		for (size_t i = 0; i < n; i++)
			add_resource(list, r, &subs[i], rq->arena);
	}
	if (json_array_size(list) == 0) {
		(void)!fault_set(&rq->fault, FAULT_NOT_FOUND,
				 "the server could not find the requested resource");
		reply_fault(rq);
		return;
	}
	reply_object(rq, 200, j);
}

/* Returns the group with this name from the list groups; adds the group if it is missing. */
static json_t *group_in(json_t *groups, const char *name)
{
	size_t i;
	json_t *g;

	json_array_foreach (groups, i, g)
		if (str_eq(json_str_at(g, "name"), name))
			return g;
	g = json_pack("{s:s, s:[]}", "name", name, "versions");
	json_array_append_new(groups, g);
	return g;
}

static bool has_version(const json_t *versions, const char *gv)
{
	size_t i;
	json_t *v;

	json_array_foreach (versions, i, v)
		if (str_eq(json_str_at(v, "groupVersion"), gv))
			return true;
	return false;
}

static json_t *all_groups(struct request *rq)
{
	json_t *groups = json_array();

	for (const struct resource *r = NULL; resource_next(rq->a, &r);) {
		if (!*r->group)
			continue;

		json_t *g = group_in(groups, r->group), *versions = json_object_get(g, "versions");
		const char *gv = resource_api_version(r, rq->arena);
		json_t *v = json_pack("{s:s, s:s}", "groupVersion", gv, "version", r->version);

		if (!json_object_get(g, "preferredVersion"))
			json_object_set(g, "preferredVersion", v);
		if (!has_version(versions, gv))
			json_array_append(versions, v);
		json_decref(v);
	}
	return groups;
}

static void reply_group(struct request *rq, const char *group)
{
	OWN_JSON groups = all_groups(rq);
	size_t i;
	json_t *g;

	json_array_foreach (groups, i, g) {
		if (!str_eq(json_str_at(g, "name"), group))
			continue;
		json_object_set_new(g, "kind", json_string("APIGroup"));
		json_object_set_new(g, "apiVersion", json_string("v1"));
		reply_object(rq, 200, g);
		return;
	}
	(void)!fault_set(&rq->fault, FAULT_NOT_FOUND,
			 "the server could not find the requested resource");
	reply_fault(rq);
}

/* Replies to a discovery request. group NULL: /apis, the list of groups. group "" and version NULL:
 * /api, the versions of the core group. Otherwise: the kinds of that group and version. */
void do_discovery(struct request *rq, const char *group, const char *version)
{
	if (!str_eq(httpd_method(rq->q), "GET") && !str_eq(httpd_method(rq->q), "HEAD")) {
		(void)!fault_set(&rq->fault, FAULT_METHOD,
				 "the server does not allow this method on the requested resource");
		reply_fault(rq);
	} else if (!version && (!group || !*group) && do_discovery_aggregated(rq, group != NULL)) {
		return;
	} else if (!group) {
		OWN_JSON j = json_pack("{s:s, s:s, s:o}", "kind", "APIGroupList", "apiVersion",
				       "v1", "groups", all_groups(rq));

		reply_object(rq, 200, j);
	} else if (version) {
		reply_resources(rq, group, version);
	} else if (*group) {
		reply_group(rq, group);
	} else {
		OWN_JSON j = json_pack("{s:s, s:[s], s:[]}", "kind", "APIVersions", "versions",
				       "v1", "serverAddressByClientCIDRs");

		reply_object(rq, 200, j);
	}
}

void do_version(struct request *rq)
{
	const char *v = rq->a->version;
	char *major = arena_strdup(rq->arena, *v == 'v' ? v + 1 : v), *minor = strchr(major, '.');

	if (minor) {
		*minor++ = '\0';
		minor[strcspn(minor, ".")] = '\0';
	}

	OWN_JSON j = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s}", "major", major,
			       "minor", str_or(minor, "0"), "gitVersion", v, "gitCommit", "",
			       "gitTreeState", "clean", "buildDate", "1970-01-01T00:00:00Z",
			       "goVersion", "", "compiler", "", "platform", "linux/amd64");

	reply_object(rq, 200, j);
}
