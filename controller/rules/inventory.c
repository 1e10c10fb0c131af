/*
 * inventory: holds what the agent inspected against Machine, instance type and drives.
 */
#include "controller/rules/inventory.h"

#include "base/str.h"
#include "controller/rules/identity.h"
#include "controller/rules/provider.h"

static struct object_controller *of_id(struct object_controllers *l, const char *id)
{
	for (size_t i = 0; i < l->n; i++)
		if (str_eq(l->v[i].id, id))
			return &l->v[i];
	return NULL;
}

struct object_controllers inventory_controllers(const struct proto_inventory *inv, struct arena *a)
{
	struct object_controllers l = {.v = arena_calloc(a, inv->controllers.n + 1, sizeof(*l.v))};

	for (size_t i = 0; i < inv->controllers.n; i++) {
		const struct proto_controller *c = &inv->controllers.v[i];
		struct object_controller *o = of_id(&l, c->id);

		if (!o) {
			o = &l.v[l.n++];
			o->id = c->id;
		}
		if (c->driver)
			o->driven++;
		else
			o->dark++;
	}
	return l;
}

/* A drive that died takes its controller with it, or leaves it without a driver. */
static int controllers_fit(const struct machine *m, const struct proto_inventory *inv,
			   struct err *e)
{
	OWN(arena) a = arena_new();
	struct object_controllers seen = inventory_controllers(inv, a), want = m->spec.controllers;

	for (size_t i = 0; i < inv->controllers.n; i++)
		if (inv->controllers.v[i].fault)
			return err_set(e, ERR_INVALID, 0, "storage controller %s at %s: %s",
				       inv->controllers.v[i].id, inv->controllers.v[i].address,
				       inv->controllers.v[i].fault);
	for (size_t i = 0; i < want.n; i++) {
		const struct object_controller *w = &want.v[i], *s = of_id(&seen, w->id);

		if (w->driven > (s ? s->driven : 0))
			return err_set(
				e, ERR_INVALID, 0,
				"spec.controllers: %lld of %s with a driver, the agent found %lld",
				(long long)w->driven, w->id, (long long)(s ? s->driven : 0));
	}
	for (size_t i = 0; want.n && i < seen.n; i++) {
		const struct object_controller *w = of_id(&want, seen.v[i].id);

		if (seen.v[i].dark > (w ? w->dark : 0))
			return err_set(
				e, ERR_INVALID, 0,
				"spec.controllers: %lld of %s without a driver, the agent found %lld",
				(long long)(w ? w->dark : 0), seen.v[i].id,
				(long long)seen.v[i].dark);
	}
	return 0;
}

int inventory_fits(const struct machine *m, const struct provider_object *p,
		   const struct proto_inventory *inv, struct err *e)
{
	const struct provider_object_instance_type *t =
		p ? provider_instance_type(p, m->spec.instance_type) : NULL;
	const struct machine_agent *ag = m->status.agent;

	if (!t)
		return err_set(e, ERR_NOT_FOUND, 0, "spec.instanceType: provider has no type %s",
			       str_or(m->spec.instance_type, "(none)"));
	if (identity_agent(m->spec.identity, m->spec.boot_mac_address, inv, e) < 0)
		return -1;
	/* What it said when it called: Node and evidence are held against that. */
	if (ag && ag->system_uuid && !str_eq(ag->system_uuid, inv->dmi.system_uuid))
		return err_set(e, ERR_CONFLICT, 0,
			       "the agent called from system UUID %s, and inspected %s",
			       ag->system_uuid, str_or(inv->dmi.system_uuid, "(none)"));
	for (size_t i = 0; i < t->match.pci.n; i++) {
		int64_t seen = 0;

		for (size_t k = 0; k < inv->gpus.n; k++)
			seen += str_eq(inv->gpus.v[k].id, t->match.pci.v[i].id);
		if (seen != t->match.pci.v[i].count)
			return err_set(e, ERR_INVALID, 0,
				       "instance type %s wants %lld of PCI %s, found %lld", t->name,
				       (long long)t->match.pci.v[i].count, t->match.pci.v[i].id,
				       (long long)seen);
	}
	if (controllers_fit(m, inv, e) < 0)
		return -1;
	if (!m->spec.drives.n)
		return 0;
	if (inv->drives.n != m->spec.drives.n)
		return err_set(e, ERR_INVALID, 0, "spec.drives names %zu, the agent found %zu",
			       m->spec.drives.n, inv->drives.n);
	for (size_t i = 0; i < m->spec.drives.n; i++) {
		const struct object_drive *d = &m->spec.drives.v[i];
		bool found = false;

		for (size_t k = 0; k < inv->drives.n; k++)
			found |= str_eq(inv->drives.v[k].wwn, d->wwn) &&
				 inv->drives.v[k].bytes == d->bytes;
		if (!found)
			return err_set(e, ERR_INVALID, 0,
				       "spec.drives: %s of %lld bytes is missing", d->wwn,
				       (long long)d->bytes);
	}
	return 0;
}
