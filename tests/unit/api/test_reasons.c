/* Tests the closed list of reasons, and that docs/reasons.md describes them. */
#include "tests/unit/testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "api/reasons.h"
#include "base/arena.h"
#include "base/str.h"

static void a_reason_is_found_by_its_name_and_by_no_other(void **state)
{
	(void)state;
	for (int r = REASON_NONE + 1; r < REASONS; r++) {
		assert_int_equal(reason_find(reason_name((enum reason)r)), r);
		assert_false(str_empty(reason_info[r].means));
	}
	assert_string_equal(reason_name(REASON_BmcBusy), "BmcBusy");
	assert_null(reason_name(REASON_NONE));
	assert_int_equal(reason_find(NULL), REASON_NONE);
	assert_int_equal(reason_find(""), REASON_NONE);
	assert_int_equal(reason_find("bmcbusy"), REASON_NONE);
	assert_int_equal(reason_find("BmcBusyToo"), REASON_NONE);
}

/* Advice to forget a drive that was not wiped comes last, never first. */
static void a_drive_is_found_or_replaced_before_it_is_forgotten(void **state)
{
	unsigned n = 0;

	(void)state;
	for (int r = REASON_NONE + 1; r < REASONS; r++) {
		const char *helps = reason_info[r].helps;
		const char *forget = strstr(helps, "--drives"), *before = strstr(helps, "replace");

		if (!forget || !before)
			continue;
		n++;
		assert_true(before < forget);
		assert_non_null(strstr(helps, "did not wipe it and forgets it"));
	}
	assert_true(n);
	assert_non_null(strstr(reason_info[REASON_DriveMissing].helps, "replace"));
}

static char *text_of(const char *path, struct arena *a)
{
	FILE *f = fopen(path, "r");
	char *text = arena_alloc(a, 1 << 18);

	if (!f)
		fail_msg("%s cannot be read; run from the root", path);
	text[fread(text, 1, (1 << 18) - 1, f)] = '\0';
	fclose(f);
	return text;
}

/* The rows of docs/reasons.md are: | [`Reason`](runbooks/Reason.md) | meaning | what you can do |.
 * The last column writes MACHINE for the machine's name. */
static void the_manual_has_each_reason_and_no_other(void **state)
{
	OWN(arena) a = arena_new();
	char *text = text_of("docs/reasons.md", a);
	int rows = 0;

	(void)state;
	for (int r = REASON_NONE + 1; r < REASONS; r++) {
		const char *h = "", *p = reason_info[r].helps, *row;

		for (const char *at; (at = strstr(p, "%s")); p = at + 2)
			h = arena_printf(a, "%s%.*sMACHINE", h, (int)(at - p), p);
		row = arena_printf(a, "\n| [`%s`](runbooks/%s.md) | %s | %s%s |\n",
				   reason_info[r].name, reason_info[r].name, reason_info[r].means,
				   h, p);
		if (!strstr(text, row))
			fail_msg("docs/reasons.md lacks the row %s", row + 1);
	}
	for (const char *p = text; (p = strstr(p, "\n| [`")); p++)
		rows++;
	assert_int_equal(rows, REASONS - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_reason_is_found_by_its_name_and_by_no_other),
		cmocka_unit_test(a_drive_is_found_or_replaced_before_it_is_forgotten),
		cmocka_unit_test(the_manual_has_each_reason_and_no_other),
	};

	cmocka_set_test_filter(getenv("ONLY"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
