/*
 * kinds: the table of all kinds, with their names, field tables and checks, and lookups in it.
 */
#include "api/kinds.h"

#include "base/str.h"
#include "api/tables.h"

/* Names become part of other names and of node names: longer ones would be cut there. */
static const struct field_rule short_name_rules[] = {
	{"size(self.metadata.name) <= 63 && self.metadata.name.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",
	 "metadata.name must be a DNS label of at most 63 characters"},
	{NULL, NULL},
};

/* clang-format off */
#define OBJECT_KIND(type_, kind_, plural_, singular_, short_, ...)                               \
	{.kind = (kind_), .plural = (plural_), .singular = (singular_), .short_name = (short_),  \
	 .fields = type_##_fields, .size = sizeof(struct type_), .columns = type_##_columns,     \
	 .check = type_##_check, __VA_ARGS__}

const struct object_kind object_kinds[OBJECT_KINDS] = {
	[OBJECT_NODE_POOL] = OBJECT_KIND(node_pool, "NodePool", "nodepools", "nodepool", "npool", .has_status = true,
		.doc = "For which virtual clusters nodes are made, of what, how many, and when they are given back."),
	[OBJECT_NODE_CLAIM] = OBJECT_KIND(node_claim, "NodeClaim", "nodeclaims", "nodeclaim", "nclaim",
		.has_status = true, .rules = short_name_rules,
		.doc = "One node for one virtual cluster: a frozen copy of what it was promised."),
	[OBJECT_MACHINE] = OBJECT_KIND(machine, "Machine", "machines", "machine", "mach", .has_status = true,
		.rules = short_name_rules, .doc = "One physical server or cloud instance, with its state and journal."),
	[OBJECT_PROVIDER] = OBJECT_KIND(provider_object, "Provider", "providers", "provider", "prov",
		.has_status = true, .rules = short_name_rules,
		.doc = "Where machines come from, how they are switched and how their network is moved."),
	[OBJECT_VIRTUAL_CLUSTER] = OBJECT_KIND(virtual_cluster, "VirtualCluster", "virtualclusters",
		"virtualcluster", "vcl", .has_status = true, .rules = short_name_rules,
		.doc = "A tenant: its kubeconfig, quota, fair share and network."),
	[OBJECT_DRAIN] = OBJECT_KIND(drain, "Drain", "drains", "drain", "drn", .has_status = true,
		.doc = "An operator's request to empty machines or claims: why, by when, and what then."),
	[OBJECT_WIPE_RECORD] = OBJECT_KIND(wipe_record, "WipeRecord", "wiperecords", "wiperecord", "wr",
		.doc = "The signed evidence of one wipe attempt."),
	[OBJECT_BURST_POLICY] = OBJECT_KIND(burst_policy, "BurstPolicy", "burstpolicies", "burstpolicy", "bpol",
		.has_status = true, .doc = "When, where and for how much money to go to a cloud, and how to come back."),
	[OBJECT_BURST_LEDGER] = OBJECT_KIND(burst_ledger, "BurstLedger", "burstledgers", "burstledger", "bledg",
		.has_status = true, .doc = "The cost of ended launches by all BurstPolicies of its name; outlives the policies."),
};
/* clang-format on */

const struct object_kind *object_kind_find(const char *name)
{
	for (const struct object_kind *k = object_kinds; k < object_kinds + OBJECT_KINDS; k++)
		if (str_eq(k->kind, name) || str_eq(k->plural, name) || str_eq(k->singular, name) ||
		    str_eq(k->short_name, name))
			return k;
	return NULL;
}

int object_decode(const struct object_kind *k, const json_t *j, struct arena *a, void **out,
		  struct err *e)
{
	void *object = arena_alloc(a, k->size);

	/* Metadata first and alone: with it an error can be told to the object. */
	*out = NULL;
	if (fields_decode(object_meta_fields, json_object_get(j, "metadata"), "metadata", object, a,
			  e) < 0)
		return -1;
	*out = object;
	return fields_decode(k->fields, j, NULL, object, a, e);
}

int object_check(const struct object_kind *k, const void *object, const void *old, struct err *e)
{
	return k->check(object, old, e);
}

const struct object_meta *object_meta_of(const void *object)
{
	return object;
}
