#include <string.h>
#include "base/mem.h"
#include "base/str.h"
#include "sim/ec2/ec2_impl.h"

/*
 * The catalogue: regions, zones, types, offerings, prices and reservations.
 *
 * Tests: tests/unit/sim/ec2/test_ec2.c, tests/real/ec2.py
 */
static const char *const reserved_states[] = {"scheduled", "active", "expired"};

static int reserved_state(const struct e2_reserved *r, int64_t now)
{
	return now < r->starts ? 0 : now < r->ends ? 1 : 2;
}

static bool is_listed(const struct e2_call *c, const char *param, const char *value)
{
	const char *asked;
	int n = 1;

	for (; (asked = e2_param(c, "%s.%d", param, n)); n++)
		if (str_eq(asked, value))
			return true;
	return n == 1;
}

static void region_of(const char *zone, char out[static 32])
{
	str_format(out, 32, "%.*s", (int)strlen(zone) - 1, zone);
}

void e2_describe_regions(struct e2_call *c)
{
	struct buf *b = &c->out;
	char region[32], before[32] = "";

	e2_open(b, "regionInfo");
	for (size_t i = 0; c->s->zones[i]; i++) {
		region_of(c->s->zones[i], region);
		if (str_eq(region, before) || !is_listed(c, "RegionName", region))
			continue;
		str_copy(before, sizeof(before), region);
		e2_open(b, "item");
		e2_text(b, "regionName", region);
		buf_printf(b, "<regionEndpoint>ec2.%s.amazonaws.com</regionEndpoint>", region);
		e2_text(b, "optInStatus", "opt-in-not-required");
		e2_close(b, "item");
	}
	e2_close(b, "regionInfo");
}

void e2_describe_zones(struct e2_call *c)
{
	struct buf *b = &c->out;

	e2_open(b, "availabilityZoneInfo");
	for (size_t i = 0; c->s->zones[i]; i++) {
		if (!e2_in_region(c->s->zones[i], c->region) ||
		    !is_listed(c, "ZoneName", c->s->zones[i]))
			continue;
		e2_open(b, "item");
		e2_text(b, "zoneName", c->s->zones[i]);
		e2_text(b, "zoneState", "available");
		e2_text(b, "regionName", c->region);
		e2_text(b, "zoneType", "availability-zone");
		e2_close(b, "item");
	}
	e2_close(b, "availabilityZoneInfo");
}

/* --- types ------------------------------------------------------------------------------------ */

static int type_has(const void *item, const char *name, const char *pattern)
{
	const struct e2_type *t = item;

	return str_eq(name, "instance-type") ? e2_glob(pattern, t->name) : -1;
}

static void type_xml(struct buf *b, const struct e2_type *t)
{
	e2_open(b, "item");
	e2_text(b, "instanceType", t->name);
	buf_puts(b, "<supportedUsageClasses><item>on-demand</item>");
	if (t->spot_micros)
		e2_text(b, "item", "spot");
	e2_close(b, "supportedUsageClasses");
	buf_printf(b, "<vCpuInfo><defaultVCpus>%lld</defaultVCpus></vCpuInfo>",
		   (long long)t->vcpus);
	buf_printf(b, "<memoryInfo><sizeInMiB>%lld</sizeInMiB></memoryInfo>",
		   (long long)t->memory_mib);
	if (t->gpus) {
		buf_puts(b, "<gpuInfo><gpus><item>");
		e2_text(b, "name", str_or(t->gpu, "GPU"));
		e2_text(b, "manufacturer", "NVIDIA");
		e2_int(b, "count", t->gpus);
		buf_puts(b, "</item></gpus></gpuInfo>");
	}
	e2_close(b, "item");
}

void e2_describe_types(struct e2_call *c)
{
	const char *asked;

	for (int n = 1; (asked = e2_param(c, "InstanceType.%d", n)); n++)
		if (!e2_type_of(c->s, asked)) {
			e2_fail(c, 400, "InvalidInstanceType",
				"The following supplied instance types do not exist: [%s]", asked);
			return;
		}
	e2_open(&c->out, "instanceTypeSet");
	for (size_t i = 0; i < c->s->ntypes; i++)
		if (is_listed(c, "InstanceType", c->s->types[i].name) &&
		    e2_filters(c, type_has, &c->s->types[i]))
			type_xml(&c->out, &c->s->types[i]);
	e2_close(&c->out, "instanceTypeSet");
}

struct offering {
	const struct e2_type *type;
	const char *place;
};

static int offering_has(const void *item, const char *name, const char *pattern)
{
	const struct offering *o = item;

	return str_eq(name, "instance-type") ? e2_glob(pattern, o->type->name)
	       : str_eq(name, "location")    ? e2_glob(pattern, o->place)
					     : -1;
}

static void offering_xml(struct e2_call *c, const struct e2_type *t, const char *kind,
			 const char *place)
{
	struct offering o = {t, place};

	if (!e2_filters(c, offering_has, &o))
		return;
	e2_open(&c->out, "item");
	e2_text(&c->out, "instanceType", t->name);
	e2_text(&c->out, "locationType", kind);
	e2_text(&c->out, "location", place);
	e2_close(&c->out, "item");
}

void e2_describe_offerings(struct e2_call *c)
{
	const struct sim_ec2 *s = c->s;
	bool zones = str_eq(e2_param(c, "LocationType"), "availability-zone");

	e2_open(&c->out, "instanceTypeOfferingSet");
	for (size_t i = 0; i < s->ntypes; i++) {
		bool any = false;

		for (size_t k = 0; s->zones[k]; k++) {
			if (!e2_in_region(s->zones[k], c->region) ||
			    !e2_is_offered(s, &s->types[i], s->zones[k]))
				continue;
			if (zones)
				offering_xml(c, &s->types[i], "availability-zone", s->zones[k]);
			any = true;
		}
		if (any && !zones)
			offering_xml(c, &s->types[i], "region", c->region);
	}
	e2_close(&c->out, "instanceTypeOfferingSet");
}

/* --- prices ----------------------------------------------------------------------------------- */

static int price_has(const void *item, const char *name, const char *pattern)
{
	const struct offering *o = item;

	return str_eq(name, "instance-type")	     ? e2_glob(pattern, o->type->name)
	       : str_eq(name, "availability-zone")   ? e2_glob(pattern, o->place)
	       : str_eq(name, "product-description") ? e2_glob(pattern, "Linux/UNIX")
						     : -1;
}

/* Answers with one price for each type and zone, because prices are constant. */
void e2_describe_spot_prices(struct e2_call *c)
{
	const struct sim_ec2 *s = c->s;
	const char *zone = e2_param(c, "AvailabilityZone");
	struct buf *b = &c->out;

	e2_open(b, "spotPriceHistorySet");
	for (size_t i = 0; i < s->ntypes; i++)
		for (size_t k = 0; s->zones[k]; k++) {
			const struct e2_type *t = &s->types[i];
			struct offering o = {t, s->zones[k]};

			if (!t->spot_micros || !e2_in_region(s->zones[k], c->region) ||
			    (zone && !str_eq(zone, s->zones[k])) ||
			    !is_listed(c, "InstanceType", t->name) ||
			    !is_listed(c, "ProductDescription", "Linux/UNIX") ||
			    !e2_is_offered(s, t, s->zones[k]) || !e2_filters(c, price_has, &o))
				continue;
			e2_open(b, "item");
			e2_text(b, "instanceType", t->name);
			e2_text(b, "productDescription", "Linux/UNIX");
			buf_printf(b, "<spotPrice>%lld.%06lld</spotPrice>",
				   (long long)(t->spot_micros / 1000000),
				   (long long)(t->spot_micros % 1000000));
			e2_time(b, "timestamp", e2_wall(s) / 3600000 * 3600000);
			e2_text(b, "availabilityZone", s->zones[k]);
			e2_close(b, "item");
		}
	e2_close(b, "spotPriceHistorySet");
}

/* --- reservations ----------------------------------------------------------------------------- */

struct told_reserved {
	const struct e2_reserved *r;
	int64_t now;
};

static int reserved_has(const void *item, const char *name, const char *pattern)
{
	const struct told_reserved *t = item;

	return str_eq(name, "instance-type")	   ? e2_glob(pattern, t->r->type->name)
	       : str_eq(name, "availability-zone") ? e2_glob(pattern, t->r->zone)
	       : str_eq(name, "state")
		       ? e2_glob(pattern, reserved_states[reserved_state(t->r, t->now)])
		       : -1;
}

static void reserved_xml(struct e2_call *c, const struct e2_reserved *r)
{
	struct buf *b = &c->out;
	bool over = c->now >= r->ends;
	int64_t ahead = e2_wall(c->s) - c->now;

	e2_open(b, "item");
	e2_text(b, "capacityReservationId", r->id);
	e2_text(b, "ownerId", r->account);
	e2_text(b, "instanceType", r->type->name);
	e2_text(b, "instancePlatform", "Linux/UNIX");
	e2_text(b, "availabilityZone", r->zone);
	e2_text(b, "tenancy", "default");
	e2_int(b, "totalInstanceCount", over ? 0 : r->count);
	e2_int(b, "availableInstanceCount",
	       over ? 0 : r->count - e2_reserved_used(c->s, r, c->now));
	e2_text(b, "state", reserved_states[reserved_state(r, c->now)]);
	e2_time(b, "startDate", r->starts + ahead);
	if (r->ends != E2_NEVER)
		e2_time(b, "endDate", r->ends + ahead);
	e2_text(b, "endDateType", r->ends == E2_NEVER ? "unlimited" : "limited");
	e2_text(b, "instanceMatchCriteria", "targeted");
	e2_text(b, "reservationType", r->upfront >= 0 ? "capacity-block" : "default");
	e2_text(b, "tagSet", "");
	e2_close(b, "item");
}

void e2_describe_reservations(struct e2_call *c)
{
	const char *asked;

	for (int n = 1; (asked = e2_param(c, "CapacityReservationId.%d", n)); n++)
		if (!e2_reserved_of(c->s, asked, c->account)) {
			e2_fail(c, 400, "InvalidCapacityReservationId.NotFound",
				"The capacity reservation ID '%s' does not exist", asked);
			return;
		}
	e2_open(&c->out, "capacityReservationSet");
	list_for_each (r, &c->s->reserved, struct e2_reserved, link) {
		struct told_reserved t = {r, c->now};

		if (str_eq(r->account, c->account) && e2_in_region(r->zone, c->region) &&
		    is_listed(c, "CapacityReservationId", r->id) && e2_filters(c, reserved_has, &t))
			reserved_xml(c, r);
	}
	e2_close(&c->out, "capacityReservationSet");
}
