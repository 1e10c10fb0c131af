/* elastic: launches, observes and terminates cloud instances. Steps that are the same for all
 * machines are in the other files of this folder. */
#include "controller/steps/elastic.h"

#include <stdlib.h>
#include <string.h>

#include "base/market.h"
#include "base/crypto.h"
#include "base/data/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/money.h"
#include "base/str.h"
#include "controller/claims/unwanted.h"
#include "controller/hardware/fleet.h"
#include "controller/life/act.h"
#include "controller/life/consent.h"
#include "controller/life/due.h"
#include "controller/life/life.h"
#include "controller/life/paid.h"
#include "controller/rules/machine.h"
#include "controller/steps/coming.h"
#include "controller/steps/lives.h"
#include "controller/steps/steps.h"

/* Maximum age of the cloud's list of instances, for decisions about an instance that is being
 * launched, joined, drained or terminated */
#define LIST_AGE_MS 15000
#define IDLE_AGE_MS 60000
/* maximum age of the list for a spot instance, which the cloud may terminate with two minutes'
 * notice */
#define SPOT_AGE_MS 20000
/* If no list has shown the instance for this time after its launch, the launch has failed. Clouds
 * list a launched instance within seconds. */
#define SETTLE_MS 60000
/* If no list has shown an instance in use for this time, the instance counts as gone. */
#define ABSENT_MS (5 * 60 * 1000)
#define PATIENCE_MS 90000 /* time in which a launch or termination is not repeated */

void elastic_forget(struct life *l)
{
	if (l->elastic)
		*l->elastic = (struct life_elastic){.busy = l->elastic->busy};
}

static const char *provider_name(const struct life *l)
{
	return str_or(l->m->spec.provider_ref.name, "");
}

static const char *claim_uid(const struct life *l)
{
	return str_or(l->m->spec.elastic->claim.uid, "");
}

static const struct machine_instance *instance_of(const struct life *l)
{
	static const struct machine_instance none;

	return l->m->status.instance ? l->m->status.instance : &none;
}

static const struct elastic_instance *find(const struct life *l)
{
	return fleet_find(l->parts->fleet, provider_name(l), claim_uid(l), instance_of(l)->id);
}

void elastic_seen(const struct life *l, char *text, size_t size)
{
	const struct elastic_instance *x = find(l);

	if (x)
		str_format(text, size, "its cloud lists it as %s", elastic_state_names[x->state]);
	else
		str_copy(text, size, "its cloud does not list it");
}

/* True if there is a list of instances that was requested after `since` (loop_now()). Otherwise
 * requests a list and returns false. */
static bool ensure_listed(struct life *l, int64_t since)
{
	return fleet_ensure_listed(l->parts->fleet, provider_name(l), since);
}

/* True if there is a list of instances that was requested after l->elastic->since. Sets that time
 * to now if it is not set, so that the first call always requests a new list. */
static bool ensure_listed_anew(struct life *l)
{
	if (!l->elastic->since)
		l->elastic->since = loop_now(l->c->loop);
	return ensure_listed(l, l->elastic->since);
}

/* --- launching -------------------------------------------------------------------------------- */

static void token_of(const struct life *l, const struct offer *o, int64_t attempt,
		     char out[static 65])
{
	OWN(arena) a = arena_new();
	const char *text = arena_printf(a, "%s\n%s\n%s\n%s\n%s\n%lld", claim_uid(l), o->region,
					str_or(o->zone, ""), o->type, market_names[o->market],
					(long long)attempt);
	uint8_t d[CRYPTO_SHA256];

	crypto_sha256(text, strlen(text), d);
	str_hex(out, d, sizeof(d));
}

/* Returns the change to booting, with the ids of the instance that was launched or found. Copies id
 * before it forgets the observations, because id may point into them. */
static enum life_decision launched(struct life *l, const char *id, const char *provider_id)
{
	json_t *leave = json_pack("{s:{s:s, s:s*, s:n, s:n}}", "instance", "id", id, "providerID",
				  provider_id, "refusedTime", "refusal");

	elastic_forget(l);
	return life_goto(l, MACHINE_BOOTING, leave, REASON_NONE, NULL);
}

/* Returns the offer on which the BurstPolicy decided (*b). NULL: not available, for the reason in
 * why. *no_offer: true if the list of offers is fresh, so that NULL means that the cloud does not
 * have the offer. */
static const struct offer *decided(const struct life *l, const struct node_claim_burst *b,
				   bool *no_offer, char *why, size_t size)
{
	const struct offer w = {.region = b->region,
				.zone = b->zone,
				.type = l->m->spec.instance_type,
				.currency = b->currency,
				.market = b->market,
				.micros_per_hour = b->offered};

	return fleet_offer_of(l->parts->fleet, provider_name(l), &w, no_offer, why, size);
}

/* Writes to status that the launch was refused. No other offer is tried, because that needs a new
 * decision of the BurstPolicy. The claim is withdrawn afterwards (claims/claims.c). */
static enum life_decision refuse(struct life *l, const char *why)
{
	char when[STR_TIME_SIZE];

	life_write(l,
		   json_pack("{s:{s:s, s:s}}", "instance", "refusedTime",
			     str_time(when, loop_wall(l->c->loop)), "refusal", why),
		   NULL);
	return LIFE_STAY;
}

/* Waits for an offer. The planner does not wait for a claim whose machine shows the reason NoOffer
 * (claims/world_objects.c). */
static enum life_decision wait_for_offer(struct life *l, const struct node_claim *n,
					 const char *why)
{
	int64_t until;

	loop_timer_start(&l->timer, l->c->o.poll_ms * 5);
	if (n->spec.burst ||
	    fleet_no_offer(l->parts->fleet, provider_name(l), l->m->spec.instance_type, &until))
		return life_wait(l, WAITING_DEVICE, REASON_NoOffer, "provider %s: %s",
				 provider_name(l), why);
	if (fleet_trouble(l->parts->fleet, provider_name(l)))
		return life_wait(l, WAITING_DEVICE, REASON_CloudUnreachable, "provider %s: %s",
				 provider_name(l), why);
	return LIFE_STAY;
}

/* Chooses the offer of the next launch, and writes offer, token and tenant to status before the
 * launch is sent. */
static enum life_decision choose(struct life *l, const struct node_claim *n)
{
	char why[300], token[65];
	bool no_offer = false;
	const struct offer *o = n->spec.burst
					? decided(l, n->spec.burst, &no_offer, why, sizeof(why))
					: fleet_offer(l->parts->fleet, provider_name(l),
						      l->m->spec.instance_type, why, sizeof(why));
	int64_t attempt = instance_of(l)->attempt + 1;

	if (no_offer && !o)
		return refuse(l, why);
	if (!o)
		return wait_for_offer(l, n, why);
	token_of(l, o, attempt, token);
	life_write(l,
		   json_pack("{s:{s:s, s:s}, "
			     "s:{s:s, s:I, s:s, s:s?, s:s, s:s, s:I, s:s, s:n, s:n}, s:{s:n}}",
			     "tenant", "name", n->spec.virtual_cluster_ref.name, "uid",
			     str_or(n->spec.virtual_cluster_ref.uid, ""), "instance", "token",
			     token, "attempt", (json_int_t)attempt, "region", o->region, "zone",
			     o->zone, "type", o->type, "market", market_names[o->market],
			     "microsPerHour", (json_int_t)o->micros_per_hour, "currency",
			     o->currency, "refusedTime", "refusal", "operation", "step"),
		   NULL);
	return LIFE_STAY;
}

static struct offer offer_of(const struct machine_instance *i)
{
	return (struct offer){.region = i->region,
			      .zone = str_empty(i->zone) ? NULL : i->zone,
			      .type = i->type,
			      .market = i->market < 0 ? MARKET_ON_DEMAND : i->market,
			      .micros_per_hour = i->micros_per_hour,
			      .currency = i->currency,
			      .available = -1};
}

/* Returns cloud-init user data that contains those files of the config drive that drover-join needs
 * (drover-join.cfg, cluster-ca.crt). The caller wipes and frees the text. */
static char *user_data(const struct proto_order *o)
{
	json_t *files = json_array(), *config;
	char *text, *whole;

	for (size_t i = 0; i < o->files.n; i++) {
		const struct proto_file *f = &o->files.v[i];
		char *content;

		if (!str_eq(f->name, "drover-join.cfg") && !str_eq(f->name, "cluster-ca.crt"))
			continue;
		content = crypto_base64(f->content, strlen(f->content));
		json_array_append_new(files,
				      json_pack("{s:s+, s:s, s:s, s:s}", "path", "/run/drover/",
						f->name, "permissions", "0600", "encoding", "b64",
						"content", content));
		secret_wipe(content, strlen(content));
		free(content);
	}
	config = json_pack("{s:o, s:[[s, s, s]]}", "write_files", files, "runcmd", "systemctl",
			   "start", "drover-join.service");
	text = json_text(config);
	json_decref(config);
	whole = mem_printf("#cloud-config\n%s\n", text);
	secret_wipe(text, strlen(text));
	free(text);
	return whole;
}

static bool may_act(void *arg)
{
	const struct life *l = arg;

	return ctx_may_act(l->c);
}

/* True if the same launch can never succeed, while a launch with a different offer may. */
static bool is_refusal(const struct err *e)
{
	static const bool refusals[ERR_KINDS] = {
		[ERR_CAPACITY] = true,	[ERR_QUOTA] = true,   [ERR_PRICE] = true,
		[ERR_DENIED] = true,	[ERR_INVALID] = true, [ERR_UNSUPPORTED] = true,
		[ERR_NOT_FOUND] = true,
	};

	return refusals[e->kind];
}

static void on_launched(const struct elastic_instance *v, size_t n, const struct err *e, void *arg)
{
	struct life *l = arg;

	l->elastic->busy = false;
	l->elastic->since = 0; /* require a new list before the next launch */
	if (n) {
		l->elastic->answer = ELASTIC_LAUNCHED;
		str_copy(l->elastic->id, sizeof(l->elastic->id), v[0].id);
		str_copy(l->elastic->provider_id, sizeof(l->elastic->provider_id),
			 str_or(v[0].provider_id, ""));
	} else if (e && is_refusal(e)) {
		l->elastic->answer = ELASTIC_REFUSED;
		l->elastic->err = *e;
	}
	life_acted(l, n || (e && is_refusal(e)) ? NULL : e);
}

static void launch(struct life *l, const struct offer *o, const char *data)
{
	const struct machine_instance *i = instance_of(l);
	const struct node_claim *n = life_claim(l);
	const struct elastic_tag tags[] = {
		{ELASTIC_TAG_CLUSTER, fleet_cluster(l->parts->fleet)},
		{ELASTIC_TAG_MACHINE, l->name},
		{ELASTIC_TAG_CLAIM, claim_uid(l)},
		{ELASTIC_TAG_TENANT, n->spec.virtual_cluster_ref.name},
		{ELASTIC_TAG_POLICY, n->spec.burst ? n->spec.burst->policy_ref.name : NULL},
	};
	struct elastic_launch x = {
		.token = i->token,
		.offer = *o,
		.user_data = data,
		.user_data_len = strlen(data),
		.count = 1,
		.max_micros_per_hour =
			n->spec.burst && i->market == MARKET_SPOT ? n->spec.burst->offered : -1,
		.tags = tags,
		.ntags = sizeof(tags) / sizeof(*tags) - (n->spec.burst ? 0 : 1),
		.may_act = may_act,
		.may_act_arg = l,
	};

	l->elastic->busy = true;
	log_info("launching instance", LOG_S("machine", l->name),
		 LOG_S("provider", provider_name(l)), LOG_S("region", i->region),
		 LOG_S("zone", str_or(i->zone, "")), LOG_S("type", i->type),
		 LOG_I("micros_per_hour", i->micros_per_hour), LOG_I("attempt", i->attempt));
	(void)provider_launch(l->driver->provider, &x, on_launched, l);
}

/* Sets o->reservation to the name of the reservation, looked up in the present offers, because
 * status does not store the name. True if the offer needs no reservation, or if the name was
 * found. */
static bool find_reservation(struct life *l, struct offer *o)
{
	const struct offer w = {.region = o->region,
				.zone = o->zone,
				.type = o->type,
				.market = o->market,
				.micros_per_hour = -1};
	const struct offer *x;
	bool no_offer;
	char why[300];

	if (o->market != MARKET_RESERVED)
		return true;
	x = fleet_offer_of(l->parts->fleet, provider_name(l), &w, &no_offer, why, sizeof(why));
	o->reservation = x ? x->reservation : NULL;
	if (!x && no_offer)
		(void)refuse(l, why);
	else if (!x)
		loop_timer_start(&l->timer, l->c->o.poll_ms * 5);
	return x;
}

static enum life_decision ask_for(struct life *l, const struct node_claim *n)
{
	enum life_decision d = LIFE_STAY;
	struct proto_order o = {0};
	OWN(arena) a = arena_new();
	struct offer offer = offer_of(instance_of(l));
	char *data;

	if (!coming_ensure_taken(l, n) || !coming_ensure_config(l, n, a, &o, &d))
		return d;
	if (!find_reservation(l, &offer) ||
	    life_act(l, "launch", LIFE_IDEMPOTENT, PATIENCE_MS) != LIFE_GO)
		return d;
	data = user_data(&o);
	launch(l, &offer, data);
	secret_wipe(data, strlen(data));
	free(data);
	return d;
}

/* Writes the cloud's answer to the launch to status: launched, or refused. */
static enum life_decision take_answer(struct life *l)
{
	const struct offer o = offer_of(instance_of(l));
	char when[STR_TIME_SIZE];

	if (l->elastic->answer == ELASTIC_LAUNCHED)
		return launched(l, l->elastic->id, l->elastic->provider_id);
	offer_refusals_add(fleet_refusals(l->parts->fleet), provider_name(l), &o, &l->elastic->err);
	life_write(l,
		   json_pack("{s:{s:s, s:s}}", "instance", "refusedTime",
			     str_time(when, loop_wall(l->c->loop)), "refusal",
			     l->elastic->err.text),
		   NULL);
	l->elastic->answer = ELASTIC_NO_ANSWER;
	return LIFE_STAY;
}

/* True if enough time has passed since an earlier launch whose reply may have been lost: if that
 * launch started an instance, the cloud lists it by now. Before that, another launch could start a
 * second instance. */
static bool ensure_nothing_launched(struct life *l)
{
	const struct machine_operation *op = l->m->status.operation;
	int64_t now = loop_now(l->c->loop);

	if (op->attempt <= 1)
		return true;
	if (!l->elastic->gone_from)
		l->elastic->gone_from = now;
	if (!ensure_listed(l, l->elastic->gone_from + SETTLE_MS)) {
		loop_timer_start(&l->timer, l->c->o.poll_ms * 5);
		return false;
	}
	return true;
}

static enum life_decision claimed(struct life *l)
{
	const struct machine_instance *i = instance_of(l);
	enum life_decision d = LIFE_STAY;
	const struct node_claim *n;
	const struct elastic_instance *x;

	if (l->elastic->busy)
		return d;
	if (l->elastic->answer != ELASTIC_NO_ANSWER)
		return take_answer(l);
	n = coming_claim(l, &d);
	if (!n)
		return d;
	if (n->spec.user_data_secret_ref)
		return life_fail(l, REASON_ConfigInvalid,
				 "spec.userDataSecretRef is not supported for cloud instances");
	/* the claim will be withdrawn, so show the reason until then */
	if (n->spec.burst && i->refused_time)
		return life_wait(l, WAITING_DEVICE, REASON_NoOffer, "provider %s: %s",
				 provider_name(l), str_or(i->refusal, "refused"));
	/* mutant: launch-unlisted */
	if (!ensure_listed_anew(l))
		return d;
	x = find(l);
	if (x && x->state != ELASTIC_ENDING && x->state != ELASTIC_TERMINATED)
		return launched(l, x->id, x->provider_id);
	/* No pod needs the claim at present. Launch nothing until the claim is withdrawn, or a pod
	 * needs it after all. */
	/* mutant: burst-for-nobody */
	if (unwanted_ms(l->all->spec.unwanted, n) >= 0)
		return d;
	if (str_empty(i->token))
		return choose(l, n);
	if (i->refused_time)
		return ensure_nothing_launched(l) ? choose(l, n) : d;
	return ask_for(l, n);
}

/* --- observing -------------------------------------------------------------------------------- */

/* True if the instance exists, as far as is known. If the cloud has terminated it, or no list has
 * shown it for ABSENT_MS, returns false and sets *d to the change to stopping; while the machine is
 * paused, only returns false. */
static bool ensure_there(struct life *l, int64_t age_ms, enum life_decision *d)
{
	int64_t now = loop_now(l->c->loop);
	const struct elastic_instance *x;
	json_t *leave = NULL;

	/* no list is new enough: continue as if the instance exists, until the requested list
	 * arrives */
	if (!ensure_listed(l, now - age_ms))
		return true;
	x = find(l);
	if (!x && !l->elastic->gone_from)
		l->elastic->gone_from = now;
	if (x)
		l->elastic->gone_from = 0;
	if (x ? x->state != ELASTIC_ENDING && x->state != ELASTIC_TERMINATED
	      : now - l->elastic->gone_from < ABSENT_MS)
		return true;
	if (!life_ensure_unpaused(l))
		return false;
	if (l->state == MACHINE_SERVING || l->state == MACHINE_DRAINING)
		leave = json_pack("{s:n}", "hold");
	*d = life_goto(l, MACHINE_STOPPING, leave, REASON_InstanceGone, "instance %s: %s",
		       str_or(instance_of(l)->id, "(none)"),
		       x ? str_or(x->reason, x->state == ELASTIC_TERMINATED
						     ? "the cloud terminated it"
						     : "it is stopping or has stopped")
			 : "the cloud no longer lists it");
	return false;
}

static enum life_decision booting(struct life *l)
{
	enum life_decision d = LIFE_STAY;
	const struct node_claim *n = coming_claim(l, &d);
	const struct elastic_instance *x;

	if (!n || !ensure_there(l, LIST_AGE_MS, &d))
		return d;
	x = find(l);
	if (x && x->state == ELASTIC_RUNNING)
		return life_goto(l, MACHINE_JOINING, NULL, REASON_NONE, NULL);
	return d;
}

/* --- terminating ------------------------------------------------------------------------------ */

static void on_ended(const struct elastic_instance *v, size_t n, const struct err *e, void *arg)
{
	struct life *l = arg;

	(void)v;
	(void)n;
	l->elastic->busy = false;
	if (!e)
		l->elastic->ended_at = loop_now(l->c->loop);
	life_acted(l, e);
}

static void end(struct life *l, const char *region, const char *id)
{
	if (life_act(l, "terminate", LIFE_IDEMPOTENT, PATIENCE_MS) != LIFE_GO)
		return;
	l->elastic->busy = true;
	log_info("terminating instance", LOG_S("machine", l->name),
		 LOG_S("provider", provider_name(l)), LOG_S("instance", id));
	(void)provider_terminate(l->driver->provider, region, id, may_act, on_ended, l);
}

static bool ensure_ended(struct life *l)
{
	const struct machine_instance *i = instance_of(l);
	int64_t now = loop_now(l->c->loop);
	const struct elastic_instance *x;

	if (l->elastic->busy)
		return false;
	if (str_empty(i->token) && str_empty(i->id) && !i->attempt)
		return ensure_listed_anew(l) && !find(l);
	if (!ensure_listed_anew(l) || !ensure_listed(l, now - l->c->o.poll_ms * 5))
		return false;
	x = find(l);
	if (x && x->state == ELASTIC_TERMINATED)
		return true;
	/* Terminate an ending instance too: a stopped one, or one whose start failed, exists and is
	 * billed until it is terminated. */
	/* mutant: stopped-kept */
	if (x && (x->state != ELASTIC_ENDING || !l->elastic->ended_at)) {
		l->elastic->gone_from = 0;
		end(l, x->region, x->id);
		return false;
	}
	if (x)
		return false; /* being terminated: wait until the cloud reports it as terminated */
	/* The instance is not in the list. Either it is not listed yet, or it is gone. If its id is
	 * known, terminate it in any case. */
	if (!str_empty(i->id) && !l->elastic->ended_at) {
		end(l, i->region, i->id);
		return false;
	}
	if (!l->elastic->gone_from)
		l->elastic->gone_from = now;
	return ensure_listed(l, l->elastic->gone_from + SETTLE_MS);
}

/* Sends an event that the instance is terminated, about the claim, or, if the claim was deleted by
 * force, about the Machine. */
static void report_released(const struct life *l)
{
	const char *id = instance_of(l)->id;
	const struct node_claim *n = life_claim(l);
	OWN(arena) a = arena_new();

	if (str_empty(id))
		return;
	ctx_event(l->c, n ? OBJECT_NODE_CLAIM : OBJECT_MACHINE, n ? &n->meta : &l->m->meta,
		  "Normal", "Terminated",
		  arena_printf(a, "instance %s of provider %s is terminated: " MACHINE_RELEASED, id,
			       provider_name(l)));
}

static enum life_decision stopping(struct life *l)
{
	if (!l->work.progress) { /* forget what was observed of the instance in earlier states */
		l->work.progress = 1;
		elastic_forget(l);
		l->volumes = -1;
	}
	loop_timer_start(&l->timer, l->c->o.poll_ms * 2);
	if (!life_ensure_unpaused(l) || !ensure_ended(l))
		return LIFE_STAY;
	report_released(l);
	return life_goto(l, MACHINE_LEAVING, NULL, REASON_NONE, NULL);
}

static enum life_decision quarantined(struct life *l)
{
	int64_t now = loop_wall(l->c->loop), due = quarantine_due(l->m);
	const struct machine_quarantine *q = l->m->status.quarantine;

	if (due && now < due) {
		loop_timer_start(&l->timer, due - now);
		return LIFE_STAY;
	}
	if (!life_ensure_unpaused(l))
		return LIFE_STAY;
	return life_goto(l, MACHINE_STOPPING,
			 json_pack("{s:{s:n, s:I, s:s, s:s, s:s}}", "quarantine", "nextAttempt",
				   "attempts", (json_int_t)(q ? q->attempts + 1 : 1), "reason",
				   str_or(q ? q->reason : NULL, "Unknown"), "message",
				   str_or(q ? q->message : NULL, ""), "exit", "auto"),
			 REASON_NONE, NULL);
}

static enum life_decision gone(struct life *l)
{
	if (l->m->meta.deletion_timestamp)
		(void)life_ensure_finalizer(l, false);
	else if (!writer_busy(&l->journal.write) && ctx_may_act(l->c))
		life_delete(l);
	return LIFE_STAY;
}

/* joining(), gating(), serving() and draining() first check that the instance exists, and then run
 * the step that is the same for all machines. */
static enum life_decision joining(struct life *l)
{
	enum life_decision d = LIFE_STAY;

	return ensure_there(l, LIST_AGE_MS, &d) ? step_joining(l) : d;
}

static enum life_decision gating(struct life *l)
{
	enum life_decision d = LIFE_STAY;

	return ensure_there(l, LIST_AGE_MS, &d) ? step_gating(l) : d;
}

static enum life_decision serving(struct life *l)
{
	const bool spot = instance_of(l)->market == MARKET_SPOT;
	enum life_decision d = LIFE_STAY;

	if (spot)
		life_due_in(l, SPOT_AGE_MS);
	return ensure_there(l, spot ? SPOT_AGE_MS : IDLE_AGE_MS, &d) ? step_serving(l) : d;
}

static enum life_decision draining(struct life *l)
{
	enum life_decision d = LIFE_STAY;

	return ensure_there(l, LIST_AGE_MS, &d) ? step_draining(l) : d;
}

static enum life_decision (*const steps[MACHINE_STATES])(struct life *l) = {
	[MACHINE_CLAIMED] = claimed,	     [MACHINE_BOOTING] = booting,
	[MACHINE_JOINING] = joining,	     [MACHINE_GATING] = gating,
	[MACHINE_SERVING] = serving,	     [MACHINE_DRAINING] = draining,
	[MACHINE_STOPPING] = stopping,	     [MACHINE_LEAVING] = step_leaving,
	[MACHINE_QUARANTINED] = quarantined, [MACHINE_GONE] = gone,
};

/* States in which no pod runs on the machine */
static const bool without_pods[MACHINE_STATES] = {
	[MACHINE_CLAIMED] = true, [MACHINE_BOOTING] = true,	[MACHINE_JOINING] = true,
	[MACHINE_GATING] = true,  [MACHINE_QUARANTINED] = true,
};

enum life_decision elastic_step(struct life *l)
{
	const struct node_claim *n = life_claim(l);

	if (!l->elastic)
		l->elastic = mem_new(struct life_elastic);
	/* mutant: burst-outlives-unserved */
	if (without_pods[l->state] && !l->elastic->busy && life_paid_over(l))
		return life_goto(l, MACHINE_STOPPING, NULL, REASON_DeadlineExceeded,
				 "BurstPolicy %s no longer pays for this instance",
				 n->spec.burst->policy_ref.name);
	return steps[l->state] ? steps[l->state](l) : LIFE_STAY;
}
