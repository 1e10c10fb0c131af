#ifndef CONTROLLER_CORE_WEBHOOK_H
#define CONTROLLER_CORE_WEBHOOK_H

#include "controller/core/context.h"

/*
 * webhook: POSTs JSON to an operator's service over https, with the service's certificate verified
 * by the CA in a Secret or by the system's CAs. One request at a time; the caller decides when to
 * repeat it. On the loop thread.
 * Tests: tests/unit/controller/drain/test_checkpoint.c, tests/world/test_approval_webhook.c
 */
/* Longest accepted answer, in bytes. */
#define WEBHOOK_ANSWER_MAX (64 << 10)

struct webhook;
/* done(): called once for each request that was sent, with either r or e; it may start the next
 * one, or free the webhook. */
struct webhook *webhook_new(struct context *c,
			    void (*done)(const struct http_reply *r, const struct err *e,
					 void *arg),
			    void *arg);
/* Frees w and drops its request without calling done(); a request that was already sent may still
 * take effect. */
void webhook_free(struct webhook *w);
/* True while a request is in flight. */
bool webhook_busy(const struct webhook *w);

struct webhook_call {
	/* https URL */
	const char *url;
	/* Secret in drover's namespace with the CA certificate, under ca.crt unless it names a key;
	 * NULL: the system's CAs */
	const struct object_secret_ref *ca;
	/* JSON text; copied */
	const char *body;
	/* longest time in ms until the answer is complete */
	uint32_t timeout_ms;
};
enum webhook_start {
	WEBHOOK_SENT,
	/* the Secret is still being read */
	WEBHOOK_NOT_YET,
	/* *e says why, and *member names the member of the call, "url" or "caSecretRef", that is
	 * wrong */
	WEBHOOK_NOT_SENT,
};
/* Sends the request. Must not be called while webhook_busy(). */
enum webhook_start webhook_post(struct webhook *w, const struct webhook_call *call,
				const char **member, struct err *e);

/* Returns "HOST:PORT" of the URL for messages, without user name and password, in the arena. */
const char *webhook_shown(const char *url, struct arena *a);

#endif
