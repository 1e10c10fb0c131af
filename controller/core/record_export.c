/*
 * record_export: exports, releases and deletes records, one action at a time, from a list of record
 * names to process.
 *
 * 	names --> export --> remove finalizer
 * 	  '-- list empty: find records that are too old --> delete, one by one
 */
#include "controller/core/record_export.h"
#include "api/annotations.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/loop/loop.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/retry.h"
#include "base/str.h"
#include "controller/core/finalizer.h"
#include "controller/core/keys.h"
#include "controller/core/record_files.h"
#include "controller/core/status_writer.h"

#define LOOK_MS (10 * 60 * 1000)
#define KEYS_FILE "keys.json"

enum job_kind { JOB_RECORD, JOB_KEYS };

/* Work for the worker thread; it has its own copy of all data that the thread reads. */
struct export_job {
	/* used only on the loop thread */
	struct record_export *owner;
	enum job_kind kind;
	char *dir, *machine /* name of the subdirectory */, *name, *text;
	/* name of the WipeRecord to export; "" for JOB_KEYS */
	char record[254];
	int rc;
	struct err err;
};

struct record_export {
	struct context *c;
	struct loop_timer timer;
	struct loop_work *work;
	struct status_writer write;
	/* True if this replica was leader in the last step */
	bool led;
	/* names of records to process */
	struct map *names;
	/* records whose file could not be written; tried again at again_after */
	struct map *again;
	/* names of records whose file was verified since this process became leader (value
	 * unused) */
	struct map *exported;
	/* names of records to delete */
	struct map *doomed;
	struct backoff backoff;
	/* loop_now() until which all exports are paused because the disk failed */
	int64_t export_after;
	/* again_after: loop_now() of the next attempt for the records whose file could not be
	 * written. keys_after: loop_now() of the next attempt to write keys.json. */
	int64_t again_after, keys_after;
	/* loop_now() of the last scan over all records */
	int64_t looked_at;
	/* text of keys.json as written last by this process; NULL: not known */
	char *keys_text;
};

static void step(void *arg);

struct record_export *record_export_new(struct context *c)
{
	struct record_export *r = mem_new(struct record_export);

	r->c = c;
	r->names = map_new(NULL);
	r->again = map_new(NULL);
	r->exported = map_new(NULL);
	r->doomed = map_new(NULL);
	r->backoff = (struct backoff){.base_ms = 5000, .cap_ms = 300000};
	writer_init(&r->write, c, r);
	loop_timer_init(&r->timer, c->group, step, r);
	loop_timer_start(&r->timer, 1000);
	return r;
}

void record_export_free(struct record_export *r)
{
	if (!r)
		return;
	if (r->work)
		loop_work_abandon(r->work);
	writer_stop(&r->write);
	loop_timer_stop(&r->timer);
	map_free(r->names);
	map_free(r->again);
	map_free(r->exported);
	map_free(r->doomed);
	free(r->keys_text);
	free(r);
}

static bool add_name(const struct kube_entry *en, void *arg)
{
	map_put(arg, en->name, (void *)"");
	return true;
}

void record_export_kick(struct record_export *r, const char *name)
{
	if (name)
		map_put(r->names, name, (void *)"");
	else
		kube_cache_each(r->c->cache[OBJECT_WIPE_RECORD], add_name, r->names);
	loop_timer_start(&r->timer, 0);
}

static const struct wipe_record *record_of(const struct record_export *r, const char *name)
{
	return CTX_GET(r->c, OBJECT_WIPE_RECORD, wipe_record, name);
}

char *record_export_text(const struct wipe_record *w)
{
	OWN_JSON all = fields_encode(object_kinds[OBJECT_WIPE_RECORD].fields, w);
	OWN_JSON o = json_pack("{s:s, s:s, s:{s:s, s:{s:s}}, s:O}", "apiVersion",
			       OBJECT_API_VERSION, "kind", "WipeRecord", "metadata", "name",
			       w->meta.name, "labels", "drover.dev/machine",
			       w->spec.evidence.machine.name, "spec", json_object_get(all, "spec"));
	char *text = json_text_sorted(o), *line = mem_printf("%s\n", text);

	free(text);
	return line;
}

/* --- on the worker thread --------------------------------------------------------------------- */

static void job_free(struct export_job *j)
{
	free(j->dir);
	free(j->machine);
	free(j->name);
	free(j->text);
	free(j);
}

/* Returns the new text of keys.json: the keys of the job, and all keys that the file already
 * contains, because records signed with old keys must stay verifiable. NULL: the existing file
 * cannot be read, and must not be overwritten. */
static char *keys_with_old(const struct export_job *j, struct err *e)
{
	char *old = record_files_read(j->dir, KEYS_FILE, e), *text, *line;
	bool none = !old && e->kind == ERR_NOT_FOUND;
	OWN_JSON was = old ? json_parse(old, strlen(old), e) : NULL;
	OWN_JSON now = NULL;
	json_t *keys, *k, *known;
	size_t i, n;

	free(old);
	if (!none && !json_is_array(json_at(was, "keys"))) {
		if (was)
			err_note(e, ERR_INVALID, 0, KEYS_FILE ": no list of keys in the file");
		return NULL;
	}
	now = json_parse(j->text, strlen(j->text), e);
	keys = json_at(now, "keys");
	json_array_foreach (json_at(was, "keys"), i, k) {
		bool has = false;

		json_array_foreach (keys, n, known)
			has |= json_equal(known, k);
		if (!has && json_is_string(k))
			json_array_append(keys, k);
	}
	text = json_text_sorted(now);
	line = mem_printf("%s\n", text);
	free(text);
	return line;
}

static void run_job(void *arg)
{
	struct export_job *j = arg;

	err_clear(&j->err);
	if (j->kind == JOB_RECORD) {
		j->rc = record_files_keep(j->dir, j->machine, j->name, j->text, &j->err);
	} else {
		char *text = keys_with_old(j, &j->err);

		j->rc = text ? record_files_replace(j->dir, KEYS_FILE, text, &j->err) : -1;
		free(text);
	}
}

static void drop_job(void *arg)
{
	job_free(arg);
}

/* --- export ----------------------------------------------------------------------------------- */

static void say_failed(struct record_export *r, const struct wipe_record *w,
		       const struct export_job *j)
{
	const char *reason =
		j->err.kind == ERR_CONFLICT ? "RecordFileDiffers" : "RecordNotExported";

	log_error("wipe record not exported", LOG_S("record", j->name), LOG_S("reason", reason),
		  LOG_E(&j->err));
	if (w)
		ctx_event(r->c, OBJECT_WIPE_RECORD, &w->meta, "Warning", reason, j->err.text);
}

/* Schedules the retry. An error in one file delays no other record; a full or broken disk delays
 * all exports. */
static void failed_job(struct record_export *r, const struct export_job *j)
{
	int64_t after = loop_now(r->c->loop) + backoff_next(&r->backoff, loop_random(r->c->loop));
	int code = j->err.code;

	if (j->kind == JOB_KEYS)
		r->keys_after = after;
	else if (j->err.kind != ERR_CONFLICT) /* A conflict is only retried with the next scan. */
		map_put(r->again, j->record, (void *)"");
	r->again_after = after;
	if (code == ENOSPC || code == EDQUOT || code == EIO || code == EROFS || code == EFBIG)
		r->export_after = after;
}

static void done_job(void *arg)
{
	struct export_job *j = arg;
	struct record_export *r = j->owner;
	const char *record = j->record;

	r->work = NULL;
	if (j->rc == 0) {
		backoff_reset(&r->backoff);
		if (j->kind == JOB_RECORD) {
			map_put(r->exported, record, (void *)"");
			/* Process the record again, to remove its finalizer. */
			map_put(r->names, record, (void *)"");
		} else {
			free(r->keys_text);
			r->keys_text = mem_strdup(j->text);
		}
	} else {
		say_failed(r, j->name ? record_of(r, record) : NULL, j);
		failed_job(r, j);
	}
	job_free(j);
	loop_timer_start(&r->timer, 0);
}

static void start_job(struct record_export *r, struct export_job *j)
{
	j->owner = r;
	j->dir = mem_strdup(r->c->o.evidence_dir);
	r->work = loop_work(r->c->group, run_job, done_job, drop_job, j);
}

static void export_record(struct record_export *r, const struct wipe_record *w)
{
	struct export_job *j = mem_new(struct export_job);

	j->kind = JOB_RECORD;
	/* Directory of the records. A Machine may have the name of the key file; "_" avoids the
	 * collision, since no Machine name contains an underscore. */
	j->machine = mem_printf("%s%s", w->spec.evidence.machine.name,
				str_eq(w->spec.evidence.machine.name, KEYS_FILE) ? "_" : "");
	j->name = mem_printf("%s.json", w->meta.name);
	str_copy(j->record, sizeof(j->record), w->meta.name);
	j->text = record_export_text(w);
	start_job(r, j);
}

/* Starts to write keys.json if the keys have changed since the last write. Returns true if a job
 * was started. */
static bool export_keys(struct record_export *r)
{
	const char *const *publics;
	OWN_JSON o = NULL;
	struct export_job *j;
	char *text;
	size_t n;

	publics = keys_evidence_publics(r->c->keys, &n);
	if (!n || loop_now(r->c->loop) < r->keys_after)
		return false;
	o = json_pack("{s:s, s:[]}", "current", publics[0], "keys");
	for (size_t i = 0; i < n; i++)
		json_array_append_new(json_at(o, "keys"), json_string(publics[i]));
	text = json_text_sorted(o);
	if (str_eq(text, r->keys_text)) {
		free(text);
		return false;
	}
	j = mem_new(struct export_job);
	j->kind = JOB_KEYS;
	j->text = text;
	start_job(r, j);
	return true;
}

static void on_let_go(json_t *o, const struct err *e, void *arg)
{
	struct record_export *r = arg;

	(void)o;
	if (e && e->kind != ERR_NOT_FOUND)
		map_put(r->names, r->write.name, (void *)"");
	else if (!r->c->o.evidence_dir)
		log_warn("wipe record deleted before it was exported: drover runs without "
			 "evidence-dir",
			 LOG_S("record", r->write.name));
	loop_timer_start(&r->timer, e ? 1000 : 0);
}

static void retry(struct record_export *r)
{
	struct map_iter it;

	map_for_each (it, r->again)
		map_put(r->names, it.key, (void *)"");
	map_clear(r->again);
}

/* Starts the next export or finalizer removal. Returns true if one was started, or if all exports
 * are paused because the disk failed. */
static bool next_export(struct record_export *r)
{
	struct map_iter it;

	if (loop_now(r->c->loop) < r->export_after) {
		loop_timer_start(&r->timer, r->export_after - loop_now(r->c->loop));
		return true;
	}
	if (export_keys(r))
		return true;
	if (map_size(r->again) && loop_now(r->c->loop) >= r->again_after)
		retry(r);
	while (map_first(r->names, &it)) {
		const struct wipe_record *w = record_of(r, it.key);

		if (w && !map_has(r->exported, it.key)) {
			/* Skip a record whose machine name is no DNS name: drover did not create
			 * that record. */
			if (str_is_dns_subdomain(str_or(w->spec.evidence.machine.name, "")))
				export_record(r, w);
			map_del(r->names, it.key);
			if (r->work)
				return true;
			continue;
		}
		if (!w)
			map_del(r->exported, it.key);
		map_del(r->names, it.key);
		if (w && writer_finalizer(&r->write, OBJECT_WIPE_RECORD, &w->meta,
					  FINALIZER_WIPE_RECORD, false, on_let_go))
			return true;
	}
	return false;
}

/* Without an evidence_dir: removes the finalizer of a record that an operator has deleted, because
 * nothing will ever export it. While the definitions are being deleted no operator has deleted the
 * record: it stays, and the next scan looks at it again. Returns true if a write was started. */
static bool next_unexported(struct record_export *r)
{
	struct map_iter it;

	while (map_first(r->names, &it)) {
		const struct wipe_record *w = record_of(r, it.key);

		map_del(r->names, it.key);
		if (w && w->meta.deletion_timestamp &&
		    /* mutant: record-let-go */ !ctx_crds_terminating(r->c) &&
		    writer_finalizer(&r->write, OBJECT_WIPE_RECORD, &w->meta, FINALIZER_WIPE_RECORD,
				     false, on_let_go))
			return true;
	}
	return false;
}

/* --- retention -------------------------------------------------------------------------------- */

struct census {
	const struct wipe_record **v;
	size_t n, cap;
};

static bool take(const struct kube_entry *en, void *arg)
{
	struct census *s = arg;

	if (s->n == s->cap) {
		s->cap = s->cap ? 2 * s->cap : 256;
		s->v = mem_realloc_array(s->v, s->cap, sizeof(*s->v));
	}
	s->v[s->n++] = en->object;
	return true;
}

/* Orders by machine name, then newest first. */
static int newest_first(const void *x, const void *y)
{
	const struct evidence *a = &(*(const struct wipe_record *const *)x)->spec.evidence,
			      *b = &(*(const struct wipe_record *const *)y)->spec.evidence;
	int c = strcmp(str_or(a->machine.name, ""), str_or(b->machine.name, ""));

	if (c)
		return c;
	if (a->tenancy != b->tenancy)
		return a->tenancy > b->tenancy ? -1 : 1;
	return a->attempt == b->attempt ? 0 : a->attempt > b->attempt ? -1 : 1;
}

static bool is_rested_on(const struct record_export *r, const struct wipe_record *w)
{
	const struct machine *m =
		CTX_GET(r->c, OBJECT_MACHINE, machine, str_or(w->spec.evidence.machine.name, ""));

	return m && (str_eq(m->status.last_wipe.record, w->meta.name) ||
		     (m->status.wipe_attempt &&
		      str_eq(m->status.wipe_attempt->previous.name, w->meta.name)));
}

/* True if the record may be deleted. nth: position among the machine's records, 0 is the newest.
 * now: creation time of the newest record of all machines. That time serves as the present time,
 * because it comes from the API server's clock: an agent's clock cannot be trusted, and drover's
 * own may jump. */
static bool may_go(const struct record_export *r, const struct wipe_record *w, size_t nth,
		   int64_t now)
{
	if (nth == 0 || w->meta.deletion_timestamp || is_rested_on(r, w))
		return false;
	if (r->c->o.evidence_dir)
		return nth >= RECORD_EXPORT_KEPT && map_has(r->exported, w->meta.name) &&
		       !finalizer_is_on(&w->meta.finalizers, FINALIZER_WIPE_RECORD);
	return now - w->meta.creation_timestamp > RECORD_EXPORT_AGE_MS &&
	       !finalizer_is_on(&w->meta.finalizers, FINALIZER_WIPE_RECORD);
}

static void find_doomed(struct record_export *r)
{
	struct census s = {0};
	size_t nth = 0;
	int64_t now = 0;

	kube_cache_each(r->c->cache[OBJECT_WIPE_RECORD], take, &s);
	if (s.n)
		qsort(s.v, s.n, sizeof(*s.v), newest_first);
	for (size_t i = 0; i < s.n; i++)
		if (s.v[i]->meta.creation_timestamp > now)
			now = s.v[i]->meta.creation_timestamp;
	for (size_t i = 0; i < s.n; i++) {
		nth = i && str_eq(s.v[i]->spec.evidence.machine.name,
				  s.v[i - 1]->spec.evidence.machine.name)
			      ? nth + 1
			      : 0;
		if (may_go(r, s.v[i], nth, now))
			map_put(r->doomed, s.v[i]->meta.name, (void *)"");
	}
	free(s.v);
}

static void on_deleted(json_t *o, const struct err *e, void *arg)
{
	struct record_export *r = arg;

	(void)o;
	loop_timer_start(&r->timer, e ? 1000 : 0);
}

static bool next_deletion(struct record_export *r)
{
	struct map_iter it;
	const struct wipe_record *w;

	while (map_first(r->doomed, &it)) {
		w = record_of(r, it.key);
		map_del(r->doomed, it.key);
		/* Check again: a Machine may have begun to refer to the record since it was
		 * selected. */
		if (!w || is_rested_on(r, w))
			continue;
		log_info("wipe record deleted", LOG_S("record", w->meta.name),
			 LOG_S("because", r->c->o.evidence_dir ? "exported" : "400 days old"));
		writer_delete(&r->write, OBJECT_WIPE_RECORD, &w->meta, on_deleted);
		return true;
	}
	return false;
}

/* --- step ------------------------------------------------------------------------------------- */

static void step(void *arg)
{
	struct record_export *r = arg;
	int64_t now = loop_now(r->c->loop), wait;

	if (r->work || writer_busy(&r->write))
		return;
	if (!r->c->leading || !r->c->ready) {
		r->led = false;
		loop_timer_start(&r->timer, 5000);
		return;
	}
	if (!r->led) {
		/* Newly leader: forget what was exported, because another replica may have acted
		 * meanwhile, with another disk. */
		r->led = true;
		r->looked_at = 0;
		map_clear(r->exported);
		map_clear(r->doomed);
		map_clear(r->again);
		r->keys_after = 0;
		free(r->keys_text);
		r->keys_text = NULL;
		record_export_kick(r, NULL);
	}
	if (r->c->o.evidence_dir ? next_export(r) : next_unexported(r))
		return;
	if (!map_size(r->doomed) && (!r->looked_at || now - r->looked_at >= LOOK_MS)) {
		/* Retry records whose file differed, and records whose change was missed. */
		if (r->looked_at)
			kube_cache_each(r->c->cache[OBJECT_WIPE_RECORD], add_name, r->names);
		r->looked_at = now > 0 ? now : 1;
		find_doomed(r);
	}
	if (next_deletion(r))
		return;
	wait = map_size(r->names) ? 0 : LOOK_MS;
	if (map_size(r->again) && r->again_after - now < wait)
		wait = r->again_after > now ? r->again_after - now : 0;
	loop_timer_start(&r->timer, wait);
}
