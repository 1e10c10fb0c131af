#ifndef CONTROLLER_CORE_RECORD_FILES_H
#define CONTROLLER_CORE_RECORD_FILES_H

#include "base/err.h"

/*
 * record_files: small files that must not get lost. Blocking: only from loop_work().
 *
 * A file is whole or not there: written aside, flushed, renamed, and its folder flushed. Two that
 * write one at once do not disturb each other. Links are not followed inside DIR, and what is no
 * plain file is ERR_INVALID.
 * Tests: tests/unit/controller/core/test_record_export.c
 */

/* DIR/SUB/NAME with that text, SUB made when it is not there. What stands there already is never
 * overwritten: the same text is fine, another one ERR_CONFLICT. sub, name: no slash, not hidden. */
int record_files_keep(const char *dir, const char *sub, const char *name, const char *text,
		      struct err *e) __attribute__((warn_unused_result));
/* DIR/NAME, whatever stood there. */
int record_files_replace(const char *dir, const char *name, const char *text, struct err *e)
	__attribute__((warn_unused_result));
/* Its text, malloc'd; NULL: ERR_NOT_FOUND, or it cannot be read. */
char *record_files_read(const char *dir, const char *name, struct err *e);

#endif
