/*
 * inventory: compares what the agent found with the Machine, its instance type and its drives.
 */
#include "controller/rules/inventory.h"

#include <string.h>

#include "base/str.h"
#include "controller/rules/identity.h"
#include "controller/rules/provider.h"

/* --- storage controllers ---------------------------------------------------------------------- */

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

/* Checks that no storage controller or drive has a fault that may hide data from the agent. -1: *e
 * names the first that has one. */
static int storage_shows(const struct proto_inventory *inv, struct err *e)
{
	for (size_t i = 0; i < inv->controllers.n; i++)
		if (inv->controllers.v[i].fault)
			return err_set(e, ERR_INVALID, 0, "storage controller %s at %s: %s",
				       inv->controllers.v[i].id, inv->controllers.v[i].address,
				       inv->controllers.v[i].fault);
	for (size_t i = 0; i < inv->drives.n; i++)
		if (inv->drives.v[i].fault)
			return err_set(e, ERR_INVALID, 0, "drive %s: %s", inv->drives.v[i].wwn,
				       inv->drives.v[i].fault);
	return 0;
}

/* Compares the storage controllers with spec.controllers. A dead drive may make its controller
 * disappear or lose its driver. Therefore there must be no fewer controllers with a driver, and no
 * more without one, than spec.controllers lists. -1: *e names the difference. */
static int controllers_fit(const struct machine *m, const struct proto_inventory *inv,
			   struct err *e)
{
	OWN(arena) a = arena_new();
	struct object_controllers seen = inventory_controllers(inv, a), want = m->spec.controllers;

	for (size_t i = 0; i < want.n; i++) {
		const struct object_controller *w = &want.v[i], *s = of_id(&seen, w->id);

		if (w->driven > (s ? s->driven : 0))
			return err_set(
				e, ERR_INVALID, 0,
				"spec.controllers requires %lld of PCI ID %s with a driver, the "
				"agent found %lld",
				(long long)w->driven, w->id, (long long)(s ? s->driven : 0));
	}
	for (size_t i = 0; want.n && i < seen.n; i++) {
		const struct object_controller *w = of_id(&want, seen.v[i].id);

		if (seen.v[i].dark > (w ? w->dark : 0))
			return err_set(
				e, ERR_INVALID, 0,
				"spec.controllers allows %lld of PCI ID %s without a driver, the "
				"agent found "
				"%lld",
				(long long)(w ? w->dark : 0), seen.v[i].id,
				(long long)seen.v[i].dark);
	}
	return 0;
}

/* --- the machine ------------------------------------------------------------------------------ */

static int machine_fits(const struct machine *m, const struct provider_object *p,
			const struct proto_inventory *inv, struct err *e)
{
	const struct provider_object_instance_type *t =
		p ? provider_instance_type(p, m->spec.instance_type) : NULL;
	const struct machine_agent *ag = m->status.agent;

	if (!t)
		return err_set(e, ERR_NOT_FOUND, 0,
			       "spec.instanceType: the Provider has no instance type %s",
			       str_or(m->spec.instance_type, "(none)"));
	if (identity_agent(m->spec.identity, m->spec.boot_mac_address, inv, e) < 0)
		return -1;
	/* The UUID of the agent's first message (status.agent.systemUUID) is later compared with
	 * the Node and the evidence, so the inspected UUID must be equal to it. */
	if (ag && ag->system_uuid && !str_eq(ag->system_uuid, inv->dmi.system_uuid))
		return err_set(e, ERR_CONFLICT, 0,
			       "the agent called with system UUID %s, but inspected system UUID %s",
			       ag->system_uuid, str_or(inv->dmi.system_uuid, "(none)"));
	for (size_t i = 0; i < t->match.pci.n; i++) {
		int64_t seen = 0;

		for (size_t k = 0; k < inv->gpus.n; k++)
			seen += str_eq(inv->gpus.v[k].id, t->match.pci.v[i].id);
		if (seen != t->match.pci.v[i].count)
			return err_set(
				e, ERR_INVALID, 0,
				"instance type %s requires %lld devices with PCI ID %s, found %lld",
				t->name, (long long)t->match.pci.v[i].count, t->match.pci.v[i].id,
				(long long)seen);
	}
	return 0;
}

/* --- drives ----------------------------------------------------------------------------------- */

/* Formats a drive for operators. serial, slot: NULL or "" if unknown. */
static const char *drive_text(const char *wwn, const char *serial, const char *slot,
			      char out[static INVENTORY_DRIVE_TEXT])
{
	bool both = !str_empty(serial) && !str_empty(slot);

	if (str_empty(serial) && str_empty(slot))
		str_format(out, INVENTORY_DRIVE_TEXT, "%.64s", wwn);
	else
		str_format(out, INVENTORY_DRIVE_TEXT, "%.64s (%s%.40s%s%.40s)", wwn,
			   str_empty(serial) ? "" : "serial ", str_or(serial, ""), both ? ", " : "",
			   str_or(slot, ""));
	return out;
}

static const struct object_drive *drive_of(const struct object_drives *l, const char *wwn)
{
	for (size_t i = 0; i < l->n; i++)
		if (str_eq(l->v[i].wwn, wwn))
			return &l->v[i];
	return NULL;
}

const char *inventory_drive_text(const struct machine *m, const char *wwn,
				 char out[static INVENTORY_DRIVE_TEXT])
{
	const struct object_drive *seen =
		m->status.inventory ? drive_of(&m->status.inventory->drives, wwn) : NULL;
	const struct object_drive *want = drive_of(&m->spec.drives, wwn);
	const char *serial = seen ? seen->serial_number : NULL, *slot = seen ? seen->slot : NULL;

	return drive_text(wwn, str_or(serial, want ? want->serial_number : NULL),
			  str_or(slot, want ? want->slot : NULL), out);
}

/* Names of drives for a message: as many as fit into `room` bytes, then the number of the others.
 * n: drives in total; told: drives named so far. */
struct naming {
	char text[INVENTORY_DRIVE_TEXT + 32];
	size_t room, n, told;
};

static void name_one(struct naming *l, const char *words)
{
	size_t used = strlen(l->text);

	l->n++;
	if (l->told + 1 != l->n || (used && used + strlen(words) + 2 > l->room))
		return;
	str_format(l->text + used, sizeof(l->text) - used, "%s%s", used ? ", " : "", words);
	l->told++;
}

static void name_rest(struct naming *l)
{
	size_t used = strlen(l->text);

	if (l->n > l->told)
		str_format(l->text + used, sizeof(l->text) - used, " and %zu more", l->n - l->told);
}

static enum reason drives_misfit(const struct machine *m, const struct proto_inventory *inv,
				 struct err *e)
{
	const struct object_drives *want = &m->spec.drives;
	struct naming missing = {.room = 130}, extra = {.room = 60};
	const struct object_drive *resized = NULL;
	char words[INVENTORY_DRIVE_TEXT];
	int64_t found_bytes = 0;

	for (size_t i = 0; i < want->n; i++) {
		const struct proto_drive *found = NULL;

		for (size_t k = 0; k < inv->drives.n; k++)
			if (str_eq(inv->drives.v[k].wwn, want->v[i].wwn))
				found = &inv->drives.v[k];
		if (!found) {
			name_one(&missing, inventory_drive_text(m, want->v[i].wwn, words));
		} else if (found->bytes != want->v[i].bytes) {
			resized = &want->v[i];
			found_bytes = found->bytes;
		}
	}
	for (size_t k = 0; k < inv->drives.n; k++)
		if (!drive_of(want, inv->drives.v[k].wwn))
			name_one(&extra, drive_text(inv->drives.v[k].wwn, inv->drives.v[k].serial,
						    inv->drives.v[k].slot, words));
	name_rest(&missing);
	name_rest(&extra);
	if (missing.n) {
		err_note(e, ERR_INVALID, 0, "drives missing: %s%s%s", missing.text,
			 extra.n ? "; not in spec.drives: " : "", extra.text);
		return REASON_DriveMissing;
	}
	if (extra.n) {
		err_note(e, ERR_INVALID, 0, "drives not in spec.drives: %s", extra.text);
		return REASON_DriveUnknown;
	}
	if (!resized && /* mutant: drives-number */ want->n == inv->drives.n)
		return REASON_NONE;
	if (resized)
		err_note(e, ERR_INVALID, 0,
			 "drive %s: spec.drives has %lld bytes, the agent found %lld",
			 inventory_drive_text(m, resized->wwn, words), (long long)resized->bytes,
			 (long long)found_bytes);
	/* no drive is missing or unexpected, but the numbers of drives differ: one is listed
	 * twice */
	else
		err_note(e, ERR_INVALID, 0, "spec.drives lists %zu drives, the agent found %zu",
			 want->n, inv->drives.n);
	return REASON_InventoryMismatch;
}

enum reason inventory_misfit(const struct machine *m, const struct provider_object *p,
			     const struct proto_inventory *inv, struct err *e)
{
	if (machine_fits(m, p, inv, e) < 0)
		return REASON_InventoryMismatch;
	/* mutant: storage-hidden */
	if (storage_shows(inv, e) < 0)
		return REASON_StorageHidden;
	if (controllers_fit(m, inv, e) < 0)
		return REASON_InventoryMismatch;
	return m->spec.drives.n ? drives_misfit(m, inv, e) : REASON_NONE;
}
