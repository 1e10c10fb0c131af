#ifndef TESTS_UNIT_TESTING_H
#define TESTS_UNIT_TESTING_H

/*
 * testing: CMocka with its includes in the order that it needs.
 *
 * assert_in_range() of CMocka 1.1.5 is unsigned only.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdbool.h>
#include <string.h>
#include <cmocka.h>

#define assert_ok(call, e)                                                                         \
	do {                                                                                       \
		if ((call) < 0)                                                                    \
			fail_msg("%s: %s", #call, (e)->text);                                      \
	} while (0)

#endif
