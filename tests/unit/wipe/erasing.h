#ifndef TESTS_UNIT_WIPE_ERASING_H
#define TESTS_UNIT_WIPE_ERASING_H

#include "tests/unit/wipe/machine.h"
#include "wipe/drives.h"
#include "wipe/erase.h"

/*
 * erasing: one simulated NVMe drive of a machine (machine.h) and its erase. The drive answers NVMe
 * commands as the test sets it. It asserts that no command is sent that an erase must never send.
 */
#define ERASING_BYTES (8 << 20)
#define ERASING_NAME "nvme0n1"

extern struct erasing {
	struct machine machine;
	/* Answers of the drive, set by the test, and counts of received commands */
	struct erasing_drive {
		/* The drive reports that it supports Format (format), and Format with cryptographic
		 * erase (crypto) */
		bool format, crypto;
		/* Status of a Format; -1: the command fails with errno EIO */
		int status;
		/* True: the drive reports success of an erase and changes nothing */
		bool lies;
		/* True: an erase leaves noise instead of zeros */
		bool noise;
		/* True: an erase leaves the middle of the drive unchanged */
		bool keeps_middle;
		/* True: an erase leaves the last block unchanged */
		bool keeps_end;
		/* True: a Format ends the fault at flaky.bad_at */
		bool mends;
		/* Returns the FPI member (format progress) of Identify Namespace; NULL: 0 */
		uint8_t (*formatting)(void);
		/* Called while a Format runs; NULL: no call */
		void (*format_hook)(void);
		unsigned formats, last_ses, last_lbaf;
		/* True: the drive has a volatile write cache */
		bool cache;
		unsigned cache_offs;
		uint32_t sanicap;
		int sanitize_status;
		/* True: the drive lists a second active namespace */
		bool two_namespaces;
		/* managed: the drive supports namespace management. detached: one allocated
		 * namespace is not attached */
		bool managed, detached;
		/* format_all: a Format affects all namespaces. no_broadcast: Format refuses
		 * namespace FFFFFFFFh */
		bool format_all, no_broadcast;
		/* CNS (page number) for which Identify fails; 0: none */
		uint32_t deaf;
		/* Namespace ID of the last Format */
		uint32_t last_nsid;
		/* SPROG and SSTAT (progress and state of a Sanitize) at each poll; the last entry
		 * repeats */
		const uint16_t (*trail)[2];
		/* Lists like `trail` for the first Sanitize, the second and so on; NULL: `trail`
		 * for each Sanitize */
		const uint16_t (*const *trails)[2];
		unsigned sanitizes, first_action, last_action, polls;
		/* True: the first entry of the trail repeats */
		bool stays;
		/* Number of Exit Failure Mode commands received */
		unsigned exits;
		int exit_status;
		/* True: the earlier Sanitize was sent without AUSE (permission to leave the failure
		 * mode) */
		bool earlier_restricted;
		/* SPROG and SSTAT of a Sanitize that already runs at the start; NULL: none */
		const uint16_t (*earlier)[2];
		unsigned waits;
	} drive;
	struct erase erase;
	struct proto_drive info;
	struct secret *nonce;
} erasing;

/* Wipes the drive of x and no other. Returns 0 or -1 with *e set. */
int erasing_run(struct erase *x, struct err *e) __attribute__((warn_unused_result));
int erasing_setup(void **state);
int erasing_teardown(void **state);
/* Fills the drive with the byte, except for the parts that erasing.drive is set to leave
 * unchanged. */
void erasing_fill(uint8_t byte);

#endif
