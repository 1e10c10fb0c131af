#ifndef TESTS_CONTRACT_FAKE_SQS_H
#define TESTS_CONTRACT_FAKE_SQS_H

#include <jansson.h>
#include <stdint.h>
#include "base/httpd/httpd.h"

/*
 * fake_sqs: one queue of SQS by its JSON protocol, with the messages that EventBridge puts there.
 * It fails the test if a request is not signed for SQS in eu-west-1.
 */
struct fake_sqs {
	/* Serves the queue. Owned. */
	struct httpd *httpd;
	/* Messages that no one has deleted. Owned. */
	json_t *messages;
	/* URL that requests must name; borrowed */
	const char *url;
	/* Error code with which all requests are refused; NULL: none */
	const char *refusal;
	unsigned polls, added;
};
void fake_sqs_start(struct fake_sqs *q, struct loop_group *g, const char *url);
void fake_sqs_done(struct fake_sqs *q);
/* Adds a message with this body. */
void fake_sqs_put(struct fake_sqs *q, const char *body);
/* Adds an event of aws.ec2. kind: detail-type; at: Unix ms. */
void fake_sqs_event(struct fake_sqs *q, const char *kind, const char *instance, int64_t at);

#endif
