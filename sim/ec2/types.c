#include <string.h>
#include "base/mem.h"
#include "base/str.h"
#include "sim/ec2/ec2_impl.h"

/*
 * Instance types and their prices, from a price file or the table below.
 *
 * Tests: tests/unit/sim/ec2/test_ec2.c
 */
struct prices {
	const char *currency;
	struct {
		struct e2_type *v;
		size_t n;
	} types;
};
/* Highest price of an hour in millionths, which is one million of the currency. */
#define MICROS_MAX ((int64_t)1000000000000)

static const struct field type_fields[] = {
	FIELD(e2_type, name, "name", FIELD_STR, .required = true),
	FIELD(e2_type, vcpus, "vcpus", FIELD_I64, .required = true, .min = 1, .max = 10000),
	FIELD(e2_type, memory_mib, "memoryMiB", FIELD_I64, .def = "8192", .min = 1,
	      .max = 100000000),
	FIELD(e2_type, gpus, "gpus", FIELD_I64, .min = 0, .max = 1024),
	FIELD(e2_type, gpu, "gpu", FIELD_STR),
	FIELD(e2_type, micros, "microsPerHour", FIELD_I64, .required = true, .min = 1,
	      .max = MICROS_MAX),
	FIELD(e2_type, spot_micros, "spotMicrosPerHour", FIELD_I64, .min = 0, .max = MICROS_MAX),
	FIELD(e2_type, zones, "zones", FIELD_STRINGS),
	FIELDS_END,
};
static const struct field prices_fields[] = {
	FIELD(prices, currency, "currency", FIELD_STR, .def = "\"USD\""),
	FIELD_ITEMS(prices, types, "types", type_fields, .required = true, .max_items = 2000),
	FIELDS_END,
};

/* Built-in types, with sample prices close to public ones. */
static const struct e2_type own[] = {
	{.name = "p5.48xlarge",
	 .gpu = "H100",
	 .vcpus = 192,
	 .gpus = 8,
	 .memory_mib = 2097152,
	 .micros = 55040000,
	 .spot_micros = 22000000},
	{.name = "p4d.24xlarge",
	 .gpu = "A100",
	 .vcpus = 96,
	 .gpus = 8,
	 .memory_mib = 1179648,
	 .micros = 21960000,
	 .spot_micros = 9000000},
	{.name = "g6.xlarge",
	 .gpu = "L4",
	 .vcpus = 4,
	 .gpus = 1,
	 .memory_mib = 16384,
	 .micros = 804800,
	 .spot_micros = 350000},
	{.name = "m7i.large", .vcpus = 2, .memory_mib = 8192, .micros = 100800},
};

int e2_types_read(struct sim_ec2 *s, const json_t *prices, struct err *e)
{
	struct prices p = {0};

	s->types = own;
	s->ntypes = sizeof(own) / sizeof(*own);
	s->currency = "USD";
	if (!prices)
		return 0;
	if (fields_decode_strict(prices_fields, prices, NULL, &p, s->arena, e) < 0)
		return -1;
	for (size_t i = 0; i < p.types.n; i++)
		for (size_t k = 0; k < p.types.v[i].zones.n; k++)
			if (!e2_zone_of(s, p.types.v[i].zones.v[k]))
				return err_set(e, ERR_INVALID, 0,
					       "types[%zu].zones: unknown zone %s", i,
					       p.types.v[i].zones.v[k]);
	s->types = p.types.v;
	s->ntypes = p.types.n;
	s->currency = p.currency;
	return 0;
}

const struct e2_type *e2_type_of(const struct sim_ec2 *s, const char *name)
{
	for (size_t i = 0; i < s->ntypes; i++)
		if (str_eq(s->types[i].name, name))
			return &s->types[i];
	return NULL;
}

bool e2_is_offered(const struct sim_ec2 *s, const struct e2_type *t, const char *zone)
{
	bool listed = !t->zones.n;

	for (size_t i = 0; i < t->zones.n; i++)
		listed = listed || str_eq(t->zones.v[i], zone);
	return listed && !e2_stands(s, "Unsupported", NULL, t->name, zone);
}

const char *e2_zone_of(const struct sim_ec2 *s, const char *name)
{
	for (size_t i = 0; s->zones[i]; i++)
		if (str_eq(s->zones[i], name))
			return s->zones[i];
	return NULL;
}

bool e2_in_region(const char *zone, const char *region)
{
	size_t n = strlen(region);

	return n && strlen(zone) == n + 1 && !strncmp(zone, region, n);
}
