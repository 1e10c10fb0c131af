/*
 * netris_json: the objects of the simulated network in the form of a Netris controller's answers.
 * Tests: tests/unit/sim/netris/test_netris.c, tests/contract/test_fabric.c
 */
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "base/str.h"
#include "sim/netris/netris_impl.h"

/* --- forms ------------------------------------------------------------------------------------ */

/* Returns the form of the present answer, from the number of the request: bit 0 numbers as strings,
 * bit 1 words for booleans, bit 2 short lists. */
unsigned nt_form(const struct sim_netris *s)
{
	return s->spec.loose ? s->requests % 8 : 0;
}

json_t *nt_number(const struct sim_netris *s, int64_t n)
{
	char text[24];

	if (!(nt_form(s) & 1))
		return json_integer(n);
	str_format(text, sizeof(text), "%lld", (long long)n);
	return json_string(text);
}

json_t *nt_truth(const struct sim_netris *s, bool is)
{
	return nt_form(s) & 2 ? json_string(is ? "yes" : "no") : json_boolean(is);
}

json_t *nt_ref(const struct sim_netris *s, int64_t id, const char *name)
{
	return json_pack("{s:o, s:s?}", "id", nt_number(s, id), "name", name);
}

static json_t *label(const char *text)
{
	return json_pack("{s:s, s:i}", "label", text, "value", 1);
}

/* --- objects ---------------------------------------------------------------------------------- */

static const char *leaf_of(const struct sim_netris *s, const struct nt_server *v, unsigned nic)
{
	return s->switches[v->leaf + nic].name;
}

static int64_t port_id(const struct sim_netris *s, const struct nt_server *v, unsigned nic)
{
	return 100000 + (int64_t)(v - s->servers) * NT_NICS + nic;
}

static void port_name(const struct sim_netris *s, const struct nt_server *v, unsigned nic,
		      char out[static 64])
{
	str_format(out, 64, "swp%d@%s", (int)((v - s->servers) % NT_PER_LEAF) + 1,
		   leaf_of(s, v, nic));
}

json_t *nt_vpc_json(const struct sim_netris *s, const struct nt_vpc *v)
{
	return json_pack("{s:o, s:s, s:o, s:O}", "id", nt_number(s, v->id), "name", v->name,
			 "adminTenant", nt_ref(s, NT_TENANT_ID, "Admin"), "tags", v->tags);
}

static json_t *template_json(const struct sim_netris *s, unsigned i)
{
	json_t *t = json_pack("{s:o, s:s, s:[{s:s, s:s, s:[s, s]}]}", "id",
			      nt_number(s, NT_TEMPLATE_ID + i), "name", nt_template_names[i],
			      "vnets", "postfix", "ns", "type", "l2vpn", "serverNics",
			      i == NT_OTHER_NICS ? "eth8" : "eth1",
			      i == NT_OTHER_NICS ? "eth9" : "eth2");

	for (int f = 0; f < NT_FABRICS && i == NT_WITH_FABRICS; f++)
		json_array_append_new(json_object_get(t, "vnets"),
				      json_pack("{s:s, s:s, s:[]}", "postfix",
						nt_fabrics[f].postfix, "type", nt_fabrics[f].type,
						"serverNics"));
	return t;
}

json_t *nt_templates_json(const struct sim_netris *s)
{
	json_t *all = json_array();

	for (unsigned i = 0; i < NT_TEMPLATES; i++)
		json_array_append_new(all, template_json(s, i));
	return all;
}

json_t *nt_cluster_json(struct sim_netris *s, const struct nt_cluster *c, bool stale, bool short_)
{
	const struct nt_member *v = stale ? c->before : c->v;
	size_t n = stale ? c->nbefore : c->n;
	json_t *servers = json_array();
	char vnet[300];
	json_t *j;

	for (size_t i = 0; i < n; i++) {
		json_t *m = json_pack("{s:o, s:s}", "id", nt_number(s, v[i].server->id), "name",
				      v[i].server->name);

		if (!nt_stands(s, "NoShared", NULL))
			json_object_set_new(m, "shared", nt_truth(s, v[i].shared));
		json_array_append_new(servers, m);
	}
	str_format(vnet, sizeof(vnet), "%s-ns", c->name);
	j = json_pack("{s:o, s:s, s:o, s:o, s:o, s:o, s:O, s:{s:[o]}, s:o}", "id",
		      nt_number(s, c->id), "name", c->name, "site", nt_ref(s, NT_SITE_ID, "hall"),
		      "vpc", nt_ref(s, c->vpc, NULL), "admin", nt_ref(s, NT_TENANT_ID, "Admin"),
		      "srvClusterTemplate",
		      nt_ref(s, NT_TEMPLATE_ID + c->template_, nt_template_names[c->template_]),
		      "tags", c->tags, "resources", "vnets", nt_ref(s, c->vnet, vnet), "status",
		      label(nt_is_active(s, c) ? "Active" : "Provisioning"));
	for (int f = 0; f < NT_FABRICS && c->fabric[f]; f++) {
		str_format(vnet, sizeof(vnet), "%s-%s", c->name, nt_fabrics[f].postfix);
		json_array_append_new(json_object_get(json_object_get(j, "resources"), "vnets"),
				      nt_ref(s, c->fabric[f], vnet));
	}
	if (short_)
		json_decref(servers);
	else
		json_object_set_new(j, "servers", servers);
	return j;
}

/* Returns the V-net of a fabric (InfiniBand, NVLink). The V-net lists the servers that the
 * fabric manager must move into the V-net, and the servers that the fabric manager has not moved
 * out yet. */
json_t *nt_fabric_json(struct sim_netris *s, const struct nt_cluster *c, int f, bool short_)
{
	json_t *servers = json_array(), *j;
	char name[300];

	for (size_t i = 0; i < s->nservers; i++) {
		const struct nt_server *v = &s->servers[i];
		bool told = v->told[NT_NICS + f] == c->id;

		if (!nt_is_shown(s, v, c) && !told)
			continue;
		json_array_append_new(
			servers,
			json_pack("{s:o, s:s, s:o}", "id", nt_number(s, v->id), "name", v->name,
				  "status",
				  label(told == (v->cluster == c) ? "Active" : "Provisioning")));
	}
	str_format(name, sizeof(name), "%s-%s", c->name, nt_fabrics[f].postfix);
	j = json_pack("{s:o, s:s, s:s, s:s, s:o, s:o}", "id", nt_number(s, c->fabric[f]), "name",
		      name, "type", nt_fabrics[f].type, "state", "active", "status",
		      label("Active"), "vpc", nt_ref(s, c->vpc, NULL));
	if (short_ || nt_stands(s, "NoServers", NULL))
		json_decref(servers);
	else
		json_object_set_new(j, "servers", servers);
	return j;
}

static json_t *gateway_json(struct sim_netris *s, const struct nt_cluster *c)
{
	char gateway[32], start[32], end[32];

	str_format(gateway, sizeof(gateway), "10.20.%u.1/24", c->net);
	str_format(start, sizeof(start), "10.20.%u.100", c->net);
	str_format(end, sizeof(end), "10.20.%u.199", c->net);
	return json_pack("{s:s, s:o, s:{s:s, s:s}}", "prefix", gateway, "dhcpEnabled",
			 nt_truth(s, true), "dhcp", "start", start, "end", end);
}

/* Returns the V-net of a cluster with the ports of the cluster's unshared members. The ports of a
 * shared member stay in the V-net of the cluster that contains the server unshared. */
json_t *nt_vnet_json(struct sim_netris *s, const struct nt_cluster *c, bool short_)
{
	unsigned nics = c->template_ == NT_OTHER_NICS ? 0 : NT_NICS;
	json_t *ports = json_array(), *j;
	char name[300];

	for (size_t i = 0; i < s->nservers; i++) {
		const struct nt_server *v = &s->servers[i];

		for (unsigned k = 0; k < nics && nt_is_shown(s, v, c); k++) {
			port_name(s, v, k, name);
			json_array_append_new(ports,
					      json_pack("{s:o, s:s, s:o, s:o}", "id",
							nt_number(s, port_id(s, v, k)), "name",
							name, "status", label("Active"), "switch",
							nt_ref(s, s->switches[v->leaf + k].id,
							       leaf_of(s, v, k))));
		}
	}
	str_format(name, sizeof(name), "%s-ns", c->name);
	j = json_pack("{s:o, s:s, s:s, s:s, s:o, s:o, s:o}", "id", nt_number(s, c->vnet), "name",
		      name, "type", "l2vpn", "state", "active", "status", label("Active"), "vpc",
		      nt_ref(s, c->vpc, NULL), "portsCount",
		      nt_number(s, (int64_t)json_array_size(ports)));
	if (!nt_stands(s, "NoGateways", NULL))
		json_object_set_new(j, "gateways", json_pack("[o]", gateway_json(s, c)));
	if (short_)
		json_decref(ports);
	else
		json_object_set_new(j, "ports", ports);
	return j;
}

json_t *nt_server_json(const struct sim_netris *s, const struct nt_server *v)
{
	return json_pack("{s:o, s:s, s:s, s:o, s:o, s:o}", "id", nt_number(s, v->id), "name",
			 v->name, "type", "server", "site", nt_ref(s, NT_SITE_ID, "hall"), "tenant",
			 nt_ref(s, NT_TENANT_ID, "Admin"), "serverClusterID",
			 v->cluster ? nt_number(s, v->cluster->id) : json_null());
}

json_t *nt_switch_json(const struct sim_netris *s, const struct nt_switch *w)
{
	char seen[STR_TIME_SIZE];

	return json_pack("{s:o, s:s, s:s, s:o, s:o, s:s}", "id", nt_number(s, w->id), "name",
			 w->name, "type", "switch", "site", nt_ref(s, NT_SITE_ID, "hall"), "health",
			 label("OK"), "lastSeen", str_time_micro(seen, w->seen));
}

json_t *nt_links_json(const struct sim_netris *s)
{
	json_t *all = json_array();

	for (size_t i = 0; i < s->nservers; i++)
		for (unsigned k = 0; k < NT_NICS; k++) {
			char near[64], far[64];

			str_format(near, sizeof(near), "eth%u@%s", k + 1, s->servers[i].name);
			port_name(s, &s->servers[i], k, far);
			json_array_append_new(
				all, json_pack("{s:o, s:o}", i & 1 ? "remote" : "local",
					       nt_ref(s, 300000 + (int64_t)(i * NT_NICS + k), near),
					       i & 1 ? "local" : "remote",
					       nt_ref(s, port_id(s, &s->servers[i], k), far)));
		}
	return all;
}

json_t *nt_ports_json(const struct sim_netris *s)
{
	json_t *all = json_array();

	for (size_t i = 0; i < s->nservers; i++)
		for (unsigned k = 0; k < NT_NICS; k++) {
			const struct nt_server *v = &s->servers[i];
			char name[64];

			port_name(s, v, k, name);
			json_array_append_new(
				all,
				json_pack("{s:o, s:s, s:o, s:o, s:o}", "id",
					  nt_number(s, port_id(s, v, k)), "name", name, "switch",
					  nt_ref(s, s->switches[v->leaf + k].id, leaf_of(s, v, k)),
					  "adminDown", nt_truth(s, false), "status", label("Up")));
		}
	return all;
}

json_t *nt_subnets_json(const struct sim_netris *s)
{
	json_t *all = json_pack("[{s:o, s:s, s:s, s:s}]", "id", nt_number(s, 501), "name",
				"servers", "prefix", "10.20.0.0/16", "purpose", "common");

	if (!nt_stands(s, "NoLbSubnet", NULL))
		json_array_append_new(all, json_pack("{s:o, s:s, s:s, s:s}", "id",
						     nt_number(s, 502), "name", "balancers",
						     "prefix", SIM_NETRIS_FREE "0/24", "purpose",
						     "load-balancer"));
	return all;
}
