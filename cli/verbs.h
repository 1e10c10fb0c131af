#ifndef CLI_VERBS_H
#define CLI_VERBS_H

#include "cli/client.h"
#include "cli/view_client.h"

/*
 * verbs: the actions of drover's commands, on an open client. main() parses the command line and
 * calls these functions; tests call them on a simulated loop. Each cli_do_NAME() prints what it did
 * and returns the exit status.
 */
struct cli_drain {
	/* names of Machines, or of Nodes that drover created; both may be mixed */
	const char **names;
	size_t nnames;
	/* label selector of Machines, instead of names; NULL: not set */
	const char *selector;
	const char *reason, *on_deadline, *then;
	/* wall ms; 0: not set */
	int64_t deadline, not_before;
	int64_t concurrent;
	/* true: the machines of one gang may be drained at different times */
	bool split;
	bool wait;
};
/* Returns the time in text as wall ms. A duration such as "2h" counts from `now`; any other text
 * must be RFC 3339. 0: text is NULL. -1: text is not a time. */
int64_t cli_time(int64_t now, const char *text);
int cli_do_drain(struct cli_client *c, const struct cli_drain *d);
/* Shows the progress of a Drain until the Drain has ended. A signal ends only the display; the
 * function then prints how to show the Drain again and how to cancel it. */
int cli_do_follow(struct cli_client *c, const char *drain);
int cli_do_cancel(struct cli_client *c, const char *drain);

/* Prints why an object waits or is stuck. target: in the form that explain_ask() expects
 * (controller/explain/explain.h). ns: drover's own namespace. */
int cli_do_why(struct cli_client *c, const char *target, const char *ns);
struct cli_stuck;
/* Explains a target in the cluster of c; target NULL: lists everything that is stuck. In a tenant's
 * cluster (cli/why_tenant.h), explains one waiting pod or lists all. target: words of the user,
 * such as pool/h100. ns: namespace given by the user, NULL if none: that of drover, or, in a
 * tenant's cluster, that of the pod. pod_ns: namespace of the pod in a tenant's cluster if neither
 * ns nor target names one. list: as for cli_do_stuck(). */
int cli_do_why_here(struct cli_client *c, const char *target, const char *ns, const char *pod_ns,
		    const struct cli_stuck *list);
/* Prints machines and claims of the fleet once, as text or as JSON. */
int cli_do_top(struct cli_client *c);
/* Prints the fleet on one screen. Machines and waiting pods come from the leader's view at *w, or,
 * if the view cannot be read, from objects. */
int cli_do_status(struct cli_client *c, const struct view_where *w);
/* How everything that needs help is listed. */
struct cli_stuck {
	/* where the leader's view is read; NULL: read objects alone */
	const struct view_where *view;
	/* true: one line for each row */
	bool brief;
};
/* longest time in ms that the leader's view may take before objects are read instead */
#define CLI_STUCK_VIEW_MS 3000
/* Lists everything that needs help, and pods that wait too long, the most urgent first. The rows
 * come from the leader's view, or, if it cannot be read, from objects, after a line on standard
 * error. Returns 0 if everything could be read, whether or not something needs help. list NULL:
 * read objects alone. */
int cli_do_stuck(struct cli_client *c, const struct cli_stuck *list);

/* Verifies the audit log in the cluster. Returns 1 if there is a fault, or no entry. ns: drover's
 * own namespace. */
int cli_do_audit_verify(struct cli_client *c, const char *ns);

/* Checks that the cluster has everything that drover needs. Returns 1 if there is a finding
 * FINDING_WRONG. ns: drover's own namespace. */
int cli_do_check(struct cli_client *c, const char *ns);
/* Does the same as cli_do_check(), and connects to the addresses that objects name. */
int cli_do_check_probing(struct cli_client *c, const char *ns);

int cli_do_release(struct cli_client *c, const char *node_or_machine);
int cli_do_retry(struct cli_client *c, const char *machine);
int cli_do_quarantine(struct cli_client *c, const char *machine, const char *reason);
int cli_do_retire(struct cli_client *c, const char *machine, const char *reason);
int cli_do_confirm_off(struct cli_client *c, const char *machine, bool yes);
/* cli_do_pause() pauses a pool, a Provider, a tenant, a machine or a BurstPolicy. cli_do_resume()
 * ends the pause. If the object is not paused, cli_do_resume() sets the annotation
 * drover.dev/resume instead: on a pool or Provider, this closes the circuit breaker; on a tenant,
 * it accepts that missing Nodes are gone. what: TYPE/NAME. */
int cli_do_pause(struct cli_client *c, const char *what);
int cli_do_resume(struct cli_client *c, const char *what);
/* Pauses all BurstPolicies, pools, tenants and Providers that are not paused, or ends the pause of
 * all that are. An error on one object does not stop the others. Machines are not changed: a paused
 * Provider covers its own. */
int cli_do_pause_all(struct cli_client *c, bool pause);

/* Requests that the BurstLedger of this policy be reset (api/burstledger.h). */
int cli_do_burst_reset(struct cli_client *c, const char *policy, const char *reason);

struct cli_approve {
	const char *machine;
	/* parts to approve; with bmc, no other part is approved */
	bool wipe, drives, bmc;
	/* true: if drives leave the list, do not ask the operator to confirm that they are
	 * accounted for */
	bool yes;
	/* name of the NodeClaim that the machine already serves; NULL: not set */
	const char *adopt;
	/* why a wipe is waived: drives leave the list, or the machine is adopted; NULL: none */
	const char *reason;
};
int cli_do_approve(struct cli_client *c, const struct cli_approve *a);

struct cli_decision {
	/* name of the NodeClaim */
	const char *claim;
	bool deny;
	/* NULL: none; required to deny */
	const char *reason;
	/* deny: ms for which the pods of the claim get no new one; 0: CLAIM_DENIED_MS */
	int64_t hold_ms;
};
int cli_do_decide(struct cli_client *c, const struct cli_decision *d);

/* Approves waiting work for a BurstPolicy. what: POLICY/WORK, where WORK is as in status.decisions
 * of the policy, with or without TENANT/ before it. reason: NULL: none. */
int cli_do_approve_burst(struct cli_client *c, const char *what, const char *reason);

struct cli_import {
	/* NAME or NAMESPACE/NAME of a vCluster; NULL: all vClusters */
	const char *of;
	/* GPU quota of each new tenant, as text; NULL: 0 */
	const char *quota;
	/* drover's own namespace */
	const char *ns;
};
/* Prints the objects to apply (VirtualCluster, Role and RoleBinding) for each vCluster that no
 * VirtualCluster names yet. Returns 1 if the cluster has no vCluster. */
int cli_do_import(struct cli_client *c, const struct cli_import *i);

struct cli_import_hosts {
	/* NAME or NAMESPACE/NAME of a BareMetalHost; NULL: all */
	const char *of;
	/* name of the Provider of the Machines; name of its instance type, NULL: not set; drover's
	 * own namespace */
	const char *provider, *instance_type, *ns;
};
/* Prints a Machine to apply for each BareMetalHost that is no Machine yet, with comments on what
 * to do before (cli/baremetalhost.h). Returns 1 if none could be converted. */
int cli_do_import_hosts(struct cli_client *c, const struct cli_import_hosts *i);

/* Writes a support bundle to the stream `to`: one archive of objects and logs without possible
 * secrets. ns: drover's own namespace. The archive lists the objects that could not be read; they
 * do not count as a failure. Returns 1, with nothing written, if the API server does not answer
 * this user. */
int cli_do_bundle(struct cli_client *c, const char *ns, FILE *to);

enum cli_form { CLI_TABLE, CLI_WIDE, CLI_JSON, CLI_YAML, CLI_NAME };
struct cli_get_options {
	/* arguments, in one of the forms TYPE[,TYPE...], TYPE NAME..., TYPE/NAME...; types that
	 * target_kind() knows */
	const char **targets;
	size_t n;
	/* label selector; NULL: all objects */
	const char *selector;
	enum cli_form form;
	/* headless: print no header line. watch: print changes; allowed only for one type and at
	 * most one name. */
	bool headless, watch;
	/* width of the terminal in columns; columns that do not fit are left out and named; 0:
	 * print all columns */
	size_t width;
};
/* Prints objects. Returns 1 if an object does not exist; the others are still printed. */
int cli_do_get(struct cli_client *c, const struct cli_get_options *opts);

#endif
