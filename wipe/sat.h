#ifndef WIPE_SAT_H
#define WIPE_SAT_H

#include <stdbool.h>
#include <stdint.h>

/*
 * sat: sends an ATA command to a drive that the kernel shows as SCSI (SAT-3, 12.2.2: ATA
 * PASS-THROUGH (16)). Blocking: only from loop_work().
 * The script wipe/image/try tests it with a SATA drive emulated by QEMU.
 * Tests: tests/unit/wipe/test_ata.c
 */
#define ATA_SECTOR 512 /* Size of a command's data in bytes. */

/* The registers before and after a command (ACS-3, 6.2). */
struct ata_command {
	uint8_t command;
	uint16_t feature, count;
	/* LBA of the command, 48 bits. After the command lba and count have the drive's result. */
	uint64_t lba;
	/* Buffer of ATA_SECTOR bytes for the command's data; NULL: no data. */
	uint8_t *data;
	/* True: data is sent to the drive; false: data is read from it. */
	bool write;
	/* Time limit in ms; 0 means 30 s. */
	int64_t timeout_ms;
	uint8_t status, error;
};
/* Sends the command with SG_IO. 0: the drive answered; the registers are in *c. -1 with errno: the
 * effect is unknown. */
int sat_command(int fd, struct ata_command *c);

#endif
