#ifndef CONTROLLER_CORE_RECORD_FILES_H
#define CONTROLLER_CORE_RECORD_FILES_H

#include "base/err.h"

/*
 * record_files: writes small files that must not get lost. Blocking: call only from loop_work().
 *
 * A file is complete or absent: it is written under a temporary name, synced and renamed, then its
 * directory is synced. Two concurrent writers of the same file do not disturb each other. Symbolic
 * links inside DIR are not followed; anything but a regular file is ERR_INVALID.
 * Tests: tests/unit/controller/core/test_record_export.c
 */

/* Writes `text` to DIR/SUB/NAME; creates SUB if it is missing. An existing file is never
 * overwritten: the same text is success, a different text is ERR_CONFLICT. sub and name contain no
 * slash and do not begin with a dot. */
int record_files_keep(const char *dir, const char *sub, const char *name, const char *text,
		      struct err *e) __attribute__((warn_unused_result));
/* Writes `text` to DIR/NAME and replaces an existing file. */
int record_files_replace(const char *dir, const char *name, const char *text, struct err *e)
	__attribute__((warn_unused_result));
/* Returns the text of DIR/NAME, malloc'd. Returns NULL with ERR_NOT_FOUND if the file does not
 * exist, with another error if the file cannot be read. */
char *record_files_read(const char *dir, const char *name, struct err *e);

#endif
