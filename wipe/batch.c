#include "wipe/batch.h"

#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "base/str.h"
#include "wipe/dio.h"
#include "wipe/drives.h"
#include "wipe/erase_methods.h"
#include "wipe/marks.h"

#define GUARD_MS 1000 /* Longest interval between two checks for hung drives, in ms. */

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

/* --- acts ------------------------------------------------------------------------------------- */

/* Reads samples of the drive and counts two kinds of blocks: those that still hold what the last
 * wipe left, and all others. */
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

static void wipe_all(struct batch_unit *first)
{
	size_t n = 0, i = 0;
	struct erase **x;
	struct err *e;
	int *rc;

	for (struct batch_unit *u = first; u; u = u->next)
		n++;
	x = mem_calloc(n, sizeof(struct erase *));
	e = mem_calloc(n, sizeof(*e));
	rc = mem_calloc(n, sizeof(*rc));
	for (struct batch_unit *u = first; u; u = u->next)
		x[i++] = &u->erase;
	erase_run_all(x, n, rc, e);
	i = 0;
	for (struct batch_unit *u = first; u; u = u->next, i++) {
		u->own.rc = rc[i];
		u->own.err = e[i];
	}
	free(x);
	free(e);
	free(rc);
}

static void run_unit(struct batch_unit *u, enum batch_act act)
{
	struct batch *b = u->batch;

	switch (act) {
	case BATCH_LOOK:
		u->own.rc = look(u);
		break;
	case BATCH_WIPE:
		wipe_all(u);
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

/* Runs the batch's act on the units of one drive, one after the other. A wipe of the first unit
 * already includes all units of the drive. Begins no further unit once the guard (the timer that
 * detects hung drives) has given the drive up, because the batch may run another act by then. */
static void run_drive(void *arg)
{
	struct batch_unit *first = arg;
	const enum batch_act act = first->act;

	atomic_store(&first->begun, true);
	run_unit(first, act);
	for (struct batch_unit *u = first->next; u; u = u->next) {
		if (atomic_load(&first->given_up))
			return;
		atomic_store(&u->begun, true);
		if (act != BATCH_WIPE)
			run_unit(u, act);
	}
}

static int64_t guard_ms(const struct batch *b)
{
	int64_t quarter = erase_methods_patience_ms(b->host) / 4;

	return quarter < GUARD_MS ? quarter : GUARD_MS;
}

/* True if both units are parts of one drive: two paths to it, two drives that firmware reports
 * under one identity (drives.c appends "#2"), or two namespaces of one NVMe subsystem. */
static bool same_drive(const struct batch_unit *a, const struct batch_unit *b)
{
	size_t n = strcspn(a->drive->wwn, "#");

	if (a->drive->subsystem && str_eq(a->drive->subsystem, b->drive->subsystem))
		return true;
	return n == strcspn(b->drive->wwn, "#") && !strncmp(a->drive->wwn, b->drive->wwn, n);
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

static void take_result(struct batch_unit *u)
{
	struct batch *b = u->batch;

	u->rc = u->own.rc;
	u->err = u->own.err;
	if (b->act == BATCH_WIPE || b->act == BATCH_VERIFY)
		u->result = u->erase.device;
	if (b->act == BATCH_VERIFY)
		u->verified = !u->rc;
	if (b->act == BATCH_LOOK && !u->rc)
		take_look(u);
}

static void done_drive(void *arg)
{
	struct batch_unit *first = arg;
	struct batch *b = first->batch;

	first->work = NULL;
	for (struct batch_unit *u = first; u; u = u->next)
		take_result(u);
	one_less(b);
	batch_unref(b);
}

static void drop_drive(void *arg)
{
	batch_unref(((struct batch_unit *)arg)->batch);
}

static void reset_unit(struct batch *b, struct batch_unit *u)
{
	u->next = NULL;
	u->had_begun = false;
	u->phase = NULL;
	u->done_bytes = 0;
	u->own.rc = 0;
	atomic_store(&u->begun, false);
	if (b->act == BATCH_LOOK && !u->own.first_block)
		u->own.first_block = dio_buffer(PROTO_STAMP_SIZE);
}

/* Appends the unit to the units of an earlier unit's drive, if both are parts of one drive. Returns
 * false if no earlier unit is part of that drive. */
static bool join_drive(struct batch *b, struct batch_unit *u)
{
	for (struct batch_unit *k = b->units; k < u; k++) {
		if (k->lost || !same_drive(k, u))
			continue;
		while (k->next)
			k = k->next;
		k->next = u;
		return true;
	}
	return false;
}

void batch_act(struct batch *b, enum batch_act what, void (*done)(void *arg), void *arg)
{
	b->act = what;
	b->done = done;
	b->arg = arg;
	b->running = 0;
	for (size_t i = 0; i < b->n; i++) {
		struct batch_unit *u = &b->units[i];

		u->begins = false;
		/* Skips a drive whose thread hangs: the drive gets no second thread and keeps its
		 * earlier result. */
		if (u->lost) {
			u->verified = false;
			continue;
		}
		reset_unit(b, u);
		u->begins = !join_drive(b, u);
		b->running += u->begins;
	}
	loop_timer_start(&b->guard, b->running ? guard_ms(b) : 0);
	for (size_t i = 0; i < b->n; i++) {
		struct batch_unit *u = &b->units[i];

		if (!u->begins)
			continue;
		u->act = what;
		u->moved_at = loop_now(loop_of(b->group));
		batch_ref(b);
		u->work = loop_work(b->group, run_drive, done_drive, drop_drive, u);
	}
}

/* --- the guard ------------------------------------------------------------------------------- */

static void lose(struct batch_unit *u, const char *phase, int64_t silent_ms)
{
	struct batch *b = u->batch;

	u->lost = true;
	u->verified = false;
	u->rc = err_set(&u->err, ERR_TIMEOUT, 0, "%s: %s: no progress for %d s", u->drive->path,
			str_or(phase, "busy"), (int)(silent_ms / 1000));
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
		.message = u->err.text,
	};
}

static void give_up(struct batch_unit *first, int64_t silent_ms)
{
	struct batch *b = first->batch;
	struct loop_work *w = first->work;

	first->work = NULL;
	atomic_store(&first->given_up, true);
	for (struct batch_unit *u = first; u; u = u->next)
		lose(u, u->phase, silent_ms);
	batch_ref(b);
	loop_work_abandon(w);
	one_less(b);
	batch_unref(b);
}

static bool erases(const struct batch *b)
{
	return b->act == BATCH_WIPE || b->act == BATCH_VERIFY;
}

/* True if the unit made progress since the last call; stores its present state for the next
 * call. */
static bool has_moved(struct batch_unit *u)
{
	struct batch *b = u->batch;
	const char *phase = erases(b) ? atomic_load(&u->erase.progress.phase) : NULL;
	int64_t done = erases(b) ? atomic_load(&u->erase.progress.done_bytes) : 0;
	bool begun = atomic_load(&u->begun);
	bool moved = begun != u->had_begun || phase != u->phase || done != u->done_bytes;

	u->had_begun = begun;
	u->phase = phase;
	u->done_bytes = done;
	return moved;
}

static void look_after(struct batch_unit *first, int64_t now)
{
	struct batch *b = first->batch;
	int64_t patience = erase_methods_patience_ms(b->host);
	/* A drive that still waits for a thread counts as moving, because there may be more drives
	 * than threads. */
	bool moved = !atomic_load(&first->begun);

	for (struct batch_unit *u = first; u; u = u->next) {
		int64_t own = erases(b) ? atomic_load(&u->erase.progress.patience_ms) : 0;

		moved |= has_moved(u);
		if (own > patience)
			patience = own;
	}
	if (moved)
		first->moved_at = now;
	else if (now - first->moved_at > patience)
		give_up(first, now - first->moved_at);
}

static void on_guard(void *arg)
{
	struct batch *b = batch_ref(arg);
	int64_t now = loop_now(loop_of(b->group));

	if (!b->running) { /* Ends the act at once, because batch_act() found no unit to run. */
		b->done(b->arg);
	} else {
		loop_timer_start(&b->guard, guard_ms(b));
		for (size_t i = 0; i < b->n; i++)
			if (b->units[i].work)
				look_after(&b->units[i], now);
	}
	batch_unref(b);
}

/* --- results ---------------------------------------------------------------------------------- */

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
	/* Adds an entry for each missing drive. It was not wiped, so its level is Fail. */
	for (size_t i = 0; i < b->missing.n; i++)
		v[b->n + i] = (struct evidence_device){.wwn = b->missing.v[i],
						       .technique = "None",
						       .level = WIPE_FAIL,
						       .reason = "DriveMissing"};
	*n = b->n + b->missing.n;
	return v;
}

/* Adds n to *sum. On overflow *sum becomes INT64_MAX, because a drive may report any size. */
static void add(int64_t *sum, int64_t n)
{
	if (__builtin_add_overflow(*sum, n, sum))
		*sum = INT64_MAX;
}

/* Returns the progress of a unit as a device entry. Its level is Fail, because the wipe has no
 * result yet. */
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
		/* Reports the phase of the first busy drive, so that the phase does not jump while
		 * drives are in different phases. */
		if (b->units[i].work && !named) {
			r->phase = atomic_load(&g->phase);
			named = true;
		}
	}
}
