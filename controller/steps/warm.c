/*
 * warm: begins, keeps and ends the boot of a warm machine (a free machine that is on, with its
 * agent running), and hands its agent over to a claim. Separate from rest.c, because that file
 * handles everything else that can happen to a free machine.
 */
#include "controller/steps/warm.h"
#include "controller/steps/lives.h"

#include <string.h>

#include "base/log.h"
#include "base/str.h"
#include "controller/agent/endpoint.h"
#include "controller/claims/warm_pool.h"
#include "controller/core/clock_jumps.h"
#include "controller/core/counters.h"
#include "controller/life/act.h"
#include "controller/life/agent_boot.h"
#include "controller/life/bmc.h"
#include "controller/life/bmc_open.h"
#include "controller/life/boot_marks.h"
#include "controller/life/consent.h"
#include "controller/life/identity.h"
#include "controller/life/journal.h"
#include "controller/life/port.h"
#include "controller/life/tenancy.h"
#include "controller/rules/machine.h"

#define AGENT_SILENT_MS (5 * 60 * 1000)
/* Wait before the second boot of a warm machine. The wait before the third boot is four times as
 * long. */
#define BACKOFF_MS 15000
#define WELL_MS (60 * 60 * 1000)
#define REST_MS (30 * 60 * 1000)
/* Time that the agent has to answer. It covers a long poll (30 s), and an agent that reconnects a
 * little later because its connection broke. */
#define ANSWER_MS 60000

/* Returns the time limit for a warm boot, in ms. It is the time limit of the state claimed. */
static int64_t limit_ms(void)
{
	return machine_state_info[MACHINE_CLAIMED].limit_s * 1000;
}

static void look_again(struct life *l, int64_t ms)
{
	loop_timer_start(&l->timer, ms > 0 ? ms : 1);
}

/* Forgets everything about the previous act. */
static void forget_acts(struct life *l)
{
	life_act_forget(l);
	life_act_over(l);
}

/* Returns status.operation for boot number `number`, which begins after delay_ms. */
static json_t *boot(const struct life *l, int64_t number, int64_t delay_ms)
{
	int64_t now = loop_wall(l->c->loop);
	json_t *op = json_pack("{s:I, s:n, s:n, s:n, s:n, s:n, s:n, s:n, s:n}", "bootNumber",
			       (json_int_t)number, "step", "class", "attempt", "handle",
			       "waitingFor", "lastError", "started", "progress");

	life_set_time(op, "nextAttempt", delay_ms ? now + delay_ms : 0);
	life_set_time(op, "deadline", now + delay_ms + limit_ms());
	return op;
}

/* --- beginning -------------------------------------------------------------------------------- */

static enum life_decision begin(struct life *l, const struct object_ref *pool)
{
	json_t *op;
	char id[33];

	/* Check again whether the machine must stay off for a while (nextAttempt): the warm pool
	 * may have decided before that was written. */
	if (l->m->status.operation->next_attempt > loop_wall(l->c->loop))
		return LIFE_STAY;
	if (life_outdated(l))
		return life_begin_again(l);
	if (!life_ensure_observed(l, l->c->o.poll_ms * 5) || !life_ensure_consented(l))
		return LIFE_STAY;
	if (l->observation.power != PROVIDER_POWER_OFF)
		return life_wait(
			l, WAITING_APPROVAL, REASON_PowerStateUnexpected,
			"status says free and off, but the BMC does not report the machine off; "
			"to wipe the machine, run `drover approve --wipe %s`",
			l->name);
	life_operation_id(l, id);
	op = boot(l, 1, 0);
	json_object_set_new(op, "id", json_string(id));
	forget_acts(l);
	log_info("warming machine", LOG_S("machine", l->name), LOG_S("pool", pool->name));
	life_write(l,
		   json_pack("{s:{s:s, s:s}, s:n, s:o}", "warmFor", "name", pool->name, "uid",
			     pool->uid, "agent", "operation", op),
		   NULL);
	return LIFE_STAY;
}

/* --- ending ----------------------------------------------------------------------------------- */

static void end(struct life *l)
{
	const struct machine_operation *op = l->m->status.operation;
	int64_t now = loop_wall(l->c->loop);
	bool rest = op->boot_number > WARM_POOL_BOOTS;
	json_t *j, *e;

	look_again(l, l->c->o.poll_ms);
	/* Never switch off a machine that may not be the approved one. */
	if (!life_ensure_observed(l, l->c->o.poll_ms * 5) ||
	    !life_ensure_approved_identity(l, REASON_IdentityMismatch) ||
	    !life_ensure_agent_gone(l))
		return;
	j = json_pack("{s:n, s:n, s:n, s:n, s:n}", "bootNumber", "waitingFor", "lastError",
		      "nextAttempt", "deadline");
	if (rest) {
		e = json_pack("{s:s, s:s}", "reason", "NotWarm", "message",
			      "the machine did not stay on with its agent connected; drover does "
			      "not keep it warm for the next 30 minutes");
		life_set_time(e, "time", now);
		json_object_set_new(j, "lastError", e);
		life_set_time(j, "nextAttempt", now + REST_MS);
	}
	log_info("machine is no longer warm", LOG_S("machine", l->name),
		 LOG_S("pool", l->m->status.warm_for->name));
	forget_acts(l);
	life_write(l, json_pack("{s:n, s:n, s:o}", "warmFor", "agent", "operation", j), NULL);
}

bool life_ensure_warm_ended(struct life *l)
{
	if (!warm_is_ending(l->m))
		return true;
	end(l);
	return false;
}

bool life_ensure_warm_left(struct life *l)
{
	enum reason why;
	char text[400];
	struct err e;

	if (!l->m->status.warm_for)
		return true;
	/* In two cases retire without switching the machine off. First, if its BMC does not answer,
	 * may not be contacted, or does not report the approved identity. Second, if the machine
	 * runs a system that another party booted, which drover must not switch off. */
	if (l->observation.error || !life_bmc_is_open(l, &why, text) ||
	    (l->observation.known &&
	     (life_identity(l, &e) < 0 ||
	      (l->observation.power != PROVIDER_POWER_OFF && !life_warm_may_be_on(l))))) {
		if (l->agent)
			agent_session_close(
				/* close the session: without it, the agent powers off by itself
				 * after a while */
				l->agent);
		return true;
	}
	end(l);
	return false;
}

/* Stops keeping the machine warm for 30 min, after three boots or because another party switched
 * the machine off. */
static void give_up(struct life *l, const char *why)
{
	json_t *op = boot(l, WARM_POOL_BOOTS + 1, 0);

	json_object_set_new(op, "deadline", json_null());
	ctx_event(l->c, OBJECT_MACHINE, &l->m->meta, "Warning", "NotWarm", why);
	log_warn("machine cannot be kept warm", LOG_S("machine", l->name), LOG_S("message", why));
	forget_acts(l);
	agent_session_close(l->agent);
	life_write(l, json_pack("{s:n, s:o}", "agent", "operation", op), NULL);
}

static void lost(struct life *l, const char *reason, const char *why)
{
	const struct machine_operation *op = l->m->status.operation;
	/* True if the machine ran well for an hour. Then its earlier boots do not count. */
	bool well =
		l->m->status.agent && op->started && loop_wall(l->c->loop) - op->started > WELL_MS;
	int64_t n = well ? 0 : op->boot_number;
	char text[200], id[33];
	json_t *next;

	if (n >= WARM_POOL_BOOTS) {
		str_format(text, sizeof(text),
			   "%s; drover gave up after %d boots and does not keep the machine warm "
			   "for the next 30 minutes",
			   why, WARM_POOL_BOOTS);
		give_up(l, text);
		return;
	}
	ctx_event(l->c, OBJECT_MACHINE, &l->m->meta, "Warning", reason, why);
	log_warn("warm machine boots again", LOG_S("machine", l->name), LOG_S("message", why),
		 LOG_I("boot", n + 1));
	next = boot(l, n + 1, n < 2 ? BACKOFF_MS : 4 * BACKOFF_MS);
	if (well) {
		life_operation_id(l, id);
		json_object_set_new(next, "id", json_string(id));
	}
	forget_acts(l);
	agent_session_close(l->agent);
	life_write(l, json_pack("{s:n, s:o}", "agent", "operation", next), NULL);
}

/* --- keeping ---------------------------------------------------------------------------------- */

static bool is_late(const struct life *l)
{
	const struct machine_operation *op = l->m->status.operation;

	/* The deadline does not count while the machine waits for an operator or for a turn. */
	int64_t now = loop_wall(l->c->loop) - clock_jumps_since(l->c, op->deadline - limit_ms());

	return op->deadline && now > op->deadline && !l->m->status.agent &&
	       op->waiting_for != WAITING_RATE && op->waiting_for != WAITING_APPROVAL;
}

/* Checks a warm machine whose agent is connected: whether the agent is still heard, and whether the
 * machine is still on. */
static void stay(struct life *l)
{
	const struct machine_operation *op = l->m->status.operation;
	int64_t silent = loop_now(l->c->loop) - agent_session_info(l->agent)->last_seen;
	struct err e;

	if (op->deadline) {
		log_info("machine is warm", LOG_S("machine", l->name),
			 LOG_S("pool", l->m->status.warm_for->name));
		life_write(l,
			   json_pack("{s:{s:n, s:n, s:n}}", "operation", "deadline", "waitingFor",
				     "lastError"),
			   NULL);
		return;
	}
	if (silent > AGENT_SILENT_MS) {
		lost(l, "AgentSilent", "the agent was silent for 5 minutes");
		return;
	}
	look_again(l, AGENT_SILENT_MS - silent < l->c->o.idle_poll_ms ? AGENT_SILENT_MS - silent + 1
								      : l->c->o.idle_poll_ms);
	if (life_ensure_observed(l, l->c->o.idle_poll_ms) && life_identity(l, &e) == 0 &&
	    l->observation.power == PROVIDER_POWER_OFF)
		give_up(l,
			"the machine was switched off, not by drover; drover does not keep it warm "
			"for the next 30 minutes");
}

/* True if the port may be moved: the machine is off or runs drover's boot medium. Otherwise waits.
 * If status was restored from a backup, it may show a machine as warm although the machine runs for
 * a tenant by now. */
static bool ensure_movable(struct life *l)
{
	if (l->observation.power == PROVIDER_POWER_OFF || life_booted_by_drover(l))
		return true;
	/* With an HTTP boot in status, drover's system may still run: a BMC does not show which
	 * system was booted by HTTP. Without one, another system runs, so the machine is no longer
	 * clean. */
	if (l->observation.power == PROVIDER_POWER_ON && !l->m->status.power.http_boot)
		life_unclean(
			l,
			"status says warm, but the machine is on without drover's boot medium: "
			"drover no longer counts it as clean, and wipes it once it is off; if "
			"drover may switch it off and wipe it now, run `drover approve --wipe %s`",
			l->name);
	else
		life_wait(
			l, WAITING_APPROVAL, REASON_PowerStateUnexpected,
			"status says warm, but the machine is on without drover's boot medium; to "
			"wipe the machine, run `drover approve --wipe %s`",
			l->name);
	return false;
}

static enum life_decision keep(struct life *l)
{
	enum life_decision d = LIFE_STAY;
	const struct provider_object *p = life_provider(l);
	int64_t wait = l->m->status.operation->next_attempt - loop_wall(l->c->loop);
	bool there;

	if (wait > 0) {
		look_again(l, wait);
		return d;
	}
	if (!l->m->status.agent &&
	    (!life_ensure_observed(l, l->c->o.poll_ms * 5) || !life_ensure_consented(l) ||
	     !ensure_movable(l) ||
	     !life_ensure_placed(l,
				 str_or(p->spec.network.segments.provisioning, "provisioning")))) {
		if (!writer_busy(&l->journal.write) && is_late(l))
			lost(l, "AgentSilent", "the machine was not booted in time");
		return d;
	}
	there = life_ensure_agent(l, &d);
	if (writer_busy(&l->journal.write) || d == LIFE_CHANGE)
		return d;
	if (agent_session_rebooted(l->agent))
		lost(l, "AgentRebooted", "the machine rebooted while the agent was running");
	else if (there)
		stay(l);
	else if (is_late(l))
		lost(l, "AgentSilent", "the agent did not call in time");
	return d;
}

enum life_decision life_warm(struct life *l)
{
	enum life_decision d = LIFE_STAY;
	const struct provider_object *p = life_provider(l);
	const struct object_ref *is = l->m->status.warm_for;
	struct object_ref want = {0};
	enum warm_pool_desired wish = warm_pool_desired(l->all->spec.warm_pool, l->name, &want);

	if ((!is && wish != WARM_POOL_ON) || l->m->spec.management_policy != MACHINE_MANAGE ||
	    p->spec.paused) {
		/* Keep the session of the agent open, because an agent whose calls are not answered
		 * powers off by itself. */
		if (warm_is_ready(l->m))
			(void)life_ensure_agent(l, &d);
		if (d == LIFE_STAY)
			(void)life_ensure_observed(l, l->c->o.idle_poll_ms);
		return d;
	}
	look_again(l, l->c->o.poll_ms);
	if (!is)
		return begin(l, &want);
	if (warm_is_ending(l->m) || wish == WARM_POOL_OFF)
		end(l);
	else if (wish == WARM_POOL_ON &&
		 !(str_eq(is->name, want.name) && str_eq(is->uid, want.uid)))
		life_write(
			l,
			json_pack("{s:{s:s, s:s}}", "warmFor", "name", want.name, "uid", want.uid),
			NULL);
	else
		return keep(l);
	return d;
}

/* --- claimed ---------------------------------------------------------------------------------- */

bool life_warm_may_be_on(const struct life *l)
{
	const struct agent_session_info *s = agent_session_info(l->agent);

	return l->m->status.warm_for &&
	       (life_booted_by_drover(l) ||
		(s->heard && loop_now(l->c->loop) - s->last_seen < AGENT_SILENT_MS));
}

/* Boots the machine for its claim as any other machine, because the agent of its warm boot cannot
 * be used. The machine is switched off and then on with a new boot secret. */
static void boot_after_all(struct life *l, const char *why)
{
	int64_t n = l->m->status.operation->boot_number;

	ctx_event(l->c, OBJECT_MACHINE, &l->m->meta, "Normal", "BootedAgain", why);
	log_warn("warm machine is booted for its claim", LOG_S("machine", l->name),
		 LOG_S("message", why));
	counters_claimed_warm(l->c->counters, false);
	forget_acts(l);
	agent_session_close(l->agent);
	life_write(l,
		   json_pack("{s:n, s:n, s:{s:I, s:n}}", "warmFor", "agent", "operation",
			     "bootNumber", (json_int_t)(n + 1), "step"),
		   NULL);
}

bool life_ensure_warm_answer(struct life *l, enum life_decision *d)
{
	int64_t now = loop_now(l->c->loop), silent;
	bool there;

	if (!l->m->status.warm_for)
		return true;
	there = life_ensure_agent(l, d);
	if (writer_busy(&l->journal.write) || *d == LIFE_CHANGE)
		return false;
	if (agent_session_rebooted(l->agent)) {
		boot_after_all(l, "the machine rebooted while the agent was running");
		return false;
	}
	if (!there) /* the machine was still booting when it was claimed: continue that boot */
		return false;
	if (!l->work.knocked_at)
		l->work.knocked_at = now;
	silent = now - agent_session_info(l->agent)->last_seen;
	if (agent_session_info(l->agent)->last_seen <= l->work.knocked_at) {
		agent_session_check_alive(l->agent);
		if (now - l->work.knocked_at > ANSWER_MS)
			boot_after_all(l, "its agent does not answer");
		return false;
	}
	if (silent > AGENT_SILENT_MS) {
		boot_after_all(l, "the agent was silent for 5 minutes");
		return false;
	}
	if (l->work.progress)
		return true;
	l->work.progress = 1;
	ctx_event(l->c, OBJECT_MACHINE, &l->m->meta, "Normal", "ClaimedWarm",
		  "its agent answered; no boot is needed");
	log_info("machine was claimed warm", LOG_S("machine", l->name),
		 LOG_S("claim", l->m->status.claim_ref->name));
	counters_claimed_warm(l->c->counters, true);
	return true;
}

bool life_warm_release(struct life *l, enum life_decision *d)
{
	const struct object_ref *is = l->m->status.warm_for;
	const struct machine_agent *ag = l->m->status.agent;
	json_t *op;

	if (!is || !ag || !ag->boot_id || !ag->public_key || ag->dismissed)
		return false;
	if (l->act.in_progress)
		return true;
	op = json_object();
	life_set_time(op, "started", loop_wall(l->c->loop));
	*d = life_goto(l, MACHINE_FREE,
		       json_pack("{s:n, s:{s:s, s:s}, s:o}", "claimRef", "warmFor", "name",
				 is->name, "uid", str_or(is->uid, ""), "operation", op),
		       REASON_NONE, NULL);
	return true;
}
