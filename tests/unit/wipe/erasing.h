#ifndef TESTS_UNIT_WIPE_ERASING_H
#define TESTS_UNIT_WIPE_ERASING_H

#include "tests/unit/wipe/machine.h"
#include "wipe/drives.h"
#include "wipe/erase.h"

/*
 * erasing: one NVMe drive of a machine (machine.h) and its erase. The drive answers NVMe commands
 * as the test sets it; it asserts that no command is sent that an erase must never send.
 */
#define ERASING_BYTES (8 << 20)
#define ERASING_NAME "nvme0n1"

extern struct erasing {
	struct machine machine;
	/* How the drive answers. */
	struct erasing_drive {
		/* The abilities that the drive reports. */
		bool format, crypto;
		/* Result of Format; -1: errno EIO. */
		int status;
		/* Reports success and changes nothing. */
		bool lies;
		/* Leaves noise instead of zeros. */
		bool noise;
		/* Leaves the middle unchanged. */
		bool keeps_middle;
		/* Leaves the last block unchanged. */
		bool keeps_end;
		/* A Format clears flaky.bad_at. */
		bool mends;
		/* Returns the FPI of Identify Namespace; NULL: 0. */
		uint8_t (*formatting)(void);
		/* Called while a Format runs; NULL: nothing. */
		void (*format_hook)(void);
		unsigned formats, last_ses, last_lbaf;
		/* Has a volatile write cache. */
		bool cache;
		unsigned cache_offs;
		uint32_t sanicap;
		int sanitize_status;
		/* Lists a second active namespace. */
		bool two_namespaces;
		/* managed: supports namespace management. detached: one allocated namespace is not
		 * attached. */
		bool managed, detached;
		/* format_all: Format applies to all namespaces. no_broadcast: Format does not
		 * accept FFFFFFFFh. */
		bool format_all, no_broadcast;
		/* Identify with this CNS fails; 0: none. */
		uint32_t deaf;
		/* Namespace of the last Format. */
		uint32_t last_nsid;
		/* SPROG and SSTAT of each poll; the last one repeats. */
		const uint16_t (*trail)[2];
		/* Trails of the first Sanitize, the second and so on; NULL: `trail` for each. */
		const uint16_t (*const *trails)[2];
		unsigned sanitizes, first_action, last_action, polls;
		/* The first entry of the trail repeats. */
		bool stays;
		/* Number of Exit Failure Mode commands. */
		unsigned exits;
		int exit_status;
		/* The earlier Sanitize was sent without AUSE. */
		bool earlier_restricted;
		/* Trail of a Sanitize that already runs; NULL: none. */
		const uint16_t (*earlier)[2];
		unsigned waits;
	} drive;
	struct erase erase;
	struct proto_drive info;
	struct secret *nonce;
} erasing;

/* Wipes the drive of this erase alone. */
int erasing_run(struct erase *x, struct err *e) __attribute__((warn_unused_result));
int erasing_setup(void **state);
int erasing_teardown(void **state);
/* Fills the drive with the byte, as far as erasing.drive permits. */
void erasing_fill(uint8_t byte);

#endif
