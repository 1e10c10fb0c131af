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
			continue; /* for these n the keys would repeat */
		labels_sort(&l);
		for (size_t i = 0; i < n; i++)
			assert_ptr_equal(labels_get(&l, v[i].key), v[i].value);
		assert_null(labels_get(&l, "k"));
		assert_null(labels_get(&l, "l"));
		assert_null(labels_get(&l, ""));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_label_is_found_wherever_it_stands),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
