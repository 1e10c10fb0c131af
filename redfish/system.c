#include "redfish/internal.h"

#include <stdlib.h>
#include <string.h>
#include "base/quoted.h"
#include "base/mem.h"
#include "base/str.h"

/*
 * Reads the state of the System and switches its power. Strings from a BMC are copied only if they
 * are short and printable; an unknown enumeration value is unknown, never a default.
 */
/* --- reading ---------------------------------------------------------------------------------- */

static bool has_override(const json_t *j)
{
	const json_t *boot = json_at(j, "Boot");

	return json_object_get(boot, "BootSourceOverrideTarget") ||
	       json_object_get(boot, "BootSourceOverrideTarget@Redfish.AllowableValues");
}

/* Ends the operation with the state of the System. The boot override is that of the System, or, if
 * the System shows none, that of the pending object, which the next boot applies. The vendor's own
 * override of virtual CDs takes precedence over both. */
static void answer(struct redfish *r)
{
	struct redfish_system s;
	struct rf_identity id;

	rf_identity_of(r->op->system, &id);
	rf_parse(r->op->system, r->op->system_at, &s, &id);
	quoted_redact(s.fault, r->password);
	if (r->op->pending && (!s.boot_target || str_eq(s.boot_target, "None")))
		rf_parse_boot(json_at(r->op->pending, "Boot"), &s);
	if (r->cd_first == RF_YES) {
		s.boot_target = "Cd";
		s.boot_enabled = "Once";
	} else if (rf_oem_has_cd(r) && str_eq(s.boot_target, "Cd")) {
		s.boot_target = "PhysicalCd";
	}
	if (s.power == REDFISH_POWER_ON || s.power == REDFISH_POWER_TURNING_ON)
		r->on_tries = 0;
	rf_end(r, &s);
}

/*
 * Takes the boot override from the pending object (the System's settings object) if it has one.
 * Most pending objects have none (only the boot order, or nothing); their path is then recorded, so
 * that they are not read again. An unserved pending object counts as one without overrides, unless
 * a pending object of this BMC has shown one before: then returns false.
 */
bool rf_pending_read(struct redfish *r, const struct rf_reply *p)
{
	struct rf_op *op = r->op;

	if (p->err.kind == ERR_NONE && has_override(p->json)) {
		op->pending = json_incref(p->json);
		rf_set(&op->target, mem_strdup(r->settings));
		rf_tag_read(r, RF_TAG_SYSTEM, p->etag);
		r->has_overrides = true;
		return true;
	}
	if (p->err.kind == ERR_NONE || p->status == 404) {
		rf_set(&r->no_overrides, mem_strdup(r->settings));
		return true;
	}
	return rf_is_lacking(p) && !r->has_overrides;
}

bool rf_look_at_pending(struct redfish *r, rf_step *next)
{
	if (!r->settings || str_eq(r->settings, r->no_overrides))
		return false;
	rf_get(r, mem_strdup(r->settings), next);
	return true;
}

static void on_pending_read(struct redfish *r, const struct rf_reply *p)
{
	if (rf_pending_read(r, p))
		rf_oem_read(r, answer);
	else
		rf_fail(r, &p->err);
}

static void read_boot(struct redfish *r)
{
	if (!rf_look_at_pending(r, on_pending_read))
		rf_oem_read(r, answer);
}

static void on_system(struct redfish *r, const struct rf_reply *p)
{
	if (p->err.kind != ERR_NONE) {
		rf_fail(r, &p->err);
		return;
	}
	if (rf_learn_system(r, p))
		read_boot(r);
}

void rf_system_read(struct redfish *r)
{
	if (r->op->system)
		read_boot(r); /* The System is current: the search for it has just read it. */
	else
		rf_get(r, mem_strdup(r->system_path), on_system);
}

/* --- power ------------------------------------------------------------------------------------ */

/*
 * Variants of the power request. Off is ForceOff, because the operating system belongs to a tenant
 * and is not asked; GracefulShutdown is used only if the BMC lists nothing else (and the power
 * state is checked). On is requested twice; if the BMC accepts it without effect, ForceOn and
 * PowerCycle follow in turn.
 */
static const struct {
	enum rf_reset bit;
	const char *name;
} types_on[] = {{RF_RESET_ON, "On"},
		{RF_RESET_ON, "On"},
		{RF_RESET_FORCE_ON, "ForceOn"},
		{RF_RESET_POWER_CYCLE, "PowerCycle"}};
#define TYPES_ON (sizeof(types_on) / sizeof(*types_on))

static void reset(struct redfish *r);

static const char *type_on(const struct redfish *r)
{
	if (!r->reset_types)
		return "On";
	for (size_t i = 0; i < TYPES_ON; i++) {
		size_t n = (r->on_tries + i) % TYPES_ON;

		if (r->reset_types & types_on[n].bit)
			return types_on[n].name;
	}
	return NULL;
}

/* True if a different ResetType for "on" is left after the refused one; type_on() then returns it.
 * At most two are tried in this way. */
static bool another_type_on(struct redfish *r)
{
	const char *was = r->op->reset_type;

	if (r->op->variant++ >= 2)
		return false;
	for (size_t i = 0; i < TYPES_ON; i++) {
		if (!str_eq(type_on(r), was))
			return true;
		r->on_tries++;
	}
	return false;
}

static void power_verdict(struct redfish *r, const struct rf_reply *p)
{
	bool on = r->op->on;
	enum redfish_power power;

	if (p->err.kind != ERR_NONE) {
		rf_fail(r, &p->err);
		return;
	}
	if (!rf_ensure_system(r, p))
		return;
	power = rf_power_of(p->json);
	if (on ? power == REDFISH_POWER_ON || power == REDFISH_POWER_TURNING_ON
	       : power == REDFISH_POWER_OFF || power == REDFISH_POWER_TURNING_OFF) {
		rf_end(r, NULL);
	} else if (on && another_type_on(r)) {
		reset(r);
	} else {
		rf_fail(r, &r->saved_err);
	}
}

/* Ends the power operation after the reply. BMCs answer 400 and 409 also if the machine already has
 * the wanted power state, so these lead to a check of the power state. */
static void on_reset(struct redfish *r, const struct rf_reply *p)
{
	if (p->err.kind == ERR_NONE) {
		rf_end(r, NULL);
	} else if (p->status == 400 || p->status == 409) {
		r->saved_err = p->err;
		rf_get(r, mem_strdup(r->system_path), power_verdict);
	} else {
		rf_fail(r, &p->err);
	}
}

const char *rf_reset_type(const struct redfish *r, bool on)
{
	unsigned have = r->reset_types;

	if (on)
		return type_on(r);
	return !have || have & RF_RESET_FORCE_OFF ? "ForceOff"
	       : have & RF_RESET_GRACEFUL_OFF	  ? "GracefulShutdown"
						  : NULL;
}

/* Sends the power request even if the System already shows the wanted state, because PowerState may
 * be minutes old. */
static void reset(struct redfish *r)
{
	const char *type = rf_reset_type(r, r->op->on);
	struct err e;

	if (!type || !r->reset_target) {
		/* Forget the facts, so that the ResetTypes are read again: the BMC may offer the
		 * missing one later. */
		rf_forget(r);
		err_note(&e, ERR_UNSUPPORTED, 0, "this System cannot be switched %s",
			 r->op->on ? "on" : "off");
		rf_fail(r, &e);
		return;
	}
	r->op->reset_type = type;
	r->on_tries = r->op->on ? r->on_tries + 1 : 0;
	rf_send(r, &(struct rf_request){.method = "POST",
					.path = mem_strdup(r->reset_target),
					.body = mem_printf("{\"ResetType\":\"%s\"}", type),
					.effect = true,
					.next = on_reset});
}

/* Reads the ResetTypes from ActionInfo: {"Parameters": [{"Name": "ResetType", "AllowableValues":
 * [...]}]}. */
void rf_learn_resets(struct redfish *r, const json_t *info)
{
	json_t *parameter;
	size_t i;

	json_array_foreach (json_at(info, "Parameters"), i, parameter)
		if (str_eq(json_str_at(parameter, "Name"), "ResetType"))
			r->reset_types = rf_reset_types(json_at(parameter, "AllowableValues"));
	r->reset_asked = true;
}

/* Sends the power request after ActionInfo was read. Without a reply it is sent too: its own result
 * shows whether the BMC is reachable. */
static void on_action_info(struct redfish *r, const struct rf_reply *p)
{
	if (p->status != 0)
		rf_learn_resets(r, p->json);
	reset(r);
}

void rf_system_power(struct redfish *r)
{
	if (!r->reset_asked && r->reset_info)
		rf_get(r, mem_strdup(r->reset_info), on_action_info);
	else
		reset(r);
}
