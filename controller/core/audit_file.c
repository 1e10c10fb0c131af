/*
 * audit_file: one job at a time: find the last entry of the file, or append the next entries.
 */
#include "controller/core/audit_file.h"

#include <stdlib.h>
#include <string.h>

#include "api/annotations.h"
#include "api/resources.h"
#include "base/buf.h"
#include "base/log.h"
#include "base/loop/loop.h"
#include "base/mem.h"
#include "base/retry.h"
#include "base/str.h"
#include "controller/core/audit_lines.h"
#include "controller/core/counters.h"

#define BATCH_MS 200
#define NOT_READY_MS 1000
#define TEXT_MAX (16u << 20)
/* The log was begun anew if all its entries have lower numbers than the file for this long. A cache
 * that is older than the file catches up sooner. */
#define ANEW_MS 60000
/* After a restart, standard output begins with the entries of this time. */
#define AGAIN_MS 600000

/* Work for the worker thread; it has its own copy of all data that the thread reads. */
struct audit_job {
	/* used only on the loop thread */
	struct audit_file *owner;
	char *path;
	/* lines to append; NULL: find the last entry */
	char *text;
	/* last sequence number in text, or in the file */
	int64_t seq;
	int rc;
	struct err err;
};

struct audit_file {
	struct context *c;
	struct loop_timer timer;
	struct loop_work *work;
	/* request for a segment as the API server stores it; NULL: none */
	struct kube_call *fetch;
	struct backoff backoff;
	/* sequence number of the last entry in the file; -1: not known */
	int64_t seq;
	/* True: a write to standard output failed, so that a line may be cut off */
	bool torn;
	/* loop ms at which the file was ahead of the log for the first time; 0: it is not */
	int64_t ahead;
	/* last gap that was logged: number of the entry after it */
	int64_t gap;
	/* "TIME TEXT": since when and why writes fail; "": the last write did not */
	char fails[400];
};

static void job_free(void *arg)
{
	struct audit_job *j = arg;

	free(j->path);
	free(j->text);
	free(j);
}

static void run_job(void *arg)
{
	struct audit_job *j = arg;

	err_clear(&j->err);
	j->rc = j->text ? audit_lines_append(j->path, j->text, &j->err)
			: audit_lines_last(j->path, &j->seq, &j->err);
}

/* Notes that a write failed. Sends an event unless the one before failed too. */
static void note_failure(struct audit_file *f, const struct err *e)
{
	const struct kube_ref lease = {.api_version = "coordination.k8s.io/v1",
				       .kind = "Lease",
				       .ns = f->c->o.ns,
				       .name = CONTROLLER_LEASE};
	char since[STR_TIME_SIZE];

	counters_audit_file_failed(f->c->counters);
	if (f->fails[0])
		return;
	str_format(f->fails, sizeof(f->fails),
		   "%s replica %.60s cannot write the file of its audit log: %.200s",
		   str_time(since, loop_wall(f->c->loop)), str_or(f->c->o.identity, "drover"),
		   e->text);
	str_clean(f->fails);
	kube_event(f->c->events, &lease, "Warning", "AuditFileFails", "Write",
		   strchr(f->fails, ' ') + 1);
}

static void done_job(void *arg)
{
	struct audit_job *j = arg;
	struct audit_file *f = j->owner;
	int64_t wait = BATCH_MS;

	f->work = NULL;
	if (j->rc == 0) {
		backoff_reset(&f->backoff);
		f->seq = j->seq;
		f->torn &= !j->text;
		f->fails[0] = '\0';
	} else {
		wait = backoff_next(&f->backoff, loop_random(f->c->loop));
		log_error("audit log not written to the file; the entries stay in the API",
			  LOG_S("file", j->path), LOG_I("retry_ms", wait), LOG_E(&j->err));
		note_failure(f, &j->err);
		/* a part of the text may have been written */
		f->torn = str_eq(j->path, AUDIT_LINES_STDOUT);
		if (!f->torn)
			f->seq = -1;
	}
	job_free(j);
	loop_timer_start(&f->timer, wait);
}

static void start(struct audit_file *f, char *text, int64_t seq)
{
	struct audit_job *j = mem_new(struct audit_job);

	j->owner = f;
	j->path = mem_strdup(f->c->o.audit_log);
	j->text = text;
	j->seq = seq;
	f->work = loop_work(f->c->group, run_job, done_job, job_free, j);
}

/* --- segments --------------------------------------------------------------------------------- */

struct segment_search {
	int64_t after;
	/* wall ms: after -1 finds the first segment that has an entry since */
	int64_t since;
	/* newest: segment with the highest number */
	const struct audit_segment *found, *newest;
};

static const struct audit_entry *last_of(const struct audit_segment *s)
{
	return &s->spec.entries.v[s->spec.entries.n - 1];
}

/* Finds the segment with the lowest number that has an entry after `after`. */
static bool look(const struct kube_entry *en, void *arg)
{
	const struct audit_segment *s = en->object;
	struct segment_search *q = arg;
	const bool has = q->after < 0 ? last_of(s)->time >= q->since : last_of(s)->seq > q->after;

	if (!q->newest || s->spec.number > q->newest->spec.number)
		q->newest = s;
	if (has && (!q->found || s->spec.number < q->found->spec.number))
		q->found = s;
	return true;
}

/* Begins the file anew if the log ends before the file does, for ANEW_MS. */
static void check_ahead(struct audit_file *f, const struct audit_segment *newest)
{
	const int64_t now = loop_now(f->c->loop);

	if (!newest || last_of(newest)->seq >= f->seq) {
		f->ahead = 0;
	} else if (!f->ahead) {
		f->ahead = now;
		loop_timer_start(&f->timer, ANEW_MS);
	} else if (now - f->ahead >= ANEW_MS) {
		log_error("the file of the audit log is of an earlier log: rename it, so that each "
			  "log has a file",
			  LOG_S("file", f->c->o.audit_log), LOG_I("file_seq", f->seq),
			  LOG_I("log_seq", last_of(newest)->seq));
		f->ahead = 0;
		f->seq = 0;
		loop_timer_start(&f->timer, BATCH_MS);
	}
}

static const struct audit_segment *next_segment(struct audit_file *f)
{
	struct segment_search q = {.after = f->seq, .since = loop_wall(f->c->loop) - AGAIN_MS};

	kube_cache_each(f->c->cache[OBJECT_AUDIT_SEGMENT], look, &q);
	if (f->seq > 0)
		check_ahead(f, q.newest);
	return q.found || f->seq >= 0 ? q.found : q.newest;
}

static void note_gap(struct audit_file *f, int64_t first)
{
	if (f->seq <= 0 || first <= f->seq + 1 || f->gap == first)
		return;
	f->gap = first;
	log_error("the file of the audit log lacks entries, which are no longer in the API",
		  LOG_I("from", f->seq + 1), LOG_I("to", first - 1));
}

/* Adds the entry as a line, if it is after f->seq. */
static void add_line(struct audit_file *f, const json_t *entry, struct buf *b, int64_t *seq)
{
	const int64_t number = json_int_at(entry, "seq");
	char *text;

	if (number <= f->seq)
		return;
	if (!b->len)
		note_gap(f, number);
	if (!b->len && f->torn)
		buf_puts(b, "\n");
	text = json_text_sorted(entry);
	buf_printf(b, "%s\n", text);
	free(text);
	*seq = number;
}

/* Appends the entries of a segment as the API server stores it. */
static void on_fetched(json_t *o, const struct err *e, void *arg)
{
	struct audit_file *f = arg;
	int64_t seq = f->seq;
	struct buf b;
	json_t *entry;
	size_t i;

	f->fetch = NULL;
	if (e) {
		loop_timer_start(&f->timer, NOT_READY_MS);
		return;
	}
	buf_init(&b, TEXT_MAX);
	json_array_foreach (json_at(o, "spec", "entries"), i, entry)
		add_line(f, entry, &b, &seq);
	start(f, buf_steal(&b), seq);
}

/* True if encoding the entry again gives the text that was hashed. False if a newer version wrote
 * the entry with members that this version does not know, or if the entry was changed. */
static bool is_whole(const json_t *entry, const struct audit_entry *e)
{
	char digest[CRYPTO_DIGEST_TEXT];

	return str_eq(audit_entry_digest(entry, digest), e->digest);
}

/* Starts to append the entries of s that are after f->seq. If the cache does not have an entry as
 * it is stored, asks the API server for the segment. */
static void append(struct audit_file *f, const struct audit_segment *s)
{
	int64_t seq = f->seq;
	bool whole = true;
	struct buf b;

	buf_init(&b, TEXT_MAX);
	for (size_t i = 0; i < s->spec.entries.n && whole; i++) {
		const struct audit_entry *e = &s->spec.entries.v[i];
		OWN_JSON j = audit_entry_encode(e);

		whole = e->seq <= f->seq || /* mutant: audit-file-encodes-anew */ is_whole(j, e);
		if (whole)
			add_line(f, j, &b, &seq);
	}
	if (whole) {
		start(f, buf_steal(&b), seq);
		return;
	}
	buf_done(&b);
	f->fetch = kube_get(f->c->host, &object_resources[OBJECT_AUDIT_SEGMENT], NULL, s->meta.name,
			    on_fetched, f);
}

static void step(void *arg)
{
	struct audit_file *f = arg;
	const bool prints = str_eq(f->c->o.audit_log, AUDIT_LINES_STDOUT);
	const struct audit_segment *s;

	if (f->work || f->fetch)
		return;
	if (!f->c->ready || !kube_cache_synced(f->c->cache[OBJECT_AUDIT_SEGMENT])) {
		loop_timer_start(&f->timer, NOT_READY_MS);
	} else if (f->seq < 0 && !prints) {
		start(f, NULL, 0);
	} else {
		s = next_segment(f);
		if (s)
			append(f, s);
	}
}

void audit_file_kick(struct audit_file *f)
{
	if (f && !f->work && !f->fetch && !loop_timer_active(&f->timer))
		loop_timer_start(&f->timer, BATCH_MS);
}

const char *audit_file_error(const struct audit_file *f)
{
	return f && f->fails[0] ? f->fails : NULL;
}

bool audit_file_has(const struct audit_file *f, int64_t seq)
{
	return !f || f->seq >= seq;
}

struct audit_file *audit_file_new(struct context *c)
{
	struct audit_file *f = mem_new(struct audit_file);

	f->c = c;
	f->seq = -1;
	f->backoff = (struct backoff){.base_ms = 5000, .cap_ms = 300000};
	loop_timer_init(&f->timer, c->group, step, f);
	loop_timer_start(&f->timer, NOT_READY_MS);
	return f;
}

void audit_file_free(struct audit_file *f)
{
	if (!f)
		return;
	if (f->work)
		loop_work_abandon(f->work);
	kube_call_cancel(f->fetch);
	loop_timer_stop(&f->timer);
	free(f);
}
