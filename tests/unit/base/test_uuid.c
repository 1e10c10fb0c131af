#include "tests/unit/testing.h"

#include "base/uuid.h"

#define SMBIOS "4c4c4544-0035-3410-8050-c6c04f314733"
#define SWAPPED "44454c4c-3500-1034-8050-c6c04f314733"

static void one_uuid_has_one_spelling(void **state)
{
	static const char *const same[] = {SMBIOS, "4C4C4544-0035-3410-8050-C6C04F314733",
					   "4c4c4544003534108050c6c04f314733",
					   "4C4C4544003534108050C6C04F314733"};
	char out[UUID_TEXT];

	(void)state;
	for (size_t i = 0; i < sizeof(same) / sizeof(*same); i++) {
		assert_int_equal(uuid_read(same[i], out), UUID_IS);
		assert_string_equal(out, SMBIOS);
		assert_true(uuid_is(same[i]));
		assert_int_equal(uuid_compare(SMBIOS, same[i]), UUID_EXACT);
		assert_int_equal(uuid_compare(same[i], SMBIOS), UUID_EXACT);
	}
}

static void the_first_three_groups_may_be_turned_round(void **state)
{
	(void)state;
	assert_int_equal(uuid_compare(SMBIOS, SWAPPED), UUID_SWAPPED);
	assert_int_equal(uuid_compare(SWAPPED, SMBIOS), UUID_SWAPPED);
	assert_int_equal(uuid_compare("44454C4C350010348050C6C04F314733", SMBIOS), UUID_SWAPPED);
	assert_true(uuid_same(SMBIOS, SWAPPED));
	/* All three first groups are swapped, and never the last two. */
	assert_false(uuid_same(SMBIOS, "44454c4c-0035-3410-8050-c6c04f314733"));
	assert_false(uuid_same(SMBIOS, "4c4c4544-3500-1034-8050-c6c04f314733"));
	assert_false(uuid_same(SMBIOS, "44454c4c-3500-1034-5080-c6c04f314733"));
	assert_false(uuid_same(SMBIOS, "44454c4c-3500-1034-8050-3347314fc0c6"));
	assert_false(uuid_same(SMBIOS, "4c4c4544-0035-3410-8050-c6c04f314734"));
}

static void what_reads_the_same_both_ways_is_not_called_swapped(void **state)
{
	static const char both[] = "11222211-3333-4444-8050-c6c04f314733";

	(void)state;
	assert_int_equal(uuid_compare(both, both), UUID_EXACT);
}

static void what_is_no_uuid_is_the_same_as_nothing(void **state)
{
	static const char *const not [] = {
		"4c4c4544-0035-3410-8050-c6c04f31473",
		"4c4c4544-0035-3410-8050-c6c04f3147333",
		"4c4c4544-0035-3410-8050-c6c04f31473g",
		"4c4c4544-0035-3410-8050 c6c04f314733",
		"4c4c45440035-3410-8050-c6c04f314733",
		"4c4c4544-0035-3410-8050c6c04f3147330",
		"{4c4c4544-0035-3410-8050-c6c04f3147}",
		"4c4c4544-0035-3410-8050-c6c04f31473\n",
		"Not Settable",
		"--------------------------------",
		"-",
		" ",
	};
	char out[UUID_TEXT];

	(void)state;
	for (size_t i = 0; i < sizeof(not ) / sizeof(*not ); i++) {
		assert_int_equal(uuid_read(not [i], out), UUID_NOT);
		assert_string_equal(out, "");
		assert_false(uuid_is(not [i]));
		assert_false(uuid_same(not [i], not [i]));
		assert_false(uuid_same(SMBIOS, not [i]));
	}
	assert_int_equal(uuid_read(NULL, out), UUID_NONE);
	assert_int_equal(uuid_read("", out), UUID_NONE);
	assert_false(uuid_same(NULL, NULL));
	assert_false(uuid_same("", ""));
	assert_false(uuid_same(SMBIOS, NULL));
	assert_false(uuid_same(NULL, SMBIOS));
}

static void a_makers_default_is_no_identity_in_either_order(void **state)
{
	static const char *const worthless[] = {
		"00000000-0000-0000-0000-000000000000", "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF",
		"fefefefe-fefe-fefe-fefe-fefefefefefe", "58585858585858585858585858585858",
		"03000200-0400-0500-0006-000700080009", "00020003-0004-0005-0006-000700080009",
		"12345678-1234-5678-90AB-CDDEEFAABBCC", "78563412-3412-7856-90ab-cddeefaabbcc",
		"00112233-4455-6677-8899-aabbccddeeff", "33221100-5544-7766-8899-AABBCCDDEEFF",
		"56f49712-ffff-ffff-ffff-ffffffffffff", "00000001-0000-0000-0000-000000000000",
		"4c4c4544-0000-2010-8020-80c04f202020",
	};
	char out[UUID_TEXT];

	(void)state;
	for (size_t i = 0; i < sizeof(worthless) / sizeof(*worthless); i++) {
		assert_int_equal(uuid_read(worthless[i], out), UUID_DEFAULT);
		assert_int_equal(strlen(out), UUID_TEXT - 1);
		assert_false(uuid_is(worthless[i]));
		for (size_t k = 0; k < sizeof(worthless) / sizeof(*worthless); k++)
			assert_false(uuid_same(worthless[i], worthless[k]));
	}
}

/* UUIDs of Supermicro that end in the MAC address of the first NIC; they identify the machine. */
static void many_zeros_before_a_mac_are_an_identity(void **state)
{
	(void)state;
	assert_true(uuid_is("00000000-0000-0000-0000-ac1f6b3d1a2c"));
	assert_int_equal(uuid_compare("00000000-0000-0000-0000-ac1f6b3d1a2c",
				      "00000000-0000-0000-0000-ac1f6b3d1a2c"),
			 UUID_EXACT);
}

static void both_spellings_have_one_key(void **state)
{
	char a[UUID_TEXT], b[UUID_TEXT];

	(void)state;
	assert_true(uuid_key(SMBIOS, a));
	assert_true(uuid_key(SWAPPED, b));
	assert_string_equal(a, b);
	assert_true(uuid_key("44454c4c-0035-3410-8050-c6c04f314733", b));
	assert_string_not_equal(a, b);
	assert_false(uuid_key("00000000-0000-0000-0000-000000000000", a));
	assert_false(uuid_key(NULL, a));
	assert_string_equal(a, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_uuid_has_one_spelling),
		cmocka_unit_test(the_first_three_groups_may_be_turned_round),
		cmocka_unit_test(what_reads_the_same_both_ways_is_not_called_swapped),
		cmocka_unit_test(what_is_no_uuid_is_the_same_as_nothing),
		cmocka_unit_test(a_makers_default_is_no_identity_in_either_order),
		cmocka_unit_test(both_spellings_have_one_key),
		cmocka_unit_test(many_zeros_before_a_mac_are_an_identity),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
