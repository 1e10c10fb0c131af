/* offers: lists the configured types with their prices, and the account's reservations.
 * Tests: tests/contract/test_ec2.c */
#include "providers/ec2/ops.h"

#include "base/mem.h"
#include "base/str.h"

/* Time before the end of a capacity block at which EC2 ends its instances, in ms. */
#define BLOCK_ENDS 1800000

/* --- offers ----------------------------------------------------------------------------------- */

static void add_offer(struct op *o, const struct provider_cloud_zone *z,
		      const struct provider_cloud_type *t, enum market market)
{
	int64_t price = ec2_cloud_price(&o->ep->cloud, t->name, z->region, market);

	mem_grow(o->offers, o->noffers, o->offers_cap);
	o->offers[o->noffers++] =
		(struct offer){.region = z->region,
			       .zone = z->zone,
			       .type = t->name,
			       .market = market,
			       .micros_per_hour = price,
			       .currency = price < 0 ? NULL : o->ep->cloud.currency,
			       .available = -1};
}

static void add_given(struct op *o)
{
	const struct provider_cloud *c = &o->ep->cloud;

	for (size_t z = 0; z < c->zones.n; z++)
		for (size_t t = 0; t < c->types.n; t++) {
			if (c->types.v[t].on_demand)
				add_offer(o, &c->zones.v[z], &c->types.v[t], MARKET_ON_DEMAND);
			if (c->types.v[t].spot)
				add_offer(o, &c->zones.v[z], &c->types.v[t], MARKET_SPOT);
		}
}

/* Returns the time at which EC2 ends the reservation's instances, Unix ms; 0: never. */
static int64_t reservation_end(struct ec2_ask *k, struct ec2_reply_node item, bool block)
{
	const char *end = ec2_reply_text(item, "endDate", k->op->a);
	int64_t at;

	return end && str_to_time(end, &at) ? at - (block ? BLOCK_ENDS : 0) : 0;
}

static void add_reservation(struct ec2_ask *k, struct ec2_reply_node item)
{
	struct op *o = k->op;
	const char *region = ec2_client_region(k->client);
	const char *id = ec2_reply_text(item, "capacityReservationId", o->a);
	const char *available = ec2_reply_text(item, "availableInstanceCount", o->a);
	bool block = str_eq(ec2_reply_text(item, "reservationType", o->a), "capacity-block");
	const char *zone = ec2_reply_text(item, "availabilityZone", o->a);
	const struct provider_cloud_zone *z =
		zone ? ec2_cloud_zone(&o->ep->cloud, region, zone) : NULL;
	const struct provider_cloud_type *t =
		ec2_cloud_type(&o->ep->cloud, ec2_reply_text(item, "instanceType", o->a));
	struct ec2_reservation *kept;
	struct offer *f;

	if (!id || !z || !t || !str_eq(ec2_reply_text(item, "state", o->a), "active"))
		return;
	kept = mem_new(struct ec2_reservation);
	*kept = (struct ec2_reservation){block, reservation_end(k, item, block)};
	map_put(o->ep->reserved, id, kept);
	add_offer(o, z, t, MARKET_RESERVED);
	f = &o->offers[o->noffers - 1];
	f->reservation = id;
	if (!available || !str_to_i64(available, 0, INT32_MAX, &f->available))
		f->available = -1;
	f->ends_at = kept->ends_at;
}

static void ask_reservations(struct ec2_ask *k, const char *next);

static void on_reservations(const struct ec2_reply *r, const struct err *e, void *arg)
{
	struct ec2_ask *k = arg;
	const char *next = NULL;

	k->request = NULL;
	if (r) {
		ec2_for_each(it, ec2_reply_root(r), "capacityReservationSet")
			add_reservation(k, it);
		next = ec2_reply_text(ec2_reply_root(r), "nextToken", k->op->a);
	}
	if (next && k->pages < EC2_PAGES_MAX)
		ask_reservations(k, next);
	else
		k->reserved_read(k, e);
}

static void ask_reservations(struct ec2_ask *k, const char *next)
{
	struct buf b;

	k->pages++;
	query_begin(&b, "DescribeCapacityReservations", EC2_VERSION);
	query_add(&b, "state", "Filter.1.Name");
	query_add(&b, "active", "Filter.1.Value.1");
	query_add(&b, EC2_PAGE, "MaxResults");
	query_add(&b, next, "NextToken");
	ec2_ask(k, "DescribeCapacityReservations", &b, false, on_reservations);
}

void ec2_read_reservations(struct ec2_ask *k, void (*done)(struct ec2_ask *k, const struct err *e))
{
	k->pages = 0;
	k->reserved_read = done;
	ask_reservations(k, NULL);
}

static void offered(struct ec2_ask *k, const struct err *e)
{
	if (e)
		ec2_op_keep_error(k->op, e);
	ec2_ask_over(k);
}

void ec2_offers(struct provider *p, elastic_offers_done *done, void *arg)
{
	struct op *o = ec2_op_new(p, arg);

	o->offers_done = done;
	add_given(o);
	if (!o->ep->cloud.reservations) {
		loop_defer(&o->defer);
		return;
	}
	o->pending = o->ep->nregions;
	for (size_t i = 0; i < o->ep->nregions; i++)
		ec2_read_reservations(&o->asks[i], offered);
}
