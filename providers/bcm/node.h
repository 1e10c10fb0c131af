#ifndef PROVIDERS_BCM_NODE_H
#define PROVIDERS_BCM_NODE_H

#include <stdbool.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/data/exact.h"
#include "base/err.h"

/*
 * node: parses BCM's description of one device, its state, and drover's mark on the device. Pure
 * functions.
 *
 * Members as others recorded them with BCM 11. Absent and unknown members are normal (BCM 10 has
 * different ones).
 * Tests: tests/unit/providers/bcm/test_node.c, tests/fuzz/fuzz_bcm.c
 */
struct bcm_lock {
	/* UID of the Machine that owns the node; NULL: no mark */
	const char *machine;
	/* Name of that Machine, for messages */
	const char *name;
	/* Token of the operation that set the mark */
	const char *token;
	int64_t fence;
	/* Values of the device before the acquire, as JSON texts; NULL: the member was absent */
	const char *category, *management_network, *image, *next_mode;
};

struct bcm_node {
	const char *uuid;
	const char *hostname;
	/* BCM's childType */
	const char *type;
	const char *mac;
	const char *power_control;
	/* Reference to the category or network: UUID or name; NULL: unset */
	const char *category, *management_network;
	const char *next_install_mode;
	/* Address of the node's BMC interface; NULL: unknown */
	const char *bmc_address;
	/* Name of the interface that BCM installs through; NULL: none */
	const char *boot_name;
	/* Address of that interface; NULL: unset */
	const char *boot_address;
	bool boot_dhcp, data_node;
	struct bcm_lock lock;
	/* The place of the mark contains something that drover did not write */
	bool lock_broken;
};

/* ERR_PROTOCOL if the object is no device with hostname and uuid. */
int bcm_node_read(struct exact device, struct arena *a, struct bcm_node *out, struct err *e)
	__attribute__((warn_unused_result));

/* ERR_DENIED names why drover does not manage the node: a head node, a data node, a device that BCM
 * does not install, or without power control. 0: drover may manage it. */
int bcm_node_fit(const struct bcm_node *n, struct err *e) __attribute__((warn_unused_result));

/* True for BCM's spellings of "unset": "", zero addresses and UUIDs, and "CATEGORY" (as in its
 * category). */
bool bcm_is_unset(const char *text);

/* Returns the text of the device with drover's mark in extra_values; l NULL: without the mark. */
const char *bcm_with_lock(struct exact device, const struct bcm_lock *l, struct arena *a,
			  struct err *e) __attribute__((warn_unused_result));

/* What a state of BCM means for an install. State names as in cmsh's manual page. */
enum bcm_phase {
	/* No information: proves neither off nor done */
	BCM_UNKNOWN,
	/* No contact: off, or its network boot got no answer */
	BCM_DOWN,
	BCM_WAITING,
	/* An operator runs a burn-in test */
	BCM_BURNING,
	BCM_UP,
	BCM_FAILED,
};
struct bcm_state {
	enum bcm_phase phase;
	/* An operator has closed the node */
	bool closed;
	/* Name such as INSTALLING; BCM's own text if the state is unknown to drover */
	const char *name;
	/* Details such as "checking disks"; NULL: none */
	const char *text;
};
/* Parses one entry of a status list. False: the entry names no device. */
bool bcm_state_read(struct exact entry, struct arena *a, const char **uuid, struct bcm_state *out);

#endif
