#ifndef TESTS_UNIT_WIPE_APART_H
#define TESTS_UNIT_WIPE_APART_H

#include <stddef.h>

/*
 * apart: runs a function in a process with its own user, mount and network namespaces, on an empty
 * file system, like process 1 of a machine. The process is root only inside its namespaces: it can
 * load no kernel module and sees no network interface of the host.
 *
 * An assertion must not fail in that process. The function writes its results to standard output,
 * and the test checks that output.
 */

/* Runs fn(arg) in such a process and stores its output in apart_said. Fails the test if the kernel
 * or a container forbids namespaces. */
void apart_run(void (*fn)(void *arg), void *arg);
extern char apart_said[1 << 16];
void apart_assert_said(const char *what);

/* Writes a file and creates its directories. Call it in the process. */
void apart_file(const char *path, const void *data, size_t len);
/* Creates one of at most two network interfaces (TAP) with this MAC address. sysfs shows it like an
 * interface with hardware. Returns a descriptor of the interface's other end. Call it in the
 * process. */
int apart_nic(const char *name, const char *mac, int carrier);

#endif
