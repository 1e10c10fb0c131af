#include "base/own.h"

#include "tests/unit/testing.h"

struct cup {
	unsigned freed;
};

static unsigned nulls;

static void cup_free(struct cup *c)
{
	if (c)
		c->freed++;
	else
		nulls++;
}
DEFINE_OWN(cup)

static struct cup *hand_on(struct cup *c, bool keep)
{
	OWN(cup) mine = c;

	return keep ? NULL : give(mine);
}

static void what_is_owned_is_freed_once_at_the_end_of_its_scope(void **state)
{
	struct cup c = {0};

	(void)state;
	{
		OWN(cup) mine = &c;

		assert_ptr_equal(mine, &c);
		assert_int_equal(c.freed, 0);
	}
	assert_int_equal(c.freed, 1);
	assert_null(hand_on(&c, true));
	assert_int_equal(c.freed, 2);
}

static void what_is_handed_on_is_the_next_one_s_to_free(void **state)
{
	struct cup c = {0};

	(void)state;
	nulls = 0;
	assert_ptr_equal(hand_on(&c, false), &c);
	assert_int_equal(c.freed, 0);
	assert_int_equal(nulls, 1); /* a destructor accepts NULL */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_owned_is_freed_once_at_the_end_of_its_scope),
		cmocka_unit_test(what_is_handed_on_is_the_next_one_s_to_free),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
