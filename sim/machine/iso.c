#include "sim/machine/iso.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* Block numbers: 16 volume descriptor, 17 terminator, 18 and 19 path tables, 20 root directory, 21
 * and later: files. */
enum { VOLUME = 16, TERMINATOR, PATH_LITTLE, PATH_BIG, ROOT, FILES };
enum { NAME_BYTES = 27, HEAD = 33, FILES_MAX = 8, PATH_TABLE = 10 };
#define LABEL "cidata"
#define MIB (1 << 20)
#define GPT_TAIL (33 * 512)

int64_t sim_cidata_at(int64_t drive_bytes)
{
	return (drive_bytes - GPT_TAIL) / MIB * MIB - SIM_CIDATA_BYTES;
}

/* --- writing ---------------------------------------------------------------------------------- */

/* Stores v in both byte orders, `bytes` bytes each. */
static void both(uint8_t *p, int bytes, uint32_t v)
{
	for (int i = 0; i < bytes; i++)
		p[i] = p[2 * bytes - 1 - i] = (uint8_t)(v >> (8 * i));
}

static size_t put_record(uint8_t *p, const char *id, size_t id_len, uint32_t block, size_t bytes,
			 bool directory)
{
	size_t len = HEAD + id_len + !(id_len & 1);

	p[0] = (uint8_t)len;
	both(p + 2, 4, block);
	both(p + 10, 4, (uint32_t)bytes);
	p[18] = 126; /* 2026-01-01; no reader uses the date */
	p[19] = p[20] = 1;
	p[25] = directory ? 2 : 0;
	both(p + 28, 2, 1);
	p[32] = (uint8_t)id_len;
	memcpy(p + HEAD, id, id_len);
	return len;
}

/* Writes the identifier of a file name to out: "meta-data" becomes "META-DATA.;1". Returns the
 * identifier's length; 0: the name is not valid. */
static size_t stored_name(const char *name, char out[NAME_BYTES + 4])
{
	size_t n = strlen(name);

	if (!n || n > NAME_BYTES || name[0] == '.')
		return 0;
	for (size_t i = 0; i < n; i++) {
		if (!islower((unsigned char)name[i]) && !isdigit((unsigned char)name[i]) &&
		    !strchr("-_.", name[i]))
			return 0;
		out[i] = (char)toupper((unsigned char)name[i]);
	}
	if (!memchr(name, '.', n))
		out[n++] = '.';
	memcpy(out + n, ";1", 2);
	return n + 2;
}

static void put_volume(uint8_t *p, uint32_t blocks)
{
	memcpy(p, "\1CD001\1", 7);
	memset(p + 8, ' ', 64);
	memcpy(p + 40, LABEL, sizeof(LABEL) - 1);
	both(p + 80, 4, blocks);
	both(p + 120, 2, 1);
	both(p + 124, 2, 1);
	both(p + 128, 2, SIM_ISO_BLOCK);
	both(p + 132, 4, PATH_TABLE);
	p[140] = PATH_LITTLE;
	p[151] = PATH_BIG;
	put_record(p + 156, "", 1, ROOT, SIM_ISO_BLOCK, true);
	memset(p + 190, ' ', 623);
	memset(p + 813, '0', 68);
	for (int i = 1; i <= 4; i++)
		p[812 + 17 * i] = 0;
	p[881] = 1;
}

int sim_iso_write(const struct sim_iso_file *files, size_t n, uint8_t *volume, size_t *used,
		  struct err *e)
{
	uint8_t *root = volume + ROOT * SIM_ISO_BLOCK;
	uint32_t next = FILES;

	if (n > FILES_MAX)
		return err_set(e, ERR_INVALID, 0, "%zu files, want at most %d", n, FILES_MAX);
	root += put_record(root, "", 1, ROOT, SIM_ISO_BLOCK, true);
	root += put_record(root, "\1", 1, ROOT, SIM_ISO_BLOCK, true);
	for (size_t i = 0; i < n; i++) {
		char id[NAME_BYTES + 4];
		size_t id_len = stored_name(files[i].name, id);
		size_t len = files[i].text ? strlen(files[i].text) : 0;
		uint64_t end = next * (uint64_t)SIM_ISO_BLOCK + len;

		if (!id_len)
			return err_set(e, ERR_INVALID, 0, "file name \"%s\"", files[i].name);
		if (end > SIM_CIDATA_BYTES)
			return err_set(e, ERR_CAPACITY, 0, "the files need more than %d bytes",
				       SIM_CIDATA_BYTES);
		root += put_record(root, id, id_len, next, len, false);
		if (len)
			memcpy(volume + (size_t)next * SIM_ISO_BLOCK, files[i].text, len);
		next += (uint32_t)((len + SIM_ISO_BLOCK - 1) / SIM_ISO_BLOCK);
	}
	put_volume(volume + VOLUME * SIM_ISO_BLOCK, next);
	memcpy(volume + TERMINATOR * SIM_ISO_BLOCK, "\377CD001\1", 7);
	memcpy(volume + PATH_LITTLE * SIM_ISO_BLOCK, (uint8_t[]){1, 0, ROOT, 0, 0, 0, 1, 0}, 8);
	memcpy(volume + PATH_BIG * SIM_ISO_BLOCK, (uint8_t[]){1, 0, 0, 0, 0, ROOT, 0, 1}, 8);
	*used = (size_t)next * SIM_ISO_BLOCK;
	return 0;
}

/* --- reading ---------------------------------------------------------------------------------- */

static uint32_t little32(const uint8_t *p)
{
	return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* True if the directory record has this name, compared as Linux shows names: in lower case, without
 * version and final dot. */
static bool is_named(const uint8_t *record, const char *name)
{
	size_t n = record[32], want = strlen(name);
	const char *id = (const char *)record + HEAD;

	if (n > 2 && id[n - 2] == ';')
		n -= 2;
	if (n && id[n - 1] == '.')
		n--;
	return n == want && strncasecmp(id, name, n) == 0;
}

const char *sim_iso_read(const uint8_t *volume, size_t len, const char *name, struct arena *a)
{
	const uint8_t *p = volume + VOLUME * SIM_ISO_BLOCK;
	uint64_t at, end;

	if (len < (size_t)FILES * SIM_ISO_BLOCK || memcmp(p, "\1CD001\1", 7) != 0 ||
	    strncasecmp((const char *)p + 40, LABEL " ", sizeof(LABEL)) != 0)
		return NULL;
	at = (uint64_t)little32(p + 156 + 2) * SIM_ISO_BLOCK;
	end = at + little32(p + 156 + 10);
	if (end > len)
		return NULL;
	while (at + HEAD < end) {
		const uint8_t *r = volume + at;
		uint64_t data = (uint64_t)little32(r + 2) * SIM_ISO_BLOCK;
		uint32_t bytes = little32(r + 10);

		if (r[0] < HEAD + 1 || at + r[0] > end || r[32] > r[0] - HEAD)
			return NULL;
		if (is_named(r, name))
			return data + bytes <= len
				       ? arena_strndup(a, (const char *)volume + data, bytes)
				       : NULL;
		at += r[0];
	}
	return NULL;
}
