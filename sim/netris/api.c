#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "base/str.h"
#include "sim/netris/netris_impl.h"

/*
 * Requests: reads and changes. A request takes effect at once, whatever becomes of its answer.
 *
 * Tests: tests/unit/sim/netris/test_netris.c, tests/contract/test_fabric.c
 */
#define MAX_BODY (4u << 20)

static void on_who(struct httpd_req *q, void *arg)
{
	struct sim_netris *s = arg;

	if (nt_admitted(s, q))
		nt_reply(s, q, 200, json_pack("{s:s}", "user", s->spec.user), NULL);
}

/* --- reads ------------------------------------------------------------------------------------ */

/* Simulates another writer that changes cluster c between a client's read and its write, if a fault
 * requires it. */
static void intrude(struct sim_netris *s, struct nt_cluster *c, const char *path)
{
	const struct fault *adds = nt_strikes(s, "OtherAdds", "GET", path);
	const struct fault *removes = adds ? NULL : nt_strikes(s, "OtherRemoves", "GET", path);
	struct nt_server *v = adds	? map_get(s->by_name, str_or(adds->name, ""))
			      : removes ? map_get(s->by_name, str_or(removes->name, ""))
					: NULL;
	OWN_JSON all = json_array();

	if (!v)
		return;
	for (size_t i = 0; i < c->n; i++)
		if (c->v[i].server != v)
			json_array_append_new(all, json_pack("{s:I, s:b}", "id",
							     (json_int_t)c->v[i].server->id,
							     "shared", c->v[i].shared));
	if (adds)
		json_array_append_new(all, json_pack("{s:I}", "id", (json_int_t)v->id));
	(void)nt_members_set(s, c, all);
}

static void on_clusters(struct httpd_req *q, void *arg)
{
	struct sim_netris *s = arg;
	json_t *all = json_array();
	bool stale;

	if (!nt_admitted(s, q)) {
		json_decref(all);
		return;
	}
	stale = nt_strikes(s, "StaleRead", "GET", httpd_path(q));
	list_for_each (c, &s->clusters, struct nt_cluster, link)
		json_array_append_new(all, nt_cluster_json(s, c, stale, nt_form(s) & 4));
	if (nt_strikes(s, "Forget", "GET", httpd_path(q)) && json_array_size(all))
		json_array_remove(all, json_array_size(all) - 1);
	nt_reply(s, q, 200, all, NULL);
}

static struct nt_cluster *asked_cluster(struct sim_netris *s, struct httpd_req *q)
{
	struct nt_cluster *c = nt_cluster_of(s, nt_asked_id(q));

	if (!c)
		nt_reply(s, q, 404, NULL, "no such server cluster");
	return c;
}

static void on_cluster(struct httpd_req *q, void *arg)
{
	struct sim_netris *s = arg;
	struct nt_cluster *c;
	json_t *j;

	if (!nt_admitted(s, q) || !(c = asked_cluster(s, q)))
		return;
	j = nt_cluster_json(s, c, nt_strikes(s, "StaleRead", "GET", httpd_path(q)), false);
	intrude(s, c, httpd_path(q));
	nt_reply(s, q, 200, j, NULL);
}

static void on_vnets(struct httpd_req *q, void *arg)
{
	struct sim_netris *s = arg;
	json_t *all;

	if (!nt_admitted(s, q))
		return;
	all = json_array();
	list_for_each (c, &s->clusters, struct nt_cluster, link) {
		json_array_append_new(all, nt_vnet_json(s, c, nt_form(s) & 4));
		for (int f = 0; f < NT_FABRICS && c->fabric[f]; f++)
			json_array_append_new(all, nt_fabric_json(s, c, f, nt_form(s) & 4));
	}
	nt_reply(s, q, 200, all, NULL);
}

static void on_vnet(struct httpd_req *q, void *arg)
{
	struct sim_netris *s = arg;

	if (!nt_admitted(s, q))
		return;
	list_for_each (c, &s->clusters, struct nt_cluster, link) {
		if (c->vnet == nt_asked_id(q)) {
			nt_reply(s, q, 200, nt_vnet_json(s, c, false), NULL);
			return;
		}
		for (int f = 0; f < NT_FABRICS; f++)
			if (c->fabric[f] && c->fabric[f] == nt_asked_id(q)) {
				nt_reply(s, q, 200, nt_fabric_json(s, c, f, false), NULL);
				return;
			}
	}
	nt_reply(s, q, 404, NULL, "no such V-net");
}

static void on_hw(struct httpd_req *q, void *arg)
{
	struct sim_netris *s = arg;
	const char *type = httpd_query(q, "type");
	json_t *all;

	if (!nt_admitted(s, q))
		return;
	all = json_array();
	for (size_t i = 0; i < s->nservers && (!type || str_eq(type, "server")); i++)
		json_array_append_new(all, nt_server_json(s, &s->servers[i]));
	for (size_t i = 0; i < s->nswitches && (!type || str_eq(type, "switch")); i++)
		json_array_append_new(all, nt_switch_json(s, &s->switches[i]));
	nt_reply(s, q, 200, all, NULL);
}

static void on_vpcs(struct httpd_req *q, void *arg)
{
	struct sim_netris *s = arg;
	json_t *all;

	if (!nt_admitted(s, q))
		return;
	all = json_array();
	list_for_each (v, &s->vpcs, struct nt_vpc, link)
		json_array_append_new(all, nt_vpc_json(s, v));
	nt_reply(s, q, 200, all, NULL);
}

static void on_fixed(struct httpd_req *q, void *arg)
{
	struct sim_netris *s = arg;
	const char *path = httpd_path(q);
	json_t *all = NULL;
	OWN_JSON bare = NULL;
	char *text;

	if (!nt_admitted(s, q))
		return;
	if (str_eq(path, "/api/tenants")) { /* API v1 answers with a list without an envelope. */
		bare = json_pack("[o]", nt_ref(s, NT_TENANT_ID, "Admin"));
		text = json_text(bare);
		nt_reply_text(s, q, 200, text);
		free(text);
		return;
	}
	if (str_eq(path, "/api/users/permissions"))
		all = json_pack("{s:s}", "buildVersion", s->version);
	else if (str_eq(path, "/api/v2/sites"))
		all = json_pack("[o]", nt_ref(s, NT_SITE_ID, "hall"));
	else if (str_eq(path, "/api/v2/server-cluster-template"))
		all = nt_templates_json(s);
	else if (str_eq(path, "/api/v2/link"))
		all = nt_links_json(s);
	else if (str_eq(path, "/api/v2/ports"))
		all = nt_ports_json(s);
	else
		all = nt_subnets_json(s);
	nt_reply(s, q, 200, all, NULL);
}

/* --- changes ---------------------------------------------------------------------------------- */

static void on_put_cluster(struct httpd_req *q, void *arg)
{
	struct sim_netris *s = arg;
	OWN_JSON j = nt_body(s, q);
	struct nt_cluster *c = j ? asked_cluster(s, q) : NULL;
	const char *why;

	if (!c)
		return;
	why = nt_members_set(s, c, json_object_get(j, "servers"));
	if (why) {
		nt_reply(s, q, 400, NULL, why);
		return;
	}
	if (json_is_array(json_object_get(j, "tags"))) {
		json_decref(c->tags);
		c->tags = json_deep_copy(json_object_get(j, "tags"));
	}
	nt_reply(s, q, 200, json_pack("{s:o}", "id", nt_number(s, c->id)), NULL);
}

static void on_post_cluster(struct httpd_req *q, void *arg)
{
	struct sim_netris *s = arg;
	OWN_JSON j = nt_body(s, q);
	const char *name = json_str_at(j, "name"), *why = NULL;
	int64_t template_ = json_int_at(j, "srvClusterTemplate", "id") - NT_TEMPLATE_ID;
	int64_t vpc = json_int_at(j, "vpc", "id");
	bool has_vpc = false;
	struct nt_cluster *c;

	if (!j)
		return;
	list_for_each (v, &s->vpcs, struct nt_vpc, link)
		has_vpc = has_vpc || v->id == vpc;
	list_for_each (other, &s->clusters, struct nt_cluster, link)
		if (str_eq(other->name, name))
			why = "the name is in use";
	if (str_empty(name) || json_int_at(j, "site", "id") != NT_SITE_ID || template_ < 0 ||
	    template_ >= NT_TEMPLATES || !has_vpc)
		why = "name, site, vpc and srvClusterTemplate are required";
	if (json_int_at(j, "admin", "id") != NT_TENANT_ID) {
		nt_reply(s, q, 403, NULL, "admin must be the logged-in account");
		return;
	}
	if (why) {
		nt_reply(s, q, 400, NULL, why);
		return;
	}
	c = nt_cluster_new(s, name, vpc, (unsigned)template_, json_object_get(j, "tags"));
	why = nt_members_set(s, c, json_object_get(j, "servers"));
	if (why) {
		nt_cluster_free(s, c);
		nt_reply(s, q, 400, NULL, why);
		return;
	}
	nt_reply(s, q, 200, json_pack("{s:o}", "id", nt_number(s, c->id)), NULL);
}

static void on_delete_cluster(struct httpd_req *q, void *arg)
{
	struct sim_netris *s = arg;
	OWN_JSON j = nt_body(s, q);
	struct nt_cluster *c = j ? asked_cluster(s, q) : NULL;

	if (!c)
		return;
	nt_cluster_free(s, c);
	nt_reply(s, q, 200, NULL, NULL);
}

static void on_post_vpc(struct httpd_req *q, void *arg)
{
	struct sim_netris *s = arg;
	OWN_JSON j = nt_body(s, q);
	const char *name = json_str_at(j, "name");
	bool taken = str_empty(name);

	if (!j)
		return;
	list_for_each (v, &s->vpcs, struct nt_vpc, link)
		taken = taken || str_eq(v->name, name);
	if (taken)
		nt_reply(s, q, 400, NULL, "the name is missing or in use");
	else /* Answers with the id itself as data, as some releases do. */
		nt_reply(s, q, 200,
			 nt_number(s, nt_vpc_new(s, name, json_object_get(j, "tags"))->id), NULL);
}

static void on_delete_vpc(struct httpd_req *q, void *arg)
{
	struct sim_netris *s = arg;
	OWN_JSON j = nt_body(s, q);
	int64_t id = nt_asked_id(q);

	if (!j)
		return;
	list_for_each (c, &s->clusters, struct nt_cluster, link)
		if (c->vpc == id) {
			nt_reply(s, q, 400, NULL, "a server cluster depends on this VPC");
			return;
		}
	if (nt_lb_needs(s, id)) {
		nt_reply(s, q, 400, NULL, "a load balancer depends on this VPC");
		return;
	}
	list_for_each (v, &s->vpcs, struct nt_vpc, link)
		if (v->id == id) {
			nt_vpc_free(v);
			nt_reply(s, q, 200, NULL, NULL);
			return;
		}
	nt_reply(s, q, 404, NULL, "no such VPC");
}

/* --- control requests, without a login, as in the simulated rack ------------------------------ */

static void on_truth(struct httpd_req *q, void *arg)
{
	struct sim_netris *s = arg;
	OWN_JSON all = json_array();
	char *text;

	for (size_t i = 0; i < s->nservers; i++)
		json_array_append_new(all,
				      json_pack("{s:s, s:s?, s:s?}", "name", s->servers[i].name,
						"wanted", sim_netris_wanted(s, s->servers[i].name),
						"really", sim_netris_where(s, s->servers[i].name)));
	text = json_text(all);
	httpd_reply_json(q, 200, text);
	free(text);
}

static void on_fault(struct httpd_req *q, void *arg)
{
	struct sim_netris *s = arg;
	size_t len;
	struct err e;
	const char *text = httpd_body(q, &len);
	OWN_JSON j = json_parse(text, len, &e);

	if (str_eq(httpd_method(q), "DELETE"))
		sim_netris_well(s);
	else if (sim_netris_fault(s, json_str_at(j, "what"), json_str_at(j, "on"),
				  json_str_at(j, "name"), json_int_at(j, "value"),
				  json_int_at(j, "count")) < 0) {
		httpd_reply_json(q, 400, "{\"error\":\"what: unknown fault\"}");
		return;
	}
	httpd_reply_json(q, 200, "{}");
}

/* Sets the reported release. */
static void on_set_version(struct httpd_req *q, void *arg)
{
	struct sim_netris *s = arg;
	size_t len;
	struct err e;
	const char *text = httpd_body(q, &len);
	OWN_JSON j = json_parse(text, len, &e);
	const char *version = json_str_at(j, "version");

	if (str_empty(version) || strlen(version) >= sizeof(s->version)) {
		httpd_reply_json(q, 400, "{\"error\":\"version: want a text such as 4.14.0\"}");
		return;
	}
	str_copy(s->version, sizeof(s->version), version);
	httpd_reply_json(q, 200, "{}");
}

void sim_netris_routes(struct sim_netris *s, struct httpd *d)
{
	static const char *const fixed[] = {
		"/api/tenants",		 "/api/v2/sites", "/api/v2/server-cluster-template",
		"/api/v2/link",		 "/api/v2/ports", "/api/v2/ipam/subnets",
		"/api/users/permissions"};

	httpd_route(d, "POST", "/api/auth", 65536, nt_on_auth, s);
	httpd_route(d, "GET", "/api/auth", 0, on_who, s);
	for (size_t i = 0; i < sizeof(fixed) / sizeof(*fixed); i++)
		httpd_route(d, "GET", fixed[i], 0, on_fixed, s);
	httpd_route(d, "GET", "/api/v2/hw", 0, on_hw, s);
	httpd_route(d, "GET", "/api/v2/vnet", 0, on_vnets, s);
	httpd_route(d, "GET", "/api/v2/vnet/{}", 0, on_vnet, s);
	httpd_route(d, "GET", "/api/v2/vpc", 0, on_vpcs, s);
	httpd_route(d, "POST", "/api/v2/vpc", MAX_BODY, on_post_vpc, s);
	httpd_route(d, "DELETE", "/api/v2/vpc/{}", MAX_BODY, on_delete_vpc, s);
	httpd_route(d, "GET", "/api/v2/server-cluster", 0, on_clusters, s);
	httpd_route(d, "POST", "/api/v2/server-cluster", MAX_BODY, on_post_cluster, s);
	httpd_route(d, "GET", "/api/v2/server-cluster/{}", 0, on_cluster, s);
	httpd_route(d, "PUT", "/api/v2/server-cluster/{}", MAX_BODY, on_put_cluster, s);
	httpd_route(d, "DELETE", "/api/v2/server-cluster/{}", MAX_BODY, on_delete_cluster, s);
	nt_lb_routes(s, d);
	httpd_route(d, "GET", "/sim/servers", 0, on_truth, s);
	httpd_route(d, "POST", "/sim/faults", 65536, on_fault, s);
	httpd_route(d, "DELETE", "/sim/faults", 65536, on_fault, s);
	httpd_route(d, "PUT", "/sim/version", 4096, on_set_version, s);
}
