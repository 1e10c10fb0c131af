#ifndef PROVIDERS_NETRIS_MAKE_H
#define PROVIDERS_NETRIS_MAKE_H

#include <stdbool.h>
#include "base/err.h"
#include "base/loop/loop.h"
#include "netris/netris.h"

/*
 * netris_make: creates the VPC and the server cluster of a tenant when they are needed, and removes
 * them later.
 *
 * Both objects have the same name and the tag NETRIS_MADE_BY PREFIX, by which drover later
 * recognizes its own objects. A create request is not idempotent, and its answer may be lost. So
 * each object is first looked up by name, and done() only means that the requests have ended. The
 * caller must read the lists to learn the result. An existing object of that name is used as it is,
 * whoever created it.
 *
 * netris_unmake() removes the objects that have drover's tag and contain only shared servers. The
 * tenant's machines must have left before. Objects with a different tag or no tag stay, without an
 * error.
 *
 * On the loop thread; calls done() exactly once, never inside the call.
 * Tests: tests/contract/test_netris_fabric.c
 */
#define NETRIS_MADE_BY "drover:"

struct netris_make_spec {
	const char *name, *prefix;
	/* Names of the site, of the server-cluster template, and of the Netris tenant that owns the
	 * objects */
	const char *site, *template_, *admin;
	/* Names of servers to add to the cluster as shared; NULL-terminated or NULL */
	const char *const *host_servers;
	/* Called before each change; false: the change is not made. NULL: always true. */
	bool (*may_act)(void *arg);
	void (*done)(const struct err *e, void *arg);
	void *arg;
};
struct netris_make;

/* Creates what is missing of VPC and server cluster. s is copied; what its members point to is
 * borrowed until done(). */
struct netris_make *netris_make(struct netris *n, const struct netris_make_spec *s);
/* Stops the creation without calling done(). m may be NULL. */
void netris_make_free(struct netris_make *m);

/* Removes the server cluster and the VPC named s->name, if drover created them. Uses only name,
 * prefix, may_act, done and arg of s. done() without an error means that no object of drover with
 * this name is left. */
struct netris_unmake;
struct netris_unmake *netris_unmake(struct netris *n, const struct netris_make_spec *s);
void netris_unmake_free(struct netris_unmake *m);

#endif
