#ifndef TESTS_UNIT_WIPE_APART_H
#define TESTS_UNIT_WIPE_APART_H

#include <stddef.h>

/*
 * apart: runs a function in a process with its own user, mount and network namespaces, on an empty
 * file system, like process 1 of a machine. The process is root only there: it can load no kernel
 * module and sees no interface of the host.
 *
 * An assertion must not fail in that process: write results to standard output, and check the
 * output in the test.
 */

/* Runs fn and fails if the kernel or a container forbids namespaces. The output is in
 * apart_said. */
void apart_run(void (*fn)(void *arg), void *arg);
extern char apart_said[1 << 16];
void apart_assert_said(const char *what);

/* Called in the process: writes a file, and creates its folders. */
void apart_file(const char *path, const void *data, size_t len);
/* Called in the process: creates one of at most two network interfaces (TAP) with this MAC, shown
 * by sysfs as one with hardware. Returns the other end of the interface. */
int apart_nic(const char *name, const char *mac, int carrier);

#endif
