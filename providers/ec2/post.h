#ifndef PROVIDERS_EC2_POST_H
#define PROVIDERS_EC2_POST_H

#include <stdint.h>
#include "base/http/http.h"
#include "providers/ec2/sigv4.h"

/*
 * post: signs a POST to the path "/" of an AWS service, and compares the clocks.
 * Tests: tests/contract/test_ec2.c, tests/unit/providers/ec2/test_login.c
 */
struct ec2_post {
	/* host[:port] of the service's URL, and its region and name in signatures */
	const char *host, *region, *service;
	/* Value of the header X-Amz-Target; NULL: none */
	const char *target;
	/* Wall time of the signature in Unix ms, by the clock of the service */
	int64_t at;
	/* Written by ec2_post_sign(). */
	struct http_header headers[3];
	char date[SIGV4_DATE], *authorization;
};

/* Completes *call, whose body and content_type are set, by method, path, headers and session token.
 * *call then points into p and keys. The caller must call ec2_post_done(), also if p was signed
 * several times. */
void ec2_post_sign(struct ec2_post *p, const struct sigv4_credentials *keys,
		   struct http_call *call);
void ec2_post_done(struct ec2_post *p);

/* Returns host[:port] of an http or https URL; the caller frees. */
char *ec2_post_host(const char *url);
/* Returns the Date of reply r minus the time `of` (Unix ms), in ms; 0: the reply has no Date. */
int64_t ec2_post_ahead(const struct http_reply *r, int64_t of);

#endif
