/*
 * tenancy: which tenancies are known of, and a status that is older than them begins again.
 * Tests: tests/world/test_restore.c, tests/world/test_evidence.c
 */
#include <stdlib.h>
#include <string.h>

#include "controller/life/tenancy.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/life/journal.h"
#include "controller/life/life.h"
#include "controller/rules/identity.h"

/* Known, in a tenancy past every one that is known of: whatever it held is not clean and not ours to cut. */
void life_begin(struct life *l, const char *why)
{
	int64_t tenancy = life_tenancy_known(l) + 1;
	/* Backends remember the fence of a Machine that was lost: seconds are more than its leaders were. */
	int64_t fence = l->m->status.operation ? life_fence(l) : loop_wall(l->c->loop) / 1000;
	json_t *s = json_pack(
		"{s:s, s:I, s:b, s:{s:I}, s:{s:n}, s:n, s:n, s:n, s:n, s:n, s:n, s:n, s:n}",
		"state", "known", "tenancy", (json_int_t)tenancy, "clean", 0, "operation", "fence",
		(json_int_t)fence, "power", "httpBoot", "claimRef", "tenant", "warmFor", "agent",
		"quarantine", "leave", "hold", "wipeAttempt");

	l->state = MACHINE_KNOWN;
	life_set_time(s, "stateSince", loop_wall(l->c->loop));
	log_info(why, LOG_S("machine", l->name), LOG_I("tenancy", tenancy));
	life_write(l, s, NULL);
}

bool life_outdated(struct life *l)
{
	if (life_tenancy_known(l) <= l->m->status.tenancy)
		return false;
	ctx_event(l->c, OBJECT_MACHINE, &l->m->meta, "Warning", "StatusOutdated",
		  "status is older than its records or claims: it begins again, and is not clean");
	life_begin(l, "machine status is older than what is known");
	return true;
}

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
