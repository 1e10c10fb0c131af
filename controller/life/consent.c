/*
 * consent: may drover act on this machine at all: approved, not another one, not paused, no definition going.
 * Tests: tests/world/test_identity.c, tests/world/test_review.c, tests/world/test_bmc_trust.c
 */
#include <string.h>

#include "controller/life/consent.h"
#include "base/log.h"
#include "base/str.h"
#include "controller/life/identity.h"
#include "controller/life/journal.h"
#include "controller/life/life.h"
#include "controller/rules/identity.h"
#include "controller/rules/machine.h"

/* --- two Machines for one ------------------------------------------------------------------------ */

struct twin {
	const struct life *l;
	const char *found, *what;
};

/* A slash at the end and the case of the host do not make it another one. */
static bool same_address(const char *a, const char *b)
{
	size_t n = a ? strlen(a) : 0, m = b ? strlen(b) : 0;

	while (n && a[n - 1] == '/')
		n--;
	while (m && b[m - 1] == '/')
		m--;
	return n && n == m && strncasecmp(a, b, n) == 0;
}

static bool is_twin(const struct kube_entry *en, void *arg)
{
	struct twin *t = arg;
	const struct machine *a = t->l->m, *b = en->object;

	if (str_eq(a->meta.name, b->meta.name) || b->spec.management_policy == MACHINE_RETIRE)
		return true;
	t->what = identity_twins(a->spec.identity, b->spec.identity);
	if (!t->what && a->spec.bmc && b->spec.bmc &&
	    same_address(a->spec.bmc->address, b->spec.bmc->address))
		t->what = "spec.bmc.address";
	if (!t->what)
		return true;
	t->found = b->meta.name;
	return false;
}

bool life_ensure_single(struct life *l)
{
	struct twin t = {.l = l};

	kube_cache_each(l->c->cache[OBJECT_MACHINE], is_twin, &t);
	if (t.found)
		life_wait(l, WAITING_APPROVAL, REASON_DuplicateIdentity,
			  "%s is that of machine %s too", t.what, t.found);
	return t.found == NULL;
}

/* --- where the password goes ----------------------------------------------------------------------- */

/* As a merge patch: what an earlier trust was known by goes. */
static json_t *trust_of(const struct machine_bmc *b)
{
	const struct object_secret_ref *ca = b->tls.ca_secret_ref;

	return json_pack("{s:s, s:{s:s?, s:o, s:b}}", "address", b->address, "tls", "fingerprint",
			 b->tls.fingerprint, "caSecretRef",
			 ca ? json_pack("{s:s, s:s?}", "name", ca->name, "key", ca->key)
			    : json_null(),
			 "trustOnFirstUse", b->tls.trust_on_first_use);
}

bool life_ensure_bmc_trusted(struct life *l)
{
	const struct machine_bmc *b = l->m->spec.bmc;
	const struct machine_status *st = &l->m->status;
	const struct machine_approval *a = l->m->spec.approval;
	bool approved = a && a->action == APPROVE_TRUST_BMC && !str_eq(a->id, st->approval_id) &&
			machine_bmc_is(b, a->bmc);
	json_t *s;

	if (!approved && machine_bmc_is(b, st->trusted_bmc))
		return true;
	if (!approved && st->trusted_bmc) {
		life_wait(
			l, WAITING_APPROVAL, REASON_BmcNotTrusted,
			"spec.bmc is not what the password may go to, %.200s as it was known then; `drover approve %s --bmc`",
			st->trusted_bmc->address, l->name);
		return false;
	}
	s = json_pack("{s:o}", "trustedBMC", trust_of(b));
	if (approved) { /* of the last one neither session, nor certificate, nor refusal counts */
		log_info("a person trusts its BMC", LOG_S("machine", l->name),
			 LOG_S("address", b->address));
		json_object_set_new(s, "approvalID", json_string(a->id));
		json_object_set_new(s, "bmc",
				    json_pack("{s:n, s:n, s:n}", "sessionURI", "fingerprint",
					      "refusedSecretVersion"));
	}
	life_write(l, s, NULL);
	return false;
}

/* --- consent -------------------------------------------------------------------------------------- */

bool life_ensure_consented(struct life *l)
{
	struct err e;

	if (l->m->spec.management_policy != MACHINE_MANAGE)
		return false;
	if (life_identity(l, &e) < 0) {
		life_wait(l, WAITING_APPROVAL,
			  e.kind == ERR_NOT_FOUND ? REASON_NotApproved : REASON_IdentityMismatch,
			  "%s", e.text);
		return false;
	}
	return life_ensure_single(l);
}

bool life_ensure_may_leave(struct life *l)
{
	if (!ctx_crds_terminating(l->c))
		return true;
	life_wait(
		l, WAITING_APPROVAL, REASON_DefinitionTerminating,
		"a CustomResourceDefinition of drover.dev is being deleted: no deletion is acted on");
	return false;
}

bool life_ensure_unpaused(struct life *l)
{
	const struct provider_object *p = life_provider(l);

	if (l->m->spec.management_policy != MACHINE_OBSERVE && !(p && p->spec.paused))
		return true;
	life_wait(l, WAITING_APPROVAL, REASON_Paused, "%s",
		  p && p->spec.paused ? "the provider is paused"
				      : "spec.managementPolicy is Observe");
	return false;
}

const char *life_approved_wipe(const struct life *l)
{
	const struct machine_approval *a = l->m->spec.approval;

	return a && a->action == APPROVE_WIPE && a->id && !str_eq(a->id, l->m->status.approval_id)
		       ? a->id
		       : NULL;
}
