#ifndef SIM_CLUSTER_ROUNDS_H
#define SIM_CLUSTER_ROUNDS_H

#include "base/http/http.h"
#include "base/data/json.h"
#include "base/secret.h"

/*
 * rounds: polls one API server in rounds, for the scheduler and the controllers of `drover up`.
 *
 * begin() starts a round by listing objects. The list is passed to a function, which may list and
 * write more. The next round begins one period after the last answer of this round, so that a round
 * sees the effect of every write of the previous round. If a list fails, the function for that list
 * is not called; the next round tries again.
 * Tests: tests/unit/sim/cluster/test_scheduler.c, tests/unit/sim/cluster/test_replicaset.c
 */
struct sim_rounds;
struct sim_rounds_spec {
	struct http *http;
	/* URL of the API server, and its CA as PEM; copied. */
	const char *server, *ca_pem;
	/* Bearer token; copied. */
	const struct secret *token;
	/* Time between two rounds in ms; 0 means 500. */
	int64_t period_ms;
};
struct sim_rounds *sim_rounds_new(struct loop_group *g, const struct sim_rounds_spec *s,
				  void (*begin)(void *arg), void *arg, struct err *e);
/* Cancels requests in flight and frees r. */
void sim_rounds_free(struct sim_rounds *r);

/* Returns the wall clock of the loop, Unix ms. */
int64_t sim_rounds_wall(const struct sim_rounds *r);

/* Lists the objects at path and calls then() with them; does not call then() if the list fails.
 * items: the array of the list, valid during the call. */
void sim_rounds_list(struct sim_rounds *r, const char *path,
		     void (*then)(void *arg, json_t *items));
/* One write to the API server. A PATCH is a strategic merge patch unless `merge` is true. done()
 * may be NULL; its reply is NULL if the answer is not JSON. note: copied, and passed to done();
 * NULL: none. */
struct sim_write {
	const char *method, *path;
	/* Body of the request; NULL: no body. */
	const json_t *body;
	bool merge;
	void (*done)(void *arg, int status, const json_t *reply, const char *note);
	const char *note;
};
void sim_rounds_write(struct sim_rounds *r, const struct sim_write *w);

#endif
