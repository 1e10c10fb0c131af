#ifndef BASE_TRACES_TRACES_H
#define BASE_TRACES_TRACES_H

#include <stdbool.h>
#include <stdint.h>
#include "base/err.h"
#include "base/http/http.h"
#include "base/own.h"
#include "base/traces/span.h"

/*
 * traces: sends spans to an OpenTelemetry collector by OTLP over HTTP, in batches.
 *
 * A collector that is slow, away or refuses never delays the caller: traces_add() copies the span
 * and returns. At most TRACES_QUEUE spans wait; further ones are dropped and counted. A batch is
 * sent every TRACES_DELAY_MS, or once it has TRACES_BATCH spans; one request is in flight at a
 * time. A request is repeated with growing delays, for at most TRACES_KEEP_MS, if the collector
 * cannot be reached or answers 429, 502, 503 or 504 (OTLP specification 1.3, "Retryable Response
 * Codes"); after any other error its spans are dropped. On the loop thread.
 */
#define TRACES_QUEUE 8192
#define TRACES_BATCH 512
#define TRACES_DELAY_MS 5000
#define TRACES_KEEP_MS (5 * 60 * 1000)

struct traces;

struct traces_spec {
	struct loop_group *group;
	/* Must outlive the struct traces. */
	struct http *http;
	/* URL to which spans are sent, "https://collector:4318/v1/traces". Without a path, that
	 * path is added. With http:// the spans are readable on the network. */
	const char *endpoint;
	/* CAs of the collector, as PEM; NULL: the system's CAs. */
	const char *ca_pem;
	/* Token for the header Authorization: Bearer; copied. NULL: none. An error with http://. */
	const struct secret *token;
	/* Attributes service.version and service.instance.id of all spans. */
	const char *version, *instance;
};
/* Returns NULL with *e if endpoint is no URL, or has user or query. */
struct traces *traces_new(const struct traces_spec *s, struct err *e);
/* Drops the spans that wait, and frees. t NULL: does nothing. */
void traces_free(struct traces *t);
DEFINE_OWN(traces)

/* Adds a copy of the span to the queue. t NULL: does nothing (traces are off). */
void traces_add(struct traces *t, const struct span *s);

/* Numbers of spans since the start. exported: the collector accepted them. dropped: they were
 * lost. */
struct traces_stats {
	uint64_t exported, dropped;
};
struct traces_stats traces_stats(const struct traces *t);
/* Returns the error of the latest request, or why spans were dropped; NULL: none since the last
 * batch that was accepted. */
const char *traces_error(const struct traces *t);

#endif
