#ifndef TESTS_CONTRACT_FAKE_EC2_H
#define TESTS_CONTRACT_FAKE_EC2_H

#include "base/httpd/httpd.h"

/*
 * fake_ec2: one region of EC2, as small as the cases of test_ec2.c need it: instances with tags and
 * tokens, pages of two, and one answer in place of the next one of an action.
 */
#define FAKE_EC2_INSTANCES 64
#define FAKE_EC2_PAGE 2

struct fake_ec2_instance {
	/* tags: as items of a tagSet */
	char id[24], type[32], zone[32], token[72], state[16], tags[1000];
	char cluster[64];
	/* hidden: not shown yet */
	bool spot, hidden;
	/* NULL: none */
	const char *reservation;
};
struct fake_ec2 {
	const char *region;
	struct httpd *httpd;
	struct fake_ec2_instance v[FAKE_EC2_INSTANCES];
	size_t n;
	/* in place of the next answer to that action; NULL: none */
	const char *fault_action, *fault_body;
	int fault_status;
	/* it is obeyed first */
	bool fault_after;
	/* items of capacityReservationSet */
	const char *reservations;
	/* items of spotInstanceRequestSet */
	const char *spot_requests;
	/* all */
	unsigned calls;
	/* of the last call; form decoded, a parameter on each line */
	char authorization[600], token[200], form[8192];
};
void fake_ec2_start(struct fake_ec2 *f, struct loop_group *g, const char *region);
void fake_ec2_done(struct fake_ec2 *f);
/* Of the last call; NULL: it had none. */
const char *fake_ec2_param(const struct fake_ec2 *f, const char *name, char *out, size_t size);

#endif
