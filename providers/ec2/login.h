#ifndef PROVIDERS_EC2_LOGIN_H
#define PROVIDERS_EC2_LOGIN_H

#include <stdbool.h>
#include "base/err.h"
#include "base/http/http.h"
#include "base/list.h"
#include "base/loop/loop.h"
#include "base/own.h"
#include "providers/ec2/sigv4.h"
#include "providers/provider.h"

/*
 * login: the credentials that calls are signed by, from one source (enum provider_cloud_login), and
 * their renewal.
 *
 * What ends is got anew LOGIN_EARLY_MS before it does. When that fails and what there is still
 * holds, it is used on, and tried again a minute later. A file is read again when the cloud says
 * that its keys have ended. All on the loop thread; a waiter is called once, never inside the
 * starting function.
 * Tests: tests/unit/providers/ec2/test_login.c
 */
#define LOGIN_EARLY_MS 300000

struct ec2_login;
struct ec2_login_spec {
	struct loop_group *group;
	struct http *http;
	/* read in the call */
	const struct provider_cloud *cloud;
	/* whose STS is asked */
	const char *region;
	bool plain_ok;
};
struct ec2_login *ec2_login_new(const struct ec2_login_spec *s, struct err *e);
/* nobody waits any more */
void ec2_login_free(struct ec2_login *l);
DEFINE_OWN(ec2_login)

/* What holds now; borrowed until the loop's next turn.  False: wait for it. */
bool ec2_login_ready(struct ec2_login *l, struct sigv4_credentials *out);
/* The cloud says that they have ended. */
void ec2_login_ended(struct ec2_login *l);

struct ec2_login_waiter {
	struct list link;
	/* e NULL: ready */
	void (*fn)(const struct err *e, void *arg);
	void *arg;
};
void ec2_login_wait(struct ec2_login *l, struct ec2_login_waiter *w);
/* not called any more; initialised by ec2_login_wait() or list_init() */
void ec2_login_leave(struct ec2_login_waiter *w);

#endif
