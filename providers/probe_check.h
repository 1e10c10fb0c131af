#ifndef PROVIDERS_PROBE_CHECK_H
#define PROVIDERS_PROBE_CHECK_H

#include <stdbool.h>
#include <stddef.h>

/*
 * probe_check: checks whether the probe addresses of segments (docs/network.md, Packets) can prove
 * in which segment a machine is.
 *
 * A probe address proves a segment if it answers only in that segment. Machines of other segments
 * probe the address as well, and such a machine is quarantined if it gets an answer. So an address
 * inside the network of another segment is wrong: any machine there could answer from it. Pure.
 * Tests: tests/unit/providers/test_probe_check.c
 */
struct probe_check_segment {
	/* Human-readable name of the segment, such as "quarantine" or "tenant team-a" */
	const char *name;
	/* Name of the API field that contains the addresses, for messages */
	const char *field;
	/* Name of the segment's server cluster in Netris; NULL: the fabric is not Netris */
	const char *cluster;
	/* Probe addresses, from spec.network.probe */
	const char *const *addresses;
	size_t naddresses;
	/* IP networks of the segment, such as "10.20.0.1/24"; nprefixes 0: unknown */
	const char *const *prefixes;
	size_t nprefixes;
	/* True for the quarantine and provisioning segments, which may both have the same
	 * address */
	bool shared;
};

/* Callback with one finding. of: subject; result: "ok", "note" or "wrong"; says: message; mend:
 * remedy, NULL for "ok". All strings are borrowed. */
typedef void probe_check_found(const char *of, const char *result, const char *says,
			       const char *mend, void *arg);
void probe_check(const struct probe_check_segment *v, size_t n, probe_check_found *found,
		 void *arg);

#endif
