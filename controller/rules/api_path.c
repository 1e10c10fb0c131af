#include "controller/rules/api_path.h"

#include "base/str.h"

/* api_path: the network path from a tenant's machines to its API server.
 * Tests: tests/unit/controller/rules/test_api_path.c */

const char *api_path_address(const struct virtual_cluster *vc)
{
	const struct virtual_cluster_api_server *w = vc->spec.network.api_server;
	const struct virtual_cluster_api_path *found = vc->status.api_server;

	if (!w)
		return NULL;
	if (w->address)
		return w->address;
	return found && str_eq(found->provider, api_path_balancer(vc)) ? found->address : NULL;
}

const char *api_path_own_address(const struct virtual_cluster *vc)
{
	const struct virtual_cluster_api_server *w = vc->spec.network.api_server;

	return w && w->via != VIA_ADDRESS ? api_path_address(vc) : NULL;
}

const char *api_path_balancer(const struct virtual_cluster *vc)
{
	const struct virtual_cluster_api_server *w = vc->spec.network.api_server;

	return w && w->via == VIA_L4LB && w->provider_ref ? w->provider_ref->name : NULL;
}

const char *api_path_key(const struct virtual_cluster *vc, struct arena *a)
{
	const struct virtual_cluster_api_server *w = vc->spec.network.api_server;
	const char *text;

	if (!w)
		return "";
	text = arena_printf(a, "%s|%s|%s|%s|%s", str_or(vc->meta.uid, ""),
			    str_or(vc->spec.network.segment, vc->meta.name),
			    virtual_cluster_via_names[w->via], str_or(w->address, ""),
			    w->provider_ref ? w->provider_ref->name : "");
	for (size_t i = 0; i < w->backends.n; i++)
		text = arena_printf(a, "%s|%s", text, w->backends.v[i]);
	return text;
}
