#ifndef TESTS_WORLD_BURST_RULE_H
#define TESTS_WORLD_BURST_RULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * burst_rule: invariant S6 in the simulated world. What burst policies may cost never exceeds their
 * budget, and neither does what the cloud bills for them. Nothing is launched for a pod that is
 * already deleted. A gang is launched in one zone.
 *
 * The possible cost is the amount committed in existing NodeClaims, plus the amounts in the
 * policies' ledgers of deleted claims.
 */
#define BURST_RULE_CLAIMS 64
#define BURST_RULE_GONE_MS 10000 /* time from a pod's deletion until drover must know of it */

struct burst_rule {
	/* Budget of all policies together, in millionths; 0 means not checked. */
	int64_t budget;
	struct burst_seen {
		/* uid of the NodeClaim; gang: UID of its gang, "": no gang. */
		char uid[64], gang[40];
		/* loop_now() when one of the claim's pods last existed. */
		int64_t wanted_at;
		bool launched;
	} v[BURST_RULE_CLAIMS];
	unsigned n;
	/* loop_now() of the last check of claims and ledgers. */
	int64_t looked_at;
};
struct sky;
/* True if S6 is violated; why says how. Checks launches on every call, claims and costs every 5
 * s. */
bool burst_rule_wrong(struct sky *s, char *why, size_t size);

#endif
