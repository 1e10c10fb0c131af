/*
 * status_writer: sends one write at a time, passes the reply to the cache, and calls the owner's
 * done().
 */
#include "controller/core/status_writer.h"

#include <assert.h>
#include <stdlib.h>

#include "api/resources.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/core/finalizer.h"
#include "controller/core/spans.h"
#include "kube/client.h"
#include "kube/want.h"

/* Size of the longest name of an object, with its final NUL */
#define NAME_SIZE 254
#define LOG_PAUSE_MS 1000

void writer_init(struct status_writer *w, struct context *c, void *arg)
{
	*w = (struct status_writer){.c = c, .arg = arg};
}

void writer_stop(struct status_writer *w)
{
	kube_call_cancel(w->call);
	mem_save(&w->name, NAME_SIZE, NULL);
	if (w->gone)
		*w->gone = true;
	w->call = NULL;
	w->done = NULL;
	w->gone = NULL;
}

bool writer_busy(const struct status_writer *w)
{
	return w->done;
}

/* Never returns NULL, because a path without a name is that of all objects of the kind. */
static const char *name_of(const struct status_writer *w)
{
	return str_or(w->name, "");
}

static void warn(const struct status_writer *w, const struct err *e)
{
	struct context *c = w->c;
	int64_t now = loop_now(c->loop);

	if (now < c->failed_writes.next_at) {
		c->failed_writes.left_out++;
		return;
	}
	log_warn(w->deletes ? "object not deleted" : "object not written",
		 LOG_S("kind", object_kinds[w->kind].kind), LOG_S("name", name_of(w)), LOG_E(e),
		 LOG_I("others_not_logged", c->failed_writes.left_out));
	c->failed_writes.next_at = now + LOG_PAUSE_MS;
	c->failed_writes.left_out = 0;
}

/* Logs an error only if its kind differs from the last one: a server that is down causes the same
 * error on each retry. With thousands of objects it does so for each of them, so only one of these
 * errors is logged per LOG_PAUSE_MS. */
static void note(struct status_writer *w, const struct err *e)
{
	enum err_kind is = e ? e->kind : ERR_NONE;

	if (is != w->failed && is != ERR_NONE && is != ERR_CONFLICT && is != ERR_NOT_FOUND)
		warn(w, e);
	w->failed = is;
}

/* Ends the write. kube_cache_learn() may cause the owner of this writer to be freed. The writer
 * stays busy until done() is called, so that nobody starts another write meanwhile. */
static void on_answer(json_t *o, const struct err *e, void *arg)
{
	struct status_writer *w = arg;
	struct kube_cache *cache = w->c->cache[w->kind];
	kube_done *done = w->done;
	bool gone = false;

	w->call = NULL;
	w->gone = &gone;
	note(w, e);
	if (!e && cache && json_object_get(o, "spec")) /* only objects: a Status has no spec */
		kube_cache_learn(cache, o);
	if (gone)
		return;
	w->gone = NULL;
	w->done = NULL;
	done(o, e, w->arg);
}

static void begin(struct status_writer *w, enum object_kind_id kind, const struct object_meta *m,
		  bool deletes, kube_done *done)
{
	assert(!w->done);
	w->kind = kind;
	w->deletes = deletes;
	w->done = done;
	mem_save(&w->name, NAME_SIZE, m->name);
}

static bool is_known(const char *rv, void *arg)
{
	const struct status_writer *w = arg;
	const struct kube_cache *cache = w->c->cache[w->kind];

	return cache && kube_cache_passed(cache, rv);
}

/* Starts a patch. body NULL (jansson refused a text) makes the call fail when it is sent. */
static void send(struct status_writer *w, enum object_kind_id kind, const struct object_meta *m,
		 const char *subresource, enum kube_patch_type type, const json_t *body,
		 kube_done *done)
{
	begin(w, kind, m, false, done);
	w->call = kube_patch(w->c->host, &object_resources[kind], NULL, name_of(w), subresource,
			     type, body, on_answer, w);
	kube_call_want(w->call, kube_want_with_writers);
	kube_call_brief(w->call, is_known, w);
	spans_call(w->c, w->call, kind, name_of(w));
}

/* Starts a merge patch; takes ownership of body. */
static void patch(struct status_writer *w, enum object_kind_id kind, const struct object_meta *m,
		  const char *subresource, json_t *body, kube_done *done)
{
	OWN_JSON meta = json_pack("{s:{s:s}}", "metadata", "resourceVersion",
				  str_or(m->resource_version, ""));
	OWN_JSON all = body;

	if (all)
		json_object_update_recursive(all, meta);
	send(w, kind, m, subresource, KUBE_PATCH_MERGE, all, done);
}

void writer_status(struct status_writer *w, enum object_kind_id kind, const struct object_meta *m,
		   json_t *status, kube_done *done)
{
	patch(w, kind, m, "status", json_pack("{s:o}", "status", status), done);
}

void writer_spec(struct status_writer *w, enum object_kind_id kind, const struct object_meta *m,
		 json_t *spec, kube_done *done)
{
	patch(w, kind, m, NULL, json_pack("{s:o}", "spec", spec), done);
}

void writer_append(struct status_writer *w, enum object_kind_id kind, const struct object_meta *m,
		   const char *path, json_t *values, kube_done *done)
{
	OWN_JSON all =
		json_pack("[{s:s, s:s, s:s}]", "op", "replace", "path", "/metadata/resourceVersion",
			  "value", str_or(m->resource_version, ""));
	OWN_JSON each = values;
	char *end = mem_printf("%s/-", path);
	json_t *v;
	size_t i;

	json_array_foreach (each, i, v)
		json_array_append_new(
			all, json_pack("{s:s, s:s, s:O}", "op", "add", "path", end, "value", v));
	free(end);
	send(w, kind, m, NULL, KUBE_PATCH_JSON, all, done);
}

void writer_annotation(struct status_writer *w, enum object_kind_id kind,
		       const struct object_meta *m, const char *key, const char *value,
		       kube_done *done)
{
	patch(w, kind, m, NULL, json_pack("{s:{s:{s:s?}}}", "metadata", "annotations", key, value),
	      done);
}

bool writer_finalizer(struct status_writer *w, enum object_kind_id kind,
		      const struct object_meta *m, const char *finalizer, bool on, kube_done *done)
{
	json_t *list = on ? finalizer_with(&m->finalizers, finalizer)
			  : finalizer_without(&m->finalizers, finalizer);

	if (!list)
		return false;
	patch(w, kind, m, NULL, json_pack("{s:{s:o}}", "metadata", "finalizers", list), done);
	return true;
}

void writer_delete(struct status_writer *w, enum object_kind_id kind, const struct object_meta *m,
		   kube_done *done)
{
	struct kube_delete_opts o = {.uid = m->uid, .grace_s = -1};

	begin(w, kind, m, true, done);
	w->call = kube_delete(w->c->host, &object_resources[kind], NULL, name_of(w), &o, on_answer,
			      w);
	spans_call(w->c, w->call, kind, name_of(w));
}

void writer_create(struct status_writer *w, enum object_kind_id kind, json_t *o, kube_done *done)
{
	OWN_JSON all = o;
	const struct object_meta m = {.name = json_str_at(all, "metadata", "name")};

	begin(w, kind, &m, false, done);
	w->call = kube_create(w->c->host, &object_resources[kind], NULL, all, on_answer, w);
	kube_call_want(w->call, kube_want_with_writers);
}
