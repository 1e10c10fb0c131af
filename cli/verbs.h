#ifndef CLI_VERBS_H
#define CLI_VERBS_H

#include "cli/client.h"

/*
 * verbs: what each verb does, on an open client: main() reads the command
 * line and calls these, tests call them on a simulated loop.  Each prints what it wrote and
 * gives the exit status.
 */
struct cli_drain {
	const char **names; /* Machines, or Nodes of drover's */
	size_t nnames;
	const char *selector; /* of Machines, instead of names; NULL: none */
	const char *reason, *on_deadline, *then;
	int64_t deadline, not_before; /* wall ms; 0: none */
	int64_t concurrent;
	bool split; /* gangs need not leave together */
	bool wait;
};
/* "2h" from now on, or an RFC 3339 time, in wall ms; 0: text is NULL; -1: it is neither. */
int64_t cli_time(int64_t now, const char *text);
int cli_do_drain(struct cli_client *c, const struct cli_drain *d);
/* Show how far it is until it has ended; a signal leaves it and says how to follow and to cancel. */
int cli_do_follow(struct cli_client *c, const char *drain);
int cli_do_cancel(struct cli_client *c, const char *drain);

int cli_do_release(struct cli_client *c, const char *node_or_machine);
int cli_do_retry(struct cli_client *c, const char *machine);
int cli_do_quarantine(struct cli_client *c, const char *machine, const char *reason);
int cli_do_retire(struct cli_client *c, const char *machine, const char *reason);
int cli_do_confirm_off(struct cli_client *c, const char *machine, bool yes);
int cli_do_resume(struct cli_client *c, const char *kind_slash_name);

struct cli_approve {
	const char *machine;
	bool wipe, drives, bmc; /* bmc: by itself */
	bool yes;		/* drives that go out of the list are accounted for: do not ask */
	const char *adopt;	/* the claim; NULL: no */
};
int cli_do_approve(struct cli_client *c, const struct cli_approve *a);

#endif
