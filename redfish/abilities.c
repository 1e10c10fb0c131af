#include "redfish/internal.h"

#include "base/mem.h"
#include "base/str.h"

/*
 * Reads what a BMC can do, as far as its resources list it, in this order:
 *
 *   System -> ActionInfo of its Reset -> pending object -> the vendor's own override -> its Manager
 *
 * Each resource is read only if it exists. A resource that the BMC does not serve counts as an
 * empty list.
 * Tests: tests/unit/redfish/test_facts.c, tests/contract/test_bmc_check.c
 */
static const char *tpm_of(const json_t *system)
{
	json_t *m;
	size_t i;

	json_array_foreach (json_at(system, "TrustedModules"), i, m) {
		const char *type = json_str_at(m, "InterfaceType");

		if (!str_eq(json_str_at(m, "Status", "State"), "Absent"))
			return rf_text_ok(type) && *type ? type : "of unreported type";
	}
	return NULL;
}

static void tell(struct redfish *r)
{
	struct redfish_abilities a = {
		.on = r->reset_target && rf_reset_type(r, true),
		.off = r->reset_target && rf_reset_type(r, false),
		.boots_cd = rf_boots_from(r, REDFISH_BOOT_CD),
		.boots_http = rf_boots_from(r, REDFISH_BOOT_HTTP),
		.updates = r->updates,
		.tpm = tpm_of(r->op->system),
	};

	a.forced_off = a.off && str_eq(rf_reset_type(r, false), "ForceOff");
	rf_end(r, &a);
}

/* A failed reply is ignored, because the Manager's facts are for display only. */
static void on_manager(struct redfish *r, const struct rf_reply *p)
{
	if (p->err.kind == ERR_NONE)
		rf_learn_manager(r, p->json);
	tell(r);
}

static void read_manager(struct redfish *r)
{
	if (r->managers[0])
		rf_get(r, mem_strdup(r->managers[0]), on_manager);
	else
		tell(r);
}

static void on_pending(struct redfish *r, const struct rf_reply *p)
{
	if (rf_pending_read(r, p))
		rf_oem_read(r, read_manager);
	else
		rf_fail(r, &p->err);
}

static void read_boot(struct redfish *r)
{
	if (!rf_look_at_pending(r, on_pending))
		rf_oem_read(r, read_manager);
}

static void on_resets(struct redfish *r, const struct rf_reply *p)
{
	if (p->status == 0) {
		rf_fail(r, &p->err);
		return;
	}
	rf_learn_resets(r, p->json);
	read_boot(r);
}

static void read_resets(struct redfish *r)
{
	if (!r->reset_asked && r->reset_info)
		rf_get(r, mem_strdup(r->reset_info), on_resets);
	else
		read_boot(r);
}

static void on_system(struct redfish *r, const struct rf_reply *p)
{
	if (p->err.kind != ERR_NONE)
		rf_fail(r, &p->err);
	else if (rf_learn_system(r, p))
		read_resets(r);
}

void rf_abilities_read(struct redfish *r)
{
	if (r->op->system)
		read_resets(r);
	else
		rf_get(r, mem_strdup(r->system_path), on_system);
}

size_t redfish_systems(const struct redfish *r, const char **v, size_t max)
{
	size_t n = 0;

	if (r->system_path || !(r->switchable & (r->switchable - 1)))
		return 0;
	for (size_t i = 0; i < r->ncandidates && n < max; i++)
		if (r->switchable & 1u << i)
			v[n++] = r->candidates[i];
	return n;
}
