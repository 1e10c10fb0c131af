/*
 * agent_boot: boots the agent, gives it its orders, and removes everything that its boot leaves at
 * the BMC.
 *
 * A boot by virtual media shows in the media slot. An HTTP boot shows in HttpBootUri, which some
 * BMCs clear when it is used and others never clear. Therefore the journal records an HTTP boot in
 * status.power.httpBoot. The field is set before the power-on and cleared when the agent is gone,
 * or when an Off is read later.
 *
 * Without that field, the URL that the BMC shows counts as drover's only if it belongs to a boot of
 * this operation. Drover recognises such a URL because the token in it is derived from the boot
 * key. A process that did not switch the machine on itself also checks where the port is and
 * whether a tenant's Node runs on the machine, because status may come from a backup and the
 * machine may run for a tenant now.
 *
 * A URL that the BMC does not clear boots nothing. UefiHttp is a target of the boot override, which
 * is cleared and read back (DSP0268, ComputerSystem.Boot), and drover no longer serves the URL.
 * status.bmc.keptAddress records such a URL. From then on the URL is no evidence of what runs.
 * Tests: tests/world/test_http_boot.c, tests/world/test_boot.c
 */
#include <string.h>

#include "controller/life/agent_boot.h"
#include "base/crypto.h"
#include "base/log.h"
#include "base/str.h"
#include "controller/agent/endpoint.h"
#include "controller/life/act.h"
#include "controller/life/bmc.h"
#include "controller/life/boot_marks.h"
#include "controller/life/boot_method.h"
#include "controller/life/consent.h"
#include "controller/life/identity.h"
#include "controller/life/journal.h"
#include "controller/life/life.h"
#include "controller/life/port.h"
#include "controller/life/power.h"
#include "controller/life/power_turn.h"
#include "controller/life/progress.h"
#include "controller/rules/identity.h"
#include "controller/tenant/tenant.h"

/* Time that the agent has to power off by itself; then the BMC switches the machine off. */
#define POWEROFF_GRACE_MS 30000

/* Time after which a boot is repeated if its agent has not called: first element for the first boot
 * of an operation, second element for the second boot. A boot medium never arrives if it was not
 * served when the BMC fetched it, for example because the leader changed. Firmware that tests
 * terabytes of memory takes more than ten minutes. Therefore the second boot has longer, and the
 * third boot has the rest of the state's deadline. */
static const int64_t call_limits_ms[] = {10 * 60 * 1000, 15 * 60 * 1000};
#define CALL_LIMITS ((int64_t)(sizeof(call_limits_ms) / sizeof(*call_limits_ms)))

/* Number of tries to clear the HTTP boot URL at the BMC. After that the URL is recorded as one that
 * the BMC never clears. */
#define CLEAR_TRIES 2

/* Number of earlier boots of the operation whose URLs are recognised. An operation has few boots,
 * and what runs is usually the newest. */
#define BOOTS_BACK 8

/* --- which boot is on ------------------------------------------------------------------------- */

/* True if the BMC shows the HTTP boot URL of a recent boot of this operation. */
static bool shows_a_boot_of_this(const struct life *l)
{
	const struct machine_operation *op = l->m->status.operation;

	if (!op || !op->id || !life_has_our_address(l))
		return false;
	for (int64_t n = op->boot_number; n > 0 && n > op->boot_number - BOOTS_BACK; n--)
		if (agent_session_makes(l->agent, op->id, n, l->observation.http_url))
			return true;
	return false;
}

bool life_ensure_movable(struct life *l)
{
	if (life_provider(l)->spec.network.type == FABRIC_NONE ||
	    l->observation.power == PROVIDER_POWER_OFF || life_booted_by_drover(l))
		return true;
	if (!life_ensure_port_observed(l, l->c->o.poll_ms * 10))
		return false;
	if (life_in_drovers_segment(l))
		return true;
	life_wait(l, WAITING_APPROVAL, REASON_PowerStateUnexpected,
		  "the machine is on without drover's boot medium; its port, in %s%s, is not "
		  "moved until the machine is off",
		  l->port.segment[0] ? l->port.segment : "no segment",
		  l->port.proof == FABRIC_PROOF_NONE ? " (not proved)" : "");
	return false;
}

bool life_ensure_boot_followed(struct life *l)
{
	const uint32_t agents_turn =
		1u << MACHINE_FREE | 1u << MACHINE_CLAIMED | 1u << MACHINE_IMAGING |
		1u << MACHINE_ATTACHING | 1u << MACHINE_DIRTY | 1u << MACHINE_INSPECTING |
		1u << MACHINE_WIPING | 1u << MACHINE_VERIFYING | 1u << MACHINE_QUARANTINED;
	OWN(arena) a = arena_new();
	char node[256];

	if (l->boot.by_http || !(agents_turn & 1u << l->state) || !l->observation.known ||
	    l->observation.power != PROVIDER_POWER_ON ||
	    !(l->m->status.power.http_boot || shows_a_boot_of_this(l)))
		return true;
	if (l->boot.whereabouts == LIFE_ASKED && !l->port.busy && !l->port.known)
		l->boot.whereabouts = LIFE_ANSWERED;
	if (!life_ensure_port_observed(l, l->c->o.poll_ms * 10)) {
		if (l->boot.whereabouts == LIFE_NOT_ASKED)
			l->boot.whereabouts = LIFE_ASKED;
		/* Wait for the fabric only once: continue if it has answered, even with an error or
		 * with an observation that is too old by now. */
		return l->boot.whereabouts == LIFE_ANSWERED;
	}
	l->boot.whereabouts = LIFE_ANSWERED;
	/* The HTTP boot is drover's only if two things are known: no tenant's Node may run on this
	 * machine, and the port is proved to be in one of drover's own segments. The proof is also
	 * needed because the Nodes of some tenants may not have been read yet. Without a fabric
	 * there is no proof. */
	l->boot.by_http = life_in_drovers_segment(l) &&
			  !tenants_may_run(l->parts->tenants, life_uuid(l),
					   identity_provider_id(l->m, a), node, sizeof(node));
	return true;
}

static bool is_boot_of_now(const struct life *l)
{
	char now[LIFE_BOOT_TEXT];

	life_boot_of_now(l, now);
	return str_eq(l->m->status.power.http_boot, now);
}

/* Writes the value of status.power.agentBoot for the present boot and the present keys to out. The
 * value contains the keys' id, because a boot medium with other keys does not count. */
static void start_of_now(const struct life *l, char out[static LIFE_BOOT_TEXT + AGENT_KEY_ID])
{
	char boot[LIFE_BOOT_TEXT], key[AGENT_KEY_ID];

	life_boot_of_now(l, boot);
	agent_endpoint_key_id(l->parts->agent_endpoint, key);
	str_format(out, LIFE_BOOT_TEXT + AGENT_KEY_ID, "%s/%s", boot, key);
}

/* True if status records that the machine was seen off for this boot before drover switched it on.
 * Only then may an agent call with the boot's secret. */
static bool is_started(const struct life *l)
{
	char now[LIFE_BOOT_TEXT + AGENT_KEY_ID];

	start_of_now(l, now);
	return str_eq(l->m->status.power.agent_boot, now);
}

/* True if status.power.httpBoot equals http_boot (NULL: not set). Otherwise starts to write it and
 * returns false. */
static bool ensure_marked(struct life *l, const char *http_boot)
{
	if (str_eq(l->m->status.power.http_boot, http_boot))
		return true;
	life_write(l, json_pack("{s:{s:s?}}", "power", "httpBoot", http_boot), NULL);
	return false;
}

/* Switches the machine on for the agent. The caller has just read Off, and the boot target is set.
 * First records the boot in status, so that whichever leader the agent calls knows the boot. */
static void start(struct life *l, bool http)
{
	char now[LIFE_BOOT_TEXT], started[LIFE_BOOT_TEXT + AGENT_KEY_ID];

	life_boot_of_now(l, now);
	start_of_now(l, started);
	if (is_started(l) && str_eq(l->m->status.power.http_boot, http ? now : NULL)) {
		l->boot.by_http = http;
		life_power(l, true);
		return;
	}
	life_write(l,
		   json_pack("{s:{s:s, s:s?}}", "power", "agentBoot", started, "httpBoot",
			     http ? now : NULL),
		   NULL);
}

bool life_ensure_boot_ended(struct life *l)
{
	struct err e;

	return !l->m->status.power.http_boot || !l->observation.known || life_identity(l, &e) < 0 ||
	       l->observation.power != PROVIDER_POWER_OFF || is_boot_of_now(l) ||
	       ensure_marked(l, NULL);
}

/* Returns what a hello of an agent means until this process has seen the machine on. The answer
 * comes from the journal. */
static enum agent_await awaited(const struct life *l)
{
	return is_started(l) ? AGENT_STARTING : AGENT_NOT_YET;
}

static bool open_seat(struct life *l)
{
	const struct machine_operation *op = l->m->status.operation;
	const struct machine_agent *ag = l->m->status.agent;
	const char *bmc = l->m->spec.bmc ? strstr(l->m->spec.bmc->address, "://") : NULL;
	char host[128];
	struct err e;
	bool was;

	if (!op->boot_number)
		return false;
	was = agent_session_is_open(l->agent, op->id, op->boot_number);
	agent_session_open(l->agent, op->id, op->boot_number,
			   op->fence); /* for an open session, this only raises the fence */
	/* The agent that the journal names for this boot stays accepted under a new leader. */
	if (!was && ag && ag->boot_id && ag->public_key)
		agent_session_restore(l->agent, ag->boot_id, ag->public_key, &e);
	if (!was)
		agent_session_await(l->agent, awaited(l));
	/* Address of the BMC, which fetches virtual media: the address from which the BMC answered
	 * or, before its first answer, the host in spec.bmc.address. */
	str_format(host, sizeof(host), "%.*s", bmc ? (int)strcspn(bmc + 3, "/") : 0,
		   bmc ? bmc + 3 : "");
	agent_session_media_for(l->agent, l->observation.address[0] ? l->observation.address : host,
				is_boot_of_now(l));
	return true;
}

static void boot_http(struct life *l, const char *url)
{
	struct provider_call call;

	if (l->observation.override == PROVIDER_OVERRIDE_HTTP &&
	    str_eq(l->observation.http_url, url)) {
		start(l, true);
		return;
	}
	if (life_boot_method_in_vain(l, "boot-http", "its boot override does not have that URL"))
		return;
	if (life_bmc_act(l, "boot-http", LIFE_IDEMPOTENT, LIFE_BOOT_PATIENCE_MS) != LIFE_GO)
		return;
	call = life_bmc_call(l);
	call.done = life_boot_method_acted;
	provider_boot(l->driver->provider, l->bmc, PROVIDER_BOOT_HTTP, url, &call);
}

static int64_t call_limit_ms(const struct life *l)
{
	int64_t n = l->m->status.operation->boot_number;

	return call_limits_ms[n <= CALL_LIMITS ? n - 1 : 0];
}

/* Begins the next boot of the operation, because of `reason`, which the text explains. The new boot
 * number brings a new secret and URL. The system that runs on the machine now then counts as an
 * earlier boot, so drover switches the machine off first. */
static void boot_again(struct life *l, enum reason reason, const char *text)
{
	int64_t n = l->m->status.operation->boot_number;
	json_t *error;

	error = json_pack("{s:s, s:s}", "reason", reason_name(reason), "message", text);
	life_set_time(error, "time", loop_wall(l->c->loop));
	ctx_event(l->c, OBJECT_MACHINE, &l->m->meta, "Warning", reason_name(reason), text);
	log_warn("booting the machine again", LOG_S("machine", l->name), LOG_S("why", text),
		 LOG_I("boot", n + 1));
	l->boot.retry = false;
	agent_session_close(l->agent);
	life_write(l,
		   json_pack("{s:n, s:{s:I, s:s, s:o}}", "agent", "operation", "bootNumber",
			     (json_int_t)(n + 1), "waitingFor", "Device", "lastError", error),
		   NULL);
}

/* True if the machine has been on for this boot too long without a call from its agent. */
static bool is_late(struct life *l)
{
	if (!l->boot.due_at)
		l->boot.due_at = loop_now(l->c->loop);
	return loop_now(l->c->loop) - l->boot.due_at >= call_limit_ms(l);
}

/* Boots the machine again because its agent has not called, or has the wrong version. */
static void boot_once_more(struct life *l)
{
	char text[320];
	int64_t n = l->m->status.operation->boot_number;

	if (!life_ensure_unpaused(l))
		return;
	if (agent_session_has_other_protocol(l->agent)) {
		str_format(text, sizeof(text), "%s; drover boots the machine again",
			   agent_session_refusal(l->agent));
		boot_again(l, REASON_AgentVersionMismatch, text);
		return;
	}
	str_format(
		text, sizeof(text),
		"no agent called within %lld minutes of boot %lld; drover boots the machine again",
		(long long)(call_limit_ms(l) / 60000), (long long)n);
	boot_again(l, REASON_AgentSilent, text);
}

static void wait_for_call_of_now(struct life *l)
{
	const struct machine_operation *op = l->m->status.operation;
	bool late = is_late(l), other = agent_session_has_other_protocol(l->agent);

	if ((late && op->boot_number <= CALL_LIMITS) || (other && l->boot.retry)) {
		boot_once_more(l);
	} else if (other) {
		life_wait(l, WAITING_DEVICE, REASON_AgentVersionMismatch, "%s",
			  agent_session_refusal(l->agent));
	} else if (agent_session_refusal(l->agent)[0]) {
		life_wait(l, WAITING_DEVICE, REASON_AgentSilent, "%s",
			  agent_session_refusal(l->agent));
	} else if (late) {
		life_wait(l, WAITING_DEVICE, REASON_AgentSilent,
			  "in %lld boots, no agent contacted drover; drover does not boot the "
			  "machine again until the state's deadline",
			  (long long)op->boot_number);
	} else if (reason_find(op->last_error.reason) == REASON_PowerStateUnexpected) {
		/* The machine runs the boot medium of this boot, so PowerStateUnexpected no longer
		 * applies. Clear it: the state's deadline is not enforced while status shows it. */
		life_write(l, json_pack("{s:{s:n, s:n}}", "operation", "lastError", "waitingFor"),
			   NULL);
	}
}

/* Handles a machine that is on and whose agent has not called yet. */
static void wait_for_call(struct life *l, const char *url)
{
	bool shows = is_boot_of_now(l) || str_eq(l->observation.media_url, url) ||
		     (str_eq(l->observation.http_url, url) && !life_address_kept(l));

	if (!life_booted_by_drover(l)) {
		life_wait(l, WAITING_APPROVAL, REASON_PowerStateUnexpected,
			  "the machine is on, but its BMC does not show drover's boot medium");
	} else if (!shows || !is_started(l)) {
		/* Either an earlier boot of drover runs, or another client switched the machine on
		 * before drover saw it off. In both cases switch the machine off first, so that its
		 * next boot is the present one. */
		agent_session_await(l->agent, AGENT_STARTING);
		life_power(l, false);
	} else {
		agent_session_await(l->agent, AGENT_DUE);
		wait_for_call_of_now(l);
	}
}

bool life_ensure_agent(struct life *l, enum life_decision *d)
{
	const struct agent_session_info *s;
	struct provider_call call;
	const char *url;

	if (!open_seat(l)) { /* a new boot gets a new number, and from it a new secret and URL */
		life_write(l,
			   json_pack("{s:{s:I}, s:n}", "operation", "bootNumber", (json_int_t)1,
				     "agent"),
			   NULL);
		return false;
	}
	s = agent_session_info(l->agent);
	if (!life_ensure_alone(l, d))
		return false;
	if (s->boot_id) {
		if (l->m->status.agent && str_eq(l->m->status.agent->boot_id, s->boot_id))
			return true;
		life_write(l,
			   json_pack("{s:{s:s, s:s, s:s?, s:b}, s:{s:s}}", "agent", "bootID",
				     s->boot_id, "publicKey", s->public_key, "systemUUID",
				     s->system_uuid, "probes", s->probes, "operation", "step",
				     "agent"),
			   NULL);
		return false;
	}
	url = agent_session_media_url(l->agent);
	if (!url) {
		life_wait(l, WAITING_APPROVAL, REASON_MediaNotMounted, "%s",
			  agent_session_refusal(l->agent));
		return false;
	}
	if (!life_ensure_media_over_written(l) || life_waits_for_power(l) ||
	    !life_ensure_observed(l, l->c->o.poll_ms * 3) ||
	    !life_ensure_approved_identity(l, REASON_DuplicateIdentity))
		return false;
	life_boot_method_begin(l);
	/* choose the URL only after a successful read of the media slot, because a medium of this
	 * boot that is already inserted must keep its URL */
	if (l->observation.media_known)
		life_boot_method_choose_address(l, is_boot_of_now(l));
	url = agent_session_media_url(l->agent);
	if (l->observation.power == PROVIDER_POWER_ON) {
		if (l->observation.media_known)
			wait_for_call(l, url);
		return false;
	}
	agent_session_await(l->agent, awaited(l));
	if (l->observation.power != PROVIDER_POWER_OFF)
		return false;
	if (life_boot_method_is_http(l)) {
		boot_http(l, url);
		return false;
	}
	if (!l->observation.media || !str_eq(l->observation.media_url, url)) {
		if (life_boot_method_in_vain(l, "insert-media",
					     l->observation.media
						     ? "its slot shows a different medium"
						     : "its slot is empty"))
			return false;
		if (life_bmc_act(l, "insert-media", LIFE_IDEMPOTENT, LIFE_BOOT_PATIENCE_MS) !=
		    LIFE_GO)
			return false;
		call = life_bmc_call(l);
		call.done = life_boot_method_acted;
		call.media_ca = agent_endpoint_ca(l->parts->agent_endpoint);
		provider_media(l->driver->provider, l->bmc, url, &call);
	} else if (/* mutant: override-foreign */ l->observation.override !=
		   PROVIDER_OVERRIDE_MEDIA) { /* no override is set, or one to a different target */
		if (life_boot_method_in_vain(l, "boot-media",
					     "its boot override is not the virtual CD"))
			return false;
		if (life_bmc_act(l, "boot-media", LIFE_IDEMPOTENT, LIFE_BOOT_PATIENCE_MS) !=
		    LIFE_GO)
			return false;
		call = life_bmc_call(l);
		call.done = life_boot_method_acted;
		provider_boot(l->driver->provider, l->bmc, PROVIDER_BOOT_MEDIA, NULL, &call);
	} else {
		start(l, false);
	}
	return false;
}

void life_order_id(const struct life *l, const char *name, char out[static LIFE_ORDER_ID])
{
	const struct machine_operation *op = l->m->status.operation;

	str_format(out, LIFE_ORDER_ID, "%s/%lld/%s", op->id, (long long)op->boot_number, name);
}

const struct proto_report *life_order(struct life *l, struct proto_order *o, const char *name)
{
	const struct proto_report *r;
	const char *last = strrchr(name, '/');
	char id[LIFE_ORDER_ID], step[48];

	life_order_id(l, name, id);
	o->id = id;
	r = agent_session_result(l->agent, id);
	if (r)
		return r;
	str_format(step, sizeof(step), "order %s", last ? last + 1 : name);
	/* The agent answers an order with the same id with the same result, so an order may be
	 * repeated. */
	if (!str_eq(l->act.step, step) || l->act.journaled || !l->act.began_at) {
		if (life_act(l, step, LIFE_IDEMPOTENT, INT64_MAX) == LIFE_GO) {
			agent_session_order(l->agent, o);
			life_act_unanswered(l);
		}
	} else {
		agent_session_order(
			l->agent,
			/* a recreated session has lost the order; setting an order with the same id
			 * again changes nothing */
			o);
		life_progress(l, id);
	}
	return NULL;
}

/* After dismissal the boot id stays in status, because a Node must not register with that boot id.
 * The public key stays too, because a caller with a different key is not this agent. */
bool life_agent_dismissed(const struct life *l)
{
	const struct machine_agent *ag = l->m->status.agent;

	return ag && (ag->dismissed || !ag->public_key);
}

/* True in the states in which the boot secret matters: from the boot until its results are used or
 * undone. */
static bool secret_counts(const struct life *l)
{
	const uint32_t states = 1u << MACHINE_CLAIMED | 1u << MACHINE_IMAGING |
				1u << MACHINE_ATTACHING | 1u << MACHINE_BOOTING |
				1u << MACHINE_JOINING | 1u << MACHINE_GATING | 1u << MACHINE_DIRTY |
				1u << MACHINE_INSPECTING | 1u << MACHINE_WIPING |
				1u << MACHINE_VERIFYING;

	return states & 1u << l->state || (l->state == MACHINE_FREE && l->m->status.warm_for);
}

bool life_ensure_alone(struct life *l, enum life_decision *d)
{
	const struct machine_operation *op = l->m->status.operation;

	if (!op || !op->boot_number || !secret_counts(l)) {
		if (op && agent_session_is_watching(l->agent, op->id, op->boot_number))
			agent_session_close(l->agent);
		return true;
	}
	if (life_agent_dismissed(l) && l->m->status.agent->public_key &&
	    !agent_session_is_open(l->agent, op->id, op->boot_number) &&
	    !agent_session_is_watching(l->agent, op->id, op->boot_number) && open_seat(l))
		agent_session_watch(l->agent);
	/* mutant: second-key */
	if (!agent_session_intruder(l->agent))
		return true;
	if (machine_state_info[l->state].next & 1u << MACHINE_QUARANTINED)
		*d = life_quarantine(l, EXIT_OPERATOR, REASON_SecondCaller,
				     "a second caller presented the boot secret of this operation");
	else
		*d = life_fail(l, REASON_SecondCaller,
			       "a second caller presented the boot secret of this operation");
	return false;
}

/* True if drover has tried CLEAR_TRIES times to clear the HTTP boot URL, and no try is in progress.
 * The caller has checked that the boot override is cleared. */
static bool address_stays(const struct life *l)
{
	const struct machine_operation *op = l->m->status.operation;

	return str_eq(op->step, "clear-boot") && op->attempt >= CLEAR_TRIES &&
	       !l->act.in_progress && !l->act.journaled;
}

static void keep_address(struct life *l)
{
	char digest[CRYPTO_DIGEST_TEXT];

	life_url_digest(str_or(l->observation.http_url, ""), digest);
	log_warn("BMC keeps the URL of an HTTP boot; nothing boots from this URL any more",
		 LOG_S("machine", l->name));
	life_write(l,
		   json_pack("{s:{s:s}, s:{s:n}, s:{s:n, s:n}}", "bmc", "keptAddress", digest,
			     "power", "httpBoot", "operation", "lastError", "waitingFor"),
		   NULL);
}

bool life_ensure_agent_gone(struct life *l)
{
	const struct machine_operation *op = l->m->status.operation;
	struct proto_order o = {.kind = PROTO_POWEROFF};
	struct provider_call call;

	if (l->m->status.agent && !life_agent_dismissed(l)) {
		life_write(l, json_pack("{s:{s:b}}", "agent", "dismissed", 1), NULL);
		return false;
	}
	/* Wait for an act in flight: it may still insert a medium that no read has shown yet. */
	if (l->act.in_progress || !life_ensure_observed(l, l->c->o.poll_ms) ||
	    !life_ensure_approved_identity(l, REASON_DuplicateIdentity))
		return false;
	if (l->observation.power != PROVIDER_POWER_OFF) {
		if (agent_session_is_open(l->agent, op->id, op->boot_number) &&
		    agent_session_info(l->agent)->boot_id && !str_eq(l->act.step, "power-off")) {
			(void)life_order(l, &o, "poweroff");
			if (!l->act.began_at ||
			    loop_now(l->c->loop) - l->act.began_at < POWEROFF_GRACE_MS)
				return false;
		}
		if (life_booted_by_drover(l) || str_eq(op->step, "power-off"))
			life_power(l, false);
		else
			life_wait(l, WAITING_APPROVAL, REASON_PowerStateUnexpected,
				  "the machine is on, but its BMC does not show drover's boot "
				  "medium");
		return false;
	}
	if (agent_session_is_open(l->agent, str_or(op->id, ""), op->boot_number))
		agent_session_watch(l->agent);
	if (!l->observation.media_known) {
		/* eject nothing without a successful read of the media slot; read the BMC again */
		(void)life_ensure_observed(l, -1);
		return false;
	}
	if (l->observation.media) {
		if (life_bmc_act(l, "eject-media", LIFE_IDEMPOTENT, LIFE_BOOT_PATIENCE_MS) !=
		    LIFE_GO)
			return false;
		call = life_bmc_call(l);
		provider_media(l->driver->provider, l->bmc, NULL, &call);
		return false;
	}
	if (l->observation.override != PROVIDER_OVERRIDE_NONE || life_has_our_address(l)) {
		if (l->observation.override == PROVIDER_OVERRIDE_NONE && address_stays(l))
			keep_address(l);
		else if (life_bmc_act(l, "clear-boot", LIFE_IDEMPOTENT, LIFE_BOOT_PATIENCE_MS) ==
			 LIFE_GO) {
			call = life_bmc_call(l);
			provider_boot(l->driver->provider, l->bmc, PROVIDER_BOOT_DISK, NULL, &call);
		}
		return false;
	}
	return ensure_marked(l, NULL);
}

enum reason agent_reason(const struct proto_report *r, enum reason otherwise)
{
	enum reason said = reason_find(r->reason);

	return said == REASON_NONE ? otherwise : said;
}
