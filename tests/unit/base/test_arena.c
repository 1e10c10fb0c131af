#include "tests/unit/testing.h"

#include <stdlib.h>
#include "base/arena.h"

static void memory_is_zeroed_and_aligned_even_after_a_clear(void **state)
{
	OWN(arena) a = arena_new();

	(void)state;
	for (int round = 0; round < 3; round++) {
		for (size_t size = 0; size < 600; size++) {
			unsigned char *p = arena_alloc(a, size);

			assert_int_equal((uintptr_t)p % _Alignof(max_align_t), 0);
			for (size_t i = 0; i < size; i++)
				assert_int_equal(p[i], 0);
			memset(p, 0xaa, size);
		}
	}
}

static void a_large_piece_is_zeroed_although_its_memory_was_used_before(void **state)
{
	static const size_t sizes[] = {200000, 8000000};

	(void)state;
	for (int round = 0; round < 8; round++) {
		const size_t size = sizes[round % 2];
		OWN(arena) a = arena_new();
		unsigned char *p = arena_alloc(a, size);

		for (size_t i = 0; i < size; i++)
			assert_true(!p[i]);
		memset(p, 0xaa, size);
	}
}

static void allocations_never_overlap(void **state)
{
	OWN(arena) a = arena_new();
	enum { N = 2000 };
	static unsigned char *p[N];
	static size_t size[N];
	unsigned seed = 7;

	(void)state;
	for (unsigned i = 0; i < N; i++) {
		seed = seed * 1103515245 + 12345;
		size[i] = (seed >> 16) % (i % 50 == 0 ? 9000 : 200);
		p[i] = arena_alloc(a, size[i]);
		memset(p[i], (int)(i % 251), size[i]);
	}
	for (unsigned i = 0; i < N; i++)
		for (size_t k = 0; k < size[i]; k++)
			assert_int_equal(p[i][k], i % 251);
}

static void texts_and_objects_share_a_block(void **state)
{
	OWN(arena) a = arena_new();
	const char *text[400];
	int64_t *number[400];

	(void)state;
	for (int i = 0; i < 400; i++) {
		text[i] = arena_printf(a, "text %d", i);
		number[i] = arena_new_obj(a, int64_t);
		assert_int_equal((uintptr_t)number[i] % _Alignof(max_align_t), 0);
		assert_int_equal(*number[i], 0);
		*number[i] = i;
	}
	for (int i = 0; i < 400; i++) {
		assert_int_equal(atoi(text[i] + 5), i);
		assert_int_equal(*number[i], i);
	}
}

static void fill(struct arena *a)
{
	for (int i = 0; i < 40; i++) {
		(void)arena_printf(a, "a text of the object, %d", i);
		(void)arena_alloc(a, 24);
	}
}

static void an_arena_of_known_size_has_no_waste(void **state)
{
	OWN(arena) first = arena_new();
	OWN(arena) second = NULL;

	(void)state;
	fill(first);
	second = arena_sized(arena_used(first));
	fill(second);
	/* A text that finds no room at the end of a block is aligned. */
	assert_in_range(arena_used(second), arena_used(first) - 64, arena_used(first) + 64);
	assert_in_range(arena_size(second), arena_used(second), arena_used(first) + 128);
	/* The arena grows like any other. */
	fill(second);
	assert_in_range(arena_used(second), 2 * arena_used(first) - 128,
			2 * arena_used(first) + 128);
	assert_in_range(arena_size(second), arena_used(second), 2 * arena_used(second));
}

static void alike_objects_get_arenas_of_their_size(void **state)
{
	struct arena_sizes s = {0};

	(void)state;
	for (int i = 0; i < 5; i++) {
		OWN(arena) a = arena_like(&s);

		/* The fourth is larger, which the fifth does not inherit. */
		for (int k = 0; k < (i == 3 ? 20 : 1); k++)
			fill(a);
		arena_note(&s, a);
		if (i == 2 || i == 4)
			assert_in_range(arena_size(a), arena_used(a), arena_used(a) + 128);
	}
}

static void a_little_more_than_the_last_ones_takes_a_small_block(void **state)
{
	struct arena_sizes s = {{1000, 1000}};
	OWN(arena) a = arena_like(&s);

	(void)state;
	for (int i = 0; i < 11; i++)
		arena_alloc(a, 96);
	assert_in_range(arena_size(a), 1056, 1300);
}

static void a_shared_text_is_not_stored_twice(void **state)
{
	OWN(arena) a = arena_new();
	const char *first = arena_strdup(a, "team-a/train-0"), *same = arena_shared(a, "train-0");
	const char *other = arena_shared(a, "train-"), *big;

	(void)state;
	assert_string_equal(same, "train-0");
	assert_string_equal(other, "train-");
#ifndef __SANITIZE_ADDRESS__
	assert_ptr_equal(same, first + strlen("team-a/"));
#endif
	assert_ptr_not_equal(other, first + strlen("team-a/"));
	assert_string_equal(arena_shared(a, ""), "");
	/* With further blocks, texts are copied. */
	big = memset(arena_alloc(a, 5000), 'x', 5000);
	same = arena_shared(a, "train-0");
	assert_string_equal(same, "train-0");
	assert_true(big[4999] == 'x');
}

static void it_starts_small_and_grows_with_measure(void **state)
{
	OWN(arena) a = arena_new();

	(void)state;
	assert_int_equal(arena_size(a), 256);
	arena_alloc(a, 100);
	assert_int_equal(arena_size(a), 256);
	for (int i = 0; i < 1000; i++)
		arena_alloc(a, 150);
	assert_true(arena_size(a) >= 150000);
	assert_true(arena_size(a) < 350000); /* blocks grow, but within bounds */
}

static void a_large_piece_leaves_the_current_block_in_use(void **state)
{
	OWN(arena) a = arena_new();
	char *before = arena_alloc(a, 16), *after;

	(void)state;
	memset(arena_alloc(a, 100000), 1, 100000);
	after = arena_alloc(a, 16);
	assert_ptr_equal(after, before + 16);
}

static void texts_are_copied(void **state)
{
	OWN(arena) a = arena_new();
	char unended[3] = {'a', 'b', 'c'};

	(void)state;
	assert_null(arena_strdup(a, NULL));
	assert_string_equal(arena_strdup(a, "gpu"), "gpu");
	assert_string_equal(arena_strndup(a, "gpu-1", 3), "gpu");
	assert_string_equal(arena_strndup(a, "gpu", 30), "gpu");
	assert_string_equal(arena_strndup(a, unended, 3), "abc");
	assert_string_equal(arena_printf(a, "%s-%d", "gpu", 17), "gpu-17");
	assert_int_equal(strlen(arena_printf(a, "%5000d", 1)), 5000);
}

/* Lengths around the alignment: the end of one text must not overlap the start of the next. */
static void texts_end_before_what_comes_after_them(void **state)
{
	OWN(arena) a = arena_new();
	char text[65];

	(void)state;
	for (size_t n = 0; n < sizeof(text); n++) {
		char *s, *t;

		memset(text, 'x', n);
		text[n] = '\0';
		s = arena_strdup(a, text);
		t = arena_printf(a, "%s", text);
		memset(arena_alloc(a, 16), 'y', 16);
		assert_string_equal(s, text);
		assert_string_equal(t, text);
	}
}

static void an_array_is_zeroed(void **state)
{
	OWN(arena) a = arena_new();
	int *v = arena_calloc(a, 100, sizeof(*v));

	(void)state;
	for (int i = 0; i < 100; i++)
		assert_int_equal(v[i], 0);
}

static void nothing_is_freed_without_harm(void **state)
{
	(void)state;
	arena_free(NULL);
}

static void an_array_grows_by_doubling(void **state)
{
	OWN(arena) a = arena_new();
	int *v = NULL, *before;

	(void)state;
	for (int i = 0; i < 100; i++) {
		before = v;
		v = arena_grow(a, v, (size_t)i, sizeof(*v));
		assert_true((i & (i - 1)) ? v == before : v != before);
		v[i] = i;
	}
	for (int i = 0; i < 100; i++)
		assert_int_equal(v[i], i);
}

/* An array is doubled to 32 MB: the arena keeps only the last size, and the contents. */
static void what_a_large_array_leaves_is_freed(void **state)
{
	OWN(arena) a = arena_new();
	const char *text = arena_strdup(a, "before");
	const size_t n = 4u << 20;
	uint64_t *v = NULL;

	(void)state;
	for (size_t i = 0; i < n; i++) {
		v = arena_grow(a, v, i, sizeof(*v));
		v[i] = i;
	}
	for (size_t i = 0; i < n; i++)
		assert_int_equal(v[i], i);
	assert_true(arena_size(a) < n * sizeof(*v) + (512u << 10));
	assert_true(arena_used(a) <= arena_size(a));
	assert_string_equal(text, "before");
	assert_string_equal(arena_strdup(a, "after"), "after");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_is_zeroed_and_aligned_even_after_a_clear),
		cmocka_unit_test(a_large_piece_is_zeroed_although_its_memory_was_used_before),
		cmocka_unit_test(allocations_never_overlap),
		cmocka_unit_test(texts_and_objects_share_a_block),
		cmocka_unit_test(an_arena_of_known_size_has_no_waste),
		cmocka_unit_test(alike_objects_get_arenas_of_their_size),
		cmocka_unit_test(a_little_more_than_the_last_ones_takes_a_small_block),
		cmocka_unit_test(a_shared_text_is_not_stored_twice),
		cmocka_unit_test(it_starts_small_and_grows_with_measure),
		cmocka_unit_test(a_large_piece_leaves_the_current_block_in_use),
		cmocka_unit_test(texts_are_copied),
		cmocka_unit_test(texts_end_before_what_comes_after_them),
		cmocka_unit_test(an_array_is_zeroed),
		cmocka_unit_test(nothing_is_freed_without_harm),
		cmocka_unit_test(an_array_grows_by_doubling),
		cmocka_unit_test(what_a_large_array_leaves_is_freed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
