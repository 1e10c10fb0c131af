#include "tests/unit/testing.h"

#include <stdio.h>
#include "base/str.h"
#include "redfish/quirks.h"

static bool has_named(const char *member, const void *arg)
{
	return str_eq(member, arg);
}

static unsigned of(const char *vendor, const char *product)
{
	return quirks_of(&(struct quirk_facts){.vendor = vendor, .product = product});
}

static void a_bmc_that_nothing_is_known_of_has_no_quirks(void **state)
{
	(void)state;
	assert_int_equal(of(NULL, NULL), 0);
	assert_int_equal(of("Contoso", "3500RX"), 0);
}

static void later_rows_correct_earlier_ones(void **state)
{
	(void)state;
	assert_true(of("Supermicro", "SYS-821GE-TNHR") & QUIRK_CD_IS_USBCD);
	assert_false(of("Supermicro", "ARS-111GL-NHR") & QUIRK_CD_IS_USBCD);
	assert_true(of("Supermicro", "ARS-111GL-NHR") & QUIRK_MEDIA_BARE);
}

static void letter_case_does_not_matter(void **state)
{
	(void)state;
	assert_int_equal(of("SUPERMICRO", "x"), of("Supermicro", "x"));
	assert_true(of("lenovo", NULL) & QUIRK_MEDIA_PATCH);
}

static void a_member_of_the_root_may_tell_what_the_vendor_does_not(void **state)
{
	struct quirk_facts f = {.vendor = "NVIDIA", .has = has_named, .arg = "Ami"};

	(void)state;
	assert_true(quirks_of(&f) & QUIRK_BOOT_MODE_ALWAYS);
	f.arg = "Nvidia";
	assert_false(quirks_of(&f) & QUIRK_BOOT_MODE_ALWAYS);
}

static void every_row_has_a_number_a_condition_an_effect_and_a_reason(void **state)
{
	(void)state;
	assert_true(quirk_rows_n > 0);
	for (size_t i = 0; i < quirk_rows_n; i++) {
		const struct quirk_row *q = &quirk_rows[i];
		int64_t number;

		assert_true(q->id[0] == 'Q' && str_to_i64(q->id + 1, 1, 99, &number));
		assert_true(q->vendor || q->product || q->redfish_version || q->bios || q->member);
		assert_true((q->set | q->clear) != 0 && (q->set & q->clear) == 0);
		assert_true(strlen(q->why) > 10);
	}
}

static void what_is_known_of_one_maker_is_not_held_against_another(void **state)
{
	(void)state;
	assert_int_equal(of("Dell", "PowerEdge R750"), QUIRK_CD_BY_ATTRIBUTE);
	assert_int_equal(of("Nokia", NULL), QUIRK_MEDIA_WORDY);
	assert_int_equal(of("NVIDIA", "DGXH100"), QUIRK_MEDIA_NAMED);
	assert_false(QUIRK_CD_BY_ATTRIBUTE & (QUIRK_MEDIA_WORDY | QUIRK_MEDIA_NAMED));
	assert_false(QUIRK_MEDIA_WORDY & QUIRK_MEDIA_NAMED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_bmc_that_nothing_is_known_of_has_no_quirks),
		cmocka_unit_test(later_rows_correct_earlier_ones),
		cmocka_unit_test(letter_case_does_not_matter),
		cmocka_unit_test(a_member_of_the_root_may_tell_what_the_vendor_does_not),
		cmocka_unit_test(what_is_known_of_one_maker_is_not_held_against_another),
		cmocka_unit_test(every_row_has_a_number_a_condition_an_effect_and_a_reason),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
