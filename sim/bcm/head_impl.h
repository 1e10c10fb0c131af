#ifndef SIM_BCM_HEAD_IMPL_H
#define SIM_BCM_HEAD_IMPL_H

#include "base/arena.h"
#include "base/data/exact.h"
#include "base/list.h"
#include "base/map.h"
#include "sim/bcm/head.h"
#include "sim/common/fault.h"
#include "sim/common/reply.h"

/* head_impl: shared by the files of the simulated head node: head.c handles requests, node.c
 * implements the nodes. */
enum head_phase {
	HEAD_DOWN,
	HEAD_BOOTING,
	HEAD_INSTALLING,
	HEAD_CALLINGINIT,
	HEAD_UP,
	HEAD_FAILED
};

struct sim_head_node {
	struct sim_head *head;
	char name[64], uuid[40];
	/* text: the device as stored. before: the device before its last write; NULL: never
	 * written. */
	char *text, *before;
	struct sim_head_machine ops;
	void *machine;
	bool on, closed;
	enum head_phase phase;
	/* Step of the install in progress. */
	unsigned step;
	char failure[160];
	struct loop_timer timer;
};

struct sim_head {
	struct loop_group *group;
	char *user, *cert_cn, version[32];
	struct secret *password;
	int64_t boot_ms, install_ms;
	/* Cookie of the present login; "": none. */
	char cookie[40];
	/* Map from name to struct sim_head_node, which the map owns. */
	struct map *nodes;
	/* Map from call to the number of its requests (unsigned *), which the map owns. */
	struct map *counts;
	/* List of struct fault; `on` is the call. */
	struct list faults;
	/* Requests whose answer is delayed. */
	struct sim_delays delays;
	/* The daemon is down while this timer runs. */
	struct loop_timer back;
	unsigned operations;
};

/* Returns the oldest fault of the kind `what` that applies to the call, and counts it down; NULL:
 * none. */
struct fault *head_fault(struct sim_head *h, const char *what, const char *call);
/* Returns a string member of the node's device, in arena a; "": the device has no such member. */
const char *head_member(const struct sim_head_node *n, const char *member, struct arena *a);
/* Replaces the node's device by this text, as a write does. */
void head_put(struct sim_head_node *n, const char *text);
void head_power(struct sim_head_node *n, const char *operation);
/* Begins the node's boot or install from the start, after the daemon was down. */
void head_begin_again(struct sim_head_node *n);
void head_node_free(void *n);
/* Returns the JSON object {"ref_device_uuid", "status", "message"} of the node, in arena a. */
const char *head_status(const struct sim_head_node *n, struct arena *a);
/* head_categories(), head_images() and head_networks() return all categories, software images and
 * networks, as JSON lists. */
const char *head_categories(void);
const char *head_images(void);
const char *head_networks(void);

#endif
