#ifndef WIPE_SCSI_H
#define WIPE_SCSI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * scsi: sends a SCSI command to a drive. Blocking: only from loop_work().
 * Tests: tests/unit/wipe/test_erase_scsi.c
 */
enum { SCSI_GOOD = 0, SCSI_CHECK = 2 };

/* Sense data. key, asc, ascq: sense key, additional sense code and its qualifier. tells: true if
 * the drive reports progress. progress: the reported progress in 1/65536. */
struct scsi_sense {
	uint8_t key, asc, ascq;
	bool tells;
	uint16_t progress;
};

struct scsi_command {
	uint8_t cdb[16];
	uint8_t cdb_len;
	/* True: data is sent to the drive; false: data is read from it. */
	bool write;
	uint8_t *data;
	size_t len;
	/* Time limit in ms; 0 means 30 s. */
	int64_t timeout_ms;
	/* SCSI status of the completed command. */
	uint8_t status;
	/* Sense data; valid if status is SCSI_CHECK. */
	struct scsi_sense sense;
	size_t got;
};
/* Sends the command with SG_IO; got is then the number of bytes transferred. 0: the drive answered.
 * -1 with errno: the effect is unknown. */
int scsi_command(int fd, struct scsi_command *c);

/* Decodes sense data of n bytes in fixed or descriptor format. False: neither format. */
bool scsi_sense_read(const uint8_t *sense, size_t n, struct scsi_sense *out);

#endif
