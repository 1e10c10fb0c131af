/*
 * tick: attaches the BMC and agent session of each Machine, and in each turn runs the step of the
 * machine's state. The steps are in the other files of this folder. Functions that several steps
 * use are in controller/life/.
 *
 *   on_tick --> take over (fence) --> deadline? --> step --> decision --> decision_enact
 *      ^                                              | act, order, wait        |
 *      '---- cache, observation, report, timer <------'------- life_write ------'
 *
 * Tests: tests/world/test_review.c, tests/world/test_boot.c
 */
#include <stdlib.h>
#include <string.h>

#include "base/index.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/agent/endpoint.h"
#include "controller/core/clock_jumps.h"
#include "controller/core/host_clock.h"
#include "controller/core/counters.h"
#include "controller/core/machine_lists.h"
#include "controller/hardware/login_guard.h"
#include "controller/life/act.h"
#include "controller/life/agent_boot.h"
#include "controller/life/ask.h"
#include "controller/life/bmc.h"
#include "controller/life/bmc_facts.h"
#include "controller/life/boot_marks.h"
#include "controller/life/conditions.h"
#include "controller/life/consent.h"
#include "controller/life/install.h"
#include "controller/life/journal.h"
#include "controller/life/life.h"
#include "controller/life/queue_wait.h"
#include "controller/life/listing.h"
#include "controller/life/login.h"
#include "controller/life/port.h"
#include "controller/life/power.h"
#include "controller/life/power_turn.h"
#include "controller/life/takeover.h"
#include "controller/life/times.h"
#include "controller/life/tenancy.h"
#include "controller/life/stale_reason.h"
#include "controller/life/wipe_attempt.h"
#include "controller/steps/elastic.h"
#include "controller/steps/enter.h"
#include "controller/steps/lives.h"
#include "controller/steps/requests.h"
#include "controller/steps/steps.h"
#include "controller/steps/stopping.h"
#include "controller/tenant/tenant.h"
#include <stdio.h>

#define SEEN_TEXT 560

/* --- the tick --------------------------------------------------------------------------------- */

/* Writes what is known of a machine without an error in status: the last answer of its BMC or
 * cloud, its last step, and the Node that it waits for. Returns text. */
static const char *seen_last(const struct life *l, char text[static SEEN_TEXT])
{
	const struct machine_operation *op = l->m->status.operation;
	const struct node_claim *n = l->state == MACHINE_BOOTING ? life_claim(l) : NULL;
	char bmc[120] = "its BMC has not answered", step[80] = "", join[JOIN_SEEN_TEXT] = "";

	if (l->m->spec.elastic)
		elastic_seen(l, bmc, sizeof(bmc));
	else if (l->observation.known)
		str_format(bmc, sizeof(bmc), "its BMC answered %s %lld s ago",
			   provider_power_names[l->observation.power],
			   (long long)(loop_now(l->c->loop) - l->observation.read_at) / 1000);
	if (op && !str_empty(op->step))
		str_format(step, sizeof(step), "; last step %.40s (attempt %lld)", op->step,
			   (long long)op->attempt);
	if (n)
		(void)join_seen_text(&l->work.join, n->meta.name, n->spec.virtual_cluster_ref.name,
				     join);
	str_format(text, SEEN_TEXT, "%s%s%s%s", bmc, step, n ? "; " : "", join);
	return text;
}

/* True if the state has not passed its deadline, or if the deadline is not enforced at present.
 * Otherwise *d is the change that the table of states prescribes. */
static bool ensure_in_time(struct life *l, enum life_decision *d)
{
	const struct machine_state_info *info = &machine_state_info[l->state];
	const struct machine_operation *op = l->m->status.operation;
	int64_t deadline = life_deadline(l);
	enum reason reason = op ? reason_find(op->last_error.reason) : REASON_NONE;
	char seen[SEEN_TEXT];
	const char *detail =
		op && op->last_error.message ? op->last_error.message : seen_last(l, seen);
	bool odd = reason == REASON_PowerStateUnexpected;
	/* In state verifying, these reasons and this step mean that the wipe is done and proved,
	 * but the machine's manager has not taken back its node yet. The manager may still do that,
	 * so no operator is needed. The step counts too, because a new observation of the BMC
	 * removes the reason between two attempts. */
	bool managers = reason == REASON_ManagerUnreachable || reason == REASON_ManagerRefused ||
			reason == REASON_ManagerConflict || (op && str_eq(op->step, "release"));

	if (!deadline || info->on_limit == l->state ||
	    loop_wall(l->c->loop) - clock_jumps_since(l->c, l->m->status.state_since) < deadline)
		return true;
	/* The deadline is not enforced while the machine waits for an operator, for its turn to be
	 * switched on, or in the machine queue. Nor is it enforced for a machine that is on
	 * although status records it as off, because stopping would switch that machine off. */
	if (!life_ensure_unpaused(l) || life_queue_waits(l) ||
	    (op && op->waiting_for == WAITING_RATE) || reason == REASON_EvidenceKeyMissing ||
	    (odd && info->on_limit != MACHINE_QUARANTINED && !life_approved_wipe(l)))
		return true;
	if (!life_ensure_queue_counted(l))
		return false;
	if (reason == REASON_NONE)
		reason = l->state == MACHINE_BOOTING || l->state == MACHINE_JOINING
				 ? REASON_JoinTimeout
			 : l->state == MACHINE_GATING ? REASON_HealthGateFailed
			 : l->m->spec.elastic && (l->state == MACHINE_CLAIMED ||
						  l->state == MACHINE_STOPPING)
				 ? REASON_CloudUnreachable
			 : l->state == MACHINE_STOPPING	 ? REASON_PowerNotConfirmed
			 : l->state == MACHINE_ISOLATING ? REASON_NetworkNotConfirmed
			 : l->state == MACHINE_CLAIMED || l->state == MACHINE_DIRTY
				 ? REASON_AgentSilent
				 : REASON_DeadlineExceeded;
	if (machine_state_after(l->state, l->m->spec.elastic) == MACHINE_QUARANTINED)
		*d = life_quarantine(l,
				     odd || l->state == MACHINE_WIPING ||
						     (l->state == MACHINE_VERIFYING && !managers)
					     ? EXIT_OPERATOR
					     : EXIT_AUTO,
				     reason, "%s did not finish in time: %s", info->name, detail);
	else
		*d = life_goto(l, info->on_limit, NULL, reason, "%s did not finish in time: %s",
			       info->name, detail);
	return false;
}

/* True if status shows what the BMC last reported. Otherwise writes it to status, where operators
 * and the next leader read it. */
static bool ensure_seen_written(struct life *l)
{
	const struct machine_status *st = &l->m->status;
	const char *power = provider_power_names[l->observation.power];
	const char *uuid = l->observation.uuid, *serial = l->observation.serial;
	OWN_JSON news = NULL;
	json_t *s;

	if (!l->observation.known)
		return true;
	news = life_bmc_changes(l);
	/* Keep the identity in status if the BMC temporarily does not report it, as long as it
	 * reports nothing different. */
	if (!uuid[0] && (!serial[0] || str_eq(serial, st->identity.serial_number)))
		uuid = str_or(st->identity.system_uuid, "");
	if (!serial[0] && str_eq(uuid, st->identity.system_uuid))
		serial = str_or(st->identity.serial_number, "");
	if (!news && str_eq(st->power.state, power) &&
	    str_eq(str_or(st->bmc.session_uri, ""), str_or(l->observation.session_uri, "")) &&
	    str_eq(st->bmc.secret_version, l->attached.secret_version) &&
	    str_eq(str_or(st->identity.system_uuid, ""), uuid) &&
	    str_eq(str_or(st->identity.serial_number, ""), serial) &&
	    (!l->observation.learned_pin[0] ||
	     str_eq(st->bmc.fingerprint, l->observation.learned_pin)))
		return true;
	s = json_pack("{s:{s:s}, s:{s:s, s:s*}, s:{s:s, s:s}}", "power", "state", power, "bmc",
		      "sessionURI", str_or(l->observation.session_uri, ""), "secretVersion",
		      l->attached.secret_version, "identity", "systemUUID", uuid, "serialNumber",
		      serial);
	life_set_time(json_object_get(s, "power"), "observedTime", loop_wall(l->c->loop));
	if (news)
		json_object_update(json_object_get(s, "bmc"), news);
	if (l->observation.learned_pin[0])
		json_object_set_new(json_object_get(s, "bmc"), "fingerprint",
				    json_string(l->observation.learned_pin));
	life_write(l, s, NULL);
	return false;
}

/* True if the conditions in status are up to date. Otherwise writes them. Usually they are written
 * together with other changes, so that this write is rarely needed. */
static bool ensure_conditions_written(struct life *l)
{
	OWN_JSON changed = life_conditions(l, NULL);

	if (changed)
		life_write(l, json_object(), NULL);
	return !changed;
}

static void life_agent_changed(void *life)
{
	life_kick(life);
}

static const char *joined(struct arena *a, const struct strings *s)
{
	const char *text = "";

	for (size_t i = 0; i < s->n; i++)
		text = arena_printf(a, "%s %s", text, s->v[i]);
	return text;
}

static bool ensure_seated(struct life *l, const struct provider_object *p)
{
	const struct machine_provisioning *pv = l->m->spec.provisioning;
	struct agent_session_spec s;
	OWN(arena) a = arena_new();
	const char *digest;

	if (!p->spec.agent.endpoint || !p->spec.boot.media_url)
		return false;
	digest = arena_printf(a, "%s|%s|%s|%s|%s|%s|%s|%s|%s", p->spec.agent.endpoint,
			      p->spec.boot.media_url, str_or(p->spec.boot.https_media_url, ""),
			      pv ? str_or(pv->address, "") : "", pv ? str_or(pv->gateway, "") : "",
			      str_or(l->m->spec.boot_mac_address, ""),
			      joined(a, &p->spec.agent.networks), joined(a, &p->spec.agent.proxies),
			      joined(a, &p->spec.boot.proxies));
	if (l->agent && str_eq(digest, l->attached.seat))
		return true;
	agent_session_free(l->agent);
	s = (struct agent_session_spec){
		.machine = l->name,
		.uid = l->m->meta.uid,
		.endpoint = p->spec.agent.endpoint,
		.media_url = p->spec.boot.media_url,
		.https_media_url = p->spec.boot.https_media_url,
		.address = pv ? pv->address : NULL,
		.gateway = pv ? pv->gateway : NULL,
		.mac = l->m->spec.boot_mac_address,
		.agent_networks = p->spec.agent.networks,
		.agent_proxies = p->spec.agent.proxies,
		.media_proxies = p->spec.boot.proxies,
		.changed = life_agent_changed,
		.arg = l,
	};
	l->agent = agent_session_new(l->parts->agent_endpoint, &s);
	free(l->attached.seat);
	l->attached.seat = mem_strdup(digest);
	return true;
}

static void detach_bmc(struct life *l)
{
	if (l->bmc) {
		life_session_left(l);
		life_bmc_left(l);
		provider_detach(l->driver->provider, l->bmc);
		l->bmc = NULL;
		/* An act at the BMC gets no answer after the detachment. The act in flight is at
		 * the BMC unless a port is being moved; the move does not need the BMC. */
		if (!l->port.moving[0])
			life_act_unanswered(l);
		life_observation_forget(l);
		life_listing_forget(l);
		life_install_forget(l);
		l->attached.login = LIFE_LOGGED_IN;
	}
}

static void life_detach(struct life *l)
{
	detach_bmc(l);
	l->driver = NULL;
	life_port_drop(l);
	if (l->elastic && l->elastic->busy) {
		/* The launch or termination in flight will not be answered. */
		l->elastic->busy = false;
		life_act_unanswered(l);
		elastic_forget(l);
	}
}

/* Detaches the machine from its driver. Returns false, without detaching, while a request to the
 * driver's fabric is in flight (at most 60 s). Its answer would otherwise reach a struct life that
 * uses a different Provider, or that was freed. */
static bool ensure_detached(struct life *l)
{
	if (l->driver && l->port.busy)
		return false;
	if (l->driver)
		life_detach(l);
	return true;
}

/* True if the BMC is attached, or cannot be attached now. False while status.trustedBMC is being
 * written. Steps that need the BMC check whether it may be contacted (life/bmc_open.h). */
static bool ensure_bmc_attached(struct life *l)
{
	const char *version = NULL, *refused = l->m->status.bmc.refused_secret_version;
	struct err e = {0};
	char digest[512];

	/* detach first: the observations and the learned certificate belong to the earlier BMC */
	if (l->attached.again)
		detach_bmc(l);
	l->attached.again = false;
	if (!life_ensure_bmc_trust_written(l))
		return false;
	if (!life_bmc_trusted(l, &e)) {
		detach_bmc(l);
		return true;
	}
	if (!l->bmc) {
		l->bmc = driver_attach(l->driver, l->m, &version, &e);
		err_save(&l->attached.error, l->bmc ? NULL : &e);
		/* start no timer: the Secret of the BMC starts a turn when it arrives or changes */
		if (!l->bmc)
			return true;
		str_copy(digest, sizeof(digest), str_or(version, ""));
		free(l->attached.secret_version);
		l->attached.secret_version = mem_strdup(digest);
		life_session_inherited(l);
	}
	if (!str_empty(refused) && str_eq(refused, l->attached.secret_version))
		driver_expect_login(l->driver, l->m);
	return true;
}

static bool ensure_attached(struct life *l)
{
	const struct provider_object *p = life_provider(l);
	struct driver *s = p ? driver_get(l->parts->drivers, p->meta.name) : NULL;

	/* spec.providerRef was changed: first detach from the old driver */
	if (l->driver != s && !ensure_detached(l))
		return false;
	l->driver = s;
	if (!s || !s->provider) {
		life_wait(l, WAITING_APPROVAL, REASON_ProviderNotReady,
			  "spec.providerRef: provider %s %s",
			  str_or(l->m->spec.provider_ref.name, "(none)"),
			  s ? s->error.text : "does not exist");
		return false;
	}
	if (!ensure_seated(l, p)) {
		life_wait(l, WAITING_APPROVAL, REASON_ProviderNotReady,
			  "provider %s: spec.agent.endpoint and spec.boot.mediaURL are required",
			  p->meta.name);
		return false;
	}
	return !l->m->spec.bmc || ensure_bmc_attached(l);
}

/* Forgets what this process knows of the machine's state, because another replica may lead now. */
static void forget(struct life *l)
{
	l->journal.took_over = false;
	life_bmc_trip_lost(l);
	l->work.progress = 0;
	l->work.knocked_at = 0;
	l->work.join = (struct join_seen){0};
	life_drop_work(l);
	life_act_forget(l);
	life_ask_forget(l);
	life_follow_forget(l);
	/* detach, so that the next attachment first ends the BMC session of the replica that led in
	 * between */
	detach_bmc(l);
	life_observation_forget(l);
	life_port_forget(l);
	life_boot_forget(l);
	elastic_forget(l);
	if (l->agent)
		agent_session_close(l->agent);
}

static enum life_decision (*const steps[MACHINE_STATES])(struct life *l) = {
	[MACHINE_KNOWN] = step_known,		[MACHINE_FREE] = step_free,
	[MACHINE_CLAIMED] = step_claimed,	[MACHINE_IMAGING] = step_imaging,
	[MACHINE_ATTACHING] = step_attaching,	[MACHINE_BOOTING] = step_booting,
	[MACHINE_JOINING] = step_joining,	[MACHINE_GATING] = step_gating,
	[MACHINE_SERVING] = step_serving,	[MACHINE_DRAINING] = step_draining,
	[MACHINE_STOPPING] = step_stopping,	[MACHINE_ISOLATING] = step_isolating,
	[MACHINE_LEAVING] = step_leaving,	[MACHINE_DIRTY] = step_dirty,
	[MACHINE_INSPECTING] = step_inspecting, [MACHINE_WIPING] = step_wiping,
	[MACHINE_VERIFYING] = step_verifying,	[MACHINE_QUARANTINED] = step_quarantined,
	[MACHINE_RETIRED] = step_retired,	[MACHINE_GONE] = step_gone,
};

static void life_free(struct life *l);

/* Sends the first write of a new leader for the machine, which raises the fence. It includes what
 * the first login needs. */
static void take_over(struct life *l)
{
	json_t *trust = life_bmc_first_trust(l),
	       *status = json_pack("{s:{s:I}}", "operation", "fence", (json_int_t)life_fence(l));

	if (trust)
		json_object_set_new(status, "trustedBMC", trust);
	life_write(l, status, NULL);
}

/* True if the machine can retire or be deleted although its Provider does not exist: it is in a
 * state of rest, has no claim and need not be wiped, so that drover sends no more requests to its
 * BMC or fabric. */
static bool goes_without_provider(struct life *l)
{
	const uint32_t rest = 1u << MACHINE_KNOWN | 1u << MACHINE_FREE | 1u << MACHINE_QUARANTINED |
			      1u << MACHINE_RETIRED;

	return !life_provider(l) && (rest & 1u << l->state) && !l->m->status.claim_ref &&
	       !machine_is_unwiped(l->m) &&
	       (l->m->meta.deletion_timestamp || l->m->spec.management_policy == MACHINE_RETIRE);
}

static enum life_decision elastic_turn(struct life *l)
{
	enum life_decision d = LIFE_STAY;
	struct driver *s = driver_get(l->parts->drivers, str_or(l->m->spec.provider_ref.name, ""));

	l->driver = s;
	if (!life_ensure_times_near(l) || !request_ensure_retried(l, &d) ||
	    !ensure_in_time(l, &d) || !ensure_conditions_written(l) ||
	    !life_ensure_reason_current(l))
		return d;
	if (!s || !s->provider)
		return life_wait(l, WAITING_APPROVAL, REASON_ProviderNotReady,
				 "spec.providerRef: provider %s %s",
				 str_or(l->m->spec.provider_ref.name, "(none)"),
				 s ? s->error.text : "does not exist");
	return elastic_step(l);
}

/* Runs one turn of a machine, on the leader only. Returns the decision. */
static enum life_decision turn(struct life *l)
{
	enum life_decision d = LIFE_STAY;

	if (!host_clock_agrees(l->c))
		return LIFE_STAY;
	if (!l->m->status.state || !l->m->status.operation)
		return life_begin(l, l->m->status.state ? "machine status has no journal"
							: "machine is new");
	/* Check whether status comes from a restored backup: when this leader begins, after a
	 * conflict, and when the tenancy has decreased. */
	if ((!l->journal.took_over || l->m->status.tenancy < l->tenancy_seen) && life_outdated(l))
		return life_begin_again(l);
	l->tenancy_seen = l->m->status.tenancy;
	if (!l->journal.took_over) {
		take_over(l);
		return LIFE_STAY;
	}
	if (l->m->spec.elastic)
		return elastic_turn(l);
	/* Set the finalizer before the first act. It stays until the machine is retired. */
	if (l->m->spec.management_policy == MACHINE_MANAGE && !l->m->meta.deletion_timestamp &&
	    !life_ensure_finalizer(l, true))
		return LIFE_STAY;
	if (goes_without_provider(l)) {
		if (!ensure_detached(l))
			return LIFE_STAY;
		return steps[l->state](l);
	}
	if (!life_ensure_times_near(l) || !life_ensure_queue_settled(l) ||
	    !request_ensure_retried(l, &d) || !life_ensure_session_written(l) ||
	    !ensure_seen_written(l) || !life_ensure_boot_ended(l) || !life_ensure_wait_settled(l) ||
	    !ensure_in_time(l, &d) || !ensure_conditions_written(l) ||
	    !life_ensure_attempt_settled(l) || !ensure_attached(l) || !life_ensure_alone(l, &d) ||
	    !life_ensure_boot_followed(l) || !life_ensure_reason_current(l))
		return d;
	return steps[l->state](l);
}

/* Returns the time until the next turn, in ms. A failed read is repeated after its back-off, even
 * if the machine is idle and otherwise read rarely. */
static int64_t next_turn_ms(const struct life *l)
{
	bool idle = l->state == MACHINE_FREE || l->state == MACHINE_SERVING ||
		    l->state == MACHINE_KNOWN;
	int64_t ms = idle ? l->c->o.idle_poll_ms : l->c->o.poll_ms,
		again = l->observation.after - loop_now(l->c->loop);

	return l->observation.error && again > 0 && again < ms ? again : ms;
}

static void on_tick(void *arg)
{
	struct life *l = arg;
	struct context *c = l->c;

	l->m = CTX_GET(c, OBJECT_MACHINE, machine, l->name);
	if (!l->m) {
		if (!writer_busy(&l->journal.write) && !l->question.call && !l->port.busy &&
		    !(l->elastic && l->elastic->busy)) {
			index_put(l->all->by_tenant, l->name, NULL, 0);
			map_del(l->all->map, l->name);
			life_free(l);
		}
		return;
	}
	l->state = l->m->status.state ? machine_state_find(l->m->status.state) : MACHINE_KNOWN;
	if (!c->leading) {
		forget(l);
		return;
	}
	if (writer_busy(&l->journal.write) || l->question.call ||
	    !agent_endpoint_ready(l->parts->agent_endpoint) || !c->ready)
		return;
	if (l->state == MACHINE_STATE_NONE) {
		log_error("machine has a state that this version does not know",
			  LOG_S("machine", l->name), LOG_S("state", l->m->status.state));
		return;
	}
	loop_timer_start(&l->timer, next_turn_ms(l));
	counters_turn(c->counters);
	decision_enact(l, turn(l));
}

static void on_timer(void *arg)
{
	on_tick(arg);
}

/* --- all machines ----------------------------------------------------------------------------- */

static void life_free(struct life *l)
{
	writer_stop(&l->journal.write);
	kube_call_cancel(l->question.call);
	kube_call_cancel(l->beat.call);
	loop_defer_cancel(&l->tick);
	loop_timer_stop(&l->timer);
	life_drop_work(l);
	life_detach(l);
	life_listing_forget(l);
	agent_session_free(l->agent);
	life_session_drop(l);
	free(l->attached.seat);
	free(l->attached.secret_version);
	life_bmc_facts_done(l);
	life_parts_free(l);
	free(l->tenant);
	free(l->name);
	free(l);
}

void lives_update(struct lives *ls, const char *name, const struct machine *m)
{
	struct life *l = map_get(ls->map, name);

	if (!l && m) {
		l = mem_new(struct life);
		l->c = ls->spec.parts.c;
		l->parts = &ls->spec.parts;
		l->all = ls;
		l->name = mem_strdup(name);
		l->volumes = -1;
		life_observation_init(l);
		life_act_init(l);
		writer_init(&l->journal.write, l->c, l);
		loop_defer_init(&l->tick, l->c->group, on_tick, l);
		loop_timer_init(&l->timer, l->c->group, on_timer, l);
		map_put(ls->map, name, l);
	}
	if (!l)
		return;
	if (m)
		life_follow_saw(l, m);
	if (m && !str_eq(l->tenant, m->status.tenant.name)) {
		free(l->tenant);
		l->tenant = mem_strdup(m->status.tenant.name);
		index_put(ls->by_tenant, name, &(struct index_text){.text = l->tenant}, 1);
	}
	life_kick(l);
}

void lives_kick(struct lives *ls, const char *name)
{
	struct map_iter it;
	struct life *l;

	if (name) {
		l = map_get(ls->map, name);
		if (l)
			life_kick(l);
		return;
	}
	map_for_each (it, ls->map)
		life_kick(it.value);
}

static bool kick_name(const char *name, void *arg)
{
	lives_kick(arg, name);
	return true;
}

void lives_kick_of_tenant(struct lives *ls, const char *tenant)
{
	index_each(ls->by_tenant, 0, tenant, kick_name, ls);
	lives_kick_known(ls);
}

static bool kick_machine(const struct machine *m, void *arg)
{
	lives_kick(arg, m->meta.name);
	return true;
}

void lives_kick_known(struct lives *ls)
{
	machine_lists_each(ls->spec.parts.c, MACHINES_KNOWN, kick_machine, ls);
}

void lives_reattach(struct lives *ls, const char *name)
{
	struct life *l = map_get(ls->map, name);

	if (!l)
		return;
	l->attached.again = true;
	life_kick(l);
}

void lives_hang_up(struct lives *ls, const struct tenant *t)
{
	struct map_iter it;

	if (!ls) /* the controller is being freed */
		return;
	map_for_each (it, ls->map) {
		life_hang_up(it.value, t);
		life_beat_hang_up(it.value, t);
	}
}

void lives_detach(struct lives *ls, const struct driver *s)
{
	struct map_iter it;

	if (!ls) /* the controller is being freed */
		return;
	map_for_each (it, ls->map) {
		struct life *l = it.value;

		if (l->driver == s)
			life_detach(l);
	}
}

int lives_volumes_left(const struct lives *ls, const char *machine)
{
	const struct life *l = map_get(ls->map, machine);

	return l ? l->volumes : -1;
}

bool lives_giving_back(const struct lives *ls, const char *machine)
{
	const struct life *l =
		ls ? map_get(ls->map, machine) : NULL; /* NULL: the controller is being freed */

	return l && l->leave.giving_back;
}

bool lives_login(const struct lives *ls, const char *machine, struct login_try *out)
{
	const struct life *l = map_get(ls->map, machine);
	/* Output of life_session() that is not used here. The session is asked for because a login
	 * counts as accepted even before the read that logged in has ended. */
	bool only;

	if (l)
		*out = (struct login_try){.version = l->attached.secret_version,
					  .accepted =
						  l->observation.known || life_session(l, &only),
					  .failed = l->observation.error != NULL};
	return l != NULL;
}

struct lives *lives_new(const struct lives_spec *spec)
{
	struct lives *ls = mem_new(struct lives);

	ls->spec = *spec;
	ls->map = map_new(NULL);
	ls->by_tenant = index_new(1);
	return ls;
}

void lives_free(struct lives *ls)
{
	struct map_iter it;

	if (!ls)
		return;
	map_for_each (it, ls->map)
		life_free(it.value);
	map_free(ls->map);
	index_free(ls->by_tenant);
	free(ls);
}
