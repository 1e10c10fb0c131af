#ifndef SIM_COMMON_REPLY_H
#define SIM_COMMON_REPLY_H

#include <stdint.h>
#include "base/httpd/httpd.h"
#include "base/list.h"

/*
 * reply: replies of a simulator that come late, never, or break off. If the client of a delayed
 * request disconnects first, the request is dropped.
 * Tests: tests/unit/sim/common/test_reply.c
 */
#define SIM_DELAY_NEVER INT64_MAX

/* The delayed requests of one simulator. */
struct sim_delays {
	struct loop_group *group;
	struct list v;
};
void sim_delays_init(struct sim_delays *d, struct loop_group *g);
/* Drops the delayed requests, which are never answered then. */
void sim_delays_done(struct sim_delays *d);

/* Calls fn(q, arg) after ms; SIM_DELAY_NEVER: not at all. */
void sim_delay(struct sim_delays *d, struct httpd_req *q, int64_t ms,
	       void (*fn)(struct httpd_req *q, void *arg), void *arg);
/* Replies after ms; SIM_DELAY_NEVER: not at all. type: Content-Type, a static text. text is
 * copied. */
void sim_delay_reply(struct sim_delays *d, struct httpd_req *q, int64_t ms, int status,
		     const char *type, const char *text);

/* Replies with the status, and breaks the connection off before the first byte of the body. */
void sim_reply_lost(struct httpd_req *q, int status, const char *type);

#endif
