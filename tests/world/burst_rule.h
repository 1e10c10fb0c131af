#ifndef TESTS_WORLD_BURST_RULE_H
#define TESTS_WORLD_BURST_RULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * burst_rule: S6 in the simulated world: what policies may cost never goes beyond their budget, and
 * neither does what the cloud bills for them; nothing is launched for a pod that has gone; a gang
 * is launched in one zone.
 *
 * What they may cost is what their NodeClaims say, and what the policies settled of claims that are
 * gone.
 */
#define BURST_RULE_CLAIMS 64
#define BURST_RULE_GONE_MS 10000 /* from a pod's end until drover has heard of it */

struct burst_rule {
	/* of all policies together, in millionths; 0: not looked at */
	int64_t budget;
	struct burst_seen {
		/* gang: "": of none */
		char uid[64], gang[40];
		/* loop_now() when a pod of it was there last */
		int64_t wanted_at;
		bool launched;
	} v[BURST_RULE_CLAIMS];
	unsigned n;
	/* loop_now() */
	int64_t looked_at;
};
struct sky;
/* Looks every five seconds, and at each launch at once. */
bool burst_rule_wrong(struct sky *s, char *why, size_t size);

#endif
