#ifndef TESTS_CONTRACT_CLIENT_CLIENT_RIG_H
#define TESTS_CONTRACT_CLIENT_CLIENT_RIG_H

#include "tests/unit/testing.h"

#include <stdio.h>
#include <stdlib.h>
#include "base/data/json.h"
#include "kube/client.h"
#include "kube/reflect.h"
#include "tests/contract/client/keeper.h"

/*
 * client_rig: drover's client with a namespace of its own on a real API server (keeper.h), and
 * calls that wait for their answers.
 */
enum { ANSWER_MS = 30000 };

struct rig {
	struct keeper *keeper;
	struct loop *l;
	struct loop_group *g;
	struct http *h;
	struct kube_client *c;
	char ns[32];
	/* Watch of objects that never change */
	struct kube_reflect *quiet;
	/* resourceVersion of the first list of `quiet` */
	char quiet_rv[32];
};

/* client_setup() sets *state to a new struct rig; client_teardown() frees it. */
int client_setup(void **state);
int client_teardown(void **state);

/* Runs the loop until holds(arg) returns true. Returns false if limit_ms passes first. */
bool client_wait_for(struct rig *r, bool (*holds)(void *arg), void *arg, int64_t limit_ms);

struct answer {
	bool done, failed;
	struct err e;
	json_t *j;
};

void client_on_answer(json_t *object, const struct err *e, void *arg);
bool client_is_answered(void *arg);

/* Sends a call and waits for its answer in *a. The expression `call` must pass client_on_answer and
 * a. */
#define ASK(r, a, call)                                                                            \
	do {                                                                                       \
		json_decref((a)->j);                                                               \
		*(a) = (struct answer){0};                                                         \
		(void)(call);                                                                      \
		if (!client_wait_for(r, client_is_answered, a, ANSWER_MS))                         \
			fail_msg("no answer: %s", #call);                                          \
	} while (0)
#define assert_answered(a)                                                                         \
	do {                                                                                       \
		if ((a)->failed)                                                                   \
			fail_msg("%s", (a)->e.text);                                               \
	} while (0)
#define assert_refused(a, kind_, code_)                                                            \
	do {                                                                                       \
		assert_true((a)->failed);                                                          \
		if ((a)->e.kind != (kind_) || (a)->e.code != (code_))                              \
			fail_msg("%d %s", (a)->e.code, (a)->e.text);                               \
	} while (0)

/* Creates obj, takes ownership of it and waits for the answer in *a. */
void client_create(struct rig *r, struct answer *a, const struct kube_resource *kind, json_t *obj);

#endif
