/*
 * provider: Amazon EC2 and compatible clouds: paid instances in several regions of one account.
 *
 *   offers		the configured zones, types and prices; the account's reservations
 *   		(DescribeCapacityReservations)
 *   launch		RunInstances, all or none in one zone
 *   list_owned	DescribeInstances by tag, page by page, in every region at once; with running spot
 *   		instances also DescribeSpotInstanceRequests for notices, with running reserved
 *   		instances also DescribeCapacityReservations
 *   terminate	TerminateInstances
 *
 * This file contains launch and terminate. list.c contains list_owned, offers.c contains offers,
 * and ops.h declares what these files share.
 * Tests: tests/contract/test_ec2.c
 */
#include "providers/ec2/provider.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "providers/ec2/instances.h"
#include "providers/ec2/ops.h"
#include "providers/registry.h"

#define COUNT_MAX 1000

/* --- launch ----------------------------------------------------------------------------------- */

static void on_launched(const struct ec2_reply *r, const struct err *e, void *arg)
{
	struct ec2_ask *k = arg;
	struct op *o = k->op;
	struct elastic_instance i;
	struct err less;

	k->request = NULL;
	if (e)
		ec2_op_keep_error(o, e);
	if (r)
		ec2_for_each(it, ec2_reply_root(r), "instancesSet")
		{
			if (!ec2_instance_read(it, ec2_client_region(k->client), o->a, &i))
				continue;
			ec2_op_add(&i, o);
			ec2_known_see(o->ep->known, &i, ec2_now(o->ep));
		}
	if (r && o->ninstances != (size_t)o->count) {
		err_note(&less, ERR_PROTOCOL, 0,
			 "RunInstances was asked for %lld instances and returned %zu",
			 (long long)o->count, o->ninstances);
		ec2_op_keep_error(o, &less);
	}
	ec2_ask_over(k);
}

/* Returns the reason why the launch cannot be sent; NULL: it can be sent. */
static const char *unfit(const struct ec2_provider *ep, const struct elastic_launch *l,
			 const struct ec2_place *at)
{
	if (!at->zone)
		return "the zone is not configured";
	if (!at->type)
		return "the instance type is not configured";
	if (str_empty(l->token) || strlen(l->token) > 64)
		return "a launch needs a token of at most 64 characters";
	if (l->count < 1 || l->count > COUNT_MAX)
		return "a launch needs a count of 1 to 1000 instances";
	if (l->offer.market == MARKET_ON_DEMAND && !at->type->on_demand)
		return "the type is not offered on demand";
	if (l->offer.market == MARKET_SPOT && !at->type->spot)
		return "the type is not offered as spot";
	if (l->offer.market == MARKET_RESERVED &&
	    (!ep->cloud.reservations || str_empty(l->offer.reservation)))
		return "no reservation is named, or reservations are not enabled";
	return NULL;
}

static void ec2_launch(struct provider *p, const struct elastic_launch *l,
		       elastic_instances_done *done, void *arg)
{
	struct ec2_provider *ep = p->state;
	struct op *o = ec2_op_new(p, arg);
	struct ec2_place at = {.cloud = &ep->cloud,
			       .zone = ec2_cloud_zone(&ep->cloud, l->offer.region, l->offer.zone),
			       .type = ec2_cloud_type(&ep->cloud, l->offer.type)};
	const char *why = unfit(ep, l, &at);
	const struct ec2_reservation *kept;
	struct buf form;

	o->done = done;
	o->count = l->count;
	o->may_act = l->may_act;
	o->may_act_arg = l->may_act_arg;
	if (why) {
		ec2_op_refuse(o, ERR_INVALID, why, l->offer.type);
		return;
	}
	if (l->offer.market == MARKET_RESERVED) {
		kept = map_get(ep->reserved, l->offer.reservation);
		if (!kept) {
			ec2_op_refuse(o, ERR_UNAVAILABLE, "the reservation has not been listed yet",
				      l->offer.reservation);
			return;
		}
		at.block = kept->block;
	}
	ec2_launch_form(&form, &at, l);
	if (form.over) {
		buf_done(&form);
		ec2_op_refuse(o, ERR_INVALID, "tags and user data are too long", l->offer.type);
		return;
	}
	o->pending = 1;
	ec2_ask(ec2_ask_of(o, at.zone->region), "RunInstances", &form, true, on_launched);
}

/* --- terminate -------------------------------------------------------------------------------- */

static void on_terminated(const struct ec2_reply *r, const struct err *e, void *arg)
{
	struct ec2_ask *k = arg;
	struct op *o = k->op;
	struct elastic_instance i = {.id = o->id, .region = o->region};
	struct ec2_reply_node item = {NULL};

	k->request = NULL;
	if (e && e->kind != ERR_NOT_FOUND) {
		ec2_op_keep_error(o, e);
	} else {
		if (r)
			item = ec2_reply_first(ec2_reply_root(r), "instancesSet");
		if (item.at)
			(void)ec2_instance_read(item, o->region, o->a, &i);
		ec2_op_add(&i, o);
	}
	ec2_ask_over(k);
}

static void ec2_terminate(struct provider *p, const char *region, const char *id,
			  bool (*may_act)(void *arg), elastic_instances_done *done, void *arg)
{
	struct op *o = ec2_op_new(p, arg);
	struct ec2_ask *k = ec2_ask_of(o, region);
	struct buf b;

	o->done = done;
	o->region = arena_strdup(o->a, region);
	o->id = arena_strdup(o->a, id);
	o->may_act = may_act;
	o->may_act_arg = arg;
	if (!k || str_empty(id)) {
		ec2_op_refuse(o, ERR_INVALID,
			      "the region is not configured, or no instance is named", region);
		return;
	}
	query_begin(&b, "TerminateInstances", EC2_VERSION);
	query_add(&b, id, "InstanceId.1");
	o->pending = 1;
	ec2_ask(k, "TerminateInstances", &b, true, on_terminated);
}

/* --- the queues of events --------------------------------------------------------------------- */

static void on_event(const struct ec2_event *e, void *arg)
{
	struct ec2_provider *ep = arg;

	ec2_warned_put(ep->warned, e, loop_wall(loop_of(ep->group)));
}

static int open_queues(struct ec2_provider *ep, const struct provider_spec *s, struct err *e)
{
	ep->queues = mem_calloc(s->cloud->queues.n + 1, sizeof(struct ec2_queue *));
	for (size_t i = 0; i < s->cloud->queues.n; i++) {
		struct ec2_queue_spec qs = {.group = s->group,
					    .http = s->http,
					    .login = ep->login,
					    .url = s->cloud->queues.v[i].url,
					    .region = s->cloud->queues.v[i].region,
					    .plain_ok = s->plain_ok,
					    .on_event = on_event,
					    .arg = ep};

		ep->queues[i] = ec2_queue_new(&qs, e);
		if (!ep->queues[i])
			return -1;
		ep->nqueues++;
	}
	return 0;
}

/* --- the provider ----------------------------------------------------------------------------- */

static void ec2_free(struct ec2_provider *ep)
{
	list_for_each (o, &ep->ops, struct op, link)
		ec2_op_free(o);
	for (size_t i = 0; i < ep->nregions; i++)
		ec2_client_free(ep->regions[i]);
	free(ep->regions);
	for (size_t i = 0; i < ep->nqueues; i++)
		ec2_queue_free(ep->queues[i]);
	free(ep->queues);
	ec2_warned_free(ep->warned);
	ec2_login_free(ep->login);
	ec2_known_free(ep->known);
	map_free(ep->reserved);
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
	ep->reserved = map_new(free);
	ep->warned = ec2_warned_new();
	ls.region = ep->cloud.zones.v[0].region;
	ep->login = ec2_login_new(&ls, e);
	if (!ep->login || open_regions(ep, s, e) < 0 || open_queues(ep, s, e) < 0) {
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
