#ifndef TESTS_WORLD_BURST_RULE_H
#define TESTS_WORLD_BURST_RULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * burst_rule: invariant S6 in the simulated world. The possible cost of the burst policies never
 * exceeds their budget, and neither does the amount that the cloud bills for them. No instance is
 * launched for a pod that is already deleted. All instances of a gang are in one zone.
 *
 * The possible cost is the sum of the amounts committed in existing NodeClaims and of the amounts
 * in the policies' ledgers for deleted claims.
 */
#define BURST_RULE_CLAIMS 64
#define BURST_RULE_GONE_MS 10000 /* longest time in ms from a pod's deletion to a launch for it */

struct burst_rule {
	/* Budget of all policies together, in millionths; 0: cost is not checked. */
	int64_t budget;
	/* What the data costs, in millionths, that each instance of a policy moves. */
	int64_t egress;
	struct burst_seen {
		/* uid: UID of the NodeClaim. gang: UID of its gang; "": no gang. */
		char uid[64], gang[40];
		/* loop_now() when one of the claim's pods last existed. */
		int64_t wanted_at;
		bool launched;
	} v[BURST_RULE_CLAIMS];
	unsigned n;
	/* loop_now() of the last check of claims and ledgers; both are checked every 5 s. */
	int64_t looked_at;
};
struct sky;
/* True if S6 is violated; why: the violation. Each call checks the launches; claims and costs are
 * checked every 5 s. */
bool burst_rule_wrong(struct sky *s, char *why, size_t size);

#endif
