#include "wipe/batch.h"

#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "base/str.h"
#include "wipe/dio.h"
#include "wipe/drives.h"
#include "wipe/marks.h"

#define GUARD_MS 1000 /* at most */

static void on_guard(void *arg);

struct batch *batch_new(struct loop_group *g, const struct host *h)
{
	struct batch *b = mem_new(struct batch);

	b->refs = 1;
	b->group = g;
	b->host = h;
	b->arena = arena_new();
	loop_timer_init(&b->guard, g, on_guard, b);
	return b;
}

struct batch *batch_ref(struct batch *b)
{
	b->refs++;
	return b;
}

void batch_unref(struct batch *b)
{
	if (!b || --b->refs)
		return;
	loop_timer_stop(&b->guard);
	for (size_t i = 0; i < b->n; i++) {
		erase_done(&b->units[i].erase);
		free(b->units[i].own.first_block);
	}
	free(b->units);
	free(b->volume);
	free(b->nonce_text);
	secret_free(b->nonce);
	arena_free(b->arena);
	free(b);
}

void batch_abandon(struct batch *b)
{
	if (!b)
		return;
	loop_timer_stop(&b->guard);
	b->done = NULL;
	for (size_t i = 0; i < b->n; i++) {
		struct loop_work *w = b->units[i].work;

		b->units[i].work = NULL;
		if (w)
			loop_work_abandon(w);
	}
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

struct proto_drive *batch_find(const struct batch *b, const char *wwn)
{
	for (size_t i = 0; i < b->inventory.drives.n; i++)
		if (str_eq(b->inventory.drives.v[i].wwn, wwn))
			return &b->inventory.drives.v[i];
	return NULL;
}

static void add_unit(struct batch *b, struct proto_drive *d)
{
	struct batch_unit *u = &b->units[b->n++];

	u->batch = b;
	u->drive = d;
}

void batch_choose(struct batch *b, const struct strings *expected)
{
	size_t seen = b->inventory.drives.n;

	b->units = mem_calloc(seen + 1, sizeof(*b->units));
	for (size_t i = 0; i < expected->n; i++)
		if (!batch_find(b, expected->v[i]))
			list_add(b, &b->missing, expected->v[i], expected->n);
	for (size_t i = 0; i < expected->n; i++)
		list_add(b, &b->expected, expected->v[i], expected->n);
	for (size_t i = 0; i < seen; i++) {
		struct proto_drive *d = &b->inventory.drives.v[i];

		if (expected->n ? has(expected, d->wwn) : !d->removable)
			add_unit(b, d);
		else if (expected->n && !d->removable)
			list_add(b, &b->extra, d->wwn, seen);
	}
}

void batch_choose_all(struct batch *b)
{
	b->units = mem_calloc(b->inventory.drives.n + 1, sizeof(*b->units));
	for (size_t i = 0; i < b->inventory.drives.n; i++)
		add_unit(b, &b->inventory.drives.v[i]);
}

void batch_expect_noise(struct batch *b, const struct strings *wwns)
{
	for (size_t i = 0; i < wwns->n; i++)
		list_add(b, &b->noise, wwns->v[i], wwns->n);
}

void batch_choose_one(struct batch *b, struct proto_drive *d)
{
	b->units = mem_calloc(1, sizeof(*b->units));
	add_unit(b, d);
}

/* --- what is done to each -------------------------------------------------------------------- */

/* As the last wipe left it? */
static void look_again(struct batch_unit *u, struct dio *d)
{
	struct batch *b = u->batch;
	struct verify v = {.drive = d,
			   .nonce = b->nonce,
			   .wwn = u->drive->wwn,
			   .ring = ring_new(b->host, RING_DEPTH, VERIFY_BLOCK, false)};

	verify_again(&v, has(&b->noise, u->drive->wwn) ? VERIFY_NOISE : VERIFY_CONSTANT,
		     &u->own.again);
	ring_free(v.ring);
}

static int look(struct batch_unit *u)
{
	struct dio d;
	int rc;

	if (dio_open(&d, u->batch->host, drive_name(u->drive), false, &u->own.err) < 0)
		return -1;
	rc = dio_read(&d, u->own.first_block, PROTO_STAMP_SIZE, 0, &u->own.err);
	if (!rc && u->batch->nonce)
		look_again(u, &d);
	dio_close(&d);
	return rc;
}

static void run_unit(void *arg)
{
	struct batch_unit *u = arg;
	struct batch *b = u->batch;

	atomic_store(&u->begun, true);
	switch (b->act) {
	case BATCH_LOOK:
		u->own.rc = look(u);
		break;
	case BATCH_WIPE:
		u->own.rc = erase_run(&u->erase, &u->own.err);
		break;
	case BATCH_VERIFY:
		u->own.rc = erase_verify(&u->erase, u->erase.samples, &u->own.err);
		break;
	case BATCH_STAMP:
		u->own.rc = marks_stamp(b->host, u->drive, b->record, b->stamp, &u->own.err);
		break;
	case BATCH_UNSTAMP:
		u->own.rc = marks_unstamp(b->host, u->drive, &u->own.err);
		break;
	case BATCH_CONFIG:
		u->own.rc = marks_config(b->host, u->drive, b->volume, b->volume_used, &u->own.err);
		break;
	case BATCH_NONE:
		break;
	}
}

static int64_t guard_ms(const struct batch *b)
{
	int64_t quarter = erase_patience_ms(b->host) / 4;

	return quarter < GUARD_MS ? quarter : GUARD_MS;
}

static void begin_unit(struct batch *b, struct batch_unit *u);

/* Two paths to one drive, or firmware that gives two drives one name: drives.c tells them apart by "#2". */
static bool same_drive(const struct batch_unit *a, const struct batch_unit *b)
{
	size_t n = strcspn(a->drive->wwn, "#");

	return n == strcspn(b->drive->wwn, "#") && !strncmp(a->drive->wwn, b->drive->wwn, n);
}

/* This one has ended, or was given up: the next path to its drive. */
static void begin_next(struct batch_unit *u)
{
	struct batch *b = u->batch;

	for (size_t i = 0; i < b->n; i++)
		if (b->units[i].waits && same_drive(&b->units[i], u)) {
			begin_unit(b, &b->units[i]);
			return;
		}
}

static void one_less(struct batch *b)
{
	if (--b->running || !b->done)
		return;
	loop_timer_stop(&b->guard);
	b->done(b->arg);
}

static void take_look(struct batch_unit *u)
{
	const struct verify_counts *n = &u->own.again;

	(void)proto_stamp_read(u->own.first_block, u->batch->arena, &u->drive->stamp_record,
			       &u->drive->stamp);
	u->drive->again.clean = n->clean;
	u->drive->again.dirty = n->dirty + n->unreadable;
}

static void done_unit(void *arg)
{
	struct batch_unit *u = arg;
	struct batch *b = u->batch;

	u->work = NULL;
	u->rc = u->own.rc;
	u->err = u->own.err;
	if (b->act == BATCH_WIPE || b->act == BATCH_VERIFY)
		u->result = u->erase.device;
	if (b->act == BATCH_VERIFY)
		u->verified = !u->rc;
	if (b->act == BATCH_LOOK && !u->rc)
		take_look(u);
	begin_next(u);
	one_less(b);
	batch_unref(b);
}

static void drop_unit(void *arg)
{
	batch_unref(((struct batch_unit *)arg)->batch);
}

static void begin_unit(struct batch *b, struct batch_unit *u)
{
	u->waits = false;
	u->phase = NULL;
	u->done_bytes = 0;
	u->moved_at = loop_now(loop_of(b->group));
	u->own.rc = 0;
	atomic_store(&u->begun, false);
	if (b->act == BATCH_LOOK && !u->own.first_block)
		u->own.first_block = dio_buffer(PROTO_STAMP_SIZE);
	batch_ref(b);
	u->work = loop_work(b->group, run_unit, done_unit, drop_unit, u);
}

void batch_act(struct batch *b, enum batch_act what, void (*done)(void *arg), void *arg)
{
	b->act = what;
	b->done = done;
	b->arg = arg;
	b->running = 0;
	for (size_t i = 0; i < b->n; i++)
		b->running += !b->units[i].lost;
	loop_timer_start(&b->guard, b->running ? guard_ms(b) : 0);
	for (size_t i = 0; i < b->n; i++) {
		struct batch_unit *u = &b->units[i];

		u->waits = false;
		for (size_t k = 0; k < i; k++)
			u->waits |= !u->lost && !b->units[k].lost && same_drive(&b->units[k], u);
		/* A drive whose thread hangs gets no second one: what it says stays said. */
		if (u->lost)
			u->verified = false;
		else if (!u->waits)
			begin_unit(b, u);
	}
}

/* --- the guard ------------------------------------------------------------------------------- */

static void give_up(struct batch_unit *u, int64_t silent_ms)
{
	struct batch *b = u->batch;
	struct loop_work *w = u->work;

	u->work = NULL;
	u->lost = true;
	u->verified = false;
	u->rc = err_set(&u->err, ERR_TIMEOUT, 0, "%s: %s: stands still for %d s", u->drive->path,
			str_or(u->phase, "busy"), (int)(silent_ms / 1000));
	u->result = (struct evidence_device){
		.type = u->drive->type,
		.model = u->drive->model,
		.serial = u->drive->serial,
		.wwn = u->drive->wwn,
		.bytes = u->drive->bytes,
		.rotational = u->drive->rotational,
		.technique = "None",
		.level = WIPE_FAIL,
		.reason = dio_gone(b->host, drive_name(u->drive)) ? "DriveMissing" : "DriveFailed",
	};
	batch_ref(b);
	loop_work_abandon(w);
	begin_next(u);
	one_less(b);
	batch_unref(b);
}

static void look_after(struct batch_unit *u, int64_t now)
{
	struct batch *b = u->batch;
	bool erases = b->act == BATCH_WIPE || b->act == BATCH_VERIFY;
	const char *phase = erases ? atomic_load(&u->erase.progress.phase) : NULL;
	int64_t done = erases ? atomic_load(&u->erase.progress.done_bytes) : 0;
	int64_t patience =
		erases ? atomic_load(&u->erase.progress.patience_ms) : erase_patience_ms(b->host);

	/* There may be more drives than threads: who waits for one is not silent. */
	if (!atomic_load(&u->begun) || phase != u->phase || done != u->done_bytes) {
		u->phase = phase;
		u->done_bytes = done;
		u->moved_at = now;
	} else if (now - u->moved_at > patience) {
		give_up(u, now - u->moved_at);
	}
}

static void on_guard(void *arg)
{
	struct batch *b = batch_ref(arg);
	int64_t now = loop_now(loop_of(b->group));

	if (!b->running) { /* there was nothing to do */
		b->done(b->arg);
	} else {
		loop_timer_start(&b->guard, guard_ms(b));
		for (size_t i = 0; i < b->n; i++)
			if (b->units[i].work)
				look_after(&b->units[i], now);
	}
	batch_unref(b);
}

/* --- what became of it ----------------------------------------------------------------------- */

const struct batch_unit *batch_failed(const struct batch *b)
{
	for (size_t i = 0; i < b->n; i++)
		if (b->units[i].rc < 0)
			return &b->units[i];
	return NULL;
}

struct evidence_device *batch_devices(struct batch *b, size_t *n)
{
	struct evidence_device *v = arena_calloc(b->arena, b->n + b->missing.n + 1, sizeof(*v));

	for (size_t i = 0; i < b->n; i++)
		v[i] = b->units[i].result;
	/* A drive that did not come forward was not wiped, and says so. */
	for (size_t i = 0; i < b->missing.n; i++)
		v[b->n + i] = (struct evidence_device){.wwn = b->missing.v[i],
						       .technique = "None",
						       .level = WIPE_FAIL,
						       .reason = "DriveMissing"};
	*n = b->n + b->missing.n;
	return v;
}

/* Drives may say what they like about their sizes. */
static void add(int64_t *sum, int64_t n)
{
	if (__builtin_add_overflow(*sum, n, sum))
		*sum = INT64_MAX;
}

/* Never more than Fail: what is on its way was not found done. */
static struct evidence_device reached(const struct batch_unit *u)
{
	const struct erase_progress *g = &u->erase.progress;

	return (struct evidence_device){.wwn = u->drive->wwn,
					.technique = str_or(atomic_load(&g->technique), "None"),
					.erased_bytes = atomic_load(&g->erased_bytes),
					.level = WIPE_FAIL,
					.reason = "NotFinished"};
}

void batch_progress(struct batch *b, struct proto_report *r)
{
	bool named = false;

	if (b->act != BATCH_WIPE && b->act != BATCH_VERIFY)
		return;
	if (!b->reached)
		b->reached = arena_calloc(b->arena, b->n + 1, sizeof(*b->reached));
	r->devices.v = b->reached;
	r->devices.n = b->n;
	for (size_t i = 0; i < b->n; i++) {
		const struct erase_progress *g = &b->units[i].erase.progress;

		b->reached[i] = reached(&b->units[i]);
		add(&r->done_bytes, atomic_load(&g->done_bytes));
		add(&r->total_bytes, atomic_load(&g->total_bytes));
		/* Of the first that is at work: steady while several are in different ones. */
		if (b->units[i].work && !named) {
			r->phase = atomic_load(&g->phase);
			named = true;
		}
	}
}
