#ifndef API_NODE_ROWS_H
#define API_NODE_ROWS_H

#include "api/tables.h"

/*
 * node_rows: the fields that NodePool.spec.template.spec and NodeClaim.spec have in common: what a
 * claim promises is a copy of what its pool says.  For api/nodepool.c and api/nodeclaim.c.
 */

/* What step_gating() waits for.  G1 to G3 need a check that runs on the node. */
static const char *const gate_names[] = {"G0", NULL};
#define GATE_DOC                                                                                      \
	"What must hold before pods are let in. G0: the node is Ready, its startup taints are gone, " \
	"and every device that its instance type promises is registered."

/* clang-format off */
#define NODE_ROWS(type_)                                                                         \
	FIELD_ITEMS(type_, requirements, "requirements", object_requirement_fields, .max_items = 100, \
		    .rules = object_requirement_rules,                                           \
		    .doc = "Labels that the machine must have; all must hold."),                 \
	FIELD_ITEMS(type_, taints, "taints", object_taint_fields, .max_items = 32,               \
		    .doc = "Taints of the node."),                                               \
	FIELD_ITEMS(type_, startup_taints, "startupTaints", object_taint_fields, .max_items = 32, \
		    .doc = "Taints that somebody else removes before the node counts as ready."), \
	FIELD_PTR(type_, user_data_secret_ref, "userDataSecretRef", object_name_ref_fields,      \
		  .doc = "Secret in drover's namespace, merged after drover's own user data."),  \
	FIELD_PTR(type_, kubelet, "kubelet", object_kubelet_fields, .doc = "Settings of the kubelet."), \
	FIELD_OBJ(type_, network, "network", object_node_network_fields, .def = "{}",            \
		  .doc = "What is asked of the network."),                                       \
	FIELD_PTR(type_, checkpoint, "checkpoint", object_checkpoint_fields,                     \
		  .doc = "Who is told before pods are evicted."),                                \
	FIELD_UNKEPT("gate", FIELD_STR, .max_len = 2, .pattern = "^G[0-3]$",                     \
		     .valid = object_is_gate, .want = "G0 to G3",                                \
		     .only = gate_names, .def = "\"G0\"", .doc = GATE_DOC),                       \
	FIELD(type_, expire_after, "expireAfter", FIELD_DURATION, .never = true, .min = 5 * MINUTE, \
	      .def = "\"Never\"", .doc = "Age at which the node is given back."),                \
	FIELD(type_, termination_grace_period, "terminationGracePeriod", FIELD_DURATION, .min = 0, \
	      .max = 7 * DAY, .def = "\"1h\"",                                                   \
	      .doc = "Longest drain; after it PodDisruptionBudgets and finalizers of the tenant count no more.")
/* clang-format on */

#endif
