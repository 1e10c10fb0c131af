#ifndef PROVIDERS_EC2_QUERY_H
#define PROVIDERS_EC2_QUERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/own.h"

/*
 * query: the form that a call of AWS's Query protocol goes out in, and the XML that answers it.
 * Pure.
 *
 * Replies are bounded (QUERY_MAX_REPLY), and no document type is taken: so there are no entities,
 * and nothing is fetched. Namespaces are not looked at.
 * Tests: tests/unit/providers/ec2/test_query.c, tests/fuzz/fuzz_ec2.c
 */
#define QUERY_MAX_REPLY (8u << 20)
#define QUERY_MAX_BODY (1u << 20)

/* A body that begins with the action; buf_done() is the caller's.  Too long: b->over. */
void query_begin(struct buf *b, const char *action, const char *version);
/* &NAME=VALUE; the name from a format: "TagSpecification.%d.Tag.%zu.Key".  NULL: left out. */
void query_add(struct buf *b, const char *value, const char *name, ...)
	__attribute__((format(printf, 3, 4)));
void query_add_i64(struct buf *b, int64_t value, const char *name);

/* A reply.  A node that is not there is {NULL}, has no children and no text. */
struct ec2_reply;
struct ec2_reply_node {
	const void *at;
};
/* ERR_PROTOCOL */
struct ec2_reply *ec2_reply_parse(const char *xml, size_t len, struct err *e);
void ec2_reply_free(struct ec2_reply *r);
DEFINE_OWN(ec2_reply)

struct ec2_reply_node ec2_reply_root(const struct ec2_reply *r);
bool ec2_reply_is(struct ec2_reply_node n, const char *name);
/* path: names of elements with / between them, the first of each name. */
struct ec2_reply_node ec2_reply_at(struct ec2_reply_node n, const char *path);
/* Elements of the name item below the path: of sets of EC2, and of no other kind of list. */
struct ec2_reply_node ec2_reply_first(struct ec2_reply_node n, const char *path);
struct ec2_reply_node ec2_reply_next(struct ec2_reply_node item);
#define ec2_for_each(it, n, path)                                                                  \
	for (struct ec2_reply_node it = ec2_reply_first(n, path); it.at; it = ec2_reply_next(it))
/* Without space around it; NULL: not there, or empty. */
const char *ec2_reply_text(struct ec2_reply_node n, const char *path, struct arena *a);

/* The first error of Response/Errors/Error, ErrorResponse/Errors/Error or ErrorResponse/Error.
 * False: it is none of these. */
bool ec2_reply_error(const struct ec2_reply *r, struct arena *a, const char **code,
		     const char **message);

#endif
