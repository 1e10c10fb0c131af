/*
 * consent: may drover act on this machine at all: approved, not another one, not paused, no definition going.
 * Tests: tests/world/test_identity.c, tests/world/test_review.c, tests/world/test_bmc_trust.c
 */
#include <string.h>

#include "controller/life/consent.h"
#include "base/log.h"
#include "base/str.h"
#include "controller/hardware/machine_index.h"
#include "controller/life/identity.h"
#include "controller/life/journal.h"
#include "controller/life/life.h"
#include "controller/rules/identity.h"
#include "controller/rules/machine.h"

/* --- two Machines for one ------------------------------------------------------------------------ */

struct twin {
	const struct life *l;
	const char *found;
};

static bool is_twin(const char *machine, void *arg)
{
	struct twin *t = arg;
	const struct machine *a = t->l->m, *b = CTX_GET(t->l->c, OBJECT_MACHINE, machine, machine);

	if (!b || str_eq(a->meta.name, b->meta.name) || b->spec.management_policy == MACHINE_RETIRE)
		return true;
	t->found = b->meta.name;
	return false;
}

/* Two UUIDs that count and are not the same tell two machines apart, whatever their serial numbers. */
static bool is_serial_twin(const char *machine, void *arg)
{
	const struct twin *t = arg;
	const struct machine *b = CTX_GET(t->l->c, OBJECT_MACHINE, machine, machine);

	return !b || !identity_twins(t->l->m->spec.identity, b->spec.identity) ||
	       is_twin(machine, arg);
}

bool life_ensure_single(struct life *l)
{
	const struct machine_index *x = l->parts->machine_index;
	const struct machine_identity *id = l->m->spec.identity;
	const char *what = "spec.identity.systemUUID";
	struct twin t = {.l = l};

	machine_index_each(x, MACHINE_BY_UUID, id ? id->system_uuid : NULL, is_twin, &t);
	if (!t.found) {
		what = "spec.identity.serialNumber";
		machine_index_each(x, MACHINE_BY_SERIAL, id ? id->serial_number : NULL,
				   is_serial_twin, &t);
	}
	if (!t.found) {
		what = "spec.bmc.address";
		machine_index_each(x, MACHINE_BY_ADDRESS,
				   l->m->spec.bmc ? l->m->spec.bmc->address : NULL, is_twin, &t);
	}
	if (t.found)
		life_wait(l, WAITING_APPROVAL, REASON_DuplicateIdentity,
			  "%s is that of machine %s too", what, t.found);
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

static bool is_approved(const struct life *l)
{
	const struct machine_approval *a = l->m->spec.approval;

	return a && a->action == APPROVE_TRUST_BMC && !str_eq(a->id, l->m->status.approval_id) &&
	       machine_bmc_is(l->m->spec.bmc, a->bmc);
}

bool life_bmc_trusted(const struct life *l, struct err *e)
{
	const struct machine_status *st = &l->m->status;

	if (machine_bmc_is(l->m->spec.bmc, st->trusted_bmc))
		return true;
	(void)!err_set(
		e, ERR_DENIED, 0,
		"spec.bmc is not what the password may go to, %.100s as it was known then; `drover approve %s --bmc`",
		st->trusted_bmc ? st->trusted_bmc->address : "nothing", l->name);
	return false;
}

json_t *life_first_trust(const struct life *l)
{
	const struct machine_bmc *b = l->m->spec.bmc;

	return b && !l->m->status.trusted_bmc && !is_approved(l) ? trust_of(b) : NULL;
}

bool life_ensure_bmc_trust_written(struct life *l)
{
	const struct machine_bmc *b = l->m->spec.bmc;
	const struct machine_status *st = &l->m->status;
	bool approved = is_approved(l);
	json_t *s;

	if (!approved && st->trusted_bmc)
		return true;
	s = json_pack("{s:o}", "trustedBMC", trust_of(b));
	if (approved) { /* of the last one neither session, nor certificate, nor refusal counts */
		log_info("a person trusts its BMC", LOG_S("machine", l->name),
			 LOG_S("address", b->address));
		json_object_set_new(s, "approvalID", json_string(l->m->spec.approval->id));
		json_object_set_new(s, "bmc",
				    json_pack("{s:n, s:n, s:n}", "sessionURI", "fingerprint",
					      "refusedSecretVersion"));
	}
	life_write(l, s, NULL);
	return false;
}

/* --- consent -------------------------------------------------------------------------------------- */

bool life_ensure_ours(struct life *l, enum reason another)
{
	struct err e;

	if (life_identity(l, &e) == 0)
		return true;
	if (e.code == IDENTITY_UNTOLD)
		life_wait(l, WAITING_DEVICE, REASON_IdentityNotTold, "%s", e.text);
	else
		life_wait(l, WAITING_APPROVAL,
			  e.kind == ERR_NOT_FOUND ? REASON_NotApproved : another, "%s", e.text);
	return false;
}

bool life_ensure_consented(struct life *l)
{
	return l->m->spec.management_policy == MACHINE_MANAGE &&
	       life_ensure_ours(l, REASON_IdentityMismatch) && life_ensure_single(l);
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
