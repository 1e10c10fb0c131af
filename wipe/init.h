#ifndef WIPE_INIT_H
#define WIPE_INIT_H

#include <stdbool.h>
#include <stdint.h>
#include "base/err.h"

/*
 * init: the agent as process 1 of its boot image.  All blocking, before the loop starts, but for
 * init_settle(), which loop_work() jobs call through struct host.
 *
 * Modules: /lib/modules/agent holds *.ko.zst, `alias` ("PATTERN MODULE" lines) and `dep`
 * ("MODULE DEPENDENCY..." lines, in order of loading), as image/build made them.  Only
 * what the machine has hardware for is loaded, the network first, storage beside the
 * first call home.
 */
/* /proc, /sys, /dev; standard streams on the console; no zombies */
void init_mounts(void);
/* Without a hardware generator the kernel takes a second to gather entropy, and begins only
 * when it is asked: ask at once, beside the rest.  The agent's key needs it. */
void init_entropy(void);
void init_network_modules(void);
/* after the network's; returns at once */
void init_storage_modules(void);
/* until those are loaded and no new drive has appeared for a while */
void init_settle(void);
void init_power_off(void) __attribute__((noreturn));

/* The machine's clock shows now_ms when drover's shows told_ms: earlier, or ahead by more than
 * slack_ms? A tenant may have left any time at all in it, and to a clock that is years ahead every
 * certificate has run out. */
bool init_clock_is_wrong(int64_t now_ms, int64_t told_ms, int64_t slack_ms);

/* Does a modalias fit the pattern of modules.alias? */
int init_alias_fits(const char *pattern, const char *modalias);

#endif
