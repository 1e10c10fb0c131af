#ifndef BASE_TRACES_OTLP_H
#define BASE_TRACES_OTLP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/own.h"
#include "base/traces/span.h"

/*
 * otlp: collects spans and encodes them as the body of an OTLP/HTTP request
 * (ExportTraceServiceRequest in protobuf, opentelemetry.io/docs/specs/otlp).
 * Tests: tests/unit/base/traces/test_traces.c
 */
struct otlp_batch;

struct otlp_batch *otlp_batch_new(void);
void otlp_batch_free(struct otlp_batch *b);
DEFINE_OWN(otlp_batch)

/* Adds a copy of the span. Bytes that are not UTF-8 are replaced by '?'. */
void otlp_batch_add(struct otlp_batch *b, const struct span *s);
/* Returns the number of spans. */
size_t otlp_batch_count(const struct otlp_batch *b);
/* Returns the request body, malloc'd; the caller owns it. *len: its length. resource: n attributes
 * of the program that sends the spans, for example service.name. */
uint8_t *otlp_batch_encode(const struct otlp_batch *b, const struct span_attribute *resource,
			   size_t n, size_t *len);

/* Reads the body of a successful reply (ExportTraceServiceResponse). Returns the number of spans
 * that the collector refused, and copies its message to text; 0: it accepted all of them. -1: the
 * body is no such message. */
int64_t otlp_refused(const void *body, size_t len, char *text, size_t size);

#endif
