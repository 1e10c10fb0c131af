/*
 * consent: may drover act on this machine at all: approved, not another one, not paused, no definition going.
 * Tests: tests/world/test_identity.c, tests/world/test_review.c
 */
#include <string.h>

#include "controller/life/consent.h"
#include "base/log.h"
#include "base/str.h"
#include "controller/life/identity.h"
#include "controller/life/journal.h"
#include "controller/life/life.h"
#include "controller/rules/identity.h"

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
