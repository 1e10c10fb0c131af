/*
 * provider: Amazon EC2 (and what speaks as it does): instances for money, in several regions, as one account.
 *
 *	offers		the zones, types and prices that were given; what the account has reserved, asked for (DescribeCapacityReservations)
 *	launch		RunInstances, all or none in one zone
 *	list_owned	DescribeInstances by tag, page by page, in every region at once
 *	terminate	TerminateInstances
 *
 * A call is an op: one ask for each region that it goes to, told when the last has answered.
 * Tests: tests/contract/test_ec2.c
 */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "providers/ec2/client.h"
#include "providers/ec2/cloud.h"
#include "providers/ec2/instances.h"
#include "providers/ec2/known.h"
#include "providers/ec2/login.h"
#include "providers/registry.h"

#define PAGE "200"
#define PAGES_MAX 500
#define COUNT_MAX 1000
#define BLOCK_ENDS 1800000 /* a capacity block's instances are ended so long before it */

struct ec2_provider {
	struct loop_group *group;
	struct arena *a;
	struct provider_cloud cloud;
	struct ec2_login *login;
	struct ec2_client **regions;
	size_t nregions;
	struct ec2_known *known;
	struct map *
		blocks; /* ids of reservations seen: of capacity blocks it has &block, of others &other */
	char block, other;
	struct list ops;
};

struct op;
struct ask {
	struct op *op;
	struct ec2_client *client;
	struct ec2_request *request;
	unsigned pages;
};
struct op {
	struct list link;
	struct ec2_provider *ep;
	struct arena *a;
	struct loop_defer defer; /* of one that asks nobody */
	struct ask *asks;
	size_t pending;
	struct map *listed;		   /* ids */
	const char *cluster, *region, *id; /* of what is listed, of what is ended */
	int64_t count;			   /* of a launch */
	struct elastic_instance *instances;
	size_t ninstances, instances_cap;
	struct elastic_offer *offers;
	size_t noffers, offers_cap;
	struct err err; /* the first */
	elastic_offers_done *offers_done;
	elastic_instances_done *done;
	bool (*may_act)(void *arg);
	void *may_act_arg;
	void *arg;
};

static int64_t now(const struct ec2_provider *ep)
{
	return loop_now(loop_of(ep->group));
}

/* --- ops --------------------------------------------------------------------------------------------------- */

static void op_drop(struct op *o)
{
	free(o->asks);
	free(o->instances);
	free(o->offers);
	map_free(o->listed);
	arena_free(o->a);
	free(o);
}

static void op_free(struct op *o)
{
	for (size_t i = 0; i < o->ep->nregions; i++)
		ec2_cancel(o->asks[i].request);
	list_remove(&o->link);
	loop_defer_cancel(&o->defer);
	op_drop(o);
}

/* Out of every list, then tell, then free: done() may free the provider. */
static void op_end(void *arg)
{
	struct op *o = arg;
	const struct err *e = o->err.kind == ERR_NONE ? NULL : &o->err;

	list_remove(&o->link);
	if (o->offers_done)
		o->offers_done(o->offers, o->noffers, e, o->arg);
	else
		o->done(o->instances, o->ninstances, e, o->arg);
	op_drop(o);
}

static struct op *op_new(struct provider *p, void *arg)
{
	struct ec2_provider *ep = p->state;
	struct op *o = mem_new(struct op);

	o->ep = ep;
	o->a = arena_new();
	o->arg = arg;
	o->listed = map_new(NULL);
	o->asks = mem_calloc(ep->nregions, sizeof(*o->asks));
	for (size_t i = 0; i < ep->nregions; i++)
		o->asks[i] = (struct ask){.op = o, .client = ep->regions[i]};
	loop_defer_init(&o->defer, ep->group, op_end, o);
	list_push_back(&ep->ops, &o->link);
	return o;
}

static void keep_error(struct op *o, const struct err *e)
{
	if (o->err.kind == ERR_NONE)
		o->err = *e;
}

/* Nobody is asked. */
static void op_refuse(struct op *o, enum err_kind kind, const char *text, const char *of)
{
	(void)!err_set(&o->err, kind, 0, "%s: %.150s", text, str_or(of, "(none)"));
	loop_defer(&o->defer);
}

static void ask_over(struct ask *k)
{
	if (--k->op->pending == 0)
		op_end(k->op);
}

static void add_instance(const struct elastic_instance *i, void *arg)
{
	struct op *o = arg;

	mem_grow(o->instances, o->ninstances, o->instances_cap);
	o->instances[o->ninstances++] = *i;
}

static struct ask *ask_of(struct op *o, const char *region)
{
	for (size_t i = 0; i < o->ep->nregions; i++)
		if (str_eq(ec2_client_region(o->asks[i].client), region))
			return &o->asks[i];
	return NULL;
}

static void ask(struct ask *k, const char *action, struct buf *form, bool changes,
		void (*done)(const struct ec2_reply *r, const struct err *e, void *arg))
{
	struct ec2_call c = {.action = action,
			     .body = form,
			     .changes = changes,
			     .may_act = changes ? k->op->may_act : NULL,
			     .may_act_arg = k->op->may_act_arg,
			     .done = done,
			     .arg = k};

	k->request = ec2_call(k->client, &c);
}

/* --- launch ------------------------------------------------------------------------------------------------- */

static void on_launched(const struct ec2_reply *r, const struct err *e, void *arg)
{
	struct ask *k = arg;
	struct op *o = k->op;
	struct elastic_instance i;
	struct err less;

	k->request = NULL;
	if (e)
		keep_error(o, e);
	if (r)
		ec2_for_each(it, ec2_reply_root(r), "instancesSet")
		{
			if (!ec2_instance_read(it, ec2_client_region(k->client), o->a, &i))
				continue;
			add_instance(&i, o);
			ec2_known_see(o->ep->known, &i, now(o->ep));
		}
	if (r && o->ninstances != (size_t)o->count) {
		(void)!err_set(&less, ERR_PROTOCOL, 0,
			       "RunInstances was asked for %lld and told of %zu",
			       (long long)o->count, o->ninstances);
		keep_error(o, &less);
	}
	ask_over(k);
}

/* Why it cannot be sent; NULL: it can. */
static const char *unfit(const struct ec2_provider *ep, const struct elastic_launch *l,
			 const struct ec2_place *at)
{
	if (!at->zone)
		return "no such zone is given";
	if (!at->type)
		return "no such type of instance is given";
	if (str_empty(l->token) || strlen(l->token) > 64)
		return "a launch has a token of at most 64 characters";
	if (l->count < 1 || l->count > COUNT_MAX)
		return "a launch is of 1 to 1000 instances";
	if (l->offer.market == ELASTIC_ON_DEMAND && !at->type->on_demand)
		return "the type is not offered on demand";
	if (l->offer.market == ELASTIC_SPOT && !at->type->spot)
		return "the type is not offered as spot";
	if (l->offer.market == ELASTIC_RESERVED &&
	    (!ep->cloud.reservations || str_empty(l->offer.reservation)))
		return "no reservation is named, or none is to be used";
	return NULL;
}

static void ec2_launch(struct provider *p, const struct elastic_launch *l,
		       elastic_instances_done *done, void *arg)
{
	struct ec2_provider *ep = p->state;
	struct op *o = op_new(p, arg);
	struct ec2_place at = {.cloud = &ep->cloud,
			       .zone = ec2_cloud_zone(&ep->cloud, l->offer.region, l->offer.zone),
			       .type = ec2_cloud_type(&ep->cloud, l->offer.type)};
	const char *why = unfit(ep, l, &at);
	const void *kind;
	struct buf form;

	o->done = done;
	o->count = l->count;
	o->may_act = l->may_act;
	o->may_act_arg = l->may_act_arg;
	if (why) {
		op_refuse(o, ERR_INVALID, why, l->offer.type);
		return;
	}
	if (l->offer.market == ELASTIC_RESERVED) {
		kind = map_get(ep->blocks, l->offer.reservation);
		if (!kind) {
			op_refuse(o, ERR_UNAVAILABLE, "it was not among the reservations yet",
				  l->offer.reservation);
			return;
		}
		at.block = kind == &ep->block;
	}
	ec2_launch_form(&form, &at, l);
	if (form.over) {
		buf_done(&form);
		op_refuse(o, ERR_INVALID, "tags and user data are too long", l->offer.type);
		return;
	}
	o->pending = 1;
	ask(ask_of(o, at.zone->region), "RunInstances", &form, true, on_launched);
}

/* --- list_owned ----------------------------------------------------------------------------------------------- */

static void ask_page(struct ask *k, const char *next);

static void add_missing(const struct elastic_instance *i, void *arg)
{
	struct op *o = arg;
	struct elastic_instance copy = ec2_instance_copy(i, o->a);

	add_instance(&copy, o);
}

static void list_over(struct ask *k)
{
	struct op *o = k->op;

	if (o->pending == 1 && o->err.kind == ERR_NONE)
		ec2_known_missing(o->ep->known, o->cluster, o->listed, now(o->ep), add_missing, o);
	ask_over(k);
}

static void on_page(const struct ec2_reply *r, const struct err *e, void *arg)
{
	struct ask *k = arg;
	struct op *o = k->op;
	struct elastic_instance i;
	const char *next;

	k->request = NULL;
	if (e) {
		keep_error(o, e);
		list_over(k);
		return;
	}
	ec2_for_each(group, ec2_reply_root(r), "reservationSet")
	{
		ec2_for_each(it, group, "instancesSet")
		{
			if (!ec2_instance_read(it, ec2_client_region(k->client), o->a, &i))
				continue;
			add_instance(&i, o);
			map_put(o->listed, i.id, o);
			ec2_known_see(o->ep->known, &i, now(o->ep));
		}
	}
	next = ec2_reply_text(ec2_reply_root(r), "nextToken", o->a);
	if (next)
		ask_page(k, next);
	else
		list_over(k);
}

static void ask_page(struct ask *k, const char *next)
{
	struct err e;
	struct buf b;

	if (k->pages++ >= PAGES_MAX) {
		(void)!err_set(&e, ERR_PROTOCOL, 0, "DescribeInstances in %s: more than %d pages",
			       ec2_client_region(k->client), PAGES_MAX);
		keep_error(k->op, &e);
		list_over(k);
		return;
	}
	query_begin(&b, "DescribeInstances", EC2_VERSION);
	query_add(&b, "tag:" ELASTIC_TAG_CLUSTER, "Filter.1.Name");
	query_add(&b, k->op->cluster, "Filter.1.Value.1");
	query_add(&b, PAGE, "MaxResults");
	query_add(&b, next, "NextToken");
	ask(k, "DescribeInstances", &b, false, on_page);
}

static void ec2_list_owned(struct provider *p, const char *cluster, elastic_instances_done *done,
			   void *arg)
{
	struct op *o = op_new(p, arg);

	o->done = done;
	o->cluster = arena_strdup(o->a, cluster);
	if (str_empty(cluster)) { /* every instance of the account has no such tag */
		op_refuse(o, ERR_INVALID, "owned by no cluster", NULL);
		return;
	}
	o->pending = o->ep->nregions;
	for (size_t i = 0; i < o->ep->nregions; i++)
		ask_page(&o->asks[i], NULL);
}

/* --- terminate -------------------------------------------------------------------------------------------------- */

static void on_terminated(const struct ec2_reply *r, const struct err *e, void *arg)
{
	struct ask *k = arg;
	struct op *o = k->op;
	struct elastic_instance i = {.id = o->id, .region = o->region};
	struct ec2_reply_node item = {NULL};

	k->request = NULL;
	if (e && e->kind != ERR_NOT_FOUND) {
		keep_error(o, e);
	} else {
		if (r)
			item = ec2_reply_first(ec2_reply_root(r), "instancesSet");
		if (item.at)
			(void)ec2_instance_read(item, o->region, o->a, &i);
		add_instance(&i, o);
	}
	ask_over(k);
}

static void ec2_terminate(struct provider *p, const char *region, const char *id,
			  bool (*may_act)(void *arg), elastic_instances_done *done, void *arg)
{
	struct op *o = op_new(p, arg);
	struct ask *k = ask_of(o, region);
	struct buf b;

	o->done = done;
	o->region = arena_strdup(o->a, region);
	o->id = arena_strdup(o->a, id);
	o->may_act = may_act;
	o->may_act_arg = arg;
	if (!k || str_empty(id)) {
		op_refuse(o, ERR_INVALID, "no such region is given, or no instance", region);
		return;
	}
	query_begin(&b, "TerminateInstances", EC2_VERSION);
	query_add(&b, id, "InstanceId.1");
	o->pending = 1;
	ask(k, "TerminateInstances", &b, true, on_terminated);
}

/* --- offers ------------------------------------------------------------------------------------------------------ */

static void add_offer(struct op *o, const struct provider_cloud_zone *z,
		      const struct provider_cloud_type *t, enum elastic_market market)
{
	int64_t price = ec2_cloud_price(&o->ep->cloud, t->name, z->region, market);

	mem_grow(o->offers, o->noffers, o->offers_cap);
	o->offers[o->noffers++] =
		(struct elastic_offer){.region = z->region,
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
				add_offer(o, &c->zones.v[z], &c->types.v[t], ELASTIC_ON_DEMAND);
			if (c->types.v[t].spot)
				add_offer(o, &c->zones.v[z], &c->types.v[t], ELASTIC_SPOT);
		}
}

/* Unix ms at which its instances are ended; 0: never. */
static int64_t reservation_end(struct ask *k, struct ec2_reply_node item, bool block)
{
	const char *end = ec2_reply_text(item, "endDate", k->op->a);
	int64_t at;

	return end && str_to_time(end, &at) ? at - (block ? BLOCK_ENDS : 0) : 0;
}

static void add_reservation(struct ask *k, struct ec2_reply_node item)
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
	struct elastic_offer *f;

	if (!id || !z || !t || !str_eq(ec2_reply_text(item, "state", o->a), "active"))
		return;
	map_put(o->ep->blocks, id, block ? &o->ep->block : &o->ep->other);
	add_offer(o, z, t, ELASTIC_RESERVED);
	f = &o->offers[o->noffers - 1];
	f->reservation = id;
	if (!available || !str_to_i64(available, 0, INT32_MAX, &f->available))
		f->available = -1;
	f->ends_at = reservation_end(k, item, block);
}

static void ask_reservations(struct ask *k, const char *next);

static void on_reservations(const struct ec2_reply *r, const struct err *e, void *arg)
{
	struct ask *k = arg;
	const char *next = NULL;

	k->request = NULL;
	if (e)
		keep_error(k->op, e);
	if (r) {
		ec2_for_each(it, ec2_reply_root(r), "capacityReservationSet")
			add_reservation(k, it);
		next = ec2_reply_text(ec2_reply_root(r), "nextToken", k->op->a);
	}
	if (next && k->pages < PAGES_MAX)
		ask_reservations(k, next);
	else
		ask_over(k);
}

static void ask_reservations(struct ask *k, const char *next)
{
	struct buf b;

	k->pages++;
	query_begin(&b, "DescribeCapacityReservations", EC2_VERSION);
	query_add(&b, "state", "Filter.1.Name");
	query_add(&b, "active", "Filter.1.Value.1");
	query_add(&b, PAGE, "MaxResults");
	query_add(&b, next, "NextToken");
	ask(k, "DescribeCapacityReservations", &b, false, on_reservations);
}

static void ec2_offers(struct provider *p, elastic_offers_done *done, void *arg)
{
	struct op *o = op_new(p, arg);

	o->offers_done = done;
	add_given(o);
	if (!o->ep->cloud.reservations) {
		loop_defer(&o->defer);
		return;
	}
	o->pending = o->ep->nregions;
	for (size_t i = 0; i < o->ep->nregions; i++)
		ask_reservations(&o->asks[i], NULL);
}

/* --- the provider -------------------------------------------------------------------------------------------------- */

static void ec2_free(struct ec2_provider *ep)
{
	list_for_each (o, &ep->ops, struct op, link)
		op_free(o);
	for (size_t i = 0; i < ep->nregions; i++)
		ec2_client_free(ep->regions[i]);
	free(ep->regions);
	ec2_login_free(ep->login);
	ec2_known_free(ep->known);
	map_free(ep->blocks);
	arena_free(ep->a);
	free(ep);
}

static bool has_region(const struct ec2_provider *ep, const char *region)
{
	for (size_t i = 0; i < ep->nregions; i++)
		if (str_eq(ec2_client_region(ep->regions[i]), region))
			return true;
	return false;
}

static int open_regions(struct ec2_provider *ep, const struct provider_spec *s, struct err *e)
{
	const struct provider_cloud *c = &ep->cloud;

	ep->regions = mem_calloc(c->zones.n, sizeof(struct ec2_client *));
	for (size_t i = 0; i < c->zones.n; i++) {
		const char *region = c->zones.v[i].region;
		struct ec2_client_spec cs = {.group = s->group,
					     .http = s->http,
					     .login = ep->login,
					     .region = region,
					     .endpoint = ec2_cloud_endpoint(c, region, ep->a),
					     .ca_pem = c->ca_pem,
					     .requests_per_s = s->requests_per_s,
					     .plain_ok = s->plain_ok};

		if (has_region(ep, region))
			continue;
		ep->regions[ep->nregions] = ec2_client_new(&cs, e);
		if (!ep->regions[ep->nregions])
			return -1;
		ep->nregions++;
	}
	return 0;
}

static int ec2_open(struct provider *p, const struct provider_spec *s, struct err *e)
{
	struct ec2_login_spec ls = {
		.group = s->group, .http = s->http, .cloud = s->cloud, .plain_ok = s->plain_ok};
	struct ec2_provider *ep;

	if (ec2_cloud_check(s->cloud, e) < 0)
		return err_wrap(e, "provider %s", s->name);
	ep = mem_new(struct ec2_provider);
	ep->group = s->group;
	list_init(&ep->ops);
	ep->a = arena_new();
	ep->cloud = ec2_cloud_copy(s->cloud, ep->a);
	ep->known = ec2_known_new();
	ep->blocks = map_new(NULL);
	ls.region = ep->cloud.zones.v[0].region;
	ep->login = ec2_login_new(&ls, e);
	if (!ep->login || open_regions(ep, s, e) < 0) {
		ec2_free(ep);
		return err_wrap(e, "provider %s", s->name);
	}
	p->state = ep;
	return 0;
}

static void ec2_close(struct provider *p)
{
	ec2_free(p->state);
}

static const struct provider_elastic_ops elastic = {
	.offers = ec2_offers,
	.launch = ec2_launch,
	.list_owned = ec2_list_owned,
	.terminate = ec2_terminate,
};

const struct provider_ops ec2_provider_ops = {
	.type = "ec2",
	.open = ec2_open,
	.close = ec2_close,
	.elastic = &elastic,
};
