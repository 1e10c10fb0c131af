#ifndef PROVIDERS_EC2_INSTANCES_H
#define PROVIDERS_EC2_INSTANCES_H

#include "base/arena.h"
#include "base/buf.h"
#include "providers/ec2/provider.h"
#include "providers/ec2/query.h"
#include "providers/elastic.h"

/*
 * instances: encodes a launch as the form of RunInstances, and decodes items of instancesSet. Pure
 * functions.
 *
 * A launch starts all instances or none (MinCount = MaxCount). Instances and their volumes carry
 * the tags from their creation. Their metadata service accepts version 2 only.
 * Tests: tests/contract/test_ec2.c
 */
struct ec2_place {
	const struct provider_cloud *cloud;
	const struct provider_cloud_zone *zone;
	const struct provider_cloud_type *type;
	/* True: the reservation is a capacity block (capacity reserved for a fixed period) */
	bool block;
};
void ec2_launch_form(struct buf *b, const struct ec2_place *at, const struct elastic_launch *l);

/* Decodes an item of instancesSet into *out; its strings are allocated in a. False: the item has no
 * id. */
bool ec2_instance_read(struct ec2_reply_node item, const char *region, struct arena *a,
		       struct elastic_instance *out);
struct elastic_instance ec2_instance_copy(const struct elastic_instance *i, struct arena *a);
const char *ec2_instance_tag(const struct elastic_instance *i, const char *key);

#endif
