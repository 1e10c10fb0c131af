#ifndef CONTROLLER_LIFE_BOOT_MARKS_H
#define CONTROLLER_LIFE_BOOT_MARKS_H

#include "base/crypto.h"
#include "controller/life/life.h"

/*
 * boot_marks: decides whether drover booted a machine that is on, by what drover's boots leave at
 * the BMC and in the journal (the Machine's status).
 * Tests: tests/world/test_boot.c, tests/world/test_http_boot.c
 */

/* True if drover booted the system that runs now: either the BMC shows one of drover's media (of
 * any boot), or it is known that the machine is on by an HTTP boot of drover. */
bool life_booted_by_drover(const struct life *l);

/* True if the BMC or status still shows traces of an agent boot that life_ensure_agent_gone()
 * removes. */
bool life_agent_left(const struct life *l);

/* True if the BMC shows an HTTP boot URL of drover. A URL recorded in status.bmc.keptAddress, which
 * the BMC did not clear on request, does not count. */
bool life_has_our_address(const struct life *l);
/* True if the HTTP boot URL that the BMC shows is recorded in status.bmc.keptAddress, because the
 * BMC did not clear that URL on request. */
bool life_address_kept(const struct life *l);
/* Writes the digest of url to out. Status stores only this digest, because the URL itself gives
 * access to the boot block with its secret. */
void life_url_digest(const char *url, char out[static CRYPTO_DIGEST_TEXT]);

/* Forgets that the machine is on by an HTTP boot, since when a call of its agent is expected, and
 * that an operator requested another boot. Call when the machine is off or another replica
 * leads. */
void life_boot_forget(struct life *l);

#endif
