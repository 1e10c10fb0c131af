#ifndef TESTS_CONTRACT_SLOW_BMC_H
#define TESTS_CONTRACT_SLOW_BMC_H

#include "tests/contract/fake_bmc.h"

/*
 * slow_bmc: delays every answer of a fake BMC, including logins. A request takes effect when it is
 * answered. A request whose client disconnects before has no effect.
 *
 * A slow_bmc is the `tamper` function of a fake BMC, and must outlive it.
 */
struct slow_bmc {
	struct fake_bmc *bmc;
	struct loop_group *group;
	/* Delay in ms; may be changed at any time */
	int64_t ms;
	/* Number of requests received so far */
	unsigned answered;
};
void slow_bmc_init(struct slow_bmc *s, struct fake_bmc *b, struct loop_group *g, int64_t ms);

#endif
