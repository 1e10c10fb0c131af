/*
 * bmc: reads the BMC when a step needs a newer look, keeps what was read, and proves by two reads that the
 * machine is off.  Apart from power.c and port.c, which act.
 * Tests: tests/world/test_leave.c, tests/unit/controller/life/test_conditions.c
 */
#include <stdio.h>
#include <string.h>

#include "controller/life/bmc.h"
#include "base/log.h"
#include "base/str.h"
#include "controller/life/bmc_reason.h"
#include "controller/life/journal.h"
#include "controller/life/life.h"

/* So many looks without an answer, one after the other, and a person's word counts for more. */

/* --- looking ------------------------------------------------------------------------------------ */

static void remember(struct life *l, const struct provider_observation *o)
{
	/* One spelling, however good another would be: two reads are to agree in all. */
	bool off = o->power == PROVIDER_POWER_OFF,
	     same = l->seen.known && str_eq(l->seen.uuid, str_or(o->system_uuid, "")) &&
		    (l->seen.uuid[0] || str_eq(l->seen.serial, str_or(o->serial, "")));

	if (off) {
		l->http_booted = false;
		l->whereabouts = LIFE_NOT_ASKED;
	}
	l->seen.off_since = !off ? 0 : same && l->seen.off_since ? l->seen.off_since : o->read_at;
	l->follow.looks++;
	l->seen.known = true;
	l->seen.read_at = o->read_at;
	l->seen.power = o->power;
	l->seen.override = o->boot_override;
	l->seen.media = o->media_inserted;
	l->seen.media_known = o->media_known;
	str_copy(l->seen.uuid, sizeof(l->seen.uuid), str_or(o->system_uuid, ""));
	str_copy(l->seen.serial, sizeof(l->seen.serial), str_or(o->serial, ""));
	str_copy(l->seen.media_url, sizeof(l->seen.media_url), str_or(o->media_url, ""));
	str_copy(l->seen.http_url, sizeof(l->seen.http_url), str_or(o->http_url, ""));
	str_copy(l->session_uri, sizeof(l->session_uri), str_or(o->session_uri, ""));
	str_clean(l->seen.uuid);
	str_clean(l->seen.serial);
	str_clean(l->session_uri);
	if (o->learned_pin)
		str_format(l->learned_pin, sizeof(l->learned_pin), "sha256:%s", o->learned_pin);
}

static void on_observed(const struct provider_observation *o, const char *handle,
			const struct err *e, void *arg)
{
	struct life *l = arg;
	int64_t delay, until;

	(void)handle;
	l->observing = false;
	if (!e) {
		backoff_reset(&l->observe_backoff);
		err_clear(&l->observe_error);
		remember(l, o);
		life_kick(l);
		return;
	}
	delay = backoff_next(&l->observe_backoff, loop_random(l->c->loop));
	if (delay < (int64_t)e->retry_after_ms)
		delay = e->retry_after_ms;
	l->observe_after = loop_now(l->c->loop) + delay;
	l->observe_error = *e;
	l->seen.off_since = 0; /* two reads in a row, or it is no proof */
	log_warn("BMC not read", LOG_S("machine", l->name), LOG_I("again_in_ms", delay), LOG_E(e));
	l->m = CTX_GET(l->c, OBJECT_MACHINE, machine, l->name);
	if (l->m && !writer_busy(&l->write)) {
		l->state = machine_state_find(str_or(l->m->status.state, "known"));
		/* Only a refused login is held against the Secret; a changed certificate is not. */
		if (e->kind == ERR_DENIED && e->code == 401 && l->bmc_secret_version[0])
			life_write(l,
				   json_pack("{s:{s:s}, s:{s:s, s:{s:s, s:s}}}", "bmc",
					     "refusedSecretVersion", l->bmc_secret_version,
					     "operation", "waitingFor", "Approval", "lastError",
					     "reason", "BmcAuthFailed", "message", e->text),
				   NULL);
		else
			life_wait(l, WAITING_DEVICE, life_bmc_reason(e), "%s", e->text);
	}
	/* A BMC that is asked seldom keeps no deadline waiting. */
	until = l->m && life_deadline(l) ? life_deadline(l) - loop_wall(l->c->loop) : delay;
	loop_timer_start(&l->timer, until > 0 && until < delay ? until : delay);
}

static void observe(struct life *l)
{
	struct provider_call call = {
		.op_id = l->m->status.operation ? str_or(l->m->status.operation->id, "observe")
						: "observe",
		.done = on_observed,
		.arg = l,
	};

	if (l->observing || !l->bmc || loop_now(l->c->loop) < l->observe_after)
		return;
	l->observing = true;
	provider_observe(l->driver->provider, l->bmc, &call);
}

bool life_seen(struct life *l, int64_t max_age_ms)
{
	int64_t now = loop_now(l->c->loop);

	if (l->seen.known && l->seen.read_at >= l->act_end && now - l->seen.read_at <= max_age_ms)
		return true;
	observe(l);
	return false;
}

bool life_off_proved(struct life *l)
{
	int64_t now = loop_now(l->c->loop), settle = l->c->o.settle_ms;

	if (!life_seen(l, settle > 0 ? settle : 1000))
		return false;
	if (l->seen.power != PROVIDER_POWER_OFF)
		return false;
	/* Reads from before the last power request prove nothing. */
	if (l->seen.off_since < l->power_end)
		l->seen.off_since = l->seen.read_at;
	if (l->seen.read_at - l->seen.off_since >= settle)
		return true;
	if (now - l->seen.off_since >= settle)
		observe(l);
	else
		loop_timer_start(&l->timer, l->seen.off_since + settle - now);
	return false;
}
