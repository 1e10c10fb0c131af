#ifndef BASE_HTTPD_HTTPD_IMPL_H
#define BASE_HTTPD_HTTPD_IMPL_H

#include "base/arena.h"
#include "base/httpd/httpd.h"
#include "base/httpd/httpd_target.h"

/*
 * httpd_impl: shared by httpd.c (routes, requests) and httpd_reply.c (replies, ranges); not
 * included elsewhere.
 */
struct route {
	char *method;
	/* Text of the pattern, split into segments at its slashes. */
	char *text;
	/* Literal segments of the pattern; an element that is NULL is a {}, which matches any one
	 * segment. */
	const char *segments[HTTPD_SEGMENTS_MAX];
	size_t nsegments;
	bool rest;
	size_t max_body;
	/* Admission check of httpd_route_admit(); NULL: every caller is admitted. */
	bool (*admit)(struct httpd_req *q, void *arg);
	httpd_handler *fn;
	void *arg;
};

struct httpd {
	struct loop_group *group;
	struct route *routes;
	size_t nroutes, routes_cap;
	struct list requests, listeners;
	/* Body bytes in memory: limit and present sum */
	size_t body_budget, body_bytes;
};

struct httpd_req {
	struct list link;
	struct httpd *d;
	struct arena *arena;
	const struct httpd_listener_ops *ops;
	void *conn;
	struct httpd_identity identity;
	const char *method;
	struct httpd_target target;
	struct http_header *headers;
	size_t nheaders;
	bool (*admit)(struct httpd_req *q, void *arg);
	/* Copied from the route, because routes may be added while the request waits. */
	httpd_handler *fn;
	void *fn_arg;
	size_t max_body;
	const char *matched[HTTPD_SEGMENTS_MAX];
	size_t nmatched;
	struct buf body;

	bool replied;
	struct http_header *reply_headers;
	size_t nreply_headers, reply_headers_cap;
	/* The reader that the handler passed. */
	struct httpd_reader reader;
	/* The reader that the listener uses; it checks the results of `reader`. */
	struct httpd_reader guarded;
	struct httpd_content content;
	uint64_t content_from;
	/* Body of httpd_reply(), malloc'd. */
	char *text;
	void (*gone)(void *arg);
	void *gone_arg;
};

/* Replies with {"error": text}. */
void httpd_reply_status(struct httpd_req *q, int status, const char *text);

#endif
