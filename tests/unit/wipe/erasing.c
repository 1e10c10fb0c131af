#include "tests/unit/wipe/erasing.h"

#include <errno.h>
#include <linux/nvme_ioctl.h>
#include <stdlib.h>
#include "base/mem.h"
#include "tests/unit/testing.h"
#include "tests/unit/wipe/flaky.h"

struct erasing erasing;

/* Fills the drive's content with noise that differs in each call, like data decrypted with a new
 * key. */
static void make_noise(uint8_t *all)
{
	static uint64_t state = 7;
	uint64_t z;

	for (size_t i = 0; i < ERASING_BYTES; i += sizeof(z)) { /* splitmix64 */
		z = state += 0x9e3779b97f4a7c15u;
		z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
		z = (z ^ z >> 27) * 0x94d049bb133111ebu;
		z ^= z >> 31;
		memcpy(all + i, &z, sizeof(z));
	}
}

void erasing_fill(uint8_t byte)
{
	const struct erasing_drive *drive = &erasing.drive;
	uint8_t *all = mem_alloc(ERASING_BYTES);

	memset(all, byte, ERASING_BYTES);
	if (drive->noise)
		make_noise(all);
	if (drive->keeps_middle) {
		size_t half = ERASING_BYTES / 2 - (2 << 20);

		machine_poke(&erasing.machine, ERASING_NAME, all, half, 0);
		machine_poke(&erasing.machine, ERASING_NAME, all, half,
			     ERASING_BYTES - (off_t)half);
	} else {
		machine_poke(&erasing.machine, ERASING_NAME, all,
			     ERASING_BYTES - (drive->keeps_end ? VERIFY_BLOCK : 0), 0);
	}
	free(all);
}

static int admin(int fd, struct nvme_passthru_cmd *c)
{
	struct erasing_drive *drive = &erasing.drive;
	uint8_t *out = (uint8_t *)(uintptr_t)c->addr;

	(void)fd;
	if (c->opcode == 0x06) {
		assert_int_equal(c->data_len, 4096);
		if (drive->deaf && drive->deaf == c->cdw10)
			return 0x2002;
		if (c->cdw10 == 1) {
			assert_int_equal(c->nsid, 0);
			out[256] = (uint8_t)((drive->format ? 2 : 0) | (drive->managed ? 8 : 0));
			out[524] = (uint8_t)((drive->crypto ? 4 : 0) | (drive->format_all ? 2 : 0) |
					     (drive->no_broadcast ? 8 : 0));
			out[525] = drive->cache;
			memcpy(out + 328, &drive->sanicap, 4);
		} else if (c->cdw10 == 2) {
			out[0] = 1;
			out[4] = drive->two_namespaces ? 2 : 0;
		} else if (c->cdw10 == 0x10) {
			assert_true(drive->managed);
			out[0] = 1;
			out[4] = drive->detached ? 10 : 0;
		} else {
			assert_int_equal(c->cdw10, 0);
			assert_int_equal(c->nsid, 1);
			out[26] = 0x12; /* LBA format 2, metadata at the end of the data. */
			if (drive->formatting)
				out[32] = drive->formatting();
			out[29] = 0x09; /* Protection information of type 1, in the first bytes. */
		}
		return 0;
	}
	if (c->opcode == 0x09) {
		assert_true(drive->cache);
		/* The setting must not be saved beyond the next reset. */
		assert_int_equal(c->cdw10, 6);
		assert_int_equal(c->cdw11, 0);
		drive->cache_offs++;
		return 0x2002; /* Many drives refuse to switch off the cache. */
	}
	if (c->opcode == 0x84) {
		assert_int_equal(c->nsid, 0);
		if (c->cdw10 == 1) {
			drive->exits++;
			/* Without AUSE, only another Sanitize ends the failure mode. */
			return drive->exit_status	   ? drive->exit_status
			       : drive->earlier_restricted ? 0x201c
							   : 0;
		}
		drive->sanitizes++;
		if (drive->trails && drive->trails[drive->sanitizes - 1]) {
			drive->trail = drive->trails[drive->sanitizes - 1];
			drive->polls = 0;
		}
		drive->last_action = c->cdw10;
		if (drive->sanitizes == 1)
			drive->first_action = c->cdw10;
		if (!drive->sanitize_status && !drive->lies)
			erasing_fill(0);
		return drive->sanitize_status;
	}
	if (c->opcode == 0x02) {
		assert_int_equal(c->cdw10, 0x007f0081);
		assert_int_equal(c->data_len, 512);
		out[4] = (uint8_t)(drive->earlier_restricted && !drive->sanitizes ? 4 : 4 | 8);
		if (!drive->sanitizes) {
			if (drive->earlier) {
				memcpy(out, drive->earlier[drive->waits], 4);
				drive->waits += drive->earlier[drive->waits][1] == 2;
			}
			return 0;
		}
		memcpy(out, drive->trail[drive->polls], 4);
		if (!drive->stays)
			drive->polls +=
				drive->trail[drive->polls][0] || drive->trail[drive->polls][1] == 2;
		return 0;
	}
	assert_int_equal(c->opcode, 0x80);
	drive->last_nsid = c->nsid;
	drive->formats++;
	drive->last_ses = c->cdw10 >> 9 & 7;
	drive->last_lbaf = c->cdw10 & 0x1ff;
	/* A Format with SES 0 erases nothing, so it must never be sent. */
	assert_int_not_equal(drive->last_ses, 0);
	if (drive->format_hook)
		drive->format_hook();
	if (drive->status < 0) {
		errno = EIO;
		return -1;
	}
	if (!drive->status && drive->mends)
		flaky.bad_at = -1;
	if (!drive->status && !drive->lies)
		erasing_fill(drive->last_ses == 1 ? 0xff : 0);
	return drive->status;
}

int erasing_run(struct erase *x, struct err *e)
{
	int rc;

	erase_run_all(&x, 1, &rc, e);
	return rc;
}

int erasing_setup(void **state)
{
	(void)state;
	memset(&erasing.drive, 0, sizeof(erasing.drive));
	flaky_reset();
	machine_init(&erasing.machine);
	erasing.machine.host.nvme_admin = admin;
	machine_drive(&erasing.machine, ERASING_NAME, "eui.0001\n", ERASING_BYTES);
	erasing.nonce = secret_from_str("a1a2a3a4a5a6a7a8a9a0a1a2a3a4a5a6");
	erasing.info = (struct proto_drive){.path = "/dev/" ERASING_NAME,
					    .type = "NVMe",
					    .wwn = "eui.0001",
					    .bytes = ERASING_BYTES};
	erase_init(&erasing.erase, &erasing.machine.host, &erasing.info, erasing.nonce, WIPE_FAIL,
		   500);
	return 0;
}

int erasing_teardown(void **state)
{
	(void)state;
	erase_done(&erasing.erase);
	secret_free(erasing.nonce);
	machine_done(&erasing.machine);
	return 0;
}
