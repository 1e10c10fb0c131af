#ifndef BASE_HTTP_HTTP_CURL_WATCH_H
#define BASE_HTTP_HTTP_CURL_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include "base/loop/loop.h"

/*
 * http_curl_watch: watches libcurl's descriptors on the loop.
 *
 * libcurl adds a socket when a request begins and removes it when the request ends, although the
 * connection stays open for the next request. Following each change would cost four system calls
 * per request. So a socket that was opened here (watch_opened()) stays watched for reading between
 * requests, until it is closed or an unexpected event occurs. If a connection failed, libcurl
 * closes its socket without a notice, and only removes it: the watch detects this by the socket's
 * inode, and ends. A descriptor of another origin (the pair by which a resolver thread wakes
 * libcurl) may be closed and reused unnoticed: it is watched only while libcurl wants it.
 *
 * All functions run on the loop thread.
 * Tests: tests/unit/base/http/test_http_curl.c
 */
struct watch;

struct watches {
	struct loop_group *group;
	void (*fn)(int fd, int events, void *arg);
	/* Watches by descriptor. */
	struct watch **v;
	size_t n;
};

/* fn is called for wanted events; fn may close the descriptor. */
void watches_init(struct watches *ws, struct loop_group *group,
		  void (*fn)(int fd, int events, void *arg));
void watches_done(struct watches *ws);

/* Begins to watch fd, a socket that was just opened for arg. If fd gets connected, watch_closed()
 * must be called before it is closed. */
void watch_opened(struct watches *ws, int fd, void *arg);
void watch_closed(struct watches *ws, int fd);

/* Sets the events that libcurl wants (LOOP_READ, LOOP_WRITE); 0: none until its next request. */
void watch_want(struct watches *ws, int fd, int events, void *arg);

#endif
