#ifndef WIPE_INIT_H
#define WIPE_INIT_H

#include <stdbool.h>
#include <stdint.h>
#include "base/err.h"

/*
 * init: the agent as process 1 of its boot image. All functions block and run before the loop
 * starts, except init_settle(), which loop_work() jobs call through struct host.
 *
 * Modules: /lib/modules/agent holds *.ko.zst, `alias` ("PATTERN MODULE" lines) and `dep` ("MODULE
 * DEPENDENCY..." lines, in order of loading), as created by image/build. Only modules for present
 * hardware are loaded: network modules first, storage modules during the first call to drover.
 */
/* Mounts /proc, /sys and /dev, opens the standard streams on the console, and makes the kernel reap
 * child processes. */
void init_mounts(void);
/* Requests entropy on a separate thread, so that the kernel gathers entropy while the agent
 * continues. Without a hardware generator the kernel needs about a second, and begins only on
 * request. The entropy is needed to create the agent's key. */
void init_entropy(void);
void init_network_modules(void);
/* Starts to load the storage modules, in parallel; returns at once. */
void init_storage_modules(void);
/* Waits until the storage modules are loaded and no new drive has appeared for the quiet time
 * (QUIET_MS or QUIET_SAS_MS in init.c). */
void init_settle(void);
void init_power_off(void) __attribute__((noreturn));

/* True if the machine's clock (now_ms) is earlier than drover's (told_ms), or ahead of it by more
 * than slack_ms. The machine's clock cannot be trusted: a tenant may have set any time, and for a
 * clock years ahead every certificate has expired. */
bool init_clock_is_wrong(int64_t now_ms, int64_t told_ms, int64_t slack_ms);

/* True if a modalias matches the pattern from modules.alias. */
int init_alias_fits(const char *pattern, const char *modalias);

#endif
