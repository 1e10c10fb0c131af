#include "tests/unit/testing.h"

#include <stdio.h>
#include <stdlib.h>
#include "base/map.h"
#include "base/mem.h"

static int freed;

static void count_free(void *p)
{
	freed++;
	free(p);
}

static int *number(int n)
{
	int *p = mem_new(int);

	*p = n;
	return p;
}

static void what_was_put_is_found(void **state)
{
	OWN(map) m = map_new(NULL);
	char key[32];
	static int values[3000];

	(void)state;
	for (int i = 0; i < 3000; i++) {
		snprintf(key, sizeof(key), "key-%d", i);
		map_put(m, key, &values[i]); /* the key is copied, so the buffer can be reused */
	}
	assert_int_equal(map_size(m), 3000);
	for (int i = 0; i < 3000; i++) {
		snprintf(key, sizeof(key), "key-%d", i);
		assert_ptr_equal(map_get(m, key), &values[i]);
	}
	assert_null(map_get(m, "key-3000"));
	assert_null(map_get(m, ""));
	assert_false(map_has(m, "key"));
}

static void keys_of_every_length_are_told_apart(void **state)
{
	OWN(map) m = map_new(NULL);
	char key[65];
	static int values[65];

	(void)state;
	for (size_t n = 0; n < sizeof(key); n++) {
		memset(key, 'a', n);
		key[n] = '\0';
		map_put(m, key, &values[n]);
	}
	for (size_t n = 0; n < sizeof(key); n++) {
		memset(key, 'a', n);
		key[n] = '\0';
		assert_ptr_equal(map_get(m, key), &values[n]);
	}
	assert_int_equal(map_size(m), sizeof(key));
}

static void the_order_is_that_of_insertion(void **state)
{
	OWN(map) m = map_new(NULL);
	struct map_iter i;
	char key[32];
	int n = 0;

	(void)state;
	for (int k = 0; k < 500; k++) {
		snprintf(key, sizeof(key), "%d", k * 7919 % 500);
		map_put(m, key, m);
	}
	map_put(m, "0", NULL); /* replacing a value does not change the order */
	map_for_each (i, m) {
		snprintf(key, sizeof(key), "%d", n++ * 7919 % 500);
		assert_string_equal(i.key, key);
	}
	assert_int_equal(n, 500);
}

static void the_current_key_may_be_removed_while_iterating(void **state)
{
	OWN(map) m = map_new(count_free);
	struct map_iter i;
	char key[32];
	int seen = 0;

	(void)state;
	freed = 0;
	for (int k = 0; k < 100; k++) {
		snprintf(key, sizeof(key), "%d", k);
		map_put(m, key, number(k));
	}
	map_for_each (i, m) {
		assert_int_equal(*(int *)i.value, seen++);
		map_del(m, i.key);
	}
	assert_int_equal(seen, 100);
	assert_int_equal(freed, 100);
	assert_int_equal(map_size(m), 0);
	assert_false(map_first(m, &i));
}

static void values_are_freed_once(void **state)
{
	struct map *m = map_new(count_free);
	int *p = number(2), *taken;

	(void)state;
	freed = 0;
	map_put(m, "a", number(1));
	map_put(m, "a", p);
	assert_int_equal(freed, 1);
	map_put(m, "a", p); /* putting the same pointer again frees nothing */
	assert_int_equal(freed, 1);
	taken = map_take(m, "a");
	assert_ptr_equal(taken, p);
	assert_null(map_take(m, "a"));
	assert_int_equal(freed, 1);
	free(taken);
	map_put(m, "b", number(3));
	map_put(m, "c", NULL);
	map_del(m, "none");
	map_clear(m);
	assert_int_equal(freed, 2);
	map_put(m, "d", number(4));
	map_free(m);
	assert_int_equal(freed, 3);
	map_free(NULL);
}

static void a_null_value_is_still_there(void **state)
{
	OWN(map) m = map_new(NULL);

	(void)state;
	map_put(m, "a", NULL);
	assert_true(map_has(m, "a"));
	assert_null(map_get(m, "a"));
	assert_int_equal(map_size(m), 1);
}

static void the_order_outlives_removal_and_growth(void **state)
{
	OWN(map) m = map_new(NULL);
	struct map_iter i;
	char key[32];
	int want = 1;

	(void)state;
	for (int k = 0; k < 1000; k++) {
		snprintf(key, sizeof(key), "%d", k);
		map_put(m, key, m);
		if (k % 2 == 1) {
			snprintf(key, sizeof(key), "%d", k - 1);
			map_del(m, key);
		}
	}
	map_for_each (i, m) {
		assert_int_equal(atoi(i.key), want);
		want += 2;
	}
	assert_int_equal(want, 1001);
}

/* Keys are removed and added again at random, at every load factor: entries behind a gap are still
 * found. */
static void who_stays_is_found_whoever_leaves(void **state)
{
	enum { KEYS = 300 };
	OWN(map) m = map_new(NULL);
	bool there[KEYS] = {0};
	char key[16];
	size_t n = 0;

	(void)state;
	srand(7);
	for (int round = 0; round < 20000; round++) {
		const int k = rand() % (1 + round % KEYS);

		snprintf(key, sizeof(key), "%d", k);
		assert_ptr_equal(map_take(m, key), there[k] ? &there[k] : NULL);
		n -= there[k];
		there[k] = rand() % 2;
		if (there[k])
			map_put(m, key, &there[k]);
		n += there[k];
		assert_int_equal(map_size(m), n);
	}
	for (int k = 0; k < KEYS; k++) {
		snprintf(key, sizeof(key), "%d", k);
		assert_ptr_equal(map_get(m, key), there[k] ? &there[k] : NULL);
	}
}

static void a_key_is_the_map_s_own(void **state)
{
	OWN(map) m = map_new(NULL);
	char text[] = "a";
	const char *key;

	(void)state;
	assert_null(map_key(m, text));
	map_put(m, text, m);
	key = map_key(m, "a");
	text[0] = 'b';
	assert_string_equal(key, "a");
	for (int i = 0; i < 100; i++)
		map_put(m, (char[]){(char)(32 + i), 'x', 0}, m);
	map_put(m, "a", NULL);
	assert_ptr_equal(map_key(m, "a"), key);
	map_del(m, key);
	assert_null(map_key(m, "a"));
}

static void a_slot_is_there_from_the_first_look(void **state)
{
	OWN(map) m = map_new(NULL);
	int one, two;
	void **slot;

	(void)state;
	slot = map_slot(m, "a");
	assert_null(*slot);
	assert_true(map_has(m, "a"));
	*slot = &one;
	assert_ptr_equal(map_get(m, "a"), &one);
	assert_ptr_equal(*map_slot(m, "a"), &one);
	map_put(m, "a", &two);
	assert_ptr_equal(*map_slot(m, "a"), &two);
	assert_int_equal(map_size(m), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_put_is_found),
		cmocka_unit_test(keys_of_every_length_are_told_apart),
		cmocka_unit_test(the_order_is_that_of_insertion),
		cmocka_unit_test(the_current_key_may_be_removed_while_iterating),
		cmocka_unit_test(values_are_freed_once),
		cmocka_unit_test(a_null_value_is_still_there),
		cmocka_unit_test(the_order_outlives_removal_and_growth),
		cmocka_unit_test(who_stays_is_found_whoever_leaves),
		cmocka_unit_test(a_key_is_the_map_s_own),
		cmocka_unit_test(a_slot_is_there_from_the_first_look),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
