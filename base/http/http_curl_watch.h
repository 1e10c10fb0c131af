#ifndef BASE_HTTP_HTTP_CURL_WATCH_H
#define BASE_HTTP_HTTP_CURL_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include "base/loop/loop.h"

/*
 * http_curl_watch: the loop's eyes on libcurl's descriptors.
 *
 * libcurl names a socket when a request begins and takes it back when the request ends, though the
 * connection stays for the next one. To follow it each time costs four system calls for a request.
 * So a socket that was opened here stays watched for reading in between, until it is closed here or
 * something happens on it that nobody waits for. libcurl closes a socket whose connection never
 * stood unseen, and takes it back only then: the watch knows its socket by the inode, and ends. A
 * descriptor of another origin (the pair by which a resolver's thread wakes libcurl) may be closed
 * and given out anew unseen: it is watched only as long as libcurl wants it.
 *
 * On the loop thread.
 * Tests: tests/unit/base/http/test_http_curl.c
 */
struct watch;

struct watches {
	struct loop_group *group;
	void (*fn)(int fd, int events, void *arg);
	/* by descriptor */
	struct watch **v;
	size_t n;
};

/* fn: something happened that is wanted; it may close the descriptor. */
void watches_init(struct watches *ws, struct loop_group *group,
		  void (*fn)(int fd, int events, void *arg));
void watches_done(struct watches *ws);

/* fd was opened here, for arg, and watch_closed() comes before it is closed, if it was
 * connected. */
void watch_opened(struct watches *ws, int fd, void *arg);
void watch_closed(struct watches *ws, int fd);

/* events: LOOP_READ, LOOP_WRITE; 0: libcurl wants no more of it, until its next request. */
void watch_want(struct watches *ws, int fd, int events, void *arg);

#endif
