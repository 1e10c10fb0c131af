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
	return quirks_of(&(struct quirk_facts){.vendor = vendor, .product = product}).flags;
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

/* Returns the ids of the rows that apply, each after a space. */
static const char *ids_of(const char *vendor, const char *product)
{
	static char text[256];
	uint64_t rows = quirks_of(&(struct quirk_facts){.vendor = vendor, .product = product}).rows;

	text[0] = '\0';
	for (size_t i = 0; i < quirk_rows_n; i++)
		if (rows & UINT64_C(1) << i)
			str_format(text + strlen(text), sizeof(text) - strlen(text), " %s",
				   quirk_rows[i].id);
	return text;
}

static void a_row_that_a_later_one_corrects_is_not_in_force(void **state)
{
	(void)state;
	assert_string_equal(ids_of("Supermicro", "SYS-821GE-TNHR"),
			    " Q18-supermicro Q26-supermicro Q30-supermicro");
	assert_string_equal(ids_of("Supermicro", "ARS-111GL-NHR"),
			    " Q18-supermicro Q26-supermicro Q30-ars-111gl-nhr");
	assert_string_equal(ids_of("HPE", "ProLiant DL160 Gen10"), " Q17-hp-dl160 Q20-hpe");
	assert_string_equal(ids_of("Contoso", "3500RX"), "");
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
	assert_true(quirks_of(&f).flags & QUIRK_BOOT_MODE_ALWAYS);
	f.arg = "Nvidia";
	assert_false(quirks_of(&f).flags & QUIRK_BOOT_MODE_ALWAYS);
}

static void every_row_has_a_number_a_condition_an_effect_and_a_reason(void **state)
{
	(void)state;
	assert_true(quirk_rows_n > 0);
	for (size_t i = 0; i < quirk_rows_n; i++) {
		const struct quirk_row *q = &quirk_rows[i];
		char number[3] = {q->id[1], q->id[2]};
		int64_t n;

		assert_true(q->id[0] == 'Q' && str_to_i64(number, 1, 99, &n) && q->id[3] == '-');
		assert_true(strlen(q->name) > 10);
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(q->id, quirk_rows[k].id);
		assert_true(q->vendor || q->product || q->redfish_version || q->bios || q->member);
		assert_true((q->set | q->clear) != 0 && (q->set & q->clear) == 0);
		assert_true(strlen(q->why) > 10);
	}
}

static void the_page_has_a_row_for_each(void **state)
{
	FILE *f = fopen("docs/bmc.md", "r");
	static char page[1 << 16];
	char row[200];

	(void)state;
	assert_non_null(f);
	page[fread(page, 1, sizeof(page) - 1, f)] = '\0';
	fclose(f);
	for (size_t i = 0; i < quirk_rows_n; i++) {
		str_format(row, sizeof(row), "| `%s` |", quirk_rows[i].id);
		if (!strstr(page, row) || !strstr(page, quirk_rows[i].name))
			fail_msg("docs/bmc.md has no row of %s", quirk_rows[i].id);
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
		cmocka_unit_test(a_row_that_a_later_one_corrects_is_not_in_force),
		cmocka_unit_test(letter_case_does_not_matter),
		cmocka_unit_test(a_member_of_the_root_may_tell_what_the_vendor_does_not),
		cmocka_unit_test(the_page_has_a_row_for_each),
		cmocka_unit_test(what_is_known_of_one_maker_is_not_held_against_another),
		cmocka_unit_test(every_row_has_a_number_a_condition_an_effect_and_a_reason),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
