#ifndef CONTROLLER_LIFE_BOOT_MARKS_H
#define CONTROLLER_LIFE_BOOT_MARKS_H

#include "base/crypto.h"
#include "controller/life/life.h"

/*
 * boot_marks: was a machine that is on booted by drover? By what its boots leave at the BMC and in
 * the journal.
 * Tests: tests/world/test_boot.c, tests/world/test_http_boot.c
 */

/* What is on was booted by us, as its BMC shows (a medium of whatever boot) or the journal says. */
bool life_shows_ours(const struct life *l);

/* Something is left at its BMC that life_ensure_agent_gone() takes away. */
bool life_agent_left(const struct life *l);

/* The BMC shows an address of drover's for a boot by HTTP, and not one that it keeps whatever it is
 * told. */
bool life_has_our_address(const struct life *l);
/* What it shows is an address that it kept when it was to be cleared (status.bmc.keptAddress). */
bool life_address_kept(const struct life *l);
/* How such an address is remembered: a digest, for it opens the boot block. */
void life_url_digest(const char *url, char out[static CRYPTO_DIGEST_TEXT]);

/* It is off, or another leads: this process has booted nothing that is on. */
void life_boot_forget(struct life *l);

#endif
