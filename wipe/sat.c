#include "wipe/sat.h"

#include <errno.h>
#include <scsi/sg.h>
#include <stddef.h>
#include <sys/ioctl.h>

#define TIMEOUT_MS 30000

int sat_command(int fd, struct ata_command *c)
{
	uint8_t sense[32] = {0}, cdb[16] = {0x85};
	struct sg_io_hdr io = {
		.interface_id = 'S',
		.dxfer_direction = !c->data   ? SG_DXFER_NONE
				   : c->write ? SG_DXFER_TO_DEV
					      : SG_DXFER_FROM_DEV,
		.cmd_len = sizeof(cdb),
		.mx_sb_len = sizeof(sense),
		.dxfer_len = c->data ? ATA_SECTOR : 0,
		.dxferp = c->data,
		.cmdp = cdb,
		.sbp = sense,
		.timeout = c->timeout_ms ? (unsigned)c->timeout_ms : TIMEOUT_MS,
	};

	/* Selects the protocol: PIO data-in, PIO data-out or non-data. PIO data-in returns its
	 * result with the data. The other two set CK_COND, which requests the registers. */
	cdb[1] = (uint8_t)(!c->data ? 3 << 1 | 1 : c->write ? 5 << 1 : 4 << 1);
	cdb[2] = !c->data ? 0x20 : c->write ? 0x26 : 0x0e;
	cdb[3] = (uint8_t)(c->feature >> 8);
	cdb[4] = (uint8_t)c->feature;
	cdb[5] = (uint8_t)(c->count >> 8);
	cdb[6] = (uint8_t)c->count;
	cdb[7] = (uint8_t)(c->lba >> 24);
	cdb[8] = (uint8_t)c->lba;
	cdb[9] = (uint8_t)(c->lba >> 32);
	cdb[10] = (uint8_t)(c->lba >> 8);
	cdb[11] = (uint8_t)(c->lba >> 40);
	cdb[12] = (uint8_t)(c->lba >> 16);
	cdb[13] = 0x40; /* LBA mode */
	cdb[14] = c->command;
	if (ioctl(fd, SG_IO, &io) < 0)
		return -1;
	if (c->data && !c->write && !io.status && !io.host_status && !io.driver_status &&
	    !io.resid) {
		c->status = 0x50;
		return 0;
	}
	/* Requires sense data in descriptor format with an ATA Status Return. If it is missing, a
	 * bridge passed the command on but cannot return the registers: the effect of the command
	 * is unknown. */
	if (io.host_status || io.sb_len_wr < 22 || sense[0] != 0x72 || sense[8] != 0x09) {
		errno = EIO;
		return -1;
	}
	c->error = sense[11];
	c->count = (uint16_t)(sense[12] << 8 | sense[13]);
	c->lba = sense[15] | (uint64_t)sense[17] << 8 | (uint64_t)sense[19] << 16 |
		 (uint64_t)sense[14] << 24 | (uint64_t)sense[16] << 32 | (uint64_t)sense[18] << 40;
	c->status = sense[21];
	return 0;
}
