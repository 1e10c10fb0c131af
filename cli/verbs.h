#ifndef CLI_VERBS_H
#define CLI_VERBS_H

#include "cli/client.h"

/*
 * verbs: what each verb does, on an open client: main() reads the command
 * line and calls these, tests call them on a simulated loop.  Each prints what it wrote and
 * gives the exit status.
 */
struct cli_drain {
	/* Machines, or Nodes of drover's */
	const char **names;
	size_t nnames;
	/* of Machines, instead of names; NULL: none */
	const char *selector;
	const char *reason, *on_deadline, *then;
	/* wall ms; 0: none */
	int64_t deadline, not_before;
	int64_t concurrent;
	/* gangs need not leave together */
	bool split;
	bool wait;
};
/* "2h" from now on, or an RFC 3339 time, in wall ms; 0: text is NULL; -1: it is neither. */
int64_t cli_time(int64_t now, const char *text);
int cli_do_drain(struct cli_client *c, const struct cli_drain *d);
/* Show how far it is until it has ended; a signal leaves it and says how to follow and to
 * cancel. */
int cli_do_follow(struct cli_client *c, const char *drain);
int cli_do_cancel(struct cli_client *c, const char *drain);

/* target: as explain_ask() takes it (cli/explain.h); ns: drover's own. */
int cli_do_why(struct cli_client *c, const char *target, const char *ns);
/* The fleet, once: as text, or as JSON. */
int cli_do_top(struct cli_client *c);
/* All that is stuck, the worst first.  Nothing stuck is no failure: 0. */
int cli_do_stuck(struct cli_client *c);

/* Whether all is there that an installation needs; 1: something is wrong.  ns: drover's own. */
int cli_do_check(struct cli_client *c, const char *ns);

int cli_do_release(struct cli_client *c, const char *node_or_machine);
int cli_do_retry(struct cli_client *c, const char *machine);
int cli_do_quarantine(struct cli_client *c, const char *machine, const char *reason);
int cli_do_retire(struct cli_client *c, const char *machine, const char *reason);
int cli_do_confirm_off(struct cli_client *c, const char *machine, bool yes);
/* what: TYPE/NAME of a pool, a provider or a tenant. Resume ends a pause, else lets a stopped line
 * go on. */
int cli_do_pause(struct cli_client *c, const char *what);
int cli_do_resume(struct cli_client *c, const char *what);

/* Requests a reset of the BurstLedger of that name (api/burstledger.h). */
int cli_do_burst_reset(struct cli_client *c, const char *policy, const char *reason);

struct cli_approve {
	const char *machine;
	/* bmc: by itself */
	bool wipe, drives, bmc;
	/* drives that go out of the list are accounted for: do not ask */
	bool yes;
	/* the claim; NULL: no */
	const char *adopt;
};
int cli_do_approve(struct cli_client *c, const struct cli_approve *a);

struct cli_import {
	/* NAME or NAMESPACE/NAME; NULL: all that are found */
	const char *of;
	/* GPUs of each; NULL: 0, until a person says more */
	const char *quota;
	/* drover's own */
	const char *ns;
};
/* Print the VirtualCluster, Role and RoleBinding of each vCluster that none names yet, to apply. 1:
 * there is none. */
int cli_do_import(struct cli_client *c, const struct cli_import *i);

/* All that a supporter asks for, without what may be a secret, as one archive into `to`; ns:
 * drover's own. What could not be had is said in it, and is no failure. */
int cli_do_bundle(struct cli_client *c, const char *ns, FILE *to);

enum cli_form { CLI_TABLE, CLI_WIDE, CLI_JSON, CLI_YAML, CLI_NAME };
struct cli_look {
	/* TYPE[,TYPE...], or TYPE NAME..., or TYPE/NAME...; types that target_kind() knows */
	const char **targets;
	size_t n;
	/* of labels; NULL: all */
	const char *selector;
	enum cli_form form;
	/* watch: of one type, and one name or all of them */
	bool headless, watch;
	/* of the terminal, in columns: what does not fit is left out, and said; 0: nothing is */
	size_t width;
};
/* Show objects.  What is not there is said, and the rest shown: 1. */
int cli_do_get(struct cli_client *c, const struct cli_look *look);

#endif
