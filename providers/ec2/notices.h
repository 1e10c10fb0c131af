#ifndef PROVIDERS_EC2_NOTICES_H
#define PROVIDERS_EC2_NOTICES_H

#include <stdbool.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/buf.h"
#include "providers/ec2/query.h"

/*
 * notices: which spot instances EC2 is about to take back, as DescribeSpotInstanceRequests has it.
 * Pure.
 *
 * For two minutes an instance is still told as running, and its request has one of two kinds of
 * status: marked-for-..., or at once instance-terminated-no-capacity and its like (Amazon EC2 User
 * Guide, "Spot request status codes"). What a user ended is no notice. A rebalance recommendation
 * is told by instance metadata and EventBridge alone: it is not seen.
 * Tests: tests/unit/providers/ec2/test_notices.c
 */
#define EC2_NOTICE_MS INT64_C(120000)

struct ec2_notice {
	/* of the instance */
	const char *id;
	/* Unix ms */
	int64_t ends_at;
};
/* Writes the form that asks for the Spot requests of the account in its region. The caller calls
 * buf_done(). next: token of the page; NULL: the first page. */
void ec2_notices_form(struct buf *b, const char *page, const char *next);
/* An item of spotInstanceRequestSet. now: wall ms, of a status without a time. False: it is no
 * notice. */
bool ec2_notice_read(struct ec2_reply_node item, int64_t now, struct arena *a,
		     struct ec2_notice *out);

#endif
