/*
 * kinds: the table of all kinds, with their names, field tables and checks, and functions that look
 * up a kind.
 */
#include "api/kinds.h"

#include "base/str.h"
#include "api/tables.h"

/* CEL rule for names of at most 63 characters. Names of these objects become part of other names
 * and of node names, and a longer name would have to be truncated. */
static const struct field_rule short_name_rules[] = {
	{"size(self.metadata.name) <= 63 && "
	 "self.metadata.name.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",
	 "metadata.name must be a DNS label of at most 63 characters"},
	{NULL, NULL},
};

#define OBJECT_KIND(type_, kind_, plural_, singular_, short_, ...)                                 \
	{                                                                                          \
		.kind = (kind_), .plural = (plural_), .singular = (singular_),                     \
		.short_name = (short_), .fields = type_##_fields, .size = sizeof(struct type_),    \
		.columns = type_##_columns, .check = type_##_check, __VA_ARGS__                    \
	}

const struct object_kind object_kinds[OBJECT_KINDS] = {
	[OBJECT_NODE_POOL] = OBJECT_KIND(
		node_pool, "NodePool", "nodepools", "nodepool", "npool", .has_status = true,
		.doc = "A set of nodes for selected virtual clusters: template and limits of the "
		       "nodes, and rules for their release."),
	[OBJECT_NODE_CLAIM] = OBJECT_KIND(
		node_claim, "NodeClaim", "nodeclaims", "nodeclaim", "nclaim", .has_status = true,
		.rules = short_name_rules,
		.doc = "A request for one node of one virtual cluster, with a fixed copy of its "
		       "pool's template."),
	[OBJECT_MACHINE] = OBJECT_KIND(machine, "Machine", "machines", "machine", "mach",
				       .has_status = true, .rules = short_name_rules,
				       .doc = "One physical server, virtual machine or cloud "
					      "instance, with its state and journal."),
	[OBJECT_PROVIDER] = OBJECT_KIND(
		provider_object, "Provider", "providers", "provider", "prov", .has_status = true,
		.rules = short_name_rules,
		.doc = "A source of machines: how they are operated, booted, wiped and moved "
		       "between networks."),
	[OBJECT_VIRTUAL_CLUSTER] =
		OBJECT_KIND(virtual_cluster, "VirtualCluster", "virtualclusters", "virtualcluster",
			    "vcl", .has_status = true, .rules = short_name_rules,
			    .doc = "A tenant: its kubeconfig, quota, fair share and network."),
	[OBJECT_DRAIN] = OBJECT_KIND(
		drain, "Drain", "drains", "drain", "drn", .has_status = true,
		.doc = "An operator's request to empty machines: which machines, why, until when, "
		       "and what happens to them afterwards."),
	[OBJECT_WIPE_RECORD] = OBJECT_KIND(wipe_record, "WipeRecord", "wiperecords", "wiperecord",
					   "wr", .doc = "Signed evidence of one wipe attempt."),
	[OBJECT_BURST_POLICY] =
		OBJECT_KIND(burst_policy, "BurstPolicy", "burstpolicies", "burstpolicy", "bpol",
			    .has_status = true,
			    .doc = "Rules for launching cloud instances for waiting work: when, "
				   "where, at what cost, and when the instances end."),
	[OBJECT_BURST_LEDGER] =
		OBJECT_KIND(burst_ledger, "BurstLedger", "burstledgers", "burstledger", "bledg",
			    .has_status = true,
			    .doc = "Cost of launches that have ended, for the BurstPolicy with the "
				   "same name as the ledger. The ledger remains when the policy is "
				   "deleted, and a new policy with the same name continues it."),
	[OBJECT_AUDIT_SEGMENT] = OBJECT_KIND(
		audit_segment, "AuditSegment", "auditsegments", "auditsegment", "aseg",
		.doc = "Part of the audit log: changes that drover or its users made, each with "
		       "the digest of the entry before it."),
};

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

	/* Decode the metadata first, so that *out has it even if the rest of the object is invalid:
	 * the caller can then report the error on the object. */
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
