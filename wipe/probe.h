#ifndef WIPE_PROBE_H
#define WIPE_PROBE_H

#include "base/data/fields.h"
#include "base/loop/loop.h"
#include "wipe/proto.h"

/*
 * probe: which addresses answer from this machine, by what its port lets through now.
 *
 * An address alone is asked by ICMP echo, three times a second apart; one with a port by a TCP
 * connection, which sends nothing and is closed again. All are asked at once, and PROBE_MS later
 * what has not answered is silent. An address that no route leads to, or that a router says cannot
 * be reached, is silent; one that could not be asked for a reason of this machine's (no raw socket,
 * no memory) is PROTO_NOT_ASKED.
 *
 * Silence is worth something only beside an answer: of an interface that is down, everything is
 * silent.
 * Tests: tests/unit/wipe/test_probe.c
 */
#define PROBE_MS 3000

/* Blocking, for at most limit_ms: answers[i] becomes the enum proto_answer of addresses[i]. */
void probe_ask(const struct strings *addresses, int limit_ms, int *answers);

/* The same on a worker thread. addresses must last until done(), which is called once, never from
 * inside; r holds what the order's report has to say, and lives until done() returns. */
struct probe;
struct probe *probe_start(struct loop_group *g, const struct proto_order *o,
			  void (*done)(struct proto_report *r, void *arg), void *arg);
/* NULL, or before done(): it is not called */
void probe_free(struct probe *p);

#endif
