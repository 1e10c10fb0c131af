#ifndef PROVIDERS_EC2_SIGV4_H
#define PROVIDERS_EC2_SIGV4_H

#include <stddef.h>
#include <stdint.h>
#include "base/buf.h"
#include "base/http/http.h"
#include "base/secret.h"

/*
 * sigv4: signs requests to AWS by Signature Version 4 (HMAC-SHA-256). Pure.
 *
 * Source: AWS, "Create a signed AWS API request". Own code: what libcurl signs by CURLOPT_AWS_SIGV4
 * is refused for several ordinary requests in the versions that distributions have.
 *
 * All headers that are given are signed, and X-Amz-Date and X-Amz-Security-Token beside them, which
 * the caller sends as they are signed here. A path is encoded once; nothing is taken out of it.
 * Tests: tests/unit/providers/ec2/test_sigv4.c
 */
#define SIGV4_DATE 17 /* 20150830T123600Z */

struct sigv4_credentials {
	const char *access_key_id;
	const struct secret *secret_key;
	/* NULL: none */
	const struct secret *session_token;
};

struct sigv4_request {
	/* path: not encoded */
	const char *method, *path;
	/* not encoded, in any order */
	const struct http_header *query;
	size_t nquery;
	/* in any order and case; Host among them */
	const struct http_header *headers;
	size_t nheaders;
	const void *body;
	size_t body_len;
	const char *region, *service;
	/* Unix ms, by the clock of the one who checks */
	int64_t at;
};

/* The value of X-Amz-Date. */
const char *sigv4_date(char out[static SIGV4_DATE], int64_t unix_ms);
/* The canonical request; holds the session token. */
void sigv4_canonical(const struct sigv4_request *r, const struct sigv4_credentials *c,
		     struct buf *out);
/* The value of Authorization; malloc'd. */
char *sigv4_authorization(const struct sigv4_request *r, const struct sigv4_credentials *c);

#endif
