/*
 * bmc_reason: the closed list's name for an error of a BMC.  Apart, for acts of every kind need it.
 * Tests: tests/world/test_bmc.c
 */
#include <stdio.h>
#include <string.h>

#include "controller/life/bmc_reason.h"
#include "base/log.h"
#include "base/str.h"
#include "controller/rules/identity.h"
#include "providers/provider.h"

enum reason life_act_reason(const char *step, const struct err *e)
{
	if (str_eq(step, "insert-media") && (e->kind == ERR_INVALID || e->kind == ERR_NOT_FOUND))
		return REASON_MediaNotMounted;
	return life_bmc_reason(e);
}

enum reason life_bmc_reason(const struct err *e)
{
	if (e->code == PROVIDER_OF_MANAGER)
		return e->kind == ERR_CONFLICT ? REASON_ManagerConflict
		       : e->kind == ERR_UNAVAILABLE || e->kind == ERR_TIMEOUT
			       ? REASON_ManagerUnreachable
			       : REASON_ManagerRefused;
	if (e->code == IDENTITY_UNTOLD)
		return REASON_IdentityNotTold;
	switch (e->kind) {
	case ERR_DENIED:
		return REASON_BmcAuthFailed;
	case ERR_CONFLICT:
		return REASON_DuplicateIdentity;
	case ERR_PROTOCOL: /* it answered, so it is within reach */
	case ERR_INVALID:
	case ERR_NOT_FOUND:
		return REASON_BmcProtocolError;
	case ERR_UNSUPPORTED:
		return REASON_BmcUnsupported;
	case ERR_CAPACITY:
	case ERR_QUOTA:
		return REASON_BmcBusy;
	case ERR_NONE:
	case ERR_TIMEOUT:
	case ERR_UNAVAILABLE:
	case ERR_PRICE:
	case ERR_KINDS:
		break;
	}
	return REASON_BmcUnreachable;
}
