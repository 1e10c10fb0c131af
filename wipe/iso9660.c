#include "wipe/iso9660.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/*
 * Block numbers: 0-15 system area, 16 primary volume descriptor, 17 terminator, 18 and 19 path
 * tables (little and big endian), 20 root directory, 21 and later: files.
 */
enum { AT_VOLUME = 16, AT_END, AT_PATH_L, AT_PATH_M, AT_ROOT, AT_FILES };
enum { MAX_FILES = 16, NAME_MAX_LEN = 27, RECORD = 33, PATH_TABLE = 10 };

/* Stores a number in both byte orders, little endian first. */
static void both16(uint8_t *p, uint16_t v)
{
	p[0] = p[3] = (uint8_t)v;
	p[1] = p[2] = (uint8_t)(v >> 8);
}

static void both32(uint8_t *p, uint32_t v)
{
	for (int i = 0; i < 4; i++)
		p[i] = p[7 - i] = (uint8_t)(v >> (8 * i));
}

static void text(uint8_t *p, size_t size, const char *s)
{
	size_t n = strlen(s);

	memset(p, ' ', size);
	memcpy(p, s, n < size ? n : size);
}

/* Writes a directory record; returns its length. */
static size_t record(uint8_t *p, const struct tm *t, const char *id, size_t id_len, uint32_t block,
		     uint32_t bytes, bool directory)
{
	size_t len = RECORD + id_len + (id_len % 2 == 0);

	p[0] = (uint8_t)len;
	both32(p + 2, block);
	both32(p + 10, bytes);
	p[18] = (uint8_t)t->tm_year;
	p[19] = (uint8_t)(t->tm_mon + 1);
	p[20] = (uint8_t)t->tm_mday;
	p[21] = (uint8_t)t->tm_hour;
	p[22] = (uint8_t)t->tm_min;
	p[23] = (uint8_t)t->tm_sec;
	p[25] = directory ? 2 : 0;
	both16(p + 28, 1);
	p[32] = (uint8_t)id_len;
	memcpy(p + RECORD, id, id_len);
	return len;
}

/* Writes the ISO 9660 identifier of a file name to out: "meta-data" -> "META-DATA.;1". -1: the name
 * is not valid. */
static int file_id(const char *name, char out[NAME_MAX_LEN + 4], struct err *e)
{
	size_t dots = 0, n = strlen(name);

	for (size_t i = 0; i < n; i++) {
		dots += name[i] == '.';
		if (!islower((unsigned char)name[i]) && !isdigit((unsigned char)name[i]) &&
		    !strchr("._-", name[i]))
			n = 0;
	}
	if (!n || n > NAME_MAX_LEN || dots > 1 || name[0] == '.')
		return err_set(
			e, ERR_INVALID, 0,
			"file name \"%s\": want lower-case letters, digits, - _ and one dot, "
			"at most %d",
			name, NAME_MAX_LEN);
	for (size_t i = 0; i < n; i++)
		out[i] = (char)toupper((unsigned char)name[i]);
	snprintf(out + n, 4, "%s", dots ? ";1" : ".;1");
	return 0;
}

static void volume(uint8_t *p, const char *label, const struct tm *t, uint32_t blocks)
{
	char when[40], upper[33] = "";

	for (size_t i = 0; label[i] && i < 32; i++)
		upper[i] = label[i];
	p[0] = 1;
	memcpy(p + 1, "CD001", 5);
	p[6] = 1;
	text(p + 8, 32, "");
	/* Writes the label in upper case: cloud-init accepts either case. Users of blkid expect
	 * lower case. */
	text(p + 40, 32, upper);
	both32(p + 80, blocks);
	both16(p + 120, 1);
	both16(p + 124, 1);
	both16(p + 128, ISO9660_BLOCK);
	both32(p + 132, PATH_TABLE);
	p[140] = AT_PATH_L;
	p[151] = AT_PATH_M;
	record(p + 156, t, "", 1, AT_ROOT, ISO9660_BLOCK, true);
	text(p + 190, 128 * 4 + 37 * 3,
	     /* Identifiers that stay empty: volume set, publisher, preparer, application and three
	      * files. */
	     "");
	text(p + 574, 128, "DROVER");
	snprintf(when, sizeof(when), "%04d%02d%02d%02d%02d%02d00", t->tm_year + 1900, t->tm_mon + 1,
		 t->tm_mday, t->tm_hour, t->tm_min, t->tm_sec);
	for (int i = 0; i < 4; i++)
		memcpy(p + 813 + 17 * i, i < 2 ? when : "0000000000000000", 16);
	p[881] = 1;
}

struct entry {
	char id[NAME_MAX_LEN + 4];
	const struct iso9660_file *file;
};

static int by_id(const void *a, const void *b)
{
	return strcmp(((const struct entry *)a)->id, ((const struct entry *)b)->id);
}

static uint32_t blocks_of(size_t len)
{
	return (uint32_t)((len + ISO9660_BLOCK - 1) / ISO9660_BLOCK);
}

int iso9660_write(const struct iso9660_volume *v, uint8_t *out, size_t size, size_t *used,
		  struct err *e)
{
	struct entry entries[MAX_FILES];
	time_t at = (time_t)(v->wall_ms / 1000);
	uint64_t end = AT_FILES;
	uint32_t next = AT_FILES;
	struct tm t;

	if (v->n > MAX_FILES)
		return err_set(e, ERR_INVALID, 0, "%zu files, at most %d are allowed", v->n,
			       MAX_FILES);
	for (size_t i = 0; i < v->n; i++) {
		if (file_id(v->files[i].name, entries[i].id, e) < 0)
			return -1;
		entries[i].file = &v->files[i];
		if (v->files[i].len > size)
			end = UINT32_MAX;
		else
			end += blocks_of(v->files[i].len);
	}
	if (end * ISO9660_BLOCK > size)
		return err_set(e, ERR_CAPACITY, 0, "the files do not fit into %zu bytes", size);
	qsort(entries, v->n, sizeof(*entries), by_id);
	for (size_t i = 1; i < v->n; i++)
		if (!strcmp(entries[i - 1].id, entries[i].id))
			return err_set(e, ERR_INVALID, 0, "duplicate file name \"%s\"",
				       entries[i].file->name);

	gmtime_r(&at, &t);
	memset(out, 0, end * ISO9660_BLOCK);

	uint8_t *root = out + AT_ROOT * ISO9660_BLOCK;

	root += record(root, &t, "", 1, AT_ROOT, ISO9660_BLOCK, true);
	root += record(root, &t, "\1", 1, AT_ROOT, ISO9660_BLOCK, true);
	for (size_t i = 0; i < v->n; i++) {
		const char *id = entries[i].id;
		const struct iso9660_file *f = entries[i].file;

		root += record(root, &t, id, strlen(id), next, (uint32_t)f->len, false);
		if (f->len)
			memcpy(out + (size_t)next * ISO9660_BLOCK, f->data, f->len);
		next += blocks_of(f->len);
	}
	volume(out + AT_VOLUME * ISO9660_BLOCK, v->label, &t, next);
	memcpy(out + AT_END * ISO9660_BLOCK, "\377CD001\1", 7);
	/* Path tables contain only the root directory: 1 byte name length, its block, parent 1. */
	memcpy(out + AT_PATH_L * ISO9660_BLOCK, (uint8_t[]){1, 0, AT_ROOT, 0, 0, 0, 1, 0, 0, 0},
	       PATH_TABLE);
	memcpy(out + AT_PATH_M * ISO9660_BLOCK, (uint8_t[]){1, 0, 0, 0, 0, AT_ROOT, 0, 1, 0, 0},
	       PATH_TABLE);
	*used = (size_t)end * ISO9660_BLOCK;
	return 0;
}
