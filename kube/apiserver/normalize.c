#include "base/str.h"
#include "kube/apiserver/messages.h"

/*
 * Removes members of built-in kinds that kube-apiserver never sends, and adds those that it always
 * sends. kube-apiserver stores objects as Go structs. So it drops a member whose value is zero
 * (null, "", 0, false, an empty list or map), unless Go's encoder cannot omit the member: values
 * that are not pointers, and fields without omitempty. messages.def marks each field.
 *
 * There are two passes, because defaults are set between them: the first drops empty members, so
 * that they get their default; the second adds the members that are always sent.
 *
 * The recursion is bounded by the depth of the object, which json_parse() has limited. Only
 * messages that are not Go pointers are added, and no such message contains itself.
 * Tests: tests/unit/kube/apiserver/test_normalize.c
 */
enum pass {
	DROP,
	ADD,
};

static void walk(const struct message *m, json_t *obj, enum pass pass);

static bool says_nothing(const struct message_field *f, const json_t *v)
{
	if (f->list || f->map)
		return json_is_null(v) || (!json_array_size(v) && !json_object_size(v));
	if (json_is_null(v))
		return f->type != MESSAGE_ANY;
	if (f->keeps_zero)
		return false;
	return json_is_false(v) || (json_is_integer(v) && json_integer_value(v) == 0) ||
	       (json_is_string(v) && json_string_length(v) == 0);
}

/* Returns the value that kube-apiserver sends for a field that is not set; NULL: kube-apiserver
 * omits the field. */
static json_t *zero_of(const struct message_field *f)
{
	if (f->list || f->map || f->keeps_zero) {
		if (!f->always)
			return NULL;
		if (f->list || f->map)
			return json_null();
	}
	switch (f->type) {
	case MESSAGE_STRING:
		return f->always ? json_string("") : NULL;
	case MESSAGE_INT:
		return f->always ? json_integer(0) : NULL;
	case MESSAGE_BOOL:
		return f->always ? json_false() : NULL;
	case MESSAGE_BYTES:
		return f->always ? json_null() : NULL;
	case MESSAGE_TIME:
	case MESSAGE_MICRO_TIME:
		return json_null();
	case MESSAGE_QUANTITY:
		return json_string("0");
	case MESSAGE_INT_OR_STRING:
		return json_integer(0);
	case MESSAGE_MESSAGE:
		return f->always ? json_null() : json_object();
	case MESSAGE_STRINGS:
	case MESSAGE_ANY:
		break;
	}
	return NULL;
}

static void walk_member(const struct message_field *f, json_t *obj, enum pass pass)
{
	json_t *v = json_object_get(obj, f->name), *one;
	const struct message *m;
	const char *name;
	size_t i;

	if (pass == DROP && v && says_nothing(f, v)) {
		json_object_del(obj, f->name);
		return;
	}
	if (pass == ADD && !v) {
		v = zero_of(f);
		if (!v)
			return;
		json_object_set_new(obj, f->name, v);
	}
	m = f->type == MESSAGE_MESSAGE ? message_find(f->of) : NULL;
	if (!m)
		return;
	if (!f->list && !f->map)
		walk(m, v, pass);
	json_array_foreach (f->list ? v : NULL, i, one)
		walk(m, one, pass);
	json_object_foreach (f->map ? v : NULL, name, one)
		walk(m, one, pass);
}

/* Drops or adds members in obj and in the messages within obj. Leaves obj unchanged if it is not a
 * JSON object. */
static void walk(const struct message *m, json_t *obj, enum pass pass)
{
	struct message_field f;

	if (!m || !json_is_object(obj))
		return;
	for (const char *at = NULL; message_next(m, &at, &f);)
		if (f.is_inline)
			walk(message_find(f.of), obj, pass);
		else
			walk_member(&f, obj, pass);
}

static void walk_object(const struct resource *r, json_t *obj, enum pass pass)
{
	if (r->custom)
		walk(message_find("meta.v1.ObjectMeta"), json_object_get(obj, "metadata"), pass);
	else if (r->renamed_event)
		walk(message_find("core.v1.Event"), obj, pass);
	else
		walk(message_of_kind(r->group, r->version, r->kind), obj, pass);
}

void object_drop_zeros(const struct resource *r, json_t *obj)
{
	walk_object(r, obj, DROP);
}

void object_add_zeros(const struct resource *r, json_t *obj)
{
	walk_object(r, obj, ADD);
}

void message_normalize(const struct message *m, json_t *obj)
{
	walk(m, obj, DROP);
	walk(m, obj, ADD);
}
