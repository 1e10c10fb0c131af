#ifndef TESTS_UNIT_WIPE_ERASING_H
#define TESTS_UNIT_WIPE_ERASING_H

#include "tests/unit/wipe/machine.h"
#include "wipe/drives.h"
#include "wipe/erase.h"

/*
 * erasing: one NVMe drive of a machine (machine.h) and its erase.  The drive answers the commands
 * of NVMe as it is told; its setup asserts that none is sent which no erase may send.
 */
#define ERASING_BYTES (8 << 20)
#define ERASING_NAME "nvme0n1"

extern struct erasing {
	struct machine machine;
	/* A drive that answers as it is told. */
	struct erasing_drive {
		/* what it says that it can do */
		bool format, crypto;
		/* of Format; -1: errno EIO */
		int status;
		/* reports success and leaves everything */
		bool lies;
		/* leaves noise instead of zeros */
		bool noise;
		/* leaves the middle as it was */
		bool keeps_middle;
		/* leaves the last block as it was */
		bool keeps_end;
		/* after Format the flaky drive has no bad place any more */
		bool mends;
		/* FPI of Identify Namespace; NULL: 0 */
		uint8_t (*formatting)(void);
		/* while Format runs */
		void (*format_hook)(void);
		unsigned formats, last_ses, last_lbaf;
		/* has a volatile write cache */
		bool cache;
		unsigned cache_offs;
		uint32_t sanicap;
		int sanitize_status;
		/* active ones */
		bool two_namespaces;
		/* can manage namespaces; one is attached to nobody */
		bool managed, detached;
		/* Format hits all; it may not name them all */
		bool format_all, no_broadcast;
		/* Identify with this CNS fails; 0: none */
		uint32_t deaf;
		/* of Format */
		uint32_t last_nsid;
		/* SPROG, SSTAT of each poll; the last one stays */
		const uint16_t (*trail)[2];
		/* of the first Sanitize, the next; NULL: of each trail */
		const uint16_t (*const *trails)[2];
		unsigned sanitizes, first_action, last_action, polls;
		/* the trail's first */
		bool stays;
		/* Exit Failure Mode */
		unsigned exits;
		int exit_status;
		/* the earlier one was sent without AUSE */
		bool earlier_restricted;
		/* the same of one that runs already; NULL: none */
		const uint16_t (*earlier)[2];
		unsigned waits;
	} drive;
	struct erase erase;
	struct proto_drive info;
	struct secret *nonce;
} erasing;

/* That one alone. */
int erasing_run(struct erase *x, struct err *e) __attribute__((warn_unused_result));
int erasing_setup(void **state);
int erasing_teardown(void **state);
/* Every byte of it, as far as the drive does what it says. */
void erasing_fill(uint8_t byte);

#endif
