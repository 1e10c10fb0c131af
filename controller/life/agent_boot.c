/*
 * agent_boot: boots the agent, hands it its orders, and takes away all that is left of its boot.
 *
 * A boot by virtual media shows in the slot. One by HTTP shows in HttpBootUri, which some BMCs
 * forget when it is used, and others never let go. So the journal says it: status.power.httpBoot
 * stands from before the power-on until the agent's end, or an off that is read later. Where that
 * is not there, an address counts that only a boot of this operation can have: it is made of the
 * boot key. A process that did not switch the machine on itself checks both against the network and
 * the tenants' Nodes: the journal may come from a backup, and the machine may run for a tenant by
 * now.
 *
 * An address that stays boots nothing: UefiHttp is a target of the override, and that is cleared
 * and read back (DSP0268, ComputerSystem.Boot); nothing is served there any more. It is written
 * down (status.bmc.keptAddress) and from then on says nothing of what runs.
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
#include "controller/life/boot_way.h"
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

/* An agent that was told to power off is switched off from outside after this. */
#define POWEROFF_GRACE_MS 30000

/* A boot without a call is tried again after this, the first and the second of an operation: whose
 * medium nobody served while the BMC fetched it, because leaders changed, comes never. Firmware
 * that tests terabytes of memory takes more than ten minutes, so the second has longer, and the
 * third what is left of the state's deadline. */
static const int64_t call_limits_ms[] = {10 * 60 * 1000, 15 * 60 * 1000};
#define CALL_LIMITS ((int64_t)(sizeof(call_limits_ms) / sizeof(*call_limits_ms)))

/* So often an address is asked to go, before it counts as one that stays. */
#define CLEAR_TRIES 2

/* An operation has a few boots; what is on is of the newest as a rule. */
#define BOOTS_BACK 8

/* --- the way to boot the agent ---------------------------------------------------------------- */

/* One of the boots of this operation, and nobody else's: the newest, or one before it. */
static bool shows_a_boot_of_this(const struct life *l)
{
	const struct machine_operation *op = l->m->status.operation;

	if (!op || !op->id || !life_has_our_address(l))
		return false;
	for (int64_t n = op->boot_number; n > 0 && n > op->boot_number - BOOTS_BACK; n--)
		if (agent_session_makes(l->agent, op->id, n, l->look.http_url))
			return true;
	return false;
}

bool life_ensure_movable(struct life *l)
{
	if (life_provider(l)->spec.network.type == FABRIC_NONE ||
	    l->look.power == PROVIDER_POWER_OFF || life_shows_ours(l))
		return true;
	if (!life_ensure_port_looked(l, l->c->o.poll_ms * 10))
		return false;
	if (life_kept_apart(l))
		return true;
	life_wait(
		l, WAITING_APPROVAL, REASON_PowerStateUnexpected,
		"the machine is on without our boot medium, and its port is in %s%s: it is not moved",
		l->place.segment[0] ? l->place.segment : "no segment",
		l->place.proof == FABRIC_PROOF_NONE ? " (not proved)" : "");
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

	if (l->boot.by_http || !(agents_turn & 1u << l->state) || !l->look.known ||
	    l->look.power != PROVIDER_POWER_ON ||
	    !(l->m->status.power.http_boot || shows_a_boot_of_this(l)))
		return true;
	if (l->boot.whereabouts == LIFE_ASKED && !l->place.busy && !l->place.known)
		l->boot.whereabouts = LIFE_ANSWERED;
	if (!life_ensure_port_looked(l, l->c->o.poll_ms * 10)) {
		if (l->boot.whereabouts == LIFE_NOT_ASKED)
			l->boot.whereabouts = LIFE_ASKED;
		return l->boot.whereabouts == LIFE_ANSWERED; /* nothing waits for a second one */
	}
	l->boot.whereabouts = LIFE_ANSWERED;
	/* A port that is proved to be in a segment of our own is in no tenant's, so tenants that
	 * are not read yet need not be waited for; where nothing proves it, as without a fabric,
	 * no Node that is missing makes up for that. One that is known speaks against it all the
	 * same. */
	l->boot.by_http = life_kept_apart(l) &&
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

/* What status.power.agentBoot says of a boot of now, with the keys of now: a medium of others is
 * worth nothing. */
static void start_of_now(const struct life *l, char out[static LIFE_BOOT_TEXT + AGENT_KEY_ID])
{
	char boot[LIFE_BOOT_TEXT], key[AGENT_KEY_ID];

	life_boot_of_now(l, boot);
	agent_endpoint_key_id(l->parts->agent_endpoint, key);
	str_format(out, LIFE_BOOT_TEXT + AGENT_KEY_ID, "%s/%s", boot, key);
}

/* It was seen off for this boot before drover switched it on: an agent may call with its secret. */
static bool is_started(const struct life *l)
{
	char now[LIFE_BOOT_TEXT + AGENT_KEY_ID];

	start_of_now(l, now);
	return str_eq(l->m->status.power.agent_boot, now);
}

/* False: it is being written. */
static bool ensure_marked(struct life *l, const char *http_boot)
{
	if (str_eq(l->m->status.power.http_boot, http_boot))
		return true;
	life_write(l, json_pack("{s:{s:s?}}", "power", "httpBoot", http_boot), NULL);
	return false;
}

/* Off was seen just now, and what is to be booted is set: the journal says so before power comes,
 * for whoever leads when the agent calls. */
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

	return !l->m->status.power.http_boot || !l->look.known || life_identity(l, &e) < 0 ||
	       l->look.power != PROVIDER_POWER_OFF || is_boot_of_now(l) || ensure_marked(l, NULL);
}

/* --- the agent -------------------------------------------------------------------------------- */

/* Until it was seen on, as far as the journal knows. */
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
			   op->fence); /* raises the fence of an open one */
	/* A session of this boot that the journal knows goes on under a new leader. */
	if (!was && ag && ag->boot_id && ag->public_key)
		agent_session_restore(l->agent, ag->boot_id, ag->public_key, &e);
	if (!was)
		agent_session_await(l->agent, awaited(l));
	/* What its BMC answered from; before the first answer, what its URL says. */
	str_format(host, sizeof(host), "%.*s", bmc ? (int)strcspn(bmc + 3, "/") : 0,
		   bmc ? bmc + 3 : "");
	agent_session_media_for(l->agent, l->look.address[0] ? l->look.address : host,
				is_boot_of_now(l));
	return true;
}

static void boot_http(struct life *l, const char *url)
{
	struct provider_call call;

	if (l->look.override == PROVIDER_OVERRIDE_HTTP && str_eq(l->look.http_url, url)) {
		start(l, true);
		return;
	}
	if (life_way_in_vain(l, "boot-http", "it shows no override for that address"))
		return;
	if (life_bmc_act(l, "boot-http", LIFE_IDEMPOTENT, LIFE_BOOT_PATIENCE_MS) != LIFE_GO)
		return;
	call = life_bmc_call(l);
	call.done = life_way_acted;
	provider_boot(l->driver->provider, l->bmc, PROVIDER_BOOT_HTTP, url, &call);
}

static int64_t call_limit_ms(const struct life *l)
{
	int64_t n = l->m->status.operation->boot_number;

	return call_limits_ms[n <= CALL_LIMITS ? n - 1 : 0];
}

/* With a new number comes another secret and address; what is on now is an earlier boot then, and
 * switched off. */
static void boot_again(struct life *l)
{
	int64_t n = l->m->status.operation->boot_number;
	char text[128];
	json_t *error;

	str_format(text, sizeof(text), "no agent called in %lld minutes of boot %lld: booted again",
		   (long long)(call_limit_ms(l) / 60000), (long long)n);
	error = json_pack("{s:s, s:s}", "reason", reason_name(REASON_AgentSilent), "message", text);
	life_set_time(error, "time", loop_wall(l->c->loop));
	ctx_event(l->c, OBJECT_MACHINE, &l->m->meta, "Warning", reason_name(REASON_AgentSilent),
		  text);
	log_warn("no agent called: the machine is booted again", LOG_S("machine", l->name),
		 LOG_I("boot", n + 1));
	agent_session_close(l->agent);
	life_write(l,
		   json_pack("{s:n, s:{s:I, s:s, s:o}}", "agent", "operation", "bootNumber",
			     (json_int_t)(n + 1), "waitingFor", "Device", "lastError", error),
		   NULL);
}

/* The boot of now is on, and has been for too long without a call. */
static bool is_late(struct life *l)
{
	if (!l->boot.due_at)
		l->boot.due_at = loop_now(l->c->loop);
	return loop_now(l->c->loop) - l->boot.due_at >= call_limit_ms(l);
}

static void wait_for_call_of_now(struct life *l)
{
	const struct machine_operation *op = l->m->status.operation;
	bool late = is_late(l);

	if (late && op->boot_number <= CALL_LIMITS) {
		if (life_ensure_unpaused(l))
			boot_again(l);
	} else if (agent_session_refusal(l->agent)[0]) {
		life_wait(l, WAITING_DEVICE, REASON_AgentSilent, "%s",
			  agent_session_refusal(l->agent));
	} else if (late) {
		life_wait(l, WAITING_DEVICE, REASON_AgentSilent,
			  "no agent called in %lld boots: none follows before the deadline",
			  (long long)op->boot_number);
	} else if (reason_find(op->last_error.reason) == REASON_PowerStateUnexpected) {
		life_write(l, json_pack("{s:{s:n, s:n}}", "operation", "lastError", "waitingFor"),
			   NULL); /* seen again: the deadline counts */
	}
}

/* It is on, and its agent has not called yet. */
static void wait_for_call(struct life *l, const char *url)
{
	bool shows = is_boot_of_now(l) || str_eq(l->look.media_url, url) ||
		     (str_eq(l->look.http_url, url) && !life_address_kept(l));

	if (!life_shows_ours(l)) {
		life_wait(l, WAITING_APPROVAL, REASON_PowerStateUnexpected,
			  "the machine is on, and its BMC does not show our boot medium");
	} else if (!shows || !is_started(l)) {
		/* An earlier boot of ours; or somebody else switched it on, so off was not seen
		 * before. */
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

	if (!open_seat(l)) { /* a new boot gets a new number, and with it a new secret and URL */
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
	if (!life_ensure_way_written(l) || life_waits_for_power(l) ||
	    !life_ensure_looked(l, l->c->o.poll_ms * 3) ||
	    !life_ensure_ours(l, REASON_DuplicateIdentity))
		return false;
	life_way_begin(l);
	if (l->look.media_known) /* else it was not read this time: nothing is concluded */
		life_way_choose_address(l, is_boot_of_now(l));
	url = agent_session_media_url(l->agent);
	if (l->look.power == PROVIDER_POWER_ON) {
		if (l->look.media_known)
			wait_for_call(l, url);
		return false;
	}
	agent_session_await(l->agent, awaited(l));
	if (l->look.power != PROVIDER_POWER_OFF)
		return false;
	if (life_way_is_http(l)) {
		boot_http(l, url);
		return false;
	}
	if (!l->look.media || !str_eq(l->look.media_url, url)) {
		if (life_way_in_vain(l, "insert-media",
				     l->look.media ? "its slot shows another medium"
						   : "its slot is empty"))
			return false;
		if (life_bmc_act(l, "insert-media", LIFE_IDEMPOTENT, LIFE_BOOT_PATIENCE_MS) !=
		    LIFE_GO)
			return false;
		call = life_bmc_call(l);
		call.done = life_way_acted;
		call.media_ca = agent_endpoint_ca(l->parts->agent_endpoint);
		provider_media(l->driver->provider, l->bmc, url, &call);
	} else if (/* mutant: override-foreign */ l->look.override !=
		   PROVIDER_OVERRIDE_MEDIA) { /* none, or another's */
		if (life_way_in_vain(l, "boot-media", "it shows no override for the CD"))
			return false;
		if (life_bmc_act(l, "boot-media", LIFE_IDEMPOTENT, LIFE_BOOT_PATIENCE_MS) !=
		    LIFE_GO)
			return false;
		call = life_bmc_call(l);
		call.done = life_way_acted;
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
	/* The agent answers the same id with the same result, so an order may be given again and
	 * again. */
	if (!str_eq(l->act.step, step) || l->act.journaled || !l->act.began_at) {
		if (life_act(l, step, LIFE_IDEMPOTENT, INT64_MAX) == LIFE_GO) {
			agent_session_order(l->agent, o);
			life_act_unanswered(l);
		}
	} else {
		agent_session_order(
			l->agent,
			o); /* a rebuilt seat has forgotten it; the same id changes nothing */
		life_progress(l, id);
	}
	return NULL;
}

/* Its boot id stays: a Node must not come with it. Its key too: who comes with another one is not
 * it. */
bool life_agent_dismissed(const struct life *l)
{
	const struct machine_agent *ag = l->m->status.agent;

	return ag && (ag->dismissed || !ag->public_key);
}

/* From its boot until what it did is either used or undone: then the secret is of no use to
 * anybody. */
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
				     "a second caller used the boot secret of this operation");
	else
		*d = life_fail(l, REASON_SecondCaller,
			       "a second caller used the boot secret of this operation");
	return false;
}

/* It was asked often enough, and the override has gone. */
static bool address_stays(const struct life *l)
{
	const struct machine_operation *op = l->m->status.operation;

	return str_eq(op->step, "clear-boot") && op->attempt >= CLEAR_TRIES && !l->act.under_way &&
	       !l->act.journaled;
}

static void keep_address(struct life *l)
{
	char digest[CRYPTO_DIGEST_TEXT];

	life_url_digest(l->look.http_url, digest);
	log_warn("BMC keeps the address of an HTTP boot, which boots nothing any more",
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
	/* A call under way may still put a medium in that no look has shown yet. */
	if (l->act.under_way || !life_ensure_looked(l, l->c->o.poll_ms) ||
	    !life_ensure_ours(l, REASON_DuplicateIdentity))
		return false;
	if (l->look.power != PROVIDER_POWER_OFF) {
		if (agent_session_is_open(l->agent, op->id, op->boot_number) &&
		    agent_session_info(l->agent)->boot_id && !str_eq(l->act.step, "power-off")) {
			(void)life_order(l, &o, "poweroff");
			if (!l->act.began_at ||
			    loop_now(l->c->loop) - l->act.began_at < POWEROFF_GRACE_MS)
				return false;
		}
		if (life_shows_ours(l) || str_eq(op->step, "power-off"))
			life_power(l, false);
		else
			life_wait(l, WAITING_APPROVAL, REASON_PowerStateUnexpected,
				  "the machine is on, and its BMC does not show our boot medium");
		return false;
	}
	if (agent_session_is_open(l->agent, str_or(op->id, ""), op->boot_number))
		agent_session_watch(l->agent);
	if (!l->look.media_known) { /* not read this time: nothing is concluded */
		(void)life_ensure_looked(l, -1);
		return false;
	}
	if (l->look.media) {
		if (life_bmc_act(l, "eject-media", LIFE_IDEMPOTENT, LIFE_BOOT_PATIENCE_MS) !=
		    LIFE_GO)
			return false;
		call = life_bmc_call(l);
		provider_media(l->driver->provider, l->bmc, NULL, &call);
		return false;
	}
	if (l->look.override != PROVIDER_OVERRIDE_NONE || life_has_our_address(l)) {
		if (l->look.override == PROVIDER_OVERRIDE_NONE && address_stays(l))
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
