#include "redfish/internal.h"

#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "base/str.h"

/*
 * Writes the boot override: what the machine boots next, once. The location of the override is the
 * pending object (the settings object of the System) if that object has overrides, else the System.
 * BMCs accept different payloads, so up to two variants are tried; up to six to clear the override
 * together with the address of an HTTP boot.
 *
 * A BMC may boot virtual CDs by a vendor's own setting (oem.c); that setting is then tried first.
 *
 * Tests: tests/unit/redfish/test_system.c, tests/unit/redfish/test_task.c
 */
static void boot_write(struct redfish *r);

/* Returns the Boot member of the resource that the operation writes: of the pending object if that
 * object has overrides, else of the System. */
static const json_t *boot_of(const struct rf_op *op)
{
	return json_at(op->pending ? op->pending : op->system, "Boot");
}

/* Returns 1 if the list of allowed values of property in boot contains value, 0 if the list lacks
 * it, -1 if boot has no such list. */
static int lists(const json_t *boot, const char *property, const char *value)
{
	char name[80];
	const json_t *values;

	str_format(name, sizeof(name), "%s@Redfish.AllowableValues", property);
	values = json_object_get(boot, name);
	return json_array_size(values) == 0 ? -1 : json_has_str(values, value);
}

/* Searches value with lists() in the resource that the operation writes; if that resource has no
 * list of allowed values, in the System. */
static int listed(const struct rf_op *op, const char *property, const char *value)
{
	int there = lists(boot_of(op), property, value);

	return there < 0 ? lists(json_at(op->system, "Boot"), property, value) : there;
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

/* Returns the PATCH body that sets the override to target, in the variant number op->variant; NULL:
 * there is no such variant. */
static json_t *override_body(const struct redfish *r, const char *target)
{
	const struct rf_op *op = r->op;
	bool mode = wants_mode(r) != (op->variant == 1);
	json_t *o;

	if (op->variant > 1 ||
	    (op->variant == 1 && !json_object_get(boot_of(op), "BootSourceOverrideMode")))
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

static bool has_address(const struct rf_op *op)
{
	return !str_empty(json_str_at(op->system, "Boot", "HttpBootUri")) ||
	       !str_empty(json_str_at(op->pending, "Boot", "HttpBootUri"));
}

/*
 * Returns the PATCH body that clears the override, in the variant number op->variant; NULL: there
 * is no such variant. The body also clears the address of an HTTP boot, because a reader of the
 * System would take an old address for the next boot. Some BMCs accept null instead of an empty
 * text; if the address cannot be written at all, only the override is cleared.
 */
static json_t *clear_body(const struct redfish *r)
{
	const struct rf_op *op = r->op;
	bool none = listed(op, "BootSourceOverrideTarget", "None") != 0, address = has_address(op);
	unsigned forms = none ? 2 : 1, form = op->variant % forms, way = op->variant / forms;
	json_t *o;

	if (way > (address ? 2 : 0))
		return NULL;
	o = json_object();
	if (!none) {
		/* "None" is not among the targets that the BMC lists: write the disk as target
		 * instead. */
		put(o, "BootSourceOverrideTarget", "Hdd");
		put(o, "BootSourceOverrideEnabled",
		    listed(op, "BootSourceOverrideEnabled", "Continuous") == 0 ? "Once"
									       : "Continuous");
	} else {
		put(o, "BootSourceOverrideEnabled", "Disabled");
		if (form == 0)
			put(o, "BootSourceOverrideTarget",
			    r->quirks & QUIRK_BOOT_CLEAR_BY_PXE ? "Pxe" : "None");
	}
	if (address && way < 2)
		json_object_set_new(o, "HttpBootUri", way ? json_null() : json_string(""));
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

/* Gets the resource, read again because the BMC's task for the write reported a failure. Ends the
 * operation with success if the resource shows the wanted override all the same, otherwise with
 * that failure. */
static void boot_verdict(struct redfish *r, const struct rf_reply *p)
{
	const json_t *boot = json_at(p->json, "Boot");
	struct redfish_system s = {0};

	if (p->err.kind != ERR_NONE) {
		rf_fail(r, &r->saved_err);
		return;
	}
	rf_parse_boot(boot, &s);
	if (str_eq(str_or(s.boot_target, "None"), target_name(r)))
		rf_end(r, NULL);
	else
		rf_fail(r, &r->saved_err);
}

static void on_other_place(struct redfish *r, const struct rf_reply *p)
{
	struct rf_op *op = r->op;

	if (p->err.kind != ERR_NONE) {
		rf_fail(r, &r->saved_err);
		return;
	}
	json_decref(op->pending);
	op->pending = str_eq(op->target, r->settings) ? json_incref(p->json) : NULL;
	/* The write will give the pending object an override: forget that the pending object had
	 * none, so that later operations read it. */
	rf_set(&r->no_overrides, NULL);
	rf_tag_read(r, RF_TAG_SYSTEM, p->etag);
	op->variant = 0;
	boot_write(r);
}

/* Repeats the write at the other location: at the pending object instead of the System, or vice
 * versa. AMI's BMCs refuse a write to the System and name the pending object; other BMCs have a
 * pending object that shows overrides but accepts none. */
static void other_place(struct redfish *r)
{
	struct rf_op *op = r->op;
	const char *to = str_eq(op->target, r->settings) ? r->system_path : r->settings;

	op->moved = true;
	rf_set(&op->target, mem_strdup(to));
	rf_get(r, mem_strdup(to), on_other_place);
}

static void on_patched(struct redfish *r, const struct rf_reply *p)
{
	struct rf_op *op = r->op;

	if (p->err.kind == ERR_NONE) {
		rf_tag_worked(r);
		rf_end(r, NULL);
	} else if (p->by_task) {
		r->saved_err = p->err;
		rf_get(r, mem_strdup(op->target), boot_verdict);
	} else if (rf_tag_next(r, p, boot_write)) {
		return;
	} else if (p->err.kind == ERR_UNSUPPORTED && r->settings && !op->moved) {
		r->saved_err = p->err;
		other_place(r);
	} else if (p->status == 400 && p->err.kind != ERR_UNAVAILABLE) {
		op->variant++;
		r->saved_err = p->err;
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
		err_note(&e, ERR_UNSUPPORTED, 0, "this System does not boot from %s", target);
		rf_fail(r, op->moved ? &r->saved_err : &e);
		return;
	}
	boot = op->boot == REDFISH_BOOT_NONE ? clear_body(r) : override_body(r, target);
	if (!boot) {
		rf_fail(r, &r->saved_err);
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
		err_note(&e, ERR_UNSUPPORTED, 0, "this System has no %s",
			 op->boot == REDFISH_BOOT_HTTP ? "HttpBootUri" : "boot override");
		rf_fail(r, &e);
		return;
	}
	boot_write(r);
}

/* True if the System lists the target and the pending object does not (seen on BlueField DPUs). The
 * target is then written to the System. */
static bool is_systems_alone(const struct rf_op *op, const char *target)
{
	return op->boot != REDFISH_BOOT_NONE && op->pending &&
	       lists(json_at(op->pending, "Boot"), "BootSourceOverrideTarget", target) == 0 &&
	       lists(json_at(op->system, "Boot"), "BootSourceOverrideTarget", target) == 1;
}

bool rf_boots_from(struct redfish *r, enum redfish_boot how)
{
	struct rf_op *op = r->op;
	const json_t *boot;
	const char *target;
	bool alone;

	op->boot = how;
	if (how == REDFISH_BOOT_CD && rf_oem_has_cd(r))
		return true;
	target = target_name(r);
	alone = is_systems_alone(op, target);
	boot = alone ? json_at(op->system, "Boot") : boot_of(op);
	return json_is_object(boot) &&
	       (how != REDFISH_BOOT_HTTP || json_object_get(boot, "HttpBootUri")) &&
	       (alone || listed(op, "BootSourceOverrideTarget", target) != 0);
}

static void place(struct redfish *r)
{
	struct rf_op *op = r->op;

	if (!is_systems_alone(op, target_name(r)))
		return;
	json_decref(op->pending);
	op->pending = NULL;
	rf_set(&op->target, mem_strdup(r->system_path));
	rf_tag_read(r, RF_TAG_SYSTEM, op->system_etag);
}

/* Chooses the location of the override and writes it. The pending object is used only if it has
 * boot overrides; otherwise it contains only the boot order or nothing. If the pending object
 * cannot be read, the operation fails. */
static void on_pending(struct redfish *r, const struct rf_reply *p)
{
	if (rf_pending_read(r, p)) {
		place(r);
		boot_checked(r);
	} else {
		rf_fail(r, &p->err);
	}
}

static void boot_where(struct redfish *r)
{
	rf_set(&r->op->target, mem_strdup(r->system_path));
	rf_tag_read(r, RF_TAG_SYSTEM, r->op->system_etag);
	if (!rf_look_at_pending(r, on_pending))
		boot_checked(r);
}

void rf_boot(struct redfish *r)
{
	/* rf_ready() has already read the System, so set the vendor's override at once.
	 * boot_where() then chooses the location of the standard override. */
	rf_oem_boot(r, boot_where);
}
