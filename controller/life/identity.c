/*
 * identity: passes the identity that the BMC last reported to rules/identity.c. A separate file,
 * because consent and steps need it.
 * Tests: tests/world/test_identity.c
 */
#include <stdio.h>
#include <string.h>

#include "controller/life/identity.h"
#include "base/log.h"
#include "base/str.h"
#include "controller/life/life.h"
#include "controller/rules/identity.h"

int life_identity(const struct life *l, struct err *e)
{
	if (identity_bmc(l->m->spec.identity, l->observation.uuid, l->observation.serial, e) == 0)
		return 0;
	return e->kind == ERR_NOT_FOUND
		       ? err_set(e, ERR_NOT_FOUND, 0,
				 "spec.identity is empty; `drover approve %s` fills it in from "
				 "the BMC (%s, %s)",
				 l->name, str_or(l->observation.uuid, "no system UUID"),
				 str_or(l->observation.serial, "no serial number"))
		       : -1;
}

bool life_identity_differs(const struct life *l, struct err *e)
{
	return life_identity(l, e) < 0 && e->kind == ERR_CONFLICT;
}

const char *life_uuid(const struct life *l)
{
	const struct machine_identity *want = l->m->spec.identity;

	return str_or(l->observation.uuid, want ? str_or(want->system_uuid, "") : "");
}
