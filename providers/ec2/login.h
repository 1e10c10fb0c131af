#ifndef PROVIDERS_EC2_LOGIN_H
#define PROVIDERS_EC2_LOGIN_H

#include <stdbool.h>
#include "base/err.h"
#include "base/http/http.h"
#include "base/list.h"
#include "base/loop/loop.h"
#include "base/own.h"
#include "providers/ec2/provider.h"
#include "providers/ec2/sigv4.h"

/*
 * login: the credentials that sign calls, from one source (enum provider_cloud_login), and their
 * renewal.
 *
 * If a role is to be assumed, the credentials from the source sign only AssumeRole calls of STS,
 * and the login provides the temporary credentials from STS. Errors of AssumeRole name the role. If
 * STS refuses a signature because of the clock, later calls are signed with the clock of STS.
 *
 * Credentials with an expiry are renewed LOGIN_EARLY_MS before it. If a renewal fails while the
 * present credentials are valid, these stay in use and the renewal is tried again a minute later. A
 * credentials file is read again when the cloud reports that its keys have expired. Everything runs
 * on the loop thread; a waiter is called once, never inside the starting function.
 * Tests: tests/unit/providers/ec2/test_login.c
 */
#define LOGIN_EARLY_MS 300000

struct ec2_login;
struct ec2_login_spec {
	struct loop_group *group;
	struct http *http;
	/* Read only during ec2_login_new() */
	const struct provider_cloud *cloud;
	/* Region whose STS endpoint is called */
	const char *region;
	bool plain_ok;
};
struct ec2_login *ec2_login_new(const struct ec2_login_spec *s, struct err *e);
/* Drops the remaining waiters without calling them. */
void ec2_login_free(struct ec2_login *l);
DEFINE_OWN(ec2_login)

/* Writes the credentials to *out, borrowed until the next loop turn. False: there are none, or they
 * must be renewed first; call ec2_login_wait(). */
bool ec2_login_ready(struct ec2_login *l, struct sigv4_credentials *out);
/* Marks the credentials as expired, so that they are renewed before the next use. Call when the
 * cloud reports that they have expired. */
void ec2_login_ended(struct ec2_login *l);

struct ec2_login_waiter {
	struct list link;
	/* Called once, when credentials are ready (e NULL) or could not be obtained */
	void (*fn)(const struct err *e, void *arg);
	void *arg;
};
void ec2_login_wait(struct ec2_login *l, struct ec2_login_waiter *w);
/* Cancels the waiter; its link must have been initialized by ec2_login_wait() or list_init(). */
void ec2_login_leave(struct ec2_login_waiter *w);

#endif
