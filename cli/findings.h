#ifndef CLI_FINDINGS_H
#define CLI_FINDINGS_H

#include <stdbool.h>
#include <stdio.h>

#include "base/data/json.h"
#include "base/own.h"

/*
 * findings: what a check found, of what, and how to mend it.
 *
 * What is found in the same words of several things is one line, with their number: 10,000 machines
 * of one fault are no 10,000 lines. Texts come from whoever may write an object: a control
 * character shows as '?'.
 * Tests: tests/unit/cli/test_check.c
 */
enum finding { FINDING_WRONG, FINDING_UNKNOWN, FINDING_OK };

struct findings;
struct findings *findings_new(void);
void findings_free(struct findings *f);
DEFINE_OWN(findings)

/* mend: NULL: nothing has to be done. */
void findings_add(struct findings *f, enum finding result, const char *of, const char *mend,
		  const char *fmt, ...) __attribute__((format(printf, 5, 6)));
size_t findings_of(const struct findings *f, enum finding result);
/* The worst first, of one result in the order that they were found; or as JSON: {wrong, unknown,
 * findings}. */
void findings_print(const struct findings *f, bool json, bool colour, FILE *out);

#endif
