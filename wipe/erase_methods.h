#ifndef WIPE_ERASE_METHODS_H
#define WIPE_ERASE_METHODS_H

#include "wipe/ata_erase.h"
#include "wipe/dio.h"
#include "wipe/erase.h"
#include "wipe/nvme.h"
#include "wipe/sanitize.h"
#include "wipe/scsi_erase.h"
#include "wipe/verify.h"

/*
 * erase_methods: the erase methods that a drive may have, strongest first, and how each
 * is started. erase.c tries them in order.
 *
 * Blocking: only from loop_work().
 * Tests: tests/unit/wipe/test_erase.c, tests/unit/wipe/test_erase_nvme.c,
 * tests/unit/wipe/test_erase_ata.c, tests/unit/wipe/test_erase_scsi.c,
 * tests/unit/wipe/test_subsystem.c
 */
#define ERASE_METHODS_PIECE (ERASE_PIECE_KIB << 10)
/* Time limit of a flush in ms, for a large cache on a slow medium. */
#define ERASE_METHODS_FLUSH_MS (10 * 60 * 1000)

/* State of one attempt to wipe a drive with its erase methods. */
struct pass {
	struct erase *x;
	struct dio dio;
	/* Ring with a shared buffer of zeros, for overwriting. */
	struct ring *zeros;
	/* True: the pass uses the rings of another pass and must not free them. */
	bool borrows;
	/* Page of 4096 bytes for replies of the drive. */
	uint8_t *identify;
	struct verify verify;
	/* Error of the first block that could not be read. */
	struct err unreadable;
	/* All false if the drive is not NVMe. */
	struct nvme_abilities nvme;
	/* All false if the drive is not ATA. */
	struct ata_abilities ata;
	/* All false if the drive is not SCSI. */
	struct scsi_abilities scsi;
	/* Sanitize actions that the drive supports: bits SANITIZES_... (sanitize.h). */
	unsigned sanitizes;
	const struct sanitize_ops *how;
	/* True: the pass failed before its first erase method; no method is tried. */
	bool lost;
	/* True: the method in use must not be replaced by a weaker one. */
	bool final;
	/* True: a Sanitize failed, and the drive accepts no I/O. */
	bool broken;
	/* Entry of device.raw_status for the drive's result of the current method. */
	int64_t *status;
	/* Number of sampled blocks that are dirty after the current method: their contents are not
	 * what the method leaves (verify_sample()). */
	int64_t dirty;
};

struct erase_method {
	/* Name of the method, which determines the level: evidence_highest_level(). */
	const char *technique;
	enum verify_accept accept;
	/* True: the method affects everything that the drive holds, that is, each namespace of an
	 * NVMe subsystem. */
	bool subsystem;
	bool (*applies)(const struct pass *p);
	int (*run)(struct pass *p, struct err *e);
};
extern const struct erase_method erase_methods[ERASE_METHODS];

/* Returns the time limit in ms for a method that reports no progress. */
int64_t erase_methods_patience_ms(const struct host *h);
/* Sets the current phase, its size in bytes, and the longest time without progress in ms;
 * patience_ms 0 means the limit of I/O (erase_methods_patience_ms()). */
void erase_methods_phase(struct erase *x, const char *phase, int64_t total, int64_t patience_ms);

/* Reads the drive's erase abilities into the pass. -1: the drive is NVMe and does not report its
 * namespaces. */
int erase_methods_abilities(struct pass *p, struct err *e) __attribute__((warn_unused_result));
/* Waits for a Sanitize that an earlier boot's agent began. If that Sanitize failed, makes the drive
 * recover. -1: the Sanitize does not end. */
int erase_methods_await_sanitize(struct pass *p, struct err *e) __attribute__((warn_unused_result));
/* Makes the drive accept commands again after a failed Sanitize. False: the drive still refuses
 * them. */
bool erase_methods_recover(struct pass *p);
/* Formats a drive that accepts no canaries, and records the results in device.raw_status. -1: no
 * Format completed. */
int erase_methods_mend(struct pass *p) __attribute__((warn_unused_result));
/* Records in the evidence that the method `technique` begins: adds an entry to device.raw_status,
 * which is success until a failure is recorded. */
void erase_methods_note(struct pass *p, const char *technique);

#endif
