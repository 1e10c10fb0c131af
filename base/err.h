#ifndef BASE_ERR_H
#define BASE_ERR_H

#include <stdbool.h>
#include <stdint.h>

/*
 * err: one failure, with enough detail to decide what to do next.
 *
 * A struct err is on the caller's stack, so reporting a failure never allocates and never leaks. A
 * function that fails returns the result of err_set(), which is always -1. A function that passes a
 * failure up adds a clause to the text with err_wrap(). Code must decide by the kind, not by the
 * text; err_is_transient() is the only function that decides whether an operation may be retried.
 *
 * Texts are meant for humans. err_set() replaces control characters and truncates at the end of the
 * buffer, so that a text may quote foreign bytes. A text must never quote a secret.
 */
enum err_kind {
	ERR_NONE,
	/* The caller's input is wrong; a retry cannot help. */
	ERR_INVALID,
	/* Not allowed: 401, 403, a refused login, an untrusted peer. */
	ERR_DENIED,
	ERR_NOT_FOUND,
	/* Another writer changed the object first: the caller must read it again and redo the
	 * change. */
	ERR_CONFLICT,
	/* The peer cannot do this at all: the caller must choose another method. */
	ERR_UNSUPPORTED,
	/* The peer's answer is malformed, or larger than its limit. */
	ERR_PROTOCOL,
	/* No answer in time; the request may have taken effect. */
	ERR_TIMEOUT,
	/* Connection refused or reset, or HTTP 429, 500, 502, 503, 504. */
	ERR_UNAVAILABLE,
	/* The backend has no capacity left. */
	ERR_CAPACITY,
	/* A quota of the account is used up. */
	ERR_QUOTA,
	/* Capacity exists, but costs more than allowed. */
	ERR_PRICE,
	ERR_KINDS
};

/* Scope of the failure: which other requests would fail in the same way now. */
enum err_scope { ERR_REQUEST, ERR_MACHINE, ERR_PROVIDER, ERR_ZONE, ERR_ACCOUNT };

struct err {
	enum err_kind kind;
	enum err_scope scope;
	/* errno, HTTP status or library code; 0 means none. */
	int code;
	/* Delay in ms that the peer asked for (Retry-After); 0 means none. */
	uint32_t retry_after_ms;
	/* "FILE:LINE" at which the error was first set. */
	const char *where;
	char text[256];
};

#define ERR_STR2(x) #x
#define ERR_STR(x) ERR_STR2(x)
#define ERR_HERE __FILE__ ":" ERR_STR(__LINE__)

#define err_set(e, kind, code, ...) err_set_at(e, kind, code, ERR_HERE, __VA_ARGS__)

/* Sets all members of *e (scope ERR_REQUEST, retry_after_ms 0) and returns -1. */
int err_set_at(struct err *e, enum err_kind kind, int code, const char *where, const char *fmt, ...)
	__attribute__((format(printf, 5, 6), nonnull(1, 4, 5), warn_unused_result));

/* Puts "clause: " before the text of *e, leaves all other members unchanged, and returns -1. */
int err_wrap(struct err *e, const char *fmt, ...)
	__attribute__((format(printf, 2, 3), nonnull, warn_unused_result));

/* Sets *e from the errno value num, which also determines the kind; returns -1. */
#define err_errno(e, num, ...) err_errno_at(e, num, ERR_HERE, __VA_ARGS__)
int err_errno_at(struct err *e, int num, const char *where, const char *fmt, ...)
	__attribute__((format(printf, 4, 5), nonnull(1, 3, 4), warn_unused_result));

/* The same without a result, for a function that reports its failure in another way than by -1. */
#define err_note(...) ((void)!err_set(__VA_ARGS__))
#define err_note_wrap(...) ((void)!err_wrap(__VA_ARGS__))
#define err_note_errno(...) ((void)!err_errno(__VA_ARGS__))

void err_clear(struct err *e);

/* Replaces an error that is stored for long, because a struct err is large and most are empty:
 * *slot is NULL or a copy that its owner frees. e NULL: sets *slot to NULL. */
void err_save(struct err **slot, const struct err *e) __attribute__((nonnull(1)));

/* True if the same operation may succeed later although the caller changes nothing. */
bool err_is_transient(const struct err *e);

/* Returns the kind's name for logs and metrics: "invalid", "not-found" and so on. */
const char *err_kind_name(enum err_kind kind);

/* Returns the kind of error that an HTTP status means; ERR_NONE for 2xx. */
enum err_kind err_kind_of_http(int status);

#endif
