/*
 * bmc: reads the BMC when a step needs a newer observation, stores the result in l->observation,
 * and proves by two reads that the machine is off. Acts are in power.c and port.c.
 * Tests: tests/world/test_leave.c, tests/unit/controller/life/test_conditions.c
 */
#include <stdio.h>
#include <string.h>

#include "controller/life/bmc.h"
#include "base/arena.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/core/counters.h"
#include "controller/core/reserved.h"
#include "controller/life/bmc_open.h"
#include "controller/life/bmc_reason.h"
#include "controller/life/boot_marks.h"
#include "controller/life/identity.h"
#include "controller/life/journal.h"
#include "controller/life/life.h"
#include "controller/life/queue_wait.h"
#include "providers/provider.h"

/* Time after which a read in progress is reported as BmcSlow. */
#define SLOW_MS 10000
/* Sizes of the texts about sensors that are stored, with their final NUL */
#define UNSENSED_SIZE 200
#define FAULT_SIZE 256

/* --- reading ---------------------------------------------------------------------------------- */

void life_observation_init(struct life *l)
{
	l->observation.backoff = (struct backoff){.base_ms = 2000, .cap_ms = 300000};
}

void life_observation_forget(struct life *l)
{
	life_queue_left(l);
	l->observation.busy = l->observation.known = false;
	l->observation.address[0] = '\0';
	/* forget the learned certificate too: the first read after attaching sets it again */
	l->observation.learned_pin[0] = '\0';
}

void life_observation_over(struct life *l)
{
	l->observation.wanted_at = 0;
}

void life_observation_retry(struct life *l)
{
	l->observation.after = 0;
	backoff_reset(&l->observation.backoff);
}

void life_observation_doubt(struct life *l)
{
	l->observation.off_since = loop_now(l->c->loop);
}

/* Adds the address from which the BMC answered to the reserved addresses. No tenant endpoint may
 * then use that address, whatever name spec.bmc uses. */
static void reserve(const struct life *l, const char *address)
{
	OWN(arena) a = arena_new();

	if (!str_empty(address) && !str_eq(address, l->observation.address))
		reserved_put(l->c->reserved, arena_printf(a, RESERVED_ANSWERED, l->name), address,
			     false);
}

/* Saves a text of the BMC, without what is not fit for display. */
static void save_clean(char **slot, size_t size, const char *text)
{
	mem_save(slot, size, text);
	if (*slot)
		str_clean(*slot);
}

static void remember(struct life *l, const struct provider_observation *o)
{
	/* Compare by the UUID, and by the serial number only if there is no UUID. Two reads prove
	 * off only if they are of the same identity. */
	bool off = o->power == PROVIDER_POWER_OFF,
	     same = l->observation.known &&
		    str_eq(l->observation.uuid, str_or(o->system_uuid, "")) &&
		    (l->observation.uuid[0] ||
		     str_eq(l->observation.serial, str_or(o->serial, "")));

	if (off) {
		life_boot_forget(l);
	}
	l->observation.off_since = !off				      ? 0
				   : same && l->observation.off_since ? l->observation.off_since
								      : o->read_at;
	l->observation.answered++;
	l->observation.known = true;
	l->observation.read_at = o->read_at;
	l->observation.answered_at = loop_now(l->c->loop);
	l->observation.power = o->power;
	l->observation.override = o->boot_override;
	l->observation.media = o->media_inserted;
	l->observation.media_known = o->media_known;
	l->observation.media_https = o->media_https;
	l->observation.media_verified = o->media_verified;
	str_copy(l->observation.uuid, sizeof(l->observation.uuid), str_or(o->system_uuid, ""));
	str_copy(l->observation.serial, sizeof(l->observation.serial), str_or(o->serial, ""));
	mem_save(&l->observation.media_url, LIFE_URL_SIZE, o->media_url);
	mem_save(&l->observation.http_url, LIFE_URL_SIZE, o->http_url);
	save_clean(&l->observation.unsensed, UNSENSED_SIZE, o->unsensed);
	if (o->fault) {
		l->observation.sensed = true;
		save_clean(&l->observation.fault, FAULT_SIZE, o->fault);
	}
	reserve(l, o->address);
	str_copy(l->observation.address, sizeof(l->observation.address), str_or(o->address, ""));
	save_clean(&l->observation.session_uri, LIFE_URI_SIZE, o->session_uri);
	str_clean(l->observation.uuid);
	str_clean(l->observation.serial);
	if (o->learned_pin)
		str_format(l->observation.learned_pin, sizeof(l->observation.learned_pin),
			   "sha256:%s", o->learned_pin);
}

static void on_observed(const struct provider_observation *o, const char *handle,
			const struct err *e, void *arg)
{
	struct life *l = arg;
	int64_t delay, until;

	(void)handle;
	life_queue_left(l);
	l->observation.busy = false;
	counters_observation(l->c->counters, l->driver->name, !e);
	if (!e) {
		backoff_reset(&l->observation.backoff);
		err_save(&l->observation.error, NULL);
		remember(l, o);
		life_kick(l);
		return;
	}
	delay = backoff_next(&l->observation.backoff, loop_random(l->c->loop));
	if (delay < (int64_t)e->retry_after_ms)
		delay = e->retry_after_ms;
	l->observation.after = loop_now(l->c->loop) + delay;
	err_save(&l->observation.error, e);
	/* restart the proof of off: it needs two successful reads without a failed one between
	 * them */
	l->observation.off_since = 0;
	log_warn("BMC could not be read", LOG_S("machine", l->name), LOG_I("again_in_ms", delay),
		 LOG_E(e));
	l->m = CTX_GET(l->c, OBJECT_MACHINE, machine, l->name);
	if (l->m && !writer_busy(&l->journal.write)) {
		l->state = machine_state_find(str_or(l->m->status.state, "known"));
		/* Record this version of the Secret as refused only if the BMC refused the login
		 * (401). ERR_DENIED without 401 has other causes, such as a changed certificate. */
		if (e->kind == ERR_DENIED && e->code == 401 && l->attached.secret_version[0])
			life_write(l,
				   json_pack("{s:{s:s}, s:{s:s, s:{s:s, s:s}}}", "bmc",
					     "refusedSecretVersion", l->attached.secret_version,
					     "operation", "waitingFor", "Approval", "lastError",
					     "reason", "BmcAuthFailed", "message", e->text),
				   NULL);
		else
			life_wait_until(l, loop_wall(l->c->loop) + delay,
					e->code == PROVIDER_PASSWORD_CHANGE ? WAITING_APPROVAL
									    : WAITING_DEVICE,
					life_bmc_reason(e), "%s", e->text);
	}
	/* Start the next turn at the state's deadline, if the deadline comes before the end of the
	 * BMC's back-off. */
	until = l->m && life_deadline(l) ? life_deadline(l) - loop_wall(l->c->loop) : delay;
	loop_timer_start(&l->timer, until > 0 && until < delay ? until : delay);
}

static void on_look_begun(int64_t waited_ms, void *arg)
{
	struct life *l = arg;

	l->observation.begun_at = loop_now(l->c->loop);
	life_queue_begun(waited_ms, l);
}

static void observe(struct life *l, bool quietly)
{
	struct provider_call call = {
		.op_id = l->m->status.operation ? str_or(l->m->status.operation->id, "observe")
						: "observe",
		.awaited = machine_is_awaited(l->m),
		.begun = on_look_begun,
		.done = on_observed,
		.arg = l,
	};

	if (l->observation.busy || !l->m->spec.bmc || loop_now(l->c->loop) < l->observation.after ||
	    !life_ensure_bmc_open(l, quietly))
		return;
	l->observation.busy = true;
	l->observation.begun_at = 0;
	life_queue_asked(l);
	provider_observe(l->driver->provider, l->bmc, &call);
}

static bool is_fresh(const struct life *l, int64_t max_age_ms)
{
	const struct life_observation *k = &l->observation;
	bool since = /* mutant: slow-look-old */ k->wanted_at && k->read_at >= k->wanted_at;

	return k->known && k->read_at >= l->act.ended_at &&
	       loop_now(l->c->loop) - (since ? k->answered_at : k->read_at) <= max_age_ms;
}

static bool says(const struct life *l, enum reason reason)
{
	const struct machine_operation *op = l->m->status.operation;

	return op && reason_find(op->last_error.reason) == reason;
}

/* True if the last observation resolves the reason that status shows (BmcSlow, IdentityNotTold). */
static bool is_answered(const struct life *l)
{
	struct err e;

	return says(l, REASON_BmcSlow) ||
	       (says(l, REASON_IdentityNotTold) && life_identity(l, &e) == 0);
}

/* Reports a slow BMC or a long wait in the queue, unless status already shows another reason. Does
 * nothing for an idle machine, which waits for nothing. */
static void tell_slow(struct life *l, int64_t max_age_ms)
{
	const struct machine_operation *op = l->m->status.operation;
	int64_t left = l->observation.begun_at + SLOW_MS - loop_now(l->c->loop),
		poll = l->c->o.poll_ms;

	if (!l->observation.busy || max_age_ms >= l->c->o.idle_poll_ms ||
	    (op && op->last_error.reason && !says(l, REASON_BmcSlow)))
		return;
	if (!l->observation.begun_at)
		life_queue_report(l);
	else if (left > 0)
		loop_timer_start(&l->timer, left < poll ? left : poll);
	else
		life_wait(l, WAITING_DEVICE, REASON_BmcSlow, "reading the BMC takes more than %d s",
			  SLOW_MS / 1000);
}

bool life_ensure_observed(struct life *l, int64_t max_age_ms)
{
	if (!is_fresh(l, max_age_ms)) {
		if (!l->observation.wanted_at)
			l->observation.wanted_at = loop_now(l->c->loop);
		observe(l, max_age_ms >= l->c->o.idle_poll_ms);
		tell_slow(l, max_age_ms);
		return false;
	}
	if (!is_answered(l))
		return true;
	life_write(l, json_pack("{s:{s:n, s:n}}", "operation", "lastError", "waitingFor"), NULL);
	return false;
}

bool life_ensure_off_proved(struct life *l)
{
	int64_t now = loop_now(l->c->loop), settle = l->c->o.settle_ms;

	if (!life_ensure_observed(l, settle > 0 ? settle : 1000))
		return false;
	if (l->observation.power != PROVIDER_POWER_OFF)
		return false;
	/* Reads from before the last power request prove nothing. Therefore restart the proof of
	 * off with the last read. */
	if (l->observation.off_since < l->power.ended_at)
		l->observation.off_since = l->observation.read_at;
	if (l->observation.read_at - l->observation.off_since >= settle)
		return true;
	if (now - l->observation.off_since >= settle)
		observe(l, false);
	else
		loop_timer_start(&l->timer, l->observation.off_since + settle - now);
	return false;
}
