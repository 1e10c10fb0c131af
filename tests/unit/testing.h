#ifndef TESTS_UNIT_TESTING_H
#define TESTS_UNIT_TESTING_H

/*
 * testing: CMocka with its includes in the required order.
 *
 * assert_in_range() of CMocka 1.1.5 is unsigned only.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#define assert_ok(call, e)                                                                         \
	do {                                                                                       \
		if ((call) < 0)                                                                    \
			fail_msg("%s: %s", #call, (e)->text);                                      \
	} while (0)

/* Ends a child process forked by a test, without running the parent's exit handlers or flushing its
 * streams. `make cover` still counts what the child did. */
void __gcov_dump(void) __attribute__((weak));
static inline void test_exit(int status) __attribute__((noreturn));
static inline void test_exit(int status)
{
	if (__gcov_dump)
		__gcov_dump();
	_exit(status);
}

#endif
