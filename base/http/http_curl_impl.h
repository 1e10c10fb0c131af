#ifndef BASE_HTTP_HTTP_CURL_IMPL_H
#define BASE_HTTP_HTTP_CURL_IMPL_H

#include <curl/curl.h>
#include "base/http/http_transport.h"

/*
 * http_curl_impl: what http_curl.c (the loop, requests) and http_curl_tls.c
 * (trust) share; nobody else includes it.
 */
struct shard;

struct flight {
	struct list link;
	struct shard *s;
	struct http_exchange *x;
	CURL *easy;
	struct curl_slist *headers, *connect_to;
	/* the request has left once */
	bool sent;
	/* paced: one piece may be delivered */
	bool credit;
	bool paused;
	/* err says why; libcurl only knows that a callback gave up */
	bool failed;
	/* why an address was refused, when no other one answers; NULL: none was */
	const char *barred;
	struct err err;

	int status;
	bool head_told;
	struct http_header *reply;
	size_t nreply, reply_cap, reply_bytes;
	char text[CURL_ERROR_SIZE];
};

void http_curl_set_trust(struct flight *f);
/* The request is about to be sent.  False: not on this connection; f->err says why. */
bool http_curl_check_connection(struct flight *f);

#endif
