#include "redfish/internal.h"

#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "base/str.h"

/*
 * Uses vendors' own settings where the standard setting does not work.
 *
 * iDRAC: the override Cd boots the physical drive. Virtual media boot if the attribute ServerBoot
 * is VCD-DVD, which the BMC resets after that boot. The attributes are reached through the Manager:
 *
 *   Manager -> Links.Oem.Dell.DellAttributes, the one of the Manager itself -> Attributes
 *
 * (Sources: capture of a PowerEdge R750; the values in Dell's attribute registry of the iDRAC.) On
 * a BMC without the attribute the standard override is used. The attributes are 50 KB, so they are
 * read once for each login, and afterwards only while drover's own value may be set.
 */
#define DEVICE "ServerBoot.1.FirstBootDevice"
#define ONCE "ServerBoot.1.BootOnce"
#define VIRTUAL_CD "VCD-DVD"

static void on_attributes(struct redfish *r, const struct rf_reply *p);

static void without(struct redfish *r)
{
	r->no_attributes = true;
	r->op->then(r);
}

static const char *last_segment(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash ? slash + 1 : "";
}

static void on_manager(struct redfish *r, const struct rf_reply *p)
{
	const char *own = json_str_at(p->json, "Id");
	struct err ignored;
	json_t *v;
	size_t i;

	if (p->err.kind != ERR_NONE) {
		rf_fail(r, &p->err);
		return;
	}
	rf_learn_manager(r, p->json);
	json_array_foreach (json_at(p->json, "Links", "Oem", "Dell", "DellAttributes"), i, v) {
		char *path = rf_link(r, v, &ignored);

		if (path && str_eq(last_segment(path), own)) {
			rf_set(&r->attributes, path);
			rf_get(r, mem_strdup(path), on_attributes);
			return;
		}
		free(path);
	}
	without(r);
}

static void look(struct redfish *r)
{
	if (r->attributes)
		rf_get(r, mem_strdup(r->attributes), on_attributes);
	else if (r->managers[0])
		rf_get(r, mem_strdup(r->managers[0]), on_manager);
	else
		without(r);
}

static bool not_there(const struct rf_reply *p)
{
	return p->status == 400 || p->status == 404 || p->status == 405 || p->status == 501;
}

static void on_written(struct redfish *r, const struct rf_reply *p)
{
	bool want = r->op->boot == REDFISH_BOOT_CD;

	if (p->err.kind != ERR_NONE && want && not_there(p)) {
		without(r);
	} else if (p->err.kind != ERR_NONE) {
		rf_fail(r, &p->err);
	} else {
		r->cd_first = want ? RF_YES : RF_NO;
		if (want)
			rf_end(r, NULL);
		else
			r->op->then(r);
	}
}

static void write_device(struct redfish *r)
{
	bool want = r->op->boot == REDFISH_BOOT_CD;

	rf_send(r, &(struct rf_request){.method = "PATCH",
					.path = mem_strdup(r->attributes),
					.body = mem_strdup(want ? "{\"Attributes\":{\"" ONCE
								  "\":\"Enabled\",\"" DEVICE
								  "\":\"" VIRTUAL_CD "\"}}"
								: "{\"Attributes\":{\"" DEVICE
								  "\":\"Normal\"}}"),
					.if_match = mem_strdup(r->op->tag),
					.effect = true,
					.next = on_written});
}

static void on_attributes(struct redfish *r, const struct rf_reply *p)
{
	const char *device = json_str_at(p->json, "Attributes", DEVICE);
	struct rf_op *op = r->op;

	if (not_there(p) || (p->err.kind == ERR_NONE && !device)) {
		without(r);
		return;
	}
	if (p->err.kind != ERR_NONE) {
		rf_fail(r, &p->err);
		return;
	}
	r->cd_first = str_eq(device, VIRTUAL_CD) ? RF_YES : RF_NO;
	if (op->kind != RF_BOOT) {
		op->then(r);
	} else if ((r->cd_first == RF_YES) != (op->boot == REDFISH_BOOT_CD)) {
		rf_set(&op->tag, mem_strdup(p->etag));
		write_device(r);
	} else if (op->boot == REDFISH_BOOT_CD) {
		rf_end(r, NULL);
	} else {
		op->then(r);
	}
}

/*
 * Returns the action that enables remote media, or NULL. On AMI, media slots exist only after this
 * action of the Manager (capture of a DGX H100: its ActionInfo names the parameter). Older
 * firmware, as Gigabyte's, names the action after another schema.
 */
char *rf_oem_media(const struct redfish *r, const json_t *manager)
{
	struct err ignored;
	const char *name;
	json_t *action;

	json_object_foreach (json_at(manager, "Actions", "Oem"), name, action)
		if (str_ends(name, ".EnableRMedia"))
			return rf_link(r, json_object_get(action, "target"), &ignored);
	return NULL;
}

bool rf_oem_has_cd(const struct redfish *r)
{
	return r->quirks & QUIRK_CD_BY_ATTRIBUTE && !r->no_attributes;
}

void rf_oem_read(struct redfish *r, void (*then)(struct redfish *r))
{
	r->op->then = then;
	if (rf_oem_has_cd(r) && r->cd_first != RF_NO)
		look(r);
	else
		then(r);
}

void rf_oem_boot(struct redfish *r, void (*then)(struct redfish *r))
{
	r->op->then = then;
	if (rf_oem_has_cd(r) && (r->op->boot == REDFISH_BOOT_CD || r->cd_first != RF_NO))
		look(r);
	else
		then(r);
}
