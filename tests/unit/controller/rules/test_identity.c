#include "tests/unit/testing.h"

#include "controller/rules/identity.h"

#define UUID "4c4c4544-0035-3410-8050-c6c04f314733"
#define SWAPPED "44454c4c-3500-1034-8050-c6c04f314733"
#define OTHER "4c4c4544-0035-3410-8050-c6c04f314799"
#define DEFAULT "03000200-0400-0500-0006-000700080009"
#define SERIAL "CN7792154A0014"
#define BLANK "To be filled by O.E.M."
#define MAC "b8:ce:f6:01:02:03"
#define ID "drover://hall-a/gpu-1"

struct says {
	const char *want, *want_serial, *uuid, *serial;
	/* Expected result. UNTOLD: undecided, since the BMC may still report what is missing */
	enum { OURS, ANOTHER, UNTOLD } is;
};

static void a_bmc_proves_itself_by_its_uuid_or_where_that_is_not_enough_by_its_serial(void **state)
{
	static const struct says cases[] = {
		{UUID, NULL, UUID, NULL, OURS},
		{UUID, NULL, UUID, SERIAL, OURS},
		/* The BMC reports no serial number, as during POST. */
		{UUID, SERIAL, UUID, NULL, OURS},
		{UUID, SERIAL, UUID, "X", ANOTHER},
		{UUID, SERIAL, OTHER, SERIAL, ANOTHER},
		/* Some BMCs report no UUID until POST has ended. */
		{UUID, SERIAL, NULL, SERIAL, UNTOLD},
		{UUID, SERIAL, NULL, NULL, UNTOLD},
		{UUID, NULL, NULL, SERIAL, UNTOLD},
		{UUID, NULL, DEFAULT, NULL, UNTOLD},
		/* A different serial number proves a different machine, whatever the UUID. */
		{UUID, SERIAL, NULL, "X", ANOTHER},
		/* The UUID in the other byte order. */
		{UUID, SERIAL, SWAPPED, SERIAL, OURS},
		{SWAPPED, SERIAL, UUID, SERIAL, OURS},
		{UUID, NULL, SWAPPED, SERIAL, ANOTHER},
		{UUID, SERIAL, SWAPPED, NULL, UNTOLD},
		{UUID, BLANK, SWAPPED, NULL, ANOTHER},
		{UUID, SERIAL, SWAPPED, "X", ANOTHER},
		{UUID, BLANK, SWAPPED, BLANK, ANOTHER},
		{UUID, "00000000", SWAPPED, "00000000", ANOTHER},
		/* Without a usable UUID, the serial number decides. */
		{NULL, SERIAL, NULL, SERIAL, OURS},
		{"", SERIAL, "", SERIAL, OURS},
		{NULL, SERIAL, UUID, SERIAL, OURS},
		{DEFAULT, SERIAL, NULL, SERIAL, OURS},
		{DEFAULT, SERIAL, DEFAULT, SERIAL, OURS},
		{DEFAULT, NULL, DEFAULT, SERIAL, ANOTHER},
		{DEFAULT, SERIAL, DEFAULT, NULL, UNTOLD},
		{NULL, SERIAL, NULL, NULL, UNTOLD},
		{DEFAULT, BLANK, DEFAULT, BLANK, ANOTHER},
		{"", BLANK, "", BLANK, ANOTHER},
		{"gpu-1", SERIAL, "gpu-1", SERIAL, ANOTHER},
	};
	struct err e;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct says *c = &cases[i];
		const struct machine_identity want = {c->want, c->want_serial};

		if ((identity_bmc(&want, c->uuid, c->serial, &e) == 0) != (c->is == OURS))
			fail_msg("case %zu", i);
		if (c->is == OURS)
			continue;
		assert_int_equal(e.kind, c->is == UNTOLD ? ERR_UNAVAILABLE : ERR_CONFLICT);
		assert_int_equal(e.code == IDENTITY_UNTOLD, c->is == UNTOLD);
	}
}

static void an_empty_identity_is_not_one_of_another_machine(void **state)
{
	const struct machine_identity empty = {"", ""};
	struct err e;

	(void)state;
	assert_int_equal(identity_bmc(NULL, UUID, SERIAL, &e), -1);
	assert_int_equal(e.kind, ERR_NOT_FOUND);
	assert_int_equal(identity_bmc(&empty, "", "", &e), -1);
	assert_int_equal(e.kind, ERR_NOT_FOUND);
}

static bool agent(const char *want_uuid, const char *want_serial, const char *mac, const char *uuid,
		  const char *serial, const char *nic)
{
	const struct machine_identity want = {want_uuid, want_serial};
	struct proto_nic nics[] = {{.name = "eth0", .mac = "02:00:00:00:00:01"},
				   {.name = "eth1", .mac = nic}};
	struct proto_inventory inv = {.dmi = {.system_uuid = uuid, .serial = serial},
				      .nics = {.v = nics, .n = 2}};
	struct err e;

	return identity_agent(&want, mac, &inv, &e) == 0;
}

static void an_agent_in_the_other_order_needs_a_serial_or_the_boot_nic(void **state)
{
	(void)state;
	assert_true(agent(UUID, NULL, NULL, UUID, NULL, NULL));
	assert_true(agent(UUID, SERIAL, NULL, UUID, "another plate", NULL));
	assert_false(agent(UUID, SERIAL, MAC, OTHER, SERIAL, MAC));
	assert_false(agent(UUID, SERIAL, MAC, NULL, SERIAL, MAC));
	assert_true(agent(UUID, SERIAL, NULL, SWAPPED, SERIAL, NULL));
	assert_true(agent(UUID, NULL, MAC, SWAPPED, NULL, "B8:CE:F6:01:02:03"));
	assert_false(agent(UUID, NULL, NULL, SWAPPED, NULL, NULL));
	assert_false(agent(UUID, NULL, "", SWAPPED, SERIAL, ""));
	assert_false(agent(UUID, SERIAL, MAC, SWAPPED, "X", "b8:ce:f6:01:02:04"));
	/* A NIC can be moved to another machine, so its MAC address alone proves nothing. */
	assert_false(agent(DEFAULT, NULL, MAC, DEFAULT, NULL, MAC));
	assert_false(agent(NULL, SERIAL, MAC, UUID, "X", MAC));
	assert_true(agent(DEFAULT, SERIAL, NULL, DEFAULT, SERIAL, NULL));
}

static void a_node_that_joins_says_what_the_agent_read(void **state)
{
	const struct machine_identity want = {UUID, SERIAL}, none = {NULL, SERIAL};

	(void)state;
	assert_true(identity_joined(&want, SWAPPED, SWAPPED));
	assert_true(identity_joined(&want, SWAPPED, "44454C4C-3500-1034-8050-C6C04F314733"));
	assert_false(identity_joined(&want, SWAPPED, UUID));
	assert_false(identity_joined(&want, UUID, OTHER));
	assert_false(identity_joined(&want, UUID, NULL));
	assert_true(identity_joined(&none, DEFAULT, DEFAULT));
	assert_false(identity_joined(&none, DEFAULT, "00020003-0004-0005-0006-000700080009"));
	assert_false(identity_joined(&none, DEFAULT, NULL));
	/* Machines recorded by an older version lack the UUID that the agent read. */
	assert_true(identity_joined(&want, NULL, UUID));
	assert_false(identity_joined(&want, NULL, SWAPPED));
	assert_false(identity_joined(&none, NULL, UUID));
	assert_false(identity_joined(NULL, NULL, NULL));
}

static void a_node_in_the_other_order_needs_the_machines_provider_id(void **state)
{
	(void)state;
	assert_true(identity_node(UUID, ID, UUID, NULL));
	assert_true(identity_node(UUID, ID, SWAPPED, ID));
	assert_false(identity_node(UUID, ID, SWAPPED, "drover://hall-a/gpu-2"));
	assert_false(identity_node(UUID, ID, SWAPPED, NULL));
	assert_false(identity_node(UUID, ID, OTHER, ID));
	assert_false(identity_node(UUID, ID, DEFAULT, ID));
	assert_true(identity_node(DEFAULT, ID, DEFAULT, ID));
	assert_true(identity_node("", ID, UUID, ID));
	assert_false(identity_node(DEFAULT, ID, DEFAULT, NULL));
	assert_false(identity_node("", NULL, "", NULL));
}

static void a_node_that_may_run_on_it_is_one_in_any_order(void **state)
{
	(void)state;
	assert_true(identity_may_run(UUID, ID, UUID, NULL));
	assert_true(identity_may_run(UUID, ID, SWAPPED, NULL));
	assert_false(identity_may_run(UUID, ID, OTHER, ID));
	assert_false(identity_may_run(UUID, ID, DEFAULT, NULL));
	assert_true(identity_may_run(UUID, ID, DEFAULT, ID));
	assert_true(identity_may_run("", ID, DEFAULT, NULL));
	assert_true(identity_may_run(DEFAULT, ID, NULL, NULL));
	assert_false(identity_may_run("", ID, UUID, NULL));
	assert_true(identity_may_run("", ID, UUID, ID));
}

static void twins_are_found_in_any_order_and_by_serial_where_there_is_no_uuid(void **state)
{
	const struct machine_identity a = {UUID, SERIAL}, b = {SWAPPED, "X"}, c = {OTHER, SERIAL},
				      d = {DEFAULT, SERIAL}, e = {DEFAULT, "X"}, f = {"", SERIAL},
				      g = {"", BLANK}, h = {NULL, BLANK};

	(void)state;
	assert_string_equal(identity_twins(&a, &b), "spec.identity.systemUUID");
	/* Serial numbers are not unique across vendors, so they are not compared if the UUIDs
	 * differ. */
	assert_null(identity_twins(&a, &c));
	assert_string_equal(identity_twins(&a, &d), "spec.identity.serialNumber");
	assert_string_equal(identity_twins(&f, &d), "spec.identity.serialNumber");
	assert_null(identity_twins(&d, &e));
	assert_null(identity_twins(&g, &h));
	assert_null(identity_twins(&a, NULL));
	assert_true(identity_of_record(&a, SWAPPED, NULL));
	assert_true(identity_of_record(&d, DEFAULT, SERIAL));
	assert_false(identity_of_record(&d, DEFAULT, "X"));
	assert_false(identity_of_record(NULL, UUID, SERIAL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_bmc_proves_itself_by_its_uuid_or_where_that_is_not_enough_by_its_serial),
		cmocka_unit_test(an_empty_identity_is_not_one_of_another_machine),
		cmocka_unit_test(an_agent_in_the_other_order_needs_a_serial_or_the_boot_nic),
		cmocka_unit_test(a_node_that_joins_says_what_the_agent_read),
		cmocka_unit_test(a_node_in_the_other_order_needs_the_machines_provider_id),
		cmocka_unit_test(a_node_that_may_run_on_it_is_one_in_any_order),
		cmocka_unit_test(twins_are_found_in_any_order_and_by_serial_where_there_is_no_uuid),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
