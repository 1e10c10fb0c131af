#ifndef SIM_HEAD_IMPL_H
#define SIM_HEAD_IMPL_H

#include "base/arena.h"
#include "base/data/exact.h"
#include "base/list.h"
#include "base/map.h"
#include "sim/head.h"

/* head_impl: what the files of a simulated head node share: head.c answers, head_node.c is the
 * nodes. */
enum head_phase {
	HEAD_DOWN,
	HEAD_BOOTING,
	HEAD_INSTALLING,
	HEAD_CALLINGINIT,
	HEAD_UP,
	HEAD_FAILED
};

struct head_fault {
	struct list link;
	char what[32], call[80], text[160];
	/* count: -1: for ever */
	int64_t count, value;
};

struct sim_head_node {
	struct sim_head *head;
	char name[64], uuid[40];
	/* before: the last write; NULL: none */
	char *text, *before;
	struct sim_head_machine ops;
	void *machine;
	bool on, closed;
	enum head_phase phase;
	/* of the install */
	unsigned step;
	char failure[160];
	struct loop_timer timer;
};

struct sim_head {
	struct loop_group *group;
	char *user, *cert_cn, version[32];
	struct secret *password;
	int64_t boot_ms, install_ms;
	/* "": nobody is logged in */
	char cookie[40];
	/* name -> struct sim_head_node, owned */
	struct map *nodes;
	/* call -> unsigned *, owned */
	struct map *counts;
	struct list faults;
	/* answers that come later */
	struct list held;
	/* the daemon is gone until it runs */
	struct loop_timer back;
	unsigned operations;
};

/* The next fault of that name at this call, which counts; NULL: none. */
struct head_fault *head_fault(struct sim_head *h, const char *what, const char *call);
/* One of its member's texts, in a; "" where it is none. */
const char *head_member(const struct sim_head_node *n, const char *member, struct arena *a);
/* as a write does */
void head_put(struct sim_head_node *n, const char *text);
void head_power(struct sim_head_node *n, const char *operation);
/* its install does, after the daemon was away */
void head_begin_again(struct sim_head_node *n);
void head_node_free(void *n);
/* {"ref_device_uuid", "status", "message"} of it. */
const char *head_status(const struct sim_head_node *n, struct arena *a);
/* What categories, software images and networks there are, as JSON lists. */
const char *head_categories(void);
const char *head_images(void);
const char *head_networks(void);

#endif
