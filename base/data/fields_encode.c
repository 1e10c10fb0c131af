#include "base/data/fields.h"

#include <stdlib.h>
#include "base/money.h"
#include "base/str.h"

/* Tests: tests/unit/base/data/test_fields.c */

static json_t *encode_resources(const struct field *f, const struct resources *r)
{
	json_t *j = json_object();
	char text[QUANTITY_TEXT];

	for (size_t i = 0; i < r->n; i++)
		json_object_set_new(j, r->v[i].name,
				    f->whole ? json_integer(quantity_floor(r->v[i].q))
					     : json_string(quantity_format(r->v[i].q, text)));
	return j;
}

static json_t *encode_map(const struct labels *l)
{
	json_t *j = json_object();

	for (size_t i = 0; i < l->n; i++)
		json_object_set_new(j, l->v[i].key, json_string(l->v[i].value));
	return j;
}

static json_t *encode_strings(const struct strings *s)
{
	json_t *j = json_array();

	for (size_t i = 0; i < s->n; i++)
		json_array_append_new(j, json_string(s->v[i]));
	return j;
}

static json_t *encode_ints(const struct ints *s)
{
	json_t *j = json_array();

	for (size_t i = 0; i < s->n; i++)
		json_array_append_new(j, json_integer(s->v[i]));
	return j;
}

static json_t *encode_list(const struct field *f, const void *in)
{
	const struct {
		const char *v;
		size_t n;
	} *list = in;
	json_t *j = json_array();

	for (size_t i = 0; i < list->n; i++)
		json_array_append_new(j, fields_encode(f->sub, list->v + i * f->size));
	return j;
}

static json_t *encode_number(const struct field *f, int64_t v)
{
	char text[STR_TIME_SIZE], amount[MONEY_TEXT];

	if (f->type == FIELD_I64)
		return json_integer(v);
	if (f->type == FIELD_DECIMAL)
		return v < 0 ? NULL : json_string(money_format(v, amount));
	if (f->type == FIELD_TIME)
		return v ? json_string(str_time(text, v)) : NULL;
	return json_string(v < 0 && f->never ? "Never" : str_duration(text, v));
}

/* Returns the value that `in` points to as JSON; NULL: the member is omitted, for example for a
 * NULL pointer or an enum of -1. */
static json_t *encode_value(const struct field *f, const void *in)
{
	char text[QUANTITY_TEXT];
	const char *s;
	int i;

	switch (f->type) {
	case FIELD_STR:
		s = *(const char *const *)in;
		return s ? json_string(s) : NULL;
	case FIELD_BOOL:
		return json_boolean(*(const bool *)in);
	case FIELD_I64:
	case FIELD_DECIMAL:
	case FIELD_DURATION:
	case FIELD_TIME:
		return encode_number(f, *(const int64_t *)in);
	case FIELD_ENUM:
		i = *(const int *)in;
		return i >= 0 && *f->enums[i] ? json_string(f->enums[i]) : NULL;
	case FIELD_QUANTITY:
		return json_string(quantity_format(*(const struct quantity *)in, text));
	case FIELD_MAP:
		return encode_map(in);
	case FIELD_RESOURCES:
		return encode_resources(f, in);
	case FIELD_STRINGS:
		return encode_strings(in);
	case FIELD_INTS:
		return encode_ints(in);
	case FIELD_OBJECT:
		return fields_encode(f->sub, in);
	case FIELD_OBJECT_PTR:
		return *(void *const *)in ? fields_encode(f->sub, *(void *const *)in) : NULL;
	case FIELD_LIST:
		return encode_list(f, in);
	case FIELD_ANY:
		s = *(const char *const *)in;
		return s ? json_loads(s, JSON_DECODE_ANY, NULL) : NULL;
	}
	abort();
}

/* True if decoding an absent object yields the same value as j. */
static bool is_default(const struct field *f, const json_t *j)
{
	OWN(arena) a = arena_new();
	void *fresh = arena_alloc(a, f->size);

	fields_defaults(f->sub, fresh, a);
	OWN_JSON expected = fields_encode(f->sub, fresh);
	return json_equal(expected, j);
}

/* True if the value can be omitted, because decoding an absent member yields the same value: it is
 * zero or empty, or an embedded object that equals its defaults. False for a row that is required
 * or has a default. */
static bool says_nothing(const struct field *f, const void *in, const json_t *j)
{
	bool empty = false;

	switch (f->type) {
	case FIELD_STR:
		empty = !json_string_length(j);
		break;
	case FIELD_BOOL:
		empty = json_is_false(j);
		break;
	case FIELD_I64:
	case FIELD_DURATION:
		empty = *(const int64_t *)in == 0;
		break;
	case FIELD_QUANTITY:
		empty = ((const struct quantity *)in)->nano == 0;
		break;
	case FIELD_STRINGS:
	case FIELD_INTS:
	case FIELD_LIST:
		empty = json_array_size(j) == 0;
		break;
	case FIELD_MAP:
	case FIELD_RESOURCES:
		empty = json_object_size(j) == 0;
		break;
	case FIELD_OBJECT:
		empty = json_object_size(j) == 0 ||
			(!f->required && !f->def && f->size && is_default(f, j));
		break;
	case FIELD_OBJECT_PTR:
	case FIELD_ENUM:
	case FIELD_DECIMAL:
	case FIELD_TIME:
	case FIELD_ANY:
		break;
	}
	return empty && !f->required && !f->def;
}

json_t *fields_encode(const struct field *f, const void *in)
{
	json_t *out = json_object();

	for (; f->name; f++) {
		const void *from;
		json_t *j;

		if (f->offset == FIELD_NOWHERE) {
			/* The row has no member in the struct: encode its only allowed value (def),
			 * if there is one. */
			if (f->def)
				json_object_set_new(out, f->name,
						    json_loads(f->def, JSON_DECODE_ANY, NULL));
			continue;
		}
		from = (const char *)in + f->offset;
		j = encode_value(f, from);

		if (j && says_nothing(f, from, j)) {
			json_decref(j);
			j = NULL;
		}
		if (j)
			json_object_set_new(out, f->name, j);
	}
	return out;
}
