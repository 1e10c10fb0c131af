#ifndef PROVIDERS_EC2_QUEUE_H
#define PROVIDERS_EC2_QUEUE_H

#include <stdint.h>
#include "base/http/http.h"
#include "base/loop/loop.h"
#include "base/own.h"
#include "providers/ec2/events.h"
#include "providers/ec2/login.h"

/*
 * queue: reads events of EC2 from one SQS queue, by the JSON protocol of SQS.
 *
 * The queue is polled while ec2_queue_want() was called within EC2_QUEUE_WANTED_MS, so that only
 * the replica that lists instances takes messages. Each message is deleted after on_event()
 * returned, also one that is no event of events.h. An error is logged with the URL of the queue,
 * and the poll is repeated a minute later. Everything runs on the loop thread; on_event() is never
 * called inside a function below.
 * Tests: tests/contract/test_ec2.c
 */
#define EC2_QUEUE_WANTED_MS 180000

struct ec2_queue;
struct ec2_queue_spec {
	struct loop_group *group;
	struct http *http;
	/* Borrowed; must outlive the queue */
	struct ec2_login *login;
	const char *url, *region;
	bool plain_ok;
	/* e is valid during the call. */
	void (*on_event)(const struct ec2_event *e, void *arg);
	void *arg;
};
struct ec2_queue *ec2_queue_new(const struct ec2_queue_spec *s, struct err *e);
/* Ends the poll. */
void ec2_queue_free(struct ec2_queue *q);
DEFINE_OWN(ec2_queue)

void ec2_queue_want(struct ec2_queue *q);

#endif
