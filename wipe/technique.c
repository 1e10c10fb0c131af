/*
 * technique: the level that each technique (erase method) can earn, and its shortest plausible
 * duration on a medium. A record that claims a higher level or a shorter duration cannot be true.
 * The agent, drover's checks and `drover wipe verify` use this one table.
 */
#include "wipe/evidence.h"

#include "base/str.h"

#define GB INT64_C(1000000000)
#define TB (1000 * GB)

/* The step that limits the speed of a technique. */
enum pace {
	/* A key or a map is discarded, whatever the size of the drive. */
	PACE_KEY,
	/* Each block of flash is erased, many at once. */
	PACE_BLOCKS,
	/* Each byte is written. */
	PACE_WRITES,
};

/* KEY_LEAST_MS: shortest duration of a technique that discards a key. Drives report their estimates
 * for a Sanitize or a Format in whole seconds (NVM Express Base 2.0, figure 259), and no drive is
 * known that discards its key and its map of blocks in less than two seconds. KEY_SMALL: media with
 * fewer bytes are not used in servers and may be faster. */
#define KEY_LEAST_MS 2000
#define KEY_SMALL ((int64_t)1 << 30)

static const struct technique {
	const char *name;
	enum wipe_level level;
	enum pace pace;
	/* True: blocks may read as random-looking data (noise) after the technique. */
	bool noise;
} techniques[] = {
	{"SanitizeCryptoErase", WIPE_PURGE, PACE_KEY, true},
	{"SanitizeBlockErase", WIPE_PURGE, PACE_BLOCKS, false},
	{"SanitizeOverwrite", WIPE_PURGE, PACE_WRITES, false},
	{"SecurityEraseEnhanced", WIPE_PURGE, PACE_KEY, true},
	/* PACE_KEY, because a self-encrypting disk may just discard its key. */
	{"SecurityErase", WIPE_CLEAR, PACE_KEY, false},
	{"FormatCrypto", WIPE_CLEAR, PACE_KEY, true},
	/* PACE_KEY, because firmware may just discard a key. */
	{"FormatUserData", WIPE_CLEAR, PACE_KEY, false},
	{"FormatUnit", WIPE_CLEAR, PACE_BLOCKS, false},
	{"WriteSame", WIPE_CLEAR, PACE_WRITES, false},
	{"Overwrite", WIPE_CLEAR, PACE_WRITES, false},
};

/* Returns the highest plausible rate of writes to the medium in bytes per second: twice that of
 * products on the market, or the rate of the medium's bus. SATA 6 Gbit/s; SAS 24 Gbit/s over two
 * ports; NVMe on four lanes of PCIe 6; disks with two actuators reach 0.55 GB/s. */
static int64_t bytes_per_s(const struct evidence_device *d)
{
	bool sas = str_eq(d->type, "SAS");

	if (str_eq(d->type, "SATA") || str_eq(d->type, "MMC") || (sas && d->rotational))
		return GB;
	return sas ? 8 * GB : 32 * GB;
}

static const struct technique *find(const char *name)
{
	for (size_t i = 0; i < sizeof(techniques) / sizeof(*techniques); i++)
		if (str_eq(techniques[i].name, name))
			return &techniques[i];
	return NULL;
}

int evidence_highest_level(const char *technique)
{
	const struct technique *t = find(technique);

	return t ? t->level : WIPE_FAIL;
}

bool evidence_leaves_noise(const char *technique)
{
	const struct technique *t = find(technique);

	return t && t->noise;
}

int64_t evidence_least_ms(const struct evidence_device *d)
{
	const struct technique *t = find(d->technique);
	int64_t rate, least;

	if (!t || d->bytes < KEY_SMALL)
		return 0;
	if (t->pace == PACE_KEY)
		return KEY_LEAST_MS;
	/* PACE_BLOCKS assumes 2 TB/s, because drives are known that erase all blocks of 30 TB
	 * within 30 s. */
	rate = t->pace == PACE_BLOCKS ? 2 * TB : bytes_per_s(d);
	least = d->bytes / (rate / 1000);
	return t->pace == PACE_BLOCKS && least < KEY_LEAST_MS ? KEY_LEAST_MS : least;
}

int evidence_bears_out(const struct evidence_device *d, int64_t samples, int64_t took_ms,
		       struct err *e)
{
	int64_t reads = EVIDENCE_EDGE_READS + samples, least = evidence_least_ms(d);
	int highest = evidence_highest_level(d->technique);

	if (d->level > highest)
		return err_set(e, ERR_DENIED, 0, "technique %s reaches %s at most, not %s",
			       str_or(d->technique, "(none)"), wipe_level_names[highest],
			       wipe_level_names[d->level]);
	if (!d->raw_status.n || d->raw_status.v[d->raw_status.n - 1])
		return err_set(
			e, ERR_DENIED, 0, "rawStatus: the drive's last answer is %lld, not 0",
			d->raw_status.n ? (long long)d->raw_status.v[d->raw_status.n - 1] : -1ll);
	if (took_ms < least)
		return err_set(e, ERR_DENIED, 0,
			       "%s of %lld bytes in %lld ms; the minimum is %lld ms", d->technique,
			       (long long)d->bytes, (long long)took_ms, (long long)least);
	if (d->canaries.planted >= EVIDENCE_CANARIES && !d->canaries.found &&
	    d->reads.clean >= reads && !d->reads.dirty && !d->reads.unreadable)
		return 0;
	return err_set(
		e, ERR_DENIED, 0,
		"of %d canaries %lld planted, %lld found afterwards; of %lld reads %lld clean, "
		"%lld dirty, %lld unreadable",
		EVIDENCE_CANARIES, (long long)d->canaries.planted, (long long)d->canaries.found,
		(long long)reads, (long long)d->reads.clean, (long long)d->reads.dirty,
		(long long)d->reads.unreadable);
}

int64_t evidence_took_ms(const struct evidence *ev)
{
	return ev->end_time - ev->start_time + 999;
}
