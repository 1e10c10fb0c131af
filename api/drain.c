#include "base/str.h"
#include "api/tables.h"

/*
 * drain: field table and checks of the kind Drain: an operator's request to empty machines.
 * Tests: tests/unit/api/test_kinds.c
 */
static const char *const on_deadline_names[] = {"Escalate", "Stop", NULL};
static const char *const gangs_names[] = {"Whole", "Split", NULL};
const char *const drain_then_names[] = {"Release", "Hold", "Quarantine", "Retire", NULL};
const char *const drain_phase_names[] = {"Pending", "Draining",	 "Succeeded",
					 "Partial", "Cancelled", NULL};

static const struct field_rule cancelled_rules[] = {
	{"self || !oldSelf", "a cancelled Drain stays cancelled; create a new one"},
	{NULL, NULL},
};

static const struct field spec_fields[] = {
	FIELD(drain_spec, reason, "reason", FIELD_STR, .required = true, .immutable = true,
	      .doc = "Reason for the drain, for human readers."),
	FIELD_PTR(
		drain_spec, machine_selector, "machineSelector", object_selector_fields,
		.immutable = true,
		.doc = "Label selector for the Machines to drain. Exactly one of machineSelector, "
		       "machineNames and nodeClaimNames must be set."),
	FIELD(drain_spec, machine_names, "machineNames", FIELD_STRINGS, .immutable = true,
	      .max_len = 63, .max_items = 1000, .doc = "Names of the Machines to drain."),
	FIELD(drain_spec, node_claim_names, "nodeClaimNames", FIELD_STRINGS, .immutable = true,
	      .max_len = 63, .max_items = 1000,
	      .doc = "Names of the NodeClaims whose Machines are drained."),
	FIELD(drain_spec, not_before, "notBefore", FIELD_TIME, .immutable = true,
	      .doc = "Time before which the drain does not start. If not set, the drain starts "
		     "at once."),
	FIELD(drain_spec, deadline, "deadline", FIELD_TIME,
	      .doc = "Time at which drover takes the action in spec.onDeadline. If not set, the "
		     "drain waits without limit. May be changed."),
	FIELD(drain_spec, on_deadline, "onDeadline", FIELD_ENUM, .enums = on_deadline_names,
	      .def = "\"Stop\"", .immutable = true,
	      .doc = "Action at the deadline. Escalate: drover deletes the remaining pods and "
		     "switches the machines off. Stop: drover uncordons the machines that still "
		     "have pods, and these machines stay in service."),
	FIELD(drain_spec, concurrent, "concurrent", FIELD_I64, .min = 1, .max = 1000, .def = "1",
	      .immutable = true, .doc = "Highest number of machines that are drained at one time."),
	FIELD(drain_spec, gangs, "gangs", FIELD_ENUM, .enums = gangs_names, .def = "\"Whole\"",
	      .immutable = true,
	      .doc = "Whether the machines of one gang (pods that start together) are drained "
		     "together. Whole: together, even if that exceeds spec.concurrent. Split: "
		     "independently."),
	FIELD(drain_spec, then, "then", FIELD_ENUM, .enums = drain_then_names, .def = "\"Release\"",
	      .immutable = true,
	      .doc = "What happens to a machine after it is empty. Release: it is wiped and "
		     "becomes free. Hold: it stays cordoned with its tenant and is not wiped. "
		     "Quarantine: it is wiped and quarantined until an operator releases it. "
		     "Retire: it is wiped and leaves service (state retired); it stays in "
		     "quarantine if the wipe fails. A cloud instance is terminated instead, and "
		     "not wiped."),
	FIELD(drain_spec, cancelled, "cancelled", FIELD_BOOL, .def = "false",
	      .rules = cancelled_rules,
	      .doc = "Whether the drain is cancelled. Machines that have not left their tenant "
		     "stay in service. May be set to true, but not back to false."),
	FIELD(drain_spec, ttl_seconds_after_finished, "ttlSecondsAfterFinished", FIELD_I64,
	      .min = 0, .max = 31536000, .def = "604800", .immutable = true,
	      .doc = "Time in seconds after which drover deletes a finished Drain; 0: at "
		     "once. A Drain that still holds a machine (spec.then Hold) is not "
		     "deleted."),
	FIELDS_END,
};
static const struct field_rule spec_rules[] = {
	{"(has(self.machineSelector) ? 1 : 0) + (has(self.machineNames) && "
	 "size(self.machineNames) > 0 ? 1 : 0) + (has(self.nodeClaimNames) && "
	 "size(self.nodeClaimNames) > 0 ? 1 : 0) == 1",
	 "want exactly one of machineSelector, machineNames and nodeClaimNames"},
	{"has(self.machineSelector) == has(oldSelf.machineSelector) && "
	 "has(self.machineNames) == has(oldSelf.machineNames) && "
	 "has(self.nodeClaimNames) == has(oldSelf.nodeClaimNames) && "
	 "has(self.notBefore) == has(oldSelf.notBefore)",
	 "only cancelled and deadline may be changed"},
	{"!has(self.notBefore) || !has(self.deadline) || self.notBefore < self.deadline",
	 "deadline must be after notBefore"},
	{"self.onDeadline != 'Escalate' || has(self.deadline)",
	 "onDeadline Escalate requires deadline"},
	{NULL, NULL},
};

static const struct field target_fields[] = {
	FIELD(drain_target, machine, "machine", FIELD_STR, .required = true, .max_len = 253,
	      .doc = "Name of the Machine."),
	FIELD(drain_target, claim, "claim", FIELD_STR, .max_len = 253,
	      .doc = "Name of the NodeClaim that the Machine serves. While phase is Pending, the "
		     "name follows the Machine; afterwards it no longer changes."),
	FIELD(drain_target, phase, "phase", FIELD_STR, .max_len = 32,
	      .doc = "Progress of this machine: Pending, Evicting, Escalating, Leaving, Wiping, "
		     "Done, Stopped (in service again after the deadline), Failed or Cancelled."),
	FIELD(drain_target, pods_left, "podsLeft", FIELD_I64, .min = 0, .max = INT64_MAX,
	      .doc = "Number of pods that are still on the Node. If phase is Stopped or Done, "
		     "number of pods that had not left when that phase began."),
	FIELD(drain_target, blocked_by, "blockedBy", FIELD_STR,
	      .doc = "What prevents the eviction of the first pod that is still on the "
		     "Node, such as \"pdb team-x/web\". If phase is Pending, the gang "
		     "with which the machine leaves. If phase is Failed, the cause."),
	FIELDS_END,
};

static const struct field status_fields[] = {
	FIELD(drain_status, phase, "phase", FIELD_ENUM, .enums = drain_phase_names,
	      .doc = "Progress of the whole drain. Pending: spec.notBefore has not "
		     "passed. Draining: in progress. Succeeded: all machines ended as "
		     "requested. Partial: all ended, but some not as requested. "
		     "Cancelled: the drain was cancelled before all machines ended."),
	FIELD(drain_status, start_time, "startTime", FIELD_TIME,
	      .doc = "Time at which the drain started and the list of its targets was determined."),
	FIELD(drain_status, completion_time, "completionTime", FIELD_TIME,
	      .doc = "Time at which the drain finished."),
	FIELD_ITEMS(drain_status, targets, "targets", target_fields, .max_items = 1000,
		    .doc = "Machines that the drain empties. The list is determined once, when the "
			   "drain starts."),
	CONDITIONS_ROW(
		drain_status,
		"Conditions: Ready (True if all machines ended as requested); Resolved (True if "
		"all named objects were found, or the selector matched); Stalled (the Drain was "
		"cancelled, or it ended although not all machines ended as requested); Valid "
		"(drover can use spec; absent until drover first refuses spec)."),
	FIELDS_END,
};

const struct field drain_fields[] = {
	META_ROW(drain),
	FIELD_OBJ(
		drain, spec, "spec", spec_fields, .required = true, .rules = spec_rules,
		.doc = "Desired state of the Drain. Immutable except for cancelled and deadline."),
	FIELD_OBJ(drain, status, "status", status_fields, .doc = "Observed state of the Drain."),
	FIELDS_END,
};

const struct object_column drain_columns[] = {
	{"Phase", "string", ".status.phase", 0},
	{"Then", "string", ".spec.then", 0},
	{"Deadline", "string", ".spec.deadline", 0},
	{"Reason", "string", ".spec.reason", 0},
	{"Valid", "string", ".status.conditions[?(@.type==\"Valid\")].status", 0},
	{"Concurrent", "integer", ".spec.concurrent", 1},
	{NULL, NULL, NULL, 0},
};

/* Checks that only cancelled and deadline have changed. */
static int check_unchanged(const struct drain_spec *s, const struct drain_spec *o, struct err *e)
{
	struct drain_spec now = *s;

	now.cancelled = o->cancelled;
	now.deadline = o->deadline;
	if (object_same(spec_fields, &now, o, "spec", e) < 0)
		return err_set(e, ERR_INVALID, 0,
			       "spec: only cancelled and deadline may be changed");
	if (o->cancelled && !s->cancelled)
		return err_set(e, ERR_INVALID, 0,
			       "spec.cancelled: a cancelled Drain stays cancelled");
	return 0;
}

int drain_check(const void *object, const void *old, struct err *e)
{
	const struct drain *d = object, *o = old;
	const struct drain_spec *s = &d->spec;
	int n = !!s->machine_selector + !!s->machine_names.n + !!s->node_claim_names.n;

	if (n != 1)
		return err_set(e, ERR_INVALID, 0,
			       "spec: want exactly one of machineSelector, machineNames and "
			       "nodeClaimNames, got %d",
			       n);
	if (object_selector_check(s->machine_selector, "spec.machineSelector.matchExpressions", e) <
	    0)
		return -1;
	if (s->not_before && s->deadline && s->not_before >= s->deadline)
		return err_set(e, ERR_INVALID, 0, "spec.deadline: must be after notBefore");
	if (s->on_deadline == DRAIN_ESCALATE && !s->deadline)
		return err_set(e, ERR_INVALID, 0,
			       "spec.deadline: required for onDeadline Escalate");
	return o ? check_unchanged(s, &o->spec, e) : 0;
}
