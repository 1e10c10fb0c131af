#ifndef PROVIDERS_NETRIS_MAKE_H
#define PROVIDERS_NETRIS_MAKE_H

#include <stdbool.h>
#include "base/err.h"
#include "base/loop/loop.h"
#include "netris/netris.h"

/*
 * netris_make: a tenant's VPC and server cluster, made when they are needed.
 *
 * Both have the same name and the tag NETRIS_MADE_BY and the prefix, by which drover knows later
 * what it made itself. A create is not idempotent and its answer may be lost: so it is listed by
 * name first, and done() says no more than that the requests have ended; whoever wants to know
 * looks. One with that name is used as it is, whoever made it.
 *
 * Removed is what has the tag and nothing in it but shared servers; a tenant's machines are gone by
 * then. What has another tag, or none, stays, and is no error.
 *
 * On the loop thread; done() exactly once, never inside the call.
 * Tests: tests/contract/test_netris_fabric.c
 */
#define NETRIS_MADE_BY "drover:"

struct netris_make_spec {
	const char *name, *prefix;
	/* names */
	const char *site, *template_, *admin;
	/* shared in it; NULL-terminated or NULL */
	const char *const *host_servers;
	/* Asked before each change; NULL: always. */
	bool (*may_act)(void *arg);
	void (*done)(const struct err *e, void *arg);
	void *arg;
};
struct netris_make;

/* s copied; what it points to is borrowed until done() */
struct netris_make *netris_make(struct netris *n, const struct netris_make_spec *s);
/* ends without done(); NULL is fine */
void netris_make_free(struct netris_make *m);

/* name, prefix, may_act, done and arg of s count. done() without an error: nothing of ours is
 * left. */
struct netris_unmake;
struct netris_unmake *netris_unmake(struct netris *n, const struct netris_make_spec *s);
void netris_unmake_free(struct netris_unmake *m);

#endif
