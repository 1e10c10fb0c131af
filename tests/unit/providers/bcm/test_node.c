#include "tests/unit/testing.h"

#include "base/mem.h"
#include "base/str.h"
#include "providers/bcm/node.h"

static struct exact json(const char *text)
{
	struct exact v;
	struct err e;

	assert_ok(exact_read(text, strlen(text), &v, &e), &e);
	return v;
}

#define DEVICE(more)                                                                               \
	"{\"uuid\":\"u1\",\"hostname\":\"n1\",\"childType\":\"PhysicalNode\","                     \
	"\"powerControl\":\"ipmi\"" more "}"

static void what_drover_may_not_touch_is_named(void **state)
{
	static const struct {
		const char *device, *says;
	} rows[] = {
		{DEVICE(""), NULL},
		{DEVICE(",\"dataNode\":false"), NULL},
		{DEVICE(",\"dataNode\":null"), NULL},
		{DEVICE(",\"dataNode\":true"), "data node"},
		{DEVICE(",\"dataNode\":\"YES\""), "data node"},
		{DEVICE(",\"dataNode\":1"), "data node"},
		{"{\"uuid\":\"u\",\"hostname\":\"h\",\"childType\":\"HeadNode\","
		 "\"powerControl\":\"ipmi\"}",
		 "HeadNode"},
		{"{\"uuid\":\"u\",\"hostname\":\"h\",\"childType\":\"LiteNode\","
		 "\"powerControl\":\"ipmi\"}",
		 "LiteNode"},
		{"{\"uuid\":\"u\",\"hostname\":\"h\",\"powerControl\":\"ipmi\"}", "no type"},
		{"{\"uuid\":\"u\",\"hostname\":\"h\",\"childType\":\"PhysicalNode\","
		 "\"powerControl\":\"none\"}",
		 "no power control"},
		{"{\"uuid\":\"u\",\"hostname\":\"h\",\"childType\":\"PhysicalNode\"}",
		 "no power control"},
	};
	OWN(arena) a = arena_new();

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct bcm_node n;
		struct err e = {0};

		assert_ok(bcm_node_read(json(rows[i].device), a, &n, &e), &e);
		if ((bcm_node_fit(&n, &e) == 0) != !rows[i].says ||
		    (rows[i].says && !strstr(e.text, rows[i].says)))
			fail_msg("%s: %s", rows[i].device, e.text);
	}
}

static void unset_is_nothing(void **state)
{
	OWN(arena) a = arena_new();
	struct bcm_node n;
	struct err e;

	(void)state;
	assert_ok(bcm_node_read(
			  json(DEVICE(
				  ",\"mac\":\"00:00:00:00:00:00\",\"category\":"
				  "\"00000000-0000-0000-0000-000000000000\",\"managementNetwork\":"
				  "\"CATEGORY\",\"interfaces\":[{\"childType\":"
				  "\"NetworkBmcInterface\",\"ip\":\"0.0.0.0\"},{\"childType\":"
				  "\"NetworkPhysicalInterface\","
				  "\"name\":\"eth1\",\"ip\":\"10.0.0.9\"},"
				  "{\"childType\":\"NetworkPhysicalInterface\",\"name\":\"BOOTIF\","
				  "\"bootable\":true,\"dhcp\":true,\"ip\":\"0.0.0.0\"}]")),
			  a, &n, &e),
		  &e);
	assert_null(n.mac);
	assert_null(n.category);
	assert_null(n.management_network);
	assert_null(n.bmc_address);
	assert_string_equal(n.boot_name, "BOOTIF");
	assert_null(n.boot_address);
	assert_true(n.boot_dhcp);
	assert_ok(bcm_node_read(json(DEVICE(",\"provisioningInterface\":\"eth1\",\"interfaces\":["
					    "{\"name\":\"eth0\",\"bootable\":true},"
					    "{\"name\":\"eth1\",\"ip\":\"10.0.0.9\"}]")),
				a, &n, &e),
		  &e);
	assert_string_equal(n.boot_name, "eth1");
	assert_string_equal(n.boot_address, "10.0.0.9");
	assert_int_equal(bcm_node_read(json("{\"hostname\":\"n1\"}"), a, &n, &e), -1);
	assert_int_equal(bcm_node_read(json("[]"), a, &n, &e), -1);
}

static void a_mark_comes_and_goes_and_a_strange_one_is_seen(void **state)
{
	static const char *const broken[] = {
		"7", "\"me\"", "\"{}\"", "{\"machine\":\"u\"}",
		"\"{\\\"machine\\\":\\\"u\\\",\\\"token\\\":\\\"t\\\"}\""};
	OWN(arena) a = arena_new();
	struct bcm_lock l = {.machine = "uid \"1\"",
			     .name = "gpu-1",
			     .token = "op",
			     .fence = 7,
			     .category = "\"c1\"",
			     .next_mode = "\"\""};
	struct exact d = json(DEVICE(",\"extra_values\":{\"site\":1.50}")), with;
	const char *text;
	struct bcm_node n;
	struct err e;

	(void)state;
	text = bcm_with_lock(d, &l, a, &e);
	assert_non_null(text);
	with = json(text);
	assert_ok(bcm_node_read(with, a, &n, &e), &e);
	assert_string_equal(n.lock.machine, "uid \"1\"");
	assert_string_equal(n.lock.token, "op");
	assert_int_equal(n.lock.fence, 7);
	assert_string_equal(n.lock.category, "\"c1\"");
	assert_string_equal(n.lock.next_mode, "\"\"");
	assert_null(n.lock.image);
	assert_false(n.lock_broken);
	assert_string_equal(bcm_with_lock(with, NULL, a, &e), d.at);
	for (size_t i = 0; i < sizeof(broken) / sizeof(*broken); i++) {
		text = exact_with(json("{}"), "drover", broken[i], a, &e);
		text = exact_with(d, "extra_values", text, a, &e);
		assert_ok(bcm_node_read(json(text), a, &n, &e), &e);
		if (!n.lock_broken)
			fail_msg("taken: %s", text);
	}
	/* A device without extra_values gets this member. */
	assert_non_null(strstr(bcm_with_lock(json(DEVICE("")), &l, a, &e), "\"extra_values\":{"));
}

static void states_are_read_in_any_form(void **state)
{
	static const struct {
		const char *entry;
		enum bcm_phase phase;
		const char *name, *text;
		bool closed;
	} rows[] = {
		{"{\"uuid\":\"u\",\"status\":\"UP\"}", BCM_UP, "UP", NULL, false},
		{"{\"uuid\":\"u\",\"state\":\"UP/CLOSED\"}", BCM_UP, "UP", NULL, true},
		{"{\"uuid\":\"u\",\"status\":\"UP, restart required\"}", BCM_UP, "UP", NULL, false},
		{"{\"uuid\":\"u\",\"status\":\"INSTALLING (checking disks)\"}", BCM_WAITING,
		 "INSTALLING", "checking disks", false},
		{"{\"uuid\":\"u\",\"status\":\"INSTALLING\",\"message\":\"complete\"}", BCM_WAITING,
		 "INSTALLING", "complete", false},
		{"{\"uuid\":\"u\",\"status\":\"INSTALLER_FAILED\"}", BCM_FAILED, "INSTALLER_FAILED",
		 NULL, false},
		{"{\"uuid\":\"u\",\"status\":\"INSTALLER_UNREACHABLE\"}", BCM_FAILED,
		 "INSTALLER_UNREACHABLE", NULL, false},
		{"{\"uuid\":\"u\",\"status\":\"BURNING\"}", BCM_BURNING, "BURNING", NULL, false},
		{"{\"uuid\":\"u\",\"status\":\"DOWN\"}", BCM_DOWN, "DOWN", NULL, false},
		{"{\"uuid\":\"u\",\"status\":\"UPGRADING\"}", BCM_UNKNOWN, "UPGRADING", NULL,
		 false},
		{"{\"uuid\":\"u\",\"status\":\"up\"}", BCM_UNKNOWN, "up", NULL, false},
		{"{\"uuid\":\"u\",\"status\":7}", BCM_UNKNOWN, "(no state)", NULL, false},
	};
	OWN(arena) a = arena_new();
	struct bcm_state s;
	const char *of;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		assert_true(bcm_state_read(json(rows[i].entry), a, &of, &s));
		if (s.phase != rows[i].phase || !str_eq(s.name, rows[i].name) ||
		    !str_eq(s.text, rows[i].text) || s.closed != rows[i].closed)
			fail_msg("%s: %d %s %s", rows[i].entry, s.phase, s.name, s.text);
	}
	assert_false(bcm_state_read(json("{\"status\":\"UP\"}"), a, &of, &s));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_drover_may_not_touch_is_named),
		cmocka_unit_test(unset_is_nothing),
		cmocka_unit_test(a_mark_comes_and_goes_and_a_strange_one_is_seen),
		cmocka_unit_test(states_are_read_in_any_form),
	};

	mem_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
