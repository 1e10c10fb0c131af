/*
 * agent_write: writes an image from HTTP to a drive, the config drive behind it, and the clean
 * stamps.
 *
 * An image is written at times.write_bytes_per_s, piece by piece as it arrives. The digest of the
 * received bytes is checked at the end. After any failure the first and last MiB are zeroed, so
 * that no partial image boots.
 * Tests: tests/unit/sim/agent/test_agent.c
 */
#include <stdlib.h>
#include <string.h>
#include <zstd.h>
#include "base/mem.h"
#include "base/str.h"
#include "sim/agent/agent_impl.h"
#include "sim/machine/iso.h"

#define EDGE (1 << 20)
/* Number of bytes kept free behind the image, for config drive and backup GPT. */
#define LEAST_ROOM (8 << 20)
#define WINDOW_LOG 27
#define ATTEMPTS 8
#define AGAIN_MS 1000
#define IDLE_MS 60000
#define OUT_BYTES (256 << 10)
#define MARK_MS 100 /* Duration of a small write in ms. */

struct agent_write {
	struct sim_agent *agent;
	struct drive *drive;
	struct http_peer *peer;
	struct http_req *req;
	/* Timer that requests the next piece, or starts another attempt. */
	struct loop_timer timer;
	struct crypto_hash *hash;
	/* Decoder; NULL: the image is raw. */
	ZSTD_DCtx *zd;
	bool frame_open;
	char *path, *out;
	/* First block of the image, which is read back at the end. */
	char first[DRIVE_BLOCK];
	int64_t served, skip, written, total, began;
	unsigned attempts;
	/* Reason of the failure; NULL: none. */
	const char *reason;
};

static void start(struct agent_write *w);

static void write_free(struct agent_write *w)
{
	loop_timer_stop(&w->timer);
	http_cancel(w->req);
	http_peer_free(w->peer);
	crypto_hash_free(w->hash);
	ZSTD_freeDCtx(w->zd);
	free(w->path);
	free(w->out);
	free(w);
}

static void fail_image(struct agent_write *w, const char *reason, const struct err *e)
{
	int64_t end = drive_bytes(w->drive) - EDGE;
	struct err ignored;

	(void)!drive_zero(w->drive, 0, EDGE, &ignored);
	(void)!drive_zero(w->drive, end, EDGE, &ignored);
	agent_fail(w->agent, reason, "%s", e->text);
}

static int fail_with(struct agent_write *w, const char *reason, int rc)
{
	w->reason = reason;
	return rc;
}

static int put(struct agent_write *w, const void *data, size_t len, struct err *e)
{
	if (w->written + (int64_t)len > drive_bytes(w->drive) - LEAST_ROOM)
		return fail_with(w, "ImageUnfit",
				 err_set(e, ERR_CAPACITY, 0, "the image needs more than %lld bytes",
					 (long long)drive_bytes(w->drive) - LEAST_ROOM));
	if (drive_write(w->drive, data, len, w->written, e) < 0)
		return fail_with(w, "DriveFailed", -1);
	if (w->written < DRIVE_BLOCK)
		memcpy(w->first + w->written, data,
		       len < (size_t)(DRIVE_BLOCK - w->written)
			       ? len
			       : (size_t)(DRIVE_BLOCK - w->written));
	w->written += (int64_t)len;
	return 0;
}

static int unpack(struct agent_write *w, const char *data, size_t len, struct err *e)
{
	ZSTD_inBuffer in = {data, len, 0};
	bool more = true;

	while (in.pos < in.size || more) {
		ZSTD_outBuffer out = {w->out, OUT_BYTES, 0};
		size_t rc = ZSTD_decompressStream(w->zd, &out, &in);

		if (ZSTD_isError(rc))
			return fail_with(
				w, "ImageUnfit",
				err_set(e, ERR_PROTOCOL, 0, "zstd: %s", ZSTD_getErrorName(rc)));
		w->frame_open = rc != 0;
		if (out.pos && put(w, w->out, out.pos, e) < 0)
			return -1;
		more = out.pos == OUT_BYTES;
	}
	return 0;
}

static int on_head(const struct http_reply *r, void *arg, struct err *e)
{
	struct agent_write *w = arg;
	const char *length = http_reply_header(r, "Content-Length");
	int64_t n;

	w->skip = r->status == 206 ? 0 : w->served;
	if (length && str_to_i64(length, 0, INT64_MAX / 2, &n))
		w->total = n + (r->status == 206 ? w->served : 0);
	(void)e;
	return 0;
}

/* Requests the next piece at the time at which a real drive would have written all data so far. */
static void want_later(struct agent_write *w)
{
	struct sim_agent *a = w->agent;
	int64_t rate = sim_machine_times(a->machine).write_bytes_per_s;
	int64_t due = w->began + w->written / rate * 1000 + w->written % rate * 1000 / rate;
	int64_t wait = due - loop_now(loop_of(a->group));

	loop_timer_start(&w->timer, wait > 0 ? wait : 0);
	a->done_bytes = w->served;
	a->total_bytes = w->total;
	a->bytes_per_s = rate;
}

static int on_data(const char *data, size_t len, void *arg, struct err *e)
{
	struct agent_write *w = arg;
	size_t skip = w->skip < (int64_t)len ? (size_t)w->skip : len;

	w->skip -= (int64_t)skip;
	data += skip;
	len -= skip;
	w->served += (int64_t)len;
	if (len)
		w->attempts = 0;
	crypto_hash_add(w->hash, data, len);
	if (len && (w->zd ? unpack(w, data, len, e) : put(w, data, len, e)) < 0)
		return -1;
	want_later(w);
	return 0;
}

/* Reads the first block of the image from the drive, and compares it with what was written. */
static int read_back(const struct agent_write *w, struct err *e)
{
	char block[DRIVE_BLOCK];
	size_t len = w->written < DRIVE_BLOCK ? (size_t)w->written : DRIVE_BLOCK;

	if (drive_read(w->drive, block, len, 0, e) < 0)
		return -1;
	return memcmp(block, w->first, len)
		       ? err_set(e, ERR_PROTOCOL, 0, "the block at 0 does not read back as written")
		       : 0;
}

static void judge(struct agent_write *w)
{
	const struct proto_order *o = w->agent->order;
	struct proto_report r = {.state = PROTO_DONE, .drive = o->drive};
	uint8_t d[CRYPTO_SHA256];
	char text[CRYPTO_DIGEST_TEXT];
	struct err e;

	crypto_hash_end(w->hash, d);
	crypto_digest_text(d, text);
	if (!str_eq(text, o->digest)) {
		err_note(&e, ERR_PROTOCOL, 0, "the %lld bytes served have digest %s, not %.80s",
			 (long long)w->served, text, o->digest);
		fail_image(w, "ImageMismatch", &e);
	} else if (w->frame_open) {
		err_note(&e, ERR_PROTOCOL, 0, "zstd: the last frame is not complete");
		fail_image(w, "ImageUnfit", &e);
	} else if (read_back(w, &e) < 0) {
		fail_image(w, "DriveFailed", &e);
	} else {
		agent_finish(w->agent, &r);
	}
}

static void on_done(const struct http_reply *r, const struct err *e, void *arg)
{
	struct agent_write *w = arg;
	struct err why;

	w->req = NULL;
	loop_timer_stop(&w->timer);
	if (r && http_err(r, &why) == 0) {
		judge(w);
	} else if (w->reason) {
		fail_image(w, w->reason, e);
	} else {
		why = e ? *e : why;
		if (err_is_transient(&why) && ++w->attempts < ATTEMPTS)
			loop_timer_start(&w->timer, AGAIN_MS);
		else
			fail_image(w, "ImageUnavailable", &why);
	}
}

static void on_timer(void *arg)
{
	struct agent_write *w = arg;

	if (w->req)
		http_want(w->req);
	else
		start(w);
}

static void start(struct agent_write *w)
{
	char range[48];
	struct http_header h = {"Range", range};
	struct http_call c = {
		.path = w->path,
		.headers = &h,
		.nheaders = w->served > 0,
		.no_timeout = true,
		.idle_ms = IDLE_MS,
		.on_head = on_head,
		.on_data = on_data,
		.paced = true,
		.piece_bytes = 256 << 10,
		.done = on_done,
		.arg = w,
	};

	str_format(range, sizeof(range), "bytes=%lld-", (long long)w->served);
	w->req = http_start(w->peer, &c);
}

static void begin_image(struct sim_agent *a, struct drive *d)
{
	const struct proto_order *o = a->order;
	struct agent_write *w = mem_new(struct agent_write);
	const char *host = strstr(o->url, "://"), *path = host ? strchr(host + 3, '/') : NULL;
	char *origin = mem_strndup(o->url, path ? (size_t)(path - o->url) : strlen(o->url));
	struct http_peer_spec s = {.base_url = origin,
				   .ca_pem = o->ca_pem,
				   .plain_ok = true,
				   .user_agent = "sim-agent"};
	struct err e;

	a->write = w;
	a->write_free = write_free;
	a->phase = "image";
	w->agent = a;
	w->drive = d;
	w->hash = crypto_hash_new();
	w->path = mem_strdup(path ? path : "/");
	w->began = loop_now(loop_of(a->group));
	loop_timer_init(&w->timer, a->group, on_timer, w);
	if (o->format == 1) {
		w->zd = ZSTD_createDCtx();
		w->out = mem_alloc(OUT_BYTES);
		(void)ZSTD_DCtx_setParameter(w->zd, ZSTD_d_windowLogMax, WINDOW_LOG);
	}
	if (!sim_machine_reaches(a->machine, origin))
		agent_fail(a, "ImageUnavailable", "%s is not reachable from segment \"%s\"", origin,
			   a->machine->segment);
	else if (!(w->peer = http_peer_new(a->machine->site->http, &s, &e)))
		agent_fail(a, "OrderInvalid", "%s", e.text);
	else
		start(w);
	free(origin);
}

/* --- config drive ----------------------------------------------------------------------------- */

static bool holds_image(struct drive *d)
{
	char head[DRIVE_BLOCK];
	struct err e;

	if (drive_read(d, head, sizeof(head), 0, &e) < 0)
		return false;
	for (size_t i = 0; i < sizeof(head); i++)
		if (head[i])
			return true;
	return false;
}

static void write_config(struct sim_agent *a)
{
	const struct proto_order *o = a->order;
	struct proto_report r = {.state = PROTO_DONE, .drive = o->drive};
	struct drive *d = agent_drive(a, o->drive);
	struct sim_iso_file *files = mem_calloc(o->files.n + 1, sizeof(*files));
	uint8_t *volume = mem_alloc(SIM_CIDATA_BYTES);
	size_t used = 0;
	struct err e;

	for (size_t i = 0; i < o->files.n; i++)
		files[i] = (struct sim_iso_file){o->files.v[i].name, o->files.v[i].content};
	if (!d)
		agent_fail(a, "DriveMissing", "no drive %s", o->drive);
	else if (!holds_image(d))
		agent_fail(a, "NoImage", "no image was written to %s", o->drive);
	else if (sim_iso_write(files, o->files.n, volume, &used, &e) < 0)
		agent_fail(a, "OrderInvalid", "%s", e.text);
	else if (drive_write(d, volume, SIM_CIDATA_BYTES, sim_cidata_at(drive_bytes(d)), &e) < 0)
		agent_fail(a, "DriveFailed", "%s", e.text);
	else
		agent_finish(a, &r);
	secret_wipe(volume, SIM_CIDATA_BYTES);
	free(volume);
	free(files);
}

/* --- stamps ----------------------------------------------------------------------------------- */

/* Returns NULL if stamps may be written, because every drive was wiped and verified in this boot;
 * otherwise returns the reason for refusal. */
static const char *not_wiped(struct sim_agent *a)
{
	const struct strings *expected = &a->order->expected;

	if (!a->nunits || a->missing.n)
		return "not all drives were wiped since the machine started";
	for (size_t i = 0; i < a->nunits; i++)
		if (!a->units[i].verified)
			return "a drive was not verified";
	for (size_t i = 0; i < expected->n; i++) {
		bool there = false;

		for (size_t k = 0; k < a->nunits; k++)
			there |= str_eq(a->units[k].device.wwn, expected->v[i]);
		if (!there)
			return "an expected drive was not wiped";
	}
	return NULL;
}

static void write_stamps(struct sim_agent *a)
{
	const char *why = not_wiped(a);
	struct proto_report r = {.state = PROTO_DONE};
	char block[PROTO_STAMP_SIZE];
	struct err e;

	if (why) {
		agent_fail(a, "NotWiped", "%s", why);
		return;
	}
	proto_stamp_write(a->order->record, a->order->stamp, block);
	for (size_t i = 0; i < a->nunits; i++)
		if (drive_write(a->units[i].drive, block, sizeof(block), 0, &e) < 0) {
			agent_fail(a, "DriveFailed", "%s", e.text);
			return;
		}
	agent_finish(a, &r);
}

static int unstamp(struct drive *d, struct err *e)
{
	OWN(arena) tmp = arena_new();
	char block[PROTO_STAMP_SIZE];
	const char *record, *digest;

	if (drive_read(d, block, sizeof(block), 0, e) < 0)
		return -1;
	return proto_stamp_read(block, tmp, &record, &digest)
		       ? drive_zero(d, 0, PROTO_STAMP_SIZE, e)
		       : 0;
}

static void erase_stamps(struct sim_agent *a)
{
	const struct strings *expected = &a->order->expected;
	struct proto_report r = {.state = PROTO_DONE};
	struct err e;

	for (unsigned i = 0; i < a->machine->ndrives; i++) {
		bool wanted = expected->n == 0;

		for (size_t k = 0; k < expected->n; k++)
			wanted |= str_eq(expected->v[k], a->machine->wwns[i]);
		if (wanted && unstamp(a->machine->drives[i], &e) < 0) {
			agent_fail(a, "DriveFailed", "%s: %s", a->machine->wwns[i], e.text);
			return;
		}
	}
	agent_finish(a, &r);
}

void agent_begin_write(struct sim_agent *a)
{
	struct drive *d;

	switch ((enum proto_write)a->order->what) {
	case PROTO_WRITE_IMAGE:
		d = agent_drive(a, a->order->drive);
		if (d) {
			drive_lie(d, sim_machine_fault(a->machine, "write", "DriveLies", NULL));
			begin_image(a, d);
		} else {
			agent_fail(a, "DriveMissing", "no drive %s", a->order->drive);
		}
		return;
	case PROTO_WRITE_CONFIG:
		agent_step(a, MARK_MS, write_config);
		return;
	case PROTO_WRITE_STAMP:
		agent_step(a, MARK_MS, write_stamps);
		return;
	case PROTO_WRITE_UNSTAMP:
		agent_step(a, MARK_MS, erase_stamps);
		return;
	}
	agent_fail(a, "OrderInvalid", "what: is unknown");
}
