#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/crypto.h"
#include "base/str.h"
#include "kube/apiserver/messages.h"

/*
 * Decodes bodies in protobuf (https://protobuf.dev/programming-guides/encoding). Go clients such as
 * kubectl send built-in kinds in protobuf and do not retry in JSON. Replies are always JSON, which
 * all of these clients accept. A body with a field that is not in the table of messages
 * (messages.def) is refused; the field is not dropped silently.
 */
#define MAX_DEPTH 32

struct wire {
	const unsigned char *p, *end;
};

static int broken(struct fault *f, const char *what)
{
	return fault_set(f, FAULT_BAD_REQUEST, "the body cannot be read: protobuf: %s", what);
}

static bool get_varint(struct wire *w, uint64_t *out)
{
	*out = 0;
	for (unsigned shift = 0; shift < 64 && w->p < w->end; shift += 7) {
		unsigned char c = *w->p++;

		*out |= (uint64_t)(c & 0x7f) << shift;
		if (!(c & 0x80))
			return true;
	}
	return false;
}

struct item {
	unsigned number;
	/* True: the value of the field is the varint n; false: the value is in bytes. */
	bool is_number;
	uint64_t n;
	struct wire bytes;
};

static bool get_item(struct wire *w, struct item *out)
{
	uint64_t tag, len;

	if (!get_varint(w, &tag) || tag >> 3 == 0 || tag >> 3 > 536870911)
		return false;
	*out = (struct item){.number = (unsigned)(tag >> 3), .is_number = (tag & 7) == 0};
	if (out->is_number)
		return get_varint(w, &out->n);
	if ((tag & 7) != 2 || !get_varint(w, &len) || len > (uint64_t)(w->end - w->p))
		return false;
	out->bytes = (struct wire){w->p, w->p + len};
	w->p += len;
	return true;
}

/* --- messages that are plain values in JSON --------------------------------------------------- */

/* Values of the fields 1 to 3 of a message, at the index of their field number (0 is unused). For
 * messages with at most three fields. */
struct plain {
	uint64_t n[4];
	struct wire bytes[4];
	bool has[4];
};

static bool get_plain(struct wire w, struct plain *out)
{
	struct item it;

	*out = (struct plain){0};
	while (w.p < w.end) {
		if (!get_item(&w, &it) || it.number > 3)
			return false;
		out->n[it.number] = it.n;
		out->bytes[it.number] = it.bytes;
		out->has[it.number] = true;
	}
	return true;
}

static json_t *text_of(struct wire w)
{
	return json_stringn((const char *)w.p, (size_t)(w.end - w.p));
}

/* Converts the message {seconds, nanos} to a JSON string; null for Go's zero time. */
static json_t *time_of(const struct plain *t, bool micro)
{
	int64_t s = (int64_t)t->n[1], ns = (int64_t)t->n[2];
	char text[STR_TIME_SIZE], *z;

	/* The first second of year 1 is Go's zero time, which JSON has as null. Times that RFC 3339
	 * cannot express become null too. */
	if (!t->has[1] || s <= -62135596800 || s > 253402300799 || ns < 0 || ns > 999999999)
		return json_null();
	str_time(text, s * 1000);
	z = strrchr(text, 'Z');
	return micro && z
		       ? json_sprintf("%.*s.%06lldZ", (int)(z - text), text, (long long)(ns / 1000))
		       : json_string(text);
}

static json_t *int_or_string_of(const struct plain *v)
{
	return v->n[1] ? text_of(v->bytes[3]) : json_integer((int32_t)v->n[2]);
}

static json_t *strings_of(struct wire w)
{
	OWN_JSON list = json_array();
	struct item it;

	while (w.p < w.end)
		if (!get_item(&w, &it) || it.is_number ||
		    json_array_append_new(list, text_of(it.bytes)) < 0)
			return NULL;
	return json_incref(list);
}

static json_t *bytes_of(struct wire w)
{
	char *text = crypto_base64(w.p, (size_t)(w.end - w.p));
	json_t *j = json_string(text);

	free(text);
	return j;
}

/* --- messages --------------------------------------------------------------------------------- */

static int decode_into(json_t *out, const struct message *m, struct wire w, int depth,
		       struct fault *f);

static json_t *message_of(const struct message_field *field, struct wire w, int depth,
			  struct fault *f)
{
	const struct message *m = message_find(field->of);
	OWN_JSON out = json_object();

	if (!m || depth > MAX_DEPTH) {
		(void)!broken(f, depth > MAX_DEPTH ? "too deep" : field->of);
		return NULL;
	}
	return decode_into(out, m, w, depth + 1, f) < 0 ? NULL : json_incref(out);
}

/* Returns the value of a field as JSON; NULL with the fault set: the value is malformed. */
static json_t *value_of(const struct message_field *field, const struct item *it, int depth,
			struct fault *f)
{
	bool number = field->type == MESSAGE_BOOL || field->type == MESSAGE_INT;
	struct plain plain;
	struct err e;

	if (it->is_number != number)
		return NULL;
	switch (field->type) {
	case MESSAGE_STRING:
		return text_of(it->bytes);
	case MESSAGE_BYTES:
		return bytes_of(it->bytes);
	case MESSAGE_BOOL:
		return json_boolean(it->n != 0);
	case MESSAGE_INT:
		return json_integer((json_int_t)it->n);
	case MESSAGE_STRINGS:
		return strings_of(it->bytes);
	case MESSAGE_MESSAGE:
		return message_of(field, it->bytes, depth, f);
	case MESSAGE_TIME:
	case MESSAGE_MICRO_TIME:
	case MESSAGE_QUANTITY:
	case MESSAGE_INT_OR_STRING:
	case MESSAGE_ANY:
		break;
	}
	if (!get_plain(it->bytes, &plain))
		return NULL;
	if (field->type == MESSAGE_QUANTITY)
		return text_of(plain.bytes[1]);
	if (field->type == MESSAGE_INT_OR_STRING)
		return int_or_string_of(&plain);
	if (field->type == MESSAGE_ANY)
		return json_parse((const char *)plain.bytes[1].p,
				  (size_t)(plain.bytes[1].end - plain.bytes[1].p), &e);
	return time_of(&plain, field->type == MESSAGE_MICRO_TIME);
}

/* True for values that Go omits in JSON: null, and zero or empty values unless the field is a
 * pointer (keeps_zero). Such values must be dropped here, because in protobuf Go writes every field
 * that is not a pointer. */
static bool is_nothing(const struct message_field *field, const json_t *v)
{
	if (json_is_null(v))
		return true;
	return !field->keeps_zero &&
	       ((json_is_string(v) && json_string_length(v) == 0) ||
		(json_is_integer(v) && json_integer_value(v) == 0) || json_is_false(v) ||
		(json_is_object(v) && json_object_size(v) == 0));
}

static int add_entry(json_t *out, const struct message_field *field, const struct item *it,
		     int depth, struct fault *f)
{
	struct wire w = it->bytes, key = {0};
	struct item part, value = {.is_number = field->type == MESSAGE_INT};
	json_t *map = json_object_get(out, field->name), *v;

	if (it->is_number)
		return broken(f, field->name);
	while (w.p < w.end) {
		if (!get_item(&w, &part))
			return broken(f, field->name);
		if (part.number == 1)
			key = part.bytes;
		else
			value = part;
	}
	if (!map)
		json_object_set_new(out, field->name, map = json_object());
	v = value_of(field, &value, depth, f);
	return v && json_object_setn_new(map, (const char *)key.p, (size_t)(key.end - key.p), v) ==
				       0
		       ? 0
		       : broken(f, field->name);
}

static int add_field(json_t *out, const struct message_field *field, const struct item *it,
		     int depth, struct fault *f)
{
	json_t *list = json_object_get(out, field->name), *v;

	if (field->map)
		return add_entry(out, field, it, depth, f);
	if (field->is_inline) {
		const struct message *m = message_find(field->of);

		return m && !it->is_number && depth < MAX_DEPTH
			       ? decode_into(out, m, it->bytes, depth + 1, f)
			       : broken(f, field->name);
	}
	*f->text = '\0';
	v = value_of(field, it, depth, f);
	if (!v)
		return *f->text ? -1 : broken(f, field->name);
	if (field->list) {
		if (!list)
			json_object_set_new(out, field->name, list = json_array());
		json_array_append_new(list, v);
	} else if (is_nothing(field, v)) {
		json_decref(v);
	} else {
		json_object_set_new(out, field->name, v);
	}
	return 0;
}

static bool find_field(const struct message *m, unsigned number, struct message_field *out)
{
	for (const char *at = NULL; message_next(m, &at, out);)
		if (out->number == number)
			return true;
	return false;
}

static int decode_into(json_t *out, const struct message *m, struct wire w, int depth,
		       struct fault *f)
{
	struct message_field field;
	struct item it;

	while (w.p < w.end) {
		if (!get_item(&w, &it))
			return broken(f, m->name);
		if (!find_field(m, it.number, &field))
			return fault_set(
				f, FAULT_BAD_REQUEST,
				"field %u of %s in protobuf is not known to this server: send JSON",
				it.number, m->name);
		if (add_field(out, &field, &it, depth, f) < 0)
			return -1;
	}
	return 0;
}

/* --- the envelope: "k8s" and NUL, then {1: {1: apiVersion, 2: kind}, 2: raw, ...} ------------- */

json_t *protobuf_decode(const char *data, size_t len, struct fault *f)
{
	static const char magic[4] = {'k', '8', 's', '\0'};
	struct wire w = {(const unsigned char *)data, (const unsigned char *)data + len}, raw = {0};
	OWN_JSON out = json_object();
	struct plain type = {0};
	const struct message *m;
	char version[128], kind[128];
	const char *slash;
	struct item it;

	if (len < sizeof(magic) || memcmp(data, magic, sizeof(magic)) != 0) {
		(void)!broken(f, "it does not begin with k8s");
		return NULL;
	}
	w.p += sizeof(magic);
	while (w.p < w.end) {
		if (!get_item(&w, &it) || (it.number == 1 && !get_plain(it.bytes, &type))) {
			(void)!broken(f, "the envelope");
			return NULL;
		}
		if (it.number == 2)
			raw = it.bytes;
	}
	snprintf(version, sizeof(version), "%.*s", (int)(type.bytes[1].end - type.bytes[1].p),
		 (const char *)type.bytes[1].p);
	snprintf(kind, sizeof(kind), "%.*s", (int)(type.bytes[2].end - type.bytes[2].p),
		 (const char *)type.bytes[2].p);
	json_object_set_new(out, "apiVersion", json_string(version));
	json_object_set_new(out, "kind", json_string(kind));
	slash = strchr(version, '/');
	if (slash)
		version[slash - version] = '\0';
	m = message_of_kind(slash ? version : "", slash ? slash + 1 : version, kind);
	if (!m) {
		(void)!fault_set(f, FAULT_MEDIA_TYPE,
				 "this server does not read %s in protobuf: accepted media types "
				 "include: application/json, application/yaml",
				 kind);
		return NULL;
	}
	return decode_into(out, m, raw, 0, f) < 0 ? NULL : json_incref(out);
}
