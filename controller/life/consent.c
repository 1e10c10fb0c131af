/*
 * consent: decides whether drover may act on this machine: it is approved, its identity matches, it
 * is not paused, and no CustomResourceDefinition is being deleted.
 * Tests: tests/world/test_identity.c, tests/world/test_review.c, tests/world/test_bmc_trust.c
 */
#include <string.h>

#include "controller/life/consent.h"
#include "base/log.h"
#include "base/str.h"
#include "controller/hardware/driver.h"
#include "controller/hardware/machine_index.h"
#include "controller/life/bmc_facts.h"
#include "controller/life/identity.h"
#include "controller/life/journal.h"
#include "controller/life/life.h"
#include "controller/life/paid.h"
#include "controller/rules/identity.h"
#include "controller/rules/machine.h"

/* --- two Machine objects for one machine ------------------------------------------------------ */

struct machine_twin {
	const struct life *l;
	const char *found;
};

static bool is_twin(const char *machine, void *arg)
{
	struct machine_twin *t = arg;
	const struct machine *a = t->l->m, *b = CTX_GET(t->l->c, OBJECT_MACHINE, machine, machine);

	if (!b || str_eq(a->meta.name, b->meta.name) || b->spec.management_policy == MACHINE_RETIRE)
		return true;
	t->found = b->meta.name;
	return false;
}

/* Callback for machines with the same serial number. Works like is_twin(), except that two
 * different valid UUIDs prove two machines, whatever their serial numbers. */
static bool is_serial_twin(const char *machine, void *arg)
{
	const struct machine_twin *t = arg;
	const struct machine *b = CTX_GET(t->l->c, OBJECT_MACHINE, machine, machine);

	return !b || !identity_twins(t->l->m->spec.identity, b->spec.identity) ||
	       is_twin(machine, arg);
}

bool life_ensure_single(struct life *l)
{
	const struct machine_index *x = l->parts->machine_index;
	const struct machine_identity *id = l->m->spec.identity;
	const char *what = "spec.identity.systemUUID";
	struct machine_twin t = {.l = l};

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
			  "%s is the same as that of machine %s", what, t.found);
	/* mutant: twin-taken */
	return t.found == NULL;
}

/* --- the BMC that may get the password -------------------------------------------------------- */

/* Secret and CA that an approval of the BMC would trust now */
struct offered {
	/* name of the credentials Secret; NULL: none */
	const char *login;
	/* digest of the CA; "": no CA, or not read yet */
	char ca[CRYPTO_DIGEST_TEXT];
};

/* Returns the driver of the machine's Provider, even if the machine is not attached to it yet. */
static struct driver *driver_of(const struct life *l)
{
	const struct provider_object *p = l->driver ? NULL : life_provider(l);

	return p ? driver_get(l->parts->drivers, p->meta.name) : l->driver;
}

static struct offered offered_by(const struct life *l)
{
	struct driver *s = driver_of(l);
	struct offered o = {0};

	if (!s)
		return o;
	o.login = driver_login(s, l->m);
	if (!driver_ca_digest(s, l->m, o.ca))
		o.ca[0] = '\0';
	return o;
}

static const char *differs(const struct life *l, const struct machine_bmc_trust *trusted)
{
	struct offered o = offered_by(l);

	return machine_bmc_differs(l->m->spec.bmc, o.login, o.ca[0] ? o.ca : NULL, trusted);
}

/* Returns status.trustedBMC as a merge patch. The patch also removes the members of an earlier
 * trust that are not set now. */
static json_t *trust_of(const struct machine_bmc *b, const struct offered *o)
{
	const struct object_secret_ref *ca = b->tls.ca_secret_ref;

	return json_pack("{s:s, s:{s:s?, s:o, s:b}, s:s?, s:s?}", "address", b->address, "tls",
			 "fingerprint", b->tls.fingerprint, "caSecretRef",
			 ca ? json_pack("{s:s, s:s?}", "name", ca->name, "key", ca->key)
			    : json_null(),
			 "trustOnFirstUse", b->tls.trust_on_first_use, "credentials", o->login,
			 "caDigest", o->ca[0] ? o->ca : NULL);
}

/* True if an operator has approved exactly this BMC, including the name of its Secret. */
static bool is_approved(const struct life *l)
{
	const struct machine_approval *a = l->m->spec.approval;

	return a && a->action == APPROVE_TRUST_BMC && !str_eq(a->id, l->m->status.approval_id) &&
	       a->bmc && a->bmc->credentials && !differs(l, a->bmc);
}

bool life_bmc_trusted(const struct life *l, struct err *e)
{
	const struct machine_bmc_trust *t = l->m->status.trusted_bmc;
	const char *what = /* mutant: bmc-untrusted */ differs(l, t);

	if (!what)
		return true;
	err_note(e, ERR_DENIED, 0,
		 "not approved by an operator: %s; drover sends the password only to %.100s; to "
		 "approve the change, run `drover approve %s --bmc`",
		 what, t ? t->address : "an approved BMC", l->name);
	return false;
}

json_t *life_bmc_first_trust(const struct life *l)
{
	struct driver *s = driver_of(l);
	struct offered o;

	if (!s || !s->provider || !l->m->spec.bmc || l->m->status.trusted_bmc || is_approved(l))
		return NULL;
	o = offered_by(l);
	return trust_of(l->m->spec.bmc, &o);
}

/* True if the stored trust *t lacks credentials or CA digest, and that value is known now. Either
 * an older drover wrote *t, or the CA could not be read at that time. */
static bool is_incomplete(const struct machine_bmc_trust *t, const struct offered *o)
{
	return (!t->credentials && o->login) || (!t->ca_digest && o->ca[0]);
}

bool life_ensure_bmc_trust_written(struct life *l)
{
	const struct machine_bmc *b = l->m->spec.bmc;
	const struct machine_status *st = &l->m->status;
	struct offered o = offered_by(l);
	bool approved = is_approved(l);
	json_t *s, *bmc;

	if (!approved && st->trusted_bmc &&
	    (differs(l, st->trusted_bmc) || !is_incomplete(st->trusted_bmc, &o)))
		return true;
	s = json_pack("{s:o}", "trustedBMC", trust_of(b, &o));
	if (approved) {
		/* also drop session, certificate and refused Secret version from status, because
		 * they belong to the BMC that was trusted before */
		log_info("an operator approved the BMC", LOG_S("machine", l->name),
			 LOG_S("address", b->address));
		json_object_set_new(s, "approvalID", json_string(l->m->spec.approval->id));
		bmc = json_pack("{s:n, s:n, s:n}", "sessionURI", "fingerprint",
				"refusedSecretVersion");
		life_bmc_unknown(bmc);
		json_object_set_new(s, "bmc", bmc);
	}
	life_write(l, s, NULL);
	return false;
}

/* --- consent ---------------------------------------------------------------------------------- */

bool life_ensure_approved_identity(struct life *l, enum reason another)
{
	struct err e;

	/* mutant: another-bmc */
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
	return /* mutant: consent-policy */ l->m->spec.management_policy == MACHINE_MANAGE &&
	       life_ensure_approved_identity(l, REASON_IdentityMismatch) && life_ensure_single(l);
}

bool life_ensure_may_leave(struct life *l)
{
	if (!ctx_crds_terminating(l->c))
		return true;
	life_wait(l, WAITING_APPROVAL, REASON_DefinitionTerminating,
		  "a CustomResourceDefinition of drover.dev is being deleted, so drover does not "
		  "act on the deletion of objects");
	return false;
}

bool life_ensure_unpaused(struct life *l)
{
	const struct provider_object *p = life_provider(l);

	if (/* mutant: observe-ignored */ l->m->spec.management_policy != MACHINE_OBSERVE &&
	    /* mutant: pause-ignored */ !(p && p->spec.paused))
		return true;
	/* mutant: burst-outlives-pause */
	if (life_paid_over(l))
		return true;
	if (p && p->spec.paused)
		life_wait(l, WAITING_APPROVAL, REASON_Paused, "Provider %s is paused",
			  p->meta.name);
	else
		life_wait(l, WAITING_APPROVAL, REASON_Observed, "spec.managementPolicy is Observe");
	return false;
}

const char *life_approved_wipe(const struct life *l)
{
	const struct machine_approval *a = l->m->spec.approval;

	return a && a->action == APPROVE_WIPE && a->id && /* mutant: wipe-approved-twice */
			       !str_eq(a->id, l->m->status.approval_id)
		       ? a->id
		       : NULL;
}
