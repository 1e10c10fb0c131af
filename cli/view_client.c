#include <stdlib.h>
#include <string.h>

#include "cli/view_client.h"
#include "api/annotations.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/http/http.h"
#include "base/loop/loop.h"
#include "base/mem.h"
#include "base/str.h"

#define TOKEN_S 600
/* longest time for one page of a list, from the request to the end of the reply, in ms */
#define PAGE_MS 15000
#define PAGE_BYTES ((size_t)4 << 20)
#define CA_BYTES ((size_t)1 << 20)
/* maximum number of requests for one page. Behind a Service, a request may reach a replica that
 * does not lead and answers 503. */
#define TRIES 5

struct view_client {
	struct cli_client *c;
	struct view_where w;
	/* true: find() has chosen one of the places at which the view may be read */
	bool found;
	/* server at a known URL; NULL: the service proxy */
	struct http_peer *peer;
	/* token: without "Bearer ", for a server at a known URL. proxied: "Bearer TOKEN", for the
	 * header behind the service proxy. */
	struct secret *token, *proxied;
	/* loop_now() at which w.total_ms ends; 0: no read has begun, or there is no such limit */
	int64_t until;
	/* error of the last search or read; kind ERR_NONE: none */
	struct err failed;
};

error_t view_client_option(int key, char *arg, struct view_where *w)
{
	switch (key) {
	case VIEW_URL:
		w->url = arg;
		return 0;
	case VIEW_CA:
		w->ca_file = arg;
		return 0;
	case 'n':
		w->ns = arg;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

struct view_client *view_client_new(struct cli_client *c, const struct view_where *w)
{
	struct view_client *v = mem_new(struct view_client);

	v->c = c;
	v->w = *w;
	if (!v->w.url && !str_empty(getenv("DROVER_VIEW")))
		v->w.url = getenv("DROVER_VIEW");
	return v;
}

static void drop_place(struct view_client *v)
{
	http_peer_free(v->peer);
	secret_free(v->token);
	secret_free(v->proxied);
	v->peer = NULL;
	v->token = v->proxied = NULL;
}

void view_client_free(struct view_client *v)
{
	if (!v)
		return;
	drop_place(v);
	free(v);
}

/* --- one request ------------------------------------------------------------------------------ */

struct view_answer {
	struct loop *loop;
	json_t *j;
	struct err e;
	bool in;
};

static void on_reply(const struct http_reply *r, const struct err *e, void *arg)
{
	struct view_answer *a = arg;

	a->in = true;
	if (e)
		a->e = *e;
	else if (http_err(r, &a->e) == 0)
		a->j = json_parse(r->body, r->body_len, &a->e);
	loop_stop(a->loop);
}

/* Returns the limit ms, or what remains of w.total_ms if that is less. */
static uint32_t limited(const struct view_client *v, uint32_t ms)
{
	const int64_t left = v->until - loop_now(v->c->loop);

	return !v->until || left > ms ? ms : left < 1 ? 1 : (uint32_t)left;
}

static json_t *get_directly(struct view_client *v, const char *path, struct err *e)
{
	struct view_answer a = {.loop = v->c->loop};
	const struct http_call h = {.path = path,
				    .bearer = v->token,
				    .timeout_ms = limited(v, PAGE_MS),
				    .connect_ms = limited(v, VIEW_CLIENT_MS),
				    .idle_ms = limited(v, VIEW_CLIENT_MS),
				    .max_body = PAGE_BYTES,
				    .done = on_reply,
				    .arg = &a};

	(void)http_start(v->peer, &h);
	while (!a.in)
		loop_run(v->c->loop);
	if (!a.j)
		*e = a.e;
	return a.j;
}

static json_t *get_by_proxy(struct view_client *v, const char *path, struct err *e)
{
	const struct kube_path_options o = {.secret_header = VIEW_TOKEN_HEADER,
					    .secret_value = v->proxied,
					    .connect_ms = limited(v, VIEW_CLIENT_MS),
					    .idle_ms = limited(v, VIEW_CLIENT_MS),
					    .total_ms = v->until ? limited(v, PAGE_MS) : 0,
					    .no_wait = true};
	struct buf full;
	json_t *j;

	buf_init(&full, 1 << 16);
	buf_puts(&full, "/api/v1/namespaces/");
	http_escape(&full, v->w.ns);
	buf_printf(&full, "/services/https:" VIEW_NAME ":view/proxy%s", path);
	j = cli_path_with(v->c, full.data, &o, e);
	buf_done(&full);
	return j;
}

static json_t *get(struct view_client *v, const char *path, struct err *e)
{
	json_t *j = NULL;

	if (v->w.total_ms && !v->until)
		v->until = loop_now(v->c->loop) + v->w.total_ms;
	for (int n = 0; n < TRIES && !j; n++) {
		if (v->until && loop_now(v->c->loop) >= v->until) {
			err_note(e, ERR_TIMEOUT, 0, "no answer within %u ms", v->w.total_ms);
			break;
		}
		j = v->peer ? get_directly(v, path, e) : get_by_proxy(v, path, e);
		if (!j && e->code != 503)
			break;
	}
	return j;
}

/* --- places ----------------------------------------------------------------------------------- */

/* Sets the token of the view. own: whether the kubeconfig's token may be sent. -1: *e. */
static int set_token(struct view_client *v, bool own, struct err *e)
{
	const struct secret *theirs = own ? kube_client_token(v->c->host) : NULL;
	char *text;

	v->token = theirs ? secret_copy(theirs)
			  : cli_token(v->c, v->w.ns, VIEW_NAME, VIEW_AUDIENCE, TOKEN_S, e);
	if (!v->token)
		return err_wrap(e, "no token of ServiceAccount " VIEW_NAME);
	text = mem_printf("Bearer %s", secret_expose(v->token));
	v->proxied = secret_from_str(text);
	secret_wipe(text, strlen(text));
	free(text);
	return 0;
}

static json_t *config_map(struct view_client *v)
{
	struct buf path;
	struct err e;
	json_t *j;

	buf_init(&path, 1 << 16);
	buf_puts(&path, "/api/v1/namespaces/");
	http_escape(&path, v->w.ns);
	buf_puts(&path, "/configmaps/" VIEW_NAME);
	j = cli_path(v->c, path.data, &e);
	buf_done(&path);
	return j;
}

static int set_peer(struct view_client *v, const char *url, const char *ca, struct err *e)
{
	const struct http_peer_spec s = {.base_url = url, .ca_pem = ca, .local_ok = true};

	v->peer = http_peer_new(v->c->http, &s, e);
	return v->peer ? 0 : -1;
}

/* Uses the URL that the user gave. */
static int use_url(struct view_client *v, struct err *e)
{
	OWN_JSON map = v->w.ca_file ? NULL : config_map(v);
	const char *ca = json_str_at(map, "data", "ca.crt");
	struct buf file;
	int rc = 0;

	if (!str_starts(v->w.url, "https://"))
		return err_set(e, ERR_INVALID, 0, "--view: want https://HOST:PORT, got '%.100s'",
			       v->w.url);
	buf_init(&file, CA_BYTES);
	if (v->w.ca_file)
		rc = file_read(v->w.ca_file, &file, e) < 0 ? err_wrap(e, "--view-ca") : 0;
	else if (!ca)
		rc = err_set(e, ERR_NOT_FOUND, 0,
			     "the CA of --view is unknown: give --view-ca FILE, a file with the "
			     "value of key ca.crt of Secret " KEYS_AGENT_CA);
	if (!rc)
		rc = set_peer(v, v->w.url, v->w.ca_file ? str_or(file.data, "") : ca, e);
	buf_done(&file);
	return rc < 0 ? -1 : set_token(v, true, e);
}

/* Reads the page at the URL that the leader published. NULL: no URL is published, or the view does
 * not answer there. */
static json_t *try_published(struct view_client *v, const char *path)
{
	OWN_JSON map = config_map(v);
	const char *url = json_str_at(map, "data", "endpoint"),
		   *ca = json_str_at(map, "data", "ca.crt");
	const int64_t began = loop_now(v->c->loop);
	json_t *page = NULL;
	struct err e;

	if (!str_starts(str_or(url, ""), "https://") || str_empty(ca))
		return NULL;
	if (v->w.total_ms)
		v->until = began + v->w.total_ms / 2;
	if (set_peer(v, url, ca, &e) == 0 && set_token(v, false, &e) == 0)
		page = get(v, path, &e);
	if (!page)
		drop_place(v);
	if (v->w.total_ms)
		v->until = began + v->w.total_ms;
	return page;
}

/* True if the API server has no Service of the view. */
static bool no_service(struct view_client *v)
{
	struct err e;
	OWN_JSON o = cli_metadata(v->c, &KUBE_SERVICES, v->w.ns, VIEW_NAME, &e);

	return !o && e.kind == ERR_NOT_FOUND;
}

/* Adds to *e what the operator can do. */
static void advise(struct view_client *v, struct err *e)
{
	const struct err was = *e;
	const char *help = NULL;

	if (was.code == 404 && !v->peer && no_service(v))
		help = "check --context and --namespace, or run helm upgrade or deploy/install.sh "
		       "again, which create the Service " VIEW_NAME;
	else if (was.code == 404 && !v->token)
		help = "apply deploy/rbac.yaml";
	else if (was.code == 404)
		help = "the leader is older than this command; update drover";
	else if (was.code == 403)
		help = "bind the ClusterRole and the Role " VIEW_NAME " (deploy/rbac.yaml)";
	else if (was.code == 401)
		help = "log in again, or give another --context";
	else if (was.kind == ERR_UNAVAILABLE || was.kind == ERR_TIMEOUT)
		help = "`drover check` shows whether drover runs";
	if (help)
		err_note(e, was.kind, was.code, "%.130s; what helps: %s", was.text, help);
}

/* Chooses the place at which the view answers, and returns the first page of a list from there;
 * NULL with *e. */
static json_t *find(struct view_client *v, const char *path, struct err *e)
{
	json_t *page;

	v->found = true;
	if (v->w.url)
		return use_url(v, e) < 0 ? NULL : get(v, path, e);
	page = try_published(v, path);
	if (page)
		return page;
	return set_token(v, true, e) < 0 ? NULL : get(v, path, e);
}

/* --- a list ----------------------------------------------------------------------------------- */

static json_t *page_of(struct view_client *v, const char *path, const char *after, struct err *e)
{
	struct buf b;
	json_t *page;

	buf_init(&b, 1 << 16);
	buf_printf(&b, "%s?limit=500", path);
	if (after) {
		buf_puts(&b, "&continue=");
		http_escape(&b, after);
	}
	page = v->found ? get(v, b.data, e) : find(v, b.data, e);
	buf_done(&b);
	return page;
}

static json_t *read_list(struct view_client *v, const char *path, const char *rows, struct err *e)
{
	OWN_JSON list = page_of(v, path, NULL, e);
	json_t *all = json_object_get(list, rows);
	OWN_JSON page = json_incref(list);

	if (!list)
		return NULL;
	if (!json_is_array(all)) {
		err_note(e, ERR_PROTOCOL, 0, "%s: the leader's reply has no list '%s'", path, rows);
		return NULL;
	}
	while (json_str_at(page, "continue")) {
		json_t *next = page_of(v, path, json_str_at(page, "continue"), e);

		json_decref(page);
		page = next;
		if (!page)
			return NULL;
		if (!json_array_size(json_object_get(page, rows)) ||
		    json_array_size(all) > VIEW_CLIENT_ROWS_MAX) {
			err_note(e, ERR_PROTOCOL, 0,
				 "%s: the leader sent an empty page or too many rows", path);
			return NULL;
		}
		json_array_extend(all, json_object_get(page, rows));
	}
	json_object_del(list, "continue");
	return json_incref(list);
}

json_t *view_client_list(struct view_client *v, const char *path, const char *rows, struct err *e)
{
	json_t *list = NULL;

	if (v->failed.kind == ERR_NONE) {
		list = read_list(v, path, rows, &v->failed);
		if (!list)
			advise(v, &v->failed);
	}
	if (list)
		err_clear(&v->failed);
	else
		*e = v->failed;
	return list;
}
