#ifndef PROVIDERS_EC2_SIGV4_H
#define PROVIDERS_EC2_SIGV4_H

#include <stddef.h>
#include <stdint.h>
#include "base/buf.h"
#include "base/http/http.h"
#include "base/secret.h"

/*
 * sigv4: signs requests to AWS by Signature Version 4 (HMAC-SHA-256). Pure functions.
 *
 * Source: AWS, "Create a signed AWS API request". drover does not use CURLOPT_AWS_SIGV4 of libcurl,
 * because AWS refuses several ordinary requests that the libcurl versions of current distributions
 * sign in this way.
 *
 * Signs all headers of the request, plus X-Amz-Date and X-Amz-Security-Token, which the caller must
 * send with the values signed here. A path is URL-encoded once and not normalized.
 * Tests: tests/unit/providers/ec2/test_sigv4.c
 */
#define SIGV4_DATE 17 /* size of "20150830T123600Z" with its NUL */

struct sigv4_credentials {
	const char *access_key_id;
	const struct secret *secret_key;
	/* Token of temporary credentials; NULL: none */
	const struct secret *session_token;
};

struct sigv4_request {
	/* path: not URL-encoded */
	const char *method, *path;
	/* Query parameters, not URL-encoded, in any order */
	const struct http_header *query;
	size_t nquery;
	/* Headers in any order and case; must include Host */
	const struct http_header *headers;
	size_t nheaders;
	const void *body;
	size_t body_len;
	const char *region, *service;
	/* Time of the signature in Unix ms, by the clock of the server that checks it */
	int64_t at;
};

/* Writes the value of X-Amz-Date for unix_ms to out; returns out. */
const char *sigv4_date(char out[static SIGV4_DATE], int64_t unix_ms);
/* Appends the canonical request to out. The caller must wipe out, because the canonical request
 * contains the session token. */
void sigv4_canonical(const struct sigv4_request *r, const struct sigv4_credentials *c,
		     struct buf *out);
/* Returns the value of the header Authorization; the caller frees. */
char *sigv4_authorization(const struct sigv4_request *r, const struct sigv4_credentials *c);

#endif
