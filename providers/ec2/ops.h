#ifndef PROVIDERS_EC2_OPS_H
#define PROVIDERS_EC2_OPS_H

#include "base/arena.h"
#include "base/list.h"
#include "base/map.h"
#include "providers/ec2/client.h"
#include "providers/ec2/cloud.h"
#include "providers/ec2/known.h"
#include "providers/ec2/login.h"
#include "providers/ec2/provider.h"
#include "providers/ec2/queue.h"
#include "providers/ec2/warned.h"
#include "providers/elastic.h"

/*
 * ops: structures shared by the files of this provider. An op is one call of elastic.h. An op has
 * one ask for each region. An ask consists of the requests that the op sends to that region, one
 * after the other. done() is called when the last ask in progress has ended. Everything runs on the
 * loop thread.
 * Tests: tests/contract/test_ec2.c
 */
#define EC2_PAGE "200"
#define EC2_PAGES_MAX 500

struct ec2_reservation {
	bool block;
	/* Time at which EC2 ends the instances of the reservation, Unix ms; 0: never */
	int64_t ends_at;
};
struct ec2_provider {
	struct loop_group *group;
	struct arena *a;
	struct provider_cloud cloud;
	struct ec2_login *login;
	struct ec2_client **regions;
	size_t nregions;
	struct ec2_known *known;
	/* Reservations seen so far: id -> struct ec2_reservation */
	struct map *reserved;
	struct list ops;
	struct ec2_queue **queues;
	size_t nqueues;
	/* Events from the queues */
	struct ec2_warned *warned;
};

struct op;
struct ec2_ask {
	struct op *op;
	struct ec2_client *client;
	struct ec2_request *request;
	unsigned pages;
	void (*reserved_read)(struct ec2_ask *k, const struct err *e);
};
struct op {
	struct list link;
	struct ec2_provider *ep;
	struct arena *a;
	/* Ends an op that sends no request, in the next loop turn. */
	struct loop_defer defer;
	struct ec2_ask *asks;
	size_t pending;
	/* Ids of the instances that the cloud has listed so far. */
	struct map *listed;
	/* cluster: argument of list_owned(). region, id: arguments of terminate(). */
	const char *cluster, *region, *id;
	/* Number of instances that a launch requests */
	int64_t count;
	struct elastic_instance *instances;
	size_t ninstances, instances_cap;
	struct offer *offers;
	size_t noffers, offers_cap;
	/* The first error of any ask; kind ERR_NONE: no error */
	struct err err;
	elastic_offers_done *offers_done;
	elastic_instances_done *done;
	bool (*may_act)(void *arg);
	void *may_act_arg;
	void *arg;
};

int64_t ec2_now(const struct ec2_provider *ep);

struct op *ec2_op_new(struct provider *p, void *arg);
/* Frees the op without calling done(). */
void ec2_op_free(struct op *o);
/* Records e as the error of the op, unless the op has an error already. */
void ec2_op_keep_error(struct op *o, const struct err *e);
/* Ends an op that has sent no request with an error, in the next loop turn. The text of the error
 * is "TEXT: OF" from the arguments text and of; of NULL: "(none)". */
void ec2_op_refuse(struct op *o, enum err_kind kind, const char *text, const char *of);
void ec2_op_add(const struct elastic_instance *i, void *op);

/* Returns the op's ask for the region; NULL: the region is not configured. */
struct ec2_ask *ec2_ask_of(struct op *o, const char *region);
void ec2_ask(struct ec2_ask *k, const char *action, struct buf *form, bool changes,
	     void (*done)(const struct ec2_reply *r, const struct err *e, void *arg));
/* Ends ask k. If k was the op's last ask in progress, ends the op. */
void ec2_ask_over(struct ec2_ask *k);

/* Implements provider_elastic_ops.list_owned. Defined in list.c. */
void ec2_list_owned(struct provider *p, const char *cluster, elastic_instances_done *done,
		    void *arg);
/* Implements provider_elastic_ops.offers. Defined in offers.c. */
void ec2_offers(struct provider *p, elastic_offers_done *done, void *arg);
/* Reads the account's reservations in the region of k into the op's offers and into ep->reserved.
 * done(): e is not NULL if some reservations could not be read. Defined in offers.c. */
void ec2_read_reservations(struct ec2_ask *k, void (*done)(struct ec2_ask *k, const struct err *e));

#endif
