#ifndef CONTROLLER_LIFE_BOOT_MARKS_H
#define CONTROLLER_LIFE_BOOT_MARKS_H

#include "base/crypto.h"
#include "controller/life/life.h"

/*
 * boot_marks: decides whether drover booted a machine that is on, by what drover's boots leave at
 * the BMC and in the journal (the Machine's status).
 * Tests: tests/world/test_boot.c, tests/world/test_http_boot.c
 */

/* True if drover booted what now runs: either the BMC shows one of drover's media (of any boot), or
 * an HTTP boot of drover is known to be on. */
bool life_shows_ours(const struct life *l);

/* True if the BMC or status still shows traces of an agent boot that life_ensure_agent_gone()
 * removes. */
bool life_agent_left(const struct life *l);

/* True if the BMC shows an HTTP boot URL of drover. A URL that the BMC refuses to clear does not
 * count. */
bool life_has_our_address(const struct life *l);
/* True if the HTTP boot URL that the BMC shows is the one that it did not clear when requested
 * (status.bmc.keptAddress). */
bool life_address_kept(const struct life *l);
/* Writes the digest of url to out. Status stores only this digest, because the URL itself gives
 * access to the boot block with its secret. */
void life_url_digest(const char *url, char out[static CRYPTO_DIGEST_TEXT]);

/* Forgets the HTTP boot that is on, and since when the agent is due. Call when the machine is off
 * or another replica leads. */
void life_boot_forget(struct life *l);

#endif
