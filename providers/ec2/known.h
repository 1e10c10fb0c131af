#ifndef PROVIDERS_EC2_KNOWN_H
#define PROVIDERS_EC2_KNOWN_H

#include "base/map.h"
#include "base/own.h"
#include "providers/elastic.h"

/*
 * known: instances that this process launched or saw in a list. A cloud may not list an instance
 * right after its launch, so an instance missing in a list is not proved to be gone. Such an
 * instance is reported as Unknown, and as Gone once it was not seen for ELASTIC_UNLISTED_MS.
 * Tests: tests/unit/providers/ec2/test_known.c
 */
struct ec2_known;
struct ec2_known *ec2_known_new(void);
void ec2_known_free(struct ec2_known *k);
DEFINE_OWN(ec2_known)

/* Records that instance *i was seen at now (loop_now()). Forgets the instance if its state is
 * Gone. */
void ec2_known_see(struct ec2_known *k, const struct elastic_instance *i, int64_t now);

/* Call after a complete list of a cluster's instances, with the listed ids in `listed`. Calls add()
 * for each known instance of the cluster that is not in `listed`, with the state Unknown or Gone.
 * Forgets the instances that are Gone. */
void ec2_known_missing(struct ec2_known *k, const char *cluster, const struct map *listed,
		       int64_t now, void (*add)(const struct elastic_instance *i, void *arg),
		       void *arg);

#endif
