#ifndef PROVIDERS_IPMI_H
#define PROVIDERS_IPMI_H

#include <stdbool.h>
#include <stddef.h>
#include "base/err.h"
#include "base/secret.h"

/*
 * ipmi: what all that starts ipmitool has in common (the provider, and `drover console`): where a
 * BMC is, which logins it can have, and what its sensors say.
 *
 * Pure: no process, no clock.
 * Tests: tests/unit/providers/test_ipmi.c; places and logins:
 * tests/unit/providers/test_ipmi_provider.c
 */
#define IPMITOOL "/usr/bin/ipmitool"
#define IPMI_USER_MAX 16     /* bytes.  IPMI 2.0, 22.28: Set User Name */
#define IPMI_PASSWORD_MAX 20 /* IPMI 2.0, 22.30: Set User Password */

/* Of "ipmi://HOST" or "ipmi://HOST:PORT", an IPv6 address in brackets. host never begins with "-".
 * Both are the caller's to free; -1: ERR_INVALID, and neither is set. */
int ipmi_place(const char *address, char **host, char **port, struct err *e)
	__attribute__((warn_unused_result));

/* May it be the login of a BMC, and is ipmitool able to send it? -1: ERR_INVALID. ipmitool reads a
 * password as a line of its file, and cuts it at a tab. user, password: NULL: none, which is
 * invalid. */
int ipmi_login_fits(const char *user, const struct secret *password, struct err *e)
	__attribute__((warn_unused_result));

/*
 * What `ipmitool sdr elist` printed (1.8.19), among other lines: a row for each sensor,
 *
 *   Fan 3            | 43h | cr  | 29.3 | 0 RPM
 *   PS2 Status       | c9h | ok  | 10.2 | Presence detected, Power Supply AC lost
 *
 * Critical are a threshold's states cr and nr (critical, non-recoverable; IPMI 2.0, 35.14), and of
 * the discrete states (table 42-3) those that say that a part does not work. Gives the number of
 * rows; fault: the first three that are critical, by name, for people, as UTF-8 without control
 * characters; "": none is. text is foreign, of any content.
 */
size_t ipmi_sensors(const char *text, char *fault, size_t size);

#endif
