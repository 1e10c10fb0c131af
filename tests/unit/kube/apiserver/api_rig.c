#include "tests/unit/kube/apiserver/api_rig.h"

#include <stdlib.h>
#include "base/mem.h"
#include "base/str.h"

#define ORIGIN "https://api:6443"
#define PIN "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

static void connect_client(struct api *r, const char *cn, const char *o)
{
	struct http_peer_spec peer = {.base_url = ORIGIN, .pin_sha256 = PIN};
	struct err e;

	r->h = http_new(r->g, http_mem_transport(r->net, r->g, "client", cn, o), 100);
	r->p = http_peer_new(r->h, &peer, &e);
	if (!r->p)
		fail_msg("%s", e.text);
}

void api_serve(struct api *r)
{
	http_mem_serve(r->net, ORIGIN, r->d);
}

void api_certify(struct api *r, const char *cn, const char *o)
{
	http_peer_free(r->p);
	http_free(r->h);
	connect_client(r, cn, o);
}

void api_start(struct api *r, const struct apiserver_spec *spec, size_t history)
{
	api_start_on(r, spec, history, store_mem_new);
}

void api_start_on(struct api *r, const struct apiserver_spec *spec, size_t history,
		  struct store *(*store)(struct loop_group *g, size_t history))
{
	*r = (struct api){.l = loop_sim_new(1, 1700000000000)};
	r->g = loop_group_new(r->l, "api");
	r->s = store(r->g, history);
	r->d = httpd_new(r->g);
	r->a = apiserver_new(r->g, r->s, spec);
	apiserver_routes(r->a, r->d);
	r->net = http_mem_net_new(r->l);
	http_mem_serve(r->net, ORIGIN, r->d);
	http_mem_pin(r->net, ORIGIN, PIN);
	connect_client(r, NULL, NULL);
}

static void forget(struct api *r)
{
	json_decref(r->j);
	free(r->text);
	r->j = NULL;
	r->text = NULL;
}

void api_stop(struct api *r)
{
	forget(r);
	secret_free(r->bearer);
	http_peer_free(r->p);
	http_free(r->h);
	http_mem_net_free(r->net);
	httpd_free(r->d);
	apiserver_free(r->a);
	store_free(r->s);
	loop_group_free(r->g);
	loop_free(r->l);
}

int api_setup(void **state)
{
	struct api *r = mem_new(struct api);

	api_start(r, NULL, 1000);
	*state = r;
	return 0;
}

int api_teardown(void **state)
{
	api_stop(*state);
	free(*state);
	return 0;
}

static void on_reply(const struct http_reply *reply, const struct err *e, void *arg)
{
	struct api *r = arg;
	struct err unreadable;

	if (e)
		fail_msg("%s", e->text);
	r->done = true;
	r->status = reply->status;
	r->warning[0] = '\0';
	for (size_t i = 0; i < reply->nheaders; i++)
		if (!strcasecmp(reply->headers[i].name, "Warning"))
			assert_true(
				str_copy(r->warning, sizeof(r->warning), reply->headers[i].value));
	r->text = mem_strndup(reply->body, reply->body_len);
	r->j = json_parse(reply->body, reply->body_len, &unreadable);
}

static bool is_done(void *arg)
{
	return ((struct api *)arg)->done;
}

int api_raw(struct api *r, const char *method, const char *path, const char *type, const char *body)
{
	struct http_header headers[3];
	size_t n = 0;
	struct http_call c = {
		.method = method,
		.path = path,
		.body = body,
		.body_len = body ? strlen(body) : 0,
		.content_type = type,
		.max_body = (size_t)64 << 20,
		.bearer = r->bearer,
		.headers = headers,
		.done = on_reply,
		.arg = r,
	};

	if (r->as)
		headers[n++] = (struct http_header){"Impersonate-User", r->as};
	if (r->as_group)
		headers[n++] = (struct http_header){"Impersonate-Group", r->as_group};
	if (r->accept)
		headers[n++] = (struct http_header){"Accept", r->accept};
	c.nheaders = n;
	forget(r);
	r->done = false;
	http_start(r->p, &c);
	if (!loop_sim_run_cond(r->l, is_done, r, loop_now(r->l) + 60000))
		fail_msg("%s %s: no answer", method, path);
	return r->status;
}

static char *with_quotes(const char *body)
{
	char *copy = mem_strdup(body);

	for (char *c = copy; c && *c; c++)
		if (*c == '\'')
			*c = '"';
	return copy;
}

int api_patch(struct api *r, const char *type, const char *path, const char *body)
{
	char *full = mem_printf("application/%s", type), *quoted = with_quotes(body);

	api_raw(r, "PATCH", path, full, quoted);
	free(full);
	free(quoted);
	return r->status;
}

int api_do(struct api *r, const char *method, const char *path, const char *body)
{
	char *quoted = with_quotes(body);

	api_raw(r, method, path, "application/json", quoted);
	free(quoted);
	return r->status;
}

static const json_t *at(struct api *r, const char *dotted)
{
	char path[256];
	const json_t *j = r->j;
	int64_t i;

	assert_true(str_copy(path, sizeof(path), dotted));
	for (char *rest = path, *part; j && (part = strsep(&rest, "."));)
		j = json_is_array(j) && str_to_i64(part, 0, 1000000, &i)
			    ? json_array_get(j, (size_t)i)
			    : json_object_get(j, part);
	return j;
}

const char *api_str(struct api *r, const char *dotted)
{
	return json_string_value(at(r, dotted));
}

int64_t api_int(struct api *r, const char *dotted)
{
	const json_t *j = at(r, dotted);

	return json_is_array(j)	    ? (int64_t)json_array_size(j)
	       : json_is_integer(j) ? json_integer_value(j)
				    : -1;
}

/* --- watches ---------------------------------------------------------------------------------- */

static char shape_of(const json_t *obj)
{
	const json_t *rows = json_at(obj, "rows");

	if (rows)
		return json_at(json_array_get(rows, 0), "object") ? 'o' : 'r';
	return json_at(obj, "spec") ? 's' : '-';
}

static void say(struct api_watch *w)
{
	struct err e;
	OWN_JSON j = json_parse(w->line.data, w->line.len, &e);
	const char *type = json_str_at(j, "type");

	if (!j)
		fail_msg("a watch said %s: %s", w->line.data, e.text);
	if (w->lines + 1 < sizeof(w->shapes))
		w->shapes[w->lines] = shape_of(json_at(j, "object"));
	w->initial_ends += str_eq(
		json_str_at(j, "object", "metadata", "annotations", "k8s.io/initial-events-end"),
		"true");
	if (str_eq(type, "ERROR"))
		buf_printf(&w->said, "ERROR %lld %s;", (long long)json_int_at(j, "object", "code"),
			   json_str_at(j, "object", "reason"));
	else
		buf_printf(&w->said, "%s %s %s;", type,
			   str_or(json_str_at(j, "object", "metadata", "name"), "-"),
			   json_str_at(j, "object", "metadata", "resourceVersion"));
}

static int on_head(const struct http_reply *reply, void *arg, struct err *e)
{
	(void)e;
	((struct api_watch *)arg)->status = reply->status;
	return 0;
}

static int on_data(const char *data, size_t len, void *arg, struct err *e)
{
	struct api_watch *w = arg;

	(void)e;
	for (size_t i = 0; i < len; i++) {
		if (data[i] != '\n') {
			buf_put(&w->line, &data[i], 1);
		} else {
			say(w);
			w->lines++;
			buf_clear(&w->line);
		}
	}
	if (!w->stalled)
		http_want(w->q);
	return 0;
}

static void on_watch_end(const struct http_reply *reply, const struct err *e, void *arg)
{
	struct api_watch *w = arg;

	(void)reply;
	w->ended = true;
	w->whole = !e;
	w->q = NULL;
}

void api_watch_start(struct api *r, struct api_watch *w, const char *path)
{
	struct http_header accept = {"Accept", r->accept};
	struct http_call c = {
		.path = path,
		.headers = &accept,
		.nheaders = r->accept ? 1 : 0,
		.no_timeout = true,
		.paced = true,
		.max_body = (size_t)256 << 20,
		.on_head = on_head,
		.on_data = on_data,
		.done = on_watch_end,
		.arg = w,
	};

	*w = (struct api_watch){.r = r};
	buf_init(&w->line, 8 << 20);
	buf_init(&w->said, 1 << 20);
	w->q = http_start(r->p, &c);
	api_run(r, 1000);
}

void api_watch_stop(struct api_watch *w)
{
	http_cancel(w->q);
	buf_done(&w->line);
	buf_done(&w->said);
}

void api_run(struct api *r, int64_t ms)
{
	loop_sim_run_until(r->l, loop_now(r->l) + ms);
}
