#ifndef TESTS_CONTRACT_FAKE_EC2_H
#define TESTS_CONTRACT_FAKE_EC2_H

#include "base/httpd/httpd.h"

/*
 * fake_ec2: one region of EC2, as far as test_ec2.c needs it. It has instances with tags and
 * tokens, pages of two instances, and a fault that replaces the next answer to an action.
 */
#define FAKE_EC2_INSTANCES 64
#define FAKE_EC2_PAGE 2

struct fake_ec2_instance {
	/* tags: XML items of the instance's tagSet */
	char id[24], type[32], zone[32], token[72], state[16], tags[1000];
	char cluster[64];
	/* hidden: the instance is not listed yet */
	bool spot, hidden;
	/* Capacity reservation of the instance; NULL: none */
	const char *reservation;
};
struct fake_ec2 {
	const char *region;
	struct httpd *httpd;
	struct fake_ec2_instance v[FAKE_EC2_INSTANCES];
	size_t n;
	/* Action whose next answer is replaced, and the body that replaces it; NULL: none */
	const char *fault_action, *fault_body;
	int fault_status;
	/* True: the action is carried out although its answer is replaced */
	bool fault_after;
	/* XML items of capacityReservationSet */
	const char *reservations;
	/* XML items of spotInstanceRequestSet */
	const char *spot_requests;
	/* Number of calls of any action */
	unsigned calls;
	/* Headers and form of the last call; form: decoded, one parameter on each line */
	char authorization[600], token[200], form[8192];
};
void fake_ec2_start(struct fake_ec2 *f, struct loop_group *g, const char *region);
void fake_ec2_done(struct fake_ec2 *f);
/* Copies a parameter of the last call to out and returns out; NULL: absent. */
const char *fake_ec2_param(const struct fake_ec2 *f, const char *name, char *out, size_t size);

#endif
