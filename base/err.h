#ifndef BASE_ERR_H
#define BASE_ERR_H

#include <stdbool.h>
#include <stdint.h>

/*
 * err: what went wrong, said once, with enough to decide what to do next.
 *
 * A struct err lives on the caller's stack, so reporting a failure never
 * allocates and never leaks.  Code that fails returns what err_set() returns
 * (always -1); code that passes a failure up adds a clause with err_wrap().
 * The kind, not the text, drives policy: err_is_transient() is the only
 * place that decides whether an operation may be tried again.
 *
 * Texts are for people: err_set() replaces control characters and cuts at the
 * end of the buffer, so that foreign bytes may be quoted in them.  Secrets may
 * never be.
 */
enum err_kind {
	ERR_NONE,
	/* the caller's input; trying again cannot help */
	ERR_INVALID,
	/* not allowed: 401, 403, a refused login, an untrusted peer */
	ERR_DENIED,
	ERR_NOT_FOUND,
	/* someone else changed it first: re-read, redo */
	ERR_CONFLICT,
	/* the peer cannot do this at all: choose another way */
	ERR_UNSUPPORTED,
	/* the peer answered nonsense, or more than its bound */
	ERR_PROTOCOL,
	/* no answer in time; the effect may have happened */
	ERR_TIMEOUT,
	/* refused, reset, 429, 500, 502..504 */
	ERR_UNAVAILABLE,
	/* the backend has none left */
	ERR_CAPACITY,
	/* an account's limit */
	ERR_QUOTA,
	/* there is some, but dearer than allowed */
	ERR_PRICE,
	ERR_KINDS
};

/* How far the failure reaches: what else would fail in the same way now. */
enum err_scope { ERR_REQUEST, ERR_MACHINE, ERR_PROVIDER, ERR_ZONE, ERR_ACCOUNT };

struct err {
	enum err_kind kind;
	enum err_scope scope;
	/* errno, HTTP status or library code; 0 if none */
	int code;
	/* what the peer asked for; 0 if it did not */
	uint32_t retry_after_ms;
	/* file:line of the first report */
	const char *where;
	char text[256];
};

#define ERR_STR2(x) #x
#define ERR_STR(x) ERR_STR2(x)
#define ERR_HERE __FILE__ ":" ERR_STR(__LINE__)

#define err_set(e, kind, code, ...) err_set_at(e, kind, code, ERR_HERE, __VA_ARGS__)

/* Fill *e (scope ERR_REQUEST, no retry_after) and return -1. */
int err_set_at(struct err *e, enum err_kind kind, int code, const char *where, const char *fmt, ...)
	__attribute__((format(printf, 5, 6), nonnull(1, 4, 5), warn_unused_result));

/* Put "clause: " before the text, keep everything else, return -1. */
int err_wrap(struct err *e, const char *fmt, ...)
	__attribute__((format(printf, 2, 3), nonnull, warn_unused_result));

/* From errno; the kind is chosen from it. */
#define err_errno(e, num, ...) err_errno_at(e, num, ERR_HERE, __VA_ARGS__)
int err_errno_at(struct err *e, int num, const char *where, const char *fmt, ...)
	__attribute__((format(printf, 4, 5), nonnull(1, 3, 4), warn_unused_result));

void err_clear(struct err *e);

/* May the same operation succeed later without anybody changing anything? */
bool err_is_transient(const struct err *e);

/* "invalid", "not-found", ... ; for logs and metrics. */
const char *err_kind_name(enum err_kind kind);

/* The kind that an HTTP status means; ERR_NONE for 2xx. */
enum err_kind err_kind_of_http(int status);

#endif
