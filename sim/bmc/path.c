#include "sim/bmc/bmc_impl.h"

#include "base/str.h"

/*
 * bmc_path: paths of the simulated resources, with or without a tree (tree.h).
 * Tests: tests/unit/sim/bmc/test_dialect.c, tests/contract/test_dialects.c
 */
#define SERVICE SIM_TREE_ROOT "/SessionService"
#define TASKS SIM_TREE_ROOT "/TaskService/Tasks"

const struct sim_tree *bmc_tree(const struct sim_bmc *b)
{
	return b->dialect->tree;
}

const char *bmc_system_path(const struct sim_bmc *b)
{
	return b->dialect ? bmc_tree(b)->system : BMC_SYSTEM;
}

const char *bmc_sessions_path(const struct sim_bmc *b)
{
	return b->dialect && bmc_tree(b)->sessions ? bmc_tree(b)->sessions : SERVICE "/Sessions";
}

const char *bmc_tasks_path(const struct sim_bmc *b)
{
	return b->dialect && bmc_tree(b)->tasks ? bmc_tree(b)->tasks : TASKS;
}

const struct sim_slot *bmc_tree_slot(const struct sim_bmc *b, size_t at)
{
	return at < bmc_tree(b)->nslots ? &bmc_tree(b)->slots[at] : NULL;
}

const char *bmc_late_media(const struct sim_bmc *b)
{
	const struct sim_tree *t = bmc_tree(b);

	return t->enable && !t->nslots ? t->media[0] : NULL;
}

bool bmc_are_enabled(const struct sim_bmc *b)
{
	return b->enabled_at >= 0 &&
	       bmc_now(b) - b->enabled_at >= b->dialect->quirks.media.enable_ms;
}

const char *bmc_slot_path(const struct sim_bmc *b)
{
	const struct sim_slot *s = b->dialect ? bmc_tree_slot(b, b->slot) : NULL;

	if (!b->dialect)
		return BMC_MANAGER "/VirtualMedia/Cd";
	return s ? s->path : str_or(bmc_late_media(b), bmc_system_path(b));
}

json_t *bmc_tree_allowed(const struct sim_bmc *b)
{
	const struct sim_tree *t = bmc_tree(b);
	OWN_JSON system = sim_tree_get(t, t->system);
	OWN_JSON info = NULL;
	json_t *all = json_at(system, "Actions", "#ComputerSystem.Reset",
			      "ResetType@Redfish.AllowableValues"),
	       *v;
	size_t i;

	info = !all && t->reset_info ? sim_tree_get(t, t->reset_info) : NULL;
	json_array_foreach (json_object_get(info, "Parameters"), i, v)
		if (str_eq(json_str_at(v, "Name"), "ResetType"))
			all = json_object_get(v, "AllowableValues");
	return json_incref(all);
}
