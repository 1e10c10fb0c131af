/*
 * log_out: asks the BMC to close its session with drover, and removes the session from status
 * whatever the answer. A BMC that does not answer, or refuses the login, must not prevent a machine
 * from retiring.
 * Tests: tests/world/test_login_guard.c
 */
#include "controller/life/log_out.h"

#include "base/log.h"
#include "base/str.h"
#include "controller/life/bmc.h"
#include "controller/life/bmc_open.h"
#include "controller/life/journal.h"
#include "providers/provider.h"

#define SOON_MS 1000

static void on_logged_out(const struct provider_observation *o, const char *handle,
			  const struct err *e, void *arg)
{
	struct life *l = arg;

	(void)o;
	(void)handle;
	if (e)
		log_warn("BMC session not closed; it stays open until the BMC ends it",
			 LOG_S("machine", l->name), LOG_E(e));
	l->attached.login = LIFE_LOGGED_OUT;
	life_kick(l);
}

bool life_ensure_logged_out(struct life *l)
{
	struct provider_call call = {.op_id = "log-out", .done = on_logged_out, .arg = l};
	enum reason why = REASON_NONE;
	char text[400];

	if (str_empty(l->m->status.bmc.session_uri))
		return true;
	/* Log out only with the driver: without its Provider the BMC cannot be contacted. */
	if (l->attached.login == LIFE_LOGGED_IN && l->m->spec.bmc && l->driver) {
		if (life_bmc_is_open(l, &why, text)) {
			l->attached.login = LIFE_LOGGING_OUT;
			provider_log_out(l->driver->provider, l->bmc, &call);
			return false;
		}
		if (why == REASON_NONE) {
			loop_timer_start(&l->timer, SOON_MS);
			return false;
		}
	}
	if (l->attached.login == LIFE_LOGGING_OUT)
		return false;
	/* forget the observation, which names the session; otherwise the session would be written
	 * again */
	life_observation_forget(l);
	life_write(l, json_pack("{s:{s:n}}", "bmc", "sessionURI"), NULL);
	return false;
}
