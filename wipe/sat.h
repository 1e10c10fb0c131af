#ifndef WIPE_SAT_H
#define WIPE_SAT_H

#include <stdbool.h>
#include <stdint.h>

/*
 * sat: an ATA command to a drive that the kernel shows as SCSI (SAT-3, 12.2.2: ATA PASS-THROUGH
 * (16)). Blocking: only from loop_work().
 * Tests: tests/unit/wipe/test_ata.c asks above it; wipe/image/try a drive below it
 */
#define ATA_SECTOR 512 /* of what a command reads */

/* The registers before and after a command (ACS-3, 6.2). */
struct ata_command {
	uint8_t command;
	uint16_t feature, count;
	/* 48 bits; after it, as count, what the drive answered */
	uint64_t lba;
	/* ATA_SECTOR bytes that it reads, or NULL */
	uint8_t *data;
	/* that it is given, instead */
	bool write;
	/* 0: 30 s */
	int64_t timeout_ms;
	uint8_t status, error;
};
/* By SG_IO.  0: the drive answered; -1 with errno: nothing is known of what it
 * did. */
int sat_command(int fd, struct ata_command *c);

#endif
