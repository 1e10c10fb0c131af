/* uninstall_objects: tells from spec and status what drover has not settled yet. */
#include "cli/uninstall_objects.h"

#include "api/annotations.h"
#include "api/machine_states.h"
#include "base/str.h"

bool uninstall_is_drovers(const char *finalizer)
{
	static const char *const names[] = {FINALIZER_CLAIM,	       FINALIZER_MACHINE,
					    FINALIZER_PROVISIONED,     FINALIZER_PROVIDER,
					    FINALIZER_VIRTUAL_CLUSTER, FINALIZER_WIPE_RECORD};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (str_eq(finalizer, names[i]))
			return true;
	return false;
}

static bool has_finalizer(const json_t *o, const char *name)
{
	json_t *v;
	size_t i;

	json_array_foreach (json_at(o, "metadata", "finalizers"), i, v)
		if (str_eq(json_string_value(v), name))
			return true;
	return false;
}

static const char *of_tenant(const json_t *o, struct arena *a)
{
	const size_t charges = json_array_size(json_at(o, "status", "cost", "charges")),
		     debts = json_array_size(json_at(o, "status", "debts"));
	const char *bill = charges ? "its bill is saved in a ConfigMap; later costs are not "
				     "recorded"
				   : "";
	const char *nodes =
		debts ? arena_printf(
				a,
				"%zu Nodes or bootstrap tokens stay in its cluster, first "
				"Node %s",
				debts,
				str_or(json_str_at(json_array_get(json_at(o, "status", "debts"), 0),
						   "nodeName"),
				       "?"))
		      : "";

	return arena_printf(a, "%s%s%s", bill, charges && debts ? "; " : "", nodes);
}

static const char *of_claim(const json_t *o, struct arena *a)
{
	const char *machine = json_str_at(o, "status", "machineRef", "name");

	if (!machine)
		return "";
	return arena_printf(a,
			    "machine %s is not drained, isolated or wiped, and Node %s stays in "
			    "the cluster of tenant %s",
			    machine, json_str_at(o, "metadata", "name"),
			    str_or(json_str_at(o, "spec", "virtualClusterRef", "name"), "?"));
}

static const char *of_machine(const json_t *o, struct arena *a)
{
	const char *instance = json_str_at(o, "status", "instance", "id"),
		   *claim = json_str_at(o, "status", "claimRef", "name"),
		   *state = str_or(json_str_at(o, "status", "state"), ""),
		   *provider = str_or(json_str_at(o, "spec", "providerRef", "name"), "?");
	const enum machine_state s = machine_state_find(state);

	if (!str_empty(instance) && s != MACHINE_GONE)
		return arena_printf(a, "instance %s of Provider %s keeps running and is charged",
				    instance, provider);
	if (has_finalizer(o, FINALIZER_PROVISIONED))
		return arena_printf(a, "its virtual machine and drives stay at Provider %s",
				    provider);
	if (claim)
		return arena_printf(a,
				    "the machine (%s) stays in the network of claim %s and is not "
				    "wiped",
				    state, claim);
	if (!has_finalizer(o, FINALIZER_MACHINE) || s == MACHINE_FREE || s == MACHINE_RETIRED)
		return "";
	return arena_printf(a,
			    "the machine stays as it is (%s), without proof that it is off, "
			    "isolated or wiped",
			    state[0] ? state : "no state");
}

static const char *of_record(const json_t *o, struct arena *a)
{
	return arena_printf(a, "proof that machine %s was wiped%s",
			    str_or(json_str_at(o, "spec", "machine", "name"), "?"),
			    has_finalizer(o, FINALIZER_WIPE_RECORD)
				    ? ", which drover has not exported yet"
				    : "");
}

const char *uninstall_loses(enum object_kind_id kind, const json_t *o, struct arena *a)
{
	switch (kind) {
	case OBJECT_VIRTUAL_CLUSTER:
		return of_tenant(o, a);
	case OBJECT_NODE_CLAIM:
		return of_claim(o, a);
	case OBJECT_MACHINE:
		return of_machine(o, a);
	case OBJECT_WIPE_RECORD:
		return of_record(o, a);
	case OBJECT_BURST_LEDGER:
		return "what a BurstPolicy has spent";
	case OBJECT_NODE_POOL:
	case OBJECT_PROVIDER:
	case OBJECT_DRAIN:
	case OBJECT_BURST_POLICY:
	case OBJECT_AUDIT_SEGMENT:
	case OBJECT_KINDS:
		return "";
	}
	return "";
}
