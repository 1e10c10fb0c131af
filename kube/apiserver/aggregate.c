#include <stdlib.h>
#include <string.h>
#include "base/str.h"
#include "kube/apiserver/server.h"

/*
 * Serves aggregated discovery (apidiscovery.k8s.io/v2), which describes all kinds in two replies:
 * one for /api (the core group), one for /apis (all other groups).
 * Tests: tests/unit/kube/apiserver/test_discovery.c
 */

#define CONTENT_TYPE "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

static json_t *kind_of(const char *group, const char *version, const char *kind)
{
	return json_pack("{s:s, s:s, s:s}", "group", group, "version", version, "kind", kind);
}

static json_t *sub_of(const struct resource *r, const struct subresource *sub)
{
	return json_pack("{s:s, s:o, s:o}", "subresource", sub->name, "responseKind",
			 sub->group ? kind_of(sub->group, sub->version, sub->kind)
				    : kind_of(r->group, r->version, sub->kind),
			 "verbs", discovery_verbs(r, sub));
}

static json_t *resource_of(const struct resource *r, struct arena *a)
{
	struct subresource subs[MAX_SUBS];
	size_t n = resource_subs(r, subs);
	json_t *j = json_pack("{s:s, s:o, s:s, s:s, s:o}", "resource", r->plural, "responseKind",
			      kind_of(r->group, r->version, r->kind), "scope",
			      r->namespaced ? "Namespaced" : "Cluster", "singularResource",
			      r->singular, "verbs", discovery_verbs(r, NULL));

	if (*r->short_names)
		json_object_set_new(j, "shortNames", discovery_words(r->short_names, a));
	if (*resource_categories(r))
		json_object_set_new(j, "categories", discovery_words(resource_categories(r), a));
	if (n)
		json_object_set_new(j, "subresources", json_array());
	for (size_t i = 0; i < n; i++)
		json_array_append_new(json_object_get(j, "subresources"), sub_of(r, &subs[i]));
	return j;
}

/* Returns the element of list whose given member has the given value. If there is none, appends the
 * object `otherwise` to list and returns it. */
static json_t *element(json_t *list, const char *member, const char *value, json_t *otherwise)
{
	size_t i;
	json_t *v;

	json_array_foreach (list, i, v) {
		const char *is = str_eq(member, "name") ? json_str_at(v, "metadata", "name")
							: json_str_at(v, member);

		if (str_eq(is, value)) {
			json_decref(otherwise);
			return v;
		}
	}
	json_array_append_new(list, otherwise);
	return otherwise;
}

static bool accepts(const struct request *rq)
{
	const char *accept = httpd_header(rq->q, "Accept");

	return accept && strstr(accept, "g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList");
}

bool do_discovery_aggregated(struct request *rq, bool core)
{
	json_t *items = json_array();
	OWN_JSON j = json_pack("{s:s, s:s, s:{}, s:o}", "kind", "APIGroupDiscoveryList",
			       "apiVersion", "apidiscovery.k8s.io/v2", "metadata", "items", items);
	char *text;

	if (!accepts(rq))
		return false;
	for (const struct resource *r = NULL; resource_next(rq->a, &r);) {
		json_t *group, *version;

		if (!*r->group != core)
			continue;
		group = element(items, "name", r->group,
				json_pack("{s:{s:s, s:n}, s:[]}", "metadata", "name", r->group,
					  "creationTimestamp", "versions"));
		version = element(json_object_get(group, "versions"), "version", r->version,
				  json_pack("{s:s, s:[], s:s}", "version", r->version, "resources",
					    "freshness", "Current"));
		json_array_append_new(json_object_get(version, "resources"),
				      resource_of(r, rq->arena));
	}
	text = json_text(j);
	reply_text(rq, 200, CONTENT_TYPE, text, strlen(text), store_rev(rq->a->store));
	free(text);
	return true;
}
