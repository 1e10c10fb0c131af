#include "wipe/writer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>
#include "base/crypto.h"
#include "base/mem.h"
#include "base/str.h"
#include "wipe/dio.h"
#include "wipe/erase_methods.h"
#include "wipe/fetch.h"
#include "wipe/intake.h"
#include "wipe/target.h"
#include "wipe/verify.h"

/* Number of pieces after which a store job ends, however much a chunk unpacks to, because the
 * writer can be stopped only between two jobs. */
#define JOB_PIECES 64
#define LANES_MAX 8 /* Largest number of frames that are unpacked in parallel. */
/* Number of chunks, besides those being unpacked, that are being filled, hashed, stored or in
 * flight. */
#define BESIDE 4
#define WINDOW_LOG 27 /* Largest zstd window, as log2: zstd --ultra --long=27. */
#define WATCH_MS 5000
/* Time limit in ms of the end job (flush, read back, flush), which reports no progress. */
#define END_MS (15 * 60 * 1000)

/* First failure of a job. Each job has a struct failure of its own, so that no two threads write
 * the same struct. */
struct failure {
	/* NULL: no failure. */
	const char *reason;
	struct err err;
};

/* State of a chunk of the intake. */
struct part {
	struct writer *w;
	const struct chunk *chunk;
	/* Flags of the loop's thread: the chunk was hashed, and stored. */
	bool hashed, stored;
	/* Job that unpacks the chunk, if the chunk is whole; NULL: not running. */
	struct loop_work *job;
	bool unpacked;
	/* Used by the unpack job, then by the store job. */
	ZSTD_DCtx *zd;
	/* Unpacked data, in a buffer of INTAKE_UNPACKED bytes. */
	uint8_t *out;
	size_t nout;
	struct failure failure;
	/* Used by the store job: offset of the next byte to store, in `out` if unpacked, else in
	 * the chunk. */
	size_t pos;
	/* Number of writes in flight from `out`. */
	unsigned in_flight;
};

struct writer {
	struct loop_group *group;
	/* NULL: not begun, or stopped. */
	struct fetch *fetch;
	struct loop_timer watch;
	/* moved: value of `stirs` (the target's progress counter) at the last check. moved_at:
	 * monotonic ms at which the value last changed, or at which the drive was last idle (no job
	 * used it). */
	int64_t moved_at, moved;
	void (*done)(const char *reason, const struct err *e, void *arg);
	void *arg;

	const struct host *host;
	const struct proto_drive *drive;
	uint8_t digest[CRYPTO_SHA256];
	/* open: the drive is open. eof: the download has ended. over: done() was called. */
	bool zstd, open, eof, over;
	/* Progress of the download, saved when `fetch` is freed, in bytes. */
	int64_t served, total;

	struct loop_work *hash_work, *store_work, *end_work;
	/* True: writer_free() was called while jobs ran. */
	bool closing;

	struct intake in;
	/* State of each chunk of the intake; the index is the chunk's. */
	struct part parts[INTAKE_MAX];
	unsigned lanes, in_hash, in_next;
	/* Part that was stored and whose writes are in flight; NULL: none. */
	struct part *held;

	/* Used by the hash job, then by the end job. */
	struct crypto_hash *hash;
	/* Used by the store job, then by the end job. */
	ZSTD_DCtx *zd;
	bool frame_open;
	struct target *target;
	/* Number of bytes in the piece that is not full yet. */
	size_t filled;
	/* Number of bytes passed to the target in pieces. */
	int64_t stored;
	/* Result of the store job: the current chunk has been stored completely. The job does not
	 * set the flag `stored` in struct part, because the loop's thread owns that flag. */
	bool emptied;
	struct failure store_failure;

	/* Progress counter of the target. */
	_Atomic int64_t stirs;
	/* Failure that is passed to done(); used by the loop, then by the end job. */
	struct failure first;
};

static void pump(struct writer *w);

/* --- ending ---------------------------------------------------------------------------------- */

static void writer_destroy(struct writer *w)
{
	for (unsigned i = 0; i < w->in.n; i++) {
		ZSTD_freeDCtx(w->parts[i].zd);
		dio_pages_free(w->parts[i].out, INTAKE_UNPACKED);
	}
	intake_done(&w->in);
	target_free(w->target);
	crypto_hash_free(w->hash);
	ZSTD_freeDCtx(w->zd);
	free(w);
}

static bool at_work(const struct writer *w)
{
	for (unsigned i = 0; i < w->in.n; i++)
		if (w->parts[i].job)
			return true;
	return w->hash_work || w->store_work || w->end_work;
}

static void on_drop(struct loop_work **slot, struct writer *w)
{
	*slot = NULL;
	if (w->closing && !at_work(w))
		writer_destroy(w);
}

static void drop_hash(void *arg)
{
	on_drop(&((struct writer *)arg)->hash_work, arg);
}

static void drop_store(void *arg)
{
	on_drop(&((struct writer *)arg)->store_work, arg);
}

static void drop_end(void *arg)
{
	on_drop(&((struct writer *)arg)->end_work, arg);
}

static void drop_unpack(void *arg)
{
	struct part *p = arg;

	on_drop(&p->job, p->w);
}

static void stop_fetching(struct writer *w)
{
	if (w->fetch)
		fetch_progress(w->fetch, &w->served, &w->total);
	fetch_free(w->fetch);
	w->fetch = NULL;
}

void writer_free(struct writer *w)
{
	if (!w)
		return;
	stop_fetching(w);
	loop_timer_stop(&w->watch);
	w->closing = true;
	if (!at_work(w)) {
		writer_destroy(w);
		return;
	}
	for (unsigned i = 0; i < w->in.n; i++)
		if (w->parts[i].job)
			loop_work_abandon(w->parts[i].job);
	if (w->hash_work)
		loop_work_abandon(w->hash_work);
	if (w->store_work)
		loop_work_abandon(w->store_work);
	if (w->end_work)
		loop_work_abandon(w->end_work);
}

/* Stores the failure if it is the first. The failure has an effect when the jobs in progress have
 * ended. */
static void set_failed(struct failure *f, const char *reason, const struct err *e)
{
	if (!f->reason) {
		f->reason = reason;
		f->err = *e;
	}
}

/* Returns the reason for an error of the target: ImageUnfit if the image does not fit the drive,
 * otherwise DriveFailed. */
static const char *put_reason(const struct err *e)
{
	return e->kind == ERR_CAPACITY && !e->code ? "ImageUnfit" : "DriveFailed";
}

static void take_failure(struct writer *w, const struct failure *f)
{
	if (f->reason)
		set_failed(&w->first, f->reason, &f->err);
}

/* --- the end: last piece, checks, read back, partition table ---------------------------------- */

static int judge(struct writer *w, struct err *e)
{
	uint8_t got[CRYPTO_SHA256];
	char text[CRYPTO_DIGEST_TEXT], wanted[CRYPTO_DIGEST_TEXT];

	crypto_hash_end(w->hash, got);
	if (memcmp(got, w->digest, sizeof(got)) != 0)
		return err_set(e, ERR_INVALID, 0, "the bytes served have digest %s, not %s",
			       crypto_digest_text(got, text),
			       crypto_digest_text(w->digest, wanted));
	if (w->zstd && w->frame_open)
		return err_set(e, ERR_PROTOCOL, 0, "the zstd stream ends inside a frame");
	if (!w->stored)
		return err_set(e, ERR_INVALID, 0, "the image is empty");
	return 0;
}

static int put_last(struct writer *w, struct err *e)
{
	size_t n = w->filled;

	w->filled = 0;
	w->stored += (int64_t)n;
	return n ? target_put(w->target, n, e) : 0;
}

static void run_end(void *arg)
{
	struct writer *w = arg;
	struct err e;

	if (!w->first.reason && put_last(w, &e) < 0)
		set_failed(&w->first, put_reason(&e), &e);
	if (!w->first.reason && judge(w, &e) < 0)
		set_failed(&w->first, "ImageMismatch", &e);
	if (!w->first.reason && target_settle(w->target, &e) < 0)
		set_failed(&w->first, "DriveFailed", &e);
	if (!w->first.reason && target_fit(w->target, w->digest, &e) < 0)
		set_failed(&w->first, "ImageUnfit", &e);
	if (!w->first.reason && target_finish(w->target, &e) < 0)
		set_failed(&w->first, "DriveFailed", &e);
	if (w->first.reason)
		target_spoil(w->target);
}

static void done_end(void *arg)
{
	struct writer *w = arg;

	w->end_work = NULL;
	w->over = true;
	loop_timer_stop(&w->watch);
	w->done(w->first.reason, w->first.reason ? &w->first.err : NULL, w->arg);
}

/* --- hashing --------------------------------------------------------------------------------- */

/* Returns the chunk to the intake if the chunk is hashed and stored, and none of its data is in
 * flight. */
static void give_back(struct part *p)
{
	struct writer *w = p->w;

	if (!p->hashed || !p->stored || p == w->held)
		return;
	p->hashed = p->stored = p->unpacked = false;
	p->pos = p->nout = 0;
	intake_give_back(&w->in, (unsigned)(p - w->parts));
}

static void run_hash(void *arg)
{
	struct writer *w = arg;
	const struct chunk *c = w->parts[w->in_hash].chunk;

	crypto_hash_add(w->hash, c->data, c->len);
}

static void done_hash(void *arg)
{
	struct writer *w = arg;
	struct part *p = &w->parts[w->in_hash];

	w->hash_work = NULL;
	w->in_hash = (w->in_hash + 1) % w->in.n;
	p->hashed = true;
	give_back(p);
	pump(w);
}

/* --- unpacking: whole frames in parallel ------------------------------------------------------ */

static void run_unpack(void *arg)
{
	struct part *p = arg;
	struct err e;
	size_t rc;

	if (!p->zd && !(p->zd = ZSTD_createDCtx()))
		abort();
	if (!p->out)
		p->out = dio_pages(INTAKE_UNPACKED);
	rc = ZSTD_decompressDCtx(p->zd, p->out, INTAKE_UNPACKED, p->chunk->data, p->chunk->len);
	if (ZSTD_isError(rc)) {
		err_note(&e, ERR_PROTOCOL, 0, "zstd: %s", ZSTD_getErrorName(rc));
		set_failed(&p->failure, "ImageMismatch", &e);
	} else {
		p->nout = rc;
	}
}

static void done_unpack(void *arg)
{
	struct part *p = arg;

	p->job = NULL;
	p->unpacked = true;
	take_failure(p->w, &p->failure);
	pump(p->w);
}

/* Starts unpack jobs in the order of the image, so that the next chunk never waits for later
 * ones. */
static void start_unpacking(struct writer *w)
{
	unsigned busy = 0;

	for (unsigned i = 0; i < w->in.n && busy < w->lanes; i++) {
		struct part *p = &w->parts[(w->in_next + i) % w->in.n];

		if (p->chunk->closed && p->chunk->whole && !p->unpacked && !p->job)
			p->job = loop_work(w->group, run_unpack, done_unpack, drop_unpack, p);
		busy += p->job != NULL;
	}
}

/* --- storing --------------------------------------------------------------------------------- */

/* Unpacks data of a chunk that is not whole into the piece. Continues after all input is consumed,
 * because the decoder may still have output; only a piece that did not become full shows that the
 * decoder has no more. */
static int unpack(struct writer *w, struct part *p, uint8_t *piece, struct err *e)
{
	ZSTD_inBuffer zin = {p->chunk->data, p->chunk->len, p->pos};
	ZSTD_outBuffer zout = {piece, TARGET_PIECE, w->filled};

	/* Continues also without input, because inside a frame the decoder may hold output that did
	 * not fit. */
	while (zout.pos < zout.size && (zin.pos < zin.size || w->frame_open)) {
		size_t in_before = zin.pos, out_before = zout.pos;
		size_t rc = ZSTD_decompressStream(w->zd, &zout, &zin);

		if (ZSTD_isError(rc))
			return err_set(e, ERR_PROTOCOL, 0, "zstd: %s", ZSTD_getErrorName(rc));
		w->frame_open = rc != 0;
		if (zin.pos == in_before && zout.pos == out_before)
			break;
	}
	p->pos = zin.pos;
	w->filled = zout.pos;
	w->emptied = w->filled < TARGET_PIECE;
	return 0;
}

static void copy(struct writer *w, struct part *p, const uint8_t *from, size_t len, uint8_t *piece)
{
	size_t n = len - p->pos;

	if (n > TARGET_PIECE - w->filled)
		n = TARGET_PIECE - w->filled;
	memcpy(piece + w->filled, from + p->pos, n);
	p->pos += n;
	w->filled += n;
	w->emptied = p->pos == len;
}

/* True if a complete piece can be written directly from p->out, without copying it to a buffer of
 * the target. */
static bool goes_as_it_is(const struct writer *w, const struct part *p)
{
	return p->chunk->whole && !w->filled && p->nout - p->pos >= TARGET_PIECE &&
	       p->pos % VERIFY_BLOCK == 0;
}

static const char *store_as_it_is(struct writer *w, struct part *p, struct err *e)
{
	if (target_put_from(w->target, p->out + p->pos, &p->in_flight, e) < 0)
		return put_reason(e);
	p->pos += TARGET_PIECE;
	w->stored += TARGET_PIECE;
	w->emptied = p->pos == p->nout;
	return NULL;
}

static const char *store_piece(struct writer *w, struct part *p, struct err *e)
{
	const struct chunk *c = p->chunk;
	uint8_t *piece = target_buffer(w->target, e);

	if (!piece)
		return "DriveFailed";
	if (c->whole)
		copy(w, p, p->out, p->nout, piece);
	else if (!w->zstd)
		copy(w, p, c->data, c->len, piece);
	else if (unpack(w, p, piece, e) < 0)
		return "ImageMismatch";
	return w->filled == TARGET_PIECE && put_last(w, e) < 0 ? put_reason(e) : NULL;
}

/* Passes the next chunk to the drive. At the end of the chunk, waits for the writes of the chunk
 * before it. */
static void run_store(void *arg)
{
	struct writer *w = arg;
	struct part *p = &w->parts[w->in_next];
	const char *reason = NULL;
	struct err e;

	for (int pieces = 0; pieces < JOB_PIECES && !w->emptied && !reason; pieces++)
		reason = goes_as_it_is(w, p) ? store_as_it_is(w, p, &e) : store_piece(w, p, &e);
	if (!reason && w->emptied && w->held &&
	    target_await(w->target, &w->held->in_flight, &e) < 0)
		reason = "DriveFailed";
	if (reason)
		set_failed(&w->store_failure, reason, &e);
}

static void done_store(void *arg)
{
	struct writer *w = arg;
	struct part *p = &w->parts[w->in_next], *before = w->held;

	w->store_work = NULL;
	take_failure(w, &w->store_failure);
	if (w->emptied && !w->store_failure.reason) {
		w->emptied = false;
		p->stored = true;
		w->in_next = (w->in_next + 1) % w->in.n;
		w->held = p->in_flight ? p : NULL;
		give_back(p);
		if (before)
			give_back(before);
	}
	pump(w);
}

/* --- scheduling ------------------------------------------------------------------------------- */

static bool storable(const struct part *p)
{
	return p->chunk->closed && !p->stored && (!p->chunk->whole || p->unpacked);
}

static void pump(struct writer *w)
{
	struct part *next;

	if (w->over || w->end_work)
		return;
	if (w->first.reason) {
		stop_fetching(w);
		if (!at_work(w))
			w->end_work = loop_work(w->group, run_end, done_end, drop_end, w);
		return;
	}
	if (w->eof)
		intake_end(&w->in);
	next = &w->parts[w->in_hash];
	if (!w->hash_work && next->chunk->closed && !next->hashed)
		w->hash_work = loop_work(w->group, run_hash, done_hash, drop_hash, w);
	start_unpacking(w);
	next = &w->parts[w->in_next];
	if (!w->store_work && storable(next))
		w->store_work = loop_work(w->group, run_store, done_store, drop_store, w);
	if (w->open && w->fetch && intake_hungry(&w->in))
		fetch_more(w->fetch);
	if (w->eof && !at_work(w))
		w->end_work = loop_work(w->group, run_end, done_end, drop_end, w);
}

/* --- the network ----------------------------------------------------------------------------- */

static int on_data(const char *data, size_t len, void *arg, struct err *e)
{
	struct writer *w = arg;

	if (intake_add(&w->in, data, len) < 0)
		return err_set(e, ERR_PROTOCOL, 0, "more data than requested");
	pump(w);
	return 0;
}

static void on_fetched(const char *reason, const struct err *e, void *arg)
{
	struct writer *w = arg;

	w->eof = true;
	if (reason)
		set_failed(&w->first, reason, e);
	pump(w);
}

static void on_due(void *arg)
{
	pump(arg);
}

/* --- stalls ----------------------------------------------------------------------------------- */

/* True if the drive has made no progress for longer than the limit. The order must end even if the
 * thread that waits for the drive never returns. */
static bool drive_hangs(struct writer *w, int64_t now)
{
	int64_t moved = atomic_load(&w->stirs);
	int64_t limit = w->end_work ? END_MS : erase_methods_patience_ms(w->host);

	if ((!w->store_work && !w->end_work) || moved != w->moved) {
		w->moved = moved;
		w->moved_at = now;
	}
	return now - w->moved_at > limit;
}

static void on_watch(void *arg)
{
	struct writer *w = arg;
	struct err e;

	loop_timer_start(&w->watch, WATCH_MS);
	if (w->fetch)
		fetch_watch(w->fetch, !w->over && !at_work(w));
	if (!drive_hangs(w, loop_now(loop_of(w->group))))
		return;
	err_note(&e, ERR_TIMEOUT, 0, "%s: no progress; the drive holds a part of the image",
		 w->drive->path);
	stop_fetching(w);
	loop_timer_stop(&w->watch);
	w->over = true;
	w->done("DriveFailed", &e, w->arg);
}

/* --- starting --------------------------------------------------------------------------------- */

static int start_fetching(struct writer *w, struct http *http, const struct writer_spec *s,
			  struct err *e)
{
	struct fetch_spec f = {.url = s->url,
			       .ca_pem = s->ca_pem,
			       .piece = INTAKE_PIECE,
			       .on_data = on_data,
			       .on_due = on_due,
			       .on_end = on_fetched,
			       .arg = w};

	if (!s->digest || !crypto_digest_parse(s->digest, w->digest))
		return err_set(e, ERR_INVALID, 0, "digest: want sha256:<64 hex digits>");
	w->fetch = fetch_new(w->group, http, &f, e);
	return w->fetch ? 0 : -1;
}

static void run_open(void *arg)
{
	struct writer *w = arg;
	struct err e;

	if (target_open(w->target, &e) < 0)
		set_failed(&w->store_failure, "DriveFailed", &e);
}

static void done_open(void *arg)
{
	struct writer *w = arg;

	w->store_work = NULL;
	take_failure(w, &w->store_failure);
	w->open = true;
	pump(w);
}

static unsigned lanes(void)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	return cpus < 1 ? 1 : cpus < LANES_MAX ? (unsigned)cpus : LANES_MAX;
}

struct writer *writer_start(struct loop_group *g, struct http *http, const struct writer_spec *s,
			    void (*done)(const char *reason, const struct err *e, void *arg),
			    void *arg)
{
	struct writer *w = mem_new(struct writer);
	uint8_t seed[32];
	struct err e;

	w->group = g;
	w->done = done;
	w->arg = arg;
	w->host = s->host;
	w->drive = s->drive;
	w->zstd = s->format == 1;
	loop_timer_init(&w->watch, g, on_watch, w);
	w->moved_at = loop_now(loop_of(g));
	loop_timer_start(&w->watch, WATCH_MS);
	loop_random_bytes(loop_of(g), seed, sizeof(seed));
	w->target = target_new(w->host, w->drive, seed, &w->stirs);
	w->hash = crypto_hash_new();
	w->lanes = lanes();
	intake_init(&w->in, w->lanes + BESIDE, w->zstd);
	for (unsigned i = 0; i < w->in.n; i++)
		w->parts[i] = (struct part){.w = w, .chunk = &w->in.v[i]};
	if (w->zstd) {
		w->zd = ZSTD_createDCtx();
		if (!w->zd ||
		    ZSTD_isError(ZSTD_DCtx_setParameter(w->zd, ZSTD_d_windowLogMax, WINDOW_LOG)))
			abort();
	}
	if (start_fetching(w, http, s, &e) < 0)
		set_failed(&w->first, "OrderInvalid", &e);
	/* Starts the first job even after a failure, so that done() is called later, from the
	 * loop. */
	w->store_work = loop_work(g, run_open, done_open, drop_store, w);
	return w;
}

void writer_progress(const struct writer *w, int64_t *served, int64_t *total)
{
	*served = w->served;
	*total = w->total;
	if (w->fetch)
		fetch_progress(w->fetch, served, total);
}
