#include "sim/bmc/bmc_impl.h"

#include <string.h>
#include "base/str.h"

/*
 * bmc_manager: the Manager, which is this BMC, and its one slot for a CD. The URL of the medium is
 * stored in the machine (machine.h), which fetches the medium when it boots.
 * Tests: tests/unit/sim/bmc/test_bmc.c, tests/unit/sim/machine/test_faults.c
 */
#define SLOT BMC_MANAGER "/VirtualMedia/Cd"
#define VANISH_MS 1000

json_t *bmc_get_managers(struct bmc_call *c)
{
	(void)c;
	return bmc_collection("Managers", json_pack("[o]", bmc_link(BMC_MANAGER)));
}

json_t *bmc_get_manager(struct bmc_call *c)
{
	const struct sim_bmc *b = c->b;
	char now[STR_TIME_SIZE];

	c->late = json_pack("{s:s,s:s}", "DateTime", str_time(now, loop_wall(loop_of(b->group))),
			    "DateTimeLocalOffset", "+00:00");
	return json_pack("{s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:{s:s,s:s},s:o,s:{s:[o],s:[o]}}", "Id",
			 "1", "Name", "BMC", "ManagerType", "BMC", "Manufacturer", "drover",
			 "Model", "simulated", "FirmwareVersion", "1.0.0", "UUID", b->uuid,
			 "PowerState", "On", "Status", "State", "Enabled", "Health", "OK",
			 "VirtualMedia", bmc_link(BMC_MANAGER "/VirtualMedia"), "Links",
			 "ManagerForServers", bmc_link(BMC_SYSTEM), "ManagerForChassis",
			 bmc_link(BMC_CHASSIS));
}

json_t *bmc_get_media(struct bmc_call *c)
{
	(void)c;
	return bmc_collection("Virtual Media", json_pack("[o]", bmc_link(SLOT)));
}

json_t *bmc_get_slot(struct bmc_call *c)
{
	const char *image = c->b->m->image, *slash = image ? strrchr(image, '/') : NULL;

	return json_pack("{s:s,s:s,s:[s,s],s:s?,s:s?,s:b,s:b,s:s,s:{s:{s:s},s:{s:s}}}", "Id", "Cd",
			 "Name", "Virtual CD", "MediaTypes", "CD", "DVD", "Image", image,
			 "ImageName", slash ? slash + 1 : NULL, "Inserted", image != NULL,
			 "WriteProtected", 1, "ConnectedVia", image ? "URI" : "NotConnected",
			 "Actions", "#VirtualMedia.InsertMedia", "target",
			 SLOT "/Actions/VirtualMedia.InsertMedia", "#VirtualMedia.EjectMedia",
			 "target", SLOT "/Actions/VirtualMedia.EjectMedia");
}

void bmc_put_medium(struct sim_bmc *b, const char *image)
{
	loop_timer_stop(&b->vanish);
	sim_text_set(&b->m->image, image);
	sim_machine_save(b->m);
	bmc_event(b, "VirtualMediaChanged",
		  image ? "A medium was inserted." : "The medium was removed.", bmc_slot_path(b));
	if (image && bmc_fault(b, "MediaVanishes", NULL))
		loop_timer_start(&b->vanish, VANISH_MS);
}

static void on_vanish(void *arg)
{
	bmc_put_medium(arg, NULL);
}

void bmc_post_insert(struct bmc_call *c)
{
	static const char *const methods[] = {"Stream", "Upload", NULL};
	static const char *const protocols[] = {"HTTP", "HTTPS", NULL};
	static const struct bmc_property t[] = {
		{.name = "Image", .kind = BMC_TEXT, .min = 1, .max = 2048, .required = true},
		{.name = "Inserted", .kind = BMC_FLAG},
		{.name = "WriteProtected", .kind = BMC_FLAG},
		{.name = "TransferMethod", .kind = BMC_TEXT, .allowed = methods},
		{.name = "TransferProtocolType", .kind = BMC_TEXT, .allowed = protocols},
		{.name = "UserName", .kind = BMC_TEXT_OR_NULL},
		{.name = "Password", .kind = BMC_TEXT_OR_NULL},
		{.name = NULL}};
	static const char action[] = "VirtualMedia.InsertMedia";
	const char *image;

	if (!bmc_check(c, t, action))
		return;
	image = json_str_at(c->body, "Image");
	if (!str_starts(image, "http://") && !str_starts(image, "https://"))
		bmc_error(c, 400, "ActionParameterValueNotInList", image, "Image", action);
	else if (c->b->m->image)
		bmc_error(c, 409, "ResourceInUse");
	else if (!bmc_wants_task(c)) {
		bmc_put_medium(c->b, image);
		bmc_reply(c, 204, NULL);
	} else if (bmc_task(c, "Insert Media", false, false)) {
		bmc_put_medium(c->b, image);
	}
}

void bmc_post_eject(struct bmc_call *c)
{
	static const struct bmc_property t[] = {{.name = NULL}};

	if (!bmc_check(c, t, "VirtualMedia.EjectMedia"))
		return;
	if (!bmc_wants_task(c)) {
		if (c->b->m->image)
			bmc_put_medium(c->b, NULL);
		bmc_reply(c, 204, NULL);
	} else if (bmc_task(c, "Eject Media", false, false) && c->b->m->image) {
		bmc_put_medium(c->b, NULL);
	}
}

void bmc_manager_init(struct sim_bmc *b)
{
	loop_timer_init(&b->vanish, b->group, on_vanish, b);
}

void bmc_manager_done(struct sim_bmc *b)
{
	loop_timer_stop(&b->vanish);
}
