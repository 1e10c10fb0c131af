#ifndef PROVIDERS_EC2_WARNED_H
#define PROVIDERS_EC2_WARNED_H

#include <stdint.h>
#include "base/own.h"
#include "providers/ec2/events.h"
#include "providers/elastic.h"

/*
 * warned: remembers the events of each instance until an hour after the instance's end, and for an
 * hour if an interruption is only more likely. At most EC2_WARNED_MAX instances are remembered;
 * events of others are then dropped. In memory only, on the loop thread.
 * Tests: tests/unit/providers/ec2/test_warned.c
 */
#define EC2_WARNED_MAX 4096
#define EC2_WARNED_MS INT64_C(3600000)

struct ec2_warned;
struct ec2_warned *ec2_warned_new(void);
void ec2_warned_free(struct ec2_warned *w);
DEFINE_OWN(ec2_warned)

/* Copies *e. Of several ends of an instance, the earliest is kept; of several recommendations, the
 * latest. now: wall ms. */
void ec2_warned_put(struct ec2_warned *w, const struct ec2_event *e, int64_t now);
/* Sets ends_at and at_risk_since of a pending or running instance. An end that the instance already
 * has is kept if it is earlier. */
void ec2_warned_apply(const struct ec2_warned *w, struct elastic_instance *i, int64_t now);

#endif
