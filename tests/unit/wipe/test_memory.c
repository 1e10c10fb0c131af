/* Tests that memory is written, read back and zeroed, and that memory which cannot be allocated
 * does not count as covered. */
#include "wipe/memory.h"

#include <stdatomic.h>
#include "base/mem.h"
#include "tests/unit/testing.h"
#include "tests/unit/wipe/machine.h"

#define MIB (INT64_C(1) << 20)

static struct machine m;
static struct arena *arena;
static atomic_int pieces;

static int setup(void **state)
{
	(void)state;
	machine_init(&m);
	machine_file(&m, "proc/meminfo",
		     "MemTotal:         131072 kB\nMemFree:          122880 kB\n");
	arena = arena_new();
	atomic_store(&pieces, 0);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	arena_free(arena);
	machine_done(&m);
	return 0;
}

static void node(int number, int total_mib, int free_mib)
{
	machine_file(&m, arena_printf(arena, "sys/devices/system/node/node%d/meminfo", number),
		     arena_printf(arena,
				  "Node %d MemTotal:       %d kB\nNode %d MemFree:        %d kB\n",
				  number, total_mib * 1024, number, free_mib * 1024));
}

static struct statement scrubbed(void)
{
	struct statement s;
	struct err e;

	memory_scrub(&m.host, arena, "6e6f6e6365", &s);
	assert_ok(statement_check(&s, 1, &e), &e);
	return s;
}

static void what_the_kernel_gives_is_covered(void **state)
{
	struct statement s;

	(void)state;
	node(0, 128, 120);
	s = scrubbed();
	assert_int_equal(s.outcome, STATEMENT_COVERED);
	assert_null(s.message);
	assert_int_equal(s.total_bytes, 128 * MIB);
	assert_true(s.covered_bytes >= 64 * MIB && s.covered_bytes < 120 * MIB);
	assert_int_equal(s.bad_bytes, 0);
	assert_int_equal(s.nodes.n, 1);
	assert_int_equal(s.nodes.v[0].covered_bytes, s.covered_bytes);
}

static void without_nodes_the_whole_is_counted(void **state)
{
	struct statement s;

	(void)state;
	s = scrubbed();
	assert_int_equal(s.outcome, STATEMENT_COVERED);
	assert_int_equal(s.nodes.n, 0);
	assert_int_equal(s.total_bytes, 128 * MIB);
}

/* NUMA node 63 is listed, but no memory can be allocated on it. */
static void a_node_that_gives_nothing_is_left(void **state)
{
	struct statement s;

	(void)state;
	node(0, 128, 120);
	node(63, 128, 120);
	s = scrubbed();
	assert_int_equal(s.outcome, STATEMENT_NOT_COVERED);
	assert_non_null(s.message);
	assert_int_equal(s.total_bytes, 256 * MIB);
	assert_int_equal(s.nodes.n, 2);
	assert_int_equal(s.nodes.v[1].node, 63);
	assert_int_equal(s.nodes.v[1].covered_bytes, 0);
}

static void what_is_in_use_is_left(void **state)
{
	struct statement s;

	(void)state;
	node(0, 128, 33);
	s = scrubbed();
	assert_int_equal(s.outcome, STATEMENT_NOT_COVERED);
	assert_int_equal(s.covered_bytes, 0);
	assert_null(s.technique);
}

static void spoil(uint64_t *words, size_t n)
{
	if (atomic_fetch_add(&pieces, 1) == 0)
		words[n / 2] ^= 1;
}

/* Simulates two addresses of one memory cell: the later write is visible at both. */
static void alias(uint64_t *words, size_t n)
{
	words[n / 2] = words[0];
}

static void one_bit_that_differs_fails(void **state)
{
	struct statement s;

	(void)state;
	node(0, 128, 120);
	m.host.spoil_memory = spoil;
	s = scrubbed();
	assert_int_equal(s.outcome, STATEMENT_FAILED);
	assert_int_equal(s.bad_bytes, 8);
	assert_non_null(s.message);
	m.host.spoil_memory = alias;
	s = scrubbed();
	assert_int_equal(s.outcome, STATEMENT_FAILED);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(what_the_kernel_gives_is_covered),  T(without_nodes_the_whole_is_counted),
		T(a_node_that_gives_nothing_is_left), T(what_is_in_use_is_left),
		T(one_bit_that_differs_fails),
	};

	mem_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
