#ifndef CONTROLLER_LIFE_BOOT_METHOD_H
#define CONTROLLER_LIFE_BOOT_METHOD_H

#include <stdbool.h>

#include "controller/life/journal.h"
#include "providers/hardware.h"

/*
 * boot_method: chooses the boot method for the agent among the methods of its Provider: virtual
 * media or HTTP boot. Also chooses between HTTP and HTTPS for the URL of the boot medium.
 * Tests: tests/world/test_http_boot.c, tests/world/test_media_tls.c
 */

/* Time that a BMC has to show the effect of an accepted request. After that the request counts as
 * having had no effect. */
#define LIFE_BOOT_PATIENCE_MS 20000

/* Writes "OPERATION/BOOT" of the current boot to out, the format of status.power.httpBoot. */
#define LIFE_BOOT_TEXT 96
void life_boot_of_now(const struct life *l, char out[static LIFE_BOOT_TEXT]);

/* Selects the first boot method if a new boot has begun since the last call. */
void life_boot_method_begin(struct life *l);
bool life_boot_method_is_http(const struct life *l);
/* Selects the URL of the boot medium: HTTP or HTTPS. is_on: true if status shows that this boot is
 * an HTTP boot. The medium of an HTTP boot stays on HTTP. */
void life_boot_method_choose_address(struct life *l, bool is_on);
/* True unless status.bmc.mediaOver must still record that this BMC accepts media over TLS only. In
 * that case writes the field and returns false. */
bool life_ensure_media_over_written(struct life *l);
/* done() of the requests of a boot method (provider_call.done); life: struct life. If the BMC does
 * not support the method, selects the next method. */
void life_boot_method_acted(const struct provider_observation *o, const char *handle,
			    const struct err *e, void *life);
/* True if the BMC accepted the act `step` but shows no effect after LIFE_BOOT_PATIENCE_MS. The act
 * then counts as failed, with a growing back-off. seen: what the BMC shows instead, for the
 * message. */
bool life_boot_method_in_vain(struct life *l, const char *step, const char *seen);

#endif
