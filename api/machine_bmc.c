#include "api/tables.h"

/*
 * machine_bmc: field table of status.bmc of a Machine: what drover has learned about the BMC.
 * Tests: tests/unit/api/test_kinds.c, tests/world/test_bmc_facts.c
 */
static const struct field unlisted_fields[] = {
	FIELD(machine_unlisted, firmware_version, "firmwareVersion", FIELD_STR, .max_len = 256,
	      .doc = "Firmware version of the BMC when drover last asked for the list of drives."),
	FIELD(machine_unlisted, message, "message", FIELD_STR, .max_len = 1024,
	      .doc = "Error that the BMC returned."),
	FIELD(machine_unlisted, observed_time, "observedTime", FIELD_TIME,
	      .doc = "Time at which drover last asked the BMC for the list of drives."),
	FIELDS_END,
};

const struct field machine_bmc_status_fields[] = {
	FIELD_IN(machine_status, bmc, session_uri, "sessionURI", FIELD_STR, .max_len = 2048,
		 .doc = "URI of the open Redfish session. A new leader deletes this session before "
			"it logs in."),
	FIELD_IN(machine_status, bmc, secret_version, "secretVersion", FIELD_STR, .max_len = 64,
		 .doc = "resourceVersion of the Secret with which the BMC last accepted a login."),
	FIELD_IN(machine_status, bmc, refused_secret_version, "refusedSecretVersion", FIELD_STR,
		 .max_len = 64,
		 .doc = "resourceVersion of the Secret with which the BMC refused a login. drover "
			"does not try this version again."),
	FIELD_IN(machine_status, bmc, fingerprint, "fingerprint", FIELD_STR, .max_len = 128,
		 .doc = "SHA-256 digest of the certificate that was pinned at first use."),
	FIELD_IN(machine_status, bmc, kept_address, "keptAddress", FIELD_STR, .max_len = 128,
		 .doc = "SHA-256 digest of an HTTP boot URL that drover set and could not remove "
			"from the BMC. The boot override is cleared, so nothing boots from this "
			"URL."),
	FIELD_IN(machine_status, bmc, media_over, "mediaOver", FIELD_STR, .max_len = 16,
		 .doc = "Set to HTTPS after the BMC refused a boot medium over plain HTTP. The BMC "
			"then gets boot media from spec.boot.httpsMediaURL of the Provider. "
			"\"drover retry\" resets the field."),
	FIELD_IN(machine_status, bmc, vendor, "vendor", FIELD_STR, .max_len = 256,
		 .doc = "Vendor, as reported by the BMC."),
	FIELD_IN(machine_status, bmc, product, "product", FIELD_STR, .max_len = 256,
		 .doc = "Product name, as reported by the BMC."),
	FIELD_IN(machine_status, bmc, firmware_version, "firmwareVersion", FIELD_STR,
		 .max_len = 256,
		 .doc = "Firmware version of the BMC. Read with the list of drives, once for each "
			"tenancy."),
	FIELD_IN(machine_status, bmc, redfish_version, "redfishVersion", FIELD_STR, .max_len = 256,
		 .doc = "Version of the Redfish service."),
	FIELD_IN(machine_status, bmc, quirks, "quirks", FIELD_STRINGS, .max_items = 16,
		 .max_len = 64,
		 .doc = "Deviations of this BMC that drover works around. docs/bmc.md describes "
			"each ID."),
	FIELD_IN(machine_status, bmc, media, "media", FIELD_STR, .max_len = 16,
		 .doc = "How boot media are attached. HTTPS: over HTTPS, which the virtual media "
			"slot lists as supported. HTTP: over plain HTTP. Disabled: the slots are "
			"disabled; drover enables them before it attaches the first medium. None: "
			"not possible."),
	FIELD_IN(machine_status, bmc, media_slot, "mediaSlot", FIELD_STR, .max_len = 1024,
		 .doc = "Path of the virtual media slot that drover uses."),
	FIELD_IN(machine_status, bmc, login, "login", FIELD_STR, .max_len = 16,
		 .doc = "Login method: Session or Basic."),
	FIELD_IN(machine_status, bmc, latency_ms, "latencyMilliseconds", FIELD_I64, .min = 0,
		 .doc = "Smoothed response time of the BMC in milliseconds. Updated only when it "
			"has changed by at least a quarter and at least 20 ms."),
	FIELD_IN(machine_status, bmc, trip_calls, "tripCalls", FIELD_I64, .min = 0,
		 .doc = "Number of BMC requests from the time at which the machine last left the "
			"state free until it was free again. Set only if one leader observed this "
			"whole cycle."),
	FIELD_IN(machine_status, bmc, drives_not_listed, "drivesNotListed", FIELD_OBJECT_PTR,
		 .sub = unlisted_fields, .size = sizeof(struct machine_unlisted),
		 .doc = "Set if the BMC does not serve its list of drives (Storage). drover asks "
			"again after a day, after a change of firmware version, and at \"drover "
			"retry\"."),
	FIELDS_END,
};
