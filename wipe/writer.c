#include "wipe/writer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>
#include "base/buf.h"
#include "base/crypto.h"
#include "base/mem.h"
#include "base/retry.h"
#include "base/str.h"
#include "wipe/erase.h"
#include "wipe/target.h"

enum { IN_BUFFERS = 8 };
/* Large, because every change of hands goes through the loop. */
#define IN_BYTES (1u << 20)
/* A job ends after so many, however much a buffer unpacks to: between two of them the writer
 * can be told to stop. */
#define JOB_PIECES 64
#define HTTP_PIECE (256u << 10) /* what http.h may deliver after one http_want() */
#define WINDOW_LOG 27		/* zstd --ultra --long=27 */
#define ATTEMPTS 8		/* connections in a row that bring nothing */
#define IDLE_MS 60000
/* What comes more slowly is no image server; what the drive is to blame for does not count. */
#define PACE_MS (5 * 60 * 1000)
#define PACE_BYTES (1 << 20)
#define WATCH_MS 5000
#define END_MS (15 * 60 * 1000) /* flush, read back, flush: tells no progress */

struct in_buf {
	uint8_t *data;
	size_t len, pos;
	bool full; /* closed: hash and store job may have it */
	bool hashed, stored;
};

/* A job has one of its own, so that no two threads write the same. */
struct failure {
	const char *reason; /* NULL: none */
	struct err err;
};

struct writer {
	struct loop_group *group;
	struct http *http;
	struct http_peer *peer;
	struct http_req *req;
	struct loop_timer retry, watch;
	int64_t paced_at, paced; /* when PACE_BYTES had come, and how many bytes then */
	int64_t moved_at, moved; /* the same for the drive */
	struct backoff backoff;
	unsigned attempts;
	void (*done)(const char *reason, const struct err *e, void *arg);
	void *arg;

	const struct host *host;
	const struct proto_drive *drive;
	char *path;
	uint8_t digest[CRYPTO_SHA256];
	bool zstd, wants, eof, over;
	int64_t received, total; /* served bytes */

	struct loop_work *hash_work, *store_work, *end_work;
	bool closing; /* freed while jobs run */

	/* one at a time belongs to a job: the loop does not look into a buffer that it has */
	struct in_buf in[IN_BUFFERS];
	unsigned in_fill, in_hash, in_next;

	struct crypto_hash *hash; /* the hash job's, then the end job's */
	/* the store job's, then the end job's */
	ZSTD_DCtx *zd;
	bool frame_open;
	struct target *target;
	size_t filled;	/* of the piece that is not full yet */
	int64_t stored; /* bytes in pieces */
	bool emptied;	/* of the buffer nothing is left; its flags are the loop's */
	struct failure store_failure;

	_Atomic int64_t stirs; /* the target's sign of life */
	struct failure first;  /* what done() is told; the loop's, then the end job's */
};

static void pump(struct writer *w);

/* --- ending ---------------------------------------------------------------------------------- */

static void writer_destroy(struct writer *w)
{
	for (int i = 0; i < IN_BUFFERS; i++)
		free(w->in[i].data);
	target_free(w->target);
	crypto_hash_free(w->hash);
	ZSTD_freeDCtx(w->zd);
	free(w->path);
	free(w);
}

static bool at_work(const struct writer *w)
{
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

static void stop_http(struct writer *w)
{
	loop_timer_stop(&w->retry);
	http_cancel(w->req);
	w->req = NULL;
	http_peer_free(w->peer);
	w->peer = NULL;
}

void writer_free(struct writer *w)
{
	if (!w)
		return;
	stop_http(w);
	loop_timer_stop(&w->watch);
	w->closing = true;
	if (!at_work(w)) {
		writer_destroy(w);
		return;
	}
	if (w->hash_work)
		loop_work_abandon(w->hash_work);
	if (w->store_work)
		loop_work_abandon(w->store_work);
	if (w->end_work)
		loop_work_abandon(w->end_work);
}

/* Keep the first failure; the jobs under way end before anything follows from it. */
static void set_failed(struct failure *f, const char *reason, const struct err *e)
{
	if (!f->reason) {
		f->reason = reason;
		f->err = *e;
	}
}

/* Only room that is lacking is the image's fault. */
static const char *put_reason(const struct err *e)
{
	return e->kind == ERR_CAPACITY && !e->code ? "ImageUnfit" : "DriveFailed";
}

static void take_failure(struct writer *w, const struct failure *f)
{
	if (f->reason)
		set_failed(&w->first, f->reason, &f->err);
}

/* --- the end: the last piece, judge, read back, partition table -------------------------------- */

static int judge(struct writer *w, struct err *e)
{
	uint8_t got[CRYPTO_SHA256];
	char text[CRYPTO_DIGEST_TEXT];

	crypto_hash_end(w->hash, got);
	if (memcmp(got, w->digest, sizeof(got)) != 0)
		return err_set(e, ERR_INVALID, 0, "the bytes served have digest %s",
			       crypto_digest_text(got, text));
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

/* --- hashing, unpacking, writing --------------------------------------------------------------- */

/* Both have had it: it can be filled again.  In the order of filling, as both go in that order. */
static void give_back(struct in_buf *in)
{
	if (!in->hashed || !in->stored)
		return;
	in->len = in->pos = 0;
	in->full = in->hashed = in->stored = false;
}

static void run_hash(void *arg)
{
	struct writer *w = arg;
	const struct in_buf *in = &w->in[w->in_hash];

	crypto_hash_add(w->hash, in->data, in->len);
}

static void done_hash(void *arg)
{
	struct writer *w = arg;
	struct in_buf *in = &w->in[w->in_hash];

	w->hash_work = NULL;
	w->in_hash = (w->in_hash + 1) % IN_BUFFERS;
	in->hashed = true;
	give_back(in);
	pump(w);
}

static int unpack(struct writer *w, struct in_buf *in, uint8_t *piece, struct err *e)
{
	ZSTD_inBuffer zin = {in->data, in->len, in->pos};
	ZSTD_outBuffer zout = {piece, TARGET_PIECE, w->filled};

	/* With nothing left to read too: inside a frame the decoder may hold output that did
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
	in->pos = zin.pos;
	w->filled = zout.pos;
	return 0;
}

static void copy(struct writer *w, struct in_buf *in, uint8_t *piece)
{
	size_t n = in->len - in->pos;

	if (n > TARGET_PIECE - w->filled)
		n = TARGET_PIECE - w->filled;
	memcpy(piece + w->filled, in->data + in->pos, n);
	in->pos += n;
	w->filled += n;
}

/* From the buffer to the drive.  A buffer whose bytes are all taken may still have output waiting
 * in the decoder: only when room was left in the piece is it known that nothing more comes. */
static void run_store(void *arg)
{
	struct writer *w = arg;
	struct in_buf *in = &w->in[w->in_next];
	struct err e;

	for (int pieces = 0; pieces < JOB_PIECES && !w->emptied; pieces++) {
		uint8_t *piece = target_buffer(w->target, &e);

		if (!piece) {
			set_failed(&w->store_failure, "DriveFailed", &e);
			return;
		}
		if (!w->zstd) {
			copy(w, in, piece);
		} else if (unpack(w, in, piece, &e) < 0) {
			set_failed(&w->store_failure, "ImageMismatch", &e);
			return;
		}
		if (w->filled < TARGET_PIECE) {
			w->emptied = true;
		} else if (put_last(w, &e) < 0) {
			set_failed(&w->store_failure, put_reason(&e), &e);
			return;
		}
	}
}

static void done_store(void *arg)
{
	struct writer *w = arg;
	struct in_buf *in = &w->in[w->in_next];

	w->store_work = NULL;
	take_failure(w, &w->store_failure);
	if (w->emptied) {
		w->emptied = false;
		in->stored = true;
		w->in_next = (w->in_next + 1) % IN_BUFFERS;
		give_back(in);
	}
	pump(w);
}

/* --- what can go on, goes on ----------------------------------------------------------------- */

static size_t room(const struct writer *w)
{
	size_t n = 0;

	for (int i = 0; i < IN_BUFFERS; i++)
		if (!w->in[i].full)
			n += IN_BYTES - w->in[i].len;
	return n;
}

static void pump(struct writer *w)
{
	struct in_buf *in = &w->in[w->in_next];

	if (w->over || w->end_work)
		return;
	if (w->first.reason) {
		stop_http(w);
		if (!at_work(w))
			w->end_work = loop_work(w->group, run_end, done_end, drop_end, w);
		return;
	}
	/* Nothing to do but wait for the network: take what there is, if that leaves room for
	 * what was asked for. */
	if (!in->full && in->len && !w->store_work && !w->in[(w->in_next + 1) % IN_BUFFERS].full) {
		in->full = true;
		w->in_fill = (w->in_next + 1) % IN_BUFFERS;
	}
	if (!w->hash_work && w->in[w->in_hash].full && !w->in[w->in_hash].hashed)
		w->hash_work = loop_work(w->group, run_hash, done_hash, drop_hash, w);
	if (!w->store_work && in->full && !in->stored)
		w->store_work = loop_work(w->group, run_store, done_store, drop_store, w);
	if (w->wants && w->req && room(w) >= HTTP_PIECE) {
		w->wants = false;
		http_want(w->req);
	}
	if (w->eof && !at_work(w))
		w->end_work = loop_work(w->group, run_end, done_end, drop_end, w);
}

/* --- the network ----------------------------------------------------------------------------- */

static void lose(struct writer *w, const char *reason, const struct err *e)
{
	set_failed(&w->first, reason, e);
	pump(w);
}

static int on_head(const struct http_reply *r, void *arg, struct err *e)
{
	struct writer *w = arg;
	const char *range = http_reply_header(r, "Content-Range");
	const char *length = http_reply_header(r, "Content-Length");
	int64_t n;

	if (r->status >= 400)
		return http_err(r, e);
	if (r->status != (w->received ? 206 : 200))
		return err_set(e, ERR_PROTOCOL, r->status, "status %d, want %d", r->status,
			       w->received ? 206 : 200);
	if (w->received) {
		long long from;

		if (!range || sscanf(range, "bytes %lld-", &from) != 1 || from != w->received)
			return err_set(e, ERR_PROTOCOL, 0, "the server resumes at another place");
	} else if (length && str_to_i64(length, 0, INT64_MAX, &n)) {
		w->total = n;
	}
	return 0;
}

static int on_data(const char *data, size_t len, void *arg, struct err *e)
{
	struct writer *w = arg;

	if (len > room(w))
		return err_set(e, ERR_PROTOCOL, 0, "more data than was asked for");
	if (w->total && (int64_t)len > w->total - w->received) {
		(void)!err_set(e, ERR_PROTOCOL, 0, "more than the %" PRId64 " bytes it said",
			       w->total);
		set_failed(&w->first, "ImageMismatch", e);
		return -1;
	}
	w->received += (int64_t)len;
	w->attempts = 0;
	while (len) {
		struct in_buf *in = &w->in[w->in_fill];
		size_t n = IN_BYTES - in->len < len ? IN_BYTES - in->len : len;

		memcpy(in->data + in->len, data, n);
		in->len += n;
		data += n;
		len -= n;
		if (in->len == IN_BYTES) {
			in->full = true;
			w->in_fill = (w->in_fill + 1) % IN_BUFFERS;
		}
	}
	w->wants = true;
	pump(w);
	return 0;
}

static void on_done(const struct http_reply *r, const struct err *e, void *arg)
{
	struct writer *w = arg;

	(void)r;
	w->req = NULL;
	/* on_head let nothing but a good status pass.  A connection that broke after the last
	 * byte broke nothing. */
	if (!e || (w->total && w->received == w->total)) {
		w->eof = true;
		pump(w);
		return;
	}
	if (!err_is_transient(e) || ++w->attempts >= ATTEMPTS) {
		lose(w, "ImageUnavailable", e);
		return;
	}
	loop_timer_start(&w->retry, backoff_next(&w->backoff, loop_random(loop_of(w->group))));
}

static void fetch(void *arg)
{
	struct writer *w = arg;
	char from[48];
	struct http_header range = {"Range", from};
	struct http_call c = {
		.path = w->path,
		.headers = &range,
		.nheaders = w->received ? 1 : 0,
		.no_timeout = true,
		.idle_ms = IDLE_MS,
		.max_body = SIZE_MAX / 2,
		.on_head = on_head,
		.on_data = on_data,
		.paced = true,
		.done = on_done,
		.arg = w,
	};

	snprintf(from, sizeof(from), "bytes=%" PRId64 "-", w->received);
	w->wants = false;
	w->req = http_start(w->peer, &c);
}

/* --- what stands still ------------------------------------------------------------------------ */

/* The drive: its thread may never come back, and whoever waits for the order must be told. */
static bool drive_hangs(struct writer *w, int64_t now)
{
	int64_t moved = atomic_load(&w->stirs);
	int64_t limit = w->end_work ? END_MS : erase_patience_ms(w->host);

	if ((!w->store_work && !w->end_work) || moved != w->moved) {
		w->moved = moved;
		w->moved_at = now;
	}
	return now - w->moved_at > limit;
}

static bool server_trickles(struct writer *w, int64_t now)
{
	bool waits = !w->eof && !w->store_work && !w->end_work && !w->first.reason;

	if (!waits || w->received - w->paced >= PACE_BYTES) {
		w->paced = w->received;
		w->paced_at = now;
	}
	return now - w->paced_at > PACE_MS;
}

static void on_watch(void *arg)
{
	struct writer *w = arg;
	int64_t now = loop_now(loop_of(w->group));
	struct err e;

	loop_timer_start(&w->watch, WATCH_MS);
	if (server_trickles(w, now)) {
		(void)!err_set(&e, ERR_TIMEOUT, 0, "%" PRId64 " bytes in %d s",
			       w->received - w->paced, PACE_MS / 1000);
		lose(w, "ImageUnavailable", &e);
	} else if (drive_hangs(w, now)) {
		(void)!err_set(&e, ERR_TIMEOUT, 0, "%s stands still, and holds a part of the image",
			       w->drive->path);
		stop_http(w);
		loop_timer_stop(&w->watch);
		w->over = true;
		w->done("DriveFailed", &e, w->arg);
	}
}

/* --- the beginning --------------------------------------------------------------------------- */

static int open_source(struct writer *w, const struct writer_spec *s, struct err *e)
{
	const char *host = s->url ? strstr(s->url, "://") : NULL, *path;
	bool tls = str_starts(str_or(s->url, ""), "https://");

	if (!host || (!tls && !str_starts(s->url, "http://")))
		return err_set(e, ERR_INVALID, 0, "url: want http:// or https://");
	if (tls && str_empty(s->ca_pem))
		return err_set(e, ERR_INVALID, 0, "an https url needs a CA");
	if (!s->digest || !crypto_digest_parse(s->digest, w->digest))
		return err_set(e, ERR_INVALID, 0, "digest: want sha256:<64 hex digits>");
	path = strchr(host + 3, '/');
	w->path = mem_strdup(path ? path : "/");

	char *base = path ? mem_strndup(s->url, (size_t)(path - s->url)) : mem_strdup(s->url);
	struct http_peer_spec p = {.base_url = base, .ca_pem = s->ca_pem, .plain_ok = !tls};

	w->peer = http_peer_new(w->http, &p, e);
	free(base);
	return w->peer ? 0 : -1;
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
	if (!w->first.reason)
		fetch(w);
	pump(w);
}

struct writer *writer_start(struct loop_group *g, struct http *http, const struct writer_spec *s,
			    void (*done)(const char *reason, const struct err *e, void *arg),
			    void *arg)
{
	struct writer *w = mem_new(struct writer);
	uint8_t seed[32];
	struct err e;

	w->group = g;
	w->http = http;
	w->done = done;
	w->arg = arg;
	w->host = s->host;
	w->drive = s->drive;
	w->zstd = s->format == 1;
	w->backoff = (struct backoff){.base_ms = 500, .cap_ms = 15000};
	loop_timer_init(&w->retry, g, fetch, w);
	loop_timer_init(&w->watch, g, on_watch, w);
	w->paced_at = w->moved_at = loop_now(loop_of(g));
	loop_timer_start(&w->watch, WATCH_MS);
	loop_random_bytes(loop_of(g), seed, sizeof(seed));
	w->target = target_new(w->host, w->drive, seed, &w->stirs);
	w->hash = crypto_hash_new();
	for (int i = 0; i < IN_BUFFERS; i++)
		w->in[i].data = mem_alloc(IN_BYTES);
	if (w->zstd) {
		w->zd = ZSTD_createDCtx();
		if (!w->zd ||
		    ZSTD_isError(ZSTD_DCtx_setParameter(w->zd, ZSTD_d_windowLogMax, WINDOW_LOG)))
			abort();
	}
	if (open_source(w, s, &e) < 0)
		set_failed(&w->first, "OrderInvalid", &e);
	/* In either case done() comes later, from the loop. */
	w->store_work = loop_work(g, run_open, done_open, drop_store, w);
	return w;
}

void writer_progress(const struct writer *w, int64_t *served, int64_t *total)
{
	*served = w->received;
	*total = w->total;
}
