#ifndef BASE_HTTP_HTTP_CURL_H
#define BASE_HTTP_HTTP_CURL_H

#include "base/http/http.h"

/*
 * http_curl: the transport for real servers: libcurl's multi_socket_action on the real loop.
 * HTTP/1.1 only (watches over HTTP/2 hang on dead connections), TCP keepalive, no proxies from the
 * environment, no redirects, no cookies. max_connections: maximum number of kept-alive connections;
 * must exceed the number of peers.
 */
struct http_transport *http_curl_new(struct loop_group *g, unsigned max_connections);

#endif
