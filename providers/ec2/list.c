/* list: lists the instances of a cluster, including new instances that the cloud does not list yet.
 * Also finds which of the instances the cloud is about to end.
 * Tests: tests/contract/test_ec2.c */
#include "providers/ec2/ops.h"

#include "base/log.h"
#include "base/str.h"
#include "providers/ec2/instances.h"
#include "providers/ec2/notices.h"

/* --- list_owned ------------------------------------------------------------------------------- */

static void ask_page(struct ec2_ask *k, const char *next);

static void add_missing(const struct elastic_instance *i, void *arg)
{
	struct op *o = arg;
	struct elastic_instance copy = ec2_instance_copy(i, o->a);

	ec2_op_add(&copy, o);
}

static void list_over(struct ec2_ask *k)
{
	struct op *o = k->op;

	for (size_t i = 0; o->pending == 1 && i < o->ninstances; i++)
		ec2_warned_apply(o->ep->warned, &o->instances[i], loop_wall(loop_of(o->ep->group)));
	if (o->pending == 1 && o->err.kind == ERR_NONE)
		ec2_known_missing(o->ep->known, o->cluster, o->listed, ec2_now(o->ep), add_missing,
				  o);
	ec2_ask_over(k);
}

/* --- instances that the cloud will end -------------------------------------------------------- */

static bool is_up(const struct elastic_instance *i)
{
	return i->state == ELASTIC_PENDING || i->state == ELASTIC_RUNNING;
}

static bool any_runs(const struct ec2_ask *k, enum market market)
{
	const struct op *o = k->op;

	for (size_t i = 0; i < o->ninstances; i++)
		if (o->instances[i].market == market && is_up(&o->instances[i]) &&
		    str_eq(o->instances[i].region, ec2_client_region(k->client)))
			return true;
	return false;
}

/* Logs that the end times of instances are unknown. This does not end the op: the list is valid
 * without end times, and the account may not permit the call. */
static void say_unseen(const struct ec2_ask *k, const struct err *e)
{
	log_warn("cannot read which instances the cloud will end",
		 LOG_S("region", ec2_client_region(k->client)), LOG_E(e));
}

static void put_reserved_ends(struct ec2_ask *k, const struct err *e)
{
	struct op *o = k->op;

	if (e)
		say_unseen(k, e);
	for (size_t i = 0; i < o->ninstances; i++) {
		const char *id = o->instances[i].reservation;
		const struct ec2_reservation *kept = id ? map_get(o->ep->reserved, id) : NULL;

		if (kept && is_up(&o->instances[i]))
			o->instances[i].ends_at = kept->ends_at;
	}
	list_over(k);
}

static void list_reserved(struct ec2_ask *k)
{
	if (k->op->ep->cloud.reservations && any_runs(k, MARKET_RESERVED))
		ec2_read_reservations(k, put_reserved_ends);
	else
		list_over(k);
}

static void ask_notices(struct ec2_ask *k, const char *next);

static void on_notices(const struct ec2_reply *r, const struct err *e, void *arg)
{
	struct ec2_ask *k = arg;
	struct op *o = k->op;
	const int64_t wall = loop_wall(loop_of(o->ep->group));
	const char *next = NULL;
	struct ec2_notice n;

	k->request = NULL;
	if (e)
		say_unseen(k, e);
	if (r) {
		ec2_for_each(it, ec2_reply_root(r), "spotInstanceRequestSet")
		{
			if (!ec2_notice_read(it, wall, o->a, &n))
				continue;
			for (size_t i = 0; i < o->ninstances; i++)
				if (str_eq(o->instances[i].id, n.id) && is_up(&o->instances[i]))
					o->instances[i].ends_at = n.ends_at;
		}
		next = ec2_reply_text(ec2_reply_root(r), "nextToken", o->a);
	}
	if (next && k->pages < EC2_PAGES_MAX)
		ask_notices(k, next);
	else
		list_reserved(k);
}

static void ask_notices(struct ec2_ask *k, const char *next)
{
	struct buf b;

	k->pages++;
	ec2_notices_form(&b, EC2_PAGE, next);
	ec2_ask(k, "DescribeSpotInstanceRequests", &b, false, on_notices);
}

static void list_ends(struct ec2_ask *k)
{
	k->pages = 0;
	if (any_runs(k, MARKET_SPOT))
		ask_notices(k, NULL);
	else
		list_reserved(k);
}

static void on_page(const struct ec2_reply *r, const struct err *e, void *arg)
{
	struct ec2_ask *k = arg;
	struct op *o = k->op;
	struct elastic_instance i;
	const char *next;

	k->request = NULL;
	if (e) {
		ec2_op_keep_error(o, e);
		list_over(k);
		return;
	}
	ec2_for_each(group, ec2_reply_root(r), "reservationSet")
	{
		ec2_for_each(it, group, "instancesSet")
		{
			if (!ec2_instance_read(it, ec2_client_region(k->client), o->a, &i))
				continue;
			ec2_op_add(&i, o);
			map_put(o->listed, i.id, o);
			ec2_known_see(o->ep->known, &i, ec2_now(o->ep));
		}
	}
	next = ec2_reply_text(ec2_reply_root(r), "nextToken", o->a);
	if (next)
		ask_page(k, next);
	else
		list_ends(k);
}

static void ask_page(struct ec2_ask *k, const char *next)
{
	struct err e;
	struct buf b;

	if (k->pages++ >= EC2_PAGES_MAX) {
		err_note(&e, ERR_PROTOCOL, 0, "DescribeInstances in %s: more than %d pages",
			 ec2_client_region(k->client), EC2_PAGES_MAX);
		ec2_op_keep_error(k->op, &e);
		list_over(k);
		return;
	}
	query_begin(&b, "DescribeInstances", EC2_VERSION);
	query_add(&b, "tag:" ELASTIC_TAG_CLUSTER, "Filter.1.Name");
	query_add(&b, k->op->cluster, "Filter.1.Value.1");
	query_add(&b, EC2_PAGE, "MaxResults");
	query_add(&b, next, "NextToken");
	ec2_ask(k, "DescribeInstances", &b, false, on_page);
}

void ec2_list_owned(struct provider *p, const char *cluster, elastic_instances_done *done,
		    void *arg)
{
	struct op *o = ec2_op_new(p, arg);

	o->done = done;
	o->cluster = arena_strdup(o->a, cluster);
	if (str_empty(cluster)) {
		/* Refuse a call without a cluster: with an empty name, the filter would match
		 * instances without the tag. */
		ec2_op_refuse(o, ERR_INVALID, "no cluster is named", NULL);
		return;
	}
	for (size_t i = 0; i < o->ep->nqueues; i++)
		ec2_queue_want(o->ep->queues[i]);
	o->pending = o->ep->nregions;
	for (size_t i = 0; i < o->ep->nregions; i++)
		ask_page(&o->asks[i], NULL);
}
