#include "base/store/store_sqlite.h"

#include <pthread.h>
#include <stdlib.h>
#include "base/mem.h"
#include "base/store/store_internal.h"
#include "base/store/store_sqlite_db.h"

/*
 * Makes the changes of a store durable in SQLite. Changes that are applied but not yet durable are
 * at the end of the history, and stay there until they are durable. At any time at most one work
 * item writes, and it writes all of them that exist when it begins:
 *
 *   commit, commit --defer--> write 1 --------------> done(1), done(2)
 *         commit, commit, commit (wait)   --> write 2 ---------------> ...
 *
 * So an idle store adds no delay, and a busy store shares one fsync() among more commits. The
 * worker thread reads versions, which are never modified, and uses nothing else of the store.
 */

/* Maximum number of versions that one write deletes from the disk because they left the history. */
#define GONE_AT_ONCE 64

/* Data for the worker thread. It outlives the store if a work item that was abandoned still
 * runs. */
struct writer {
	/* The store; used on the loop's thread only. */
	struct store_sqlite *owner;
	pthread_mutex_t lock;
	/* The database; NULL: closed. */
	struct store_db *db;
	struct store_db_row *row;
	uint64_t *gone;
	struct store_db_batch batch;
	bool failed;
	struct err err;
};

struct store_sqlite {
	struct store base;
	struct loop_defer defer;
	struct loop_work *work;
	/* Highest revision in the write that is in progress. */
	uint64_t writing;
	struct writer *writer;
	uint64_t *gone;
	size_t ngone, gone_cap;
};

static struct store_sqlite *sqlite_of(struct store *s)
{
	return container_of(s, struct store_sqlite, base);
}

/* --- on the worker thread --------------------------------------------------------------------- */

static void on_run(void *arg)
{
	struct writer *w = arg;

	pthread_mutex_lock(&w->lock);
	if (w->db)
		w->failed = store_db_write(w->db, &w->batch, &w->err) < 0;
	pthread_mutex_unlock(&w->lock);
}

static void writer_free(void *arg)
{
	struct writer *w = arg;

	pthread_mutex_destroy(&w->lock);
	free(w->row);
	free(w->gone);
	free(w);
}

/* Closes the database; first waits until a write in progress has ended. */
static void writer_close(struct writer *w)
{
	pthread_mutex_lock(&w->lock);
	store_db_free(w->db);
	w->db = NULL;
	pthread_mutex_unlock(&w->lock);
}

/* --- on the loop's thread --------------------------------------------------------------------- */

static void fill_batch(struct store_sqlite *m, uint64_t after)
{
	struct writer *w = m->writer;
	struct store *s = &m->base;
	size_t n = 0;

	free(w->row);
	free(w->gone);
	w->row = mem_calloc(s->rev - after, sizeof(*w->row));
	for (uint64_t rev = after + 1; rev <= s->rev; rev++) {
		const struct store_change_event *ev = store_event_at(s, rev);
		const struct store_version *v = ev->version;

		w->row[n++] = (struct store_db_row){
			.rev = rev,
			.create_rev = v->create_rev,
			.key = v->key,
			.value = ev->type == STORE_PUT ? v->value : NULL,
			.value_len = v->value_len,
		};
	}
	w->batch = (struct store_db_batch){.row = w->row, .nrows = n, .oldest = store_oldest(s)};
	w->gone = NULL;
	if (m->ngone >= GONE_AT_ONCE) {
		w->batch.gone = w->gone = m->gone;
		w->batch.ngone = m->ngone;
		m->gone = NULL;
		m->ngone = m->gone_cap = 0;
	}
}

static void on_written(void *arg);

static void write_after(struct store_sqlite *m, uint64_t after)
{
	fill_batch(m, after);
	m->writing = m->base.rev;
	m->work = loop_work(m->base.group, on_run, on_written, writer_free, m->writer);
}

static void on_written(void *arg)
{
	struct writer *w = arg;
	struct store_sqlite *m = w->owner;
	uint64_t written = m->writing;

	m->work = NULL;
	if (w->failed) {
		store_durable(&m->base, 0, &w->err);
		return;
	}
	if (m->base.rev > written)
		/* Begin the next write now, before store_durable() below runs callbacks for which
		 * the write need not wait. */
		write_after(m, written);
	store_durable(&m->base, written, NULL);
}

static void on_defer(void *arg)
{
	struct store_sqlite *m = arg;

	if (m->base.rev > m->base.durable)
		write_after(m, m->base.durable);
	else
		/* There is nothing to write: complete the commits that have no changes. */
		store_durable(&m->base, m->base.rev, NULL);
}

static void store_sqlite_persist(struct store *s)
{
	struct store_sqlite *m = sqlite_of(s);

	if (!m->work)
		loop_defer(&m->defer);
}

static void forget_version(struct store_sqlite *m, uint64_t rev)
{
	mem_grow(m->gone, m->ngone, m->gone_cap);
	m->gone[m->ngone++] = rev;
}

static void store_sqlite_forget(struct store *s, const struct store_change_event *ev)
{
	if (ev->before)
		forget_version(sqlite_of(s), ev->before->rev);
	if (ev->type == STORE_DELETE)
		forget_version(sqlite_of(s), ev->rev);
}

static void store_sqlite_free(struct store *s)
{
	struct store_sqlite *m = sqlite_of(s);

	loop_defer_cancel(&m->defer);
	writer_close(m->writer);
	if (m->work)
		loop_work_abandon(m->work);
	else
		writer_free(m->writer);
	store_base_done(s);
	free(m->gone);
	free(m);
}

static const struct store_ops store_sqlite_ops = {
	.free = store_sqlite_free,
	.persist = store_sqlite_persist,
	.forget = store_sqlite_forget,
};

static struct store *sqlite_store(struct loop_group *g, size_t history, struct store_db *db)
{
	struct store_sqlite *m = mem_new(struct store_sqlite);
	struct writer *w = mem_new(struct writer);

	w->owner = m;
	w->db = db;
	pthread_mutex_init(&w->lock, NULL);
	m->writer = w;
	store_base_init(&m->base, &store_sqlite_ops, g, history);
	loop_defer_init(&m->defer, g, on_defer, m);
	return &m->base;
}

struct store *store_sqlite_new(struct loop_group *g, const char *folder, size_t history,
			       struct err *e)
{
	struct store_db *db = store_db_open(folder, e);

	if (!db)
		return NULL;

	OWN(store) s = sqlite_store(g, history, db);

	return store_db_load(db, s, e) < 0 ? NULL : give(s);
}
