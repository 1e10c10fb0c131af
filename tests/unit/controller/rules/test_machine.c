#include "tests/unit/testing.h"

#include "base/arena.h"
#include "controller/rules/machine.h"

#define ADDRESS "https://10.0.8.17/redfish/v1/Systems/1"
#define PIN "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static void what_an_inspection_learns_changes_no_reach(void **state)
{
	struct object_drive drive = {.wwn = "eui.1", .bytes = 1};
	struct machine_bmc bmc = {.address = ADDRESS}, moved = {.address = ADDRESS "/"};
	struct machine_identity who = {.system_uuid = "4c4c4544-0000-1000-8000-000000000001"};
	const char *unseen = "WD-1";
	const struct machine was = {.spec = {.provider_ref.name = "rack", .bmc = &bmc}};
	struct machine is = was;

	(void)state;
	assert_true(machine_same_reach(&was, &is));
	is.spec.drives = (struct object_drives){.v = &drive, .n = 1};
	is.spec.unseen_drives = (struct strings){.v = &unseen, .n = 1};
	is.status.tenancy = 7;
	assert_true(machine_same_reach(&was, &is));
	is.spec.bmc = &moved;
	assert_false(machine_same_reach(&was, &is));
	is = was;
	is.spec.identity = &who;
	assert_false(machine_same_reach(&was, &is));
	is = was;
	is.spec.provider_ref.name = "other";
	assert_false(machine_same_reach(&was, &is));
}

static void a_bmc_is_trusted_letter_for_letter(void **state)
{
	struct object_secret_ref ca = {.name = "ca", .key = "ca.crt"},
				 other = {.name = "b", .key = "ca.crt"},
				 key = {.name = "ca", .key = "b"}, no_key = {.name = "ca"};
	struct {
		const char *address;
		struct object_tls tls;
	} all[] = {
		{ADDRESS, {.fingerprint = PIN}},
		{ADDRESS, {.fingerprint = "sha256:00"}},
		{ADDRESS, {.trust_on_first_use = true}},
		{ADDRESS, {.ca_secret_ref = &ca}},
		{ADDRESS, {.ca_secret_ref = &other}},
		{ADDRESS, {.ca_secret_ref = &key}},
		{ADDRESS, {.ca_secret_ref = &no_key}},
		{ADDRESS, {.fingerprint = NULL}},
		{ADDRESS "/", {.fingerprint = PIN}},
		{"https://10.0.8.18/redfish/v1/Systems/1", {.fingerprint = PIN}},
		{"http://10.0.8.17/redfish/v1/Systems/1", {.fingerprint = NULL}},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		struct machine_bmc b = {.address = all[i].address, .tls = all[i].tls};

		assert_non_null(machine_bmc_differs(&b, "bmc", NULL, NULL));
		for (size_t k = 0; k < sizeof(all) / sizeof(*all); k++) {
			struct machine_bmc_trust t = {.address = all[k].address, .tls = all[k].tls};

			assert_int_equal(!machine_bmc_differs(&b, "bmc", NULL, &t), i == k);
		}
	}
}

static void the_secret_and_the_ca_are_part_of_it(void **state)
{
	struct object_secret_ref ca = {.name = "ca"};
	struct machine_bmc b = {.address = ADDRESS, .tls = {.ca_secret_ref = &ca}};
	struct machine_bmc_trust t = {.address = ADDRESS,
				      .tls = {.ca_secret_ref = &ca},
				      .credentials = "bmc",
				      .ca_digest = "sha256:aa"};

	(void)state;
	assert_null(machine_bmc_differs(&b, "bmc", "sha256:aa", &t));
	assert_string_equal(machine_bmc_differs(&b, "other", "sha256:aa", &t),
			    "the Secret with its password (credentialsSecretRef)");
	assert_non_null(machine_bmc_differs(&b, NULL, "sha256:aa", &t));
	assert_string_equal(machine_bmc_differs(&b, "bmc", "sha256:ab", &t),
			    "the contents of the Secret in spec.bmc.tls.caSecretRef");
	/* Without a CA, the connection is not trusted and nothing is sent. */
	assert_null(machine_bmc_differs(&b, "bmc", NULL, &t));
	t.credentials = t.ca_digest = NULL;
	assert_null(machine_bmc_differs(&b, "other", "sha256:ab", &t));
}

static void a_node_is_told_where_its_machine_stands_and_nothing_else(void **state)
{
	static struct label all[] = {{"app", "x"},
				     {"nvidia.com/gpu.clique", "7b.1"},
				     {"nvidia.com/gpu.product", "H100"},
				     {"topology.drover.dev/rack", "r1"},
				     {"topology.drover.development/rack", "r2"},
				     {"topology.kubernetes.io/zone", "z1"}};
	const struct machine m = {.meta = {.labels = {all, 6}}};
	OWN(arena) a = arena_new();
	const struct labels l = machine_topology(&m, a);

	(void)state;
	assert_int_equal(l.n, 3);
	assert_string_equal(labels_get(&l, "nvidia.com/gpu.clique"), "7b.1");
	assert_string_equal(labels_get(&l, "topology.drover.dev/rack"), "r1");
	assert_string_equal(labels_get(&l, "topology.kubernetes.io/zone"), "z1");
}

static void what_keeps_a_machine_from_booting_keeps_it_from_being_taken(void **state)
{
	(void)state;
	assert_true(machine_is_out_of_reach("BmcAuthFailed"));
	assert_true(machine_is_out_of_reach("BmcNotTrusted"));
	assert_true(machine_is_out_of_reach("ProviderNotReady"));
	assert_false(machine_is_out_of_reach("BmcSlow")); /* drover only waits for a slow BMC. */
	assert_false(machine_is_out_of_reach("PowerOnPaced"));
	assert_false(machine_is_out_of_reach("NoSuchReason"));
	assert_false(machine_is_out_of_reach(NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_keeps_a_machine_from_booting_keeps_it_from_being_taken),
		cmocka_unit_test(what_an_inspection_learns_changes_no_reach),
		cmocka_unit_test(a_bmc_is_trusted_letter_for_letter),
		cmocka_unit_test(the_secret_and_the_ca_are_part_of_it),
		cmocka_unit_test(a_node_is_told_where_its_machine_stands_and_nothing_else),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
