#ifndef CLI_BURST_LIVE_H
#define CLI_BURST_LIVE_H

#include "cli/view_client.h"

/*
 * burst_live: the input of `drover burst plan` from a cluster: the BurstPolicies from the API
 * server, and waiting work, offers and launches from the leader's view (GET /v1/burst).
 * Tests: tests/world/test_burst_plan.c
 */
struct burst_live {
	/* Documents of burst_docs_read(): the policies, then the BurstState; a JSON array */
	json_t *docs;
	/* Waiting work that gets no decision now: rows {tenant, work, reason, message} */
	json_t *aside;
	/* True: the leader has not read the offers of some Provider yet */
	bool reading;
};

/* Reads the cluster into *out, whose values the caller owns. -1: *e, and *out is empty. */
int burst_live_read(struct cli_client *c, const struct view_where *w, struct burst_live *out,
		    struct err *e) __attribute__((warn_unused_result));
void burst_live_done(struct burst_live *l);

#endif
