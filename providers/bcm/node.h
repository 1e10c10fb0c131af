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
 * The member names are those that other users recorded with BCM 11. Absent and unknown members are
 * normal, because BCM 10 has different members.
 *
 * struct bcm_lock is the mark by which drover locks a node (see acquire.h).
 * Tests: tests/unit/providers/bcm/test_node.c, tests/fuzz/fuzz_bcm.c
 */
struct bcm_lock {
	/* UID of the Machine that owns the node; NULL: the node has no mark */
	const char *machine;
	/* Name of that Machine, for messages */
	const char *name;
	/* Token of the operation that set the mark */
	const char *token;
	int64_t fence;
	/* Members of the device before the first acquire, as JSON texts, which the release
	 * restores; NULL: the device did not have the member */
	const char *category, *management_network, *image, *next_mode;
};

struct bcm_node {
	const char *uuid;
	const char *hostname;
	/* BCM's childType, e.g. PhysicalNode */
	const char *type;
	const char *mac;
	const char *power_control;
	/* References to the category and the network, each a UUID or a name; NULL: unset */
	const char *category, *management_network;
	const char *next_install_mode;
	/* Address of the node's BMC interface; NULL: unknown */
	const char *bmc_address;
	/* Name of the interface that BCM installs through; NULL: none */
	const char *boot_name;
	/* Address of the interface `boot_name`; NULL: unset */
	const char *boot_address;
	bool boot_dhcp, data_node;
	struct bcm_lock lock;
	/* True: extra_values.drover, the member that stores the mark, contains something that
	 * drover did not write */
	bool lock_broken;
};

/* Parses a device into *out; its strings are in a. ERR_PROTOCOL if the object has no hostname or no
 * uuid. */
int bcm_node_read(struct exact device, struct arena *a, struct bcm_node *out, struct err *e)
	__attribute__((warn_unused_result));

/* Returns 0 if drover may manage the node. Otherwise ERR_DENIED with the reason: not a PhysicalNode
 * (e.g. a head node), a data node, or no power control. */
int bcm_node_fit(const struct bcm_node *n, struct err *e) __attribute__((warn_unused_result));

/* True if text is one of BCM's spellings of "unset": NULL, "", a zero address or UUID, or
 * "CATEGORY", which means the value of the node's category. */
bool bcm_is_unset(const char *text);

/* Returns the JSON text of the device with l as drover's mark in extra_values. l NULL: without a
 * mark. */
const char *bcm_with_lock(struct exact device, const struct bcm_lock *l, struct arena *a,
			  struct err *e) __attribute__((warn_unused_result));

/* Meaning of a node's state in BCM for an install. The state names are those of cmsh's manual
 * page. */
enum bcm_phase {
	/* The state gives no information: it proves neither that the node is off nor that its
	 * install has ended */
	BCM_UNKNOWN,
	/* No contact with the node: it is off, or its network boot got no reply */
	BCM_DOWN,
	BCM_WAITING,
	/* An operator runs a burn-in test on the node */
	BCM_BURNING,
	BCM_UP,
	BCM_FAILED,
};
struct bcm_state {
	enum bcm_phase phase;
	/* True: an operator has closed the node in BCM */
	bool closed;
	/* State name such as INSTALLING; BCM's own text if drover does not know the state */
	const char *name;
	/* Details of the state such as "checking disks"; NULL: none */
	const char *text;
};
/* Parses one entry of a status list. *uuid: UUID or hostname of the device. False: the entry names
 * no device. */
bool bcm_state_read(struct exact entry, struct arena *a, const char **uuid, struct bcm_state *out);

#endif
