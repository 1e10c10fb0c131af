/* test_hardening: tests the effect of compiler switches that apply to all sources.
 * tests/tools/hardened checks the linked programs. */
#include "tests/unit/testing.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#if !defined(__SANITIZE_ADDRESS__) && defined(__OPTIMIZE__)
#define OPTIMISED
#endif

static void control_flow_is_protected(void **state)
{
	(void)state;
/* "make clang" does not pass the switch that sets __CET__ */
#if defined(__x86_64__) && !defined(__clang__)
	assert_int_equal(__CET__, 3); /* 3: indirect branches and returns are protected */
#endif
}

#ifdef OPTIMISED
static void overflow(size_t n)
{
	char *p = malloc(n);
	volatile size_t more = n + 1;

	memset(p, 0, more); /* only level 3 of _FORTIFY_SOURCE knows the size of p */
	_exit(p[0]);
}
static void sizes_that_are_known_at_run_time_are_checked(void **state)
{
	int status;
	pid_t pid;

	(void)state;
	assert_int_equal(__USE_FORTIFY_LEVEL, 3);
	pid = fork();
	if (pid == 0) {
		(void)close(STDERR_FILENO);
		signal(SIGABRT, SIG_DFL);
		overflow((size_t)getpid() % 7 + 8);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(control_flow_is_protected),
#ifdef OPTIMISED /* with a sanitizer, the sanitizer checks sizes instead */
		cmocka_unit_test(sizes_that_are_known_at_run_time_are_checked),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
