#ifndef PROVIDERS_CHILD_H
#define PROVIDERS_CHILD_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include "base/err.h"
#include "base/loop/loop.h"

/*
 * child: a process that answers requests: one JSON object a line, on its standard input and output
 * (docs/exec-fabric.md has the frame: id, op, hello, error).
 *
 * One process at a time, started by the first request that needs it and again, with a wait that
 * doubles from 1 s to 60 s, by the first one after it ended. Requests under way when it ends fail:
 * their effect may have happened. Replies may come in any order; a line that is none, and more
 * answers than there were requests, kill the process, since what it has begun must not happen
 * beside its successor. Asynchronous on the loop thread; done exactly once, never inside the call.
 *
 * A process that has not answered the hello within CHILD_HELLO_MS is killed: it may be a program
 * that knows nothing of this.
 *
 * With `pings` a request that ran out of time is followed by a ping; a process that does not answer
 * that within CHILD_PING_MS, or owes CHILD_STUCK answers, hangs: it is killed. Without, a request
 * that ran out of time is just that.
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
	/* copied; argv[0] names it in errors */
	const char *const *argv;
	/* copied; NULL: PATH and LANG alone */
	const char *const *env;
	/* taken: further members of the hello; NULL: none */
	json_t *hello;
	bool pings;
};
struct child *child_new(const struct child_spec *s);
/* requests under way end without done(); the process gets end of file */
void child_free(struct child *c);

/* request: taken, without id; NULL (it could not be made): ERR_INVALID. reply: valid during done(),
 * NULL with an error. sent_at: loop_now() when the line was written. */
struct child_call *child_ask(struct child *c, json_t *request, int64_t limit_ms,
			     void (*done)(const json_t *reply, int64_t sent_at, const struct err *e,
					  void *arg),
			     void *arg);
/* no done(); NULL does nothing */
void child_call_drop(struct child_call *call);

#endif
