/*
 * parse: what a System says of itself. Strings from a BMC are used only if they are short and
 * printable; an unknown enumeration value is unknown, never a default.
 * Tests: tests/unit/redfish/test_system.c
 */
#include "redfish/internal.h"

#include <string.h>
#include "base/str.h"

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
		{"Paused", REDFISH_POWER_ON}, /* Halted in the firmware's shell, but powered. */
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (str_eq(names[i].name, s))
			return names[i].power;
	return REDFISH_POWER_UNKNOWN;
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

enum redfish_power rf_power_of(const json_t *system)
{
	return power_of(text_at(system, "PowerState"));
}

void rf_identity_of(const json_t *system, struct rf_identity *out)
{
	/* A UUID that is a vendor's default is shared by many machines: report none, so that it
	 * never identifies a machine. */
	if (uuid_read(text_at(system, "UUID"), out->uuid) != UUID_IS)
		out->uuid[0] = '\0';
	if (!trimmed(text_at(system, "SerialNumber"), out->serial))
		out->serial[0] = '\0';
}

void rf_parse(const json_t *j, int64_t read_at, struct redfish_system *s,
	      const struct rf_identity *id)
{
	*s = (struct redfish_system){
		.read_at = read_at,
		.power = rf_power_of(j),
		.system_uuid = id->uuid[0] ? id->uuid : NULL,
		.serial = id->serial[0] ? id->serial : NULL,
		.manufacturer = text_at(j, "Manufacturer"),
		.model = text_at(j, "Model"),
		.bios_version = text_at(j, "BiosVersion"),
		.boot_progress = text_at(json_object_get(j, "BootProgress"), "LastState"),
	};
	rf_parse_boot(json_at(j, "Boot"), s);
	rf_health_read(j, s);
}

void rf_parse_boot(const json_t *boot, struct redfish_system *s)
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
