#include "wipe/fetch.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "base/retry.h"
#include "base/str.h"

#define ATTEMPTS 8 /* Maximum number of connections in a row that bring no data. */
#define IDLE_MS 60000
/* Minimum rate: the download fails if less than PACE_BYTES arrive in PACE_MS. */
#define PACE_MS (5 * 60 * 1000)
#define PACE_BYTES (1 << 20)

struct fetch {
	struct loop_group *group;
	/* Copy of the caller's spec; its strings are not valid after fetch_new(). */
	struct fetch_spec spec;
	struct http_peer *peer;
	struct http_req *req;
	struct loop_timer retry;
	struct backoff backoff;
	unsigned attempts;
	char *path;
	/* True: a connection must be opened; the next fetch_more() opens it. */
	bool due;
	/* Delivery is paused: set after each piece, cleared by fetch_more(). */
	bool stopped;
	bool ended, too_much;
	int64_t got, total;
	/* paced_at: start of the interval in which PACE_BYTES must arrive, monotonic ms. paced:
	 * bytes received before that interval. */
	int64_t paced_at, paced;
};

static void end(struct fetch *f, const char *reason, const struct err *e)
{
	f->ended = true;
	f->due = false;
	loop_timer_stop(&f->retry);
	http_cancel(f->req);
	f->req = NULL;
	f->spec.on_end(reason, e, f->spec.arg);
}

static int on_head(const struct http_reply *r, void *arg, struct err *e)
{
	struct fetch *f = arg;
	const char *range = http_reply_header(r, "Content-Range");
	const char *length = http_reply_header(r, "Content-Length");
	int64_t n;

	if (r->status >= 400)
		return http_err(r, e);
	if (r->status != (f->got ? 206 : 200))
		return err_set(e, ERR_PROTOCOL, r->status, "HTTP status %d, want %d", r->status,
			       f->got ? 206 : 200);
	if (f->got) {
		long long from;

		if (!range || sscanf(range, "bytes %lld-", &from) != 1 || from != f->got)
			return err_set(e, ERR_PROTOCOL, 0, "the server resumes at another offset");
	} else if (length && str_to_i64(length, 0, INT64_MAX, &n)) {
		f->total = n;
	}
	return 0;
}

static int on_data(const char *data, size_t len, void *arg, struct err *e)
{
	struct fetch *f = arg;

	f->too_much = f->total && (int64_t)len > f->total - f->got;
	if (f->too_much)
		return err_set(e, ERR_PROTOCOL, 0,
			       "the server sent more than the announced %" PRId64 " bytes",
			       f->total);
	f->got += (int64_t)len;
	f->attempts = 0;
	f->stopped = true;
	return f->spec.on_data(data, len, f->spec.arg, e);
}

static void on_done(const struct http_reply *r, const struct err *e, void *arg)
{
	struct fetch *f = arg;

	(void)r;
	f->req = NULL;
	/* Judges the end of the download by its number of bytes, not by the status. on_head()
	 * already refused any status that is not a success, and a connection that broke after the
	 * last byte does no harm. */
	if (f->too_much)
		end(f, "ImageMismatch", e);
	else if (!e || (f->total && f->got == f->total))
		end(f, NULL, NULL);
	else if (!err_is_transient(e) || ++f->attempts >= ATTEMPTS)
		end(f, "ImageUnavailable", e);
	else
		loop_timer_start(&f->retry,
				 backoff_next(&f->backoff, loop_random(loop_of(f->group))));
}

static void connect_again(struct fetch *f)
{
	char from[48];
	struct http_header range = {"Range", from};
	struct http_call c = {
		.path = f->path,
		.headers = &range,
		.nheaders = f->got ? 1 : 0,
		.no_timeout = true,
		.idle_ms = IDLE_MS,
		.max_body = SIZE_MAX / 2,
		.on_head = on_head,
		.on_data = on_data,
		.paced = true,
		.piece_bytes = f->spec.piece,
		.done = on_done,
		.arg = f,
	};

	snprintf(from, sizeof(from), "bytes=%" PRId64 "-", f->got);
	f->due = f->stopped = false;
	f->req = http_start(f->peer, &c);
}

void fetch_more(struct fetch *f)
{
	if (f->due) {
		/* No http_want() is needed here: a new connection delivers its first piece without
		 * it. */
		connect_again(f);
	} else if (f->stopped && f->req) {
		f->stopped = false;
		http_want(f->req);
	}
}

static void on_retry(void *arg)
{
	struct fetch *f = arg;

	f->due = true;
	f->spec.on_due(f->spec.arg);
}

void fetch_watch(struct fetch *f, bool waits)
{
	int64_t now = loop_now(loop_of(f->group));
	struct err e;

	if (!waits || f->ended || f->got - f->paced >= PACE_BYTES) {
		f->paced = f->got;
		f->paced_at = now;
	}
	if (now - f->paced_at <= PACE_MS)
		return;
	err_note(&e, ERR_TIMEOUT, 0, "the server sent only %" PRId64 " bytes in %d s",
		 f->got - f->paced, PACE_MS / 1000);
	end(f, "ImageUnavailable", &e);
}

void fetch_progress(const struct fetch *f, int64_t *got, int64_t *total)
{
	*got = f->got;
	*total = f->total;
}

static int open_peer(struct fetch *f, struct http *http, const struct fetch_spec *s, struct err *e)
{
	const char *host = s->url ? strstr(s->url, "://") : NULL, *path;
	bool tls = str_starts(str_or(s->url, ""), "https://");

	if (!host || (!tls && !str_starts(s->url, "http://")))
		return err_set(e, ERR_INVALID, 0, "url: want http:// or https://");
	if (tls && str_empty(s->ca_pem))
		return err_set(e, ERR_INVALID, 0, "an https url needs a CA");
	path = strchr(host + 3, '/');
	f->path = mem_strdup(path ? path : "/");

	char *base = path ? mem_strndup(s->url, (size_t)(path - s->url)) : mem_strdup(s->url);
	struct http_peer_spec p = {.base_url = base, .ca_pem = s->ca_pem, .plain_ok = !tls};

	f->peer = http_peer_new(http, &p, e);
	free(base);
	return f->peer ? 0 : -1;
}

struct fetch *fetch_new(struct loop_group *g, struct http *http, const struct fetch_spec *s,
			struct err *e)
{
	struct fetch *f = mem_new(struct fetch);

	f->group = g;
	f->spec = *s;
	f->spec.url = f->spec.ca_pem = NULL;
	f->backoff = (struct backoff){.base_ms = 500, .cap_ms = 15000};
	f->paced_at = loop_now(loop_of(g));
	f->due = true;
	loop_timer_init(&f->retry, g, on_retry, f);
	if (open_peer(f, http, s, e) < 0) {
		fetch_free(f);
		return NULL;
	}
	return f;
}

void fetch_free(struct fetch *f)
{
	if (!f)
		return;
	loop_timer_stop(&f->retry);
	http_cancel(f->req);
	http_peer_free(f->peer);
	free(f->path);
	free(f);
}
