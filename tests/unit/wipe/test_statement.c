/* Tests that a statement must be consistent with its counts. */
#include "wipe/statement.h"

#include <string.h>
#include "base/mem.h"
#include "tests/unit/testing.h"

#define GIB (INT64_C(1) << 30)

static struct statement covered(void)
{
	return (struct statement){.part = STATEMENT_SYSTEM_MEMORY,
				  .outcome = STATEMENT_COVERED,
				  .technique = "Overwritten",
				  .total_bytes = 64 * GIB,
				  .covered_bytes = 62 * GIB};
}

static void refused(const struct statement *v, size_t n, const char *says)
{
	struct err e;

	assert_int_equal(statement_check(v, n, &e), -1);
	assert_int_equal(e.kind, ERR_PROTOCOL);
	if (!strstr(e.text, says))
		fail_msg("%s, want: %s", e.text, says);
}

static void covered_needs_counts(void **state)
{
	struct statement s = covered();
	struct err e;

	(void)state;
	assert_ok(statement_check(&s, 1, &e), &e);
	s.bad_bytes = 8;
	refused(&s, 1, "its counts do not show that");
	s = covered();
	s.technique = NULL;
	refused(&s, 1, "SystemMemory is Covered");
	s = covered();
	s.covered_bytes = 59 * GIB;
	refused(&s, 1, "its counts do not show that");
	s.outcome = STATEMENT_NOT_COVERED;
	assert_ok(statement_check(&s, 1, &e), &e);
}

static void what_may_be_left_has_bounds(void **state)
{
	(void)state;
	assert_true(statement_enough(64 * GIB, 60 * GIB));
	assert_false(statement_enough(64 * GIB, 60 * GIB - 1));
	assert_true(statement_enough(GIB, GIB - STATEMENT_LEFT_BYTES));
	assert_false(statement_enough(GIB, GIB - STATEMENT_LEFT_BYTES - 1));
	assert_false(statement_enough(GIB / 4, GIB / 8 - 1));
	assert_false(statement_enough(GIB, 2 * GIB));
	assert_false(statement_enough(0, 0));
}

static void nodes_add_up_to_the_whole(void **state)
{
	struct statement_node nodes[] = {{0, 32 * GIB, 31 * GIB}, {1, 32 * GIB, 31 * GIB}};
	struct statement s = covered();
	struct err e;

	(void)state;
	s.nodes.v = nodes;
	s.nodes.n = 2;
	assert_ok(statement_check(&s, 1, &e), &e);
	nodes[1].covered_bytes--;
	refused(&s, 1, "do not add up");
	nodes[1].covered_bytes++;
	nodes[1].node = 0;
	refused(&s, 1, "do not add up");
	nodes[1] = (struct statement_node){1, 30 * GIB, 31 * GIB};
	nodes[0].total_bytes = 34 * GIB;
	refused(&s, 1, "do not add up");
}

static void a_part_has_one_statement(void **state)
{
	struct statement two[] = {covered(), covered()};

	(void)state;
	two[1].outcome = STATEMENT_NOT_COVERED;
	refused(two, 2, "SystemMemory twice");
}

static void covered_parts_are_bits(void **state)
{
	const char *names[] = {"SystemMemory"};
	const struct strings want = {names, 1}, none = {0};
	struct statement s = covered();
	const unsigned bit = 1u << STATEMENT_SYSTEM_MEMORY;

	(void)state;
	assert_int_equal(statement_covered(&s, 1), bit);
	s.outcome = STATEMENT_FAILED;
	assert_int_equal(statement_covered(&s, 1), 0);
	assert_int_equal(statement_parts(&want), bit);
	assert_int_equal(statement_parts(&none), 0);
	assert_string_equal(statement_lacks(0, bit), "SystemMemory");
	assert_null(statement_lacks(bit, bit));
	assert_null(statement_lacks(0, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(covered_needs_counts),
		cmocka_unit_test(what_may_be_left_has_bounds),
		cmocka_unit_test(nodes_add_up_to_the_whole),
		cmocka_unit_test(a_part_has_one_statement),
		cmocka_unit_test(covered_parts_are_bits),
	};

	mem_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
