/*
 * tenancy: searches WipeRecords and claims for the highest tenancy of a machine.
 * Tests: tests/unit/controller/life/test_tenancy.c, tests/world/test_restore.c,
 * tests/world/test_evidence.c
 */
#include <stdlib.h>
#include <string.h>

#include "controller/life/tenancy.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/core/claim_index.h"
#include "controller/core/record_index.h"
#include "controller/life/life.h"
#include "controller/rules/identity.h"

bool life_outdated(const struct life *l)
{
	return life_tenancy_known(l) > l->m->status.tenancy;
}

struct highest {
	const struct life *l;
	int64_t tenancy;
};

static bool record_tenancy(const struct wipe_record *r, void *arg)
{
	const struct evidence *ev = &r->spec.evidence;
	struct highest *h = arg;

	if (ev->tenancy > h->tenancy &&
	    (str_eq(ev->machine.name, h->l->name) ||
	     identity_of_record(h->l->m->spec.identity, ev->machine.system_uuid,
				ev->machine.serial)))
		h->tenancy = ev->tenancy;
	return true;
}

static bool claim_tenancy(const struct node_claim *n, void *arg)
{
	struct highest *h = arg;

	if (n->status.machine_ref && str_eq(n->status.machine_ref->name, h->l->name) &&
	    n->status.tenancy > h->tenancy)
		h->tenancy = n->status.tenancy;
	return true;
}

int64_t life_tenancy_known(const struct life *l)
{
	const struct machine_identity *id = l->m->spec.identity;
	struct highest h = {.l = l, .tenancy = l->tenancy_seen};

	record_index_each(l->c, RECORD_BY_MACHINE, l->name, record_tenancy, &h);
	/* Records of the same server under another name */
	if (id)
		record_index_each(l->c, RECORD_BY_UUID, id->system_uuid, record_tenancy, &h);
	if (id && identity_is_serial(id->serial_number))
		record_index_each(l->c, RECORD_BY_SERIAL, id->serial_number, record_tenancy, &h);
	claim_index_each(l->c, CLAIM_BY_MACHINE, l->name, claim_tenancy, &h);
	return h.tenancy;
}
