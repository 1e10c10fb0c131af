#ifndef CONTROLLER_RULES_SLEEP_H
#define CONTROLLER_RULES_SLEEP_H

#include <jansson.h>
#include "api/kinds.h"

/*
 * sleep: determines from the workload of a tenant's control plane whether the tenant is asleep, and
 * when its sleepGrace has passed. Pure functions; controller/tenant/sleep.h reads the workload and
 * defines when a tenant sleeps.
 * Tests: tests/unit/controller/tenant/test_sleep.c, tests/world/test_sleep.c
 */
enum tenant_sleep_is { TENANT_SLEEP_UNKNOWN, TENANT_SLEEP_NO, TENANT_SLEEP_YES };

/* Result of reading a control plane's workload. */
struct tenant_sleep_view {
	enum tenant_sleep_is is;
	/* reason for a condition, CamelCase, static string */
	const char *reason;
	char message[200];
	/* "UID/GENERATION" of the workload; "" unless is == TENANT_SLEEP_YES */
	char object[96];
};
/* Decides from the workload o whether the tenant is asleep, and sets *out. what: kind and name of
 * the workload for messages, such as "StatefulSet vc-team-a/team-a". */
void tenant_sleep_read(const json_t *o, const char *what, struct tenant_sleep_view *out);
/* Sets *out after an error e in reading the workload: TENANT_SLEEP_UNKNOWN and a reason, if drover
 * may not read the workload or it does not exist. False: any other error, which tells nothing about
 * the tenant; *out is unchanged. */
bool tenant_sleep_refused(const struct err *e, const char *what, struct tenant_sleep_view *out);

/* Returns the wall ms at which sleepGrace has passed; 0: never, or the tenant is awake. The stored
 * times are corrected for jumps of the clock. */
int64_t tenant_sleep_until(const struct virtual_cluster *vc);

/* Returns the wall ms from which the age of a pending cleanup counts (drover gives up a cleanup
 * that is too old): `since`, or the end of the tenant's last sleep if that is later. INT64_MAX: the
 * tenant is asleep, so the cleanup is not given up. */
int64_t tenant_sleep_debt_since(const struct virtual_cluster *vc, int64_t since);

#endif
