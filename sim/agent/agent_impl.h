#ifndef SIM_AGENT_AGENT_IMPL_H
#define SIM_AGENT_AGENT_IMPL_H

#include "base/list.h"
#include "base/map.h"
#include "sim/agent/agent.h"
#include "wipe/proto.h"

/*
 * agent_impl: shared by the agent's files. agent.c talks to drover and begins orders; wipe.c
 * inspects, wipes and verifies; write.c writes; probe.c probes addresses;
 * order.c has what these three share. Each agent_begin_*() function
 * begins the order a->order, and then ends it by one call of agent_finish() or agent_fail(), at
 * once or later.
 */

/* State of one drive that was wiped in this boot. */
struct agent_unit {
	/* The drive; NULL: the order expected a drive that was not found. */
	struct drive *drive;
	struct evidence_device device;
	/* Value to which device.raw_status points once device.raw_status is set. */
	int64_t status;
	bool verified;
	int64_t sampled;
};

/* State of an image that is being written (write.c). */
struct agent_write;

struct sim_agent {
	struct loop_group *group;
	struct sim_machine *machine;
	/* Memory that lives as long as the boot. */
	struct arena *arena;
	struct proto_boot boot;
	struct crypto_key *key;
	char public_key[CRYPTO_PUBLIC_TEXT], who[320];
	struct proto_dmi dmi;
	/* Version and protocol that the agent reports in its hello. */
	const char *version;
	int64_t protocol;

	struct http_peer *peer;
	struct http_req *session_req, *report_req;
	struct loop_timer session_timer, report_timer, off_timer;
	bool welcome, silent;
	/* Monotonic ms of the first refusal (401 or 403) since the last accepted request; 0: the
	 * last request was not refused. */
	int64_t refused_since;
	int64_t after, fence;

	struct arena *order_arena, *next_arena;
	/* order: the order in progress. next: the order that starts when `order` ends. NULL: no
	 * order. */
	struct proto_order *order, *next;
	/* Map from order id to report text, for repeated orders. */
	struct map *results;
	/* Results (struct agent_letter) that drover has not accepted yet. */
	struct list outbox;
	/* Text of the result that report_req carries; NULL: report_req carries a progress
	 * report. */
	char *sending;

	/* Members from here to `write`: state of the order in progress. */
	struct loop_timer step_timer;
	void (*step)(struct sim_agent *a);
	const char *phase;
	int64_t done_bytes, total_bytes, bytes_per_s;
	int64_t stepped_at;
	/* True: a fault pulls a drive during this order. */
	bool pull;
	struct agent_write *write;
	/* Frees `write`. */
	void (*write_free)(struct agent_write *w);

	/* Drives that were wiped in this boot. */
	struct agent_unit units[2 * MACHINE_DRIVES];
	size_t nunits;
	struct arena *wiped_arena;
	struct strings missing, extra;
	int64_t expected, started;
	const char *nonce;
};

/* Text of a result that drover has not accepted yet. */
struct agent_letter {
	struct list link;
	char *text;
};

/* Queues a result for drover. */
void agent_post(struct sim_agent *a, const char *text);
void agent_finish(struct sim_agent *a, struct proto_report *r);
void agent_fail(struct sim_agent *a, const char *reason, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Calls step() after ms milliseconds. */
void agent_step(struct sim_agent *a, int64_t ms, void (*step)(struct sim_agent *a));

void agent_begin_inspect(struct sim_agent *a);
void agent_begin_wipe(struct sim_agent *a);
void agent_begin_verify(struct sim_agent *a);
void agent_begin_write(struct sim_agent *a);
void agent_begin_probe(struct sim_agent *a);

/* Returns the drive with this WWN; NULL: it does not exist or was pulled. */
struct drive *agent_drive(struct sim_agent *a, const char *wwn);

#endif
