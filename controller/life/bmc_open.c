/*
 * bmc_open: checks trust, attachment, the last refused login and the guard of shared logins, in
 * this order. A separate file and not a part of the tick, because these checks are made only for
 * steps that need the BMC.
 * Tests: tests/world/test_login_guard.c
 */
#include "controller/life/bmc_open.h"

#include "base/arena.h"
#include "base/str.h"
#include "controller/hardware/login_guard.h"
#include "controller/life/consent.h"
#include "controller/life/journal.h"
#include "providers/provider.h"

#define SOON_MS 1000
#define TEXT 400

static enum reason attach_reason(const struct err *e)
{
	if (e->code == PROVIDER_ADDRESS)
		return REASON_BmcAddressInvalid;
	return e->kind == ERR_NOT_FOUND ? REASON_SecretNotFound : REASON_BmcAuthFailed;
}

/* Writes to text that the BMC refused the login, with the user name but never the password. */
static void refused_text(const struct life *l, const char *refused, char text[static TEXT])
{
	OWN(arena) a = arena_new();
	const char *user = driver_login_user(l->driver, l->m, a);

	str_format(text, TEXT,
		   "%.100s refused the login of user %s with Secret %.63s (version %.20s); correct "
		   "the Secret, or run `drover retry %.63s`",
		   l->m->spec.bmc ? str_or(l->m->spec.bmc->address, "the BMC") : "the BMC",
		   str_or(user, "(unknown)"),
		   str_or(driver_login(l->driver, l->m), "of the Provider"), refused, l->name);
}

bool life_bmc_is_open(struct life *l, enum reason *why, char text[static 400])
{
	const char *refused = l->m->status.bmc.refused_secret_version;
	const char *version = l->attached.secret_version, *by;
	struct err e;

	*why = REASON_NONE;
	text[0] = '\0';
	if (!life_bmc_trusted(l, &e)) {
		*why = REASON_BmcNotTrusted;
		str_copy(text, TEXT, e.text);
		return false;
	}
	if (!l->bmc) {
		if (!l->attached.error || l->attached.error->kind == ERR_UNAVAILABLE)
			return false;
		*why = attach_reason(l->attached.error);
		str_copy(text, TEXT, l->attached.error->text);
		return false;
	}
	if (!str_empty(refused) && str_eq(refused, version)) {
		*why = REASON_BmcAuthFailed;
		refused_text(l, refused, text);
		return false;
	}
	/* For a retired machine only the logout is left. That does not justify a login with a
	 * Secret that was never used at this BMC. */
	if (l->state == MACHINE_RETIRED && !str_empty(version) &&
	    !str_eq(version, l->m->status.bmc.secret_version)) {
		*why = REASON_BmcAuthFailed;
		str_format(
			text, TEXT,
			"drover logs in to the BMC of a retired machine only with a Secret that it "
			"used there before, and it never used Secret version %s",
			version);
		return false;
	}
	if (login_guard_admit(l->parts->login_guard, l->name, version, &by))
		return true;
	if (!by)
		return false;
	*why = REASON_BmcAuthFailed;
	str_format(text, TEXT,
		   "the BMC of machine %s refused the login with Secret version %s, so drover "
		   "does not try it here; change the Secret, or run `drover retry %s`",
		   by, version, by);
	return false;
}

/* Returns the delay until the next check whether a shared login is accepted elsewhere
 * (login_guard.h), in ms. The delay is random. If a thousand machines wait, one of them then checks
 * soon after the result is known. */
static int64_t soon(const struct life *l)
{
	return SOON_MS / 2 + (int64_t)loop_random_below(l->c->loop, SOON_MS);
}

bool life_ensure_bmc_open(struct life *l, bool quietly)
{
	const struct machine_operation *op = l->m->status.operation;
	enum reason said = op ? reason_find(op->last_error.reason) : REASON_NONE, why;
	char text[TEXT];

	if (life_bmc_is_open(l, &why, text))
		return true;
	if (why != REASON_NONE && (!quietly || said == REASON_NONE || said == why))
		life_wait(l, WAITING_APPROVAL, why, "%s", text);
	/* start no timer if the BMC is not attached: the arrival of its Secret starts a turn */
	else if (why == REASON_NONE && l->bmc)
		loop_timer_start(&l->timer, soon(l));
	return false;
}
