#include "tests/unit/testing.h"

#include <stdio.h>
#include "base/data/labels.h"

static void a_label_is_found_wherever_it_stands(void **state)
{
	char keys[50][8];
	struct label v[50];
	struct labels l = {.v = v};

	(void)state;
	assert_null(labels_get(&l, "a"));
	for (size_t n = 1; n <= 50; n++) {
		for (size_t i = 0; i < n; i++) {
			snprintf(keys[i], sizeof(keys[i]), "k%zu", (i * 7) % n);
			v[i] = (struct label){keys[i], keys[i] + 1};
		}
		l.n = n;
		if (n % 7 == 0)
			continue; /* the keys would repeat */
		labels_sort(&l);
		for (size_t i = 0; i < n; i++)
			assert_ptr_equal(labels_get(&l, v[i].key), v[i].value);
		assert_null(labels_get(&l, "k"));
		assert_null(labels_get(&l, "l"));
		assert_null(labels_get(&l, ""));
	}
}

static void equal_means_the_same_keys_and_values(void **state)
{
	struct label av[] = {{"a", "1"}, {"b", "2"}}, bv[] = {{"b", "2"}, {"a", "1"}};
	struct labels a = {av, 2}, b = {bv, 2}, none = {0};

	(void)state;
	assert_false(labels_equal(&a, &b));
	labels_sort(&b);
	assert_true(labels_equal(&a, &b));
	bv[1].value = "3";
	assert_false(labels_equal(&a, &b));
	b.n = 1;
	assert_false(labels_equal(&a, &b));
	assert_true(labels_equal(&none, &none));
	assert_false(labels_equal(&none, &a));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_label_is_found_wherever_it_stands),
		cmocka_unit_test(equal_means_the_same_keys_and_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
