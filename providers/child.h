#ifndef PROVIDERS_CHILD_H
#define PROVIDERS_CHILD_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include "base/err.h"
#include "base/loop/loop.h"

/*
 * child: runs a process that answers requests, one JSON object per line on its standard input and
 * output (docs/exec-fabric.md specifies id, op, hello and error).
 *
 * At most one process runs at a time. The first request starts it. After the process ended, the
 * next request starts a new one, with a delay that doubles from 1 s to 60 s. Requests in flight
 * when the process ends fail, although they may have taken effect. Replies may come in any order.
 * The process is killed with SIGKILL if it writes a line that is not a reply, or more replies than
 * requests. So its unfinished work cannot run beside the next process. All calls are asynchronous
 * on the loop thread; done() is called exactly once, never inside the call.
 *
 * A process that does not answer hello within CHILD_HELLO_MS is killed, because it may not
 * implement the protocol.
 *
 * With `pings`, a request that times out is followed by a ping. The process is killed if it does
 * not answer the ping within CHILD_PING_MS, or if more than CHILD_STUCK requests are unanswered
 * past their limits. Without `pings`, a timeout has no further consequence.
 * Tests: tests/contract/test_fabric.c, tests/unit/providers/test_child.c
 */
#define CHILD_MAX_LINE (64u << 10)
#define CHILD_HELLO_MS 30000
#define CHILD_PING_MS 5000
#define CHILD_STUCK 8

struct child;
struct child_call;
struct child_spec {
	struct loop_group *group;
	/* Command of the process, copied; argv[0] names the process in error texts */
	const char *const *argv;
	/* Environment of the process, copied; NULL: only PATH and LANG */
	const char *const *env;
	/* Additional members of the hello message; child_new() takes ownership. NULL: none. */
	json_t *hello;
	bool pings;
};
struct child *child_new(const struct child_spec *s);
/* Drops pending requests without done() and closes the process's standard input. c becomes
 * invalid. */
void child_free(struct child *c);

/* Sends a request; ends with ERR_TIMEOUT after limit_ms. Takes ownership of `request`, which must
 * have no id. A NULL request (json_pack() failed on a name that is not UTF-8) ends with
 * ERR_INVALID. reply is valid during done(), and NULL with an error. sent_at: loop_now() when the
 * request was written. */
struct child_call *child_ask(struct child *c, json_t *request, int64_t limit_ms,
			     void (*done)(const json_t *reply, int64_t sent_at, const struct err *e,
					  void *arg),
			     void *arg);
/* Drops the request without calling done(). call may be NULL. */
void child_call_drop(struct child_call *call);

#endif
