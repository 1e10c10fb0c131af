#ifndef TESTS_CONTRACT_SLOW_BMC_H
#define TESTS_CONTRACT_SLOW_BMC_H

#include "tests/contract/fake_bmc.h"

/*
 * slow_bmc: delays every answer of a fake BMC, including logins. The effect of a request happens
 * when it is answered; a request whose client disconnected before has no effect.
 *
 * Implements the fake's `tamper`; must outlive the fake.
 */
struct slow_bmc {
	struct fake_bmc *bmc;
	struct loop_group *group;
	/* Delay; may be changed at any time. */
	int64_t ms;
	/* Number of requests so far. */
	unsigned answered;
};
void slow_bmc_init(struct slow_bmc *s, struct fake_bmc *b, struct loop_group *g, int64_t ms);

#endif
