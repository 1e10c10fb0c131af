#include "wipe/erase.h"

#include <errno.h>
#include <linux/nvme_ioctl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/mem.h"
#include "base/str.h"
#include "wipe/ata.h"
#include "wipe/dio.h"
#include "wipe/drives.h"
#include "wipe/nvme.h"
#include "wipe/ring.h"
#include "wipe/sanitize.h"

#define PIECE (ERASE_PIECE_KIB << 10)
/* Longer than any drive takes; a command that a drive never ends must not hold the machine for
 * ever. */
#define FORMAT_TIMEOUT_MS (4u * 3600 * 1000)

#define FLUSH_MS (10 * 60 * 1000) /* a large cache on a slow medium */

/* One pass down the ladder. */
struct pass {
	struct erase *x;
	struct dio dio;
	struct ring *zeros; /* for overwriting */
	uint8_t *identify;  /* 4096 bytes */
	struct verify verify;
	struct err unreadable;	    /* why, of the first block that could not be read */
	struct nvme_abilities nvme; /* all false for what is no NVMe */
	bool final;		    /* what was begun may not be replaced by something weaker */
	int64_t *status;	    /* what the drive answers to this rung */
};

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * (int64_t)1000 + t.tv_nsec / 1000000;
}

/* The guard is the second to lose patience: I/O that can be given up says why. */
int64_t erase_patience_ms(const struct host *h)
{
	int64_t stall = h->stall_ms ? h->stall_ms : RING_STALL_MS;

	return stall + stall / 2;
}

/* What runs now, of how many bytes, and how long it may show no progress; 0: as I/O may. */
static void set_phase(struct erase *x, const char *phase, int64_t total, int64_t patience_ms)
{
	struct erase_progress *g = &x->progress;

	atomic_store(&g->patience_ms, patience_ms ? patience_ms : erase_patience_ms(x->host));
	atomic_store(&g->done_bytes, 0);
	atomic_store(&g->total_bytes, total);
	atomic_store(&g->phase, phase);
}

/* A drive that is not NVMe has none and is overwritten. */
static int read_abilities(struct pass *p, struct err *e)
{
	const struct host *h = p->x->host;

	if (!str_eq(p->x->drive->type, "NVMe") || !h->nvme_admin)
		return 0;
	return nvme_abilities(h, drive_name(p->x->drive), p->dio.fd, p->identify, &p->nvme, e);
}

static int format(struct pass *p, uint32_t ses, struct err *e)
{
	struct nvme_passthru_cmd c = {
		.opcode = 0x80,
		/* What hits all of them says so, so that no firmware stops after one. */
		.nsid = p->nvme.format_all && p->nvme.broadcast ? 0xffffffff : p->nvme.nsid,
		.cdw10 = p->nvme.lbaf | ses << 9,
		.timeout_ms = FORMAT_TIMEOUT_MS,
	};
	int rc;

	set_phase(p->x, "format", 0, FORMAT_TIMEOUT_MS + FLUSH_MS);
	rc = p->x->host->nvme_admin(p->dio.fd, &c);
	*p->status = rc < 0 ? errno : rc;
	if (rc < 0)
		return err_errno(e, errno, "Format NVM");
	if (rc > 0)
		return err_set(e, ERR_UNSUPPORTED, rc, "Format NVM: status %xh", (unsigned)rc);
	return 0;
}

/* Sanitize hits the whole subsystem, and with some controllers Format does too: only where
 * no other namespace is at work, which has a wipe of its own. */
static bool can_sanitize(const struct pass *p, uint32_t how)
{
	return p->nvme.alone && (p->nvme.sanicap & how);
}

static bool has_sanitize_crypto(const struct pass *p)
{
	return can_sanitize(p, 1);
}

static bool has_sanitize_block(const struct pass *p)
{
	return can_sanitize(p, 2);
}

static bool has_sanitize_overwrite(const struct pass *p)
{
	return can_sanitize(p, 4);
}

static bool can_format(const struct pass *p)
{
	return p->nvme.format && (p->nvme.alone || !p->nvme.format_all);
}

static int sanitize(struct pass *p, enum sanitize_action action, struct err *e)
{
	struct erase_progress *g = &p->x->progress;

	set_phase(p->x, "sanitize", p->dio.bytes, SANITIZE_STALL_MS + FLUSH_MS);
	return sanitize_run(p->x->host, p->dio.fd, action, p->identify, &g->done_bytes,
			    p->dio.bytes, p->status, &p->final, e);
}

static int run_sanitize_block(struct pass *p, struct err *e)
{
	return sanitize(p, SANITIZE_BLOCK, e);
}

static int run_sanitize_overwrite(struct pass *p, struct err *e)
{
	return sanitize(p, SANITIZE_OVERWRITE, e);
}

static bool has_crypto(const struct pass *p)
{
	return can_format(p) && p->nvme.format_crypto;
}

/* What the samples held: after the key is gone a block may read as noise. */
static void remember(struct pass *p)
{
	struct erase *x = p->x;

	if (!x->prints) {
		x->nprints = x->samples;
		x->prints =
			mem_calloc(EVIDENCE_EDGE_READS + (size_t)x->nprints, sizeof(*x->prints));
	}
	verify_fingerprint(&p->verify, x->nprints, x->prints);
}

static int run_crypto(struct pass *p, struct err *e)
{
	remember(p);
	return format(p, 2, e);
}

static int run_sanitize_crypto(struct pass *p, struct err *e)
{
	remember(p);
	return sanitize(p, SANITIZE_CRYPTO, e);
}

static bool has_format(const struct pass *p)
{
	return can_format(p);
}

static int run_user_data(struct pass *p, struct err *e)
{
	return format(p, 1, e);
}

/* --- overwrite ------------------------------------------------------------------------------- */

struct sweep {
	struct erase_progress *progress;
	int64_t at, end;
};

static bool next_zeros(struct ring_piece *p, void *arg)
{
	struct sweep *s = arg;

	if (s->at == s->end)
		return false;
	p->off = s->at;
	p->len = s->end - s->at < PIECE ? (size_t)(s->end - s->at) : PIECE;
	s->at += (int64_t)p->len;
	return true;
}

static int zeros_written(const struct ring_piece *p, struct err *e, void *arg)
{
	struct sweep *s = arg;

	if (e)
		return -1;
	atomic_fetch_add(&s->progress->done_bytes, (int64_t)p->len);
	atomic_fetch_add(&s->progress->erased_bytes, (int64_t)p->len);
	return 0;
}

static bool always(const struct pass *p)
{
	(void)p;
	return true;
}

static int run_overwrite(struct pass *p, struct err *e)
{
	struct erase_progress *g = &p->x->progress;
	struct sweep s = {.progress = g, .end = p->dio.bytes};
	struct ring_job j = {.write = true, .next = next_zeros, .done = zeros_written, .arg = &s};
	int rc;

	set_phase(p->x, "overwrite", p->dio.bytes, 0);
	rc = ring_run(p->zeros, &p->dio, &j, e);
	atomic_store(&g->patience_ms, FLUSH_MS);
	return rc ? rc : dio_flush(&p->dio, e);
}

/* Best first.  A new technique, for another kind of drive too, is a row; what it can be asked
 * for is read before (read_abilities). */
static const struct rung {
	const char *technique; /* what it earns: evidence_highest_level() */
	enum verify_accept accept;
	bool (*applies)(const struct pass *p);
	int (*run)(struct pass *p, struct err *e);
} ladder[] = {
	{"SanitizeCryptoErase", VERIFY_CHANGED, has_sanitize_crypto, run_sanitize_crypto},
	{"SanitizeBlockErase", VERIFY_CONSTANT, has_sanitize_block, run_sanitize_block},
	{"SanitizeOverwrite", VERIFY_ZEROS, has_sanitize_overwrite, run_sanitize_overwrite},
	{"FormatCrypto", VERIFY_CHANGED, has_crypto, run_crypto},
	{"FormatUserData", VERIFY_CONSTANT, has_format, run_user_data},
	{"Overwrite", VERIFY_ZEROS, always, run_overwrite},
};
_Static_assert(sizeof(ladder) / sizeof(*ladder) == ERASE_RUNGS, "each has room for its status");

int64_t erase_samples(int64_t asked)
{
	if (asked <= 0)
		return VERIFY_SAMPLES;
	return asked < VERIFY_MAX_SAMPLES ? asked : VERIFY_MAX_SAMPLES;
}

void erase_init(struct erase *x, const struct host *h, const struct proto_drive *d,
		const struct secret *nonce, int minimum_level, int64_t samples)
{
	memset(x, 0, sizeof(*x));
	x->host = h;
	x->drive = d;
	x->nonce = nonce;
	x->minimum_level = minimum_level;
	x->samples = erase_samples(samples);
	x->begun = now_ms();
	x->device.type = d->type;
	x->device.model = d->model;
	x->device.serial = d->serial;
	x->device.wwn = d->wwn;
	x->device.bytes = d->bytes;
	x->device.rotational = d->rotational;
	x->device.technique = "None";
	x->device.raw_status.v = x->status;
	x->device.level = WIPE_FAIL;
	x->device.reason = "NotWiped";
	set_phase(x, "canaries", 0, 0);
}

void erase_done(struct erase *x)
{
	free(x->prints);
	x->prints = NULL;
}

static int fail(struct erase *x, const char *reason)
{
	x->device.level = WIPE_FAIL;
	x->device.reason = reason;
	return -1;
}

/* It refused or broke, or was pulled out: then what is left in the slot is not at fault. */
static int fail_drive(struct erase *x)
{
	return fail(x, dio_gone(x->host, drive_name(x->drive)) ? "DriveMissing" : "DriveFailed");
}

static int open_pass(struct pass *p, struct erase *x, bool write, struct err *e)
{
	memset(p, 0, sizeof(*p));
	p->x = x;
	p->dio.fd = -1;
	if (write)
		p->zeros = ring_new(x->host, ERASE_DEPTH, PIECE, true);
	p->identify = dio_buffer(VERIFY_BLOCK);
	p->verify = (struct verify){
		.drive = &p->dio,
		.nonce = x->nonce,
		.wwn = x->drive->wwn,
		.ring = ring_new(x->host, RING_DEPTH, VERIFY_BLOCK, false),
		.done_bytes = &x->progress.done_bytes,
		.why = &p->unreadable,
	};
	if (dio_open(&p->dio, x->host, drive_name(x->drive), write, e) < 0)
		return -1;
	/* Another drive in its place, or one that changed its size, is not the one that was
	 * named. */
	if (p->dio.bytes != x->drive->bytes)
		return err_set(e, ERR_CONFLICT, 0, "size changed since it was found");
	return drive_check(x->host, x->drive, e);
}

static void close_pass(struct pass *p)
{
	ring_free(p->zeros);
	ring_free(p->verify.ring);
	dio_close(&p->dio);
	free(p->identify);
}

/* A drive that says at once that it threw its key away, or erased its blocks, is given the time that it takes, and
 * only then looked at.  What it was to write it has written, or has not: there is nothing to wait for. */
static void let_it_end(const struct pass *p, enum verify_accept accept, int64_t since)
{
	int64_t left = since + evidence_least_ms(&p->x->device) - now_ms();
	struct timespec nap = {.tv_sec = left / 1000, .tv_nsec = left % 1000 * 1000000};

	if (accept != VERIFY_ZEROS && left > 0)
		nanosleep(&nap, NULL);
}

static int run_rung(struct pass *p, const struct rung *r, struct err *e)
{
	struct erase *x = p->x;
	int64_t unreadable = 0, since = now_ms();
	int found;

	x->device.technique = r->technique;
	atomic_store(&x->progress.erased_bytes, 0);
	atomic_store(&x->progress.technique, r->technique);
	p->status = &x->status[x->device.raw_status.n++];
	*p->status = 0;
	x->accept = r->accept;
	if (r->run(p, e) < 0) {
		if (!*p->status)
			*p->status = e->code;
		return fail_drive(x);
	}
	let_it_end(p, r->accept, since);
	atomic_store(&x->progress.erased_bytes, x->device.bytes);
	set_phase(x, "canaries", VERIFY_CANARIES * VERIFY_BLOCK, 0);
	found = verify_find(&p->verify, &unreadable);
	x->device.canaries.found = found;
	if (found) {
		(void)fail(x, "EraseUnverified");
		return err_set(e, ERR_PROTOCOL, 0, "%s reported success and left %d canaries",
			       r->technique, found);
	}
	/* After a cryptographic erase a block may be unreadable until it is written; the
	 * samples decide. */
	if (unreadable && r->accept != VERIFY_CHANGED) {
		(void)fail_drive(x);
		*e = p->unreadable;
		return err_wrap(e, "%d places cannot be read", (int)unreadable);
	}
	x->device.level = evidence_highest_level(r->technique);
	x->device.reason = NULL;
	return 0;
}

/* Begun before this boot, by an agent that was lost. */
static int await_sanitize(struct pass *p, struct err *e)
{
	struct erase_progress *g = &p->x->progress;

	if (!p->nvme.sanicap)
		return 0;
	set_phase(p->x, "sanitize", p->dio.bytes, SANITIZE_STALL_MS + FLUSH_MS);
	return sanitize_wait(p->x->host, p->dio.fd, p->identify, &g->done_bytes, p->dio.bytes, e);
}

/* *e: why no canary could be written; stays.  0: a Format came to its end, try again. */
static int mend(struct pass *p, const struct err *e)
{
	static const char *const techniques[] = {NULL, "FormatUserData", "FormatCrypto"};
	struct erase *x = p->x;
	struct err refused;

	/* What does not answer at all would hold the Format for hours. */
	if (!can_format(p) || e->code == ETIMEDOUT || dio_gone(x->host, drive_name(x->drive)))
		return -1;
	for (uint32_t ses = has_crypto(p) ? 2 : 1; ses; ses--) {
		x->device.technique = techniques[ses];
		atomic_store(&x->progress.technique, techniques[ses]);
		p->status = &x->status[x->device.raw_status.n++];
		if (!format(p, ses, &refused))
			return 0;
	}
	return -1;
}

/* What is written is to be on the medium: not every drive keeps at a power loss what it said it flushed. */
static void cache_off(const struct pass *p)
{
	const struct host *h = p->x->host;

	if (p->nvme.cache)
		nvme_cache_off(h, p->dio.fd);
	else if (h->ata && str_eq(p->x->drive->type, "SATA"))
		ata_cache_off(h, p->dio.fd);
}

static int run_ladder(struct pass *p, struct err *e)
{
	struct erase *x = p->x;
	int planted;

	x->device.raw_status.n = 0;
	if (read_abilities(p, e) < 0 || await_sanitize(p, e) < 0)
		return fail_drive(x);
	/* Format and overwrite leave it as it is, and of a Sanitize nobody could see whether it did. */
	if (p->nvme.hidden) {
		(void)fail(x, "NamespaceHidden");
		return err_set(e, ERR_UNSUPPORTED, 0,
			       "namespace %u of this drive has no block device here",
			       (unsigned)p->nvme.hidden);
	}
	cache_off(p);
	set_phase(x, "canaries", 2 * VERIFY_CANARIES * VERIFY_BLOCK, 0);
	planted = verify_plant(&p->verify, e);
	if (planted < 0 && !mend(p, e)) {
		set_phase(x, "canaries", 2 * VERIFY_CANARIES * VERIFY_BLOCK, 0);
		planted = verify_plant(&p->verify, e);
	}
	if (planted < 0)
		return fail_drive(x);
	x->device.canaries.planted = planted;
	if (planted < VERIFY_CANARIES) {
		(void)fail(x, "CanaryLost");
		return err_set(e, ERR_PROTOCOL, 0, "of %d canaries written %d can be read",
			       VERIFY_CANARIES, planted);
	}
	for (size_t i = 0; i < sizeof(ladder) / sizeof(*ladder) && !p->final; i++)
		if (ladder[i].applies(p) && !run_rung(p, &ladder[i], e))
			return 0;
	return -1;
}

int erase_run(struct erase *x, struct err *e)
{
	struct pass p;
	int rc;

	if (x->drive->read_only) {
		(void)fail(x, "ReadOnly");
		return err_set(e, ERR_DENIED, 0, "%s is read-only", x->drive->path);
	}
	if (x->drive->fault) {
		(void)fail(x, "SectorsHidden");
		return err_set(e, ERR_UNSUPPORTED, 0, "%s: %s", x->drive->path, x->drive->fault);
	}
	rc = open_pass(&p, x, true, e);
	if (rc < 0)
		(void)fail_drive(x);
	else
		rc = run_ladder(&p, e);
	close_pass(&p);
	/* The level stays what was earned: it is drover that decides what is enough. */
	if (!rc && x->device.level < x->minimum_level) {
		x->device.reason = "EraseBelowPolicy";
		rc = err_set(e, ERR_UNSUPPORTED, 0, "%s earns less than %s", x->device.technique,
			     wipe_level_names[x->minimum_level]);
	}
	return rc < 0 ? err_wrap(e, "%s", x->drive->path) : 0;
}

int erase_verify(struct erase *x, int64_t samples, struct err *e)
{
	struct pass p;
	struct verify_counts n = {0};
	int64_t unreadable = 0;
	bool print = x->accept == VERIFY_CHANGED;
	int rc;

	if (samples < 0 || samples > VERIFY_MAX_SAMPLES)
		samples = VERIFY_MAX_SAMPLES;
	if (print && samples > x->nprints)
		samples = x->nprints;
	set_phase(x, "verify",
		  2 * VERIFY_EDGE + (VERIFY_CANARIES + samples) * (int64_t)VERIFY_BLOCK, 0);
	/* A fresh descriptor, and O_DIRECT: nothing is left of what was written through the
	 * other. */
	rc = open_pass(&p, x, false, e);
	if (!rc) {
		x->device.canaries.found = verify_find(&p.verify, &unreadable);
		verify_sample(&p.verify, x->accept, samples,
			      print ? (const uint8_t(*)[16])x->prints : NULL,
			      print ? EVIDENCE_EDGE_READS + (size_t)x->nprints : 0, &n);
	}
	close_pass(&p);
	if (rc < 0) {
		(void)fail_drive(x);
		return err_wrap(e, "%s", x->drive->path);
	}
	x->device.reads.clean = n.clean;
	x->device.reads.dirty = n.dirty;
	x->device.reads.unreadable = n.unreadable + unreadable;
	/* Only a wipe that succeeded can be confirmed; its own failure stands. */
	if (x->device.level == WIPE_FAIL)
		return err_set(e, ERR_INVALID, 0, "%s: was not wiped: %s", x->drive->path,
			       x->device.reason);
	if (x->device.canaries.found || n.dirty) {
		(void)fail(x, "EraseUnverified");
		return err_set(e, ERR_PROTOCOL, 0, "%s: %d canaries and %d dirty blocks found",
			       x->drive->path, (int)x->device.canaries.found, (int)n.dirty);
	}
	if (x->device.reads.unreadable) {
		(void)fail_drive(x);
		*e = p.unreadable;
		return err_wrap(e, "%s: %d blocks cannot be read", x->drive->path,
				(int)x->device.reads.unreadable);
	}
	if (evidence_bears_out(&x->device, samples, now_ms() - x->begun, e) < 0) {
		(void)fail(x, "EraseUnverified");
		return err_wrap(e, "%s", x->drive->path);
	}
	if (x->device.level < x->minimum_level)
		return err_set(e, ERR_UNSUPPORTED, 0, "%s: erased, below the policy's level",
			       x->drive->path);
	return 0;
}
