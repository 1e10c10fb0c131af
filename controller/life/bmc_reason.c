/*
 * bmc_reason: maps an error of a BMC to a reason of api/reasons.def. A separate file, because acts
 * of every kind need it.
 * Tests: tests/unit/controller/life/test_bmc_reason.c
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
	if (e->code != PROVIDER_ADDRESS && str_eq(step, "insert-media") &&
	    (e->kind == ERR_INVALID || e->kind == ERR_NOT_FOUND))
		return REASON_MediaNotMounted;
	return life_bmc_reason(e);
}

/* True if the BMC answered that it cannot serve the request at present: 409 (a temporary state),
 * 423, 429, 503. A BMC that answers so is reachable. */
static bool is_put_off(const struct err *e)
{
	return e->kind == ERR_UNAVAILABLE &&
	       (e->code == 409 || e->code == 423 || e->code == 429 || e->code == 503);
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
	if (e->code == PROVIDER_ADDRESS)
		return REASON_BmcAddressInvalid;
	if (e->code == PROVIDER_PASSWORD_CHANGE)
		return REASON_BmcPasswordChange;
	if (is_put_off(e))
		return REASON_BmcBusy;
	if (e->kind == ERR_UNAVAILABLE && e->code == 500) /* the BMC answered, so it is reachable */
		return REASON_BmcProtocolError;
	switch (e->kind) {
	case ERR_DENIED:
		return REASON_BmcAuthFailed;
	case ERR_CONFLICT:
		return REASON_DuplicateIdentity;
	case ERR_PROTOCOL: /* the BMC answered, so it is reachable */
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
