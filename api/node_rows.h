#ifndef API_NODE_ROWS_H
#define API_NODE_ROWS_H

#include "api/tables.h"

/*
 * node_rows: the fields that NodePool.spec.template.spec and NodeClaim.spec have in common, because
 * a claim's spec is a copy of its pool's template. Included only by api/nodepool.c and
 * api/nodeclaim.c.
 */

/* Gates that drover accepts: those that step_gating() evaluates. Gates G1 to G3 would need a check
 * that runs on the node. */
static const char *const gate_names[] = {"G0", NULL};
#define GATE_DOC                                                                                   \
	"Checks that must pass before pods may be scheduled to the node. G0: the Node is Ready, "  \
	"its startup taints are gone, and the Node offers every extended resource (such as "       \
	"nvidia.com/gpu) that the field capacity of its instance type lists."
#define EXPIRE_DOC                                                                                 \
	"Age, counted from the creation of the NodeClaim, at which drover drains the node and "    \
	"releases its machine. Never: no limit."
#define GRACE_DOC                                                                                  \
	"Longest time for a drain that drover starts itself or that follows the deletion of the "  \
	"NodeClaim. When the time is over, drover deletes the remaining pods, even against "       \
	"PodDisruptionBudgets, and 30 s later switches the machine off, even if pods with "        \
	"finalizers remain. Exception: if drover drains the node because the node is "             \
	"underutilized or has drifted, drover gives up the drain, and the node stays in service. " \
	"An operator's Drain has its own limit, spec.deadline of the Drain."

/* clang-format off */
#define NODE_ROWS(type_)                                                                           \
	FIELD_ITEMS(type_, requirements, "requirements", object_requirement_fields,                \
		    .max_items = 100, .rules = object_requirement_rules,                           \
		    .doc = "Requirements for the labels of the machine. The machine must meet "    \
			   "all of them."),                                                        \
	FIELD_ITEMS(type_, taints, "taints", object_taint_fields, .max_items = 32,                 \
		    .doc = "Taints of the node."),                                                 \
	FIELD_ITEMS(type_, startup_taints, "startupTaints", object_taint_fields, .max_items = 32,  \
		    .doc = "Taints of a new node that other software must remove before the node " \
			   "counts as ready."),                                                    \
	FIELD_PTR(type_, user_data_secret_ref, "userDataSecretRef", object_name_ref_fields,        \
		  .doc = "Secret, in the namespace in which drover runs, with cloud-init user "    \
			 "data under the key user-data. drover writes the user data to the "       \
			 "config drive unchanged. If not set, the user data is empty. Not "        \
			 "supported for cloud instances."),                                        \
	FIELD_PTR(type_, kubelet, "kubelet", object_kubelet_fields,                                \
		  .doc = "Settings of the kubelet."),                                              \
	FIELD_OBJ(type_, network, "network", object_node_network_fields, .def = "{}",              \
		  .doc = "Requirements for the network of the machine."),                          \
	FIELD_PTR(type_, checkpoint, "checkpoint", object_checkpoint_fields,                       \
		  .doc = "Service that drover calls before it evicts pods, so that work can be "   \
			 "saved. If not set, no service is called; pods with the annotation "      \
			 "drover.dev/checkpoint are still notified."),                             \
	FIELD_UNKEPT("gate", FIELD_STR, .max_len = 2, .pattern = "^G[0-3]$",                       \
		     .valid = object_is_gate, .want = "G0 to G3", .only = gate_names,              \
		     .def = "\"G0\"", .doc = GATE_DOC),                                            \
	FIELD(type_, expire_after, "expireAfter", FIELD_DURATION, .never = true,                   \
	      .min = 5 * MINUTE, .def = "\"Never\"", .doc = EXPIRE_DOC),                           \
	FIELD(type_, termination_grace_period, "terminationGracePeriod", FIELD_DURATION,           \
	      .min = 0, .max = 7 * DAY, .def = "\"1h\"", .doc = GRACE_DOC)
/* clang-format on */

#endif
