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
 * query: encodes calls of AWS's Query protocol as forms, and parses the XML replies. Pure
 * functions.
 *
 * Replies are limited to QUERY_MAX_REPLY. A reply with a document type declaration is refused, so
 * no entity is expanded and nothing is fetched. Namespaces are ignored.
 * Tests: tests/unit/providers/ec2/test_query.c, tests/fuzz/fuzz_ec2.c
 */
#define QUERY_MAX_REPLY (8u << 20)
#define QUERY_MAX_BODY (1u << 20)
/* Content-Type of the form */
#define QUERY_TYPE "application/x-www-form-urlencoded; charset=utf-8"

/* Initializes b as a form with the action and version. The caller must call buf_done(). b->over is
 * set if the form becomes too long. */
void query_begin(struct buf *b, const char *action, const char *version);
/* Appends &NAME=VALUE. The name is formatted, e.g. "TagSpecification.%d.Tag.%zu.Key". value NULL:
 * appends nothing. */
void query_add(struct buf *b, const char *value, const char *name, ...)
	__attribute__((format(printf, 3, 4)));
void query_add_i64(struct buf *b, int64_t value, const char *name);

/* A parsed reply, and a node in it. {NULL} is a missing node, which has no children and no text. */
struct ec2_reply;
struct ec2_reply_node {
	const void *at;
};
/* Parses a reply; the caller frees. NULL with ERR_PROTOCOL if xml is not a supported document. */
struct ec2_reply *ec2_reply_parse(const char *xml, size_t len, struct err *e);
void ec2_reply_free(struct ec2_reply *r);
DEFINE_OWN(ec2_reply)

struct ec2_reply_node ec2_reply_root(const struct ec2_reply *r);
bool ec2_reply_is(struct ec2_reply_node n, const char *name);
/* Returns the node at `path` below n: element names separated by /, the first element of each name.
 * Returns a missing node if no such element exists. */
struct ec2_reply_node ec2_reply_at(struct ec2_reply_node n, const char *path);
/* ec2_reply_first() returns the first element named "item" below path, ec2_reply_next() the next
 * one after item. This is the form of EC2's lists (sets); lists of other forms are not
 * supported. */
struct ec2_reply_node ec2_reply_first(struct ec2_reply_node n, const char *path);
struct ec2_reply_node ec2_reply_next(struct ec2_reply_node item);
#define ec2_for_each(it, n, path)                                                                  \
	for (struct ec2_reply_node it = ec2_reply_first(n, path); it.at; it = ec2_reply_next(it))
/* Returns the text of the node at path without surrounding white space; NULL: missing or empty. */
const char *ec2_reply_text(struct ec2_reply_node n, const char *path, struct arena *a);

/* Finds the first error in Response/Errors/Error, ErrorResponse/Errors/Error or
 * ErrorResponse/Error, and writes its *code and *message. False: the reply has none of these. */
bool ec2_reply_error(const struct ec2_reply *r, struct arena *a, const char **code,
		     const char **message);

#endif
