#ifndef WIPE_SAT_H
#define WIPE_SAT_H

#include <stdbool.h>
#include <stdint.h>

/*
 * sat: an ATA command to a drive that the kernel shows as SCSI (SAT-3, 12.2.2: ATA PASS-THROUGH
 * (16)). Blocking: only from loop_work().
 * Tests: tests/unit/wipe/test_ata.c tests the code above it; wipe/image/try a drive below it
 */
#define ATA_SECTOR 512 /* Bytes that a command reads. */

/* The registers before and after a command (ACS-3, 6.2). */
struct ata_command {
	uint8_t command;
	uint16_t feature, count;
	/* 48 bits; afterwards, like count, the drive's result. */
	uint64_t lba;
	/* ATA_SECTOR bytes to read into; NULL: none. */
	uint8_t *data;
	/* data is written instead of read. */
	bool write;
	/* 0 means 30 s. */
	int64_t timeout_ms;
	uint8_t status, error;
};
/* Uses SG_IO. 0: the drive answered; -1 with errno: the effect is unknown. */
int sat_command(int fd, struct ata_command *c);

#endif
