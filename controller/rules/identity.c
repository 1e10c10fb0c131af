/*
 * identity: compares UUIDs, serial numbers and providerIDs, in both byte orders where that is
 * allowed.
 * Tests: tests/unit/controller/rules/test_identity.c, tests/world/test_identity.c
 */
#include "controller/rules/identity.h"

#include <strings.h>
#include "base/str.h"
#include "base/uuid.h"

/* Refuses also the serial numbers that firmware reports when none was set. */
bool identity_is_serial(const char *serial)
{
	static const char *const defaults[] = {
		"to be filled by o.e.m.",
		"to be filled by oem",
		"default string",
		"system serial number",
		"chassis serial number",
		"base board serial number",
		"not specified",
		"not applicable",
		"not available",
		"none",
		"null",
		"n/a",
		"na",
		"unknown",
		"serial",
		"123456789",
		"1234567890",
		"0123456789",
		"empty",
		"invalid",
		"oem",
	};

	if (str_empty(serial))
		return false;
	for (size_t i = 0; i < sizeof(defaults) / sizeof(*defaults); i++)
		if (strcasecmp(serial, defaults[i]) == 0)
			return false;
	/* false for one repeated character, such as "00000000" */
	for (const char *p = serial; *p; p++)
		if (*p != serial[0])
			return true;
	return false;
}

static bool same_serial(const char *a, const char *b)
{
	return identity_is_serial(a) && str_eq(a, b);
}

static const char *named(const char *text)
{
	return str_or(text, "nothing");
}

/* What a source reports about a machine's identity. */
struct reported {
	/* Name of the source, for messages. */
	const char *who;
	const char *uuid, *serial;
	/* True: the source also gives a second proof. */
	bool beside;
	/* " or NAME" of that second proof, for messages; "" if the source can give none. */
	const char *or_else;
};

/* Returns 0 if what r reports proves the identity in `want`, or -1 with ERR_CONFLICT. The same UUID
 * is a proof. The same UUID in the other byte order is a proof only if r->beside is true or the
 * serial numbers match. If `want` has no usable UUID, the serial number decides. */
static int proves(const struct machine_identity *want, const struct reported *r, struct err *e)
{
	char text[UUID_TEXT];

	if (uuid_read(want->system_uuid, text) == UUID_NOT)
		return err_set(e, ERR_CONFLICT, 0, "spec.identity.systemUUID: %s is not a UUID",
			       want->system_uuid);
	if (!uuid_is(want->system_uuid)) {
		if (same_serial(want->serial_number, r->serial))
			return 0;
		return err_set(
			e, ERR_CONFLICT, 0,
			"spec.identity has no UUID that distinguishes machines: its serialNumber "
			"is %s, but %s reports %s",
			str_or(want->serial_number, "(none)"), r->who, named(r->serial));
	}
	switch (uuid_compare(want->system_uuid, r->uuid)) {
	case UUID_EXACT:
		return 0;
	case UUID_SWAPPED:
		if (r->beside || same_serial(want->serial_number, r->serial))
			return 0;
		return err_set(
			e, ERR_CONFLICT, 0,
			"spec.identity.systemUUID is %s, %s reports %s: the same UUID in the "
			"other byte order, which is accepted only if spec.identity.serialNumber%s "
			"matches (%s reports %s)",
			want->system_uuid, r->who, r->uuid, r->or_else, r->who, named(r->serial));
	case UUID_DIFFERENT:
		break;
	}
	return err_set(e, ERR_CONFLICT, 0, "spec.identity.systemUUID is %s, but %s reports %s",
		       want->system_uuid, r->who, named(r->uuid));
}

/* True if the BMC does not report the values that a proof needs, and the values that it does report
 * do not belong to another machine. */
static bool untold(const struct machine_identity *want, const char *uuid, const char *serial)
{
	bool by_uuid = uuid_is(want->system_uuid);

	if (uuid_read(want->system_uuid, (char[UUID_TEXT]){0}) == UUID_NOT)
		return false;
	if (by_uuid && !uuid_is(uuid))
		return true;
	/* The serial number is needed if there is no usable UUID, or if the UUID is in the other
	 * byte order. */
	return identity_is_serial(want->serial_number) && str_empty(serial) &&
	       (!by_uuid || uuid_compare(want->system_uuid, uuid) == UUID_SWAPPED);
}

int identity_bmc(const struct machine_identity *want, const char *uuid, const char *serial,
		 struct err *e)
{
	if (!want || (str_empty(want->system_uuid) && str_empty(want->serial_number)))
		return err_set(e, ERR_NOT_FOUND, 0, "spec.identity is not set");
	if (!str_empty(want->serial_number) && !str_empty(serial) &&
	    !str_eq(want->serial_number, serial))
		return err_set(e, ERR_CONFLICT, 0,
			       "spec.identity.serialNumber is %s, but the BMC reports %s",
			       want->serial_number, serial);
	if (untold(want, uuid, serial))
		return err_set(
			e, ERR_UNAVAILABLE, IDENTITY_UNTOLD,
			"the BMC does not report the identity of its machine: system UUID %s, "
			"serial number %s",
			named(uuid), named(serial));
	return proves(
		want,
		&(struct reported){.who = "the BMC", .uuid = uuid, .serial = serial, .or_else = ""},
		e);
}

static bool has_nic(const struct proto_inventory *inv, const char *mac)
{
	for (size_t i = 0; !str_empty(mac) && i < inv->nics.n; i++)
		if (inv->nics.v[i].mac && strcasecmp(inv->nics.v[i].mac, mac) == 0)
			return true;
	return false;
}

int identity_agent(const struct machine_identity *want, const char *mac,
		   const struct proto_inventory *inv, struct err *e)
{
	static const struct machine_identity none;

	return proves(want ? want : &none,
		      &(struct reported){.who = "the agent",
					 .uuid = inv->dmi.system_uuid,
					 .serial = inv->dmi.serial,
					 .beside = has_nic(inv, mac),
					 .or_else = " or spec.bootMACAddress"},
		      e);
}

bool identity_joined(const struct machine_identity *want, const char *seen, const char *node)
{
	if (!str_empty(seen))
		return uuid_is(seen) ? uuid_compare(seen, node) == UUID_EXACT
				     : node && strcasecmp(seen, node) == 0;
	return want && uuid_compare(want->system_uuid, node) == UUID_EXACT;
}

const char *identity_provider_id(const struct machine *m, struct arena *a)
{
	return arena_printf(a, "drover://%s/%s", str_or(m->spec.provider_ref.name, "none"),
			    m->meta.name);
}

static bool same_provider_id(const char *a, const char *b)
{
	return !str_empty(a) && str_eq(a, b);
}

bool identity_node(const char *uuid, const char *provider_id, const char *node_uuid,
		   const char *node_provider_id)
{
	if (!uuid_is(uuid))
		return same_provider_id(provider_id, node_provider_id);
	switch (uuid_compare(uuid, node_uuid)) {
	case UUID_EXACT:
		return true;
	case UUID_SWAPPED:
		return same_provider_id(provider_id, node_provider_id);
	case UUID_DIFFERENT:
		break;
	}
	return false;
}

bool identity_may_run(const char *uuid, const char *provider_id, const char *node_uuid,
		      const char *node_provider_id)
{
	bool ours = uuid_is(uuid), theirs = uuid_is(node_uuid);

	if (ours && theirs)
		return uuid_same(uuid, node_uuid);
	return (!ours && !theirs) || same_provider_id(provider_id, node_provider_id);
}

const char *identity_twins(const struct machine_identity *a, const struct machine_identity *b)
{
	if (!a || !b)
		return NULL;
	if (uuid_same(a->system_uuid, b->system_uuid))
		return "spec.identity.systemUUID";
	if ((!uuid_is(a->system_uuid) || !uuid_is(b->system_uuid)) &&
	    same_serial(a->serial_number, b->serial_number))
		return "spec.identity.serialNumber";
	return NULL;
}

bool identity_of_record(const struct machine_identity *want, const char *uuid, const char *serial)
{
	const struct machine_identity of = {.system_uuid = uuid, .serial_number = serial};

	return identity_twins(want, &of) != NULL;
}
