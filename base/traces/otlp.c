#include "base/traces/otlp.h"

#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/mem.h"
#include "base/str.h"
#include "otlp.pb-c.h"

#define NS_PER_MS 1000000

struct otlp_batch {
	struct arena *arena;
	Otlp__Span **v;
	size_t n, cap;
};

struct otlp_batch *otlp_batch_new(void)
{
	struct otlp_batch *b = mem_new(struct otlp_batch);

	b->arena = arena_new();
	return b;
}

void otlp_batch_free(struct otlp_batch *b)
{
	if (!b)
		return;
	arena_free(b->arena);
	free(b->v);
	free(b);
}

size_t otlp_batch_count(const struct otlp_batch *b)
{
	return b->n;
}

static char *text_of(struct arena *a, const char *s)
{
	char *text = arena_strndup(a, s, strnlen(s, SPAN_TEXT_BYTES));

	str_clean(text);
	return text;
}

static ProtobufCBinaryData bytes_of(struct arena *a, const uint8_t *bytes, size_t n)
{
	ProtobufCBinaryData d = {.len = n, .data = arena_alloc(a, n)};

	memcpy(d.data, bytes, n);
	return d;
}

static Otlp__KeyValue **attributes_of(struct arena *a, const struct span_attribute *v, size_t n)
{
	Otlp__KeyValue **out = arena_calloc(a, n + 1, sizeof(Otlp__KeyValue *));

	for (size_t i = 0; i < n; i++) {
		Otlp__AnyValue *value = arena_new_obj(a, Otlp__AnyValue);

		otlp__any_value__init(value);
		if (v[i].text) {
			value->value_case = OTLP__ANY_VALUE__VALUE_STRING_VALUE;
			value->string_value = text_of(a, v[i].text);
		} else {
			value->value_case = OTLP__ANY_VALUE__VALUE_INT_VALUE;
			value->int_value = v[i].number;
		}
		out[i] = arena_new_obj(a, Otlp__KeyValue);
		otlp__key_value__init(out[i]);
		out[i]->key = text_of(a, v[i].key);
		out[i]->value = value;
	}
	return out;
}

/* Returns t in nanoseconds; 0 for a time before 1970. */
static uint64_t unix_ns(int64_t t)
{
	return t > 0 ? (uint64_t)t * NS_PER_MS : 0;
}

void otlp_batch_add(struct otlp_batch *b, const struct span *s)
{
	static const uint8_t none[SPAN_ID_BYTES];
	Otlp__Span *out = arena_new_obj(b->arena, Otlp__Span);

	otlp__span__init(out);
	out->trace_id = bytes_of(b->arena, s->trace, SPAN_TRACE_BYTES);
	out->span_id = bytes_of(b->arena, s->id, SPAN_ID_BYTES);
	if (memcmp(s->parent, none, sizeof(none)) != 0)
		out->parent_span_id = bytes_of(b->arena, s->parent, SPAN_ID_BYTES);
	out->name = text_of(b->arena, s->name);
	out->kind = s->kind == SPAN_CLIENT ? OTLP__SPAN_KIND__SPAN_KIND_CLIENT
					   : OTLP__SPAN_KIND__SPAN_KIND_INTERNAL;
	out->start_time_unix_nano = unix_ns(s->start);
	/* The clock may have been set back since the start. */
	out->end_time_unix_nano = unix_ns(s->end > s->start ? s->end : s->start);
	out->n_attributes = s->nattributes < SPAN_ATTRIBUTES ? s->nattributes : SPAN_ATTRIBUTES;
	out->attributes = attributes_of(b->arena, s->attributes, out->n_attributes);
	if (s->error) {
		out->status = arena_new_obj(b->arena, Otlp__Status);
		otlp__status__init(out->status);
		out->status->code = OTLP__STATUS_CODE__STATUS_CODE_ERROR;
		out->status->message = text_of(b->arena, s->error);
	}
	mem_grow(b->v, b->n, b->cap);
	b->v[b->n++] = out;
}

uint8_t *otlp_batch_encode(const struct otlp_batch *b, const struct span_attribute *resource,
			   size_t n, size_t *len)
{
	OWN(arena) a = arena_new();
	Otlp__ExportTraceServiceRequest request = OTLP__EXPORT_TRACE_SERVICE_REQUEST__INIT;
	Otlp__ResourceSpans one = OTLP__RESOURCE_SPANS__INIT, *resources[] = {&one};
	Otlp__Resource from = OTLP__RESOURCE__INIT;
	Otlp__ScopeSpans scope = OTLP__SCOPE_SPANS__INIT, *scopes[] = {&scope};
	Otlp__InstrumentationScope name = OTLP__INSTRUMENTATION_SCOPE__INIT;
	uint8_t *body;

	name.name = arena_strdup(a, "drover");
	scope.scope = &name;
	scope.n_spans = b->n;
	scope.spans = b->v;
	from.n_attributes = n;
	from.attributes = attributes_of(a, resource, n);
	one.resource = &from;
	one.n_scope_spans = 1;
	one.scope_spans = scopes;
	request.n_resource_spans = 1;
	request.resource_spans = resources;
	*len = otlp__export_trace_service_request__get_packed_size(&request);
	body = mem_alloc(*len);
	otlp__export_trace_service_request__pack(&request, body);
	return body;
}

int64_t otlp_refused(const void *body, size_t len, char *text, size_t size)
{
	Otlp__ExportTraceServiceResponse *r =
		otlp__export_trace_service_response__unpack(NULL, len, body);
	int64_t n = 0;

	if (!r)
		return -1;
	if (r->partial_success) {
		n = r->partial_success->rejected_spans;
		str_copy(text, size, r->partial_success->error_message);
	}
	otlp__export_trace_service_response__free_unpacked(r, NULL);
	return n > 0 ? n : 0;
}
