#ifndef WIPE_INIT_H
#define WIPE_INIT_H

#include <stdbool.h>
#include <stdint.h>
#include "base/err.h"

/*
 * init: the agent as process 1 of its boot image. All blocking, before the loop starts, except
 * init_settle(), which loop_work() jobs call through struct host.
 *
 * Modules: /lib/modules/agent holds *.ko.zst, `alias` ("PATTERN MODULE" lines) and `dep` ("MODULE
 * DEPENDENCY..." lines, in order of loading), as created by image/build. Only modules for present
 * hardware are loaded: network modules first, storage modules during the first call to drover.
 */
/* Mounts /proc, /sys, /dev; opens standard streams on the console; reaps zombies. */
void init_mounts(void);
/* Without a hardware generator the kernel needs a second to gather entropy, and begins only on
 * request: requests it at once, in parallel. The agent's key needs it. */
void init_entropy(void);
void init_network_modules(void);
/* Loads storage modules after the network's; returns at once. */
void init_storage_modules(void);
/* Waits until these are loaded and no new drive has appeared for a while. */
void init_settle(void);
void init_power_off(void) __attribute__((noreturn));

/* True if the machine's clock (now_ms) is earlier than drover's (told_ms), or ahead by more than
 * slack_ms. A tenant may have left any time in it, and for a clock years ahead every certificate
 * has expired. */
bool init_clock_is_wrong(int64_t now_ms, int64_t told_ms, int64_t slack_ms);

/* True if a modalias matches the pattern from modules.alias. */
int init_alias_fits(const char *pattern, const char *modalias);

#endif
