#ifndef TESTS_CONTRACT_SLOW_BMC_H
#define TESTS_CONTRACT_SLOW_BMC_H

#include "tests/contract/fake_bmc.h"

/*
 * slow_bmc: a fake BMC that answers every request, logins too, only after a while. What a request
 * does is done when it is answered. A client that went away first was not heard.
 *
 * It is the fake's `tamper`; it has to outlive the fake.
 */
struct slow_bmc {
	struct fake_bmc *bmc;
	struct loop_group *group;
	/* may be changed at any time */
	int64_t ms;
	/* requests so far */
	unsigned answered;
};
void slow_bmc_init(struct slow_bmc *s, struct fake_bmc *b, struct loop_group *g, int64_t ms);

#endif
