/*
 * wipe_attempt: handles a wipe attempt from the first order of the wipe to its WipeRecord.
 *
 * 	inspecting --status.wipeAttempt--> wiping, verifying --WipeRecord--> stamp, free
 * 	                                        '--> dirty, quarantined: signed by drover alone
 *
 * The attempt, with its number and the previous record, is written to status before the agent is
 * ordered to wipe. Therefore the attempt ends in exactly one record, even if drover or the agent
 * crashes. The numbers have no gap, and each record names the previous record.
 * Tests: tests/world/test_evidence.c, tests/world/test_boot.c
 */
#include <stdlib.h>
#include <string.h>

#include "controller/life/wipe_attempt.h"
#include "api/annotations.h"
#include "api/resources.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/agent/endpoint.h"
#include "controller/core/counters.h"
#include "controller/core/keys.h"
#include "controller/core/record_index.h"
#include "controller/core/spans.h"
#include "controller/life/ask.h"
#include "controller/life/clean_proof.h"
#include "controller/life/journal.h"

#define RECORD_AGAIN_MS 1000
/* interval between tries to create the record in states that have other work to do and do not wait
 * for the record */
#define RECORD_AGAIN_ASIDE_MS 30000

const char *life_digest(struct arena *a, const void *data, size_t len)
{
	uint8_t d[CRYPTO_SHA256];
	char text[CRYPTO_DIGEST_TEXT];

	crypto_sha256(data, len, d);
	return arena_strdup(a, crypto_digest_text(d, text));
}

static const char *digest_of_record(struct arena *a, const struct wipe_record *r)
{
	return life_digest(a, r->spec.envelope, strlen(r->spec.envelope));
}

void life_wipe_nonce(const struct life *l, const char *operation, int64_t boot, char out[static 65])
{
	OWN(arena) a = arena_new();

	keys_derive(
		l->c->keys,
		arena_printf(a, "nonce\n%s\n%s\n%lld", l->m->meta.uid, operation, (long long)boot),
		out);
}

/* --- number of the attempt -------------------------------------------------------------------- */

struct previous {
	const struct life *l;
	const struct wipe_record *newest;
	int64_t attempts;
};

static bool look_back(const struct wipe_record *r, void *arg)
{
	const struct evidence *ev = &r->spec.evidence, *n;
	struct previous *p = arg;

	n = p->newest ? &p->newest->spec.evidence : NULL;
	if (!n || ev->tenancy > n->tenancy ||
	    (ev->tenancy == n->tenancy && ev->attempt > n->attempt))
		p->newest = r;
	if (ev->tenancy == p->l->m->status.tenancy && ev->attempt > p->attempts)
		p->attempts = ev->attempt;
	return true;
}

static struct previous looked_back(const struct life *l)
{
	struct previous p = {.l = l};

	record_index_each(l->c, RECORD_BY_MACHINE, l->name, look_back, &p);
	return p;
}

static const char *record_name(const struct life *l, int64_t attempt, struct arena *a)
{
	return arena_printf(a, "%s-%lld-%lld", l->name, (long long)l->m->status.tenancy,
			    (long long)attempt);
}

static const struct wipe_record *record_named(const struct life *l, const char *name)
{
	return CTX_GET(l->c, OBJECT_WIPE_RECORD, wipe_record, name);
}

struct wanted {
	const char *provider;
	/* parts other than drives that a Provider or NodePool wants covered by the wipe, as bits 1
	 * << enum statement_part */
	unsigned parts;
};

static bool want_of_pool(const struct kube_entry *en, void *arg)
{
	const struct node_pool *p = en->object;
	struct wanted *w = arg;

	for (size_t i = 0; i < p->spec.template_.spec.provider_refs.n; i++)
		if (str_eq(p->spec.template_.spec.provider_refs.v[i].name, w->provider))
			w->parts |= statement_parts(&p->spec.wipe.must_cover);
	return true;
}

struct strings life_attempt_parts(const struct life *l, struct arena *a)
{
	const struct provider_object *p = life_provider(l);
	struct wanted w = {.provider = l->m->spec.provider_ref.name,
			   .parts = p ? statement_parts(&p->spec.wipe.floor.must_cover) : 0};
	const char **v = arena_calloc(a, STATEMENT_PARTS, sizeof(*v));
	size_t n = 0;

	kube_cache_each(l->c->cache[OBJECT_NODE_POOL], want_of_pool, &w);
	for (int part = 0; part < STATEMENT_PARTS; part++)
		if (w.parts & 1u << part)
			v[n++] = statement_part_names[part];
	return (struct strings){v, n};
}

/* Returns a digest of what the Provider requires of the wipe. The record contains it, so that the
 * requirements can be compared later. */
static const char *policy_digest(const struct life *l, struct arena *a)
{
	const struct provider_object *p = life_provider(l);
	const char *policy = p ? arena_printf(a, "flash=%d hdd=%d trust=%d",
					      p->spec.wipe.floor.minimum_level.flash,
					      p->spec.wipe.floor.minimum_level.hdd,
					      p->spec.wipe.floor.minimum_trust)
			       : "";

	for (size_t i = 0; p && i < p->spec.wipe.floor.must_cover.n; i++)
		policy = arena_printf(a, "%s cover=%s", policy, p->spec.wipe.floor.must_cover.v[i]);
	return life_digest(a, policy, strlen(policy));
}

static json_t *attempt_json(const struct life *l, const struct previous *p,
			    const char *nonce_digest, int64_t start)
{
	OWN(arena) a = arena_new();
	int64_t number = p->attempts + 1;
	json_t *j = json_pack("{s:s, s:I, s:s, s:s, s:n}", "record", record_name(l, number, a),
			      "attempt", (json_int_t)number, "nonceDigest", nonce_digest,
			      "policyDigest", policy_digest(l, a), "previous");

	json_object_set_new(j, "startTime",
			    json_string(str_time((char[STR_TIME_SIZE]){0}, start / 1000 * 1000)));
	if (p->newest)
		json_object_set_new(j, "previous",
				    json_pack("{s:s, s:s}", "name", p->newest->meta.name, "digest",
					      digest_of_record(a, p->newest)));
	return j;
}

static void on_looked_up(json_t *o, const struct err *e, void *arg)
{
	OWN(arena) a = arena_new();
	struct life *l = arg;
	struct err bad;
	void *r;

	if (!e) {
		kube_cache_learn(l->c->cache[OBJECT_WIPE_RECORD], o);
		if (object_decode(&object_kinds[OBJECT_WIPE_RECORD], o, a, &r, &bad) < 0 ||
		    object_check(&object_kinds[OBJECT_WIPE_RECORD], r, NULL, &bad) < 0)
			e = &bad;
	}
	life_answer(o, e, l);
}

/* Asks the API server whether the next attempt number is free, because the cache may not show the
 * newest record yet. */
json_t *life_attempt_begin(struct life *l, const char *nonce_digest)
{
	const struct previous p = looked_back(l);
	OWN(arena) a = arena_new();
	const char *name = record_name(l, p.attempts + 1, a);
	char about[64];

	str_format(about, sizeof(about), "number %lld", (long long)p.attempts + 1);
	switch (life_asked(l, about)) {
	case ASK_NONE:
		break;
	case ASK_FAILED:
		if (life_answer_error(l)->kind == ERR_NOT_FOUND)
			return attempt_json(l, &p, nonce_digest, loop_wall(l->c->loop));
		if (life_answer_error(l)->kind == ERR_INVALID &&
		    /* an error without an HTTP status: the record itself is invalid */
		    !life_answer_error(l)->code)
			life_wait(l, WAITING_APPROVAL, REASON_RecordNotKept,
				  "WipeRecord %s exists but cannot be read: %s; save a copy, then "
				  "delete it",
				  name, life_answer_error(l)->text);
		life_ask_again(l);
		return NULL;
	/* The record exists, and the read has added it to the cache. Try again: the next turn then
	 * counts it. */
	case ASK_OK:
		life_ask_again(l);
		return NULL;
	}
	life_asking(l, about, NULL);
	l->question.call = kube_get(l->c->host, &object_resources[OBJECT_WIPE_RECORD], NULL, name,
				    on_looked_up, l);
	return NULL;
}

/* --- contents of the record ------------------------------------------------------------------- */

/* maximum number of unseen drives that the list names; leaves room for entries of the agent,
 * because the list may have EVIDENCE_NOT_COVERED_MAX entries */
#define UNSEEN_NAMED 12

/* Returns the names of what no erase method covers, and of the drives that only the BMC sees. The
 * agent removes the names of parts that it covers by a statement. */
static struct strings not_covered(const struct life *l, struct arena *a)
{
	static const char *const always[] = {EVIDENCE_NOT_COVERED};
	const size_t nalways = sizeof(always) / sizeof(*always);
	const struct machine_inventory *inv = l->m->status.inventory;
	struct strings s = {.v = arena_calloc(a, nalways + UNSEEN_NAMED + 1, sizeof(*s.v))};

	while (s.n < nalways) {
		s.v[s.n] = always[s.n];
		s.n++;
	}
	for (size_t i = 0; inv && i < inv->unseen_drives.n && i < UNSEEN_NAMED; i++)
		s.v[s.n++] = arena_printf(a, "UnseenDrive %s", inv->unseen_drives.v[i].id);
	return s;
}

/* Adds the waivers of this tenancy, and of the one before: a waiver may have been given after the
 * last record of its tenancy, and each is in at least one record. */
static void add_waivers(const struct life *l, struct evidence *ev, struct arena *a)
{
	const size_t n = l->m->spec.waivers.n;

	ev->waivers.v = arena_calloc(a, n + 1, sizeof(*ev->waivers.v));
	for (size_t i = 0; i < n; i++)
		if (l->m->spec.waivers.v[i].tenancy >= ev->tenancy - 1)
			ev->waivers.v[ev->waivers.n++] = l->m->spec.waivers.v[i];
}

void life_attempt_brief(const struct life *l, struct evidence *ev, struct arena *a)
{
	const struct machine_attempt *t = l->m->status.wipe_attempt;
	const struct machine_identity *id = l->m->spec.identity;
	const struct machine_agent *ag = l->m->status.agent;

	*ev = (struct evidence){0};
	ev->machine.name = l->name;
	ev->machine.uid = l->m->meta.uid;
	/* Use the UUID as the agent read and spelled it. inventory_misfit() has checked that this
	 * UUID is the machine's. */
	ev->machine.system_uuid = ag && ag->system_uuid ? ag->system_uuid
				  : id			? id->system_uuid
							: NULL;
	ev->machine.serial = id ? id->serial_number : NULL;
	ev->tenancy = l->m->status.tenancy;
	ev->attempt = t->attempt;
	ev->previous.name = t->previous.name;
	ev->previous.digest = t->previous.digest;
	ev->nonce_digest = t->nonce_digest;
	ev->policy_digest = t->policy_digest;
	ev->start_time = t->start_time;
	ev->not_covered = not_covered(l, a);
	/* mutant: waivers-unrecorded */
	add_waivers(l, ev, a);
	if (l->m->status.tenant.name) {
		ev->virtual_cluster.name = l->m->status.tenant.name;
		ev->virtual_cluster.uid = l->m->status.tenant.uid;
	}
}

const struct wipe_record *life_attempt_record(const struct life *l)
{
	const struct machine_attempt *t = l->m->status.wipe_attempt;
	const struct wipe_record *r = t ? record_named(l, t->record) : NULL;

	return r && str_eq(r->spec.evidence.nonce_digest, t->nonce_digest) ? r : NULL;
}

/* --- creating the record ---------------------------------------------------------------------- */

/* Counts the drives of a record. The evidence is the agent's: a technique that does not exist is
 * counted as "other". */
static void count_drives(const struct life *l, const json_t *record)
{
	const json_t *d;
	size_t i;

	json_array_foreach (json_at(record, "spec", "devices"), i, d) {
		const char *technique = str_or(json_str_at(d, "technique"), "None");
		const bool known =
			str_eq(technique, "None") || evidence_highest_level(technique) != WIPE_FAIL;

		counters_wiped_drive(l->c->counters, known ? technique : "other",
				     str_or(json_str_at(d, "level"), "Fail"));
	}
}

static void on_kept(json_t *o, const struct err *e, void *arg)
{
	struct life *l = arg;
	int64_t again = l->state == MACHINE_VERIFYING || l->state == MACHINE_DIRTY
				? RECORD_AGAIN_MS
				: RECORD_AGAIN_ASIDE_MS;

	l->question.call = NULL;
	l->m = CTX_GET(l->c, OBJECT_MACHINE, machine, l->name);
	if (!e) {
		counters_wipe(l->c->counters, json_str_at(o, "spec", "verdict"));
		count_drives(l, o);
		kube_cache_learn(l->c->cache[OBJECT_WIPE_RECORD], o);
		life_kick(l);
		return;
	}
	if (!l->m || !l->m->status.wipe_attempt) {
		life_kick(l);
		return;
	}
	if (e->kind == ERR_CONFLICT) {
		/* A record of this name exists. Either drover created it by a request whose reply
		 * was lost, or it belongs to a different attempt. Read it to find out. */
		life_asking(l, "record", NULL);
		l->question.call = kube_get(l->c->host, &object_resources[OBJECT_WIPE_RECORD], NULL,
					    l->m->status.wipe_attempt->record, on_looked_up, l);
		return;
	}
	log_warn("wipe record not created", LOG_S("machine", l->name), LOG_E(e));
	l->record_after = loop_now(l->c->loop) + again;
	if (!writer_busy(&l->journal.write) && again == RECORD_AGAIN_MS)
		life_wait(l, WAITING_APPROVAL, REASON_RecordNotKept,
			  "the WipeRecord was not created: %s", e->text);
	loop_timer_start(&l->timer, RECORD_AGAIN_MS);
}

/* Creates the WipeRecord named in status.wipeAttempt, unless an earlier try failed just now. Takes
 * ownership of envelope. */
static void create(struct life *l, const struct evidence *ev, char *envelope)
{
	struct wipe_record rec = {.spec = {.evidence = *ev, .envelope = envelope}};
	OWN_JSON all = NULL;
	json_t *o;

	if (loop_now(l->c->loop) < l->record_after) {
		loop_timer_start(&l->timer, l->record_after - loop_now(l->c->loop));
		free(envelope);
		return;
	}
	all = fields_encode(object_kinds[OBJECT_WIPE_RECORD].fields, &rec);
	o = json_pack("{s:s, s:s, s:{s:s, s:{s:s}}, s:O}", "apiVersion", OBJECT_API_VERSION, "kind",
		      "WipeRecord", "metadata", "name", l->m->status.wipe_attempt->record, "labels",
		      "drover.dev/machine", l->name, "spec", json_object_get(all, "spec"));
	if (l->c->o.evidence_dir)
		json_object_set_new(json_at(o, "metadata"), "finalizers",
				    json_pack("[s]", FINALIZER_WIPE_RECORD));
	l->question.call =
		kube_create(l->c->host, &object_resources[OBJECT_WIPE_RECORD], NULL, o, on_kept, l);
	spans_call(l->c, l->question.call, OBJECT_MACHINE, l->name);
	json_decref(o);
	free(envelope);
}

/* The highest trust in the agent that drover can confirm. Drover saw how the agent was booted, and
 * nothing checks more than that yet. */
#define AGENT_TRUST WIPE_BOOT_NETWORK

static bool same(const char *x, const char *y)
{
	return str_eq(str_or(x, ""), str_or(y, ""));
}

/* True if the times in the evidence are plausible to within a day. They should be, because the
 * agent's clock is set by drover. Without this check, the countersignature would confirm wrong
 * times. */
static bool timely(const struct life *l, const struct evidence *ev)
{
	const int64_t day = 24 * 3600 * 1000;
	int64_t now = loop_wall(l->c->loop), since = l->m->status.wipe_attempt->start_time;

	return ev->start_time <= ev->end_time &&
	       ev->start_time >= (since < now ? since : now) - day &&
	       ev->end_time <= (since > now ? since : now) + day;
}

/* Tolerance for drover's own clock, which may have been set during the wipe. The agent's times are
 * not used for this check. */
#define CLOCK_SLACK_MS 60000

/* True unless a drive was reported as erased sooner than is physically possible. */
static bool could_be_done(const struct life *l, const struct evidence *ev)
{
	int64_t took = loop_wall(l->c->loop) - l->m->status.wipe_attempt->start_time;

	for (size_t i = 0; i < ev->devices.n; i++)
		if (ev->devices.v[i].level > WIPE_FAIL &&
		    took + CLOCK_SLACK_MS < evidence_least_ms(&ev->devices.v[i]))
			return false;
	return true;
}

/* True if the agent repeated the waivers of its order. */
static bool same_waivers(const struct evidence *ev, const struct evidence *want)
{
	for (size_t i = 0; i < ev->waivers.n && i < want->waivers.n; i++) {
		OWN_JSON is = fields_encode(evidence_waiver_fields, &ev->waivers.v[i]);
		OWN_JSON was = fields_encode(evidence_waiver_fields, &want->waivers.v[i]);

		if (!json_equal(is, was))
			return false;
	}
	return ev->waivers.n == want->waivers.n;
}

/* True if the evidence is of the machine, tenancy, attempt and boot that the agent was given in its
 * order (*want). */
static bool as_briefed(const struct evidence *ev, const struct evidence *want)
{
	size_t named = 0;

	for (size_t i = 0; i < want->not_covered.n; i++) {
		const char *part = want->not_covered.v[i];

		if (named < ev->not_covered.n && str_eq(ev->not_covered.v[named], part))
			named++;
		else if (!evidence_covers(ev, part))
			return false;
	}
	return /* mutant: waivers-dropped */ same_waivers(ev, want) &&
	       str_eq(ev->machine.name, want->machine.name) &&
	       str_eq(ev->machine.uid, want->machine.uid) &&
	       same(ev->machine.system_uuid, want->machine.system_uuid) &&
	       same(ev->machine.serial, want->machine.serial) &&
	       same(ev->virtual_cluster.name, want->virtual_cluster.name) &&
	       same(ev->virtual_cluster.uid, want->virtual_cluster.uid) &&
	       ev->agent_trust <= AGENT_TRUST && ev->tenancy == want->tenancy &&
	       ev->attempt == want->attempt && str_eq(ev->nonce_digest, want->nonce_digest) &&
	       str_eq(ev->policy_digest, want->policy_digest) &&
	       same(ev->previous.name, want->previous.name) &&
	       same(ev->previous.digest, want->previous.digest);
}

enum life_decision life_attempt_keep(struct life *l, const char *envelope,
				     const struct evidence *want)
{
	const struct crypto_key *key = keys_evidence(l->c->keys);
	OWN(arena) a = arena_new();
	struct evidence ev;
	struct err e;
	char *both;

	if (!life_ensure_signable(l))
		return LIFE_STAY;
	if (record_named(l, l->m->status.wipe_attempt->record))
		return life_quarantine(
			l, EXIT_OPERATOR, REASON_EraseUnverified,
			"WipeRecord %s exists already and belongs to a different wipe",
			l->m->status.wipe_attempt->record);
	if (evidence_open(envelope, agent_session_info(l->agent)->public_key, NULL, 0, a, &ev, &e) <
	    0)
		return life_quarantine(l, EXIT_OPERATOR, REASON_EraseUnverified,
				       "the evidence was not signed by the agent: %s", e.text);
	if (!as_briefed(&ev, want) || !timely(l, &ev)) {
		/* a countersignature would confirm wrong contents */
		return life_quarantine(
			l, EXIT_OPERATOR, REASON_EraseUnverified,
			"the evidence names a different machine, tenancy, wipe or time");
	}
	if (!could_be_done(l, &ev))
		return life_quarantine(
			l, EXIT_OPERATOR, REASON_EraseUnverified,
			"the evidence arrived sooner than these drives can be erased");
	both = evidence_countersign(envelope, key, &e);
	if (!both)
		return life_quarantine(l, EXIT_OPERATOR, REASON_EraseUnverified,
				       "the evidence was not signed by the agent: %s", e.text);
	create(l, &ev, both);
	return LIFE_STAY;
}

/* --- an attempt that did not end -------------------------------------------------------------- */

/* Returns why the attempt did not end: the quarantine or failure that status has recorded since the
 * attempt began, if any. */
static const char *why_unfinished(const struct life *l, struct arena *a)
{
	const struct machine_quarantine *q = l->m->status.quarantine;
	const struct machine_failure *f =
		l->m->status.failures.n ? &l->m->status.failures.v[l->m->status.failures.n - 1]
					: NULL;

	if (q && q->since >= l->m->status.wipe_attempt->start_time)
		return arena_printf(a, "%s: %s", q->reason, str_or(q->message, ""));
	if (f && f->time >= l->m->status.wipe_attempt->start_time)
		return arena_printf(a, "%s: %s", f->reason, str_or(f->message, ""));
	return "drover did not observe the end of the wipe";
}

/* Returns what the agent last reported of the drive with this WWN; NULL: nothing. */
static const struct machine_reached *reached(const struct life *l, const char *wwn)
{
	const struct machine_attempt *t = l->m->status.wipe_attempt;

	for (size_t i = 0; i < t->devices.n; i++)
		if (str_eq(t->devices.v[i].wwn, wwn))
			return &t->devices.v[i];
	return NULL;
}

/* Fills *ev for an attempt that did not end: the drives that were to be wiped, and how far each was
 * at the agent's last report. Their final state is unknown. */
static void unfinished(const struct life *l, struct arena *a, struct evidence *ev)
{
	const struct object_drives *want = &l->m->spec.drives;

	ev->unfinished = why_unfinished(l, a);
	ev->verdict = WIPE_FAIL;
	ev->agent_trust = WIPE_BOOT_NETWORK;
	ev->end_time = l->m->status.state_since / 1000 * 1000;
	if (ev->end_time < ev->start_time)
		ev->end_time = ev->start_time;
	ev->inventory.expected = (int64_t)want->n;
	ev->devices.n = want->n;
	ev->devices.v = arena_calloc(a, want->n + 1, sizeof(*ev->devices.v));
	for (size_t i = 0; i < want->n; i++) {
		const struct machine_reached *far = reached(l, want->v[i].wwn);

		ev->devices.v[i] = (struct evidence_device){
			.type = want->v[i].type,
			.model = want->v[i].model,
			.serial = want->v[i].serial_number,
			.wwn = want->v[i].wwn,
			.bytes = want->v[i].bytes,
			.technique = far ? str_or(far->technique, "Unknown") : "Unknown",
			.erased_bytes = far ? far->erased_bytes : 0,
			.level = WIPE_FAIL,
			.reason = "NotFinished"};
	}
}

bool life_ensure_attempt_settled(struct life *l)
{
	const struct machine_attempt *t = l->m->status.wipe_attempt;
	const struct crypto_key *key = keys_evidence(l->c->keys);
	OWN(arena) a = arena_new();
	struct previous p;
	struct evidence ev;

	if (!t || l->state == MACHINE_WIPING || l->state == MACHINE_VERIFYING)
		return true;
	if (life_attempt_record(l)) {
		life_write(l, json_pack("{s:n}", "wipeAttempt"), NULL);
		return false;
	}
	if (record_named(l, t->record)) {
		/* the name of the record is already used by a record of a different attempt: write
		 * the next free attempt number to status */
		p = looked_back(l);
		life_write(l,
			   json_pack("{s:o}", "wipeAttempt",
				     attempt_json(l, &p, t->nonce_digest, t->start_time)),
			   NULL);
		return false;
	}
	if (!key && l->state == MACHINE_DIRTY)
		(void)life_ensure_signable(l);
	if (key) {
		life_attempt_brief(l, &ev, a);
		unfinished(l, a, &ev);
		create(l, &ev, evidence_sign_unfinished(&ev, key));
	}
	/* The step waits while a request is in flight. In state dirty it also waits until the
	 * record exists, because no other wipe may begin before. */
	return !l->question.call && l->state != MACHINE_DIRTY;
}
