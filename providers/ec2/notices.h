#ifndef PROVIDERS_EC2_NOTICES_H
#define PROVIDERS_EC2_NOTICES_H

#include <stdbool.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/buf.h"
#include "providers/ec2/query.h"

/*
 * notices: finds the spot instances that EC2 is about to reclaim, by DescribeSpotInstanceRequests.
 * Pure functions.
 *
 * EC2 gives notice two minutes before it reclaims an instance. During these two minutes the
 * instance is still reported as running, but the status of its spot request is marked-for-..., or
 * already instance-terminated-no-capacity and the like (Amazon EC2 User Guide, "Spot request status
 * codes"). An instance that a user ended is not a notice. Events of EventBridge are read by
 * events.h.
 * Tests: tests/unit/providers/ec2/test_notices.c
 */
#define EC2_NOTICE_MS INT64_C(120000)

struct ec2_notice {
	/* Instance id */
	const char *id;
	/* Time at which EC2 ends the instance, Unix ms */
	int64_t ends_at;
};
/* Writes the form that lists the spot requests of the account in a region. The caller must call
 * buf_done(). page: page size; next: token of the page, NULL for the first. */
void ec2_notices_form(struct buf *b, const char *page, const char *next);
/* Decodes an item of spotInstanceRequestSet into *out. now: wall ms, used as the time of the notice
 * if the status has no valid time. False: the item is not a notice. */
bool ec2_notice_read(struct ec2_reply_node item, int64_t now, struct arena *a,
		     struct ec2_notice *out);

#endif
