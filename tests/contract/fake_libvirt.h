#ifndef TESTS_CONTRACT_FAKE_LIBVIRT_H
#define TESTS_CONTRACT_FAKE_LIBVIRT_H

#include <stdbool.h>
#include <stdint.h>
#include "base/data/json.h"
#include "tests/simulated/loop_sim.h"
#include "base/map.h"
#include "tests/contract/fake_bmc.h"

/*
 * fake_libvirt: simulates drover-libvirt on the simulated loop, started as FAKE_LIBVIRT. It speaks
 * the protocol of docs/provider-protocol.md and switches fake BMCs.
 *
 * As in the real program, a domain for which a request hangs is busy. A hanging request never ends.
 */
#define FAKE_LIBVIRT "/fake/drover-libvirt"
#define FAKE_EXEC "/fake/machines" /* The same simulation as a program of type exec */
#define FAKE_LIBVIRT_URI "qemu:///system"

struct fake_libvirt {
	/* Returns the machine of a domain; NULL: no such domain. *address: address from which the
	 * machine fetches its media */
	struct fake_bmc *(*find)(const char *domain, const char **address, void *arg);
	void *arg;
	/* Called after a domain was defined or undefined (uuid NULL); may be NULL */
	void (*on_defined)(const char *domain, const char *uuid, void *arg);
	/* Time in ms until each answer; the effect happens at that time */
	int64_t ms;
	/* --- faults of the next requests ------------------------------------------------------ */
	/* True if requests for this domain hang; NULL: none hangs */
	bool (*hangs)(const char *domain, void *arg);
	/* True: nothing is answered, not even pings */
	bool deaf;
	/* True: the program ends with status 3 instead of answering */
	bool dies;
	/* True: the program ends with status 3 after the effect */
	bool dies_after;
	/* True: requests with an older fence are accepted */
	bool no_fences;
	bool garbage, huge, wrong_protocol;
	/* Each request gets 100 replies with this id in addition to its own; 0: no additional
	 * replies */
	json_int_t talks;
	/* Kind of the error in all answers; NULL: none */
	const char *error;
	/* --- results -------------------------------------------------------------------------- */
	/* Highest fence (char *, decimal) by domain */
	struct map *fences;
	/* UUID (char *) by domain that was defined */
	struct map *defined;
	unsigned starts, ends;
	/* Values in the newest hello */
	char uri[128], pool[64], media_url[256];

	struct loop *loop;
	struct loop_group *group;
	/* Used by fake_libvirt.c only */
	struct list processes;
};

void fake_libvirt_init(struct fake_libvirt *f, struct loop_group *g);
void fake_libvirt_done(struct fake_libvirt *f);

#endif
