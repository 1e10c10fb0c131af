#ifndef PROVIDERS_EC2_CLOUD_H
#define PROVIDERS_EC2_CLOUD_H

#include "base/arena.h"
#include "providers/elastic.h"
#include "providers/provider.h"

/*
 * cloud: what a provider of a cloud was told of it: checked, copied, and looked up.  Pure.
 * Tests: tests/contract/test_ec2.c
 */
int ec2_cloud_check(const struct provider_cloud *c, struct err *e)
	__attribute__((warn_unused_result));
/* Without the login: that is read once. */
struct provider_cloud ec2_cloud_copy(const struct provider_cloud *c, struct arena *a);

/* https://ec2.eu-west-1.amazonaws.com */
const char *ec2_cloud_endpoint(const struct provider_cloud *c, const char *region, struct arena *a);

/* NULL: none.  zone NULL: the first of the region. */
const struct provider_cloud_zone *ec2_cloud_zone(const struct provider_cloud *c, const char *region,
						 const char *zone);
const struct provider_cloud_type *ec2_cloud_type(const struct provider_cloud *c, const char *name);
/* That of the region before that of all; -1: none. */
int64_t ec2_cloud_price(const struct provider_cloud *c, const char *type, const char *region,
			enum elastic_market market);

#endif
