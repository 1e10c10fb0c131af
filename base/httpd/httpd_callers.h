#ifndef BASE_HTTPD_HTTPD_CALLERS_H
#define BASE_HTTPD_HTTPD_CALLERS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

/*
 * httpd_callers: limits how much of a listener one address may use.
 *
 * An address may have `limit` connections. For IPv6 the first 64 bits count as the address, because
 * a host owns all addresses with these bits. An address also has a token bucket: it gets `limit`
 * tokens per second and contains at most four times as many. A connection costs one token, and each
 * refused request (status 400 or more) costs another. So a caller that opens few connections and
 * whose requests succeed never runs out. Without a token the address gets no new connection, and
 * its requests are refused unread.
 *
 * An address's entry is dropped when it has no connections and a full bucket. All functions run on
 * the loop thread.
 */
struct httpd_callers;
/* Entry of one address. */
struct httpd_caller;

/* Creates the table; limit 0 means no limit. */
struct httpd_callers *httpd_callers_new(unsigned limit);
void httpd_callers_free(struct httpd_callers *c);

/* True if the address may open a connection now. now: loop_now(). All callers whose address is NULL
 * or neither IPv4 nor IPv6 share one entry. */
bool httpd_callers_admit(struct httpd_callers *c, const struct sockaddr *address, int64_t now);
/* Counts a new connection of the address and takes a token. The result is valid until
 * httpd_callers_leave(). */
struct httpd_caller *httpd_callers_enter(struct httpd_callers *c, const struct sockaddr *address,
					 int64_t now);
void httpd_callers_leave(struct httpd_caller *who);

void httpd_caller_refused(struct httpd_caller *who, int64_t now);
bool httpd_caller_exhausted(struct httpd_caller *who, int64_t now);

#endif
