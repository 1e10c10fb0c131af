/*
 * verbs: parses the command lines of the short commands. Their actions are in cli/machine.c,
 * cli/approve.c, cli/decide.c, cli/pause.c and cli/drain.c.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/verbs.h"
#include "api/crd.h"
#include "api/target.h"
#include "base/args.h"
#include "base/buf.h"
#include "base/str.h"
#include "cli/cli.h"

static error_t parse_nothing(int key, char *arg, struct argp_state *st)
{
	if (key == ARGP_KEY_ARG)
		argp_error(st, "unexpected argument: %s", arg);
	return ARGP_ERR_UNKNOWN;
}

/* Parses `drover version`, which accepts only -o because it reads no cluster. */
static error_t parse_version(int key, char *arg, struct argp_state *st)
{
	struct cli_options *o = st->input;

	if (key == ARGP_KEY_ARG)
		argp_error(st, "unexpected argument: %s", arg);
	return key == 'o' ? cli_option(key, arg, st, o) : ARGP_ERR_UNKNOWN;
}

int cli_version(int argc, char **argv)
{
	static const struct argp_option rows[] = {CLI_OUTPUT_ROW, {0}};
	static const struct argp a = {
		.options = rows,
		.parser = parse_version,
		.doc = "Print the version, the commit that the program was built from, and the "
		       "API version.\v"
		       "Example: drover version -o json"};
	struct cli_options o = {0};
	OWN_JSON j = NULL;

	args_parse(&a, argc, argv, &o);
	if (o.json) {
		j = json_pack("{s:s, s:s, s:s}", "version", DROVER_VERSION, "commit", DROVER_COMMIT,
			      "apiVersion", OBJECT_API_VERSION);
		json_dumpf(j, stdout, JSON_INDENT(2));
		putchar('\n');
		return 0;
	}
	printf("drover %s (commit %s, %s)\n", DROVER_VERSION, DROVER_COMMIT, OBJECT_API_VERSION);
	return 0;
}

int cli_crds(int argc, char **argv)
{
	static const struct argp a = {
		.parser = parse_nothing,
		.doc = "Print the CustomResourceDefinitions of drover's objects, as YAML.\v"
		       "Example: drover crds | kubectl apply -f -"};
	struct buf b;

	args_parse(&a, argc, argv, NULL);
	buf_init(&b, 16 << 20);
	crds_write(&b);
	fwrite(b.data, 1, b.len, stdout);
	buf_done(&b);
	return fflush(stdout) ? 1 : 0;
}

/* --- commands on one object ------------------------------------------------------------------- */

enum { ADOPT = 256, DRIVES, BMC, ALL, HOLD };

/* Arguments of a command on one object. All such commands share this struct; each sets only its own
 * members. */
struct one {
	struct cli_options o;
	/* what the argument names, for errors, such as "machine" */
	const char *what;
	const char *name, *reason;
	/* what --reason TEXT explains, if it is required; NULL: why the machine is taken out of
	 * use */
	const char *reason_of;
	/* may_all: --all replaces the argument */
	bool needs_reason, yes, may_all, all;
	/* may_burst: the argument may be "burst POLICY/WORK"; burst: POLICY/WORK, or NULL */
	bool may_burst;
	const char *burst;
	struct cli_approve approve;
	struct cli_decision decision;
};

static error_t parse(int key, char *arg, struct argp_state *st)
{
	struct one *v = st->input;

	switch (key) {
	case 'r':
		v->reason = arg;
		return 0;
	case 'y':
		v->yes = true;
		return 0;
	case ALL:
		v->all = true;
		return 0;
	case 'w':
		v->approve.wipe = true;
		return 0;
	case DRIVES:
		v->approve.drives = true;
		return 0;
	case BMC:
		v->approve.bmc = true;
		return 0;
	case HOLD:
		if (!str_to_duration(arg, &v->decision.hold_ms) || v->decision.hold_ms <= 0 ||
		    v->decision.hold_ms > CLAIM_DENIED_MAX_MS)
			argp_error(st, "--hold %s: want a duration up to 168h, such as 8h", arg);
		return 0;
	case ADOPT:
		v->approve.adopt = arg;
		return 0;
	case ARGP_KEY_ARG:
		if (v->may_burst && str_eq(v->name, "burst") && !v->burst) {
			v->burst = arg;
			return 0;
		}
		if (v->name)
			argp_error(st, "one %s at a time", v->what);
		v->name = arg;
		return 0;
	case ARGP_KEY_END:
		if (v->all && v->name)
			argp_error(st, "--all and %s exclude each other", v->name);
		if (!v->name && !v->all)
			argp_error(st, "which %s?%s", v->what, v->may_all ? " Or --all" : "");
		if (v->needs_reason && str_empty(v->reason))
			argp_error(st, "--reason TEXT is required: %s",
				   str_or(v->reason_of, "why is the machine taken out of use?"));
		if (v->approve.adopt && v->approve.wipe)
			argp_error(st, "--adopt and --wipe exclude each other");
		if (v->approve.bmc && (v->approve.adopt || v->approve.wipe || v->approve.drives))
			argp_error(st, "--bmc cannot be combined with --adopt, --wipe or --drives: "
				       "approve the BMC first, the rest once it answers");
		return 0;
	default:
		return cli_option(key, arg, st, &v->o);
	}
}

static void read_one(struct one *v, const struct argp_option *options, const char *args_doc,
		     const char *doc, int argc, char **argv)
{
	const struct argp a = {
		.options = options, .parser = parse, .args_doc = args_doc, .doc = doc};

	args_parse(&a, argc, argv, v);
}

/* Opens a client c with the options in v_, evaluates call_, and closes the client. Evaluates to the
 * exit status. */
#define RUN_ONE(v_, verb_, call_)                                                                  \
	({                                                                                         \
		struct cli_client c;                                                               \
		int status_ = cli_open(&c, (verb_), &(v_).o) < 0 ? 1 : -1;                         \
                                                                                                   \
		if (status_ < 0) {                                                                 \
			status_ = CLI_REPEAT(&c, (call_));                                         \
			cli_close(&c);                                                             \
		}                                                                                  \
		status_;                                                                           \
	})

static const struct argp_option plain_options[] = {CLI_OPTION_ROWS};
static const struct argp_option reason_options[] = {
	{"reason", 'r', "TEXT", 0, "Reason, shown to everyone who looks at the machine", 0},
	CLI_OPTION_ROWS};

/* Returns the NAME in "claim/NAME"; NULL: text names no NodeClaim in this form. */
static const char *claim_named(const char *text)
{
	const char *slash = strchr(str_or(text, ""), '/');

	return slash && slash[1] && target_kind(text, (size_t)(slash - text)) == OBJECT_NODE_CLAIM
		       ? slash + 1
		       : NULL;
}

/* Returns the exit status of `drover approve` or `drover deny` for v->name, which must be
 * claim/NAME. */
static int decide(struct one *v, const char *verb)
{
	const struct cli_approve *p = &v->approve;

	v->decision.claim = claim_named(v->name);
	v->decision.reason = v->reason;
	if (!v->decision.claim || p->wipe || p->drives || p->bmc || p->adopt) {
		fprintf(stderr, "%s: want claim/NAME without options for machines, got %s\n", verb,
			v->name);
		return 2;
	}
	return RUN_ONE(*v, verb, cli_do_decide(&c, &v->decision));
}

int cli_approve(int argc, char **argv)
{
	static const struct argp_option options[] = {
		{"wipe", 'w', NULL, 0,
		 "Switch off and wipe the machine even if it is on or quarantined; without this "
		 "option, drover does not touch such a machine. All its data is lost",
		 0},
		{"drives", DRIVES, NULL, 0,
		 "Replace spec.drives by the drives found at the last inspection. Drives that "
		 "leave the list, or that only the BMC lists, were not wiped: confirm that you "
		 "know where they are. A quarantined machine is wiped again",
		 0},
		{"yes", 'y', NULL, 0, "With --drives: do not ask for confirmation", 0},
		{"adopt", ADOPT, "CLAIM", 0,
		 "Take over a running machine, without a wipe. CLAIM is its NodeClaim, which has "
		 "the same name as its Node in the tenant's cluster",
		 0},
		{"bmc", BMC, NULL, 0,
		 "Address, certificate and password Secret in spec.bmc are right: drover may send "
		 "the password to this BMC",
		 0},
		{"reason", 'r', "TEXT", 0,
		 "With claim/NAME or burst/POLICY/WORK: why; shown to the tenant. With --drives or "
		 "--adopt: why no wipe is needed; the next wipe records name it",
		 0},
		CLI_OPTION_ROWS};
	struct one v = {.what = "machine or claim", .may_burst = true};

	read_one(
		&v, options, "MACHINE\nclaim/NAME\nburst/POLICY/WORK",
		"Let drover manage a machine: sets spec.managementPolicy to Manage and "
		"spec.identity to what the BMC reported. A machine that drover has not managed "
		"before, or that was retired, is then WIPED: all its data is lost. If it is on "
		"or may serve a tenant, it waits for --wipe. Only --adopt takes over a machine "
		"without a wipe.\n"
		"With claim/NAME: let a NodeClaim get its machine, if its tenant's claims need an "
		"approval. Approving one claim of a gang approves all claims of the gang that "
		"exist.\n"
		"With burst/POLICY/WORK: let a BurstPolicy launch instances for this waiting work, "
		"within its limits, if its mode is Recommend or its trigger.guards.approval is "
		"Manual.\v"
		"Examples:\n  drover approve gpu-r1-07\n  drover approve gpu-r1-07 --wipe\n"
		"  drover approve gpu-r1-07 --drives --reason 'drive shredded, ticket 4711'\n"
		"  drover approve gpu-r1-07 --adopt h100-x7k2p\n"
		"  drover approve gpu-r1-07 --bmc\n"
		"  drover approve claim/h100-x7k2p --reason 'project 42'\n"
		"  drover approve burst/research/team-a/default/train\n"
		"The same with kubectl: patch spec.managementPolicy, spec.identity, "
		"spec.approval, spec.drives; of a NodeClaim, spec.approval; of a "
		"BurstLedger, spec.approvals.",
		argc, argv);
	if (str_starts(v.name, "burst/"))
		v.burst = v.name + strlen("burst/");
	if (v.burst)
		return RUN_ONE(v, "drover approve", cli_do_approve_burst(&c, v.burst, v.reason));
	if (strchr(v.name, '/'))
		return decide(&v, "drover approve");
	if (v.reason && !v.approve.drives && !v.approve.adopt) {
		fprintf(stderr, "drover approve: --reason needs --drives, --adopt, claim/NAME or "
				"burst/POLICY/WORK\n");
		return 2;
	}
	v.approve.machine = v.name;
	v.approve.yes = v.yes;
	v.approve.reason = v.reason;
	return RUN_ONE(v, "drover approve", cli_do_approve(&c, &v.approve));
}

int cli_deny(int argc, char **argv)
{
	static const struct argp_option options[] = {
		{"reason", 'r', "TEXT", 0, "Why; shown to the tenant", 0},
		{"hold", HOLD, "DURATION", 0,
		 "How long the pods of the claim get no new claim (default: 1h, at most 168h)", 0},
		CLI_OPTION_ROWS};
	struct one v = {.what = "claim",
			.needs_reason = true,
			.reason_of = "why does the tenant get no machine?"};

	read_one(&v, options, "claim/NAME",
		 "Deny a NodeClaim that waits for its approval: it gets no machine, and its pods "
		 "get no new claim for a time. Denying one claim of a gang denies all claims of "
		 "the gang that exist.\v"
		 "Examples:\n"
		 "  drover deny claim/h100-x7k2p --reason 'no budget left this month'\n"
		 "  drover deny claim/h100-x7k2p --reason 'use the night' --hold 8h\n"
		 "The same with kubectl: patch spec.approval of the NodeClaim.",
		 argc, argv);
	v.decision.deny = true;
	return decide(&v, "drover deny");
}

int cli_release(int argc, char **argv)
{
	struct one v = {.what = "machine or node"};

	read_one(&v, plain_options, "NODE|MACHINE",
		 "End a hold, or a quarantine that an operator requested. After a hold the Node "
		 "accepts pods again. After a quarantine drover wipes the machine and offers it "
		 "again. (`drover drain --then Release` is something else: it takes a machine from "
		 "its tenant.)\v"
		 "Examples:\n"
		 "  drover release gpu-r1-07\n"
		 "  drover release h100-x7k2p\n"
		 "The same with kubectl: annotate the Machine with drover.dev/release, and remove "
		 "its annotation drover.dev/quarantine.",
		 argc, argv);
	return RUN_ONE(v, "drover release", cli_do_release(&c, v.name));
}

int cli_retry(int argc, char **argv)
{
	struct one v = {.what = "machine"};

	read_one(&v, plain_options, "MACHINE",
		 "Retry now: skip the back-off between attempts, end a quarantine that drover "
		 "would end later by itself, and try a refused BMC login once more.\v"
		 "Examples:\n"
		 "  drover retry gpu-r1-07\n"
		 "The same with kubectl: annotate the Machine with drover.dev/retry=VALUE, a value "
		 "not used before.",
		 argc, argv);
	return RUN_ONE(v, "drover retry", cli_do_retry(&c, v.name));
}

int cli_quarantine(int argc, char **argv)
{
	struct one v = {.what = "machine", .needs_reason = true};

	read_one(&v, reason_options, "MACHINE",
		 "Take a machine out of use until `drover release`. drover first drains a machine "
		 "that serves a tenant.\v"
		 "Examples:\n"
		 "  drover quarantine gpu-r1-07 --reason 'GPU 3 falls off the bus, RMA 881'\n"
		 "The same with kubectl: annotate the Machine with drover.dev/quarantine=REASON, "
		 "or create a Drain with then: Quarantine.",
		 argc, argv);
	return RUN_ONE(v, "drover quarantine", cli_do_quarantine(&c, v.name, v.reason));
}

int cli_retire(int argc, char **argv)
{
	struct one v = {.what = "machine", .reason = "to be retired"};

	read_one(&v, reason_options, "MACHINE",
		 "Stop managing a machine for good. drover first drains and wipes a machine that "
		 "serves a tenant.\v"
		 "Examples:\n"
		 "  drover retire gpu-r1-07\n"
		 "  drover retire gpu-r1-07 --reason 'sold'\n"
		 "The same with kubectl: patch spec.managementPolicy to Retire, or create a Drain "
		 "with then: Retire.",
		 argc, argv);
	return RUN_ONE(v, "drover retire", cli_do_retire(&c, v.name, v.reason));
}

int cli_confirm_off(int argc, char **argv)
{
	static const struct argp_option options[] = {
		{"yes", 'y', NULL, 0, "Do not ask for confirmation", 0}, CLI_OPTION_ROWS};
	struct one v = {.what = "machine"};

	read_one(&v, options, "MACHINE",
		 "Confirm that you saw a machine without power, if its BMC does not answer. The "
		 "confirmation is recorded and counts only for the operation in progress.\v"
		 "Examples:\n  drover confirm-off gpu-r1-07\n"
		 "  drover confirm-off gpu-r1-07 --yes\n"
		 "The same with kubectl: annotate the Machine with drover.dev/confirm-off=ID, its "
		 "status.operation.id.",
		 argc, argv);
	return RUN_ONE(v, "drover confirm-off", cli_do_confirm_off(&c, v.name, v.yes));
}

static const struct argp_option pause_options[] = {
	{"all", ALL, NULL, 0, "All pools, providers, tenants and BurstPolicies", 0},
	CLI_OPTION_ROWS};
#define PAUSED "pool/NAME, provider/NAME, tenant/NAME, machine/NAME or burstpolicy/NAME"
#define PAUSED_ARGS "pool/NAME|provider/NAME|tenant/NAME\nmachine/NAME|burstpolicy/NAME\n--all"

int cli_pause(int argc, char **argv)
{
	struct one v = {.what = PAUSED, .may_all = true};

	read_one(
		&v, pause_options, PAUSED_ARGS,
		"Pause a pool, a provider, a tenant, a machine or a BurstPolicy. For a paused pool "
		"or tenant drover creates and removes no Node. Machines of a paused provider, and "
		"a paused machine, stay as they are. A paused BurstPolicy launches nothing. Nodes "
		"that serve keep serving.\v"
		"Examples:\n"
		"  drover pause pool/h100\n"
		"  drover pause provider/hall-a\n"
		"  drover pause tenant/team-a\n"
		"  drover pause machine/gpu-r1-07\n"
		"  drover pause burstpolicy/research\n"
		"  drover pause --all\n"
		"The same with kubectl: patch spec.paused to true; of a machine, "
		"spec.managementPolicy to Observe. `drover resume` ends the pause.",
		argc, argv);
	return RUN_ONE(v, "drover pause",
		       v.all ? cli_do_pause_all(&c, true) : cli_do_pause(&c, v.name));
}

int cli_resume(int argc, char **argv)
{
	struct one v = {.what = PAUSED, .may_all = true};

	read_one(
		&v, pause_options, PAUSED_ARGS,
		"End a pause. For a pool or a provider that is not paused but has condition "
		"LineStopped (drover stopped creating NodeClaims after repeated failures): let "
		"drover create NodeClaims again; failures before now no longer count. For a tenant "
		"that is not paused and lost more than a fifth of its Nodes at once (NodesLost): "
		"accept that those Nodes are gone. --all ends every pause except those of "
		"machines, whoever began it.\v"
		"Examples:\n"
		"  drover resume pool/h100\n"
		"  drover resume provider/hall-a\n"
		"  drover resume tenant/team-a\n"
		"  drover resume machine/gpu-r1-07\n"
		"  drover resume --all\n"
		"The same with kubectl: patch spec.paused to false; of a machine, "
		"spec.managementPolicy to Manage; or annotate the object with "
		"drover.dev/resume=TIME, the time now such as 2026-12-01T10:00:00Z.",
		argc, argv);
	return RUN_ONE(v, "drover resume",
		       v.all ? cli_do_pause_all(&c, false) : cli_do_resume(&c, v.name));
}

int cli_cancel(int argc, char **argv)
{
	struct one v = {.what = "drain"};

	read_one(&v, plain_options, "DRAIN",
		 "Cancel a Drain. Machines that have not left their tenant yet keep serving it; "
		 "machines that have left do not return. Cancelling a finished Drain with --then "
		 "Hold ends the hold.\v"
		 "Examples:\n"
		 "  drover cancel drain-gpu-r1-07-1f2e\n"
		 "The same with kubectl: patch spec.cancelled of the Drain to true.",
		 argc, argv);
	return RUN_ONE(v, "drover cancel", cli_do_cancel(&c, v.name));
}
