#include "sim/bmc/bmc_impl.h"

#include <stdlib.h>
#include "base/mem.h"
#include "base/str.h"

/*
 * bmc_system: the System: identity, power and boot settings. The machine stores these settings
 * (machine.h), and calls back when they change without a request of the BMC.
 * Tests: tests/unit/sim/bmc/test_bmc.c, tests/unit/sim/machine/test_faults.c
 */
static const char *const reset_types[] = {
	"On",		"ForceOn",    "ForceOff",	 "GracefulShutdown",
	"ForceRestart", "PowerCycle", "PushPowerButton", NULL};
static const char *const targets[] = {"None", "Pxe", "Cd", "Hdd", "UefiHttp", NULL};
static const char *const enabled[] = {"Disabled", "Once", "Continuous", NULL};
static const char *const modes[] = {"UEFI", NULL};

static json_t *texts(const char *const *v)
{
	json_t *all = json_array();

	for (; *v; v++)
		json_array_append_new(all, json_string(*v));
	return all;
}

static const char *power_state(const struct sim_machine *m)
{
	bool to;

	if (sim_machine_switching(m, &to))
		return to ? "PoweringOn" : "PoweringOff";
	return m->on ? "On" : "Off";
}

const char *bmc_boot_progress(const struct sim_machine *m)
{
	switch (m->doing) {
	case SIM_OFF:
		return "None";
	case SIM_POST:
		return "SystemHardwareInitializationComplete";
	case SIM_NOTHING:
		return "OSBootStarted";
	case SIM_AGENT:
	case SIM_NODE:
		return "OSRunning";
	}
	return "None";
}

static json_t *boot_json(const struct sim_machine *m)
{
	return json_pack("{s:s,s:s,s:s,s:s,s:o,s:o,s:o}", "BootSourceOverrideTarget",
			 str_or(m->boot_target, "None"), "BootSourceOverrideEnabled",
			 str_or(m->boot_enabled, "Disabled"), "BootSourceOverrideMode", "UEFI",
			 "HttpBootUri", str_or(m->http_boot_uri, ""),
			 "BootSourceOverrideTarget@Redfish.AllowableValues", texts(targets),
			 "BootSourceOverrideEnabled@Redfish.AllowableValues", texts(enabled),
			 "BootSourceOverrideMode@Redfish.AllowableValues", texts(modes));
}

json_t *bmc_get_systems(struct bmc_call *c)
{
	(void)c;
	return bmc_collection("Systems", json_pack("[o]", bmc_link(BMC_SYSTEM)));
}

/* Writes the UUID to out with the bytes of each of its first three groups reversed. Some BMCs
 * report UUIDs in this order, because they print the little-endian groups of SMBIOS without
 * conversion. */
static void swap_groups(char *out, const char *uuid)
{
	static const uint8_t from[] = {6,  7,  4, 5,  2,  3,  0,  1,  8,
				       11, 12, 9, 10, 13, 16, 17, 14, 15};

	for (size_t i = 0; i < sizeof(from); i++)
		out[i] = uuid[from[i]];
}

json_t *bmc_get_system(struct bmc_call *c)
{
	const struct sim_bmc *b = c->b;
	const struct sim_machine *m = b->m;
	char uuid[40];
	json_t *j;

	str_copy(uuid, sizeof(uuid), m->uuid);
	if (bmc_fault(b, "WrongUUID", NULL))
		uuid[35] = uuid[35] == '0' ? '1' : '0';
	if (bmc_fault(b, "SwappedUUID", NULL))
		swap_groups(uuid, m->uuid);
	j = json_pack("{s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:b,s:s,s:s,s:{s:s,s:s},s:{s:s}}", "Id",
		      "1", "Name", m->name, "SystemType", "Physical", "Manufacturer", "drover",
		      "Model", m->model, "SerialNumber", m->serial, "UUID", uuid, "AssetTag",
		      b->asset_tag, "LocationIndicatorActive", b->indicator, "BiosVersion", "1.0.0",
		      "PowerState", power_state(m), "Status", "State",
		      m->on ? "Enabled" : "Disabled", "Health", "OK", "BootProgress", "LastState",
		      bmc_boot_progress(m));
	json_object_set_new(j, "Boot", boot_json(m));
	json_object_set_new(j, "ProcessorSummary",
			    json_pack("{s:i,s:s}", "Count", 2, "Model", "Simulated"));
	json_object_set_new(j, "MemorySummary", json_pack("{s:i}", "TotalSystemMemoryGiB", 2048));
	json_object_set_new(j, "EthernetInterfaces", bmc_link(BMC_SYSTEM "/EthernetInterfaces"));
	json_object_set_new(j, "Links",
			    json_pack("{s:[o],s:[o]}", "ManagedBy", bmc_link(BMC_MANAGER),
				      "Chassis", bmc_link(BMC_CHASSIS)));
	json_object_set_new(j, "Actions",
			    json_pack("{s:{s:s,s:s,s:o}}", "#ComputerSystem.Reset", "target",
				      BMC_SYSTEM "/Actions/ComputerSystem.Reset",
				      "@Redfish.ActionInfo", BMC_SYSTEM "/ResetActionInfo",
				      "ResetType@Redfish.AllowableValues", texts(reset_types)));
	return j;
}

/* --- boot ------------------------------------------------------------------------------------- */

static const struct bmc_property boot_members[] = {
	{.name = "BootSourceOverrideTarget", .kind = BMC_TEXT, .allowed = targets},
	{.name = "BootSourceOverrideEnabled", .kind = BMC_TEXT, .allowed = enabled},
	{.name = "BootSourceOverrideMode", .kind = BMC_TEXT, .allowed = modes},
	{.name = "HttpBootUri", .kind = BMC_TEXT_OR_NULL, .max = 2048},
	{.name = NULL}};
static const struct bmc_property system_members[] = {
	{.name = "AssetTag", .kind = BMC_TEXT, .max = sizeof(((struct sim_bmc *)0)->asset_tag) - 1},
	{.name = "LocationIndicatorActive", .kind = BMC_FLAG},
	{.name = "Boot", .kind = BMC_OBJECT, .sub = boot_members},
	{.name = NULL}};

/* Stores a boot override in the machine. Target None and Enabled Disabled mean the same; a target
 * without Enabled applies to the next boot. */
static void set_boot(struct sim_machine *m, const json_t *boot)
{
	const char *target = json_str_at(boot, "BootSourceOverrideTarget"),
		   *when = json_str_at(boot, "BootSourceOverrideEnabled");
	const json_t *uri = json_object_get(boot, "HttpBootUri");

	if (uri)
		sim_text_set(&m->http_boot_uri, json_string_value(uri));
	if (str_eq(target, "None") || str_eq(when, "Disabled")) {
		sim_text_set(&m->boot_target, "None");
		sim_text_set(&m->boot_enabled, "Disabled");
		return;
	}
	if (target)
		sim_text_set(&m->boot_target, target);
	if (when)
		sim_text_set(&m->boot_enabled, when);
	else if (target && (!m->boot_enabled || str_eq(m->boot_enabled, "Disabled")))
		sim_text_set(&m->boot_enabled, "Once");
}

void bmc_patch_system(struct bmc_call *c)
{
	struct sim_bmc *b = c->b;
	const json_t *boot, *indicator;
	const char *tag;

	if (!bmc_check(c, system_members, NULL))
		return;
	boot = json_object_get(c->body, "Boot");
	indicator = json_object_get(c->body, "LocationIndicatorActive");
	tag = json_str_at(c->body, "AssetTag");
	if (tag)
		str_copy(b->asset_tag, sizeof(b->asset_tag), tag);
	if (indicator)
		b->indicator = json_is_true(indicator);
	set_boot(b->m, boot);
	sim_machine_save(b->m);
	bmc_reply_self(c);
}

/* --- power ------------------------------------------------------------------------------------ */

json_t *bmc_get_reset_info(struct bmc_call *c)
{
	(void)c;
	return json_pack("{s:s,s:s,s:[{s:s,s:b,s:s,s:o}]}", "Id", "ResetActionInfo", "Name",
			 "Reset Action Info", "Parameters", "Name", "ResetType", "Required", 1,
			 "DataType", "String", "AllowableValues", texts(reset_types));
}

static void switch_power(struct sim_bmc *b, bool on)
{
	int64_t seconds;

	if (bmc_fault(b, "PowerLie", NULL))
		return;
	if (bmc_fault(b, "PowerSlow", &seconds)) {
		b->wanted = on;
		loop_timer_start(&b->slow, seconds * 1000);
		return;
	}
	loop_timer_stop(&b->slow);
	sim_machine_power(b->m, on);
}

static void on_slow(void *arg)
{
	struct sim_bmc *b = arg;

	sim_machine_power(b->m, b->wanted);
}

void bmc_reset(struct sim_bmc *b, const char *type)
{
	bool on = b->m->on;

	b->again = on && str_eq(type, "PowerCycle");
	if ((str_eq(type, "ForceRestart") || str_eq(type, "GracefulRestart")) && on)
		sim_machine_reboot(b->m);
	else if (str_eq(type, "ForceOff") || str_eq(type, "GracefulShutdown") || b->again ||
		 (str_eq(type, "PushPowerButton") && on))
		switch_power(b, false);
	else
		switch_power(b, true);
}

bool bmc_reset_changes(const struct sim_machine *m, const char *type, bool *to)
{
	*to = !(str_eq(type, "ForceOff") || str_eq(type, "GracefulShutdown") ||
		(str_eq(type, "PushPowerButton") && m->on));
	return *to != m->on || str_eq(type, "PowerCycle");
}

void bmc_post_reset(struct bmc_call *c)
{
	static const struct bmc_property t[] = {
		{.name = "ResetType", .kind = BMC_TEXT, .allowed = reset_types, .required = true},
		{.name = NULL}};
	struct sim_bmc *b = c->b;
	const char *type;
	bool changes, to;

	if (!bmc_check(c, t, "ComputerSystem.Reset"))
		return;
	type = json_str_at(c->body, "ResetType");
	if (bmc_wants_task(c)) {
		changes = bmc_reset_changes(b->m, type, &to);
		if (bmc_task(c, "Computer Reset", changes, to))
			bmc_reset(b, type);
		return;
	}
	bmc_reset(b, type);
	bmc_reply(c, 204, NULL);
}

/* Called by the machine after a change that the BMC did not request. */
static void on_changed(void *arg)
{
	struct sim_bmc *b = arg;

	if (b->m->on == b->was_on)
		return;
	b->was_on = b->m->on;
	b->switched_at = bmc_now(b);
	bmc_event(b, "PowerStateChanged", b->was_on ? "The power is on." : "The power is off.",
		  bmc_system_path(b));
	if (b->again && !b->was_on) {
		b->again = false;
		switch_power(b, true);
	}
	bmc_task_powered(b);
}

/* --- constant resources ----------------------------------------------------------------------- */

json_t *bmc_get_nics(struct bmc_call *c)
{
	(void)c;
	return bmc_collection("Ethernet Interfaces",
			      json_pack("[o]", bmc_link(BMC_SYSTEM "/EthernetInterfaces/1")));
}

json_t *bmc_get_nic(struct bmc_call *c)
{
	const struct sim_machine *m = c->b->m;

	return json_pack("{s:s,s:s,s:s,s:s,s:b,s:{s:s,s:s}}", "Id", "1", "Name", "Boot NIC",
			 "MACAddress", m->mac, "PermanentMACAddress", m->mac, "InterfaceEnabled", 1,
			 "Status", "State", "Enabled", "Health", "OK");
}

json_t *bmc_get_chassis_list(struct bmc_call *c)
{
	(void)c;
	return bmc_collection("Chassis", json_pack("[o]", bmc_link(BMC_CHASSIS)));
}

json_t *bmc_get_chassis(struct bmc_call *c)
{
	const struct sim_machine *m = c->b->m;

	return json_pack("{s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:{s:s,s:s},s:{s:[o],s:[o]}}", "Id", "1",
			 "Name", m->name, "ChassisType", "RackMount", "Manufacturer", "drover",
			 "Model", m->model, "SerialNumber", m->serial, "PowerState",
			 m->on ? "On" : "Off", "Status", "State", "Enabled", "Health", "OK",
			 "Links", "ComputerSystems", bmc_link(BMC_SYSTEM), "ManagedBy",
			 bmc_link(BMC_MANAGER));
}

void bmc_system_init(struct sim_bmc *b)
{
	loop_timer_init(&b->slow, b->group, on_slow, b);
	b->was_on = b->m->on;
	b->m->changed = on_changed;
	b->m->bmc = b;
}

void bmc_system_done(struct sim_bmc *b)
{
	loop_timer_stop(&b->slow);
	b->m->changed = NULL;
	b->m->bmc = NULL;
}
