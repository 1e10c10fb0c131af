#ifndef PROVIDERS_TIMED_CALLS_H
#define PROVIDERS_TIMED_CALLS_H

#include <stdint.h>
#include "base/list.h"
#include "base/loop/loop.h"
#include "providers/elastic.h"

/*
 * timed_calls: measures the calls of one provider or fabric. The wrappers in provider.c and
 * fabric.c use it, so that no implementation has to.
 *
 * Each function here replaces the callbacks of a call, just before the call is made. When the call
 * ends, struct call_watch gets its duration, and then the caller's callback is called. A call that
 * ends without its callback, because its provider is freed or its machine detached, must be dropped
 * with timed_calls_drop(). Without a watch nothing is replaced.
 *
 * On the loop thread.
 * Tests: tests/unit/providers/test_timed_calls.c, tests/contract/test_provider.c
 */
struct fabric_api_path_call;
struct fabric_call;
struct provider_call;
struct provider_inventory;
struct provider_machine;

/* Observer of calls. */
struct call_watch {
	/* Called when a call has ended, before its own callback. operation: static name of the
	 * call; ms: duration, for calls about a machine without the wait in the provider's queue; e
	 * NULL: success. Not called for a call that ended before its turn in the queue came, or
	 * whose own may_act() or fits() withdrew it. NULL: no observer. */
	void (*ended)(const char *operation, int64_t ms, const struct err *e, void *arg);
	void *arg;
};

struct timed_calls {
	struct call_watch watch;
	struct loop_group *group;
	/* Calls in flight */
	struct list calls;
};
void timed_calls_init(struct timed_calls *t, struct loop_group *g, const struct call_watch *w);
/* Forgets the calls in flight about machine m; NULL: all calls in flight. */
void timed_calls_drop(struct timed_calls *t, const struct provider_machine *m);

/* operation: static name of the call. *c: the caller's copy of the call, to be changed. */
void timed_machine_call(struct timed_calls *t, const char *operation,
			const struct provider_machine *m, struct provider_call *c);
void timed_fabric_call(struct timed_calls *t, const char *operation, struct fabric_call *c);
void timed_api_path_call(struct timed_calls *t, const char *operation,
			 struct fabric_api_path_call *c);

/* These functions replace *done and *arg. */
typedef void timed_discovered(const struct provider_inventory *i, const struct err *e, void *arg);
void timed_discovery(struct timed_calls *t, timed_discovered **done, void **arg);
void timed_offers(struct timed_calls *t, elastic_offers_done **done, void **arg);
/* may_act: as in elastic_launch, with an argument of its own; NULL: none. */
void timed_instances(struct timed_calls *t, const char *operation, elastic_instances_done **done,
		     void **arg, bool (**may_act)(void *arg), void **may_act_arg);

#endif
