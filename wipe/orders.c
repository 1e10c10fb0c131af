#include "wipe/orders.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "base/mem.h"
#include "base/str.h"
#include "wipe/dio.h"
#include "wipe/drives.h"
#include "wipe/erase.h"
#include "wipe/inventory.h"
#include "wipe/iso9660.h"
#include "wipe/marks.h"
#include "wipe/writer.h"

/* What is done to each drive, in a loop_work() of its own. */
enum act { ACT_NONE, ACT_WIPE, ACT_VERIFY, ACT_STAMP, ACT_UNSTAMP, ACT_CONFIG };

struct unit {
	struct batch *batch;
	const struct proto_drive *drive;
	struct erase erase;
	bool verified;
	int rc;
	struct err err;
	struct loop_work *work;
};

/* One look at the machine and its drives, with what became of them.  Kept by the order that made
 * it, by each work item under way, and after a wipe by what comes next. */
struct batch {
	unsigned refs;
	struct orders *owner; /* NULL: abandoned */
	const struct host *host;
	struct arena *arena;
	struct proto_inventory inventory;
	bool with_stamps;
	struct loop_work *scan;

	struct unit *units; /* the drives that the order is about */
	size_t n, running;
	struct strings expected, missing, extra;
	struct secret *nonce;
	char *nonce_text;
	int64_t start_wall, act_since;

	enum act act;
	const char *record, *stamp; /* ACT_STAMP */
	uint8_t *volume;	    /* ACT_CONFIG */
	size_t volume_used;
};

struct orders {
	struct loop_group *group;
	struct http *http;
	const struct host *host;
	const struct crypto_key *key;
	int trust;

	const struct proto_order *order; /* NULL: idle */
	void (*done)(const struct proto_report *r, void *arg);
	void *arg;
	struct batch *batch; /* of the order */
	struct batch *wiped; /* of the last wipe in this boot */
	struct writer *writer;
	int64_t since;
	struct loop_defer refused; /* ends an order that cannot begin */
	const char *reason;
	struct err err;
};

/* --- batches --------------------------------------------------------------------------------- */

static struct batch *batch_new(struct orders *o)
{
	struct batch *b = mem_new(struct batch);

	b->refs = 1;
	b->owner = o;
	b->host = o->host;
	b->arena = arena_new();
	return b;
}

static void batch_unref(struct batch *b)
{
	if (!b || --b->refs)
		return;
	for (size_t i = 0; i < b->n; i++)
		erase_done(&b->units[i].erase);
	free(b->units);
	free(b->volume);
	free(b->nonce_text);
	secret_free(b->nonce);
	arena_free(b->arena);
	free(b);
}

static void batch_abandon(struct batch *b)
{
	if (!b)
		return;
	b->owner = NULL;
	if (b->scan)
		loop_work_abandon(b->scan);
	b->scan = NULL;
	for (size_t i = 0; i < b->n; i++) {
		if (b->units[i].work)
			loop_work_abandon(b->units[i].work);
		b->units[i].work = NULL;
	}
}

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
	o->done(r, o->arg); /* may start the next */
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
	(void)!err_set(&o->err, ERR_INVALID, 0, "%s", text);
	o->reason = reason;
	loop_defer(&o->refused);
}

/* --- which drives ---------------------------------------------------------------------------- */

static bool has(const struct strings *s, const char *wwn)
{
	for (size_t i = 0; i < s->n; i++)
		if (str_eq(s->v[i], wwn))
			return true;
	return false;
}

static void list_add(struct batch *b, struct strings *s, const char *wwn, size_t cap)
{
	if (!s->v)
		s->v = arena_calloc(b->arena, cap + 1, sizeof(*s->v));
	s->v[s->n++] = arena_strdup(b->arena, wwn);
}

static const struct proto_drive *find_drive(const struct batch *b, const char *wwn)
{
	for (size_t i = 0; i < b->inventory.drives.n; i++)
		if (str_eq(b->inventory.drives.v[i].wwn, wwn))
			return &b->inventory.drives.v[i];
	return NULL;
}

static void add_unit(struct batch *b, const struct proto_drive *d)
{
	struct unit *u = &b->units[b->n++];

	u->batch = b;
	u->drive = d;
}

/* Those expected; without any, all that are built in. */
static void choose(struct batch *b, const struct strings *expected)
{
	size_t seen = b->inventory.drives.n;

	b->units = mem_calloc(seen + 1, sizeof(*b->units));
	for (size_t i = 0; i < expected->n; i++)
		if (!find_drive(b, expected->v[i]))
			list_add(b, &b->missing, expected->v[i], expected->n);
	for (size_t i = 0; i < expected->n; i++)
		list_add(b, &b->expected, expected->v[i], expected->n);
	for (size_t i = 0; i < seen; i++) {
		const struct proto_drive *d = &b->inventory.drives.v[i];

		if (expected->n ? has(expected, d->wwn) : !d->removable)
			add_unit(b, d);
		else if (expected->n && !d->removable)
			list_add(b, &b->extra, d->wwn, seen);
	}
}

/* --- what is done to each -------------------------------------------------------------------- */

static void all_done(struct orders *o);

static void run_unit(void *arg)
{
	struct unit *u = arg;
	struct batch *b = u->batch;

	switch (b->act) {
	case ACT_WIPE:
		u->rc = erase_run(&u->erase, &u->err);
		break;
	case ACT_VERIFY:
		u->rc = erase_verify(&u->erase, u->erase.samples, &u->err);
		u->verified = !u->rc;
		break;
	case ACT_STAMP:
		u->rc = marks_stamp(b->host, u->drive, b->record, b->stamp, &u->err);
		break;
	case ACT_UNSTAMP:
		u->rc = marks_unstamp(b->host, u->drive, &u->err);
		break;
	case ACT_CONFIG:
		u->rc = marks_config(b->host, u->drive, b->volume, b->volume_used, &u->err);
		break;
	case ACT_NONE:
		break;
	}
}

static void done_unit(void *arg)
{
	struct unit *u = arg;
	struct batch *b = u->batch;

	u->work = NULL;
	if (!--b->running)
		all_done(b->owner);
	batch_unref(b);
}

static void drop_unit(void *arg)
{
	batch_unref(((struct unit *)arg)->batch);
}

static void act(struct orders *o, struct batch *b, enum act what)
{
	b->act = what;
	b->act_since = loop_now(loop_of(o->group));
	b->running = b->n;
	for (size_t i = 0; i < b->n; i++) {
		b->refs++;
		b->units[i].work =
			loop_work(o->group, run_unit, done_unit, drop_unit, &b->units[i]);
	}
}

/* First unit that failed, or NULL. */
static const struct unit *failed_unit(const struct batch *b)
{
	for (size_t i = 0; i < b->n; i++)
		if (b->units[i].rc < 0)
			return &b->units[i];
	return NULL;
}

/* --- wipe and verify ------------------------------------------------------------------------- */

static struct evidence_device *devices_of(struct batch *b, size_t *n)
{
	struct evidence_device *v = arena_calloc(b->arena, b->n + b->missing.n + 1, sizeof(*v));

	for (size_t i = 0; i < b->n; i++)
		v[i] = b->units[i].erase.device;
	/* A drive that did not come forward was not wiped, and says so. */
	for (size_t i = 0; i < b->missing.n; i++)
		v[b->n + i] = (struct evidence_device){.wwn = b->missing.v[i],
						       .technique = "None",
						       .level = WIPE_FAIL,
						       .reason = "DriveMissing"};
	*n = b->n + b->missing.n;
	return v;
}

static void start_wipe(struct orders *o)
{
	struct batch *b = o->batch;
	const struct proto_order *p = o->order;

	choose(b, &p->expected);
	if (!b->n) {
		refuse(o, "NoDrives", "none of the machine's %zu drives is to be wiped",
		       b->inventory.drives.n);
		return;
	}
	for (size_t i = 0; i < b->n; i++)
		erase_init(&b->units[i].erase, b->host, b->units[i].drive, b->nonce,
			   p->minimum_level, p->samples);
	batch_unref(o->wiped);
	o->wiped = b;
	b->refs++;
	act(o, b, ACT_WIPE);
}

static void end_wipe(struct orders *o)
{
	struct proto_report r = {.state = PROTO_DONE};

	r.devices.v = devices_of(o->batch, &r.devices.n);
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
	o->batch = b;
	b->refs++;
	for (size_t i = 0; i < b->n; i++)
		b->units[i].erase.samples = o->order->samples;
	act(o, b, ACT_VERIFY);
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

static void end_verify(struct orders *o)
{
	static const char *not_covered[] = {EVIDENCE_NOT_COVERED};
	struct batch *b = o->batch;
	struct evidence ev = *o->order->evidence;
	struct proto_report r = {.state = PROTO_DONE};
	char *envelope;

	ev.devices.v = devices_of(b, &ev.devices.n);
	ev.verdict = WIPE_PURGE;
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
	if (!ev.not_covered.n)
		ev.not_covered = (struct strings){
			not_covered, sizeof(not_covered) / sizeof(*not_covered)};
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

static void start_config(struct orders *o, const struct proto_drive *d)
{
	const struct proto_order *p = o->order;
	struct batch *b = o->batch;
	struct iso9660_file *files = arena_calloc(b->arena, p->files.n + 1, sizeof(*files));

	for (size_t i = 0; i < p->files.n; i++)
		files[i] = (struct iso9660_file){
			p->files.v[i].name, p->files.v[i].content,
			p->files.v[i].content ? strlen(p->files.v[i].content) : 0};
	b->volume = dio_buffer(WRITER_CIDATA_BYTES);
	if (iso9660_write(WRITER_CIDATA, files, p->files.n, loop_wall(loop_of(o->group)), b->volume,
			  WRITER_CIDATA_BYTES, &b->volume_used, &o->err) < 0) {
		o->reason = "OrderInvalid";
		loop_defer(&o->refused);
		return;
	}
	b->units = mem_calloc(1, sizeof(*b->units));
	add_unit(b, d);
	act(o, b, ACT_CONFIG);
}

static void start_write(struct orders *o)
{
	struct batch *b = o->batch;
	const struct proto_drive *d;

	if (o->order->what == PROTO_WRITE_UNSTAMP) {
		choose(b, &o->order->expected);
		if (b->n)
			act(o, b, ACT_UNSTAMP);
		else
			refuse(o, "NoDrives", "there is no drive");
		return;
	}
	d = find_drive(b, o->order->drive);
	if (!d)
		refuse(o, "DriveMissing", "no drive %s", o->order->drive);
	else if (o->order->what == PROTO_WRITE_IMAGE)
		start_image(o, d);
	else
		start_config(o, d);
}

/* Only what was wiped and verified since the machine started is stamped. */
static void begin_stamp(struct orders *o)
{
	struct batch *b = o->wiped;
	const struct strings *expected = &o->order->expected;

	for (size_t i = 0; b && i < b->n; i++)
		if (!b->units[i].verified) {
			refuse(o, "NotWiped", "drive %s was not verified", b->units[i].drive->wwn);
			return;
		}
	if (!b || b->missing.n) {
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
	o->batch = b;
	b->refs++;
	b->record = arena_strdup(b->arena, o->order->record);
	b->stamp = arena_strdup(b->arena, o->order->stamp);
	act(o, b, ACT_STAMP);
}

/* --- scanning and dispatch ------------------------------------------------------------------- */

static void run_scan(void *arg)
{
	struct batch *b = arg;

	if (b->host->settle)
		b->host->settle();
	if (b->with_stamps) {
		inventory_read(b->host, b->arena, &b->inventory);
	} else {
		struct drive_list l;

		inventory_dmi(b->host, b->arena, &b->inventory.dmi);
		drives_scan(b->host, b->arena, &l);
		b->inventory.drives.v = l.v;
		b->inventory.drives.n = l.n;
	}
}

static void done_scan(void *arg)
{
	struct batch *b = arg;
	struct orders *o = b->owner;

	b->scan = NULL;
	if (o->order->kind == PROTO_WIPE) {
		start_wipe(o);
	} else if (o->order->kind == PROTO_WRITE) {
		start_write(o);
	} else {
		struct proto_report r = {.state = PROTO_DONE, .inventory = &b->inventory};

		finish(o, &r);
	}
	batch_unref(b);
}

static void drop_scan(void *arg)
{
	batch_unref(arg);
}

static void scan(struct orders *o)
{
	struct batch *b = o->batch = batch_new(o);
	const char *nonce = o->order->nonce;

	b->with_stamps = o->order->kind == PROTO_INSPECT;
	b->start_wall = loop_wall(loop_of(o->group));
	if (nonce) {
		b->nonce = secret_from_str(nonce);
		b->nonce_text = mem_strdup(nonce);
	}
	b->refs++;
	b->scan = loop_work(o->group, run_scan, done_scan, drop_scan, b);
}

static void all_done(struct orders *o)
{
	const struct unit *u;

	if (o->order->kind == PROTO_WIPE) {
		end_wipe(o);
	} else if (o->order->kind == PROTO_VERIFY) {
		end_verify(o);
	} else if ((u = failed_unit(o->batch))) {
		bool absent = u->err.kind == ERR_NOT_FOUND && o->batch->act == ACT_CONFIG;
		struct err e = u->err;

		finish_failed(o, absent ? "NoImage" : "DriveFailed", &e);
	} else {
		finish_wwn(o, o->order->drive);
	}
}

/* What the order must hold for its kind; NULL: nothing is missing. */
static const char *lacks(const struct proto_order *p)
{
	switch ((enum proto_order_kind)p->kind) {
	case PROTO_INSPECT:
		return NULL;
	case PROTO_WIPE:
		return p->nonce ? NULL : "nonce";
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
	o->since = loop_now(loop_of(o->group));
	if (absent)
		refuse(o, "OrderInvalid", "%s: is missing", absent);
	else if (order->kind == PROTO_VERIFY)
		begin_verify(o);
	else if (order->kind == PROTO_WRITE && order->what == PROTO_WRITE_STAMP)
		begin_stamp(o);
	else
		scan(o);
}

bool orders_progress(const struct orders *o, struct proto_report *r)
{
	int64_t took, ignored;
	const struct batch *b = o->batch;

	if (!o->order)
		return false;
	memset(r, 0, sizeof(*r));
	r->id = o->order->id;
	r->seq = o->order->seq;
	r->fence = o->order->fence;
	r->state = PROTO_PROGRESS;
	r->phase = proto_order_kind_names[o->order->kind];
	took = loop_now(loop_of(o->group)) - (b && b->act_since ? b->act_since : o->since);
	if (o->writer) {
		r->phase = "image";
		writer_progress(o->writer, &r->done_bytes, &r->total_bytes, &ignored);
	}
	for (size_t i = 0; b && i < b->n && (b->act == ACT_WIPE || b->act == ACT_VERIFY); i++) {
		const struct erase_progress *g = &b->units[i].erase.progress;

		r->done_bytes += atomic_load(&g->done_bytes);
		r->total_bytes += atomic_load(&g->total_bytes);
		if (b->units[i].work)
			r->phase = atomic_load(&g->phase);
	}
	if (took > 0)
		r->bytes_per_s = r->done_bytes * 1000 / took;
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
	batch_abandon(o->batch);
	batch_unref(o->batch);
	batch_unref(o->wiped);
	free(o);
}
