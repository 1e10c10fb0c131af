#ifndef TESTS_UNIT_WIPE_APART_H
#define TESTS_UNIT_WIPE_APART_H

#include <stddef.h>

/*
 * apart: run a function in a process with users, mounts and network of its own, on an empty file
 * system, as process 1 of a machine finds it.  It is root there and nowhere else: no module of the
 * kernel loads, no interface of the host is seen.
 *
 * An assertion must not fail in there: what happened is written to standard output, and the test
 * looks at that.
 */

/* Fails, and says so, where the kernel or a container forbids it.  What was written: apart_said. */
void apart_run(void (*fn)(void *arg), void *arg);
extern char apart_said[1 << 16];
void apart_assert_said(const char *what);

/* In there: a file, folders on the way are made. */
void apart_file(const char *path, const void *data, size_t len);
/* One of at most two network interfaces (TAP) with this MAC as sysfs shows one with hardware; gives
 * the other end. */
int apart_nic(const char *name, const char *mac, int carrier);

#endif
