#ifndef PROVIDERS_EC2_CLOUD_H
#define PROVIDERS_EC2_CLOUD_H

#include "base/err.h"
#include "base/market.h"
#include "base/arena.h"
#include "providers/ec2/provider.h"

/*
 * cloud: checks, copies and searches the settings of a cloud (struct provider_cloud). Pure
 * functions.
 * Tests: tests/contract/test_ec2.c
 */
int ec2_cloud_check(const struct provider_cloud *c, struct err *e)
	__attribute__((warn_unused_result));
/* Copies the settings into a, without the login settings: ec2_login_new() copies those itself. */
struct provider_cloud ec2_cloud_copy(const struct provider_cloud *c, struct arena *a);

/* Returns the URL of the API in a region, e.g. https://ec2.eu-west-1.amazonaws.com. */
const char *ec2_cloud_endpoint(const struct provider_cloud *c, const char *region, struct arena *a);

/* Returns the configured zone; NULL: not configured. zone NULL: returns the first zone of the
 * region. */
const struct provider_cloud_zone *ec2_cloud_zone(const struct provider_cloud *c, const char *region,
						 const char *zone);
const struct provider_cloud_type *ec2_cloud_type(const struct provider_cloud *c, const char *name);
/* Returns the configured price of the type in micros (millionths of the currency) per hour: the
 * price for the region or else the price for all regions; -1: no price is configured. */
int64_t ec2_cloud_price(const struct provider_cloud *c, const char *type, const char *region,
			enum market market);

#endif
