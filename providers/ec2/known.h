#ifndef PROVIDERS_EC2_KNOWN_H
#define PROVIDERS_EC2_KNOWN_H

#include "base/map.h"
#include "base/own.h"
#include "providers/elastic.h"

/*
 * known: instances that this process launched or saw listed. A cloud that does not list one right
 * after its launch says nothing by that: it is Unknown, and Gone once it has not been listed for
 * ELASTIC_UNLISTED_MS.
 * Tests: tests/unit/providers/ec2/test_known.c
 */
struct ec2_known;
struct ec2_known *ec2_known_new(void);
void ec2_known_free(struct ec2_known *k);
DEFINE_OWN(ec2_known)

/* Seen at that time of loop_now(); what is Gone is forgotten. */
void ec2_known_see(struct ec2_known *k, const struct elastic_instance *i, int64_t now);

/* A whole list of that cluster had the ids in listed: those that are not on it, each through add();
 * what is told as Gone is forgotten after. */
void ec2_known_missing(struct ec2_known *k, const char *cluster, const struct map *listed,
		       int64_t now, void (*add)(const struct elastic_instance *i, void *arg),
		       void *arg);

#endif
