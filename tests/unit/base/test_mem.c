#include "tests/unit/testing.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <jansson.h>
#include "base/loop/loop_uv.h"
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

/* --- returning freed memory ------------------------------------------------------------------- */

/* A function of jemalloc; NULL in the forms of the tests that have another allocator, which these
 * tests do not judge. */
extern int mallctl(const char *name, void *old, size_t *old_size, void *with, size_t size)
	__attribute__((weak));

enum { MANY = 4096, SIZE = 16 * 1024, MIB = 1024 * 1024 };

static long resident(void)
{
	FILE *f = fopen("/proc/self/statm", "re");
	long all, pages;

	assert_non_null(f);
	assert_int_equal(fscanf(f, "%ld %ld", &all, &pages), 2);
	(void)fclose(f);
	return pages * sysconf(_SC_PAGESIZE);
}

/* Allocates 64 MiB, writes them and frees them. */
static void use_much(void)
{
	static char *v[MANY];

	for (int i = 0; i < MANY; i++)
		v[i] = memset(mem_alloc(SIZE), i, SIZE);
	for (int i = 0; i < MANY; i++)
		free(v[i]);
}

static void freed_memory_returns_at_once_if_it_is_not_kept(void **state)
{
	const long before = resident();

	(void)state;
	mem_keep_freed(false);
	use_much();
	mem_keep_freed(true);
	if (mallctl)
		assert_true(resident() < before + 16 * MIB);
}

struct waiting {
	struct loop *l;
	struct loop_timer timer;
	long goal;
	int64_t until;
};

static void look(void *arg)
{
	struct waiting *w = arg;

	if (!mallctl || resident() < w->goal || loop_now(w->l) > w->until)
		loop_stop(w->l);
	else
		loop_timer_start(&w->timer, 100);
}

/* Nothing is allocated meanwhile, so that only the loop can return it. */
static void kept_memory_returns_while_the_loop_waits(void **state)
{
	struct loop *l = loop_uv_new();
	struct loop_group *g = loop_group_new(l, "test");
	struct waiting w = {.l = l, .goal = resident() + 16 * MIB, .until = loop_now(l) + 60000};

	(void)state;
	loop_timer_init(&w.timer, g, look, &w);
	use_much();
	loop_timer_start(&w.timer, 0);
	loop_run(l);
	if (mallctl)
		assert_true(resident() < w.goal);
	loop_group_drop(g);
	loop_group_free(g);
	loop_free(l);
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
		cmocka_unit_test(freed_memory_returns_at_once_if_it_is_not_kept),
		cmocka_unit_test(kept_memory_returns_while_the_loop_waits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
