#ifndef BASE_HTTP_HTTP_CURL_IMPL_H
#define BASE_HTTP_HTTP_CURL_IMPL_H

#include <curl/curl.h>
#include "base/http/http_transport.h"

/*
 * http_curl_impl: shared by http_curl.c (loop, requests) and http_curl_tls.c (trust); not included
 * elsewhere.
 */
struct shard;

struct flight {
	struct list link;
	struct shard *s;
	struct http_exchange *x;
	CURL *easy;
	struct curl_slist *headers, *connect_to;
	/* True: the request was already sent on a connection. */
	bool sent;
	/* For a paced request: true if one more piece may be delivered. */
	bool credit;
	bool paused;
	/* True: the cause of the failure is in err; libcurl itself only knows that a callback
	 * failed. */
	bool failed;
	/* Reason why an address of the host was refused. It becomes the error if no other address
	 * answers. NULL: no address was refused. */
	const char *barred;
	struct err err;

	int status;
	bool head_told;
	struct http_header *reply;
	size_t nreply, reply_cap, reply_bytes;
	char text[CURL_ERROR_SIZE];
};

void http_curl_set_trust(struct flight *f);
/* Checks the server's certificate when the request is about to be sent. False: the request must not
 * be sent on this connection; f->err has the reason. */
bool http_curl_check_connection(struct flight *f);

#endif
