#ifndef PROVIDERS_PROBE_CHECK_H
#define PROVIDERS_PROBE_CHECK_H

#include <stdbool.h>
#include <stddef.h>

/*
 * probe_check: checks whether the probe addresses of segments (docs/network.md, Packets) can prove
 * in which segment a machine is.
 *
 * An address proves a segment if it answers only there. Machines of other segments probe it as
 * well, and a machine that gets an answer is quarantined. An address inside the network of another
 * segment is therefore wrong: any machine there could answer from it. Pure.
 * Tests: tests/unit/providers/test_probe_check.c
 */
struct probe_check_segment {
	/* Human-readable: "quarantine", "tenant team-a". */
	const char *name;
	/* Name of the field that contains the addresses. */
	const char *field;
	/* Name of the server cluster in Netris; NULL: the network is not Netris. */
	const char *cluster;
	/* From spec.network.probe. */
	const char *const *addresses;
	size_t naddresses;
	/* Networks of the segment, such as "10.20.0.1/24"; nprefixes 0: unknown. */
	const char *const *prefixes;
	size_t nprefixes;
	/* True for quarantine and provisioning: an address may be in the lists of both. */
	bool shared;
};

/* result: "ok", "note" or "wrong". mend: remedy; NULL for "ok". All strings are borrowed. */
typedef void probe_check_found(const char *of, const char *result, const char *says,
			       const char *mend, void *arg);
void probe_check(const struct probe_check_segment *v, size_t n, probe_check_found *found,
		 void *arg);

#endif
