#ifndef WIPE_PROBE_H
#define WIPE_PROBE_H

#include "base/data/fields.h"
#include "base/loop/loop.h"
#include "wipe/proto.h"

/*
 * probe: checks which addresses answer from this machine's port as it is configured now.
 *
 * An address without a port gets ICMP echo requests, three of them a second apart; one with a port
 * gets a TCP connection, which is closed without sending anything. All are probed in parallel, and
 * those that have not answered after PROBE_MS are silent. An address without a route, or that a
 * router reports as unreachable, is silent; one that could not be probed because of this machine
 * (no raw socket, no memory) is PROTO_NOT_ASKED.
 *
 * Silence proves something only beside an answer: on an interface that is down, everything is
 * silent.
 * Tests: tests/unit/wipe/test_probe.c
 */
#define PROBE_MS 3000

/* Blocking, for at most limit_ms: sets answers[i] to the enum proto_answer of addresses[i]. */
void probe_ask(const struct strings *addresses, int limit_ms, int *answers);

/* The same on a worker thread. addresses must be valid until done(), which is called once, never
 * from inside; r has the contents for the order's report and is valid until done() returns. */
struct probe;
struct probe *probe_start(struct loop_group *g, const struct proto_order *o,
			  void (*done)(struct proto_report *r, void *arg), void *arg);
/* NULL is allowed. Before done(): done() is not called. */
void probe_free(struct probe *p);

#endif
