/* webhook: creates a new peer for each request, because the CA may have changed. */
#include "controller/core/webhook.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/core/secrets.h"

struct webhook {
	struct context *c;
	void (*done)(const struct http_reply *r, const struct err *e, void *arg);
	void *arg;
	struct http_peer *peer;
	struct http_req *post;
};

struct webhook *webhook_new(struct context *c,
			    void (*done)(const struct http_reply *r, const struct err *e,
					 void *arg),
			    void *arg)
{
	struct webhook *w = mem_new(struct webhook);

	*w = (struct webhook){.c = c, .done = done, .arg = arg};
	return w;
}

void webhook_free(struct webhook *w)
{
	if (!w)
		return;
	http_cancel(w->post);
	http_peer_free(w->peer);
	free(w);
}

bool webhook_busy(const struct webhook *w)
{
	return w->post != NULL;
}

static void on_posted(const struct http_reply *r, const struct err *e, void *arg)
{
	struct webhook *w = arg;

	w->post = NULL;
	w->done(r, e, w->arg);
}

/* Sets *ca to the CA certificate in the Secret r; NULL if r is NULL. */
static enum webhook_start trust(struct webhook *w, const struct object_secret_ref *r,
				const char **ca, struct err *e)
{
	struct secrets *s = w->c->secrets;
	const struct secret *v;

	*ca = NULL;
	if (!r)
		return WEBHOOK_SENT;
	switch (secrets_want(s, NULL, r->name)) {
	case SECRET_LOADING:
		return WEBHOOK_NOT_YET;
	case SECRET_ABSENT:
	case SECRET_DENIED:
	case SECRET_ERROR:
		err_note(e, ERR_NOT_FOUND, 0, "the Secret cannot be read");
		return WEBHOOK_NOT_SENT;
	case SECRET_LOADED:
		break;
	}
	v = secrets_value(s, NULL, r->name, str_or(r->key, "ca.crt"));
	if (!v) {
		err_note(e, ERR_NOT_FOUND, 0, "the Secret has no key %s", str_or(r->key, "ca.crt"));
		return WEBHOOK_NOT_SENT;
	}
	*ca = secret_expose(v);
	return WEBHOOK_SENT;
}

/* Splits url: returns its path, and sets *origin to "https://host:port". */
static const char *split(const char *url, struct arena *a, const char **origin)
{
	const char *host = strstr(url, "://"), *path = host ? host + 3 : url;

	path += strcspn(path, "/?#");
	*origin = arena_strndup(a, url, (size_t)(path - url));
	path = arena_strndup(a, path, strcspn(path, "#"));
	return *path == '/' ? path : arena_printf(a, "/%s", path);
}

const char *webhook_shown(const char *url, struct arena *a)
{
	const char *origin, *host, *at;

	(void)split(url, a, &origin);
	host = strstr(origin, "://");
	at = strrchr(origin, '@');
	return at ? at + 1 : host ? host + 3 : origin;
}

enum webhook_start webhook_post(struct webhook *w, const struct webhook_call *call,
				const char **member, struct err *e)
{
	OWN(arena) a = arena_new();
	struct http_peer_spec spec = {0};
	struct http_call http = {.method = "POST",
				 .timeout_ms = call->timeout_ms,
				 .max_body = WEBHOOK_ANSWER_MAX,
				 .body = call->body,
				 .body_len = strlen(call->body),
				 .done = on_posted,
				 .arg = w};
	enum webhook_start start = trust(w, call->ca, &spec.ca_pem, e);

	*member = "caSecretRef";
	if (start != WEBHOOK_SENT)
		return start;
	*member = "url";
	http.path = split(call->url, a, &spec.base_url);
	http_peer_free(w->peer);
	w->peer = http_peer_new(w->c->http, &spec, e);
	if (!w->peer)
		return WEBHOOK_NOT_SENT;
	w->post = http_start(w->peer, &http);
	return WEBHOOK_SENT;
}
