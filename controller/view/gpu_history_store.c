/*
 * gpu_history_store: one call is in flight at a time. next() starts the call that is needed next:
 * first a GET of each part that is not loaded, then a write of each changed part.
 */
#include "controller/view/gpu_history_store.h"

#include <stdlib.h>
#include <string.h>

#include "base/crypto.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/retry.h"
#include "base/str.h"
#include "controller/view/gpu_history_code.h"

/* The window touches at most 8 days. */
#define PARTS 8
#define KEY "day"
#define SAVE_MS 900000
#define FINISH_MS 3000
#define AGAIN_MS 5000
#define AGAIN_MOST_MS 300000
#define LABEL "app.kubernetes.io/managed-by"

struct part {
	char name[24];
	/* True: the ConfigMap was read since this replica leads, or does not exist */
	bool loaded;
	/* True: the ConfigMap belongs to another writer and must not be written */
	bool foreign;
	/* True: the history has samples that are not in the ConfigMap */
	bool changed;
	/* Day of the newest changed sample, in days since 1970 */
	int64_t day;
	/* resourceVersion of the ConfigMap; NULL: it does not exist */
	char *version;
};

struct gpu_history_store {
	struct context *c;
	struct gpu_history *h;
	struct part parts[PARTS];
	/* Call in flight, for the part `at`; NULL: none */
	struct kube_call *call;
	struct part *at;
	/* True: changed parts are being written */
	bool saving;
	/* loop_now() when the last write of changed parts began, or when this replica began to
	 * lead */
	int64_t saved_at;
	/* Starts the next try after an error */
	struct loop_timer again;
	struct backoff backoff;
	/* Callback of gpu_history_store_finish(); NULL: that function was not called */
	void (*done)(void *arg);
	void *done_arg;
	struct loop_timer limit;
};

static void next(void *arg);

static void finished(void *arg)
{
	struct gpu_history_store *s = arg;
	void (*done)(void *arg) = s->done;

	loop_timer_stop(&s->limit);
	loop_timer_stop(&s->again);
	kube_call_cancel(s->call);
	s->call = NULL;
	s->saving = false;
	s->done = NULL;
	if (done)
		done(s->done_arg);
}

/* Continues after an error: later, or not at all if the store is to finish. */
static void failed(struct gpu_history_store *s)
{
	if (s->done)
		finished(s);
	else
		loop_timer_start(&s->again, backoff_next(&s->backoff, loop_random(s->c->loop)));
}

/* --- reading ---------------------------------------------------------------------------------- */

/* Adds the samples in the ConfigMap to the history. */
static int load(struct gpu_history_store *s, const json_t *o, struct err *e)
{
	const char *text = json_str_at(o, "binaryData", KEY);
	const int64_t now = loop_wall(s->c->loop) / GPU_HISTORY_STEP_MS;
	int64_t day;
	size_t len;
	char *data;
	int rc;

	if (!text)
		return err_set(e, ERR_PROTOCOL, 0, "binaryData." KEY " is missing");
	data = crypto_base64_decode(text, strlen(text), &len, e);
	if (!data)
		return -1;
	rc = gpu_history_decode(s->h, data, len, now / GPU_HISTORY_DAY_STEPS, &day, e);
	free(data);
	return rc;
}

static void on_read(json_t *o, const struct err *e, void *arg)
{
	struct gpu_history_store *s = arg;
	struct part *p = s->at;
	struct err bad;

	s->call = NULL;
	if (e && e->kind != ERR_NOT_FOUND) {
		log_warn("GPU history not read", LOG_S("configmap", p->name), LOG_E(e));
		failed(s);
		return;
	}
	backoff_reset(&s->backoff);
	p->loaded = true;
	free(p->version);
	p->version = e ? NULL : mem_strdup(json_str_at(o, "metadata", "resourceVersion"));
	p->foreign = !e && !str_eq(json_str_at(o, "metadata", "labels", LABEL), "drover");
	if (p->foreign)
		log_error("ConfigMap is not drover's: the GPU history of its days is not stored",
			  LOG_S("configmap", p->name));
	else if (!e && load(s, o, &bad) < 0)
		log_warn("stored GPU history refused: the history of its day begins anew",
			 LOG_S("configmap", p->name), LOG_E(&bad));
	next(s);
}

/* --- writing ---------------------------------------------------------------------------------- */

static void on_written(json_t *o, const struct err *e, void *arg)
{
	struct gpu_history_store *s = arg;
	struct part *p = s->at;

	s->call = NULL;
	if (e) {
		p->changed = true;
		/* Another writer changed or deleted the ConfigMap: read it before the next try. */
		p->loaded = e->kind != ERR_CONFLICT && e->kind != ERR_NOT_FOUND;
		log_warn("GPU history not saved", LOG_S("configmap", p->name), LOG_E(e));
		failed(s);
		return;
	}
	backoff_reset(&s->backoff);
	free(p->version);
	p->version = mem_strdup(json_str_at(o, "metadata", "resourceVersion"));
	next(s);
}

static void write_part(struct gpu_history_store *s, struct part *p)
{
	struct context *c = s->c;
	size_t len;
	char *data = gpu_history_encode(s->h, p->day, &len), *text = crypto_base64(data, len);
	OWN_JSON o = NULL;

	p->changed = false;
	if (p->version) {
		o = json_pack("{s:{s:s}, s:{s:s}}", "metadata", "resourceVersion", p->version,
			      "binaryData", KEY, text);
		s->call = kube_patch(c->host, &KUBE_CONFIGMAPS, c->o.ns, p->name, NULL,
				     KUBE_PATCH_MERGE, o, on_written, s);
	} else {
		o = json_pack("{s:s, s:s, s:{s:s, s:s, s:{s:s}}, s:{s:s}}", "apiVersion", "v1",
			      "kind", "ConfigMap", "metadata", "name", p->name, "namespace",
			      c->o.ns, "labels", LABEL, "drover", "binaryData", KEY, text);
		s->call = kube_create(c->host, &KUBE_CONFIGMAPS, c->o.ns, o, on_written, s);
	}
	free(text);
	free(data);
}

static void next(void *arg)
{
	struct gpu_history_store *s = arg;

	if (s->call || loop_timer_active(&s->again))
		return;
	for (s->at = s->parts; s->c->leading && !s->done && s->at < s->parts + PARTS; s->at++)
		if (!s->at->loaded) {
			s->call = kube_get(s->c->host, &KUBE_CONFIGMAPS, s->c->o.ns, s->at->name,
					   on_read, s);
			return;
		}
	for (s->at = s->parts; s->c->leading && s->saving && s->at < s->parts + PARTS; s->at++)
		if (s->at->changed && s->at->loaded && !s->at->foreign) {
			write_part(s, s->at);
			return;
		}
	s->saving = false;
	if (s->done)
		finished(s);
}

/* --- for the sampler -------------------------------------------------------------------------- */

void gpu_history_store_lead(struct gpu_history_store *s)
{
	loop_timer_stop(&s->again);
	kube_call_cancel(s->call);
	s->call = NULL;
	s->saving = false;
	s->saved_at = loop_now(s->c->loop);
	backoff_reset(&s->backoff);
	for (size_t i = 0; i < PARTS; i++)
		s->parts[i].loaded = s->parts[i].foreign = false;
	next(s);
}

void gpu_history_store_changed(struct gpu_history_store *s, int64_t step)
{
	const int64_t day = step / GPU_HISTORY_DAY_STEPS, now = loop_now(s->c->loop);
	struct part *p = &s->parts[day % PARTS];

	p->day = day;
	p->changed = true;
	if (now - s->saved_at < SAVE_MS || s->saving)
		return;
	s->saved_at = now;
	s->saving = true;
	next(s);
}

void gpu_history_store_finish(struct gpu_history_store *s, void (*done)(void *arg), void *arg)
{
	if (s->done)
		return;
	s->done = done;
	s->done_arg = arg;
	s->saving = true;
	loop_timer_stop(&s->again);
	loop_timer_start(&s->limit, FINISH_MS);
	next(s);
}

struct gpu_history_store *gpu_history_store_new(struct context *c, struct gpu_history *h)
{
	struct gpu_history_store *s = mem_new(struct gpu_history_store);

	s->c = c;
	s->h = h;
	s->backoff = (struct backoff){.base_ms = AGAIN_MS, .cap_ms = AGAIN_MOST_MS};
	for (unsigned i = 0; i < PARTS; i++)
		str_format(s->parts[i].name, sizeof(s->parts[i].name), "drover-history-%u", i);
	loop_timer_init(&s->again, c->group, next, s);
	loop_timer_init(&s->limit, c->group, finished, s);
	return s;
}

void gpu_history_store_free(struct gpu_history_store *s)
{
	if (!s)
		return;
	kube_call_cancel(s->call);
	loop_timer_stop(&s->again);
	loop_timer_stop(&s->limit);
	for (size_t i = 0; i < PARTS; i++)
		free(s->parts[i].version);
	free(s);
}
