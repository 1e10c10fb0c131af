#include "tests/unit/testing.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <jansson.h>
#include "base/mem.h"

static void memory_is_zeroed(void **state)
{
	static const char zero[64];
	char *p = mem_alloc(sizeof(zero)), *q = mem_calloc(8, 8);

	(void)state;
	assert_memory_equal(p, zero, sizeof(zero));
	assert_memory_equal(q, zero, sizeof(zero));
	free(p);
	free(q);
}

static void a_size_of_zero_is_still_memory(void **state)
{
	char *p = mem_alloc(0), *q = mem_calloc(0, 8), *r = mem_realloc_array(NULL, 0, 8);

	(void)state;
	assert_non_null(p);
	assert_non_null(q);
	assert_non_null(r);
	r = mem_realloc_array(r, 0, 8);
	assert_non_null(r);
	free(p);
	free(q);
	free(r);
}

static void an_array_grows_and_keeps_its_elements(void **state)
{
	size_t cap = 0;
	int *v = NULL;

	(void)state;
	for (int i = 0; i < 100; i++) {
		mem_grow(v, (size_t)i, cap);
		v[i] = i;
	}
	assert_int_equal(cap, 128);
	for (int i = 0; i < 100; i++)
		assert_int_equal(v[i], i);
	free(v);
}

static void texts_are_copied(void **state)
{
	char *a = mem_strdup("gpu"), *b = mem_strndup("gpu-1", 3),
	     *c = mem_printf("%s-%d", "gpu", 1);

	(void)state;
	assert_null(mem_strdup(NULL));
	assert_string_equal(a, "gpu");
	assert_string_equal(b, "gpu");
	assert_string_equal(c, "gpu-1");
	free(a);
	free(b);
	free(c);
}

static void ask_for_too_much(void)
{
	volatile size_t huge = SIZE_MAX / 2;

	free(mem_calloc(huge, 8));
}

static void ask_jansson_for_too_much(void)
{
	volatile size_t huge = SIZE_MAX / 2;
	json_malloc_t allocate;
	json_free_t release;

	mem_init();
	json_get_alloc_funcs(&allocate, &release);
	release(allocate(huge));
}

/* True if fn did not end the child process. Under a sanitizer, its allocator ends the program
 * first. */
static bool survives(void (*fn)(void))
{
	struct rlimit core = {0, 0};
	int status;
	pid_t child = fork();

	assert_true(child >= 0);
	if (child == 0) {
		setrlimit(RLIMIT_CORE, &core);
		signal(SIGABRT, SIG_DFL);
		if (!freopen("/dev/null", "w", stderr))
			_exit(0);
		fn();
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void failing_ends_the_program(void **state)
{
	(void)state;
	assert_false(survives(ask_for_too_much));
	assert_false(survives(ask_jansson_for_too_much));
}

static void a_saved_text_replaces_the_one_before(void **state)
{
	char *text = NULL;

	(void)state;
	mem_save(&text, 8, "");
	assert_null(text);
	mem_save(&text, 8, "abcdefghij");
	assert_string_equal(text, "abcdefg");
	mem_save(&text, 4, text);
	assert_string_equal(text, "abc");
	mem_save(&text, 4, NULL);
	assert_null(text);
}

static void jansson_works_with_our_allocator(void **state)
{
	json_t *o;
	char *text;

	(void)state;
	mem_init();
	o = json_pack("{s:i, s:[s]}", "a", 1, "b", "c");
	text = json_dumps(o, JSON_COMPACT);
	assert_string_equal(text, "{\"a\":1,\"b\":[\"c\"]}");
	free(text);
	json_decref(o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_is_zeroed),
		cmocka_unit_test(a_size_of_zero_is_still_memory),
		cmocka_unit_test(an_array_grows_and_keeps_its_elements),
		cmocka_unit_test(texts_are_copied),
		cmocka_unit_test(a_saved_text_replaces_the_one_before),
		cmocka_unit_test(failing_ends_the_program),
		cmocka_unit_test(jansson_works_with_our_allocator),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
