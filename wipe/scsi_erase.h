#ifndef WIPE_SCSI_ERASE_H
#define WIPE_SCSI_ERASE_H

#include "wipe/host.h"
#include "wipe/sanitize.h"

/*
 * scsi_erase: what a SCSI drive can erase by itself (SBC-4): SANITIZE 48h, FORMAT UNIT 04h, WRITE
 * SAME(16) 93h.
 *
 * A command is sent only to a drive that says by REPORT SUPPORTED OPERATION CODES that it knows it:
 * volumes of RAID controllers and bridges mostly do not. How far it is REQUEST SENSE tells; that it
 * went well, TEST UNIT READY.
 *
 * Blocking: only from loop_work().
 * Tests: tests/unit/wipe/test_erase_scsi.c
 */
struct scsi_abilities {
	/* SANITIZES_... */
	unsigned sanitizes;
	/* FORMAT UNIT, of a drive without protection information: its format stays */
	bool format;
	/* blocks at most of one WRITE SAME; 0: there is none */
	uint32_t same;
	/* bytes of one */
	uint32_t block;
};
/* All false where the drive does not say.  page: 4096 bytes of dio_buffer(). */
void scsi_abilities(const struct host *h, int fd, uint8_t *page, struct scsi_abilities *out);

extern const struct sanitize_ops scsi_sanitize;
/* A weak one: drives are known that say it went well, and did nothing. */
enum sanitize_end scsi_format(struct sanitize *s, struct err *e)
	__attribute__((warn_unused_result));
/* Zeros on all of it, which the drive writes by itself.  *erased rises with *done. */
int scsi_write_same(struct sanitize *s, const struct scsi_abilities *can, _Atomic int64_t *erased,
		    struct err *e) __attribute__((warn_unused_result));

#endif
