#include <stdlib.h>
#include "base/mem.h"
#include "base/str.h"
#include "sim/netris/netris_impl.h"

/*
 * Load balancers. Names need not be unique, because no publication on the API requires that. So a
 * create request that is sent twice creates two load balancers.
 *
 * Tests: tests/unit/sim/netris/test_netris.c, tests/contract/test_netris_api_path.c
 */
#define MAX_BODY (1u << 20)
#define BACKENDS_MAX 64

bool nt_lb_needs(const struct sim_netris *s, int64_t vpc)
{
	list_for_each (b, &s->lbs, struct nt_lb, link)
		if (b->vpc == vpc)
			return true;
	return false;
}

unsigned sim_netris_balancers(const struct sim_netris *s)
{
	unsigned n = 0;

	list_for_each (b, &s->lbs, struct nt_lb, link)
		n++;
	return n;
}

/* --- reads ------------------------------------------------------------------------------------ */

static bool is_down(const struct sim_netris *s, const char *ip)
{
	return nt_stands(s, "BackendDown", ip) || nt_stands(s, "BackendDown", NULL);
}

static json_t *backends_json(const struct sim_netris *s, const struct nt_lb *b)
{
	json_t *all = json_array(), *one;
	size_t i;

	json_array_foreach (b->backends, i, one) {
		const char *ip = json_str_at(one, "ip");
		json_t *j = json_pack("{s:s, s:o, s:o}", "ip", str_or(ip, ""), "port",
				      nt_number(s, json_int_at(one, "port")), "maintenance",
				      nt_truth(s, json_true_at(one, "maintenance")));

		if (!nt_stands(s, "NoHealth", NULL)) {
			json_object_set_new(j, "status",
					    json_string(is_down(s, ip) ? "down" : "healthy"));
			json_object_set_new(
				j, "response",
				json_string(is_down(s, ip) ? "connection refused" : ""));
		}
		json_array_append_new(all, j);
	}
	return all;
}

static json_t *lb_json(const struct sim_netris *s, const struct nt_lb *b)
{
	json_t *j = json_pack("{s:o, s:s, s:o, s:o, s:s, s:s, s:o, s:s, s:o, s:{s:s, s:s}}", "id",
			      nt_number(s, b->id), "name", b->name, "tenant",
			      nt_ref(s, NT_TENANT_ID, "Admin"), "siteId", nt_number(s, b->site),
			      "protocol", "TCP", "ip", b->ip, "port", nt_number(s, b->port),
			      "status", b->enabled ? "enable" : "disable", "backendIps",
			      backends_json(s, b), "label", "status", "success", "text", "Active");

	if (!nt_stands(s, "NoLbVPC", NULL))
		json_object_set_new(j, "vpc", nt_ref(s, b->vpc, NULL));
	return j;
}

static void on_lbs(struct httpd_req *q, void *arg)
{
	struct sim_netris *s = arg;
	json_t *all;

	if (!nt_admitted(s, q))
		return;
	all = json_array();
	list_for_each (b, &s->lbs, struct nt_lb, link)
		json_array_append_new(all, lb_json(s, b));
	if (nt_strikes(s, "Forget", "GET", httpd_path(q)) && json_array_size(all))
		json_array_remove(all, json_array_size(all) - 1);
	nt_reply(s, q, 200, all, NULL);
}

/* --- changes ---------------------------------------------------------------------------------- */

/* Applies the request j, a create or an update, to b. Returns NULL if the request is accepted,
 * otherwise the reason for refusal. */
static const char *take(struct sim_netris *s, struct nt_lb *b, const json_t *j)
{
	const json_t *backends = json_object_get(j, "backendIps");
	int64_t port = json_int_at(j, "port"), vpc = json_int_at(j, "vpc", "id");
	const char *name = json_str_at(j, "name"), *ip = json_str_at(j, "ip");
	bool has_vpc = false;

	list_for_each (v, &s->vpcs, struct nt_vpc, link)
		has_vpc = has_vpc || v->id == vpc;
	if (str_empty(name) || json_int_at(j, "siteId") != NT_SITE_ID || !has_vpc)
		return "name, siteId and vpc are required";
	if (json_int_at(j, "tenant", "id") != NT_TENANT_ID)
		return "no such tenant";
	if (port < 1 || port > 65535 || !json_is_array(backends) ||
	    json_array_size(backends) > BACKENDS_MAX)
		return "port and backendIps are required";
	if (str_empty(ip) && !json_true_at(j, "automatic") && !b->ip)
		return "ip or automatic is required";
	free(b->name);
	b->name = mem_strdup(name);
	if (!str_empty(ip)) {
		free(b->ip);
		b->ip = mem_strdup(ip);
	} else if (!b->ip) {
		b->ip = mem_printf(SIM_NETRIS_FREE "%u", sim_netris_balancers(s) + 1);
	}
	b->site = NT_SITE_ID;
	b->vpc = vpc;
	b->port = port;
	b->enabled = str_eq(json_str_at(j, "status"), "enable");
	json_decref(b->backends);
	b->backends = json_deep_copy(backends);
	return NULL;
}

static void on_post_lb(struct httpd_req *q, void *arg)
{
	struct sim_netris *s = arg;
	OWN_JSON j = nt_body(s, q);
	struct nt_lb *b;
	const char *why;

	if (!j)
		return;
	b = mem_new(struct nt_lb);
	list_init(&b->link);
	why = take(s, b, j);
	if (why) {
		nt_lb_free(b);
		nt_reply(s, q, 400, NULL, why);
		return;
	}
	b->id = s->next_id++;
	list_push_back(&s->lbs, &b->link);
	nt_reply(s, q, 200, json_pack("{s:o, s:s}", "id", nt_number(s, b->id), "ip", b->ip), NULL);
}

static struct nt_lb *asked_lb(struct sim_netris *s, struct httpd_req *q)
{
	list_for_each (b, &s->lbs, struct nt_lb, link)
		if (b->id == nt_asked_id(q))
			return b;
	nt_reply(s, q, 404, NULL, "no such load balancer");
	return NULL;
}

static void on_put_lb(struct httpd_req *q, void *arg)
{
	struct sim_netris *s = arg;
	OWN_JSON j = nt_body(s, q);
	struct nt_lb *b = j ? asked_lb(s, q) : NULL;
	const char *why;

	if (!b)
		return;
	why = take(s, b, j);
	nt_reply(s, q, why ? 400 : 200, NULL, why);
}

static void on_delete_lb(struct httpd_req *q, void *arg)
{
	struct sim_netris *s = arg;
	OWN_JSON j = nt_body(s, q);
	struct nt_lb *b = j ? asked_lb(s, q) : NULL;

	if (!b)
		return;
	nt_lb_free(b);
	nt_reply(s, q, 200, NULL, NULL);
}

void nt_lb_routes(struct sim_netris *s, struct httpd *d)
{
	httpd_route(d, "GET", "/api/v2/l4lb", 0, on_lbs, s);
	httpd_route(d, "POST", "/api/v2/l4lb", MAX_BODY, on_post_lb, s);
	httpd_route(d, "PUT", "/api/v2/l4lb/{}", MAX_BODY, on_put_lb, s);
	httpd_route(d, "DELETE", "/api/v2/l4lb/{}", MAX_BODY, on_delete_lb, s);
}
