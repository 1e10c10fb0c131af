#ifndef CLI_REDACT_H
#define CLI_REDACT_H

#include <stddef.h>

#include "base/buf.h"
#include "base/data/json.h"

/*
 * redact: removes possible credentials from objects and texts, before they leave an installation in
 * a support bundle.
 *
 * drover's objects refer to Secrets and contain none, but texts written by users and programs may.
 * The module redacts:
 *
 * - user, password and query of URLs
 * - the text after "Bearer", "Basic", "password=", "token:" and similar words
 * - private keys in PEM
 * - tokens with a known form (JWT, kubeadm bootstrap token, AWS access key)
 * - members with names such as password or token; names of Secrets stay
 * - annotations that are not drover's
 * - arguments of commands, values of environment variables, managedFields
 *
 * In doubt, a text is redacted.
 * Tests: tests/unit/cli/test_redact.c
 */
#define REDACTED "REDACTED"

/* Redacts o in place; o may be any object. */
void redact_object(json_t *o);
/* Appends text to `out` with its possible credentials redacted. text may have any length; bytes
 * that are not UTF-8 become '?'. */
void redact_text(const char *text, struct buf *out);

#endif
