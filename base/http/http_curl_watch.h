#ifndef BASE_HTTP_HTTP_CURL_WATCH_H
#define BASE_HTTP_HTTP_CURL_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include "base/loop/loop.h"

/*
 * http_curl_watch: watches libcurl's descriptors on the loop.
 *
 * libcurl adds a socket when a request begins and removes it when the request ends, although the
 * connection is kept for the next request. Following each change would cost four system calls per
 * request. So a socket opened here stays watched for reading in between, until it is closed here or
 * an unexpected event occurs. libcurl closes a socket whose connection failed without a notice, and
 * only removes it then: the watch detects this by the socket's inode, and ends. A descriptor of
 * another origin (the pair by which a resolver thread wakes libcurl) may be closed and reused
 * unnoticed: it is watched only while libcurl wants it.
 *
 * On the loop thread.
 * Tests: tests/unit/base/http/test_http_curl.c
 */
struct watch;

struct watches {
	struct loop_group *group;
	void (*fn)(int fd, int events, void *arg);
	/* Indexed by descriptor. */
	struct watch **v;
	size_t n;
};

/* fn is called for wanted events; fn may close the descriptor. */
void watches_init(struct watches *ws, struct loop_group *group,
		  void (*fn)(int fd, int events, void *arg));
void watches_done(struct watches *ws);

/* fd was opened here, for arg; watch_closed() will be called before it is closed, if it was
 * connected. */
void watch_opened(struct watches *ws, int fd, void *arg);
void watch_closed(struct watches *ws, int fd);

/* events: LOOP_READ, LOOP_WRITE; 0: libcurl wants no events until its next request. */
void watch_want(struct watches *ws, int fd, int events, void *arg);

#endif
