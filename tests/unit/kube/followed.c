#include "tests/unit/testing.h"

#include <stdio.h>
#include <stdlib.h>
#include "base/mem.h"
#include "base/str.h"
#include "tests/unit/kube/followed.h"

static const struct scan_want node_meta[] = {KUBE_WANT_META, SCAN_END};
static const struct scan_want node_spec[] = {SCAN_PLAIN("value"), SCAN_END};
static const struct scan_want node[] = {SCAN_SOME("metadata", node_meta),
					SCAN_SOME("spec", node_spec), SCAN_END};

static void *project(const json_t *object, struct arena *a, void *arg, struct err *e)
{
	const char *value = json_str_at(object, "spec", "value");
	struct node *n;

	((struct followed *)arg)->projected++;
	if (str_eq(value, "bad")) {
		err_note(e, ERR_INVALID, 0, "spec.value: is bad");
		return NULL;
	}
	if (str_eq(value, "skip"))
		return NULL;
	n = arena_new_obj(a, struct node);
	n->value = arena_strdup(a, str_or(value, ""));
	return n;
}

static const char *value_of(const struct kube_entry *e)
{
	return ((const struct node *)e->object)->value;
}

static void on_change(const struct kube_entry *old, const struct kube_entry *new_, void *arg)
{
	struct followed *r = arg;
	size_t at = strlen(r->changes), room = sizeof(r->changes) - at;
	json_t *learn = r->learn_in_change;

	if (old && new_)
		snprintf(r->changes + at, room, "%s=%s>%s ", new_->name, value_of(old),
			 value_of(new_));
	else
		snprintf(r->changes + at, room, "%c%s=%s ", new_ ? '+' : '-',
			 (new_ ? new_ : old)->name, value_of(new_ ? new_ : old));
	/* During on_change() the cache already contains the new object. */
	if (new_)
		assert_ptr_equal(kube_cache_get(r->cache, new_->ns, new_->name), new_);
	if (learn) {
		r->learn_in_change = NULL;
		kube_cache_learn(r->cache, learn);
		json_decref(learn);
	}
}

static void on_over(const json_t *object, void *arg)
{
	struct followed *r = arg;

	if (object)
		r->overs++;
	else
		r->fit_again++;
}

static void on_sync(void *arg)
{
	((struct followed *)arg)->syncs++;
}

static void on_bad(const json_t *object, const struct err *e, void *arg)
{
	struct followed *r = arg;

	assert_non_null(object);
	r->bads++;
	r->bad = *e;
}

static void on_health(const struct err *e, void *arg)
{
	struct followed *r = arg;

	if (e) {
		r->ill++;
		r->last_ill = *e;
	} else {
		r->well++;
	}
}

static bool accept_loss(const struct kube_loss *loss, void *arg)
{
	struct followed *r = arg;

	if (!loss->gone)
		return true;
	r->asked++;
	r->before = loss->before;
	r->gone = loss->gone;
	r->which[r->asked % 2] = loss->which;
	return r->accept;
}

void followed_object(struct buf *b, const char *type, const char *spec)
{
	char name[64] = "", value[4096] = "", rv[64] = "", uid[64] = "";

	assert_true(sscanf(spec, "%63[^=]=%4095[^@]@%63[^/]/%63s", name, value, rv, uid) >= 3);
	if (type)
		buf_printf(b, "{\"type\":\"%s\",\"object\":", type);
	buf_printf(b,
		   "{\"kind\":\"Node\",\"metadata\":{\"name\":\"%s\",\"uid\":\"%s\","
		   "\"resourceVersion\":\"%s\"},\"spec\":{\"value\":\"%s\"}}%s",
		   name, *uid ? uid : name, rv, value, type ? "}\n" : "");
}

static void serve_list(struct followed *r, struct httpd_req *q)
{
	char *copy = mem_strdup(r->list), *save = NULL;
	struct buf b;
	int n = 0;

	buf_init(&b, (size_t)8 << 20);
	buf_printf(&b,
		   "{\"kind\":\"NodeList\",\"metadata\":{\"resourceVersion\":\"%s\"},\"items\":[",
		   r->list_rv);
	for (char *s = strtok_r(copy, " ", &save); s; s = strtok_r(NULL, " ", &save)) {
		buf_puts(&b, n++ ? "," : "");
		followed_object(&b, NULL, s);
	}
	buf_puts(&b, "]}");
	httpd_reply_json(q, 200, b.data);
	buf_done(&b);
	free(copy);
}

static bool serve(struct fake_api *f, struct httpd_req *q)
{
	struct followed *r = f->arg;

	if (!httpd_query(q, "watch")) {
		r->list_at[r->lists++ % 64] = loop_now(f->loop);
		/* A list without a resourceVersion is a quorum read. */
		assert_null(httpd_query(q, "resourceVersion"));
		if (r->list_fails)
			fake_api_status(q, 500, "InternalError", "etcd");
		else
			serve_list(r, q);
		return true;
	}
	snprintf(r->watch_query, sizeof(r->watch_query), "%s %s %s",
		 httpd_query(q, "resourceVersion"),
		 str_or(httpd_query(q, "allowWatchBookmarks"), ""),
		 str_or(httpd_query(q, "timeoutSeconds"), ""));
	r->watch_at[f->watches % 64] = loop_now(f->loop);
	if (r->watch_status) {
		f->watches++;
		fake_api_status(q, r->watch_status, r->watch_status == 410 ? "Expired" : "Sorry",
				"no");
	} else if (r->watch_hangs) {
		f->watches++;
	} else {
		fake_api_watch(f, q);
	}
	return true;
}

void followed_begin(struct followed *r, const char *list, int64_t ms)
{
	fake_api_start(&r->f, NULL);
	r->f.serve = serve;
	r->f.arg = r;
	r->list = list;
	r->list_rv = "100";
	r->cache = kube_cache_new(r->f.client_g, &(struct kube_cache_spec){
							 .client = r->f.c,
							 .resource = &KUBE_NODES,
							 .want = node,
							 .same_untold = r->same_untold,
							 .project = project,
							 .on_change = on_change,
							 .on_sync = on_sync,
							 .on_bad = on_bad,
							 .on_health = on_health,
							 .accept_loss = accept_loss,
							 .max_item = 8192,
							 .max_each = r->max_each,
							 .max_bytes = r->max_bytes,
							 .max_objects = r->max_objects,
							 .on_over = on_over,
							 .arg = r,
						 });
	fake_api_run(&r->f, ms);
}

void followed_start(struct followed *r, const char *list)
{
	followed_begin(r, list, 1000);
}

void followed_stop(struct followed *r)
{
	kube_cache_free(r->cache);
	fake_api_stop(&r->f);
}

void followed_send_event(struct followed *r, const char *type, const char *spec)
{
	struct buf b;

	buf_init(&b, 65536);
	followed_object(&b, type, spec);
	fake_watch_send(r->f.watch, b.data);
	buf_done(&b);
	fake_api_run(&r->f, 1000);
}

void followed_send_text(struct followed *r, const char *text)
{
	fake_watch_send(r->f.watch, text);
	fake_api_run(&r->f, 1000);
}

void followed_changes(struct followed *r, const char *want)
{
	assert_string_equal(r->changes, want);
	r->changes[0] = '\0';
}
