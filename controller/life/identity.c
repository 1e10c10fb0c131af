/*
 * identity: hands what the BMC said last to rules/identity.c.  Apart: consent and steps need it.
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
	if (identity_bmc(l->m->spec.identity, l->seen.uuid, l->seen.serial, e) == 0)
		return 0;
	return e->kind == ERR_NOT_FOUND
		       ? err_set(e, ERR_NOT_FOUND, 0,
				 "spec.identity is empty; `drover approve %s` fills it in from the BMC (%s, %s)",
				 l->name, str_or(l->seen.uuid, "no system UUID"),
				 str_or(l->seen.serial, "no serial number"))
		       : -1;
}
