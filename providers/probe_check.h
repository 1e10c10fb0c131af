#ifndef PROVIDERS_PROBE_CHECK_H
#define PROVIDERS_PROBE_CHECK_H

#include <stdbool.h>
#include <stddef.h>

/*
 * probe_check: are the addresses that machines ask (docs/network.md, Packets) such that their
 * answers prove anything?
 *
 * An address proves a segment when it answers there alone. One that lies in another segment's
 * network is asked by that segment's machines as a foreign one: a neighbour of theirs that has it
 * answers, and they are taken out of use. Pure.
 * Tests: tests/unit/providers/test_probe_check.c
 */
struct probe_check_segment {
	/* for people: "quarantine", "tenant team-a" */
	const char *name;
	/* where its addresses are named */
	const char *field;
	/* what Netris calls it; NULL: it does not have it */
	const char *cluster;
	/* of spec.network.probe */
	const char *const *addresses;
	size_t naddresses;
	/* its networks, "10.20.0.1/24"; none: not known */
	const char *const *prefixes;
	size_t nprefixes;
	/* quarantine, provisioning: what answers in both stands in both lists */
	bool shared;
};

/* result: "ok", "note", "wrong"; mend: how it is mended, NULL for "ok".  Borrowed. */
typedef void probe_check_found(const char *of, const char *result, const char *says,
			       const char *mend, void *arg);
void probe_check(const struct probe_check_segment *v, size_t n, probe_check_found *found,
		 void *arg);

#endif
