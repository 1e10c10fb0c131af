#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "kube/apiserver/server.h"

/*
 * Delays replies until no power cut can undo what they contain. The store applies a change in
 * memory at once and writes it to disk a little later. So a reply that may depend on such a change
 * waits for an empty commit that the store processes after the change. If no write is in progress,
 * which is nearly always the case, the reply is sent at once.
 */

/* --- barriers --------------------------------------------------------------------------------- */

struct barrier {
	/* Function to call; NULL: the barrier was cancelled. */
	void (*fn)(const struct err *e, void *arg);
	void *arg;
};

static void on_barrier(const struct err *e, void *arg)
{
	struct barrier *b = arg;

	if (b->fn)
		b->fn(e, b->arg);
	free(b);
}

struct barrier *barrier_new(struct apiserver *a, void (*fn)(const struct err *e, void *arg),
			    void *arg)
{
	struct barrier *b;
	struct err e;

	if (store_is_durable(a->store, store_rev(a->store)))
		return NULL;
	b = mem_new(struct barrier);
	*b = (struct barrier){.fn = fn, .arg = arg};
	if (store_commit(a->store, NULL, 0, NULL, on_barrier, b, &e) == 0)
		return b;
	/* The disk has failed. The store has undone the changes that were not written, so
	 * everything that can be read is durable and the caller need not wait. */
	free(b);
	return NULL;
}

void barrier_cancel(struct barrier *b)
{
	if (b)
		b->fn = NULL;
}

/* --- replies ---------------------------------------------------------------------------------- */

struct answer {
	/* The request to reply to; NULL: its client has disconnected. */
	struct httpd_req *q;
	int status;
	/* Content type; must outlive the reply. */
	const char *type;
	char *body;
	size_t len;
};

static void on_client_gone(void *arg)
{
	((struct answer *)arg)->q = NULL;
}

void answer_done(const struct err *e, void *arg)
{
	struct answer *c = arg;

	if (c->q) {
		httpd_on_gone(c->q, NULL, NULL);
		if (e)
			httpd_reply_err(c->q, e);
		else
			httpd_reply(c->q, c->status, c->type, c->body, c->len);
	}
	free(c->body);
	free(c);
}

struct answer *answer_new(struct request *rq, int status, char *body)
{
	struct answer *c = mem_new(struct answer);

	*c = (struct answer){
		.q = rq->q,
		.status = status,
		.type = "application/json",
		.body = body,
		.len = body ? strlen(body) : 0,
	};
	return c;
}

bool answer_fill(struct answer *c, char *body, size_t len)
{
	if (!c || c->body)
		return false;
	c->body = body;
	c->len = len;
	return true;
}

void answer_waits(struct answer *c)
{
	httpd_on_gone(c->q, on_client_gone, c);
}

void reply_text(struct request *rq, int status, const char *type, const char *body, size_t len,
		uint64_t rev)
{
	struct store *s = rq->a->store;
	struct answer *c;
	struct err e;

	if (store_is_durable(s, rev)) {
		httpd_reply(rq->q, status, type, body, len);
		return;
	}
	c = answer_new(rq, status, mem_strndup(body, len));
	c->type = type;
	c->len = len;
	if (store_commit(s, NULL, 0, NULL, answer_done, c, &e) == 0)
		answer_waits(c);
	else
		answer_done(&e, c);
}
