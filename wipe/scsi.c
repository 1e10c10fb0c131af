#include "wipe/scsi.h"

#include <errno.h>
#include <scsi/sg.h>
#include <string.h>
#include <sys/ioctl.h>

#define TIMEOUT_MS 30000

static uint16_t u16_at(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

/* Reads the sense-key specific field (SPC-4, 4.5.2.4); bit 7 means valid. */
static void read_specific(const uint8_t *p, struct scsi_sense *out)
{
	out->tells = p[0] & 0x80;
	out->progress = u16_at(p + 1);
}

bool scsi_sense_read(const uint8_t *sense, size_t n, struct scsi_sense *out)
{
	unsigned format = n ? sense[0] & 0x7fu : 0;

	memset(out, 0, sizeof(*out));
	if (n >= 18 && (format == 0x70 || format == 0x71)) {
		out->key = sense[2] & 0xf;
		out->asc = sense[12];
		out->ascq = sense[13];
		read_specific(sense + 15, out);
		return true;
	}
	if (n < 8 || (format != 0x72 && format != 0x73))
		return false;
	out->key = sense[1] & 0xf;
	out->asc = sense[2];
	out->ascq = sense[3];
	for (size_t at = 8; at + 8 <= n && at + 8 <= 8u + sense[7]; at += 2u + sense[at + 1])
		if (sense[at] == 0x02)
			read_specific(sense + at + 4, out);
	return true;
}

int scsi_command(int fd, struct scsi_command *c)
{
	uint8_t sense[64] = {0};
	struct sg_io_hdr io = {
		.interface_id = 'S',
		.dxfer_direction = !c->data   ? SG_DXFER_NONE
				   : c->write ? SG_DXFER_TO_DEV
					      : SG_DXFER_FROM_DEV,
		.cmd_len = c->cdb_len,
		.mx_sb_len = sizeof(sense),
		.dxfer_len = (unsigned)c->len,
		.dxferp = c->data,
		.cmdp = c->cdb,
		.sbp = sense,
		.timeout = c->timeout_ms ? (unsigned)c->timeout_ms : TIMEOUT_MS,
	};

	if (ioctl(fd, SG_IO, &io) < 0)
		return -1;
	c->status = io.status;
	c->got = c->len - (size_t)(io.resid > 0 && (size_t)io.resid <= c->len ? io.resid : 0);
	/* Ignores the value 08h in the driver byte, which only means that sense data is present. */
	if (io.host_status || (io.driver_status & 0x0f & ~0x08) ||
	    (io.status == SCSI_CHECK && !scsi_sense_read(sense, io.sb_len_wr, &c->sense))) {
		errno = EIO;
		return -1;
	}
	return 0;
}
