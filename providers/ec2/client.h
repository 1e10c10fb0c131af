#ifndef PROVIDERS_EC2_CLIENT_H
#define PROVIDERS_EC2_CLIENT_H

#include <stdbool.h>
#include <stdint.h>
#include "base/buf.h"
#include "base/err.h"
#include "base/http/http.h"
#include "base/loop/loop.h"
#include "base/own.h"
#include "providers/ec2/login.h"
#include "providers/ec2/query.h"

/*
 * client: calls of EC2's Query API (2016-11-15) in one region.
 *
 * Calls wait in a session (base/http/session.h) whose login is the credentials. If a call is denied
 * because the clock is wrong, later calls are signed with the cloud's clock, taken from the Date of
 * the reply. The client repeats no call. Errors are those of errors.h. A call that changes
 * something and gets no reply ends with ERR_TIMEOUT, whatever ended the connection. Everything runs
 * on the loop thread; done() is called exactly once, never inside the starting function.
 * Tests: tests/contract/test_ec2.c
 */
#define EC2_VERSION "2016-11-15"

struct ec2_client;
struct ec2_client_spec {
	struct loop_group *group;
	struct http *http;
	/* Borrowed; must outlive the client */
	struct ec2_login *login;
	const char *region, *endpoint, *ca_pem;
	/* Highest number of calls per second; 0 means the default, 5 */
	double requests_per_s;
	bool plain_ok;
};
struct ec2_client *ec2_client_new(const struct ec2_client_spec *s, struct err *e);
/* Ends all calls without done(). */
void ec2_client_free(struct ec2_client *c);
DEFINE_OWN(ec2_client)

const char *ec2_client_region(const struct ec2_client *c);

struct ec2_call {
	const char *action;
	/* Form from query_begin(); ownership passes to the client, which wipes it */
	struct buf *body;
	/* True: the call changes something in the cloud, so a lost reply is ERR_TIMEOUT */
	bool changes;
	bool (*may_act)(void *arg);
	void *may_act_arg;
	void (*done)(const struct ec2_reply *r, const struct err *e, void *arg);
	void *arg;
};
struct ec2_request;
struct ec2_request *ec2_call(struct ec2_client *c, const struct ec2_call *call);
/* Cancels without done(). NULL is allowed. */
void ec2_cancel(struct ec2_request *q);

#endif
