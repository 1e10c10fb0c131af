#ifndef CLI_FINDINGS_H
#define CLI_FINDINGS_H

#include <stdbool.h>
#include <stdio.h>

#include "base/data/json.h"
#include "base/own.h"

/*
 * findings: collects what a check found, on which object, and how to fix it.
 *
 * The same finding on several objects is printed as one line with their number, so that one fault
 * of 10,000 machines is one line. Anyone who may write an object determines its texts, so control
 * characters are printed as '?'.
 * Tests: tests/unit/cli/test_check.c
 */
enum finding {
	FINDING_WRONG,
	/* works now, but may fail later or in part */
	FINDING_WARNING,
	/* could not be checked */
	FINDING_UNKNOWN,
	FINDING_OK
};

struct findings;
struct findings *findings_new(void);
void findings_free(struct findings *f);
DEFINE_OWN(findings)

/* Adds a finding on object `of`, such as "machine/gpu-1". fmt: what was found. mend: how to fix it;
 * NULL: nothing to do. */
void findings_add(struct findings *f, enum finding result, const char *of, const char *mend,
		  const char *fmt, ...) __attribute__((format(printf, 5, 6)));
size_t findings_of(const struct findings *f, enum finding result);
/* Prints all findings to `out`: in the order of enum finding, those with the same result in the
 * order in which they were added. json: prints {wrong, warnings, unknown, findings} instead of
 * lines.
 * colour: colours the results. */
void findings_print(const struct findings *f, bool json, bool colour, FILE *out);

#endif
