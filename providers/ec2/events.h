#ifndef PROVIDERS_EC2_EVENTS_H
#define PROVIDERS_EC2_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"

/*
 * events: reads events about instances that EventBridge writes to a queue. Pure functions.
 *
 * Two kinds of events of aws.ec2 are used: the interruption warning, which EC2 sends two minutes
 * before it reclaims an instance, and the rebalance recommendation, which EC2 sends when an
 * interruption has become more likely (Amazon EC2 User Guide, "Spot Instance interruption notices"
 * and "EC2 instance rebalance recommendations").
 * Tests: tests/unit/providers/ec2/test_events.c
 */
#define EC2_EVENT_WARNING "EC2 Spot Instance Interruption Warning"
#define EC2_EVENT_RECOMMENDATION "EC2 Instance Rebalance Recommendation"

struct ec2_event {
	/* Instance id */
	const char *id;
	/* Unix ms at which EC2 ends the instance; 0: the event is a recommendation */
	int64_t ends_at;
	/* Unix ms since which an interruption is more likely; 0: the event is a warning */
	int64_t at_risk_since;
};
/* Decodes the body of a message into *out; out->id is allocated in a. now: wall ms, used as the
 * time of the event if the event has no valid time. False: the message is no such event. */
bool ec2_event_read(const char *body, size_t len, int64_t now, struct arena *a,
		    struct ec2_event *out);

#endif
