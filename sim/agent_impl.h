#ifndef SIM_AGENT_IMPL_H
#define SIM_AGENT_IMPL_H

#include "base/list.h"
#include "base/map.h"
#include "sim/agent.h"
#include "sim/rack.h"
#include "wipe/proto.h"

/*
 * agent_impl: the agent's files among themselves: agent.c talks to drover, agent_wipe.c looks,
 * wipes and verifies, agent_write.c writes, agent_probe.c asks addresses. An order is begun by
 * agent_begin_*() and ends with agent_finish() or agent_fail(), once, at the same moment or later.
 */

/* One drive that was wiped in this boot. */
struct agent_unit {
	/* NULL: expected and not there */
	struct drive *drive;
	struct evidence_device device;
	/* what device.raw_status points to, once there is one */
	int64_t status;
	bool verified;
	int64_t sampled;
};

/* an image on its way */
struct agent_write;

struct sim_agent {
	struct loop_group *group;
	struct sim_machine *machine;
	/* of the boot */
	struct arena *arena;
	struct proto_boot boot;
	struct crypto_key *key;
	char public_key[CRYPTO_PUBLIC_TEXT], who[320];
	struct proto_dmi dmi;

	struct http_peer *peer;
	struct http_req *session_req, *report_req;
	struct loop_timer session_timer, report_timer, off_timer;
	bool welcome, silent;
	/* 0: not */
	int64_t refused_since;
	int64_t after, fence;

	struct arena *order_arena, *next_arena;
	/* running, waiting */
	struct proto_order *order, *next;
	/* order id -> report text */
	struct map *results;
	struct list outbox;
	/* what report_req carries; NULL: a word on progress */
	char *sending;

	/* the order under way */
	struct loop_timer step_timer;
	void (*step)(struct sim_agent *a);
	const char *phase;
	int64_t done_bytes, total_bytes, bytes_per_s;
	int64_t stepped_at;
	/* a drive is to be pulled out amid it */
	bool pull;
	struct agent_write *write;

	/* what was wiped in this boot */
	struct agent_unit units[2 * MACHINE_DRIVES];
	size_t nunits;
	struct arena *wiped_arena;
	struct strings missing, extra;
	int64_t expected, started;
	const char *nonce;
};

void agent_finish(struct sim_agent *a, struct proto_report *r);
void agent_fail(struct sim_agent *a, const char *reason, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* step() after so long. */
void agent_step(struct sim_agent *a, int64_t ms, void (*step)(struct sim_agent *a));

void agent_begin_inspect(struct sim_agent *a);
void agent_begin_wipe(struct sim_agent *a);
void agent_begin_verify(struct sim_agent *a);
void agent_begin_write(struct sim_agent *a);
void agent_begin_probe(struct sim_agent *a);
void agent_write_free(struct agent_write *w);

/* A drive that answers, by its WWN; NULL: none. */
struct drive *agent_drive(struct sim_agent *a, const char *wwn);

#endif
