#include "tests/unit/testing.h"

#include "base/index.h"
#include "base/str.h"

enum { COLOUR, SIZE, KEYS };

static const char *found[8];
static unsigned nfound;

static bool note(const char *name, void *arg)
{
	(void)arg;
	found[nfound++] = name;
	return nfound < 8;
}

static unsigned ask(const struct index *x, unsigned key, const char *text)
{
	nfound = 0;
	index_each(x, key, text, note, NULL);
	assert_int_equal(index_count(x, key, text), nfound);
	return nfound;
}

static void names_are_found_by_what_they_have(void **state)
{
	OWN(index) x = index_new(KEYS);

	(void)state;
	index_put(x, "a", (struct index_text[]){{COLOUR, "red"}, {SIZE, "red"}}, 2);
	index_put(x, "b", (struct index_text[]){{COLOUR, "blue"}, {COLOUR, "red"}}, 2);
	assert_int_equal(ask(x, COLOUR, "red"), 2);
	assert_string_equal(found[0], "a");
	assert_string_equal(found[1], "b");
	assert_int_equal(ask(x, COLOUR, "blue"), 1);
	assert_int_equal(ask(x, SIZE, "red"), 1);
	assert_int_equal(ask(x, SIZE, "blue"), 0);
	assert_int_equal(ask(x, COLOUR, NULL), 0);
}

static void what_a_name_had_before_it_has_no_more(void **state)
{
	OWN(index) x = index_new(KEYS);

	(void)state;
	index_put(x, "a", (struct index_text[]){{COLOUR, "red"}, {SIZE, "big"}}, 2);
	index_put(x, "a", (struct index_text[]){{COLOUR, "blue"}, {SIZE, "big"}}, 2);
	assert_int_equal(ask(x, COLOUR, "red"), 0);
	assert_int_equal(ask(x, COLOUR, "blue"), 1);
	assert_int_equal(ask(x, SIZE, "big"), 1);
	index_put(x, "a", (struct index_text[]){{COLOUR, "blue"}}, 1);
	assert_int_equal(ask(x, SIZE, "big"), 0);
	index_put(x, "b", (struct index_text[]){{COLOUR, "blue"}, {COLOUR, "blue"}}, 2);
	index_put(x, "c", (struct index_text[]){{COLOUR, "blue"}}, 1);
	assert_int_equal(ask(x, COLOUR, "blue"), 3);
	index_put(x, "b", NULL, 0);
	assert_int_equal(ask(x, COLOUR, "blue"), 2);
	assert_string_equal(found[1], "c");
	index_put(x, "c", NULL, 0);
	index_put(x, "a", (struct index_text[]){{COLOUR, NULL}, {SIZE, ""}}, 2);
	assert_int_equal(ask(x, COLOUR, "blue"), 0);
	index_put(x, "a", (struct index_text[]){{COLOUR, "blue"}}, 1);
	index_put(x, "a", NULL, 0);
	index_put(x, "a", NULL, 0);
	assert_int_equal(ask(x, COLOUR, "blue"), 0);
}

static void put_says_whether_texts_have_changed(void **state)
{
	OWN(index) x = index_new(KEYS);

	(void)state;
	assert_false(index_put(x, "a", NULL, 0));
	assert_true(index_put(x, "a", (struct index_text[]){{COLOUR, "red"}, {SIZE, "big"}}, 2));
	assert_false(index_put(x, "a", (struct index_text[]){{COLOUR, "red"}, {SIZE, "big"}}, 2));
	assert_true(index_put(x, "a", (struct index_text[]){{COLOUR, "red"}}, 1));
	assert_true(index_put(x, "a", (struct index_text[]){{COLOUR, ""}}, 1));
	assert_false(index_put(x, "a", NULL, 0));
}

static void many_names_may_have_one_text(void **state)
{
	OWN(index) x = index_new(KEYS);
	char name[16];

	(void)state;
	for (int i = 0; i < 1000; i++) {
		str_format(name, sizeof(name), "n-%d", i);
		index_put(x, name, (struct index_text[]){{COLOUR, "red"}, {SIZE, name}}, 2);
	}
	for (int i = 0; i < 1000; i += 2) {
		str_format(name, sizeof(name), "n-%d", i);
		index_put(x, name, (struct index_text[]){{SIZE, "even"}}, 1);
	}
	assert_int_equal(index_count(x, COLOUR, "red"), 500);
	assert_int_equal(index_count(x, SIZE, "even"), 500);
	assert_int_equal(ask(x, SIZE, "n-7"), 1);
	assert_string_equal(found[0], "n-7");
	assert_int_equal(ask(x, SIZE, "n-8"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_found_by_what_they_have),
		cmocka_unit_test(what_a_name_had_before_it_has_no_more),
		cmocka_unit_test(put_says_whether_texts_have_changed),
		cmocka_unit_test(many_names_may_have_one_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
