#ifndef WIPE_GPT_H
#define WIPE_GPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/err.h"

/*
 * gpt: the partition table of an image that was just written: checks the table, extends it to the
 * drive's end, and adds a partition for the config drive. UEFI 2.10, chapter 5. Works on bytes in
 * memory. Every number is checked, because the table comes from an untrusted image.
 */
#define GPT_HEAD (1 << 20) /* Number of bytes read from the drive's start. */
#define GPT_ENTRIES 128
#define GPT_ENTRY 128
#define GPT_TABLE (GPT_ENTRIES * GPT_ENTRY)

struct gpt {
	/* Logical block size in bytes. */
	uint32_t block;
	/* Number of blocks of the drive. */
	uint64_t blocks;
	uint64_t first_usable, last_usable;
	/* Header and entries as read from the image; gpt_append() adds an entry. gpt_write() writes
	 * both, with positions, last usable block and checksums adapted to the drive. */
	uint8_t header[92];
	uint8_t entries[GPT_ENTRIES * GPT_ENTRY];
};

/* Reads the table from head, the first GPT_HEAD bytes of the image. ERR_PROTOCOL: there is no
 * table, or an invalid one. ERR_CAPACITY: a partition ends beyond the drive. */
int gpt_read(struct gpt *g, const uint8_t *head, uint32_t block, int64_t drive_bytes, struct err *e)
	__attribute__((warn_unused_result));
/* Finds the partition `name`; sets *offset and *bytes, in bytes. False: no partition has that
 * name. */
bool gpt_find(const struct gpt *g, const char *name, int64_t *offset, int64_t *bytes);
/* Appends a partition of the given size at the end of the drive, aligned to 1 MiB. */
int gpt_append(struct gpt *g, const char *name, const uint8_t guid[static 16], int64_t bytes,
	       struct err *e) __attribute__((warn_unused_result));
/* gpt_write() writes the new primary table into head (in place, with the protective MBR) and the
 * backup table into tail. gpt_tail_bytes() returns the size of tail in bytes. The caller writes
 * tail to the end of the drive. */
size_t gpt_tail_bytes(const struct gpt *g);
void gpt_write(const struct gpt *g, uint8_t *head, uint8_t *tail);

#endif
