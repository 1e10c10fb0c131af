#ifndef BASE_HTTPD_HTTPD_CALLERS_H
#define BASE_HTTPD_HTTPD_CALLERS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

/*
 * httpd_callers: how much of a listener one address may take.
 *
 * An address (of IPv6 the first 64 bits: a host has them all) may hold `limit` connections. It also
 * has tokens: `limit` come each second, four times as many are kept. A connection takes one, and a
 * request that was refused (status 400 or more) another, so that whoever is answered well never
 * runs out. Without a token it gets no new connection, and its requests are refused unread.
 *
 * An address is remembered as long as it has connections or lacks tokens. All on the loop thread.
 */
struct httpd_callers;
/* one address */
struct httpd_caller;

/* 0: no limit */
struct httpd_callers *httpd_callers_new(unsigned limit);
void httpd_callers_free(struct httpd_callers *c);

/* now: loop_now().  address NULL or neither IPv4 nor IPv6: all of them are one. */
bool httpd_callers_admit(struct httpd_callers *c, const struct sockaddr *address, int64_t now);
/* A connection begins; it holds the caller until httpd_callers_leave(). */
struct httpd_caller *httpd_callers_enter(struct httpd_callers *c, const struct sockaddr *address,
					 int64_t now);
void httpd_callers_leave(struct httpd_caller *who);

void httpd_caller_refused(struct httpd_caller *who, int64_t now);
bool httpd_caller_exhausted(struct httpd_caller *who, int64_t now);

#endif
