#ifndef TESTS_CONTRACT_FAKE_LIBVIRT_H
#define TESTS_CONTRACT_FAKE_LIBVIRT_H

#include <stdbool.h>
#include <stdint.h>
#include "base/data/json.h"
#include "base/loop/loop_sim.h"
#include "base/map.h"
#include "tests/contract/fake_bmc.h"

/*
 * fake_libvirt: drover-libvirt for the simulated loop, found as FAKE_LIBVIRT: it speaks the
 * protocol of docs/provider-protocol.md, and what it switches are fakes of a BMC's machine.
 *
 * A domain about which a request hangs is busy, as in the real one; hanging requests never end.
 */
#define FAKE_LIBVIRT "/fake/drover-libvirt"
#define FAKE_EXEC "/fake/machines" /* the same as a program of type exec */
#define FAKE_LIBVIRT_URI "qemu:///system"

struct fake_libvirt {
	/* The machine of a domain; NULL: there is none. address: that its media are fetched
	 * from. */
	struct fake_bmc *(*find)(const char *domain, const char **address, void *arg);
	void *arg;
	/* A domain was defined, or undefined (uuid NULL); may be NULL. */
	void (*on_defined)(const char *domain, const char *uuid, void *arg);
	/* each answer takes so long; the effect comes with it */
	int64_t ms;
	/* misdeeds, for the requests that follow */
	/* NULL: none */
	bool (*hangs)(const char *domain, void *arg);
	/* answers nothing at all, pings neither */
	bool deaf;
	/* ends with status 3 instead of answering */
	bool dies;
	/* ... after the effect */
	bool dies_after;
	/* takes what an older leader asks for */
	bool no_fences;
	bool garbage, huge, wrong_protocol;
	/* id of 100 additional answers to each request; 0: none */
	json_int_t talks;
	/* kind of the error that it answers with */
	const char *error;
	/* what happened */
	/* of domain: char *, decimal */
	struct map *fences;
	/* domain -> char *, its uuid */
	struct map *defined;
	unsigned starts, ends;
	/* of the newest hello */
	char uri[128], pool[64], media_url[256];

	struct loop *loop;
	struct loop_group *group;
	/* of fake_libvirt.c */
	struct list processes;
};

void fake_libvirt_init(struct fake_libvirt *f, struct loop_group *g);
void fake_libvirt_done(struct fake_libvirt *f);

#endif
