#ifndef TESTS_CONTRACT_FAKE_EC2_H
#define TESTS_CONTRACT_FAKE_EC2_H

#include "base/httpd/httpd.h"

/*
 * fake_ec2: one region of EC2, as far as test_ec2.c needs it: instances with tags and tokens, pages
 * of two, and a fault that replaces the next answer to an action.
 */
#define FAKE_EC2_INSTANCES 64
#define FAKE_EC2_PAGE 2

struct fake_ec2_instance {
	/* tags: items of a tagSet. */
	char id[24], type[32], zone[32], token[72], state[16], tags[1000];
	char cluster[64];
	/* hidden: not listed yet. */
	bool spot, hidden;
	/* NULL: none. */
	const char *reservation;
};
struct fake_ec2 {
	const char *region;
	struct httpd *httpd;
	struct fake_ec2_instance v[FAKE_EC2_INSTANCES];
	size_t n;
	/* Action, and body that replaces its next answer; NULL: none. */
	const char *fault_action, *fault_body;
	int fault_status;
	/* The action is carried out before the fault. */
	bool fault_after;
	/* Items of capacityReservationSet. */
	const char *reservations;
	/* Items of spotInstanceRequestSet. */
	const char *spot_requests;
	/* Number of all calls. */
	unsigned calls;
	/* From the last call; form is decoded, one parameter per line. */
	char authorization[600], token[200], form[8192];
};
void fake_ec2_start(struct fake_ec2 *f, struct loop_group *g, const char *region);
void fake_ec2_done(struct fake_ec2 *f);
/* Returns a parameter of the last call; NULL: absent. */
const char *fake_ec2_param(const struct fake_ec2 *f, const char *name, char *out, size_t size);

#endif
