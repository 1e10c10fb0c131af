#include "tests/unit/testing.h"

#include <stdlib.h>
#include <string.h>
#include "tests/simulated/http_mem.h"
#include "tests/simulated/loop_sim.h"
#include "base/mem.h"
#include "base/str.h"
#include "netris/netris.h"
#include "sim/netris/netris.h"

/* Tests the simulated Netris controller with drover's client for real controllers. */
#define ORIGIN "https://netris.example"

struct rig {
	struct loop *loop;
	struct loop_group *group;
	struct http_mem_net *net;
	struct httpd *httpd;
	struct http *http;
	struct secret *password;
	struct sim_netris *sim;
	struct netris *n;
	unsigned answers, moves;
	struct err err;
	int64_t id;
	/* Result of a read, as text for comparison */
	char text[256];
	char moved[128];
};

static void on_move(const struct sim_netris_move *m, void *arg)
{
	struct rig *r = arg;

	r->moves++;
	str_format(r->moved, sizeof(r->moved), "%s %s %s %s %s", m->server, m->nic, m->switch_,
		   m->port, str_or(m->cluster, "-"));
}

static struct rig *rig_new(bool loose)
{
	struct rig *r = mem_new(struct rig);
	struct sim_netris_spec s = {.servers = 40,
				    .user = "drover",
				    .password = "pw",
				    .plan_ms = 300,
				    .session_ms = 60000,
				    .loose = loose,
				    .on_move = on_move,
				    .arg = r};
	struct err e;

	mem_init();
	r->loop = loop_sim_new(3, 1764000000000);
	s.group = r->group = loop_group_new(r->loop, "netris");
	r->sim = sim_netris_new(&s);
	r->httpd = httpd_new(r->group);
	sim_netris_routes(r->sim, r->httpd);
	r->net = http_mem_net_new(r->loop);
	http_mem_serve(r->net, ORIGIN, r->httpd);
	r->http = http_new(r->group, http_mem_transport(r->net, r->group, "a", NULL, NULL), 0);
	r->password = secret_from_str("pw");
	r->n = netris_new(&(struct netris_spec){.group = r->group,
						.http = r->http,
						.url = ORIGIN,
						.user = "drover",
						.password = r->password},
			  &e);
	assert_non_null(r->n);
	return r;
}

static void rig_free(struct rig *r)
{
	netris_free(r->n);
	http_free(r->http);
	httpd_free(r->httpd);
	http_mem_net_free(r->net);
	sim_netris_free(r->sim);
	secret_free(r->password);
	loop_group_free(r->group);
	loop_free(r->loop);
	free(r);
}

static void on_done(struct netris_objects *o, const struct err *e, void *arg)
{
	struct rig *r = arg;

	r->answers++;
	err_clear(&r->err);
	if (e)
		r->err = *e;
	r->id = o ? o->id : 0;
}

/* Stores the clusters in r->text: name, status and members of each. */
static void on_clusters(struct netris_objects *o, const struct err *e, void *arg)
{
	struct rig *r = arg;
	struct buf b;

	on_done(o, e, arg);
	buf_init(&b, sizeof(r->text) - 1);
	for (size_t i = 0; o && i < o->n; i++) {
		const struct netris_cluster *c = &o->cluster[i];

		buf_printf(&b, "%s %s", c->name, c->status);
		for (size_t k = 0; k < c->servers.n; k++)
			buf_printf(&b, " %lld%s", (long long)c->servers.v[k].id,
				   c->servers.v[k].shared == NETRIS_YES ? "s" : "");
		buf_printf(&b, "%s; ", c->servers.said ? "" : " ?");
	}
	str_copy(r->text, sizeof(r->text), b.data);
	buf_done(&b);
}

static void pass(struct rig *r, int64_t ms)
{
	loop_sim_run_until(r->loop, loop_now(r->loop) + ms);
}

static enum err_kind change(struct rig *r, const char *method, enum netris_kind kind, int64_t id,
			    json_t *body)
{
	struct netris_call c = {.done = on_done, .arg = r};
	unsigned before = r->answers;

	netris_change(r->n, method, kind, id, body, &c);
	pass(r, 100);
	assert_int_equal(r->answers, before + 1);
	return r->err.kind;
}

static const char *clusters(struct rig *r)
{
	struct netris_call c = {.done = on_clusters, .arg = r};

	netris_list(r->n, NETRIS_CLUSTER, &c);
	pass(r, 100);
	assert_int_equal(r->err.kind, ERR_NONE);
	return r->text;
}

static json_t *members(int a, int b)
{
	json_t *j = json_pack("{s:[], s:[]}", "tags", "servers");
	json_t *list = json_object_get(j, "servers");

	if (a)
		json_array_append_new(list, json_pack("{s:i, s:b}", "id", a, "shared", 0));
	if (b)
		json_array_append_new(list, json_pack("{s:i, s:b}", "id", b, "shared", 1));
	return j;
}

#define QUARANTINE 20000001
#define PROVISIONING 20000003

static void a_port_moves_with_the_heartbeat_of_its_switch(void **state)
{
	struct rig *r = rig_new(false);

	(void)state;
	assert_int_equal(change(r, "PUT", NETRIS_CLUSTER, QUARANTINE, members(1032, 0)), ERR_NONE);
	assert_string_equal(clusters(r), "quarantine Provisioning 1032; provisioning Active; ");
	assert_null(sim_netris_where(r->sim, "gpu-33"));
	assert_string_equal(sim_netris_wanted(r->sim, "gpu-33"), "quarantine");
	pass(r, 3000);
	assert_int_equal(r->moves, 2);
	assert_string_equal(r->moved, "gpu-33 eth2 leaf-4 swp1 quarantine");
	assert_string_equal(sim_netris_where(r->sim, "gpu-33"), "quarantine");
	assert_string_equal(clusters(r), "quarantine Active 1032; provisioning Active; ");
	assert_int_equal(change(r, "PUT", NETRIS_CLUSTER, QUARANTINE, members(0, 0)), ERR_NONE);
	pass(r, 3000);
	assert_string_equal(r->moved, "gpu-33 eth2 leaf-4 swp1 -");
	rig_free(r);
}

static void a_server_is_dedicated_once_and_shared_often(void **state)
{
	struct rig *r = rig_new(false);

	(void)state;
	assert_int_equal(change(r, "PUT", NETRIS_CLUSTER, QUARANTINE, members(1000, 1040)),
			 ERR_NONE);
	assert_int_equal(change(r, "PUT", NETRIS_CLUSTER, PROVISIONING, members(1000, 0)),
			 ERR_INVALID);
	assert_non_null(strstr(r->err.text, "another server cluster"));
	assert_int_equal(change(r, "PUT", NETRIS_CLUSTER, PROVISIONING, members(1001, 1040)),
			 ERR_NONE);
	assert_int_equal(change(r, "PUT", NETRIS_CLUSTER, PROVISIONING, members(9999, 0)),
			 ERR_INVALID);
	assert_int_equal(change(r, "PUT", NETRIS_CLUSTER, 7, members(0, 0)), ERR_NOT_FOUND);
	pass(r, 3000);
	assert_string_equal(clusters(r),
			    "quarantine Active 1000 1040s; provisioning Active 1001 1040s; ");
	rig_free(r);
}

static void what_depends_on_another_holds_it(void **state)
{
	struct rig *r = rig_new(false);
	int64_t vpc, cluster;

	(void)state;
	assert_int_equal(change(r, "POST", NETRIS_VPC, 0, json_pack("{s:s}", "name", "v")),
			 ERR_NONE);
	vpc = r->id;
	assert_true(vpc > 0);
	assert_int_equal(change(r, "POST", NETRIS_VPC, 0, json_pack("{s:s}", "name", "v")),
			 ERR_INVALID);
	assert_int_equal(
		change(r, "POST", NETRIS_CLUSTER, 0,
		       json_pack("{s:s, s:{s:i}, s:{s:i}, s:{s:I}, s:{s:i}, s:[]}", "name", "c",
				 "admin", "id", 2, "site", "id", 1, "vpc", "id", (json_int_t)vpc,
				 "srvClusterTemplate", "id", 11, "servers")),
		ERR_DENIED);
	assert_int_equal(
		change(r, "POST", NETRIS_CLUSTER, 0,
		       json_pack("{s:s, s:{s:i}, s:{s:i}, s:{s:I}, s:{s:i}, s:[]}", "name", "c",
				 "admin", "id", 1, "site", "id", 1, "vpc", "id", (json_int_t)vpc,
				 "srvClusterTemplate", "id", 11, "servers")),
		ERR_NONE);
	cluster = r->id;
	assert_int_equal(change(r, "DELETE", NETRIS_VPC, vpc, NULL), ERR_INVALID);
	assert_int_equal(change(r, "DELETE", NETRIS_CLUSTER, cluster, NULL), ERR_NONE);
	assert_int_equal(change(r, "DELETE", NETRIS_VPC, vpc, NULL), ERR_NONE);
	assert_int_equal(change(r, "DELETE", NETRIS_VPC, vpc, NULL), ERR_NOT_FOUND);
	rig_free(r);
}

/* The controller writes an answer in eight forms, one after the other. The client must read the
 * same from each, or find that a member is absent. */
static void every_form_says_the_same(void **state)
{
	struct rig *r = rig_new(true);
	bool unsaid = false;

	(void)state;
	assert_int_equal(change(r, "PUT", NETRIS_CLUSTER, QUARANTINE, members(1000, 1040)),
			 ERR_NONE);
	pass(r, 3000);
	for (int i = 0; i < 8; i++) {
		bool short_;

		(void)clusters(r);
		short_ = strchr(r->text, '?') != NULL;
		unsaid = unsaid || short_;
		assert_string_equal(r->text,
				    short_ ? "quarantine Active ?; provisioning Active ?; "
					   : "quarantine Active 1000 1040s; provisioning Active; ");
	}
	assert_true(unsaid);
	rig_free(r);
}

static void sessions_end(void **state)
{
	struct rig *r = rig_new(false);

	(void)state;
	(void)clusters(r);
	(void)clusters(r);
	assert_int_equal(sim_netris_logins(r->sim), 1);
	pass(r, 61000);
	(void)clusters(r);
	assert_int_equal(sim_netris_logins(r->sim), 2);
	assert_int_equal(sim_netris_fault(r->sim, "Gremlins", NULL, NULL, 0, 0), -1);
	sim_netris_fault(r->sim, "Expire", NULL, NULL, 0, 1);
	(void)clusters(r);
	assert_int_equal(sim_netris_logins(r->sim), 3);
	rig_free(r);
}

static void on_version(struct netris_objects *o, const struct err *e, void *arg)
{
	struct rig *r = arg;

	on_done(o, e, arg);
	str_copy(r->text, sizeof(r->text), o ? str_or(o->version->build, "untold") : "no answer");
}

static void on_put(const struct http_reply *reply, const struct err *e, void *arg)
{
	*(int *)arg = e ? -1 : reply->status;
}

static int put_version(struct rig *r, const char *body)
{
	struct err e;
	struct http_peer *peer =
		http_peer_new(r->http, &(struct http_peer_spec){.base_url = ORIGIN}, &e);
	int status = 0;
	struct http_call c = {.method = "PUT",
			      .path = "/sim/version",
			      .body = body,
			      .body_len = strlen(body),
			      .content_type = "application/json",
			      .done = on_put,
			      .arg = &status};

	assert_non_null(peer);
	http_start(peer, &c);
	pass(r, 1000);
	http_peer_free(peer);
	return status;
}

static const char *version(struct rig *r)
{
	struct netris_call c = {.done = on_version, .arg = r};

	(void)netris_read(r->n, NETRIS_VERSION, &c);
	pass(r, 1000);
	return r->text;
}

static void its_release_is_what_was_asked_for(void **state)
{
	struct rig *r = rig_new(false);

	(void)state;
	assert_string_equal(version(r), "4.14.0");
	assert_int_equal(put_version(r, "{\"version\": \"4.5.2\"}"), 200);
	assert_string_equal(version(r), "4.5.2");
	assert_int_equal(put_version(r, "{\"version\": \"\"}"), 400);
	assert_int_equal(put_version(r, "nonsense"), 400);
	assert_string_equal(version(r), "4.5.2");
	rig_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_port_moves_with_the_heartbeat_of_its_switch),
		cmocka_unit_test(a_server_is_dedicated_once_and_shared_often),
		cmocka_unit_test(what_depends_on_another_holds_it),
		cmocka_unit_test(every_form_says_the_same),
		cmocka_unit_test(sessions_end),
		cmocka_unit_test(its_release_is_what_was_asked_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
