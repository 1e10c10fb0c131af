#ifndef WIPE_PROBE_H
#define WIPE_PROBE_H

#include "base/data/fields.h"
#include "base/loop/loop.h"
#include "wipe/proto.h"

/*
 * probe: checks which addresses answer packets that this machine sends through its network port as
 * the port is configured now.
 *
 * An address without a port gets ICMP echo requests, three of them a second apart. An address with
 * a port gets a TCP connection, which is closed without sending anything. All addresses are probed
 * in parallel; an address that has not answered after PROBE_MS is PROTO_SILENT. An address without
 * a route, or one that a router reports as unreachable, is PROTO_SILENT too. An address that this
 * machine could not probe (no raw socket, no memory) is PROTO_NOT_ASKED.
 *
 * Silence proves something only if another address answered: on an interface that is down,
 * everything is silent.
 * Tests: tests/unit/wipe/test_probe.c
 */
#define PROBE_MS 3000

/* Probes all addresses; blocks for at most limit_ms. Sets answers[i] to the enum proto_answer of
 * addresses[i]. */
void probe_ask(const struct strings *addresses, int limit_ms, int *answers);

/* Probes the order's addresses on a worker thread. *o must be valid during the call. done() is
 * called once, never from inside probe_start(). r contains the answers for the order's report and
 * is valid until done() returns. */
struct probe;
struct probe *probe_start(struct loop_group *g, const struct proto_order *o,
			  void (*done)(struct proto_report *r, void *arg), void *arg);
/* Frees p; p NULL is allowed. If done() was not called yet, it is never called. */
void probe_free(struct probe *p);

#endif
