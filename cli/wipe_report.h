#ifndef CLI_WIPE_REPORT_H
#define CLI_WIPE_REPORT_H

#include "base/buf.h"
#include "cli/audit.h"

/*
 * wipe_report: prints wipe records for readers who do not know drover, such as an auditor or a
 * customer, as text or as one HTML page that loads nothing and has no script.
 *
 * Texts in a record come from devices and from files of others. Control characters are printed as
 * '?', and characters with a meaning in HTML are escaped. The contents of a record that is bad are
 * not printed, only what is wrong with it.
 */
/* Writes the report on all records of *a after audit_run(), or only on the record with this name
 * (record NULL: all). Returns true if there is a record, and each one is valid and linked: not
 * AUDIT_BAD, no gap before it. */
bool wipe_report(const struct audit *a, const char *record, bool html, struct buf *out);

#endif
