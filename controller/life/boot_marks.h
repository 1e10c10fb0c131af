#ifndef CONTROLLER_LIFE_BOOT_MARKS_H
#define CONTROLLER_LIFE_BOOT_MARKS_H

#include "base/crypto.h"
#include "controller/life/life.h"

/*
 * boot_marks: decides whether drover booted a machine that is on, by what drover's boots leave at
 * the BMC and in the journal.
 * Tests: tests/world/test_boot.c, tests/world/test_http_boot.c
 */

/* True if drover booted what now runs: the BMC shows one of drover's media (of any boot), or this
 * is a known HTTP boot of drover. */
bool life_shows_ours(const struct life *l);

/* True if the BMC or status still shows traces of an agent boot that life_ensure_agent_gone()
 * removes. */
bool life_agent_left(const struct life *l);

/* True if the BMC shows an HTTP boot URL of drover, other than one that the BMC refuses to
 * clear. */
bool life_has_our_address(const struct life *l);
/* True if the URL that the BMC shows is one that it did not clear when asked to
 * (status.bmc.keptAddress). */
bool life_address_kept(const struct life *l);
/* Writes the digest of url to out. Status stores only the digest, because the URL gives access to
 * the boot block. */
void life_url_digest(const char *url, char out[static CRYPTO_DIGEST_TEXT]);

/* Forgets that this process booted the machine. Call when the machine is off or another replica
 * leads. */
void life_boot_forget(struct life *l);

#endif
