#include "redfish/internal.h"

#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "base/str.h"

/*
 * Finds the System that is the machine, and reads its facts. The machine is the configured System,
 * or the only one with a Reset action.
 *
 *   Systems -> each of them, in turn -> one with a Reset action: read again, found
 *                                       several: ERR_UNSUPPORTED lists them
 *
 * A DPU is a System with its own power (SystemType, DSP0268), but not the machine. A Manager or a
 * Chassis has UUID and PowerState too: identity and power are read only from a ComputerSystem.
 *
 * Tests: tests/unit/redfish/test_find.c, tests/unit/redfish/test_system.c
 */
#define MAX_CANDIDATES (sizeof(((struct redfish *)0)->candidates) / sizeof(char *))
#define TEXT 200 /* Size of the list of Systems in an error. */

static void next_candidate(struct redfish *r);

/* Returns (malloc'd) the path in ref, a member of the System; NULL: ref is absent, or names another
 * host. */
static char *link_in(const struct redfish *r, const json_t *ref)
{
	struct err ignored;

	return rf_link(r, ref, &ignored);
}

static bool oem_has(const char *member, const void *arg)
{
	return json_object_get(arg, member) != NULL;
}

unsigned rf_reset_types(const json_t *values)
{
	static const struct {
		const char *name;
		enum rf_reset bit;
	} names[] = {
		{"On", RF_RESET_ON},
		{"ForceOn", RF_RESET_FORCE_ON},
		{"ForceOff", RF_RESET_FORCE_OFF},
		{"GracefulShutdown", RF_RESET_GRACEFUL_OFF},
		{"PowerCycle", RF_RESET_POWER_CYCLE},
	};
	unsigned types = 0;
	json_t *v;
	size_t i;

	json_array_foreach (values, i, v) {
		types |= RF_RESET_OTHER;
		for (size_t n = 0; n < sizeof(names) / sizeof(*names); n++)
			if (str_eq(names[n].name, json_string_value(v)))
				types |= names[n].bit;
	}
	return types;
}

/*
 * Calls fits() if the operation changes the machine. The owner of the operation decided on the
 * change for a machine that it had seen before, so the owner must confirm that the System just read
 * is that machine. False: refused; the operation has ended with the error of fits().
 */
static bool is_meant(struct redfish *r, const struct rf_reply *p)
{
	struct rf_identity id;
	struct redfish_system s;
	struct err e;

	rf_identity_of(p->json, &id);
	rf_parse(p->json, p->sent_at, &s, &id);
	if (rf_changes(r->op) && r->fits && r->fits(&s, r->op->arg, &e) < 0) {
		/* Forget all paths too, because the BMC belongs to another machine. */
		if (e.kind == ERR_CONFLICT)
			rf_forget(r);
		rf_fail(r, &e);
		return false;
	}
	r->op->proved = true;
	return true;
}

static bool is_dpu(const json_t *system)
{
	return str_eq(json_str_at(system, "SystemType"), "DPU");
}

/* Returns true for a ComputerSystem.  Without @odata.type the action ComputerSystem.Reset decides,
 * because no other resource has it. */
static bool is_system(const json_t *j)
{
	const char *type = json_str_at(j, "@odata.type");

	if (!type)
		return json_at(j, "Actions", "#ComputerSystem.Reset");
	return str_starts(type + (*type == '#'), "ComputerSystem.");
}

/* Fails the operation, because the resource is no machine. Error code REDFISH_ADDRESS: the operator
 * has to correct the configured path. Error kind ERR_PROTOCOL: the path came from the BMC's own
 * list, so the list is wrong. */
static bool refuse_resource(struct redfish *r, struct err *e)
{
	e->scope = ERR_MACHINE;
	if (r->system_fixed)
		e->code = REDFISH_ADDRESS;
	else
		e->kind = ERR_PROTOCOL;
	rf_fail(r, e);
	return false;
}

bool rf_ensure_system(struct redfish *r, const struct rf_reply *p)
{
	const char *path = r->logging_in ? r->login.path : r->req.path,
		   *type = json_str_at(p->json, "@odata.type");
	struct err e;

	/* mutant: manager-for-system */
	if (!is_system(p->json))
		err_note(&e, ERR_INVALID, 0, "%s%.100s is no ComputerSystem, but %.60s", r->origin,
			 path, str_or(type, "a resource with no @odata.type and no Reset"));
	else if (is_dpu(p->json))
		err_note(&e, ERR_UNSUPPORTED, 0, "%s%.100s is a DPU, not the machine", r->origin,
			 path);
	else
		return true;
	return refuse_resource(r, &e);
}

bool rf_learn_system(struct redfish *r, const struct rf_reply *p)
{
	const json_t *reset = json_at(p->json, "Actions", "#ComputerSystem.Reset");
	const json_t *by = json_at(p->json, "Links", "ManagedBy");
	struct quirk_facts facts = {
		.vendor = str_or(json_str_at(r->root, "Vendor"),
				 json_str_at(p->json, "Manufacturer")),
		.product = str_or(json_str_at(p->json, "Model"), json_str_at(r->root, "Product")),
		.redfish_version = json_str_at(r->root, "RedfishVersion"),
		.bios = json_str_at(p->json, "BiosVersion"),
		.has = oem_has,
		.arg = json_at(r->root, "Oem"),
	};
	unsigned types = rf_reset_types(json_at(reset, "ResetType@Redfish.AllowableValues"));
	struct quirks quirks;

	if (!rf_ensure_system(r, p) || !is_meant(r, p))
		return false;
	quirks = quirks_of(&facts);
	r->quirks = quirks.flags;
	r->quirk_rows = quirks.rows;
	rf_set(&r->vendor, rf_text_of(facts.vendor));
	rf_set(&r->product, rf_text_of(facts.product));
	rf_set(&r->settings, link_in(r, json_at(p->json, "@Redfish.Settings", "SettingsObject")));
	rf_set(&r->reset_target, link_in(r, json_at(reset, "target")));
	rf_set(&r->reset_info, link_in(r, json_at(reset, "@Redfish.ActionInfo")));
	if (types) {
		r->reset_types = types;
		r->reset_asked = true;
	}
	for (size_t i = 0; i < sizeof(r->managers) / sizeof(*r->managers); i++)
		rf_set(&r->managers[i], link_in(r, json_array_get(by, i)));
	rf_set(&r->media, link_in(r, json_object_get(p->json, "VirtualMedia")));
	if (r->op->system != p->json) {
		json_decref(r->op->system);
		r->op->system = json_incref(p->json);
		r->op->system_at = p->sent_at;
		rf_set(&r->op->system_etag, mem_strdup(p->etag));
	}
	return true;
}

static void system_found(struct redfish *r, const struct rf_reply *p)
{
	if (rf_learn_system(r, p))
		r->ready(r, NULL);
}

static void on_named(struct redfish *r, const struct rf_reply *p, const char *path)
{
	if (p->err.kind != ERR_NONE) {
		rf_fail(r, &p->err);
	} else if (rf_ensure_system(r, p)) {
		rf_set(&r->system_path, mem_strdup(path));
		system_found(r, p);
	}
}

static void on_fixed(struct redfish *r, const struct rf_reply *p)
{
	struct err e = p->err;

	if (e.kind != ERR_NOT_FOUND) {
		on_named(r, p, r->system_fixed);
		return;
	}
	err_note_wrap(&e, "%s%.100s does not exist", r->origin, r->system_fixed);
	(void)refuse_resource(r, &e);
}

static void on_only(struct redfish *r, const struct rf_reply *p)
{
	on_named(r, p, r->candidates[__builtin_ctz(r->switchable)]);
}

/* Records whether this candidate is a host with a Reset action, then reads the next candidate. A
 * failed read is not final: a GPU baseboard is a System too, may be listed first, and answers 503
 * while the host is off. */
static void on_candidate(struct redfish *r, const struct rf_reply *p)
{
	if (p->err.kind != ERR_NONE) {
		/* Fail at once, because the BMC does not answer: reading the next candidate would
		 * only double the delay. */
		if (p->status == 0) {
			rf_fail(r, &p->err);
			return;
		}
		r->saved_err = p->err;
	} else if (json_at(p->json, "Actions", "#ComputerSystem.Reset", "target") &&
		   is_system(p->json) && !is_dpu(p->json)) {
		if (r->ncandidates == 1) {
			on_named(r, p, r->candidates[0]);
			return;
		}
		r->switchable |= 1u << (r->next_candidate - 1);
	}
	next_candidate(r);
}

/* Fails the operation with a list of the Systems that could be the machine, because drover must not
 * guess. */
static void fail_ambiguous(struct redfish *r)
{
	char text[TEXT] = "";
	struct err e;

	for (size_t i = 0, n = 0; i < r->ncandidates; i++) {
		if (!(r->switchable & 1u << i))
			continue;
		str_format(text + strlen(text), sizeof(text) - strlen(text), "%s%s",
			   n++ ? ", " : "", r->candidates[i]);
	}
	err_note(&e, ERR_UNSUPPORTED, REDFISH_ADDRESS,
		 "the BMC has several Systems, append the path of one to the address: %s", text);
	e.scope = ERR_MACHINE;
	rf_fail(r, &e);
}

static void next_candidate(struct redfish *r)
{
	unsigned several = r->switchable & (r->switchable - 1);

	if (r->next_candidate < r->ncandidates)
		rf_get(r, mem_strdup(r->candidates[r->next_candidate++]), on_candidate);
	else if (several)
		fail_ambiguous(r);
	else if (r->switchable)
		rf_get(r, mem_strdup(r->candidates[__builtin_ctz(r->switchable)]), on_only);
	else if (r->saved_err.kind != ERR_NONE)
		rf_fail(r, &r->saved_err);
	else
		rf_fail_as(r, ERR_UNSUPPORTED,
			   "no System of this BMC supports power control (ComputerSystem.Reset)");
}

static bool is_candidate(const struct redfish *r, const char *path)
{
	for (size_t i = 0; i < r->ncandidates; i++)
		if (str_eq(r->candidates[i], path))
			return true;
	return false;
}

static void on_systems(struct redfish *r, const struct rf_reply *p)
{
	struct err e;
	json_t *v;
	size_t i;

	if (p->err.kind != ERR_NONE) {
		rf_fail(r, &p->err);
		return;
	}
	while (r->ncandidates > 0)
		free(r->candidates[--r->ncandidates]);
	r->next_candidate = 0;
	r->switchable = 0;
	err_clear(&r->saved_err);
	json_array_foreach (json_at(p->json, "Members"), i, v) {
		char *path;

		path = rf_link(r, v, &e);
		if (!path) {
			if (e.kind != ERR_NONE)
				r->saved_err = e;
		} else if (is_candidate(r, path)) {
			free(path);
		} else if (r->ncandidates == MAX_CANDIDATES) {
			free(path);
			rf_fail_as(r, ERR_UNSUPPORTED,
				   "the BMC has too many Systems, append the path of one to "
				   "the address");
			return;
		} else {
			r->candidates[r->ncandidates++] = path;
		}
	}
	next_candidate(r);
}

void rf_find_system(struct redfish *r)
{
	if (r->system_path || r->op->kind == RF_LOG_OUT)
		r->ready(r, NULL);
	else if (r->system_fixed)
		rf_get(r, mem_strdup(r->system_fixed), on_fixed);
	else
		rf_get(r, mem_strdup(r->systems_path), on_systems);
}
