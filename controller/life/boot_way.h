#ifndef CONTROLLER_LIFE_BOOT_WAY_H
#define CONTROLLER_LIFE_BOOT_WAY_H

#include <stdbool.h>

#include "controller/life/journal.h"
#include "providers/provider.h"

/*
 * boot_way: by which of the ways of its Provider an agent is booted, and by which address its
 * medium is fetched.
 * Tests: tests/world/test_http_boot.c, tests/world/test_media_tls.c
 */

/* What a BMC was asked for is there after so long, or was asked for in vain. */
#define LIFE_BOOT_PATIENCE_MS 20000

/* "OPERATION/BOOT", as status.power.httpBoot has it. */
#define LIFE_BOOT_TEXT 96
void life_boot_of_now(const struct life *l, char out[static LIFE_BOOT_TEXT]);

/* Each boot begins with the first way. */
void life_way_begin(struct life *l);
bool life_way_is_http(const struct life *l);
/* By which address the medium is offered.  is_on: the machine runs from it already. */
void life_way_choose_address(struct life *l, bool is_on);
/* False: it is being written down that this BMC takes media over TLS alone. */
bool life_ensure_way_written(struct life *l);
/* provider_call.done of what a way consists of: one that the BMC does not have gives way to the
 * next. */
void life_way_acted(const struct provider_observation *o, const char *handle, const struct err *e,
		    void *life);
/* An act of this way was taken, and its patience has passed without effect (seen: what there is in
 * its place): a failure like any other, told and put off further each time. */
bool life_way_in_vain(struct life *l, const char *step, const char *seen);

#endif
