#include "providers/ec2/cloud.h"

#include <string.h>
#include "base/str.h"

#define REGION "{region}"

int ec2_cloud_check(const struct provider_cloud *c, struct err *e)
{
	if (!c)
		return err_set(e, ERR_INVALID, 0, "the zones and instance types are not specified");
	if (!c->zones.n || !c->types.n)
		return err_set(e, ERR_INVALID, 0,
			       "at least one zone and one instance type are "
			       "required");
	for (size_t i = 0; i < c->zones.n; i++) {
		const struct provider_cloud_zone *z = &c->zones.v[i];

		if (str_empty(z->region) || str_empty(z->zone))
			return err_set(e, ERR_INVALID, 0, "a zone has no name or no region");
		if (str_empty(z->image) && str_empty(c->image))
			return err_set(e, ERR_INVALID, 0, "zone %s: no image is set", z->zone);
	}
	if (c->root_device && c->root_gib <= 0)
		return err_set(e, ERR_INVALID, 0, "the root device has no size");
	return 0;
}

static const char *const *copy_list(const char *const *v, struct arena *a)
{
	const char **out;
	size_t n = 0;

	if (!v)
		return NULL;
	while (v[n])
		n++;
	out = arena_calloc(a, n + 1, sizeof(*out));
	for (size_t i = 0; i < n; i++)
		out[i] = arena_strdup(a, v[i]);
	return out;
}

static const struct provider_cloud_zone *copy_zones(const struct provider_cloud *c, struct arena *a)
{
	struct provider_cloud_zone *v = arena_calloc(a, c->zones.n + 1, sizeof(*v));

	for (size_t i = 0; i < c->zones.n; i++) {
		const struct provider_cloud_zone *z = &c->zones.v[i];

		v[i].region = arena_strdup(a, z->region);
		v[i].zone = arena_strdup(a, z->zone);
		v[i].subnet = arena_strdup(a, z->subnet);
		v[i].security_groups = copy_list(z->security_groups, a);
		v[i].image = arena_strdup(a, z->image);
	}
	return v;
}

static const struct provider_cloud_type *copy_types(const struct provider_cloud *c, struct arena *a)
{
	struct provider_cloud_type *v = arena_calloc(a, c->types.n + 1, sizeof(*v));

	for (size_t i = 0; i < c->types.n; i++) {
		v[i] = c->types.v[i];
		v[i].name = arena_strdup(a, v[i].name);
	}
	return v;
}

static const struct provider_cloud_price *copy_prices(const struct provider_cloud *c,
						      struct arena *a)
{
	struct provider_cloud_price *v = arena_calloc(a, c->prices.n + 1, sizeof(*v));

	for (size_t i = 0; i < c->prices.n; i++) {
		v[i] = c->prices.v[i];
		v[i].type = arena_strdup(a, v[i].type);
		v[i].region = arena_strdup(a, v[i].region);
	}
	return v;
}

struct provider_cloud ec2_cloud_copy(const struct provider_cloud *c, struct arena *a)
{
	struct provider_cloud out = {
		.endpoint = arena_strdup(a, c->endpoint),
		.ca_pem = arena_strdup(a, c->ca_pem),
		.zones = {copy_zones(c, a), c->zones.n},
		.types = {copy_types(c, a), c->types.n},
		.prices = {copy_prices(c, a), c->prices.n},
		.currency = arena_strdup(a, str_or(c->currency, "USD")),
		.reservations = c->reservations,
		.image = arena_strdup(a, c->image),
		.key_name = arena_strdup(a, c->key_name),
		.instance_profile = arena_strdup(a, c->instance_profile),
		.placement_group = arena_strdup(a, c->placement_group),
		.root_device = arena_strdup(a, c->root_device),
		.root_gib = c->root_gib,
	};

	return out;
}

const char *ec2_cloud_endpoint(const struct provider_cloud *c, const char *region, struct arena *a)
{
	const char *form = str_or(c->endpoint, "https://ec2." REGION ".amazonaws.com");
	const char *at = strstr(form, REGION);

	if (!at)
		return form;
	return arena_printf(a, "%.*s%s%s", (int)(at - form), form, region, at + strlen(REGION));
}

const struct provider_cloud_zone *ec2_cloud_zone(const struct provider_cloud *c, const char *region,
						 const char *zone)
{
	for (size_t i = 0; i < c->zones.n; i++)
		if (str_eq(c->zones.v[i].region, region) &&
		    (!zone || str_eq(c->zones.v[i].zone, zone)))
			return &c->zones.v[i];
	return NULL;
}

const struct provider_cloud_type *ec2_cloud_type(const struct provider_cloud *c, const char *name)
{
	for (size_t i = 0; i < c->types.n; i++)
		if (str_eq(c->types.v[i].name, name))
			return &c->types.v[i];
	return NULL;
}

int64_t ec2_cloud_price(const struct provider_cloud *c, const char *type, const char *region,
			enum market market)
{
	int64_t of_all = -1;

	for (size_t i = 0; i < c->prices.n; i++) {
		const struct provider_cloud_price *p = &c->prices.v[i];

		if (!str_eq(p->type, type) || p->market != market)
			continue;
		if (!p->region)
			of_all = p->micros_per_hour;
		else if (str_eq(p->region, region))
			return p->micros_per_hour;
	}
	return of_all;
}
