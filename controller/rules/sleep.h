#ifndef CONTROLLER_RULES_SLEEP_H
#define CONTROLLER_RULES_SLEEP_H

#include <jansson.h>
#include "api/kinds.h"

/*
 * sleep: whether the object of a tenant's control plane says that it sleeps, and when sleepGrace is
 * over. Pure; controller/tenant/sleep.h looks, and says what sleep is.
 * Tests: tests/unit/controller/tenant/test_sleep.c, tests/world/test_sleep.c
 */
enum tenant_sleep_is { TENANT_SLEEP_UNKNOWN, TENANT_SLEEP_NO, TENANT_SLEEP_YES };

/* What a control plane's object says. */
struct tenant_sleep_view {
	enum tenant_sleep_is is;
	/* CamelCase, static */
	const char *reason;
	char message[200];
	/* "UID/GENERATION"; "" when it is not TENANT_SLEEP_YES */
	char object[96];
};
/* what: "StatefulSet vc-team-a/team-a". */
void tenant_sleep_read(const json_t *o, const char *what, struct tenant_sleep_view *out);
/* The object could not be read: what that says.  False: nothing, the API did not answer. */
bool tenant_sleep_refused(const struct err *e, const char *what, struct tenant_sleep_view *out);

/* When sleepGrace is over, as wall ms, jumps of the clock not counted; 0: never, or it is awake. */
int64_t tenant_sleep_until(const struct virtual_cluster *vc);

/* Since when a debt of that moment is tried to be paid, as far as sleep goes: from its end on.
 * INT64_MAX: it sleeps. */
int64_t tenant_sleep_debt_since(const struct virtual_cluster *vc, int64_t since);

#endif
