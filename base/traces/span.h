#ifndef BASE_TRACES_SPAN_H
#define BASE_TRACES_SPAN_H

#include <stddef.h>
#include <stdint.h>

/*
 * span: one timed piece of work in a trace, as OpenTelemetry defines it.
 */
#define SPAN_TRACE_BYTES 16
#define SPAN_ID_BYTES 8
/* Limits of what is kept of a span: further attributes are dropped, longer texts are cut. */
#define SPAN_ATTRIBUTES 16
#define SPAN_TEXT_BYTES 1024

enum span_kind {
	/* Work inside drover. */
	SPAN_INTERNAL,
	/* A request to another system. */
	SPAN_CLIENT,
};

struct span_attribute {
	/* Name, by OpenTelemetry's semantic conventions where they have one
	 * ("http.request.method"). */
	const char *key;
	/* Value as text; NULL: the value is `number`. */
	const char *text;
	int64_t number;
};

struct span {
	/* Identifier of the trace; not all zeros. */
	uint8_t trace[SPAN_TRACE_BYTES];
	/* Identifier of this span within the trace; not all zeros. */
	uint8_t id[SPAN_ID_BYTES];
	/* Identifier of the span that this one is part of; all zeros: this is the root span. */
	uint8_t parent[SPAN_ID_BYTES];
	/* Kind of work: one of few texts, for example "wiping". What differs from one machine to
	 * the next belongs in attributes. */
	const char *name;
	enum span_kind kind;
	/* Unix time in ms. */
	int64_t start, end;
	const struct span_attribute *attributes;
	size_t nattributes;
	/* Why the work failed; NULL: it did not fail. */
	const char *error;
};

#endif
