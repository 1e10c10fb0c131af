#ifndef CONTROLLER_RULES_SLEEP_H
#define CONTROLLER_RULES_SLEEP_H

#include <jansson.h>
#include "api/kinds.h"

/*
 * sleep: determines from the workload of a tenant's control plane whether the tenant is asleep, and
 * when sleepGrace has passed. Pure; controller/tenant/sleep.h reads the workload and defines sleep.
 * Tests: tests/unit/controller/tenant/test_sleep.c, tests/world/test_sleep.c
 */
enum tenant_sleep_is { TENANT_SLEEP_UNKNOWN, TENANT_SLEEP_NO, TENANT_SLEEP_YES };

/* Result of reading a control plane's workload. */
struct tenant_sleep_view {
	enum tenant_sleep_is is;
	/* CamelCase, static */
	const char *reason;
	char message[200];
	/* "UID/GENERATION" of the workload; "" unless is == TENANT_SLEEP_YES */
	char object[96];
};
/* Judges the workload o. what: its kind and name for messages, such as "StatefulSet
 * vc-team-a/team-a". */
void tenant_sleep_read(const json_t *o, const char *what, struct tenant_sleep_view *out);
/* Judges an error in reading the workload. False: the error tells nothing, because the API server
 * did not answer. */
bool tenant_sleep_refused(const struct err *e, const char *what, struct tenant_sleep_view *out);

/* Returns when sleepGrace has passed, in wall ms, without jumps of the clock; 0: never, or the
 * tenant is awake. */
int64_t tenant_sleep_until(const struct virtual_cluster *vc);

/* Returns the time since which a pending cleanup from `since` counts as tried: not before the end
 * of the tenant's sleep. INT64_MAX: the tenant is asleep. */
int64_t tenant_sleep_debt_since(const struct virtual_cluster *vc, int64_t since);

#endif
