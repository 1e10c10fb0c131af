#ifndef TESTS_CONTRACT_FAKE_LIBVIRT_H
#define TESTS_CONTRACT_FAKE_LIBVIRT_H

#include <stdbool.h>
#include <stdint.h>
#include "base/data/json.h"
#include "base/loop/loop_sim.h"
#include "base/map.h"
#include "tests/contract/fake_bmc.h"

/*
 * fake_libvirt: drover-libvirt for the simulated loop, started as FAKE_LIBVIRT. Speaks the protocol
 * of docs/provider-protocol.md and switches fake BMCs.
 *
 * A domain for which a request hangs is busy, as with the real program; hanging requests never end.
 */
#define FAKE_LIBVIRT "/fake/drover-libvirt"
#define FAKE_EXEC "/fake/machines" /* The same fake as a program of type exec. */
#define FAKE_LIBVIRT_URI "qemu:///system"

struct fake_libvirt {
	/* Returns the machine of a domain; NULL: no such domain. address: from which its media are
	 * fetched. */
	struct fake_bmc *(*find)(const char *domain, const char **address, void *arg);
	void *arg;
	/* Called after a domain was defined, or undefined (uuid NULL); may be NULL. */
	void (*on_defined)(const char *domain, const char *uuid, void *arg);
	/* Time until each answer; the effect happens at that time. */
	int64_t ms;
	/* --- faults, for the requests that follow --------------------------------------------- */
	/* NULL: never. */
	bool (*hangs)(const char *domain, void *arg);
	/* Answers nothing, not even pings. */
	bool deaf;
	/* Ends with status 3 instead of answering. */
	bool dies;
	/* Ends with status 3 after the effect. */
	bool dies_after;
	/* Accepts requests with an older fence. */
	bool no_fences;
	bool garbage, huge, wrong_protocol;
	/* ID of 100 additional answers to each request; 0 means none. */
	json_int_t talks;
	/* Error kind of all answers. */
	const char *error;
	/* --- results -------------------------------------------------------------------------- */
	/* Domain -> highest fence (char *, decimal). */
	struct map *fences;
	/* Domain -> uuid (char *). */
	struct map *defined;
	unsigned starts, ends;
	/* From the newest hello. */
	char uri[128], pool[64], media_url[256];

	struct loop *loop;
	struct loop_group *group;
	/* Private to fake_libvirt.c. */
	struct list processes;
};

void fake_libvirt_init(struct fake_libvirt *f, struct loop_group *g);
void fake_libvirt_done(struct fake_libvirt *f);

#endif
