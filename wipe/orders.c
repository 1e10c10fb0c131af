#include "wipe/orders.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "base/mem.h"
#include "base/str.h"
#include "wipe/ata.h"
#include "wipe/batch.h"
#include "wipe/controllers.h"
#include "wipe/dio.h"
#include "wipe/drives.h"
#include "wipe/inventory.h"
#include "wipe/iso9660.h"
#include "wipe/memory.h"
#include "wipe/probe.h"
#include "wipe/target.h"
#include "wipe/uncovered.h"
#include "wipe/writer.h"

/* One scan of the machine on a worker thread: at the beginning of an order, or at the end of
 * verify. */
struct scan {
	struct orders *owner;
	struct batch *batch;
	/* True: reads the whole inventory, not only drives and controllers. */
	bool everything;
	/* True: overwrites the memory after the scan. Overwriting is the last action, when no drive
	 * is read any more, because it uses almost all memory. */
	bool scrub;
};

struct orders {
	struct loop_group *group;
	struct http *http;
	const struct host *host;
	const struct crypto_key *key;
	int trust;

	/* The order being carried out; NULL: idle. */
	const struct proto_order *order;
	void (*done)(const struct proto_report *r, void *arg);
	void *arg;
	/* Drives of this order; NULL: not scanned yet. */
	struct batch *batch;
	/* Drives of the last wipe in this boot; NULL: none. verify and stamp use it. */
	struct batch *wiped;
	struct loop_work *scan;
	struct writer *writer;
	struct probe *probe;
	/* phase: phase in the last progress report. phase_since, phase_bytes: time (monotonic ms)
	 * and bytes of the first report in that phase, from which the rate is computed. */
	const char *phase;
	int64_t phase_since, phase_bytes;
	/* Deferred call that ends an order which cannot begin, with reason and err. */
	struct loop_defer refused;
	const char *reason;
	struct err err;
};

/* --- ending an order ------------------------------------------------------------------------- */

static void finish(struct orders *o, struct proto_report *r)
{
	const struct proto_order *order = o->order;
	struct batch *b = o->batch;

	r->id = order->id;
	r->seq = order->seq;
	r->fence = order->fence;
	o->order = NULL;
	o->batch = NULL;
	o->done(r, o->arg); /* may start the next order */
	batch_unref(b);
}

static void finish_failed(struct orders *o, const char *reason, const struct err *e)
{
	struct proto_report r = {.state = PROTO_FAILED, .reason = reason, .message = e->text};

	finish(o, &r);
}

static void finish_wwn(struct orders *o, const char *wwn)
{
	struct proto_report r = {.state = PROTO_DONE, .drive = wwn};

	finish(o, &r);
}

static void on_refused(void *arg)
{
	struct orders *o = arg;
	struct err e = o->err;

	finish_failed(o, o->reason, &e);
}

__attribute__((format(printf, 3, 4))) static void refuse(struct orders *o, const char *reason,
							 const char *fmt, ...)
{
	va_list ap;
	char text[200];

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	err_note(&o->err, ERR_INVALID, 0, "%s", text);
	o->reason = reason;
	loop_defer(&o->refused);
}

/* --- wipe and verify ------------------------------------------------------------------------- */

static void all_done(void *arg);

static int minimum_of(const struct proto_order *p, const struct proto_drive *d)
{
	return d->rotational && p->minimum_level_hdd > WIPE_FAIL ? p->minimum_level_hdd
								 : p->minimum_level;
}

static void start_wipe(struct orders *o)
{
	struct batch *b = o->batch;
	const struct proto_order *p = o->order;
	const struct proto_controller *c = controllers_fault(&b->inventory);

	if (c) {
		refuse(o, "StorageHidden", "controller %s at %s: %s", c->id, c->address, c->fault);
		return;
	}
	batch_choose(b, &p->expected);
	if (!b->n) {
		refuse(o, "NoDrives", "none of the machine's %zu drives is to be wiped",
		       b->inventory.drives.n);
		return;
	}
	for (size_t i = 0; i < b->n; i++)
		erase_init(&b->units[i].erase, b->host, b->units[i].drive, b->nonce,
			   minimum_of(p, b->units[i].drive), p->samples);
	batch_unref(o->wiped);
	o->wiped = batch_ref(b);
	batch_act(b, BATCH_WIPE, all_done, o);
}

/* Returns the error text of the first drive that failed; NULL: none. */
static const char *what_failed(const struct batch *b)
{
	const struct batch_unit *u = batch_failed(b);

	return u ? u->err.text : NULL;
}

static void end_wipe(struct orders *o)
{
	struct proto_report r = {.state = PROTO_DONE, .message = what_failed(o->batch)};

	r.devices.v = batch_devices(o->batch, &r.devices.n);
	finish(o, &r);
}

static void begin_verify(struct orders *o)
{
	struct batch *b = o->wiped;
	const char *uuid = o->order->evidence ? o->order->evidence->machine.system_uuid : NULL;

	if (!b || !str_eq(b->nonce_text, o->order->nonce)) {
		refuse(o, "NotWiped",
		       "nothing was wiped with this nonce since the machine started");
		return;
	}
	if (!str_empty(uuid) && b->inventory.dmi.system_uuid &&
	    strcasecmp(uuid, b->inventory.dmi.system_uuid) != 0) {
		refuse(o, "IdentityMismatch", "system UUID is %s, not %s",
		       b->inventory.dmi.system_uuid, uuid);
		return;
	}
	o->batch = batch_ref(b);
	for (size_t i = 0; i < b->n; i++)
		b->units[i].erase.samples = erase_samples(o->order->samples);
	batch_act(b, BATCH_VERIFY, all_done, o);
}

static int64_t whole_seconds(int64_t ms)
{
	return ms / 1000 * 1000;
}

static const char *nonce_digest(struct batch *b)
{
	uint8_t d[CRYPTO_SHA256];
	char text[CRYPTO_DIGEST_TEXT];

	crypto_sha256(b->nonce_text, strlen(b->nonce_text), d);
	return arena_strdup(b->arena, crypto_digest_text(d, text));
}

/* Fills ev->not_covered with all parts that the wipe does not cover: parts that neither an erase
 * method nor a statement covers, storage controllers without a driver, boot partitions, and other
 * parts that retain data without being a drive. */
static void name_not_covered(struct batch *b, struct evidence *ev)
{
	static const char *always[] = {EVIDENCE_NOT_COVERED};
	const size_t nalways = sizeof(always) / sizeof(*always);
	const char **v = arena_calloc(b->arena, EVIDENCE_NOT_COVERED_MAX, sizeof(*v));
	size_t n = 0;

	if (!ev->not_covered.n)
		ev->not_covered = (struct strings){always, nalways};
	for (size_t i = 0; i < ev->not_covered.n && n < EVIDENCE_NOT_COVERED_MAX; i++)
		if (!evidence_covers(ev, ev->not_covered.v[i]))
			v[n++] = ev->not_covered.v[i];
	for (size_t i = 0; i < b->inventory.controllers.n && n < EVIDENCE_NOT_COVERED_MAX; i++) {
		const struct proto_controller *c = &b->inventory.controllers.v[i];

		if (!c->driver)
			v[n++] = arena_printf(b->arena, "StorageController %s %s", c->id,
					      c->address);
	}
	for (size_t i = 0; i < b->parts.n && n < EVIDENCE_NOT_COVERED_MAX; i++)
		v[n++] = arena_printf(b->arena, "BootPartition %s", b->parts.v[i]);
	for (size_t i = 0; i < b->uncovered.n && n < EVIDENCE_NOT_COVERED_MAX; i++)
		v[n++] = b->uncovered.v[i];
	ev->not_covered = (struct strings){v, n};
}

static bool was_dark(const struct batch *b, const char *address)
{
	for (size_t i = 0; i < b->inventory.controllers.n; i++)
		if (str_eq(b->inventory.controllers.v[i].address, address))
			return !b->inventory.controllers.v[i].driver;
	return false;
}

static bool named(const char *const *v, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (str_eq(v[i], name))
			return true;
	return false;
}

/* Adds drives and faulty controllers that appeared since the wipe began to b->extra (unexpected
 * drives), because they were not wiped. The added names are in b's arena. */
static void note_new(struct batch *b, const struct proto_inventory *now)
{
	size_t cap = b->extra.n + now->drives.n + now->controllers.n;
	const char **v = arena_calloc(b->arena, cap + 1, sizeof(*v));
	size_t n = b->extra.n;

	if (n) /* Keeps the entries that an earlier verify found. */
		memcpy(v, b->extra.v, n * sizeof(*v));
	for (size_t i = 0; i < now->drives.n; i++)
		if (!batch_find(b, now->drives.v[i].wwn) && !named(v, n, now->drives.v[i].wwn))
			v[n++] = arena_strdup(b->arena, now->drives.v[i].wwn);
	for (size_t i = 0; i < now->controllers.n; i++) {
		const struct proto_controller *c = &now->controllers.v[i];

		const char *name = arena_printf(b->arena, "controller.%s.%s", c->id, c->address);

		if ((c->fault || (!c->driver && !was_dark(b, c->address))) && !named(v, n, name))
			v[n++] = name;
	}
	b->extra = (struct strings){v, n};
}

static bool is_to_cover(const struct proto_order *o, enum statement_part part)
{
	return statement_parts(&o->cover) & 1u << part;
}

static void end_verify(struct orders *o, struct statement *memory)
{
	struct batch *b = o->batch;
	struct evidence ev = *o->order->evidence;
	struct proto_report r = {.state = PROTO_DONE, .message = what_failed(b)};
	char *envelope;

	ev.devices.v = batch_devices(b, &ev.devices.n);
	ev.verdict = ev.devices.n && !b->extra.n ? WIPE_PURGE : WIPE_FAIL;
	for (size_t i = 0; i < ev.devices.n; i++)
		if (ev.devices.v[i].level < ev.verdict)
			ev.verdict = ev.devices.v[i].level;
	ev.start_time = whole_seconds(b->start_wall);
	ev.end_time = whole_seconds(loop_wall(loop_of(o->group)));
	ev.agent_trust = o->trust;
	ev.inventory.expected = (int64_t)(b->expected.n ? b->expected.n : b->n);
	ev.inventory.seen = (int64_t)(b->n + b->extra.n);
	ev.inventory.missing = b->missing;
	ev.inventory.extra = b->extra;
	if (!ev.nonce_digest)
		ev.nonce_digest = nonce_digest(b);
	ev.statements.v = memory;
	ev.statements.n = is_to_cover(o->order, STATEMENT_SYSTEM_MEMORY);
	name_not_covered(b, &ev);
	envelope = evidence_sign(&ev, o->key);
	r.envelope = envelope;
	r.devices.v = ev.devices.v;
	r.devices.n = ev.devices.n;
	finish(o, &r);
	free(envelope);
}

/* --- writes ---------------------------------------------------------------------------------- */

static void on_written(const char *reason, const struct err *e, void *arg)
{
	struct orders *o = arg;
	struct writer *w = o->writer;

	o->writer = NULL;
	if (reason)
		finish_failed(o, reason, e);
	else
		finish_wwn(o, o->order->drive);
	writer_free(w);
}

/* Clears `verified` of the drive, because this order writes to the drive after its verification. */
static void forget_verified(struct orders *o, const struct proto_drive *d)
{
	for (size_t i = 0; o->wiped && i < o->wiped->n; i++)
		if (str_eq(o->wiped->units[i].drive->wwn, d->wwn))
			o->wiped->units[i].verified = false;
}

static void start_image(struct orders *o, const struct proto_drive *d)
{
	const struct proto_order *p = o->order;
	struct writer_spec s = {
		.host = o->host,
		.drive = d,
		.url = p->url,
		.digest = p->digest,
		.format = p->format,
		.ca_pem = p->ca_pem,
	};

	o->writer = writer_start(o->group, o->http, &s, on_written, o);
}

static void start_config(struct orders *o, struct proto_drive *d)
{
	const struct proto_order *p = o->order;
	struct batch *b = o->batch;
	struct iso9660_file *files = arena_calloc(b->arena, p->files.n + 1, sizeof(*files));

	for (size_t i = 0; i < p->files.n; i++)
		files[i] = (struct iso9660_file){
			p->files.v[i].name, p->files.v[i].content,
			p->files.v[i].content ? strlen(p->files.v[i].content) : 0};
	b->volume = dio_buffer(TARGET_CIDATA_BYTES);
	if (iso9660_write(&(struct iso9660_volume){.label = TARGET_CIDATA,
						   .files = files,
						   .n = p->files.n,
						   .wall_ms = loop_wall(loop_of(o->group))},
			  b->volume, TARGET_CIDATA_BYTES, &b->volume_used, &o->err) < 0) {
		o->reason = "OrderInvalid";
		loop_defer(&o->refused);
		return;
	}
	batch_choose_one(b, d);
	batch_act(b, BATCH_CONFIG, all_done, o);
}

static void start_write(struct orders *o)
{
	struct batch *b = o->batch;
	struct proto_drive *d;

	if (o->order->what == PROTO_WRITE_UNSTAMP) {
		batch_choose(b, &o->order->expected);
		if (b->n)
			batch_act(b, BATCH_UNSTAMP, all_done, o);
		else
			refuse(o, "NoDrives", "the machine has no drive to unstamp");
		return;
	}
	d = batch_find(b, o->order->drive);
	if (!d) {
		refuse(o, "DriveMissing", "drive %s not found", o->order->drive);
		return;
	}
	forget_verified(o, d);
	if (o->order->what == PROTO_WRITE_IMAGE)
		start_image(o, d);
	else
		start_config(o, d);
}

/* Begins to stamp the drives that were wiped and verified in this boot, and no others. */
static void begin_stamp(struct orders *o)
{
	struct batch *b = o->wiped;
	const struct strings *expected = &o->order->expected;

	for (size_t i = 0; b && i < b->n; i++)
		if (!b->units[i].verified) {
			refuse(o, "NotWiped", "drive %s was not verified", b->units[i].drive->wwn);
			return;
		}
	if (!b || b->missing.n || b->extra.n) {
		refuse(o, "NotWiped", "not all drives were wiped since the machine started");
		return;
	}
	for (size_t i = 0; i < expected->n; i++) {
		bool there = false;

		for (size_t k = 0; k < b->n; k++)
			there |= str_eq(b->units[k].drive->wwn, expected->v[i]);
		if (!there) {
			refuse(o, "NotWiped", "drive %s was not wiped", expected->v[i]);
			return;
		}
	}
	o->batch = batch_ref(b);
	b->record = arena_strdup(b->arena, o->order->record);
	b->stamp = arena_strdup(b->arena, o->order->stamp);
	batch_act(b, BATCH_STAMP, all_done, o);
}

static void on_probed(struct proto_report *r, void *arg)
{
	struct orders *o = arg;

	o->probe = NULL;
	finish(o, r);
}

/* --- scanning and dispatching ----------------------------------------------------------------- */

static void run_scan(void *arg)
{
	struct scan *s = arg;
	struct batch *b = s->batch;

	if (b->host->settle)
		b->host->settle();
	if (s->everything) {
		inventory_read(b->host, b->arena, &b->inventory);
	} else {
		struct drive_list l;

		inventory_dmi(b->host, b->arena, &b->inventory.dmi);
		controllers_scan(b->host, b->arena, &b->inventory);
		ata_scan(b->host, b->arena, &l);
		b->inventory.drives.v = l.v;
		b->inventory.drives.n = l.n;
		b->parts = l.parts;
		uncovered_list(b->host, b->arena, &b->inventory, &b->uncovered);
	}
	if (s->scrub)
		memory_scrub(b->host, b->arena, b->nonce_text, &b->memory);
}

static void drop_scan(void *arg)
{
	struct scan *s = arg;

	batch_unref(s->batch);
	free(s);
}

/* Reads the stamps of all drives, expected or not. */
static void start_look(struct orders *o)
{
	batch_choose_all(o->batch);
	batch_expect_noise(o->batch, &o->order->noise);
	batch_act(o->batch, BATCH_LOOK, all_done, o);
}

static void done_scan(void *arg)
{
	struct scan *s = arg;
	struct orders *o = s->owner;

	o->scan = NULL;
	drop_scan(s);
	if (o->order->kind == PROTO_WIPE)
		start_wipe(o);
	else if (o->order->kind == PROTO_WRITE)
		start_write(o);
	else
		start_look(o);
}

static void begin_scan(struct orders *o, struct batch *b, bool scrub, void (*done)(void *arg))
{
	struct scan *s = mem_new(struct scan);

	s->owner = o;
	s->batch = batch_ref(b);
	s->everything = o->order->kind == PROTO_INSPECT;
	s->scrub = scrub;
	o->scan = loop_work(o->group, run_scan, done, drop_scan, s);
}

static void done_second_scan(void *arg)
{
	struct scan *s = arg;
	struct orders *o = s->owner;

	o->scan = NULL;
	note_new(o->batch, &s->batch->inventory);
	end_verify(o, &s->batch->memory);
	drop_scan(s);
}

/* Scans the machine again after all reads of verify, to find drives and controllers that appeared
 * since the wipe began. */
static void look_again(struct orders *o)
{
	struct batch *fresh = batch_new(o->group, o->host);

	fresh->nonce_text = mem_strdup(o->batch->nonce_text);
	begin_scan(o, fresh, is_to_cover(o->order, STATEMENT_SYSTEM_MEMORY), done_second_scan);
	batch_unref(fresh);
}

static void scan(struct orders *o)
{
	struct batch *b = o->batch = batch_new(o->group, o->host);
	const char *nonce = o->order->nonce;

	b->start_wall = loop_wall(loop_of(o->group));
	if (nonce) {
		b->nonce = secret_from_str(nonce);
		b->nonce_text = mem_strdup(nonce);
	}
	begin_scan(o, b, false, done_scan);
}

static void end_inspect(struct orders *o)
{
	struct proto_report r = {.state = PROTO_DONE, .inventory = &o->batch->inventory};

	finish(o, &r);
}

static void all_done(void *arg)
{
	struct orders *o = arg;
	const struct batch_unit *u;

	if (o->order->kind == PROTO_INSPECT) {
		end_inspect(o);
	} else if (o->order->kind == PROTO_WIPE) {
		end_wipe(o);
	} else if (o->order->kind == PROTO_VERIFY) {
		look_again(o);
	} else if ((u = batch_failed(o->batch))) {
		bool absent = u->err.kind == ERR_NOT_FOUND && o->batch->act == BATCH_CONFIG;
		struct err e = u->err;

		finish_failed(o, absent ? "NoImage" : "DriveFailed", &e);
	} else {
		finish_wwn(o, o->order->drive);
	}
}

/* Returns the name of a field that an order of this kind requires and that is not set; NULL:
 * nothing is missing. */
static const char *lacks(const struct proto_order *p)
{
	switch ((enum proto_order_kind)p->kind) {
	case PROTO_INSPECT:
		return NULL;
	case PROTO_WIPE:
		return p->nonce ? NULL : "nonce";
	case PROTO_PROBE:
		return !p->nonce ? "nonce" : !p->addresses.n ? "addresses" : NULL;
	case PROTO_VERIFY:
		return !p->nonce ? "nonce" : !p->evidence ? "evidence" : NULL;
	case PROTO_WRITE:
		break;
	case PROTO_POWEROFF:
		return "another kind";
	}
	switch ((enum proto_write)p->what) {
	case PROTO_WRITE_IMAGE:
		return !p->drive ? "drive" : !p->url ? "url" : !p->digest ? "digest" : NULL;
	case PROTO_WRITE_CONFIG:
		return !p->drive ? "drive" : !p->files.n ? "files" : NULL;
	case PROTO_WRITE_STAMP:
		return !p->record ? "record" : !p->stamp ? "stamp" : NULL;
	case PROTO_WRITE_UNSTAMP:
		return NULL;
	}
	return "what";
}

void orders_start(struct orders *o, const struct proto_order *order,
		  void (*done)(const struct proto_report *r, void *arg), void *arg)
{
	const char *absent = lacks(order);

	o->order = order;
	o->done = done;
	o->arg = arg;
	o->batch = NULL;
	o->phase = NULL;
	if (absent)
		refuse(o, "OrderInvalid", "%s is missing", absent);
	else if (order->kind == PROTO_VERIFY)
		begin_verify(o);
	else if (order->kind == PROTO_WRITE && order->what == PROTO_WRITE_STAMP)
		begin_stamp(o);
	else if (order->kind == PROTO_PROBE)
		o->probe = probe_start(o->group, order, on_probed, o);
	else
		scan(o);
}

/* Returns a rate in bytes per second, without overflow: a drive may report a size of 2^63 bytes. */
static int64_t per_second(int64_t bytes, int64_t ms)
{
	return bytes < INT64_MAX / 1000 ? bytes * 1000 / ms : bytes / ms * 1000;
}

bool orders_progress(struct orders *o, struct proto_report *r)
{
	int64_t now = loop_now(loop_of(o->group));

	if (!o->order)
		return false;
	memset(r, 0, sizeof(*r));
	r->id = o->order->id;
	r->seq = o->order->seq;
	r->fence = o->order->fence;
	r->state = PROTO_PROGRESS;
	r->phase = proto_order_kind_names[o->order->kind];
	if (o->writer) {
		r->phase = "image";
		writer_progress(o->writer, &r->done_bytes, &r->total_bytes);
	} else if (o->batch) {
		batch_progress(o->batch, r);
	}
	if (r->phase != o->phase || r->done_bytes < o->phase_bytes) {
		o->phase = r->phase;
		o->phase_bytes = r->done_bytes;
		o->phase_since = now;
	}
	if (now > o->phase_since)
		r->bytes_per_s = per_second(r->done_bytes - o->phase_bytes, now - o->phase_since);
	return true;
}

struct orders *orders_new(struct loop_group *g, struct http *http, const struct host *h,
			  const struct crypto_key *key, int trust)
{
	struct orders *o = mem_new(struct orders);

	o->group = g;
	o->http = http;
	o->host = h;
	o->key = key;
	o->trust = trust;
	loop_defer_init(&o->refused, g, on_refused, o);
	return o;
}

void orders_free(struct orders *o)
{
	if (!o)
		return;
	loop_defer_cancel(&o->refused);
	writer_free(o->writer);
	probe_free(o->probe);
	if (o->scan)
		loop_work_abandon(o->scan);
	batch_abandon(o->batch);
	batch_unref(o->batch);
	batch_unref(o->wiped);
	free(o);
}
