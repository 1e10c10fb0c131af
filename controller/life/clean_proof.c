#include <string.h>

#include "base/str.h"
#include "controller/rules/identity.h"
#include "controller/core/keys.h"
#include "controller/life/clean_proof.h"

/* SATA and SAS drives may be either: what only spins is said by the agent, all else is flash. */
static bool is_flash(const struct evidence_device *d)
{
	return !d->rotational;
}

void life_levels(const struct evidence *ev, int *flash, int *hdd)
{
	*flash = *hdd = -1;
	for (size_t i = 0; i < ev->devices.n; i++) {
		const struct evidence_device *d = &ev->devices.v[i];
		int *worst = is_flash(d) ? flash : hdd;

		if (*worst < 0 || d->level < *worst)
			*worst = d->level;
	}
}

static const struct evidence_device *device_of(const struct evidence *ev, const char *wwn)
{
	for (size_t i = 0; i < ev->devices.n; i++)
		if (str_eq(ev->devices.v[i].wwn, wwn))
			return &ev->devices.v[i];
	return NULL;
}

static int judge_floor(const struct evidence *ev, const struct object_wipe_floor *f,
		       const char *whose, struct err *e)
{
	for (size_t i = 0; i < ev->devices.n; i++) {
		const struct evidence_device *d = &ev->devices.v[i];
		int want = is_flash(d) ? f->minimum_level.flash : f->minimum_level.hdd;

		if (want < WIPE_CLEAR)
			want = WIPE_CLEAR;
		if (d->level < want)
			return err_set(e, ERR_DENIED, 0, "drive %s reached %s, %s wants %s", d->wwn,
				       wipe_level_names[d->level], whose, wipe_level_names[want]);
	}
	if (ev->agent_trust < f->minimum_trust)
		return err_set(e, ERR_DENIED, 0, "agent trust is %s, %s wants %s",
			       wipe_trust_names[ev->agent_trust], whose,
			       wipe_trust_names[f->minimum_trust]);
	return 0;
}

/* The wipe itself, whatever level it had to reach. */
static int judge_wipe(const struct life *l, const struct evidence *ev, struct err *e)
{
	const struct object_drives *want = &l->m->spec.drives;

	if (!str_eq(ev->machine.name, l->name) || !str_eq(ev->machine.uid, l->m->meta.uid))
		return err_set(e, ERR_DENIED, 0, "the evidence is of machine %s",
			       str_or(ev->machine.name, "(none)"));
	if (ev->tenancy != l->m->status.tenancy)
		return err_set(e, ERR_DENIED, 0,
			       "the evidence ends tenancy %lld, the machine is in %lld",
			       (long long)ev->tenancy, (long long)l->m->status.tenancy);
	if (ev->verdict < WIPE_CLEAR)
		return err_set(e, ERR_DENIED, 0, "the wipe failed");
	if (!want->n)
		return err_set(e, ERR_DENIED, 0,
			       "spec.drives is empty: no drive is known to expect");
	if (ev->inventory.missing.n || ev->inventory.extra.n || ev->devices.n != want->n)
		return err_set(e, ERR_DENIED, 0,
			       "%zu drives expected, %zu wiped, %zu missing, %zu extra", want->n,
			       ev->devices.n, ev->inventory.missing.n, ev->inventory.extra.n);
	for (size_t i = 0; i < want->n; i++) {
		const struct evidence_device *d = device_of(ev, want->v[i].wwn);

		if (!d)
			return err_set(e, ERR_DENIED, 0, "no evidence for drive %s",
				       want->v[i].wwn);
		if (d->bytes != want->v[i].bytes) /* what is hidden was not wiped */
			return err_set(e, ERR_DENIED, 0,
				       "drive %s: %lld bytes expected, %lld wiped", d->wwn,
				       (long long)want->v[i].bytes, (long long)d->bytes);
	}
	for (size_t i = 0; i < ev->devices.n; i++) {
		const struct evidence_device *d = &ev->devices.v[i];

		if (d->level < WIPE_CLEAR)
			return err_set(e, ERR_DENIED, 0, "drive %s: %s", d->wwn,
				       wipe_level_names[d->level]);
		if (evidence_bears_out(d, EVIDENCE_SAMPLES, e) < 0)
			return err_wrap(e, "drive %s", d->wwn);
	}
	return 0;
}

int life_judge(const struct life *l, const struct evidence *ev,
	       const struct object_wipe_floor *floor, struct err *e)
{
	const struct provider_object *p = life_provider(l);

	if (judge_wipe(l, ev, e) < 0)
		return -1;
	if (!p)
		return err_set(e, ERR_NOT_FOUND, 0,
			       "the Provider is not there: its floor is unknown");
	if (judge_floor(ev, &p->spec.wipe.floor, "the provider", e) < 0)
		return -1;
	return floor ? judge_floor(ev, floor, "the claim", e) : 0;
}

const char *life_judge_reason(const struct life *l, const struct evidence *ev)
{
	static const char *const told[] = {"DriveMissing", "DriveFailed", "EraseBelowPolicy"};
	struct err e;

	if (ev->inventory.missing.n)
		return "DriveMissing";
	if (ev->inventory.extra.n)
		return "DriveUnknown";
	for (size_t i = 0; i < ev->devices.n; i++)
		for (size_t k = 0; k < sizeof(told) / sizeof(*told); k++)
			if (str_eq(ev->devices.v[i].reason, told[k]))
				return told[k];
	return judge_wipe(l, ev, &e) < 0 ? "EraseUnverified" : "EraseBelowPolicy";
}

struct newest {
	const struct life *l;
	const struct wipe_record *found;
};

static bool newer(const struct kube_entry *en, void *arg)
{
	const struct wipe_record *r = en->object;
	struct newest *n = arg;

	if (str_eq(r->spec.evidence.machine.name, n->l->name) &&
	    r->spec.evidence.tenancy == n->l->m->status.tenancy &&
	    (!n->found || r->spec.evidence.attempt > n->found->spec.evidence.attempt))
		n->found = r;
	return true;
}

const struct wipe_record *life_record(const struct life *l)
{
	struct newest n = {.l = l};

	kube_cache_each(l->c->cache[OBJECT_WIPE_RECORD], newer, &n);
	return n.found;
}

/* --- tenancies ---------------------------------------------------------------------------------- */

struct highest {
	const struct life *l;
	int64_t tenancy;
};

static bool record_tenancy(const struct kube_entry *en, void *arg)
{
	const struct wipe_record *r = en->object;
	const struct evidence *ev = &r->spec.evidence;
	struct highest *h = arg;

	if (ev->tenancy > h->tenancy &&
	    (str_eq(ev->machine.name, h->l->name) ||
	     identity_of_record(h->l->m->spec.identity, ev->machine.system_uuid,
				ev->machine.serial)))
		h->tenancy = ev->tenancy;
	return true;
}

static bool claim_tenancy(const struct kube_entry *en, void *arg)
{
	const struct node_claim *n = en->object;
	struct highest *h = arg;

	if (n->status.machine_ref && str_eq(n->status.machine_ref->name, h->l->name) &&
	    n->status.tenancy > h->tenancy)
		h->tenancy = n->status.tenancy;
	return true;
}

int64_t life_tenancy_known(const struct life *l)
{
	struct highest h = {.l = l, .tenancy = l->tenancy_seen};

	kube_cache_each(l->c->cache[OBJECT_WIPE_RECORD], record_tenancy, &h);
	kube_cache_each(l->c->cache[OBJECT_NODE_CLAIM], claim_tenancy, &h);
	return h.tenancy;
}

bool life_can_sign(struct life *l)
{
	static const char missing[] = "EvidenceKeyMissing";
	const struct machine_operation *op = l->m->status.operation;
	int64_t limit = life_limit_ms(l, l->state);
	char t[STR_TIME_SIZE];

	if (!keys_evidence(l->c->keys)) {
		life_wait(
			l, WAITING_APPROVAL, missing,
			"the Secret drover-evidence-key is not there or holds no key: nothing can be signed");
		return false;
	}
	if (!op || !str_eq(op->last_error.reason, missing))
		return true;
	/* The time spent waiting was a person's. */
	life_write(l,
		   json_pack("{s:{s:n, s:n, s:o}}", "operation", "lastError", "waitingFor",
			     "deadline",
			     limit ? json_string(str_time(t, loop_wall(l->c->loop) + limit))
				   : json_null()),
		   NULL);
	return false;
}

int life_clean(const struct life *l, const struct object_wipe_floor *floor, struct err *e)
{
	const struct wipe_record *r = life_record(l);
	OWN(arena) a = arena_new();
	struct evidence ev;
	const char *const *publics;
	size_t n;

	if (!l->m->status.clean)
		return err_set(e, ERR_DENIED, 0, "status.clean is false");
	if (life_tenancy_known(l) > l->m->status.tenancy)
		return err_set(e, ERR_DENIED, 0,
			       "status is of tenancy %lld, and tenancy %lld is known",
			       (long long)l->m->status.tenancy, (long long)life_tenancy_known(l));
	if (!r || !str_eq(l->m->status.last_wipe.record, r->meta.name) ||
	    l->m->status.last_wipe.tenancy != l->m->status.tenancy)
		return err_set(
			e, ERR_DENIED, 0,
			"no WipeRecord of tenancy %lld that can be read; the last wipe's is %s "
			"(an event ValidationFailed there names the field)",
			(long long)l->m->status.tenancy,
			str_or(l->m->status.last_wipe.record, "none"));
	publics = keys_evidence_publics(l->c->keys, &n);
	if (evidence_open_countersigned(r->spec.envelope, publics, n, a, &ev, e) < 0 ||
	    evidence_compare(&r->spec.evidence, &ev, e) < 0)
		return err_wrap(e, "WipeRecord %s", r->meta.name);
	return life_judge(l, &ev, floor, e);
}
