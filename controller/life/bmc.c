/*
 * life_acts: what steps share with the outside: the look at the BMC, power and
 * the fabric.  The agent's way in and out is in life/agent_boot.c.
 * Tests: tests/world/test_leave.c, tests/unit/controller/life/test_conditions.c
 */
#include <stdio.h>
#include <string.h>

#include "api/annotations.h"
#include "base/log.h"
#include "base/str.h"
#include "controller/life/life.h"
#include "controller/life/power_turn.h"
#include "controller/rules/identity.h"

/* A power change is not asked for again within this time: GPU servers need up to 3 min. */
#define POWER_PATIENCE_MS 60000
/* So many looks without an answer, one after the other, and a person's word counts for more. */
#define DEAD_READS 3

const char *life_bmc_reason(const struct err *e)
{
	switch (e->kind) {
	case ERR_DENIED:
		return "BmcAuthFailed";
	case ERR_CONFLICT:
		return "DuplicateIdentity";
	case ERR_PROTOCOL:
		return "BmcProtocolError";
	case ERR_UNSUPPORTED:
		return "BmcUnsupported";
	case ERR_CAPACITY:
	case ERR_QUOTA:
		return "BmcBusy";
	case ERR_NONE:
	case ERR_INVALID:
	case ERR_NOT_FOUND:
	case ERR_TIMEOUT:
	case ERR_UNAVAILABLE:
	case ERR_PRICE:
	case ERR_KINDS:
		break;
	}
	return "BmcUnreachable";
}

void life_agent_changed(void *life)
{
	life_kick(life);
}

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
	life_follow_looked(l);
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
	if (l->m && !l->write) {
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

/* What a person said of this operation does not hold for what comes: it is another one from now on. */
static void void_confirmation(struct life *l)
{
	uint8_t raw[16];
	char id[33];

	loop_random_bytes(l->c->loop, raw, sizeof(raw));
	str_hex(id, raw, sizeof(raw));
	ctx_event(l->c, OBJECT_MACHINE, &l->m->meta, "Warning", "OffNotConfirmed",
		  "the BMC answers On: what a person confirmed is void");
	life_write(l,
		   json_pack("{s:{s:n}, s:{s:s}}", "power", "confirmedBy", "operation", "id", id),
		   NULL);
}

bool life_off_confirmed(struct life *l)
{
	const struct machine_operation *op = l->m->status.operation;
	const char *id = op ? op->id : NULL;
	const char *version = l->m->status.bmc.refused_secret_version;
	bool refused = !str_empty(version) && str_eq(version, l->bmc_secret_version),
	     error = l->observe_error.kind != ERR_NONE,
	     dead = refused || (error && l->observe_backoff.failures >= DEAD_READS);
	char note[512];

	if (str_empty(id) || !str_eq(labels_get(&l->m->meta.annotations, REQUEST_CONFIRM_OFF), id))
		return false;
	if (!refused) /* it may come back, and say otherwise */
		(void)life_seen(l, l->c->o.poll_ms * 5);
	if (!dead && (error || !l->seen.known))
		return false;
	if (!dead && l->seen.power == PROVIDER_POWER_ON) {
		void_confirmation(l);
		return false;
	}
	if (str_eq(l->m->status.power.confirmed_by, id))
		return true;
	str_format(note, sizeof(note), "a person saw it off: operation %s, %s; its BMC says %s", id,
		   machine_state_info[l->state].name,
		   refused ? "that it refuses the login"
		   : dead  ? l->observe_error.text
			   : provider_power_names[l->seen.power]);
	log_warn("off confirmed by a person", LOG_S("machine", l->name), LOG_S("operation", id));
	ctx_event(l->c, OBJECT_MACHINE, &l->m->meta, "Warning", "OffConfirmed", note);
	life_write(l, json_pack("{s:{s:s}}", "power", "confirmedBy", id), NULL);
	return false;
}

int life_identity(const struct life *l, struct err *e)
{
	if (identity_bmc(l->m->spec.identity, l->seen.uuid, l->seen.serial, e) == 0)
		return 0;
	return e->kind == ERR_NOT_FOUND
		       ? err_set(e, ERR_NOT_FOUND, 0,
				 "spec.identity is empty; `drover approve %s` fills it in from the BMC (%s, %s)",
				 l->name, str_or(l->seen.uuid, "no system UUID"),
				 str_or(l->seen.serial, "no serial number"))
		       : -1;
}

/* --- power -------------------------------------------------------------------------------------- */

/* What was not sent is no error of the BMC's: it goes out again when the lease is renewed. */
static void acted(struct life *l, const struct err *e)
{
	bool unsent = e && l->unsent;

	life_acted(l, unsent ? NULL : e);
	if (unsent)
		l->acted_at = 0;
}

static void on_powered(const struct provider_observation *o, const char *handle,
		       const struct err *e, void *arg)
{
	struct life *l = arg;

	(void)o;
	(void)handle;
	l->power_end = loop_now(l->c->loop);
	acted(l, e);
}

void life_bmc_acted(const struct provider_observation *o, const char *handle, const struct err *e,
		    void *life)
{
	(void)o;
	(void)handle;
	acted(life, e);
}

/* Asked again when the request is about to leave: pace and login may have taken a while (S7). */
static bool may_act(void *arg)
{
	struct life *l = arg;

	l->unsent = life_withheld(l, l->act);
	return !l->unsent;
}

struct provider_call life_bmc_call(struct life *l)
{
	l->unsent = false;
	return (struct provider_call){
		.op_id = l->m->status.operation->id,
		.fence = l->m->status.operation->fence,
		.may_act = may_act,
		.session = str_or(l->m->status.bmc.session_uri, ""),
		.done = life_bmc_acted,
		.arg = l,
	};
}

enum life_turn life_bmc_act(struct life *l, const char *step, enum life_class cls,
			    int64_t patience_ms)
{
	return life_follow_may_act(l) ? life_act(l, step, cls, patience_ms) : LIFE_HOLD;
}

void life_power(struct life *l, bool on)
{
	struct provider_call call;

	/* Recorded clean, so nobody's: then why is it on?  A restored record, or a person. */
	if (!on && l->m->status.clean && !life_shows_ours(l) && !l->m->status.agent) {
		life_wait(
			l, WAITING_APPROVAL, "PowerStateUnexpected",
			"recorded clean and off, but on without our boot medium; `drover approve --wipe %s`",
			l->name);
		return;
	}
	if (on && !(life_follow_may_act(l) && life_paced(l, POWER_PATIENCE_MS)))
		return;
	if (life_bmc_act(l, on ? "power-on" : "power-off", LIFE_PROBE_FIRST, POWER_PATIENCE_MS) !=
	    LIFE_GO)
		return;
	call = life_bmc_call(l);
	call.done = on_powered;
	provider_power(l->driver->provider, l->bmc, on, &call);
}

/* --- the fabric --------------------------------------------------------------------------------- */

static struct fabric_port port(const struct life *l)
{
	return (struct fabric_port){.machine = l->name, .mac = l->m->spec.boot_mac_address};
}

static void on_place_seen(const struct fabric_place *p, const struct err *e, void *arg)
{
	struct life *l = arg;

	l->placing = false;
	l->place.known = !e;
	if (!e) {
		str_copy(l->place.segment, sizeof(l->place.segment), str_or(p->segment, ""));
		l->place.proof = p->proof;
		l->place.read_at = p->read_at;
	} else {
		log_warn("fabric not read", LOG_S("machine", l->name), LOG_E(e));
		l->m = CTX_GET(l->c, OBJECT_MACHINE, machine, l->name);
		if (l->m && !l->write)
			life_wait(l, WAITING_DEVICE, "NetworkNotConfirmed", "%s", e->text);
		loop_timer_start(&l->timer, e->retry_after_ms > 1000 ? e->retry_after_ms : 1000);
		return;
	}
	life_kick(l);
}

static void on_placed(const struct fabric_place *p, const struct err *e, void *arg)
{
	struct life *l = arg;

	(void)p;
	l->placing = false;
	l->place.known = false;
	life_acted(l, e);
}

bool life_place_seen(struct life *l, int64_t max_age_ms)
{
	const struct fabric_port at = port(l);
	struct fabric_call call = {
		.op_id = l->m->status.operation ? l->m->status.operation->id : NULL,
		.fence = l->m->status.operation ? l->m->status.operation->fence : 0,
		.done = on_place_seen,
		.arg = l};

	if (l->placing)
		return false;
	if (l->place.known && l->place.read_at >= l->act_end &&
	    loop_now(l->c->loop) - l->place.read_at <= max_age_ms)
		return true;
	l->placing = true;
	fabric_observe(l->driver->fabric, &at, &call);
	return false;
}

bool life_placed(struct life *l, const char *segment)
{
	const struct provider_object *p = life_provider(l);
	bool isolated = p->spec.network.type != FABRIC_NONE;
	const struct fabric_port at = port(l);
	struct fabric_call call = {.op_id = l->m->status.operation->id,
				   .fence = l->m->status.operation->fence,
				   .arg = l};
	char step[48];
	json_t *s;

	if (l->placing)
		return false;
	if (!life_place_seen(l, l->c->o.poll_ms * 10))
		return false;
	if (str_eq(l->place.segment, segment) &&
	    (!isolated || l->place.proof != FABRIC_PROOF_NONE)) {
		if (str_eq(l->m->status.network.segment, segment))
			return true;
		s = json_pack("{s:{s:s, s:s}}", "network", "segment", segment, "proof",
			      fabric_proof_names[l->place.proof]);
		json_object_set_new(
			json_object_get(s, "network"), "observedTime",
			json_string(str_time((char[STR_TIME_SIZE]){0}, loop_wall(l->c->loop))));
		life_write(l, s, NULL);
		return false;
	}
	str_format(step, sizeof(step), "place %.40s", segment);
	if (life_act(l, step, LIFE_IDEMPOTENT, 10000) != LIFE_GO) {
		/* Asked for and answered, yet not there: look again each poll. */
		if (str_eq(l->act, step) && !l->acting && !l->write)
			l->place.known = false;
		return false;
	}
	l->placing = true;
	call.done = on_placed;
	fabric_place(l->driver->fabric, &at, segment, &call);
	return false;
}
