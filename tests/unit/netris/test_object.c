#include "tests/unit/testing.h"

#include <string.h>
#include "netris/object.h"

static struct netris_objects read_(enum netris_kind kind, const char *text, struct arena *a)
{
	struct netris_objects o = {0};
	struct err e;
	OWN_JSON j = json_parse(text, strlen(text), &e);

	assert_non_null(j);
	if (netris_decode(kind, j, a, &o, &e) < 0)
		fail_msg("%s", e.text);
	return o;
}

static void refused(enum netris_kind kind, const char *text)
{
	OWN(arena) a = arena_new();
	struct netris_objects o = {0};
	struct err e;
	OWN_JSON j = json_parse(text, strlen(text), &e);

	assert_non_null(j);
	assert_int_equal(netris_decode(kind, j, a, &o, &e), -1);
	assert_int_equal(e.kind, ERR_PROTOCOL);
}

static void numbers_ids_and_truths_have_many_forms(void **state)
{
	static const struct {
		const char *text;
		int64_t id;
	} ids[] = {{"7", 7},	 {"\"7\"", 7}, {"7.0", 7},	{"null", 0},
		   {"\"\"", 0},	 {"-3", 0},    {"\"None\"", 0}, {"{\"id\":\"12\"}", 12},
		   {"7.5", 0},	 {"true", 0},  {"[7]", 0},	{"\"7 \"", 0},
		   {"1e300", 0}, {"0", 0}};
	static const struct {
		const char *text;
		enum netris_bool is;
	} truths[] = {{"true", NETRIS_YES},	   {"\"yes\"", NETRIS_YES}, {"1", NETRIS_YES},
		      {"\"True\"", NETRIS_YES},	   {"\"1\"", NETRIS_YES},   {"false", NETRIS_NO},
		      {"\"no\"", NETRIS_NO},	   {"0", NETRIS_NO},	    {"\"0\"", NETRIS_NO},
		      {"null", NETRIS_UNSAID},	   {"\"\"", NETRIS_UNSAID}, {"[]", NETRIS_UNSAID},
		      {"\"maybe\"", NETRIS_UNSAID}};
	struct err e;

	(void)state;
	for (size_t i = 0; i < sizeof(ids) / sizeof(*ids); i++) {
		OWN_JSON j = json_parse(ids[i].text, strlen(ids[i].text), &e);

		assert_int_equal(netris_id(j), ids[i].id);
	}
	for (size_t i = 0; i < sizeof(truths) / sizeof(*truths); i++) {
		OWN_JSON j = json_parse(truths[i].text, strlen(truths[i].text), &e);

		assert_int_equal(netris_truth(j), truths[i].is);
	}
	assert_int_equal(netris_id(NULL), 0);
	assert_int_equal(netris_truth(NULL), NETRIS_UNSAID);
}

static void a_server_cluster_is_read_in_its_forms(void **state)
{
	OWN(arena) a = arena_new();
	struct netris_objects o = read_(
		NETRIS_CLUSTER,
		"[{\"id\":\"31\",\"name\":\"drover-team-a\","
		"\"status\":{\"label\":\"Active\",\"value\":1},"
		"\"site\":{\"id\":\"1\",\"name\":\"hall\"},\"vpc\":5,\"tags\":[\"drover\",null],"
		"\"servers\":[{\"id\":\"4\",\"name\":\"gpu-1\",\"shared\":\"no\"},"
		"{\"id\":9,\"shared\":1},{\"id\":10}],"
		"\"resources\":{\"vnets\":[{\"id\":71,\"name\":\"n\"}]},\"unknown\":{}},"
		"{\"id\":32,\"name\":\"bare\",\"servers\":null,\"resources\":null,"
		"\"status\":\"Provisioning\"}]",
		a);
	const struct netris_cluster *c = o.cluster;

	(void)state;
	assert_int_equal(o.n, 2);
	assert_int_equal(c->id, 31);
	assert_string_equal(c->status, "Active");
	assert_int_equal(c->site.id, 1);
	assert_int_equal(c->vpc.id, 5);
	assert_string_equal(c->tags.v[0], "drover");
	assert_true(c->servers.said && c->servers.n == 3);
	assert_int_equal(c->servers.v[0].shared, NETRIS_NO);
	assert_int_equal(c->servers.v[1].shared, NETRIS_YES);
	assert_int_equal(c->servers.v[2].shared, NETRIS_UNSAID);
	assert_int_equal(c->vnets.v[0].id, 71);
	/* The second cluster reports no lists, which is different from empty lists. */
	assert_false(c[1].servers.said || c[1].vnets.said);
	assert_string_equal(c[1].status, "Provisioning");
}

static void what_is_not_said_is_told_from_what_is_zero(void **state)
{
	OWN(arena) a = arena_new();
	struct netris_objects o = read_(NETRIS_VNET,
					"[{\"id\":1,\"name\":\"v\",\"portsCount\":\"3\"},"
					"{\"id\":2,\"name\":\"w\",\"ports\":[{\"id\":8,"
					"\"status\":{\"label\":\"Active\"}}]}]",
					a);

	(void)state;
	assert_int_equal(o.vnet[0].ports_count, 3);
	assert_false(o.vnet[0].ports.said);
	assert_int_equal(o.vnet[1].ports_count, -1);
	assert_true(o.vnet[1].ports.said);
	o = read_(NETRIS_SWITCH,
		  "[{\"id\":1,\"name\":\"leaf-1\",\"lastSeen\":\"2026-11-23T01:02:03Z\"},"
		  "{\"id\":2,\"name\":\"leaf-2\",\"last_seen\":\"1764000000\"},"
		  "{\"id\":3,\"name\":\"leaf-3\",\"lastSeen\":\"never\"}]",
		  a);
	assert_true(o.device[0].last_seen > INT64_C(1700000000000));
	assert_int_equal(o.device[1].last_seen, 1764000000);
	assert_int_equal(o.device[2].last_seen, 0);
}

/* PKeys and NVLink partitions have servers, but no ports. */
static void a_vnet_says_on_which_wires_it_is_and_who_is_in_it(void **state)
{
	OWN(arena) a = arena_new();
	struct netris_objects o = read_(
		NETRIS_VNET,
		"[{\"id\":1,\"name\":\"ib\",\"type\":\"netris-ufm\","
		"\"servers\":[{\"id\":\"4\",\"name\":\"gpu-1\","
		"\"status\":{\"label\":\"Active\"}},{\"id\":5}]},"
		"{\"id\":2,\"name\":\"nvl\",\"type\":{\"label\":\"netris-nvlink\"},\"members\":[]},"
		"{\"id\":3,\"name\":\"ns\",\"type\":null}]",
		a);

	(void)state;
	assert_int_equal(netris_fabric_of(o.vnet[0].type), NETRIS_INFINIBAND);
	assert_int_equal(o.vnet[0].servers.n, 2);
	assert_int_equal(o.vnet[0].servers.v[0].id, 4);
	assert_string_equal(o.vnet[0].servers.v[0].status, "Active");
	assert_string_equal(o.vnet[0].servers.v[1].status, "");
	assert_int_equal(netris_fabric_of(o.vnet[1].type), NETRIS_NVLINK);
	assert_true(o.vnet[1].servers.said && o.vnet[1].servers.n == 0);
	assert_int_equal(netris_fabric_of(o.vnet[2].type), NETRIS_ETHERNET);
	assert_int_equal(netris_fabric_of("l3vpn"), NETRIS_ETHERNET);
	assert_false(o.vnet[2].servers.said);
	refused(NETRIS_VNET, "[{\"id\":1,\"name\":\"ib\",\"servers\":[{\"name\":\"gpu-1\"}]}]");
}

/* A server without id or name is skipped. A cluster's or V-net's list that cannot be read
 * completely is an error, because it would be written back incomplete. */
static void half_a_list_is_not_taken_for_the_whole(void **state)
{
	OWN(arena) a = arena_new();
	struct netris_objects o = read_(
		NETRIS_SERVER,
		"[{\"id\":null,\"name\":\"x\"},{\"id\":4,\"name\":\"gpu-1\"},7,{\"id\":5}]", a);

	(void)state;
	assert_int_equal(o.n, 1);
	assert_string_equal(o.device[0].name, "gpu-1");
	refused(NETRIS_CLUSTER, "[{\"id\":1,\"name\":\"c\",\"servers\":[{\"id\":null}]}]");
	refused(NETRIS_CLUSTER, "[{\"id\":1,\"name\":\"c\",\"servers\":[4]}]");
	refused(NETRIS_CLUSTER, "[{\"id\":1,\"name\":\"c\"},{\"name\":\"d\"}]");
	refused(NETRIS_VNET, "[{\"id\":1,\"name\":\"v\",\"ports\":[{\"name\":\"swp1\"}]}]");
	refused(NETRIS_CLUSTER, "7");
}

static void names_are_cut_and_hold_no_control_characters(void **state)
{
	OWN(arena) a = arena_new();
	char text[600] = "[{\"id\":1,\"name\":\"a\\n\\u001b[2J";
	struct netris_objects o = {0};

	(void)state;
	memset(text + strlen(text), 'x', 400);
	strcat(text, "\"}]");
	o = read_(NETRIS_SITE, text, a);
	assert_int_equal(strlen(o.site[0].name), 253);
	assert_memory_equal(o.site[0].name, "a??[2Jx", 7);
}

static void a_load_balancer_says_how_its_backends_are(void **state)
{
	OWN(arena) a = arena_new();
	const struct netris_l4lb *b =
		read_(NETRIS_L4LB,
		      "[{\"id\":\"9\",\"name\":\"lb\",\"ip\":\"10.20.0.50\",\"port\":\"6443\","
		      "\"protocol\":\"TCP\",\"status\":\"enable\","
		      "\"vpc\":{\"id\":4,\"name\":\"v\"},"
		      "\"label\":{\"status\":\"success\",\"text\":\"Active\"},"
		      "\"backendIps\":[{\"ip\":\"10.20.0.11\",\"port\":\"6443\",\"status\":\"up\","
		      "\"response\":\"ok\",\"maintenance\":\"no\"},"
		      "{\"ip\":\"10.20.0.12\",\"port\":6443}]},"
		      "{\"id\":10,\"name\":\"bare\"}]",
		      a)
			.l4lb;

	(void)state;
	assert_int_equal(b->port, 6443);
	assert_int_equal(b->vpc.id, 4);
	assert_string_equal(b->status, "enable");
	assert_string_equal(b->label, "Active");
	assert_int_equal(b->backends.n, 2);
	assert_string_equal(b->backends.v[0].status, "up");
	assert_int_equal(b->backends.v[0].maintenance, NETRIS_NO);
	assert_string_equal(b->backends.v[1].status, "");
	assert_int_equal(b->backends.v[1].maintenance, NETRIS_UNSAID);
	assert_false(b[1].backends.said);
	assert_int_equal(b[1].port, -1);
	assert_int_equal(b[1].vpc.id, 0);
}

static void a_v_net_says_its_subnets_and_what_dhcp_gives_there(void **state)
{
	OWN(arena) a = arena_new();
	const struct netris_vnet *v =
		read_(NETRIS_VNET,
		      "[{\"id\":1,\"name\":\"v\","
		      "\"gateways\":[{\"prefix\":\"10.20.0.1/24\",\"dhcpEnabled\":1,"
		      "\"dhcp\":{\"start\":\"10.20.0.100\",\"end\":\"10.20.0.199\"}},"
		      "{\"prefix\":\"fd00::1/64\"}]},{\"id\":2,\"name\":\"w\"}]",
		      a)
			.vnet;

	(void)state;
	assert_int_equal(v->gateways.n, 2);
	assert_string_equal(v->gateways.v[0].prefix, "10.20.0.1/24");
	assert_int_equal(v->gateways.v[0].dhcp, NETRIS_YES);
	assert_string_equal(v->gateways.v[0].dhcp_end, "10.20.0.199");
	assert_int_equal(v->gateways.v[1].dhcp, NETRIS_UNSAID);
	assert_string_equal(v->gateways.v[1].dhcp_start, "");
	assert_false(v[1].gateways.said);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_ids_and_truths_have_many_forms),
		cmocka_unit_test(a_server_cluster_is_read_in_its_forms),
		cmocka_unit_test(what_is_not_said_is_told_from_what_is_zero),
		cmocka_unit_test(a_vnet_says_on_which_wires_it_is_and_who_is_in_it),
		cmocka_unit_test(half_a_list_is_not_taken_for_the_whole),
		cmocka_unit_test(names_are_cut_and_hold_no_control_characters),
		cmocka_unit_test(a_load_balancer_says_how_its_backends_are),
		cmocka_unit_test(a_v_net_says_its_subnets_and_what_dhcp_gives_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
