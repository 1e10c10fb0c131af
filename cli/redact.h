#ifndef CLI_REDACT_H
#define CLI_REDACT_H

#include <stddef.h>

#include "base/buf.h"
#include "base/data/json.h"

/*
 * redact: take out what may be a credential, before it leaves an installation in a support bundle.
 *
 * Drover's objects name Secrets and hold none; what people and programs write into their texts may.
 * Taken out are: of URLs user, password and query; what follows "Bearer", "Basic", "password=",
 * "token:" and the like; private keys in PEM; tokens by their form (JWT, kubeadm's, access keys of
 * AWS); members whose names say it (password, token, ...; names of Secrets stay); annotations that
 * are not drover's own; arguments of commands behind the program; values of environments;
 * managedFields. Rather too much than too little.
 * Tests: tests/unit/cli/test_redact.c
 */
#define REDACTED "REDACTED"

/* Any object, in place. */
void redact_object(json_t *o);
/* A text of any length; appended to out, with '?' for what is no UTF-8. */
void redact_text(const char *text, struct buf *out);

#endif
