/* Tests: tests/unit/base/traces/test_traces.c */
#include "base/traces/traces.h"

#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "base/retry.h"
#include "base/str.h"
#include "base/traces/otlp.h"

#define BATCHES (TRACES_QUEUE / TRACES_BATCH)
#define REPLY_MAX 65536

struct traces {
	struct loop_group *group;
	struct http_peer *peer;
	struct secret *token;
	char *path, *version, *instance;
	/* The batches that wait, oldest first; the last one is being filled. The first one is being
	 * sent if `request` is set. */
	struct otlp_batch *batches[BATCHES];
	size_t n;
	struct http_req *request;
	/* Runs until the next request may start. */
	struct loop_timer timer;
	struct backoff backoff;
	/* Monotonic time of the first request for batches[0]; 0: none yet. */
	int64_t began;
	struct traces_stats stats;
	struct err err;
};

static void on_timer(void *arg);

/* Splits the endpoint: copies scheme and authority to *origin (malloc'd) and returns the path. NULL
 * with *e: not a URL that can be used. */
static char *endpoint_split(const char *endpoint, char **origin, struct err *e)
{
	const char *host = strstr(endpoint, "://"), *path;

	if ((!str_starts(endpoint, "https://") && !str_starts(endpoint, "http://")) || !host[3] ||
	    strpbrk(endpoint, "?#@ ")) {
		err_note(e, ERR_INVALID, 0,
			 "%s is not a URL such as https://collector:4318/v1/traces", endpoint);
		return NULL;
	}
	path = strchr(host + 3, '/');
	*origin = path ? mem_strndup(endpoint, (size_t)(path - endpoint)) : mem_strdup(endpoint);
	return mem_strdup(path && path[1] ? path : "/v1/traces");
}

struct traces *traces_new(const struct traces_spec *s, struct err *e)
{
	char *origin = NULL, *path = endpoint_split(s->endpoint, &origin, e);
	struct http_peer_spec spec = {.base_url = origin, .ca_pem = s->ca_pem, .local_ok = true};
	struct http_peer *peer = NULL;
	struct traces *t;

	if (path) {
		spec.plain_ok = str_starts(origin, "http://");
		if (spec.plain_ok && s->token)
			err_note(e, ERR_DENIED, 0, "%s: a token is sent over https:// only",
				 s->endpoint);
		else
			peer = http_peer_new(s->http, &spec, e);
	}
	free(origin);
	if (!peer) {
		free(path);
		return NULL;
	}
	t = mem_new(struct traces);
	t->group = s->group;
	t->peer = peer;
	t->path = path;
	t->token = secret_copy(s->token);
	t->version = mem_strdup(s->version);
	t->instance = mem_strdup(s->instance);
	t->backoff = (struct backoff){.base_ms = 1000, .cap_ms = 60000};
	loop_timer_init(&t->timer, s->group, on_timer, t);
	return t;
}

void traces_free(struct traces *t)
{
	if (!t)
		return;
	loop_timer_stop(&t->timer);
	for (size_t i = 0; i < t->n; i++)
		otlp_batch_free(t->batches[i]);
	http_peer_free(t->peer);
	secret_free(t->token);
	free(t->path);
	free(t->version);
	free(t->instance);
	free(t);
}

struct traces_stats traces_stats(const struct traces *t)
{
	return t->stats;
}

const char *traces_error(const struct traces *t)
{
	return t->err.kind == ERR_NONE ? NULL : t->err.text;
}

/* Removes the oldest batch. */
static void shift(struct traces *t)
{
	otlp_batch_free(t->batches[0]);
	memmove(t->batches, t->batches + 1, --t->n * sizeof(t->batches[0]));
	t->began = 0;
	backoff_reset(&t->backoff);
}

static bool may_repeat(const struct http_reply *r)
{
	return !r || r->status == 429 || r->status == 502 || r->status == 503 || r->status == 504;
}

/* Starts the timer for the next request, unless one is in flight or is to be repeated: at once if a
 * batch is full, otherwise after the time in which a batch is filled. */
static void schedule(struct traces *t)
{
	if (!t->n || t->request || t->began)
		return;
	if (t->n > 1)
		loop_timer_start(&t->timer, 0);
	else if (!loop_timer_active(&t->timer))
		loop_timer_start(&t->timer, TRACES_DELAY_MS);
}

static void on_reply(const struct http_reply *r, const struct err *e, void *arg)
{
	struct traces *t = arg;
	const size_t n = otlp_batch_count(t->batches[0]);
	int64_t now = loop_now(loop_of(t->group)), refused;

	t->request = NULL;
	if (e)
		t->err = *e;
	if (r && http_err(r, &t->err) == 0) {
		char text[200] = "";

		/* A collector may answer with an empty body. */
		refused = otlp_refused(r->body, r->body_len, text, sizeof(text));
		if (refused > 0 && refused <= (int64_t)n) {
			err_note(&t->err, ERR_INVALID, 0, "the collector refused spans: %s", text);
			t->stats.dropped += (uint64_t)refused;
		} else {
			refused = 0;
			err_clear(&t->err);
		}
		t->stats.exported += n - (size_t)refused;
		shift(t);
	} else if (may_repeat(r) && now - t->began < TRACES_KEEP_MS) {
		int64_t wait = backoff_next(&t->backoff, loop_random(loop_of(t->group)));

		if (r && r->retry_after_ms > wait)
			wait = r->retry_after_ms;
		loop_timer_start(&t->timer, wait);
	} else {
		t->stats.dropped += n;
		shift(t);
	}
	schedule(t);
}

/* Sends the oldest batch. */
static void on_timer(void *arg)
{
	struct traces *t = arg;
	const struct span_attribute resource[] = {
		{.key = "service.name", .text = "drover"},
		{.key = "service.version", .text = t->version},
		{.key = "service.instance.id", .text = t->instance},
	};
	size_t len;
	uint8_t *body = otlp_batch_encode(t->batches[0], resource, 3, &len);
	struct http_call call = {.method = "POST",
				 .path = t->path,
				 .absolute = true,
				 .bearer = t->token,
				 .body = body,
				 .body_len = len,
				 .content_type = "application/x-protobuf",
				 .timeout_ms = 10000,
				 .max_body = REPLY_MAX,
				 .done = on_reply,
				 .arg = t};

	if (!t->began)
		t->began = loop_now(loop_of(t->group));
	t->request = http_start(t->peer, &call);
	free(body);
}

/* Returns the batch to which the next span goes; NULL: the queue is full. A batch that is being
 * sent, or may have to be sent again, gets no more spans. */
static struct otlp_batch *batch_to_fill(struct traces *t)
{
	struct otlp_batch *last = t->n ? t->batches[t->n - 1] : NULL;

	if (last && otlp_batch_count(last) < TRACES_BATCH && !(t->n == 1 && t->began))
		return last;
	if (t->n == BATCHES)
		return NULL;
	return t->batches[t->n++] = otlp_batch_new();
}

void traces_add(struct traces *t, const struct span *s)
{
	struct otlp_batch *b = t ? batch_to_fill(t) : NULL;

	if (!t)
		return;
	if (!b) {
		if (t->err.kind == ERR_NONE)
			err_note(&t->err, ERR_CAPACITY, 0, "%d spans wait for the collector",
				 TRACES_QUEUE);
		t->stats.dropped++;
		return;
	}
	otlp_batch_add(b, s);
	schedule(t);
}
