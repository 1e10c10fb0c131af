#ifndef PROVIDERS_MANAGED_H
#define PROVIDERS_MANAGED_H

#include <stdbool.h>
#include <stddef.h>

/*
 * managed: the calls of a provider whose machines are installed by a manager (the BCM head node):
 * its inventory, and the installation of a machine. provider.h has the rules for all calls.
 *
 * An implementation fills struct provider_managed_ops and names it in its struct provider_ops. The
 * progress of an installation is reported by provider_observe() (hardware.h).
 * Tests: tests/contract/test_bcm.c
 */
struct err;
struct provider;
struct provider_call;
struct provider_machine;

/* Progress of the installation that acquire() prepared. */
enum provider_progress {
	/* not requested, or progress not known */
	PROVIDER_PROGRESS_UNKNOWN,
	/* requested, but the machine has not yet booted into the installation */
	PROVIDER_PROGRESS_UNBEGUN,
	PROVIDER_PROGRESS_WAITING,
	/* Stopped by a decision of another user of the manager (a BCM administrator). */
	PROVIDER_PROGRESS_HELD,
	PROVIDER_PROGRESS_DONE,
	PROVIDER_PROGRESS_FAILED
};

/* Installation that acquire() prepares on a machine of a manager (BCM). */
struct provider_target {
	/* Name of the category (set of node settings) at the manager */
	const char *category;
	/* Name of the software image to use; NULL: the image of the category */
	const char *image;
	/* Name of the management network; NULL: keep the present one */
	const char *network;
	/* Paths of block devices to clear, in addition to those that the disk layout clears */
	const char *const *clear;
	size_t nclear;
};

/* One machine that the manager reports in its inventory. */
struct provider_found {
	/* Name, boot MAC address, BMC address and serial number; NULL: not reported */
	const char *node, *mac, *bmc_address, *serial;
	/* Why drover cannot manage this machine; NULL: it can */
	const char *refusal;
	/* True if the operating system of the machine is in contact with the manager. */
	bool up;
};
struct provider_inventory {
	/* Version of the manager's software */
	const char *version;
	struct {
		struct provider_found *v;
		size_t n;
	} machines;
	struct {
		const char **v;
		size_t n;
	} categories, images, networks;
};

struct provider_managed_ops {
	/* Sets up the manager so that the next network boot of the machine installs the target;
	 * acquire() itself does not boot the machine. done() gets a handle for observe(). A
	 * repeated call with the same op_id returns the same handle and starts nothing. */
	void (*acquire)(struct provider *p, struct provider_machine *m,
			const struct provider_target *t, const struct provider_call *c);
	/* Undoes the changes of acquire() and removes the mark at the manager that drover owns the
	 * machine. Success if there is nothing to undo. */
	void (*release)(struct provider *p, struct provider_machine *m,
			const struct provider_call *c);
	/* Reads the inventory of the manager. done() gets the inventory, valid during the call, or
	 * NULL and an error. It is not called after close(). */
	void (*discover)(struct provider *p,
			 void (*done)(const struct provider_inventory *i, const struct err *e,
				      void *arg),
			 void *arg);
};

/* True if machines are installed by a manager. */
bool provider_is_managed(const struct provider *p);
/* A provider without a manager answers provider_acquire() and provider_release() with
 * ERR_UNSUPPORTED. */
void provider_acquire(struct provider *p, struct provider_machine *m,
		      const struct provider_target *t, const struct provider_call *c);
void provider_release(struct provider *p, struct provider_machine *m,
		      const struct provider_call *c);
/* Calls discover(). The caller must not start a second discovery before done() of the first was
 * called. False: this type has no inventory, and done() is not called. */
bool provider_discover(struct provider *p,
		       void (*done)(const struct provider_inventory *i, const struct err *e,
				    void *arg),
		       void *arg);

#endif
