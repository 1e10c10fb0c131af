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
		bool format, crypto; /* what it says that it can do */
		int status;	     /* of Format; -1: errno EIO */
		bool lies;	     /* reports success and leaves everything */
		bool noise;	     /* leaves noise instead of zeros */
		bool keeps_middle;   /* leaves the middle as it was */
		bool keeps_end;	     /* leaves the last block as it was */
		bool mends;	     /* after Format the flaky drive has no bad place any more */
		uint8_t (*formatting)(void); /* FPI of Identify Namespace; NULL: 0 */
		void (*format_hook)(void);   /* while Format runs */
		unsigned formats, last_ses, last_lbaf;
		bool cache; /* has a volatile write cache */
		unsigned cache_offs;
		uint32_t sanicap;
		int sanitize_status;
		bool two_namespaces;	/* active ones */
		bool managed, detached; /* can manage namespaces; one is attached to nobody */
		bool format_all, no_broadcast; /* Format hits all; it may not name them all */
		uint32_t deaf;		       /* Identify with this CNS fails; 0: none */
		uint32_t last_nsid;	       /* of Format */
		const uint16_t (*trail)[2];    /* SPROG, SSTAT of each poll; the last one stays */
		const uint16_t (*const *trails)
			[2]; /* of the first Sanitize, the next; NULL: of each trail */
		unsigned sanitizes, first_action, last_action, polls;
		bool stays;	/* the trail's first */
		unsigned exits; /* Exit Failure Mode */
		int exit_status;
		bool earlier_restricted;      /* the earlier one was sent without AUSE */
		const uint16_t (*earlier)[2]; /* the same of one that runs already; NULL: none */
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
