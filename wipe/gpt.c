#include "wipe/gpt.h"

#include <inttypes.h>
#include <string.h>

/* Offsets in the header, little endian: 0 signature, 8 revision, 12 header size, 16 CRC of the
 * header, 24 LBA of this header, 32 LBA of the other header, 40 first usable LBA, 48 last usable
 * LBA, 56 disk GUID, 72 LBA of the entries, 80 number of entries, 84 size of an entry, 88 CRC of
 * the entries.
 *
 * Offsets in an entry: 0 type, 16 GUID, 32 first LBA, 40 last LBA, 48 attributes, 56 name
 * (UTF-16). */
enum {
	H_SIZE = 12,
	H_CRC = 16,
	H_SELF = 24,
	H_OTHER = 32,
	H_FIRST = 40,
	H_LAST = 48,
	H_ENTRIES = 72,
	H_COUNT = 80,
	H_ENTRY_SIZE = 84,
	H_ENTRIES_CRC = 88,
	H_BYTES = 92
};
enum { E_GUID = 16, E_FIRST = 32, E_LAST = 40, E_NAME = 56, E_NAME_CHARS = 36 };

#define ALIGN_BYTES (1 << 20)

/* Partition type "Linux data", 0FC63DAF-8483-4772-8E79-3D69D8477DE4, in the byte order on the
 * drive. */
static const uint8_t linux_data[16] = {0xaf, 0x3d, 0xc6, 0x0f, 0x83, 0x84, 0x72, 0x47,
				       0x8e, 0x79, 0x3d, 0x69, 0xd8, 0x47, 0x7d, 0xe4};

static uint64_t get(const uint8_t *p, size_t n)
{
	uint64_t v = 0;

	while (n--)
		v = v << 8 | p[n];
	return v;
}

static void put(uint8_t *p, size_t n, uint64_t v)
{
	for (size_t i = 0; i < n; i++, v >>= 8)
		p[i] = (uint8_t)v;
}

static uint32_t crc32_of(const uint8_t *p, size_t n)
{
	uint32_t c = ~0u;

	while (n--) {
		c ^= *p++;
		for (int i = 0; i < 8; i++)
			c = c >> 1 ^ (0xedb88320u & -(c & 1));
	}
	return ~c;
}

static uint64_t table_blocks(const struct gpt *g)
{
	return GPT_TABLE / g->block;
}

static const uint8_t *entry(const struct gpt *g, size_t i)
{
	return g->entries + i * GPT_ENTRY;
}

static bool used(const uint8_t *ent)
{
	static const uint8_t none[16];

	return memcmp(ent, none, sizeof(none)) != 0;
}

static int check_entries(const struct gpt *g, struct err *e)
{
	for (size_t i = 0; i < GPT_ENTRIES; i++) {
		const uint8_t *p = entry(g, i);
		uint64_t first = get(p + E_FIRST, 8), last = get(p + E_LAST, 8);

		if (!used(p))
			continue;
		if (first > last || first < g->first_usable)
			return err_set(e, ERR_PROTOCOL, 0,
				       "partition %zu: invalid range from %" PRIu64 " to %" PRIu64,
				       i + 1, first, last);
		if (last > g->last_usable)
			return err_set(e, ERR_CAPACITY, 0,
				       "partition %zu ends at block %" PRIu64
				       ", the drive has %" PRIu64 " blocks",
				       i + 1, last, g->blocks);
		for (size_t k = 0; k < i; k++) {
			const uint8_t *q = entry(g, k);

			if (used(q) && first <= get(q + E_LAST, 8) && get(q + E_FIRST, 8) <= last)
				return err_set(e, ERR_PROTOCOL, 0, "partitions %zu and %zu overlap",
					       k + 1, i + 1);
		}
	}
	return 0;
}

static int check_header(struct gpt *g, struct err *e)
{
	uint8_t h[H_BYTES];

	if (memcmp(g->header, "EFI PART", 8) != 0)
		return err_set(e, ERR_PROTOCOL, 0, "no GPT for blocks of %u bytes", g->block);
	memcpy(h, g->header, sizeof(h));
	put(h + H_CRC, 4, 0);
	/* Refuses longer headers of later revisions, because their further bytes would be lost. */
	if (get(h + H_SIZE, 4) != H_BYTES)
		return err_set(e, ERR_PROTOCOL, 0, "GPT header of %" PRIu64 " bytes: not supported",
			       get(h + H_SIZE, 4));
	if (crc32_of(h, sizeof(h)) != get(g->header + H_CRC, 4))
		return err_set(e, ERR_PROTOCOL, 0, "GPT header: checksum differs");
	if (get(h + H_SELF, 8) != 1 || get(h + H_ENTRY_SIZE, 4) != GPT_ENTRY ||
	    get(h + H_COUNT, 4) != GPT_ENTRIES)
		return err_set(e, ERR_PROTOCOL, 0,
			       "GPT header: unsupported table: %" PRIu64 " entries of %" PRIu64
			       " bytes",
			       get(h + H_COUNT, 4), get(h + H_ENTRY_SIZE, 4));
	return 0;
}

int gpt_read(struct gpt *g, const uint8_t *head, uint32_t block, int64_t drive_bytes, struct err *e)
{
	uint64_t at;

	if ((block != 512 && block != 4096) || drive_bytes < 4 * ALIGN_BYTES)
		return err_set(e, ERR_UNSUPPORTED, 0,
			       "unsupported drive: %" PRId64 " bytes in blocks of %u", drive_bytes,
			       block);
	memset(g, 0, sizeof(*g));
	g->block = block;
	g->blocks = (uint64_t)drive_bytes / block;
	memcpy(g->header, head + block, sizeof(g->header));
	if (check_header(g, e) < 0)
		return -1;
	at = get(g->header + H_ENTRIES, 8);
	g->first_usable = get(g->header + H_FIRST, 8);
	g->last_usable = g->blocks - 2 - table_blocks(g);
	if (at < 2 || at > GPT_HEAD / block || (at + table_blocks(g)) * block > GPT_HEAD ||
	    g->first_usable < at + table_blocks(g) || g->first_usable > g->last_usable)
		return err_set(e, ERR_PROTOCOL, 0,
			       "GPT header: invalid: entries at block %" PRIu64
			       ", first usable block %" PRIu64,
			       at, g->first_usable);
	memcpy(g->entries, head + at * block, sizeof(g->entries));
	if (crc32_of(g->entries, sizeof(g->entries)) != get(g->header + H_ENTRIES_CRC, 4))
		return err_set(e, ERR_PROTOCOL, 0, "GPT entries: checksum differs");
	return check_entries(g, e);
}

static bool is_named(const uint8_t *ent, const char *name)
{
	size_t n = strlen(name);

	if (n >= E_NAME_CHARS)
		return false;
	for (size_t i = 0; i <= n; i++)
		if (get(ent + E_NAME + 2 * i, 2) != (uint8_t)name[i])
			return false;
	return true;
}

bool gpt_find(const struct gpt *g, const char *name, int64_t *offset, int64_t *bytes)
{
	for (size_t i = 0; i < GPT_ENTRIES; i++) {
		const uint8_t *p = entry(g, i);

		if (!used(p) || !is_named(p, name))
			continue;
		*offset = (int64_t)(get(p + E_FIRST, 8) * g->block);
		*bytes = (int64_t)((get(p + E_LAST, 8) - get(p + E_FIRST, 8) + 1) * g->block);
		return true;
	}
	return false;
}

int gpt_append(struct gpt *g, const char *name, const uint8_t guid[static 16], int64_t bytes,
	       struct err *e)
{
	uint64_t align = ALIGN_BYTES / g->block, want = (uint64_t)bytes / g->block;
	uint64_t first, taken = g->first_usable;
	uint8_t *slot = NULL;

	for (size_t i = GPT_ENTRIES; i-- > 0;) {
		if (!used(entry(g, i)))
			slot = g->entries + i * GPT_ENTRY;
		else if (get(entry(g, i) + E_LAST, 8) >= taken)
			taken = get(entry(g, i) + E_LAST, 8) + 1;
	}
	first = want < g->last_usable ? (g->last_usable + 1 - want) / align * align : 0;
	if (!slot || first < taken)
		return err_set(e, ERR_CAPACITY, 0, "no space for partition %s behind the image",
			       name);
	memset(slot, 0, GPT_ENTRY);
	memcpy(slot, linux_data, sizeof(linux_data));
	memcpy(slot + E_GUID, guid, 16);
	put(slot + E_FIRST, 8, first);
	put(slot + E_LAST, 8, first + want - 1);
	for (size_t i = 0; name[i] && i < E_NAME_CHARS - 1; i++)
		put(slot + E_NAME + 2 * i, 2, (uint8_t)name[i]);
	return 0;
}

size_t gpt_tail_bytes(const struct gpt *g)
{
	return GPT_TABLE + g->block;
}

static void put_header(const struct gpt *g, uint8_t *out, uint64_t self, uint64_t other,
		       uint64_t entries)
{
	memset(out, 0, g->block);
	memcpy(out, g->header, H_BYTES);
	put(out + H_SELF, 8, self);
	put(out + H_OTHER, 8, other);
	put(out + H_LAST, 8, g->last_usable);
	put(out + H_ENTRIES, 8, entries);
	put(out + H_ENTRIES_CRC, 4, crc32_of(g->entries, sizeof(g->entries)));
	put(out + H_CRC, 4, 0);
	put(out + H_CRC, 4, crc32_of(out, H_BYTES));
}

void gpt_write(const struct gpt *g, uint8_t *head, uint8_t *tail)
{
	uint64_t at = get(g->header + H_ENTRIES, 8), last = g->blocks - 1;

	/* Extends the only partition of the protective MBR to the whole drive. */
	if (head[510] == 0x55 && head[511] == 0xaa && head[446 + 4] == 0xee)
		put(head + 446 + 12, 4, last > UINT32_MAX ? UINT32_MAX : last);
	put_header(g, head + g->block, 1, last, at);
	memcpy(head + at * g->block, g->entries, sizeof(g->entries));
	memcpy(tail, g->entries, sizeof(g->entries));
	put_header(g, tail + GPT_TABLE, last, 1, last - table_blocks(g));
}
