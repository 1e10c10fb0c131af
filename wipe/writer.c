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
#include "wipe/dio.h"
#include "wipe/drives.h"
#include "wipe/erase.h"
#include "wipe/readback.h"
#include "wipe/ring.h"
#include "wipe/gpt.h"
#include "wipe/sparse.h"

enum { IN_BUFFERS = 4, OUT_BUFFERS = 3 };
/* Large, because every change of hands goes through the loop. */
#define IN_BYTES (4u << 20)
#define OUT_BYTES (8u << 20)
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
	bool full; /* closed: hash and decoder may have it */
	bool hashed, unpacked;
};
struct out_buf {
	uint8_t *data;
	size_t len;
	int64_t at;
	bool full;
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

	struct loop_work *hash_work, *decode_work, *write_work, *end_work;
	bool closing; /* freed while jobs run */

	/* one at a time belongs to a job: the loop does not look into a buffer that it has */
	struct in_buf in[IN_BUFFERS];
	struct out_buf out[OUT_BUFFERS];
	unsigned in_fill, in_hash, in_next, out_fill, out_next;

	struct crypto_hash *hash; /* the hash job's, then the end job's */
	/* the decoder's */
	ZSTD_DCtx *zd;
	bool frame_open;
	int64_t decoded;
	struct failure decode_failure;
	/* the drive's */
	struct dio dio;
	struct ring *ring;
	struct readback *readback;
	_Atomic int64_t written;
	bool touched; /* bytes may have reached the drive */
	struct failure drive_failure;

	struct failure first; /* what done() is told; the loop's, then the end job's */
};

static void pump(struct writer *w);

/* --- ending ---------------------------------------------------------------------------------- */

static void writer_destroy(struct writer *w)
{
	for (int i = 0; i < IN_BUFFERS; i++)
		free(w->in[i].data);
	for (int i = 0; i < OUT_BUFFERS; i++)
		free(w->out[i].data);
	ring_free(w->ring);
	dio_close(&w->dio);
	readback_free(w->readback);
	crypto_hash_free(w->hash);
	ZSTD_freeDCtx(w->zd);
	free(w->path);
	free(w);
}

static bool at_work(const struct writer *w)
{
	return w->hash_work || w->decode_work || w->write_work || w->end_work;
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

static void drop_decode(void *arg)
{
	on_drop(&((struct writer *)arg)->decode_work, arg);
}

static void drop_write(void *arg)
{
	on_drop(&((struct writer *)arg)->write_work, arg);
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
	if (w->decode_work)
		loop_work_abandon(w->decode_work);
	if (w->write_work)
		loop_work_abandon(w->write_work);
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

static void take_failure(struct writer *w, const struct failure *f)
{
	if (f->reason)
		set_failed(&w->first, f->reason, &f->err);
}

/* A table that the firmware cannot find: what was written is not to be booted. */
static void make_unbootable(struct writer *w)
{
	struct err e;

	if (!w->touched || dio_zero(&w->dio, 0, GPT_HEAD, &e) < 0 || dio_flush(&w->dio, &e) < 0)
		return;
	/* The backup table would be as good to a firmware that looks for it. */
	(void)!dio_zero(&w->dio, w->dio.bytes - GPT_HEAD, GPT_HEAD, &e);
	(void)!dio_flush(&w->dio, &e);
}

/* --- the end: judge, read back, partition table ---------------------------------------------- */

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
	if (!w->decoded)
		return err_set(e, ERR_INVALID, 0, "the image is empty");
	return 0;
}

static void partition_guid(const struct writer *w, uint8_t out[static 16])
{
	uint8_t d[CRYPTO_SHA256];
	char *text = mem_printf("cidata %s", w->drive->wwn);

	/* One per drive and image, with the version bits of a random UUID (as stored: byte 7). */
	crypto_sha256(text, strlen(text), d);
	free(text);
	for (size_t i = 0; i < 16; i++)
		out[i] = d[i] ^ w->digest[i];
	out[7] = (uint8_t)((out[7] & 0x0f) | 0x40);
	out[8] = (uint8_t)((out[8] & 0x3f) | 0x80);
}

static int fit_table(struct writer *w, struct err *e)
{
	struct gpt *g = mem_new(struct gpt);
	uint8_t *head = dio_buffer(GPT_HEAD), *tail = dio_buffer(GPT_HEAD), guid[16];
	int64_t at, bytes;
	int rc = dio_read(&w->dio, head, GPT_HEAD, 0, e);

	partition_guid(w, guid);
	if (!rc)
		rc = gpt_read(g, head, w->dio.block, w->dio.bytes, e);
	if (!rc && !gpt_find(g, WRITER_CIDATA, &at, &bytes))
		rc = gpt_append(g, WRITER_CIDATA, guid, WRITER_CIDATA_BYTES, e);
	/* An old config drive there must not be taken for this machine's. */
	if (!rc && gpt_find(g, WRITER_CIDATA, &at, &bytes))
		rc = dio_zero(&w->dio, at, bytes, e);
	if (!rc) {
		gpt_write(g, head, tail);
		rc = dio_write(&w->dio, tail, gpt_tail_bytes(g),
			       w->dio.bytes - (int64_t)gpt_tail_bytes(g), e);
	}
	if (!rc)
		rc = dio_flush(&w->dio, e);
	if (!rc)
		rc = dio_write(&w->dio, head, GPT_HEAD, 0, e);
	if (!rc)
		rc = dio_flush(&w->dio, e);
	free(head);
	free(tail);
	free(g);
	return rc;
}

static bool is_unfit(const struct err *e)
{
	return e->kind == ERR_PROTOCOL || e->kind == ERR_CAPACITY || e->kind == ERR_UNSUPPORTED;
}

static void run_end(void *arg)
{
	struct writer *w = arg;
	struct err e;

	if (!w->first.reason && judge(w, &e) < 0)
		set_failed(&w->first, "ImageMismatch", &e);
	if (!w->first.reason &&
	    (dio_flush(&w->dio, &e) < 0 || readback_check(w->readback, w->host, &w->dio, &e) < 0))
		set_failed(&w->first, "DriveFailed", &e);
	if (!w->first.reason && fit_table(w, &e) < 0)
		set_failed(&w->first, is_unfit(&e) ? "ImageUnfit" : "DriveFailed", &e);
	if (w->first.reason)
		make_unbootable(w);
	dio_close(&w->dio);
}

static void done_end(void *arg)
{
	struct writer *w = arg;

	w->end_work = NULL;
	w->over = true;
	loop_timer_stop(&w->watch);
	w->done(w->first.reason, w->first.reason ? &w->first.err : NULL, w->arg);
}

/* --- hashing and decoding -------------------------------------------------------------------------------- */

static int decode_zstd(struct writer *w, struct in_buf *in, struct out_buf *out, struct err *e)
{
	ZSTD_inBuffer zin = {in->data, in->len, in->pos};
	ZSTD_outBuffer zout = {out->data, OUT_BYTES, out->len};

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
	out->len = zout.pos;
	return 0;
}

/* Both have had it: it can be filled again.  In the order of filling, as both go in that order. */
static void give_back(struct in_buf *in)
{
	if (!in->hashed || !in->unpacked)
		return;
	in->len = in->pos = 0;
	in->full = in->hashed = in->unpacked = false;
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

static void run_decode(void *arg)
{
	struct writer *w = arg;
	struct in_buf *in = &w->in[w->in_next];
	struct out_buf *out = &w->out[w->out_fill];
	size_t had = out->len;
	struct err e;

	if (!w->zstd) {
		size_t n = in->len - in->pos;

		if (n > OUT_BYTES - out->len)
			n = OUT_BYTES - out->len;
		memcpy(out->data + out->len, in->data + in->pos, n);
		in->pos += n;
		out->len += n;
	} else if (decode_zstd(w, in, out, &e) < 0) {
		set_failed(&w->decode_failure, "ImageMismatch", &e);
		return;
	}
	w->decoded += (int64_t)(out->len - had);
	if (w->decoded > w->dio.bytes) {
		(void)!err_set(&e, ERR_CAPACITY, 0,
			       "the image is larger than the drive's %" PRId64 " bytes",
			       w->dio.bytes);
		set_failed(&w->decode_failure, "ImageUnfit", &e);
	}
}

static void done_decode(void *arg)
{
	struct writer *w = arg;
	struct in_buf *in = &w->in[w->in_next];
	struct out_buf *out = &w->out[w->out_fill];

	w->decode_work = NULL;
	take_failure(w, &w->decode_failure);
	if (out->len == OUT_BYTES) {
		out->full = true;
		w->out_fill = (w->out_fill + 1) % OUT_BUFFERS;
	}
	/* A buffer whose bytes are all taken may still have output waiting in the decoder:
	 * only when room was left in the out buffer is it known that nothing more comes from
	 * it. */
	if (in->pos == in->len && !out->full) {
		in->unpacked = true;
		give_back(in);
		w->in_next = (w->in_next + 1) % IN_BUFFERS;
	}
	pump(w);
}

/* --- writing --------------------------------------------------------------------------------- */

static int write_buffer(struct writer *w, struct out_buf *o, struct err *e)
{
	size_t pad = o->len % VERIFY_BLOCK ? VERIFY_BLOCK - o->len % VERIFY_BLOCK : 0;

	if (pad > (size_t)(w->dio.bytes - o->at) - o->len)
		pad = (size_t)(w->dio.bytes - o->at) - o->len;
	memset(o->data + o->len, 0, pad);
	readback_note(w->readback, o->data, o->len + pad, o->at);
	if (sparse_write(w->ring, &w->dio, o->data, o->len + pad, o->at, e) < 0)
		return -1;
	atomic_fetch_add(&w->written, (int64_t)o->len);
	return 0;
}

static void run_write(void *arg)
{
	struct writer *w = arg;
	struct out_buf *o = &w->out[w->out_next];
	struct err e;

	w->touched = true;
	if (write_buffer(w, o, &e) < 0)
		set_failed(&w->drive_failure, "DriveFailed", &e);
}

static void done_write(void *arg)
{
	struct writer *w = arg;
	struct out_buf *o = &w->out[w->out_next];

	w->write_work = NULL;
	take_failure(w, &w->drive_failure);
	o->full = false;
	o->len = 0;
	o->at += (int64_t)OUT_BUFFERS * OUT_BYTES;
	w->out_next = (w->out_next + 1) % OUT_BUFFERS;
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
	struct out_buf *out = &w->out[w->out_fill];

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
	if (!in->full && in->len && !w->decode_work && !w->in[(w->in_next + 1) % IN_BUFFERS].full) {
		in->full = true;
		w->in_fill = (w->in_next + 1) % IN_BUFFERS;
	}
	if (!w->hash_work && w->in[w->in_hash].full && !w->in[w->in_hash].hashed)
		w->hash_work = loop_work(w->group, run_hash, done_hash, drop_hash, w);
	if (!w->decode_work && in->full && !in->unpacked && !out->full)
		w->decode_work = loop_work(w->group, run_decode, done_decode, drop_decode, w);
	if (w->eof && !w->decode_work && !in->full && out->len && !out->full) {
		out->full = true;
		w->out_fill = (w->out_fill + 1) % OUT_BUFFERS;
	}
	if (!w->write_work && w->out[w->out_next].full)
		w->write_work = loop_work(w->group, run_write, done_write, drop_write, w);
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
	int64_t moved = atomic_load(&w->written);
	int64_t limit = w->end_work ? END_MS : erase_patience_ms(w->host);

	if ((!w->write_work && !w->end_work) || moved != w->moved) {
		w->moved = moved;
		w->moved_at = now;
	}
	return now - w->moved_at > limit;
}

static bool server_trickles(struct writer *w, int64_t now)
{
	bool waits = !w->eof && !w->write_work && !w->end_work && !w->first.reason;

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
		(void)!err_set(&e, ERR_TIMEOUT, 0,
			       "%s stands still after %" PRId64 " bytes, and holds a part of the "
			       "image",
			       w->drive->path, w->moved);
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

	if (dio_open(&w->dio, w->host, drive_name(w->drive), true, &e) < 0) {
		set_failed(&w->drive_failure, "DriveFailed", &e);
	} else if (w->dio.bytes != w->drive->bytes) {
		(void)!err_set(&e, ERR_CONFLICT, 0, "%s: size changed since it was found",
			       w->drive->path);
		set_failed(&w->drive_failure, "DriveFailed", &e);
	}
}

static void done_open(void *arg)
{
	struct writer *w = arg;

	w->write_work = NULL;
	take_failure(w, &w->drive_failure);
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
	w->dio.fd = -1;
	w->zstd = s->format == 1;
	w->backoff = (struct backoff){.base_ms = 500, .cap_ms = 15000};
	loop_timer_init(&w->retry, g, fetch, w);
	loop_timer_init(&w->watch, g, on_watch, w);
	w->paced_at = w->moved_at = loop_now(loop_of(g));
	loop_timer_start(&w->watch, WATCH_MS);
	loop_random_bytes(loop_of(g), seed, sizeof(seed));
	w->readback = readback_new(seed);
	w->ring = ring_new(w->host, OUT_BYTES / SPARSE_PIECE, VERIFY_BLOCK, true);
	w->hash = crypto_hash_new();
	for (int i = 0; i < IN_BUFFERS; i++)
		w->in[i].data = mem_alloc(IN_BYTES);
	for (int i = 0; i < OUT_BUFFERS; i++) {
		w->out[i].data = dio_buffer(OUT_BYTES);
		w->out[i].at = i * (int64_t)OUT_BYTES;
	}
	if (w->zstd) {
		w->zd = ZSTD_createDCtx();
		if (!w->zd ||
		    ZSTD_isError(ZSTD_DCtx_setParameter(w->zd, ZSTD_d_windowLogMax, WINDOW_LOG)))
			abort();
	}
	if (open_source(w, s, &e) < 0)
		set_failed(&w->first, "OrderInvalid", &e);
	/* In either case done() comes later, from the loop. */
	w->write_work = loop_work(g, run_open, done_open, drop_write, w);
	return w;
}

void writer_progress(const struct writer *w, int64_t *served, int64_t *total, int64_t *written)
{
	*served = w->received;
	*total = w->total;
	*written = atomic_load(&((struct writer *)w)->written);
}
