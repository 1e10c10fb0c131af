#include "tests/unit/testing.h"

#include "base/str.h"
#include "controller/hardware/machine_index.h"

#define UUID "4c4c4544-0035-3410-8050-c6c04f314733"
#define SWAPPED "44454C4C-3500-1034-8050-C6C04F314733"

static const char *found[8];
static unsigned nfound;

static bool note(const char *machine, void *arg)
{
	(void)arg;
	found[nfound++] = machine;
	return nfound < 8;
}

static unsigned ask(const struct machine_index *x, enum machine_key key, const char *value)
{
	nfound = 0;
	machine_index_each(x, key, value, note, NULL);
	return nfound;
}

static void machines_are_found_by_what_tells_them_apart(void **state)
{
	OWN(machine_index) x = machine_index_new();
	struct machine_identity id = {.system_uuid = UUID, .serial_number = "S1"},
				other = {.system_uuid = SWAPPED,
					 .serial_number = "To Be Filled By O.E.M."};
	struct object_secret_ref login = {.name = "bmc-1"}, ca = {.name = "ca"};
	struct machine_bmc b = {.address = "https://BMC-1/redfish/v1/Systems/1/",
				.credentials_secret_ref = &login};
	struct machine m = {.spec = {.identity = &id, .bmc = &b}}, n = {.spec.identity = &other};

	(void)state;
	b.tls.ca_secret_ref = &ca;
	machine_index_put(x, "m", &m);
	machine_index_put(x, "n", &n);
	assert_int_equal(ask(x, MACHINE_BY_UUID, UUID), 2);
	assert_string_equal(found[0], "m");
	assert_int_equal(ask(x, MACHINE_BY_SERIAL, "S1"), 1);
	assert_int_equal(ask(x, MACHINE_BY_SERIAL, "To Be Filled By O.E.M."), 0);
	assert_int_equal(ask(x, MACHINE_BY_ADDRESS, "https://bmc-1/redfish/v1/systems/1"), 1);
	assert_int_equal(ask(x, MACHINE_BY_ADDRESS, "https://bmc-1//redfish/v1/systems//1//"), 1);
	assert_int_equal(ask(x, MACHINE_BY_SECRET, "bmc-1"), 1);
	assert_int_equal(ask(x, MACHINE_BY_SECRET, "ca"), 1);
	assert_int_equal(ask(x, MACHINE_BY_SECRET, NULL), 0);
	assert_int_equal(ask(x, MACHINE_BY_UUID, "00000000-0000-0000-0000-000000000000"), 0);
}

static void what_they_said_of_a_login_is_found_by_its_version(void **state)
{
	OWN(machine_index) x = machine_index_new();
	struct machine m = {.status.bmc = {.secret_version = "17"}},
		       n = {.status.bmc = {.secret_version = "12", .refused_secret_version = "17"}};

	(void)state;
	machine_index_put(x, "m", &m);
	machine_index_put(x, "n", &n);
	assert_int_equal(ask(x, MACHINE_BY_ACCEPTED, "17"), 1);
	assert_string_equal(found[0], "m");
	assert_int_equal(ask(x, MACHINE_BY_REFUSED, "17"), 1);
	assert_string_equal(found[0], "n");
	n.status.bmc.refused_secret_version = NULL;
	machine_index_put(x, "n", &n);
	assert_int_equal(ask(x, MACHINE_BY_REFUSED, "17"), 0);
}

static void what_changed_or_went_is_not_found_any_more(void **state)
{
	OWN(machine_index) x = machine_index_new();
	struct machine_identity id = {.system_uuid = UUID, .serial_number = "S1"};
	struct machine m = {.spec.identity = &id};

	(void)state;
	machine_index_put(x, "m", &m);
	id.serial_number = "S2";
	machine_index_put(x, "m", &m);
	assert_int_equal(ask(x, MACHINE_BY_SERIAL, "S1"), 0);
	assert_int_equal(ask(x, MACHINE_BY_SERIAL, "S2"), 1);
	machine_index_put(x, "m", NULL);
	machine_index_put(x, "never", NULL);
	assert_int_equal(ask(x, MACHINE_BY_SERIAL, "S2"), 0);
	assert_int_equal(ask(x, MACHINE_BY_UUID, UUID), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(machines_are_found_by_what_tells_them_apart),
		cmocka_unit_test(what_they_said_of_a_login_is_found_by_its_version),
		cmocka_unit_test(what_changed_or_went_is_not_found_any_more),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
