#include <string.h>
#include "base/str.h"
#include "kube/apiserver/server.h"

/*
 * Verbs, short names and categories of a kind, for discovery. Separate from discovery.c, because
 * aggregate.c, which discovery.c calls, needs them too.
 * Tests: tests/unit/kube/apiserver/test_discovery.c
 */

json_t *discovery_verbs(const struct resource *r, const struct subresource *sub)
{
	if (sub ? sub->create : r->review)
		return json_pack("[s]", "create");
	if (!sub)
		return json_pack("[s,s,s,s,s,s,s,s]", "create", "delete", "deletecollection", "get",
				 "list", "patch", "update", "watch");
	return json_pack("[s,s,s]", "get", "patch", "update");
}

json_t *discovery_words(const char *words, struct arena *a)
{
	char *rest = arena_strdup(a, words);
	json_t *list = json_array();

	for (char *one; (one = strsep(&rest, " "));)
		json_array_append_new(list, json_string(one));
	return list;
}

/* Returns the categories of a kind, separated by spaces. Built-in kinds that `kubectl get all`
 * shows have the category "all". */
const char *resource_categories(const struct resource *r)
{
	static const char *const shown[] = {"Pod",	  "Service",	 "DaemonSet", "Deployment",
					    "ReplicaSet", "StatefulSet", "Job"};

	for (size_t i = 0; !r->custom && i < sizeof(shown) / sizeof(*shown); i++)
		if (str_eq(shown[i], r->kind))
			return "all";
	return str_or(r->categories, "");
}
