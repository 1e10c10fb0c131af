#include "redfish/internal.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "base/str.h"

/*
 * Power and boot of the System.  Strings from a BMC are taken over only when
 * short and printable; what an enumeration does not name is unknown, never a default.
 */
static void boot_write(struct redfish *r);

/* --- reading ------------------------------------------------------------------------------------ */

static const char *text_at(const json_t *j, const char *member)
{
	const char *s = json_string_value(json_object_get(j, member));

	return rf_text_ok(s) && *s ? s : NULL;
}

static enum redfish_power power_of(const char *s)
{
	static const struct {
		const char *name;
		enum redfish_power power;
	} names[] = {
		{"On", REDFISH_POWER_ON},
		{"Off", REDFISH_POWER_OFF},
		{"PoweringOn", REDFISH_POWER_TURNING_ON},
		{"PoweringOff", REDFISH_POWER_TURNING_OFF},
		{"Paused", REDFISH_POWER_ON}, /* halted in the firmware's shell, but powered */
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (str_eq(names[i].name, s))
			return names[i].power;
	return REDFISH_POWER_UNKNOWN;
}

/* "4c4c4544-0035-...": lower case.  All zeros or all ones is what an empty EEPROM gives: not an identity. */
static bool uuid_of(const char *s, char out[static 37])
{
	bool zeros = true, ones = true;

	if (!s || strlen(s) != 36)
		return false;
	for (size_t i = 0; i < 36; i++) {
		char c = (char)tolower((unsigned char)s[i]);

		if (i == 8 || i == 13 || i == 18 || i == 23) {
			if (c != '-')
				return false;
		} else if (!isxdigit((unsigned char)c)) {
			return false;
		} else {
			zeros = zeros && c == '0';
			ones = ones && c == 'f';
		}
		out[i] = c;
	}
	out[36] = '\0';
	return !zeros && !ones;
}

static bool trimmed(const char *s, char out[static RF_STR])
{
	size_t len;

	if (!rf_text_ok(s))
		return false;
	s += strspn(s, " ");
	str_copy(out, RF_STR, s);
	for (len = strlen(out); len > 0 && out[len - 1] == ' '; len--)
		out[len - 1] = '\0';
	return len > 0;
}

void rf_identity_of(const json_t *system, struct rf_identity *out)
{
	if (!uuid_of(text_at(system, "UUID"), out->uuid))
		out->uuid[0] = '\0';
	if (!trimmed(text_at(system, "SerialNumber"), out->serial))
		out->serial[0] = '\0';
}

static void parse(const json_t *j, int64_t read_at, struct redfish_system *s,
		  const struct rf_identity *id)
{
	*s = (struct redfish_system){
		.read_at = read_at,
		.power = power_of(text_at(j, "PowerState")),
		.system_uuid = id->uuid[0] ? id->uuid : NULL,
		.serial = id->serial[0] ? id->serial : NULL,
		.manufacturer = text_at(j, "Manufacturer"),
		.model = text_at(j, "Model"),
		.bios_version = text_at(j, "BiosVersion"),
		.boot_progress = text_at(json_object_get(j, "BootProgress"), "LastState"),
	};
}

static void parse_boot(const json_t *boot, struct redfish_system *s)
{
	s->boot_target = text_at(boot, "BootSourceOverrideTarget");
	s->boot_enabled = text_at(boot, "BootSourceOverrideEnabled");
	s->boot_mode = text_at(boot, "BootSourceOverrideMode");
	s->http_boot_uri = json_string_value(json_object_get(boot, "HttpBootUri"));
	if (str_empty(s->http_boot_uri) || strlen(s->http_boot_uri) > 2048)
		s->http_boot_uri = NULL;
	if (str_eq(s->boot_enabled, "Disabled"))
		s->boot_target = "None";
}

static bool has_override(const json_t *j)
{
	const json_t *boot = json_at(j, "Boot");

	return json_object_get(boot, "BootSourceOverrideTarget") ||
	       json_object_get(boot, "BootSourceOverrideTarget@Redfish.AllowableValues");
}

/* An override is set where the System shows one, or where the pending object will make it one. */
static void answer(struct redfish *r)
{
	struct redfish_system s;
	struct rf_identity id;

	rf_identity_of(r->op->system, &id);
	parse(r->op->system, r->op->system_at, &s, &id);
	parse_boot(json_at(r->op->system, "Boot"), &s);
	if (r->op->pending && (!s.boot_target || str_eq(s.boot_target, "None")))
		parse_boot(json_at(r->op->pending, "Boot"), &s);
	rf_end(r, &s);
}

/*
 * Calls next with op->pending set if the pending object has boot overrides.  Most have
 * none (boot order, or nothing): those are looked at once.
 */
static bool pending_read(struct redfish *r, const struct rf_reply *p)
{
	struct rf_op *op = r->op;

	if (p->err.kind == ERR_NONE && has_override(p->json)) {
		op->pending = json_incref(p->json);
		rf_set(&op->target, mem_strdup(r->settings));
		rf_tag_read(r, RF_TAG_SYSTEM, p->etag);
		return true;
	}
	if (p->err.kind == ERR_NONE || p->status == 404)
		rf_set(&r->no_overrides, mem_strdup(r->settings));
	return p->err.kind == ERR_NONE || p->status == 404;
}

static bool look_at_pending(struct redfish *r, rf_step *next)
{
	if (!r->settings || str_eq(r->settings, r->no_overrides))
		return false;
	rf_get(r, mem_strdup(r->settings), next);
	return true;
}

static void on_pending_read(struct redfish *r, const struct rf_reply *p)
{
	if (pending_read(r, p))
		answer(r);
	else
		rf_fail(r, &p->err);
}

static void read_boot(struct redfish *r)
{
	if (!look_at_pending(r, on_pending_read))
		answer(r);
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
		read_boot(r); /* the search for it has just read it */
	else
		rf_get(r, mem_strdup(r->system_path), on_system);
}

/* --- power --------------------------------------------------------------------------------------- */

static void power_verdict(struct redfish *r, const struct rf_reply *p)
{
	bool on = r->op->on;
	enum redfish_power power;

	if (p->err.kind != ERR_NONE) {
		rf_fail(r, &p->err);
		return;
	}
	power = power_of(text_at(p->json, "PowerState"));
	if (on ? power == REDFISH_POWER_ON || power == REDFISH_POWER_TURNING_ON
	       : power == REDFISH_POWER_OFF || power == REDFISH_POWER_TURNING_OFF) {
		rf_end(r, NULL);
	} else {
		rf_fail(r, &r->kept_err);
	}
}

/* 400 and 409 are also how BMCs say that it is so already: look before believing either. */
static void on_reset(struct redfish *r, const struct rf_reply *p)
{
	if (p->err.kind == ERR_NONE) {
		rf_end(r, NULL);
	} else if (p->status == 400 || p->status == 409) {
		r->kept_err = p->err;
		rf_get(r, mem_strdup(r->system_path), power_verdict);
	} else {
		rf_fail(r, &p->err);
	}
}

static const char *reset_type(const struct redfish *r, bool on)
{
	unsigned have = r->reset_types;

	if (on)
		return !have || have & RF_RESET_ON ? "On"
		       : have & RF_RESET_FORCE_ON  ? "ForceOn"
						   : NULL;
	return !have || have & RF_RESET_FORCE_OFF ? "ForceOff"
	       : have & RF_RESET_GRACEFUL_OFF	  ? "GracefulShutdown"
						  : NULL;
}

/* Always asked for, whatever the BMC shows now: PowerState may be minutes old. */
static void reset(struct redfish *r)
{
	const char *type = reset_type(r, r->op->on);
	struct err e;

	if (!type || !r->reset_target) {
		rf_forget(r); /* it may learn to */
		(void)!err_set(&e, ERR_UNSUPPORTED, 0, "this System cannot be switched %s",
			       r->op->on ? "on" : "off");
		rf_fail(r, &e);
		return;
	}
	rf_send(r, &(struct rf_request){.method = "POST",
					.path = mem_strdup(r->reset_target),
					.body = mem_printf("{\"ResetType\":\"%s\"}", type),
					.effect = true,
					.next = on_reset});
}

/* ActionInfo: {"Parameters": [{"Name": "ResetType", "AllowableValues": [...]}]}. */
static void on_action_info(struct redfish *r, const struct rf_reply *p)
{
	json_t *parameter;
	size_t i;

	if (p->status == 0) {
		rf_fail(r, &p->err);
		return;
	}
	json_array_foreach (json_at(p->json, "Parameters"), i, parameter)
		if (str_eq(json_str_at(parameter, "Name"), "ResetType"))
			r->reset_types = rf_reset_types(json_at(parameter, "AllowableValues"));
	r->reset_asked = true;
	reset(r);
}

void rf_system_power(struct redfish *r)
{
	if (!r->reset_asked && r->reset_info)
		rf_get(r, mem_strdup(r->reset_info), on_action_info);
	else
		reset(r);
}

/* --- boot ---------------------------------------------------------------------------------------- */

/* The Boot member of where overrides are written: the pending object, if it has them. */
static const json_t *boot_of(const struct rf_op *op)
{
	return json_at(op->pending ? op->pending : op->system, "Boot");
}

/* Tri-state: the BMC lists its values, and this is (1) or is not (0) among them; or it lists none (-1). */
static int listed(const struct rf_op *op, const char *property, const char *value)
{
	char name[80];
	const json_t *values;
	json_t *v;
	size_t i;

	str_format(name, sizeof(name), "%s@Redfish.AllowableValues", property);
	values = json_object_get(boot_of(op), name);
	if (!values)
		values = json_object_get(json_at(op->system, "Boot"), name);
	if (json_array_size(values) == 0)
		return -1;
	json_array_foreach (values, i, v)
		if (str_eq(json_string_value(v), value))
			return 1;
	return 0;
}

static const char *enabled_for(const struct rf_op *op)
{
	return listed(op, "BootSourceOverrideEnabled", "Once") == 0 ? "Continuous" : "Once";
}

static bool wants_mode(const struct redfish *r)
{
	const json_t *boot = boot_of(r->op);
	const json_t *mode = json_object_get(boot, "BootSourceOverrideMode");

	if (r->quirks & QUIRK_BOOT_MODE_NEVER || !mode)
		return false;
	return r->quirks & QUIRK_BOOT_MODE_ALWAYS || !str_eq(json_string_value(mode), "UEFI");
}

static void put(json_t *o, const char *member, const char *value)
{
	json_object_set_new(o, member, json_string(value));
}

/* The payload of this rung; NULL when the ladder has ended.  Rungs differ in what BMCs disagree about. */
static json_t *override_body(const struct redfish *r, const char *target)
{
	const struct rf_op *op = r->op;
	bool mode = wants_mode(r) != (op->rung == 1);
	json_t *o;

	if (op->rung > 1 ||
	    (op->rung == 1 && !json_object_get(boot_of(op), "BootSourceOverrideMode")))
		return NULL;
	o = json_object();
	put(o, "BootSourceOverrideTarget", target);
	put(o, "BootSourceOverrideEnabled", enabled_for(op));
	if (mode)
		put(o, "BootSourceOverrideMode", "UEFI");
	if (op->boot == REDFISH_BOOT_HTTP)
		put(o, "HttpBootUri", op->url);
	return o;
}

static json_t *clear_body(const struct redfish *r)
{
	const struct rf_op *op = r->op;
	bool none = listed(op, "BootSourceOverrideTarget", "None") != 0;
	json_t *o;

	/* No way to say "none": the disk is what is meant. */
	if (!none && op->rung > 0)
		return NULL;
	if (op->rung > 1)
		return NULL;
	o = json_object();
	if (!none) {
		put(o, "BootSourceOverrideTarget", "Hdd");
		put(o, "BootSourceOverrideEnabled",
		    listed(op, "BootSourceOverrideEnabled", "Continuous") == 0 ? "Once"
									       : "Continuous");
		return o;
	}
	put(o, "BootSourceOverrideEnabled", "Disabled");
	if (op->rung == 0)
		put(o, "BootSourceOverrideTarget",
		    r->quirks & QUIRK_BOOT_CLEAR_BY_PXE ? "Pxe" : "None");
	return o;
}

static const char *target_name(const struct redfish *r)
{
	switch (r->op->boot) {
	case REDFISH_BOOT_NONE:
		return "None";
	case REDFISH_BOOT_CD:
		if (r->quirks & QUIRK_CD_IS_USBCD &&
		    listed(r->op, "BootSourceOverrideTarget", "UsbCd") != 0)
			return "UsbCd";
		return "Cd";
	case REDFISH_BOOT_HTTP:
		return "UefiHttp";
	case REDFISH_BOOT_HDD:
		return "Hdd";
	}
	return "None";
}

/* The task says that it failed; is the override as it should be all the same? */
static void boot_verdict(struct redfish *r, const struct rf_reply *p)
{
	const json_t *boot = json_at(p->json, "Boot");
	struct redfish_system s = {0};

	if (p->err.kind != ERR_NONE) {
		rf_fail(r, &r->kept_err);
		return;
	}
	parse_boot(boot, &s);
	if (str_eq(str_or(s.boot_target, "None"), target_name(r)))
		rf_end(r, NULL);
	else
		rf_fail(r, &r->kept_err);
}

static void on_patched(struct redfish *r, const struct rf_reply *p)
{
	struct rf_op *op = r->op;

	if (p->err.kind == ERR_NONE) {
		rf_tag_worked(r);
		rf_end(r, NULL);
	} else if (p->by_task) {
		r->kept_err = p->err;
		rf_get(r, mem_strdup(op->target), boot_verdict);
	} else if (rf_tag_climb(r, p, boot_write)) {
		return;
	} else if (p->status == 400 && p->err.kind != ERR_UNAVAILABLE) {
		op->rung++;
		r->kept_err = p->err;
		boot_write(r);
	} else {
		rf_fail(r, &p->err);
	}
}

static void boot_write(struct redfish *r)
{
	struct rf_op *op = r->op;
	const char *target = target_name(r);
	struct err e;
	json_t *boot;
	OWN_JSON body = NULL;

	if (op->boot != REDFISH_BOOT_NONE && listed(op, "BootSourceOverrideTarget", target) == 0) {
		(void)!err_set(&e, ERR_UNSUPPORTED, 0, "this System does not boot from %s", target);
		rf_fail(r, &e);
		return;
	}
	boot = op->boot == REDFISH_BOOT_NONE ? clear_body(r) : override_body(r, target);
	if (!boot) {
		rf_fail(r, &r->kept_err);
		return;
	}
	body = json_pack("{s:o}", "Boot", boot);
	rf_send(r, &(struct rf_request){.method = "PATCH",
					.path = mem_strdup(op->target),
					.body = json_text(body),
					.if_match = rf_tag(r),
					.effect = true,
					.next = on_patched});
}

static void boot_checked(struct redfish *r)
{
	struct rf_op *op = r->op;
	struct err e;

	if (!json_is_object(boot_of(op)) ||
	    (op->boot == REDFISH_BOOT_HTTP &&
	     (!op->url || !json_object_get(boot_of(op), "HttpBootUri")))) {
		(void)!err_set(&e, ERR_UNSUPPORTED, 0, "this System has no %s",
			       op->boot == REDFISH_BOOT_HTTP ? "HttpBootUri" : "boot override");
		rf_fail(r, &e);
		return;
	}
	boot_write(r);
}

/* The pending object counts only if it has the property; elsewhere it holds boot order or nothing. */
static void on_pending(struct redfish *r, const struct rf_reply *p)
{
	if (pending_read(r, p))
		boot_checked(r);
	else
		rf_fail(r, &p->err);
}

static void boot_where(struct redfish *r)
{
	rf_set(&r->op->target, mem_strdup(r->system_path));
	rf_tag_read(r, RF_TAG_SYSTEM, r->op->system_etag);
	if (!look_at_pending(r, on_pending))
		boot_checked(r);
}

static void on_boot_system(struct redfish *r, const struct rf_reply *p)
{
	if (p->err.kind != ERR_NONE) {
		rf_fail(r, &p->err);
		return;
	}
	if (rf_learn_system(r, p))
		boot_where(r);
}

void rf_system_boot(struct redfish *r)
{
	if (r->op->system)
		boot_where(r);
	else
		rf_get(r, mem_strdup(r->system_path), on_boot_system);
}
