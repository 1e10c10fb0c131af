#include "redfish/internal.h"

#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "base/str.h"

/*
 * Collects facts about the BMC for display from the replies of other operations. Sends no request
 * of its own.
 * Tests: tests/unit/redfish/test_facts.c
 */
#define SMOOTH 8 /* A new reply changes the smoothed latency by 1/SMOOTH of the difference. */

void rf_latency(struct redfish *r, int64_t ms)
{
	int64_t us = ms * 1000;

	r->latency_us = r->latency_us < 0 ? us : r->latency_us + (us - r->latency_us) / SMOOTH;
}

void rf_learn_manager(struct redfish *r, const json_t *manager)
{
	char *version = rf_text_of(json_str_at(manager, "FirmwareVersion"));

	if (version)
		rf_set(&r->firmware, version);
}

static void forget_candidates(struct redfish *r)
{
	for (size_t i = 0; i < r->ncandidates; i++)
		free(r->candidates[i]);
	r->ncandidates = r->next_candidate = 0;
}

void rf_forget(struct redfish *r)
{
	r->root_known = false;
	rf_set(&r->sessions_path, NULL);
	rf_set(&r->service_path, NULL);
	rf_set(&r->systems_path, NULL);
	rf_set(&r->managers_path, NULL);
	rf_set(&r->system_path, NULL);
	rf_set(&r->reset_target, NULL);
	rf_set(&r->reset_info, NULL);
	rf_set(&r->settings, NULL);
	rf_set(&r->no_overrides, NULL);
	r->has_overrides = false;
	rf_set(&r->slot, NULL);
	rf_set(&r->media, NULL);
	rf_set(&r->media_enable, NULL);
	rf_set(&r->attributes, NULL);
	r->no_attributes = false;
	r->cd_first = RF_UNKNOWN;
	for (size_t i = 0; i < sizeof(r->managers) / sizeof(*r->managers); i++)
		rf_set(&r->managers[i], NULL);
	json_decref(r->root);
	r->root = NULL;
	r->reset_types = r->quirks = 0;
	r->quirk_rows = 0;
	rf_set(&r->vendor, NULL);
	rf_set(&r->product, NULL);
	rf_set(&r->firmware, NULL);
	r->reset_asked = false;
	memset(r->tag_form, 0, sizeof(r->tag_form));
	r->no_slot_until = r->forms_until = INT64_MIN;
	r->form = 0;
	forget_candidates(r);
	rf_drives_free(r->drives);
	r->drives = NULL;
	rf_scan_free(r->scan);
	r->scan = NULL;
}

static enum redfish_slot_kind slot_kind_of(const struct redfish *r)
{
	if (r->slot)
		return r->slot_https == RF_YES ? REDFISH_SLOT_HTTPS : REDFISH_SLOT_HTTP;
	if (loop_now(loop_of(r->group)) >= r->no_slot_until)
		return REDFISH_SLOT_UNKNOWN;
	return r->media_enable ? REDFISH_SLOT_DISABLED : REDFISH_SLOT_NONE;
}

struct redfish_facts redfish_facts(const struct redfish *r)
{
	struct redfish_facts f = {
		.system = r->system_path,
		.vendor = r->vendor,
		.product = r->product,
		.redfish_version = json_str_at(r->root, "RedfishVersion"),
		.firmware = r->firmware,
		.slot_kind = slot_kind_of(r),
		.slot = r->slot,
		.login = r->basic   ? REDFISH_LOGIN_BASIC
			 : r->token ? REDFISH_LOGIN_SESSION
				    : REDFISH_LOGIN_NONE,
		.latency_ms = r->latency_us < 0 ? -1 : (r->latency_us + 500) / 1000,
		.calls = r->calls,
	};

	for (size_t i = 0; i < quirk_rows_n && f.nquirks < REDFISH_QUIRKS; i++) {
		if (!(r->quirk_rows & UINT64_C(1) << i))
			continue;
		f.quirks[f.nquirks].id = quirk_rows[i].id;
		f.quirks[f.nquirks++].name = quirk_rows[i].name;
	}
	return f;
}
