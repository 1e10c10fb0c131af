#ifndef PROVIDERS_BCM_NODE_H
#define PROVIDERS_BCM_NODE_H

#include <stdbool.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/data/exact.h"
#include "base/err.h"

/*
 * node: what BCM says of one device and of its state, and drover's mark on it. Pure.
 *
 * Members as recorded by others against BCM 11; absent and unknown ones are normal (BCM 10 has
 * other ones).
 * Tests: tests/unit/providers/bcm/test_node.c, tests/fuzz/fuzz_bcm.c
 */
struct bcm_lock {
	/* UID of the Machine; NULL: drover holds nothing there */
	const char *machine;
	/* ... and its name, for people */
	const char *name;
	/* of the operation that took it */
	const char *token;
	int64_t fence;
	/* What the device had before, as JSON text; NULL: nothing was changed. */
	const char *category, *management_network, *image, *next_mode;
};

struct bcm_node {
	const char *uuid, *hostname, *type /* childType */, *mac, *power_control;
	/* as they refer to others: UUID or name; NULL: unset */
	const char *category, *management_network;
	const char *next_install_mode;
	/* of its BMC interface; NULL: none told */
	const char *bmc_address;
	/* of the interface that it is installed through; NULL: none */
	const char *boot_name;
	/* ... its address; NULL: unset */
	const char *boot_address;
	bool boot_dhcp, data_node;
	struct bcm_lock lock;
	/* something stands where drover's mark would, and it is none */
	bool lock_broken;
};

/* ERR_PROTOCOL where it is no device with hostname and uuid. */
int bcm_node_read(struct exact device, struct arena *a, struct bcm_node *out, struct err *e)
	__attribute__((warn_unused_result));

/* Why drover does nothing to it (ERR_DENIED): a head node, a data node, what BCM does not install,
 * or does not switch. 0: nothing of these. */
int bcm_node_fit(const struct bcm_node *n, struct err *e) __attribute__((warn_unused_result));

/* BCM's words for "unset": "", zero addresses and UUIDs, "CATEGORY" (as its category has it). */
bool bcm_is_unset(const char *text);

/* The text of the device with drover's mark in extra_values, or without it (l NULL). */
const char *bcm_with_lock(struct exact device, const struct bcm_lock *l, struct arena *a,
			  struct err *e) __attribute__((warn_unused_result));

/* How BCM's states read.  The names are those of cmsh's manual page. */
enum bcm_phase {
	/* no information: neither off nor done */
	BCM_UNKNOWN,
	/* not heard of: off, or its boot met no answer */
	BCM_DOWN,
	BCM_WAITING,
	/* somebody else's decision */
	BCM_BURNING,
	BCM_UP,
	BCM_FAILED,
};
struct bcm_state {
	enum bcm_phase phase;
	/* an operator holds it */
	bool closed;
	/* INSTALLING; what BCM wrote, where it is on no list */
	const char *name;
	/* "checking disks"; NULL: none */
	const char *text;
};
/* Of one entry of a status list.  False: it names no device. */
bool bcm_state_read(struct exact entry, struct arena *a, const char **uuid, struct bcm_state *out);

#endif
