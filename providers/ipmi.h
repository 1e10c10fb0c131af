#ifndef PROVIDERS_IPMI_H
#define PROVIDERS_IPMI_H

#include <stdbool.h>
#include <stddef.h>
#include "base/err.h"
#include "base/secret.h"

/*
 * ipmi: functions shared by all users of ipmitool (ipmi_provider.c and `drover console`). They
 * parse BMC addresses, check logins and read sensor lists.
 *
 * Pure: no process, no clock.
 * Tests: tests/unit/providers/test_ipmi.c; addresses and logins:
 * tests/unit/providers/test_ipmi_provider.c
 */
#define IPMITOOL "/usr/bin/ipmitool"
#define IPMI_USER_MAX 16     /* In bytes. IPMI 2.0, 22.28: Set User Name. */
#define IPMI_PASSWORD_MAX 20 /* In bytes. IPMI 2.0, 22.30: Set User Password. */

/* Splits an address "ipmi://HOST" or "ipmi://HOST:PORT" into *host and *port; an IPv6 address is in
 * brackets. *host never begins with "-". The caller frees both. Returns -1 with ERR_INVALID if the
 * address is not valid; neither is set. */
int ipmi_parse_address(const char *address, char **host, char **port, struct err *e)
	__attribute__((warn_unused_result));

/* Returns 0 if IPMI allows the user and password and ipmitool can send them; -1: ERR_INVALID.
 * ipmitool reads the password as one line of a file and truncates it at a tab. user or password
 * NULL: invalid. */
int ipmi_login_fits(const char *user, const struct secret *password, struct err *e)
	__attribute__((warn_unused_result));

/*
 * Finds failed sensors in the output of `ipmitool sdr elist` (1.8.19), which contains among other
 * lines one row per sensor:
 *
 *   Fan 3            | 43h | cr  | 29.3 | 0 RPM
 *   PS2 Status       | c9h | ok  | 10.2 | Presence detected, Power Supply AC lost
 *
 * A sensor is critical in the threshold states cr and nr (critical, non-recoverable; IPMI 2.0,
 * 35.14), and in those discrete states (table 42-3) that mean that a part does not work. Returns
 * the number of rows. Writes to fault the names of the first three critical sensors,
 * human-readable, as UTF-8 without control characters; "" if none is critical. text is untrusted
 * and may contain anything.
 */
size_t ipmi_sensors(const char *text, char *fault, size_t size);

#endif
