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
 * per request. So a socket reported by watch_opened() stays watched for reading between requests,
 * until it is closed or an unexpected event occurs.
 *
 * If a connection fails, libcurl closes its socket without a call of watch_closed(); the watch
 * detects this by the socket's inode, and ends. Other descriptors (the pair by which a resolver
 * thread wakes libcurl) may be closed and reused without a notice too; they are watched only while
 * libcurl wants them.
 *
 * All functions run on the loop thread.
 * Tests: tests/unit/base/http/test_http_curl.c
 */
struct watch;

struct watches {
	struct loop_group *group;
	void (*fn)(int fd, int events, void *arg);
	/* Array of watches; the index is the descriptor. */
	struct watch **v;
	size_t n;
};

/* fn is called for wanted events; fn may close the descriptor. */
void watches_init(struct watches *ws, struct loop_group *group,
		  void (*fn)(int fd, int events, void *arg));
void watches_done(struct watches *ws);

/* Begins to watch fd, a socket that was just opened for arg. Once fd has been connected, the caller
 * must call watch_closed() before it closes fd. */
void watch_opened(struct watches *ws, int fd, void *arg);
void watch_closed(struct watches *ws, int fd);

/* Sets the events that libcurl wants (LOOP_READ, LOOP_WRITE); 0: none until its next request. */
void watch_want(struct watches *ws, int fd, int events, void *arg);

#endif
