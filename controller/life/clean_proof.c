/*
 * clean_proof: finds the newest WipeRecord of the present tenancy, verifies both signatures, and
 * judges the record (rules/wipe_judge.c). wipe_attempt.c creates the records.
 */
#include <string.h>

#include "controller/life/clean_proof.h"
#include "base/str.h"
#include "controller/core/keys.h"
#include "controller/core/record_index.h"
#include "controller/life/journal.h"
#include "controller/life/tenancy.h"
#include "controller/rules/wipe_judge.h"

struct newest {
	const struct life *l;
	const struct wipe_record *found;
};

static bool newer(const struct wipe_record *r, void *arg)
{
	struct newest *n = arg;

	if (r->spec.evidence.tenancy == n->l->m->status.tenancy &&
	    (!n->found || r->spec.evidence.attempt > n->found->spec.evidence.attempt))
		n->found = r;
	return true;
}

const struct wipe_record *life_record(const struct life *l)
{
	struct newest n = {.l = l};

	record_index_each(l->c, RECORD_BY_MACHINE, l->name, newer, &n);
	return n.found;
}

bool life_ensure_signable(struct life *l)
{
	const struct machine_operation *op = l->m->status.operation;
	int64_t limit = life_limit_ms(l, l->state);
	char t[STR_TIME_SIZE];

	if (!keys_evidence(l->c->keys)) {
		life_wait(l, WAITING_APPROVAL, REASON_EvidenceKeyMissing,
			  "the Secret drover-evidence-key does not exist or holds no key; no "
			  "WipeRecord can be signed");
		return false;
	}
	if (!op || reason_find(op->last_error.reason) != REASON_EvidenceKeyMissing)
		return true;
	/* The key was missing until now, and the machine had to wait for the operator. So give the
	 * state its full time limit again. */
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
			       "status.tenancy is %lld, but WipeRecords or NodeClaims show that "
			       "the later tenancy %lld existed",
			       (long long)l->m->status.tenancy, (long long)life_tenancy_known(l));
	if (!r || !str_eq(l->m->status.last_wipe.record, r->meta.name) ||
	    l->m->status.last_wipe.tenancy != l->m->status.tenancy)
		return err_set(e, ERR_DENIED, 0,
			       "no readable WipeRecord of tenancy %lld; status.lastWipe names %s "
			       "(if this WipeRecord exists, its event ValidationFailed names the "
			       "invalid field)",
			       (long long)l->m->status.tenancy,
			       str_or(l->m->status.last_wipe.record, "none"));
	publics = keys_evidence_publics(l->c->keys, &n);
	if (evidence_open_countersigned(r->spec.envelope, publics, n, a, &ev, e) < 0 ||
	    evidence_compare(&r->spec.evidence, &ev, e) < 0)
		return err_wrap(e, "WipeRecord %s", r->meta.name);
	return wipe_judge(l->m, life_provider(l), &ev, floor, e);
}
