#include "api/tables.h"

/*
 * machine_bmc: field table of status.bmc of a Machine: what is remembered of its BMC, and what is
 * known of it, for people.
 * Tests: tests/unit/api/test_kinds.c, tests/world/test_bmc_facts.c
 */
static const struct field unlisted_fields[] = {
	FIELD(machine_unlisted, firmware_version, "firmwareVersion", FIELD_STR, .max_len = 256,
	      .doc = "Firmware version that the BMC had."),
	FIELD(machine_unlisted, message, "message", FIELD_STR, .max_len = 1024,
	      .doc = "What the BMC answered."),
	FIELD(machine_unlisted, observed_time, "observedTime", FIELD_TIME,
	      .doc = "When it was asked last."),
	FIELDS_END,
};

const struct field machine_bmc_status_fields[] = {
	FIELD_IN(machine_status, bmc, session_uri, "sessionURI", FIELD_STR, .max_len = 2048,
		 .doc = "The open session; a new leader deletes it first."),
	FIELD_IN(machine_status, bmc, secret_version, "secretVersion", FIELD_STR, .max_len = 64,
		 .doc = "resourceVersion of the Secret that the BMC last accepted."),
	FIELD_IN(machine_status, bmc, refused_secret_version, "refusedSecretVersion", FIELD_STR,
		 .max_len = 64,
		 .doc = "resourceVersion of the Secret whose login was refused: not tried again."),
	FIELD_IN(machine_status, bmc, fingerprint, "fingerprint", FIELD_STR, .max_len = 128,
		 .doc = "Certificate pinned at first use."),
	FIELD_IN(
		machine_status, bmc, kept_address, "keptAddress", FIELD_STR, .max_len = 128,
		.doc = "SHA-256 of an HTTP boot address of drover that the BMC does not let go; it boots nothing."),
	FIELD_IN(
		machine_status, bmc, media_over, "mediaOver", FIELD_STR, .max_len = 16,
		.doc = "HTTPS: the BMC refused a medium over plain HTTP, and gets spec.boot.httpsMediaURL since; `drover retry` forgets it."),
	FIELD_IN(machine_status, bmc, vendor, "vendor", FIELD_STR, .max_len = 256,
		 .doc = "Who made it, as it says."),
	FIELD_IN(machine_status, bmc, product, "product", FIELD_STR, .max_len = 256,
		 .doc = "What it is, as it says."),
	FIELD_IN(machine_status, bmc, firmware_version, "firmwareVersion", FIELD_STR,
		 .max_len = 256,
		 .doc = "Of the BMC; read with the list of drives, for each tenancy."),
	FIELD_IN(machine_status, bmc, redfish_version, "redfishVersion", FIELD_STR, .max_len = 256,
		 .doc = "Of its service."),
	FIELD_IN(machine_status, bmc, quirks, "quirks", FIELD_STRINGS, .max_items = 16,
		 .max_len = 64,
		 .doc = "What drover does otherwise with it, by the ids of docs/bmc.md."),
	FIELD_IN(
		machine_status, bmc, media, "media", FIELD_STR, .max_len = 16,
		.doc = "How boot media go in: HTTPS (its slot lists it), HTTP, Disabled (drover enables its slots before the first medium), None."),
	FIELD_IN(machine_status, bmc, media_slot, "mediaSlot", FIELD_STR, .max_len = 1024,
		 .doc = "Path of the slot that takes them."),
	FIELD_IN(machine_status, bmc, login, "login", FIELD_STR, .max_len = 16,
		 .doc = "Session or Basic."),
	FIELD_IN(
		machine_status, bmc, latency_ms, "latencyMilliseconds", FIELD_I64, .min = 0,
		.doc = "What an answer of it takes, smoothed; written again when it is another by a quarter."),
	FIELD_IN(
		machine_status, bmc, trip_calls, "tripCalls", FIELD_I64, .min = 0,
		.doc = "Requests that its last trip took, from free to free; of one that one leader saw whole."),
	FIELD_IN(
		machine_status, bmc, drives_not_listed, "drivesNotListed", FIELD_OBJECT_PTR,
		.sub = unlisted_fields, .size = sizeof(struct machine_unlisted),
		.doc = "Set if the BMC answered that it does not serve its list of drives (Storage). It is asked again a day later, when its firmware version is another, and by `drover retry`."),
	FIELDS_END,
};
