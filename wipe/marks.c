#include "wipe/marks.h"

#include <stdlib.h>
#include <string.h>
#include "wipe/dio.h"
#include "wipe/drives.h"
#include "wipe/gpt.h"
#include "wipe/target.h"

/* Writes len bytes at offset `at`, flushes, reads them back from the drive and compares. -1: not
 * stored. */
static int put(struct dio *d, const void *data, size_t len, int64_t at, struct err *e)
{
	void *back = dio_buffer(len);
	int rc = dio_write(d, data, len, at, e);

	if (!rc)
		rc = dio_flush(d, e);
	if (!rc)
		rc = dio_read(d, back, len, at, e);
	if (!rc && memcmp(back, data, len) != 0)
		rc = err_set(e, ERR_PROTOCOL, 0,
			     "the data read back differs from the data written");
	free(back);
	return rc;
}

static int open_drive(struct dio *d, const struct host *h, const struct proto_drive *p,
		      struct err *e)
{
	if (dio_open(d, h, drive_name(p), true, e) < 0)
		return -1;
	if (d->bytes != p->bytes)
		err_note(e, ERR_CONFLICT, 0, "%s: the drive's size changed since it was listed",
			 p->path);
	else if (drive_check(h, p, e) == 0)
		return 0;
	dio_close(d);
	return -1;
}

int marks_stamp(const struct host *h, const struct proto_drive *d, const char *record,
		const char *digest, struct err *e)
{
	struct dio dio;
	char *block = dio_buffer(PROTO_STAMP_SIZE);
	int rc = open_drive(&dio, h, d, e);

	if (!rc) {
		proto_stamp_write(record, digest, block);
		rc = put(&dio, block, PROTO_STAMP_SIZE, 0, e);
		dio_close(&dio);
	}
	free(block);
	return rc;
}

int marks_unstamp(const struct host *h, const struct proto_drive *d, struct err *e)
{
	struct dio dio;
	char *block = dio_buffer(PROTO_STAMP_SIZE);
	OWN(arena) a = arena_new();
	const char *record, *digest;
	int rc = open_drive(&dio, h, d, e);

	if (!rc) {
		rc = dio_read(&dio, block, PROTO_STAMP_SIZE, 0, e);
		if (!rc && proto_stamp_read(block, a, &record, &digest)) {
			memset(block, 0, PROTO_STAMP_SIZE);
			rc = put(&dio, block, PROTO_STAMP_SIZE, 0, e);
		}
		dio_close(&dio);
	}
	free(block);
	return rc;
}

static int find_partition(struct dio *d, int64_t *at, int64_t *bytes, struct err *e)
{
	struct gpt *g = malloc(sizeof(*g));
	uint8_t *head = dio_buffer(GPT_HEAD);
	int rc;

	if (!g)
		abort();
	rc = dio_read(d, head, GPT_HEAD, 0, e);
	if (!rc)
		rc = gpt_read(g, head, d->block, d->bytes, e);
	if (!rc && !gpt_find(g, TARGET_CIDATA, at, bytes))
		rc = err_set(e, ERR_NOT_FOUND, 0,
			     "no partition " TARGET_CIDATA ": no image was written");
	free(head);
	free(g);
	return rc;
}

int marks_config(const struct host *h, const struct proto_drive *d, const uint8_t *volume,
		 size_t used, struct err *e)
{
	struct dio dio;
	int64_t at, bytes;
	size_t len = (used + GPT_HEAD - 1) / GPT_HEAD * GPT_HEAD;
	int rc = open_drive(&dio, h, d, e);

	if (rc)
		return rc;
	rc = find_partition(&dio, &at, &bytes, e);
	if (!rc && (int64_t)len > bytes)
		rc = err_set(e, ERR_CAPACITY, 0, "the config drive needs %zu bytes", len);
	if (!rc)
		rc = put(&dio, volume, len, at, e);
	dio_close(&dio);
	return rc;
}
