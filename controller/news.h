#ifndef CONTROLLER_NEWS_H
#define CONTROLLER_NEWS_H

#include "controller/controller.h"
#include "controller/line.h"
#include "planner/plan.h"

/*
 * news: each pod that waits is told by an event what will happen for it, or why nothing does, and the log says
 * the same once.  The same news of a pod is an event again after five minutes.
 * Tests: tests/unit/controller/test_scheduler.c, tests/world/test_line.c
 */
struct news;
struct news *news_new(struct controller *c);
void news_free(struct news *w);

/* What holds up a claim that a plan wants. */
struct news_hold {
	bool line;	  /* stop: the pool, image, rack or provider fails too often (line.h) */
	bool backing_off; /* its tenant's claims of this pool failed, so many in a row: */
	unsigned failures;
	struct line_stop stop; /* line */
	int64_t until;	       /* wall ms; 0: unknown */
};

/* One plan, with a hold for each of its claims.  Returns after how many ms there is more to tell if nothing
 * changes; 0: never. */
int64_t news_of_plan(struct news *w, const struct plan *plan, const struct news_hold *held);

/* The pod has gone, or has its place. */
void news_forget(struct news *w, const char *tenant, const char *ns, const char *pod);

#endif
