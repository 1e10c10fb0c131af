#ifndef CONTROLLER_CORE_AUDIT_LINES_H
#define CONTROLLER_CORE_AUDIT_LINES_H

#include <stdint.h>
#include "base/err.h"

/*
 * audit_lines: appends lines to the file of the audit log. Blocking: call only from loop_work().
 *
 * The file is opened for each call, so a file that was renamed is followed by a new one. Anything
 * but a regular file is ERR_INVALID, and symbolic links are not followed. AUDIT_LINES_STDOUT is
 * standard output.
 * Tests: tests/unit/controller/core/test_audit_file.c
 */
#define AUDIT_LINES_STDOUT "-"

/* Appends text, which consists of whole lines, and syncs the file. Writes a newline first if the
 * file does not end with one, because an earlier line was cut off. -1: any part of the text may be
 * in the file. */
int audit_lines_append(const char *path, const char *text, struct err *e)
	__attribute__((warn_unused_result));
/* Stores the sequence number of the last complete entry of the file in *seq; 0: the file has none,
 * or does not exist. */
int audit_lines_last(const char *path, int64_t *seq, struct err *e)
	__attribute__((warn_unused_result));

#endif
