#ifndef WIPE_SCSI_ERASE_H
#define WIPE_SCSI_ERASE_H

#include "wipe/host.h"
#include "wipe/sanitize.h"

/*
 * scsi_erase: erase methods of SCSI drives (SBC-4): SANITIZE 48h, FORMAT UNIT 04h, WRITE SAME(16)
 * 93h.
 *
 * A command is sent only to a drive that lists it in REPORT SUPPORTED OPERATION CODES, which
 * volumes of RAID controllers and bridges mostly do not. REQUEST SENSE reports the progress, TEST
 * UNIT READY the success.
 *
 * Blocking: only from loop_work().
 * Tests: tests/unit/wipe/test_erase_scsi.c
 */
struct scsi_abilities {
	/* Sanitize actions that the drive supports: bits SANITIZES_... (sanitize.h). */
	unsigned sanitizes;
	/* True: the drive supports FORMAT UNIT and has no protection information, so that the
	 * command retains the drive's format. */
	bool format;
	/* Largest number of blocks per WRITE SAME; 0: not supported. */
	uint32_t same;
	/* Bytes per block. */
	uint32_t block;
};
/* Reads the drive's erase abilities into *out; all are false or 0 if the drive does not report
 * them. page: 4096 bytes of dio_buffer(). */
void scsi_abilities(const struct host *h, int fd, uint8_t *page, struct scsi_abilities *out);

extern const struct sanitize_ops scsi_sanitize;
/* Runs FORMAT UNIT and waits until it ends. It is a weak method, because some drives report success
 * and do nothing. */
enum sanitize_end scsi_format(struct sanitize *s, struct err *e)
	__attribute__((warn_unused_result));
/* Writes zeros to the whole drive by WRITE SAME, so that no data passes through the host. *erased
 * increases together with *s->done. */
int scsi_write_same(struct sanitize *s, const struct scsi_abilities *can, _Atomic int64_t *erased,
		    struct err *e) __attribute__((warn_unused_result));

#endif
