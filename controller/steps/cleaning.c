/*
 * cleaning: the states dirty, inspecting, wiping and verifying. The machine is isolated. The agent
 * inspects it, wipes it, verifies the wipe and signs. Drover judges the evidence, countersigns it
 * and stores the record. Only then is the machine free.
 *
 * The record is created before the stamp (the mark on a wiped drive) is written, and the stamp
 * before the machine is free. Therefore any interruption leaves the machine dirty.
 * Tests: tests/world/test_boot.c, tests/unit/controller/life/test_conditions.c
 */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/agent/endpoint.h"
#include "controller/claims/breaker.h"
#include "controller/core/keys.h"
#include "controller/life/agent_boot.h"
#include "controller/life/bmc.h"
#include "controller/life/bmc_facts.h"
#include "controller/life/clean_proof.h"
#include "controller/life/consent.h"
#include "controller/life/identity.h"
#include "controller/life/install.h"
#include "controller/life/journal.h"
#include "controller/life/life.h"
#include "controller/life/listing.h"
#include "controller/life/port.h"
#include "controller/life/probe.h"
#include "controller/life/power_turn.h"
#include "controller/life/wipe_attempt.h"
#include "controller/rules/inventory.h"
#include "controller/rules/wipe_judge.h"
#include "controller/steps/steps.h"

#define AGENT_SILENT_MS (5 * 60 * 1000)
/* Silence of the agent after which the BMC is asked whether the machine is still on */
#define AGENT_DOUBT_MS 20000

#define AGENT_BOOTS_MAX 3

static json_t *again(const struct life *l)
{
	return json_pack("{s:{s:I}, s:n}", "operation", "bootNumber",
			 (json_int_t)(l->m->status.operation->boot_number + 1), "agent");
}

/* Returns why the agent, which has called, counts as lost; NULL: it does not. A power cut is seen
 * soon by the BMC; a network that fails for a while must not interrupt a wipe. */
static const char *loss_of(struct life *l)
{
	const int64_t silent = loop_now(l->c->loop) - agent_session_info(l->agent)->last_seen;

	if (agent_session_rebooted(l->agent))
		return "the machine rebooted while the agent was running";
	if (silent > AGENT_SILENT_MS)
		return "the agent was silent for 5 minutes";
	if (silent > AGENT_DOUBT_MS && life_ensure_observed(l, AGENT_DOUBT_MS) &&
	    /* mutant: wipe-power-cut-unseen */ l->observation.power == PROVIDER_POWER_OFF)
		return "the machine went off while the agent was running";
	return NULL;
}

/* True if the agent is connected and works. Otherwise waits for it. If the agent is lost, sets *d:
 * the machine goes back to dirty, or to quarantine after AGENT_BOOTS_MAX boots. */
static bool ensure_agent_works(struct life *l, enum life_decision *d)
{
	const struct machine_operation *op = l->m->status.operation;
	bool there = life_ensure_agent(l, d), rebooted = agent_session_rebooted(l->agent);
	const enum reason reason = rebooted ? REASON_AgentRebooted : REASON_AgentSilent;
	const char *why;

	if (*d == LIFE_CHANGE)
		return false;
	/* If the agent is not there, it has not called yet, or the session is still being restored
	 * from the journal; a restored session detects a reboot, too. */
	if (!there && !rebooted)
		return false;
	why = loss_of(l);
	if (!why)
		return true;
	if (op->boot_number >= AGENT_BOOTS_MAX)
		*d = life_quarantine(l, EXIT_AUTO, reason, "%s; drover gave up after %d boots", why,
				     AGENT_BOOTS_MAX);
	else
		*d = life_goto(l, MACHINE_DIRTY, again(l), reason, "%s", why);
	return false;
}

enum life_decision step_dirty(struct life *l)
{
	const struct provider_object *p = life_provider(l);
	enum life_decision d = LIFE_STAY;
	struct err e;

	if (life_waits_for_power(l) || !life_ensure_observed(l, l->c->o.poll_ms * 5))
		return d;
	if (life_identity_differs(l, &e))
		return life_quarantine(l, EXIT_OPERATOR, REASON_DuplicateIdentity, "%s", e.text);
	if (!life_ensure_approved_identity(l, REASON_DuplicateIdentity) ||
	    !life_ensure_movable(l) ||
	    !life_ensure_placed(l, str_or(p->spec.network.segments.quarantine, "quarantine")) ||
	    !life_ensure_signable(l)) /* do not begin a wipe that cannot be recorded */
		return d;
	if (agent_session_rebooted(l->agent)) {
		life_write(l, again(l), NULL);
		agent_session_close(l->agent);
		return d;
	}
	if (life_ensure_agent(l, &d) && life_ensure_probed(l, "probe", &d))
		return life_goto(l, MACHINE_INSPECTING, NULL, REASON_NONE, NULL);
	return d;
}

/* --- inspecting ------------------------------------------------------------------------------- */

static json_t *drives_json(const struct proto_inventory *inv)
{
	json_t *list = json_array();

	for (size_t i = 0; i < inv->drives.n; i++) {
		const struct proto_drive *d = &inv->drives.v[i];

		json_array_append_new(list,
				      json_pack("{s:s, s:s, s:s, s:s, s:s*, s:I}", "wwn",
						str_or(d->wwn, ""), "model", str_or(d->model, ""),
						"serialNumber", str_or(d->serial, ""), "type",
						str_or(d->type, ""), "slot", d->slot, "bytes",
						(json_int_t)d->bytes));
	}
	return list;
}

static json_t *controllers_json(const struct proto_inventory *inv)
{
	OWN(arena) a = arena_new();
	struct object_controllers l = inventory_controllers(inv, a);
	json_t *list = json_array();

	for (size_t i = 0; i < l.n; i++)
		json_array_append_new(list, json_pack("{s:s, s:I, s:I}", "id", l.v[i].id, "driven",
						      (json_int_t)l.v[i].driven, "dark",
						      (json_int_t)l.v[i].dark));
	return list;
}

/* Drives that the BMC lists and the agent did not see. */
struct unseen {
	struct listed_unseen *v;
	size_t n;
};

static struct unseen unseen_of(const struct life *l, const struct proto_inventory *inv,
			       struct arena *a)
{
	const struct life_listing *k = l->listing;
	const size_t n = k ? k->n : 0;
	struct unseen u = {.v = arena_calloc(a, n + 1, sizeof(*u.v))};

	u.n = listed_unseen(k ? k->v : NULL, n, inv, a, u.v);
	return u;
}

static json_t *unseen_json(const struct life *l, const struct proto_inventory *inv)
{
	OWN(arena) a = arena_new();
	struct unseen u = unseen_of(l, inv, a);
	json_t *list = json_array();

	for (size_t i = 0; i < u.n; i++)
		json_array_append_new(list,
				      json_pack("{s:s, s:s*, s:s*, s:s*, s:I}", "id", u.v[i].id,
						"model", u.v[i].drive->model, "slot",
						u.v[i].drive->slot, "volume", u.v[i].drive->volume,
						"bytes", (json_int_t)u.v[i].drive->bytes));
	return list;
}

static json_t *inventory_json(const struct life *l, const struct proto_inventory *inv)
{
	json_t *nics = json_array(), *o;

	for (size_t i = 0; i < inv->nics.n; i++)
		json_array_append_new(nics, json_pack("{s:s, s:s, s:s*}", "name",
						      str_or(inv->nics.v[i].name, ""), "mac",
						      str_or(inv->nics.v[i].mac, ""), "driver",
						      inv->nics.v[i].driver));
	o = json_pack("{s:I, s:I, s:I, s:o, s:o, s:o}", "gpus", (json_int_t)inv->gpus.n, "cpus",
		      (json_int_t)inv->cpus, "memoryBytes", (json_int_t)inv->memory_bytes, "drives",
		      drives_json(inv), "controllers", controllers_json(inv), "nics", nics);
	json_object_set_new(o, "unseenDrives", unseen_json(l, inv));
	json_object_set_new(o, "observedTime",
			    json_string(str_time((char[STR_TIME_SIZE]){0}, loop_wall(l->c->loop))));
	return o;
}

static void nonce(const struct life *l, char out[static 65])
{
	const struct machine_operation *op = l->m->status.operation;

	life_wipe_nonce(l, op->id, op->boot_number, out);
}

/* Describes the storage controllers without a driver: the agent cannot see the drives behind them.
 * Returns false if there are none. */
static bool dark_text(const struct proto_inventory *inv, char *out, size_t size)
{
	size_t n = 0, used;

	for (size_t i = 0; i < inv->controllers.n; i++)
		n += !inv->controllers.v[i].driver;
	str_format(out, size, "%zu storage controller(s) without a driver in the agent image:", n);
	for (size_t i = 0; i < inv->controllers.n; i++) {
		const struct proto_controller *c = &inv->controllers.v[i];

		used = strlen(out);
		/* No space is left for a further controller. The inventory in status names all
		 * controllers. */
		if (used + 32 > size)
			break;
		if (!c->driver)
			str_format(out + used, size - used, " %s at %s", c->id, c->address);
	}
	return n > 0;
}

/* Returns a patch of spec with the drives and controllers of the first inspection, which are
 * expected from now on. NULL: spec has them already. */
static json_t *expectations(const struct life *l, const struct proto_inventory *inv)
{
	json_t *spec = json_object();

	if (!l->m->spec.drives.n)
		json_object_set_new(spec, "drives", drives_json(inv));
	if (!l->m->spec.controllers.n && inv->controllers.n)
		json_object_set_new(spec, "controllers", controllers_json(inv));
	if (json_object_size(spec))
		return spec;
	json_decref(spec);
	return NULL;
}

/* True if status.inventory shows this inspection. Otherwise starts to write it. Call before a
 * quarantine, because the operator who has to decide needs the inventory. */
static bool ensure_shown(struct life *l, const struct proto_inventory *inv)
{
	if (l->m->status.inventory &&
	    l->m->status.inventory->observed_time >= l->m->status.state_since)
		return true;
	life_write(l, json_pack("{s:o}", "inventory", inventory_json(l, inv)), NULL);
	return false;
}

/* True if the inspection need not wait for the BMC's list of drives, or the list is available.
 * Normally the list may arrive later, while the drives are wiped. It is needed now in two cases: if
 * this inspection defines spec.drives, or if an earlier read of the list named drives that the
 * agent did not see, so that the list is being read again. */
static bool ensure_listed(struct life *l)
{
	if (!l->m->spec.drives.n || (l->listing && l->listing->differs_since))
		return life_ensure_listed(l);
	(void)life_listing_ask(l);
	return true;
}

/* True if the agent saw every drive that the BMC lists, or spec accounts for the missing drives.
 * Otherwise waits for a while, and then sets *misfit to true; e names the drives. */
static bool ensure_listed_seen(struct life *l, const struct proto_inventory *inv, bool *misfit,
			       struct err *e)
{
	OWN(arena) a = arena_new();
	struct unseen u = unseen_of(l, inv, a);

	return life_ensure_listed_seen(l, u.v, u.n, misfit, e);
}

enum life_decision step_inspecting(struct life *l)
{
	struct proto_order o = {.kind = PROTO_INSPECT};
	enum life_decision d = LIFE_STAY;
	const struct proto_report *r;
	OWN(arena) a = arena_new();
	json_t *attempt, *spec;
	char hex[65], dark[200];
	enum reason why;
	bool is_dark, misfit;
	struct err e;

	if (!ensure_agent_works(l, &d))
		return d;
	(void)life_listing_ask(l);
	r = life_order(l, &o, "inspect");
	if (!r)
		return d;
	if (r->state != PROTO_DONE || !r->inventory)
		return life_quarantine(l, EXIT_AUTO, agent_reason(r, REASON_InventoryMismatch),
				       "inspection failed: %s", str_or(r->message, "no inventory"));
	if (!r->inventory->drives.n)
		return life_quarantine(l, EXIT_OPERATOR, REASON_DriveUnknown,
				       "the agent finds no drive");
	why = inventory_misfit(l->m, life_provider(l), r->inventory, &e);
	if (why != REASON_NONE) {
		if (ensure_shown(l, r->inventory))
			return life_quarantine(l, EXIT_OPERATOR, why, "%s", e.text);
		return d;
	}
	if (!ensure_listed(l))
		return d;
	if (!ensure_listed_seen(l, r->inventory, &misfit, &e)) {
		if (misfit && ensure_shown(l, r->inventory))
			return life_quarantine(l, EXIT_OPERATOR, REASON_DriveMissing, "%s", e.text);
		return d;
	}
	is_dark = dark_text(r->inventory, dark, sizeof(dark));
	/* Do not store this list of controllers yet: it would count as complete for ever. An
	 * operator must confirm it first. */
	if (is_dark && !l->m->spec.controllers.n) {
		if (ensure_shown(l, r->inventory))
			return life_quarantine(l, EXIT_OPERATOR, REASON_StorageNotDriven, "%s",
					       dark);
		return d;
	}
	spec = expectations(l, r->inventory);
	if (spec) {
		life_write(l, NULL, spec);
		return d;
	}
	nonce(l, hex);
	attempt = life_attempt_begin(l, life_digest(a, hex, strlen(hex)));
	if (attempt && is_dark)
		ctx_event(l->c, OBJECT_MACHINE, &l->m->meta, "Warning", "StorageNotDriven",
			  arena_printf(a, "not wiped: the drives behind %s", dark));
	if (attempt)
		return life_goto(l, MACHINE_WIPING,
				 json_pack("{s:o, s:o}", "inventory",
					   inventory_json(l, r->inventory), "wipeAttempt", attempt),
				 REASON_NONE, NULL);
	return d;
}

/* --- wiping, verifying ------------------------------------------------------------------------ */

/* True if the wipe attempt in status belongs to this boot of the agent. Otherwise sets *d, which
 * changes the machine back to dirty. */
static bool ensure_attempt_stands(struct life *l, const char *nonce_hex, enum life_decision *d)
{
	const struct machine_attempt *t = l->m->status.wipe_attempt;
	OWN(arena) a = arena_new();

	if (t && str_eq(t->nonce_digest, life_digest(a, nonce_hex, strlen(nonce_hex))))
		return true;
	*d = life_goto(l, MACHINE_DIRTY, again(l), REASON_NONE, NULL);
	return false;
}

static struct strings expected(const struct life *l, struct arena *a)
{
	struct strings s = {.n = l->m->spec.drives.n};

	s.v = arena_calloc(a, s.n + 1, sizeof(*s.v));
	for (size_t i = 0; i < s.n; i++)
		s.v[i] = l->m->spec.drives.v[i].wwn;
	return s;
}

/* Sets in order *o the level that each medium must reach: the floor of the Provider, but never less
 * than Clear. */
static void set_floor(const struct life *l, struct proto_order *o)
{
	const struct object_wipe_floor *f = &life_provider(l)->spec.wipe.floor;
	int flash = f->minimum_level.flash, hdd = f->minimum_level.hdd;

	o->minimum_level = flash < WIPE_CLEAR ? WIPE_CLEAR : flash;
	o->minimum_level_hdd = hdd < WIPE_CLEAR ? WIPE_CLEAR : hdd;
}

/* Returns the drives of the inspection in status, with only those fields that are compared with the
 * BMC's list. */
static struct proto_inventory inspected(const struct life *l, struct arena *a)
{
	const struct machine_inventory *seen = l->m->status.inventory;
	struct proto_inventory inv = {.drives.n = seen ? seen->drives.n : 0};

	inv.drives.v = arena_calloc(a, inv.drives.n + 1, sizeof(*inv.drives.v));
	for (size_t i = 0; i < inv.drives.n; i++) {
		const struct object_drive *d = &seen->drives.v[i];

		inv.drives.v[i] = (struct proto_drive){.wwn = d->wwn,
						       .model = d->model,
						       .serial = d->serial_number,
						       .bytes = d->bytes};
	}
	return inv;
}

/* True if status.inventory names the drives that only the BMC sees. Otherwise starts to write their
 * names and returns false. They must be in status, because the WipeRecord takes them from there. */
static bool ensure_unseen_shown(struct life *l, const struct proto_inventory *inv)
{
	const struct machine_inventory *shown = l->m->status.inventory;
	OWN(arena) a = arena_new();
	struct unseen u = unseen_of(l, inv, a);
	bool same = shown && shown->unseen_drives.n == u.n;

	for (size_t i = 0; same && i < u.n; i++)
		same = str_eq(shown->unseen_drives.v[i].id, u.v[i].id);
	if (!same)
		life_write(l,
			   json_pack("{s:{s:o}}", "inventory", "unseenDrives", unseen_json(l, inv)),
			   NULL);
	return same;
}

enum life_decision step_wiping(struct life *l)
{
	OWN(arena) a = arena_new();
	struct proto_order o = {.kind = PROTO_WIPE, .expected = expected(l, a)};
	enum life_decision d = LIFE_STAY;
	const struct proto_report *r;
	struct proto_inventory seen;
	char hex[65];
	bool misfit;
	struct err e;

	nonce(l, hex);
	if (!ensure_attempt_stands(l, hex, &d) || !ensure_agent_works(l, &d))
		return d;
	(void)life_listing_ask(l);
	o.nonce = hex;
	set_floor(l, &o);
	r = life_order(l, &o, "wipe");
	if (!r)
		return d;
	if (r->state != PROTO_DONE)
		return life_quarantine(l, EXIT_OPERATOR, agent_reason(r, REASON_EraseUnverified),
				       "wipe failed: %s", str_or(r->message, "no reason given"));
	seen = inspected(l, a);
	if (!life_ensure_listed(l) || !ensure_unseen_shown(l, &seen))
		return d;
	if (!ensure_listed_seen(l, &seen, &misfit, &e))
		return misfit ? life_quarantine(l, EXIT_OPERATOR, REASON_DriveMissing, "%s", e.text)
			      : d;
	return life_goto(l, MACHINE_VERIFYING, life_bmc_unlisted(l), REASON_NONE, NULL);
}

/* Returns status.lastWipe for the wipe that rec proves. */
static json_t *last_wipe_json(const struct life *l, const struct wipe_record *rec)
{
	return json_pack("{s:s, s:I, s:s, s:I}", "record", rec->meta.name, "tenancy",
			 (json_int_t)l->m->status.tenancy, "operation", l->m->status.operation->id,
			 "bootNumber", (json_int_t)l->m->status.operation->boot_number);
}

/* True unless the last three claims on this machine failed. In that case sets *d to quarantine: the
 * drives are wiped and verified, but the next claim would probably fail on this machine, too. The
 * wipe that rec proves then counts, and the machine may retire, unless the failures are about the
 * drives or the wipe itself. */
static bool ensure_not_worn(struct life *l, const struct wipe_record *rec, enum life_decision *d)
{
	/* Reasons that a retry does not fix. If the last failure has one of them, only an operator
	 * may end the quarantine. */
	static const char *const lasting[] = {"DriveFailed",	       "DriveMissing",
					      "DriveUnknown",	       "EraseUnverified",
					      "WipeRevoked",	       "InventoryMismatch",
					      "ResourceNotRegistered", "DuplicateIdentity",
					      "NodeIdentityMismatch",  "SecondCaller"};
	const struct machine_failure *f = NULL;
	enum machine_exit way = EXIT_AUTO;

	if (!breaker_machine_worn(l->c, l->m))
		return true;
	for (size_t i = 0; i < l->m->status.failures.n; i++)
		if (l->m->status.failures.v[i].claim)
			f = &l->m->status.failures.v[i];
	for (size_t i = 0; i < sizeof(lasting) / sizeof(lasting[0]); i++)
		if (str_eq(f->reason, lasting[i]))
			way = EXIT_OPERATOR;
	*d = life_quarantine(l, way, REASON_FailsRepeatedly,
			     "three claims in a row failed on this machine, the last with %s: %s",
			     f->reason, str_or(f->message, ""));
	if (way == EXIT_AUTO)
		json_object_set_new(l->journal.decided->extra, "lastWipe", last_wipe_json(l, rec));
	return false;
}

static enum life_decision stamp(struct life *l, const struct wipe_record *rec, struct arena *a)
{
	const struct provider_object *p = life_provider(l);
	struct proto_order o = {.kind = PROTO_WRITE,
				.what = PROTO_WRITE_STAMP,
				.record = rec->meta.name,
				.expected = expected(l, a)};
	const struct proto_report *r;
	enum life_decision d = LIFE_STAY;
	uint8_t digest[CRYPTO_SHA256];
	char text[CRYPTO_DIGEST_TEXT];
	json_t *x;

	if (life_agent_dismissed(l))
		l->work.progress = 1;
	if (!l->work.progress) {
		if (!ensure_agent_works(l, &d))
			return d;
		evidence_digest(rec->spec.envelope, digest);
		o.stamp = crypto_digest_text(digest, text);
		r = life_order(l, &o, "stamp");
		if (!r)
			return d;
		if (r->state != PROTO_DONE)
			return life_quarantine(l, EXIT_OPERATOR,
					       agent_reason(r, REASON_DriveFailed),
					       "the clean stamp was not written: %s",
					       str_or(r->message, "no reason given"));
		l->work.progress = 1;
	}
	if (!life_ensure_agent_gone(l) ||
	    !life_ensure_placed(l, str_or(p->spec.network.segments.provisioning, "provisioning")) ||
	    !life_ensure_released(l) || !ensure_not_worn(l, rec, &d))
		return d;
	x = json_pack("{s:b, s:o, s:n, s:n, s:n, s:n, s:n}", "clean", 1, "lastWipe",
		      last_wipe_json(l, rec), "agent", "quarantine", "tenant", "pool",
		      "wipeAttempt");
	return life_goto(l, MACHINE_FREE, x, REASON_NONE, NULL);
}

enum life_decision step_verifying(struct life *l)
{
	OWN(arena) a = arena_new();
	const struct wipe_record *rec;
	struct proto_order o = {
		.kind = PROTO_VERIFY, .samples = EVIDENCE_SAMPLES, .expected = expected(l, a)};
	const struct proto_report *r;
	enum life_decision d = LIFE_STAY;
	struct evidence ev = {0};
	const char *const *publics;
	struct err e;
	size_t n;
	char hex[65];

	nonce(l, hex);
	if (!ensure_attempt_stands(l, hex, &d))
		return d;
	rec = life_attempt_record(l);
	if (!rec) {
		if (!ensure_agent_works(l, &d))
			return d;
		life_attempt_brief(l, &ev, a);
		o.nonce = hex;
		o.cover = life_attempt_parts(l, a);
		o.evidence = &ev;
		set_floor(l, &o);
		r = life_order(l, &o, "verify");
		if (!r)
			return d;
		if (r->state != PROTO_DONE || !r->envelope)
			return life_quarantine(
				l, EXIT_OPERATOR, agent_reason(r, REASON_EraseUnverified),
				"verification failed: %s", str_or(r->message, "no evidence"));
		return life_attempt_keep(l, r->envelope, &ev);
	}
	publics = keys_evidence_publics(l->c->keys, &n);
	if (evidence_open_countersigned(rec->spec.envelope, publics, n, a, &ev, &e) < 0 ||
	    evidence_compare(&rec->spec.evidence, &ev, &e) < 0)
		return life_quarantine(l, EXIT_OPERATOR, REASON_EraseUnverified, "%s: %s",
				       rec->meta.name, e.text);
	if (wipe_judge(l->m, life_provider(l), &ev, NULL, &e) < 0)
		return life_quarantine(l, EXIT_OPERATOR, wipe_judge_reason(l->m, &ev), "%s: %s",
				       rec->meta.name, e.text);
	return stamp(l, rec, a);
}
